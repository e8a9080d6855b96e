/* A holder that has received a state in which its node carries a revocation request was told of the request, or sets
 * the watch on its node within a twentieth of the session. */
#include "test/sim/laws.h"

static bool asked(struct world *w, const struct claim *claim)
{
    const struct node *node = world_node(w, claim);
    return node != NULL && node->data != DATA_OWN && claim->client->heard_zxid >= node->mzxid;
}

static void received(struct world *w, struct client *c)
{
    /* A client without memory, or without a connection by now, may have to read its node again, and cannot. */
    bool able = w->starved_permille == 0 && c->io == IO_CONNECTED;
    for (int i = 0; i < c->n_claims && able; i++) {
        struct claim *claim = &c->claims[i];
        bool rests = claim->machine->phase == PDK__HELD && claim->machine->node.watch != PDK__OWN_ASKED;
        if (!claim->used || !claim->granted || claim->released || !rests || claim->revoked || !asked(w, claim))
            claim->wanted_since = 0;
        else if (laws_unwatched(claim, &claim->wanted_since))
            excuse(EXCUSE_UNWATCHED_REQUEST);
        else if (!world_deaf(w))
            world_break(w, law_revocation.name, "client %d is not asked for %s", c->id, claim->machine->node.name);
    }
}

const struct law law_revocation = {.name = "revocation", .received = received};
