/* All chance comes from one seed. */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

/* splitmix64 (Steele, Lea, Flood 2014): every seed is a good one. */
static inline uint64_t draw(struct random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 to N - 1. */
static inline int below(struct random *r, int n) { return (int)((draw(r) >> 32) * (uint64_t)n >> 32); }

/* From A to B, both included. */
static inline int between(struct random *r, int a, int b) { return a + below(r, b - a + 1); }

static inline bool chance(struct random *r, int permille) { return below(r, 1000) < permille; }

#endif
