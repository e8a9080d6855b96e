/*
 * The questions about a grant, for every recipe. Their errors and rules are those of <paddock/lock.h>. A hold that is
 * NULL is no grant.
 */
#ifndef PDK__HELD_H
#define PDK__HELD_H

#include "recipes/hold.h"

/* --- with the lock ----------------------------------------------------------------------------------------------- */

pdk_state pdk__held_state(const struct pdk__hold *hold);
int64_t pdk__held_valid_ms(const struct pdk__hold *hold);
int pdk__held_token(const struct pdk__hold *hold, int64_t *token, uint64_t *turn);

/* Of its part I. */
size_t pdk__held_node(struct pdk__hold *hold, unsigned i, char *buf, size_t size);
int pdk__held_guard(struct pdk__hold *hold, unsigned i, struct zoo_op *check);

/* --- whole verbs: about the grant that the kind of the object O finds; O may be NULL ------------------------------ */

pdk_state pdk__asked_state(struct pdk__object *o);
int64_t pdk__asked_valid_ms(struct pdk__object *o);
int pdk__asked_token(struct pdk__object *o, int64_t *token, uint64_t *turn);
size_t pdk__asked_node(struct pdk__object *o, unsigned i, char *buf, size_t size);
int pdk__asked_ahead(struct pdk__object *o, int64_t *ahead);
int pdk__asked_guard(struct pdk__object *o, unsigned i, struct zoo_op *check);

#endif
