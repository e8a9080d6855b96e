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
    FAULT_FORGE, /* the hostile contender's, from here on */
    FAULT_JUNK,
    FAULT_REVOKE,
    FAULT_REPLACE,
    N_FAULTS
};

enum { FAULTS_MAX = 512 };

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
    uint64_t moved_back;              /* a bit per session: moved to a server that its client had left */
    int drift_ppm;                    /* of a clock, at most */
    int n_paths;
    int64_t session_ms;
    bool confirmed;                              /* grants are confirmed by a write */
    int lock_delay_ms;                           /* after a holder that did not unlock */
    unsigned attached[SERVERS_MAX][CLIENTS_MAX]; /* which of the client's connections the server has */
    int up_delay, down_delay, inbox_delay;
    int way;      /* the least delay of the link between clients and servers, each way */
    bool calm;    /* nothing goes wrong, and nothing is slow */
    bool tense;   /* every bound of the session's life is reached, and the faults are those that test it */
    bool sprints; /* some users lock again and again */
    bool cuts;    /* the only fault is that connections break, one after another, and every message may be late */
    bool hostile; /* a contender forges names, overwrites data and requests revocations */
    int hunt_proof_permille, hunt_write_permille; /* how often the worst fault follows a proof, or a write */
    struct pdk__session_policy policy;
    bool renews_by_sync;
    int starved_permille; /* how often a client has no memory for a request */
    int weights[N_FAULTS];
    int fault_gap_ms;
    int n_faults;
    int faults_done[N_FAULTS];
    bool healed;
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

/* The claim's node, by the truth; NULL when it does not exist, or another client's has its name. */
struct node *world_node(struct world *w, const struct claim *claim);

/* Does the claim's node exist, by the truth? */
bool world_node_there(struct world *w, const struct claim *claim);

/* All users have finished. */
bool world_all_done(const struct world *w);

/* Was the node deleted by the order of something other than a client of the library? */
bool world_deleted_by_order(const struct world *w, int path, const char *name);

/* How many nodes of this name were deleted. */
int world_deletions(const struct world *w, int path, const char *name);

/* The zxid of the transaction that deleted the node, or 0. */
int64_t world_deleted(const struct world *w, int path, const char *name);

/* The leader considers the session attached to this server. */
void world_owned_by(struct world *w, session_index session, int server);

/* End all delays that a client could notice. */
void world_calm_down(struct world *w);

/* faults.c */
void faults_begin(struct world *w);
void faults_heal(struct world *w);
void faults_at_proof(struct world *w, const struct client *c);
void faults_at_write(struct world *w, const struct client *c);
void faults_at_request(struct world *w, struct client *c, bool before);

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
    X(STARVED, "a request could not be sent")                                                                          \
    X(FORGED, "a name was forged")                                                                                     \
    X(FORGED_TIE, "a name was forged with the number of another")                                                      \
    X(REPLACED, "a node was replaced by another of its name")                                                          \
    X(REVOKED, "a holder was asked for its lock")                                                                      \
    X(EXCUSED_ORDER, "excused: granted before an older node with a chosen number")                                     \
    X(STRAY_FOUND, "a stray was found and deleted")                                                                    \
    X(EXCUSED_LANDING, "excused: a create landed after it was looked for")                                             \
    X(EXCUSED_HERD, "excused: two were woken by nodes of one name")                                                    \
    X(EXCUSED_PRESENCE, "excused: granted, and the node replaced right before")                                        \
    X(DELAYED, "a holder that did not unlock delayed the next")                                                        \
    X(FALSE_BELIEF, "belief outlived the session, where it may")

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

#endif
