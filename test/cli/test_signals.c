/* paddock lock and signals: those that are passed on, those that end it, and those that kill one of its processes. */
#include "test/cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_MS = 300 }; /* longer than it takes paddock to see that its command is stopped */

static struct program c, d;
static char path[128];
static pid_t child;

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

/* A command that says which of its processes are which, and waits. */
static void start_family(struct program *r, pid_t *command, pid_t *grandchild)
{
    cli_start(r, ARGS("lock", path, "sh", "-c", "sleep 600 & echo $$ $! in; wait"));
    CHECK_WITHIN(GENEROUS, program_said(r, "in\n"));
    CHECK_EQ(sscanf(r->out, "%d %d", command, grandchild), 2);
}

static void passed_on(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        char script[128];
        snprintf(script, sizeof script, "trap 'echo got; exit 9' %d; echo in; while :; do sleep .05; done", signals[i]);
        cli_start(&c, ARGS("lock", fresh("passed"), "sh", "-c", script));
        CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
        kill(c.pid, signals[i]);
        CHECK_EQ(program_wait(&c), 9);
        CHECK_STR(c.out, "in\ngot\n");
        CHECK_EQ(cli_children(path), 0);
    }
}

static void reaches_group(void)
{
    pid_t command, grandchild;
    fresh("group");
    start_family(&c, &command, &grandchild);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    CHECK_WITHIN(GENEROUS, !cli_alive(grandchild));
}

/* As by the stop key, in the moment in which the command is started. */
static void start_stopped(const char *command)
{
    cli_preload("stopping_exec");
    cli_start(&c, ARGS("lock", fresh("stopped"), command));
    cli_preload(NULL);
    pid_t pid = (pid_t)program_await_number(&c, "stopping ");
    CHECK_WITHIN(GENEROUS, cli_stopped(pid));
    child = pid;
}

static void stopped_at_its_start(void)
{
    start_stopped("true");
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    CHECK_EQ(cli_children(path), 0);
    start_stopped("true");
    usleep(STOP_MS * 1000);
    kill(child, SIGCONT);
    CHECK_EQ(program_wait(&c), 0);
    start_stopped("/no/such");
    usleep(STOP_MS * 1000);
    kill(child, SIGCONT);
    CHECK_EQ(program_wait(&c), 127);
    CHECK_EQ(cli_children(path), 0);
}

/* As long as the command works on its end, no other client has the lock. */
static void release_is_last(void)
{
    cli_start(&c, ARGS("lock", fresh("last"), "sh", "-c",
                       "trap 'echo ending; while ! test -e \"$0\"; do sleep .05; done; exit 4' TERM; echo in; "
                       "while :; do sleep .05; done",
                       "/proc/self/nonexistent"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    kill(c.pid, SIGTERM);
    CHECK_WITHIN(GENEROUS, program_said(&c, "ending\n"));
    CHECK_EQ(cli_run(&d, ARGS("lock", "-n", path, "true")), 1);
    CHECK_EQ(cli_children(path), 1);
    kill(c.pid, SIGKILL);
    program_wait(&c);
}

static void wait_given_up(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    fresh("waiter");
    cli_start_fed(&d, ARGS("lock", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        cli_start(&c, ARGS("lock", path, "echo", "ran"));
        CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
        kill(c.pid, signals[i]);
        CHECK_EQ(program_wait(&c), 128 + signals[i]);
        CHECK_STR(c.out, "");
        CHECK_EQ(cli_children(path), 1);
    }
    program_close_input(&d);
    program_wait(&d);
}

static void given_up_unconnected(void)
{
    cli_start(&c, ARGS("lock", "-z", "127.0.0.1:1", "--connect-timeout=600", fresh("unconnected"), "true"));
    CHECK_WITHIN(GENEROUS, cli_has_session(c.pid));
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
}

/* The servers do not answer, so the release would wait for them: here their part is a session process that is stopped.
 * The kernel may continue it by itself when the runner has ended (setpgid(2)). */
static void impatient(void)
{
    pid_t session, command;
    cli_start_fed(
        &c, ARGS("lock", "--session-timeout", "600", fresh("impatient"), "sh", "-c", "echo $$ in; read -r x; exit 6"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_EQ(sscanf(c.out, "%d", &command), 1);
    kill(session = cli_session_of(c.pid), SIGSTOP);
    program_close_input(&c);
    CHECK_WITHIN(GENEROUS, !cli_alive(command));
    CHECK_WITHIN(GENEROUS, (kill(c.pid, SIGTERM), program_ended(&c)));
    CHECK_EQ(c.status, 6);
    kill(session, SIGCONT);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
}

static void stays_ignored(void)
{
    signal(SIGINT, SIG_IGN);
    CHECK_EQ(cli_run(&c, ARGS("lock", fresh("ignored"), "sh", "-c", "kill -INT $$; kill -INT $PPID; echo here")), 0);
    signal(SIGINT, SIG_DFL);
    CHECK_STR(c.out, "here\n");
}

/* A waiter is not ended by them, nor is a lock that is held. */
static void ignored_by_us(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        cli_start_fed(&d, ARGS("lock", fresh("nohup"), "sh", "-c", "echo in; read -r x"));
        CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
        signal(signals[i], SIG_IGN);
        cli_start(&c, ARGS("lock", path, "echo", "ran"));
        signal(signals[i], SIG_DFL);
        CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
        kill(c.pid, signals[i]);
        kill(cli_session_of(c.pid), signals[i]);
        program_close_input(&d);
        CHECK_EQ(program_wait(&d), 1);
        CHECK_EQ(program_wait(&c), 0);
        CHECK_STR(c.out, "ran\n");
    }
}

static void ignored_by_hold(void)
{
    cli_start_fed(&d, ARGS("hold", fresh("nohup-hold")));
    CHECK_WITHIN(GENEROUS, program_said(&d, "\n"));
    signal(SIGHUP, SIG_IGN);
    cli_start_fed(&c, ARGS("hold", path));
    signal(SIGHUP, SIG_DFL);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGHUP);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    program_close_input(&d);
    CHECK_EQ(program_wait(&d), 0);
}

static void ignored_by_listener(void)
{
    signal(SIGHUP, SIG_IGN);
    cli_start(&c, ARGS("elect", "--listen", fresh("nohup-listen")));
    signal(SIGHUP, SIG_DFL);
    CHECK_WITHIN(GENEROUS, program_said(&c, "none\n"));
    kill(c.pid, SIGHUP);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
}

/* Nothing shows that it waits: many signals, of which one comes then. */
static void ignored_by_barrier(void)
{
    CHECK_EQ(cli_run(&d, ARGS("barrier", "set", fresh("nohup-barrier"))), 0);
    signal(SIGHUP, SIG_IGN);
    cli_start(&c, ARGS("barrier", path));
    signal(SIGHUP, SIG_DFL);
    for (int64_t until_ms = pdk__test_now_ms() + 1000; pdk__test_now_ms() < until_ms; pdk__test_nap())
        kill(c.pid, SIGHUP);
    CHECK_EQ(cli_run(&d, ARGS("barrier", "remove", path)), 0);
    CHECK_EQ(program_wait(&c), 0);
}

/* A service manager, whose name this process takes, signals each process of the unit. The runner is stopped meanwhile,
 * so that it gets all the signals at once. SIGUSR1 comes after all effects of SIGTERM. */
static void once_only(void)
{
    pid_t command;
    char name[16];
    CHECK_EQ(prctl(PR_GET_NAME, name), 0);
    cli_start(&c, ARGS("lock", fresh("once"), "sh", "-c",
                       "trap 'echo got' TERM; trap end=1 USR1; echo $$ in; while [ -z \"$end\" ]; do sleep .05; done; "
                       "exit 9"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_EQ(sscanf(c.out, "%d", &command), 1);
    pid_t others[] = {cli_session_of(c.pid), cli_guard_of(c.pid), c.pid};
    CHECK_EQ(prctl(PR_SET_NAME, "systemd"), 0);
    kill(c.pid, SIGSTOP);
    kill(command, SIGTERM);
    CHECK_WITHIN(GENEROUS, program_said(&c, "got\n"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        kill(others[i], SIGTERM);
    kill(c.pid, SIGCONT);
    kill(c.pid, SIGUSR1);
    int status = program_wait(&c);
    prctl(PR_SET_NAME, name);
    CHECK_EQ(status, 9);
    CHECK_STR(strchr(c.out, 'i'), "in\ngot\n");
}

/* As `kill $(pidof paddock pdk-session pdk-guard)` does it: the command has no such name. */
static void all_but_the_command(void)
{
    cli_start(&c, ARGS("lock", fresh("pidof"), "sh", "-c",
                       "trap 'echo got; exit 9' TERM; echo in; while :; do sleep .05; done"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    pid_t all[] = {cli_session_of(c.pid), cli_guard_of(c.pid), c.pid};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        kill(all[i], SIGTERM);
    CHECK_WITHIN(GENEROUS, program_said(&c, "got\n"));
    CHECK_EQ(program_wait(&c), 9);
}

/* A command that was stopped, and not by a shell, ends all the same. */
static void reaches_stopped(void)
{
    pid_t command, grandchild;
    fresh("stopped");
    start_family(&c, &command, &grandchild);
    kill(-command, SIGSTOP);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
}

static bool may_unshare(void) { return geteuid() == 0 && system("unshare --pid --fork true 2>/dev/null") == 0; }

/* A number that kill -0 still finds belongs to a zombie by then. */
static void reaps(void)
{
    if (!may_unshare())
        SKIP("needs the right to make a PID namespace");
    cli_start(&c, ARGS("lock", fresh("outer"), "sh", "-c",
                       "exec unshare --pid --fork --kill-child \"$(readlink /proc/$PPID/exe)\" lock $PADDOCK_PATH-in "
                       "sh -c 'orphan=$(sleep .1 >/dev/null & echo $!); while kill -0 $orphan; do sleep .05; done'"));
    CHECK_EQ(program_wait(&c), 0);
}

static void foreign_children(void)
{
    if (!may_unshare())
        SKIP("needs the right to make a PID namespace");
    cli_start(&c, ARGS("lock", fresh("outer"), "sh", "-c",
                       "exec unshare --pid \"$(readlink /proc/$PPID/exe)\" lock $PADDOCK_PATH-in echo ran"));
    CHECK_EQ(program_wait(&c), 70);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "--fork") != NULL);
    CHECK_STR(c.out, "");
}

/* kill -9: the command and its children die, then the lock is released; not when the session expires. */
static void runner_killed(void)
{
    pid_t command, grandchild;
    fresh("killed");
    start_family(&c, &command, &grandchild);
    kill(c.pid, SIGKILL);
    CHECK_EQ(program_wait(&c), -SIGKILL);
    CHECK_EQ(cli_run(&d, ARGS("lock", "-w", "30", path, "true")), 0);
    CHECK(!cli_alive(command));
    CHECK_WITHIN(GENEROUS, !cli_alive(grandchild));
    CHECK_EQ(cli_children(path), 0);
}

static void waiter_killed(void)
{
    fresh("waiter-killed");
    cli_start_fed(&d, ARGS("lock", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&d, "in\n"));
    cli_start(&c, ARGS("lock", path, "echo", "ran"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGKILL);
    program_wait(&c);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    program_close_input(&d);
    program_wait(&d);
}

static void session_killed(void)
{
    pid_t command, grandchild;
    fresh("session");
    start_family(&c, &command, &grandchild);
    pid_t session = cli_session_of(c.pid);
    CHECK(session > 0);
    kill(session, SIGKILL);
    CHECK_EQ(program_wait(&c), 76);
    CHECK_ONE_LINE(&c);
    CHECK(!cli_alive(command));
    CHECK_WITHIN(GENEROUS, !cli_alive(grandchild));
}

static void session_signalled(void)
{
    cli_start(&c,
              ARGS("lock", fresh("number"), "sh", "-c", "trap 'exit 8' TERM; echo in; while :; do sleep .05; done"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    kill(cli_session_of(c.pid), SIGTERM);
    CHECK_EQ(program_wait(&c), 8);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"signals are passed on to the command", passed_on},
        {"signals reach the command's whole process group", reaches_group},
        {"a command that is stopped at its very start is ended, and may go on", stopped_at_its_start},
        {"the lock is held until the command has ended", release_is_last},
        {"a waiter that is told to end leaves no node, and gives 128 and the signal", wait_given_up},
        {"one that has not reached a server ends, too", given_up_unconnected},
        {"who insists need not wait for the servers; the lock is given back all the same", impatient},
        {"a signal that was ignored stays ignored", stays_ignored},
        {"a signal that was ignored ends no wait", ignored_by_us},
        {"a signal that was ignored does not end hold", ignored_by_hold},
        {"a signal that was ignored does not end elect --listen", ignored_by_listener},
        {"a signal that was ignored does not end barrier", ignored_by_barrier},
        {"a service manager's signal to every process reaches the command once", once_only},
        {"a signal to every process but the command reaches the command", all_but_the_command},
        {"a signal that ends reaches a command that is stopped", reaches_stopped},
        {"as process 1, it reaps orphans", reaps},
        {"with children in another PID namespace it does not begin", foreign_children},
        {"kill -9 of paddock kills the command's group, then gives the lock back", runner_killed},
        {"kill -9 of a waiting paddock leaves no node", waiter_killed},
        {"kill -9 of the process that keeps the session stops the command", session_killed},
        {"a signal to the process that ls shows reaches the command", session_signalled},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/signals", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
