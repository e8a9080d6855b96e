/* The right to unlock, the number of times that a lock was taken, and the tokens. */
#include "test/lib/fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static struct peer a, b;

static void begin(void)
{
    fixture_begin();
    a = peer_new(0);
    b = peer_new(0);
}

static void end(void)
{
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    peer_free(&a);
    peer_free(&b);
}

/* --- other threads ----------------------------------------------------------------------------------------------- */

/* One call, made by a thread of its own, on the mutex of A. */
struct call {
    int (*verb)(pdk_mutex *m);
    pthread_t thread;
    atomic_int rc; /* 1: not back yet */
};

static void *make_call(void *arg)
{
    struct call *call = arg;
    int rc = call->verb(a.mutex);
    if (call->verb == pdk_mutex_lock && rc == 0)
        CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    atomic_store(&call->rc, rc);
    return NULL;
}

static void begin_call(struct call *call, int (*verb)(pdk_mutex *m))
{
    call->verb = verb;
    atomic_store(&call->rc, 1);
    CHECK_EQ(pthread_create(&call->thread, NULL, make_call, call), 0);
}

static int end_call(struct call *call)
{
    CHECK_WITHIN(LONG_MS, atomic_load(&call->rc) != 1);
    pthread_join(call->thread, NULL);
    return call->rc;
}

static int elsewhere(int (*verb)(pdk_mutex *m))
{
    struct call call;
    begin_call(&call, verb);
    return end_call(&call);
}

/* --- re-entry ---------------------------------------------------------------------------------------------------- */

static void three_deep(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    CHECK_RC(pdk_mutex_trylock(a.mutex), 0);
    CHECK_RC(pdk_mutex_timedlock(a.mutex, 0), 0);
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_EQ(peer_token(&a), token);
    for (int left = 3; left > 0; left--) {
        CHECK_EQ(pdk_lock_state(a.mutex), PDK_HELD);
        CHECK_RC(elsewhere(pdk_mutex_trylock), PDK_EBUSY);
        CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY);
        CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    }
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_FREE);
    CHECK_EQ(fixture_nodes(), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    end();
}

static void waits_for_the_last(void)
{
    struct call other;
    begin();
    for (int i = 0; i < 3; i++)
        CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    begin_call(&other, pdk_mutex_lock);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    for (int i = 0; i < 2; i++) {
        CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
        CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY); /* a round trip in which the other could have been granted */
        CHECK_EQ(other.rc, 1);
    }
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(end_call(&other), 0);
    end();
}

/* --- whose ------------------------------------------------------------------------------------------------------- */

static void stranger(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(elsewhere(pdk_mutex_unlock), PDK_EPERM);
    CHECK_RC(pdk_mutex_unlock(b.mutex), PDK_EPERM);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_HELD);
    CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

static void nobody(void)
{
    int64_t token;
    begin();
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    CHECK_RC(pdk_mutex_unlock_async(a.mutex, NULL, NULL), PDK_EPERM);
    CHECK_RC(pdk_lock_token(a.mutex, &token, NULL), PDK_EPERM);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    CHECK_RC(pdk_lock_token(a.mutex, &token, NULL), PDK_EPERM);
    end();
}

static void belongs_to_no_thread(void)
{
    struct request w;
    begin();
    request_queued(&w, &a, PDK_FOREVER, 1);
    request_told(&w, 0);
    CHECK_RC(pdk_mutex_trylock(a.mutex), PDK_EBUSY); /* none re-enters */
    CHECK_RC(elsewhere(pdk_mutex_unlock), PDK_EPERM);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    CHECK_EQ(fixture_nodes(), 1);
    request_end(&w, 0); /* which any thread may */
    CHECK_EQ(fixture_nodes(), 0);
    end();
}

static void two_objects(void)
{
    pdk_mutex *twin;
    begin();
    CHECK_RC(pdk_mutex_new(&twin, a.client, fixture.path, NULL), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_trylock(twin), PDK_EBUSY);
    CHECK_RC(pdk_mutex_timedlock(twin, 200), PDK_ETIMEDOUT);
    CHECK_RC(pdk_mutex_unlock(twin), PDK_EPERM);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_mutex_lock(twin), 0);
    CHECK_RC(pdk_mutex_trylock(a.mutex), PDK_EBUSY);
    CHECK_RC(pdk_mutex_unlock(twin), 0);
    CHECK_RC(pdk_lock_free(twin), 0);
    end();
}

/* --- tokens ------------------------------------------------------------------------------------------------------ */

static int64_t token_of_a_round(struct peer *p, const char *sequence)
{
    char node[128];
    CHECK_RC(pdk_mutex_lock(p->mutex), 0);
    int64_t token = peer_token(p);
    pdk_lock_node(p->mutex, 0, node, sizeof node);
    CHECK(strlen(node) > 10);
    CHECK_STR(node + strlen(node) - 10, sequence);
    CHECK_RC(pdk_mutex_unlock(p->mutex), 0);
    return token;
}

/* The sequence numbers begin again, the tokens do not. */
static void tokens_rise(void)
{
    begin();
    int64_t first = token_of_a_round(&a, "0000000000");
    int64_t second = token_of_a_round(&b, "0000000001");
    CHECK_LAW(second > first);
    CHECK_EQ(fixture_nodes(), 0);
    CHECK_EQ(zoo_delete(fixture.zh, fixture.path, -1), ZOK);
    int64_t third = token_of_a_round(&a, "0000000000");
    CHECK(third > second);
    int64_t fourth = token_of_a_round(&b, "0000000001");
    CHECK(fourth > third);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an owner locks three deep, and unlocks as often", three_deep},
        {"another thread waits until the last unlock", waits_for_the_last},
        {"a stranger may not unlock", stranger},
        {"what nobody holds cannot be unlocked", nobody},
        {"a lock granted to a callback belongs to no thread, and any may unlock it", belongs_to_no_thread},
        {"two objects on one path exclude each other in one thread", two_objects},
        {"tokens rise, also after the path was deleted and made anew", tokens_rise},
        {0},
    };
    return fixture_main(argc, argv, "mutex owner", tests, ON_ONE);
}
