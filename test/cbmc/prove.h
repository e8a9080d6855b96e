/* The words of the proofs: a value that may be any, an assumption, a claim. */
#ifndef PROVE_H
#define PROVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CBMC lets functions with such names return any value. */
bool nondet_bool(void);
char nondet_char(void);
int nondet_int(void);
int64_t nondet_int64(void);
size_t nondet_size(void);
unsigned nondet_unsigned(void);
uint64_t nondet_uint64(void);

#define ASSUME(condition) __CPROVER_assume(condition)
#define PROVE(condition, law) __CPROVER_assert(condition, law)

/* A proof of what never happens shows nothing: some run gets here. In a run of its own, with --cover. */
#ifdef COVER
#define REACH(condition) __CPROVER_cover(condition)
#else
#define REACH(condition) ((void)0)
#endif

/* The part of the proof that is run: the last word of a constant that begins with PREFIX. */
#define PART_OF(prefix) PART_OF_(prefix, PART)
#define PART_OF_(prefix, part) PART_OF__(prefix, part)
#define PART_OF__(prefix, part) prefix##part

static inline int64_t any_between(int64_t low, int64_t high)
{
    int64_t x = nondet_int64();
    ASSUME(low <= x && x <= high);
    return x;
}

#endif
