/* A lock that is lost while its command runs. Here an administrator deletes its node; the session lives on. */
#include "test/cli/cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct program c;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void lose(void)
{
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    cli_delete_holder(path);
}

static void stopped(void)
{
    pid_t command, grandchild;
    cli_start(&c, ARGS("lock", fresh("lost"), "sh", "-c", "exec 2>/dev/null; sleep 600 & echo $$ $! in; wait"));
    lose();
    CHECK_EQ(program_wait(&c), 76);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(sscanf(c.out, "%d %d", &command, &grandchild), 2);
    CHECK(!cli_alive(command));
    CHECK_WITHIN(GENEROUS, !cli_alive(grandchild));
    CHECK_EQ(cli_children(path), 0);
}

static void polite(void)
{
    cli_start(&c,
              ARGS("lock", "--session-timeout", "300", "--kill-after", "60", "--lost-exit-code", "99", fresh("polite"),
                   "sh", "-c", "trap 'echo cleaned; exit 0' TERM; echo in; while :; do sleep .05; done"));
    lose();
    CHECK_EQ(program_wait(&c), 99);
    CHECK_STR(c.out, "in\ncleaned\n");
}

static void stubborn(void)
{
    cli_start(&c, ARGS("lock", "--kill-after", ".2", fresh("stubborn"), "sh", "-c",
                       "trap '' TERM; echo in; while :; do sleep .05; done"));
    lose();
    CHECK_EQ(program_wait(&c), 76);
}

static void other_signal(void)
{
    cli_start(&c, ARGS("lock", "--on-lost=SIGUSR2", "--session-timeout=300", "--kill-after=60", fresh("usr2"), "sh",
                       "-c", "trap 'echo usr2; exit 0' USR2; echo in; while :; do sleep .05; done"));
    lose();
    CHECK_EQ(program_wait(&c), 76);
    CHECK_STR(c.out, "in\nusr2\n");
}

static void at_once(void)
{
    cli_start(&c, ARGS("lock", "--on-lost=kill", "--kill-after=600", fresh("kill"), "sh", "-c",
                       "trap 'echo never' TERM; echo in; while :; do sleep .05; done"));
    lose();
    CHECK_EQ(program_wait(&c), 76);
    CHECK_STR(c.out, "in\n");
}

static void ignored(void)
{
    cli_start_fed(&c, ARGS("lock", "--on-lost=ignore", fresh("ignore"), "sh", "-c", "echo in; read -r x; exit 5"));
    lose();
    CHECK_WITHIN(GENEROUS, program_complained(&c, "lost"));
    CHECK(cli_alive(c.pid));
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 5);
    CHECK_ONE_LINE(&c);
}

static void quiet(void)
{
    cli_start(&c, ARGS("lock", "-q", fresh("quiet"), "sh", "-c", "echo in; exec sleep 600"));
    lose();
    CHECK_EQ(program_wait(&c), 76);
    CHECK_STR(c.err, "");
}

static void stopped_command(void)
{
    pid_t command;
    cli_start(&c, ARGS("lock", "--session-timeout=300", "--kill-after=60", fresh("asleep"), "sh", "-c",
                       "echo $$ in; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_EQ(sscanf(c.out, "%d", &command), 1);
    kill(command, SIGSTOP);
    lose();
    CHECK_EQ(program_wait(&c), 76);
    CHECK(!cli_alive(command));
}

/* The leader of the group ends at once; the process that it started ignores SIGTERM. */
static void leftovers(void)
{
    pid_t rest;
    cli_start(&c, ARGS("lock", "--session-timeout=300", "--kill-after=60", fresh("leftovers"), "sh", "-c",
                       "sh -c 'trap : TERM; while :; do sleep 1; done' 2>/dev/null & echo $! in; exec sleep 600"));
    lose();
    CHECK_EQ(program_wait(&c), 76);
    CHECK_EQ(sscanf(c.out, "%d", &rest), 1);
    CHECK_WITHIN(GENEROUS, !cli_alive(rest));
}

/* The session process sees to it when the one that runs the command cannot. */
static void stopped_runner(void)
{
    pid_t command;
    cli_start(&c, ARGS("lock", fresh("frozen"), "sh", "-c", "echo $$ in; exec sleep 600"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_EQ(sscanf(c.out, "%d", &command), 1);
    kill(c.pid, SIGSTOP);
    lose();
    CHECK_WITHIN(GENEROUS, !cli_alive(command));
    kill(c.pid, SIGCONT);
    CHECK_EQ(program_wait(&c), 76);
}

/* Wait for one more file NAME: what it tells is the session's state of now. */
static void await_metrics(const char *name)
{
    CHECK(unlink(name) == 0);
    CHECK_WITHIN(GENEROUS, access(name, R_OK) == 0);
}

static bool has_line(const char *name, const char *words)
{
    char line[512];
    bool found = false;
    FILE *in = fopen(name, "re");
    while (!found && in != NULL && fgets(line, sizeof line, in) != NULL)
        found = strncmp(line, words, strlen(words)) == 0 && strstr(line, "} 1\n") != NULL;
    if (in != NULL)
        fclose(in);
    return found;
}

/* The runner is stopped while the lock is granted, and lost. Returns the exit status. */
static int lost_before_the_start(const char *verb, const char *option)
{
    static struct program holder;
    char name[] = "/tmp/paddock-lost-XXXXXX";
    fresh("unstarted");
    CHECK(close(mkstemp(name)) == 0);
    cli_start_fed(&holder, ARGS(verb, path, "cat"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    cli_start(&c, ARGS(verb, option, "--metrics", name, path, "echo", "ran"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    kill(c.pid, SIGSTOP);
    program_close_input(&holder);
    program_wait(&holder);
    CHECK_WITHIN(GENEROUS, has_line(name, "paddock_grants_total"));
    cli_delete_holder(path);
    CHECK_WITHIN(GENEROUS, has_line(name, "paddock_losses_total"));
    await_metrics(name);
    kill(c.pid, SIGCONT);
    int status = program_wait(&c);
    unlink(name);
    return status;
}

static void never_started(void)
{
    static const char *const options[] = {"--on-lost=term", "--on-lost=ignore"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        CHECK_EQ(lost_before_the_start("lock", options[i]), 76);
        CHECK_STR(c.out, "");
        CHECK_ONE_LINE(&c);
    }
    CHECK(program_complained(&c, "the command is not started"));
}

static void next_term(void)
{
    CHECK_EQ(lost_before_the_start("elect", "--on-lost=ignore"), 0);
    CHECK_STR(c.out, "ran\n");
    CHECK(program_complained(&c, "the command is not started"));
}

static void hold_tells(void)
{
    cli_start_fed(&c, ARGS("hold", fresh("hold"), "--lost-exit-code=42"));
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 64);
    cli_start_fed(&c, ARGS("hold", "--lost-exit-code=42", path));
    CHECK_WITHIN(GENEROUS, program_said(&c, "\n"));
    cli_delete_holder(path);
    CHECK_EQ(program_wait(&c), 42);
    CHECK_ONE_LINE(&c);
}

/* The process that keeps the session hears of the loss only after the command has ended. */
static void heard_late(const char *verb, const char *option)
{
    pid_t command;
    cli_start_fed(&c, ARGS(verb, option, fresh("late"), "sh", "-c", "echo $$ in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_EQ(sscanf(c.out, "%d", &command), 1);
    pid_t session = cli_session_of(c.pid);
    kill(session, SIGSTOP);
    cli_delete_holder(path);
    program_close_input(&c);
    CHECK_WITHIN(GENEROUS, !cli_alive(command));
    kill(session, SIGCONT);
    CHECK_EQ(program_wait(&c), 76);
    CHECK_ONE_LINE(&c);
}

static void lock_heard_late(void) { heard_late("lock", "--label=late"); }

static void term_heard_late(void) { heard_late("elect", "--once"); }

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the command and its group are stopped, the status is 76", stopped},
        {"the command may clean up, and its status does not count", polite},
        {"a command that ignores SIGTERM is killed", stubborn},
        {"another signal can be chosen", other_signal},
        {"kill leaves no time", at_once},
        {"a loss that is heard after the command ended is told: of a lock", lock_heard_late},
        {"and of a term", term_heard_late},
        {"ignore lets it go on, and its status stand", ignored},
        {"a lock that is lost before the start starts nothing, also with ignore", never_started},
        {"a candidate stands again then", next_term},
        {"-q says nothing", quiet},
        {"a command that is stopped is ended", stopped_command},
        {"what the command leaves in its group is killed", leftovers},
        {"the command ends though the runner is stopped", stopped_runner},
        {"hold says so, and gives the status that was asked for", hold_tells},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/lost", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
