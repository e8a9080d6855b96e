#include "test/lib/program.h"

#include "test/lib/check.h"
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Only a failing test waits this long. */
enum { LIMIT_MS = 240000, GRACE_MS = 60000 };

/* One byte less than whole pages: the byte after the last that can be written is 0. */
enum { OUTPUT_SIZE = (1 << 20) - 1 };

/* --- starting ---------------------------------------------------------------------------------------------------- */

static const char *in_tree(const char *variable, const char *name)
{
    static char paths[4][PATH_MAX];
    static int n;
    const char *dir = getenv(variable);
    char *path = paths[n++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", dir != NULL ? dir : ".", name);
    return path;
}

const char *program_built(const char *name) { return in_tree("PADDOCK_BUILDDIR", name); }
const char *program_source(const char *name) { return in_tree("PADDOCK_SRCDIR", name); }

/* A file in memory that the program writes and the test reads as text. It cannot grow, so the text always ends.
 *
 * Linux guards the offset that processes share only of a file that was opened by name: two that write to the descriptor
 * of memfd_create() at once may write to the same place. */
static int capture(const char **text)
{
    char name[64];
    int made = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    CHECK(made >= 0 && ftruncate(made, OUTPUT_SIZE) == 0 && fcntl(made, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0);
    snprintf(name, sizeof name, "/proc/self/fd/%d", made);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    close(made);
    *text = mmap(NULL, OUTPUT_SIZE + 1, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(*text != MAP_FAILED);
    return fd;
}

/* In the child. FD[i] is to be its descriptor i; -1: the test's own. */
static void become(const int fd[3], const char *const *argv, bool leads)
{
    if (leads)
        setpgid(0, 0);
    for (int i = 0; i < 3; i++)
        if (fd[i] >= 0)
            dup2(fd[i], i);
    closefrom(3);
    signal(SIGPIPE, SIG_DFL);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

void program_start(struct program *p, const char *const *argv, int options)
{
    int ends[2] = {open("/dev/null", O_RDONLY | O_CLOEXEC), 0};
    *p = (struct program){.leads = (options & PROGRAM_GROUP) != 0, .began_ms = pdk__test_now_ms()};
    if ((options & PROGRAM_INPUT) != 0) {
        close(ends[0]);
        CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    }
    int fd[3] = {ends[0], (options & PROGRAM_OUTPUT) != 0 ? capture(&p->out) : -1,
                 (options & PROGRAM_ERRORS) != 0 ? capture(&p->err) : -1};
    p->pid = pdk__test_fork();
    if (p->pid == 0)
        become(fd, argv, p->leads);
    CHECK(p->pid > 0);
    if (p->leads)
        setpgid(p->pid, p->pid);
    p->runs = true;
    p->in = ends[1];
    for (int i = 0; i < 3; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

/* --- input and output -------------------------------------------------------------------------------------------- */

/* The test of a program that has died fails by what the program does not say. */
void program_say(struct program *p, const char *format, ...)
{
    char text[1024];
    va_list args;
    signal(SIGPIPE, SIG_IGN);
    va_start(args, format);
    int n = vsnprintf(text, sizeof text - 1, format, args);
    va_end(args);
    CHECK(n > 0 && n < (int)sizeof text - 1);
    text[n] = '\n';
    CHECK_EQ(write(p->in, text, (size_t)n + 1), n + 1);
}

void program_close_input(struct program *p)
{
    if (p->in > 0)
        close(p->in);
    p->in = 0;
}

bool program_said(const struct program *p, const char *text)
{
    pdk__test_saw_text("its output", p->out);
    return strstr(p->out, text) != NULL;
}

bool program_complained(const struct program *p, const char *text)
{
    pdk__test_saw_text("its errors", p->err);
    return strstr(p->err, text) != NULL;
}

/* A program that has ended prints nothing after this look. */
static const char *find(struct program *p, const char *words)
{
    bool ended = program_ended(p);
    const char *at = strstr(p->out + p->read, words);
    pdk__test_saw_text("its output", p->out);
    if (at == NULL && ended)
        pdk__test_fail(__FILE__, __LINE__, "it ended (%d) without \"%s\", but with: %s", p->status, words, p->out);
    return at;
}

const char *program_await(struct program *p, const char *words)
{
    const char *at;
    CHECK_WITHIN(LIMIT_MS, (at = find(p, words)) != NULL);
    at += strlen(words);
    p->read = (size_t)(at - p->out);
    return at;
}

int64_t program_await_number(struct program *p, const char *words)
{
    const char *number = program_await(p, words);
    program_await(p, "\n");
    return strtoll(number, NULL, 10);
}

const char *program_hear(struct program *p)
{
    static char line[4096];
    const char *from = p->out + p->read, *end = program_await(p, "\n") - 1;
    snprintf(line, sizeof line, "%.*s", (int)(end - from), from);
    return line;
}

bool program_silent(const struct program *p) { return p->out[p->read] == '\0'; }

/* --- ending ------------------------------------------------------------------------------------------------------ */

static const char *end_of(const char *text)
{
    size_t n = strlen(text), most = 300;
    return text + (n > most ? n - most : 0);
}

bool program_ended(struct program *p)
{
    int status;
    pid_t pid = p->runs ? waitpid(p->pid, &status, WNOHANG) : 0;
    CHECK(pid >= 0);
    if (pid == 0)
        return !p->runs;
    p->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    p->runs = false;
    if (p->err != NULL)
        pdk__test_note("%d ended (%d), and had said: %s", (int)pid, p->status, end_of(p->err));
    return true;
}

int program_wait(struct program *p)
{
    CHECK_WITHIN(LIMIT_MS, program_ended(p));
    program_close_input(p);
    return p->status;
}

int program_run(struct program *p, const char *const *argv, int options)
{
    program_start(p, argv, options);
    return program_wait(p);
}

void program_kill(struct program *p)
{
    if (!p->runs)
        return;
    kill(p->leads ? -p->pid : p->pid, SIGKILL);
    program_wait(p);
}

void program_end(struct program *p)
{
    int64_t until_ms = pdk__test_now_ms() + GRACE_MS;
    if (!p->runs)
        return;
    if (p->in == 0)
        kill(p->pid, SIGTERM);
    program_close_input(p);
    while (!program_ended(p) && pdk__test_now_ms() < until_ms)
        pdk__test_nap();
    if (p->leads)
        kill(-p->pid, SIGKILL);
    program_kill(p);
}
