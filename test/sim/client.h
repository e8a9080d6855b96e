/*
 * A client process: ZooKeeper's C client as far as it matters (io.c: pings after a third of the timeout, a connection
 * given up after two thirds without a packet, watches set again on reconnect, requests failed with their outcome
 * unknown), its API (zookeeper.c), the driver and the recipes that ship, and users that lock and unlock.
 */
#ifndef SIM_CLIENT_H
#define SIM_CLIENT_H

#include "lib/core/contender.h"
#include "lib/core/session.h"
#include "lib/core/stray.h"
#include "paddock.h"
#include "test/sim/ensemble.h"
#include "test/sim/fiber.h"

enum {
    USERS_MAX = 2,
    SHARERS_MAX = 2,
    TAKERS_MAX = 2,
    GATHERERS_MAX = 2,
    ATTENDANTS = 2,
    PERMITS_MAX = 4,
    CLAIMS_MAX = 64,
    OUTSTANDING_MAX = 512, /* two for each stray, at a reconnection */
    CLIENT_WATCHES_MAX = 32,
    STRAYS_MAX = 64,
    TICKETS_MAX = 1024,
    COMPLETIONS_MAX = 1024
};

/* The path of a semaphore, whose nodes stand on GATE_PATH and LEASE_PATH. */
#define SEMAPHORE "/4"

struct world;
struct client;

/* A contender at work: what the laws know of one of the driver's claims. */
struct claim {
    struct client *client;
    bool used;
    int path;
    uint64_t number;                      /* of all claims of the run */
    const struct pdk__contender *machine; /* the driver's own */
    struct pdk__contender ended;          /* a copy, once it is done */
    bool has_predecessor;
    struct watched predecessor;
    bool unwatched; /* its watch is being removed */
    int settled;    /* how often it was told granted or failed */
    int done;
    bool granted;
    bool released; /* the user let go, or never held */
    bool revoked;  /* it was told that the lock is wanted back */
    int64_t token;
    bool confirmed; /* its grants are, by a write */
    bool delays;    /* and begin after a lock delay */
    enum pdk__tag tag;
    uint32_t stray_attempt;
    bool turned; /* it rested when law_prompt.c last looked, or has begun, was granted, or let go since */
    bool proving;
    instant busy_since;
    instant gone_since,
        wanted_since;   /* it could have known of its node's end, or of a request for the lock; 0: neither */
    bool armed;         /* the watch on the predecessor was asked for, and has neither fired nor been taken back */
    int64_t keeps_from; /* law_idle.c: its node is idle, and the other node of this czxid waits, since; 0: none does */
    instant keeps_since;
};

/* A create that left no node, and may land. */
struct stray {
    const struct pdk__stray *machine; /* the driver's own; NULL: none */
    int path;
    int64_t session;
    uint32_t attempt;
};

/* A request that is not completed yet. */
enum completion_kind {
    COMPLETES_VOID,
    COMPLETES_STAT,
    COMPLETES_STRING,
    COMPLETES_STRING_ROOT, /* the root is there already */
    COMPLETES_STRING_STAT,
    COMPLETES_MULTI,
    COMPLETES_ACL,
    COMPLETES_STRINGS,
    COMPLETES_STRINGS_STAT,
    COMPLETES_DATA,
    COMPLETES_RECORD
};

struct ticket {
    struct _zhandle *zh; /* NULL: free */
    enum completion_kind kind;
    int path;
    char name[PDK__NAME_MAX];
    void (*completion)(void);
    const void *data;
    int n_results; /* of a transaction */
    struct zoo_op_result *results;
};

struct user {
    struct client *client;
    int index;
    int rounds;    /* still to do */
    bool sprints;  /* it asks again and again, and holds for a moment */
    bool answered; /* an asynchronous lock */
    int answer;
    int path;         /* that it locks */
    pdk_mutex *mutex; /* that it is of */
    pdk_mutex *own;   /* made for one lock; NULL: it is one of the client's */
    pdk_grant *grant; /* of such a lock; NULL: the lock is the thread's */
    int64_t token;    /* of the grant at hand, and its turn */
    uint64_t turn;
    bool holds;
    bool wanted; /* it was told that another wants the lock */
};

/* One that reads and writes under a read/write lock. */
struct sharer {
    struct client *client;
    int index;
    int rounds;
    int64_t token; /* of the grant at hand, and its turn */
    uint64_t turn;
    bool holds;
};

/* One that takes permits of a semaphore. */
struct taker {
    struct client *client;
    int index;
    int rounds;
    pdk_grant *request; /* an asynchronous one; NULL: none, or taken back */
    bool answered;
    int answer;
};

/* One that locks several paths at once. */
struct gatherer {
    struct client *client;
    int index;
    int rounds;
    pdk_grant *grant; /* of an asynchronous lock; NULL: the lock is the thread's */
    bool locks;       /* asynchronously; else it unlocks so */
    bool answered;
    int answer;
};

/* One at a barrier: the first at a double barrier, the second at a plain one. */
enum barrier_task { TASK_ENTER, TASK_LEAVE, TASK_WAIT, TASK_SET, TASK_REMOVE };
struct attendant {
    struct client *client;
    int index;
    int rounds;
    /* law_barriers.c */
    enum barrier_task task;
    bool calls;
    bool met;      /* what the call promises was so, at one moment of it */
    bool enough;   /* so many members were there */
    bool room;     /* of a member: it was one of those that may be inside */
    bool crowded;  /* it came when as many as may be inside were there */
    int64_t came;  /* its first node was created */
    int64_t round; /* "ready" was created, after that */
    instant ended;
};

/* One that stands for leader. */
struct candidate {
    struct client *client;
    pdk_leader *leader; /* NULL: none */
    int rounds;
    pdk_event told; /* the last of its terms that was reported; 0: none */
    int64_t token;
};

/* One that looks at a path, beside an observer. */
struct onlooker {
    struct client *client;
    pdk_leader_observer *observer; /* NULL: none */
    int path;
    char name[4];
    int rounds;
    bool meddles;
    bool stopped;  /* freed in its callback */
    bool reported; /* anything */
    int64_t token; /* the last that was; 0: no leader */
};

enum io_state { IO_IDLE, IO_CONNECTING, IO_CONNECTED };

struct client {
    struct world *world;
    int id;
    bool paused, dead;
    int64_t clock_ms; /* what its clock said at the beginning */
    int drift_ppm;
    unsigned hosts; /* a bit for each server it knows */

    /* ZooKeeper's client */
    enum io_state io;
    int server;        /* it is, or tries to be, connected to */
    unsigned attempts; /* connections tried: the number of the one at hand */
    session_index session;
    session_index offered; /* for the servers to give, if it has none */
    int64_t seen_zxid;
    int64_t timeout_ms; /* granted; it asks for no more ever after */
    instant sent, received;
    int n_outstanding, n_queued;
    const struct request *outstanding[OUTSTANDING_MAX];
    const struct request *queued[OUTSTANDING_MAX];
    int n_watches;
    struct watched watches[CLIENT_WATCHES_MAX];

    bool expired;
    bool authenticated; /* its handle has its credentials */
    bool auth_failed;   /* and a server refused them */
    bool auth_told;     /* and the library was told so, by a handle that it was not replacing */
    bool clock_stands;  /* its clock came due while it was paused */
    instant resumed;    /* after its last pause */
    int64_t slept_us;   /* how long its machine was suspended, by its own clock */
    int64_t asleep_us;  /* since when it is; 0: it is not */
    instant asleep_since;
    instant apart;        /* it was paused or not connected last */
    int n_starved;        /* how often it had no memory */
    int n_starved_before; /* when it was connected */

    /* its thread that completes */
    struct fiber *completer;
    bool completes;
    unsigned first_completion, n_completions;
    bool adopts;               /* its handle is its program's own, and adopted */
    struct _zhandle *lent;     /* that handle */
    unsigned heard_own;        /* events of the session, by its program's own watcher */
    const struct fiber *child; /* it has forked, and runs in the child; NULL: none does */
    struct _zhandle *zh;
    int n_tickets; /* places that were ever used */

    /* the driver, and what is known of it */
    pdk_client *library;
    pdk_mutex *mutexes[PATHS];
    const struct pdk__session *machine; /* NULL: none, or over */
    bool ready;                         /* its users are at work */
    bool closes;                        /* or is closed */
    bool closed;                        /* and all of it is freed */
    int64_t heard_zxid;                 /* the newest state that a message told of */
    int64_t joined_zxid;                /* the state of its server when it was connected */
    int64_t heard_timeout_ms;           /* the shortest that its session was granted, as far as the driver was told */
    unsigned handle;                    /* handles had: the number of the one at hand */
    bool curious;                       /* it asks for all there is to know, and logs */
    bool asking;                        /* that thread is at work */
    pdk_log_level log_level;
    bool told; /* of its session */
    pdk_session_state told_state;
    pdk_event polled, polled_term; /* the last change of its first lock, and of its candidate's terms */
    bool dispatching;              /* that thread is at work */
    bool dispatches;               /* its callbacks run on a thread of its own program */
    bool oversized;                /* the requests for its lock on path 0 are over jute.maxbuffer */
    bool refuses_mixed;
    bool looks_ahead; /* its waiters watch the contender before their predecessor */
    bool secretive;   /* its nodes are for itself alone, by its credentials */
    bool one_name;    /* its servers have one name, so that it is not told to leave any */
    int stray_path;
    int n_claims; /* places that were ever used */
    struct stray strays[STRAYS_MAX];

    pdk_rwlock *shared; /* NULL: none */
    struct sharer sharers[SHARERS_MAX];
    pdk_semaphore *semaphore; /* NULL: none */
    struct taker takers[TAKERS_MAX];
    pdk_mutex *multilock; /* NULL: none */
    struct gatherer gatherers[GATHERERS_MAX];
    pdk_barrier *meeting; /* NULL: none; and so is the other */
    pdk_barrier *barrier;
    struct attendant attendants[ATTENDANTS];
    struct candidate candidate;
    struct onlooker onlooker;
    struct user users[USERS_MAX];
    int n_users;

    /* last, for they are large, and need no clearing */
    struct claim claims[CLAIMS_MAX];
    struct message completions[COMPLETIONS_MAX];
    struct ticket tickets[TICKETS_MAX];
    struct pipe up[SERVERS_MAX], down[SERVERS_MAX];
    struct pipe inbox; /* from the thread that reads to the thread that completes */
};

void client_begin(struct client *c, struct world *w, int id);
void client_pause(struct client *c, bool paused);

/* Its machine is suspended: a pause in which a clock stands still. */
void client_suspend(struct client *c);
void client_crash(struct client *c);

/* The connection breaks: the server learns of it if TOLD; what was on its way up or down is lost, or not. */
void client_cut(struct client *c, bool told, bool lose_up, bool lose_down);

/* A server sends an answer. */
void client_answer(struct client *c, int server, unsigned attempt, enum answer_kind kind, const struct answer *a);

int64_t client_now_ms(const struct client *c);
int64_t client_now_us(const struct client *c);

/* By the clock that stands still while its machine is suspended. */
int64_t client_monotonic_us(const struct client *c);
bool client_is_dead(const struct client *c);
bool client_is_paused(const struct client *c);

/* The session as the driver has it; one that is over where there is none. */
const struct pdk__session *client_session(const struct client *c);

/* Does it believe, at this moment, that the claim holds? What pdk_lock_state would say. */
bool claim_believes(const struct claim *claim);

/* --- between the files of the client ----------------------------------------------------------------------------- */

/* io.c */
void io_open(struct client *c);
void io_close(struct client *c);
void io_resume(struct client *c);
bool io_send(struct client *c, enum request_kind kind, int path, const char *name, bool watch, int32_t version,
             const struct also *also, int n_also, uint64_t ticket);

/* client.c: what the completion thread is handed. */
enum in_kind { IN_CONNECTED, IN_DISCONNECTED, IN_EXPIRED, IN_AUTH_FAILED, IN_REPLY, IN_UNKNOWN, IN_EVENT };
void client_receive(void *receiver, const struct message *m);
void client_start(struct client *c);

/* client.c: the calls of the driver for the machines' steps (shim.h). */
void sim_contender_step(struct pdk__contender *machine, const struct pdk__event *ev, struct pdk__actions *actions);
void sim_session_step(struct pdk__session *s, const struct pdk__session_event *ev,
                      struct pdk__session_actions *actions);
void sim_stray_init(struct pdk__stray *s, uint64_t *ops, int64_t session, uint32_t attempt, uint64_t seed,
                    int64_t now_ms);
void sim_stray_step(struct pdk__stray *s, const struct pdk__event *ev, struct pdk__actions *actions);

/* The watcher of a program that lends its handle. */
void client_watch_own(struct _zhandle *zh, int type, int state, const char *path, void *client);

/* zookeeper.c */
int zookeeper_path(const char *path);
void zookeeper_complete(struct client *c, const struct message *m);

/* users.c: the thread of one. */
void *user_run(void *user);

/* users.c: a holder is asked for its lock. */
void user_asked(pdk_mutex *m, const pdk_event *event, void *client);

/* The thread that dispatches callbacks. */
void *client_dispatch(void *client);

/* askers.c: options for one that asks, and its thread. */
int client_ask_all(struct client *c, pdk_client_options *o);
int client_make_mutex(struct client *c, int path, pdk_mutex **out);
void *client_ask(void *client);
void client_log(pdk_client *library, pdk_log_level level, int64_t at_ms, const char *text, void *client);
void client_told(pdk_client *library, pdk_session_state state, void *client);

/* candidates.c: its leader, and its thread. */
int candidate_begin(struct candidate *k, struct client *c);
void candidate_end(struct candidate *k);
void *candidate_run(void *candidate);

/* sharers.c: their lock, and their threads. */
int sharers_begin(struct client *c);
void sharers_end(struct client *c);
void *sharer_run(void *sharer);

/* gatherers.c: their multi-lock, and their threads. */
int gatherers_begin(struct client *c);
void gatherers_end(struct client *c);
void *gatherer_run(void *gatherer);

/* attendants.c: their barriers, and their threads. */
int attendants_begin(struct client *c);
void attendants_end(struct client *c);
void *attendant_run(void *attendant);

/* takers.c: their semaphore, and their threads. */
int takers_begin(struct client *c);
void takers_end(struct client *c);
void *taker_run(void *taker);

/* onlookers.c: its observer, and its thread. */
void onlooker_begin(struct onlooker *k, struct client *c);
void onlooker_end(struct onlooker *k);
void *onlooker_run(void *onlooker);

/* The thread that closes and frees a client, at once. */
void *client_end(void *client);

#endif
