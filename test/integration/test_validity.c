/*
 * How long a lock may be believed in, on a real server: renewed while writes are answered, over when they are not,
 * whatever else is.
 */
#include "test/lib/fixture.h"
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { SESSION_MS = 6000, MARGIN_MS = SESSION_MS / 20, MIN_VALID_MS = SESSION_MS / 10 };

/* Of a hold that is to be HELD throughout: a busy server is silent for seconds. */
enum { LASTING_MS = 10000 };

static pdk_client *c;
static pdk_mutex *m;
static const char *path;

static void begin(pdk_client_options *o)
{
    path = fixture_path();
    pdk__proxy_clear(fixture.proxy);
    c = fixture_client(o != NULL ? o : fixture_options(SESSION_MS));
    m = fixture_mutex(c, path);
    pdk__proxy_reset_counters(fixture.proxy);
}

static void end(void)
{
    pdk__proxy_clear(fixture.proxy);
    fixture_end(c, m);
}

/* --- renewal ----------------------------------------------------------------------------------------------------- */

static void hold_for_longer_than_a_session(void)
{
    int64_t until_ms = pdk__test_now_ms() + 3 * LASTING_MS / 2;
    while (pdk__test_now_ms() < until_ms) {
        int64_t valid_ms = pdk_lock_valid_ms(m);
        CHECK_EQ(pdk_lock_state(m), PDK_HELD);
        CHECK(valid_ms > 0 && valid_ms <= LASTING_MS - LASTING_MS / 20);
        pdk__test_nap();
    }
}

/* Three requests in little more than half a tick, by default a quarter of the timeout: at most a dozen in one
 * timeout. */
static void renewed(void)
{
    begin(fixture_options(LASTING_MS));
    CHECK_EQ(pdk_lock_valid_ms(m), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_reset_counters(fixture.proxy);
    hold_for_longer_than_a_session();
    CHECK(pdk__proxy_requests(fixture.proxy, 0) <= 12 * 3 / 2);
    CHECK(pdk__proxy_requests(fixture.proxy, PDK__OP_PROOF) > 0);
    CHECK(pdk__proxy_requests(fixture.proxy, PDK__OP_SYNC) > 0);
    CHECK_EQ(fixture_children(path), 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_EQ(pdk_lock_valid_ms(m), 0);
    end();
}

/* --- slow links -------------------------------------------------------------------------------------------------- */

static void delay(int round_trip_ms)
{
    pdk__proxy_delay(fixture.proxy, PDK__TO_SERVER, round_trip_ms / 2);
    pdk__proxy_delay(fixture.proxy, PDK__TO_CLIENT, round_trip_ms / 2);
}

static void held_on_a_slow_link(void)
{
    enum { SLOW_SESSION_MS = 6000 };
    pdk_client_options *o = fixture_options(SLOW_SESSION_MS);
    CHECK_RC(pdk_client_options_set_clock(o, 600, 0), 0);
    path = fixture_path();
    pdk__proxy_clear(fixture.proxy);
    delay(SLOW_SESSION_MS * 3 / 20);
    c = fixture_client(o);
    m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    int64_t until_ms = pdk__test_now_ms() + 3 * SLOW_SESSION_MS;
    while (pdk__test_now_ms() < until_ms) {
        CHECK_EQ(pdk_lock_state(m), PDK_HELD);
        pdk__test_nap();
    }
    pdk__proxy_clear(fixture.proxy);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    end();
}

static void too_slow_is_told(void)
{
    char text[256], link[80], timeout[80];
    path = fixture_path();
    pdk__proxy_clear(fixture.proxy);
    delay(SESSION_MS * 2 / 5);
    c = fixture_client(fixture_options(SESSION_MS));
    m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_timedlock(m, 4 * SESSION_MS), PDK_ETIMEDOUT);
    pdk_lock_last_error(m, text, sizeof text);
    snprintf(link, sizeof link, "the session cannot be confirmed in time: round trip %.1f",
             SESSION_MS / 1000.0 * 2 / 5);
    snprintf(timeout, sizeof timeout, "session timeout %d s", SESSION_MS / 1000);
    CHECK(strstr(text, link) != NULL);
    CHECK(strstr(text, timeout) != NULL);
    end();
}

static atomic_int n_told; /* lines of the log that tell of the link */

static void count_told(pdk_client *client, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    (void)client, (void)at_ms, (void)arg;
    if (strstr(text, ": not granted yet: connected, but the session cannot be confirmed in time: ") != NULL) {
        CHECK_EQ(level, PDK_LOG_WARNING);
        CHECK(strncmp(text, path, strlen(path)) == 0);
        n_told++;
    }
}

static bool told_of_the_link(void)
{
    char text[256];
    pdk_lock_last_error(m, text, sizeof text);
    return strstr(text, "lock ") == text && strstr(text, "session cannot be confirmed in time: round trip") != NULL;
}

static void too_slow_is_told_without_a_deadline(void)
{
    pdk_client_options *o = fixture_options(SESSION_MS);
    struct locker locker;
    n_told = 0;
    path = fixture_path();
    pdk__proxy_clear(fixture.proxy);
    delay(SESSION_MS * 2 / 5);
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_WARNING, count_told, NULL), 0);
    c = fixture_client(o);
    m = fixture_mutex(c, path);
    locker_start(&locker, m);
    CHECK_WITHIN(LONG_MS, n_told == 1);
    CHECK(told_of_the_link() && !locker.settled);
    int64_t until_ms = pdk__test_now_ms() + SESSION_MS;
    CHECK_WITHIN(LONG_MS, pdk__test_now_ms() >= until_ms);
    CHECK_EQ(n_told, 1);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, n_told == 2); /* of another connection */
    CHECK(!locker.settled);
    pdk__proxy_clear(fixture.proxy);
    CHECK_WITHIN(LONG_MS, locker.settled);
    CHECK_RC(locker.rc, 0);
    CHECK(!told_of_the_link());
    locker_finish(&locker);
    CHECK_EQ(n_told, 2);
    end();
}

/* --- the end of it ----------------------------------------------------------------------------------------------- */

/* As from a server that lost its leader: whatever else is answered, writes are not. */
static void not_renewed_is_lost(void)
{
    begin(NULL);
    CHECK_RC(pdk_mutex_lock(m), 0);
    int64_t heard_ms = pdk__test_now_ms();
    pdk__proxy_rule(fixture.proxy,
                    &(struct pdk__proxy_rule){.op = PDK__OP_PROOF, .act = PDK__SWALLOW_REQUEST, .every = true});
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_SUSPECT);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK(pdk__test_now_ms() - heard_ms < SESSION_MS);
    CHECK_EQ(pdk_lock_valid_ms(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    pdk__proxy_clear(fixture.proxy);
    pdk__proxy_cut(fixture.proxy); /* so that what was swallowed is known to be lost */
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
    CHECK_WITHIN(LONG_MS, pdk__test_now_ms() >= until_ms);
    int rule = pdk__proxy_rule(fixture.proxy,
                               &(struct pdk__proxy_rule){.op = PDK__OP_PROOF, .act = PDK__HOLD_REQUEST, .every = true});
    struct locker locker;
    locker_start(&locker, m);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, rule) > 0);
    CHECK_EQ(fixture_children(path), 1);
    CHECK(!locker.settled);
    CHECK_EQ(pdk_lock_valid_ms(m), 0);
    pdk__proxy_release(fixture.proxy, rule);
    CHECK_WITHIN(LONG_MS, locker.settled);
    CHECK_RC(locker.rc, 0);
    locker_finish(&locker);
    end();
}

/* --- a caller that comes late ------------------------------------------------------------------------------------ */

static int gate[2]; /* read by a thread that is to be kept from its work */

static void keep_back(int signal)
{
    char go;
    (void)signal;
    while (read(gate[0], &go, 1) < 0)
        continue;
}

static pdk_grant *g; /* of a request that no thread waits for */

static pdk_state state(void) { return g != NULL ? pdk_grant_state(g) : pdk_lock_state(m); }

/* The lock is granted, and lost, for want of proof. */
static void grant_and_lose(const char *ahead)
{
    fixture_delete_below(path, ahead);
    CHECK_WITHIN(LONG_MS, state() == PDK_HELD);
    pdk__proxy_rule(fixture.proxy,
                    &(struct pdk__proxy_rule){.op = PDK__OP_PROOF, .act = PDK__SWALLOW_REQUEST, .every = true});
    CHECK_WITHIN(LONG_MS, state() == PDK_LOST);
    pdk__proxy_clear(fixture.proxy);
    pdk__proxy_cut(fixture.proxy);
}

static void woken_late(void)
{
    static const char ahead[] = "somebody-lock-0000000000";
    struct locker locker;
    begin(NULL);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, ahead, "");
    CHECK_EQ(pipe(gate), 0);
    signal(SIGUSR1, keep_back);
    locker_start(&locker, m);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK_EQ(pdk_lock_state(m), PDK_FREE); /* with the client's lock: the thread sleeps without it */
    CHECK_EQ(pthread_kill(locker.thread, SIGUSR1), 0);
    grant_and_lose(ahead);
    CHECK(!locker.settled);
    CHECK_EQ(write(gate[1], "", 1), 1);
    CHECK_WITHIN(LONG_MS, locker.settled);
    CHECK_RC(locker.rc, 0);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD); /* another grant, and this one stands */
    locker_finish(&locker);
    CHECK_RC(locker.unlock_rc, 0);
    signal(SIGUSR1, SIG_DFL);
    close(gate[0]);
    close(gate[1]);
    end();
}

static void note_rc(int rc, void *arg) { *(int *)arg = rc; }

static void called_late(void)
{
    static const char ahead[] = "somebody-lock-0000000000";
    pdk_client_options *o = fixture_options(SESSION_MS);
    CHECK_RC(pdk_client_options_set_dispatch(o, true), 0);
    int rc = 1;
    begin(o);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, ahead, "");
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, note_rc, &rc, &g), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    grant_and_lose(ahead);
    CHECK_EQ(rc, 1);
    CHECK_WITHIN(LONG_MS, pdk_client_dispatch(c) > 0 && rc != 1);
    CHECK_RC(rc, PDK_ELOST);
    CHECK_EQ(pdk_grant_state(g), PDK_LOST);
    CHECK_EQ(pdk_lock_state(m), PDK_FREE);
    CHECK_RC(pdk_mutex_unlock(m), PDK_EPERM);
    CHECK_RC(pdk_grant_release(g), PDK_ELOST);
    g = NULL;
    end();
}

static void an_old_session_is_proven_first(void)
{
    path = fixture_path();
    zhandle_t *zh = pdk__zk_open(fixture.hosts, SESSION_MS);
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK(pdk_lock_valid_ms(m) > MIN_VALID_MS);
    CHECK(pdk_lock_valid_ms(m) < SESSION_MS - MARGIN_MS - SESSION_MS / 4);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    zookeeper_close(zh);
}

static void a_child_has_no_time(void)
{
    begin(NULL);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK(pdk_lock_valid_ms(m) > 0);
    pid_t pid = pdk__test_fork();
    if (pid == 0)
        _exit(pdk_lock_valid_ms(m) == 0 ? 0 : 1);
    CHECK_EQ(pdk__test_wait(pid), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    end();
}

/* --- the options ------------------------------------------------------------------------------------------------- */

static void options_count(void)
{
    pdk_client_options *o = fixture_options(3000);
    CHECK_RC(pdk_client_options_set_clock(o, 1, 1000), 0);
    begin(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK(pdk_lock_valid_ms(m) <= 2000);
    /* The connection may end, too: an answer to a read comes before that to the write. */
    pdk__proxy_rule(fixture.proxy,
                    &(struct pdk__proxy_rule){.op = PDK__OP_PROOF, .act = PDK__SWALLOW_REQUEST, .every = true});
    /* Within: an answer that was under way can prove the session once more between the two calls. */
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_SUSPECT && pdk_lock_valid_ms(m) <= 300);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    end();
}

static void nonsense_is_refused(void)
{
    pdk_client_options *o = pdk_client_options_new();
    CHECK_RC(pdk_client_options_set_clock(NULL, 1, 1), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_clock(o, -1, 1), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_clock(o, 1, -1), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_clock(o, 86400001, 1), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_clock(o, 1, 86400001), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_clock(o, 86400000, 86400000), 0);
    CHECK_RC(pdk_client_options_set_clock(o, 0, 0), 0);
    CHECK_EQ(pdk_lock_valid_ms(NULL), 0);
    pdk_client_options_free(o);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an idle holder is renewed by a few requests, and its deadline lies before the session's", renewed},
        {"where no writes are answered a lock is suspect, then lost in time", not_renewed_is_lost},
        {"after idleness nothing is granted before a proof", in_doubt_nothing_is_granted},
        {"a lock whose grant was over before the caller woke is contended for again", woken_late},
        {"a callback for a grant that is over is called with PDK_ELOST", called_late},
        {"an adopted handle's session is proven first", an_old_session_is_proven_first},
        {"a child of fork has no time", a_child_has_no_time},
        {"margin and tick are what the program says", options_count},
        {"nonsense is refused", nonsense_is_refused},
        {0},
    };
    static const struct pdk__test proof[] = {
        {"on a slow link a lock is held without a break", held_on_a_slow_link},
        {"of a link that is too slow the incident tells, with both times", too_slow_is_told},
        {"a lock without a deadline tells of the link while it waits, once per connection",
         too_slow_is_told_without_a_deadline},
        {0},
    };
    return fixture_run(argc, argv, &(struct pdk__test_suite){.name = "validity", .tests = tests, .proof = proof},
                       ON_ONE);
}
