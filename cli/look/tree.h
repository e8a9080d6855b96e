/* The lock paths of a tree: those at and below some roots under which contenders stand. */
#ifndef PDK_CLI_TREE_H
#define PDK_CLI_TREE_H

#include "cli/look/last_run.h"

#include <paddock/contenders.h>
#include <stdbool.h>

struct pdk__cli_place {
    char *path;
    pdk_contender_list *list;
    char *semaphore; /* the path of which it is "locks" or "leases"; NULL: of none */
    struct pdk__cli_last_run last_run;
};

struct pdk__cli_tree {
    int depth;     /* how far below a root is looked */
    int max_paths; /* how many paths are looked at */
    int64_t timeout_ms;
    bool parts; /* those of a semaphore are places together, also one without a contender */
    bool runs;  /* read the records of jobs: a path with a run is a place, also one without a contender */

    struct pdk__cli_place *places;
    size_t n, n_contenders;
    size_t n_paths;   /* that were looked at */
    size_t n_refused; /* of these, below a root, that may not be looked at */
    bool truncated;   /* there are more, or too many contenders */
};

/* How far is looked where the command line does not say. */
enum { PDK__CLI_DEPTH = 20, PDK__CLI_PATHS = 10000 };

/* A path with more contenders than are left of these is passed over. */
enum { PDK__CLI_CONTENDERS_MAX = 50000 };

/* Look at ROOTS, which end with NULL, and below them. ZooKeeper's own nodes are passed over. On an error *AT is the
 * root that it concerns. Either way TREE is to be given to pdk__cli_tree_free(). */
int pdk__cli_tree_walk(pdk_client *c, struct pdk__cli_tree *tree, char *const *roots, const char **at);

/* Look at the places of BEFORE again, and at no others. */
int pdk__cli_tree_again(pdk_client *c, const struct pdk__cli_tree *before, struct pdk__cli_tree *tree);

/* Say on standard error what of the tree was not looked at. WHERE: which command has the options that it names, or
 * "". */
void pdk__cli_tree_warn(const struct pdk__cli_tree *tree, const char *where);

void pdk__cli_tree_free(struct pdk__cli_tree *tree);

#endif
