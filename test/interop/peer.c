#include "test/interop/peer.h"

#include "test/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARE "/usr/share/java/"
#define PYTHON "/usr/bin/python3" /* the one that Debian's packages are for */

/* Generous: a virtual machine starts, on a machine that does other things too. */
enum { LIMIT_MS = 60000 };

static const char *const jars[][2] = {{SHARE "curator-recipes.jar", "libcurator-recipes-java"},
                                      {SHARE "curator-framework.jar", "libcurator-framework-java"},
                                      {SHARE "curator-client.jar", "libcurator-client-java"},
                                      {SHARE "guava.jar", "libguava-java"},
                                      {SHARE "zookeeper.jar", "libzookeeper-java"},
                                      {SHARE "slf4j-api.jar", "libslf4j-java"},
                                      {SHARE "slf4j-nop.jar", "libslf4j-java"}};

static char class_path[4096];
static struct {
    pid_t pid; /* 0: there is none */
    int in, out;
    char text[8192]; /* read and not yet given out */
    size_t n;
    char line[4096];
} peer = {.in = -1, .out = -1};

/* --- starting it ------------------------------------------------------------------------------------------------- */

/* NULL, or why not. */
static const char *missing_jar(const char *dir)
{
    static char reason[256];
    snprintf(class_path, sizeof class_path, "%s", dir);
    for (size_t i = 0; i < sizeof jars / sizeof *jars; i++) {
        snprintf(reason, sizeof reason, "no %s: apt-get install %s", jars[i][0], jars[i][1]);
        if (access(jars[i][0], R_OK) != 0)
            return reason;
        strncat(class_path, ":", sizeof class_path - strlen(class_path) - 1);
        strncat(class_path, jars[i][0], sizeof class_path - strlen(class_path) - 1);
    }
    return NULL;
}

/* No shell: the class path and the directories are handed over as they are. Status 127: no such program. */
static int run(char *const argv[])
{
    int status = 0;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execvp(argv[0], argv);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0)
        CHECK_EQ(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const char *peer_class_path(const char *dir, const char *source, const char **why)
{
    char file[4096], target[4096];
    const char *srcdir = getenv("PADDOCK_SRCDIR");
    if ((*why = missing_jar(dir)) != NULL)
        return NULL;
    snprintf(file, sizeof file, "%s/%s", srcdir ? srcdir : ".", source);
    snprintf(target, sizeof target, "%s", dir);
    char *argv[] = {"javac", "-J-XX:-UsePerfData", "-cp", class_path, "-d", target, file, NULL};
    int status = run(argv);
    if (status == 127) {
        *why = "no javac: apt-get install default-jdk-headless";
        return NULL;
    }
    CHECK_EQ(status, 0);
    return class_path;
}

void peer_compile(const char *dir)
{
    const char *why;
    signal(SIGPIPE, SIG_IGN); /* a peer that died shows by what it does not say */
    if (peer_class_path(dir, "test/interop/CuratorPeer.java", &why) == NULL)
        SKIP(why);
}

static void become_peer(int in, int out, char *const argv[])
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execvp(argv[0], argv);
    _exit(127);
}

static void start(char *const argv[])
{
    int in[2], out[2];
    CHECK_EQ(pipe2(in, O_CLOEXEC), 0);
    CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
    peer.pid = fork();
    CHECK(peer.pid >= 0);
    if (peer.pid == 0)
        become_peer(in[0], out[1], argv);
    close(in[0]);
    close(out[1]);
    peer.in = in[1];
    peer.out = out[0];
    peer.n = 0;
    CHECK_STR(peer_hear(), "ready");
}

void peer_start(int port, const char *path, int session_ms)
{
    char hosts[32], session[16], where[256];
    peer_end();
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
    snprintf(session, sizeof session, "%d", session_ms);
    snprintf(where, sizeof where, "%s", path);
    char *argv[] = {"java",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:-UsePerfData",
                    "-Xmx128m",
                    "-cp",
                    class_path,
                    "CuratorPeer",
                    hosts,
                    where,
                    session,
                    NULL};
    start(argv);
}

void peer_need_kazoo(void)
{
    char *argv[] = {PYTHON, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('kazoo') is None)",
                    NULL};
    signal(SIGPIPE, SIG_IGN); /* a peer that died shows by what it does not say */
    if (run(argv) != 0)
        SKIP("no kazoo: apt-get install python3-kazoo");
}

void peer_start_kazoo(int port, const char *path)
{
    char program[4096], hosts[32], where[256];
    const char *srcdir = getenv("PADDOCK_SRCDIR");
    peer_end();
    snprintf(program, sizeof program, "%s/test/interop/kazoo_peer.py", srcdir ? srcdir : ".");
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
    snprintf(where, sizeof where, "%s", path);
    char *argv[] = {PYTHON, "-B", program, hosts, where, NULL};
    start(argv);
}

/* --- talking to it ----------------------------------------------------------------------------------------------- */

void peer_say(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text - 1, format, args);
    va_end(args);
    CHECK(n > 0 && n < (int)sizeof text - 1);
    text[n] = '\n';
    CHECK_EQ(write(peer.in, text, (size_t)n + 1), n + 1);
}

static bool next_line(void)
{
    char *end = memchr(peer.text, '\n', peer.n);
    if (!end)
        return false;
    size_t n = (size_t)(end - peer.text);
    CHECK(n < sizeof peer.line);
    memcpy(peer.line, peer.text, n);
    peer.line[n] = '\0';
    peer.n -= n + 1;
    memmove(peer.text, end + 1, peer.n);
    return true;
}

static void read_more(void)
{
    struct pollfd p = {.fd = peer.out, .events = POLLIN};
    int n = poll(&p, 1, LIMIT_MS);
    if (n < 0 && errno == EINTR)
        return;
    if (n == 0)
        pdk__test_fail(__FILE__, __LINE__, "the peer says nothing for %d ms", LIMIT_MS);
    ssize_t got = read(peer.out, peer.text + peer.n, sizeof peer.text - peer.n);
    if (got <= 0)
        pdk__test_fail(__FILE__, __LINE__, "the peer has ended");
    peer.n += (size_t)got;
}

const char *peer_hear(void)
{
    while (!next_line())
        read_more();
    return peer.line;
}

bool peer_silent(void)
{
    struct pollfd p = {.fd = peer.out, .events = POLLIN};
    return peer.n == 0 && poll(&p, 1, 0) == 0;
}

/* --- ending it --------------------------------------------------------------------------------------------------- */

static void collect(void)
{
    while (waitpid(peer.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    peer.pid = 0;
    close(peer.in);
    close(peer.out);
    peer.in = peer.out = -1;
}

void peer_kill(void)
{
    if (peer.pid <= 0)
        return;
    kill(peer.pid, SIGKILL);
    collect();
}

void peer_end(void)
{
    if (peer.pid <= 0)
        return;
    close(peer.in); /* the end of its input */
    peer.in = -1;
    struct pollfd p = {.fd = peer.out};
    if (poll(&p, 1, LIMIT_MS) <= 0) /* it hangs up */
        kill(peer.pid, SIGKILL);
    collect();
}
