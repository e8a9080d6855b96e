/* The worker on Paddock: paddock HOSTS [idle_hold_ms=N] [handover=N] [nowait=1] [several=N]
 * [ca=FILE cert=FILE key=FILE]. SEVERAL: each lock is a multi-lock of so many paths. */
#include "bench/worker.h"

#include <paddock.h>
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

int main(int argc, char **argv)
{
    static const struct worker_system paddock = {connect_client, disconnect, lock_new,  lock_free, lock,
                                                 unlock,         queue,      is_queued, look};
    return worker_main(argc, argv, &paddock);
}
