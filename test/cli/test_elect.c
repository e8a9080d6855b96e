/* paddock elect: a command for each term, and for no longer. */
#include "test/cli/cli.h"
#include "test/lib/proxy.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Tells its term's token; ends when its input ends. */
#define TELL "echo $PADDOCK_TOKEN; read -r x; exit 5"
#define SLEEP "echo $PADDOCK_TOKEN; exec sleep 600"

static struct cli c, next;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

/* The token of the N-th term, when it has come. */
static long long token_of(struct cli *who, int n)
{
    const char *line = (cli_look(who), who->out);
    while (n > 1 && line != NULL) {
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
        n--;
    }
    return line != NULL && strchr(line, '\n') != NULL ? atoll(line) : 0;
}

static void leads(void)
{
    cli_start_fed(&c, ARGS("elect", "--id", "db 7", fresh("leads"), "sh", "-c",
                           "echo $PADDOCK_TOKEN $PADDOCK_PATH $PADDOCK_NODE $PADDOCK_SESSION in; read -r x; exit 5"));
    CHECK_WITHIN(GENEROUS, cli_said(&c, "in\n"));
    CHECK(strstr(c.out, path) != NULL && strstr(c.out, "-latch-") != NULL);
    CHECK(token_of(&c, 1) > 0);
    struct cli ls;
    CHECK_EQ(cli_run(&ls, ARGS("ls", path)), 0);
    CHECK(strstr(ls.out, "db 7") != NULL);
    cli_close_input(&c);
    CHECK_EQ(cli_wait(&c), 5);
    CHECK_STR(c.err, "");
    CHECK_EQ(cli_children(path), 0);
}

static void hands_over(void)
{
    cli_start(&c, ARGS("elect", fresh("over"), "sh", "-c", SLEEP));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    cli_start_fed(&next, ARGS("elect", path, "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    CHECK(!cli_said(&next, "\n"));
    kill(c.pid, SIGTERM);
    CHECK_EQ(cli_wait(&c), 128 + SIGTERM);
    CHECK_WITHIN(GENEROUS, token_of(&next, 1) > token_of(&c, 1));
    cli_close_input(&next);
    CHECK_EQ(cli_wait(&next), 5);
}

static void next_term(void)
{
    cli_start_fed(&c, ARGS("elect", fresh("next"), "sh", "-c", TELL));
    for (int term = 1; term <= 3; term++) {
        CHECK_WITHIN(GENEROUS, token_of(&c, term) > (term > 1 ? token_of(&c, term - 1) : 0));
        if (term < 3)
            cli_delete_holder(path);
    }
    cli_close_input(&c);
    CHECK_EQ(cli_wait(&c), 5);
    CHECK_EQ(cli_children(path), 0);
}

static void stopped_before_the_next(void)
{
    pid_t first;
    cli_start(&c, ARGS("elect", fresh("stopped"), "sh", "-c", "echo $$; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    first = (pid_t)token_of(&c, 1);
    cli_delete_holder(path);
    CHECK_WITHIN(GENEROUS, token_of(&c, 2) > 0);
    CHECK(!cli_alive(first));
    kill(c.pid, SIGTERM);
    CHECK_EQ(cli_wait(&c), 128 + SIGTERM);
}

static void once(void)
{
    cli_start(&c, ARGS("elect", "--once", fresh("once"), "sh", "-c", SLEEP));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    cli_delete_holder(path);
    CHECK_EQ(cli_wait(&c), 76);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_children(path), 0);
}

static void keep(void)
{
    cli_start(&c, ARGS("elect", "--keep", fresh("keep"), "sh", "-c", "echo $PADDOCK_TOKEN; sleep .1"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 3) > token_of(&c, 2));
    CHECK(token_of(&c, 2) > token_of(&c, 1));
    cli_start_fed(&next, ARGS("elect", path, "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, token_of(&next, 1) > 0);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGTERM);
    CHECK_EQ(cli_wait(&c), 128 + SIGTERM);
    CHECK_EQ(cli_children(path), 1);
    cli_close_input(&next);
    CHECK_EQ(cli_wait(&next), 5);
}

static void keep_can_be_ended(void)
{
    cli_start(&c, ARGS("elect", "--keep", fresh("ended"), "sh", "-c",
                       "trap 'exit 7' TERM; echo in; while :; do sleep .05; done"));
    CHECK_WITHIN(GENEROUS, cli_said(&c, "in\n"));
    kill(c.pid, SIGTERM);
    CHECK_EQ(cli_wait(&c), 7);
    CHECK_EQ(cli_children(path), 0);
}

/* Cut off, with a command that does not end for a word: whoever leads next looks for it. */
static void servers_vanish(void)
{
    char hosts[64], look[256];
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    cli_start(&c, ARGS("elect", "--once", "-z", hosts, "--session-timeout", "5", fresh("vanish"), "sh", "-c",
                       "trap '' TERM; echo $$; while :; do sleep .05; done"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    snprintf(look, sizeof look, "s=$(cut -d' ' -f3 /proc/%lld/stat 2>/dev/null); [ -z \"$s\" ] || [ \"$s\" = Z ]",
             token_of(&c, 1));
    pdk__proxy_hold(proxy, PDK__TO_SERVER, true);
    pdk__proxy_hold(proxy, PDK__TO_CLIENT, true);
    CHECK_EQ(cli_run(&next, ARGS("elect", path, "sh", "-c", look)), 0);
    CHECK_EQ(cli_wait(&c), 76);
    CHECK_ONE_LINE(&c);
    pdk__proxy_free(proxy);
}

/* The session process is stopped for longer than the term lasts: the runner ends the command, and when it goes on, it
 * stands for another term. */
static void session_stopped(void)
{
    cli_start_fed(&c, ARGS("elect", "--session-timeout", "2", fresh("session"), "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    CHECK_EQ(cli_run(&next, ARGS("elect", path, "true")), 0);
    kill(session, SIGCONT);
    CHECK_WITHIN(GENEROUS, token_of(&c, 2) > token_of(&c, 1));
    cli_close_input(&c);
    CHECK_EQ(cli_wait(&c), 5);
}

static void interrupted_wait(void)
{
    cli_start_fed(&next, ARGS("elect", fresh("waits"), "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, token_of(&next, 1) > 0);
    cli_start(&c, ARGS("elect", path, "echo", "ran"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGTERM);
    CHECK_EQ(cli_wait(&c), 128 + SIGTERM);
    CHECK_STR(c.out, "");
    CHECK_EQ(cli_children(path), 1);
    cli_close_input(&next);
    CHECK_EQ(cli_wait(&next), 5);
}

static void runner_killed(void)
{
    cli_start(&c, ARGS("elect", fresh("killed"), "sh", "-c", "echo $$; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    kill(c.pid, SIGKILL);
    CHECK_EQ(cli_run(&next, ARGS("elect", path, "true")), 0);
    CHECK(!cli_alive((pid_t)token_of(&c, 1)));
    cli_wait(&c);
}

static void not_permitted(void)
{
    fresh("private");
    cli_make_private(path);
    CHECK_EQ(cli_run(&c, ARGS("elect", path, "echo", "ran")), 77);
    CHECK_ONE_LINE(&c);
    CHECK_STR(c.out, "");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the leader's command runs, and its status is the exit status", leads},
        {"SIGTERM ends the command, and the next in line leads", hands_over},
        {"a term that is lost is followed by another, with another token", next_term},
        {"the command of one term has ended before that of the next begins", stopped_before_the_next},
        {"--once is for one term: 76 when it is lost", once},
        {"--keep stands again behind the others", keep},
        {"--keep ends by SIGTERM", keep_can_be_ended},
        {"the command is dead before another leads, though the servers vanish", servers_vanish},
        {"a session process that was stopped stands again", session_stopped},
        {"SIGTERM ends the wait, and leaves no node", interrupted_wait},
        {"the command is dead before another leads, though the runner is killed", runner_killed},
        {"not permitted: 77", not_permitted},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/elect", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
