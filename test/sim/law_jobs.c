/*
 * Of one KEY no two successes are recorded, and in one period no two; a success that was answered 0 is recorded, and
 * one that was refused is not; and a job is skipped only where one is.
 *
 * Times are those that leaders give. Two leaders' differ by SKEW_MS at the most, and what their clocks have drifted
 * apart.
 */
#include "lib/run_record.h"
#include "test/sim/laws.h"
#include <paddock/error.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 1024 };

static struct run {
    int64_t token, begun_ms;
    int ended; /* with the status; -1: not yet */
    bool refused;
} runs[RUNS_MAX];
static int n_runs;
static struct pdk__runs record;

static void begin(struct world *w)
{
    (void)w;
    n_runs = 0;
    pdk__runs_init(&record);
}

/* How far two leaders' times, or theirs and the time of day, are apart by now. */
static int64_t apart_ms(const struct world *w)
{
    return w->skew_ms + w->agenda.now / 1000 * 2 * w->drift_ppm / 1000000;
}

/* The last of the token. */
static struct run *find(int64_t token)
{
    for (int i = n_runs - 1; i >= 0; i--)
        if (runs[i].token == token)
            return &runs[i];
    return NULL;
}

/* An owner may do several runs under one token. */
static bool counted(int64_t token, int64_t begun_ms, bool any)
{
    for (int i = 0; i < n_runs; i++)
        if (runs[i].token == token && runs[i].begun_ms == begun_ms && (any || runs[i].ended == 0))
            return true;
    return false;
}

static void begins(struct world *w, const struct pdk__run *run, int64_t time_ms)
{
    if (n_runs == RUNS_MAX)
        abort();
    runs[n_runs++] = (struct run){.token = run->token, .begun_ms = time_ms, .ended = -1};
    if (run->key[0] != '\0' && pdk__runs_have(&record, run->key))
        world_break(w, law_jobs.name, "a run of %s begins, and it is done", run->key);
    if (run->key[0] == '\0' && record.done.token > 0 && time_ms - record.done.begun_ms < w->period_ms - apart_ms(w))
        world_break(w, law_jobs.name, "a run begins %lld ms after the last",
                    (long long)(time_ms - record.done.begun_ms));
}

static void ends(struct world *w, const struct pdk__run *run)
{
    struct run *known = find(run->token);
    if (known == NULL || known->ended >= 0)
        world_break(w, law_jobs.name, "a run ends twice, or has not begun");
    if (known->refused)
        world_break(w, law_jobs.name, "the end of a run was refused, and is recorded");
    if (run->begun_ms != known->begun_ms)
        world_break(w, law_jobs.name, "a run began at %lld, and is recorded for %lld", (long long)known->begun_ms,
                    (long long)run->begun_ms);
    known->ended = run->status;
}

static bool is_another(const struct pdk__run *run, const struct pdk__run *before)
{
    return run->token != before->token || run->begun_ms != before->begun_ms;
}

static void committed(struct world *w, const struct txn *txn)
{
    struct pdk__runs now;
    if (txn->kind != TXN_WRITE || txn->path != JOB_PATH)
        return;
    const char *why = pdk__runs_parse(&now, txn->text, (size_t)txn->size, txn->time_ms);
    if (why != NULL) {
        world_break(w, law_jobs.name, "a record is written, and %s", why);
        return;
    }
    if (is_another(&now.last, &record.last))
        begins(w, &now.last, txn->time_ms);
    else if (now.last.status >= 0 && record.last.status < 0)
        ends(w, &now.last);
    bool counts = now.done.token != record.done.token || now.done.begun_ms != record.done.begun_ms;
    if (counts && ((now.last.status != 0 && !w->any) || now.done.token != now.last.token))
        world_break(w, law_jobs.name, "a run counts that has not succeeded");
    record = now;
}

void law_jobs_ended(struct world *w, int64_t token, int status, int rc)
{
    struct run *run = find(token);
    if (run == NULL) {
        world_break(w, law_jobs.name, "a run ends whose beginning is not recorded");
        return;
    }
    if (rc == 0 && run->ended != status)
        world_break(w, law_jobs.name, "a run ended with %d, and %d is recorded", status, run->ended);
    if (rc == PDK_ELOST && run->ended >= 0 && record.last.token == token)
        world_break(w, law_jobs.name, "the end of a run was refused, and was recorded");
    run->refused = rc == PDK_ELOST;
}

void law_jobs_skipped(struct world *w, const pdk_runs *read, const char *key, int64_t date_ms)
{
    int64_t token = pdk_runs_number(read, PDK_RUN_DONE, PDK_RUN_TOKEN);
    int64_t begun_ms = pdk_runs_number(read, PDK_RUN_DONE, PDK_RUN_BEGUN_MS);
    see(SIGHT_JOB_SKIPPED);
    if (w->period_ms == 0 && !pdk__runs_have(&record, key))
        world_break(w, law_jobs.name, "%s is skipped, and was never done", key);
    if (!counted(token, begun_ms, w->any))
        world_break(w, law_jobs.name, "a job is skipped by a run that has not succeeded");
    if (w->period_ms > 0 && date_ms - begun_ms >= w->period_ms + apart_ms(w))
        world_break(w, law_jobs.name, "a job is skipped %lld ms after it was done", (long long)(date_ms - begun_ms));
}

const struct law law_jobs = {.name = "jobs", .begin = begin, .committed = committed};
