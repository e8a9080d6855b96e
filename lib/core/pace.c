#include "lib/core/pace.h"
#include "lib/assert.h"
#include "lib/core/chain.h"

/* At most STEPS_MAX of a slow link's intervals make up the age of belief. */
enum { STEPS_MAX = 24, RIPE_PART = 14, TURN_TIMEOUTS = 4, SLACK_PART = 25 };

/* However short the session is: more writes are a load that delays them. */
enum { PACE_FLOOR_MS = 100 };

/* The round trip is the least of the last MEASURED_MAX to 2 * MEASURED_MAX answers. */
enum { MEASURED_MAX = 8, MEASURED_MIN = 3 };

void pdk__pace_init(struct pdk__pace *p)
{
    *p = (struct pdk__pace){.mean_ms = PDK__UNKNOWN_MS, .lag_ms = INT64_MAX, .least_ms = INT64_MAX};
}

/* The least of the last answers. Additional time is the load of the servers, not the link, and more writes would add
 * to it. */
int64_t pdk__pace_lag_ms(const struct pdk__pace *p)
{
    int64_t least = pdk__sooner_ms(p->lag_ms, p->least_ms);
    return least == INT64_MAX ? 0 : pdk__later_ms(0, least);
}

static int64_t ceiling(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* The age of belief right before the next proof, with a write in every PACE_MS. Each link waits for the answer to
 * the one before it, and for its turn. A sixth is added to the round trip, because it varies. */
static int64_t oldest_ms(const struct pdk__pace *p, const struct pdk__session_limits *l, int64_t pace_ms)
{
    assert(pace_ms > 0);
    int64_t lag = pdk__pace_lag_ms(p) * 7 / 6;
    return (ceiling(lag + l->gap_ms, pace_ms) + ceiling(lag + 1, pace_ms) + 1) * pace_ms + lag;
}

/* The age of belief at which one RIPE_PART of the timeout is left before doubt. */
static int64_t ripe_ms(const struct pdk__session_limits *l)
{
    return l->timeout_ms - l->margin_ms - l->min_valid_ms - l->timeout_ms / RIPE_PART;
}

/* The interval of an idle holder's writes on a fast link. Belief rests on a write that is three intervals old, if
 * those are longer than the gap, or four, if two of them are. That is six tenths of the timeout, with a tick of half
 * the timeout. A tenth of the gap is left for the answer. */
static int64_t fast_pace_ms(const struct pdk__session_limits *l)
{
    int64_t gap = l->gap_ms, timeout = l->timeout_ms;
    if (gap * 11 / 10 <= timeout / 5)
        return timeout / 5;
    return gap * 11 / 5 <= timeout * 7 / 10 ? gap * 11 / 20 : gap * 11 / 40;
}

/* At the pace of a fast link belief would be over-ripe. Not where answers take one and a half times as long as the
 * quickest: then the servers are slow, and more writes make them slower. */
static bool far(const struct pdk__pace *p, const struct pdk__session_limits *l)
{
    int64_t lag = pdk__pace_lag_ms(p);
    return lag > 0 && 2 * p->mean_ms <= 3 * lag && oldest_ms(p, l, fast_pace_ms(l)) > ripe_ms(l);
}

bool pdk__pace_slow(const struct pdk__pace *p, const struct pdk__session_limits *l) { return far(p, l) && !p->eased; }

/* Six tenths of the timeout: as old as belief gets where all requests are writes. Or as old as it gets if the write of
 * each chain is the first request of the next: with a tick of half the timeout, that is as long. */
int64_t pdk__pace_ripe_ms(const struct pdk__pace *p, const struct pdk__session_limits *l)
{
    return pdk__later_ms(l->timeout_ms * 6 / 10, 2 * (l->gap_ms + l->late_ms) + 4 * pdk__pace_lag_ms(p));
}

int64_t pdk__pace_slack_ms(const struct pdk__session_limits *l) { return l->timeout_ms / SLACK_PART; }

int64_t pdk__pace_mean_ms(const struct pdk__pace *p) { return pdk__later_ms(0, p->mean_ms); }

/* The age of belief right before the next proof. The write is sent when belief is ripe, or so much later as the sync
 * waited. */
bool pdk__pace_lean(const struct pdk__pace *p, const struct pdk__session_limits *l)
{
    int64_t lag = pdk__pace_lag_ms(p) * 7 / 6;
    return pdk__pace_ripe_ms(p, l) + pdk__pace_slack_ms(l) + 2 * lag <= ripe_ms(l);
}

/* The longest pace at which belief is not over-ripe; if there is none, a short one, for as much as it gains. */
static int64_t slow_pace_ms(const struct pdk__pace *p, const struct pdk__session_limits *l)
{
    int64_t lag = pdk__pace_lag_ms(p);
    for (int steps = 3; steps <= STEPS_MAX; steps++) {
        int64_t pace = (ripe_ms(l) - lag) / steps;
        if (pace >= PACE_FLOOR_MS && oldest_ms(p, l, pace) <= ripe_ms(l))
            return pace;
    }
    return pdk__later_ms((lag + l->gap_ms) / (PDK__ASKED_MAX - 2), PACE_FLOOR_MS);
}

int64_t pdk__pace_ms(const struct pdk__pace *p, const struct pdk__session_limits *l)
{
    return pdk__pace_slow(p, l) ? slow_pace_ms(p, l) : fast_pace_ms(l);
}

/* One late answer does not prove a slow link. */
static bool measured(const struct pdk__pace *p) { return p->lag_ms != INT64_MAX || p->n_measured >= MEASURED_MIN; }

bool pdk__pace_unfit(const struct pdk__pace *p, const struct pdk__session_limits *l)
{
    int64_t pace = slow_pace_ms(p, l);
    return measured(p) && far(p, l) && oldest_ms(p, l, pace) - pace > ripe_ms(l);
}

/* Where answers are late because the servers are loaded, the pace of a slow link makes it worse. So where that pace
 * has brought no proof for TURN_TIMEOUTS timeouts, the other pace is tried for as long, and so on. */
void pdk__pace_reconsider(struct pdk__pace *p, const struct pdk__session_limits *l, bool lacking, int64_t now_ms)
{
    if (!lacking || !far(p, l)) {
        p->turn_ms = now_ms;
    } else if (now_ms - p->turn_ms >= TURN_TIMEOUTS * l->timeout_ms) {
        p->eased = !p->eased;
        p->turn_ms = now_ms;
    }
}

void pdk__pace_measure(struct pdk__pace *p, int64_t took_ms)
{
    assert(p->n_measured >= 0 && p->n_measured < MEASURED_MAX);
    p->mean_ms = p->mean_ms == PDK__UNKNOWN_MS ? took_ms : p->mean_ms + (took_ms - p->mean_ms) / 8;
    p->least_ms = pdk__sooner_ms(p->least_ms, took_ms);
    if (++p->n_measured < MEASURED_MAX)
        return;
    p->lag_ms = p->least_ms;
    p->least_ms = INT64_MAX;
    p->n_measured = 0;
    assert(p->lag_ms != INT64_MAX);
}
