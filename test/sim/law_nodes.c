/* No double: an attempt never has two nodes. No orphan: when all is over, no node is left. */
#include "test/sim/laws.h"
#include <string.h>

/* Session and attempt. */
enum { PREFIX = 16 + 1 + 8 };

static void committed(struct world *w, const struct txn *txn)
{
    const struct dir *dir = &w->ensemble.truth.dirs[txn->path];
    int n = 0;
    if (txn->kind != TXN_CREATE || txn->session < 0)
        return;
    for (int i = 0; i < dir->n; i++)
        n += strncmp(dir->nodes[i].name, txn->name, PREFIX) == 0;
    if (n > 1)
        world_break(w, law_nodes.name, "two nodes of one attempt, %s the second", txn->name);
}

static void finished(struct world *w)
{
    for (int p = 0; p < PATHS; p++)
        for (int i = 0; i < w->ensemble.truth.dirs[p].n; i++)
            if (w->ensemble.truth.dirs[p].nodes[i].owner >= 0)
                world_break(w, law_nodes.name, "%s is left", w->ensemble.truth.dirs[p].nodes[i].name);
}

const struct law law_nodes = {.name = "nodes", .committed = committed, .finished = finished};
