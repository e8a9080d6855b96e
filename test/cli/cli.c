#include "test/cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static const char *program(void)
{
    static char path[4096];
    const char *dir = getenv("PADDOCK_BUILDDIR");
    snprintf(path, sizeof path, "%s/paddock", dir != NULL ? dir : ".");
    return path;
}

void cli_as_by_hand(void)
{
    signal(SIGHUP, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
}

/* In the child. */
static void become(const struct cli *c, int in, const char *const *arguments)
{
    const char *argv[32] = {"paddock"};
    for (int i = 0; i < 30 && arguments[i] != NULL; i++)
        argv[i + 1] = arguments[i];
    dup2(in, STDIN_FILENO);
    dup2(c->out_file, STDOUT_FILENO);
    dup2(c->err_file, STDERR_FILENO);
    closefrom(3);
    execv(program(), (char *const *)argv);
    _exit(99);
}

static void start(struct cli *c, int in, const char *const *arguments)
{
    *c = (struct cli){
        .in = -1, .out_file = memfd_create("out", MFD_CLOEXEC), .err_file = memfd_create("err", MFD_CLOEXEC)};
    c->pid = pdk__test_fork();
    if (c->pid == 0)
        become(c, in, arguments);
    CHECK(c->pid > 0);
    close(in);
}

void cli_start(struct cli *c, const char *const *arguments)
{
    start(c, open("/dev/null", O_RDONLY | O_CLOEXEC), arguments);
}

void cli_start_fed(struct cli *c, const char *const *arguments)
{
    int ends[2];
    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    start(c, ends[0], arguments);
    c->in = ends[1];
}

void cli_close_input(struct cli *c)
{
    close(c->in);
    c->in = -1;
}

static void look(int fd, char *text, size_t size)
{
    ssize_t n = fd >= 0 ? pread(fd, text, size - 1, 0) : -1;
    if (n >= 0)
        text[n] = '\0';
}

void cli_look(struct cli *c)
{
    look(c->out_file, c->out, sizeof c->out);
    look(c->err_file, c->err, sizeof c->err);
}

int cli_wait(struct cli *c)
{
    int status = pdk__test_wait(c->pid);
    cli_look(c);
    if (c->in >= 0)
        cli_close_input(c);
    close(c->out_file);
    close(c->err_file);
    c->out_file = c->err_file = -1;
    return status;
}

int cli_run(struct cli *c, const char *const *arguments)
{
    cli_start(c, arguments);
    return cli_wait(c);
}

bool cli_said(struct cli *c, const char *text)
{
    cli_look(c);
    pdk__test_saw_text("its output", c->out);
    return strstr(c->out, text) != NULL;
}

bool cli_complained(struct cli *c, const char *text)
{
    cli_look(c);
    pdk__test_saw_text("its complaint", c->err);
    return strstr(c->err, text) != NULL;
}

bool cli_one_line(const struct cli *c)
{
    const char *end = strchr(c->err, '\n');
    return strncmp(c->err, "paddock: ", 9) == 0 && end != NULL && end[1] == '\0';
}

static bool read_stat(pid_t pid, char *state, pid_t *parent, char *name)
{
    char file[64], line[512];
    snprintf(file, sizeof file, "/proc/%d/stat", (int)pid);
    FILE *in = fopen(file, "re");
    if (in == NULL)
        return false;
    char *got = fgets(line, sizeof line, in);
    fclose(in);
    char *end = got != NULL ? strrchr(line, ')') : NULL;
    if (end == NULL || sscanf(end + 1, " %c %d", state, parent) != 2)
        return false;
    *end = '\0';
    snprintf(name, 64, "%s", strchr(line, '(') + 1);
    return true;
}

bool cli_alive(pid_t pid)
{
    char state, name[64];
    pid_t parent;
    return read_stat(pid, &state, &parent, name) && state != 'Z' && state != 'X';
}

/* The command leads a process group of its runner's session; the other two lead a session of their own. */
static pid_t find(pid_t runner, bool guard)
{
    pid_t found = 0, parent;
    char state, name[64];
    DIR *dir = opendir("/proc");
    struct dirent *e;
    while (found == 0 && dir != NULL && (e = readdir(dir)) != NULL) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid > 0 && read_stat(pid, &state, &parent, name) && parent == runner && getsid(pid) == pid &&
            (strcmp(name, "pdk-guard") == 0) == guard)
            found = pid;
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

bool cli_has_session(pid_t runner) { return find(runner, false) != 0; }

static pid_t demand(pid_t runner, bool guard)
{
    pid_t found = find(runner, guard);
    if (found == 0)
        pdk__test_fail(__FILE__, __LINE__, "process %d (%s) has no %s", (int)runner,
                       cli_alive(runner) ? "running" : "ended", guard ? "guard" : "session process");
    return found;
}

pid_t cli_session_of(pid_t runner) { return demand(runner, false); }

pid_t cli_guard_of(pid_t runner) { return demand(runner, true); }
