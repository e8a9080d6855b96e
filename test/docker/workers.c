#include "test/docker/workers.h"

#include "test/chaos/findings.h"
#include "test/docker/servers.h"
#include "test/lib/check.h"
#include "test/lib/program.h"
#include <inttypes.h>
#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECT_MS = 60000, LEAVE_MS = 30000 };

struct worker {
    struct program program;
    int place, n_orders;
    struct history *history;
};

static struct worker workers[WORKERS_MAX];
static int n_workers;
static char path[256];

/* --- coming and going -------------------------------------------------------------------------------------------- */

void workers_end(void)
{
    for (int i = 0; i < n_workers; i++) {
        program_kill(&workers[i].program);
        history_close(workers[i].history);
    }
    memset(workers, 0, sizeof workers);
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
             {"released", UNLOCKED, -1}};

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
    size_t n = history_size(workers[who].history), skipped = 0;
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
    workers_end();
}

void workers_begin(const char *lock_path)
{
    workers_abandon();
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

/* The file is deleted at once: both processes have it mapped by then. */
int workers_hire_to(const char *hosts, int session_ms)
{
    int who = n_workers, place = free_place();
    char file[256], number[16], session[16];
    const char *tmp = getenv("TMPDIR");
    CHECK(who < WORKERS_MAX);
    struct worker *w = &workers[who];
    snprintf(file, sizeof file, "%s/paddock-worker-%d-%d", tmp != NULL ? tmp : "/tmp", (int)getpid(), who);
    snprintf(number, sizeof number, "%d", place);
    snprintf(session, sizeof session, "%d", session_ms);
    CHECK((w->history = history_create(file, who, 1)) != NULL);
    w->place = place;
    n_workers++;
    program_start(
        &w->program,
        ARGS(servers_env("PADDOCK_FAULT"), "in", number, program_built("test/lib/worker"), file, hosts, session, path),
        PROGRAM_INPUT);
    workers_await(who, "connected", 1, CONNECT_MS);
    unlink(file);
    return who;
}

int workers_hire(int session_ms) { return workers_hire_to(servers_env("PADDOCK_TEST_HOSTS"), session_ms); }

int workers_place(int who) { return workers[who].place; }

void workers_dismiss(int who)
{
    struct program *p = &workers[who].program;
    program_close_input(p);
    CHECK_WITHIN(LEAVE_MS, program_ended(p));
    CHECK_EQ(p->status, 0);
}

/* --- events ------------------------------------------------------------------------------------------------------ */

static const struct what *find(const char *name)
{
    for (const struct what *w = whats; w < whats + WHATS; w++)
        if (strcmp(w->name, name) == 0)
            return w;
    pdk__test_fail(__FILE__, __LINE__, "no event is called %s", name);
}

static void look_after(int who)
{
    if (workers[who].program.runs && program_ended(&workers[who].program))
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

void workers_judge(void)
{
    struct evidence e = {0};
    for (int i = 0; i < n_workers; i++) {
        look_after(i);
        evidence_add(&e, workers[i].history);
    }
    evidence_settle(&e);
    const char *breach = judge_holders(&e);
    evidence_free(&e);
    if (breach != NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s", breach);
}
