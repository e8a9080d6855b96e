/*
 * The token of a grant is the czxid of its node, whose owner is the holder's session; no two grants share one, but for
 * the turns of one node, whose numbers rise; and later grants have larger ones than those that exclude them. A grant of
 * several nodes has as many as were asked for, and the token of the last. A process that is stopped between its grant
 * and its record of it writes the record late. Its node must have been deleted by then.
 */
#include "test/chaos/findings.h"

#include <string.h>

enum { CLOCK_NS = 2000000 };

static void match(const struct evidence *e, struct findings *f, const struct request *r, const struct part *p)
{
    const struct znode *z = p->znode;
    if (z == NULL)
        breach(f, "tokens", "%s: no node %s has the czxid %lld", who(e, r), p->node, (long long)p->token);
    else if (strcmp(z->name, p->node) != 0)
        breach(f, "tokens", "%s: token %lld is the czxid of %s, not of %s", who(e, r), (long long)p->token, z->name,
               p->node);
    else if (z->owner != r->session && was_stopped(e, r, r->asked_ns, r->answered_ns + 1))
        note(f, "%s: asked for its session after it was stopped", who(e, r));
    else if (z->owner != r->session && evidence_ns(e, z->gone_ms) > r->answered_ns + CLOCK_NS)
        breach(f, "tokens", "%s: the node %s is of session %llx, not %llx", who(e, r), z->name,
               (unsigned long long)z->owner, (unsigned long long)r->session);
}

/* Of several nodes it is the last one's; of a read lock under a write lock, that of the writer's node. */
static void match_whole(const struct evidence *e, struct findings *f, const struct request *r)
{
    int64_t token = 0;
    for (int i = 0; i < r->n_parts; i++)
        if (r->parts[i].znode != NULL && r->parts[i].znode->rank > token)
            token = r->parts[i].znode->rank;
    if (r->znode != NULL && token != r->token)
        breach(f, "tokens", "%s: the token is %lld, and that of its nodes %lld", who(e, r), (long long)r->token,
               (long long)token);
}

void law_origins(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        for (int j = 0; j < r->n_parts; j++)
            match(e, f, r, &r->parts[j]);
        match_whole(e, f, r);
        if (r->n_wanted > 1 && r->n_parts != r->n_wanted)
            breach(f, "parts", "%s: a grant of %d nodes, and %d were asked for", who(e, r), r->n_parts, r->n_wanted);
    }
}

/* A later grant that does not fit beside an earlier one has the larger token, unless it was over by then. */
static void compare(const struct evidence *e, struct findings *f, const struct request *r, const struct request *top,
                    enum lane lane)
{
    int64_t mine = token_in(r, lane), other = token_in(top, lane);
    if (mine < other && (r->znode == NULL || evidence_ns(e, r->znode->gone_ms) > top->answered_ns + CLOCK_NS))
        breach(f, "tokens", "%s: token %lld after %lld of %s", who(e, r), (long long)mine, (long long)other,
               who(e, top));
}

/* The grant of the largest token in a lane: of any kind; and of those that fill the room. */
struct top {
    const struct request *any, *full;
};

static void keep(struct top *top, const struct request *r, enum lane lane, bool fills)
{
    if (top->any == NULL || token_in(r, lane) > token_in(top->any, lane))
        top->any = r;
    if (fills && (top->full == NULL || token_in(r, lane) > token_in(top->full, lane)))
        top->full = r;
}

/* In a lane that has room for several, only those that fill it are ordered against all. */
static void look_in(const struct evidence *e, struct findings *f, enum lane lane)
{
    struct top top = {NULL, NULL};
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        int held = held_in(e, r, lane, INT64_MIN);
        if (held == 0)
            continue;
        bool fills = held >= lane_rules[lane].room;
        const struct request *before = fills ? top.any : top.full;
        if (before != NULL && !is_one_hold(before, r))
            compare(e, f, r, before, lane);
        keep(&top, r, lane, fills);
    }
}

/* Is R a later turn under the node of A? */
static bool follows(const struct request *a, const struct request *r)
{
    return a->process == r->process && a->turn > 0 && a->turn < r->turn;
}

static void look_for_twins(const struct evidence *e, struct findings *f, size_t i)
{
    const struct request *r = &e->requests.list[e->grants[i]];
    for (size_t j = 0; j < i; j++) {
        const struct request *a = &e->requests.list[e->grants[j]];
        if (a->token == r->token && !is_one_hold(a, r) && !follows(a, r))
            breach(f, "tokens", "%s and %s have the same, %lld", who(e, a), who(e, r), (long long)r->token);
    }
}

void law_tokens(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        if (r->token <= 0)
            breach(f, "tokens", "%s: no token", who(e, r));
        look_for_twins(e, f, i);
    }
    for (int lane = 0; lane < N_LANES; lane++)
        look_in(e, f, (enum lane)lane);
}
