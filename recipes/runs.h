/* The record beside a lock's path, of the runs of its job. */
#ifndef PDK__RECIPES_RUNS_H
#define PDK__RECIPES_RUNS_H

#include "lib/runs.h"
#include "paddock/once.h"

struct pdk_runs {
    struct pdk__runs record;
};

/* The path of the record of the lock PATH; the caller frees it. NULL when memory is out. */
char *pdk__runs_path(const char *path);

#endif
