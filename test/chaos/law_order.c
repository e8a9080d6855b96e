/*
 * A grant goes to the first in the queue: when it was answered, so many of the contenders' nodes with a lower czxid had
 * been deleted that its own had room beside the rest (test/lib/lanes.h). For a mutex, a writer and a leader those are
 * all of them; for a reader, all but readers; for a multi-lock, all of them on each of its paths. This is FIFO, too,
 * and mutual exclusion of the contenders whose sessions live: the servers' order decides.
 *
 * The leader stamps a transaction when it proposes it. No client can know of it earlier.
 */
#include "test/chaos/findings.h"

enum { CLOCK_NS = 2000000 };

/* When the last of the nodes had room beside those before it. Nodes of other recipes hold their sequence number's
 * place, which is that of their czxid. */
static int64_t look_at_nodes(const struct evidence *e, struct findings *f, const struct request *r)
{
    int64_t first_ns = 0;
    for (int i = 0; i < r->n_parts; i++) {
        const struct znode *z = r->parts[i].znode, *last;
        int64_t ns = evidence_ns(e, truth_first_ms(&e->truth, z, &last));
        if (evidence_ns(e, z->created_ms) > r->answered_ns + CLOCK_NS)
            breach(f, "order", "%s: granted at %.3f s, its node was made at %.3f s", who(e, r), at(e, r->answered_ns),
                   at(e, evidence_ns(e, z->created_ms)));
        else if (ns > r->answered_ns + CLOCK_NS)
            breach(f, "order", "%s: granted at %.3f s, %s was before it until %.3f s", who(e, r), at(e, r->answered_ns),
                   last->name, at(e, ns));
        first_ns = ns > first_ns ? ns : first_ns;
    }
    return first_ns;
}

static void look(const struct evidence *e, struct findings *f, const struct request *r)
{
    int64_t first_ns = look_at_nodes(e, f, r);
    if (r->turn > 1 || was_stopped(e, r, first_ns, r->answered_ns))
        return; /* a later turn needs no hand-over between clients */
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
