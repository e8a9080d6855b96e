/*
 * Leadership that rotates among many processes, while the leader is killed repeatedly: by their own stamps there are
 * never two leaders, and a successor begins soon. On three real servers: docker/show starts them and runs this.
 *
 * PADDOCK_SHOW_PROCESSES (20), PADDOCK_SHOW_TERMS (100), PADDOCK_SHOW_KILLS (5), PADDOCK_SHOW_SESSION_MS (1000),
 * ZK_TICK_MS (200), the servers' own.
 */
#include "test/chaos/findings.h"
#include "test/demo/demo.h"
#include "test/docker/servers.h"
#include "test/lib/check.h"
#include "test/lib/history.h"

#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_MS = 20, SOON_MS = 60000, SLACK_MS = 1000 };

/* One process; the histories of killed processes are kept for the judge. */
struct candidate {
    struct program program;
    struct history *history;
    int64_t killed_ns; /* 0: it was not, or had just stopped leading */
};

static struct candidate *candidates;
static int n_candidates, n_kills;
static int processes, wanted_terms, wanted_kills, session_ms, tick_ms;
static char path[64];

/* --- candidates -------------------------------------------------------------------------------------------------- */

static void add_candidate(void)
{
    char name[32], file[PATH_MAX], session[16], most[16];
    candidates = realloc(candidates, (size_t)(n_candidates + 1) * sizeof *candidates);
    CHECK(candidates != NULL);
    struct candidate *c = &candidates[n_candidates];
    *c = (struct candidate){0};
    snprintf(name, sizeof name, "process-%d", n_candidates);
    demo_file(name, file, sizeof file);
    CHECK((c->history = history_create(file, n_candidates++, 1)) != NULL);
    snprintf(session, sizeof session, "%d", session_ms);
    snprintf(most, sizeof most, "%d", MOST_MS);
    program_start(&c->program,
                  ARGS(program_built("test/demo/candidate"), file, getenv("PADDOCK_TEST_HOSTS"), session, path, most),
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
        n_kills++;
    }
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
    int64_t limit_ms = session_ms + tick_ms + SLACK_MS, within = 0;
    int64_t *took = calloc((size_t)n_kills + 1, sizeof *took);
    size_t n = 0;
    CHECK(took != NULL);
    for (int i = 0; i < n_candidates; i++)
        if (candidates[i].killed_ns != 0) {
            took[n] = successor_after(e, candidates[i].killed_ns) / 1000000;
            within += took[n++] <= limit_ms;
        }
    qsort(took, n, sizeof *took, by_value);
    printf("# %d leaders killed; successor after, ms: median %" PRId64 ", max %" PRId64 "; within %" PRId64
           " ms (session + tick + 1 s): %" PRId64 "\n",
           n_kills, took[n / 2], took[n > 0 ? n - 1 : 0], limit_ms, within);
    free(took);
    CHECK_EQ(within, n_kills);
}

static void judge(void)
{
    struct evidence e = {0};
    for (int i = 0; i < n_candidates; i++)
        evidence_add(&e, candidates[i].history);
    evidence_settle(&e);
    const char *breach = judge_holders(&e);
    printf("# %zu terms of %d processes; two leaders at once, or a token that fell: %s\n", e.n_grants, n_candidates,
           breach != NULL ? breach : "never");
    if (breach != NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s", breach);
    judge_successors(&e);
    evidence_free(&e);
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
    processes = demo_number("PADDOCK_SHOW_PROCESSES", 20);
    wanted_terms = demo_number("PADDOCK_SHOW_TERMS", 100);
    wanted_kills = demo_number("PADDOCK_SHOW_KILLS", 5);
    session_ms = demo_number("PADDOCK_SHOW_SESSION_MS", 1000);
    tick_ms = demo_number("ZK_TICK_MS", 200);
    snprintf(path, sizeof path, "/paddock-show/%d/rotation", (int)getpid());
    servers_beat();
    demo_begin();
}

static void teardown(void)
{
    for (int i = 0; i < n_candidates; i++) {
        program_kill(&candidates[i].program);
        history_close(candidates[i].history);
    }
    free(candidates);
    demo_end();
    servers_beat_stop();
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
