#include "test/docker/workers.h"

#include "test/chaos/findings.h"
#include "test/docker/servers.h"
#include "test/interop/peer.h"
#include "test/lib/check.h"
#include "test/lib/program.h"
#include <inttypes.h>
#include <limits.h>
#include <paddock.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_MS = 60000, LEAVE_MS = 60000, WAITS_MS = 500, WORDS_MAX = 32, NAME_MAX_BYTES = 32 };

struct worker {
    struct program program;
    enum kind kind;
    bool is_hired;
    int place, n_orders;
    int64_t killed_ns; /* 0: it was not */
    struct history *history;
};

static struct worker *workers;
static int n_workers, n_files;
static char path[256], dir[PATH_MAX - NAME_MAX_BYTES];
static const char *curator_path; /* the class path; NULL: Curator is not installed */

int workers_number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? atoi(text) : otherwise;
}

/* --- their directory --------------------------------------------------------------------------------------------- */

void workers_file(const char *name, char *file, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    if (dir[0] == '\0') {
        snprintf(dir, sizeof dir, "%s/paddock-workers-XXXXXX", tmp != NULL ? tmp : P_tmpdir);
        CHECK(mkdtemp(dir) != NULL);
    }
    snprintf(file, size, "%s/%s", dir, name);
}

static bool has_curator(void)
{
    static bool is_known;
    char file[PATH_MAX];
    const char *why;
    if (is_known)
        return curator_path != NULL;
    workers_file(".", file, sizeof file);
    if ((curator_path = peer_class_path(file, "test/demo/CuratorHolder.java", &why)) == NULL)
        printf("# without Curator: %s\n", why);
    is_known = true;
    return curator_path != NULL;
}

bool workers_can(enum kind kind, const char *verb)
{
    struct program p;
    if (kind != COMMAND)
        return kind != CURATOR || has_curator();
    return program_run(&p, ARGS(program_built("paddock"), verb, "--help"), PROGRAM_OUTPUT | PROGRAM_ERRORS) == 0;
}

void workers_leave(void)
{
    struct program rm;
    workers_end();
    if (dir[0] != '\0')
        program_run(&rm, ARGS("rm", "-rf", dir), 0);
    dir[0] = '\0';
}

/* --- coming and going -------------------------------------------------------------------------------------------- */

void workers_end(void)
{
    for (int i = 0; i < n_workers; i++) {
        program_kill(&workers[i].program);
        history_close(workers[i].history);
    }
    free(workers);
    workers = NULL;
    n_workers = 0;
}

/* RC -1: any. */
static const struct what {
    const char *name;
    enum event event;
    int rc;
} whats[] = {{"connected", SESSION, PDK_SESSION_CONNECTED},
             {"suspended", SESSION, PDK_SESSION_SUSPENDED},
             {"waiting", ASKED, -1},
             {"granted", GRANTED, -1},
             {"failed", FAILED, -1},
             {"held", TOLD, PDK_HELD},
             {"suspect", TOLD, PDK_SUSPECT},
             {"lost", TOLD, PDK_LOST},
             {"state", QUESTION, -1},
             {"released", UNLOCKED, -1},
             {"wrote", WROTE, -1}};

enum { WHATS = sizeof whats / sizeof *whats };

static bool is(const struct record *r, const struct what *w)
{
    return r->event == (int32_t)w->event && (w->rc < 0 || r->rc == w->rc);
}

static const char *name_of(const struct record *r)
{
    for (const struct what *w = whats; w < whats + WHATS; w++)
        if (is(r, w))
            return w->name;
    return "-";
}

/* For the reader of a failure: the first 13 events and the last 12, without states. */
static void tell_tail(int who)
{
    size_t n = workers[who].is_hired ? history_size(workers[who].history) : 0, skipped = 0;
    for (size_t i = 0; i < n; i++) {
        const struct record *r = &workers[who].history->records[i];
        skipped += r->event == QUESTION;
        if (r->event != QUESTION && (i - skipped <= 12 || i + 12 >= n))
            printf("# worker %d: %" PRId64 ".%06" PRId64 " %s token %" PRId64 " session %" PRIx64 " rc %d\n", who,
                   r->ns / 1000000000, r->ns / 1000 % 1000000, name_of(r), r->token, (uint64_t)r->session, (int)r->rc);
    }
}

void workers_abandon(void)
{
    for (int i = 0; i < n_workers; i++)
        tell_tail(i);
    workers_leave();
}

void workers_begin(const char *lock_path)
{
    for (int i = 0; i < n_workers; i++)
        tell_tail(i);
    workers_end();
    snprintf(path, sizeof path, "%s", lock_path);
}

static int free_place(void)
{
    bool taken[WORKERS_PLACES + 1] = {false};
    for (int i = 0; i < n_workers; i++)
        taken[workers[i].program.runs ? workers[i].place : 0] = true;
    for (int place = 1; place <= WORKERS_PLACES; place++)
        if (!taken[place])
            return place;
    pdk__test_fail(__FILE__, __LINE__, "no place is free");
}

/* --- what is started --------------------------------------------------------------------------------------------- */

/* A command line. Texts are those that nobody else keeps. */
struct words {
    const char *argv[WORDS_MAX];
    int n;
    char text[6][24];
    int n_texts;
};

static void add(struct words *w, const char *word)
{
    CHECK(w->n + 1 < WORDS_MAX);
    w->argv[w->n++] = word;
}

static void add_all(struct words *w, const char *const *words)
{
    for (; *words != NULL; words++)
        add(w, *words);
}

static const char *number(struct words *w, uint64_t n)
{
    char *text = w->text[w->n_texts++];
    snprintf(text, sizeof w->text[0], "%" PRIu64, n);
    return text;
}

static void add_command(struct words *w, const struct job *job, const char *file)
{
    char *session = w->text[w->n_texts++];
    snprintf(session, sizeof w->text[0], "%d.%03d", job->session_ms / 1000, job->session_ms % 1000);
    add_all(w, ARGS(program_built("paddock"), job->verb));
    if (strcmp(job->verb, "elect") == 0)
        add(w, "--once");
    add_all(w, ARGS("-q", "-z", job->hosts, "--session-timeout", session, job->path, "--",
                    program_built("test/demo/child"), file, number(w, (uint64_t)job->question_ms)));
}

/* A program's arguments are those of test/lib/worker.c. */
static void add_program(struct words *w, const struct job *job, const char *file)
{
    if (job->kind == CURATOR)
        add_all(w, ARGS("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx128m", "-cp",
                        curator_path, "CuratorHolder"));
    else
        add(w, program_built("test/lib/worker"));
    add_all(w, ARGS(file, job->hosts, number(w, (uint64_t)job->session_ms), job->path,
                    job->seed != 0 ? number(w, job->seed) : "-", number(w, (uint64_t)job->question_ms),
                    job->craft != NULL ? job->craft : "mutex"));
}

int workers_start(const struct job *job)
{
    char file[PATH_MAX], name[NAME_MAX_BYTES];
    struct words words = {0};
    int who = n_workers, place = job->place == FREE_PLACE ? free_place() : job->place;
    snprintf(name, sizeof name, "%d", ++n_files);
    workers_file(name, file, sizeof file);
    CHECK((workers = realloc(workers, (size_t)(n_workers + 1) * sizeof *workers)) != NULL);
    struct worker *w = &workers[n_workers++];
    *w = (struct worker){.kind = job->kind, .place = place};
    CHECK(job->kind == BARE || (w->history = history_create(file, who, 1)) != NULL);
    if (place > 0)
        add_all(&words, ARGS(servers_env("PADDOCK_FAULT"), "in", number(&words, (uint64_t)place)));
    if (job->kind == COMMAND)
        add_command(&words, job, file);
    else if (job->kind == BARE)
        add_all(&words, ARGS(program_built("test/demo/bare"), job->hosts, number(&words, (uint64_t)job->session_ms)));
    else
        add_program(&words, job, file);
    program_start(&w->program, words.argv, job->kind != COMMAND && job->seed == 0 ? PROGRAM_INPUT : 0);
    return who;
}

int workers_hire_to(const char *hosts, int session_ms)
{
    int who = workers_start(&(struct job){.place = FREE_PLACE, .hosts = hosts, .path = path, .session_ms = session_ms});
    workers[who].is_hired = true;
    workers_await(who, "connected", 1, CONNECT_MS);
    return who;
}

int workers_hire(int session_ms) { return workers_hire_to(servers_env("PADDOCK_TEST_HOSTS"), session_ms); }

int workers_place(int who) { return workers[who].place; }
struct history *workers_history(int who) { return workers[who].history; }
int workers_size(void) { return n_workers; }
int64_t workers_killed_ns(int who) { return workers[who].killed_ns; }
bool workers_run(int who) { return workers[who].program.runs; }

void workers_dismiss(int who)
{
    struct program *p = &workers[who].program;
    if (workers[who].history != NULL)
        atomic_store(&workers[who].history->finish, 1);
    if (p->in > 0)
        program_close_input(p);
    CHECK_WITHIN(LEAVE_MS, program_ended(p));
    CHECK(workers[who].kind != PROGRAM || p->status == 0);
}

void workers_kill(int who)
{
    struct worker *w = &workers[who];
    if (!w->program.runs)
        return;
    program_kill(&w->program);
    CHECK(w->kind != PROGRAM || w->program.status == -SIGKILL);
    w->killed_ns = now_ns();
}

/* --- signals ----------------------------------------------------------------------------------------------------- */

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

void workers_signal(int who, int signal)
{
    pid_t pid = atomic_load(&workers[who].history->pid);
    pid = workers[who].kind == COMMAND ? keeper(pid) : pid;
    CHECK(pid > 1);
    CHECK_EQ(kill(pid, signal), 0);
}

/* --- events ------------------------------------------------------------------------------------------------------ */

static const struct what *find(const char *name)
{
    for (const struct what *w = whats; w < whats + WHATS; w++)
        if (strcmp(w->name, name) == 0)
            return w;
    pdk__test_fail(__FILE__, __LINE__, "no event is called %s", name);
}

/* A command ends when its lock is lost. */
static void look_after(int who)
{
    struct worker *w = &workers[who];
    if (w->kind != COMMAND && w->program.runs && program_ended(&w->program))
        pdk__test_fail(__FILE__, __LINE__, "worker %d died", who);
}

size_t workers_count(int who, const char *name)
{
    const struct what *w = find(name);
    const struct history *h = workers[who].history;
    size_t n = 0;
    look_after(who);
    for (size_t i = 0; i < history_size(h); i++)
        n += is(&h->records[i], w);
    return n;
}

const struct record *workers_last(int who, const char *name)
{
    const struct what *w = find(name);
    const struct history *h = workers[who].history;
    for (size_t i = history_size(h); i-- > 0;)
        if (is(&h->records[i], w))
            return &h->records[i];
    return NULL;
}

struct record workers_await(int who, const char *what, size_t n, int ms)
{
    int64_t until = pdk__test_now_ms() + ms;
    while (workers_count(who, what) < n) {
        if (pdk__test_now_ms() >= until)
            pdk__test_fail(__FILE__, __LINE__, "worker %d: not '%s' %zu times within %d ms", who, what, n, ms);
        pdk__test_nap();
    }
    return *workers_last(who, what);
}

/* The child of a command writes nothing when it is killed. A program that locks repeatedly waits for a moment only,
 * unless its lock is lost. */
bool workers_stopped(int who)
{
    if (workers[who].kind == COMMAND)
        return program_ended(&workers[who].program);
    if (workers_count(who, "lost") > 0 || workers_count(who, "failed") > 0)
        return true;
    const struct record *asked = workers_last(who, "waiting"), *granted = workers_last(who, "granted");
    return granted != NULL && asked->ns > granted->ns && now_ns() - asked->ns > WAITS_MS * INT64_C(1000000);
}

/* --- orders ------------------------------------------------------------------------------------------------------ */

void workers_order(int who, const char *order)
{
    workers[who].n_orders++;
    program_say(&workers[who].program, "%s", order);
}

bool workers_rests(int who)
{
    look_after(who);
    return atomic_load(&workers[who].history->n_obeyed) == workers[who].n_orders;
}

struct record workers_do(int who, const char *order, const char *what, int ms)
{
    size_t n = workers_count(who, what);
    workers_order(who, order);
    return workers_await(who, what, n + 1, ms);
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

static void add_history(struct evidence *e, const struct worker *w)
{
    evidence_add(e, w->history);
    if (w->killed_ns != 0)
        e->processes.list[e->processes.n - 1].killed_ns = w->killed_ns;
}

void workers_testify(struct evidence *e, int first, int n)
{
    for (int i = first; i < first + n; i++)
        add_history(e, &workers[i]);
    evidence_settle(e);
}

void workers_judge(void)
{
    struct evidence e = {0};
    for (int i = 0; i < n_workers; i++) {
        look_after(i);
        if (workers[i].is_hired)
            add_history(&e, &workers[i]);
    }
    evidence_settle(&e);
    const char *breach = judge_holders(&e);
    evidence_free(&e);
    if (breach != NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s", breach);
}
