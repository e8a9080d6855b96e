#include "program.h"

#include "test/lib/check.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Generous: only a test that fails spends it. */
enum { LIMIT_MS = 90000, GRACE_MS = 10000 };

static struct {
    pid_t pid;
    int out;
    char text[1 << 20]; /* all it said so far */
    size_t n, seen;     /* seen: up to where await() has looked */
} program = {.out = -1};

static void become(int out, const char *tmpdir, char *const argv[])
{
    char path[PATH_MAX];
    const char *dir = getenv("PADDOCK_BUILDDIR");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(out, STDOUT_FILENO);
    if (tmpdir)
        setenv("TMPDIR", tmpdir, 1);
    snprintf(path, sizeof path, "%s/examples/%s", dir ? dir : ".", argv[0]);
    ((char **)argv)[0] = path; /* as a shell does; in the child alone */
    execv(path, argv);
    _exit(127);
}

pid_t program_start(const char *tmpdir, char *const argv[])
{
    int out[2];
    program_end();
    CHECK_EQ(pipe2(out, O_CLOEXEC), 0);
    program.n = program.seen = 0;
    program.pid = fork();
    CHECK(program.pid >= 0);
    if (program.pid == 0)
        become(out[1], tmpdir, argv);
    setpgid(program.pid, program.pid);
    close(out[1]);
    program.out = out[0];
    program.text[0] = '\0';
    return program.pid;
}

/* False at the end of its output. */
static bool read_more(void)
{
    struct pollfd p = {.fd = program.out, .events = POLLIN};
    CHECK(program.n < sizeof program.text - 1);
    if (poll(&p, 1, LIMIT_MS) == 0)
        pdk__test_fail(__FILE__, __LINE__, "it says nothing more after: %s", program.text);
    ssize_t n = read(program.out, program.text + program.n, sizeof program.text - 1 - program.n);
    CHECK(n >= 0);
    program.n += (size_t)n;
    program.text[program.n] = '\0';
    return n > 0;
}

const char *program_await(const char *words)
{
    const char *at;
    while (!(at = strstr(program.text + program.seen, words)))
        if (!read_more())
            pdk__test_fail(__FILE__, __LINE__, "it never said \"%s\", but: %s", words, program.text);
    at += strlen(words);
    program.seen = (size_t)(at - program.text);
    return at;
}

int64_t program_await_number(const char *words)
{
    const char *at = program_await(words);
    while (!strchr(at, '\n'))
        CHECK(read_more());
    return strtoll(at, NULL, 10);
}

int program_ended(void)
{
    while (read_more())
        ;
    close(program.out);
    int status = pdk__test_wait(program.pid);
    program.pid = 0;
    return status;
}

const char *program_said(void) { return program.text; }

/* It is given the time to clean up, and no more than that. */
void program_end(void)
{
    if (program.pid <= 0)
        return;
    close(program.out);
    kill(program.pid, SIGTERM);
    for (int64_t until = pdk__test_now_ms() + GRACE_MS; waitpid(program.pid, NULL, WNOHANG) == 0; pdk__test_nap())
        if (pdk__test_now_ms() >= until)
            kill(program.pid, SIGKILL);
    program.pid = 0;
}
