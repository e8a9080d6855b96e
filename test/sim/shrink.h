/* Make a failing schedule small: leave out every fault that it does not need. */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "test/sim/world.h"

/* PLAN breaks LAW. Fills SPARED with the faults that can be left out, LAW being broken all the same; returns how many
 * are left. */
int shrink(struct world *w, const struct plan *plan, const char *law, bool spared[FAULTS_MAX]);

#endif
