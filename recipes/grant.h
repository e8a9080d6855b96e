/*
 * The end of a grant, and the user's handle of one that belongs to no thread: pdk_grant and its verbs.
 */
#ifndef PDK__GRANT_H
#define PDK__GRANT_H

#include "recipes/lockable.h"

struct pdk_grant {
    struct pdk_lock *lock;
    struct pdk__list link;       /* in the lock's, until it ends */
    struct pdk__acquisition *op; /* the request, counted; NULL: not yet */
};

/* All with the client's lock. */

/* The owner of OP, whose last level it was, releases it, or passes it on. The first waits for the outcome, and returns
 * it. The second requests CB, which may be NULL. PDK_ENOMEM: nothing has happened. */
int pdk__grant_give_away(struct pdk__acquisition *op);
int pdk__grant_give_away_later(struct pdk__acquisition *op, pdk_lock_cb cb, void *arg);

/* A handle that is not the user's yet; NULL when memory is out. Its owner frees it, or gives it to the user: then it
 * joins those of its lock. */
pdk_grant *pdk__grant_new(struct pdk_lock *l);
void pdk__grant_free(pdk_grant *g);
void pdk__grant_join(pdk_grant *g);

/* Its grant, until it is released; NULL: none. */
struct pdk__hold *pdk__grant_held(const pdk_grant *g);

/* It is no longer wanted, in whatever stage. It is freed. */
void pdk__grant_drop(pdk_grant *g);

#endif
