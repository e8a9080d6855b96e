/* The log of a client. */
#include "lib/clock.h"
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MANY = 400 };

/* The lines that a client has written. */
struct log {
    pthread_mutex_t lock;
    char text[200000];
    size_t n;
    unsigned count[PDK_LOG_DEBUG + 1];
    atomic_bool blocked;
    atomic_bool entered;
};

static void setup(void)
{
    fixture_open(NULL);
    CHECK_RC(pdk_log_zookeeper(PDK_LOG_INFO), 0); /* its default: the harness wants to hear nothing */
}

static void write_line(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    static const char *const names[] = {"none", "error", "warning", "info", "debug"};
    struct log *log = arg;
    log->entered = true;
    while (log->blocked)
        pdk__test_nap();
    pthread_mutex_lock(&log->lock);
    CHECK(c != NULL && at_ms > INT64_C(1500000000000));
    log->count[level]++;
    int length = snprintf(log->text + log->n, sizeof log->text - log->n, "%s: %s\n", names[level], text);
    if (length > 0 && (size_t)length < sizeof log->text - log->n)
        log->n += (size_t)length;
    pthread_mutex_unlock(&log->lock);
}

static bool contains(struct log *log, const char *part)
{
    pthread_mutex_lock(&log->lock);
    bool found = strstr(log->text, part) != NULL;
    pthread_mutex_unlock(&log->lock);
    return found;
}

static void log_init(struct log *log)
{
    memset(log, 0, sizeof *log);
    pthread_mutex_init(&log->lock, NULL);
}

static pdk_client_options *logging(struct log *log, pdk_log_level level)
{
    pdk_client_options *o = fixture_options(10000);
    log_init(log);
    CHECK_RC(pdk_client_options_set_log(o, level, write_line, log), 0);
    return o;
}

static pdk_client *client_on(int port, pdk_client_options *o)
{
    char hosts[32];
    pdk_client *c;
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
    CHECK_RC(pdk_client_new(&c, hosts, o), 0);
    pdk_client_options_free(o);
    return c;
}

/* --- what is written --------------------------------------------------------------------------------------------- */

static void a_life(void)
{
    static struct log log;
    char part[200];
    int64_t token;
    const char *path = fixture_path();
    pdk_client *c = fixture_client(logging(&log, PDK_LOG_INFO));
    pdk_mutex *m = fixture_mutex(c, path);
    snprintf(part, sizeof part, "info: session: connected to %s, session %016llx, timeout 10000 ms\n", fixture.hosts,
             (unsigned long long)pdk_client_session_id(c));
    CHECK_WITHIN(LONG_MS, contains(&log, part));
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_lock_token(m, &token, NULL), 0);
    snprintf(part, sizeof part, "info: %s: granted, token %lld, node %s\n", path, (long long)token,
             fixture_find(path, "-lock-"));
    CHECK_WITHIN(LONG_MS, contains(&log, part));
    fixture_delete_below(path, fixture_find(path, "-lock-"));
    snprintf(part, sizeof part, "warning: %s: lost: its node is deleted\n", path);
    CHECK_WITHIN(LONG_MS, contains(&log, part));
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    fixture_expire(pdk__client_zh(c));
    CHECK_WITHIN(LONG_MS, contains(&log, "warning: session: the connection to "));
    CHECK_WITHIN(LONG_MS, contains(&log, "warning: session: expired: the servers ended the session\n"));
    fixture_end(c, m);
    CHECK(contains(&log, "info: session: over: the client is closed\n"));
    CHECK_EQ(log.count[PDK_LOG_DEBUG], 0);
}

static void a_wait(void)
{
    static struct log log;
    const char *path = fixture_path();
    pdk_client *c = fixture_client(logging(&log, PDK_LOG_DEBUG));
    pdk_mutex *m = fixture_mutex(c, path);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, "other-0000000000",
                       "{\"host\":\"db7\",\"pid\":4711,\"thread\":1,\"label\":\"a\\u0007b\"}");
    CHECK_RC(pdk_mutex_timedlock(m, KNOWN_MS), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS,
                 contains(&log, "a contender of an unknown recipe, which may not wait for ours: other-0000000000\n"));
    CHECK_WITHIN(LONG_MS, contains(&log, ": waiting: held by db7 pid 4711 (a?b), 1 ahead, behind a contender of an "
                                         "unknown recipe, which may not wait for ours\n"));
    CHECK_WITHIN(LONG_MS, contains(&log, ": not granted: timed out: held by db7 pid 4711 (a?b), 1 ahead, behind"));
    CHECK(contains(&log, "debug: "));
    fixture_end(c, m);
}

static void a_threshold(void)
{
    static struct log log;
    pdk_client *c = fixture_client(logging(&log, PDK_LOG_ERROR));
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    CHECK_EQ(log.n, 0);
}

/* --- ZooKeeper's own --------------------------------------------------------------------------------------------- */

static void whose_line(void)
{
    static struct log logs[2];
    pdk_client *clients[2];
    int fds[2], ports[2];
    char part[2][80];
    for (int i = 0; i < 2; i++) {
        ports[i] = fixture_refusing_port(&fds[i]);
        snprintf(part[i], sizeof part[i], "127.0.0.1:%d", ports[i]);
    }
    for (int i = 0; i < 2; i++)
        clients[i] = client_on(ports[i], logging(&logs[i], PDK_LOG_WARNING));
    for (int i = 0; i < 2; i++) {
        CHECK_WITHIN(LONG_MS, contains(&logs[i], "warning: zookeeper: ") && contains(&logs[i], part[i]));
        CHECK_WITHIN(LONG_MS, contains(&logs[i], "Connection refused"));
        CHECK(!contains(&logs[i], part[!i]));
    }
    for (int i = 0; i < 2; i++) {
        CHECK_RC(pdk_client_free(clients[i]), 0);
        CHECK_EQ(logs[i].count[PDK_LOG_DEBUG], 0);
        CHECK_EQ(logs[i].count[PDK_LOG_WARNING], 1); /* a repeated line is written once */
        close(fds[i]);
    }
}

static void its_level(void)
{
    static struct log log;
    CHECK_RC(pdk_log_zookeeper(PDK_LOG_DEBUG), 0);
    pdk_client *c = fixture_client(logging(&log, PDK_LOG_DEBUG));
    CHECK_WITHIN(LONG_MS, contains(&log, "debug: zookeeper: Calling a watcher"));
    CHECK_RC(pdk_log_zookeeper(PDK_LOG_INFO), 0);
    CHECK_RC(pdk_client_free(c), 0);
    CHECK_RC(pdk_log_zookeeper((pdk_log_level)5), PDK_EINVAL);
}

/* More clients than there are functions for ZooKeeper's lines; those of clients that have gone are used again. */
static void many_clients(void)
{
    static struct log first, last, next;
    pdk_client *clients[64], *beyond;
    int fd, port = fixture_refusing_port(&fd);
    clients[0] = client_on(port, logging(&first, PDK_LOG_DEBUG));
    for (int i = 1; i < 64; i++)
        clients[i] = client_on(port, NULL);
    beyond = client_on(port, logging(&last, PDK_LOG_DEBUG));
    CHECK_WITHIN(LONG_MS, contains(&first, "Connection refused"));
    CHECK_RC(pdk_client_free(beyond), 0);
    CHECK(!contains(&last, "zookeeper: "));
    CHECK(contains(&last, "info: session: over"));
    CHECK_RC(pdk_client_free(clients[63]), 0);
    clients[63] = client_on(port, logging(&next, PDK_LOG_DEBUG));
    CHECK_WITHIN(LONG_MS, contains(&next, "Connection refused"));
    for (int i = 0; i < 64; i++)
        CHECK_RC(pdk_client_free(clients[i]), 0);
    close(fd);
}

/* --- the callback ------------------------------------------------------------------------------------------------ */

static _Atomic(pdk_mutex *) watched;
static atomic_int n_deadlocks, n_states;

static void call_back(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    (void)level, (void)at_ms, (void)text, (void)arg;
    pdk_mutex *m = watched;
    if (m == NULL)
        return;
    n_states += pdk_client_state(c) == PDK_SESSION_CONNECTED && pdk_lock_state(m) == PDK_HELD;
    n_deadlocks += pdk_mutex_lock(m) == PDK_EDEADLK;
}

static void may_call(void)
{
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_INFO, call_back, NULL), 0);
    pdk_client *c = fixture_client(o);
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    watched = m;
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_WITHIN(LONG_MS, n_states > 0 && n_deadlocks > 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_client_close(c), 0);
    watched = NULL;
    fixture_end(c, m);
}

static void dispatched(void)
{
    static struct log log;
    pdk_client_options *o = logging(&log, PDK_LOG_INFO);
    CHECK_RC(pdk_client_options_set_dispatch(o, true), 0);
    pdk_client *c = fixture_client(o);
    struct pollfd p = {.fd = pdk_client_fd(c), .events = POLLIN};
    CHECK_WITHIN(LONG_MS, poll(&p, 1, 100) == 1);
    CHECK_EQ(log.n, 0);
    CHECK_WITHIN(LONG_MS, pdk_client_dispatch(c) >= 0 && contains(&log, "session: connected"));
    CHECK_RC(pdk_client_free(c), 0);
    CHECK(contains(&log, "session: over"));
}

/* A log whose lines are not taken in time loses lines, reports it, and costs no lock. */
static void slow(void)
{
    static struct log log;
    pdk_client_options *o = logging(&log, PDK_LOG_DEBUG);
    log.blocked = true;
    pdk_client *c = fixture_client(o);
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    CHECK_WITHIN(LONG_MS, log.entered);
    for (int i = 0; i < MANY / 4; i++) {
        CHECK_RC(pdk_mutex_lock(m), 0);
        CHECK_RC(pdk_mutex_unlock(m), 0);
    }
    CHECK_EQ(log.n, 0);
    log.blocked = false;
    CHECK_WITHIN(LONG_MS, contains(&log, " lines were lost"));
    fixture_end(c, m);
}

/* The first lines make more lines, for a ring that was full. */
static pdk_mutex *busy;
static int n_taken;
static bool lost_told; /* the last line */

static void ignore_lock(int rc, void *arg) { (void)rc, (void)arg; }

static void make_more(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    (void)c, (void)level, (void)at_ms, (void)arg;
    lost_told = lost_told || strstr(text, " lines were lost") != NULL;
    pdk_grant *g;
    if (++n_taken <= 3)
        CHECK_RC(pdk_mutex_lock_async(busy, PDK_FOREVER, ignore_lock, NULL, &g), 0);
}

/* No timer is about to wake the thread that looks after the log. */
static bool quiet(pdk_client *c)
{
    pdk__client_lock(c);
    bool far = c->timers.armed_ms > pdk__now_ms() + 3600000;
    pdk__client_leave(c);
    return far;
}

static void lines_that_remain(void)
{
    int fd;
    pdk_grant *g;
    pdk_client_options *o = fixture_options(86400000);
    CHECK_RC(pdk_client_options_set_dispatch(o, true), 0);
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_DEBUG, make_more, NULL), 0);
    pdk_client *c = client_on(fixture_refusing_port(&fd), o);
    struct pollfd p = {.fd = pdk_client_fd(c), .events = POLLIN};
    busy = fixture_mutex(c, fixture_path());
    for (int i = 0; i < MANY; i++)
        CHECK_RC(pdk_mutex_lock_async(busy, PDK_FOREVER, ignore_lock, NULL, &g), 0);
    CHECK_WITHIN(LONG_MS, poll(&p, 1, 100) == 1 && quiet(c));
    CHECK(pdk_client_dispatch(c) > 0);
    CHECK(n_taken > 256);
    CHECK_WITHIN(LONG_MS, lost_told || (poll(&p, 1, 100) == 1 && pdk_client_dispatch(c) < 0));
    fixture_end(c, busy);
    close(fd);
}

/* No client is created, so no caller could dispatch. */
static void not_made(void)
{
    static struct log log;
    pdk_client *c = NULL;
    for (int dispatch = 0; dispatch < 2; dispatch++) {
        pdk_client_options *o = logging(&log, PDK_LOG_DEBUG);
        CHECK_RC(pdk_client_options_set_dispatch(o, dispatch), 0);
        CHECK_RC(pdk_client_new(&c, "127.0.0.1", o), PDK_EINVAL);
        CHECK(contains(&log, "zookeeper: "));
        pdk_client_options_free(o);
    }
}

/* --- the reason of a change of the session ----------------------------------------------------------------------- */

static char reasons[20][300];
static atomic_int n_reasons;

static void note_reason(pdk_client *c, pdk_session_state state, void *arg)
{
    (void)state, (void)arg;
    int i = n_reasons;
    if (i == 20)
        return;
    pdk_client_session_reason(c, reasons[i], sizeof *reasons);
    n_reasons = i + 1;
}

static bool told(const char *part)
{
    for (int i = 0; i < n_reasons; i++)
        if (strstr(reasons[i], part) != NULL)
            return true;
    return false;
}

static void session_reason(void)
{
    char text[300];
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_set_on_session(o, note_reason, NULL), 0);
    pdk_client *c = fixture_client(o);
    snprintf(text, sizeof text, "connected to %s", fixture.hosts);
    CHECK_WITHIN(LONG_MS, told(text));
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, told("the connection to "));
    CHECK_WITHIN(LONG_MS, pdk_client_session_reason(c, text, sizeof text) > 0 && strstr(text, "was lost") != NULL);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    fixture_expire(pdk__client_zh(c));
    CHECK_WITHIN(LONG_MS, told("the servers ended the session"));
    CHECK_RC(pdk_client_free(c), 0);
}

static void options(void)
{
    pdk_client_options *o = pdk_client_options_new();
    CHECK_RC(pdk_client_options_set_log(NULL, PDK_LOG_INFO, write_line, NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_log(o, (pdk_log_level)-1, write_line, NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_log(o, (pdk_log_level)5, write_line, NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_NONE, write_line, NULL), 0);
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_DEBUG, NULL, NULL), 0);
    pdk_client_options_free(o);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"connections, grants, losses and the end are told, with their reasons", a_life},
        {"a wait tells the place in the queue, the holder, and strangers", a_wait},
        {"nothing above the level is told", a_threshold},
        {"a line of ZooKeeper's client is told to the client that it is about", whose_line},
        {"the level of ZooKeeper's client is the process's to set", its_level},
        {"more than 64 clients do not mix their lines up", many_clients},
        {"the callback may call what does not wait", may_call},
        {"a program that dispatches takes the lines itself", dispatched},
        {"lines that nobody takes are lost, and that is told", slow},
        {"lines that a callback left are told without another", lines_that_remain},
        {"a client that is not made tells its lines, also where the program dispatches", not_made},
        {"the session callback can ask for the reason", session_reason},
        {"levels", options},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "log", .tests = tests, .setup = setup, .teardown = fixture_close});
}
