#include "cli/run/once.h"

#include "cli/message.h"
#include "cli/number.h"
#include "cli/run/phase.h"
#include "cli/target.h"
#include "lib/assert.h"
#include "lib/core/once.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RETRY_MS = 200 };

/* --- options ----------------------------------------------------------------------------------------------------- */

static int take_key(struct pdk__cli_options *o, char *value)
{
    o->once_key = value;
    if (pdk__run_key_valid(value))
        return 0;
    return pdk__cli_usage("%s: --once takes a KEY of 1 to %d bytes of text, without control characters", o->command,
                          PDK_ONCE_KEY_MAX);
}

static int take_period(struct pdk__cli_options *o, char *value)
{
    if (pdk__cli_number_period(value, &o->every_ms) && o->every_ms > 0 && o->every_ms <= PDK_ONCE_PERIOD_MAX_MS)
        return 0;
    return pdk__cli_usage("%s: --every takes a time with its unit, up to ten years, as 90s, 20m, 12h or 1d, not '%s'",
                          o->command, value);
}

static int take_done_if(struct pdk__cli_options *o, char *value)
{
    o->done_any = strcmp(value, "any") == 0;
    if (o->done_any || strcmp(value, "success") == 0)
        return 0;
    return pdk__cli_usage("%s: --done-if takes 'success' or 'any', not '%s'", o->command, value);
}

#define AT(member) .at = offsetof(struct pdk__cli_options, member)

const struct pdk__cli_option pdk__cli_once_options[] = {
    {"once", 0, KIND_OTHER, .take = take_key, .value = "KEY", .help = "unless a run with KEY has succeeded"},
    {"every", 0, KIND_OTHER, .take = take_period, .value = "TIME",
     .help = "unless one has that began less than TIME ago"},
    {"done-if", 0, KIND_OTHER, .take = take_done_if, .value = "WHAT"},
    {"done-status", 0, KIND_NUMBER, AT(done_status), .high = 255},
    {0}};

static int refuse(struct pdk__cli_options *o, char *value)
{
    (void)value;
    return pdk__cli_usage("%s: --once KEY, --every, --done-if and --done-status are for 'paddock lock'", o->command);
}

#define REFUSED .take = refuse, .help = ""

const struct pdk__cli_option pdk__cli_no_once_options[] = {{"once", 0, KIND_OTHER, REFUSED},
                                                           {"every", 0, KIND_OTHER, REFUSED},
                                                           {"done-if", 0, KIND_OTHER, REFUSED},
                                                           {"done-status", 0, KIND_OTHER, REFUSED},
                                                           {0}};

bool pdk__cli_is_job(const struct pdk__cli_options *o) { return o->once_key != NULL || o->every_ms > 0; }

int pdk__cli_once_check(const struct pdk__cli_options *o)
{
    if (o->once_key != NULL && o->every_ms > 0)
        return pdk__cli_usage("%s: --once or --every, not both", o->command);
    if (!pdk__cli_is_job(o) && (o->done_any || o->done_status != 0))
        return pdk__cli_usage("%s: --done-if and --done-status go with --once or --every", o->command);
    if (pdk__cli_is_job(o) && (o->mode == MODE_SHARED || o->mode == MODE_PERMITS))
        return pdk__cli_usage("%s: --once and --every go with neither -s nor a limit: others could run the job, too",
                              o->command);
    return 0;
}

static void answered(int rc, void *arg);

/* --- calls ------------------------------------------------------------------------------------------------------- */

int pdk__cli_once_make(struct pdk__cli_acquisition *c)
{
    const struct pdk__cli_options *o = c->options;
    if (!pdk__cli_is_job(o))
        return 0;
    c->once.status = -1;
    int rc = pdk_once_new(&c->once.job, c->lock.lock, o->once_key, o->every_ms);
    return rc == 0 ? pdk_once_set_any(c->once.job, o->done_any) : rc;
}

static int end(struct pdk__cli_acquisition *c) { return pdk_once_end_async(c->once.job, c->once.status, answered, c); }

/* The caller may have left. While the lock is not requested yet, the time for it runs. */
static bool may_try(const struct pdk__cli_acquisition *c)
{
    int64_t wait_ms = c->options->wait_ms;
    if (c->once.send == end)
        return pdk__cli_now_ms() < c->once.until;
    bool in_time = c->lock.grant != NULL || wait_ms < 0 || pdk__cli_now_ms() - c->began_ms < wait_ms;
    return c->phase == PHASE_WAITING && in_time;
}

static void answered(int rc, void *arg)
{
    struct pdk__cli_acquisition *c = arg;
    assert(c->once.send != NULL && rc != 1);
    if ((rc == PDK_EUNKNOWN || rc == PDK_EDISCONNECTED) && may_try(c)) {
        c->deadline = pdk__cli_now_ms() + RETRY_MS;
        return;
    }
    c->once.send = NULL;
    if (rc == 0 || rc == PDK_EDONE)
        c->once.done_ms = pdk_runs_number(pdk_once_runs(c->once.job), PDK_RUN_DONE, PDK_RUN_BEGUN_MS);
    c->once.then(c, rc);
}

static void send_now(struct pdk__cli_acquisition *c)
{
    c->deadline = -1;
    int rc = c->once.send(c);
    if (rc != 0)
        answered(rc, c);
}

static void try_again(struct pdk__cli_acquisition *c)
{
    if (may_try(c))
        send_now(c);
    else
        answered(PDK_EDISCONNECTED, c);
}

static void call(struct pdk__cli_acquisition *c, int (*send)(struct pdk__cli_acquisition *c),
                 void (*then)(struct pdk__cli_acquisition *c, int rc))
{
    c->once.send = send;
    c->once.then = then;
    send_now(c);
}

void pdk__cli_once_step(struct pdk__cli_acquisition *c)
{
    if (c->once.send != NULL && c->deadline >= 0 && pdk__cli_now_ms() >= c->deadline)
        try_again(c);
}

static int ask(struct pdk__cli_acquisition *c) { return pdk_once_ask_async(c->once.job, answered, c); }

static int begin(struct pdk__cli_acquisition *c)
{
    return pdk_once_begin_async(c->once.job, c->lock.grant, answered, c);
}

/* A job with a period is known to be done only under its lock. */
void pdk__cli_once_ask(struct pdk__cli_acquisition *c, void (*then)(struct pdk__cli_acquisition *c, int rc))
{
    if (c->options->once_key != NULL)
        call(c, ask, then);
    else
        then(c, 0);
}

void pdk__cli_once_begin(struct pdk__cli_acquisition *c, void (*then)(struct pdk__cli_acquisition *c, int rc))
{
    call(c, begin, then);
}

void pdk__cli_once_end(struct pdk__cli_acquisition *c, void (*then)(struct pdk__cli_acquisition *c, int rc))
{
    assert(c->once.begun && c->once.status >= 0);
    c->once.until = pdk__cli_now_ms() + pdk_client_session_timeout_ms(c->client);
    call(c, end, then);
}

void pdk__cli_once_free(struct pdk__cli_acquisition *c)
{
    if (c->once.job != NULL)
        pdk_client_dispatch(c->client); /* a call under way ends with the client */
    pdk_once_free(c->once.job);
    c->once.job = NULL;
}

/* --- for people -------------------------------------------------------------------------------------------------- */

/* By the servers' clock, whose time is known only under the lock. */
static void describe_time(const struct pdk__cli_acquisition *c, int64_t begun_ms, char *text, size_t size)
{
    int64_t age_ms = pdk_once_age_ms(c->once.job);
    char duration[32];
    struct tm tm;
    time_t s = (time_t)(begun_ms / 1000);
    if (age_ms >= 0)
        snprintf(text, size, "%s ago", pdk__cli_duration(age_ms, duration));
    else if (gmtime_r(&s, &tm) == NULL || strftime(text, size, "at %Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        snprintf(text, size, "at %lld", (long long)s);
}

void pdk__cli_once_describe(const struct pdk__cli_acquisition *c, char *text, size_t size)
{
    const pdk_runs *runs = pdk_once_runs(c->once.job);
    const char *label = pdk_runs_text(runs, PDK_RUN_DONE, PDK_RUN_LABEL);
    char path[PDK__CLI_SHORT], when[64];
    describe_time(c, pdk_runs_number(runs, PDK_RUN_DONE, PDK_RUN_BEGUN_MS), when, sizeof when);
    snprintf(text, size, "%s: done by %.64s pid %lld%s%.64s%s, begun %s by the servers' clock, token %lld",
             pdk__cli_short(c->options->path, path), pdk_runs_text(runs, PDK_RUN_DONE, PDK_RUN_HOST),
             (long long)pdk_runs_number(runs, PDK_RUN_DONE, PDK_RUN_PID), *label != '\0' ? " (" : "", label,
             *label != '\0' ? ")" : "", when, (long long)pdk_runs_number(runs, PDK_RUN_DONE, PDK_RUN_TOKEN));
}
