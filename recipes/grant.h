/*
 * The user's handle of a request that belongs to no thread, and of the grant that it becomes: pdk_grant and its verbs.
 * The recipe behind it has the request itself, counted: a hold or a bundle.
 */
#ifndef PDK__GRANT_H
#define PDK__GRANT_H

#include "recipes/any_lock.h"
#include "recipes/held.h"

struct pdk__holding;

/* All with the client's lock. */
struct pdk__grant_kind {
    const char *release_verb; /* in incidents */

    /* The grant, until it is released. */
    struct pdk__held (*held)(const pdk_grant *g);
    uint64_t (*turn)(const pdk_grant *g); /* of what is held */

    void (*cancel)(pdk_grant *g);

    /* It is held, and not lost: release it, and end the reference to it. The first waits for the outcome. */
    int (*release)(pdk_grant *g);
    int (*release_later)(pdk_grant *g, pdk_lock_cb cb, void *arg);

    /* It is no longer wanted, in whatever stage; likewise. */
    void (*drop)(pdk_grant *g);
};

struct pdk_grant {
    const struct pdk__grant_kind *kind;
    struct pdk_lock *lock;
    struct pdk__list link;      /* in the lock's, until it ends */
    struct pdk__holding *op;    /* the request: of a lock with one node, */
    struct pdk__bundle *bundle; /* or with several; the other is NULL */
    unsigned count;
    const unsigned *places; /* of its nodes among the parts; borrowed. NULL: in their order */
};

/* A handle that is not the user's yet, without a request; NULL when memory is out. Its owner frees it, or gives it to the
 * user: with the client's lock, it joins those of its lock. */
pdk_grant *pdk__grant_new(struct pdk_lock *l, const struct pdk__grant_kind *kind);
void pdk__grant_free(pdk_grant *g);
void pdk__grant_join(pdk_grant *g);

#endif
