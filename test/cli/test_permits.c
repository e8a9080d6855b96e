/* paddock lock -N and --limit: as many commands at once as there are permits. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct program first, second, third, c;
static char path[128], leases[160];

static void fresh(const char *name)
{
    strcpy(path, cli_path(name));
    snprintf(leases, sizeof leases, "%s/leases", path);
}

static void start(struct program *p, const char *count, const char *limit)
{
    cli_start_fed(p, ARGS("lock", "--on-revoke=ignore", "-N", count, "--limit", limit, path, "sh", "-c",
                          "echo in; read -r x; exit 0"));
}

static void begin(struct program *p, const char *count, const char *limit)
{
    start(p, count, limit);
    CHECK_WITHIN(GENEROUS, program_said(p, "in\n"));
}

static void finish(struct program *p)
{
    program_close_input(p);
    CHECK_EQ(program_wait(p), 0);
}

static void as_many_as_there_are(void)
{
    fresh("many");
    begin(&first, "1", "2");
    begin(&second, "1", "2");
    CHECK_EQ(cli_children(leases), 2);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--limit", "2", path, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-w", "3", "--limit", "2", path, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--limit", "3", "--mixed-ok", path, "true")), 0);
    finish(&first);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--limit", "2", path, "true")), 0);
    finish(&second);
    CHECK_WITHIN(GENEROUS, cli_children(leases) == 0);
}

/* The crontab of one machine has forgotten --limit, or has another. */
static void a_mixture_is_refused(void)
{
    fresh("mixture");
    begin(&first, "1", "2");
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", path, "echo", "ran")), 78);
    CHECK_STR(c.out, "");
    CHECK(strstr(c.err, "different recipes") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-w", "9", "-s", path, "true")), 78);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--limit", "3", path, "true")), 78);
    CHECK(strstr(c.err, "2 in another's permit, 3 here") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("elect", "--once", path, "true")), 78);
    CHECK_EQ(cli_run(&c, ARGS("hold", path)), 78);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--mixed-ok", path, "echo", "ran")), 0);
    CHECK_STR(c.out, "ran\n");
    CHECK_EQ(cli_run(&c, ARGS("elect", "--once", "--mixed-ok", path, "true")), 0);
    finish(&first);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", path, "true")), 0);
}

static void several_at_once(void)
{
    fresh("several");
    begin(&first, "2", "3");
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-N", "2", "--limit", "3", path, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--permits", "1", "--limit", "3", path, "true")), 0);
    start(&second, "3", "3");
    CHECK_WITHIN(GENEROUS, cli_children(leases) == 5);
    CHECK(program_silent(&second));
    finish(&first);
    CHECK_WITHIN(GENEROUS, program_said(&second, "in\n"));
    finish(&second);
}

/* Curator's SharedCount has the limit, also of those that wait and of one that does not. */
static void the_limit_is_in_a_node(void)
{
    char count[160];
    fresh("counted");
    snprintf(count, sizeof count, "%s-count", path);
    const char *const *hold = ARGS("lock", "--limit-from", count, path, "sh", "-c", "echo in; read -r x; exit 0");
    const char *const *try = ARGS("lock", "-n", "--limit-from", count, path, "true");
    cli_make_count(count, 2);
    cli_start_fed(&first, hold);
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n"));
    CHECK_EQ(cli_run(&c, try), 0);
    cli_start_fed(&second, hold);
    CHECK_WITHIN(GENEROUS, program_said(&second, "in\n"));
    CHECK_EQ(cli_run(&c, try), 1);
    cli_start_fed(&third, hold);
    CHECK_WITHIN(GENEROUS, cli_children(leases) == 3);
    CHECK_EQ(cli_run(&c, ARGS("doctor", path)), 0);
    CHECK(program_silent(&third));
    cli_make_count(count, 3);
    CHECK_WITHIN(GENEROUS, program_said(&third, "in\n"));
    finish(&first);
    finish(&second);
    finish(&third);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--limit-from", count, "-s", path, "true")), 64);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--limit-from", "relative", path, "true")), 64);
}

static void more_than_the_node_has(void)
{
    char count[160], text[400];
    fresh("more");
    snprintf(count, sizeof count, "%s-count", path);
    snprintf(text, sizeof text, "paddock: %s: 3 permits are more than the limit of 2\n", path);
    cli_make_count(count, 2);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-N", "3", "--limit-from", count, path, "true")), 64);
    CHECK_STR(c.err, text);
    CHECK_EQ(cli_run(&c, ARGS("hold", "-N", "3", "--limit-from", count, path)), 64);
    CHECK_STR(c.err, text);
}

static void a_wait_is_given_up(void)
{
    fresh("given-up");
    begin(&first, "1", "1");
    start(&second, "1", "1");
    CHECK_WITHIN(GENEROUS, cli_children(leases) == 2);
    kill(second.pid, SIGTERM);
    CHECK_EQ(program_wait(&second), 128 + SIGTERM);
    CHECK_WITHIN(GENEROUS, cli_children(leases) == 1);
    finish(&first);
}

static void the_command_knows_its_permit(void)
{
    fresh("environment");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--limit", "2", path, "sh", "-c", "echo $PADDOCK_TOKEN $PADDOCK_NODE")), 0);
    CHECK(strstr(c.out, "-lease-00") != NULL);
    CHECK(strtoll(c.out, NULL, 10) > 0);
    cli_start_fed(&first, ARGS("hold", "--limit", "2", path));
    CHECK_WITHIN(GENEROUS, strchr(first.out, '\n') != NULL);
    CHECK_EQ(cli_children(leases), 1);
    program_close_input(&first);
    CHECK_EQ(program_wait(&first), 0);
}

static const char *text(const json_t *top, size_t i, const char *key)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(top, "contenders"), i), key));
}

static void are_listed(void)
{
    fresh("listed");
    begin(&first, "1", "2");
    begin(&second, "1", "2");
    start(&third, "1", "2");
    CHECK_WITHIN(GENEROUS, cli_children(leases) == 3);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--json", leases)), 0);
    json_t *top = json_loads(c.out, 0, NULL);
    CHECK_STR(text(top, 0, "mode"), "permit");
    CHECK_STR(text(top, 1, "state"), "holds");
    CHECK_STR(text(top, 2, "state"), "waits");
    json_decref(top);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.err, "a semaphore: 2 of 2 permits are held, 1 in its queue\n") != NULL);
    CHECK(strstr(c.out, "\n2    holds  permit") != NULL && strstr(c.out, "\n3    waits  permit") != NULL);
    CHECK(strstr(c.out, "\n1    next ") != NULL && strstr(c.out, "  locks/") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--json", path)), 0);
    top = json_loads(c.out, 0, NULL);
    CHECK_STR(json_string_value(json_object_get(top, "kind")), "semaphore");
    CHECK_EQ(json_integer_value(json_object_get(top, "limit")), 2);
    CHECK_EQ(json_integer_value(json_object_get(top, "held")), 2);
    CHECK_EQ(json_array_size(json_object_get(top, "contenders")), 3);
    CHECK_EQ(json_array_size(json_object_get(top, "queue")), 1);
    json_decref(top);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--limit", "4", "--mixed-ok", path, "paddock-is-not-found")), 127);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "--limit", "4", "--mixed-ok", path, program_built("uninstalled/paddock"),
                              "ls", leases)),
             0);
    CHECK(strstr(c.err, "different limits") != NULL);
    finish(&first);
    finish(&second);
    finish(&third);
}

static void a_strangers_node_is_listed(void)
{
    fresh("stranger");
    begin(&first, "1", "2");
    cli_make(leases, "by-hand", "");
    start(&second, "1", "2");
    CHECK_WITHIN(GENEROUS, cli_children(leases) == 3);
    CHECK_EQ(cli_run(&c, ARGS("ls", leases)), 0);
    CHECK(strstr(c.out, "-    holds (junk)  ") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("ls", "--json", leases)), 0);
    json_t *top = json_loads(c.out, 0, NULL);
    CHECK_STR(text(top, 0, "state"), "holds");
    CHECK_STR(text(top, 1, "state"), "waits");
    CHECK_STR(text(top, 2, "state"), "holds");
    CHECK_STR(text(top, 2, "dialect"), "junk");
    json_decref(top);
    CHECK_EQ(cli_run(&c, ARGS("top", "--once", "--json", leases)), 0);
    top = json_loads(c.out, 0, NULL);
    json_t *row = json_array_get(json_object_get(top, "paths"), 0);
    CHECK_EQ(json_integer_value(json_object_get(row, "holders")), 2);
    CHECK_EQ(json_integer_value(json_object_get(row, "waiters")), 1);
    json_decref(top);
    CHECK_EQ(cli_run(&c, ARGS("graph", leases)), 0);
    CHECK(strstr(c.out, "hold: 2, ") != NULL);
    finish(&first);
    finish(&second);
    CHECK_EQ(cli_run(&c, ARGS("ls", leases)), 0);
    CHECK(strstr(c.out, "holds (junk)  ") != NULL);
    cli_delete(leases, "by-hand");
}

static bool tells(struct program *p, const char *place, const char *holder)
{
    char line[256];
    snprintf(line, sizeof line, "waiting for %s: place %s, held by ", path, place);
    pdk__test_saw_text("its errors", p->err);
    const char *at = strstr(p->err, line);
    return at != NULL && strstr(at, holder) != NULL;
}

static void a_wait_is_told(void)
{
    fresh("aloud");
    begin(&first, "1", "1");
    cli_start_fed(&second, ARGS("lock", "-v", "--limit", "1", path, "sh", "-c", "read -r x; exit 0"));
    CHECK_WITHIN(GENEROUS, tells(&second, "1 of 1", " (sh)\n"));
    cli_start_fed(&third, ARGS("lock", "-v", "--limit", "1", path, "sh", "-c", "read -r x; exit 0"));
    CHECK_WITHIN(GENEROUS, tells(&third, "2 of 2", " (sh)\n"));
    finish(&first);
    finish(&second);
    finish(&third);
    CHECK(strstr(third.err, "connection") == NULL);
    cli_make(leases, "by-hand", "");
    cli_start(&c, ARGS("lock", "-v", "--limit", "1", path, "true"));
    CHECK_WITHIN(GENEROUS, tells(&c, "1 of 1", "by-hand (junk)\n"));
    cli_delete(leases, "by-hand");
    CHECK_EQ(program_wait(&c), 0);
}

static void one_is_taken_away(void)
{
    fresh("lost");
    begin(&first, "2", "2");
    cli_delete_holder(leases);
    CHECK_EQ(program_wait(&first), 76);
    CHECK_WITHIN(GENEROUS, cli_children(leases) == 0);
}

/* A permit is held, below the path: to say that nobody holds it would be wrong. */
static void its_path_is_told(void)
{
    char line[256];
    fresh("path");
    begin(&first, "1", "2");
    CHECK_EQ(cli_run(&c, ARGS("break", "--json", path)), 64);
    snprintf(line, sizeof line, "under %s/leases: give that path\n", path);
    CHECK(strstr(c.err, line) != NULL && strstr(c.err, "nobody") == NULL);
    CHECK_STR(c.out, "");
    CHECK_EQ(cli_run(&c, ARGS("break", "--force", "--yes", path)), 64);
    CHECK_EQ(cli_children(leases), 1);
    finish(&first);
}

static void all_are_asked(void)
{
    fresh("asked");
    begin(&first, "1", "2");
    begin(&second, "1", "2");
    CHECK_EQ(cli_run(&c, ARGS("break", leases)), 0);
    CHECK_WITHIN(GENEROUS, program_complained(&first, "asks for the lock"));
    CHECK_WITHIN(GENEROUS, program_complained(&second, "asks for the lock"));
    finish(&first);
    finish(&second);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"as many commands run as there are permits", as_many_as_there_are},
        {"another recipe or limit on the path is refused, unless it is meant", a_mixture_is_refused},
        {"several permits are held at once, all or none", several_at_once},
        {"the limit is that of a node, and follows it", the_limit_is_in_a_node},
        {"more permits than the limit in the node are told with both numbers: 64", more_than_the_node_has},
        {"a wait that is given up leaves nothing", a_wait_is_given_up},
        {"the command knows its token and its node", the_command_knows_its_permit},
        {"ls shows permits, and tells when limits differ", are_listed},
        {"a node of a stranger is listed as a permit", a_strangers_node_is_listed},
        {"a waiter tells its place and a holder, and nothing else", a_wait_is_told},
        {"a command that loses one permit is stopped", one_is_taken_away},
        {"break asks each that holds a permit", all_are_asked},
        {"break of the path of a semaphore tells which path to give", its_path_is_told},
        {0}};
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/permits", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
