/*
 * The requests of a contender: one action for each, with its op number, and what is known from then on. contender.c
 * decides which one is due.
 */
#ifndef PDK__ASK_H
#define PDK__ASK_H

#include "lib/core/contender.h"

struct pdk__action *pdk__ask_push(struct pdk__actions *out, enum pdk__action_kind kind);

/* The main question, which C awaits in PHASE. */
struct pdk__action *pdk__ask(struct pdk__contender *c, struct pdk__actions *out, enum pdk__action_kind kind,
                             enum pdk__phase phase);

/* Create the node, and list. */
void pdk__ask_create(struct pdk__contender *c, struct pdk__actions *out);

/* The same, after the lock path and its ancestors: the nearest, or ALL. */
void pdk__ask_create_with_parents(struct pdk__contender *c, struct pdk__actions *out, bool all);

/* Look for a node that may exist. After the barrier all candidates are looked at, from the first. */
void pdk__ask_barrier(struct pdk__contender *c, struct pdk__actions *out);

/* Read and watch our own node, beside the main question. */
void pdk__ask_own(struct pdk__contender *c, struct pdk__actions *out);

/* Until when our node goes without a watch after the latest request that has shown it. */
int64_t pdk__ask_own_unwatched_ms(const struct pdk__contender *c);

/* When it is due, if it is not done. */
int64_t pdk__ask_own_due_ms(const struct pdk__contender *c);

/* Do it if it is due by now. */
void pdk__ask_own_if_due(struct pdk__contender *c, struct pdk__actions *out);

/* Read and watch the predecessor. */
void pdk__ask_watch(struct pdk__contender *c, struct pdk__actions *out, const char *predecessor, bool by_exists);

/* Remove that watch, if it may be set. Without a connection it is removed on the next one, unless the contender has
 * ended. */
void pdk__ask_unwatch(struct pdk__contender *c, struct pdk__actions *out);

/* Write our own node. */
void pdk__ask_confirm(struct pdk__contender *c, struct pdk__actions *out);

/* Write the holder record at VERSION of the path's data, or clear it. */
void pdk__ask_record(struct pdk__contender *c, struct pdk__actions *out, int32_t version);
void pdk__ask_clear(struct pdk__contender *c, struct pdk__actions *out);

/* List and watch the children of the path, beside the main question. */
void pdk__ask_rivals(struct pdk__contender *c, struct pdk__actions *out);

/* Delete the node, and what goes with it. */
void pdk__ask_delete(struct pdk__contender *c, struct pdk__actions *out);

#endif
