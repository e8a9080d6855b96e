#include "test/demo/demo.h"

#include "test/docker/servers.h"
#include "test/interop/peer.h"
#include "test/lib/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENDS_MS = 60000, WORDS_MAX = 32 };

static char dir[64];
static const char *curator_path; /* the class path; NULL: Curator is not installed */

int demo_number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? atoi(text) : otherwise;
}

/* --- the directory of their records ------------------------------------------------------------------------------ */

void demo_begin(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(dir, sizeof dir, "%s/paddock-show-XXXXXX", tmp != NULL ? tmp : P_tmpdir);
    CHECK(mkdtemp(dir) != NULL);
}

void demo_file(const char *name, char *file, size_t size) { snprintf(file, size, "%s/%s", dir, name); }

bool demo_has_curator(void)
{
    static bool is_known;
    const char *why;
    if (!is_known && (curator_path = peer_class_path(dir, "test/demo/CuratorHolder.java", &why)) == NULL)
        printf("# without Curator: %s\n", why);
    is_known = true;
    return curator_path != NULL;
}

bool demo_can(const char *verb)
{
    struct program p;
    return program_run(&p, ARGS(program_built("paddock"), verb, "--help"), PROGRAM_OUTPUT | PROGRAM_ERRORS) == 0;
}

void demo_end(void)
{
    struct program rm;
    if (dir[0] != '\0')
        program_run(&rm, ARGS("rm", "-rf", dir), 0);
    dir[0] = '\0';
}

static void new_work(struct demo_process *a)
{
    static int n;
    char name[16];
    snprintf(name, sizeof name, "%d", ++n);
    demo_file(name, a->file, sizeof a->file);
    a->work = work_create(a->file);
    CHECK(a->work != NULL);
}

static void forget_work(struct demo_process *a)
{
    if (a->work == NULL)
        return;
    work_close(a->work);
    unlink(a->file);
    a->work = NULL;
}

/* --- starting them ----------------------------------------------------------------------------------------------- */

struct words {
    const char *argv[WORDS_MAX];
    int n;
};

static void add(struct words *w, const char *word)
{
    CHECK(w->n + 1 < WORDS_MAX);
    w->argv[w->n++] = word;
}

static struct words at(const struct seat *seat, char number[static 16])
{
    struct words w = {0};
    if (seat->place == 0)
        return w;
    snprintf(number, 16, "%d", seat->place);
    add(&w, servers_env("PADDOCK_FAULT"));
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

void demo_start(struct demo_process *a, enum kind kind, const struct seat *seat)
{
    char number[16], session[16];
    struct words w = at(seat, number);
    snprintf(session, sizeof session, "%d", seat->session_ms);
    if (kind == CURATOR)
        add_java(&w);
    else
        add(&w, program_built(kind == BARE ? "test/demo/bare" : "test/demo/holder"));
    add(&w, seat->hosts);
    add(&w, session);
    program_start(&a->program, w.argv, PROGRAM_INPUT);
}

void demo_order(struct demo_process *a, const char *path, const char *store)
{
    new_work(a);
    program_say(&a->program, "work %s %s %s", a->file, path, store != NULL ? store : "-");
}

void demo_store(struct demo_process *a, char *socket, size_t size)
{
    char record[PATH_MAX];
    demo_file("store", socket, size);
    demo_file("record", record, sizeof record);
    unlink(record); /* tokens of another lock */
    program_start(&a->program, ARGS(program_built("examples/fenced_store"), "serve", socket, record), 0);
    CHECK_WITHIN(ENDS_MS, access(socket, F_OK) == 0);
}

void demo_command(struct demo_process *a, const char *verb, const struct seat *seat, const char *path)
{
    char number[16], session[16];
    struct words w = at(seat, number);
    new_work(a);
    snprintf(session, sizeof session, "%d.%03d", seat->session_ms / 1000, seat->session_ms % 1000);
    add(&w, program_built("paddock"));
    add(&w, verb);
    if (strcmp(verb, "elect") == 0)
        add(&w, "--once");
    const char *const rest[] = {
        "-q", "-z", seat->hosts, "--session-timeout", session, path, "--", program_built("test/demo/child"), a->file};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        add(&w, rest[i]);
    program_start(&a->program, w.argv, 0);
}

/* --- asking them ------------------------------------------------------------------------------------------------- */

bool demo_works(const struct demo_process *a) { return atomic_load(&a->work->first_ns) != 0; }

/* A command has ended when its process has: its child writes nothing when it is killed. */
bool demo_ended(struct demo_process *a)
{
    return a->program.in > 0 ? atomic_load(&a->work->ended_ns) != 0 : program_ended(&a->program);
}

void demo_dismiss(struct demo_process *a)
{
    if (a->work == NULL)
        return;
    atomic_store(&a->work->must_end, 1);
    CHECK_WITHIN(ENDS_MS, demo_ended(a));
    forget_work(a);
}

void demo_kill(struct demo_process *a)
{
    program_kill(&a->program);
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

void demo_signal(const struct demo_process *a, enum kind kind, int signal)
{
    pid_t worker = (pid_t)atomic_load(&a->work->pid);
    pid_t pid = kind == COMMAND ? keeper(worker) : worker;
    CHECK(pid > 1);
    CHECK_EQ(kill(pid, signal), 0);
}
