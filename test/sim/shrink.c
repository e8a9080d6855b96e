#include "test/sim/shrink.h"
#include <string.h>

static bool still_broken(struct world *w, const struct plan *plan, const char *law)
{
    const char *broken = world_run(w, plan);
    return broken != NULL && strcmp(broken, law) == 0;
}

/* Omit N faults from FIRST on, if the law is broken all the same. */
static void try_without(struct world *w, const struct plan *plan, const char *law, bool *spared, int first, int n)
{
    bool before[FAULTS_MAX];
    memcpy(before, spared, sizeof before);
    memset(spared + first, true, (size_t)n);
    if (!still_broken(w, plan, law))
        memcpy(spared, before, sizeof before);
}

int shrink(struct world *w, const struct plan *plan, const char *law, bool spared[FAULTS_MAX])
{
    struct plan smaller = *plan;
    memset(spared, 0, FAULTS_MAX);
    smaller.spared = spared;
    smaller.story = NULL;
    world_run(w, &smaller);
    int n = w->n_faults, left = 0;
    for (int size = n; size >= 1; size /= 2)
        for (int first = 0; first < n; first += size)
            try_without(w, &smaller, law, spared, first, first + size <= n ? size : n - first);
    for (int i = 0; i < n; i++)
        left += !spared[i];
    return left;
}
