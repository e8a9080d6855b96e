#include "test/show/cast.h"

#include "test/interop/peer.h"
#include "test/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDS_MS = 60000, WORDS_MAX = 32 };

static char dir[64];
static const char *curator_path; /* the class path; NULL: Curator is not installed */

static const char *env(const char *name)
{
    const char *value = getenv(name);
    if (value == NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s is not set; docker/check sets it", name);
    return value;
}

int cast_number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? atoi(text) : otherwise;
}

/* --- the directory of their records ------------------------------------------------------------------------------ */

void cast_begin(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/paddock-show-XXXXXX", tmp != NULL ? tmp : P_tmpdir);
    CHECK(mkdtemp(dir) != NULL);
    signal(SIGPIPE, SIG_IGN); /* a program that died is noticed by its silence */
}

void cast_file(const char *name, char *file, size_t size) { snprintf(file, size, "%s/%s", dir, name); }

bool cast_has_curator(void)
{
    static bool is_known;
    const char *why;
    if (!is_known && (curator_path = peer_class_path(dir, "test/show/CuratorHolder.java", &why)) == NULL)
        printf("# without Curator: %s\n", why);
    is_known = true;
    return curator_path != NULL;
}

bool cast_can(const char *verb)
{
    char command[PATH_MAX + 64];
    snprintf(command, sizeof command, "'%s/paddock' %s --help >/dev/null 2>&1", env("PADDOCK_BUILDDIR"), verb);
    return system(command) == 0;
}

void cast_end(void)
{
    char *argv[] = {"rm", "-rf", dir, NULL};
    if (dir[0] == '\0')
        return;
    pid_t pid = fork();
    if (pid == 0) {
        execvp(argv[0], argv);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
    dir[0] = '\0';
}

static void new_work(struct actor *a)
{
    static int n;
    char name[16];
    snprintf(name, sizeof name, "%d", ++n);
    cast_file(name, a->file, sizeof a->file);
    a->work = work_create(a->file);
    CHECK(a->work != NULL);
}

static void forget_work(struct actor *a)
{
    if (a->work == NULL)
        return;
    work_close(a->work);
    unlink(a->file);
    a->work = NULL;
}

/* --- starting them ----------------------------------------------------------------------------------------------- */

struct words {
    char *argv[WORDS_MAX];
    int n;
};

static void add(struct words *w, const char *word)
{
    CHECK(w->n + 1 < WORDS_MAX);
    w->argv[w->n++] = (char *)word;
}

/* With IN as its standard input. */
static void start(struct actor *a, const struct words *w, int in)
{
    a->pid = pdk__test_fork();
    if (a->pid == 0) {
        dup2(in, STDIN_FILENO);
        execvp(w->argv[0], w->argv);
        _exit(127);
    }
    CHECK(a->pid > 0);
}

static struct words at(const struct seat *seat, char number[static 16])
{
    struct words w = {0};
    if (seat->place == 0)
        return w;
    snprintf(number, 16, "%d", seat->place);
    add(&w, env("PADDOCK_FAULT"));
    add(&w, "in");
    add(&w, number);
    return w;
}

static void add_java(struct words *w)
{
    static const char *const words[] = {
        "java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx128m", "-cp"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(w, words[i]);
    add(w, curator_path);
    add(w, "CuratorHolder");
}

void cast_start(struct actor *a, enum kind kind, const struct seat *seat)
{
    char number[16], session[16], program[PATH_MAX];
    int in[2];
    struct words w = at(seat, number);
    snprintf(program, sizeof program, "%s/test/show/%s", env("PADDOCK_BUILDDIR"), kind == BARE ? "bare" : "holder");
    snprintf(session, sizeof session, "%d", seat->session_ms);
    if (kind == CURATOR)
        add_java(&w);
    else
        add(&w, program);
    add(&w, seat->hosts);
    add(&w, session);
    if (seat->by_sync)
        add(&w, "sync");
    CHECK_EQ(pipe2(in, O_CLOEXEC), 0);
    start(a, &w, in[0]);
    close(in[0]);
    a->orders = in[1];
}

void cast_order(struct actor *a, const char *path, const char *store)
{
    new_work(a);
    CHECK(dprintf(a->orders, "work %s %s %s\n", a->file, path, store != NULL ? store : "-") > 0);
}

void cast_store(struct actor *a, char *socket, size_t size)
{
    char program[PATH_MAX], record[PATH_MAX];
    struct words w = {0};
    snprintf(program, sizeof program, "%s/examples/fenced_store", env("PADDOCK_BUILDDIR"));
    cast_file("store", socket, size);
    cast_file("record", record, sizeof record);
    unlink(record); /* tokens of another lock */
    add(&w, program);
    add(&w, "serve");
    add(&w, socket);
    add(&w, record);
    start(a, &w, STDIN_FILENO);
    CHECK_WITHIN(ENDS_MS, access(socket, F_OK) == 0);
}

void cast_command(struct actor *a, const char *verb, const struct seat *seat, const char *path)
{
    char number[16], session[16], program[PATH_MAX], child[PATH_MAX];
    struct words w = at(seat, number);
    new_work(a);
    snprintf(program, sizeof program, "%s/paddock", env("PADDOCK_BUILDDIR"));
    snprintf(child, sizeof child, "%s/test/show/child", env("PADDOCK_BUILDDIR"));
    snprintf(session, sizeof session, "%d.%03d", seat->session_ms / 1000, seat->session_ms % 1000);
    add(&w, program);
    add(&w, verb);
    if (strcmp(verb, "elect") == 0)
        add(&w, "--once");
    const char *const rest[] = {"-q", "-z", seat->hosts, "--session-timeout", session, path, "--", child, a->file};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        add(&w, rest[i]);
    start(a, &w, STDIN_FILENO);
}

/* --- asking them ------------------------------------------------------------------------------------------------- */

bool cast_works(const struct actor *a) { return atomic_load(&a->work->first_ns) != 0; }

static bool is_gone(struct actor *a)
{
    if (a->pid > 0 && waitpid(a->pid, NULL, WNOHANG) == a->pid)
        a->pid = 0;
    return a->pid == 0;
}

/* A command has ended when its process has: its child writes nothing when it is killed. */
bool cast_ended(struct actor *a) { return a->orders > 0 ? atomic_load(&a->work->ended_ns) != 0 : is_gone(a); }

void cast_dismiss(struct actor *a)
{
    if (a->work == NULL)
        return;
    atomic_store(&a->work->wish, 1);
    CHECK_WITHIN(ENDS_MS, cast_ended(a));
    forget_work(a);
}

void cast_kill(struct actor *a)
{
    if (a->orders > 0)
        close(a->orders);
    a->orders = 0;
    if (a->pid > 0) {
        kill(a->pid, SIGKILL);
        waitpid(a->pid, NULL, 0);
    }
    a->pid = 0;
    forget_work(a);
}

static pid_t parent(pid_t pid)
{
    char file[64], text[512];
    int is = 0;
    snprintf(file, sizeof file, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(file, "re");
    if (f != NULL && fgets(text, sizeof text, f) != NULL)
        sscanf(strrchr(text, ')') + 1, " %*c %d", &is);
    if (f != NULL)
        fclose(f);
    return is;
}

/* The process of a command that keeps the session: the other child of CHILD's parent. */
static pid_t keeper(pid_t child)
{
    char file[64];
    int pid = 0;
    pid_t runner = parent(child);
    snprintf(file, sizeof file, "/proc/%d/task/%d/children", (int)runner, (int)runner);
    FILE *f = fopen(file, "re");
    while (f != NULL && fscanf(f, "%d", &pid) == 1 && pid == child)
        ;
    if (f != NULL)
        fclose(f);
    return pid != child ? pid : 0;
}

void cast_signal(const struct actor *a, enum kind kind, int signal)
{
    pid_t worker = (pid_t)atomic_load(&a->work->pid);
    pid_t pid = kind == COMMAND ? keeper(worker) : worker;
    CHECK(pid > 1);
    CHECK_EQ(kill(pid, signal), 0);
}
