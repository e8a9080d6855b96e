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

/* On a terminal it draws, and ends with a key. */
static void on_a_terminal(void)
{
    static char screen[65536];
    struct winsize size = {.ws_row = 10, .ws_col = 70};
    int terminal, status;
    size_t n = 0;
    populate("screen");
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
        if (!asked && strstr(screen, "db3") != NULL)
            asked = write(terminal, "xq", 2) == 2;
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK(strstr(screen, "\033[?1049h") != NULL && strstr(screen, "\033[?1049l") != NULL);
    CHECK(strstr(screen, "lock paths: 2;") != NULL);
    CHECK(strstr(screen, "\033[9;1Hq quit") != NULL);
    close(terminal);
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
        {"what others have written is masked", strange_text},
        {"on a terminal it draws until q is pressed", on_a_terminal},
        {"wrong words, and no ensemble", usage},
        {0},
    };
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv, &(struct pdk__test_suite){.name = "top", .tests = tests, .setup = cli_setup, .teardown = teardown});
}
