/* paddock lock: what the command gets, how it ends, and which others may run meanwhile. */
#include "test/cli/cli.h"
#include "test/lib/ensemble.h"
#include "test/lib/proxy.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct program c, d;
static char path[128];

static const char *fresh(const char *name) { return strcpy(path, cli_path(name)); }

/* A lock on PATH whose command says "in", and runs until its input or a signal ends it. */
static void hold(struct program *r)
{
    cli_start_fed(r, ARGS("lock", path, "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(r, "in\n"));
}

static void own_status(void)
{
    fresh("status");
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "true")), 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "sh", "-c", "exit 5")), 5);
    CHECK_EQ(cli_run(&c, ARGS("lock", path, "--", "sh", "-c", "exit 255")), 255);
    CHECK_QUIET(&c);
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
    setenv("PADDOCK_TOKEN", "1", 1); /* of another lock, under which this one is asked for */
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
    CHECK_LAW(token[1] > token[0]);
    unsetenv("PADDOCK_TOKEN");
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
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 1);
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
    CHECK_EQ(cli_run(&d, ARGS("lock", "-w", "3", "-E", "7", path, "echo", "ran")), 7);
    CHECK_STR(d.out, "");
    CHECK_EQ(cli_children(path), 1);
    CHECK_EQ(cli_changes(path), 3);
    program_close_input(&c);
    program_wait(&c);
    CHECK_EQ(cli_run(&d, ARGS("lock", "-w", "30", path, "echo", "ran")), 0);
    CHECK_STR(d.out, "ran\n");
}

/* Each command writes twice, with time for the others between. */
static void exclusion(void)
{
    char file[] = "/tmp/paddock-cli-XXXXXX", script[256], line[64];
    int fd = mkstemp(file), odd = 0;
    struct program runs[6];
    snprintf(script, sizeof script, "echo in >>%s; sleep 0.05; echo out >>%s", file, file);
    fresh("exclusion");
    for (int i = 0; i < 6; i++)
        cli_start(&runs[i], ARGS("lock", path, "sh", "-c", script));
    for (int i = 0; i < 6; i++)
        CHECK_EQ(program_wait(&runs[i]), 0);
    FILE *in = fdopen(fd, "r");
    int n = 0;
    for (; fgets(line, sizeof line, in) != NULL; n++)
        odd += strcmp(line, n % 2 == 0 ? "in\n" : "out\n") != 0;
    fclose(in);
    unlink(file);
    CHECK_EQ(n, 12);
    CHECK_LAW(odd == 0);
    CHECK_EQ(cli_children(path), 0);
}

static void verbose(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", "-v", fresh("verbose"), "true")), 0);
    CHECK(strstr(c.err, "got the lock after") != NULL);
    CHECK(strstr(c.err, "running true") != NULL);
}

static void very_verbose(void)
{
    CHECK_EQ(cli_run(&c, ARGS("lock", "-vv", fresh("lines"), "true")), 0);
    CHECK(strstr(c.err, "paddock: debug: zookeeper: ") != NULL);
    CHECK(strstr(c.err, "paddock: debug: session: opening -> connected") != NULL);
    CHECK_EQ(cli_run(&c, ARGS("lock", "-v", "--connect-timeout", "1", "-z", "127.0.0.1:1", path, "true")), 69);
    CHECK(strstr(c.err, "paddock: warning: zookeeper: ") != NULL && strstr(c.err, "Connection refused") != NULL);
}

static void acl(void)
{
    fresh("acl");
    cli_start_fed(&c, ARGS("lock", "--auth", "digest:me:pw", "--acl", "auth::rwcda", "--acl", "world:anyone:r", path,
                           "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_EQ(cli_run(&d, ARGS("lock", "-n", path, "true")), 1);
    CHECK(!cli_may_write(path));
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 1);
}

/* Every user sees the command line in ps. That of an emulator, as qemu, is not the program's own. */
static void secret(void)
{
    char file[64], line[4096];
    cli_start_fed(&c, ARGS("lock", "--auth", "digest:me:hush", fresh("secret"), "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    snprintf(file, sizeof file, "/proc/%d/exe", (int)c.pid);
    ssize_t length = readlink(file, line, sizeof line - 1);
    CHECK(length > 0);
    line[length] = '\0';
    if (strstr(line, "paddock") == NULL)
        SKIP("the program is emulated");
    snprintf(file, sizeof file, "/proc/%d/cmdline", (int)c.pid);
    FILE *in = fopen(file, "r");
    size_t n = fread(line, 1, sizeof line, in);
    fclose(in);
    CHECK(memmem(line, n, "lock", 4) != NULL);
    CHECK(memmem(line, n, "hush", 4) == NULL);
    program_close_input(&c);
    program_wait(&c);
}

/* Do the bytes of process PID that it may write to contain TEXT? */
static bool remembers(pid_t pid, const char *text)
{
    static char bytes[1 << 20];
    char file[64], line[512], access[8];
    unsigned long from, to;
    bool found = false;
    snprintf(file, sizeof file, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(file, "r");
    snprintf(file, sizeof file, "/proc/%d/mem", (int)pid);
    int mem = open(file, O_RDONLY | O_CLOEXEC);
    CHECK(maps != NULL && mem >= 0);
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, access) != 3 || access[1] != 'w')
            continue;
        for (ssize_t n; !found && from < to; from += (unsigned long)n) {
            size_t size = to - from < sizeof bytes ? to - from : sizeof bytes;
            if ((n = pread(mem, bytes, size, (off_t)from)) <= 0)
                break;
            found = memmem(bytes, (size_t)n, text, strlen(text)) != NULL;
        }
    }
    fclose(maps);
    close(mem);
    return found;
}

/* At the end of a long line, where memory that is used again is overwritten last. */
static void secret_in_memory(void)
{
    char file[] = "/tmp/paddock-auth-XXXXXX";
    int fd = mkstemp(file);
    CHECK(fd >= 0 && dprintf(fd, "# who\ndigest:%03000d:a-secret-of-mine\n", 0) > 0);
    cli_start_fed(&c, ARGS("lock", "--auth-file", file, fresh("memory"), "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    close(fd);
    unlink(file);
    CHECK(remembers(cli_session_of(c.pid), "a-secret-of-mine"));
    CHECK(!remembers(c.pid, "a-secret-of-mine"));
    CHECK(!remembers(cli_guard_of(c.pid), "a-secret-of-mine"));
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 1);
}

/* --- what a wait says, and costs --------------------------------------------------------------------------------- */

static void waits_aloud(void)
{
    fresh("aloud");
    hold(&c);
    cli_start_fed(&d, ARGS("lock", "-v", path, "/bin/cat"));
    CHECK_WITHIN(GENEROUS, program_complained(&d, "waiting for") && program_complained(&d, "held by"));
    CHECK(strstr(d.err, "(sh)") != NULL);
    program_close_input(&d);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 1);
    CHECK_EQ(program_wait(&d), 0);
}

/* It shows the holder and its place, so it reads the holder, and of the others the names. */
static void waits_cheaply(void)
{
    enum { QUEUE = 40 };
    char hosts[64];
    fresh("cheaply");
    for (int i = 0; i < QUEUE; i++) {
        char name[64];
        snprintf(name, sizeof name, "0000000000000001-%08x-lock-%010d", i + 1, i);
        cli_make(path, name, "{\"host\":\"crowd\",\"pid\":7}");
    }
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    cli_start(&c, ARGS("lock", "-v", "-z", hosts, path, "true"));
    CHECK_WITHIN(GENEROUS, program_complained(&c, "place 40 of 40"));
    CHECK(strstr(c.err, "held by crowd pid 7") != NULL);
    CHECK(pdk__proxy_replies(proxy, PDK__OP_GET) < 10);
    CHECK(pdk__proxy_replies(proxy, PDK__OP_EXISTS) < 10);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    pdk__proxy_free(proxy);
}

/* A round trip of two fifths of the session timeout: no renewal can be confirmed in time. */
static void too_slow(void)
{
    char hosts[64], line[256];
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(cli_server()), false);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(proxy));
    pdk__proxy_delay(proxy, PDK__TO_SERVER, 800);
    pdk__proxy_delay(proxy, PDK__TO_CLIENT, 800);
    fresh("slow");
    snprintf(line, sizeof line, "warning: %s: not granted yet: connected, but the session cannot be confirmed", path);
    cli_start(&c, ARGS("lock", "-v", "--session-timeout", "4", "-z", hosts, path, "true"));
    cli_start(&d, ARGS("lock", "-w", "12", "--session-timeout", "4", "-z", hosts, path, "true"));
    CHECK_WITHIN(GENEROUS, program_complained(&c, line));
    CHECK(strstr(c.err, "session timeout 4 s") != NULL && cli_alive(c.pid));
    CHECK_EQ(program_wait(&d), 1);
    CHECK_ONE_LINE(&d);
    snprintf(line, sizeof line, "paddock: %s: connected, but the session cannot be confirmed in time: round", path);
    CHECK(strstr(d.err, line) == d.err);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 128 + SIGTERM);
    pdk__proxy_free(proxy);
}

/* --- by which rules it is granted -------------------------------------------------------------------------------- */

static void confirmed(void)
{
    int64_t token, made;
    cli_start_fed(&c, ARGS("lock", "--confirmed", fresh("confirmed"), "sh", "-c", "echo $PADDOCK_TOKEN in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_EQ(sscanf(c.out, "%" SCNd64, &token), 1);
    CHECK_EQ(cli_run(&d, ARGS("ls", "--json", path)), 0);
    CHECK_EQ(sscanf(strstr(d.out, "\"token\":"), "\"token\":%" SCNd64, &made), 1);
    CHECK(token > made);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 1);
}

static void stale(void)
{
    fresh("stale");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--min-token", "9223372036854775807", path, "echo", "ran")), 65);
    CHECK_STR(c.out, "");
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_run(&c, ARGS("hold", "--min-token", "9223372036854775807", path)), 65);
    CHECK_ONE_LINE(&c);
    CHECK_EQ(cli_children(path), 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--min-token", "1", path, "true")), 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--min-token", "9223372036854775808", path, "true")), 64);
    CHECK_ONE_LINE(&c);
}

static void own_data(void)
{
    cli_start_fed(&c, ARGS("lock", "--data", "rack 7, unit 3", fresh("data"), "sh", "-c", "echo in; read -r x"));
    CHECK_WITHIN(GENEROUS, program_said(&c, "in\n"));
    CHECK_EQ(cli_run(&d, ARGS("ls", path)), 0);
    CHECK(strstr(d.out, "rack 7, unit 3") != NULL);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 1);
}

/* The holder record of a lock delay is the path's own data. */
static void delayed(void)
{
    fresh("delayed");
    CHECK_EQ(cli_run(&c, ARGS("lock", "--lock-delay", "1", path, "true")), 0);
    CHECK_EQ(cli_run(&c, ARGS("lock", "--lock-delay", "1", path, "true")), 0);
    CHECK(cli_has_data(path, "free"));
    CHECK_EQ(cli_run(&c, ARGS("lock", "--lock-delay", "86401", path, "true")), 64);
    CHECK_ONE_LINE(&c);
}

/* The third watches the holder, which is before its predecessor; so does the second, and the holder itself. */
static void looking_ahead(void)
{
    struct program third;
    char node[512];
    cli_start_fed(&c, ARGS("lock", fresh("ahead"), "sh", "-c", "echo $PADDOCK_NODE; read -r x; exit 0"));
    CHECK_WITHIN(GENEROUS, strchr(c.out, '\n') != NULL);
    snprintf(node, sizeof node, "%s/%.*s", path, (int)strcspn(c.out, "\n"), c.out);
    cli_start(&d, ARGS("lock", path, "true"));
    CHECK_WITHIN(GENEROUS, cli_children(path) == 2);
    cli_start(&third, ARGS("lock", "--look-ahead", path, "true"));
    CHECK_WITHIN(GENEROUS, pdk__ask_watchers(cli_server(), node) == 3);
    program_close_input(&c);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_EQ(program_wait(&d), 0);
    CHECK_EQ(program_wait(&third), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the command's status is passed on", own_status},
        {"a command that a signal ended gives 128 and its number", signalled_status},
        {"a command that is not there gives 127, one that cannot run 126", cannot_run},
        {"-v says who holds the lock while it waits", waits_aloud},
        {"a wait reads the holder's data and the others' names", waits_cheaply},
        {"--confirmed gives the number of a write after the node's", confirmed},
        {"--min-token refuses an ensemble that is behind: 65", stale},
        {"--data is what the node carries", own_data},
        {"--look-ahead watches the contender before the predecessor", looking_ahead},
        {"--lock-delay leaves its holder record, and clears it", delayed},
        {"no shell comes between, but for -c, before the path or behind it", shell},
        {"the command finds token, path, node and session; the next token is larger", environment},
        {"the command inherits no descriptor of ours", descriptors},
        {"the command leads a process group, with nothing blocked or ignored", own_group},
        {"-n takes a free lock", try_free},
        {"a busy lock gives 1, or what -E says, writes nothing and is explained on request", busy},
        {"a timed wait gives -E and leaves no node", timed_out},
        {"commands on one path exclude each other", exclusion},
        {"-v tells how long it took and what runs", verbose},
        {"-v tells of a connection that is refused, -vv each step and ZooKeeper's lines", very_verbose},
        {"nodes get the ACL that was asked for", acl},
        {"a secret on the command line does not stay there", secret},
        {"only the process with the session knows a secret", secret_in_memory},
        {0},
    };
    static const struct pdk__test proof[] = {
        {"of a link that is too slow -v tells while it waits, and -w at its end", too_slow},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "cli/lock", .tests = tests, .proof = proof, .setup = cli_setup, .teardown = cli_teardown});
}
