/*
 * A wish: one request for a lock, described once. The recipe fills it. The hold, its claims and their machines borrow
 * it, until nothing of the request is left.
 */
#ifndef PDK__WISH_H
#define PDK__WISH_H

#include "lib/core/record.h"
#include "lib/core/rule.h"

/* The conditions of a grant beyond being the first: the same for all requests of an object. */
struct pdk__conditions {
    int64_t min_token; /* 0: none */
    bool confirmed;    /* our node is written before it, and the token is that write's */
    int lock_delay_ms; /* how much later it comes when the last holder did not release; 0: neither delay nor record */
    struct pdk__delay *delay; /* borrowed */
    bool look_ahead;          /* behind two or more it watches the one before its predecessor (queue.c) */
    bool long_held;           /* its node is watched from the first listing that shows it (own_node.h) */
};

struct pdk__wish {
    const struct pdk__rule *rule;             /* borrowed; a limit in it may change */
    const struct pdk__conditions *conditions; /* borrowed */
    const char *data;                         /* of each node; borrowed */
    size_t data_size;
    bool try_only;
    int64_t deadline_ms;
    size_t places; /* a try writes only where so many are free, ours included; 0: one */
    bool bound;    /* to other contenders of ours, which keep their places: it must not come back alone */

    /* Another grant of this client, under whose number our node is made; borrowed. NULL: none. The lock is ours while
     * that node is there, and ours takes its place when it goes. The token stays. */
    const char *base;
    int64_t base_token;
};

#endif
