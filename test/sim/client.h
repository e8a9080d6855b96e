/*
 * A client process: ZooKeeper's C client as far as it matters (io.c: pings after a third of the timeout, a connection
 * given up after two thirds without a packet, watches set again on reconnect, requests failed with their outcome
 * unknown), its API (zookeeper.c), the driver and the recipes that ship, and a program with its threads.
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
    ACTORS_MAX = 11,
    ATTENDANTS = 2,
    PERMITS_MAX = 4,
    CROWD_MAX = 200,
    CLAIMS_MAX = 64 + CROWD_MAX,
    OUTSTANDING_MAX = 2048, /* two for each stray, at a reconnection */
    CLIENT_WATCHES_MAX = 32 + 2 * CROWD_MAX,
    STRAYS_MAX = 64 + CROWD_MAX,
    TICKETS_MAX = 2048,
    COMPLETIONS_MAX = 2048
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
    instant lists_since; /* it asked for a listing then, last */
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
    COMPLETES_GUARDED,
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
    bool root; /* the path is the root, or a semaphore's own, which have no number of their own */
    char name[PDK__NAME_MAX];
    void (*completion)(void);
    const void *data;
    instant sent;
    int n_results; /* of a transaction */
    struct zoo_op_result *results;
};

/* The rows that actors use. A client has a lock for each that its world has, but for the barriers. */
enum recipe_of {
    RECIPE_MUTEX,
    RECIPE_SECOND, /* a mutex on another path */
    RECIPE_LEADER,
    RECIPE_RWLOCK,
    RECIPE_SEMAPHORE,
    RECIPE_SEVERAL,
    RECIPE_BARRIERS,
    RECIPES,
    LOCKS = RECIPE_BARRIERS
};

/* One that takes what a recipe has, and leaves (actor.h). */
struct actor {
    struct client *client;
    enum recipe_of of;
    int index;    /* of those with its recipe */
    int rounds;   /* still to do */
    bool sprints; /* it asks again and again, and holds for a moment */
    const struct recipe *recipe;
    const struct verbs *mode;
    unsigned n_permits; /* that it asks for */
    pdk_lock *lock;
    pdk_lock *own;    /* made for one round; NULL: the lock is the client's */
    pdk_grant *grant; /* NULL: it is the thread's; or there is none, or it was taken back */
    bool later;       /* the callback judges the grant */
    bool answered;
    int answer;
    int64_t token; /* of the grant at hand, and its turn */
    uint64_t turn;
    bool holds;
    bool wanted; /* it was told that another wants the lock */
};

/* Requests for one lock that one thread has at a time (crowds.c). */
struct crowd {
    struct client *client;
    int n;       /* 0: there is none */
    int n_asked; /* the first of them were */
    int n_left;  /* still to be asked, or to be finished */
    struct actor *members;
};

/* One at a barrier: the first at a double barrier, the second at a plain one. */
enum barrier_task { TASK_ENTER, TASK_LEAVE, TASK_WAIT, TASK_SET, TASK_REMOVE };
struct attendant {
    struct client *client;
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
    int n_outstanding, n_queued, n_watches;

    bool expired, by_silence; /* the connection that it lost last was left, for its server was silent */
    bool authenticated;       /* its handle has its credentials */
    bool auth_failed;         /* and a server refused them */
    bool auth_told;           /* and the library was told so, by a handle that it was not replacing */
    bool clock_stands;        /* its clock came due while it was paused */
    instant resumed;          /* after its last pause */
    int64_t slept_us;         /* how long its machine was suspended, by its own clock */
    int64_t asleep_us;        /* since when it is; 0: it is not */
    instant asleep_since;
    instant apart;        /* it was paused or not connected last */
    int n_starved;        /* how often it had no memory */
    int n_starved_before; /* when it was connected */

    /* its thread that completes */
    struct fiber *completer;
    bool completes;
    unsigned first_completion, n_completions;
    int n_unheard;             /* events that its reader has, and its completer has not handed on (wired.h) */
    bool adopts;               /* its handle is its program's own, and adopted */
    struct _zhandle *lent;     /* that handle */
    unsigned heard_own;        /* events of the session, by its program's own watcher */
    const struct fiber *child; /* it has forked, and runs in the child; NULL: none does */
    struct _zhandle *zh;
    int n_tickets;                  /* places that were ever used */
    const struct ticket *answering; /* the answer of its request is being heard; NULL: none is */
    int n_listed;                   /* the contenders that had the answer, of those who list */

    /* the driver, and what is known of it */
    pdk_client *library;
    pdk_lock *locks[LOCKS];             /* NULL: none */
    const struct pdk__session *machine; /* NULL: none, or over */
    bool ready;                         /* its actors are at work */
    bool closes;                        /* or is closed */
    bool closed;                        /* and all of it is freed */
    int64_t heard_zxid;                 /* the newest state that a message told of */
    int64_t joined_zxid;                /* the state of its server when it was connected */
    bool replied;                       /* since then: the events of watches that were set again came before */
    int64_t heard_timeout_ms;           /* the shortest that its session was granted, as far as the driver was told */
    unsigned handle;                    /* handles had: the number of the one at hand */
    bool curious;                       /* it asks for all there is to know, and logs */
    bool asking;                        /* that thread is at work */
    pdk_log_level log_level;
    bool told; /* of its session */
    pdk_session_state told_state;
    pdk_event polled, polled_term; /* the last change of its first lock, and of its candidate's terms */
    pdk_event term;                /* the last event of those terms; kind 0: none */
    int64_t elected;               /* the token of the last of them */
    bool dispatching;              /* that thread is at work */
    bool dispatches;               /* its callbacks run on a thread of its own program */
    bool oversized;                /* the requests for its lock on path 0 are over jute.maxbuffer */
    bool refuses_mixed;
    bool looks_ahead; /* its waiters watch the contender before their predecessor */
    bool secretive;   /* its nodes are for itself alone, by its credentials */
    bool one_name;    /* its servers have one name, so that it is not told to leave any */
    int stray_path;
    int n_claims; /* places that were ever used */
    int n_strays; /* likewise */

    pdk_barrier *meeting; /* NULL: none; and so is the other */
    pdk_barrier *barrier;
    struct attendant attendants[ATTENDANTS];
    struct onlooker onlooker;
    int n_actors;
    struct actor actors[ACTORS_MAX];
    struct crowd crowd;

    /* last, for they are large, and need no clearing */
    struct claim claims[CLAIMS_MAX];
    struct stray strays[STRAYS_MAX];
    struct actor members[CROWD_MAX];
    const struct request *outstanding[OUTSTANDING_MAX];
    const struct request *queued[OUTSTANDING_MAX];
    struct watched watches[CLIENT_WATCHES_MAX];
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

/* Ask as ASKED has it, from its kind to its text. False: there is no handle, or no memory. */
bool io_send(struct client *c, const struct request *asked, uint64_t ticket);

/* client.c: what the completion thread is handed. */
enum in_kind { IN_CONNECTED, IN_DISCONNECTED, IN_EXPIRED, IN_AUTH_FAILED, IN_REPLY, IN_UNKNOWN, IN_EVENT };
void client_receive(void *receiver, const struct message *m);

/* client.c: for the laws, before and after the driver hears of an answer or an event, or of a connection. */
void client_hear(struct client *c, enum in_kind kind, const struct answer *a);
void client_heard(struct client *c, enum in_kind kind, const struct answer *a);
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

/* program.c: its first thread. */
void *client_run(void *client);

/* Does a thread of its program work still? */
bool client_at_work(const struct client *c);

/* The thread that dispatches callbacks. */
void *client_dispatch(void *client);

/* actor.c: the recipes that its world has, and its threads that use them. */
bool recipe_used(const struct world *w, enum recipe_of recipe);
int recipe_make(struct client *c, enum recipe_of recipe, pdk_lock **out);
void actors_begin(struct client *c);
void *actor_run(void *actor);

/* crowds.c: its crowd, and the thread of that. */
void crowd_begin(struct client *c);
void *crowd_run(void *crowd);

/* askers.c: options for one that asks, and its thread. */
int client_ask_all(struct client *c, pdk_client_options *o);
void *client_ask(void *client);
void client_log(pdk_client *library, pdk_log_level level, int64_t at_ms, const char *text, void *client);
void client_told(pdk_client *library, pdk_session_state state, void *client);

/* attendants.c: their barriers. */
int attendants_begin(struct client *c);
void attendants_end(struct client *c);

/* onlookers.c: its observer, and its thread. */
void onlooker_begin(struct onlooker *k, struct client *c);
void onlooker_end(struct onlooker *k);
void *onlooker_run(void *onlooker);

/* The thread that closes and frees a client, at once. */
void *client_end(void *client);

#endif
