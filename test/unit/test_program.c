/* The launcher of the tests' child processes. */
#include "test/lib/check.h"
#include "test/lib/program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { SOON_MS = 60000 };

static struct program p;

static void shell(const char *script, int options) { program_start(&p, ARGS("sh", "-c", script), options); }

static bool exists(pid_t pid) { return kill(pid, 0) == 0 || errno != ESRCH; }

static void ends_are_told_apart(void)
{
    CHECK_EQ(program_run(&p, ARGS("sh", "-c", "exit 7"), 0), 7);
    CHECK_EQ(program_run(&p, ARGS("sh", "-c", "kill -9 $$"), 0), -SIGKILL);
    CHECK_EQ(program_run(&p, ARGS("no-such-program"), 0), 127);
}

static void output_is_read_in_order(void)
{
    shell("echo a 1; echo error >&2; echo a 2; echo last", PROGRAM_OUTPUT | PROGRAM_ERRORS);
    CHECK_EQ(program_await_number(&p, "a "), 1);
    CHECK_EQ(program_await_number(&p, "a "), 2);
    CHECK_STR(program_hear(&p), "last");
    CHECK_EQ(program_wait(&p), 0);
    CHECK(program_silent(&p) && program_said(&p, "a 1\n"));
    CHECK_STR(p.err, "error\n");
}

static void input_is_given(void)
{
    program_start(&p, ARGS("cat"), PROGRAM_INPUT | PROGRAM_OUTPUT);
    program_say(&p, "%d words", 2);
    CHECK_STR(program_hear(&p), "2 words");
    program_end(&p);
    CHECK_EQ(p.status, 0);
}

/* Two processes that share a descriptor share its offset. */
static void output_of_two_at_once_is_whole(void)
{
    enum { LINES = 20000 };
    int lines = 0;
    shell("many() { i=0; while [ $i -lt 20000 ]; do echo $1; i=$((i + 1)); done; }; many a & many b; wait",
          PROGRAM_OUTPUT);
    CHECK_EQ(program_wait(&p), 0);
    for (const char *c = p.out; *c != '\0'; c++)
        lines += *c == '\n';
    CHECK_EQ(lines, 2 * LINES);
}

static void output_is_bounded(void)
{
    shell("while echo 0123456789abcdef; do :; done 2>&-", PROGRAM_OUTPUT);
    CHECK_EQ(program_wait(&p), 0);
    CHECK(program_said(&p, "0123456789abcdef\n"));
}

static void a_group_ends_as_a_whole(void)
{
    shell("sleep 1000 & echo $! is it; wait", PROGRAM_OUTPUT | PROGRAM_GROUP);
    program_await(&p, "it\n");
    pid_t grandchild = atoi(p.out);
    CHECK(exists(grandchild));
    program_end(&p);
    CHECK_EQ(p.status, -SIGTERM);
    CHECK_WITHIN(SOON_MS, !exists(grandchild) || waitpid(grandchild, NULL, WNOHANG) == grandchild);
}

static void an_ended_program_is_left_alone(void)
{
    CHECK_EQ(program_run(&p, ARGS("true"), PROGRAM_GROUP), 0);
    CHECK(program_ended(&p));
    program_end(&p);
    program_kill(&p);
    CHECK_EQ(p.status, 0);
}

static bool adopts;
static void set_up(void) { adopts = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0; }

/* A process that the dead test leaves becomes a child of this one. */
static void an_interrupted_test_leaves_nothing(void)
{
    int status;
    if (!adopts)
        SKIP("this system, as qemu's emulation of one program, hands no processes on");
    pid_t test = pdk__test_fork();
    if (test == 0) {
        shell("echo it runs; exec sleep 1000", PROGRAM_OUTPUT);
        program_await(&p, "it runs");
        raise(SIGKILL);
    }
    CHECK_EQ(pdk__test_wait(test), -SIGKILL);
    CHECK(waitpid(-1, &status, 0) > 0);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGKILL);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a status, a signal and a program that does not exist are told apart", ends_are_told_apart},
        {"output is read in its order, while the program runs and afterwards", output_is_read_in_order},
        {"a program is given input, and ends when its input does", input_is_given},
        {"what two processes write at once is all there", output_of_two_at_once_is_whole},
        {"output without end fails the program, not the test", output_is_bounded},
        {"a process group ends as a whole", a_group_ends_as_a_whole},
        {"a program that has ended is neither signalled nor waited for", an_ended_program_is_left_alone},
        {"a program does not outlive the test that started it", an_interrupted_test_leaves_nothing},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "program", .tests = tests, .setup = set_up});
}
