/* When all is over, no server keeps a watch. */
#include "test/sim/laws.h"

static void finished(struct world *w)
{
    for (int i = 0; i < w->ensemble.n; i++)
        if (w->ensemble.servers[i].n_watches > 0)
            world_break(w, law_watches.name, "server %d keeps a watch on %s", i,
                        w->ensemble.servers[i].watches[0].name);
}

/* Who leaves the queue in order takes his watch along; else a lock that is tried often and held long gathers them. */
static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    if (what == PDK__ACT_DONE && claim->has_predecessor && claim->machine.watching)
        world_break(w, law_watches.name, "client %d leaves its watch on %s", claim->client->id,
                    claim->predecessor.name);
}

const struct law law_watches = {.name = "watches", .told = told, .finished = finished};
