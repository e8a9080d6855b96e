/* A diagnosis of one lock path, by a listing of its contenders. */
#ifndef PDK_CLI_DIAGNOSIS_H
#define PDK_CLI_DIAGNOSIS_H

#include <jansson.h>
#include <paddock/contenders.h>

/* "mutex", "leader", "rwlock", "permits" of a semaphore, "semaphore" for the path above its locks and leases, "foreign"
 * for another library's, "double_barrier", "directory" for nodes that stay without a session, "mixed", "none". */
const char *pdk__cli_diagnosis_recipe(const pdk_contender_list *list);

/* The findings, an array in the order of the manual's list of them; the caller's. */
json_t *pdk__cli_diagnose(const pdk_contender_list *list);

#endif
