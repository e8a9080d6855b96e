#include "lib/core/limits.h"
#include "lib/assert.h"

/* Parts of the timeout. A tick is at most one TICK_PART of it, and by default taken as that. The margin is for clocks
 * that run apart; a MARGIN_PART is its default. */
enum { MARGIN_PART = 20, MIN_VALID_PART = 10, TICK_PART = 2 };

/* How late the leader's pings may be: beyond their interval of half a tick, the time it takes to send them. */
enum { PING_LATE_PART = 20, PING_LATE_MS = 10 };

static int64_t either(int64_t chosen_ms, int64_t default_ms) { return chosen_ms > 0 ? chosen_ms : default_ms; }

static int64_t late_ms(int64_t tick_ms) { return tick_ms / PING_LATE_PART + PING_LATE_MS; }

struct pdk__session_limits pdk__limits(const struct pdk__session_policy *policy, int64_t timeout_ms)
{
    assert(timeout_ms > 0);
    int64_t tick_ms = either(policy->tick_ms, timeout_ms / TICK_PART);
    return (struct pdk__session_limits){.timeout_ms = timeout_ms,
                                        .tick_ms = tick_ms,
                                        .gap_ms = tick_ms / 2 + late_ms(tick_ms),
                                        .late_ms = late_ms(tick_ms),
                                        .margin_ms = either(policy->margin_ms, timeout_ms / MARGIN_PART),
                                        .min_valid_ms = timeout_ms / MIN_VALID_PART};
}

/* A proof is never younger than the gap. */
bool pdk__limits_too_short(const struct pdk__session_limits *l)
{
    assert(l->gap_ms >= l->late_ms && l->late_ms > 0 && l->margin_ms >= 0 && l->min_valid_ms >= 0);
    return l->gap_ms + l->margin_ms + l->min_valid_ms >= l->timeout_ms;
}
