/*
 * Until when a lock may be believed in, on a real server: renewed while writes are answered, over when they are not,
 * whatever else is.
 */
#include "test/integration/ground.h"
#include <string.h>
#include <unistd.h>

enum { SESSION_MS = 3000, MARGIN_MS = SESSION_MS / 20, MIN_VALID_MS = SESSION_MS / 10 };

static pdk_client *c;
static pdk_mutex *m;
static const char *path;

static void begin(pdk_client_options *o)
{
    path = ground_path();
    pdk__proxy_clear(ground.proxy);
    c = ground_client(o != NULL ? o : ground_options(SESSION_MS));
    m = ground_mutex(c, path);
    pdk__proxy_reset_counters(ground.proxy);
}

static void end(void)
{
    pdk__proxy_clear(ground.proxy);
    ground_end(c, m);
}

/* --- renewal ----------------------------------------------------------------------------------------------------- */

static void hold_for_two_sessions(void)
{
    int64_t until_ms = pdk__test_now_ms() + 2 * SESSION_MS;
    while (pdk__test_now_ms() < until_ms) {
        int64_t valid_ms = pdk_mutex_valid_ms(m);
        CHECK_EQ(pdk_mutex_state(m), PDK_HELD);
        CHECK(valid_ms > 0 && valid_ms <= SESSION_MS - MARGIN_MS);
        pdk__test_nap();
    }
}

static void renewed(void)
{
    begin(NULL);
    CHECK_EQ(pdk_mutex_valid_ms(m), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    int deletes = pdk__proxy_requests(ground.proxy, PDK__OP_DELETE);
    hold_for_two_sessions();
    CHECK(pdk__proxy_requests(ground.proxy, PDK__OP_DELETE) > deletes);
    CHECK_EQ(pdk__proxy_requests(ground.proxy, PDK__OP_SYNC), 0);
    CHECK_EQ(ground_children(path), 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_EQ(pdk_mutex_valid_ms(m), 0);
    end();
}

static void renewed_by_sync(void)
{
    pdk_client_options *o = ground_options(SESSION_MS);
    CHECK_RC(pdk_client_options_set_renewal(o, PDK_RENEW_BY_SYNC), 0);
    begin(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    hold_for_two_sessions();
    CHECK(pdk__proxy_requests(ground.proxy, PDK__OP_SYNC) > 0);
    CHECK_EQ(pdk__proxy_requests(ground.proxy, PDK__OP_DELETE), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    end();
}

/* A little more than half a tick apart, by default a quarter of the timeout: at most a dozen in one timeout. */
static void renewal_is_cheap(void)
{
    begin(NULL);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_reset_counters(ground.proxy);
    int64_t until_ms = pdk__test_now_ms() + SESSION_MS;
    CHECK_WITHIN(PATIENCE_MS, pdk__test_now_ms() >= until_ms);
    CHECK(pdk__proxy_requests(ground.proxy, 0) <= 12);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    end();
}

/* --- the end of it ----------------------------------------------------------------------------------------------- */

/* As from a server that lost its leader: whatever else is answered, writes are not. */
static void not_renewed_is_lost(void)
{
    begin(NULL);
    CHECK_RC(pdk_mutex_lock(m), 0);
    int64_t heard_ms = pdk__test_now_ms();
    pdk__proxy_rule(ground.proxy,
                    &(struct pdk__rule){.op = PDK__OP_DELETE, .act = PDK__SWALLOW_REQUEST, .every = true});
    CHECK_WITHIN(PATIENCE_MS, pdk_mutex_state(m) == PDK_SUSPECT);
    CHECK_WITHIN(PATIENCE_MS, pdk_mutex_state(m) == PDK_LOST);
    CHECK(pdk__test_now_ms() - heard_ms < SESSION_MS);
    CHECK_EQ(pdk_mutex_valid_ms(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    pdk__proxy_clear(ground.proxy);
    pdk__proxy_cut(ground.proxy); /* so that what was swallowed is known to be lost */
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    end();
}

static void in_doubt_nothing_is_granted(void)
{
    begin(NULL);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    int64_t until_ms = pdk__test_now_ms() + SESSION_MS; /* idle, until nothing is proven */
    CHECK_WITHIN(PATIENCE_MS, pdk__test_now_ms() >= until_ms);
    int rule = pdk__proxy_rule(ground.proxy,
                               &(struct pdk__rule){.op = PDK__OP_DELETE, .act = PDK__HOLD_REQUEST, .every = true});
    struct locker locker;
    locker_start(&locker, m);
    CHECK_WITHIN(PATIENCE_MS, pdk__proxy_hits(ground.proxy, rule) > 0);
    CHECK_EQ(ground_children(path), 1);
    CHECK(!locker.settled);
    CHECK_EQ(pdk_mutex_valid_ms(m), 0);
    pdk__proxy_release(ground.proxy, rule);
    CHECK_WITHIN(PATIENCE_MS, locker.settled);
    CHECK_RC(locker.rc, 0);
    locker_finish(&locker);
    end();
}

static void an_old_session_is_proven_first(void)
{
    path = ground_path();
    zhandle_t *zh = pdk__zk_open(ground.hosts, SESSION_MS);
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    m = ground_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK(pdk_mutex_valid_ms(m) > MIN_VALID_MS);
    CHECK(pdk_mutex_valid_ms(m) < SESSION_MS - MARGIN_MS - SESSION_MS / 4);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    ground_end(c, m);
    zookeeper_close(zh);
}

static void a_child_has_no_time(void)
{
    begin(NULL);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK(pdk_mutex_valid_ms(m) > 0);
    pid_t pid = pdk__test_fork();
    if (pid == 0)
        _exit(pdk_mutex_valid_ms(m) == 0 ? 0 : 1);
    CHECK_EQ(pdk__test_wait(pid), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    end();
}

/* --- the options ------------------------------------------------------------------------------------------------- */

static void options_count(void)
{
    pdk_client_options *o = ground_options(SESSION_MS);
    CHECK_RC(pdk_client_options_set_drift_margin_ms(o, 1000), 0);
    CHECK_RC(pdk_client_options_set_min_valid_ms(o, 1900), 0);
    CHECK_RC(pdk_client_options_set_server_tick_ms(o, 1), 0);
    begin(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK(pdk_mutex_valid_ms(m) <= 2000);
    pdk__proxy_rule(ground.proxy,
                    &(struct pdk__rule){.op = PDK__OP_DELETE, .act = PDK__SWALLOW_REQUEST, .every = true});
    CHECK_WITHIN(PATIENCE_MS, pdk_mutex_state(m) == PDK_SUSPECT);
    CHECK(pdk_mutex_valid_ms(m) <= 1900);
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_CONNECTED); /* that it is lost is not known for two seconds */
    CHECK_WITHIN(PATIENCE_MS, pdk_mutex_state(m) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    end();
}

static void nonsense_is_refused(void)
{
    pdk_client_options *o = pdk_client_options_new();
    int (*const setters[])(pdk_client_options *, int) = {pdk_client_options_set_server_tick_ms,
                                                         pdk_client_options_set_drift_margin_ms,
                                                         pdk_client_options_set_min_valid_ms};
    for (size_t i = 0; i < sizeof setters / sizeof *setters; i++) {
        CHECK_RC(setters[i](o, 0), PDK_EINVAL);
        CHECK_RC(setters[i](o, -1), PDK_EINVAL);
        CHECK_RC(setters[i](o, 86400001), PDK_EINVAL);
        CHECK_RC(setters[i](NULL, 1), PDK_EINVAL);
        CHECK_RC(setters[i](o, 86400000), 0);
    }
    CHECK_RC(pdk_client_options_set_renewal(o, (pdk_renewal)2), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_renewal(NULL, PDK_RENEW_BY_SYNC), PDK_EINVAL);
    CHECK_EQ(pdk_mutex_valid_ms(NULL), 0);
    pdk_client_options_free(o);
}

static void open_ground(void) { ground_open(NULL); }

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an idle holder is renewed, and its deadline lies before the session's", renewed},
        {"renewal by sync writes nothing", renewed_by_sync},
        {"renewal costs a few requests in a timeout", renewal_is_cheap},
        {"where no writes are answered a lock is suspect, then lost in time", not_renewed_is_lost},
        {"after idleness nothing is granted before a proof", in_doubt_nothing_is_granted},
        {"an adopted handle's session is proven first", an_old_session_is_proven_first},
        {"a child of fork has no time", a_child_has_no_time},
        {"margin, least time and tick are what the program says", options_count},
        {"nonsense is refused", nonsense_is_refused},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "validity", .setup = open_ground, .teardown = ground_close, .tests = tests});
}
