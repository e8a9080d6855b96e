#include "test/demo/shedlock.h"

#include "test/demo/fleet.h"
#include "test/lib/check.h"

/* The machines of the fleet, the fastest clock first, are in the order of their starts. */
int shedlock_play(const struct shedlock *s, int n_periods, bool (*dies)(int period), int *successes)
{
    int lock_until_s = -FLEET_HOUR_S, n_begun = 0;
    CHECK(s->job_s <= s->hold_s);
    for (int k = 0; k < n_periods; k++) {
        bool dead = dies == NULL || !dies(k);
        successes[k] = 0;
        for (int i = 0; i < FLEET_SIZE; i++) {
            int now_s = k * FLEET_HOUR_S + (s->own_clocks ? 0 : -fleet_ahead_s(i));
            CHECK(i == 0 || fleet_ahead_s(i) < fleet_ahead_s(i - 1));
            if (lock_until_s > now_s)
                continue;
            lock_until_s = now_s + s->hold_s;
            n_begun++;
            successes[k] += dead;
            dead = true;
        }
    }
    return n_begun;
}
