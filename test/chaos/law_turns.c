/*
 * A leader that yields is a candidate again: soon its session has a node in the queue that is newer than the one of its
 * term, unless a fault of this client or of the servers, or its end, came between. law_order tells that it comes after
 * all that waited.
 */
#include "test/chaos/findings.h"

/* On a busy machine. */
static const int64_t soon_ns = INT64_C(3000000000);

static bool is_queued_again(const struct evidence *e, const struct request *r)
{
    for (size_t i = 0; i < e->truth.n; i++) {
        const struct znode *z = &e->truth.nodes[i];
        if (z->lane == r->znode->lane && z->owner == r->znode->owner && z->czxid > r->znode->czxid &&
            evidence_ns(e, z->created_ms) <= r->unlocked_ns + soon_ns)
            return true;
    }
    return false;
}

static uint64_t kinds_of(enum fault_sort sort)
{
    uint64_t set = 0;
    for (int id = 0; id < N_FAULTS; id++)
        if (fault_sort((enum fault_id)id) == sort)
            set |= UINT64_C(1) << id;
    return set;
}

/* Were the process and the servers left alone for so long? */
static bool was_calm(const struct evidence *e, const struct request *r)
{
    const struct process *p = &e->processes.list[r->process];
    int64_t until = r->unlocked_ns + soon_ns, from = r->unlocked_ns - e->session_ms * INT64_C(1000000);
    return p->killed_ns > until && p->ended_ns > until &&
           find_strike(e, kinds_of(SORT_CLIENT), p->place, from, until) == NULL &&
           find_strike(e, ~kinds_of(SORT_CLIENT), -1, from, until) == NULL;
}

void law_turns(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        if (r->is_yield && r->n_unlocked > 0 && r->unlock_rc == 0 && r->znode != NULL && was_calm(e, r) &&
            !is_queued_again(e, r))
            breach(f, "turns", "%s yielded at %.3f s, and is no candidate", who(e, r), at(e, r->unlocked_ns));
    }
}
