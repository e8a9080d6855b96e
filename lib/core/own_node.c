#include "lib/core/own_node.h"

bool pdk__own_node_there(const struct pdk__own_node *n)
{
    return n->watch == PDK__OWN_WATCHED && n->verified && !n->by_exists;
}

void pdk__own_node_forget_watch(struct pdk__own_node *n)
{
    n->watch = PDK__OWN_UNWATCHED;
    n->watch_op = 0;
    n->again_ms = 0; /* the next connection may answer */
}

void pdk__own_node_keep_watch(struct pdk__own_node *n)
{
    if (n->watch == PDK__OWN_WATCHED && !n->by_exists)
        n->watch = PDK__OWN_KEPT;
    else if (n->watch != PDK__OWN_KEPT)
        pdk__own_node_forget_watch(n);
}

void pdk__own_node_forget(struct pdk__own_node *n)
{
    n->exists = PDK__NODE_NO;
    n->verified = false;
    n->revoked = false;
    n->confirmed = 0;
    n->shown_ms = 0;
    n->n_deletes = 0;
    pdk__own_node_forget_watch(n);
}
