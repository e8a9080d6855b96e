/* A contender that leaves a queue removes its watch. At the end of the run no server keeps a watch. */
#include "test/sim/laws.h"
#include <string.h>

static void finished(struct world *w)
{
    for (int i = 0; i < w->ensemble.n; i++)
        if (w->ensemble.servers[i].n_watches > 0)
            world_break(w, law_watches.name, "server %d keeps a watch on %s", i,
                        w->ensemble.servers[i].watches[0].name);
}

static bool wanted_by_others(const struct claim *claim)
{
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *other = &claim->client->claims[i];
        if (other != claim && other->used && other->path == claim->path &&
            ((other->has_predecessor && !other->unwatched &&
              strcmp(other->predecessor.name, claim->predecessor.name) == 0) ||
             strcmp(other->machine.name, claim->predecessor.name) == 0))
            return true;
    }
    return false;
}

/* Otherwise watches would pile up on a lock that is tried often and held for long. */
static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    if (what == PDK__ACT_DONE && claim->armed && claim->client->driver.phase == PDK__SESSION_CONNECTED &&
        tree_find(&w->ensemble.truth, claim->path, claim->predecessor.name) != NULL && !wanted_by_others(claim))
        world_break(w, law_watches.name, "client %d leaves its watch on %s", claim->client->id,
                    claim->predecessor.name);
}

const struct law law_watches = {.name = "watches", .told = told, .finished = finished};
