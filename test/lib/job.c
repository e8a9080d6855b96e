#include "test/lib/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEY_MS = 2500, PERIOD_MS = 1500, TRY_MS = 400, TRIES = 5 };

static _Thread_local pdk_once *job;

static void say(struct history *h, enum event event, int request, int rc)
{
    history_write(h, &(struct record){.event = event, .rc = rc, .kind = request});
}

/* May the same call be made again? */
static bool is_open(int rc) { return rc == PDK_EUNKNOWN || rc == PDK_EDISCONNECTED || rc == PDK_ETIMEDOUT; }

static int begin(pdk_grant *g)
{
    int rc = PDK_EUNKNOWN;
    for (int i = 0; i < TRIES && is_open(rc); i++)
        rc = pdk_once_begin(job, g, TRY_MS);
    return rc;
}

static int end(int status)
{
    int rc = PDK_EUNKNOWN;
    for (int i = 0; i < TRIES && is_open(rc); i++)
        rc = pdk_once_end(job, status, TRY_MS);
    return rc;
}

/* Three of four have the KEY of the time, or the one before; the others a period. */
static void choose(struct record *r, struct dice *dice)
{
    int64_t number = now_ns() / (KEY_MS * INT64_C(1000000)) - dice_chance(dice, 30);
    if (dice_chance(dice, 25))
        r->valid_ms = PERIOD_MS;
    else
        snprintf(r->node, sizeof r->node, "job %" PRId64, number);
}

bool job_begin(struct history *h, pdk_mutex *m, pdk_grant *g, int request, int64_t token, struct dice *dice)
{
    struct record r = {.event = JOB_BEGINS, .kind = request, .token = token};
    choose(&r, dice);
    if (pdk_once_new(&job, m, r.valid_ms > 0 ? NULL : r.node, r.valid_ms) != 0)
        return false;
    history_write(h, &r);
    int rc = begin(g);
    say(h, JOB_BEGUN, request, rc);
    if (rc != 0)
        pdk_once_free(job);
    return rc == 0;
}

void job_end(struct history *h, int request, struct dice *dice)
{
    int status = dice_chance(dice, 20);
    say(h, JOB_ENDS, request, status);
    say(h, JOB_ENDED, request, end(status));
    pdk_once_free(job);
}
