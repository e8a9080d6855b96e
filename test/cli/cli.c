#include "test/cli/cli.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_as_by_hand(void)
{
    signal(SIGHUP, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
}

static void start(struct program *p, const char *const *arguments, int options)
{
    const char *argv[32] = {program_built("uninstalled/paddock")};
    for (int i = 0; i < 30 && arguments[i] != NULL; i++)
        argv[i + 1] = arguments[i];
    program_start(p, argv, PROGRAM_OUTPUT | PROGRAM_ERRORS | options);
}

void cli_start(struct program *p, const char *const *arguments) { start(p, arguments, 0); }

void cli_start_fed(struct program *p, const char *const *arguments) { start(p, arguments, PROGRAM_INPUT); }

int cli_run(struct program *p, const char *const *arguments)
{
    cli_start(p, arguments);
    return program_wait(p);
}

/* A line that tells of a release whose answer takes more than a second; of a command that ran for so long. */
static bool is_patience(const struct program *c, const char *line, size_t size)
{
    static const char words[] = "waiting up to 5 s for a server, to ";
    return memmem(line, size, words, sizeof words - 1) != NULL && pdk__test_now_ms() - c->began_ms >= 1000;
}

/* The other lines, those that begin with START and have WORD in them. */
static int count_lines(const struct program *c, const char *start, const char *word)
{
    int n = 0;
    for (const char *line = c->err, *end; *line != '\0'; line = end) {
        end = line + strcspn(line, "\n");
        end += *end == '\n';
        size_t size = (size_t)(end - line);
        n += !is_patience(c, line, size) && strncmp(line, start, strlen(start)) == 0 &&
             memmem(line, size, word, strlen(word)) != NULL;
    }
    return n;
}

bool cli_unnamed(const struct program *c) { return count_lines(c, "", "paddock") == 0; }

bool cli_one_line(const struct program *c)
{
    size_t size = strlen(c->err);
    return count_lines(c, "", "") == 1 && count_lines(c, "paddock: ", "") == 1 && c->err[size - 1] == '\n';
}

bool cli_quiet(const struct program *c) { return count_lines(c, "", "") == 0; }

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

bool cli_stopped(pid_t pid)
{
    char state, name[64];
    pid_t parent;
    return read_stat(pid, &state, &parent, name) && state == 'T';
}

void cli_preload(const char *module)
{
    char file[64];
    if (module == NULL) {
        unsetenv("LD_PRELOAD");
        return;
    }
    snprintf(file, sizeof file, "test/cli/.libs/%s.so", module);
    CHECK_EQ(access(program_built(file), R_OK), 0);
    setenv("LD_PRELOAD", program_built(file), 1);
}

static pid_t find(pid_t runner, const char *called)
{
    pid_t found = 0, parent;
    char state, name[64];
    DIR *dir = opendir("/proc");
    struct dirent *e;
    while (found == 0 && dir != NULL && (e = readdir(dir)) != NULL) {
        pid_t pid = (pid_t)atoi(e->d_name);
        if (pid > 0 && read_stat(pid, &state, &parent, name) && parent == runner && getpgid(pid) == pid &&
            strcmp(name, called) == 0)
            found = pid;
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

bool cli_has_session(pid_t runner) { return find(runner, "pdk-session") != 0; }

static pid_t demand(pid_t runner, const char *called)
{
    pid_t found = find(runner, called);
    if (found == 0)
        pdk__test_fail(__FILE__, __LINE__, "process %d (%s) has no %s", (int)runner,
                       cli_alive(runner) ? "running" : "ended", called);
    return found;
}

pid_t cli_session_of(pid_t runner) { return demand(runner, "pdk-session"); }

pid_t cli_guard_of(pid_t runner) { return demand(runner, "pdk-guard"); }

void cli_next_finds_ended(const char *verb, const char *path, pid_t a, pid_t b)
{
    struct program next;
    char look[512];
    snprintf(look, sizeof look,
             "for p in %d %d; do case $(sed -n 's/^State:.\\(.\\).*/\\1/p; s/^SigPnd:.*\\(.\\)..$/\\1/p' "
             "/proc/$p/status 2>/dev/null) in ''|Z*|X*|*[13579bdf]) ;; *) exit 5 ;; esac; done",
             (int)a, (int)b);
    int status = cli_run(&next, ARGS(verb, path, "sh", "-c", look));
    CHECK_LAW(status != 5);
    CHECK_EQ(status, 0);
}
