/*
 * The world: an ensemble, its clients, the faults and the laws. One seed gives one history.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "test/sim/client.h"
#include <stdio.h>

enum fault {
    FAULT_CUT,
    FAULT_BLACKHOLE,
    FAULT_ISOLATE,
    FAULT_CRASH,
    FAULT_PAUSE,
    FAULT_PARTITION,
    FAULT_CLIENT_PAUSE,
    FAULT_CLIENT_CRASH,
    FAULT_DELETE,
    FAULT_WRITE,
    FAULT_FOREIGN,
    FAULT_KILL_SESSION,
    FAULT_REAP,
    FAULT_AHEAD,
    FAULT_DEPOSE,
    FAULT_PAUSE_LEADER,
    FAULT_STRAND,
    FAULT_LATE_CREATE, /* follows a deletion; is never drawn */
    FAULT_FORGE,       /* the hostile contender's, from here on */
    FAULT_JUNK,
    FAULT_REVOKE,
    FAULT_REPLACE,
    FAULT_RECORD, /* of a job */
    N_FAULTS
};

enum { FAULTS_MAX = 512, REMOVALS_MAX = 64 };

/* The record of a job, as a hostile contender writes it. */
enum forgery {
    FORGED_GARBLED,
    FORGED_TOO_LARGE,
    FORGED_VERSION,
    FORGED_TOKEN, /* larger than any */
    FORGED_FAR_FUTURE,
    FORGED_NEAR_FUTURE,
    FORGED_DONE,
    FORGED_END,
    FORGED_BEGINNING,
    FORGED_KEYS, /* as many as are remembered */
    FORGED_EMPTY,
    FORGED_DELETION,
    N_FORGERIES
};

/* Two clocks differ by up to twice as much; the deadline allows for a twentieth. Clocks beyond that are a forbidden
 * configuration. */
enum { DRIFT_WITHIN_PPM = 24000, DRIFT_BEYOND_PPM = 150000 };

/* The settings of a run. */
struct plan {
    uint64_t seed;
    FILE *story; /* NULL: none is printed */
    /* for shrinking: the faults to omit, by their number */
    const bool *spared;
    /* for the exhaustive mode: what happens to the K-th request, and to another; 0 for none. No other fault happens. */
    bool exhaustive;
    bool cuts, hostile; /* these regimes, whatever the seed */
    int act_at[2];
    int act[2];
};

enum act { ACT_NONE, ACT_LOSE_REQUEST, ACT_LOSE_REPLY, ACT_LOSE_REPLY_AND_MOVE, ACT_EXPIRE, N_ACTS };

struct law;

/* How far a late create has come. */
/* The time of day at the beginning, on the slowest server's clock. */
#define DATE_MS INT64_C(1000000000000)

enum late_stage {
    LATE_NOT,
    LATE_ASKED,       /* the client attaches again to its server, whose question is answered; the answer waits */
    LATE_ASKED_TWICE, /* the client attaches once more; the question waits */
    LATE_ANSWERED,    /* the answer to the first question arrives */
    LATE_CREATED      /* the create waits after the second question; the client goes on elsewhere */
};

struct late_create {
    enum late_stage stage;
    struct client *client;
    session_index session;
    int server, leader;
    instant until;
    char name[PDK__NAME_MAX];
};

struct world {
    struct plan plan;
    struct random random;       /* of the schedule */
    struct random fault_random; /* of the faults: omitted ones do not change the others */
    struct agenda agenda;
    struct ensemble ensemble;
    int n_clients;
    struct client clients[CLIENTS_MAX];
    int n_sessions;
    int session_client[SESSIONS_MAX];
    bool session_asked[SESSIONS_MAX]; /* a server was asked to open it */
    uint64_t ended_by_order;          /* a bit per session */
    uint64_t ending;                  /* a bit per session: a leader has decided that it ends */
    uint64_t moved_back;              /* a bit per session: by the question of a connection that its client had left */
    int drift_ppm;                    /* of a clock, at the most */
    int n_paths;
    bool elects;     /* each client has a candidate, on a path of their own */
    bool turns;      /* the candidates lead in turns */
    bool shares;     /* each client has threads that share a read/write lock, on a path of their own */
    int permits;     /* of a semaphore that threads of each client take, on a path of their own; 0: there are none */
    bool gathers;    /* each client has threads that lock both paths at once */
    int crowds;      /* the first clients have a thread with many requests for one lock */
    instant service; /* a server's time for each write of a client; 0: none */
    int members;     /* of a double barrier that a thread of each client enters, beside another; 0: there is none */
    bool writes;     /* holders write under guard */
    bool jobs;       /* holders of the first path do its job */
    int period_ms;   /* of that; 0: it has KEYs */
    bool any;        /* every run of it counts */
    int skew_ms;     /* two leaders' times of day are no further apart */
    bool lends;      /* the first client's handle is its program's own */
    bool secretive;  /* some nodes may not be read */
    int swallowed_permille; /* how often a watch is spent without an event */
    instant deaf_until;     /* a client may not know what it would have been told */
    bool suspends;          /* paused clients are, rather, on a machine that is suspended */
    int observed;           /* the path that onlookers look at; -1: there are none */
    bool finale;            /* all is over, but for them */
    int64_t session_ms;
    bool confirmed;                              /* grants are confirmed by a write */
    unsigned budget;                             /* how often threads hand a grant on; 0: they do not */
    bool apart;                                  /* and some have an object of their own for each lock */
    int idle_ms;                                 /* how long an unused lock stays; 0: it does not */
    bool nowait;                                 /* unlocks do not wait */
    int lock_delay_ms;                           /* after a holder that did not unlock */
    unsigned attached[SERVERS_MAX][CLIENTS_MAX]; /* which of the client's connections the server has */
    int up_delay, down_delay, inbox_delay;
    int way;      /* the least delay of the link between clients and servers, each way */
    bool calm;    /* nothing goes wrong, and nothing is slow */
    bool tense;   /* every bound of the session's life is reached, and the faults are those that test it */
    bool sprints; /* some actors lock again and again */
    bool cuts;    /* the only fault is that connections break, one after another, and every message may be late */
    bool hostile; /* a contender forges names and records, overwrites data and requests revocations */
    int hunt_proof_permille, hunt_write_permille; /* how often the worst fault follows a proof, or a write */
    int hunt_late_permille;                       /* how often a late create follows a deletion */
    int hunt_record_permille;                     /* how often a forged record comes before a holder's */
    struct late_create late;
    struct pdk__session_policy policy;
    int starved_permille;          /* how often a client has no memory for a request */
    int late_permille, late_delay; /* how often a thread that is woken runs late, and how late (us) */
    int preempt_permille;          /* how often a thread loses the processor before it takes a lock */
    int weights[N_FAULTS];
    int fault_gap_ms;
    int n_faults;
    int faults_done[N_FAULTS];
    bool healed;
    bool well;         /* nothing was wrong when the world was looked at last */
    instant disturbed; /* something was wrong last */
    instant arrived;   /* what was slow when the world calmed down */
    int64_t epoch_then;
    int n_faults_then;
    uint64_t n_claims;
    int n_requests; /* of clients, pings not counted */

    int n_deleted;
    struct {
        int64_t zxid;
        int path;
        char name[PDK__NAME_MAX];
        bool by_order;
        bool planted;
    } deleted[LOG_MAX];

    int n_removals;
    struct {
        int64_t token;
        char name[PDK__NAME_MAX];
    } removals[REMOVALS_MAX]; /* the nodes that onlookers delete */

    size_t used;
    char *scratch;

    const char *broken; /* the name of a law */
    char how[256];
};

/* Run PLAN. Returns the name of the law that was broken, or NULL. The world is the caller's, allocated once. */
const char *world_run(struct world *w, const struct plan *plan);

struct world *world_new(void);
void world_free(struct world *w);

/* A line of the story. */
#define STORY(w, ...)                                                                                                  \
    do {                                                                                                               \
        if ((w)->plan.story != NULL)                                                                                   \
            world_tell(w, __VA_ARGS__);                                                                                \
    } while (0)
void world_tell(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Record that a law is broken; the first one counts. */
void world_break(struct world *w, const char *law, const char *format, ...) __attribute__((format(printf, 3, 4)));

session_index world_session(struct world *w, int client);
int64_t world_session_id(session_index s);

/* The time of day, on the slowest clock of a server. */
int64_t world_date_ms(const struct world *w);

/* The claim's node, by the truth; NULL when it does not exist, or another client's has its name. */
struct node *world_node(struct world *w, const struct claim *claim);

/* Does the claim's node exist, by the truth? */
bool world_node_there(struct world *w, const struct claim *claim);

/* All actors have finished. */
bool world_all_done(const struct world *w);

/* Was the node deleted by the order of something other than a client of the library? */
bool world_deleted_by_order(const struct world *w, int path, const char *name);

/* How many nodes of this name were deleted. */
int world_deletions(const struct world *w, int path, const char *name);

/* Did the transaction TOKEN create the node? */
bool world_created(const struct world *w, int path, const char *name, int64_t token);

/* An onlooker is to delete the node; where nodes are replaced, it may meet another of that name. */
void world_order_removal(struct world *w, int64_t token, const char *name);
bool world_removal_ordered(const struct world *w, int64_t token, const char *name);

/* Was a node planted under this name? */
bool world_planted(struct world *w, int path, const char *name);

/* The zxid of the transaction that deleted the node, or 0. */
int64_t world_deleted(const struct world *w, int path, const char *name);

/* The leader considers the session attached to this server. */
void world_moved(struct world *w, session_index session, unsigned attempt);

/* Is nothing wrong, and was nothing for FOR_MS: no fault, no election, no want of memory, no slow server or link? Slow
 * links where nothing is lost do not count. */
bool world_quiet(const struct world *w, int64_t for_ms);

/* An event was swallowed a short time ago: an excuse, which is counted. */
bool world_deaf(const struct world *w);

/* The time of some requests that follow one another, on the links and disks of this run. */
int64_t world_trips_ms(const struct world *w, int n);

/* Has a client no memory now? */
bool world_starves(struct world *w);

/* system.c */
void system_begin(struct world *w);
int system_open(const struct client *c); /* its descriptors, and threads that were neither joined nor detached */

/* registry.c, log.c */
void registry_begin(void);
void log_begin(void);

/* onlookers.c: do all observers report the leader? Let their clients ask, too. */
bool onlookers_agree(const struct world *w);
void onlookers_look_last(struct world *w);

/* memory.c */
void memory_begin(struct world *w);
int memory_live(const struct client *c); /* the number of its pieces */
void memory_tell(const struct client *c);

/* Nothing is slow any more. */
void world_calm_down(struct world *w);

/* faults.c */
void faults_begin(struct world *w);
void faults_heal(struct world *w);
void faults_at_proof(struct world *w, const struct client *c);
void faults_at_write(struct world *w, const struct client *c);
void faults_at_deletion(struct world *w, const struct client *c);
void faults_at_record(struct world *w);
void faults_at_request(struct world *w, struct client *c, bool before);

/* forgeries.c: in place of the record of a job. */
void forgeries_write(struct world *w, enum forgery forgery);
bool forgeries_readable(const char *text);

/* late_create.c */
bool late_create_may_begin(const struct world *w, const struct client *c);
void late_create_begin(struct world *w, struct client *c);
void late_create_sent(struct world *w, struct client *c, const struct request *r);

/* --- coverage: what a campaign must have seen -------------------------------------------------------------------- */

#define SIGHTS(X)                                                                                                      \
    X(GRANTED_AT_ONCE, "granted with nobody ahead")                                                                    \
    X(GRANTED_BY_WATCH, "granted when the only one ahead went")                                                        \
    X(GRANTED_BY_CHECK, "granted after the own node was read")                                                         \
    X(GRANTED_BY_PROOF, "granted when the session was proven to live")                                                 \
    X(RECOVERY_FOUND, "recovery found the node")                                                                       \
    X(RECOVERY_FOUND_NOTHING, "recovery found no node")                                                                \
    X(RECOVERY_FOUND_ANOTHERS, "recovery found the node of another, under our name")                                   \
    X(RECOVERY_FOR_NOBODY, "recovery for a caller who had given up")                                                   \
    X(EXPIRED_WAITING, "expired while waiting")                                                                        \
    X(EXPIRED_HOLDING, "expired while holding")                                                                        \
    X(EXPIRED_CREATING, "expired during create")                                                                       \
    X(PRESUMED, "lost by the own clock")                                                                               \
    X(PRESUMED_CONNECTED, "lost by the own clock while connected")                                                     \
    X(DOUBTED_CONNECTED, "suspect while connected")                                                                    \
    X(EXPIRED_CONNECTED, "a session expired while its client was connected")                                           \
    X(EXPIRED_BY_DEPOSED, "a deposed leader ended a session")                                                          \
    X(REFUSED_EXPIRED, "a write was refused, since the session was closing")                                           \
    X(HELD_AGAIN, "held again after suspect")                                                                          \
    X(VANISHED_WAITING, "own node deleted while waiting")                                                              \
    X(VANISHED_HOLDING, "own node deleted while holding")                                                              \
    X(PARENTS_MADE, "the path was made")                                                                               \
    X(FIRED_EARLY, "a watch fired before its reply")                                                                   \
    X(DELETE_REPEATED, "a delete was repeated")                                                                        \
    X(DELETE_FOUND_NOTHING, "a repeated delete found nothing")                                                         \
    X(STALE_REPLY, "a stale reply was ignored")                                                                        \
    X(MOVED, "a late create was refused as moved")                                                                     \
    X(BUSY, "a try found somebody")                                                                                    \
    X(BUSY_LATE, "a try came second after all")                                                                        \
    X(TIMED_OUT, "a deadline passed")                                                                                  \
    X(CANCELLED, "a caller gave up")                                                                                   \
    X(GIVEN_UP_HANDLE, "a handle was given up")                                                                        \
    X(LEFT_SERVER, "a silent server was left")                                                                         \
    X(PASSED_SERVER, "a server that did not answer was passed over")                                                   \
    X(CHANGED_SILENTLY, "a session changed silently")                                                                  \
    X(SWALLOWED, "a watch was spent without an event")                                                                 \
    X(STARVED, "a request could not be sent")                                                                          \
    X(FORGED, "a name was forged")                                                                                     \
    X(FORGED_TIE, "a name was forged with the number of another")                                                      \
    X(REPLACED, "a node was replaced by another of its name")                                                          \
    X(ASKED_BACK, "a program was asked for its lock")                                                                  \
    X(FORKED, "a holder forked")                                                                                       \
    X(REVOKED, "a holder was asked for its lock")                                                                      \
    X(STRAY_FOUND, "a stray was found and deleted")                                                                    \
    X(DELAYED, "a holder that did not unlock delayed the next")                                                        \
    X(OBSERVED, "an observer reported a leader")                                                                       \
    X(OBSERVED_NONE, "an observer reported that there is none")                                                        \
    X(SURVEYED, "a path was listed")                                                                                   \
    X(ASKED, "an onlooker asked for a lock")                                                                           \
    X(REMOVED, "an onlooker deleted a node")                                                                           \
    X(GRANTED_LESS, "a server granted a shorter timeout")                                                              \
    X(ADOPTED, "a handle was adopted")                                                                                 \
    X(FIRED_AFTER_RECONNECT, "a watch that was kept over a lost connection fired")                                     \
    X(TURN, "a candidate yielded, and led again")                                                                      \
    X(SEVERAL_PERMITS, "several permits were taken at once")                                                           \
    X(PATH_RESET, "a path whose numbers were near their end was deleted")                                              \
    X(RECORD_KEPT, "such a path had a holder record, which was made again with it")                                    \
    X(TRANSACTION_DELETES, "one transaction deleted nodes")                                                            \
    X(TRANSACTION, "one transaction made several nodes")                                                               \
    X(DOWNGRADED, "a writer went on as a reader")                                                                      \
    X(NOT_READ, "a node could not be read")                                                                            \
    X(NOT_TOLD, "a watch on a node that may not be read did not fire")                                                 \
    X(AUTH_FAILED, "a server refused the credentials of a client")                                                     \
    X(TOO_LARGE, "a request was over jute.maxbuffer")                                                                  \
    X(TOO_LARGE_REFUSED, "a lock whose requests were too large was refused")                                           \
    X(SUSPENDED, "a machine was suspended")                                                                            \
    X(EXHAUSTED, "the numbers of a path were used up")                                                                 \
    X(CAME_BACK, "a contender without a number gave way, to come back")                                                \
    X(LOGGED, "a line was logged")                                                                                     \
    X(SESSION_TOLD, "a program was told of its session")                                                               \
    X(POLLED, "a change was polled")                                                                                   \
    X(GUARDED, "a grant was guarded")                                                                                  \
    X(GUARDED_WRITE, "a write was sent under guard")                                                                   \
    X(JOB_DONE, "a job was done, and recorded")                                                                        \
    X(JOB_SKIPPED, "a job was skipped")                                                                                \
    X(JOB_FORGED, "the record of a job was forged")                                                                    \
    X(JOB_REFUSED, "a job was refused, since its record is forged")                                                    \
    X(GUARD_REFUSED, "a write under guard was refused, since the lock was gone")                                       \
    X(RESUMED, "a lock that was idle was taken again")                                                                 \
    X(CONTENDED, "a lock that was idle gave way")                                                                      \
    X(HANDED_ON, "a thread handed its grant to the next")                                                              \
    X(HANDED_ACROSS, "a thread handed its grant to the next, which locked through another object")                     \
    X(FLUSHED, "a release that was not waited for was over after a flush")                                             \
    X(MET, "a member entered a double barrier")                                                                        \
    X(CROWDED, "a member was one too many for a double barrier")                                                       \
    X(PARTED, "a member left it after the others")                                                                     \
    X(PASSED_BARRIER, "a wait at a barrier ended")                                                                     \
    X(FIVE_SERVERS, "five servers elected a leader")                                                                   \
    X(NON_VOTING, "a client was connected to a server that does not vote")                                             \
    X(CROWD_SERVED, "a request of a crowd was granted")                                                                \
    X(CROWD_APART, "a connection was lost, and a crowd waited")                                                        \
    X(LISTING_SHARED, "ten contenders had the answer to one listing")

enum sight {
#define ENUMERATE(name, text) SIGHT_##name,
    SIGHTS(ENUMERATE)
#undef ENUMERATE
        N_SIGHTS
};

extern uint64_t sights[N_SIGHTS];
extern const char *const sight_names[N_SIGHTS];
extern uint64_t total_grants, total_faults, total_requests;
extern int64_t total_virtual_ms;

static inline void see(enum sight s) { sights[s]++; }

/* --- excuses: where a law looks away ----------------------------------------------------------------------------- */

/* Each has its name, its law, and its reason. A law that looks away counts it by excuse(). A campaign prints how often
 * that was. An excuse that no seed needs is to be deleted. */
#define EXCUSES(X)                                                                                                     \
    X(CLOCKS, "belief", "the clocks run apart by more than the margin")                                                \
    X(GRANTED_LESS, "belief", "a server granted a shorter timeout, and its answer has not come")                       \
    X(ORDERED_END, "belief", "an order ended the session")                                                             \
    X(ORDERED_DELETE, "belief", "an order deleted the node, and the holder's notification is late")                    \
    X(LATE_GRANT, "exclusion, order, tokens", "the node of a grant is deleted already")                                \
    X(PLANTED, "order", "an older node has a number that a client chose")                                              \
    X(REPLACED_WRITER, "belief, exclusion, tokens", "the writer that reads was replaced by a hostile client")          \
    X(SAME_NAME, "herd", "two nodes had one name")                                                                     \
    X(LANDED, "nodes", "a create landed after it was looked for, and its session had been moved back")                 \
    X(REPLACED_NODE, "presence", "the node was replaced right before the grant")                                       \
    X(UNWATCHED_YET, "presence", "the watch on the own node is not due")                                               \
    X(UNWATCHED_REQUEST, "revocation", "the watch on the own node is not due")                                         \
    X(NO_MEMORY_TO_WATCH, "presence", "a request of the client found no memory on this connection")                    \
    X(NOT_CONNECTED, "presence", "the connection is lost, and the watch is to be set on the next")                     \
    X(SWALLOWED_EVENT, "presence, revocation", "an event was swallowed within the last two session timeouts")          \
    X(NO_MEMORY_TO_UNWATCH, "watches", "the removal of a watch found no memory")                                       \
    X(UNWATCHED_APART, "watches", "a watch was to be removed while there was no connection")                           \
    X(LENT, "watches", "the handle is lent, and its program may rely on the watch")                                    \
    X(FORGED_AHEAD, "watches", "a forged node took the place of the predecessor that was watched")                     \
    X(RECORD_BROKEN_OFF, "delay", "the connection broke between the record's end and the node's")                      \
    X(RECORD_NO_MEMORY, "delay", "the record's end found no memory")                                                   \
    X(ORDERED_LOSS, "steady", "an order deleted the holder's node")                                                    \
    X(BACKOFF, "prompt", "the handle that connects is being replaced, for its session was given up")                   \
    X(GIVEN_UP, "watches", "the client has given the session up, and is to close its handle")                          \
    X(SECRET_LEADER, "observers", "the leader's node may not be read")                                                 \
    X(PLANTED_LEADER, "observers", "the leader has a number that a client chose")                                      \
    X(MOVED_BACK, "steady", "the session had been moved back to a server that its client had left")                    \
    X(LUCK, "service", "a proof takes too long for a grant: served once links and disks are quick")                    \
    X(WITHDRAWN, "leader", "a candidate gave up after too many lost creates, or numbers")                              \
    X(FORGED_RUN, "jobs", "a hostile contender's record has the run, or the KEY")                                      \
    X(FORGED_END, "jobs", "a hostile contender's record has another end of the run")                                   \
    X(SAME_VERSION, "jobs", "the record was deleted, and another has the version that was read")                       \
    X(REPLACED_GUARD, "jobs", "a node of a hostile contender's has the name that the write needs")                     \
    X(ENDING_NODE, "barriers, caller", "unlocked, and the node is there until its session's end is committed")

enum excuse {
#define ENUMERATE(name, law, reason) EXCUSE_##name,
    EXCUSES(ENUMERATE)
#undef ENUMERATE
        N_EXCUSES
};

extern uint64_t excuses[N_EXCUSES];
extern const char *const excuse_texts[N_EXCUSES];

static inline void excuse(enum excuse e) { excuses[e]++; }

#endif
