/*
 * No double: an attempt never has two nodes, and an attempt whose node was looked for and not found has none
 * afterwards. No orphan: at the end of the run no node is left.
 *
 * Excused is a create that is committed after its node was looked for, when the leader has given the session back to a
 * server by the question of a connection that the client had left. (The client finds the node and deletes it, so it is
 * no orphan.)
 */
#include "test/sim/laws.h"
#include <string.h>

/* Session and attempt. */
enum { PREFIX = 16 + 1 + 8 };

static void judge(struct world *w, session_index session, const char *name)
{
    if ((w->moved_back >> session & 1) != 0)
        excuse(EXCUSE_LANDED);
    else
        world_break(w, law_nodes.name, "%s was looked for and not found", name);
}

static void check_landing(struct world *w, const struct txn *txn)
{
    const struct client *c = &w->clients[w->session_client[txn->session]];
    for (int i = 0; i < c->n_strays; i++)
        if (c->strays[i].machine != NULL && c->strays[i].path == txn->path &&
            pdk__name_is(txn->name, c->strays[i].session, c->strays[i].attempt))
            judge(w, txn->session, txn->name);
}

/* A node that was not found does not exist. */
static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    const struct dir *dir = &w->ensemble.truth.dirs[claim->path];
    if (what != PDK__ACT_STRAY)
        return;
    for (int i = 0; i < dir->n; i++)
        if (dir->nodes[i].owner >= 0 &&
            pdk__name_is(dir->nodes[i].name, claim->machine->session.id, claim->stray_attempt))
            judge(w, dir->nodes[i].owner, dir->nodes[i].name);
}

static void committed(struct world *w, const struct txn *txn)
{
    const struct dir *dir = &w->ensemble.truth.dirs[txn->path];
    int n = 0;
    if (txn->kind != TXN_CREATE || txn->session < 0)
        return;
    for (int i = 0; i < dir->n; i++)
        n += dir->nodes[i].owner >= 0 && strncmp(dir->nodes[i].name, txn->name, PREFIX) == 0;
    check_landing(w, txn);
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

const struct law law_nodes = {.name = "nodes", .told = told, .committed = committed, .finished = finished};
