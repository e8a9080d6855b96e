/* A client deletes the nodes under its own names, and those that its program has told it to delete: no other, also not
 * one that took the name of such a node. */
#include "test/sim/laws.h"

/* The word of a barrier is no client's; a member's name begins as any of ours. */
static bool at_a_barrier(const struct world *w, const struct txn *txn, int path, const struct node *node)
{
    session_index session = node->owner;
    return path >= MEETING_PATH && (session < 0 || w->session_client[session] == w->session_client[txn->session]);
}

static bool own(const struct world *w, const struct txn *txn, const char *name)
{
    struct pdk__name parsed = pdk__name_parse(name);
    int64_t session = parsed.session - world_session_id(0);
    bool known = parsed.kind == PDK__NAME_OURS && session >= 0 && session < w->n_sessions;
    return known && w->session_client[session] == w->session_client[txn->session];
}

static void deleting(struct world *w, int path, const struct node *node)
{
    const struct txn *txn = &w->ensemble.txns[w->ensemble.agreed[w->ensemble.n_committed - 1]];
    if (txn->kind == TXN_DELETE && txn->session >= 0 && !at_a_barrier(w, txn, path, node) && !own(w, txn, node->name) &&
        !world_removal_ordered(w, node->czxid, node->name))
        world_break(w, law_deletion.name, "client %d deletes %s", w->session_client[txn->session], node->name);
}

const struct law law_deletion = {.name = "deletion", .deleting = deleting};
