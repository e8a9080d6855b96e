/* A diagnosis of a job by the record of its runs. */
#ifndef PDK_CLI_RUN_DIAGNOSIS_H
#define PDK_CLI_RUN_DIAGNOSIS_H

#include "cli/look/last_run.h"

/* Add findings to ALL, of the record of PATH; LIST is of its contenders, and RUN is confirmed by it. */
void pdk__cli_runs_diagnose(json_t *all, const struct pdk__cli_last_run *run, const pdk_contender_list *list,
                            const char *path);

#endif
