/* paddock top: a whole tree, for people and for programs. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct program c;
static char root[128];
static json_t *top;

static const char *fresh(const char *name)
{
    strcpy(root, cli_path(name));
    cli_make("", root + 1, "");
    return root;
}

static void stand(const char *lock, int number, const char *host)
{
    char path[160], name[80], data[300];
    snprintf(path, sizeof path, "%s/%s", root, lock);
    snprintf(name, sizeof name, "0123456789abcdef-%08x-lock-%010d", (unsigned)number + 1, number);
    snprintf(data, sizeof data, "{\"host\":\"%s\",\"pid\":7,\"thread\":7,\"label\":\"\"}", host);
    cli_make_ephemeral(path, name, data);
}

static void keep(const char *text)
{
    json_decref(top);
    top = json_loads(text, 0, NULL);
    CHECK(top != NULL);
}

static void look(void)
{
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", "--json", root)), 0);
    CHECK_STR(c.err, "");
    keep(c.out);
}

static const json_t *row(const char *lock)
{
    const json_t *object;
    size_t i;
    json_array_foreach(json_object_get(top, "paths"), i, object)
    {
        const char *path = json_string_value(json_object_get(object, "path"));
        if (strcmp(strrchr(path, '/') + 1, lock) == 0)
            return object;
    }
    pdk__test_fail(__FILE__, __LINE__, "no row for %s", lock);
}

static json_int_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static int lines(const char *text)
{
    int n = 0;
    while ((text = strchr(text, '\n')) != NULL) {
        text++;
        n++;
    }
    return n;
}

static void populate(const char *name)
{
    fresh(name);
    stand("quiet", 0, "db1");
    stand("busy", 0, "db2");
    stand("busy", 1, "db3");
    stand("busy", 2, "db4");
}

static void for_programs(void)
{
    populate("json");
    look();
    CHECK_EQ(json_array_size(json_object_get(top, "paths")), 2);
    CHECK_EQ(number(top, "holders"), 2);
    CHECK_EQ(number(top, "waiters"), 2);
    CHECK(row("busy") == json_array_get(json_object_get(top, "paths"), 0)); /* the most waiters first */
    CHECK_EQ(number(row("busy"), "holders"), 1);
    CHECK_EQ(number(row("busy"), "waiters"), 2);
    CHECK_EQ(number(row("quiet"), "waiters"), 0);
    CHECK(json_is_null(json_object_get(row("busy"), "grants_per_second")));
    const json_t *contenders = json_object_get(row("busy"), "contenders");
    CHECK_EQ(json_array_size(contenders), 3);
    CHECK_STR(json_string_value(json_object_get(json_array_get(contenders, 1), "host")), "db3");
    CHECK_STR(json_string_value(json_object_get(json_array_get(contenders, 1), "state")), "waits");
}

static void for_people(void)
{
    populate("text");
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", root)), 0);
    CHECK_STR(c.err, "");
    CHECK(c.out[2] == ':' && c.out[5] == ':' && strstr(c.out, " 127.0.0.1:") == c.out + 8);
    CHECK(strstr(c.out, ": lock paths: 2; contenders that hold: 2, that wait: 2\n") != NULL);
    const char *busy = strstr(c.out, "/busy "), *quiet = strstr(c.out, "/quiet ");
    CHECK(busy != NULL && quiet > busy);
    CHECK(strstr(busy, "db2 pid 7") != NULL && strstr(busy, "db2 pid 7") < quiet);
    CHECK(strstr(busy, "db3 pid 7") != NULL && strstr(busy, "db3 pid 7") < quiet);
    CHECK(strstr(c.out, "db4") == NULL && strchr(c.out, '\033') == NULL);
    fresh("nothing");
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", root)), 0);
    CHECK(strstr(c.out, ": lock paths: 0; contenders that hold: 0, that wait: 0\n") != NULL);
    CHECK_EQ(lines(c.out), 1);
}

static const json_t *only(void)
{
    const json_t *paths = json_object_get(top, "paths");
    CHECK_EQ(json_array_size(paths), 1);
    return json_array_get(paths, 0);
}

/* Two hold, and the third has the gate. */
static void a_semaphore(void)
{
    struct program holders[2], waiter;
    char gate[160];
    fresh("semaphore");
    snprintf(gate, sizeof gate, "%s/locks", root);
    CHECK_EQ(cli_run(&c, ARGS("hold", "--limit", "2", root)), 0);
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", "--json", root)), 0);
    keep(c.out);
    CHECK_EQ(json_array_size(json_object_get(top, "paths")), 0); /* idle */
    for (int i = 0; i < 2; i++) {
        cli_start_fed(&holders[i], ARGS("hold", "--limit", "2", "--label", "permit", root));
        CHECK_WITHIN(GENEROUS, program_said(&holders[i], "\n"));
    }
    look();
    CHECK_EQ(json_array_size(json_object_get(only(), "queue")), 0);
    cli_start_fed(&waiter, ARGS("hold", "--limit", "2", "--label", "gate", root));
    CHECK_WITHIN(GENEROUS, cli_children(gate) == 1);
    look();
    CHECK_STR(json_string_value(json_object_get(only(), "path")), root);
    CHECK_STR(json_string_value(json_object_get(only(), "kind")), "semaphore");
    CHECK_EQ(number(only(), "limit"), 2);
    CHECK_EQ(number(only(), "held"), 2);
    CHECK_EQ(number(only(), "holders"), 2);
    CHECK_EQ(number(only(), "waiters"), 1);
    CHECK_EQ(json_array_size(json_object_get(only(), "queue")), 1);
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", root)), 0);
    CHECK(strstr(c.out, "lock paths: 1; contenders that hold: 2, that wait: 1\n") != NULL);
    CHECK(strstr(c.out, "(permit)") != NULL && strstr(c.out, "(gate)") > strstr(c.out, "(permit)"));
    CHECK(strstr(c.out, "/leases") == NULL && strstr(c.out, "/locks") == NULL);
    CHECK_EQ(lines(c.out), 3);
    program_end(&waiter);
    program_end(&holders[0]);
    program_end(&holders[1]);
}

static void a_part(void)
{
    char private[160];
    populate("part");
    snprintf(private, sizeof private, "%s/private", root);
    cli_make_private(private);
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", root)), 0);
    CHECK(strstr(c.out, "that wait: 2; 1 may not be looked at\n") != NULL);
    CHECK(strstr(c.err, "1 paths may not be looked at") != NULL && cli_one_line(&c));
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", "--json", "--max-paths", "1", root)), 0);
    CHECK(strstr(c.err, "there are more than 1 paths") != NULL && cli_one_line(&c));
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", "-q", "--max-paths", "1", root)), 0);
    CHECK_STR(c.err, "");
}

/* It is told again when it changes, not at each look. */
static void a_part_is_told_once(void)
{
    char private[160];
    populate("once");
    snprintf(private, sizeof private, "%s/private", root);
    cli_make_private(private);
    cli_start(&c, ARGS("top", "--json", "--interval", ".1", root));
    for (int i = 0; i < 4; i++)
        program_hear(&c);
    program_end(&c);
    CHECK_ONE_LINE(&c);
}

/* A contender comes and goes between two looks; the others wait as before. */
static void rates(void)
{
    populate("rates");
    cli_start(&c, ARGS("top", "--json", "--interval", ".3", root));
    keep(program_hear(&c));
    CHECK(json_is_null(json_object_get(row("busy"), "grants_per_second")));
    cli_delete_holder(strcat(root, "/busy"));
    double seen = 0;
    while (seen == 0) {
        keep(program_hear(&c));
        seen = json_real_value(json_object_get(row("busy"), "grants_per_second"));
        CHECK(json_real_value(json_object_get(row("quiet"), "grants_per_second")) == 0);
    }
    CHECK(seen > 0 && seen < 10);
    CHECK_EQ(number(row("busy"), "waiters"), 1);
    program_end(&c);
    CHECK_EQ(c.status, 0);
}

enum { MINUTE_MS = 60000, HOUR_MS = 3600000 };

static void ran(const char *lock, int64_t ago_ms, int64_t token, const char *more)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", root, lock);
    cli_record(path, cli_run_of("db7", ago_ms, token, more), NULL);
}

static json_int_t token_of(const char *lock)
{
    return number(json_array_get(json_object_get(row(lock), "contenders"), 0), "token");
}

/* Does the line of the path have WORDS? */
static bool line_says(const char *lock, const char *words)
{
    char start[160];
    snprintf(start, sizeof start, "%s/%s ", root, lock);
    const char *line = strstr(c.out, start), *found = line != NULL ? strstr(line, words) : NULL;
    return found != NULL && found < strchr(line, '\n');
}

static void last_runs(void)
{
    populate("runs");
    stand("lost", 0, "db5");
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", root)), 0);
    CHECK(strstr(c.out, "LAST RUN") == NULL);
    look();
    ran("quiet", HOUR_MS, token_of("quiet"), "");
    ran("lost", 3 * MINUTE_MS + 9000, token_of("lost") - 1, "");
    ran("busy", 2 * HOUR_MS + 4 * MINUTE_MS + 30000, 1, ",\"status\":0");
    ran("idle", 26 * HOUR_MS, 1, ",\"status\":143");
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", root)), 0);
    CHECK_STR(c.err, "");
    CHECK(strstr(c.out, "lock paths: 4; contenders that hold: 3, that wait: 2\n") != NULL);
    CHECK(strstr(c.out, "LAST RUN") != NULL && strstr(c.out, ".last-run") == NULL);
    CHECK(line_says("quiet", " running "));
    CHECK(line_says("lost", " 3m09s ago no end ") || line_says("lost", " 3m10s ago no end "));
    CHECK(line_says("busy", " 2h04m ago ok "));
    CHECK(line_says("idle", " 1d02h ago exit 143 "));
    CHECK(strstr(c.out, "/idle ") > strstr(c.out, "/quiet ")); /* no contender is there: it is the last */
    look();
    CHECK_EQ(number(json_object_get(row("idle"), "last_run"), "status"), 143);
    CHECK(json_is_true(json_object_get(json_object_get(row("quiet"), "last_run"), "running")));
}

/* Any client may have created the node beside a lock. */
static void no_record(void)
{
    populate("no-record");
    cli_make(root, "quiet.last-run", "\033[2J");
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", root)), 0);
    CHECK(line_says("quiet", " unreadable ") && strchr(c.out, '\033') == NULL);
    CHECK(strstr(c.out, "lock paths: 2; ") != NULL);
    look();
    CHECK(json_object_get(row("quiet"), "last_run") == NULL);
}

static void strange_text(void)
{
    fresh("strange");
    stand("lock", 0, "\\u001b[2J\\u009b\\u202ex");
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", root)), 0);
    CHECK(strchr(c.out, '\033') == NULL && strstr(c.out, "\xc2\x9b") == NULL && strstr(c.out, "\xe2\x80\xae") == NULL);
    CHECK(strstr(c.out, "?[2J") != NULL);
    look();
    CHECK(strchr(c.out, '\033') == NULL && strstr(c.out, "\\u001b[2J") != NULL);
}

/* The screen of a terminal of COLUMNS, once it shows WORD. It is ended with a key. */
static const char *screen_of(unsigned short columns, const char *word)
{
    static char screen[65536];
    struct winsize size = {.ws_row = 10, .ws_col = columns};
    int terminal, status;
    size_t n = 0;
    pid_t pid = forkpty(&terminal, NULL, NULL, &size);
    CHECK(pid >= 0);
    if (pid == 0) {
        execl(program_built("uninstalled/paddock"), "paddock", "top", "--interval", ".2", root, NULL);
        _exit(99);
    }
    for (bool asked = false;;) {
        ssize_t got = read(terminal, screen + n, sizeof screen - n - 1);
        if (got <= 0)
            break;
        screen[n += (size_t)got] = '\0';
        if (!asked && strstr(screen, word) != NULL)
            asked = write(terminal, "xq", 2) == 2;
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    close(terminal);
    return screen;
}

/* On a terminal it draws, and ends with a key. */
static void on_a_terminal(void)
{
    populate("screen");
    const char *screen = screen_of(70, "db3");
    CHECK(strstr(screen, "\033[?1049h") != NULL && strstr(screen, "\033[?1049l") != NULL);
    CHECK(strstr(screen, "lock paths: 2;") != NULL);
    CHECK(strstr(screen, "\033[9;1Hq quit") != NULL);
}

/* All columns fit. */
static void run_on_a_terminal(void)
{
    populate("a-path-that-is-longer-than-a-quarter-of-the-screen");
    ran("quiet", 26 * HOUR_MS, 1, ",\"status\":143");
    const char *screen = screen_of(80, "NEXT");
    CHECK(strstr(screen, "GRANTS/S LAST RUN            HOLD NEXT") != NULL);
    CHECK(strstr(screen, " 1d02h ago exit 143 ") != NULL);
    screen = screen_of(79, "NEXT");
    CHECK(strstr(screen, "LAST RUN") == NULL);
}

static void usage(void)
{
    CHECK_EQ(cli_run(&c, ARGS("top", "--interval", "0", "/a")), 64);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", "relative")), 64);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", "-z", "127.0.0.1:1", "--connect-timeout", ".2", "/a")), 69);
    CHECK_ONE_LINE(&c);
}

static void teardown(void)
{
    json_decref(top);
    cli_teardown();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"one look, for programs", for_programs},
        {"one look, for people", for_people},
        {"what may not be looked at is told, and that there is more", a_part},
        {"that is told once", a_part_is_told_once},
        {"a semaphore is one lock", a_semaphore},
        {"two looks tell how fast it goes", rates},
        {"the last run of a job has a column, and a job has a line between its runs", last_runs},
        {"a record that cannot be read is told in that column", no_record},
        {"what others have written is masked", strange_text},
        {"on a terminal it draws until q is pressed", on_a_terminal},
        {"a terminal of 80 columns has room for the last run", run_on_a_terminal},
        {"wrong words, and no ensemble", usage},
        {0},
    };
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv, &(struct pdk__test_suite){.name = "top", .tests = tests, .setup = cli_setup, .teardown = teardown});
}
