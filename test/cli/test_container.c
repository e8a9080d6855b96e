/* paddock as process 1 of a container: a PID namespace of their own. */
#include "test/cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct program c, holder;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

/* With a /proc of the namespace. Without the right to make one there is nothing to test. */
static void need_permission(void)
{
    static const char *const probe[] = {"unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "true", NULL};
    static int known = -1;
    if (known < 0)
        known = program_run(&c, probe, PROGRAM_OUTPUT | PROGRAM_ERRORS) == 0;
    if (known == 0)
        SKIP("no PID namespace can be made here");
}

#define CONTAINER(...)                                                                                                 \
    ARGS("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", program_built("uninstalled/paddock"),           \
         __VA_ARGS__)

static void start(const char *const *arguments) { program_start(&c, arguments, PROGRAM_OUTPUT | PROGRAM_ERRORS); }

static int run(const char *const *arguments) { return program_run(&c, arguments, PROGRAM_OUTPUT | PROGRAM_ERRORS); }

/* Process 1 of the namespace, by its number here; 0: not yet. */
static pid_t first_process(void)
{
    char file[64];
    int pid = 0;
    snprintf(file, sizeof file, "/proc/%d/task/%d/children", (int)c.pid, (int)c.pid);
    FILE *in = fopen(file, "re");
    if (in == NULL || fscanf(in, "%d", &pid) != 1)
        pid = 0;
    if (in != NULL)
        fclose(in);
    return pid;
}

/* As `docker stop`: from outside of the namespace, to its process 1 alone. */
static void stop(void)
{
    pid_t pid = first_process();
    CHECK(pid > 1);
    CHECK_EQ(kill(pid, SIGTERM), 0);
}

static void status(void)
{
    need_permission();
    fresh("status");
    CHECK_EQ(run(CONTAINER("lock", path, "sh", "-c", "exit 7")), 7);
    CHECK_EQ(run(CONTAINER("lock", path, "sh", "-c", "kill -KILL $$")), 128 + SIGKILL);
    CHECK_EQ(run(CONTAINER("lock", "-q", path, "/no/such/command")), 127);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(run(CONTAINER("elect", path, "sh", "-c", "exit 8")), 8);
    CHECK_EQ(cli_children(path), 0);
}

/* The command ends in its own way, and the lock is free when process 1 has ended. */
static void stopped(void)
{
    static const char *const verbs[] = {"lock", "elect"};
    need_permission();
    for (int i = 0; i < 2; i++) {
        fresh("stop");
        start(CONTAINER(verbs[i], path, "sh", "-c", "trap 'exit 3' TERM; echo in; while :; do sleep .05; done"));
        program_await(&c, "in\n");
        stop();
        CHECK_EQ(program_wait(&c), 3);
        CHECK_EQ(cli_children(path), 0);
        CHECK(cli_unnamed(&c)); /* the shell may tell of the signal */
    }
}

static void stopped_while_it_waits(void)
{
    need_permission();
    fresh("wait");
    cli_start_fed(&holder, ARGS("lock", path, "cat"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    start(CONTAINER("lock", path, "true"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    stop();
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    CHECK_EQ(cli_children(path), 1);
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 0);
}

/* Until its handler is there the system drops the signal. */
static bool ends_when_stopped(void)
{
    pid_t pid = first_process();
    if (pid > 1)
        kill(pid, SIGTERM);
    return program_ended(&c);
}

static void stopped_before_a_server_is_reached(void)
{
    static const char *const verbs[][2] = {
        {"ls"},      {"ls", "--watch"},  {"doctor"},           {"graph"}, {"top"}, {"break"},
        {"barrier"}, {"barrier", "set"}, {"elect", "--listen"}};
    need_permission();
    fresh("nowhere");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        start(CONTAINER("-z", "127.0.0.1:1", "--connect-timeout", "600", verbs[i][0],
                        verbs[i][1] != NULL ? verbs[i][1] : "-q", path));
        CHECK_WITHIN(GENEROUS, ends_when_stopped());
        CHECK_EQ(program_wait(&c), 128 + SIGTERM);
        CHECK_STR(c.err, "");
    }
}

static void stopped_while_break_waits(void)
{
    need_permission();
    fresh("break");
    cli_start_fed(&holder, ARGS("lock", "-q", "--on-revoke=ignore", path, "cat"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    start(CONTAINER("break", "-w", "600", path));
    CHECK_WITHIN(GENEROUS, cli_asked(path));
    stop();
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 0);
}

/* Orphans of the command, before the session's process is killed and after it. */
static const char orphans[] =
    "zombies() { for turn in $(seq 100); do"
    "  grep -qs '^State:.Z' /proc/[0-9]*/status || { echo none; return; }; sleep .1; done; echo zombies; };"
    "leave() { for i in 1 2 3; do sh -c 'sleep .02 & exit 0'; done; sleep .2; };"
    "leave; zombies;"
    "for p in /proc/[0-9]*; do grep -qs '^Name:.pdk-session' $p/status && kill -KILL ${p#/proc/}; done;"
    "leave; zombies";

static void orphans_are_reaped(void)
{
    need_permission();
    fresh("orphans");
    CHECK_EQ(run(CONTAINER("lock", "--on-lost=ignore", "--session-timeout", "3", path, "sh", "-c", orphans)), 0);
    CHECK_STR(c.out, "none\nnone\n");
    CHECK(strstr(c.err, "the process that keeps the session was killed") != NULL);
}

/* Nothing is left in the background by a process 1: the system kills its namespace. */
static void no_background(void)
{
    need_permission();
    fresh("promise");
    start(CONTAINER("lock", path, "sh", "-c", "echo in; while [ -e /proc/1 ]; do sleep .05; done"));
    program_await(&c, "in\n");
    cli_server_stop();
    stop();
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    CHECK(strstr(c.err, "background") == NULL);
    CHECK(strstr(c.err, "no server answers: the lock ends with its session") != NULL);
    cli_server_start();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the command's status is handed on", status},
        {"a signal from outside ends the command, and the lock is free", stopped},
        {"a signal from outside ends the wait", stopped_while_it_waits},
        {"a signal from outside ends each command before it has reached a server", stopped_before_a_server_is_reached},
        {"a signal from outside ends break while it waits", stopped_while_break_waits},
        {"orphans are reaped, also when the session's process is killed", orphans_are_reaped},
        {"it does not promise what a process 1 cannot do", no_background},
        {0},
    };
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "container", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
