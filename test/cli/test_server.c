/* paddock server: it serves when it says so, and ends with the process that needed it. */
#include "test/cli/cli.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct program c, d;
static char tmp[32], sleepy[32];

static void make_directory(char name[32])
{
    snprintf(name, 32, "/tmp/paddock-cli-XXXXXX");
    CHECK(mkdtemp(name) != NULL);
}

/* A java that never becomes a server. */
static void make_sleepy_java(void)
{
    char java[64];
    make_directory(sleepy);
    snprintf(java, sizeof java, "%s/java", sleepy);
    FILE *f = fopen(java, "w");
    CHECK(f != NULL && fputs("#!/bin/sh\nexec sleep 1000\n", f) >= 0 && fclose(f) == 0);
    CHECK_EQ(chmod(java, 0700), 0);
}

/* Servers make their directories in TMP, so that leftovers can be seen. */
static void setup(void)
{
    cli_as_by_hand();
    make_directory(tmp);
    make_sleepy_java();
    setenv("TMPDIR", tmp, 1);
}

/* The leftovers of a test that failed are removed, too. */
static void teardown(void) { CHECK_EQ(program_run(&d, ARGS("rm", "-r", tmp, sleepy), 0), 0); }

static int entries(void)
{
    int n = -2; /* "." and ".." */
    DIR *dir = opendir(tmp);
    CHECK(dir != NULL);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

static bool listens(int port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool yes = connect(fd, (struct sockaddr *)&a, sizeof a) == 0;
    close(fd);
    return yes;
}

/* Wait for the line, and return the port it names. */
static int announced(struct program *r)
{
    int port;
    char after;
    CHECK_WITHIN(GENEROUS, program_said(r, "\n") || !cli_alive(r->pid));
    CHECK_EQ(sscanf(r->out, "export PADDOCK_HOSTS=127.0.0.1:%d%c", &port, &after), 2);
    CHECK_EQ(after, '\n');
    return port;
}

static void serves(void)
{
    cli_start(&c, ARGS("server"));
    char hosts[64];
    int port = announced(&c);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
    CHECK_EQ(cli_run(&d, ARGS("lock", "-z", hosts, "/demo", "echo", "ran")), 0);
    CHECK_STR(d.out, "ran\n");
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_STR(c.err, "");
    CHECK(!listens(port));
    CHECK_EQ(entries(), 0);
}

static void interrupted(void)
{
    cli_start(&c, ARGS("server"));
    int port = announced(&c);
    kill(c.pid, SIGINT);
    CHECK_EQ(program_wait(&c), 0);
    CHECK(!listens(port));
    CHECK_EQ(entries(), 0);
}

/* JAVA_HOME, which tests of servers have, would lead to a java that is a server soon: before the signal, where this
 * test does not get a processor for a second. */
static void not_ready(int signal)
{
    char path[8192]; /* a PATH that is cut may have lost mktemp */
    snprintf(path, sizeof path, "PATH=%s:%s", sleepy, getenv("PATH"));
    program_start(&c, ARGS("env", "-u", "JAVA_HOME", path, program_built("uninstalled/paddock"), "server"),
                  PROGRAM_OUTPUT | PROGRAM_ERRORS);
    CHECK_WITHIN(GENEROUS, entries() == 1 || program_ended(&c));
    CHECK(c.runs);
    CHECK_EQ(kill(c.pid, signal), 0);
    int64_t begun_ms = pdk__test_now_ms();
    CHECK_EQ(program_wait(&c), 0);
    CHECK(pdk__test_now_ms() - begun_ms < GENEROUS / 2);
    CHECK_STR(c.err, "");
    CHECK_STR(c.out, "");
    CHECK_EQ(entries(), 0);
}

static void terminated_before_it_serves(void) { not_ready(SIGTERM); }
static void interrupted_before_it_serves(void) { not_ready(SIGINT); }

/* Java reads the name from a file of its own kind. */
static void names_of_data(void)
{
    const char *const bad[] = {"a\\b", "a\nb", "\303\251"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(cli_run(&c, ARGS("server", "--data", bad[i])), 69);
        CHECK_ONE_LINE(&c);
        CHECK(strstr(c.err, "Java would read another name") != NULL);
    }
    CHECK_EQ(cli_run(&c, ARGS("server", "--data", "/etc/passwd")), 69);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "/etc/passwd: Not a directory") != NULL);
    CHECK_EQ(entries(), 0);
}

/* Java writes it with one slash between two names. */
static void slashes_of_data(void)
{
    char place[64];
    struct stat st;
    snprintf(place, sizeof place, "%s//data//", tmp);
    cli_start(&c, ARGS("server", "--data", place));
    CHECK(announced(&c) > 0);
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_EQ(stat(place, &st), 0);
    CHECK_EQ(program_run(&d, ARGS("rm", "-r", place), 0), 0);
    CHECK_EQ(entries(), 0);
}

static void remove_tree(const char *name) { CHECK_EQ(program_run(&d, ARGS("rm", "-r", name), 0), 0); }

static void end(struct program *server)
{
    kill(server->pid, SIGTERM);
    CHECK_EQ(program_wait(server), 0);
}

static void data_in_use(void)
{
    char data[64], same[80];
    snprintf(data, sizeof data, "%s/data", tmp);
    snprintf(same, sizeof same, "%s/../data/", data);
    cli_start(&c, ARGS("server", "--data", data));
    CHECK(announced(&c) > 0);
    CHECK_EQ(cli_run(&d, ARGS("server", "--parent", "0", "--data", same)), 69);
    CHECK_ONE_LINE(&d);
    CHECK(strstr(d.err, "/data/ is in use by another server") != NULL);
    kill(c.pid, SIGKILL);
    CHECK_EQ(program_wait(&c), -SIGKILL);
    cli_start(&c, ARGS("server", "--data", data));
    CHECK(announced(&c) > 0);
    end(&c);
    remove_tree(data);
    CHECK_WITHIN(GENEROUS, entries() == 0);
}

/* Root may write everywhere, unless it gives that up. */
static void data_not_writable(void)
{
    char data[64];
    snprintf(data, sizeof data, "%s/data", tmp);
    if (prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) != 0 && geteuid() == 0)
        SKIP("root that cannot give up its rights");
    CHECK_EQ(mkdir(data, 0500), 0);
    CHECK_EQ(cli_run(&c, ARGS("server", "--data", data)), 69);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "cannot work in /tmp/") != NULL && strstr(c.err, "/data: Permission denied") != NULL);
    CHECK_EQ(rmdir(data), 0);
    CHECK_EQ(entries(), 0);
}

static void long_ticks(void)
{
    cli_start(&c, ARGS("server", "--tick", "3600000"));
    CHECK(announced(&c) > 0);
    end(&c);
}

/* A server that works in TMP, with this in its environment. */
static void serves_with(const char *variable, const char *other)
{
    program_start(&c, ARGS("env", "-C", tmp, variable, other, program_built("uninstalled/paddock"), "server"),
                  PROGRAM_OUTPUT | PROGRAM_ERRORS);
    CHECK(announced(&c) > 0);
    end(&c);
}

/* In TMP: home/bin/java, which is java, and a directory bin/java. */
static void make_javas(void)
{
    char name[64];
    const char *home = getenv("JAVA_HOME");
    snprintf(name, sizeof name, "%s/home/bin", tmp);
    CHECK_EQ(program_run(&d, ARGS("mkdir", "-p", name), 0), 0);
    snprintf(name, sizeof name, "%s/bin/java", tmp);
    CHECK_EQ(program_run(&d, ARGS("mkdir", "-p", name), 0), 0);
    snprintf(name, sizeof name, "%s/home/bin/java", tmp);
    FILE *f = fopen(name, "w");
    CHECK(f != NULL);
    /* Of the PATH of a test, this file may be the first java. */
    fprintf(f, "#!/bin/sh\nPATH=/bin:/usr/bin\nexec %s%s \"$@\"\n", home != NULL ? home : "",
            home != NULL ? "/bin/java" : "java");
    CHECK_EQ(fclose(f), 0);
    CHECK_EQ(chmod(name, 0700), 0);
}

static void remove_javas(void)
{
    char name[64];
    snprintf(name, sizeof name, "%s/home", tmp);
    remove_tree(name);
    snprintf(name, sizeof name, "%s/bin", tmp);
    remove_tree(name);
    CHECK_EQ(entries(), 0);
}

static void relative_java(void)
{
    make_javas();
    serves_with("JAVA_HOME=home", "PATH=/bin:/usr/bin");
    remove_javas();
}

static void directory_java(void)
{
    char path[128];
    make_javas();
    snprintf(path, sizeof path, "PATH=%s/bin:%s/home/bin:/bin:/usr/bin", tmp, tmp);
    serves_with("JAVA_HOME=.", path);
    remove_javas();
}

static void relative_tmpdir(void)
{
    char name[64];
    snprintf(name, sizeof name, "%s/here", tmp);
    CHECK_EQ(mkdir(name, 0700), 0);
    serves_with("CDPATH=.", "TMPDIR=here");
    CHECK_EQ(rmdir(name), 0);
}

static void nowhere_to_work(void)
{
    setenv("TMPDIR", "/nowhere/at/all", 1);
    CHECK_EQ(cli_run(&c, ARGS("server")), 69);
    setenv("TMPDIR", tmp, 1);
    CHECK_ONE_LINE(&c);
    CHECK(strstr(c.err, "cannot make a directory in /nowhere/at/all") != NULL);
}

static void killed(void)
{
    cli_start(&c, ARGS("server"));
    int port = announced(&c);
    kill(c.pid, SIGKILL);
    CHECK_EQ(program_wait(&c), -SIGKILL);
    CHECK_WITHIN(GENEROUS, !listens(port));
    CHECK_WITHIN(GENEROUS, entries() == 0);
}

/* The parent is a shell between us and the server, killed with the one signal it cannot act upon. */
static void parent_killed(void)
{
    struct program shell;
    program_start(&shell, ARGS("sh", "-c", "\"$PADDOCK_BUILDDIR/uninstalled/paddock\" server & wait"), PROGRAM_OUTPUT);
    int port = (int)program_await_number(&shell, "export PADDOCK_HOSTS=127.0.0.1:");
    CHECK(listens(port));
    program_kill(&shell);
    CHECK_WITHIN(GENEROUS, !listens(port));
    CHECK_WITHIN(GENEROUS, entries() == 0);
}

static void evaluated(void)
{
    static const char script[] = "eval \"$(\"$PADDOCK_BUILDDIR/uninstalled/paddock\" server --parent $$ &)\"; "
                                 "\"$PADDOCK_BUILDDIR/uninstalled/paddock\" lock /demo sh -c 'echo ran; exit 3'";
    struct program shell;
    CHECK_EQ(program_run(&shell, ARGS("env", "-u", "PADDOCK_HOSTS", "sh", "-c", script), 0), 3);
    CHECK_WITHIN(GENEROUS, entries() == 0);
}

static void port_taken(void)
{
    char port[16];
    cli_start(&c, ARGS("server"));
    snprintf(port, sizeof port, "%d", announced(&c));
    CHECK_EQ(cli_run(&d, ARGS("server", "--port", port)), 69);
    CHECK_ONE_LINE(&d);
    CHECK(strstr(d.err, port) != NULL && strstr(d.err, "is in use") != NULL);
    CHECK_STR(d.out, "");
    kill(c.pid, SIGTERM);
    CHECK_EQ(program_wait(&c), 0);
    CHECK_EQ(entries(), 0);
}

static void no_such_parent(void)
{
    CHECK_EQ(cli_run(&c, ARGS("server", "--parent", "2147483647")), 64);
    CHECK_ONE_LINE(&c);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"it serves when it says so, and SIGTERM ends it without a trace", serves},
        {"SIGINT ends it without a trace", interrupted},
        {"SIGTERM ends it before it serves", terminated_before_it_serves},
        {"SIGINT ends it before it serves", interrupted_before_it_serves},
        {"a directory that Java would read as another one is refused", names_of_data},
        {"a directory with needless slashes in its name is served", slashes_of_data},
        {"a directory that another server uses is told in one line, 69; not when that one was killed", data_in_use},
        {"a directory that it may not write to is told in one line, 69", data_not_writable},
        {"the longest tick is served", long_ticks},
        {"a relative JAVA_HOME is served", relative_java},
        {"a directory that is called java is passed over", directory_java},
        {"a relative TMPDIR is served, also with CDPATH", relative_tmpdir},
        {"a missing TMPDIR: one line, 69", nowhere_to_work},
        {"kill -9 leaves neither server nor directory", killed},
        {"kill -9 of its parent leaves neither server nor directory", parent_killed},
        {"a script may evaluate its line, and ends it by ending", evaluated},
        {"a port that is taken is told in one line, 69", port_taken},
        {"a parent that is not there is told in one line, 64", no_such_parent},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "cli/server", .tests = tests, .setup = setup, .teardown = teardown});
}
