/*
 * The options of a lock.
 */
#ifndef PDK__LOCK_OPTIONS_H
#define PDK__LOCK_OPTIONS_H

#include "lib/core/wish.h"
#include "paddock/lock.h"

/* The kinds of lock, as a set. */
enum pdk__lock_kinds { PDK__MUTEX = 1, PDK__RWLOCK = 2, PDK__SEMAPHORE = 4, PDK__MULTILOCK = 8, PDK__LEADER = 16 };

struct pdk_lock_options {
    void *data; /* owned; NULL: an identity */
    size_t data_size;
    struct pdk__conditions conditions;
    bool unmixed;             /* a request fails beside contenders of another recipe */
    bool unlock_nowait;       /* an unlock that waits sends the delete, and does not await its answer */
    unsigned handover_budget; /* how often a grant is handed on to a thread of this process; 0: never */
    int idle_hold_ms;         /* how long a grant stays without an owner; 0: it does not */
};

/* Has KIND all that is set in O? */
bool pdk__lock_options_suit(const pdk_lock_options *o, enum pdk__lock_kinds kind);

/* Do they make the same nodes? */
bool pdk__lock_options_alike(const pdk_lock_options *a, const pdk_lock_options *b);

/* A copy, to be cleared. PDK_ENOMEM. */
int pdk__lock_options_copy(pdk_lock_options *to, const pdk_lock_options *from);
void pdk__lock_options_clear(pdk_lock_options *o);

#endif
