/* The semaphore, inside; permit.h has what it hands out. */
#ifndef PDK__SEMAPHORE_H
#define PDK__SEMAPHORE_H

#include "lib/core/rule.h"
#include "paddock/semaphore.h"
#include "recipes/node_data.h"
#include "recipes/object.h"

struct pdk_semaphore_options {
    struct pdk__node_options shared;
};

struct pdk_semaphore {
    struct pdk__object object;
    struct pdk__node_options options;
    struct pdk__rule rule;    /* of a permit; with the limit */
    char *gate, *leases;      /* the paths under the object's */
    struct pdk__list permits; /* of pdk_permit: those whose handle has not ended */
};

#endif
