/*
 * A grant, whatever it is made of: one hold, or a bundle of several, its parts. Here are the questions about it, for
 * every recipe. Their errors and rules are those of <paddock/lock.h>.
 */
#ifndef PDK__HELD_H
#define PDK__HELD_H

#include "paddock/lock.h"
#include "recipes/object.h"

struct pdk__bundle;
struct pdk__hold;
struct zoo_op;

/* Borrowed. Both are NULL: there is no grant, or none any more. */
struct pdk__held {
    struct pdk__hold *hold;
    struct pdk__bundle *bundle;
};

/* --- with the lock ----------------------------------------------------------------------------------------------- */

pdk_state pdk__held_state(struct pdk__held g);
int64_t pdk__held_valid_ms(struct pdk__held g);
int pdk__held_token(struct pdk__held g, int64_t *token);

/* Its part I, from 0; NULL without a grant. */
struct pdk__hold *pdk__held_part(struct pdk__held g, unsigned i);

/* The calling thread's call fails with RC, which is returned. Notes the reason; there is a grant. */
int pdk__held_blame(struct pdk__held g, const char *verb, int rc);

/* Fill CHECK for part I. PDK_EPERM, PDK_ELOST, PDK_ENOMEM. */
int pdk__held_guard(struct pdk__held g, unsigned i, struct zoo_op *check);

/* --- whole verbs: about the grant that the kind of the object O finds; O may be NULL ------------------------------ */

pdk_state pdk__asked_state(struct pdk__object *o);
int64_t pdk__asked_valid_ms(struct pdk__object *o);
int pdk__asked_token(struct pdk__object *o, int64_t *token);
size_t pdk__asked_node(struct pdk__object *o, unsigned i, char *buf, size_t size);
int pdk__asked_ahead(struct pdk__object *o, int64_t *ahead);
int pdk__asked_guard(struct pdk__object *o, unsigned i, struct zoo_op *check);

#endif
