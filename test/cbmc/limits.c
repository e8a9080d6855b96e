/* The parts of any session timeout, whatever the program has said of its servers and clocks. */
#include "lib/core/limits.h"
#include "test/cbmc/prove.h"

int main(void)
{
    struct pdk__session_policy policy = {any_between(0, INT_MAX), any_between(0, INT_MAX), nondet_bool()};
    int64_t timeout_ms = any_between(1, INT_MAX);
    struct pdk__session_limits l = pdk__limits(&policy, timeout_ms);
    PROVE(l.timeout_ms == timeout_ms, "the timeout is the session's");
    PROVE(policy.tick_ms == 0 || l.tick_ms == policy.tick_ms, "a tick that was stated counts");
    PROVE(policy.tick_ms != 0 || (2 * l.tick_ms <= timeout_ms && 2 * l.tick_ms >= timeout_ms - 1),
          "a tick is taken for half the timeout");
    PROVE(2 * l.gap_ms > l.tick_ms && 2 * (l.gap_ms - l.late_ms) <= l.tick_ms, "the gap is more than half a tick");
    PROVE(l.late_ms >= 10 && l.late_ms <= 10 + l.tick_ms / 20, "pings may be late");
    PROVE(policy.margin_ms == 0 || l.margin_ms == policy.margin_ms, "a margin that was stated counts");
    PROVE(policy.margin_ms != 0 || (l.margin_ms >= 0 && 20 * l.margin_ms <= timeout_ms),
          "the margin is a twentieth of the timeout");
    PROVE(l.min_valid_ms >= 0 && 10 * l.min_valid_ms <= timeout_ms,
          "doubt comes a tenth of the timeout before the end");
    bool too_short = pdk__limits_too_short(&l);
    PROVE(too_short == (l.gap_ms + l.margin_ms + l.min_valid_ms >= timeout_ms), "all parts fit into the timeout");
    REACH(too_short && policy.tick_ms == 0 && policy.margin_ms == 0);
    REACH(!too_short && policy.tick_ms == 0 && policy.margin_ms == 0 && timeout_ms == INT_MAX);
    REACH(!too_short && policy.tick_ms > 0 && policy.margin_ms > 0);
}
