#include "lib/core/retry.h"
#include "lib/assert.h"

void pdk__retry_init(struct pdk__retry *r, uint64_t seed)
{
    r->random = seed != 0 ? seed : UINT64_C(0x9e3779b97f4a7c15);
    r->failures = 0;
}

/* xorshift64*: small, seedable and good enough to spread delays (Vigna 2016). */
static uint64_t draw(struct pdk__retry *r)
{
    r->random ^= r->random >> 12;
    r->random ^= r->random << 25;
    r->random ^= r->random >> 27;
    return r->random * UINT64_C(0x2545f4914f6cdd1d);
}

int64_t pdk__retry_spread_ms(struct pdk__retry *r, int64_t spread_ms, int64_t ceiling_ms)
{
    assert(r->random != 0 && 0 < spread_ms && spread_ms <= ceiling_ms);
    int64_t span = spread_ms;
    for (unsigned i = 0; i < r->failures && span < ceiling_ms; i++)
        span *= 2;
    if (span > ceiling_ms)
        span = ceiling_ms;
    if (r->failures < UINT32_MAX)
        r->failures++;
    return (int64_t)(draw(r) % (uint64_t)(span + 1));
}

int64_t pdk__retry_delay_ms(struct pdk__retry *r, int64_t floor_ms, int64_t ceiling_ms)
{
    return floor_ms + pdk__retry_spread_ms(r, floor_ms, ceiling_ms);
}

void pdk__retry_reset(struct pdk__retry *r) { r->failures = 0; }
