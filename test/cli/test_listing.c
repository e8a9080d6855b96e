/* paddock ls: who holds, who waits, for people and for programs. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli holder, waiter, c;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void populate(void)
{
    cli_start_fed(&holder, ARGS("lock", "--label", "the first", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, cli_said(&holder, "in\n"));
    cli_start_fed(&waiter, ARGS("lock", path, "/bin/cat"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
}

static void disperse(void)
{
    cli_close_input(&holder);
    cli_close_input(&waiter);
    CHECK_EQ(cli_wait(&holder), 1);
    CHECK_EQ(cli_wait(&waiter), 0);
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
    CHECK_EQ(cli_run(&c, ARGS("ls", "-q", path)), 0);
    CHECK_STR(c.err, "");
    json_t *top = list();
    CHECK_EQ(json_array_size(json_object_get(top, "contenders")), 0);
    json_decref(top);
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
    CHECK(strstr(c.out, "waits (foreign)") != NULL);
    CHECK(strstr(c.out, "-    junk") != NULL);
    CHECK(strchr(c.out, '\x1b') == NULL);
    CHECK(strstr(c.out, "?[31mred") != NULL);
    json_t *top = list();
    CHECK_STR(text(top, 0, "dialect"), "curator");
    CHECK_STR(text(top, 0, "host"), "10.0.0.7");
    CHECK_STR(text(top, 1, "dialect"), "foreign");
    CHECK_STR(text(top, 2, "state"), "junk");
    CHECK_STR(text(top, 2, "data_hex"), "1b5b33316d726564ff");
    CHECK(json_is_null(json_object_get(json_array_get(json_object_get(top, "contenders"), 2), "position")));
    json_decref(top);
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
        {"other libraries' nodes and junk are marked, and control characters masked", strangers},
        {"looking leaves nothing", leaves_nothing},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/listing", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
