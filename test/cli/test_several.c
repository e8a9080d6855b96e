/* paddock lock -l: several paths, all or none. */
#include "test/cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct program first, second, c;
static char a[128], b[128];

static void fresh(const char *name)
{
    char word[64];
    snprintf(word, sizeof word, "%s-a", name);
    strcpy(a, cli_path(word));
    snprintf(word, sizeof word, "%s-b", name);
    strcpy(b, cli_path(word));
}

static void begin(struct program *p, const char *path, const char *also)
{
    cli_start_fed(p, ARGS("lock", "-l", also, path, "sh", "-c", "echo in; read -r x; exit 0"));
    CHECK_WITHIN(GENEROUS, program_said(p, "in\n"));
}

static void finish(struct program *p)
{
    program_close_input(p);
    CHECK_EQ(program_wait(p), 0);
}

static void all_or_none(void)
{
    fresh("all");
    begin(&first, a, b);
    CHECK_EQ(cli_children(a), 1);
    CHECK_EQ(cli_children(b), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", a, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", b, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-l", a, b, "true")), 1);
    finish(&first);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-l", a, b, "true")), 0);
    cli_start_fed(&first, ARGS("lock", b, "sh", "-c", "echo in; read -r x; exit 0"));
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n"));
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", "-l", a, b, "true")), 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", a, "true")), 0);
    finish(&first);
}

/* Each names the paths in another order. */
static void no_two_wait_for_each_other(void)
{
    fresh("orders");
    for (int i = 0; i < 5; i++) {
        cli_start(&first, ARGS("lock", "-l", a, b, "true"));
        cli_start(&second, ARGS("lock", "-l", b, a, "true"));
        CHECK_EQ(program_wait(&first), 0);
        CHECK_EQ(program_wait(&second), 0);
    }
}

static void what_it_waits_for_is_told(void)
{
    fresh("told");
    cli_start_fed(&first, ARGS("lock", "--label", "the-other", b, "sh", "-c", "echo in; read -r x; exit 0"));
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n"));
    cli_start(&second, ARGS("lock", "-v", "-l", b, a, "true"));
    CHECK_WITHIN(GENEROUS, strstr(second.err, "waiting for") != NULL && strstr(second.err, "the-other") != NULL);
    CHECK(strstr(second.err, b) != NULL);
    finish(&first);
    CHECK_EQ(program_wait(&second), 0);
}

static void a_wait_is_given_up(void)
{
    fresh("given-up");
    begin(&first, a, b);
    cli_start(&second, ARGS("lock", "-l", a, b, "true"));
    CHECK_WITHIN(GENEROUS, cli_children(a) == 2 && cli_children(b) == 2);
    kill(second.pid, SIGTERM);
    CHECK_EQ(program_wait(&second), 128 + SIGTERM);
    CHECK_WITHIN(GENEROUS, cli_children(a) == 1 && cli_children(b) == 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-w", "3", "-l", a, b, "true")), 1);
    finish(&first);
}

/* One path is lost: the command is stopped. */
static void one_path_lost(void)
{
    fresh("lost");
    begin(&first, a, b);
    cli_delete_holder(b);
    CHECK_EQ(program_wait(&first), 76);
    CHECK_WITHIN(GENEROUS, cli_children(a) == 0);
}

static void the_command_knows_its_node(void)
{
    fresh("environment");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--confirmed", "-l", b, a, "sh", "-c", "echo $PADDOCK_TOKEN $PADDOCK_PATH")), 0);
    CHECK(strtoll(c.out, NULL, 10) > 0 && strstr(c.out, a) != NULL);
    cli_start_fed(&first, ARGS("hold", "-l", b, a));
    CHECK_WITHIN(GENEROUS, strchr(first.out, '\n') != NULL);
    CHECK(cli_children(a) == 1 && cli_children(b) == 1);
    program_close_input(&first);
    CHECK_EQ(program_wait(&first), 0);
}

static void wrong_words(void)
{
    fresh("wrong");
    CHECK_EQ(cli_run(&c, ARGS("lock", "-l", a, a, "true")), 64);
    CHECK(strstr(c.err, "given twice") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-l", a, "-l", a, b, "true")), 64);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-s", "-l", a, b, "true")), 64);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--limit", "2", "-l", a, b, "true")), 64);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--lock-delay", "2", "-l", a, b, "true")), 64);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-l", "no-path", b, "true")), 64);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"all paths are held, or none", all_or_none},
        {"no two commands wait for each other", no_two_wait_for_each_other},
        {"what it waits for is told, whichever path it is", what_it_waits_for_is_told},
        {"a wait that is given up leaves nothing", a_wait_is_given_up},
        {"one path lost, and the command is stopped", one_path_lost},
        {"the command knows its token and path, and hold takes several, too", the_command_knows_its_node},
        {"paths twice, and options that do not fit: 64", wrong_words},
        {0}};
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/several", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
