/*
 * An acquisition of a candidate, and how it differs from one that waits for a lock. It is HELD for a term, and becomes
 * a candidate again for the next one when the last term's work has ended.
 */
#ifndef PDK_CLI_CANDIDACY_H
#define PDK_CLI_CANDIDACY_H

#include "cli/run/acquisition.h"

/* Create the leader object, in place of a lock. */
int pdk__cli_candidacy_make(struct pdk__cli_acquisition *c);

/* Check its progress. */
void pdk__cli_candidacy_step(struct pdk__cli_acquisition *c);

/* The term's work has ended: give up the rest of the term, and after PAUSE_MS become a candidate again. */
void pdk__cli_candidacy_again(struct pdk__cli_acquisition *c, int64_t pause_ms);

/* Resign for good. */
void pdk__cli_candidacy_leave(struct pdk__cli_acquisition *c);

/* For how long the term may be believed in; 0 when it is not the one that is HELD. */
int64_t pdk__cli_candidacy_valid_ms(const struct pdk__cli_acquisition *c);

#endif
