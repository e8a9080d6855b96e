#include "recipes/runs.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include "lib/zk/account.h"
#include "lib/zk/code.h"
#include "lib/zk/exchange.h"
#include "recipes/object.h"
#include <string.h>

#define SUFFIX ".last-run"

char *pdk__runs_path(const char *path)
{
    size_t length = strlen(path);
    char *record = pdk__alloc(length + sizeof SUFFIX);
    if (record != NULL) {
        memcpy(record, path, length);
        memcpy(record + length, SUFFIX, sizeof SUFFIX);
    }
    return record;
}

/* --- its properties ---------------------------------------------------------------------------------------------- */

static const struct pdk__run *run_of(const pdk_runs *runs, pdk_run which)
{
    if (runs == NULL || (which != PDK_RUN_LAST && which != PDK_RUN_DONE))
        return NULL;
    const struct pdk__run *run = which == PDK_RUN_LAST ? &runs->record.last : &runs->record.done;
    return run->token > 0 ? run : NULL;
}

const char *pdk_runs_text(const pdk_runs *runs, pdk_run which, pdk_run_property property)
{
    const struct pdk__run *run = run_of(runs, which);
    if (run == NULL)
        return "";
    return property == PDK_RUN_KEY     ? run->key
           : property == PDK_RUN_HOST  ? run->host
           : property == PDK_RUN_LABEL ? run->label
                                       : "";
}

int64_t pdk_runs_number(const pdk_runs *runs, pdk_run which, pdk_run_property property)
{
    static const struct pdk__run none = {.status = -1};
    const struct pdk__run *run = run_of(runs, which);
    if (run == NULL)
        run = &none;
    switch (property) {
    case PDK_RUN_PID:
        return run->pid;
    case PDK_RUN_TOKEN:
        return run->token;
    case PDK_RUN_PERIOD_MS:
        return run->period_ms;
    case PDK_RUN_BEGUN_MS:
        return run->begun_ms;
    case PDK_RUN_ENDED_MS:
        return run->ended_ms;
    case PDK_RUN_STATUS:
        return run->status;
    default:
        return 0;
    }
}

/* --- the record of any path -------------------------------------------------------------------------------------- */

struct reading {
    struct pdk_client *client;
    const char *path;
    pdk_runs *runs;
    const char *why;
};

/* A token is the number of an earlier write than the record's own. */
static const char *judge(const struct pdk__runs *record, int64_t written)
{
    bool forged = record->last.token > written || record->done.token > written;
    return forged ? "it has a token larger than the number of its own write" : NULL;
}

static int read_attempt(void *arg, int64_t deadline_ms)
{
    struct reading *r = arg;
    struct pdk__exchange *x;
    int rc = pdk__exchange_begin(r->client, &(struct pdk__inquiry){.kind = PDK__REQUEST_READ, .path = r->path}, NULL,
                                 NULL, &x);
    if (rc != 0)
        return rc;
    rc = pdk__exchange_await(x, deadline_ms);
    if (rc == 0)
        rc = pdk__error_of(x->zrc);
    if (rc == 0)
        r->why = pdk__runs_parse(&r->runs->record, x->data, x->size, x->stat.mtime);
    if (rc == 0 && r->why == NULL)
        r->why = judge(&r->runs->record, x->stat.mzxid);
    pdk__exchange_unref(x);
    return r->why != NULL ? PDK_ERECORD : rc == PDK_EUNKNOWN ? PDK_EDISCONNECTED : rc;
}

int pdk_runs_read(pdk_client *c, const char *path, int64_t timeout_ms, pdk_runs **runs)
{
    struct reading r = {.client = c};
    int rc = runs != NULL ? pdk__path_enter(c, path) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    char *record = pdk__runs_path(path);
    r.path = record;
    r.runs = pdk__alloc(sizeof *r.runs);
    rc = record == NULL || r.runs == NULL ? PDK_ENOMEM : pdk__path_valid(record) ? 0 : PDK_EPATH;
    if (rc == 0)
        rc = pdk__exchange_until(c, pdk__deadline_ms(pdk__now_ms(), timeout_ms), read_attempt, &r);
    if (r.why != NULL)
        pdk__client_explain(c, "read the runs of", path, rc, r.why);
    else
        pdk__client_end(c, "read the runs of", path, rc);
    pdk__free(record);
    if (rc == 0)
        *runs = r.runs;
    else
        pdk__free(r.runs);
    pdk__client_leave(c);
    return rc;
}

void pdk_runs_free(pdk_runs *runs) { pdk__free(runs); }
