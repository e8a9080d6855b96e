/*
 * The order of contenders: who holds, and for whom to wait.
 *
 * Lowest sequence number first, as in Curator. A contender of another recipe counts like one of ours, junk counts for
 * nothing. The listing comes in the server's hash order; one pass answers, without sorting.
 */
#ifndef PDK__ORDER_H
#define PDK__ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the counter ends. From 3.6 on it sticks there and every later contender gets the same number (ZOOKEEPER-3249);
 * older servers go on with negative ones. Neither orders anybody any more. */
#define PDK__SEQUENCE_LAST INT64_C(2147483647)

struct pdk__place {
    bool present;            /* the contender is in the listing */
    bool tied;               /* another has its sequence number: there is no order */
    size_t ahead;            /* how many contenders are before it */
    const char *predecessor; /* the nearest one ahead, borrowed from the listing; NULL when it is first */
};

/* Where the node OWN stands among N children. OWN is an exact name: session and attempt can be read by every client
 * that may list the path, and a node of a forged name would be taken for ours by them. */
struct pdk__place pdk__order_place(const char *const *children, size_t n, const char *own);

/* The lowest of N children that carries SESSION and ATTEMPT and comes after AFTER ("" for the first), borrowed from the
 * listing; NULL when there is none. The caller has to look at its owner: the name proves nothing. */
const char *pdk__order_candidate(const char *const *children, size_t n, int64_t session, uint32_t attempt,
                                 const char *after);

/* The first contender among N children, borrowed from the listing; NULL when there is none. */
const char *pdk__order_first(const char *const *children, size_t n);

/* How many of N children are contenders, of whatever recipe. */
size_t pdk__order_contenders(const char *const *children, size_t n);

/* Compare for sorting: contenders by sequence number then name, junk behind them by name. */
int pdk__order_compare(const char *a, const char *b);

#endif
