/* The mutex, inside. */
#ifndef PDK__MUTEX_H
#define PDK__MUTEX_H

#include "paddock/mutex.h"
#include "recipes/holds.h"

struct pdk_mutex_options {
    struct pdk__node_options shared;
};

struct pdk_mutex {
    struct pdk__holds holds;
};

#endif
