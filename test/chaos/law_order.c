/*
 * A grant goes to the first in the queue: when it was answered, every contender's node with a lower czxid had been
 * deleted. This is FIFO, too, and mutual exclusion of the contenders whose sessions live: the servers' order decides.
 *
 * The leader stamps a transaction when it proposes it. No client can know of it earlier.
 */
#include "test/chaos/findings.h"

enum { CLOCK_NS = 2000000 };

/* Nodes of other recipes hold their sequence number's place, which is that of their czxid. */
static void look(const struct evidence *e, struct findings *f, const struct request *r)
{
    size_t mine = (size_t)(r->znode - e->truth.nodes);
    int64_t created_ns = evidence_ns(e, r->znode->created_ms);
    int64_t first_ns = created_ns;
    if (created_ns > r->answered_ns + CLOCK_NS)
        breach(f, "order", "%s: granted at %.3f s, its node was made at %.3f s", who(e, r), at(e, r->answered_ns),
               at(e, created_ns));
    for (size_t i = 0; i < mine; i++) {
        const struct znode *z = &e->truth.nodes[i];
        if (!z->is_contender || z->gone_zxid < r->znode->czxid)
            continue;
        int64_t gone_ns = evidence_ns(e, z->gone_ms);
        if (gone_ns > first_ns)
            first_ns = gone_ns;
        if (gone_ns > r->answered_ns + CLOCK_NS)
            breach(f, "order", "%s: granted at %.3f s, %s was before it until %.3f s", who(e, r), at(e, r->answered_ns),
                   z->name, at(e, gone_ns));
    }
    if (was_stopped(e, r, first_ns, r->answered_ns))
        return;
    int64_t took = r->answered_ns > first_ns ? r->answered_ns - first_ns : 0, before = first_ns - 1000000000;
    sample(&f->hand_over, took);
    if (find_strike(e, ~UINT64_C(0), -1, before, r->answered_ns) == NULL)
        sample(&f->calm_hand_over, took);
}

void law_order(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < e->n_grants; i++)
        if (e->requests.list[e->grants[i]].znode != NULL)
            look(e, f, &e->requests.list[e->grants[i]]);
}
