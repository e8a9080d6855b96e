/*
 * The order of contenders; rule.h has which of them a waiter waits for.
 *
 * Lowest sequence number first, as in Curator. A contender of another recipe counts like one of ours; junk does not
 * count.
 */
#ifndef PDK__ORDER_H
#define PDK__ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lowest of N children that carries SESSION and ATTEMPT and comes after AFTER ("" for the first), borrowed from
 * the listing; NULL when there is none. The caller must check its owner: the name proves nothing. */
const char *pdk__order_candidate(const char *const *children, size_t n, int64_t session, uint32_t attempt,
                                 const char *after);

/* The first contender among N children, borrowed from the listing; NULL when there is none. */
const char *pdk__order_first(const char *const *children, size_t n);

/* Compare for sorting: contenders by sequence number then name, junk after them by name. */
int pdk__order_compare(const char *a, const char *b);

#endif
