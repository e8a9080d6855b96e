/*
 * Lost is told before the servers end the session: for every holder that lost its lock to an expiry, how long before,
 * and how long before the next was granted. Of a process that was stopped, nothing can be asked; and a server that is
 * cut off from its leader keeps its clients in the dark (see enum known). Those are not in the figures.
 */
#include "test/chaos/findings.h"

#include <paddock/mutex.h>

enum { CLOCK_NS = 2000000 };

/* The grant after the I-th, by token. */
static const struct request *next_grant(const struct evidence *e, size_t i)
{
    int64_t token = e->requests.list[e->grants[i]].token;
    for (size_t j = i + 1; j < e->n_grants; j++)
        if (e->requests.list[e->grants[j]].token > token)
            return &e->requests.list[e->grants[j]];
    return NULL;
}

/* When it said for the last time that it held. */
static int64_t last_claim_ns(const struct request *r)
{
    int64_t ns = r->answered_ns;
    for (size_t i = 0; i < r->n_told; i++)
        if (r->told[i].is_question && r->told[i].state != PDK_LOST && r->told[i].ns > ns)
            ns = r->told[i].ns;
    return ns;
}

void law_margins(const struct evidence *e, struct findings *f)
{
    int64_t session_ns = e->session_ms * INT64_C(1000000);
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]], *next = next_grant(e, i);
        if (r->lost_ns == NEVER || r->lost_ns > r->unlocking_ns || r->znode == NULL || r->znode->ending != BY_EXPIRY)
            continue;
        int64_t gone_ns = evidence_ns(e, r->znode->gone_ms), before = gone_ns - 2 * session_ns;
        if (was_stopped(e, r, before, r->lost_ns) || find_strike(e, CUTS, -1, before, gone_ns) != NULL)
            continue;
        sample(&f->margin, gone_ns - r->lost_ns);
        if (last_claim_ns(r) > gone_ns + CLOCK_NS)
            breach(f, "margins", "%s believed at %.3f s, its session ended at %.3f s", who(e, r),
                   at(e, last_claim_ns(r)), at(e, gone_ns));
        if (next != NULL)
            sample(&f->regrant, next->answered_ns - r->lost_ns);
    }
}
