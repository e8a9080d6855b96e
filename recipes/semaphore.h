/* The semaphore, inside; bundle.h has the life of a permit. */
#ifndef PDK__SEMAPHORE_H
#define PDK__SEMAPHORE_H

#include "lib/core/rule.h"
#include "paddock/semaphore.h"
#include "recipes/any_lock.h"
#include "recipes/bundle.h"
#include "recipes/count.h"

struct pdk__semaphore {
    struct pdk_lock lock;
    struct pdk__rule rule;    /* of a permit; with the limit */
    char *gate, *leases;      /* the paths under the object's */
    struct pdk__count *count; /* the node that has the limit; NULL: none */
    struct pdk__list permits; /* of pdk__bundle: those whose handle has not ended */
};

#endif
