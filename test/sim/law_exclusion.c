/*
 * Two sessions that the ensemble considers alive never both hold a path, but as readers; nor do two threads of one.
 *
 * Excused is a writer that goes on as a reader when a hostile client had put another node in its place.
 */
#include "test/sim/laws.h"

/* The client believes that it holds, and the ensemble agrees. */
static bool holds(struct world *w, const struct claim *claim)
{
    return claim_believes(claim) && world_node_there(w, claim);
}

static void granted(struct world *w, const struct claim *claim)
{
    if (!world_node_there(w, claim)) { /* it is late, and no other is kept from holding */
        excuse(EXCUSE_LATE_GRANT);
        return;
    }
    if (laws_writer_replaced(w, claim)) {
        excuse(EXCUSE_REPLACED_WRITER);
        return;
    }
    for (int i = 0; i < w->n_clients; i++)
        for (int j = 0; j < w->clients[i].n_claims && !w->clients[i].dead; j++) {
            const struct claim *other = &w->clients[i].claims[j];
            if (other != claim && other->path == claim->path && laws_blocks(claim, other->machine->node.name) &&
                holds(w, other))
                world_break(w, law_exclusion.name, "client %d and client %d hold path %d", claim->client->id,
                            other->client->id, claim->path);
        }
}

const struct law law_exclusion = {.name = "exclusion", .granted = granted};
