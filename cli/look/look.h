/* A look at the locks of a tree, for the waits and deadlocks in it. */
#ifndef PDK_CLI_LOOK_H
#define PDK_CLI_LOOK_H

#include "cli/look/census.h"

/* The caller sets the bounds of `first`: depth, max_paths and timeout_ms. */
struct pdk__cli_look {
    struct pdk__cli_tree first, second;
    struct pdk__cli_census census;
};

/* Look at ROOTS, as pdk__cli_tree_walk() has them, and below: a second time where the first look has a deadlock. With
 * PROCESSES the threads of a process are one actor. Either way LOOK is to be given to pdk__cli_look_free(). */
int pdk__cli_look_take(struct pdk__cli_look *look, pdk_client *c, char *const *roots, bool processes, const char **at);
void pdk__cli_look_free(struct pdk__cli_look *look);

#endif
