#include "test/demo/rotate.h"

#include "test/chaos/findings.h"
#include "test/demo/demo.h"
#include "test/lib/check.h"
#include "test/lib/history.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_MS = 20, SOON_MS = 60000, SLACK_MS = 1000 };

/* One process; the histories of killed processes are kept for the judge. */
struct candidate {
    struct program program;
    struct history *history;
    int64_t killed_ns; /* 0: it was not, or had just stopped leading */
};

static struct candidate *candidates;
static int n_candidates;
static struct rotation *rotation;

/* --- candidates -------------------------------------------------------------------------------------------------- */

static void add_candidate(void)
{
    char name[32], file[PATH_MAX], session[16], most[16];
    const struct rotation *r = rotation;
    candidates = realloc(candidates, (size_t)(n_candidates + 1) * sizeof *candidates);
    CHECK(candidates != NULL);
    struct candidate *c = &candidates[n_candidates];
    *c = (struct candidate){0};
    snprintf(name, sizeof name, "process-%d", n_candidates);
    demo_file(name, file, sizeof file);
    CHECK((c->history = history_create(file, n_candidates++, 1)) != NULL);
    snprintf(session, sizeof session, "%d", r->session_ms);
    snprintf(most, sizeof most, "%d", MOST_MS);
    program_start(&c->program,
                  ARGS(program_built("test/demo/candidate"), file, r->hosts, session, r->path, most,
                       r->turns ? "turns" : "latch"),
                  0);
}

static int64_t count_terms(void)
{
    int64_t n = 0;
    for (int i = 0; i < n_candidates; i++)
        n += atomic_load(&candidates[i].history->n_grants);
    return n;
}

static struct candidate *leader(void)
{
    for (int i = 0; i < n_candidates; i++)
        if (candidates[i].program.runs && atomic_load(&candidates[i].history->holding))
            return &candidates[i];
    return NULL;
}

/* --- kills ------------------------------------------------------------------------------------------------------- */

/* A process that had just stopped leading is no leader: killing it does not count. */
static void kill_leader(void)
{
    struct candidate *c;
    CHECK_WITHIN(SOON_MS, (c = leader()) != NULL);
    int64_t ns = now_ns();
    program_kill(&c->program);
    CHECK_EQ(c->program.status, -SIGKILL);
    if (atomic_load(&c->history->holding)) {
        c->killed_ns = ns;
        rotation->n_kills++;
    }
    add_candidate();
}

/* The kills come evenly between the terms. */
static bool is_kill_due(int64_t n_terms)
{
    const struct rotation *r = rotation;
    return r->n_kills < r->kills && n_terms * r->kills >= (int64_t)r->n_kills * r->terms;
}

static void run(void)
{
    int64_t said = 0;
    for (int64_t n; (n = count_terms()) < rotation->terms || rotation->n_kills < rotation->kills;) {
        if (is_kill_due(n))
            kill_leader();
        if (n - said >= 200) {
            printf("# %" PRId64 " terms, %d kills\n", said = n, rotation->n_kills);
            fflush(stdout);
        }
        CHECK_WITHIN(SOON_MS, count_terms() > n);
    }
}

static void end_candidates(void)
{
    for (int i = 0; i < n_candidates; i++)
        atomic_store(&candidates[i].history->finish, 1);
    for (int i = 0; i < n_candidates; i++)
        if (candidates[i].program.runs)
            CHECK_EQ(program_wait(&candidates[i].program), 0);
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

static int64_t successor_after(const struct evidence *e, int64_t ns)
{
    for (size_t i = 0; i < e->n_grants; i++)
        if (e->requests.list[e->grants[i]].answered_ns > ns)
            return e->requests.list[e->grants[i]].answered_ns - ns;
    return INT64_MAX;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void judge_successors(const struct evidence *e)
{
    struct rotation *r = rotation;
    int64_t *took = calloc((size_t)r->n_kills + 1, sizeof *took);
    size_t n = 0;
    CHECK(took != NULL);
    r->limit_ms = r->session_ms + r->tick_ms + SLACK_MS;
    for (int i = 0; i < n_candidates; i++)
        if (candidates[i].killed_ns != 0) {
            took[n] = successor_after(e, candidates[i].killed_ns) / 1000000;
            r->n_within += took[n++] <= r->limit_ms;
        }
    qsort(took, n, sizeof *took, by_value);
    r->median_ms = took[n / 2];
    r->max_ms = took[n > 0 ? n - 1 : 0];
    free(took);
}

static void judge(void)
{
    struct evidence e = {0};
    for (int i = 0; i < n_candidates; i++)
        evidence_add(&e, candidates[i].history);
    evidence_settle(&e);
    const char *breach = judge_holders(&e);
    rotation->n_terms = e.n_grants;
    rotation->n_processes = n_candidates;
    if (breach != NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s", breach);
    judge_successors(&e);
    evidence_free(&e);
}

void rotation_run(struct rotation *r)
{
    rotation = r;
    int64_t begun = now_ns();
    for (int i = 0; i < r->processes; i++)
        add_candidate();
    run();
    end_candidates();
    r->seconds = (int)((now_ns() - begun) / 1000000000);
    judge();
}

void rotation_end(void)
{
    for (int i = 0; i < n_candidates; i++) {
        program_kill(&candidates[i].program);
        history_close(candidates[i].history);
    }
    free(candidates);
    candidates = NULL;
    n_candidates = 0;
}
