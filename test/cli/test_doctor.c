/* paddock doctor: what is wrong with a lock's path. The situations are built by raw requests, as no lock builds
 * them. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURATOR "_c_00000000-0000-0000-0000-00000000000"
#define KAZOO "0123456789abcdef0123456789abcdef__lock__"
#define OURS "0123456789abcdef-0000000"

static struct program holder, waiter, c;
static char path[128], part[160];
static json_t *top;

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

/* The verdict on PATH, read into `top`. */
static void examine(const char *at, int status)
{
    json_decref(top);
    CHECK_EQ(cli_run(&c, ARGS("doctor", "--json", at)), status);
    top = json_loads(c.out, 0, NULL);
    CHECK(top != NULL);
    CHECK_STR(c.err, "");
}

static json_t *report(size_t i) { return json_array_get(json_object_get(top, "paths"), i); }

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static json_t *finding(size_t i, size_t k) { return json_array_get(json_object_get(report(i), "findings"), k); }

static size_t n_findings(size_t i) { return json_array_size(json_object_get(report(i), "findings")); }

/* The only finding of report I has CODE, and concerns N nodes. */
static void found(size_t i, const char *code, size_t n)
{
    if (n_findings(i) != 1 || strcmp(text(finding(i, 0), "code"), code) != 0)
        pdk__test_fail(__FILE__, __LINE__, "not %s alone: %s", code, c.out);
    CHECK_EQ(json_array_size(json_object_get(finding(i, 0), "nodes")), n);
    CHECK(strlen(text(finding(i, 0), "text")) > 10 && strlen(text(finding(i, 0), "advice")) > 10);
}

static void healthy(void)
{
    fresh("healthy");
    cli_start_fed(&holder, ARGS("lock", "--label", "the first", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    cli_start_fed(&waiter, ARGS("lock", "--label", "the second", path, "/bin/cat"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    examine(path, 0);
    CHECK_EQ(n_findings(0), 0);
    CHECK_STR(text(report(0), "recipe"), "mutex");
    const json_t *contenders = json_object_get(report(0), "contenders");
    const json_t *first = json_array_get(contenders, 0), *second = json_array_get(contenders, 1);
    CHECK(json_is_null(json_object_get(first, "predecessor")));
    CHECK_STR(text(second, "predecessor"), text(first, "node"));
    CHECK_EQ(json_integer_value(json_object_get(second, "excess")), 1);
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 0);
    CHECK(strstr(c.out, "(the first) holds, its node is ") != NULL);
    CHECK(strstr(c.out, "(the second) has waited ") != NULL);
    CHECK(strstr(c.out, "nothing is wrong, as far as a look tells: no write was tried") != NULL);
    program_close_input(&holder);
    program_close_input(&waiter);
    CHECK_EQ(program_wait(&holder), 1);
    CHECK_EQ(program_wait(&waiter), 0);
}

static void nowhere(void)
{
    examine(fresh("nowhere"), 0);
    CHECK(json_is_false(json_object_get(report(0), "exists")));
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 0);
    CHECK(strstr(c.out, "no such path") != NULL && strstr(c.out, "nothing is wrong") == NULL);
}

static void recipes(void)
{
    fresh("leader");
    cli_make_ephemeral(path, OURS "1-latch-0000000000", "db7:4711");
    examine(path, 0);
    CHECK_STR(text(report(0), "recipe"), "leader");
    fresh("rwlock");
    cli_make_ephemeral(path, OURS "1-__READ__0000000000", "__REVOKE__ {\"host\":\"a\",\"pid\":1}");
    cli_make_ephemeral(path, OURS "2-__READ__0000000001", "");
    cli_make_ephemeral(path, OURS "3-__WRIT__0000000002", "");
    examine(path, 0);
    CHECK_STR(text(report(0), "recipe"), "rwlock");
    const json_t *writer = json_array_get(json_object_get(report(0), "contenders"), 2);
    CHECK_EQ(json_integer_value(json_object_get(writer, "excess")), 2);
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 0);
    CHECK(strstr(c.out, "a pid 1 holds, ") != NULL && strstr(c.out, " old, and was asked to release it\n") != NULL);
    CHECK(strstr(c.out, OURS "2-__READ__0000000001 holds") != NULL);
}

static void usage(void)
{
    CHECK_EQ(cli_run(&c, ARGS("doctor")), 64);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("doctor", "/a", "relative")), 64);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("doctor", "-z", "127.0.0.1:1", "--connect-timeout", ".3", "/a", "/b")), 69);
    CHECK_ONE_LINE(&c);
}

/* --- each finding ------------------------------------------------------------------------------------------------ */

static void foreign(void)
{
    fresh("foreign");
    cli_make_ephemeral(path, CURATOR "0-lock-0000000000", "10.0.0.7");
    examine(path, 0);
    cli_make_ephemeral(path, KAZOO "0000000001", "");
    examine(path, 1);
    found(0, "foreign", 1);
    CHECK(strstr(text(finding(0, 0), "text"), "kazoo") != NULL);
    cli_make_ephemeral(path, "_c_0123456789abcdef0123456789abcdef-lock-0000000002", "");
    cli_make_ephemeral(path, "n_0000000003", "");
    cli_make_ephemeral(path, "n_0000000004", "");
    examine(path, 1);
    CHECK_EQ(n_findings(0), 3);
    CHECK(strstr(text(finding(0, 1), "text"), "go-zookeeper") != NULL);
    CHECK_EQ(json_array_size(json_object_get(finding(0, 2), "nodes")), 2);
}

static void junk(void)
{
    fresh("junk");
    cli_make_ephemeral(path, "config", "");
    examine(path, 1);
    found(0, "junk", 1);
    CHECK_STR(json_string_value(json_array_get(json_object_get(finding(0, 0), "nodes"), 0)), "config");
}

/* The servers count the path itself, too. */
static void quota(void)
{
    char below[160], limits[160];
    fresh("quota");
    cli_make(path, "orders", "");
    snprintf(below, sizeof below, "%s/orders", path);
    snprintf(limits, sizeof limits, "/zookeeper/quota%s", path);
    cli_make(limits, "zookeeper_limits", "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=3");
    cli_make(limits, "zookeeper_stats", "count=2,bytes=0");
    examine(below, 0);
    cli_make(path, "stock", "");
    examine(below, 1);
    found(0, "quota", 1);
    CHECK_STR(json_string_value(json_array_get(json_object_get(finding(0, 0), "nodes"), 0)), path);
}

/* No client has read them. */
static void findings_that_cannot_be_written(void)
{
    fresh("full");
    cli_make_ephemeral(path, "config", "");
    CHECK_EQ(program_run(
                 &c,
                 ARGS("sh", "-c", "exec \"$0\" doctor \"$1\" >/dev/full", program_built("uninstalled/paddock"), path),
                 PROGRAM_ERRORS),
             70);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "cannot write to standard output") != NULL);
}

/* Everybody may do what "world:anyone" may. A password's hash is shown to nobody. */
static void acl(void)
{
    fresh("acl");
    cli_run(&c, ARGS("lock", "--auth", "digest:me:pw", "--acl", "auth::cwa", "--acl", "world:anyone:rd", path, "true"));
    examine(path, 0);
    fresh("acl");
    cli_run(&c, ARGS("lock", "--auth", "digest:me:pw", "--acl", "auth::cwa", "--acl", "world:anyone:r", path, "true"));
    examine(path, 1);
    found(0, "acl", 0);
    CHECK(strstr(text(finding(0, 0), "text"), "lets digest:me queue, and does not permit DELETE") != NULL);
}

/* Its node stays until its session has timed out, which the test does not await. */
static void orphan(void)
{
    fresh("orphan");
    cli_start_fed(&holder, ARGS("lock", "--session-timeout", "300", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    pid_t session = cli_session_of(holder.pid);
    examine(path, 0);
    kill(session, SIGKILL);
    CHECK_EQ(program_wait(&holder), 76);
    CHECK_WITHIN(GENEROUS, kill(session, 0) != 0); /* it is no zombie either */
    examine(path, 1);
    found(0, "orphan", 1);
    cli_delete_holder(path);
}

static void dead_elsewhere(void)
{
    fresh("elsewhere");
    cli_make_ephemeral(path, OURS "1-lock-0000000000", "{\"host\":\"a\",\"pid\":2000000000,\"machine\":\"0123\"}");
    examine(path, 0);
}

/* --- the counter ------------------------------------------------------------------------------------------------- */

static json_int_t left(const json_t *object)
{
    return json_integer_value(json_object_get(json_object_get(object, "counter"), "left"));
}

static const char *level(const json_t *object) { return text(json_object_get(object, "counter"), "level"); }

/* One more contender, whose node takes a number and stays. */
static void count_up(void)
{
    static char name[64];
    static int n;
    snprintf(name, sizeof name, "left-%d", n++);
    cli_make(path, name, "");
    cli_delete(path, name);
}

static void counter(void)
{
    fresh("counter");
    count_up();
    examine(path, 0);
    CHECK_EQ(left(report(0)), 2147483646);
    CHECK_STR(level(report(0)), "fine");
    cli_set_counter(path, 1073741824);
    examine(path, 1);
    found(0, "counter", 0);
    CHECK_STR(level(report(0)), "half");
    CHECK_EQ(left(report(0)), 1073741823);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.err, "50% of its 2147483647 sequence numbers are used, 1073741823 are left") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-q", path)), 0);
    CHECK_STR(c.err, "");
}

static void counter_near_its_end(void)
{
    fresh("counter-end");
    count_up();
    cli_set_counter(path, 2147483640);
    count_up();
    examine(path, 1);
    CHECK_STR(level(report(0)), "low");
    CHECK_EQ(left(report(0)), 6);
    CHECK(strstr(text(finding(0, 0), "text"), "only 6 ") != NULL);
    for (int i = 0; i < 8; i++)
        count_up();
    CHECK_EQ(cli_run(&c, ARGS("ls", "--json", path)), 0);
    json_t *list = json_loads(c.out, 0, NULL);
    CHECK_STR(level(list), "spent");
    CHECK_EQ(left(list), 0);
    json_decref(list);
    examine(path, 1);
    CHECK(strstr(text(finding(0, 0), "text"), "used up") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "true")), 0);
    examine(path, 0);
}

/* --- the runs of a job ------------------------------------------------------------------------------------------- */

enum { MINUTE_MS = 60000, HOUR_MS = 3600000 };

#define HOURLY ",\"period_ms\":3600000"
#define KEYED ",\"key\":\"k\""
#define SUCCESS ",\"status\":0"

/* The only finding has CODE, and its text has SAYS. */
static void found_run(const char *code, const char *says)
{
    found(0, code, 0);
    if (strstr(text(finding(0, 0), "text"), says) == NULL)
        CHECK_STR(text(finding(0, 0), "text"), says);
}

static void runs_that_are_well(void)
{
    fresh("well");
    const char *run = cli_run_of("db7", 30 * MINUTE_MS, 1, HOURLY SUCCESS);
    cli_record(path, run, run);
    examine(path, 0);
    CHECK_STR(text(json_object_get(report(0), "last_run"), "host"), "db7");
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 0);
    CHECK(strstr(c.out, "\n  last run: 30m0") != NULL && strstr(c.out, "the path of a job between its runs") != NULL);
    run = cli_run_of("db7", 30 * HOUR_MS, 1, KEYED SUCCESS);
    cli_record(path, run, run);
    examine(path, 0);
    cli_record(path, cli_run_of("db7", 30 * MINUTE_MS, 1, KEYED ",\"status\":1"), run); /* a failure is no fault here */
    examine(path, 0);
}

static void record_that_cannot_be_read(void)
{
    fresh("garbled");
    snprintf(part, sizeof part, "%s.last-run", path);
    cli_make("", part + 1, "\033[31m");
    examine(path, 1);
    found(0, "record", 1);
    CHECK(strstr(text(finding(0, 0), "text"), "it is no record of runs") != NULL);
    CHECK_STR(json_string_value(json_array_get(json_object_get(finding(0, 0), "nodes"), 0)), part);
    fresh("private-record");
    snprintf(part, sizeof part, "%s.last-run", path);
    cli_make_private(part);
    examine(path, 1);
    found(0, "unreadable", 1);
}

static void forged_record(void)
{
    fresh("forged");
    cli_record(path, cli_run_of("db7", MINUTE_MS, INT64_MAX, HOURLY SUCCESS), NULL);
    examine(path, 1);
    found(0, "record", 1);
    CHECK(strstr(text(finding(0, 0), "text"), "a token larger than the number of its own write") != NULL);
    cli_record(path, cli_run_of("db7", -3 * HOUR_MS - 30000, 1, HOURLY SUCCESS), NULL);
    examine(path, 1);
    found(0, "record", 1);
    CHECK(strstr(text(finding(0, 0), "text"), "begins in 3h00m by this machine's clock") != NULL);
    const char *done = cli_run_of("db8", -9 * HOUR_MS - 30000, 1, HOURLY SUCCESS);
    cli_record(path, cli_run_of("db7", MINUTE_MS, 2, HOURLY SUCCESS), done);
    examine(path, 1);
    found(0, "record", 1);
    CHECK(strstr(text(finding(0, 0), "text"), "db8 pid 7 (nightly) begins in 9h00m") != NULL);
    cli_record(path, cli_run_of("db7", INT64_MIN / 2, 1, ",\"period_ms\":9223372036854775807" SUCCESS), NULL);
    examine(path, 1);
    found(0, "record", 1);
}

static void overdue_job(void)
{
    const char *done = cli_run_of("db8", 2 * HOUR_MS + 30000, 1, HOURLY SUCCESS);
    fresh("overdue");
    cli_record(path, done, done);
    examine(path, 0); /* it is started less often than once in its period */
    done = cli_run_of("db8", 3 * HOUR_MS + 30000, 1, HOURLY SUCCESS);
    cli_record(path, done, done);
    examine(path, 1);
    found_run("overdue",
              "its period is 1h00m, and the last run that counts began 3h00m ago; the last run: by db8 pid 7 "
              "(nightly), 3h00m ago, ok");
    cli_record(path, cli_run_of("db7", 5 * MINUTE_MS, 2, HOURLY ",\"status\":9"), done);
    examine(path, 1);
    found_run("overdue", "began 3h00m ago; the last run: by db7 pid 7 (nightly), 5m0");
    CHECK(strstr(text(finding(0, 0), "text"), "ago, exit 9") != NULL);
    cli_record(path, cli_run_of("db7", 5 * MINUTE_MS, 2, HOURLY ",\"status\":9"), NULL);
    examine(path, 1);
    found_run("overdue", "its period is 1h00m, and no run has counted yet; the last run: by db7");
}

/* A run that began less than a period ago may yet count. */
static void overdue_job_that_runs(void)
{
    const char *done = cli_run_of("db8", 3 * HOUR_MS, 1, HOURLY SUCCESS);
    fresh("runs");
    cli_make_ephemeral(path, OURS "1-lock-0000000000", "{\"host\":\"db7\",\"pid\":7}");
    examine(path, 0);
    json_int_t token = json_integer_value(
        json_object_get(json_array_get(json_object_get(report(0), "contenders"), 0), "token"));
    cli_record(path, cli_run_of("db7", 5 * MINUTE_MS, token, HOURLY), done);
    examine(path, 0);
    cli_record(path, cli_run_of("db7", 2 * HOUR_MS, token, HOURLY), done);
    examine(path, 1);
    found_run("overdue", "ago, running");
}

static void periods_that_differ(void)
{
    fresh("periods");
    cli_record(path, cli_run_of("db7", 5 * MINUTE_MS, 2, ",\"period_ms\":7200000,\"status\":1"),
               cli_run_of("db8", 30 * MINUTE_MS, 1, HOURLY SUCCESS));
    examine(path, 1);
    found_run("period", "machines disagree about the job: on db7 its period is 2h00m, on db8 1h00m");
    cli_record(path, cli_run_of("db7", 5 * MINUTE_MS, 2, KEYED ",\"status\":1"),
               cli_run_of("db8", 30 * MINUTE_MS, 1, HOURLY SUCCESS));
    examine(path, 1);
    found_run("period", "on db7 it has a KEY, on db8 its period is 1h00m");
}

static void run_without_an_end(void)
{
    fresh("unfinished");
    cli_record(path, cli_run_of("db7", 2 * HOUR_MS + 30000, 1, KEYED), NULL);
    examine(path, 1);
    found_run("unfinished", "the run that db7 pid 7 (nightly) began 2h00m ago has no end, and nobody holds the lock");
    CHECK(strstr(text(finding(0, 0), "advice"), "the next contender does the job again") != NULL);
    const char *run = cli_run_of("db7", 2 * HOUR_MS + 30000, 1, KEYED);
    cli_record(path, run, run); /* it counts from its beginning */
    examine(path, 1);
    CHECK(strstr(text(finding(0, 0), "advice"), "the next contender does the job again") == NULL);
    cli_make_ephemeral(path, OURS "1-lock-0000000000", "{\"host\":\"db9\",\"pid\":7}"); /* it does it now */
    examine(path, 0);
}

static void hostile_record(void)
{
    fresh("hostile-run");
    cli_record(path, cli_run_of("\\u001b[31mred\\u202e", 2 * HOUR_MS, 1, KEYED), NULL);
    setenv("LC_ALL", "C.UTF-8", 1);
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 1);
    unsetenv("LC_ALL");
    CHECK(strstr(c.out, "[31mred? pid 7") != NULL && strstr(c.out, "\xe2\x80\xae") == NULL &&
          strchr(c.out, '\x1b') == NULL);
    examine(path, 1);
    for (const char *at = c.out; *at != '\0'; at++)
        CHECK((*at >= ' ' && *at < 0x7f) || *at == '\n');
}

/* --- more than one path ------------------------------------------------------------------------------------------ */

static void semaphore(void)
{
    fresh("semaphore");
    cli_start_fed(&holder, ARGS("lock", "--limit", "1", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    examine(path, 0);
    CHECK_EQ(json_array_size(json_object_get(top, "paths")), 3);
    CHECK_STR(text(report(0), "recipe"), "semaphore");
    CHECK_STR(text(report(2), "recipe"), "permits");
    snprintf(part, sizeof part, "%s/leases", path);
    cli_make(part, "config", "");
    cli_make_ephemeral(part, OURS "1-lease-0000000009", "{\"host\":\"a\",\"pid\":1,\"limit\":2}");
    examine(path, 1);
    CHECK_EQ(n_findings(2), 2);
    CHECK(strstr(text(finding(2, 0), "text"), "takes a permit") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("doctor", part)), 1);
    CHECK(strstr(c.out, "a pid 1 has waited ") != NULL && strstr(c.out, " for 1 of those before it\n") != NULL);
    CHECK_STR(text(finding(2, 1), "code"), "mixed");
    cli_delete(part, "config");
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 1);
}

/* Each takes a permit, though no contender is there. */
static void junk_alone(void)
{
    fresh("junk-alone");
    snprintf(part, sizeof part, "%s/leases", path);
    cli_make(path, "leases", "");
    cli_make(part, "left-over", "");
    examine(path, 1);
    CHECK_EQ(n_findings(2), 1);
    CHECK_STR(text(report(2), "recipe"), "permits");
    CHECK_STR(text(finding(2, 0), "code"), "junk");
    CHECK(strstr(text(finding(2, 0), "text"), "takes a permit") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 1);
    CHECK(strstr(c.out, "leases: the permits of a semaphore\n") != NULL);
}

static void many_paths(void)
{
    char other[128];
    fresh("many-a");
    cli_make_ephemeral(path, "config", "");
    snprintf(other, sizeof other, "%s", cli_path("many-b"));
    CHECK_EQ(cli_run(&c, ARGS("doctor", other, path)), 1);
    CHECK(strstr(c.out, other) < strstr(c.out, path));
}

static void private_path(void)
{
    char private[128];
    fresh("beside-private");
    cli_make_ephemeral(path, "config", "");
    snprintf(private, sizeof private, "%s", cli_path("private"));
    cli_make_private(private);
    CHECK_EQ(cli_run(&c, ARGS("doctor", private, path)), 77);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.out, "[junk]") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("doctor", "--json", private, path)), 77);
    json_decref(top);
    top = json_loads(c.out, 0, NULL);
    CHECK_STR(text(report(0), "path"), path);
    CHECK_EQ(json_array_size(json_object_get(top, "refused_paths")), 1);
    CHECK_STR(json_string_value(json_array_get(json_object_get(top, "refused_paths"), 0)), private);
    examine(path, 1);
    CHECK(json_is_array(json_object_get(top, "refused_paths")));
    CHECK_EQ(json_array_size(json_object_get(top, "refused_paths")), 0);
}

/* A name may hold what shows others elsewhere on a terminal, and data what a terminal obeys. */
static void hostile(void)
{
    fresh("hostile");
    cli_make_ephemeral(path, OURS "1-lock-0000000000", "{\"host\":\"\\u001b[31mred\",\"pid\":1}");
    cli_make(path,
             "a\xe2\x80\xae"
             "b",
             "");
    setenv("LC_ALL", "C.UTF-8", 1);
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 1);
    unsetenv("LC_ALL");
    CHECK(strstr(c.out, "[31mred pid 1") != NULL && strstr(c.out, "\xe2\x80\xae") == NULL &&
          strchr(c.out, '\x1b') == NULL);
    CHECK(strstr(c.out, "[junk]") != NULL);
    examine(path, 1);
    for (const char *at = c.out; *at != '\0'; at++)
        CHECK((*at >= ' ' && *at < 0x7f) || *at == '\n');
}

static void teardown(void)
{
    json_decref(top);
    cli_teardown();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a lock with a holder and a waiter has nothing wrong, and its waiter waits for its holder", healthy},
        {"a path that does not exist is told, status 0", nowhere},
        {"the recipe is told, and a holder that was asked", recipes},
        {"bad words and a missing ensemble are told in one line", usage},
        {"contenders of kazoo, of go-zookeeper and of unknown recipes are found, and Curator's are not", foreign},
        {"a node without a number is found", junk},
        {"a quota that is used up is found, of the path or of one above it", quota},
        {"findings that cannot be written are told, 70", findings_that_cannot_be_written},
        {"an ACL is judged for each who may create, with what all may", acl},
        {"the node of a process of this machine that has ended is found", orphan},
        {"of a process of another machine nothing is claimed", dead_elsewhere},
        {"a counter that is half used is found, by doctor and by ls", counter},
        {"a counter near its end says how many numbers are left, and is spent at its end", counter_near_its_end},
        {"of a job that ran in its period, or for a KEY, nothing is wrong", runs_that_are_well},
        {"a record that cannot be read is found, with the reason", record_that_cannot_be_read},
        {"a record from the future, or with a token that nobody has yet, is found", forged_record},
        {"a job that has not succeeded in its period is found, with its last run", overdue_job},
        {"it is none while a run is under way, for a period", overdue_job_that_runs},
        {"machines that disagree about the period are found, with their hosts", periods_that_differ},
        {"a run without an end under a lock that nobody holds is found", run_without_an_end},
        {"no text of a record reaches the terminal as it is", hostile_record},
        {"the parts of a semaphore are looked at, and junk there takes a permit", semaphore},
        {"junk takes permits also where no contender is", junk_alone},
        {"many paths are looked at, in their order", many_paths},
        {"a path that may not be listed is told, 77, and the others are looked at", private_path},
        {"no name reaches the terminal as it is", hostile},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/doctor", .tests = tests, .setup = cli_setup, .teardown = teardown});
}
