/* paddock lock --once and --every: a job of all machines. */
#include "test/cli/cli.h"
#include "test/lib/proxy.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct program c, d;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static int run(const char *rule, const char *value, const char *script)
{
    return cli_run(&c, ARGS("lock", rule, value, path, "sh", "-c", script));
}

/* --- it runs, or is skipped -------------------------------------------------------------------------------------- */

static void once_for_a_key(void)
{
    fresh("key");
    CHECK_EQ(run("--once", "2026-11-30", "echo ran"), 0);
    CHECK_STR(c.out, "ran\n");
    int changes = cli_changes(path);
    CHECK_EQ(run("--once", "2026-11-30", "echo ran"), 0);
    CHECK_STR(c.out, "");
    CHECK_QUIET(&c);
    CHECK_EQ(cli_changes(path), changes); /* it does not queue */
    CHECK_EQ(run("--once", "2026-12-01", "echo ran"), 0);
    CHECK_STR(c.out, "ran\n");
    CHECK_EQ(cli_children(path), 0);
}

static void once_in_a_period(void)
{
    fresh("period");
    CHECK_EQ(run("--every", "12h", "echo ran"), 0);
    CHECK_STR(c.out, "ran\n");
    CHECK_EQ(run("--every", "12h", "echo ran"), 0);
    CHECK_STR(c.out, "");
    CHECK_QUIET(&c);
    usleep(1100 * 1000);
    CHECK_EQ(run("--every", "1s", "echo ran"), 0);
    CHECK_STR(c.out, "ran\n");
}

/* The writes that the command's one session makes with RULE, and its requests. */
static int writes_of(pdk__proxy *proxy, const char *rule, const char *value, int *requests)
{
    char hosts[64];
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    pdk__proxy_reset_counters(proxy);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--session-timeout", "30", "-z", hosts, rule, value, path, "echo", "ran")), 0);
    *requests = pdk__proxy_requests(proxy, 0);
    return pdk__proxy_writes(proxy);
}

static void writes(void)
{
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    int lock, requests;
    fresh("writes");
    CHECK_EQ(run("--once", "first", "true"), 0); /* path and record are there */
    lock = writes_of(proxy, "--lost-exit-code", "76", &requests);
    CHECK_EQ(lock, 2);
    CHECK_EQ(writes_of(proxy, "--once", "k", &requests), lock + 2);
    CHECK_STR(c.out, "ran\n");
    CHECK_EQ(writes_of(proxy, "--once", "k", &requests), 0);
    CHECK_STR(c.out, "");
    CHECK(requests <= 4);
    CHECK_EQ(writes_of(proxy, "--every", "1d", &requests), lock);
    CHECK_STR(c.out, "");
    usleep(1100 * 1000);
    CHECK_EQ(writes_of(proxy, "--every", "1s", &requests), lock + 2);
    pdk__proxy_free(proxy);
}

/* Its node is deleted before its own request for that arrives: there was nothing to lose. */
static void lost_while_it_skips(void)
{
    char hosts[64];
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    fresh("skips");
    CHECK_EQ(run("--every", "12h", "true"), 0);
    int rule = pdk__proxy_rule(proxy, &(struct pdk__proxy_rule){.op = PDK__OP_DELETE, .act = PDK__HOLD_REQUEST});
    cli_start(&d, ARGS("lock", "-z", hosts, "--every", "12h", path, "echo", "ran"));
    CHECK_WITHIN(GENEROUS, pdk__proxy_hits(proxy, rule) == 1);
    cli_delete_holder(path);
    pdk__proxy_release(proxy, rule);
    CHECK_EQ(program_wait(&d), 0);
    CHECK_STR(d.out, "");
    CHECK_QUIET(&d);
    pdk__proxy_free(proxy);
}

static void told_by_whom(void)
{
    char line[160];
    fresh("told");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--label", "nightly", "--every", "12h", path, "true")), 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-v", "--every", "12h", "--done-status", "9", path, "true")), 9);
    CHECK_ONE_LINE(&c);
    snprintf(line, sizeof line, "paddock: %s: done by ", path);
    CHECK(strncmp(c.err, line, strlen(line)) == 0);
    CHECK(strstr(c.err, " (nightly), begun ") != NULL && strstr(c.err, "s ago by the servers' clock, token ") != NULL);
}

static void failure_is_followed_by_another(void)
{
    fresh("failure");
    CHECK_EQ(run("--once", "k", "exit 3"), 3);
    CHECK_EQ(run("--once", "k", "kill -KILL $$"), 128 + SIGKILL);
    CHECK_EQ(run("--once", "k", "echo ran"), 0);
    CHECK_STR(c.out, "ran\n");
    CHECK_EQ(run("--once", "k", "echo ran"), 0);
    CHECK_STR(c.out, "");
}

static void any_run_counts(void)
{
    fresh("any");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--once", "k", "--done-if", "any", path, "sh", "-c", "exit 3")), 3);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--once", "k", "--done-if", "any", path, "echo", "ran")), 0);
    CHECK_STR(c.out, "");
}

/* The first finds it free, the second waits, and both are answered by one run. */
static void waits_and_finds_it_done(void)
{
    fresh("waits");
    cli_start_fed(&d, ARGS("lock", "--every", "12h", path, "sh", "-c", "echo in; read -r x; true"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--every", "12h", path, "echo", "ran")), 1);
    cli_start(&c, ARGS("lock", "--every", "12h", path, "echo", "ran"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    program_close_input(&d);
    CHECK_EQ(program_wait(&d), 0);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_STR(c.out, "");
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--every", "12h", path, "echo", "ran")), 0);
}

static void record_of_the_first_path(void)
{
    char other[160];
    snprintf(other, sizeof other, "%s-other", fresh("first"));
    CHECK_EQ(cli_run(&c, ARGS("lock", "--once", "k", "-l", other, path, "echo", "both")), 0);
    CHECK_STR(c.out, "both\n");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--once", "k", path, "echo", "ran")), 0);
    CHECK_STR(c.out, "");
    CHECK_EQ(cli_run(&c, ARGS("lock", "-x", "--once", "k", other, "echo", "ran")), 0);
    CHECK_STR(c.out, "ran\n");
}

/* --- a run that is broken off ------------------------------------------------------------------------------------ */

static void check_not_done(const char *key)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", "--once", key, path, "echo", "ran")), 0);
    CHECK_STR(c.out, "ran\n");
}

static void lost_lock(void)
{
    cli_start(&d, ARGS("lock", "--once", "k", fresh("lost"), "sh", "-c", "echo in; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    cli_delete_holder(path);
    CHECK_EQ(program_wait(&d), 76);
    check_not_done("k");
}

/* Its command ends with 0 on the signal of the loss: that is no success. */
static void lost_lock_of_a_command_that_ends_well(void)
{
    cli_start(&d, ARGS("lock", "--once", "k", fresh("well"), "sh", "-c",
                       "trap 'exit 0' TERM; echo in; while :; do sleep 0.1; done"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    cli_delete_holder(path);
    CHECK_EQ(program_wait(&d), 76);
    check_not_done("k");
}

static void killed_runner(void)
{
    cli_start(&d, ARGS("lock", "--once", "k", fresh("runner"), "sh", "-c", "echo in; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    kill(d.pid, SIGKILL);
    program_wait(&d);
    check_not_done("k");
}

/* As if its machine had died: no end is recorded. */
static void killed_session(void)
{
    cli_start(&d, ARGS("lock", "--session-timeout", "4", "--once", "k", fresh("session"), "sh", "-c",
                       "echo in; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    kill(cli_session_of(d.pid), SIGKILL);
    CHECK_EQ(program_wait(&d), 76);
    check_not_done("k");
}

/* A user gives up before the command was started. */
static void given_up(void)
{
    fresh("given-up");
    cli_start_fed(&d, ARGS("lock", path, "sh", "-c", "echo in; read -r x; true"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    cli_start(&c, ARGS("lock", "--once", "k", path, "echo", "ran"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    program_close_input(&d);
    program_wait(&d);
    check_not_done("k");
}

/* --- servers that are away --------------------------------------------------------------------------------------- */

/* They come back before the session ends: the record is written then. */
static void recorded_late(void)
{
    cli_start_fed(&d, ARGS("lock", "-v", "--session-timeout", "60", "--once", "k", fresh("late"), "sh", "-c",
                           "echo in; read -r x; echo out"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    cli_server_stop();
    program_close_input(&d);
    CHECK_WITHIN(GENEROUS, program_said(&d, "out\n"));
    CHECK_EQ(program_wait(&d), 79);
    CHECK(strstr(d.err, "the command succeeded, and no server has confirmed its record") != NULL);
    cli_server_start();
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--once", "k", path, "echo", "ran")), 0);
    CHECK_STR(c.out, "");
}

/* No process stays that tries on and on. */
static void given_up_with_the_session(void)
{
    cli_start_fed(&d, ARGS("lock", "--session-timeout", "8", "--once", "k", fresh("never"), "sh", "-c",
                           "echo in; read -r x; true"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    pid_t session = cli_session_of(d.pid);
    cli_server_stop();
    program_close_input(&d);
    int status = program_wait(&d);
    CHECK(status == 79 || status == 76);
    CHECK_WITHIN(GENEROUS, !cli_alive(session));
    cli_server_start();
}

static void failure_needs_no_record(void)
{
    cli_start_fed(&d, ARGS("lock", "--session-timeout", "20", "--once", "k", fresh("fails"), "sh", "-c",
                           "echo in; read -r x; exit 5"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    cli_server_stop();
    program_close_input(&d);
    CHECK_EQ(program_wait(&d), 5);
    cli_server_start();
}

/* --- records of others, and bad words ---------------------------------------------------------------------------- */

static void check_forged(const char *text, const char *why)
{
    char name[160];
    snprintf(name, sizeof name, "%s.last-run", fresh("forged") + 1);
    cli_make("", name, text);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--every", "1h", path, "echo", "ran")), 65);
    CHECK_STR(c.out, "");
    CHECK_ONE_LINE(&c);
    if (strstr(c.err, why) == NULL)
        CHECK_STR(c.err, why);
    CHECK_EQ(cli_children(path), 0);
}

static void forged_records(void)
{
    check_forged("garbage", "it is no record of runs");
    check_forged("{\"paddock\": 1, \"keys\": 7}", "it is garbled");
    check_forged("{\"paddock\": 1, \"done\": {\"token\": 9223372036854775807}}",
                 "it has a token larger than the lock's");
    check_forged("{\"paddock\": 1, \"done\": {\"token\": 1, \"begun_ms\": 9223372036854775807}}",
                 "its last run begins in the future");
}

static void may_not_write(void)
{
    char name[160];
    snprintf(name, sizeof name, "%s.last-run", fresh("closed") + 1);
    cli_make("", name, "");
    snprintf(name, sizeof name, "%s.last-run", path);
    cli_permit(name, "ra");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--once", "k", path, "echo", "ran")), 77);
    CHECK_STR(c.out, "");
    CHECK_ONE_LINE(&c);
    cli_permit(name, "rwcda");
}

static void bad_words(void)
{
    const char *const *const bad[] = {ARGS("lock", "--every", "0s", "/a", "true"),
                                      ARGS("lock", "--every", "12", "/a", "true"),
                                      ARGS("lock", "--every", "1w", "/a", "true"),
                                      ARGS("lock", "--every", "-1h", "/a", "true"),
                                      ARGS("lock", "--every", "1.5h", "/a", "true"),
                                      ARGS("lock", "--every", "3651d", "/a", "true"),
                                      ARGS("lock", "--every", "999999999d", "/a", "true"),
                                      ARGS("lock", "--every", "", "/a", "true"),
                                      ARGS("lock", "--every", "1hh", "/a", "true"),
                                      ARGS("lock", "--once", "", "/a", "true"),
                                      ARGS("lock", "--once", "a\nb", "/a", "true"),
                                      ARGS("lock", "--once", "\xff", "/a", "true"),
                                      ARGS("lock", "--once", "a", "--every", "1h", "/a", "true"),
                                      ARGS("lock", "--once", "a", "-s", "/a", "true"),
                                      ARGS("lock", "--once", "a", "--limit", "2", "/a", "true"),
                                      ARGS("lock", "--done-if", "any", "/a", "true"),
                                      ARGS("lock", "--done-status", "1", "/a", "true"),
                                      ARGS("lock", "--once", "a", "--done-if", "b", "/a", "true"),
                                      ARGS("hold", "--once", "a", "/a"),
                                      ARGS("hold", "--every", "1h", "/a"),
                                      ARGS("elect", "--every", "1h", "/a", "true"),
                                      ARGS("elect", "--done-if", "any", "/a", "true")};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(cli_run(&c, bad[i]), 64);
        CHECK_ONE_LINE(&c);
        CHECK_STR(c.out, "");
    }
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a job with a KEY runs once, and does not queue when it is done", once_for_a_key},
        {"a job with a period runs once in it", once_in_a_period},
        {"a skip by KEY writes nothing, one by age the lock, and a run two more", writes},
        {"a lock that is lost while it is given back unused is no loss", lost_while_it_skips},
        {"-v tells who has done it, and --done-status has its status", told_by_whom},
        {"a run that fails is followed by another", failure_is_followed_by_another},
        {"with --done-if any it is not", any_run_counts},
        {"a waiter finds the work done", waits_and_finds_it_done},
        {"the record is of the first path", record_of_the_first_path},
        {"a run whose lock is lost is followed by another", lost_lock},
        {"also when its command ends with 0 all the same", lost_lock_of_a_command_that_ends_well},
        {"so is one whose runner is killed", killed_runner},
        {"and one whose session is killed", killed_session},
        {"a user who gives up has run nothing", given_up},
        {"a success that cannot be recorded has its own status, and is recorded late", recorded_late},
        {"what cannot be recorded is given up with the session", given_up_with_the_session},
        {"a failure keeps its status", failure_needs_no_record},
        {"a record that others have written is refused in one line", forged_records},
        {"so is one that may not be written", may_not_write},
        {"bad words are refused", bad_words},
        {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/once", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
