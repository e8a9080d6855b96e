/* The contest that the quick start shows. */
#include "test/integration/example.h"
#include "test/lib/check.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
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

/* Neither a directory nor a process. */
static void check_nothing_left(pid_t group)
{
    CHECK_EQ(count_entries(temporary), 0);
    CHECK_WITHIN(LIMIT_MS, kill(-group, 0) < 0 && errno == ESRCH);
}

static void a_contest_keeps_every_law(void)
{
    const char *argv[] = {"contest", "--processes", "3", "--rounds", "6", NULL};
    example_start(argv);
    pid_t group = example.pid;
    program_await(&example, "killed while it held");
    program_await(&example, "took over");
    program_await(&example, "Every law held.");
    CHECK_EQ(program_wait(&example), 0);
    check_nothing_left(group);
}

/* The command that it offers is one that can be typed: no PATH leads to an example. */
static void a_contest_names_itself_as_it_was_started(void)
{
    const char *argv[] = {"contest", "--processes", "3", "--rounds", "30", NULL};
    example_start(argv);
    program_await(&example, " --all shows them)");
    CHECK(strstr(example.out, "examples/contest --all shows them)") != NULL);
    program_end(&example);
}

static void a_contest_tells_programs_too(void)
{
    const char *argv[] = {"contest", "--json", "--processes", "3", "--rounds", "6", "--hosts", hosts, NULL};
    json_int_t grants = 0, overlaps = 1, takeovers = 0;
    int held = 0;
    example_start(argv);
    CHECK_EQ(program_wait(&example), 0);
    json_t *all = json_loads(example.out, 0, NULL);
    CHECK(all != NULL);
    CHECK_EQ(json_unpack(all, "{s:I, s:I, s:b, s:{s:I}}", "grants", &grants, "overlaps", &overlaps, "laws_held", &held,
                         "after_kill", "takeovers", &takeovers),
             0);
    CHECK_EQ(grants, 6 + 4 + 6); /* the second is killed in its fourth round */
    CHECK_LAW(overlaps == 0);
    CHECK_EQ(takeovers, 1);
    CHECK(held);
    CHECK_EQ(json_array_size(json_object_get(all, "events")), 2 * grants);
    json_decref(all);
}

/* With one round each, the other one is often through before the victim is granted. */
static void a_victim_always_has_a_successor(void)
{
    const char *argv[] = {"contest", "--processes", "2", "--rounds", "1", "--hosts", hosts, NULL};
    for (int i = 0; i < 3; i++) {
        example_start(argv);
        CHECK_EQ(program_wait(&example), 0);
        CHECK(strstr(example.out, "Every law held.") != NULL);
    }
}

static void an_interrupted_contest_leaves_nothing(void)
{
    const char *argv[] = {"contest", "--rounds", "100000", NULL};
    example_start(argv);
    pid_t group = example.pid;
    program_await(&example, "released");
    kill(-group, SIGINT); /* as a terminal does */
    CHECK_EQ(program_wait(&example), 128 + SIGINT);
    check_nothing_left(group);
}

static void a_killed_contest_leaves_nothing(void)
{
    const char *argv[] = {"contest", "--rounds", "100000", NULL};
    example_start(argv);
    pid_t group = example.pid;
    program_await(&example, "released");
    kill(group, SIGKILL);
    CHECK_EQ(program_wait(&example), -SIGKILL);
    CHECK_WITHIN(LIMIT_MS, count_entries(temporary) == 0);
}

static void a_contest_refuses_what_is_no_number(void)
{
    const char *argv[] = {"contest", "--rounds", "many", NULL};
    example_start(argv);
    CHECK_EQ(program_wait(&example), 64);
}

static void a_report_that_is_lost_is_told(void)
{
    static const char script[] = "exec \"$0\" --processes 2 --rounds 2 --hosts \"$1\" >/dev/full";
    CHECK_EQ(program_run(&example, ARGS("sh", "-c", script, program_built("examples/contest"), hosts), PROGRAM_ERRORS),
             69);
    CHECK_STR(example.err, "contest: the report could not be written\n");
}

static void set_up(void)
{
    CHECK(mkdtemp(temporary) != NULL);
    example_set_up();
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
        {"a contest names itself as it was started", a_contest_names_itself_as_it_was_started},
        {"a contest tells programs too", a_contest_tells_programs_too},
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
