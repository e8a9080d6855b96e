/*
 * The law of jobs is judged, as test_judge.c does with the others: from lawful runs each test breaks one thing.
 *
 * The first grant does the job "a", the second skips it, the third begins "b" and fails, and the fourth does it.
 */
#include "lib/alloc.h"
#include "lib/run_record.h"
#include "test/chaos/findings.h"
#include "test/lib/check.h"
#include <paddock.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

static struct evidence e;
static struct findings *f;
static struct pdk__runs record;

/* --- lawful runs ------------------------------------------------------------------------------------------------- */

/* RECORD is written; its times are the servers'. */
static void write_record(int64_t ms)
{
    char *text = pdk__runs_format(&record);
    CHECK(text != NULL);
    PUSH(&e.truth.runs) = (struct run_write){.zxid = ms, .ms = ms, .text = strdup(text), .size = strlen(text)};
    CHECK(pdk__runs_parse(&record, text, strlen(text), ms) == NULL);
    pdk__free(text);
}

/* A run begins in the logs; without a KEY it has a period of 100 ms. */
static void log_begins(int64_t token, const char *key, int64_t ms)
{
    struct pdk__run run = {.token = token, .period_ms = *key == '\0' ? 100 : 0};
    strcpy(run.key, key);
    pdk__runs_begin(&record, &run, false);
    write_record(ms);
}

static void log_ends(int status, int64_t ms)
{
    pdk__runs_end(&record, status, status == 0);
    write_record(ms);
}

/* A grant whose holder asks for the job at MS, and is answered RC 3 ms later. */
static struct request *add_grant(int64_t token, const char *key, int64_t ms, int rc)
{
    struct request *r = &PUSH(&e.requests);
    *r = (struct request){.token = token,
                          .number = (int)token,
                          .job = {.n_begins = 1,
                                  .period_ms = *key == '\0' ? 100 : 0,
                                  .begins_ns = ms * MS,
                                  .begun_ns = (ms + 3) * MS,
                                  .begun_rc = rc,
                                  .ends_ns = NEVER,
                                  .ended_ns = NEVER}};
    strcpy(r->job.key, key);
    return r;
}

static void works(struct request *r, int64_t ms, int status)
{
    r->job.ends_ns = ms * MS;
    r->job.status = status;
    r->job.ended_ns = (ms + 5) * MS;
}

static struct request *grant_of(int64_t token)
{
    for (size_t i = 0; i < e.requests.n; i++)
        if (e.requests.list[i].token == token)
            return &e.requests.list[i];
    pdk__test_fail(__FILE__, __LINE__, "no grant %d", (int)token);
}

static void forget(void)
{
    evidence_free(&e);
    findings_free(f);
    e = (struct evidence){.session_ms = 2000};
    pdk__runs_init(&record);
    PUSH(&e.processes) = (struct process){.generation = 1, .pid = 100, .killed_ns = NEVER, .ended_ns = 1000 * MS};
    PUSH(&e.clocks) = (struct clock_pair){.ns = 0, .wall_ns = 0};
}

static void lawful(void)
{
    forget();
    log_begins(10, "a", 121);
    log_ends(0, 152);
    log_begins(30, "b", 311);
    log_ends(1, 332);
    log_begins(40, "b", 411);
    log_ends(0, 432);
    works(add_grant(10, "a", 120, 0), 150, 0);
    add_grant(20, "a", 210, PDK_EDONE);
    works(add_grant(30, "b", 310, 0), 330, 1);
    works(add_grant(40, "b", 410, 0), 430, 0);
}

static void breaks(const char *why)
{
    law_jobs(&e, f);
    CHECK(f->n_breaches > 0);
    for (int i = 0; i < f->n_breaches; i++)
        if (strncmp(f->breach[i], "jobs: ", 6) != 0 || strstr(f->breach[i], why) == NULL)
            pdk__test_fail(__FILE__, __LINE__, "not %s: %s", why, f->breach[i]);
}

static void holds(void)
{
    law_jobs(&e, f);
    if (f->n_breaches > 0)
        pdk__test_fail(__FILE__, __LINE__, "%s", f->breach[0]);
}

static void lawful_runs_are_not_condemned(void)
{
    lawful();
    holds();
    CHECK_EQ(f->tally.jobs_begun, 3);
    CHECK_EQ(f->tally.jobs_done, 2);
    CHECK_EQ(f->tally.jobs_skipped, 1);
}

/* --- the logs ---------------------------------------------------------------------------------------------------- */

static void a_key_that_is_done_begins_again(void)
{
    lawful();
    log_begins(50, "b", 511);
    breaks("and it is done");
}

static void a_period_that_is_too_short(void)
{
    lawful();
    log_begins(50, "", 511);
    holds(); /* 100 ms after the beginning at 411 */
    log_ends(0, 515);
    works(add_grant(50, "", 510, 0), 513, 0);
    log_begins(60, "", 610);
    breaks("99 ms after the last");
}

static void a_failure_that_counts(void)
{
    lawful();
    log_begins(50, "c", 511);
    pdk__runs_end(&record, 1, true);
    write_record(520);
    breaks("has not succeeded");
}

static void a_record_that_cannot_be_read(void)
{
    lawful();
    strcpy(e.truth.runs.list[5].text, "{");
    e.truth.runs.list[5].size = 1;
    grant_of(40)->job.n_begins = 0;
    breaks("a record of transaction");
}

/* --- the answers ------------------------------------------------------------------------------------------------- */

static void a_beginning_in_no_log(void)
{
    lawful();
    works(add_grant(50, "c", 510, 0), 520, 0);
    grant_of(50)->job.ended_rc = PDK_EUNKNOWN;
    breaks("is in no log");
}

static void a_job_skipped_that_was_not_done(void)
{
    lawful();
    add_grant(50, "c", 510, PDK_EDONE);
    breaks("was not done");
    lawful();
    strcpy(grant_of(20)->job.key, "b"); /* whose first run failed, and whose second comes later */
    breaks("was not done");
}

static void a_period_skipped_that_was_over(void)
{
    lawful();
    add_grant(50, "", 510, PDK_EDONE);
    holds();
    add_grant(60, "", 515, PDK_EDONE);
    breaks("was not done");
}

static void an_end_in_no_log(void)
{
    lawful();
    grant_of(30)->job.status = 2;
    breaks("is in no log");
}

static void an_end_that_was_refused_and_is_there(void)
{
    lawful();
    grant_of(40)->job.ended_rc = PDK_ELOST;
    breaks("was refused");
    lawful();
    grant_of(40)->job.ended_rc = PDK_ELOST;
    log_begins(50, "c", 434); /* by then it cannot be told any more */
    holds();
}

static void strange_answers(void)
{
    lawful();
    add_grant(50, "c", 510, PDK_ERECORD);
    breaks("answered PDK_ERECORD");
    lawful();
    grant_of(40)->job.ended_rc = PDK_EPERM;
    breaks("answered PDK_EPERM");
    lawful();
    add_grant(50, "c", 510, PDK_EUNKNOWN);
    add_grant(60, "c", 610, PDK_ELOST);
    holds();
}

static void an_answer_that_is_missing(void)
{
    lawful();
    add_grant(50, "c", 510, 0)->job.begun_ns = NEVER;
    breaks("has no answer");
    lawful();
    grant_of(40)->job.ended_ns = NEVER;
    breaks("has no answer");
    lawful();
    grant_of(40)->job.ended_ns = NEVER;
    e.processes.list[0].killed_ns = 431 * MS;
    holds();
    grant_of(40)->job.n_begins = 2;
    breaks("began 2 runs");
}

/* --- the work ---------------------------------------------------------------------------------------------------- */

static void a_success_that_no_worker_has_said(void)
{
    lawful();
    e.processes.list[0].killed_ns = 429 * MS;
    grant_of(40)->job.ends_ns = grant_of(40)->job.ended_ns = NEVER;
    breaks("no worker has said so");
    lawful();
    grant_of(40)->job.ends_ns = 435 * MS; /* it is in the logs before */
    breaks("no worker has said so");
}

/* With hand-over a token has several owners. */
static void a_second_success_under_one_token(void)
{
    forget();
    log_begins(10, "", 111);
    log_ends(0, 115);
    log_begins(10, "", 221);
    log_ends(0, 225);
    works(add_grant(10, "", 110, 0), 114, 0);
    breaks("no worker has said so");
    f->n_breaches = 0;
    works(add_grant(10, "", 220, 0), 224, 0);
    holds();
}

static void a_server_that_lost_a_transaction(void)
{
    lawful();
    grant_of(30)->job.status = 2;
    e.n_dissenters = 1;
    holds();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"lawful runs are not condemned", lawful_runs_are_not_condemned},
        {"logs: a run of a KEY that is done", a_key_that_is_done_begins_again},
        {"logs: a run too soon after the last", a_period_that_is_too_short},
        {"logs: a failure that counts", a_failure_that_counts},
        {"logs: a record that cannot be read", a_record_that_cannot_be_read},
        {"answers: a beginning that is in no log", a_beginning_in_no_log},
        {"answers: a job skipped that was not done", a_job_skipped_that_was_not_done},
        {"answers: a job skipped whose period was over", a_period_skipped_that_was_over},
        {"answers: an end that is in no log", an_end_in_no_log},
        {"answers: an end that was refused, and is in the logs", an_end_that_was_refused_and_is_there},
        {"answers: errors that are allowed, and others", strange_answers},
        {"answers: one that is missing", an_answer_that_is_missing},
        {"work: a success that no worker has said", a_success_that_no_worker_has_said},
        {"work: a second success under one token", a_second_success_under_one_token},
        {"a server that lost a transaction is known for it", a_server_that_lost_a_transaction},
        {0}};
    static struct findings all;
    f = &all;
    int rc = pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "jobs", .tests = tests});
    evidence_free(&e);
    findings_free(f);
    return rc;
}
