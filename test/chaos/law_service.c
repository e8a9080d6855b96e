/* After the last fault every client is served within limit_ns(). While all is well, a contender that is first waits for
 * calm_ns at most. A node that no client was granted does not stay first. */
#include "test/chaos/findings.h"

/* A wake-up that is lost is lost for good; a busy machine is merely slow. */
static const int64_t calm_ns = INT64_C(15000000000);

/* For all clients, on a busy machine: twice the session, an election, and a turn for each. */
static int64_t limit_ns(const struct evidence *e)
{
    return (2 * e->session_ms + 30000 + e->n_clients * e->session_ms) * INT64_C(1000000);
}

/* The first grant in PLACE after everything was healed; NEVER without one. */
static int64_t served_ns(const struct evidence *e, int place)
{
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        if (r->answered_ns >= e->healed_ns && e->processes.list[r->process].place == place)
            return r->answered_ns;
    }
    return NEVER;
}

static void look_at_hand_overs(struct findings *f)
{
    int64_t longest = quantile(&f->calm_hand_over, 1000);
    if (longest > calm_ns)
        breach(f, "service", "a hand-over took %.3f s, though nothing was wrong", (double)longest / 1e9);
}

/* A node that no client was granted may be first for a limited time. A client that gave up, and could not delete the
 * node, finds a server again in that time, or its session ends. An orphan of a living session would block all
 * others. */
static bool was_granted(const struct evidence *e, const struct znode *z)
{
    for (size_t i = 0; i < e->n_grants; i++)
        if (e->requests.list[e->grants[i]].znode == z)
            return true;
    return false;
}

/* Nodes are in the order of the queue; FIRST_MS is when the last of those before was deleted. */
static void look_at_orphans(const struct evidence *e, struct findings *f)
{
    int64_t first_ms = INT64_MIN, limit_ms = 2 * e->session_ms + 15000;
    for (size_t i = 0; i < e->truth.n; i++) {
        const struct znode *z = &e->truth.nodes[i];
        if (!z->is_contender || z->ending == STAYED)
            continue;
        int64_t from_ms = z->created_ms > first_ms ? z->created_ms : first_ms;
        if (z->owner != 0 && z->gone_ms - from_ms > limit_ms && !was_granted(e, z) &&
            find_strike(e, SET(STALLED), -1, evidence_ns(e, from_ms), evidence_ns(e, z->gone_ms)) == NULL)
            breach(f, "service", "%s was first for %.1f s, and nobody held it", z->name,
                   (double)(z->gone_ms - from_ms) / 1e3);
        first_ms = z->gone_ms > first_ms ? z->gone_ms : first_ms;
    }
}

/* After law_order, which measures hand-overs. */
void law_service(const struct evidence *e, struct findings *f)
{
    look_at_hand_overs(f);
    look_at_orphans(e, f);
    if (e->healed_ns == NEVER) {
        breach(f, "service", "the faults were never healed");
        return;
    }
    for (int place = 0; place < e->n_clients; place++) {
        int64_t ns = served_ns(e, place);
        if (e->n_dissenters > 0) /* its clients may wait for a node that is gone elsewhere */
            continue;
        if (ns == NEVER || ns - e->healed_ns > limit_ns(e))
            breach(f, "service", "place %d was not served within %.1f s after the last fault", place,
                   (double)limit_ns(e) / 1e9);
        else if (ns - e->healed_ns > f->served_ns)
            f->served_ns = ns - e->healed_ns;
    }
}
