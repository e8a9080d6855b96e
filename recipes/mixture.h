/*
 * The mixture: contenders of another recipe beside the nodes of a hold, or permits of another limit. Two jobs could run
 * that must not.
 *
 * The listing of the own path shows contenders of other recipes (standing.h). It does not show those of a semaphore,
 * whose nodes are below the path; nor does a semaphore's show those on its path. These are asked for here, once the own
 * nodes are there: so of two that come at the same time one at least sees the other. A lock asks only where the path
 * has the parts of a semaphore, and a semaphore once in its object's life, for two listings and one other permit.
 */
#ifndef PDK__MIXTURE_H
#define PDK__MIXTURE_H

#include "lib/zk/wire.h"

struct pdk__hold;
struct pdk__mixture;

/* With the client's lock: all parts of HOLD are granted. 0: nothing was found, or nothing is refused. 1: it is not
 * known yet, and ANSWERED will be called. PDK_EMIXED, with the reason; PDK_ENOMEM. */
int pdk__mixture_judge(struct pdk__hold *hold, void (*answered)(struct pdk__hold *hold));

/* No answer comes any more. NULL is ignored. */
void pdk__mixture_free(struct pdk__mixture *m);

#endif
