/* The record beside a lock's path, of the runs of its job. */
#ifndef PDK__RUNS_H
#define PDK__RUNS_H

#include "lib/run_record.h"
#include "paddock/once.h"

struct pdk_runs {
    struct pdk__runs record;
};

/* The path of the record of the lock PATH; the caller frees it. NULL when memory is out. */
char *pdk__runs_path(const char *path);

#endif
