/* The read/write lock, inside. */
#ifndef PDK__RWLOCK_H
#define PDK__RWLOCK_H

#include "paddock/rwlock.h"
#include "recipes/holds.h"

struct pdk_rwlock_options {
    struct pdk__node_options shared;
};

struct pdk_rwlock {
    struct pdk__holds holds;
};

#endif
