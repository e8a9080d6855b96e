/*
 * The client, from below: its lock, its count, its timer, and the right to wait. Every other file of the driver stands
 * on it. The driver turns actions of the core into asynchronous ZooKeeper calls, and completions into events. It
 * decides nothing. doc/design.md has its floors.
 *
 * Threads. ZooKeeper's completion thread brings completions and watch events; the callers' threads bring requests.
 * Three threads are our own: one for timers, which waits for nothing else (timers.c); one for the user's callbacks,
 * unless the program dispatches them (callbacks.c); and one that opens a new handle and ends (opener.c). One lock per
 * client covers its members, its locks and its session. It is never held while a callback of the user runs, nor while a
 * handle is opened or closed.
 *
 * Lifetimes. A client is counted: its creator, its locks, and each request in flight hold it. A request that
 * ZooKeeper's client forgets to complete (ZOOKEEPER-2894, and after an expiry ZOOKEEPER-2802) is dropped once its
 * handle has been closed. The handle's threads are joined by then. Watch contexts are numbers, looked up: a watcher may
 * be called after its watch was removed.
 */
#ifndef PDK__CLIENT_H
#define PDK__CLIENT_H

#include "lib/core/session.h"
#include "lib/list.h"
#include "lib/process.h"
#include "lib/stats.h"
#include "lib/zk/index.h"
#include "lib/zk/options.h"
#include "paddock/client.h"
#include <pthread.h>
#include <stdatomic.h>
#include <zookeeper/zookeeper.h>

/* A thread that waits until DEADLINE_MS of our clock at the latest: on its stack, and in a list while it waits. */
struct pdk__waiter {
    struct pdk__list link;
    pthread_cond_t *cond;
    int64_t deadline_ms;
};

/* A callback of the user that waits for its turn. It runs once, with no lock held; then the queue never touches it
 * again. */
struct pdk__callback {
    struct pdk__list link;
    void (*run)(struct pdk__callback *callback);
};

struct pdk__log;
struct pdk__sasl;
struct pdk__strays;

/* The files above the client, which it does not know, as far as it calls them. */
struct pdk__upper {
    void (*session)(struct pdk_client *c, const struct pdk__session_event *event); /* with the lock */
    void (*end)(struct pdk_client *c); /* the last reference is dropped: free it, and all that is kept for it */
};

/* Work that one member's report makes for others. A member must not call back into itself, nor end others while all of
 * them are told something. */
struct pdk__deferred {
    struct pdk__list link;
    void (*run)(struct pdk__deferred *deferred);
};

/* The parts of a client. Each belongs to one file; others touch it at birth and at the end, or read it. */

/* registry.c. */
struct pdk__registered {
    struct pdk__list by_id, by_handle; /* the second of adopted handles alone */
};

/* client.c: the lock, and what its release does. */
struct pdk__guard {
    _Atomic(pthread_t) owner;  /* the thread that has the lock; 0: none, or one that waits on a condition */
    bool shielded;             /* from cancellation is the thread that has the lock */
    int cancel_state;          /* of that thread, before it was */
    uint64_t turn;             /* how often the lock was taken */
    struct pdk__list deferred; /* of pdk__deferred */
};

/* handle.c, sasl.c, tls.c: the present handle. */
struct pdk__handle {
    char unknown[160]; /* the hosts that were unknown when it was opened */
    zhandle_t *early;  /* a handle that spoke before it was handed over, with all authentication queued */
    int early_state;   /* the last state that it reported */
    watcher_fn app_watcher;
    atomic_bool tls_checked; /* the certificate of a server */
    atomic_bool tls_dropped; /* it is being closed: no handshake counts any more */
    struct pdk__sasl *sasl;
};

/* wire.c: questions that others may join. */
struct pdk__joinable {
    struct pdk__index under_way; /* by path */
    uint64_t n_sent;             /* questions so far */
    unsigned n_names;            /* of the last listing: the next may be as large */
};

/* window.c. */
struct pdk__window {
    unsigned size, max;              /* the weight that may be under way: now, and at most */
    unsigned asked;                  /* the weight of all that is */
    struct pdk__list urgent, others; /* of pdk__window_entry: that wait */
    struct pdk__deferred deferred;   /* to send them */
};

/* session_driver.c: the last step of the session machine. */
struct pdk__session_step {
    int64_t wake_ms;      /* of the machine, since then */
    int64_t refreshed_ms; /* the clock, when the state was brought up to date last */
    uint64_t refreshed_turn;
};

/* session_driver.c: what the program was told of the session. */
struct pdk__session_told {
    struct pdk__callback callback;
    pdk_session_state state; /* that the callback got last */
    char reason[320];        /* why, for the callback that is running */
    bool telling;            /* that callback is running */
    bool unfit;              /* the link is too slow for the session, and an incident says so */
};

/* member.c. */
struct pdk__members {
    struct pdk__list list;
    unsigned n_needing_lease;
    size_t path_bytes;   /* of all: the budget */
    size_t chroot_bytes; /* of each path, beyond what they know */
};

/* patrol.c: the members that can look again. */
struct pdk__patrol {
    unsigned n;
    int64_t at_ms; /* when one of those does */
};

/* release.c. */
struct pdk__releases {
    struct pdk__list list; /* of pdk__release, in the order in which they began */
    uint64_t n;            /* that have begun so far */
    unsigned n_flushing;   /* threads that wait for their end */
};

/* timers.c. */
struct pdk__timers {
    pthread_t thread;
    int fd;
    int wake_fd;
    int64_t armed_ms;
    struct pdk__list waiters;
    bool stopping;
};

/* opener.c. While one is wanted or under way, events of the present handle are ignored. */
struct pdk__opener {
    pthread_t thread;
    bool made; /* and neither joined nor detached */
    bool wanted;
    bool opening;
    int64_t opening_ms; /* when the last opener was started */
    bool launching;     /* the client is being created, and its creator waits for the opener */
    int rc;             /* of the last opener that ended */
};

/* callbacks.c. */
struct pdk__callbacks {
    pthread_t thread; /* unless the caller dispatches */
    pthread_cond_t queued;
    bool stopping;
    int ready_fd; /* readable while callbacks wait, for a caller that dispatches */
    struct pdk__list list;
    bool calling;
    pthread_t calling_thread;
};

/* account.c: reports for people. */
struct pdk__account {
    uint64_t number;  /* for incidents */
    char error[512];  /* the last incident that came without a call */
    char reason[320]; /* why the session is in its state */
    char server[80];  /* to which the client was connected last */
    bool reached;     /* a server was connected at least once */
    int64_t apart_ms; /* since when none is connected */
    int refusal;      /* the code of the last request that the servers refused */
    int renewal;      /* the answer to the last request for the chain */
    uint64_t n_links; /* connections so far */
};

struct pdk_client {
    atomic_int refs;
    struct pdk__process process; /* that created it */
    const struct pdk__upper *upper;
    struct pdk__registered registered;
    uintptr_t id; /* in the registry; what watchers are given */
    pthread_mutex_t lock;
    struct pdk__guard guard;

    /* settled at birth */
    char *hosts;
    struct pdk_client_options options;
    bool adopted;

    /* the identity of its nodes, without the thread's number: two texts of one allocation (recipes/node_data.c) */
    char *identity;
    const char *identity_rest;

    /* to the servers */
    zhandle_t *zh; /* NULL while it is replaced */
    struct pdk__handle handle;
    struct pdk__opener opener;
    struct pdk__list requests;
    struct pdk__joinable joinable;
    struct pdk__window window;
    uint64_t ops;
    uint64_t seed;

    /* the session */
    struct pdk__session session;
    struct pdk__session_step step;
    int over; /* why no session will ever follow, or 0 */

    /* the members */
    struct pdk__members members;
    struct pdk__patrol patrol;
    struct pdk__index index; /* by the paths that they watch */
    struct pdk__releases releases;
    struct pdk__list cohorts; /* of pdk__cohort, those of the recipes that other objects can join */
    struct pdk__strays *strays;

    /* to the program */
    struct pdk__timers timers;
    struct pdk__callbacks callbacks;
    struct pdk__session_told told;
    struct pdk__account account;
    struct pdk__log *log;
    struct pdk_stats stats;

    pthread_cond_t changed; /* the session, the end of members, `opener.opening`, or `closed` */
    bool closing;
    bool closed;
};

/* Every public call: enter, work, leave. Entering refuses in a forked child, and prevents a cancellation while the
 * lock is held. */
int pdk__client_enter(struct pdk_client *c);
void pdk__client_leave(struct pdk_client *c);

/* A question enters by this instead. It reads, and calls nothing that is a cancellation point, so it need not prevent
 * one: that takes longer than the lock. */
int pdk__client_ask(struct pdk_client *c);

/* The same, without the refusals: for completions, whose client is alive. */
void pdk__client_lock(struct pdk_client *c);

/* Does the calling thread have the lock? For assertions; needs no lock. Inline, because many functions assert it. */
static inline bool pdk__client_locked(const struct pdk_client *c)
{
    return pthread_equal(atomic_load_explicit(&c->guard.owner, memory_order_relaxed), pthread_self());
}

void pdk__client_ref(struct pdk_client *c);
void pdk__client_unref(struct pdk_client *c);

/* Note that the calling thread runs callbacks: no call of the client may wait on it. */
void pdk__client_serve(struct pdk_client *c);

/* With the lock held, from here on. */

/* 0, or why a call that waits must not: closed, over, or on a thread that callbacks run on. */
int pdk__client_may_wait(struct pdk_client *c);

/* Wait on COND, with the lock, until DEADLINE_MS of our clock (PDK__NEVER for never), or shorter. The only cancellation
 * point, if CANCELLABLE. */
void pdk__client_await(struct pdk_client *c, pthread_cond_t *cond, int64_t deadline_ms, bool cancellable);

/* A turn of waiting for the answer that COND tells of: 0, and it may have come; PDK_ETIMEDOUT; or the answer of
 * pdk__client_may_wait(), whose end no condition tells of. */
int pdk__client_await_answer(struct pdk_client *c, pthread_cond_t *cond, int64_t deadline_ms);

/* Initialize COND for pdk__client_await. */
int pdk__cond_init(pthread_cond_t *cond);

/* Queue DEFERRED, if it is not queued already: it runs before the lock is released, and outside of every step. */
void pdk__client_defer(struct pdk_client *c, struct pdk__deferred *deferred);

/* Will the release of the lock do nothing but that? */
bool pdk__client_quiet(const struct pdk_client *c);

/* Prevent a cancellation until the lock is released, if the thread that has the lock has not done so yet: a question
 * that finds more to do. */
void pdk__client_shield(struct pdk_client *c);

/* A step of the session machine, and all that follows from it. */
void pdk__client_session(struct pdk_client *c, const struct pdk__session_event *event);

/* Set the timer so that the timers' thread wakes at WAKE_MS. */
void pdk__client_arm(struct pdk_client *c, int64_t wake_ms);

/* Wake that thread now. */
void pdk__client_wake(struct pdk_client *c);

/* The handle, for tests. */
zhandle_t *pdk__client_zh(struct pdk_client *c);

#endif
