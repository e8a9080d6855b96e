/* After the last fault every client is served within limit_ns(). While all is well, a contender that is first waits for
 * calm_ns at most. A node that no client was granted does not stay first while the ensemble has a leader. */
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
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        for (int j = 0; j < r->n_parts; j++)
            if (r->parts[j].znode == z)
                return true;
    }
    return false;
}

/* Without a leader no node goes: nothing is deleted, and no session ends. */
static bool is_longer(const struct evidence *e, int64_t from_ns, int64_t until_ns, int64_t limit_ns)
{
    int64_t ns = until_ns - from_ns;
    for (size_t i = 0; ns > limit_ns && i < e->truth.elections.n; i++) {
        int64_t from = evidence_ns(e, e->truth.elections.list[i].from_ms);
        int64_t until = evidence_ns(e, e->truth.elections.list[i].until_ms);
        from = from > from_ns ? from : from_ns;
        until = until < until_ns ? until : until_ns;
        ns -= until > from ? until - from : 0;
    }
    return ns > limit_ns;
}

static void look_at_orphan(const struct evidence *e, struct findings *f, const struct znode *z)
{
    int64_t limit_ns = (lane_rules[z->lane].patience * e->session_ms + 15000) * INT64_C(1000000);
    if (!z->is_contender || z->ending == STAYED || z->owner == 0 || lane_rules[z->lane].is_indirect)
        return;
    int64_t from_ns = evidence_ns(e, truth_first_ms(&e->truth, z, NULL)), gone_ns = evidence_ns(e, z->gone_ms);
    if (is_longer(e, from_ns, gone_ns, limit_ns) && !was_granted(e, z) &&
        find_strike(e, SET(STALLED), -1, from_ns, gone_ns) == NULL)
        breach(f, "service", "%s was first for %.1f s, and nobody held it", z->name, (double)(gone_ns - from_ns) / 1e9);
}

static void look_at_orphans(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < e->truth.n; i++)
        look_at_orphan(e, f, &e->truth.nodes[i]);
}

/* When the first contender came that has no room beside the node; NEVER: none did while it was there. */
static int64_t wanted_ns(const struct evidence *e, const struct znode *z)
{
    int64_t first_ms = NEVER;
    for (size_t i = 0; i < e->truth.n; i++) {
        const struct znode *other = &e->truth.nodes[i];
        bool fits = lane_weight(z->lane, z->name) + lane_weight(z->lane, other->name) <= lane_rules[z->lane].room;
        if (other->lane == z->lane && other->is_contender && other->czxid > z->czxid && !fits &&
            other->created_ms < z->gone_ms && other->created_ms < first_ms)
            first_ms = other->created_ms;
    }
    return evidence_ns(e, first_ms);
}

static bool has_later_turn(const struct evidence *e, const struct request *r)
{
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *other = &e->requests.list[e->grants[i]];
        if (other->znode == r->znode && other->turn > r->turn)
            return true;
    }
    return false;
}

/* A node that stays after its last unlock goes when its time ends, or soon after it is in the way of another. The limit
 * is that of an orphan. */
static void look_at_kept(const struct evidence *e, struct findings *f, const struct request *r)
{
    const struct znode *z = r->znode;
    if (!r->may_stay || r->n_unlocked == 0 || r->unlock_rc != 0 || z == NULL || z->ending == STAYED)
        return;
    int64_t limit_ns = (2 * e->session_ms + 15000) * INT64_C(1000000), gone_ns = evidence_ns(e, z->gone_ms);
    if (gone_ns - r->unlocked_ns <= limit_ns || has_later_turn(e, r))
        return;
    int64_t wanted = wanted_ns(e, z), from_ns = r->unlocked_ns + KEPT_MS * INT64_C(1000000);
    if (wanted < from_ns)
        from_ns = wanted > r->unlocked_ns ? wanted : r->unlocked_ns;
    if (is_longer(e, from_ns, gone_ns, limit_ns) && find_strike(e, SET(STALLED), -1, from_ns, gone_ns) == NULL)
        breach(f, "service", "%s: its node %s stayed for %.1f s after its unlock", who(e, r), z->name,
               (double)(gone_ns - r->unlocked_ns) / 1e9);
}

/* After law_order, which measures hand-overs. */
void law_service(const struct evidence *e, struct findings *f)
{
    look_at_hand_overs(f);
    look_at_orphans(e, f);
    for (size_t i = 0; i < e->n_grants; i++)
        look_at_kept(e, f, &e->requests.list[e->grants[i]]);
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
