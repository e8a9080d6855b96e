/* Shrink a failing schedule: omit every fault that it does not need. */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "test/sim/world.h"

/* PLAN breaks LAW. Fills SPARED with the faults that can be omitted with LAW still broken. Returns the number of faults
 * left. */
int shrink(struct world *w, const struct plan *plan, const char *law, bool spared[FAULTS_MAX]);

#endif
