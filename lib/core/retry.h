/*
 * When to ask again: exponential back-off with full jitter, so that a fleet that lost its servers together does not
 * come back together (Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015).
 */
#ifndef PDK__RETRY_H
#define PDK__RETRY_H

#include <stdint.h>

struct pdk__retry {
    uint64_t random; /* the state of the generator; never 0 */
    unsigned failures;
};

/* SEED makes the delays differ between clients, and is all the randomness there is. */
void pdk__retry_init(struct pdk__retry *r, uint64_t seed);

/* One more failure: how many milliseconds to wait, up to SPREAD the first time. It doubles each time, to CEILING. */
int64_t pdk__retry_spread_ms(struct pdk__retry *r, int64_t spread_ms, int64_t ceiling_ms);

/* The same, FLOOR later, with FLOOR as the spread. */
int64_t pdk__retry_delay_ms(struct pdk__retry *r, int64_t floor_ms, int64_t ceiling_ms);

/* It worked: begin again. */
void pdk__retry_reset(struct pdk__retry *r);

#endif
