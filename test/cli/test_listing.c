/* paddock ls: the holder and the waiters, for people and for programs. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct program holder, waiter, c;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void populate(void)
{
    cli_start_fed(&holder, ARGS("lock", "--label", "the first", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    cli_start_fed(&waiter, ARGS("lock", path, "/bin/cat"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
}

static void disperse(void)
{
    program_close_input(&holder);
    program_close_input(&waiter);
    CHECK_EQ(program_wait(&holder), 1);
    CHECK_EQ(program_wait(&waiter), 0);
}

static json_t *list(void)
{
    json_error_t error;
    CHECK_EQ(cli_run(&c, ARGS("ls", "--json", path)), 0);
    CHECK_STR(c.err, "");
    json_t *top = json_loads(c.out, 0, &error);
    CHECK(top != NULL);
    CHECK_STR(json_string_value(json_object_get(top, "path")), path);
    return top;
}

static const char *text(const json_t *top, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(top, "contenders"), i), key));
}

static json_int_t number(const json_t *top, size_t i, const char *key)
{
    return json_integer_value(json_object_get(json_array_get(json_object_get(top, "contenders"), i), key));
}

static void for_programs(void)
{
    char host[256];
    gethostname(host, sizeof host);
    fresh("json");
    populate();
    json_t *top = list();
    CHECK_EQ(json_array_size(json_object_get(top, "contenders")), 2);
    CHECK_STR(text(top, 0, "state"), "holds");
    CHECK_STR(text(top, 1, "state"), "waits");
    CHECK_STR(text(top, 0, "dialect"), "paddock");
    CHECK_STR(text(top, 0, "host"), host);
    CHECK_STR(text(top, 0, "label"), "the first");
    CHECK_STR(text(top, 1, "label"), "cat");
    CHECK_EQ(number(top, 0, "pid"), cli_session_of(holder.pid));
    CHECK_EQ(number(top, 1, "pid"), cli_session_of(waiter.pid));
    CHECK_EQ(number(top, 0, "position"), 1);
    CHECK_EQ(number(top, 1, "position"), 2);
    CHECK(number(top, 0, "token") > 0);
    CHECK(number(top, 1, "token") > number(top, 0, "token"));
    CHECK(number(top, 0, "since_ms") > 0);
    CHECK(strncmp(text(top, 0, "node"), text(top, 0, "session"), 16) == 0);
    json_decref(top);
    disperse();
}

static void for_people(void)
{
    char pid[32];
    fresh("table");
    populate();
    snprintf(pid, sizeof pid, "pid %d", (int)cli_session_of(holder.pid));
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    const char *second = strchr(c.out, '\n') + 1;
    CHECK(strncmp(c.out, "POS", 3) == 0);
    CHECK(strncmp(second, "1    holds", 10) == 0);
    CHECK(strstr(second, "(the first)") != NULL);
    CHECK(strstr(second, pid) != NULL);
    CHECK(strstr(second, "\n2    waits") != NULL);
    disperse();
}

static void empty(void)
{
    CHECK_EQ(cli_run(&c, ARGS("ls", fresh("nowhere"))), 0);
    CHECK_STR(c.out, "");
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "there is no such path") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-q", path)), 0);
    CHECK_STR(c.err, "");
    json_t *top = list();
    CHECK_STR(json_string_value(json_object_get(top, "kind")), "empty");
    CHECK(json_is_false(json_object_get(top, "exists")));
    CHECK_EQ(json_array_size(json_object_get(top, "contenders")), 0);
    json_decref(top);
}

static const char *kind(const json_t *top) { return json_string_value(json_object_get(top, "kind")); }

/* Members of this library, of Curator and of kazoo. */
static void double_barrier(void)
{
    fresh("members");
    cli_make_ephemeral(path, "0123456789abcdef-00000001-member", "{\"host\":\"db7\",\"pid\":1}");
    cli_make_ephemeral(path, "01234567-89ab-cdef-0123-456789abcdef", "");
    cli_make_ephemeral(path, "0123456789abcdef0123456789abcdef", "");
    json_t *top = list();
    CHECK_STR(kind(top), "double_barrier");
    CHECK_STR(text(top, 0, "state"), "member");
    json_decref(top);
    cli_make(path, "ready", "");
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK_STR(c.err, "");
    CHECK(strstr(c.out, "\nmember  ") != NULL && strstr(c.out, "\nready   ") != NULL);
    CHECK(strstr(c.out, "db7 pid 1") != NULL);
    cli_make(path, "config", "");
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.out, "\nmember") == NULL && strstr(c.out, "\njunk") != NULL);
}

static void directory(void)
{
    char below[128];
    strcpy(below, fresh("tree/a"));
    populate();
    *strrchr(path, '/') = '\0';
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strncmp(c.out, "lock paths: 1; contenders that hold: 1, that wait: 1\n", 53) == 0);
    CHECK(strstr(c.out, below) != NULL && strstr(c.out, "(the first)") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-r", "/")), 0);
    CHECK(strstr(c.out, below) != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-R", "--json", path)), 0);
    json_t *top = json_loads(c.out, 0, NULL);
    CHECK_STR(kind(top), "directory");
    CHECK_STR(json_string_value(json_object_get(top, "path")), path);
    CHECK_EQ(json_array_size(json_object_get(top, "paths")), 1);
    json_decref(top);
    disperse();
}

/* The paths of locks that are not in use look like any other node that stays: they are no junk, to be deleted. */
static void idle_locks(void)
{
    fresh("idle");
    cli_make(path, "orders", "");
    cli_make(path, "stock", "");
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.out, "junk") == NULL && strstr(c.out, "\npath ") != NULL && strstr(c.out, "stock") != NULL);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "no contender is at or below it") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-q", path)), 0);
    CHECK_STR(c.err, "");
    json_t *top = list();
    CHECK_STR(kind(top), "directory");
    CHECK_STR(text(top, 0, "state"), "path");
    json_decref(top);
}

/* A lock that is not seen may be held. */
static void refused(void)
{
    char private[160], open[160];
    fresh("refused");
    snprintf(private, sizeof private, "%s/private", path);
    snprintf(open, sizeof open, "%s/open", path);
    cli_make_path(path);
    cli_make_path(open);
    cli_make_private(private);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.err, "1 paths may not be looked at") != NULL && cli_one_line(&c));
    CHECK_EQ(cli_run(&c, ARGS("ls", "-r", path)), 0);
    CHECK(strstr(c.out, "that wait: 0; 1 may not be looked at\n") != NULL);
    CHECK(strstr(c.err, "1 paths may not be looked at") != NULL && cli_one_line(&c));
    CHECK_EQ(cli_run(&c, ARGS("ls", "-r", "-q", path)), 0);
    CHECK_STR(c.err, "");
}

static void strangers(void)
{
    fresh("strangers");
    cli_make(path, "_c_00000000-0000-0000-0000-000000000000-lock-0000000000", "10.0.0.7");
    cli_make(path, "0123456789abcdef0123456789abcdef__lock__0000000001", "somebody");
    cli_make(path, "config", "\x1b[31mred\xff");
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.out, "holds (curator)") != NULL);
    CHECK(strstr(c.out, "10.0.0.7") != NULL);
    CHECK(strstr(c.out, "holds (kazoo)") != NULL);
    CHECK(strstr(c.err, "a kazoo Lock or Election contends here") != NULL);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-q", path)), 0);
    CHECK_STR(c.err, "");
    CHECK(strstr(c.out, "-    junk") != NULL);
    CHECK(strchr(c.out, '\x1b') == NULL);
    CHECK(strstr(c.out, "?[31mred") != NULL);
    json_t *top = list();
    CHECK_STR(text(top, 0, "dialect"), "curator");
    CHECK_STR(text(top, 0, "host"), "10.0.0.7");
    CHECK_STR(text(top, 1, "dialect"), "kazoo");
    CHECK_STR(text(top, 2, "state"), "junk");
    CHECK_STR(text(top, 2, "data_hex"), "1b5b33316d726564ff");
    CHECK(json_is_null(json_object_get(json_array_get(json_object_get(top, "contenders"), 2), "position")));
    json_decref(top);
}

/* It waits for nothing. */
static void junk_in_a_queue(void)
{
    char part[160];
    fresh("junk-in-a-queue");
    cli_make(path, "leases", "");
    snprintf(part, sizeof part, "%s/locks", path);
    cli_make(part, "config", "");
    cli_make_ephemeral(part, "0123456789abcdef-00000001-lock-0000000000", "");
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.err, "0 permits are held, 1 in its queue") != NULL);
    CHECK(strstr(c.out, "locks/config") != NULL);
}

/* Any client may choose a name with characters that a terminal would take for a command (C1), or show elsewhere
 * (bidirectional marks). */
static void no_terminal_obeys(void)
{
    static const char evil[] = "a\xc2\x9b"
                               "31m\xe2\x80\xae"
                               "b\xe2\x81\xa6"
                               "c\x7f\xc3\xbc";
    fresh("evil");
    cli_make(path, "config", evil);
    setenv("LC_ALL", "C.UTF-8", 1);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.out, "a?31m?b?c?\xc3\xbc") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--json", path)), 0);
    unsetenv("LC_ALL");
    for (const char *at = c.out; *at != '\0'; at++)
        CHECK((*at >= ' ' && *at < 0x7f) || *at == '\n');
    json_t *top = json_loads(c.out, 0, NULL);
    CHECK_STR(text(top, 0, "data"), evil);
    json_decref(top);
}

/* Asked by our command, and as Curator's Revoker does it, with the word alone. Either way the owner is still listed. */
static void asked(bool by_curator)
{
    char host[256];
    gethostname(host, sizeof host);
    fresh(by_curator ? "asked-by-curator" : "asked");
    cli_start_fed(&holder,
                  ARGS("lock", "--on-revoke=ignore", "--label", "night shift", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    if (by_curator)
        cli_ask_last(path);
    else
        CHECK_EQ(cli_run(&c, ARGS("break", path)), 0);
    CHECK_WITHIN(GENEROUS, cli_run(&c, ARGS("ls", path)) == 0 && strstr(c.out, "1    asked") != NULL &&
                               strstr(c.out, "(night shift)") != NULL);
    CHECK(strstr(c.out, "__REVOKE__") == NULL);
    json_t *top = list();
    CHECK_STR(text(top, 0, "state"), "asked");
    CHECK_STR(text(top, 0, "host"), host);
    CHECK_STR(text(top, 0, "label"), "night shift");
    CHECK_EQ(number(top, 0, "pid"), cli_session_of(holder.pid));
    CHECK(json_is_true(json_object_get(json_array_get(json_object_get(top, "contenders"), 0), "asked")));
    json_decref(top);
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 1);
}

static void asked_by_ours(void) { asked(false); }

static void asked_by_curator(void) { asked(true); }

/* A stranger's node that was asked says nothing of its owner any more, and the word is no host. */
static void stranger_asked(void)
{
    fresh("stranger-asked");
    cli_make(path, "_c_00000000-0000-0000-0000-000000000000-lock-0000000000", "__REVOKE__");
    json_t *top = list();
    CHECK_STR(text(top, 0, "state"), "asked");
    CHECK(text(top, 0, "host") == NULL);
    json_decref(top);
}

static void leader_asked(void)
{
    fresh("leader-asked");
    cli_start_fed(&holder, ARGS("elect", "--on-revoke=ignore", "--id", "db7", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    cli_ask_last(path);
    CHECK_WITHIN(GENEROUS,
                 cli_run(&c, ARGS("ls", path)) == 0 && strstr(c.out, "asked") != NULL && strstr(c.out, "db7") != NULL);
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 1);
}

/* --- by which rules ---------------------------------------------------------------------------------------------- */

static void rules_are_told(void)
{
    fresh("rules");
    cli_start_fed(&holder, ARGS("lock", "--confirmed", "--lock-delay", "90", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.out, "confirmed, delay 1m30s") != NULL);
    CHECK_STR(c.err, "");
    json_t *top = list();
    CHECK_EQ(number(top, 0, "lock_delay_ms"), 90000);
    CHECK(json_is_true(json_object_get(json_array_get(json_object_get(top, "contenders"), 0), "confirmed")));
    json_decref(top);
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 1);
}

static void mixed_rules_are_told(void)
{
    fresh("mixed");
    cli_start_fed(&holder, ARGS("lock", "--confirmed", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    cli_start_fed(&waiter, ARGS("lock", "--lock-delay", "1", path, "/bin/cat"));
    CHECK_WITHIN(GENEROUS, program_complained(&waiter, "tokens may come out of order"));
    CHECK_WITHIN(GENEROUS, program_complained(&waiter, "a lock delay and some have none"));
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.err, "tokens may come out of order") != NULL);
    CHECK(strstr(c.err, "a lock delay and some have none") != NULL);
    disperse();
}

static void mixed_recipes_are_told(void)
{
    fresh("recipes");
    cli_start_fed(&holder, ARGS("hold", "--limit", "2", path));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "\n"));
    cli_start_fed(&waiter, ARGS("hold", "--mixed-ok", path));
    CHECK_WITHIN(GENEROUS, program_said(&waiter, "\n"));
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.err, "contenders of different recipes, which may hold beside each other\n") != NULL);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 1);
    CHECK(strstr(c.out, "contenders of different recipes, which may hold beside each other\n") != NULL);
    program_end(&waiter);
    cli_start_fed(&waiter, ARGS("hold", "--limit", "3", "--mixed-ok", path));
    CHECK_WITHIN(GENEROUS, program_said(&waiter, "\n"));
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.err, "contenders have different limits") != NULL);
    program_end(&waiter);
    program_end(&holder);
    cli_make("", fresh("latch") + 1, "");
    cli_make_ephemeral(path, "0123456789abcdef-00000001-latch-0000000000", "");
    cli_make_ephemeral(path, "0123456789abcdef-00000002-lock-0000000001", "");
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.err, "different recipes") != NULL);
    cli_make("", fresh("writer") + 1, "");
    cli_make_ephemeral(path, "0123456789abcdef-00000001-__WRIT__0000000000", "");
    cli_make_ephemeral(path, "0123456789abcdef-00000002-lock-0000000001", "");
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK_STR(c.err, "");
}

static int times(const char *word)
{
    int n = 0;
    for (const char *at = waiter.err; (at = strstr(at, word)) != NULL; at += strlen(word))
        n++;
    return n;
}

/* Curator's contenders confirm nothing and have no delay. The second one brings no second warning. */
static void curators_rules(void)
{
    const char *confirms = "tokens may come out of order", *delay = "a lock delay and some have none";
    fresh("curators-rules");
    cli_make(path, "_c_00000000-0000-0000-0000-000000000000-lock-0000000000", "10.0.0.7");
    cli_make(path, "_c_00000000-0000-0000-0000-000000000001-lock-0000000001", "10.0.0.8");
    cli_start(&waiter, ARGS("lock", "-v", "--confirmed", "--lock-delay", "0.1", path, "/bin/true"));
    CHECK_WITHIN(GENEROUS, program_complained(&waiter, "held by 10.0.0.7"));
    CHECK_EQ(times(confirms), 1);
    CHECK_EQ(times(delay), 1);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.err, confirms) != NULL && strstr(c.err, delay) != NULL);
    cli_delete_holder(path);
    CHECK_WITHIN(GENEROUS, program_complained(&waiter, "held by 10.0.0.8"));
    CHECK_EQ(times(confirms), 1);
    CHECK_EQ(times(delay), 1);
    cli_delete_holder(path);
    CHECK_EQ(program_wait(&waiter), 0);
}

/* A program of ours may put its own data into its node, which tell nothing of its rules. */
static void unknown_rules(void)
{
    fresh("unknown-rules");
    cli_make(path, "0123456789abcdef-01234567-lock-0000000000", "its own");
    cli_start(&waiter, ARGS("lock", "-v", "--confirmed", "--lock-delay", "0.1", path, "/bin/true"));
    CHECK_WITHIN(GENEROUS, program_complained(&waiter, "held by"));
    CHECK_EQ(times("some contenders"), 0);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK_STR(c.err, "");
    cli_delete_holder(path);
    CHECK_EQ(program_wait(&waiter), 0);
}

/* --- the last run ------------------------------------------------------------------------------------------------ */

enum { MINUTE_MS = 60000, HOUR_MS = 3600000, NOT_LONG_AGO = 2 * HOUR_MS + 4 * MINUTE_MS + 30000 };

static const json_t *run_of(const json_t *top, const char *which) { return json_object_get(top, which); }

static json_int_t of_run(const json_t *run, const char *key)
{
    CHECK(json_is_integer(json_object_get(run, key)));
    return json_integer_value(json_object_get(run, key));
}

static void last_run(void)
{
    fresh("job");
    cli_record(path, cli_run_of("db7", NOT_LONG_AGO, 1, ",\"key\":\"2026-11-30\",\"status\":0"), NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK_STR(c.out, "last run: 2h04m ago, ok, by db7 pid 7 (nightly), KEY 2026-11-30\n");
    CHECK_ONE_LINE(&c);
    cli_record(path, cli_run_of("db7", NOT_LONG_AGO, 3, ",\"period_ms\":3600000,\"status\":143"),
               cli_run_of("db8", 26 * HOUR_MS + MINUTE_MS, 2, ",\"period_ms\":3600000,\"status\":0"));
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK_STR(c.out,
              "last run: 2h04m ago, exit 143, by db7 pid 7 (nightly), every 1h00m; the last that counts 1d02h ago\n");
    json_t *top = list();
    CHECK_STR(json_string_value(json_object_get(run_of(top, "last_run"), "host")), "db7");
    CHECK_STR(json_string_value(json_object_get(run_of(top, "last_run"), "label")), "nightly");
    CHECK(json_is_null(json_object_get(run_of(top, "last_run"), "key")));
    CHECK_EQ(of_run(run_of(top, "last_run"), "status"), 143);
    CHECK_EQ(of_run(run_of(top, "last_run"), "pid"), 7);
    CHECK_EQ(of_run(run_of(top, "last_run"), "token"), 3);
    CHECK_EQ(of_run(run_of(top, "last_run"), "period_ms"), HOUR_MS);
    CHECK(of_run(run_of(top, "last_run"), "begun_ms") > 0);
    CHECK(of_run(run_of(top, "last_run"), "ended_ms") >= of_run(run_of(top, "last_run"), "begun_ms"));
    CHECK(of_run(run_of(top, "last_run"), "age_ms") >= NOT_LONG_AGO);
    CHECK(json_is_false(json_object_get(run_of(top, "last_run"), "running")));
    CHECK_STR(json_string_value(json_object_get(run_of(top, "last_done"), "host")), "db8");
    json_decref(top);
    cli_record(path, cli_run_of("db7", -HOUR_MS, 1, ",\"key\":\"k\",\"status\":0"), NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strncmp(c.out, "last run: 0s ago, ", 18) == 0);
}

/* The lock's holder began it, or one before that, which has left no end. */
static void last_run_without_an_end(void)
{
    fresh("running");
    cli_make_ephemeral(path, "0123456789abcdef-00000001-lock-0000000000", "{\"host\":\"db7\",\"pid\":7}");
    json_t *top = list();
    CHECK(run_of(top, "last_run") == NULL && run_of(top, "last_done") == NULL);
    json_int_t token = number(top, 0, "token");
    json_decref(top);
    cli_record(path, cli_run_of("db7", NOT_LONG_AGO, token, ",\"period_ms\":3600000"), NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    const char *last = strstr(c.out, "\nlast run: ");
    CHECK(last != NULL);
    CHECK_STR(last + 1, "last run: 2h04m ago, running, by db7 pid 7 (nightly), every 1h00m\n");
    top = list();
    CHECK(json_is_true(json_object_get(run_of(top, "last_run"), "running")));
    CHECK(json_is_null(json_object_get(run_of(top, "last_run"), "status")));
    CHECK(json_is_null(json_object_get(run_of(top, "last_run"), "ended_ms")));
    CHECK(run_of(top, "last_done") == NULL);
    json_decref(top);
    cli_record(path, cli_run_of("db7", NOT_LONG_AGO, token - 1, ",\"period_ms\":3600000"), NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.out, "\nlast run: 2h04m ago, no end recorded, by db7") != NULL);
}

/* No holder has the largest of all numbers. */
static void last_run_of_no_record(void)
{
    char record[160];
    fresh("no-record");
    snprintf(record, sizeof record, "%s.last-run", path);
    cli_make("", record + 1, "{\"paddock\":1,\"last\":7}");
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK_STR(c.out, "");
    CHECK(strstr(c.err, "its last run is not known: the record of the last run cannot be believed: it is garbled: see "
                        "'paddock doctor'\n") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-q", path)), 0);
    CHECK_STR(c.err, "");
    CHECK_EQ(cli_run(&c, ARGS("ls", "-q", "--json", path)), 0);
    json_t *top = json_loads(c.out, 0, NULL);
    CHECK(top != NULL && run_of(top, "last_run") == NULL);
    json_decref(top);
    cli_record(path, cli_run_of("db7", HOUR_MS, INT64_MAX, ",\"key\":\"k\",\"status\":0"), NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK_STR(c.out, "");
    CHECK(strstr(c.err, "it has a token larger than the number of its own write") != NULL);
}

static void no_terminal_obeys_a_run(void)
{
    fresh("evil-run");
    cli_record(path, cli_run_of("\\u001b[31mred\\u009b\\u202e", NOT_LONG_AGO, 1, ",\"key\":\"a\\u202eb\",\"status\":0"),
               NULL);
    setenv("LC_ALL", "C.UTF-8", 1);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK_STR(c.out, "last run: 2h04m ago, ok, by ?[31mred?? pid 7 (nightly), KEY a?b\n");
    CHECK_EQ(cli_run(&c, ARGS("ls", "--json", path)), 0);
    unsetenv("LC_ALL");
    for (const char *at = c.out; *at != '\0'; at++)
        CHECK((*at >= ' ' && *at < 0x7f) || *at == '\n');
}

/* The record is no path of its own, and the path of the job may be deleted between its runs. */
static void runs_of_a_directory(void)
{
    char job[160];
    fresh("jobs");
    cli_make(path, "idle", "");
    snprintf(job, sizeof job, "%s/backup", path);
    cli_record(job, cli_run_of("db7", NOT_LONG_AGO, 1, ",\"key\":\"k\",\"status\":0"), NULL);
    cli_make(path, "other.last-run", "no record");
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK_STR(c.err, "");
    CHECK(strncmp(c.out, "lock paths: 1; contenders that hold: 0, that wait: 0\n", 53) == 0);
    CHECK(strstr(c.out, job) != NULL && strstr(c.out, " 2h04m ago ok ") != NULL && strstr(c.out, ".last-run") == NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-r", "--json", path)), 0);
    json_t *top = json_loads(c.out, 0, NULL), *paths = json_object_get(top, "paths");
    CHECK_EQ(json_array_size(paths), 1);
    CHECK_STR(json_string_value(json_object_get(json_array_get(paths, 0), "path")), job);
    CHECK_STR(json_string_value(json_object_get(run_of(json_array_get(paths, 0), "last_run"), "key")), "k");
    json_decref(top);
    CHECK_EQ(cli_run(&c, ARGS("ls", "-r", job)), 0);
    CHECK(strstr(c.out, " 2h04m ago ok ") != NULL);
    strcat(job, ".last-run");
    cli_make_ephemeral(job, "0123456789abcdef-00000001-lock-0000000000", ""); /* a lock there is hidden by nothing */
    CHECK_EQ(cli_run(&c, ARGS("ls", "-r", path)), 0);
    CHECK(strstr(c.out, job) != NULL);
}

/* Run with the lock held, so that there is a table to print. */
static void run_on_full(const char *command)
{
    char script[256];
    snprintf(script, sizeof script, "\"$PADDOCK_BUILDDIR/uninstalled/paddock\" %s \"$PADDOCK_PATH\" >/dev/full",
             command);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--on-revoke=ignore", fresh("full"), "sh", "-c", script)), 70);
    CHECK(strstr(c.err, "cannot write to standard output") != NULL);
}

static void full_output(void)
{
    run_on_full("ls");
    run_on_full("ls --json");
    run_on_full("elect --listen");
    run_on_full("elect --listen --json");
    run_on_full("break -q");
    run_on_full("break -q --json");
    run_on_full(
        "break -q --json \"$PADDOCK_PATH/free\" >/dev/full; exit $? #"); /* 66 would be for an answer that was read */
}

static void leaves_nothing(void)
{
    int nodes = cli_nodes();
    CHECK_EQ(cli_run(&c, ARGS("ls", fresh("look"))), 0);
    CHECK_EQ(cli_nodes(), nodes);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"--json shows state, host, process and label in order", for_programs},
        {"the table shows state, process and label in order", for_people},
        {"a path where nobody is, is empty, and no error", empty},
        {"of a double barrier the members are told", double_barrier},
        {"of a path that is no lock the locks below it are told", directory},
        {"the paths of locks that are not in use are no junk", idle_locks},
        {"paths below it that may not be looked at are told", refused},
        {"other libraries' nodes and junk are marked, and control characters masked", strangers},
        {"junk in a semaphore's queue is shown, and not counted", junk_in_a_queue},
        {"neither table nor JSON has a character that a terminal obeys", no_terminal_obeys},
        {"a holder that was asked is told as asked, with its owner", asked_by_ours},
        {"a holder that Curator's Revoker asked is told as asked, with its owner", asked_by_curator},
        {"a stranger that was asked has no owner by the name of the word", stranger_asked},
        {"a leader that was asked keeps its id", leader_asked},
        {"confirmed grants and a lock delay are told", rules_are_told},
        {"contenders of different recipes are told, by ls and by doctor", mixed_recipes_are_told},
        {"contenders that do not go by the same rules are told, by ls and by the one that waits", mixed_rules_are_told},
        {"Curator's contenders go by other rules than confirmed ones, and that is told once", curators_rules},
        {"a contender with data of its own is not told to have other rules", unknown_rules},
        {"the last run of a job is told, and the last one that counts", last_run},
        {"a run without an end is under way while its holder holds the lock", last_run_without_an_end},
        {"a record that cannot be read is told, and no run", last_run_of_no_record},
        {"no text of a record reaches the terminal as it is", no_terminal_obeys_a_run},
        {"a record is no path of its own, and its job is shown also where its path is deleted", runs_of_a_directory},
        {"a table that cannot be written is told, 70", full_output},
        {"looking leaves nothing", leaves_nothing},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/listing", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
