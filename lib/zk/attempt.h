/* The numbers of attempts: each create of a node of ours has one, and it is in the node's name. */
#ifndef PDK__ATTEMPT_H
#define PDK__ATTEMPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* How many were drawn so far. A test may set it. */
extern atomic_uint_least64_t pdk__attempts_drawn;

/* Another number, never 0. *AGAIN: the numbers have come round, and an earlier request may still have this one. */
uint32_t pdk__attempt_next(bool *again);

#endif
