/*
 * The contenders of a tree as actors that hold and wait.
 *
 * An actor is a thread of a process, as the identities in the nodes' data tell it, or a session where they tell none.
 * So what one thread holds does not wait for what another one waits for. A node that was created under the node of
 * paddock(1), by the process that it runs, is one more wait: the holder of that node waits for the process.
 *
 * Identities are what contenders say of themselves.
 */
#ifndef PDK_CLI_CENSUS_H
#define PDK_CLI_CENSUS_H

#include "cli/look/tree.h"
#include "cli/look/waits.h"

struct pdk__cli_node {
    size_t place, i; /* which contender it is, of which place of the tree */
    size_t actor;    /* PDK__CLI_NONE: the node does not count */
    bool holds;
};

#define PDK__CLI_NONE ((size_t)-1)

/* Why an actor waits: by the node of its wait, or, for a command that it runs, by the node that it holds meanwhile. */
struct pdk__cli_reason {
    size_t node;
    size_t holder; /* an actor that keeps it waiting: the first holder among the blockers, or the nearest blocker */
    bool command;
};

struct pdk__cli_census {
    const struct pdk__cli_tree *tree;
    struct pdk__cli_node *nodes; /* of all places, in their order */
    size_t n_nodes;
    size_t *speaker; /* by actor: one of its nodes, whose identity is the actor's */
    size_t n_holding, n_waiting;
    bool truncated; /* waits are left out: there are too many */
    struct pdk__cli_waits waits;
    struct pdk__cli_reason *reasons; /* by wait */
    struct pdk__cli_verdict verdict;

    struct pdk__cli_wait *list; /* of `waits` */
    size_t *pool;               /* of the blockers */
    size_t n_pool, pool_room, list_room;
};

/* Take the census of TREE, which is borrowed. With BEFORE, the same places as they were before, only nodes count that
 * are in both: they were there at one time, in between. With PROCESSES the threads of a process are one actor. False
 * when memory is out. Either way CENSUS is to be given to pdk__cli_census_free(). */
bool pdk__cli_census_take(struct pdk__cli_census *census, const struct pdk__cli_tree *tree,
                          const struct pdk__cli_tree *before, bool processes);
void pdk__cli_census_free(struct pdk__cli_census *census);

const char *pdk__cli_node_path(const struct pdk__cli_census *census, size_t node);
const pdk_contender_list *pdk__cli_node_list(const struct pdk__cli_census *census, size_t node);

/* The actor in words that are safe to print: its owner, its thread if it is not the first. */
void pdk__cli_actor(const struct pdk__cli_census *census, size_t actor, char *text, size_t size);

#endif
