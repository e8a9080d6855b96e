/*
 * A claim that stands for election: what differs from one that waits for a lock. It is HELD for a term, and is taken up
 * again for the next one when whoever worked in the first has ended.
 */
#ifndef PDK_CLI_CANDIDACY_H
#define PDK_CLI_CANDIDACY_H

#include "cli/claim.h"

/* Instead of a mutex. */
int pdk__cli_candidacy_make(struct pdk__cli_claim *c);

/* See what became of it. */
void pdk__cli_candidacy_step(struct pdk__cli_claim *c);

/* The term's work has ended: give up what is left of the term, and after REST_MS stand for another. */
void pdk__cli_candidacy_again(struct pdk__cli_claim *c, int64_t rest_ms);

/* Resign for good. */
void pdk__cli_candidacy_leave(struct pdk__cli_claim *c);

/* For how long the term may be believed in; 0 when it is not the one that is HELD. */
int64_t pdk__cli_candidacy_valid_ms(const struct pdk__cli_claim *c);

#endif
