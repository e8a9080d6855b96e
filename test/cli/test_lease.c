/*
 * A command that works under a lock is dead before another client has the lock, whatever is stopped, killed or cut off
 * on the way. The next holder looks, at the very moment of its grant.
 */
#include "server/descriptors.h"
#include "test/cli/cli.h"
#include "test/lib/proxy.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ignores SIGTERM, as does the process that it has started. */
#define STUBBORN                                                                                                       \
    "trap '' TERM; sh -c 'while :; do sleep .05; done' 2>/dev/null & echo $$ $! in; while :; do sleep .05; done"

static struct program c;
static char path[128], hosts[64];
static pdk__proxy *proxy;
static pid_t command, grandchild;

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void started(void)
{
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n") || program_ended(&c));
    if (!program_said(&c, "in\n"))
        pdk__test_fail(__FILE__, __LINE__, "it ended (%d): %s", c.status, c.err);
    CHECK_EQ(sscanf(c.out, "%d %d", &command, &grandchild), 2);
}

static void start(const char *name)
{
    cli_start(&c, ARGS("lock", "--session-timeout", "4", fresh(name), "sh", "-c", STUBBORN));
    started();
}

/* The same, through a proxy of its own. */
static void start_proxied_for(const char *timeout, const char *name, const char *script)
{
    if (proxy == NULL)
        proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    pdk__proxy_clear(proxy);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    cli_start(&c, ARGS("lock", "-z", hosts, "--session-timeout", timeout, fresh(name), "sh", "-c", script));
    started();
}

static void start_proxied(const char *name, const char *script) { start_proxied_for("5", name, script); }

/* The servers go on, but no packet passes any more, in either direction. */
static void vanish(void)
{
    pdk__proxy_hold(proxy, PDK__TO_SERVER, true);
    pdk__proxy_hold(proxy, PDK__TO_CLIENT, true);
}

static void next_finds_them_ended(void) { cli_next_finds_ended("lock", path, command, grandchild); }

/* Nothing happens on the connection but what the renewals cause. */
static void renewed(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", "--session-timeout", "8", fresh("renewed"), "sleep", "10")), 0);
    CHECK_QUIET(&c);
}

static void servers_vanish(void)
{
    start_proxied("vanish", STUBBORN);
    vanish();
    next_finds_them_ended();
    CHECK_EQ(program_wait(&c), 76);
    CHECK_ONE_LINE(&c);
}

static void asked_politely(void)
{
    start_proxied_for("10", "polite", "trap 'echo cleaned; exit 0' TERM; echo $$ $$ in; while :; do sleep .05; done");
    vanish();
    next_finds_them_ended();
    CHECK_EQ(program_wait(&c), 76);
    CHECK(strstr(c.out, "in\ncleaned\n") != NULL);
}

static void session_stopped(void)
{
    start("session-stopped");
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    next_finds_them_ended();
    kill(session, SIGCONT);
    CHECK_EQ(program_wait(&c), 76);
    CHECK_ONE_LINE(&c);
}

static void session_killed(void)
{
    start("session-killed");
    kill(cli_session_of(c.pid), SIGKILL);
    next_finds_them_ended();
    CHECK_EQ(program_wait(&c), 76);
    CHECK_ONE_LINE(&c);
}

static void runner_killed(void)
{
    start("runner-killed");
    kill(c.pid, SIGKILL);
    next_finds_them_ended();
    CHECK_EQ(program_wait(&c), -SIGKILL);
}

static void runner_stopped(void)
{
    start_proxied("runner-stopped", STUBBORN);
    kill(c.pid, SIGSTOP);
    vanish();
    next_finds_them_ended();
    kill(c.pid, SIGCONT);
    CHECK_EQ(program_wait(&c), 76);
}

static void both_stopped(void)
{
    start("both-stopped");
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    kill(c.pid, SIGSTOP);
    next_finds_them_ended();
    kill(session, SIGCONT);
    kill(c.pid, SIGCONT);
    CHECK_EQ(program_wait(&c), 76);
}

/* As `pkill -9 paddock` once did. */
static void both_killed(void)
{
    start("both-killed");
    pid_t session = cli_session_of(c.pid), guard = cli_guard_of(c.pid);
    kill(session, SIGKILL);
    kill(c.pid, SIGKILL);
    next_finds_them_ended();
    CHECK_EQ(program_wait(&c), -SIGKILL);
    CHECK_WITHIN(GENEROUS, !cli_alive(guard));
}

/* Stop session process SESSION, also beyond the death of its runner: then the kernel continues a group that is left
 * without a parent in its session (setpgid(2)). The member that is returned has one. */
static pid_t stop_for_good(pid_t session)
{
    pid_t member = fork();
    if (member == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pdk__close_from(0);
        for (;;)
            pause();
    }
    CHECK(member > 0 && setpgid(member, session) == 0);
    kill(session, SIGSTOP);
    return member;
}

static void dismiss(pid_t member)
{
    kill(member, SIGKILL);
    waitpid(member, NULL, 0);
}

/* The session is stopped, so that it cannot act on the death of the runner. */
static void one_killed_one_stopped(void)
{
    start("killed-stopped");
    pid_t session = cli_session_of(c.pid), member = stop_for_good(session);
    kill(c.pid, SIGKILL);
    next_finds_them_ended();
    CHECK_EQ(program_wait(&c), -SIGKILL);
    CHECK(cli_stopped(session));
    kill(session, SIGKILL);
    dismiss(member);
}

static void guard_killed(void)
{
    start_proxied("guard-killed", STUBBORN);
    kill(cli_guard_of(c.pid), SIGKILL);
    vanish();
    next_finds_them_ended();
    CHECK_EQ(program_wait(&c), 76);
}

static void named(pid_t pid, const char *name)
{
    char file[64], text[64] = "";
    snprintf(file, sizeof file, "/proc/%d/comm", (int)pid);
    FILE *in = fopen(file, "re");
    CHECK(in != NULL && fgets(text, sizeof text, in) != NULL);
    fclose(in);
    text[strcspn(text, "\n")] = '\0';
    CHECK_STR(text, name);
    snprintf(file, sizeof file, "/proc/%d/cmdline", (int)pid);
    in = fopen(file, "re");
    CHECK(in != NULL && fgets(text, sizeof text, in) != NULL);
    fclose(in);
    CHECK(strncmp(text, name, strlen(name)) == 0 && strstr(text, "paddock") == NULL);
}

static void names(void)
{
    start("names");
    named(cli_session_of(c.pid), "pdk-session");
    named(cli_guard_of(c.pid), "pdk-guard");
    kill(c.pid, SIGKILL);
    next_finds_them_ended();
    program_wait(&c);
}

/* Linux may share the processors out among sessions: in one of its own, a process that mostly sleeps can wake too late
 * to kill. A process group of its own is enough against the signals of a terminal. */
static void same_session(void)
{
    start("same-session");
    pid_t session = cli_session_of(c.pid), guard = cli_guard_of(c.pid);
    CHECK_EQ(getsid(session), getsid(c.pid));
    CHECK_EQ(getsid(guard), getsid(c.pid));
    CHECK_EQ(getpgid(session), session);
    CHECK_EQ(getpgid(guard), guard);
    kill(c.pid, SIGKILL);
    next_finds_them_ended();
    program_wait(&c);
}

/* None of our processes could act, so the command goes on while another client holds the lock. Not longer than that. */
static void all_stopped(void)
{
    struct program next;
    start("all-stopped");
    pid_t session = cli_session_of(c.pid), guard = cli_guard_of(c.pid);
    kill(guard, SIGSTOP);
    kill(session, SIGSTOP);
    kill(c.pid, SIGSTOP);
    cli_start_fed(&next, ARGS("lock", path, "sh", "-c", "echo in; read -r x; exit 5"));
    CHECK_WITHIN(GENEROUS, program_said(&next, "in\n"));
    CHECK(cli_alive(command));
    kill(c.pid, SIGCONT);
    CHECK_WITHIN(GENEROUS, !cli_alive(command) && !cli_alive(grandchild));
    kill(session, SIGCONT);
    CHECK_EQ(program_wait(&c), 76);
    program_close_input(&next);
    CHECK_EQ(program_wait(&next), 5);
}

static void session_gone_for_good(void)
{
    start("hangs");
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    CHECK_EQ(program_wait(&c), 76);
    CHECK_WITHIN(GENEROUS, !cli_alive(session));
}

/* A process of this number, in a group of its own; -1 with errno. */
static pid_t stranger(pid_t number)
{
    struct clone_args how = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1};
    long pid = syscall(SYS_clone3, &how, sizeof how);
    while (pid == 0)
        pause();
    return pid > 0 && setpgid((pid_t)pid, 0) == 0 ? (pid_t)pid : -1;
}

/* The session process is stopped before the command ends, and goes on after the deadline. By then the number of the
 * command's group is another process's. */
static void number_passed_on(void)
{
    struct program next;
    cli_start_fed(&c, ARGS("lock", "--session-timeout", "4", fresh("number"), "sh", "-c", "echo $$ $$ in; read -r x"));
    started();
    pid_t session = cli_session_of(c.pid), member = stop_for_good(session);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 1);
    CHECK(cli_stopped(session));
    pid_t other = stranger(command);
    if (other < 0 && (errno == EPERM || errno == ENOSYS || errno == EINVAL)) {
        kill(session, SIGKILL);
        dismiss(member);
        SKIP("needs the right to choose a process's number");
    }
    CHECK_EQ(other, command);
    CHECK_EQ(cli_run(&next, ARGS("lock", path, "true")), 0);
    kill(session, SIGCONT);
    CHECK_WITHIN(GENEROUS, !cli_alive(session));
    CHECK(cli_alive(other));
    dismiss(other);
    dismiss(member);
}

static void servers_grant_less(void)
{
    cli_start(&c, ARGS("lock", "--session-timeout", "1000", "--kill-after", "150", fresh("clipped"), "true"));
    CHECK_EQ(program_wait(&c), 0);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "120 s") != NULL);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a command may run for longer than a session timeout", renewed},
        {"the servers vanish", servers_vanish},
        {"the servers vanish, and the command may clean up", asked_politely},
        {"the session process is stopped", session_stopped},
        {"the session process is killed", session_killed},
        {"the runner is killed", runner_killed},
        {"the runner is stopped, and the servers vanish", runner_stopped},
        {"the runner and the session are stopped", both_stopped},
        {"the runner and the session are killed", both_killed},
        {"the runner is killed while the session is stopped", one_killed_one_stopped},
        {"the guard is killed, and the servers vanish", guard_killed},
        {"a kill by name hits one process", names},
        {"the session process and the guard are in the session of the command", same_session},
        {"all processes were stopped: the first to go on kills", all_stopped},
        {"a session process that hangs is not waited for", session_gone_for_good},
        {"the session process was stopped: a group that has the number by now is left alone", number_passed_on},
        {"--kill-after is cut to what the servers' session timeout allows", servers_grant_less},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/lease", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
