/*
 * Leadership that rotates among many processes, while the leader is killed repeatedly: by their own stamps there are
 * never two leaders, and a successor begins soon. On three real servers: docker/show starts them and runs this.
 *
 * PADDOCK_SHOW_PROCESSES (20), PADDOCK_SHOW_TERMS (100), PADDOCK_SHOW_KILLS (5), PADDOCK_SHOW_SESSION_MS (1000),
 * ZK_TICK_MS (200), the servers' own.
 */
#include "test/docker/history.h"
#include "test/docker/lab.h"
#include "test/lib/check.h"
#include "test/show/cast.h"
#include "test/show/terms.h"
#include "test/show/work.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_MS = 20, SOON_MS = 60000, SLACK_MS = 1000, PROCESSES_MAX = 64 };

/* The record of one process; those of killed processes are kept for the judge. */
struct candidate {
    char name[24];
    pid_t pid; /* 0: dead */
    struct terms *terms;
};

static struct candidate *candidates;
static int n_candidates, n_kills;
static int64_t *kills; /* when */
static int processes, wanted_terms, wanted_kills, session_ms, tick_ms;
static char path[64];

/* --- candidates -------------------------------------------------------------------------------------------------- */

static void become(const char *file)
{
    char program[PATH_MAX], session[16], most[16];
    snprintf(program, sizeof program, "%s/test/show/candidate", getenv("PADDOCK_BUILDDIR"));
    snprintf(session, sizeof session, "%d", session_ms);
    snprintf(most, sizeof most, "%d", MOST_MS);
    execl(program, "candidate", file, getenv("PADDOCK_TEST_HOSTS"), session, path, most, (char *)NULL);
    _exit(127);
}

static void add_candidate(void)
{
    char file[PATH_MAX];
    candidates = realloc(candidates, (size_t)(n_candidates + 1) * sizeof *candidates);
    CHECK(candidates != NULL);
    struct candidate *c = &candidates[n_candidates];
    *c = (struct candidate){0};
    snprintf(c->name, sizeof c->name, "process %d", ++n_candidates);
    cast_file(c->name, file, sizeof file);
    CHECK((c->terms = terms_create(file)) != NULL);
    c->pid = pdk__test_fork();
    if (c->pid == 0)
        become(file);
    CHECK(c->pid > 0);
}

static int64_t count_terms(void)
{
    int64_t n = 0;
    for (int i = 0; i < n_candidates; i++)
        n += atomic_load(&candidates[i].terms->n);
    return n;
}

static struct candidate *leader(void)
{
    for (int i = 0; i < n_candidates; i++)
        if (candidates[i].pid != 0 && terms_now(candidates[i].terms) != NULL)
            return &candidates[i];
    return NULL;
}

/* --- kills ------------------------------------------------------------------------------------------------------- */

/* A process that had just stopped leading is no leader: killing it does not count. */
static void kill_leader(void)
{
    struct candidate *c;
    CHECK_WITHIN(SOON_MS, (c = leader()) != NULL);
    int64_t ns = work_now_ns();
    kill(c->pid, SIGKILL);
    CHECK_EQ(pdk__test_wait(c->pid), -SIGKILL);
    c->pid = 0;
    if (terms_now(c->terms) != NULL)
        kills[n_kills++] = ns;
    add_candidate();
}

/* The kills come evenly between the terms. */
static void run(void)
{
    int64_t said = 0;
    for (int64_t n; (n = count_terms()) < wanted_terms || n_kills < wanted_kills;) {
        if (n_kills < wanted_kills && n * wanted_kills >= (int64_t)n_kills * wanted_terms)
            kill_leader();
        if (n - said >= 200) {
            printf("# %" PRId64 " terms, %d kills\n", said = n, n_kills);
            fflush(stdout);
        }
        CHECK_WITHIN(SOON_MS, count_terms() > n);
    }
}

static void end_candidates(void)
{
    for (int i = 0; i < n_candidates; i++)
        atomic_store(&candidates[i].terms->wish, 1);
    for (int i = 0; i < n_candidates; i++)
        if (candidates[i].pid != 0) {
            pid_t pid = candidates[i].pid;
            candidates[i].pid = 0;
            CHECK_EQ(pdk__test_wait(pid), 0);
        }
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

static size_t collect(struct pdk__span *spans)
{
    size_t n = 0;
    for (int i = 0; i < n_candidates; i++) {
        struct terms *t = candidates[i].terms;
        for (int64_t k = 0; k < atomic_load(&t->n); k++)
            spans[n++] = (struct pdk__span){candidates[i].name, t->all[k].token, t->all[k].first_ns, t->all[k].last_ns};
    }
    return n;
}

/* Spans are in the order of their beginnings. */
static int64_t successor_after(const struct pdk__span *spans, size_t n, int64_t ns)
{
    for (size_t i = 0; i < n; i++)
        if (spans[i].from_ns > ns)
            return spans[i].from_ns - ns;
    return INT64_MAX;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void judge_successors(const struct pdk__span *spans, size_t n)
{
    int64_t limit_ms = session_ms + tick_ms + SLACK_MS, within = 0;
    int64_t *took = calloc((size_t)n_kills + 1, sizeof *took);
    CHECK(took != NULL);
    for (int i = 0; i < n_kills; i++) {
        took[i] = successor_after(spans, n, kills[i]) / 1000000;
        within += took[i] <= limit_ms;
    }
    qsort(took, (size_t)n_kills, sizeof *took, by_value);
    printf("# %d leaders killed; successor after, ms: median %" PRId64 ", max %" PRId64 "; within %" PRId64
           " ms (session + tick + 1 s): %" PRId64 "\n",
           n_kills, took[n_kills / 2], took[n_kills - 1], limit_ms, within);
    free(took);
    CHECK_EQ(within, n_kills);
}

static void judge(void)
{
    struct pdk__span *spans = calloc((size_t)count_terms() + 1, sizeof *spans);
    CHECK(spans != NULL);
    size_t n = collect(spans);
    const char *flaw = pdk__history_flaw(spans, n); /* and sorts them */
    printf("# %zu terms of %d processes; two leaders at once, or a token that fell: %s\n", n, n_candidates,
           flaw != NULL ? flaw : "never");
    if (flaw != NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s", flaw);
    judge_successors(spans, n);
    free(spans);
}

static void rotation(void)
{
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (int i = 0; i < processes; i++)
        add_candidate();
    run();
    end_candidates();
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("# %d processes at a time, session %d ms, tick %d ms, %ld s\n", processes, session_ms, tick_ms,
           (long)(ended.tv_sec - begun.tv_sec));
    judge();
}

/* --- the program ------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    if (getenv("PADDOCK_TEST_HOSTS") == NULL)
        SKIP("no ensemble; docker/show brings one up");
    processes = cast_number("PADDOCK_SHOW_PROCESSES", 20);
    wanted_terms = cast_number("PADDOCK_SHOW_TERMS", 100);
    wanted_kills = cast_number("PADDOCK_SHOW_KILLS", 5);
    session_ms = cast_number("PADDOCK_SHOW_SESSION_MS", 1000);
    tick_ms = cast_number("ZK_TICK_MS", 200);
    kills = calloc((size_t)wanted_kills + 1, sizeof *kills);
    CHECK(kills != NULL);
    snprintf(path, sizeof path, "/paddock-show/%d/rotation", (int)getpid());
    pdk__lab_beat();
    cast_begin();
}

static void teardown(void)
{
    for (int i = 0; i < n_candidates; i++) {
        if (candidates[i].pid != 0) {
            kill(candidates[i].pid, SIGKILL);
            pdk__test_wait(candidates[i].pid);
        }
        terms_close(candidates[i].terms);
    }
    free(candidates);
    free(kills);
    cast_end();
    pdk__lab_beat_stop();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"never two leaders, and a successor soon after each was killed", rotation},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "rotation", .tests = tests, .setup = setup, .teardown = teardown, .limit_ms = 4 * 3600 * 1000});
}
