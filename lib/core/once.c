#include "lib/core/once.h"
#include "lib/assert.h"

/* Our clock may be slower than the leader's by an eighth; a second is for what rounds and waits. */
static int64_t at_most(int64_t passed_ms) { return passed_ms > 0 ? passed_ms + passed_ms / 8 + 1000 : 0; }

enum pdk__once_verdict pdk__once_judge(int64_t begun_ms, int64_t now_ms, int64_t passed_ms, int64_t period_ms)
{
    assert(begun_ms >= 0 && now_ms >= 0 && passed_ms >= 0 && period_ms > 0);
    int64_t age_ms = now_ms - begun_ms, present_ms = age_ms + at_most(passed_ms);
    if (age_ms >= period_ms)
        return PDK__ONCE_DUE;
    if (present_ms >= period_ms)
        return PDK__ONCE_LATER;
    return present_ms > -period_ms ? PDK__ONCE_DONE : PDK__ONCE_FUTURE;
}
