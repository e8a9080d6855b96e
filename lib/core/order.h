/*
 * The order of contenders: which one holds, and which one each waiter waits for.
 *
 * Lowest sequence number first, as in Curator. A contender of another recipe counts like one of ours; junk does not
 * count. The listing comes in the server's hash order; one pass answers, without sorting.
 */
#ifndef PDK__ORDER_H
#define PDK__ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The end of the counter. From 3.6 on it sticks there and every later contender gets the same number
 * (ZOOKEEPER-3249); older servers go on with negative ones. Neither kind of number orders contenders any more. */
#define PDK__SEQUENCE_LAST INT64_C(2147483647)

struct pdk__place {
    bool present;            /* the contender is in the listing */
    bool tied;               /* another has its sequence number: there is no order */
    size_t ahead;            /* how many contenders are before it */
    const char *predecessor; /* the nearest one ahead, borrowed from the listing; NULL when it is first */
};

/* The place of the node OWN among N children. OWN is an exact name: every client that may list the path can read
 * session and attempt, and could pass a node with a forged name off as ours. */
struct pdk__place pdk__order_place(const char *const *children, size_t n, const char *own);

/* The lowest of N children that carries SESSION and ATTEMPT and comes after AFTER ("" for the first), borrowed from
 * the listing; NULL when there is none. The caller must check its owner: the name proves nothing. */
const char *pdk__order_candidate(const char *const *children, size_t n, int64_t session, uint32_t attempt,
                                 const char *after);

/* The first contender among N children, borrowed from the listing; NULL when there is none. */
const char *pdk__order_first(const char *const *children, size_t n);

/* How many of N children are contenders, of whatever recipe. */
size_t pdk__order_contenders(const char *const *children, size_t n);

/* Compare for sorting: contenders by sequence number then name, junk after them by name. */
int pdk__order_compare(const char *a, const char *b);

#endif
