/*
 * The laws of the contest, checked on the diaries: holds do not overlap, and tokens grow in the order of the grants.
 *
 * A hold is the time during which a worker believed that it held: from after lock() had returned until before unlock()
 * was called, until it was notified of LOST, or until its process was dead.
 */
#include "contest.h"

#include <stdlib.h>
#include <string.h>

struct holds {
    struct hold *all;
    size_t count;
};

static int by_number(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int by_time(const void *a, const void *b)
{
    return by_number(((const struct record *)a)->at_ns, ((const struct record *)b)->at_ns);
}

static int by_length(const void *a, const void *b) { return by_number(*(const int64_t *)a, *(const int64_t *)b); }

static struct hold *open_hold(struct holds *h, int worker)
{
    for (size_t i = h->count; i-- > 0;)
        if (h->all[i].worker == worker)
            return h->all[i].ended ? NULL : &h->all[i];
    return NULL;
}

/* The records are sorted, so the holds come out in the order of their grants. */
static void collect(struct holds *h, const struct diary *d)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct record *r = &d->records[i];
        if (r->what == WHAT_GRANTED) {
            h->all[h->count++] = (struct hold){.asked_ns = r->at_ns - r->span_ns,
                                               .from_ns = r->at_ns,
                                               .to_ns = INT64_MAX,
                                               .token = r->token,
                                               .worker = r->worker};
            continue;
        }
        struct hold *hold = open_hold(h, r->worker);
        if (!hold)
            continue; /* an end without a beginning cannot hide an overlap */
        hold->to_ns = r->at_ns;
        hold->killed = r->what == WHAT_KILLED;
        hold->ended = true;
    }
}

/* Carry the latest end so far: a long hold may overlap more than its neighbour. */
static void sweep(const struct holds *h, struct verdict *v)
{
    int64_t latest = INT64_MIN;
    for (size_t i = 0; i < h->count; i++) {
        const struct hold *hold = &h->all[i];
        v->overlaps += hold->from_ns < latest;
        v->disorder += i > 0 && hold->token <= h->all[i - 1].token;
        v->unended += !hold->ended;
        v->kills += hold->killed;
        v->by_worker[hold->worker]++;
        if (hold->to_ns > latest)
            latest = hold->to_ns;
    }
    v->grants = h->count;
    v->first_token = h->count ? h->all[0].token : 0;
    v->last_token = h->count ? h->all[h->count - 1].token : 0;
}

/* Nearest rank: the smallest value that PERCENT of them do not exceed. */
static int64_t percentile(const int64_t *sorted, size_t n, size_t percent)
{
    size_t rank = (n * percent + 99) / 100;
    return n == 0 ? 0 : sorted[rank ? rank - 1 : 0];
}

/* From the release of one to the grant of the next, where the next was waiting by then. A kill counts apart, because
 * the servers first have to expire the session of the dead process. */
static bool measure(const struct holds *h, struct verdict *v)
{
    int64_t *spans = calloc(h->count + 1, sizeof *spans);
    if (!spans)
        return false;
    v->heir = -1;
    for (size_t i = 1; i < h->count; i++) {
        const struct hold *from = &h->all[i - 1], *to = &h->all[i];
        int64_t span = to->from_ns - from->to_ns;
        if (from->killed) {
            v->takeovers++;
            v->heir = to->worker;
            v->takeover_ns = span > v->takeover_ns ? span : v->takeover_ns;
        } else if (from->ended && from->worker != to->worker && to->asked_ns <= from->to_ns) {
            spans[v->handovers++] = span;
        }
    }
    qsort(spans, v->handovers, sizeof *spans, by_length);
    v->handover_median_ns = percentile(spans, v->handovers, 50);
    v->handover_p99_ns = percentile(spans, v->handovers, 99);
    free(spans);
    return true;
}

bool laws_check(struct diary *diary, struct verdict *verdict)
{
    struct holds holds = {.all = calloc(diary->count + 1, sizeof *holds.all)};
    *verdict = (struct verdict){0};
    if (!holds.all)
        return false;
    if (diary->count)
        qsort(diary->records, diary->count, sizeof *diary->records, by_time);
    collect(&holds, diary);
    sweep(&holds, verdict);
    bool measured = measure(&holds, verdict);
    free(holds.all);
    return measured;
}

bool laws_hold(const struct verdict *v)
{
    return v->grants > 0 && v->overlaps == 0 && v->disorder == 0 && v->unended == 0 && v->takeovers == v->kills;
}
