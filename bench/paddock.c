/*
 * The worker on Paddock: paddock HOSTS [idle_hold_ms=N] [handover=N] [nowait=1] [several=N] [writes=order|chance]
 * [permits=N] [ca=FILE cert=FILE key=FILE].
 *
 * SEVERAL: each lock is a multi-lock of so many paths. WRITES: a read/write lock, of which each client takes the side
 * of the writer once in ten times: always the tenth, or by chance. PERMITS: a semaphore of so many, of which each takes
 * all but one at most. A writer that is not alone, a permit too many and a deadlock are failures.
 */
#include "bench/worker.h"

#include <paddock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SESSION_MS = 10000, CONNECT_MS = 30000, AGAIN_US = 200, SEVERAL_MAX = 64, NAME_SIZE = 320 };

static void check(int rc, const char *what)
{
    if (rc != 0)
        worker_fail("%s: %s", what, pdk_strerror(rc));
}

static void set_tls(pdk_client_options *o)
{
    const char *ca = worker_text("ca");
    if (ca != NULL)
        check(pdk_client_options_set_tls(o, ca, worker_text("cert"), worker_text("key"), false, NULL, NULL), "TLS");
}

static void *connect_client(const char *where)
{
    pdk_client *c;
    pdk_client_options *o = pdk_client_options_new();
    check(o != NULL ? pdk_client_options_set_session_timeout_ms(o, SESSION_MS) : PDK_ENOMEM, "options");
    set_tls(o);
    check(pdk_client_new(&c, where, o), "client");
    check(pdk_client_wait(c, CONNECT_MS), "connect");
    pdk_client_options_free(o);
    return c;
}

static void disconnect(void *client) { pdk_client_free(client); }

static void set_options(pdk_lock_options *o)
{
    unsigned turns = (unsigned)worker_option("handover", 0);
    check(pdk_lock_options_set_keep(o, turns, (int)worker_option("idle_hold_ms", 0)), "handover, idle_hold_ms");
    if (worker_option("nowait", 0) > 0)
        check(pdk_lock_options_set_unlock_nowait(o, true), "nowait");
}

static unsigned several(void)
{
    long n = worker_option("several", 0);
    return n < SEVERAL_MAX ? (unsigned)n : SEVERAL_MAX;
}

static pdk_lock *new_several(pdk_client *c, const char *path, const pdk_lock_options *o)
{
    pdk_mutex *m;
    char names[SEVERAL_MAX][NAME_SIZE];
    const char *paths[SEVERAL_MAX];
    for (unsigned i = 0; i < several(); i++) {
        snprintf(names[i], sizeof names[i], "%s-%u", path, i);
        paths[i] = names[i];
    }
    check(pdk_mutex_new_several(&m, c, paths, several(), o), "multi-lock");
    return m;
}

static pdk_lock *new_one(pdk_client *c, const char *path, const pdk_lock_options *o)
{
    pdk_mutex *m;
    check(pdk_mutex_new(&m, c, path, o), "mutex");
    return m;
}

static void *lock_new(void *client, const char *path, bool contended)
{
    pdk_lock_options *o = pdk_lock_options_new();
    (void)contended;
    if (o == NULL)
        return NULL;
    set_options(o);
    pdk_lock *l = several() > 0 ? new_several(client, path, o) : new_one(client, path, o);
    pdk_lock_options_free(o);
    return l;
}

/* A grant that ends in the background keeps the object until then. */
static void lock_free(void *lock)
{
    while (pdk_lock_free(lock) == PDK_EBUSY)
        usleep(AGAIN_US);
}

static void lock(void *lock) { check(several() > 0 ? pdk_mutex_lock(lock) : pdk_mutex_lock(lock), "lock"); }

static void unlock(void *lock) { check(several() > 0 ? pdk_mutex_unlock(lock) : pdk_mutex_unlock(lock), "unlock"); }

struct waiter {
    pdk_grant *grant;
    void (*granted)(void *), (*done)(void *);
    void *arg;
};

static void on_unlocked(int rc, void *arg)
{
    struct waiter w = *(struct waiter *)arg;
    check(rc, "unlock");
    free(arg);
    w.done(w.arg);
}

static void on_locked(int rc, void *arg)
{
    struct waiter *w = arg;
    check(rc, "lock");
    w->granted(w->arg);
    check(pdk_grant_release_async(w->grant, on_unlocked, w), "unlock");
}

static void queue(void *lock, void (*granted)(void *), void (*done)(void *), void *arg)
{
    struct waiter *w = malloc(sizeof *w);
    if (w == NULL)
        worker_fail("out of memory");
    *w = (struct waiter){NULL, granted, done, arg};
    check(pdk_mutex_lock_async(lock, PDK_FOREVER, on_locked, w, &w->grant), "lock");
}

static bool is_queued(void *lock)
{
    int64_t ahead;
    return pdk_lock_ahead(lock, &ahead) == 0 && ahead >= 0;
}

static double look(void *lock, const char *name, int n)
{
    int64_t token;
    volatile int64_t sum = 0;
    double from = worker_now();
    for (int i = 0; i < n; i++)
        if (strcmp(name, "state") == 0)
            sum += pdk_lock_state(lock);
        else if (strcmp(name, "token") == 0)
            sum += pdk_lock_token(lock, &token, NULL);
        else
            sum += pdk_lock_valid_ms(lock);
    return (worker_now() - from) * 1e9 / n;
}

/* --- locks that several clients hold at once --------------------------------------------------------------------- */

enum { STALL_MS = 60000, WRITES_IN = 10 };

struct shared {
    pdk_lock *lock;
    pdk_grant *permits;
    unsigned seed;
    int n; /* times that it was taken; permits */
    bool writes;
};

static _Atomic int n_readers, n_writers, n_permits;

static bool is_by_chance(void) { return strcmp(worker_text("writes"), "chance") == 0; }
static int limit(void) { return (int)worker_option("permits", 0); }

static void *shared_new(void *client, const char *path, bool contended)
{
    static unsigned n;
    struct shared *s = calloc(1, sizeof *s);
    (void)contended;
    if (s == NULL)
        return NULL;
    s->seed = ++n;
    if (limit() > 0)
        check(pdk_semaphore_new(&s->lock, client, path, (unsigned)limit(), NULL), "semaphore");
    else
        check(pdk_rwlock_new(&s->lock, client, path, NULL), "read/write lock");
    return s;
}

static void shared_free(void *lock)
{
    struct shared *s = lock;
    lock_free(s->lock);
    free(s);
}

/* Each enters first and looks then: of two that overlap, at least one sees the other. */
static void enter(const struct shared *s)
{
    int others = s->writes ? atomic_fetch_add(&n_writers, 1) : 0;
    if (!s->writes)
        atomic_fetch_add(&n_readers, 1);
    if (others > 0 || atomic_load(s->writes ? &n_readers : &n_writers) > 0)
        worker_fail("a writer was not alone");
}

static void shared_lock(void *lock)
{
    struct shared *s = lock;
    s->n++;
    s->writes = (is_by_chance() ? rand_r(&s->seed) % WRITES_IN : s->n % WRITES_IN) == 0;
    check(s->writes ? pdk_rwlock_wrlock(s->lock) : pdk_rwlock_rdlock(s->lock), "lock");
    enter(s);
}

static void shared_unlock(void *lock)
{
    struct shared *s = lock;
    atomic_fetch_sub(s->writes ? &n_writers : &n_readers, 1);
    check(pdk_rwlock_unlock(s->lock), "unlock");
}

/* A deadlock is a timeout. */
static void acquire(void *lock)
{
    struct shared *s = lock;
    s->n = 1 + rand_r(&s->seed) % (limit() - 1);
    check(pdk_semaphore_timedacquire(s->lock, (unsigned)s->n, STALL_MS, &s->permits), "acquire");
    if (atomic_fetch_add(&n_permits, s->n) + s->n > limit())
        worker_fail("more permits than there are");
}

static void release(void *lock)
{
    struct shared *s = lock;
    atomic_fetch_sub(&n_permits, s->n);
    check(pdk_grant_release(s->permits), "release");
}

/* The system that an option chooses; options are known only later. */
static bool has_option(char **argv, const char *name)
{
    while (*argv != NULL && strncmp(*argv, name, strlen(name)) != 0)
        argv++;
    return *argv != NULL;
}

int main(int argc, char **argv)
{
    static const struct worker_system sides = {connect_client, disconnect, shared_new, shared_free, shared_lock,
                                               shared_unlock,  NULL,       NULL,       NULL};
    static const struct worker_system permits = {connect_client, disconnect, shared_new, shared_free, acquire,
                                                 release,        NULL,       NULL,       NULL};
    static const struct worker_system paddock = {connect_client, disconnect, lock_new,  lock_free, lock,
                                                 unlock,         queue,      is_queued, look};
    return worker_main(argc, argv,
                       has_option(argv, "writes=")    ? &sides
                       : has_option(argv, "permits=") ? &permits
                                                      : &paddock);
}
