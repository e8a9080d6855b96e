/*
 * By the servers' logs, no run of a KEY begins after one that has succeeded, and none of a period sooner than that
 * after the last that counts. The logs have each beginning and each end that a worker was answered, and the success for
 * which it skipped the job. They have no end that was refused. And every success in the logs is of a worker that
 * worked, and said so.
 */
#include "lib/run_record.h"
#include "test/chaos/findings.h"

#include <paddock/error.h>
#include <stdlib.h>
#include <string.h>

enum { CLOCK_NS = 2000000 };

/* A write of the record that begins a run, or ends it. */
struct step {
    struct pdk__run run;
    int64_t ns;
};

static struct {
    LIST(struct step) begins, ends;
} all;

/* --- the logs ---------------------------------------------------------------------------------------------------- */

static bool is_other(const struct pdk__run *a, const struct pdk__run *b)
{
    return a->token != b->token || a->begun_ms != b->begun_ms || strcmp(a->key, b->key) != 0 ||
           (a->status < 0 && b->status >= 0);
}

static void look_at_beginning(struct findings *f, const struct pdk__runs *before, const struct pdk__run *run)
{
    if (run->key[0] != '\0' && pdk__runs_have(before, run->key))
        breach(f, "jobs", "a run of '%s' begins with token %lld, and it is done", run->key, (long long)run->token);
    if (run->key[0] == '\0' && before->done.token > 0 && run->begun_ms - before->done.begun_ms < run->period_ms)
        breach(f, "jobs", "a run begins with token %lld, %lld ms after the last", (long long)run->token,
               (long long)(run->begun_ms - before->done.begun_ms));
}

static void look_at_write(const struct evidence *e, struct findings *f, const struct pdk__runs *before,
                          const struct pdk__runs *now, int64_t ms)
{
    const struct pdk__run *run = &now->last;
    bool counts = now->done.token != before->done.token || now->done.begun_ms != before->done.begun_ms;
    if (is_other(run, &before->last)) {
        look_at_beginning(f, before, run);
        PUSH(&all.begins) = (struct step){*run, evidence_ns(e, ms)};
    } else if (run->status >= 0 && before->last.status < 0) {
        PUSH(&all.ends) = (struct step){*run, evidence_ns(e, ms)};
    }
    if (counts && (run->status != 0 || now->done.token != run->token))
        breach(f, "jobs", "the run of token %lld counts, and has not succeeded", (long long)now->done.token);
}

static void look_at_logs(const struct evidence *e, struct findings *f)
{
    static struct pdk__runs before, now;
    pdk__runs_init(&before);
    for (size_t i = 0; i < e->truth.runs.n; i++) {
        const struct run_write *w = &e->truth.runs.list[i];
        const char *why = pdk__runs_parse(&now, w->text, w->size, w->ms);
        if (why != NULL)
            breach(f, "jobs", "a record of transaction %llx, and %s", (unsigned long long)w->zxid, why);
        else
            look_at_write(e, f, &before, &now, w->ms);
        before = now;
    }
}

/* --- the answers ------------------------------------------------------------------------------------------------- */

static bool is_of(const struct step *s, const struct request *r)
{
    return s->run.token == r->token && strcmp(s->run.key, r->job.key) == 0;
}

static bool has_begun(const struct request *r)
{
    for (size_t i = 0; i < all.begins.n; i++)
        if (is_of(&all.begins.list[i], r))
            return true;
    return false;
}

/* Was another run begun between the two? */
static bool was_followed(const struct step *end, int64_t until_ns)
{
    for (size_t i = 0; i < all.begins.n; i++)
        if (all.begins.list[i].ns >= end->ns && all.begins.list[i].ns <= until_ns + CLOCK_NS &&
            is_other(&all.begins.list[i].run, &end->run))
            return true;
    return false;
}

static const struct step *end_of(const struct request *r, int status)
{
    for (size_t i = 0; i < all.ends.n; i++)
        if (is_of(&all.ends.list[i], r) && all.ends.list[i].run.status == status)
            return &all.ends.list[i];
    return NULL;
}

/* A run for which the worker may skip its job: one of its KEY; or one that was young enough when it asked. */
static bool was_done(const struct evidence *e, const struct job_run *job)
{
    for (size_t i = 0; i < all.ends.n; i++) {
        const struct step *s = &all.ends.list[i];
        int64_t until_ns = evidence_ns(e, s->run.begun_ms) + job->period_ms * 1000000 + CLOCK_NS;
        bool fits = job->key[0] != '\0' ? strcmp(s->run.key, job->key) == 0 : until_ns >= job->begins_ns;
        if (s->run.status == 0 && s->ns <= job->begun_ns + CLOCK_NS && fits)
            return true;
    }
    return false;
}

static bool is_open(int rc) { return rc == PDK_EUNKNOWN || rc == PDK_EDISCONNECTED || rc == PDK_ETIMEDOUT; }

static void look_at_begun(const struct evidence *e, struct findings *f, const struct request *r)
{
    const struct job_run *job = &r->job;
    f->tally.jobs_begun += job->begun_rc == 0;
    f->tally.jobs_skipped += job->begun_rc == PDK_EDONE;
    if (job->begun_rc == 0 && !has_begun(r))
        breach(f, "jobs", "%s: its run of '%s' began, and is in no log", who(e, r), job->key);
    else if (job->begun_rc == PDK_EDONE && !was_done(e, job))
        breach(f, "jobs", "%s: '%s' is skipped, and was not done", who(e, r), job->key);
    else if (job->begun_rc != 0 && job->begun_rc != PDK_EDONE && job->begun_rc != PDK_ELOST && !is_open(job->begun_rc))
        breach(f, "jobs", "%s: to begin '%s' answered %s", who(e, r), job->key, pdk_strerrorname(job->begun_rc));
}

static void look_at_ended(const struct evidence *e, struct findings *f, const struct request *r)
{
    const struct job_run *job = &r->job;
    const struct step *end = end_of(r, job->status);
    f->tally.jobs_done += job->ended_rc == 0 && job->status == 0;
    if (job->ended_rc == 0 && end == NULL)
        breach(f, "jobs", "%s: its run of '%s' ended with %d, and that is in no log", who(e, r), job->key, job->status);
    else if (job->ended_rc == PDK_ELOST && end != NULL && !was_followed(end, job->ended_ns))
        breach(f, "jobs", "%s: the end of '%s' was refused, and is in the logs", who(e, r), job->key);
    else if (job->ended_rc != 0 && job->ended_rc != PDK_ELOST && !is_open(job->ended_rc))
        breach(f, "jobs", "%s: to end '%s' answered %s", who(e, r), job->key, pdk_strerrorname(job->ended_rc));
}

static void look_at_answers(const struct evidence *e, struct findings *f, const struct request *r)
{
    bool may_owe = e->processes.list[r->process].killed_ns != NEVER;
    if (r->job.n_begins > 1)
        breach(f, "jobs", "%s began %d runs", who(e, r), r->job.n_begins);
    if (r->job.begun_ns != NEVER)
        look_at_begun(e, f, r);
    if (r->job.ended_ns != NEVER)
        look_at_ended(e, f, r);
    bool owes = r->job.begun_ns == NEVER || (r->job.begun_rc == 0 && r->job.ended_ns == NEVER);
    if (owes && !may_owe)
        breach(f, "jobs", "%s: its run of '%s' has no answer", who(e, r), r->job.key);
}

/* --- the work ---------------------------------------------------------------------------------------------------- */

static int count_said(const struct evidence *e, const struct step *s)
{
    int n = 0;
    for (size_t i = 0; i < e->requests.n; i++) {
        const struct request *r = &e->requests.list[i];
        n += r->job.n_begins > 0 && is_of(s, r) && r->job.status == 0 && r->job.ends_ns <= s->ns + CLOCK_NS;
    }
    return n;
}

/* With hand-over a token has several owners, each of whom may have run jobs. */
static void look_at_successes(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < all.ends.n; i++) {
        const struct step *s = &all.ends.list[i];
        int n = 0;
        for (size_t j = 0; j <= i; j++) {
            const struct pdk__run *other = &all.ends.list[j].run;
            n += other->status == 0 && other->token == s->run.token && strcmp(other->key, s->run.key) == 0;
        }
        if (s->run.status == 0 && n > count_said(e, s))
            breach(f, "jobs", "a success of '%s' with token %lld is in the logs, and no worker has said so", s->run.key,
                   (long long)s->run.token);
    }
}

/* A server that has lost a committed transaction may have lost a record. */
void law_jobs(const struct evidence *e, struct findings *f)
{
    if (e->n_dissenters == 0) {
        look_at_logs(e, f);
        look_at_successes(e, f);
        for (size_t i = 0; i < e->requests.n; i++)
            if (e->requests.list[i].job.n_begins > 0)
                look_at_answers(e, f, &e->requests.list[i]);
    }
    free(all.begins.list);
    free(all.ends.list);
    memset(&all, 0, sizeof all);
}
