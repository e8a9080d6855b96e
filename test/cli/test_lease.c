/*
 * Who works under a lock is dead before another has it: whatever is stopped, killed or cut off on the way. The next
 * holder looks, at the very moment of its grant.
 */
#include "test/cli/cli.h"
#include "test/lib/proxy.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Does not end for a word, nor does what it has started. */
#define STUBBORN                                                                                                       \
    "trap '' TERM; sh -c 'while :; do sleep .05; done' 2>/dev/null & echo $$ $! in; while :; do sleep .05; done"

static struct cli c;
static char path[128], hosts[64];
static pdk__proxy *proxy;
static pid_t command, grandchild;

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void started(void)
{
    CHECK_WITHIN(GENEROUS, cli_said(&c, "in\n"));
    CHECK_EQ(sscanf(c.out, "%d %d", &command, &grandchild), 2);
}

static void start(const char *name)
{
    cli_start(&c, ARGS("lock", "--session-timeout", "2", fresh(name), "sh", "-c", STUBBORN));
    started();
}

/* The same, through a proxy of its own. */
static void start_proxied(const char *name, const char *script)
{
    if (proxy == NULL)
        proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    pdk__proxy_clear(proxy);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    cli_start(&c, ARGS("lock", "-z", hosts, "--session-timeout", "5", fresh(name), "sh", "-c", script));
    started();
}

/* The servers go on, only nothing of ours reaches them any more, nor anything of theirs us. */
static void vanish(void)
{
    pdk__proxy_hold(proxy, PDK__TO_SERVER, true);
    pdk__proxy_hold(proxy, PDK__TO_CLIENT, true);
}

/* Whoever gets the lock next finds nobody of the group at work: gone, or a zombie. */
static void next_finds_nobody(void)
{
    struct cli next;
    char look[512];
    snprintf(
        look, sizeof look,
        "for p in %d %d; do s=$(cut -d' ' -f3 /proc/$p/stat 2>/dev/null); [ -z \"$s\" ] || [ \"$s\" = Z ] || exit 5; "
        "done",
        (int)command, (int)grandchild);
    CHECK_EQ(cli_run(&next, ARGS("lock", path, "sh", "-c", look)), 0);
}

static void servers_vanish(void)
{
    start_proxied("vanish", STUBBORN);
    vanish();
    next_finds_nobody();
    CHECK_EQ(cli_wait(&c), 76);
    CHECK_ONE_LINE(&c);
}

static void asked_politely(void)
{
    start_proxied("polite", "trap 'echo cleaned; exit 0' TERM; echo $$ $$ in; while :; do sleep .05; done");
    vanish();
    next_finds_nobody();
    CHECK_EQ(cli_wait(&c), 76);
    CHECK(strstr(c.out, "in\ncleaned\n") != NULL);
}

static void session_stopped(void)
{
    start("session-stopped");
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    next_finds_nobody();
    kill(session, SIGCONT);
    CHECK_EQ(cli_wait(&c), 76);
    CHECK_ONE_LINE(&c);
}

static void session_killed(void)
{
    start("session-killed");
    kill(cli_session_of(c.pid), SIGKILL);
    next_finds_nobody();
    CHECK_EQ(cli_wait(&c), 76);
    CHECK_ONE_LINE(&c);
}

static void runner_killed(void)
{
    start("runner-killed");
    kill(c.pid, SIGKILL);
    next_finds_nobody();
    CHECK_EQ(cli_wait(&c), -SIGKILL);
}

static void runner_stopped(void)
{
    start_proxied("runner-stopped", STUBBORN);
    kill(c.pid, SIGSTOP);
    vanish();
    next_finds_nobody();
    kill(c.pid, SIGCONT);
    CHECK_EQ(cli_wait(&c), 76);
}

/* Nobody could do anything, so the command goes on while another holds the lock. Not longer than that. */
static void both_stopped(void)
{
    struct cli next;
    start("both-stopped");
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    kill(c.pid, SIGSTOP);
    cli_start_fed(&next, ARGS("lock", path, "sh", "-c", "echo in; read -r x; exit 5"));
    CHECK_WITHIN(GENEROUS, cli_said(&next, "in\n"));
    CHECK(cli_alive(command));
    kill(c.pid, SIGCONT);
    CHECK_WITHIN(GENEROUS, !cli_alive(command) && !cli_alive(grandchild));
    kill(session, SIGCONT);
    CHECK_EQ(cli_wait(&c), 76);
    cli_close_input(&next);
    CHECK_EQ(cli_wait(&next), 5);
}

static void session_gone_for_good(void)
{
    start("hangs");
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    CHECK_EQ(cli_wait(&c), 76);
    CHECK_WITHIN(GENEROUS, !cli_alive(session));
}

static void servers_grant_less(void)
{
    cli_start(&c, ARGS("lock", "--session-timeout", "1000", "--kill-after", "150", fresh("clipped"), "true"));
    CHECK_EQ(cli_wait(&c), 0);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "120 s") != NULL);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the servers vanish", servers_vanish},
        {"the servers vanish, and the command may clean up", asked_politely},
        {"the session process is stopped", session_stopped},
        {"the session process is killed", session_killed},
        {"the runner is killed", runner_killed},
        {"the runner is stopped, and the servers vanish", runner_stopped},
        {"both processes were stopped: the first to go on kills", both_stopped},
        {"a session process that hangs is not waited for", session_gone_for_good},
        {"--kill-after is cut to what the servers' session timeout allows", servers_grant_less},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/lease", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
