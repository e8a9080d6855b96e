/*
 * Releases under way: what a claim leaves on the servers once it is no longer wanted, until its node is proven deleted
 * or its session has ended. They are numbered in the order in which they began. So a flush can wait for the earlier
 * ones, and later ones do not prolong it.
 *
 * All with the client's lock held.
 */
#ifndef PDK__RELEASE_H
#define PDK__RELEASE_H

#include "lib/zk/client.h"

/* In each claim. */
struct pdk__release {
    struct pdk__list link;
    uint64_t number; /* 0: not begun */
};

/* It begins, unless it has. It ends, if it has begun. */
void pdk__release_begin(struct pdk_client *c, struct pdk__release *release);
void pdk__release_end(struct pdk_client *c, struct pdk__release *release);

#endif
