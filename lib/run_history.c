/* The runs of a job, as its record has them. The text of the record is in run_record.c. */
#include "lib/assert.h"
#include "lib/run_record.h"
#include <string.h>

bool pdk__runs_have(const struct pdk__runs *runs, const char *key)
{
    for (unsigned i = 0; i < runs->n_keys; i++)
        if (strcmp(runs->keys[i], key) == 0)
            return true;
    return false;
}

/* The oldest gives way. */
static void remember(struct pdk__runs *runs, const char *key)
{
    if (*key == '\0' || pdk__runs_have(runs, key))
        return;
    unsigned n = runs->n_keys < PDK__RUN_KEYS ? runs->n_keys++ : PDK__RUN_KEYS - 1;
    memmove(runs->keys[1], runs->keys[0], n * sizeof runs->keys[0]);
    strcpy(runs->keys[0], key);
}

void pdk__runs_init(struct pdk__runs *runs)
{
    memset(runs, 0, sizeof *runs);
    runs->last.status = runs->done.status = -1;
}

void pdk__runs_begin(struct pdk__runs *runs, const struct pdk__run *run, bool counts)
{
    assert(run->token > 0);
    runs->last = *run;
    runs->last.begun_ms = runs->last.ended_ms = 0;
    runs->last.status = -1;
    if (!counts)
        return;
    runs->done = runs->last;
    remember(runs, run->key);
}

void pdk__runs_end(struct pdk__runs *runs, int status, bool counts)
{
    assert(runs->last.token > 0 && status >= 0);
    runs->last.ended_ms = 0;
    runs->last.status = status;
    if (!counts)
        return;
    runs->done = runs->last;
    remember(runs, runs->last.key);
}
