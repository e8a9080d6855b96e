/*
 * Questions about a grant: whole verbs of every recipe. An object that is NULL, or whose process has forked, has none.
 * Their errors and rules are those of pdk_mutex.
 */
#ifndef PDK__GRANT_H
#define PDK__GRANT_H

#include "paddock/mutex.h"
#include "recipes/hold.h"

pdk_state pdk__grant_state(struct pdk__object *o);
int64_t pdk__grant_valid_ms(struct pdk__object *o);
int pdk__grant_token(struct pdk__object *o, int64_t *token);
size_t pdk__grant_node(struct pdk__object *o, char *buf, size_t size);
int pdk__grant_ahead(struct pdk__object *o, int64_t *ahead);
int pdk__grant_guard(struct pdk__object *o, struct zoo_op *check);

/* With the lock: the same for one hold, or NULL. */
int pdk__grant_fill(struct pdk__hold *hold, struct zoo_op *check);

#endif
