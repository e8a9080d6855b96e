/*
 * A write under a grant: one transaction with a check of each of its nodes.
 */
#ifndef PDK__GUARDED_H
#define PDK__GUARDED_H

#include "lib/zk/exchange.h"
#include "recipes/hold.h"

/* All with the client's lock held. */

/* The paths of the nodes of a grant. */
struct pdk__guards {
    char **paths;
    unsigned n;
};

/* Of HOLD, which may be NULL. PDK_EPERM: there is no grant. PDK_ELOST: it is lost; PDK_ENOMEM. */
int pdk__guards_init(struct pdk__guards *guards, struct pdk__hold *hold);
void pdk__guards_clear(struct pdk__guards *guards);

/* The outcome of a write, as <paddock/guarded.h> has it. PDK_EDISCONNECTED: it was not done, and can be tried again. */
int pdk__guarded_outcome(const struct pdk__exchange *x);

/* Why, where the code does not tell; or "". */
void pdk__guarded_reason(const struct pdk__exchange *x, char *buf, size_t size);

#endif
