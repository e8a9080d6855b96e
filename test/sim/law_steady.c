/*
 * Where nothing is wrong, no holder is notified of LOST or SUSPECT: however long it holds, the promised least time is
 * left. Nor does a client give up its connection, or lose its session, whether it holds a lock or is idle.
 *
 * Nothing is wrong in all of a calm run; and in others, healed or not, once all is well for two timeouts. The junk of a
 * hostile contender is nothing wrong. A program that closes its client takes its locks and its session with it; and an
 * onlooker that deletes a holder's node, its lock.
 */
#include "test/sim/laws.h"

/* A connection that lasts for as long as all is well. */
static bool lasts(const struct world *w, const struct client *c)
{
    return c->io == IO_CONNECTED && w->agenda.now - c->apart > 2 * w->session_ms * 1000;
}

static bool steady(const struct world *w, const struct client *c)
{
    return !c->dead && !c->closes && !c->auth_failed && (w->calm || (world_quiet(w, 2 * w->session_ms) && lasts(w, c)));
}

static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    bool bad = what == PDK__ACT_SUSPECT || what == PDK__ACT_LOST;
    if (bad && world_deleted_by_order(w, claim->path, claim->machine->node.name))
        excuse(EXCUSE_ORDERED_LOSS);
    else if (bad && steady(w, claim->client))
        world_break(w, law_steady.name, "client %d is told %s, and nothing has happened", claim->client->id,
                    what == PDK__ACT_LOST ? "lost" : "suspect");
}

/* The first write of a session that the leader takes for another server's ends the connection, however late it
 * comes. */
static void parted(struct world *w, const struct client *c)
{
    if (c->io != IO_CONNECTED || !steady(w, c))
        return;
    if ((w->moved_back >> c->session & 1) != 0)
        excuse(EXCUSE_MOVED_BACK);
    else
        world_break(w, law_steady.name, "client %d loses its connection, and nothing has happened", c->id);
}

static void expiring(struct world *w, const struct server *s, session_index session)
{
    const struct client *c = &w->clients[w->session_client[session]];
    if (s->epoch == w->ensemble.epoch && c->session == session && steady(w, c))
        world_break(w, law_steady.name, "client %d loses its session, and nothing has happened", c->id);
}

const struct law law_steady = {.name = "steady", .told = told, .parted = parted, .expiring = expiring};
