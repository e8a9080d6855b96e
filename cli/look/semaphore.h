/* A semaphore, listed: its permits and its queue, for people, or for programs. */
#ifndef PDK_CLI_SEMAPHORE_H
#define PDK_CLI_SEMAPHORE_H

#include <paddock/contenders.h>
#include <stdio.h>

struct pdk__cli_semaphore {
    pdk_contender_list *permits, *queue; /* those under "leases" and "locks" */
    int64_t limit;                       /* by the first that tells one; 0: not known */
    size_t n_held, n_queue;              /* junk takes a permit, and does not queue */
};

/* List those below PATH, each list within TIMEOUT_MS. S, which was zero, is to be freed also after an error. */
int pdk__cli_semaphore_list(struct pdk__cli_semaphore *s, pdk_client *c, const char *path, int64_t timeout_ms);

/* Count those of its lists. */
void pdk__cli_semaphore_count(struct pdk__cli_semaphore *s);

void pdk__cli_semaphore_free(struct pdk__cli_semaphore *s);

/* A table of the permits, and of the queue below them. */
void pdk__cli_semaphore_table(FILE *out, const struct pdk__cli_semaphore *s);

/* An object with PATH, the counts, the contenders and the queue; the caller's. */
struct json_t *pdk__cli_semaphore_report(const struct pdk__cli_semaphore *s, const char *path);

#endif
