/*
 * A waiter whose watch was set asks nothing because the connection is lost, and because another follows in the same
 * session: ZooKeeper's client sets the watch again. Nor does it ask for a watch of its own node that was set. A path
 * with a thousand waiters costs nothing when a server dies.
 *
 * A watch by exists, or of the children, is another matter.
 */
#include "test/sim/laws.h"

static bool is_quiet(const struct pdk__event *ev, const struct pdk__contender *before)
{
    bool up = ev->kind == PDK__EV_SESSION_UP && before->session.id == ev->session;
    bool of_node = !before->queue.by_exists && !before->wish->rule->by_children;
    return before->phase == PDK__WAITING && of_node && (up || ev->kind == PDK__EV_SESSION_DOWN);
}

static void stepped(struct world *w, const struct claim *claim, const struct pdk__contender *before,
                    const struct pdk__event *ev, const struct pdk__actions *actions)
{
    int id = claim->client->id;
    if (is_quiet(ev, before) && (claim->machine->phase != PDK__WAITING || actions->n > 0))
        world_break(w, law_reconnect.name, "client %d waits no more, since its connection is another", id);
    bool kept = before->node.watch == PDK__OWN_KEPT && ev->kind == PDK__EV_TIMER;
    for (size_t i = 0; i < actions->n; i++)
        if (kept && actions->list[i].kind == PDK__ACT_OWN)
            world_break(w, law_reconnect.name, "client %d asks for a watch that it has", id);
    if (ev->kind == PDK__EV_FIRED && before->node.watch == PDK__OWN_KEPT)
        see(SIGHT_FIRED_AFTER_RECONNECT);
}

enum { CROWD = 50 };

/* A crowd that is apart is to be seen. */
static void parted(struct world *w, const struct client *c)
{
    int n = 0;
    (void)w;
    for (int i = 0; i < c->n_claims; i++)
        n += c->claims[i].used && c->claims[i].machine->phase == PDK__WAITING;
    if (n >= CROWD)
        see(SIGHT_CROWD_APART);
}

const struct law law_reconnect = {.name = "reconnect", .stepped = stepped, .parted = parted};
