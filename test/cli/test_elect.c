/* paddock elect: a command for each term, and for no longer. */
#include "test/cli/cli.h"
#include "test/lib/proxy.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Prints its term's token; ends when its input ends. */
#define TELL "echo $PADDOCK_TOKEN; read -r x; exit 5"
#define SLEEP "echo $PADDOCK_TOKEN; exec sleep 600"

static struct program c, next;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

/* The token of the N-th term, when it has come. */
static long long token_of(struct program *who, int n)
{
    const char *line = who->out;
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
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK(strstr(c.out, path) != NULL && strstr(c.out, "-latch-") != NULL);
    CHECK(token_of(&c, 1) > 0);
    struct program ls;
    CHECK_EQ(cli_run(&ls, ARGS("ls", path)), 0);
    CHECK(strstr(ls.out, "db 7") != NULL);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 5);
    CHECK_QUIET(&c);
    CHECK_EQ(cli_children(path), 0);
}

static void hands_over(void)
{
    cli_start(&c, ARGS("elect", fresh("over"), "sh", "-c", SLEEP));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    cli_start_fed(&next, ARGS("elect", path, "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    CHECK(!program_said(&next, "\n"));
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    CHECK_WITHIN(GENEROUS, token_of(&next, 1) > token_of(&c, 1));
    program_close_input(&next);
    CHECK_EQ(program_wait(&next), 5);
}

static void next_term(void)
{
    cli_start_fed(&c, ARGS("elect", fresh("next"), "sh", "-c", TELL));
    for (int term = 1; term <= 3; term++) {
        CHECK_WITHIN(GENEROUS, token_of(&c, term) > (term > 1 ? token_of(&c, term - 1) : 0));
        if (term < 3)
            cli_delete_holder(path);
    }
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 5);
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
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
}

static void once(void)
{
    cli_start(&c, ARGS("elect", "--once", fresh("once"), "sh", "-c", SLEEP));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    cli_delete_holder(path);
    CHECK_EQ(program_wait(&c), 76);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_children(path), 0);
}

static void keep(void)
{
    cli_start(&c, ARGS("elect", "--keep", fresh("keep"), "sh", "-c", "echo $PADDOCK_TOKEN; sleep .1"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 3) > token_of(&c, 2));
    CHECK_LAW(token_of(&c, 2) > token_of(&c, 1));
    cli_start_fed(&next, ARGS("elect", path, "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, token_of(&next, 1) > 0);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    CHECK_EQ(cli_children(path), 1);
    program_close_input(&next);
    CHECK_EQ(program_wait(&next), 5);
}

static int turns_of(const struct program *who)
{
    int n = 0;
    for (const char *at = who->out; *at != '\0'; at++)
        n += *at == '\n';
    return n;
}

/* Each waits for the other's turn, and no rest comes between. The turns are long enough for a busy machine: a candidate
 * that comes back later than after the other's turn misses its own. */
static void turns(void)
{
    const char *turn = "echo $PADDOCK_TOKEN $PADDOCK_NODE; sleep .1";
    cli_start(&c, ARGS("elect", "--turns", "-v", fresh("turns"), "sh", "-c", turn));
    CHECK_WITHIN(GENEROUS, turns_of(&c) >= 3 || program_complained(&c, "a candidate again in ")); /* alone */
    CHECK(!program_complained(&c, "a candidate again in "));
    CHECK(strstr(c.out, "-lock-") != NULL);
    cli_start(&next, ARGS("elect", "--turns", path, "sh", "-c", turn));
    CHECK_WITHIN(GENEROUS, turns_of(&next) >= 1);
    int before = turns_of(&c), first = turns_of(&next);
    CHECK_WITHIN(GENEROUS, turns_of(&next) >= first + 10);
    int own = turns_of(&c) - before, others = turns_of(&next) - first;
    CHECK(own >= others - 2 && own <= others + 2);
    CHECK(!program_complained(&c, "a candidate again in "));
    kill(c.pid, SIGTERM);
    kill(next.pid, SIGTERM);
    program_wait(&c);
    program_wait(&next);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
}

static void keep_can_be_ended(void)
{
    cli_start(&c, ARGS("elect", "--keep", fresh("ended"), "sh", "-c",
                       "trap 'exit 7' TERM; echo in; while :; do sleep .05; done"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 7);
    CHECK_EQ(cli_children(path), 0);
}

static void keep_cannot_run(void)
{
    CHECK_EQ(cli_run(&c, ARGS("elect", "-q", "--keep", fresh("cannot"), "/nonexistent/command")), 127);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("elect", "-q", "--keep", path, "/dev/null")), 126);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("elect", "--keep", path, "sh", "-c", "exit 127")), 127);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_children(path), 0);
}

/* While it rests it has no node in the queue, so others may lead. */
static void short_terms_rest(void)
{
    cli_start(&c, ARGS("elect", "--keep", "-v", fresh("short"), "sh", "-c", "echo $PADDOCK_TOKEN; exit 3"));
    CHECK_WITHIN(GENEROUS, program_complained(&c, "a candidate again in "));
    CHECK_WITHIN(GENEROUS, token_of(&c, 3) > 0);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
    CHECK_WITHIN(GENEROUS, token_of(&c, 4) > 0);
    kill(c.pid, SIGTERM);
    int status = program_wait(&c);
    CHECK(status == 3 || status == 128 + SIGTERM);
    CHECK_EQ(cli_children(path), 0);
    /* The shortest rest that there can be. */
    int rests = 0;
    for (const char *at = c.err; (at = strstr(at, "a candidate again in ")) != NULL; at++) {
        CHECK(atof(at + strlen("a candidate again in ")) >= .25);
        rests++;
    }
    CHECK(rests >= 3);
}

/* The session ends during the wait for a term: the message is about that, not about the term before. */
static void session_killed_while_it_waits(void)
{
    cli_start_fed(&c, ARGS("elect", "--keep", fresh("waiting"), "sh", "-c", "echo $PADDOCK_TOKEN; read -r x; exit 3"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    cli_start_fed(&next, ARGS("elect", path, "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    program_close_input(&c);
    CHECK_WITHIN(GENEROUS, token_of(&next, 1) > 0);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(cli_session_of(c.pid), SIGKILL);
    CHECK_EQ(program_wait(&c), 70);
    CHECK_ONE_LINE(&c);
    program_close_input(&next);
    CHECK_EQ(program_wait(&next), 5);
}

static bool sleeps(pid_t pid)
{
    char file[64], state = '?';
    snprintf(file, sizeof file, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(file, "re");
    if (in == NULL)
        return false;
    int n = fscanf(in, "%*d (%*[^)]) %c", &state);
    fclose(in);
    return n == 1 && state == 'S';
}

/* A process that wakes up again and again is found awake. */
static bool sleeps_on(pid_t pid)
{
    for (int i = 0; i < 100; i++, usleep(1000))
        if (!sleeps(pid))
            return false;
    return true;
}

/* The command dies while a signal for it is held back. A wake-up that stays due at a time in the past would keep its
 * runner awake. */
static void signal_outlives_command(void)
{
    cli_start(&c, ARGS("elect", "--keep", fresh("outlives"), "sh", "-c", "echo $$; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    cli_start_fed(&next, ARGS("elect", path, "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGUSR1);
    kill((pid_t)token_of(&c, 1), SIGKILL);
    CHECK_WITHIN(GENEROUS, token_of(&next, 1) > 0);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    usleep(1500 * 1000); /* longer than a signal is held back */
    CHECK_WITHIN(GENEROUS, sleeps_on(c.pid));
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    program_close_input(&next);
    CHECK_EQ(program_wait(&next), 5);
}

static void rest_can_be_ended(void)
{
    cli_start(&c, ARGS("elect", "--keep", "-v", fresh("rest"), "sh", "-c", "echo $PADDOCK_TOKEN"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 5) > 0);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
    kill(c.pid, SIGTERM);
    int status = program_wait(&c);
    CHECK(status == 0 || status == 128 + SIGTERM);
    CHECK_EQ(cli_children(path), 0);
}

static int64_t cpu_ms(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    CHECK_EQ(clock_getcpuclockid(pid, &clock), 0);
    CHECK_EQ(clock_gettime(clock, &used), 0);
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

/* No server answers the resignation before the rest has passed. A loop that does not wait for the answer spins. */
static void rest_passes_away(void)
{
    enum { LOOK_MS = 4000, MUCH_MS = 500 };
    cli_start_fed(&c, ARGS("elect", "--keep", "-v", "--session-timeout", "300", fresh("away"), "sh", "-c",
                           "echo $PADDOCK_TOKEN; read -r x; exit 3"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    pid_t session = cli_session_of(c.pid);
    pdk__server_pause(cli_server());
    program_close_input(&c);
    bool rests = false;
    for (int64_t until = pdk__test_now_ms() + GENEROUS; !rests && pdk__test_now_ms() < until; pdk__test_nap())
        rests = program_complained(&c, "a candidate again in ");
    int64_t until = pdk__test_now_ms() + LOOK_MS, used = -cpu_ms(session);
    while (pdk__test_now_ms() < until)
        pdk__test_nap();
    used += cpu_ms(session);
    pdk__server_resume(cli_server());
    CHECK(rests);
    CHECK(used < MUCH_MS);
    CHECK_WITHIN(GENEROUS, token_of(&c, 2) > token_of(&c, 1));
    kill(c.pid, SIGTERM);
    int status = program_wait(&c);
    CHECK(status == 3 || status == 128 + SIGTERM);
    CHECK_EQ(cli_children(path), 0);
}

/* Cut off, with a command that ignores SIGTERM: the next leader looks whether it has ended. */
static void servers_vanish(void)
{
    char hosts[64];
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    cli_start(&c, ARGS("elect", "--once", "-z", hosts, "--session-timeout", "5", fresh("vanish"), "sh", "-c",
                       "trap '' TERM; echo $$; while :; do sleep .05; done"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    pdk__proxy_hold(proxy, PDK__TO_SERVER, true);
    pdk__proxy_hold(proxy, PDK__TO_CLIENT, true);
    cli_next_finds_ended("elect", path, (pid_t)token_of(&c, 1), (pid_t)token_of(&c, 1));
    CHECK_EQ(program_wait(&c), 76);
    CHECK_ONE_LINE(&c);
    pdk__proxy_free(proxy);
}

/* The session process is stopped for longer than the term lasts. The runner ends the command. When the session process
 * goes on, it is a candidate for another term. */
static void session_stopped(void)
{
    cli_start_fed(&c, ARGS("elect", "--session-timeout", "4", fresh("session"), "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    CHECK_EQ(cli_run(&next, ARGS("elect", path, "true")), 0);
    kill(session, SIGCONT);
    CHECK_WITHIN(GENEROUS, token_of(&c, 2) > token_of(&c, 1));
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 5);
}

static void interrupted_wait(void)
{
    cli_start_fed(&next, ARGS("elect", fresh("waits"), "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, token_of(&next, 1) > 0);
    cli_start(&c, ARGS("elect", path, "echo", "ran"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    CHECK_STR(c.out, "");
    CHECK_EQ(cli_children(path), 1);
    program_close_input(&next);
    CHECK_EQ(program_wait(&next), 5);
}

static void runner_killed(void)
{
    cli_start(&c, ARGS("elect", fresh("killed"), "sh", "-c", "echo $$; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    kill(c.pid, SIGKILL);
    CHECK_EQ(cli_run(&next, ARGS("elect", path, "true")), 0);
    CHECK(!cli_alive((pid_t)token_of(&c, 1)));
    program_wait(&c);
}

static void not_permitted(void)
{
    fresh("private");
    cli_make_private(path);
    CHECK_EQ(cli_run(&c, ARGS("elect", path, "echo", "ran")), 77);
    CHECK_ONE_LINE(&c);
    CHECK_STR(c.out, "");
}

/* The command of a term that was lost, and goes on, ends by itself. */
static void ignored_loss(void)
{
    cli_start_fed(&c, ARGS("elect", "--on-lost=ignore", fresh("ignore"), "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    cli_delete_holder(path);
    CHECK_WITHIN(GENEROUS, program_complained(&c, "lost"));
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 5);
    CHECK_EQ(token_of(&c, 2), 0);
}

static void listens(void)
{
    struct program listener, json;
    char line[128];
    cli_start(&listener, ARGS("elect", "--listen", fresh("listen")));
    cli_start(&json, ARGS("elect", "--listen", "--json", path));
    CHECK_WITHIN(GENEROUS, program_said(&listener, "none\n"));
    CHECK_WITHIN(GENEROUS, program_said(&json, "\"token\":null,\"leader\":null}\n"));
    cli_start_fed(&c, ARGS("elect", "--id", "db\033 7", path, "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    snprintf(line, sizeof line, "none\n%lld db", token_of(&c, 1));
    CHECK_WITHIN(GENEROUS, program_said(&listener, line));
    CHECK(strchr(listener.out, '\033') == NULL);
    snprintf(line, sizeof line, "\"token\":%lld,\"leader\":\"db\\u001B 7\"}\n", token_of(&c, 1));
    CHECK_WITHIN(GENEROUS, program_said(&json, line));
    CHECK_EQ(cli_children(path), 1); /* a listener is no candidate */
    program_close_input(&c);
    program_wait(&c);
    CHECK_WITHIN(GENEROUS,
                 listener.out[strlen(listener.out) - 1] == '\n' && strstr(strstr(listener.out, "db"), "none\n"));
    kill(listener.pid, SIGTERM);
    CHECK_EQ(program_wait(&listener), 128 + SIGTERM);
    kill(json.pid, SIGINT);
    CHECK_EQ(program_wait(&json), 128 + SIGINT);
    CHECK_STR(listener.err, "");
}

static void listens_to_a_long_id(void)
{
    char id[3001], line[sizeof id + 32];
    struct program listener;
    memset(id, 'x', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    cli_start(&listener, ARGS("elect", "--listen", fresh("long")));
    CHECK_WITHIN(GENEROUS, program_said(&listener, "none\n"));
    cli_start_fed(&c, ARGS("elect", "--id", id, path, "sh", "-c", TELL));
    CHECK_WITHIN(GENEROUS, token_of(&c, 1) > 0);
    snprintf(line, sizeof line, "%lld %s\n", token_of(&c, 1), id);
    CHECK_WITHIN(GENEROUS, program_said(&listener, "x\n"));
    CHECK(program_said(&listener, line));
    program_close_input(&c);
    program_wait(&c);
    kill(listener.pid, SIGTERM);
    program_wait(&listener);
}

static void listens_to_one_path_alone(void)
{
    CHECK_EQ(cli_run(&c, ARGS("elect", "--listen", fresh("words"), "true")), 64);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("elect", "--listen", "--keep", path)), 64);
    CHECK_EQ(cli_run(&c, ARGS("elect", "--listen")), 64);
    CHECK_EQ(cli_run(&c, ARGS("elect", "--json", path, "true")), 64);
    CHECK_EQ(cli_run(&c, ARGS("elect", "--listen", path, "--json", "--id", "x")), 64);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the leader's command runs, and its status is the exit status", leads},
        {"SIGTERM ends the command, and the next in line leads", hands_over},
        {"a term that is lost is followed by another, with another token", next_term},
        {"the command of one term has ended before that of the next begins", stopped_before_the_next},
        {"--once is for one term: 76 when it is lost", once},
        {"a command that goes on after a loss is not run again when it has ended", ignored_loss},
        {"--keep stands again behind the others", keep},
        {"--turns leads in turns with the others, without a rest", turns},
        {"--keep ends by SIGTERM", keep_can_be_ended},
        {"--keep ends by a command that cannot be run: 126, 127", keep_cannot_run},
        {"--keep rests after a short term, and does not stand meanwhile", short_terms_rest},
        {"--keep waits: the end of its session is told, not that of the term before", session_killed_while_it_waits},
        {"--keep sleeps while it waits, though a signal came for a command that is dead", signal_outlives_command},
        {"SIGTERM ends a rest", rest_can_be_ended},
        {"a rest that passes while no server answers costs no processor time", rest_passes_away},
        {"the command is dead before another leads, though the servers vanish", servers_vanish},
        {"a session process that was stopped stands again", session_stopped},
        {"SIGTERM ends the wait, and leaves no node", interrupted_wait},
        {"the command is dead before another leads, though the runner is killed", runner_killed},
        {"not permitted: 77", not_permitted},
        {"--listen prints each leader, and is no candidate", listens},
        {"the line has all of a long id", listens_to_a_long_id},
        {"--listen takes one path, and no word of a candidate", listens_to_one_path_alone},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/elect", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
