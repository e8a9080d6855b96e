/* No more permits are held at once than there are, of those that the ensemble agrees on. */
#include "test/sim/laws.h"

static void granted(struct world *w, const struct claim *claim)
{
    int n = 0;
    if (claim->path != LEASE_PATH)
        return;
    for (int i = 0; i < w->n_clients; i++)
        for (int j = 0; j < w->clients[i].n_claims && !w->clients[i].dead; j++) {
            const struct claim *other = &w->clients[i].claims[j];
            n += other->path == LEASE_PATH && claim_believes(other) && world_node_there(w, other);
        }
    if (n > w->permits)
        world_break(w, law_permits.name, "%d of %d permits are held", n, w->permits);
}

const struct law law_permits = {.name = "permits", .granted = granted};
