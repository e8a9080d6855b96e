/* Chance from a seed: the same seed, the same throws (splitmix64). */
#ifndef PDK__TEST_DICE_H
#define PDK__TEST_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline void dice_seed(struct dice *d, uint64_t seed) { d->state = seed; }

static inline uint64_t dice_throw(struct dice *d)
{
    uint64_t z = (d->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 to N - 1. */
static inline int dice_below(struct dice *d, int n) { return (int)(dice_throw(d) % (uint64_t)n); }

/* LOW to HIGH, both included. */
static inline int dice_between(struct dice *d, int low, int high) { return low + dice_below(d, high - low + 1); }

static inline bool dice_chance(struct dice *d, int percent) { return dice_below(d, 100) < percent; }

#endif
