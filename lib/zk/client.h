/*
 * The driver: actions of the core to asynchronous ZooKeeper calls, completions to events. It decides nothing.
 *
 * Threads. ZooKeeper's completion thread brings completions and watch events, the callers their wishes, and a thread of
 * our own the timers, new handles and the user's callbacks. One lock per client covers its claims, its locks and its
 * session; it is never held while a callback of the user runs, nor while a handle is opened or closed.
 *
 * Lifetimes. A client is counted: its maker, its locks, and each request in flight hold it. A request that ZooKeeper's
 * client forgets to complete (ZOOKEEPER-2894, and after an expiry ZOOKEEPER-2802) is let go when its handle has been
 * closed, whose threads are joined by then. Watch contexts are numbers, looked up: a watcher may be called after its
 * watch was removed.
 */
#ifndef PDK__CLIENT_H
#define PDK__CLIENT_H

#include "lib/core/session.h"
#include "lib/list.h"
#include "lib/zk/options.h"
#include "paddock/client.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <zookeeper/zookeeper.h>

/* A callback of the user that waits for its turn; run once, with no lock held, then never touched again by the queue.
 */
struct pdk__notice {
    struct pdk__list link;
    void (*run)(struct pdk__notice *notice);
};

/* Somebody who looks on, and does not contend. All called with the client's lock held. */
struct pdk__follower {
    struct pdk__list link;
    void (*heed)(struct pdk__follower *f);                            /* the session has changed, or time has passed */
    void (*hear)(struct pdk__follower *f, const char *path);          /* a watch on PATH has fired */
    bool (*watches)(const struct pdk__follower *f, const char *path); /* the data of PATH */
};

struct pdk_client {
    atomic_int refs;
    pid_t pid;
    pthread_mutex_t lock;
    int cancel_state;      /* of the thread that has the lock */
    struct pdk__list link; /* in the registry */
    uintptr_t id;          /* in the registry; what watchers are given */

    /* settled at birth */
    char *hosts;
    struct pdk_client_options options;
    bool adopted;

    /* the handle */
    zhandle_t *zh;
    bool opening; /* zookeeper_init is under way: its first events may come before it returns */
    watcher_fn app_watcher;
    struct pdk__list requests;

    /* the session */
    struct pdk__session session;
    struct pdk__notice session_notice;
    pdk_session_state told; /* what the session callback was last told */

    /* the contenders */
    int over; /* why no session will ever follow, or 0 */
    uint64_t ops;
    uint64_t seed;
    struct pdk__list claims;
    unsigned n_wanting; /* of them, proof that the session lives */
    struct pdk__list followers;
    size_t path_bytes;

    /* our own thread */
    pthread_t thread;
    int timer_fd;
    int wake_fd;
    int ready_fd; /* readable while notices wait, for a caller who dispatches */
    int64_t armed_ms;
    bool open_wanted; /* and the handle there is has no more say */
    bool stopping;

    /* callbacks */
    struct pdk__list notices;
    bool calling;
    pthread_t calling_thread;

    pthread_cond_t changed; /* the session, the number of claims, or `closed` */
    bool closing;
    bool closed;
    char error[256];
};

/* Every public call: enter, do, leave. Entering refuses in a forked child, and keeps a cancellation from striking while
 * the lock is held. */
int pdk__client_enter(struct pdk_client *c);
void pdk__client_leave(struct pdk_client *c);

/* The same, without the refusals: for completions, whose client is alive. */
void pdk__client_lock(struct pdk_client *c);

void pdk__client_ref(struct pdk_client *c);
void pdk__client_unref(struct pdk_client *c);

/* The calling thread is one that callbacks run on, and nothing of the client may wait on it. */
void pdk__client_serve(struct pdk_client *c);

/* With the lock held, from here on. */

/* 0, or why a call that waits must not: closed, over, or on a thread that callbacks run on. */
int pdk__client_may_wait(struct pdk_client *c);

/* Wait on COND, with the lock, until DEADLINE_MS of our clock (PDK__NEVER for never). The only cancellation point there
 * is, if CANCELLABLE. */
void pdk__client_await(struct pdk_client *c, pthread_cond_t *cond, int64_t deadline_ms, bool cancellable);

/* Make COND suit pdk__client_await. */
int pdk__cond_init(pthread_cond_t *cond);

/* A step of the session machine, and all that follows from it. */
void pdk__client_session(struct pdk_client *c, const struct pdk__session_event *event);

/* What is known of the session by the clock and by the handle: let its machine know now, whoever is late. */
void pdk__client_heed(struct pdk_client *c);

/* Somebody wants to be woken at WAKE_MS: see to it. */
void pdk__client_arm(struct pdk_client *c, int64_t wake_ms);

/* Queue NOTICE, if it is not queued already. */
void pdk__client_notify(struct pdk_client *c, struct pdk__notice *notice);

/* Note an incident: "verb subject: text of rc". */
void pdk__client_incident(struct pdk_client *c, const char *verb, const char *subject, int rc);

/* The handle, for tests. */
zhandle_t *pdk__client_zh(struct pdk_client *c);

/* --- the other files of the driver ------------------------------------------------------------------------------- */

/* handle.c: open, adopt and close ZooKeeper's handle. */
int pdk__handle_open(struct pdk_client *c);
void pdk__handle_close(struct pdk_client *c);
int pdk__handle_adopt(struct pdk_client *c, zhandle_t *zh);
void pdk__handle_release(struct pdk_client *c); /* with the lock */
void pdk__handle_watch_nodes(zhandle_t *zh, int type, int state, const char *path, void *id);

/* thread.c: the thread of our own, and the callbacks. */
int pdk__thread_start(struct pdk_client *c);
void pdk__thread_stop(struct pdk_client *c);
int pdk__thread_run_notices(struct pdk_client *c);
void pdk__thread_wake(struct pdk_client *c);

/* registry.c: clients by the number that watchers are given. The answer is counted, and must be given back. */
int pdk__registry_add(struct pdk_client *c);
void pdk__registry_remove(struct pdk_client *c);
struct pdk_client *pdk__registry_find(uintptr_t id);
struct pdk_client *pdk__registry_find_handle(const zhandle_t *zh);

#endif
