/*
 * A client that receives a state in which its node is deleted has been notified of the deletion before, on the same
 * connection, by the watch on its own node; or it sets that watch within a twentieth of the session. Of watches that
 * were set again with the connection the events come one after another, and before the first reply. No contender is
 * granted a lock after it was notified that its node is deleted. No contender is notified that it holds again when its
 * node was deleted before its server accepted the connection. And the node belongs to the client's present session: a
 * node of a previous session is deleted when that one expires, whatever its client believes.
 *
 * Excused is a client whose event a server has swallowed, until it has looked again; and a grant whose node was
 * deleted, and another created under its name, between the create and the listing after it.
 */
#include "test/sim/laws.h"

/* A client that found no memory, or has no connection by now, may have to ask for its watch again, and cannot. */
static bool able(const struct client *c)
{
    if (c->n_starved > c->n_starved_before)
        excuse(EXCUSE_NO_MEMORY_TO_WATCH);
    else if (c->io != IO_CONNECTED)
        excuse(EXCUSE_NOT_CONNECTED);
    else
        return true;
    return false;
}

/* The newest state it has received is one in which its node was already deleted. */
static bool outlived(struct world *w, const struct claim *claim)
{
    if (world_node_there(w, claim))
        return false;
    int64_t zxid = world_deleted(w, claim->path, claim->machine->node.name);
    return zxid != 0 && claim->client->heard_zxid >= zxid;
}

static bool rests(const struct claim *claim)
{
    const struct pdk__contender *machine = claim->machine;
    bool told_all = machine->node.watch != PDK__OWN_KEPT || claim->client->replied;
    return claim->used && (machine->phase == PDK__WAITING || machine->phase == PDK__HELD) && told_all &&
           machine->node.watch != PDK__OWN_ASKED;
}

static void received(struct world *w, struct client *c)
{
    for (int i = 0; i < c->n_claims; i++) {
        struct claim *claim = &c->claims[i];
        if (!rests(claim) || !outlived(w, claim))
            claim->gone_since = 0;
        else if (laws_unwatched(claim, &claim->gone_since))
            excuse(EXCUSE_UNWATCHED_YET);
        else if (able(c) && !world_deaf(w))
            world_break(w, law_presence.name, "client %d is not told that %s is gone", c->id,
                        claim->machine->node.name);
    }
}

/* Another node of its name exists, or existed. */
static bool replaced(struct world *w, const struct claim *claim)
{
    bool there = tree_find(&w->ensemble.truth, claim->path, claim->machine->node.name) != NULL;
    return w->hostile && (there || world_deletions(w, claim->path, claim->machine->node.name) > 1);
}

static void granted(struct world *w, const struct claim *claim)
{
    const struct node *node = world_node(w, claim);
    if (outlived(w, claim) && replaced(w, claim))
        excuse(EXCUSE_REPLACED_NODE);
    else if (outlived(w, claim) && laws_unwatched(claim, &(instant){claim->gone_since}))
        excuse(EXCUSE_UNWATCHED_YET);
    else if (outlived(w, claim) && !world_deaf(w))
        world_break(w, law_presence.name, "%s is granted, and gone", claim->machine->node.name);
    if (node != NULL && world_session_id(node->owner) != client_session(claim->client)->id)
        world_break(w, law_presence.name, "%s is granted, of a session that was", claim->machine->node.name);
}

static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    int64_t zxid = world_deleted(w, claim->path, claim->machine->node.name);
    if (what == PDK__ACT_HELD && zxid != 0 && zxid <= claim->client->joined_zxid)
        world_break(w, law_presence.name, "%s is held again, and gone", claim->machine->node.name);
}

const struct law law_presence = {.name = "presence", .granted = granted, .told = told, .received = received};
