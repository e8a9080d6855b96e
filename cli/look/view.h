/* A path as it is at one time: that of a lock, of a semaphore or of whatever else. */
#ifndef PDK_CLI_VIEW_H
#define PDK_CLI_VIEW_H

#include "cli/look/semaphore.h"

#include <stdbool.h>

struct pdk__cli_view {
    pdk_contender_list *list;            /* of the path itself */
    struct pdk__cli_semaphore semaphore; /* its lists are NULL: the path is none */
};

/* Look at PATH, each listing within TIMEOUT_MS. V, which was zero, is to be freed also after an error. */
int pdk__cli_view_list(struct pdk__cli_view *v, pdk_client *c, const char *path, int64_t timeout_ms);

void pdk__cli_view_free(struct pdk__cli_view *v);

bool pdk__cli_view_is_semaphore(const struct pdk__cli_view *v);

/* Of a semaphore its permits. */
const pdk_contender_list *pdk__cli_view_contenders(const struct pdk__cli_view *v);

/* Do both show the same, but for the ages? */
bool pdk__cli_view_same(const struct pdk__cli_view *a, const struct pdk__cli_view *b);

/* "holders 1, waiters 2", of a semaphore "held 1 of 3, queue 2", of a directory how many are below; a table, of a
 * directory none; an object, the caller's. */
void pdk__cli_view_counts(const struct pdk__cli_view *v, char *text, size_t size);
void pdk__cli_view_table(FILE *out, const struct pdk__cli_view *v);
struct json_t *pdk__cli_view_report(const struct pdk__cli_view *v, const char *path);

#endif
