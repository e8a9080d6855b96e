/* paddock lock: what the command gets, how it ends, and who may run meanwhile. */
#include "test/cli/cli.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cli c, d;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

/* A lock on PATH whose command says "in", and runs until its input or a signal ends it. */
static void hold(struct cli *r)
{
    cli_start_fed(r, ARGS("lock", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, cli_said(r, "in\n"));
}

static void own_status(void)
{
    fresh("status");
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "true")), 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "sh", "-c", "exit 5")), 5);
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "--", "sh", "-c", "exit 255")), 255);
    CHECK_STR(c.err, "");
    CHECK_EQ(cli_children(path), 0);
}

static void signalled_status(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", fresh("signal"), "sh", "-c", "kill -KILL $$")), 128 + SIGKILL);
    CHECK_EQ(cli_children(path), 0);
}

static void cannot_run(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", fresh("exec"), "/nonexistent/program")), 127);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "/")), 126);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_children(path), 0);
}

static void shell(void)
{
    setenv("SHELL", "/bin/sh", 1);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-c", "echo $((6 * 7))", fresh("shell"))), 0);
    CHECK_STR(c.out, "42\n");
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "-c", "echo $((6 * 7))")), 0);
    CHECK_STR(c.out, "42\n");
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "echo", "-n", "--help", "$((6 * 7))")), 0);
    CHECK_STR(c.out, "--help $((6 * 7))");
}

static void environment(void)
{
    char where[128];
    int64_t token[2];
    for (int i = 0; i < 2; i++) {
        char node[128];
        unsigned long long session;
        CHECK_EQ(cli_run(&c, ARGS("lock", i == 0 ? fresh("env") : path, "sh", "-c",
                                  "echo $PADDOCK_TOKEN $PADDOCK_PATH $PADDOCK_NODE $PADDOCK_SESSION")),
                 0);
        CHECK_EQ(sscanf(c.out, "%" SCNd64 " %127s %127s %llx", &token[i], where, node, &session), 4);
        CHECK_STR(where, path);
        CHECK_EQ(strlen(strrchr(c.out, ' ')), 1 + 16 + 1);
        /* Our names begin with the session. */
        char prefix[32];
        snprintf(prefix, sizeof prefix, "%016llx-", session);
        CHECK(strncmp(node, prefix, strlen(prefix)) == 0);
        CHECK(strstr(node, "-lock-") != NULL);
    }
    CHECK(token[1] > token[0]);
}

/* The fourth is the directory that ls reads. */
static void descriptors(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", fresh("fds"), "ls", "/proc/self/fd")), 0);
    CHECK_STR(c.out, "0\n1\n2\n3\n");
}

static void own_group(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", fresh("group"), "sh", "-c",
                              "set -- $(cat /proc/$$/stat); test $5 = $$ || exit 9; "
                              "set -- $(grep -E 'SigBlk|SigIgn' /proc/$$/status); "
                              "echo $1 $2 $3 $((0x$4 & ~0x180000000))")),
             0);
    CHECK_STR(c.out, "SigBlk: 0000000000000000 SigIgn: 0\n");
}

static void busy(void)
{
    fresh("busy");
    hold(&c);
    int changes = cli_changes(path);
    CHECK_EQ(cli_run(&d, ARGS("lock", "-n", path, "echo", "ran")), 1);
    CHECK_EQ(cli_run(&d, ARGS("lock", "-n", "-E", "9", path, "echo", "ran")), 9);
    CHECK_EQ(cli_run(&d, ARGS("lock", "-w", "0", "-E", "0", path, "echo", "ran")), 0);
    CHECK_STR(d.out, "");
    CHECK_STR(d.err, "");
    CHECK_EQ(cli_run(&d, ARGS("lock", "-v", "-n", path, "true")), 1);
    CHECK_ONE_LINE(&d);
    CHECK_EQ(cli_changes(path), changes);
    cli_close_input(&c);
    CHECK_EQ(cli_wait(&c), 1);
}

static void try_free(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", "-n", fresh("free"), "echo", "ran")), 0);
    CHECK_STR(c.out, "ran\n");
    CHECK_EQ(cli_run(&c, ARGS("lock", "-w", "0", path, "true")), 0);
    CHECK_EQ(cli_children(path), 0);
}

static void timed_out(void)
{
    fresh("timed");
    hold(&c);
    CHECK(cli_may_write(path));
    CHECK_EQ(cli_run(&d, ARGS("lock", "-w", ".3", "-E", "7", path, "echo", "ran")), 7);
    CHECK_STR(d.out, "");
    CHECK_EQ(cli_children(path), 1);
    CHECK_EQ(cli_changes(path), 3);
    cli_close_input(&c);
    cli_wait(&c);
    CHECK_EQ(cli_run(&d, ARGS("lock", "-w", "30", path, "echo", "ran")), 0);
    CHECK_STR(d.out, "ran\n");
}

/* Each command writes twice, with time for the other between: "1 1" and "2 2" are what exclusion leaves. */
static void exclusion(void)
{
    char file[] = "/tmp/paddock-cli-XXXXXX", script[256], line[64];
    int fd = mkstemp(file), odd = 0;
    struct cli runs[6];
    snprintf(script, sizeof script, "echo in >>%s; sleep 0.05; echo out >>%s", file, file);
    fresh("exclusion");
    for (int i = 0; i < 6; i++)
        cli_start(&runs[i], ARGS("lock", path, "sh", "-c", script));
    for (int i = 0; i < 6; i++)
        CHECK_EQ(cli_wait(&runs[i]), 0);
    FILE *in = fdopen(fd, "r");
    int n = 0;
    for (; fgets(line, sizeof line, in) != NULL; n++)
        odd += strcmp(line, n % 2 == 0 ? "in\n" : "out\n") != 0;
    fclose(in);
    unlink(file);
    CHECK_EQ(n, 12);
    CHECK_EQ(odd, 0);
    CHECK_EQ(cli_children(path), 0);
}

static void verbose(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", "-v", fresh("verbose"), "true")), 0);
    CHECK(strstr(c.err, "got the lock after") != NULL);
    CHECK(strstr(c.err, "running true") != NULL);
}

static void acl(void)
{
    fresh("acl");
    cli_start_fed(&c, ARGS("lock", "--auth", "digest:me:pw", "--acl", "auth::rwcda", "--acl", "world:anyone:r", path,
                           "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, cli_said(&c, "in\n"));
    CHECK_EQ(cli_run(&d, ARGS("lock", "-n", path, "true")), 1);
    CHECK(!cli_may_write(path));
    cli_close_input(&c);
    CHECK_EQ(cli_wait(&c), 1);
}

/* What is on the command line is seen by everybody in ps. */
static void secret(void)
{
    char file[64], line[4096];
    cli_start_fed(&c, ARGS("lock", "--auth", "digest:me:hush", fresh("secret"), "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, cli_said(&c, "in\n"));
    snprintf(file, sizeof file, "/proc/%d/cmdline", (int)c.pid);
    FILE *in = fopen(file, "r");
    size_t n = fread(line, 1, sizeof line, in);
    fclose(in);
    CHECK(memmem(line, n, "lock", 4) != NULL);
    CHECK(memmem(line, n, "hush", 4) == NULL);
    cli_close_input(&c);
    cli_wait(&c);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the command's status is passed on", own_status},
        {"a command that a signal ended gives 128 and its number", signalled_status},
        {"a command that is not there gives 127, one that cannot run 126", cannot_run},
        {"no shell comes between, but for -c, before the path or behind it", shell},
        {"the command finds token, path, node and session; the next token is larger", environment},
        {"the command inherits no descriptor of ours", descriptors},
        {"the command leads a process group, with nothing blocked or ignored", own_group},
        {"-n takes a free lock", try_free},
        {"a busy lock gives 1, or what -E says, writes nothing and is explained on request", busy},
        {"a timed wait gives -E and leaves no node", timed_out},
        {"commands on one path exclude each other", exclusion},
        {"-v tells how long it took and what runs", verbose},
        {"nodes get the ACL that was asked for", acl},
        {"a secret on the command line does not stay there", secret},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/lock", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
