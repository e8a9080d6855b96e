/* The job of the first path: its holder does it, unless it is done. */
#include "test/sim/actor.h"
#include "test/sim/laws.h"
#include <stdio.h>

enum { KEYS = 6, TRIES = 4 };

static const char law[] = "caller";

struct answer_to {
    bool told;
    int rc;
};

static void told(int rc, void *arg)
{
    struct answer_to *to = arg;
    to->told = true;
    to->rc = rc;
    fiber_wake_all(to);
}

enum verb { ASK, BEGIN, END };

static int call(struct actor *a, pdk_once *o, enum verb verb, int status, int64_t timeout_ms)
{
    return verb == ASK     ? pdk_once_ask(o, timeout_ms)
           : verb == BEGIN ? pdk_once_begin(o, a->grant, timeout_ms)
                           : pdk_once_end(o, status, timeout_ms);
}

static int call_later(struct actor *a, pdk_once *o, enum verb verb, int status)
{
    struct world *w = a->client->world;
    struct answer_to *to = w->ensemble.scratch(w, sizeof *to);
    *to = (struct answer_to){false, 0};
    int rc = verb == ASK     ? pdk_once_ask_async(o, told, to)
             : verb == BEGIN ? pdk_once_begin_async(o, a->grant, told, to)
                             : pdk_once_end_async(o, status, told, to);
    while (rc == 0 && !to->told)
        fiber_block(to, -1);
    return rc != 0 ? rc : to->rc;
}

/* With patience, or without waiting; then again, where the outcome is not known. */
static int make_call(struct actor *a, pdk_once *o, enum verb verb, int status)
{
    static const char *const names[] = {"asks for", "begins", "ends"};
    struct world *w = a->client->world;
    int rc = PDK_EUNKNOWN;
    for (int i = 0; i < TRIES && (rc == PDK_EUNKNOWN || rc == PDK_EDISCONNECTED); i++) {
        bool later = chance(&w->random, 400);
        int64_t timeout_ms = chance(&w->random, 300) ? PDK_FOREVER : between(&w->random, 0, 3000);
        if (i > 0)
            fiber_block(o, ms(between(&w->random, 1, 1000)));
        rc = later ? call_later(a, o, verb, status) : call(a, o, verb, status, timeout_ms);
        STORY(w, "client %d actor %d: %s a run of the job: %s%s", a->client->id, a->index, names[verb],
              pdk_strerrorname(rc), later ? ", later" : "");
    }
    if (rc == PDK_EINVAL || rc == PDK_ENOTSUP || rc == PDK_EBUSY || rc == PDK_ECONFLICT)
        world_break(w, law, "client %d: a call about the job answers %s", a->client->id, pdk_strerrorname(rc));
    if (rc == PDK_ERECORD)
        law_jobs_refused(w, verb == ASK ? 0 : a->token, verb == BEGIN ? a->token : INT64_MAX);
    return rc;
}

static void do_work(struct actor *a, pdk_once *o)
{
    struct world *w = a->client->world;
    int status = chance(&w->random, 300);
    int64_t token = pdk_runs_number(pdk_once_runs(o), PDK_RUN_LAST, PDK_RUN_TOKEN);
    int64_t begun_ms = pdk_runs_number(pdk_once_runs(o), PDK_RUN_LAST, PDK_RUN_BEGUN_MS);
    fiber_block(a, ms(between(&w->random, 1, 500)));
    int rc = make_call(a, o, END, status);
    law_jobs_ended(w, token, begun_ms, status, rc);
    if (rc == 0 && status == 0)
        see(SIGHT_JOB_DONE);
}

static bool by_own_token(const struct actor *a, pdk_once *o)
{
    int64_t token = pdk_runs_number(pdk_once_runs(o), PDK_RUN_DONE, PDK_RUN_TOKEN);
    return token == a->token &&
           !law_jobs_forged(token, pdk_runs_number(pdk_once_runs(o), PDK_RUN_DONE, PDK_RUN_BEGUN_MS));
}

void job_do(struct actor *a)
{
    struct world *w = a->client->world;
    char key[8];
    pdk_once *o;
    snprintf(key, sizeof key, "k%d", below(&w->random, KEYS));
    if (pdk_once_new(&o, a->lock, w->period_ms > 0 ? NULL : key, w->period_ms) != 0)
        return;
    pdk_once_set_any(o, w->any);
    int rc = chance(&w->random, 300) ? make_call(a, o, ASK, 0) : 0;
    if (rc == PDK_EDONE)
        law_jobs_skipped(w, pdk_once_runs(o), key, INT64_MIN, 0);
    int64_t date_ms = world_date_ms(w);
    bool first = w->budget == 0 && w->idle_ms == 0; /* under its token */
    rc = make_call(a, o, BEGIN, 0);
    if (rc == PDK_EDONE && first && by_own_token(a, o))
        world_break(w, law, "client %d skips the job, by its own beginning", a->client->id);
    if (rc == PDK_EDONE)
        law_jobs_skipped(w, pdk_once_runs(o), key, date_ms, a->token);
    else if (rc == 0)
        do_work(a, o);
    if (pdk_once_free(o) != 0)
        world_break(w, law, "client %d cannot free its job", a->client->id);
}
