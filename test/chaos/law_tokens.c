/*
 * The token of a grant is the czxid of its node, whose owner is the holder's session; no two grants share one; and
 * later grants have larger ones. A process that is stopped between its grant and its record of it writes the record
 * late. Its node must have been deleted by then.
 */
#include "test/chaos/findings.h"

#include <string.h>

enum { CLOCK_NS = 2000000 };

static void match(const struct evidence *e, struct findings *f, const struct request *r)
{
    const struct znode *z = r->znode;
    if (z == NULL)
        breach(f, "tokens", "%s: no node has the czxid %lld", who(e, r), (long long)r->token);
    else if (strcmp(z->name, r->node) != 0)
        breach(f, "tokens", "%s: token %lld is the czxid of %s, not of %s", who(e, r), (long long)r->token, z->name,
               r->node);
    else if (z->owner != r->session && was_stopped(e, r, r->asked_ns, r->answered_ns + 1))
        note(f, "%s: asked for its session after it was stopped", who(e, r));
    else if (z->owner != r->session && evidence_ns(e, z->gone_ms) > r->answered_ns + CLOCK_NS)
        breach(f, "tokens", "%s: the node %s is of session %llx, not %llx", who(e, r), z->name,
               (unsigned long long)z->owner, (unsigned long long)r->session);
}

void law_origins(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < e->n_grants; i++)
        match(e, f, &e->requests.list[e->grants[i]]);
}

void law_tokens(const struct evidence *e, struct findings *f)
{
    const struct request *top = NULL;
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        if (r->token <= 0)
            breach(f, "tokens", "%s: no token", who(e, r));
        if (top != NULL && r->token == top->token)
            breach(f, "tokens", "%s and %s have the same, %lld", who(e, top), who(e, r), (long long)r->token);
        if (top != NULL && r->token < top->token &&
            (r->znode == NULL || evidence_ns(e, r->znode->gone_ms) > top->answered_ns + CLOCK_NS))
            breach(f, "tokens", "%s: token %lld after %lld of %s", who(e, r), (long long)r->token,
                   (long long)top->token, who(e, top));
        if (top == NULL || r->token > top->token)
            top = r;
    }
}
