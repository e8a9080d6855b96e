/*
 * No holder claims to hold after the servers ended its session, whatever happened to it or to them. Nor does it claim
 * for longer than one session timeout after its node was deleted from outside: either it gets the event, or its
 * deadline passes.
 *
 * For every holder that lost its lock to an expiry: the time from LOST to the session's end, and from LOST to the next
 * grant. A process that was stopped was notified when it woke, and is in no figure.
 */
#include "test/chaos/findings.h"

enum { CLOCK_NS = 2000000 };

/* The grant after the I-th, by token, of those that it excluded. */
static const struct request *next_grant(const struct evidence *e, size_t i)
{
    const struct request *r = &e->requests.list[e->grants[i]];
    for (size_t j = i + 1; j < e->n_grants; j++) {
        const struct request *next = &e->requests.list[e->grants[j]];
        if (next->token > r->token && contested(e, r, next) != N_LANES)
            return next;
    }
    return NULL;
}

static void measure(const struct evidence *e, struct findings *f, size_t i, int64_t gone_ns)
{
    const struct request *r = &e->requests.list[e->grants[i]], *next = next_grant(e, i);
    int64_t before = gone_ns - 2 * e->session_ms * 1000000;
    if (r->lost_ns == NEVER || r->lost_ns > r->unlocking_ns || was_stopped(e, r, before, r->lost_ns))
        return;
    sample(&f->margin, gone_ns - r->lost_ns);
    if (next != NULL)
        sample(&f->regrant, next->answered_ns - r->lost_ns);
}

void law_margins(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        if (r->znode == NULL || (r->znode->ending != BY_EXPIRY && !was_ordered(r->znode)))
            continue;
        int64_t gone_ns = evidence_ns(e, r->znode->gone_ms), claim_ns = last_claim_ns(r);
        int64_t news_ns = was_ordered(r->znode) ? e->session_ms * 1000000 : 0;
        if (claim_ns > gone_ns + news_ns + CLOCK_NS)
            breach(f, "margins", "%s believed at %.3f s, its node went at %.3f s", who(e, r), at(e, claim_ns),
                   at(e, gone_ns));
        if (r->znode->ending == BY_EXPIRY)
            measure(e, f, i, gone_ns);
    }
}
