#include "test/demo/rotate.h"

#include "test/chaos/findings.h"
#include "test/docker/workers.h"
#include "test/lib/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SOON_MS = 60000, SLACK_MS = 1000 };

static struct rotation *rotation;

/* --- candidates -------------------------------------------------------------------------------------------------- */

static void add_candidate(void)
{
    workers_start(&(struct job){.hosts = rotation->hosts,
                                .path = "/rotation", /* unused: the craft has its own */
                                .session_ms = rotation->session_ms,
                                .seed = (uint64_t)workers_size() + 1,
                                .craft = rotation->turns ? "turns+brief" : "latch+brief"});
}

static int64_t count_terms(void)
{
    int64_t n = 0;
    for (int i = 0; i < workers_size(); i++)
        n += atomic_load(&workers_history(i)->n_grants);
    return n;
}

static int leader(void)
{
    for (int i = 0; i < workers_size(); i++)
        if (workers_run(i) && atomic_load(&workers_history(i)->holding))
            return i;
    return -1;
}

/* --- kills ------------------------------------------------------------------------------------------------------- */

/* A process that had just stopped leading is no leader: killing it does not count. */
static void kill_leader(void)
{
    int who;
    CHECK_WITHIN(SOON_MS, (who = leader()) >= 0);
    workers_kill(who);
    rotation->n_kills += atomic_load(&workers_history(who)->holding);
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
    for (int i = 0; i < workers_size(); i++)
        atomic_store(&workers_history(i)->finish, 1);
    for (int i = 0; i < workers_size(); i++)
        if (workers_run(i))
            workers_dismiss(i);
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

static int64_t successor_after(const struct evidence *e, int64_t ns)
{
    for (size_t i = 0; i < e->n_grants; i++)
        if (e->requests.list[e->grants[i]].answered_ns > ns)
            return e->requests.list[e->grants[i]].answered_ns - ns;
    return INT64_MAX;
}

static void judge_successors(const struct evidence *e)
{
    struct rotation *r = rotation;
    struct samples took = {0};
    r->limit_ms = r->session_ms + r->tick_ms + SLACK_MS;
    for (int i = 0; i < workers_size(); i++) {
        if (workers_killed_ns(i) == 0 || !atomic_load(&workers_history(i)->holding))
            continue;
        int64_t ns = successor_after(e, workers_killed_ns(i));
        sample(&took, ns);
        r->n_within += ns <= r->limit_ms * 1000000;
    }
    r->median_ms = quantile(&took, 500) / 1000000;
    r->max_ms = quantile(&took, 1000) / 1000000;
    free(took.ns);
}

static void judge(void)
{
    struct evidence e = {0};
    workers_testify(&e, 0, workers_size());
    const char *breach = judge_holders(&e);
    rotation->n_terms = e.n_grants;
    rotation->n_processes = workers_size();
    if (breach != NULL)
        pdk__test_fail(__FILE__, __LINE__, "%s", breach);
    judge_successors(&e);
    evidence_free(&e);
    workers_end();
}

void rotation_run(struct rotation *r)
{
    rotation = r;
    workers_end();
    int64_t begun = now_ns();
    for (int i = 0; i < r->processes; i++)
        add_candidate();
    run();
    end_candidates();
    r->seconds = (int)((now_ns() - begun) / 1000000000);
    judge();
}
