/* A timed lock is back by its deadline whatever happens, and its node goes. */
#include "test/lib/fixture.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Nothing is asserted of how punctual the machine is. A lock that did not look at its deadline would wait for an event
 * that does not happen before it is back: the server stays away, and more contenders are ahead than leave. GRACE_MS is
 * for the rest, and ends long before the client's own patience: it leaves a silent server after two thirds of
 * SESSION_MS.
 */
enum { TIMEOUT_MS = 1500, GRACE_MS = 15000, SESSION_MS = 60000, MAX_TIMEOUT_MS = 48000 };

/* One timed lock, on a thread of its own. */
struct timed {
    pdk_mutex *mutex;
    pthread_t thread;
    int timeout_ms;
    int64_t from_ms;
    _Atomic int64_t took_ms; /* -1: not back yet */
    int rc;
};

static void *run(void *arg)
{
    struct timed *t = arg;
    t->rc = pdk_mutex_timedlock(t->mutex, t->timeout_ms);
    atomic_store(&t->took_ms, pdk__test_now_ms() - t->from_ms);
    return NULL;
}

static void begin(struct timed *t, pdk_mutex *m, int timeout_ms)
{
    t->mutex = m;
    t->timeout_ms = timeout_ms;
    t->from_ms = pdk__test_now_ms();
    atomic_store(&t->took_ms, -1);
    CHECK_EQ(pthread_create(&t->thread, NULL, run, t), 0);
}

static bool is_back(struct timed *t) { return atomic_load(&t->took_ms) >= 0; }

static void end(struct timed *t)
{
    CHECK_WITHIN(LONG_MS, is_back(t));
    pthread_join(t->thread, NULL);
    CHECK_RC(t->rc, PDK_ETIMEDOUT);
    CHECK(t->took_ms >= t->timeout_ms - 1);
    CHECK(t->took_ms <= t->timeout_ms + GRACE_MS);
    CHECK_EQ(pdk_lock_state(t->mutex), PDK_FREE);
}

static void wait_for_nodes(int n) { CHECK_WITHIN(LONG_MS, fixture_nodes() == n); }

/* Begin, and wait until the queue has N_NODES. A machine may be so slow that the time is up before: then twice as
 * much. */
static void begin_queued(struct timed *t, pdk_mutex *m, int timeout_ms, int n_nodes)
{
    for (;; timeout_ms *= 2) {
        CHECK(timeout_ms <= MAX_TIMEOUT_MS);
        begin(t, m, timeout_ms);
        CHECK_WITHIN(LONG_MS, fixture_nodes() == n_nodes || is_back(t));
        if (!is_back(t))
            return;
        end(t);
        wait_for_nodes(n_nodes - 1);
    }
}

/* --- a queue that moves ------------------------------------------------------------------------------------------ */

/*
 * Those ahead leave one by one, until it is back: a lock that began to wait again each time would be back after the
 * last of them. The holder stays.
 */
static void queue_moves(void)
{
    enum { N_AHEAD = 40, EACH_MS = 400 };
    static struct request ahead[N_AHEAD];
    struct timed t;
    int left = N_AHEAD;
    fixture_begin();
    struct peer holder = peer_new(SESSION_MS), others = peer_new(SESSION_MS), late = peer_new(SESSION_MS);
    CHECK_RC(pdk_mutex_lock(holder.mutex), 0);
    for (int i = 0; i < N_AHEAD; i++)
        request_now(&ahead[i], &others, PDK_FOREVER);
    wait_for_nodes(N_AHEAD + 1);
    begin_queued(&t, late.mutex, TIMEOUT_MS, N_AHEAD + 2);
    while (!is_back(&t)) {
        CHECK(left > 0);
        CHECK_RC(pdk_grant_cancel(ahead[--left].grant), 0);
        int64_t next_ms = pdk__test_now_ms() + EACH_MS;
        CHECK_WITHIN(LONG_MS, pdk__test_now_ms() >= next_ms || is_back(&t));
    }
    CHECK(left < N_AHEAD);
    end(&t);
    while (left > 0)
        CHECK_RC(pdk_grant_cancel(ahead[--left].grant), 0);
    for (int i = 0; i < N_AHEAD; i++)
        request_end(&ahead[i], PDK_ECANCELED);
    wait_for_nodes(1);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), 0);
    peer_free(&holder);
    peer_free(&others);
    peer_free(&late);
}

/* --- servers that do not answer ---------------------------------------------------------------------------------- */

static struct peer holder, waiter;

static pdk__server *server(void) { return fixture.e->server[0]; }

static void stop(void) { pdk__server_kill(server()); }

static void start(void) { pdk__ensemble_restart(fixture.e, 0); }

static void pause_server(void) { pdk__server_pause(server()); }

static void resume_server(void) { pdk__server_resume(server()); }

/* Another client holds the lock; AWAY happens when the waiter is in the queue, or before it asks; BACK when it has
 * returned. False: the machine was so slow that the time was up before the server was away. */
static bool while_away_for(int timeout_ms, bool queued, void (*away)(void), void (*back)(void))
{
    struct timed t;
    CHECK_RC(pdk_mutex_lock(holder.mutex), 0);
    if (queued)
        begin_queued(&t, waiter.mutex, timeout_ms, 2);
    away();
    bool in_time = !queued || !is_back(&t);
    if (!queued)
        begin(&t, waiter.mutex, timeout_ms);
    end(&t);
    back();
    wait_for_nodes(1);
    CHECK_WITHIN(LONG_MS, SEEN(pdk_client_state(holder.client)) == PDK_SESSION_CONNECTED);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), 0);
    return in_time;
}

static void while_away(bool queued, void (*away)(void), void (*back)(void))
{
    int timeout_ms = TIMEOUT_MS;
    fixture_begin();
    holder = peer_new(SESSION_MS);
    waiter = peer_new(SESSION_MS);
    while (!while_away_for(timeout_ms, queued, away, back))
        timeout_ms *= 2;
    CHECK_RC(pdk_mutex_timedlock(waiter.mutex, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(waiter.mutex), 0);
    peer_free(&holder);
    peer_free(&waiter);
}

static void stopped_in_queue(void) { while_away(true, stop, start); }

static void stopped_before(void) { while_away(false, stop, start); }

static void paused_in_queue(void) { while_away(true, pause_server, resume_server); }

static void paused_before(void) { while_away(false, pause_server, resume_server); }

/* The lock is free: the create that the paused server has received is done when it goes on, and undone. */
static void paused_uncontended(void)
{
    struct timed t;
    fixture_begin();
    waiter = peer_new(SESSION_MS);
    CHECK_RC(pdk_mutex_lock(waiter.mutex), 0); /* makes the path */
    CHECK_RC(pdk_mutex_unlock(waiter.mutex), 0);
    pause_server();
    begin(&t, waiter.mutex, TIMEOUT_MS);
    end(&t);
    resume_server();
    CHECK_RC(pdk_mutex_timedlock(waiter.mutex, LONG_MS), 0);
    wait_for_nodes(1); /* its own, and no other */
    CHECK_RC(pdk_mutex_unlock(waiter.mutex), 0);
    peer_free(&waiter);
}

/* There was never a session. */
static void nobody_answers(void)
{
    struct timed t;
    struct peer p = {0};
    fixture_begin();
    pdk__proxy_refuse(fixture.e->proxy[0], true);
    pdk_client_options *o = fixture_options(SESSION_MS);
    CHECK_RC(pdk_client_new(&p.client, fixture.e->address[0], o), 0);
    pdk_client_options_free(o);
    CHECK_RC(pdk_mutex_new(&p.mutex, p.client, fixture.path, NULL), 0);
    CHECK_RC(pdk_mutex_timedlock(p.mutex, 0), PDK_EDISCONNECTED);
    begin(&t, p.mutex, TIMEOUT_MS);
    end(&t);
    pdk__proxy_refuse(fixture.e->proxy[0], false);
    CHECK_RC(pdk_mutex_timedlock(p.mutex, LONG_MS), 0);
    wait_for_nodes(1);
    CHECK_RC(pdk_mutex_unlock(p.mutex), 0);
    peer_free(&p);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a timed lock is back in time though those ahead leave one by one", queue_moves},
        {"a timed lock is back in time when the server stopped while it waited", stopped_in_queue},
        {"a timed lock is back in time when the server stopped before", stopped_before},
        {"a timed lock that gave up on a paused server leaves no node", paused_uncontended},
        {"a timed lock is back in time when no server ever answered", nobody_answers},
        {0},
    };
    static const struct pdk__test proof[] = {
        {"a timed lock is back in time when the server was paused while it waited", paused_in_queue},
        {"a timed lock is back in time when the server was paused before", paused_before},
        {0},
    };
    return fixture_run(argc, argv, &(struct pdk__test_suite){.name = "mutex deadline", .tests = tests, .proof = proof},
                       ON_ONE | ON_OWN);
}
