/*
 * The link and its pace: for all limits under which a grant can be proven, from any state that its calls leave.
 *
 * A part is a question. That the search for a slow link's pace keeps within the times of OLDEST is not proved: its
 * divisions are too many for CBMC.
 */
#include "lib/core/pace.c"
#include "test/cbmc/prove.h"

/* A clock in milliseconds for longer than thirty million years, and a round trip of longer than thirty thousand. */
#define NOW_MAX (INT64_C(1) << 60)
#define LAG_MAX (INT64_C(1) << 50)

enum question { ASK_OLDEST, ASK_LEAN, ASK_RECONSIDER, ASK_MEASURE, ASK = PART_OF(ASK_) };

/* Any limits that their own proof leaves open. */
static struct pdk__session_limits any_limits(void)
{
    struct pdk__session_limits l = {.timeout_ms = any_between(1, INT_MAX),
                                    .gap_ms = any_between(10, INT_MAX),
                                    .margin_ms = any_between(0, INT_MAX),
                                    .late_ms = any_between(10, INT_MAX)};
    l.min_valid_ms = l.timeout_ms / 10;
    ASSUME(l.late_ms <= l.gap_ms && l.gap_ms + l.margin_ms + l.min_valid_ms < l.timeout_ms);
    return l;
}

static int64_t any_lag_ms(void) { return nondet_bool() ? INT64_MAX : any_between(0, LAG_MAX); }

static bool allowed(const struct pdk__pace *p, int64_t now_ms)
{
    bool answered = p->n_measured > 0 || p->lag_ms != INT64_MAX;
    return p->n_measured >= 0 && p->n_measured < MEASURED_MAX && (p->n_measured > 0) == (p->least_ms != INT64_MAX) &&
           (p->lag_ms == INT64_MAX || (p->lag_ms >= 0 && p->lag_ms <= LAG_MAX)) &&
           (p->least_ms == INT64_MAX || (p->least_ms >= 0 && p->least_ms <= LAG_MAX)) &&
           (p->mean_ms == PDK__UNKNOWN_MS ? !answered : answered && p->mean_ms >= 0 && p->mean_ms <= LAG_MAX) &&
           p->turn_ms >= 0 && p->turn_ms <= now_ms;
}

static struct pdk__pace any_pace(int64_t now_ms)
{
    struct pdk__pace p = {.lag_ms = any_lag_ms(),
                          .least_ms = any_lag_ms(),
                          .mean_ms = nondet_int64(),
                          .n_measured = any_between(0, MEASURED_MAX - 1),
                          .eased = nondet_bool(),
                          .turn_ms = nondet_int64()};
    ASSUME(allowed(&p, now_ms));
    return p;
}

static void prove_measure(struct pdk__pace *p, int64_t now_ms)
{
    int64_t before_ms = pdk__pace_lag_ms(p), took_ms = any_between(0, LAG_MAX);
    bool first = p->mean_ms == PDK__UNKNOWN_MS;
    PROVE(before_ms >= 0 && before_ms <= LAG_MAX && (!first || before_ms == 0),
          "a round trip is one that was measured");
    pdk__pace_measure(p, took_ms);
    PROVE(allowed(p, now_ms), "an answer leaves a state that is allowed");
    int64_t lag_ms = pdk__pace_lag_ms(p);
    PROVE(lag_ms <= took_ms, "the round trip is the least");
    PROVE(!first || (lag_ms == took_ms && pdk__pace_mean_ms(p) == took_ms), "the first answer is the measure");
    REACH(p->n_measured == 0 && lag_ms > before_ms);
    REACH(first);
}

/* At any pace: of a fast link, tried for a slow one, or in place of all of those. */
static void prove_oldest(const struct pdk__pace *p, const struct pdk__session_limits *l)
{
    int64_t fast_ms = fast_pace_ms(l), pace_ms = any_between(1, LAG_MAX);
    PROVE(fast_ms > 0 && 4 * fast_ms < l->timeout_ms,
          "a timeout has five writes, and none comes at once after another");
    PROVE(oldest_ms(p, l, pace_ms) > 0, "belief has an age");
    REACH(4 * fast_ms == l->timeout_ms - 1);
}

static void prove_lean(const struct pdk__pace *p, const struct pdk__session_limits *l)
{
    int64_t ripe_ms = pdk__pace_ripe_ms(p, l), slack_ms = pdk__pace_slack_ms(l);
    int64_t doubt_ms = l->timeout_ms - l->margin_ms - l->min_valid_ms;
    PROVE(ripe_ms >= 0 && slack_ms >= 0, "belief ripens");
    PROVE(!pdk__pace_lean(p, l) || ripe_ms + slack_ms <= doubt_ms, "with few writes, there is time before doubt");
    REACH(pdk__pace_lean(p, l) && pdk__pace_lag_ms(p) > 0);
}

static void prove_reconsidered(struct pdk__pace *p, const struct pdk__session_limits *l, int64_t now_ms)
{
    bool eased = p->eased, lacking = nondet_bool();
    int64_t turned_ms = p->turn_ms;
    pdk__pace_reconsider(p, l, lacking, now_ms);
    PROVE(allowed(p, now_ms), "a turn leaves a state that is allowed");
    PROVE(p->eased == eased || (lacking && now_ms - turned_ms >= 4 * l->timeout_ms),
          "a pace is tried for four timeouts");
    REACH(p->eased != eased);
}

int main(void)
{
    int64_t now_ms = any_between(0, NOW_MAX), later_ms = any_between(now_ms, NOW_MAX);
    struct pdk__session_limits l = any_limits();
    struct pdk__pace p = any_pace(now_ms);
    if (ASK == ASK_OLDEST)
        prove_oldest(&p, &l);
    else if (ASK == ASK_MEASURE)
        prove_measure(&p, now_ms);
    else if (ASK == ASK_LEAN)
        prove_lean(&p, &l);
    else
        prove_reconsidered(&p, &l, later_ms);
}
