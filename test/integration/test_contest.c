/* The contest that the quick start shows. */
#include "test/integration/example.h"
#include "test/lib/check.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_MS = 60000 };

static char temporary[] = "/tmp/paddock-contest-XXXXXX";

static size_t count_entries(const char *path)
{
    size_t n = 0;
    DIR *d = opendir(path);
    CHECK(d != NULL);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

static void contest(const char *const *options)
{
    const char *argv[8] = {program_source("examples/contest")};
    for (size_t i = 0; options[i] != NULL; i++)
        argv[i + 1] = options[i];
    program_end(&example);
    program_start(&example, argv, PROGRAM_OUTPUT | PROGRAM_GROUP);
}

/* Neither a directory nor a process. */
static void check_nothing_left(pid_t group)
{
    CHECK_EQ(count_entries(temporary), 0);
    CHECK_WITHIN(LIMIT_MS, kill(-group, 0) < 0 && errno == ESRCH);
}

static void a_contest_keeps_every_law(void)
{
    contest(ARGS("--processes", "3", "--rounds", "6"));
    pid_t group = example.pid;
    program_await(&example, "killed while it held");
    program_await(&example, "took over from #2");
    program_await(&example, "Every law held.");
    CHECK_EQ(program_wait(&example), 0);
    check_nothing_left(group);
}

/* With one round each, the other one is often through before the victim is granted. */
static void a_victim_always_has_a_successor(void)
{
    for (int i = 0; i < 3; i++) {
        contest(ARGS("--processes", "2", "--rounds", "1", "--hosts", hosts));
        CHECK_EQ(program_wait(&example), 0);
        CHECK(strstr(example.out, "Every law held.") != NULL);
    }
}

static void an_interrupted_contest_leaves_nothing(void)
{
    contest(ARGS("--rounds", "100000"));
    pid_t group = example.pid;
    program_await(&example, "released");
    kill(-group, SIGINT); /* as a terminal does */
    CHECK_EQ(program_wait(&example), 128 + SIGINT);
    check_nothing_left(group);
}

static void a_killed_contest_leaves_nothing(void)
{
    contest(ARGS("--rounds", "100000"));
    pid_t group = example.pid;
    program_await(&example, "released");
    kill(group, SIGKILL);
    CHECK_EQ(program_wait(&example), -SIGKILL);
    CHECK_WITHIN(LIMIT_MS, count_entries(temporary) == 0);
}

static void a_contest_refuses_what_is_no_number(void)
{
    contest(ARGS("--rounds", "many"));
    CHECK_EQ(program_wait(&example), 64);
}

static void a_report_that_is_lost_is_told(void)
{
    static const char script[] = "exec \"$0\" --processes 2 --rounds 2 --hosts \"$1\" >/dev/full";
    CHECK_EQ(program_run(&example, ARGS("sh", "-c", script, program_source("examples/contest"), hosts), PROGRAM_ERRORS),
             69);
    CHECK(strstr(example.err, "contest: the report could not be written\n") != NULL);
}

static void set_up(void)
{
    CHECK(mkdtemp(temporary) != NULL);
    example_set_up();
    CHECK_EQ(setenv("PADDOCK", program_built("uninstalled/paddock"), 1), 0);
    CHECK_EQ(setenv("TMPDIR", temporary, 1), 0); /* of the contests, not of the server */
}

static void tear_down(void)
{
    example_tear_down();
    rmdir(temporary);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a contest keeps every law, and leaves nothing behind", a_contest_keeps_every_law},
        {"a victim always has a successor", a_victim_always_has_a_successor},
        {"an interrupted contest leaves nothing behind", an_interrupted_contest_leaves_nothing},
        {"a killed contest leaves nothing behind", a_killed_contest_leaves_nothing},
        {"a contest refuses what is no number", a_contest_refuses_what_is_no_number},
        {"a report that is lost is told in one line, 69", a_report_that_is_lost_is_told},
        {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "contest", .tests = tests, .setup = set_up, .teardown = tear_down});
}
