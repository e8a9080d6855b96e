/* The contest that the quick start shows. */
#include "program.h"
#include "program_server.h"
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
    char *argv[] = {"contest", "--processes", "3", "--rounds", "6", NULL};
    pid_t group = program_start(temporary, argv);
    program_await("killed while it held");
    program_await("took over");
    program_await("Every law held.");
    CHECK_EQ(program_ended(), 0);
    check_nothing_left(group);
}

/* The command that it offers is one that can be typed: no PATH leads to an example. */
static void a_contest_names_itself_as_it_was_started(void)
{
    char *argv[] = {"contest", "--processes", "3", "--rounds", "30", NULL};
    program_start(temporary, argv);
    program_await(" --all shows them)");
    CHECK(strstr(program_said(), "examples/contest --all shows them)") != NULL);
    program_end();
}

static void a_contest_tells_programs_too(void)
{
    char *argv[] = {"contest", "--json", "--processes", "3", "--rounds", "6", "--hosts", hosts, NULL};
    json_int_t grants = 0, overlaps = 1, takeovers = 0;
    int held = 0;
    program_start(temporary, argv);
    CHECK_EQ(program_ended(), 0);
    json_t *all = json_loads(program_said(), 0, NULL);
    CHECK(all != NULL);
    CHECK_EQ(json_unpack(all, "{s:I, s:I, s:b, s:{s:I}}", "grants", &grants, "overlaps", &overlaps, "laws_held", &held,
                         "after_kill", "takeovers", &takeovers),
             0);
    CHECK_EQ(grants, 6 + 4 + 6); /* the second is killed in its fourth round */
    CHECK_EQ(overlaps, 0);
    CHECK_EQ(takeovers, 1);
    CHECK(held);
    CHECK_EQ(json_array_size(json_object_get(all, "events")), 2 * grants);
    json_decref(all);
}

static void an_interrupted_contest_leaves_nothing(void)
{
    char *argv[] = {"contest", "--rounds", "100000", NULL};
    pid_t group = program_start(temporary, argv);
    program_await("released");
    kill(-group, SIGINT); /* as a terminal does */
    CHECK_EQ(program_ended(), 128 + SIGINT);
    check_nothing_left(group);
}

static void a_killed_contest_leaves_nothing(void)
{
    char *argv[] = {"contest", "--rounds", "100000", NULL};
    pid_t group = program_start(temporary, argv);
    program_await("released");
    kill(group, SIGKILL);
    CHECK_EQ(program_ended(), -SIGKILL);
    CHECK_WITHIN(LIMIT_MS, count_entries(temporary) == 0);
}

static void a_contest_refuses_what_is_no_number(void)
{
    char *argv[] = {"contest", "--rounds", "many", NULL};
    program_start(temporary, argv);
    CHECK_EQ(program_ended(), 64);
}

static void set_up(void)
{
    CHECK(mkdtemp(temporary) != NULL);
    program_server_start();
}

static void tear_down(void)
{
    program_server_end();
    rmdir(temporary);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a contest keeps every law, and leaves nothing behind", a_contest_keeps_every_law},
        {"a contest names itself as it was started", a_contest_names_itself_as_it_was_started},
        {"a contest tells programs too", a_contest_tells_programs_too},
        {"an interrupted contest leaves nothing behind", an_interrupted_contest_leaves_nothing},
        {"a killed contest leaves nothing behind", a_killed_contest_leaves_nothing},
        {"a contest refuses what is no number", a_contest_refuses_what_is_no_number},
        {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "contest", .tests = tests, .setup = set_up, .teardown = tear_down});
}
