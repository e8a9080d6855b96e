/* How long a retry waits, after any number of failures, whatever is drawn. */
#include "lib/core/retry.h"
#include "test/cbmc/prove.h"

/* More than sixty million years. */
#define CEILING_MAX (INT64_C(1) << 61)

static struct pdk__retry any_retry(void)
{
    struct pdk__retry r = {.random = nondet_uint64(), .failures = nondet_unsigned()};
    ASSUME(r.random != 0);
    return r;
}

static void prove_init(uint64_t seed)
{
    struct pdk__retry r;
    pdk__retry_init(&r, seed);
    PROVE(r.random != 0 && r.failures == 0, "a generator begins with a state that is not 0");
    REACH(seed == 0);
}

static void prove_state(const struct pdk__retry *before, const struct pdk__retry *r)
{
    PROVE(r->random != 0, "the state of the generator is never 0");
    PROVE(r->failures == before->failures + (before->failures < UINT32_MAX), "failures are counted");
    REACH(r->failures == UINT32_MAX);
}

/* The spread after FAILURES, at most; one that overflows is above any ceiling. */
static int64_t widest_ms(int64_t spread_ms, int64_t ceiling_ms, unsigned failures)
{
    bool below = failures < 63 && spread_ms <= ceiling_ms >> failures;
    return below ? spread_ms << failures : ceiling_ms;
}

static void prove_spread(int64_t spread_ms, int64_t ceiling_ms)
{
    struct pdk__retry r = any_retry();
    const struct pdk__retry before = r;
    int64_t wait_ms = pdk__retry_spread_ms(&r, spread_ms, ceiling_ms);
    PROVE(wait_ms >= 0 && wait_ms <= ceiling_ms, "a wait is within its ceiling");
    PROVE(wait_ms <= widest_ms(spread_ms, ceiling_ms, before.failures), "the spread at most doubles with each failure");
    prove_state(&before, &r);
    REACH(before.failures == 0 && wait_ms == spread_ms && wait_ms > 1);
    REACH(before.failures == 3 && wait_ms > 7 * spread_ms && spread_ms < CEILING_MAX / 8);
    REACH(wait_ms == CEILING_MAX);
}

static void prove_delay(int64_t floor_ms, int64_t ceiling_ms)
{
    struct pdk__retry r = any_retry();
    const struct pdk__retry before = r;
    int64_t delay_ms = pdk__retry_delay_ms(&r, floor_ms, ceiling_ms);
    PROVE(floor_ms <= delay_ms && delay_ms <= floor_ms + ceiling_ms, "a delay is within its floor and ceiling");
    prove_state(&before, &r);
    REACH(delay_ms == floor_ms);
    REACH(delay_ms == floor_ms + ceiling_ms && floor_ms < ceiling_ms);
    pdk__retry_reset(&r);
    PROVE(r.failures == 0 && r.random != 0, "a reset begins again");
}

int main(void)
{
    int64_t least_ms = any_between(1, CEILING_MAX), ceiling_ms = any_between(least_ms, CEILING_MAX);
    prove_init(nondet_uint64());
    prove_spread(least_ms, ceiling_ms);
    prove_delay(least_ms, ceiling_ms);
}
