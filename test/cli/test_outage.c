/* paddock lock while the servers are away. */
#include "test/cli/cli.h"
#include "test/lib/proxy.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct program c;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void short_outage(void)
{
    cli_start_fed(
        &c, ARGS("lock", "-v", "--session-timeout", "60", fresh("short"), "sh", "-c", "echo in; read -r x; exit 5"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    cli_server_stop();
    CHECK_WITHIN(GENEROUS, program_complained(&c, "connection lost"));
    cli_server_start();
    CHECK_WITHIN(GENEROUS, program_complained(&c, "still held"));
    CHECK_EQ(cli_children(path), 1);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 5);
    CHECK_EQ(cli_children(path), 0);
}

/* The servers are silent, so none can tell the session process that its session is over. Its own clock does. */
static void long_outage(void)
{
    pid_t command;
    cli_start(&c, ARGS("lock", "--session-timeout", "4", fresh("long"), "sh", "-c", "echo $$ in; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_EQ(sscanf(c.out, "%d", &command), 1);
    pdk__server_pause(cli_server());
    int status = program_wait(&c);
    pdk__server_resume(cli_server());
    CHECK_EQ(status, 76);
    CHECK(!cli_alive(command));
    CHECK_ONE_LINE(&c);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
}

/* A frozen process cannot act; when it goes on, it must not go on believing. */
static void frozen_session(void)
{
    struct program next;
    cli_start(&c, ARGS("lock", "--session-timeout", "4", fresh("frozen"), "sh", "-c", "echo in; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    CHECK_EQ(cli_run(&next, ARGS("lock", path, "true")), 0);
    kill(session, SIGCONT);
    CHECK_EQ(program_wait(&c), 76);
    CHECK_EQ(cli_children(path), 0);
}

/* The outage is longer than a first connection may take. */
static void waits_through(void)
{
    struct program holder;
    fresh("through");
    cli_start_fed(&holder, ARGS("lock", "--session-timeout", "60", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    cli_start(&c, ARGS("lock", "--session-timeout", "60", "--connect-timeout", "4", path, "echo", "ran"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    cli_server_stop();
    for (int64_t until_ms = pdk__test_now_ms() + 4500; pdk__test_now_ms() < until_ms;)
        pdk__test_nap();
    cli_server_start();
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 1);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_STR(c.out, "ran\n");
}

static bool told(struct program *p, const char *text)
{
    bool told = false;
    for (int64_t until = pdk__test_now_ms() + GENEROUS; !told && pdk__test_now_ms() < until; pdk__test_nap())
        told = program_complained(p, text);
    return told;
}

/* The leader is one that has led: the outage ends its term. The others wait from the first. */
static void waits_are_told(void)
{
    enum { LEADER, CANDIDATE, LISTENER, WAITER, HOLD, BARRIER, N };
    static struct program waits[N];
    char set[160];
    int n_told = 0, n_again = 0;
    snprintf(set, sizeof set, "%s-set", fresh("waits"));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "set", set)), 0);
    cli_start(&waits[LEADER],
              ARGS("elect", "-v", "--mixed-ok", "--session-timeout", "4", path, "sh", "-c", "echo in; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, program_said(&waits[LEADER], "in\n"));
    cli_start(&waits[CANDIDATE], ARGS("elect", "-v", "--mixed-ok", "--session-timeout", "60", path, "sleep", "600"));
    cli_start(&waits[WAITER], ARGS("lock", "-v", "--mixed-ok", "--session-timeout", "60", path, "sleep", "600"));
    cli_start_fed(&waits[HOLD], ARGS("hold", "-v", "--mixed-ok", "--session-timeout", "60", path));
    cli_start(&waits[LISTENER], ARGS("elect", "--listen", "-v", path));
    cli_start(&waits[BARRIER], ARGS("barrier", "-v", set));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 4 && program_said(&waits[LISTENER], "\n"));
    cli_server_stop();
    for (int i = 0; i < N; i++)
        n_told += told(&waits[i], "no server of the ensemble answers\n");
    cli_server_start();
    for (int i = LISTENER; i < N; i++)
        n_again += i == WAITER || i == HOLD || told(&waits[i], "connected again\n");
    CHECK_EQ(n_told, N);
    CHECK_EQ(n_again, N - LISTENER);
    for (int i = 0; i < N; i++)
        program_end(&waits[i]);
}

/* The servers go on answering the session's pings, so that it does not expire. Only the outcome of the release is never
 * heard. */
static void never_confirmed(void)
{
    char hosts[64];
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    int r = pdk__proxy_rule(
        proxy, &(struct pdk__proxy_rule){.op = PDK__OP_DELETE, .act = PDK__SWALLOW_REQUEST, .every = true});
    cli_start_fed(&c, ARGS("lock", "-z", hosts, "--session-timeout", "4", fresh("never"), "sh", "-c",
                           "echo in; read -r x; exit 5"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    program_close_input(&c);
    CHECK_WITHIN(GENEROUS, pdk__proxy_hits(proxy, r) > 0);
    CHECK_EQ(program_wait(&c), 5);
    pdk__proxy_free(proxy);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
}

static void others_servers(void)
{
    char hosts[64];
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    pdk__proxy_strip_password(proxy, true);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    CHECK_EQ(cli_run(&c, ARGS("lock", "-z", hosts, fresh("others"), "true")), 69);
    CHECK(program_complained(&c, ": no ensemble: the servers are not ZooKeeper's: they resume no session: it came "
                                 "without a password, as from ClickHouse Keeper\n"));
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("doctor", "-z", hosts, path)), 69);
    CHECK(program_complained(&c, "not ZooKeeper's"));
    CHECK_ONE_LINE(&c);
    pdk__proxy_free(proxy);
}

static void hold_away(void)
{
    cli_start_fed(&c, ARGS("hold", "--session-timeout", "300", fresh("hold-away")));
    CHECK_WITHIN(GENEROUS, program_said(&c, "\n"));
    pdk__server_pause(cli_server());
    program_close_input(&c);
    bool is_told = told(&c, "waiting for a server");
    kill(c.pid, is_told ? SIGINT : SIGKILL);
    int status = program_wait(&c);
    pdk__server_resume(cli_server());
    CHECK(is_told);
    CHECK_EQ(status, 128 + SIGINT);
    CHECK_ONE_LINE(&c);
}

/* The status is known, and the release can be done in the background. */
static void ended_away(void)
{
    cli_start_fed(&c,
                  ARGS("lock", "--session-timeout", "300", fresh("ended"), "sh", "-c", "echo in; read -r x; exit 5"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    pid_t session = cli_session_of(c.pid);
    pdk__server_pause(cli_server());
    program_close_input(&c);
    bool is_told = told(&c, "the command ended with 5; waiting");
    int status = is_told ? program_wait(&c) : -1;
    bool works = is_told && cli_alive(session);
    pdk__server_resume(cli_server());
    CHECK(is_told);
    CHECK_EQ(status, 5);
    CHECK(works);
    CHECK(strstr(c.err, "in the background") != NULL);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
    CHECK_WITHIN(GENEROUS, !cli_alive(session));
}

/* The command substitution of a shell ends when no process holds its pipe open any more: standard error, here. */
static void ended_away_for_a_pipe(void)
{
    static const char script[] = "exec 3>&1; x=$(\"$PADDOCK_BUILDDIR/uninstalled/paddock\" lock --session-timeout 300 "
                                 "\"$PADDOCK_PATH-inner\" sh -c 'echo $PPID >&3; read -r x; exit 4' 2>&1); "
                                 "echo ended $?";
    pid_t runner;
    cli_start_fed(&c, ARGS("lock", "--session-timeout", "300", fresh("pipe"), "sh", "-c", script));
    CHECK_WITHIN(GENEROUS, program_said(&c, "\n"));
    CHECK_EQ(sscanf(c.out, "%d", &runner), 1);
    pid_t session = cli_session_of(runner);
    pdk__server_pause(cli_server());
    program_close_input(&c);
    bool ended = false;
    for (int64_t until = pdk__test_now_ms() + GENEROUS; !ended && pdk__test_now_ms() < until; pdk__test_nap())
        ended = program_said(&c, "ended 4\n");
    bool works = cli_alive(session);
    pdk__server_resume(cli_server());
    CHECK(ended);
    CHECK(works);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
}

/* By then no client could know that the lock is busy. */
static void timed_out_away(void)
{
    struct program holder;
    fresh("away");
    cli_start_fed(&holder, ARGS("lock", "--session-timeout", "60", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&holder, "in\n"));
    cli_start(&c, ARGS("lock", "--session-timeout", "6", "-w", "4", path, "echo", "ran"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    cli_server_stop();
    int status = program_wait(&c);
    cli_server_start();
    CHECK_EQ(status, 69);
    CHECK_ONE_LINE(&c);
    CHECK_STR(c.out, "");
    program_close_input(&holder);
    CHECK_EQ(program_wait(&holder), 1);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an outage shorter than the session is told, and changes nothing", short_outage},
        {"an outage longer than the session stops the command", long_outage},
        {"a session process that was frozen for too long stops the command when it goes on", frozen_session},
        {"an untimed wait goes on through an outage", waits_through},
        {"each that waits says with -v that no server answers", waits_are_told},
        {"a command whose release nobody confirms is not kept waiting for ever", never_confirmed},
        {"servers that resume no session are refused in one line, 69", others_servers},
        {"a command that ends while the servers are away is told of, and not kept", ended_away},
        {"a pipe on its standard error is closed when it returns, though the release goes on", ended_away_for_a_pipe},
        {"hold says what it waits for when the servers are away, and a signal ends that", hold_away},
        {"a wait whose time ends in an outage gives 69", timed_out_away},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/outage", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
