/*
 * The driver: actions of the core to asynchronous ZooKeeper calls, completions to events. It decides nothing.
 *
 * Threads. ZooKeeper's completion thread brings completions and watch events; the callers' threads bring requests.
 * Three threads are our own: one for timers, which waits for nothing else (thread.c); one for the user's callbacks,
 * unless the program dispatches them (callbacks.c); and one that opens a new handle and ends (opener.c). One lock per
 * client covers its claims, its locks and its session. It is never held while a callback of the user runs, nor while a
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
#include "lib/zk/log.h"
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
struct pdk__notice {
    struct pdk__list link;
    void (*run)(struct pdk__notice *notice);
};

/* An observer: follows a path without contending. All functions are called with the client's lock held. */
struct pdk__follower {
    struct pdk__list link;
    void (*heed)(struct pdk__follower *f);                            /* the session has changed, or time has passed */
    void (*hear)(struct pdk__follower *f, const char *path);          /* a watch on PATH has fired */
    bool (*watches)(const struct pdk__follower *f, const char *path); /* the data of PATH */
};

/* Creates that left no node, and may yet (lib/zk/stray.h). */
struct pdk__strays {
    struct pdk__follower follower;
    struct pdk__list list;
    unsigned n;
};

struct pdk_client {
    atomic_int refs;
    struct pdk__process process; /* that created it */
    pthread_mutex_t lock;
    int cancel_state;      /* of the thread that has the lock */
    struct pdk__list link; /* in the registry */
    uintptr_t id;          /* in the registry; what watchers are given */

    /* settled at birth */
    char *hosts;
    struct pdk_client_options options;
    bool adopted;

    /* the handle */
    zhandle_t *zh;    /* NULL while it is replaced */
    zhandle_t *early; /* a handle that spoke before it was handed over, with all authentication queued */
    int early_state;  /* the last state that it reported */
    watcher_fn app_watcher;
    struct pdk__list requests;

    /* the session */
    struct pdk__session session;
    struct pdk__notice session_notice;
    pdk_session_state told; /* the state that the session callback got last */

    /* the contenders */
    int over; /* why no session will ever follow, or 0 */
    uint64_t ops;
    uint64_t seed;
    struct pdk__list claims;
    unsigned n_wanting; /* of them, proof that the session lives */
    struct pdk__list followers;
    struct pdk__strays strays;
    size_t path_bytes;

    /* timers */
    pthread_t thread;
    int timer_fd;
    int wake_fd;
    int64_t armed_ms;
    struct pdk__list waiters;
    bool stopping;

    /* the opener; while one is wanted or under way, events of the present handle are ignored */
    pthread_t opener;
    bool opener_made; /* and neither joined nor detached */
    bool open_wanted;
    bool opening;
    bool launching; /* the client is being created, and its creator waits for the opener */
    int open_rc;    /* of the last opener that ended */

    /* callbacks */
    pthread_t callbacks_thread; /* unless the caller dispatches */
    pthread_cond_t noticed;
    bool callbacks_stopping;
    int ready_fd; /* readable while notices wait, for a caller that dispatches */
    struct pdk__list notices;
    bool calling;
    pthread_t calling_thread;

    pthread_cond_t changed; /* the session, the number of claims, `opening`, or `closed` */
    bool closing;
    bool closed;
    bool unfit;       /* the link is too slow for the session, and an incident says so */
    uint64_t n_links; /* connections so far */

    /* reports for people (account.c) */
    struct pdk__log *log;
    uint64_t number;       /* for incidents */
    char error[512];       /* the last incident that came without a call */
    char reason[320];      /* why the session is in its state */
    char told_reason[320]; /* the same, for the session callback that is running */
    bool telling;          /* that callback is running */
    char server[80];       /* to which the client was connected last */
    bool reached;          /* a server was connected at least once */
    int64_t apart_ms;      /* since when none is connected */
    int renewal;           /* the answer to the last request for the chain */
    _Atomic(void *) user;
};

/* Every public call: enter, work, leave. Entering refuses in a forked child, and prevents a cancellation while the
 * lock is held. */
int pdk__client_enter(struct pdk_client *c);
void pdk__client_leave(struct pdk_client *c);

/* The same, without the refusals: for completions, whose client is alive. */
void pdk__client_lock(struct pdk_client *c);

void pdk__client_ref(struct pdk_client *c);
void pdk__client_unref(struct pdk_client *c);

/* Note that the calling thread runs callbacks: no call of the client may wait on it. */
void pdk__client_serve(struct pdk_client *c);

/* With the lock held, from here on. */

/* 0, or why a call that waits must not: closed, over, or on a thread that callbacks run on. */
int pdk__client_may_wait(struct pdk_client *c);

/* Wait on COND, with the lock, until DEADLINE_MS of our clock (PDK__NEVER for never). The only cancellation point,
 * if CANCELLABLE. */
void pdk__client_await(struct pdk_client *c, pthread_cond_t *cond, int64_t deadline_ms, bool cancellable);

/* Initialize COND for pdk__client_await. */
int pdk__cond_init(pthread_cond_t *cond);

/* A step of the session machine, and all that follows from it. */
void pdk__client_session(struct pdk_client *c, const struct pdk__session_event *event);

/* Step the session machine with the current time and the handle's state, in case the thread that should have done so
 * is late. */
void pdk__client_heed(struct pdk_client *c);

/* Set the timer so that the thread wakes at WAKE_MS. */
void pdk__client_arm(struct pdk_client *c, int64_t wake_ms);

/* Queue NOTICE, if it is not queued already. */
void pdk__client_notify(struct pdk_client *c, struct pdk__notice *notice);

/* A call on the client ends, with RC: note for the calling thread why it failed, or that it did not. Returns RC. */
int pdk__client_end(struct pdk_client *c, const char *verb, const char *subject, int rc);

/* Note a failure that came without a call. */
void pdk__client_incident(struct pdk_client *c, const char *verb, const char *subject, int rc);

/* Connected, and no grant is possible: the link is too slow for the session. BUF gets the message, with the numbers. */
bool pdk__client_unfit(const struct pdk_client *c, char *buf, size_t size);

/* The handle, for tests. */
zhandle_t *pdk__client_zh(struct pdk_client *c);

/* --- the other files of the driver ------------------------------------------------------------------------------- */

/* leave.c: break the connection of a handle of ours to a silent server, or end its attempt at one, if its socket is
 * known for sure; with the lock. */
void pdk__handle_leave(struct pdk_client *c);

/* handle.c: open, adopt and close ZooKeeper's handle. An open handle belongs to the client once it was taken, with
 * the lock. Where open fails, there may be one to close. */
int pdk__handle_open(struct pdk_client *c, zhandle_t **zh);
bool pdk__handle_wanted(struct pdk_client *c); /* the client is not closing */
void pdk__handle_take(struct pdk_client *c, zhandle_t *zh);
void pdk__handle_close(struct pdk_client *c);
int pdk__handle_adopt(struct pdk_client *c, zhandle_t *zh);
void pdk__handle_release(struct pdk_client *c); /* with the lock */
void pdk__handle_watch_nodes(zhandle_t *zh, int type, int state, const char *path, void *id);

/* thread.c: the timers. */
int pdk__thread_start(struct pdk_client *c);
void pdk__thread_stop(struct pdk_client *c);
void pdk__thread_wake(struct pdk_client *c);

/* A thread of ours, which gets no signals. PDK_ESYSTEM. */
int pdk__thread_create(pthread_t *thread, void *(*run_it)(void *), struct pdk_client *c);

/* callbacks.c: their thread, or the descriptor of a program that dispatches. Where there is a thread, stop runs the
 * callbacks that still wait. */
int pdk__callbacks_start(struct pdk_client *c);
void pdk__callbacks_stop(struct pdk_client *c);

/* With the lock: run the callbacks that wait. Returns how many. */
int pdk__callbacks_run(struct pdk_client *c);

/* opener.c: a thread that replaces the handle; in a client that is closing, it only closes it. With the lock, and no
 * other opener may be under way. */
void pdk__opener_start(struct pdk_client *c);

/* With the lock: wait for the opener, for MS at most. */
void pdk__opener_await(struct pdk_client *c, int64_t ms);

/* With the lock: join the opener, if it has done its work. */
void pdk__opener_join(struct pdk_client *c);

/* Without the lock, in a client that is closing: free the opener's resources, now or when it ends. */
void pdk__opener_leave(struct pdk_client *c);

/* registry.c: clients by the number that watchers are given. The result is counted, and must be released. */
int pdk__registry_add(struct pdk_client *c);
void pdk__registry_remove(struct pdk_client *c);
struct pdk_client *pdk__registry_find(uintptr_t id);
struct pdk_client *pdk__registry_find_handle(const zhandle_t *zh);

#endif
