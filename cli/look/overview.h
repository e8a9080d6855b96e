/*
 * The locks of a tree at one moment, one row each, also for a semaphore with its two places: how many hold and wait,
 * since when, and how fast it goes. The rate comes from two looks at the same path: how many contenders no longer wait
 * that did, or that were not there yet. Each was granted the lock, or gave up.
 */
#ifndef PDK_CLI_OVERVIEW_H
#define PDK_CLI_OVERVIEW_H

#include "cli/look/tree.h"

#include <jansson.h>
#include <stdio.h>

struct pdk__cli_lock_row {
    const char *path;
    const struct pdk__cli_place *place; /* of the tree: where contenders hold */
    pdk_contender_list *queue;          /* where they wait: another list, of a semaphore */
    size_t n_hold, n_wait;
    size_t holder, waiter; /* the first of each, in its list; PDK__CLI_NO_ROW: none */
    double rate;           /* a second; negative: not known */
};

#define PDK__CLI_NO_ROW ((size_t)-1)

struct pdk__cli_overview {
    const struct pdk__cli_tree *tree;
    struct pdk__cli_lock_row *rows; /* those with the most waiters first; those of jobs that do not run now, last */
    size_t n, n_hold, n_wait;
};

/* Of TREE, which is borrowed, and has the parts of semaphores together. BEFORE is an earlier look, MS milliseconds ago;
 * NULL: none. False when memory is out. Either way OVERVIEW is to be given to pdk__cli_overview_free(). */
bool pdk__cli_overview_take(struct pdk__cli_overview *overview, const struct pdk__cli_tree *tree,
                            const struct pdk__cli_tree *before, int64_t ms);
void pdk__cli_overview_free(struct pdk__cli_overview *overview);

/* Of a table that is not for a terminal. */
enum { PDK__CLI_WIDE = 1000 };

/* A table of at most LINES lines on OUT, COLUMNS wide if they are 60 or more. */
void pdk__cli_overview_print(FILE *out, const struct pdk__cli_overview *overview, size_t lines, int columns);

/* For programs; the caller's. */
json_t *pdk__cli_overview_object(const struct pdk__cli_overview *overview);

#endif
