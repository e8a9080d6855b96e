/* pthread_cancel: a thread that waits for a lock, or to lead, can be ended, and nothing of it remains. */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <stdlib.h>
#include <time.h>

#ifdef __SANITIZE_ADDRESS__
/* While a cancelled thread unwinds, AddressSanitizer asks for the signal stack from a frame that lies where poisoned
 * ones have been, and takes that for an overflow: its own, in sigaltstack(), which we do not call. */
const char *__asan_default_suppressions(void);
const char *__asan_default_suppressions(void) { return "interceptor_name:sigaltstack\n"; }
#endif

static pdk_client *c, *d;
static pdk_mutex *m, *n;
static const char *path;

/* Connections of other programs must not be counted. */
static void setup(void) { fixture_open(&(struct pdk__ensemble_options){.n = 1, .own = true}); }

static void begin(void)
{
    path = fixture_path();
    c = fixture_client(NULL);
    d = fixture_client(NULL);
    m = fixture_mutex(c, path);
    n = fixture_mutex(d, path);
}

static void end(void)
{
    fixture_end(d, n);
    fixture_end(c, m);
}

static void join_cancelled(pthread_t thread)
{
    void *result;
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
}

static void waiter(void)
{
    struct locker first, second;
    begin();
    CHECK_RC(pdk_mutex_lock(n), 0);
    locker_start(&first, m);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    locker_start(&second, m); /* of the same object, after it */
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 3);
    CHECK_EQ(pthread_cancel(first.thread), 0);
    join_cancelled(first.thread);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK(!second.settled);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    CHECK_WITHIN(LONG_MS, second.settled);
    CHECK_RC(second.rc, 0);
    locker_finish(&second);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
    CHECK_RC(pdk_mutex_trylock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    end();
}

/* Its node is being created when it is cancelled. The client that created the node deletes it. */
static void creator(void)
{
    struct locker l;
    begin();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    int r = pdk__proxy_rule(fixture.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_CREATE2, .act = PDK__HOLD_REPLY});
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, r) == 1);
    CHECK_EQ(pthread_cancel(l.thread), 0);
    join_cancelled(l.thread);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 1);
    pdk__proxy_release(fixture.proxy, r);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 0);
    pdk__proxy_clear(fixture.proxy);
    CHECK_EQ(pdk_lock_state(m), PDK_FREE);
    end();
    fixture_delete_all(path);
}

static void *lock_in_time(void *arg)
{
    pdk_mutex_timedlock(arg, LONG_MS);
    return NULL;
}

static bool anybody_waits(pdk_client *client)
{
    pdk__client_lock(client);
    bool any = !pdk__list_empty(&client->timers.waiters);
    pdk__client_leave(client);
    return any;
}

/* The timers' list of waiting threads lies on their stacks. */
static void timed(void)
{
    pthread_t thread;
    begin();
    CHECK_RC(pdk_mutex_lock(n), 0);
    CHECK_EQ(pthread_create(&thread, NULL, lock_in_time, m), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK_WITHIN(LONG_MS, anybody_waits(c));
    CHECK_EQ(pthread_cancel(thread), 0);
    join_cancelled(thread);
    CHECK(!anybody_waits(c));
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 1);
    CHECK_RC(pdk_mutex_timedlock(m, 100), PDK_ETIMEDOUT);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    end();
}

static void *lock_for_ever(void *arg)
{
    pdk_mutex *mutex = arg;
    for (;;) {
        CHECK_RC(pdk_mutex_lock(mutex), 0);
        CHECK_RC(pdk_mutex_unlock(mutex), 0);
    }
    return NULL;
}

/* By the clock: on a machine that is busy a turn of the scheduler may take long. */
static void spin(unsigned microseconds)
{
    struct timespec now, from;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((int64_t)(now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000 < (int64_t)microseconds);
}

/* Cancellation strikes in lock() alone, so whatever the moment the lock is free afterwards. */
static void odd_moments(void)
{
    pthread_t threads[3];
    unsigned seed = 1;
    begin();
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 3; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, lock_for_ever, i == 2 ? n : m), 0);
        for (int i = 0; i < 3; i++) {
            spin((unsigned)rand_r(&seed) % 2000);
            CHECK_EQ(pthread_cancel(threads[i]), 0);
        }
        for (int i = 0; i < 3; i++)
            join_cancelled(threads[i]);
        CHECK_EQ(pdk_lock_state(m), PDK_FREE);
        CHECK_EQ(pdk_lock_state(n), PDK_FREE);
    }
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0); /* one may still be on its way in, and out again */
    CHECK_RC(pdk_mutex_unlock(m), 0);
    end();
}

/* --- a wait for a leadership ------------------------------------------------------------------------------------- */

static void *wait_to_lead(void *arg)
{
    pdk_leader_wait(arg, PDK_FOREVER);
    return NULL;
}

static void candidate(void)
{
    pthread_t thread;
    pdk_leader *l;
    begin();
    CHECK_RC(pdk_leader_new(&l, c, path, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_mutex_lock(n), 0);
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(pthread_create(&thread, NULL, wait_to_lead, l), 0);
        spin((unsigned)i * 20);
        CHECK_EQ(pthread_cancel(thread), 0);
        join_cancelled(thread);
    }
    CHECK_RC(pdk_leader_wait(l, 0), PDK_ETIMEDOUT);
    CHECK_EQ(fixture_children(path), 2);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    CHECK_RC(pdk_leader_wait(l, LONG_MS), 0);
    CHECK_RC(pdk_leader_resign(l), 0);
    CHECK_RC(pdk_lock_free(l), 0);
    end();
}

/* --- with a cancellation that is pending ------------------------------------------------------------------------- */

struct pending {
    _Atomic int rc;
    atomic_bool done;
};

static void *unlock_pending(void *arg)
{
    struct pending *p = arg;
    CHECK_RC(pdk_mutex_lock(m), 0);
    pthread_cancel(pthread_self());
    p->rc = pdk_mutex_unlock(m);
    p->done = true;
    pthread_testcancel();
    return NULL;
}

static void unlocks(void)
{
    struct pending p = {0};
    pthread_t thread;
    begin();
    CHECK_EQ(pthread_create(&thread, NULL, unlock_pending, &p), 0);
    join_cancelled(thread);
    CHECK(p.done);
    CHECK_RC(p.rc, 0);
    CHECK_EQ(fixture_children(path), 0);
    end();
}

static void *all_pending(void *arg)
{
    struct pending *p = arg;
    pdk_contender_list *list;
    pdk_client *mine;
    pthread_cancel(pthread_self());
    CHECK_RC(pdk_client_new(&mine, fixture.hosts, NULL), 0);
    CHECK_RC(pdk_client_wait(mine, LONG_MS), 0);
    pdk_mutex *mutex = fixture_mutex(mine, path);
    CHECK_RC(pdk_contenders(mine, path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    pdk_contender_list_free(list);
    CHECK_RC(pdk_client_close(mine), 0);
    CHECK_RC(pdk_lock_free(mutex), 0);
    CHECK_RC(pdk_client_free(mine), 0);
    p->done = true;
    pthread_testcancel();
    return NULL;
}

static void others(void)
{
    struct pending p = {0};
    pthread_t thread;
    begin();
    CHECK_EQ(pthread_create(&thread, NULL, all_pending, &p), 0);
    join_cancelled(thread);
    CHECK(p.done);
    CHECK_WITHIN(LONG_MS, pdk__ask_connections(fixture.e->server[0]) == 3);
    end();
}

/* It is mostly the first to notice that the connection is lost, and then it does what follows from that. */
static void *ask_pending(void *arg)
{
    struct pending *p = arg;
    CHECK_RC(pdk_mutex_lock(m), 0);
    pthread_cancel(pthread_self());
    p->rc = 1;
    while (pdk_lock_state(m) == PDK_HELD && pdk_lock_valid_ms(m) > 0)
        ;
    p->done = true;
    pthread_testcancel();
    return NULL;
}

static void questions(void)
{
    for (int round = 0; round < 5; round++) {
        struct pending p = {0};
        pthread_t thread;
        begin();
        CHECK_EQ(pthread_create(&thread, NULL, ask_pending, &p), 0);
        CHECK_WITHIN(LONG_MS, p.rc == 1);
        pdk__proxy_refuse(fixture.proxy, true);
        pdk__proxy_cut(fixture.proxy);
        join_cancelled(thread);
        CHECK(p.done);
        pdk__proxy_refuse(fixture.proxy, false);
        end();
    }
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a cancelled waiter leaves no node, and those behind it go on", waiter},
        {"a thread cancelled while its node is being made leaves none", creator},
        {"a thread cancelled in a timed wait is not woken by a timer any more", timed},
        {"threads cancelled at odd moments leave the lock free", odd_moments},
        {"a cancelled wait for a leadership leaves it standing", candidate},
        {"unlock is no cancellation point", unlocks},
        {"neither is a question, whatever follows from it", questions},
        {"neither is making, asking or closing a client", others},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cancel", .tests = tests, .setup = setup, .teardown = fixture_close});
}
