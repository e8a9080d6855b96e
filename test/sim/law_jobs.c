/*
 * Of one KEY no two successes are recorded, and in one period no two; a success that was answered 0 is recorded, and
 * one that was refused is not; and a job is skipped only where one is.
 *
 * Each record that a holder writes is under guard, can be read, and is made of one that was there: it keeps what that
 * one has. No run begins on a record that cannot be read, or that cannot be true. A call is refused for its record's
 * sake only where there was such a record.
 *
 * A hostile contender writes records, too. Excused is what a record says that it has written. Where it deletes the
 * record, or a holder's node, another can take its place, with the version or the name that the holder's write is for.
 *
 * Times are those that leaders give. Two leaders' differ by SKEW_MS at the most, and what their clocks have drifted
 * apart.
 */
#include "lib/run_record.h"
#include "test/sim/laws.h"
#include <paddock/error.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 1024, STATES_MAX = 4096, CONFLICTS_MAX = 16 };

static struct run {
    int64_t token, begun_ms;
    char key[PDK__RUN_KEY_MAX + 1];
    int ended;    /* with the status; -1: not yet */
    int64_t zxid; /* of its last write */
    bool refused;
} runs[RUNS_MAX];
static int n_runs;

/* The states of the record's node, as committed. */
static struct state {
    int64_t zxid, time_ms;
    const char *text; /* NULL: there is no node */
    int size, version;
    bool forged;
} states[STATES_MAX];
static int n_states;

static void begin(struct world *w)
{
    (void)w;
    n_runs = 0;
    n_states = 1;
    states[0] = (struct state){0};
}

/* --- the record -------------------------------------------------------------------------------------------------- */

static const struct state *now(void) { return &states[n_states - 1]; }

/* NULL, or why it is none. */
static const char *read_state(const struct state *s, struct pdk__runs *record)
{
    return pdk__runs_parse(record, s->text, s->text != NULL ? (size_t)s->size : 0, s->time_ms);
}

static void put_state(const struct txn *txn)
{
    bool there = txn->kind == TXN_WRITE;
    if (n_states == STATES_MAX)
        abort();
    states[n_states] = (struct state){.zxid = txn->zxid,
                                      .time_ms = txn->time_ms,
                                      .text = there ? txn->text : NULL,
                                      .size = there ? txn->size : 0,
                                      .version = there && now()->text != NULL ? now()->version + 1 : 0,
                                      .forged = txn->session < 0};
    n_states++;
}

static bool is(const struct pdk__run *run, int64_t token, int64_t begun_ms)
{
    return run->token == token && run->begun_ms == begun_ms;
}

static bool same_run(const struct pdk__run *a, const struct pdk__run *b)
{
    return is(a, b->token, b->begun_ms) && a->ended_ms == b->ended_ms && a->status == b->status &&
           strcmp(a->key, b->key) == 0;
}

static bool same_keys(const struct pdk__runs *a, unsigned from_a, const struct pdk__runs *b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(a->keys[from_a + i], b->keys[i]) != 0)
            return false;
    return true;
}

static bool same_record(const struct pdk__runs *a, const struct pdk__runs *b)
{
    return same_run(&a->last, &b->last) && same_run(&a->done, &b->done) && a->n_keys == b->n_keys &&
           same_keys(a, 0, b, b->n_keys);
}

/* All of BEFORE; and KEY, for which the oldest gives way when there are too many. */
static bool keeps_keys(const struct pdk__runs *record, const struct pdk__runs *before, const char *key)
{
    bool one_more = record->n_keys > 0 && strcmp(record->keys[0], key) == 0 && !pdk__runs_have(before, key);
    unsigned kept = one_more && before->n_keys == PDK__RUN_KEYS ? PDK__RUN_KEYS - 1 : before->n_keys;
    return record->n_keys == kept + one_more && same_keys(record, one_more, before, kept);
}

/* --- what was forged --------------------------------------------------------------------------------------------- */

/* Did the hostile contender write a record for which it is so? */
static bool forged(bool (*so)(const struct pdk__runs *record, const struct run *run), const struct run *run)
{
    struct pdk__runs record;
    for (int i = 0; i < n_states; i++)
        if (states[i].forged && read_state(&states[i], &record) == NULL && so(&record, run))
            return true;
    return false;
}

static bool has_run(const struct pdk__runs *record, const struct run *run)
{
    return is(&record->last, run->token, run->begun_ms) || is(&record->done, run->token, run->begun_ms);
}

static bool has_end(const struct pdk__runs *record, const struct run *run)
{
    return is(&record->done, run->token, run->begun_ms) ||
           (record->last.token == run->token && record->last.status == run->ended);
}

static bool has_key(const struct pdk__runs *record, const struct run *run) { return pdk__runs_have(record, run->key); }

static bool has_done(const struct pdk__runs *record, const struct run *run)
{
    return run->key[0] != '\0' ? has_key(record, run) : is(&record->done, run->token, run->begun_ms);
}

bool law_jobs_forged(int64_t token, int64_t begun_ms)
{
    bool is_forged = forged(has_run, &(struct run){.token = token, .begun_ms = begun_ms});
    if (is_forged)
        excuse(EXCUSE_FORGED_RUN);
    return is_forged;
}

/* --- runs -------------------------------------------------------------------------------------------------------- */

/* How far two leaders' times, or theirs and the time of day, are apart by now. */
static int64_t apart_ms(const struct world *w)
{
    return w->skew_ms + w->agenda.now / 1000 * 2 * w->drift_ppm / 1000000;
}

/* An owner may do several runs under one token. */
static struct run *find(int64_t token, int64_t begun_ms)
{
    for (int i = n_runs - 1; i >= 0; i--)
        if (runs[i].token == token && runs[i].begun_ms == begun_ms)
            return &runs[i];
    return NULL;
}

/* Was it done: KEY, or where it is empty, by this run? */
static bool counted(const struct world *w, const struct run *run)
{
    for (int i = 0; i < n_runs; i++) {
        bool same = run->key[0] != '\0' ? strcmp(runs[i].key, run->key) == 0
                                        : runs[i].token == run->token && runs[i].begun_ms == run->begun_ms;
        if (same && (w->any || runs[i].ended == 0))
            return true;
    }
    return false;
}

/* And nothing was forged since? */
static bool still_counts(const struct world *w, const char *key)
{
    int64_t since = 0;
    for (int i = 0; i < n_states; i++)
        since = states[i].forged ? states[i].zxid : since;
    for (int i = 0; i < n_runs; i++)
        if (runs[i].zxid > since && strcmp(runs[i].key, key) == 0 && (w->any || runs[i].ended == 0))
            return true;
    return false;
}

/* --- a holder's write -------------------------------------------------------------------------------------------- */

/* NULL, or what is wrong with it, as one that was made of BEFORE. */
static const char *judge_beginning(const struct world *w, const struct pdk__runs *record,
                                   const struct pdk__runs *before, int64_t time_ms)
{
    const struct pdk__run *run = &record->last;
    if (run->status >= 0 || run->begun_ms != time_ms)
        return "a run begins at another time, or ends without a beginning";
    if (before->last.token > run->token || before->done.token > run->token)
        return "a run begins after one of a larger token";
    if (run->key[0] != '\0' && (pdk__runs_have(before, run->key) || still_counts(w, run->key)))
        return "a run begins, and its KEY is done";
    if (run->key[0] == '\0' && before->done.token > 0 && time_ms - before->done.begun_ms < w->period_ms - apart_ms(w))
        return "a run begins too soon after the last";
    return NULL;
}

static const char *judge_end(const struct pdk__runs *record, const struct run *run)
{
    if (record->last.status < 0)
        return "a run is written again, and has not ended";
    if (run->ended >= 0 && run->ended != record->last.status)
        return "a run ends twice";
    return run->refused ? "the end of a run was refused, and is recorded" : NULL;
}

static const char *judge_what_counts(const struct world *w, const struct pdk__runs *record,
                                     const struct pdk__runs *before)
{
    const struct pdk__run *last = &record->last, *done = &record->done;
    if (!keeps_keys(record, before, last->key))
        return "a record has lost a KEY, or has another";
    if (same_run(done, &before->done))
        return NULL;
    if ((last->status != 0 && !w->any) || !same_run(done, last))
        return "a run counts that has not succeeded";
    return last->key[0] != '\0' && !pdk__runs_have(record, last->key) ? "a run counts, and its KEY does not" : NULL;
}

static bool ends_forged(const struct pdk__run *last)
{
    return last->status >= 0 && law_jobs_forged(last->token, last->begun_ms);
}

/* The end of a run replaces also what cannot be read. */
static const char *judge_record(const struct world *w, const struct pdk__runs *record, const struct state *state,
                                int64_t time_ms)
{
    struct pdk__runs before;
    const char *unread = read_state(state, &before);
    const struct pdk__run *last = &record->last;
    const struct run *run = find(last->token, last->begun_ms);
    if (unread == NULL && w->period_ms > 0 && same_record(record, &before))
        return NULL; /* for the time */
    bool ends = run != NULL || ends_forged(last);
    if (unread != NULL && !ends)
        return "a run begins on a record that cannot be read";
    const char *wrong = run != NULL ? judge_end(record, run)
                        : ends      ? NULL
                                    : judge_beginning(w, record, &before, time_ms);
    return wrong != NULL ? wrong : judge_what_counts(w, record, &before);
}

/* A grant that is confirmed has the number of a later write of its node's. */
static bool is_of(const struct world *w, const struct node *node, int64_t token)
{
    return w->confirmed ? node->czxid < token : node->czxid == token;
}

/* The nodes that guard it are there. */
static void judge_guards(struct world *w, const struct request *r, const struct pdk__run *last)
{
    if (r->n_also == 0)
        world_break(w, law_jobs.name, "a record is written without a guard");
    for (int i = 0; i < r->n_also; i++) {
        const struct node *node = tree_find(&w->ensemble.truth, r->also[i].path, r->also[i].name);
        if (node != NULL && node->planted)
            excuse(EXCUSE_REPLACED_GUARD);
        else if (node == NULL)
            world_break(w, law_jobs.name, "a record is written, and %s is deleted", r->also[i].name);
        else if (w->period_ms == 0 && !is_of(w, node, last->token))
            world_break(w, law_jobs.name, "a run of token %llx is written under guard of %llx",
                        (unsigned long long)last->token, (unsigned long long)node->czxid);
    }
}

/* It was made of the state that it replaces; or of an earlier one of that version, where the node was deleted. */
static void judge_source(struct world *w, const struct pdk__runs *record, const struct txn *txn)
{
    const char *wrong = judge_record(w, record, now(), txn->time_ms);
    for (int i = n_states - 2; i >= 0 && wrong != NULL; i--) {
        const struct state *s = &states[i];
        bool alike = (s->text != NULL) == (now()->text != NULL) && s->version == now()->version;
        if (alike && judge_record(w, record, s, txn->time_ms) == NULL) {
            excuse(EXCUSE_SAME_VERSION);
            return;
        }
    }
    if (wrong != NULL)
        world_break(w, law_jobs.name, "%s", wrong);
}

/* The end of a run that a hostile contender has begun counts as well. */
static void note_run(const struct pdk__run *last, const struct txn *txn)
{
    struct run *known = find(last->token, last->begun_ms);
    if (known != NULL && last->status >= 0 && known->ended < 0) {
        known->ended = last->status;
        known->zxid = txn->zxid;
    }
    if (known != NULL || (last->status < 0 && last->begun_ms != txn->time_ms))
        return;
    if (n_runs == RUNS_MAX)
        abort();
    runs[n_runs] = (struct run){
        .token = last->token, .begun_ms = last->begun_ms, .ended = last->status, .zxid = txn->zxid};
    strcpy(runs[n_runs++].key, last->key);
}

static void judge_write(struct world *w, const struct txn *txn)
{
    struct pdk__runs record;
    const struct request *r = &w->ensemble.requests[txn->request - 1];
    const char *why = pdk__runs_parse(&record, txn->text, (size_t)txn->size, txn->time_ms);
    if (why != NULL) {
        world_break(w, law_jobs.name, "a record is written, and %s", why);
        return;
    }
    judge_guards(w, r, &record.last);
    judge_source(w, &record, txn);
    note_run(&record.last, txn);
}

static void judge_forged(struct world *w, const struct txn *txn)
{
    struct pdk__runs record;
    const char *why = pdk__runs_parse(&record, txn->text, (size_t)txn->size, txn->time_ms);
    if ((why == NULL) != forgeries_readable(txn->text))
        world_break(w, law_jobs.name, "a forged record is read: %s", why != NULL ? why : "as a good one");
}

static void committed(struct world *w, const struct txn *txn)
{
    if (txn->path != JOB_PATH || (txn->kind != TXN_WRITE && txn->kind != TXN_REMOVE_DIR))
        return;
    if (txn->session >= 0)
        judge_write(w, txn);
    else if (txn->kind == TXN_WRITE)
        judge_forged(w, txn);
    put_state(txn);
}

/* --- an answer --------------------------------------------------------------------------------------------------- */

void law_jobs_ended(struct world *w, int64_t token, int64_t begun_ms, int status, int rc)
{
    struct pdk__runs record;
    struct run *run = find(token, begun_ms);
    if (run == NULL) {
        if (!law_jobs_forged(token, begun_ms))
            world_break(w, law_jobs.name, "a run ends whose beginning is not recorded");
        return;
    }
    struct run as_told = {.token = token, .begun_ms = begun_ms, .ended = status};
    if (rc == 0 && run->ended != status && forged(has_end, &as_told))
        excuse(EXCUSE_FORGED_END);
    else if (rc == 0 && run->ended != status)
        world_break(w, law_jobs.name, "a run ended with %d, and %d is recorded", status, run->ended);
    bool last = read_state(now(), &record) == NULL && record.last.token == token;
    if (rc == PDK_ELOST && run->ended >= 0 && last && now()->forged)
        excuse(EXCUSE_FORGED_END);
    else if (rc == PDK_ELOST && run->ended >= 0 && last)
        world_break(w, law_jobs.name, "the end of a run was refused, and was recorded");
    run->refused = rc == PDK_ELOST;
}

/* The states that a client can have read which has seen the write SINCE: from the last to this one. */
static int oldest(int64_t since)
{
    int i = n_states - 1;
    while (i > 0 && states[i].zxid > since)
        i--;
    return i;
}

static bool is_said(int64_t since, const struct run *run)
{
    struct pdk__runs record;
    for (int i = n_states - 1; i >= oldest(since); i--)
        if (read_state(&states[i], &record) == NULL && has_done(&record, run))
            return true;
    return false;
}

void law_jobs_skipped(struct world *w, const pdk_runs *read, const char *key, int64_t date_ms, int64_t since)
{
    struct run run = {.token = pdk_runs_number(read, PDK_RUN_DONE, PDK_RUN_TOKEN),
                      .begun_ms = pdk_runs_number(read, PDK_RUN_DONE, PDK_RUN_BEGUN_MS)};
    int64_t waited_ms = 1000 + w->agenda.now / 1000 * 9 / 8; /* at the most, as the library reckons */
    see(SIGHT_JOB_SKIPPED);
    snprintf(run.key, sizeof run.key, "%s", w->period_ms == 0 ? key : "");
    if (!is_said(since, &run))
        world_break(w, law_jobs.name, "%s is skipped, and no record says that it was done", key);
    if (!counted(w, &run) && forged(has_done, &run))
        excuse(EXCUSE_FORGED_RUN);
    else if (!counted(w, &run))
        world_break(w, law_jobs.name, "a job is skipped by a run that has not succeeded");
    if (w->period_ms > 0 && date_ms - run.begun_ms >= w->period_ms + apart_ms(w))
        world_break(w, law_jobs.name, "a job is skipped %lld ms after it was done",
                    (long long)(date_ms - run.begun_ms));
    if (w->period_ms > 0 && run.begun_ms - world_date_ms(w) >= w->period_ms + apart_ms(w) + waited_ms)
        world_break(w, law_jobs.name, "a job is skipped by a run in the future");
}

/* Can a beginning under TOKEN not be true after the record? */
static bool is_false(const struct world *w, const struct pdk__runs *record, int64_t token)
{
    bool in_future = w->period_ms > 0 && record->done.begun_ms > world_date_ms(w) - apart_ms(w);
    return record->last.token > token || record->done.token > token || in_future;
}

void law_jobs_refused(struct world *w, int64_t since, int64_t token)
{
    struct pdk__runs record;
    int n_forged = 0;
    bool caused = false;
    for (int i = n_states - 1; i >= oldest(since) && !caused; i--) {
        n_forged += states[i].forged;
        caused = read_state(&states[i], &record) != NULL || is_false(w, &record, token) || n_forged > CONFLICTS_MAX;
    }
    see(SIGHT_JOB_REFUSED);
    if (!caused)
        world_break(w, law_jobs.name, "a call is refused, and the record was good");
}

const struct law law_jobs = {.name = "jobs", .begin = begin, .committed = committed};
