/* paddock barrier: waiting, setting and removing; and entering together with others, with a command. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct program c, first, second;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

static void waits_until_it_is_removed(void)
{
    fresh("barrier");
    CHECK_EQ(cli_run(&c, ARGS("barrier", path)), 0);
    CHECK_EQ(cli_run(&c, ARGS("barrier", "remove", path)), 0);
    CHECK_EQ(cli_run(&c, ARGS("barrier", "set", path)), 0);
    CHECK_EQ(cli_run(&c, ARGS("barrier", "set", path)), 0);
    CHECK_STR(c.err, "");
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-n", path)), 1);
    CHECK_ONE_LINE(&c);
    CHECK(program_complained(&c, "the barrier is set"));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "wait", path, "--timeout", "0.05", "-E", "9", "-q")), 9);
    CHECK_STR(c.err, "");
    cli_start(&first, ARGS("barrier", path));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-w", "3", path)), 1);
    CHECK(!program_ended(&first));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "remove", path)), 0);
    CHECK_EQ(program_wait(&first), 0);
}

static bool json_set(const char *text)
{
    json_t *top = json_loads(text, 0, NULL);
    const char *said = json_string_value(json_object_get(top, "path"));
    CHECK(said != NULL);
    CHECK_STR(said, path);
    bool set = json_is_true(json_object_get(top, "set"));
    json_decref(top);
    return set;
}

static void json(void)
{
    fresh("json");
    CHECK_EQ(cli_run(&c, ARGS("barrier", "set", "--json", path)), 0);
    CHECK(json_set(c.out));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "--json", "-n", "-q", path)), 1);
    CHECK(json_set(c.out));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "remove", path, "--json")), 0);
    CHECK(!json_set(c.out));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "wait", path, "--json")), 0);
    CHECK(!json_set(c.out));
}

static void commands_begin_and_end_together(void)
{
    fresh("double");
    cli_start_fed(&first, ARGS("barrier", "-N", "2", path, "sh", "-c", "echo in $PADDOCK_PATH; read -r x; exit 3"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    CHECK(program_silent(&first));
    cli_start_fed(&second, ARGS("barrier", "-N", "2", path, "--", "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&first, "in /") && program_said(&second, "in\n"));
    CHECK_EQ(cli_children(path), 3);
    CHECK_EQ(cli_run(&c, ARGS("ls", path)), 0);
    CHECK(strstr(c.out, "member") != NULL && strstr(c.out, "(sh)") != NULL && strstr(c.out, "ready") != NULL);
    CHECK_STR(c.err, "");
    program_close_input(&first);
    CHECK_WITHIN(GENEROUS, cli_changes(path) >= 3); /* it leaves, or waits for the other to */
    CHECK(!program_ended(&first));
    program_close_input(&second);
    CHECK_EQ(program_wait(&first), 3);
    CHECK_EQ(program_wait(&second), 1); /* of the read that met the end of its input */
    CHECK_EQ(cli_children(path), 0);
}

static void a_member_that_waits_in_vain_leaves_no_node(void)
{
    fresh("vain");
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-N", "2", "-w", "3", "-E", "7", path, "echo", "in")), 7);
    CHECK_STR(c.out, "");
    CHECK(program_complained(&c, "not enough members"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
    cli_start(&first, ARGS("barrier", "-N", "2", path, "echo", "in"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    CHECK_EQ(kill(first.pid, SIGINT), 0);
    CHECK_EQ(program_wait(&first), 128 + SIGINT);
    CHECK_EQ(cli_children(path), 0);
    CHECK_STR(first.out, "");
}

static void signals_reach_the_command(void)
{
    fresh("signal");
    cli_start(&first, ARGS("barrier", "-N", "1", path, "sh", "-c",
                           "trap 'echo got; exit 5' TERM; echo in; while :; do sleep .1; done"));
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n"));
    CHECK_EQ(kill(first.pid, SIGTERM), 0);
    CHECK_EQ(program_wait(&first), 5);
    CHECK(program_said(&first, "got\n"));
    CHECK_EQ(cli_children(path), 0);
}

/* As a parent that ignores the end of its children starts it. */
static void a_parent_that_reaps_no_child(void)
{
    fresh("reap");
    program_start(&first,
                  ARGS("env", "--ignore-signal=CHLD", program_built("uninstalled/paddock"), "barrier", "-N", "1", path,
                       "sh", "-c", "exit 3"),
                  PROGRAM_ERRORS);
    CHECK_WITHIN(GENEROUS, program_ended(&first));
    CHECK_EQ(program_wait(&first), 3);
}

static void a_command_that_is_stopped(void)
{
    fresh("stopped");
    cli_start(&first, ARGS("barrier", "-N", "1", path, "sh", "-c", "echo in; kill -STOP $$; echo on"));
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n"));
    CHECK_EQ(kill(first.pid, SIGTERM), 0);
    CHECK_WITHIN(GENEROUS, program_ended(&first));
    CHECK_EQ(program_wait(&first), 128 + SIGTERM);
}

static void others_that_stay_inside(void)
{
    fresh("stay");
    cli_start_fed(&first, ARGS("barrier", "-N", "2", path, "sh", "-c", "echo in; read -r x; exit 0"));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-N", "2", "--leave-wait", ".1", path, "true")), 1);
    CHECK(program_complained(&c, "still inside"));
    cli_start(&second, ARGS("barrier", "-N", "2", "--leave-wait", "0", path, "sh", "-c", "exit 4"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 3); /* it waits for the next round */
    program_close_input(&first);
    CHECK_EQ(program_wait(&first), 0);
    cli_start_fed(&first, ARGS("barrier", "-N", "2", path, "sh", "-c", "echo in; read -r x; exit 0"));
    CHECK_EQ(program_wait(&second), 4); /* the command's status counts first */
    program_close_input(&first);
    CHECK_EQ(program_wait(&first), 0);
    CHECK_WITHIN(GENEROUS, cli_children(path) == 0);
}

static void one_too_many(void)
{
    fresh("many");
    cli_start_fed(&first, ARGS("barrier", "-N", "2", path, "sh", "-c", "echo in; read -r x; exit 0"));
    cli_start_fed(&second, ARGS("barrier", "-N", "2", path, "sh", "-c", "echo in; read -r x; exit 0"));
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n") && program_said(&second, "in\n"));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-N", "2", path, "true")), 1);
    CHECK_ONE_LINE(&c);
    CHECK(program_complained(&c, "as many members as it has came before"));
    program_close_input(&first);
    program_close_input(&second);
    CHECK_EQ(program_wait(&first), 0);
    CHECK_EQ(program_wait(&second), 0);
}

static void a_locks_path(void)
{
    fresh("lock");
    cli_make_ephemeral(path, "0123456789abcdef-00000001-lock-0000000000", "");
    CHECK_EQ(cli_run(&c, ARGS("barrier", "set", path)), 64);
    CHECK_ONE_LINE(&c);
    CHECK(program_complained(&c, "nodes are below it: give the barrier a path of its own"));
    CHECK_EQ(cli_run(&c, ARGS("barrier", path)), 64);
    CHECK_EQ(cli_run(&c, ARGS("barrier", "remove", path)), 64);
    CHECK_ONE_LINE(&c);
    CHECK(program_complained(&c, "nodes are below it"));
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-N", "1", path, "true")), 64);
    CHECK_ONE_LINE(&c);
    CHECK(program_complained(&c, "a lock's nodes are there"));
}

static void commands_that_cannot_run(void)
{
    fresh("cannot");
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-N", "1", path, "/no/such/program")), 127);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-N", "1", path, "/etc/passwd")), 126);
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-N", "1", path, "sh", "-c", "kill -9 $$")), 128 + SIGKILL);
    CHECK_EQ(cli_children(path), 0);
}

/* The process that will be the command; 0: not known. */
static pid_t companion_of(pid_t member)
{
    char file[64];
    int pid = 0;
    snprintf(file, sizeof file, "/proc/%d/task/%d/children", (int)member, (int)member);
    FILE *in = fopen(file, "re");
    if (in == NULL || fscanf(in, "%d", &pid) != 1)
        pid = 0;
    if (in != NULL)
        fclose(in);
    return pid;
}

static void a_command_that_is_killed_before_the_entry(void)
{
    fresh("early");
    cli_start(&first, ARGS("barrier", "-N", "2", path, "echo", "in"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 1);
    pid_t companion = companion_of(first.pid);
    if (companion == 0)
        SKIP("the system does not tell a process's children");
    CHECK_EQ(kill(companion, SIGKILL), 0);
    CHECK_EQ(cli_run(&second, ARGS("barrier", "-N", "2", path, "true")), 0);
    CHECK_EQ(program_wait(&first), 128 + SIGKILL);
    CHECK_STR(first.out, "");
    CHECK_EQ(cli_children(path), 0);
}

static void a_member_whose_node_was_deleted(void)
{
    fresh("lost");
    cli_start_fed(&first,
                  ARGS("barrier", "-N", "1", "--lost-exit-code", "44", path, "sh", "-c", "echo in; read -r x; exit 0"));
    CHECK_WITHIN(GENEROUS, program_said(&first, "in\n"));
    cli_delete_child(path, "-member");
    program_close_input(&first);
    CHECK_EQ(program_wait(&first), 44);
    CHECK_ONE_LINE(&first);
}

static void bad_usage(void)
{
    const char *const *const bad[] = {
        ARGS("barrier"),
        ARGS("barrier", "set"),
        ARGS("barrier", "relative"),
        ARGS("barrier", "/a", "/b"),
        ARGS("barrier", "set", "/a", "true"),
        ARGS("barrier", "-N", "0", "/a", "true"),
        ARGS("barrier", "-N", "2", "/a"),
        ARGS("barrier", "-N", "2", "set", "/a"),
        ARGS("barrier", "-N", "2", "--json", "/a", "true"),
        ARGS("barrier", "--leave-wait", "1", "/a"),
        ARGS("barrier", "-n", "--bogus", "/a"),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(cli_run(&c, bad[i]), 64);
        CHECK_ONE_LINE(&c);
    }
    CHECK_EQ(cli_run(&c, ARGS("barrier", "-z", "127.0.0.1:1", "--connect-timeout", ".2", "/a")), 69);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("barrier", "--help")), 0);
    CHECK_EQ(strncmp(c.out, "Usage: paddock barrier", 22), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a wait lasts until the barrier is removed", waits_until_it_is_removed},
        {"--json tells whether it is set", json},
        {"commands begin together and end together", commands_begin_and_end_together},
        {"a member that waits in vain, or is interrupted, leaves no node", a_member_that_waits_in_vain_leaves_no_node},
        {"signals reach the command", signals_reach_the_command},
        {"a command's end is seen although its parent's parent reaps no child", a_parent_that_reaps_no_child},
        {"a signal that ends reaches a command that is stopped", a_command_that_is_stopped},
        {"a member leaves without others that stay inside", others_that_stay_inside},
        {"a member that is one too many is refused", one_too_many},
        {"the path of a lock is no barrier's", a_locks_path},
        {"a command that cannot run has its status", commands_that_cannot_run},
        {"a command that is killed before the entry has its status", a_command_that_is_killed_before_the_entry},
        {"a member whose node was deleted is told", a_member_whose_node_was_deleted},
        {"bad usage is one line and 64", bad_usage},
        {0}};
    cli_as_by_hand();
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/barrier", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
