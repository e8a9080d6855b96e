/*
 * A client that receives a state in which its node is deleted has been notified of the deletion before, on the same
 * connection, by the watch on its own node. No contender is granted a lock after it was notified that its node is
 * deleted. No contender is notified that it holds again when its node was deleted before its server accepted the
 * connection. And the node belongs to the client's present session: a node of a previous session is deleted when that
 * one expires, whatever its client believes.
 *
 * Excused is a grant whose node was deleted, and another created under its name, between the create and the listing
 * after it.
 */
#include "test/sim/laws.h"

/* The newest state it has received is one in which its node was already deleted. */
static bool outlived(struct world *w, const struct claim *claim)
{
    if (world_node_there(w, claim))
        return false;
    int64_t zxid = world_deleted(w, claim->path, claim->machine.name);
    return zxid != 0 && claim->client->heard_zxid >= zxid;
}

static void received(struct world *w, const struct client *c)
{
    /* A client without memory, or without a connection by now, may have to ask for its watch again, and cannot. */
    bool able = w->starved_permille == 0 && c->io == IO_CONNECTED;
    for (int i = 0; i < CLAIMS_MAX && able; i++) {
        const struct claim *claim = &c->claims[i];
        bool rests = claim->machine.phase == PDK__WAITING || claim->machine.phase == PDK__HELD;
        if (claim->used && rests && claim->machine.own != PDK__OWN_ASKED && outlived(w, claim))
            world_break(w, law_presence.name, "client %d is not told that %s is gone", c->id, claim->machine.name);
    }
}

/* Another node of its name exists, or existed. */
static bool replaced(struct world *w, const struct claim *claim)
{
    bool there = tree_find(&w->ensemble.truth, claim->path, claim->machine.name) != NULL;
    return w->hostile && (there || world_deletions(w, claim->path, claim->machine.name) > 1);
}

static void granted(struct world *w, const struct claim *claim)
{
    const struct node *node = world_node(w, claim);
    if (outlived(w, claim) && replaced(w, claim))
        see(SIGHT_EXCUSED_PRESENCE);
    else if (outlived(w, claim))
        world_break(w, law_presence.name, "%s is granted, and gone", claim->machine.name);
    if (node != NULL && world_session_id(node->owner) != claim->client->driver.id)
        world_break(w, law_presence.name, "%s is granted, of a session that was", claim->machine.name);
}

static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    int64_t zxid = world_deleted(w, claim->path, claim->machine.name);
    if (what == PDK__ACT_HELD && zxid != 0 && zxid <= claim->client->joined_zxid)
        world_break(w, law_presence.name, "%s is held again, and gone", claim->machine.name);
}

const struct law law_presence = {.name = "presence", .granted = granted, .told = told, .received = received};
