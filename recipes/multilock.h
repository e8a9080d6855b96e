/* The multi-lock, inside; bundle.h has the life of a grant. */
#ifndef PDK__MULTILOCK_H
#define PDK__MULTILOCK_H

#include "paddock/multilock.h"
#include "recipes/any_lock.h"
#include "recipes/bundle.h"

struct pdk__multilock {
    struct pdk_lock lock;
    unsigned n;
    char **paths;          /* sorted */
    unsigned *places;      /* of each path, as given, among the sorted ones */
    struct pdk__list list; /* of pdk__grip: those that contend or are owned */
};

/* A grant, or a request: of a thread, which can re-enter, or of none, which has a handle. */
struct pdk__grip {
    struct pdk__bundle bundle;
    uint64_t thread; /* 0: belongs to no thread */
    unsigned count;
};

#endif
