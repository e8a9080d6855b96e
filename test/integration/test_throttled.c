/* Servers under pressure answer "not executed, please retry" (ZTHROTTLEDOP): to each request in turn. */
#include "test/lib/fixture.h"
#include <zookeeper/zookeeper.h>

static pdk_client *c;
static const char *path;

/* The NTH request from now on is not executed. Returns the rule. */
static int throttle(int nth)
{
    return pdk__proxy_rule(fixture.proxy,
                           &(struct pdk__proxy_rule){.nth = nth, .act = PDK__ANSWER, .error = ZTHROTTLEDOP});
}

/* Do WORK again and again, each time with another request throttled, until it needs no more. */
static void each_in_turn(void (*work)(void))
{
    int n = 0, hits;
    c = fixture_client(NULL);
    do {
        path = fixture_path();
        int rule = throttle(++n);
        work();
        hits = pdk__proxy_hits(fixture.proxy, rule);
        pdk__proxy_clear(fixture.proxy);
        CHECK(fixture_children(path) <= 0);
    } while (hits > 0);
    CHECK(n > 4);
    CHECK_RC(pdk_client_free(c), 0);
}

static void lock_and_unlock(void)
{
    pdk_mutex *m = fixture_mutex(c, path);
    int64_t token;
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_EQ(fixture_children(path), 1);
    CHECK_RC(pdk_lock_token(m, &token, NULL), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
}

static void a_lock(void) { each_in_turn(lock_and_unlock); }

static void lock_on_conditions(void)
{
    pdk_mutex *m;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_confirmed(o, true), 0);
    CHECK_RC(pdk_lock_options_set_lock_delay_ms(o, 10 * LONG_MS), 0);
    CHECK_RC(pdk_mutex_new(&m, c, path, o), 0);
    pdk_lock_options_free(o);
    for (int i = 0; i < 2; i++) {
        CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
        CHECK_RC(pdk_mutex_unlock(m), 0);
    }
    CHECK_RC(pdk_lock_free(m), 0);
}

static void a_lock_on_conditions(void) { each_in_turn(lock_on_conditions); }

static void wait_for_a_turn(void)
{
    pdk_mutex *m = fixture_mutex(c, path);
    struct locker l;
    int gets = pdk__proxy_replies(fixture.proxy, PDK__OP_GET);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, "a-lock-0000000000", "");
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_GET) > gets); /* it watches the one ahead */
    fixture_delete_below(path, "a-lock-0000000000");
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, 0);
    CHECK_RC(pdk_lock_free(m), 0);
}

static void a_turn(void) { each_in_turn(wait_for_a_turn); }

/* As the command does: look, then ask for the lock, then take the node away. */
static void intervene(void)
{
    pdk_contender_list *list;
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, "a-lock-0000000000", "");
    CHECK_RC(pdk_contenders(c, path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    CHECK_EQ(pdk_contender_list_size(list), 1);
    CHECK_RC(pdk_contender_revoke(c, list, 0, LONG_MS), 0);
    CHECK_RC(pdk_contender_remove(c, list, 0, LONG_MS), 0);
    pdk_contender_list_free(list);
}

static void an_intervention(void) { each_in_turn(intervene); }

static _Atomic int64_t seen;

static void see(const char *id, int64_t token, void *arg)
{
    (void)id, (void)arg;
    seen = token;
}

static void observe(void)
{
    pdk_leader_observer *o;
    seen = -1;
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_leader_observe(&o, c, path, see, NULL), 0);
    CHECK_WITHIN(LONG_MS, seen == 0);
    fixture_make_below(path, "a-latch-0000000000", "x");
    CHECK_WITHIN(LONG_MS, seen > 0);
    fixture_delete_below(path, "a-latch-0000000000");
    CHECK_WITHIN(LONG_MS, seen == 0);
    CHECK_EQ(pdk_client_last_error(c, (char[1]){0}, 1), 0); /* a throttled request was not refused */
    CHECK_RC(pdk_leader_observer_free(o), 0);
}

static void an_observer(void) { each_in_turn(observe); }

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a lock is granted and given back, whichever request is throttled", a_lock},
        {"so it is with confirmation and a lock delay", a_lock_on_conditions},
        {"a waiter gets its turn", a_turn},
        {"a contender is listed, asked and removed", an_intervention},
        {"an observer sees what happens", an_observer},
        {0},
    };
    return fixture_main(argc, argv, "throttled", tests, ON_ONE);
}
