/* paddock hold: a lock for as long as its standard input stays open. */
#include "test/cli/cli.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct program c, d;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void start(struct program *r)
{
    cli_start_fed(r, ARGS("hold", path));
    CHECK_WITHIN(GENEROUS, program_said(r, "\n"));
}

static void until_input_ends(void)
{
    int64_t token;
    char after;
    fresh("hold");
    start(&c);
    CHECK_EQ(sscanf(c.out, "%" SCNd64 "%c", &token, &after), 2);
    CHECK(token > 0);
    CHECK_EQ(after, '\n');
    CHECK_EQ(cli_run(&d, ARGS("lock", "-n", path, "true")), 1);
    program_say(&c, "what is said does not matter");
    CHECK_EQ(cli_run(&d, ARGS("hold", "-n", "-E", "6", path)), 6);
    CHECK_STR(d.out, "");
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_STR(c.err, "");
    CHECK_EQ(cli_children(path), 0);
}

static void until_a_signal(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    fresh("signal");
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        start(&c);
        kill(c.pid, signals[i]);
        CHECK_EQ(program_wait(&c), 0);
        CHECK_EQ(cli_children(path), 0);
    }
}

static void wait_given_up(void)
{
    fresh("waiting");
    start(&d);
    cli_start_fed(&c, ARGS("hold", path));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    cli_start_fed(&c, ARGS("hold", "-E", "8", path));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 8);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("hold", "-w", "3", path)), 1);
    CHECK_EQ(cli_children(path), 1);
    program_close_input(&d);
    CHECK_EQ(program_wait(&d), 0);
}

/* Its input is the writing end of a pipe that has no reader any more. */
static void input_without_reader(void)
{
    static const char script[] = "{ \"$PADDOCK_BUILDDIR/uninstalled/paddock\" hold -w 20 -E 8 \"$PADDOCK_PATH\" 0>&1 "
                                 ">/dev/null; echo $? >&2; } | true";
    CHECK_EQ(cli_run(&c, ARGS("lock", fresh("writing-end"), "sh", "-c", script)), 0);
    CHECK(strstr(c.err, "standard input ended") != NULL);
    CHECK(strstr(c.err, "\n8\n") != NULL);
}

static void empty_input(void)
{
    CHECK_EQ(cli_run(&c, ARGS("hold", fresh("null"))), 0);
    CHECK(atoll(c.out) > 0);
    CHECK_EQ(cli_children(path), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"it prints the token, and holds until its input ends", until_input_ends},
        {"a signal makes it give the lock back", until_a_signal},
        {"a wait ends with a signal, its input or its time, and leaves no node", wait_given_up},
        {"a wait ends when its input is a pipe that nobody reads", input_without_reader},
        {"with empty input it takes the lock, and gives it back", empty_input},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/hold", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
