#include "lib/core/phase.h"
#include "lib/assert.h"
#include "lib/core/contender.h"
#include <string.h>

#define TO(phase) (UINT32_C(1) << PDK__##phase)

/* The moves. A phase may always stay. */
static const uint32_t moves[PDK__N_PHASES] = {
    [PDK__IDLE] = TO(DISCONNECTED) | TO(BACKOFF) | TO(LOOKING) | TO(CREATING) | TO(DONE),
    [PDK__DISCONNECTED] = TO(LOOKING) | TO(CREATING) | TO(RECOVERING) | TO(LISTING) | TO(DELETING) | TO(DONE),
    [PDK__BACKOFF] = TO(DISCONNECTED) | TO(LOOKING) | TO(CREATING) | TO(RECOVERING) | TO(LISTING) | TO(DELETING) |
                     TO(DONE),
    [PDK__LOOKING] = TO(DISCONNECTED) | TO(BACKOFF) | TO(CREATING) | TO(DONE),
    [PDK__CREATING] = TO(DISCONNECTED) | TO(BACKOFF) | TO(WATCHING) | TO(READING_HOLDER) | TO(CONFIRMING) |
                      TO(AWAITING_LEASE) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__RECOVERING] = TO(DISCONNECTED) | TO(BACKOFF) | TO(CREATING) | TO(IDENTIFYING) | TO(DONE),
    [PDK__IDENTIFYING] = TO(DISCONNECTED) | TO(BACKOFF) | TO(CREATING) | TO(RECOVERING) | TO(LISTING) | TO(DELETING) |
                         TO(DONE),
    [PDK__LISTING] = TO(DISCONNECTED) | TO(BACKOFF) | TO(CREATING) | TO(WATCHING) | TO(VERIFYING_NODE) |
                     TO(READING_HOLDER) | TO(CONFIRMING) | TO(AWAITING_LEASE) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__WATCHING] = TO(DISCONNECTED) | TO(BACKOFF) | TO(CREATING) | TO(LISTING) | TO(WAITING) | TO(VERIFYING_NODE) |
                      TO(READING_HOLDER) | TO(CONFIRMING) | TO(AWAITING_LEASE) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__WAITING] = TO(DISCONNECTED) | TO(CREATING) | TO(LISTING) | TO(WATCHING) | TO(VERIFYING_NODE) |
                     TO(READING_HOLDER) | TO(CONFIRMING) | TO(AWAITING_LEASE) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__VERIFYING_NODE] = TO(DISCONNECTED) | TO(BACKOFF) | TO(CREATING) | TO(READING_HOLDER) | TO(CONFIRMING) |
                            TO(AWAITING_LEASE) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__READING_HOLDER] = TO(DISCONNECTED) | TO(BACKOFF) | TO(CREATING) | TO(VERIFYING_NODE) | TO(DELAYED) |
                            TO(WRITING_HOLDER) | TO(CONFIRMING) | TO(AWAITING_LEASE) | TO(HELD) | TO(DELETING) |
                            TO(DONE),
    [PDK__DELAYED] = TO(DISCONNECTED) | TO(CREATING) | TO(VERIFYING_NODE) | TO(READING_HOLDER) | TO(DELETING) |
                     TO(DONE),
    [PDK__WRITING_HOLDER] = TO(DISCONNECTED) | TO(BACKOFF) | TO(CREATING) | TO(VERIFYING_NODE) | TO(CONFIRMING) |
                            TO(AWAITING_LEASE) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__CONFIRMING] = TO(DISCONNECTED) | TO(BACKOFF) | TO(CREATING) | TO(AWAITING_LEASE) | TO(HELD) | TO(DELETING) |
                        TO(DONE),
    [PDK__AWAITING_LEASE] = TO(DISCONNECTED) | TO(CREATING) | TO(VERIFYING_NODE) | TO(HELD) | TO(DELETING) | TO(DONE),
    [PDK__HELD] = TO(SUSPECT) | TO(DISCONNECTED) | TO(DELETING) | TO(DONE),
    [PDK__SUSPECT] = TO(HELD) | TO(DISCONNECTED) | TO(DELETING) | TO(DONE),
    [PDK__DELETING] = TO(DISCONNECTED) | TO(BACKOFF) | TO(LOOKING) | TO(CREATING) | TO(DONE),
    [PDK__DONE] = 0,
};

const char *pdk__phase_name(enum pdk__phase phase)
{
    static const char *const names[PDK__N_PHASES] = {
        "idle",       "disconnected",   "backoff", "looking",        "creating",       "recovering", "identifying",
        "listing",    "watching",       "waiting", "verifying node", "reading holder", "delayed",    "writing holder",
        "confirming", "awaiting lease", "held",    "suspect",        "deleting",       "done"};
    return phase < PDK__N_PHASES ? names[phase] : "?";
}

bool pdk__phase_grants(enum pdk__phase phase) { return phase == PDK__HELD || phase == PDK__SUSPECT; }

/* Is a reply to the main question awaited? */
static bool asking(enum pdk__phase phase)
{
    return phase == PDK__LOOKING || phase == PDK__CREATING || phase == PDK__RECOVERING || phase == PDK__IDENTIFYING ||
           phase == PDK__LISTING || phase == PDK__WATCHING || phase == PDK__READING_HOLDER ||
           phase == PDK__WRITING_HOLDER || phase == PDK__CONFIRMING || phase == PDK__DELETING;
}

bool pdk__phase_first(enum pdk__phase phase)
{
    return phase == PDK__VERIFYING_NODE || phase == PDK__READING_HOLDER || phase == PDK__DELAYED ||
           phase == PDK__WRITING_HOLDER || phase == PDK__CONFIRMING || phase == PDK__AWAITING_LEASE;
}

bool pdk__phase_keeps_watch(const struct pdk__contender *c)
{
    return c->phase == PDK__WAITING && !c->queue.by_exists && !c->wish->rule->by_children;
}

/* A node known to be ours is the same one until it is forgotten: neither its name nor its token changes. */
static void check_identity(const struct pdk__contender *c, const struct pdk__contender *before)
{
    if (c->node.exists != PDK__NODE_YES || before->node.exists != PDK__NODE_YES)
        return;
    assert(c->attempt == before->attempt && strcmp(c->node.name, before->node.name) == 0);
    assert(c->node.token == before->node.token);
}

/* Nothing is there that the request did not ask for, and all has come that must come first. */
static void check_conditions(const struct pdk__contender *c)
{
    enum pdk__phase phase = c->phase;
    bool delays = c->wish->conditions->lock_delay_ms > 0;
    if (c->node.parents_made != PDK__OK && c->node.parents_made != PDK__UNKNOWN)
        assert(c->node.parents_error < 0);
    if (c->wish->try_only && c->node.exists != PDK__NODE_NO)
        assert(c->queue.looked);
    if (phase == PDK__LOOKING)
        assert(c->queue.spent || !c->queue.looked);
    if (phase == PDK__READING_HOLDER || phase == PDK__DELAYED)
        assert(delays && c->record.ours != PDK__RECORD_YES);
    if (phase == PDK__WRITING_HOLDER)
        assert(c->record.ours == PDK__RECORD_MAYBE);
    if (phase == PDK__CONFIRMING)
        assert(c->node.verified && c->wish->conditions->confirmed);
    if (c->queue.leaves) /* one that was made under the number of another does not come back */
        assert(c->wish->base == NULL);
}

/* The node, the watches and the question agree, in every phase. */
static void check_parts(const struct pdk__contender *c)
{
    enum pdk__phase phase = c->phase;
    if (c->node.verified)
        assert(c->node.exists == PDK__NODE_YES && c->node.token > 0);
    /* a node that may exist has an attempt; one that is known has a name */
    assert(c->attempt != 0 && (c->node.exists != PDK__NODE_YES || c->node.name[0] != '\0'));
    /* a predecessor is watched if and only if the contender waits, or the watch may be left */
    if (phase == PDK__WATCHING || phase == PDK__WAITING)
        assert(c->queue.watching);
    if (phase == PDK__IDLE || phase == PDK__LOOKING || phase == PDK__DONE)
        assert(!c->queue.watching);
    /* a watch of the own node is of this connection, unless it was kept */
    if (c->node.watch != PDK__OWN_UNWATCHED)
        assert(c->node.watch_op != 0);
    if (c->node.watch_op != 0)
        assert(c->node.exists == PDK__NODE_YES);
    if (c->node.watch == PDK__OWN_ASKED || c->node.watch == PDK__OWN_WATCHED)
        assert(c->session.connected);
    if (phase == PDK__VERIFYING_NODE)
        assert(c->node.watch == PDK__OWN_ASKED);
    if (!asking(phase) && phase != PDK__WAITING)
        assert(c->op == 0);
    /* rivals are those of a holder, on this connection */
    if (c->rivals.state != PDK__RIVALS_UNKNOWN)
        assert((pdk__phase_grants(phase) || !c->requested) && c->node.exists == PDK__NODE_YES);
    if (pdk__phase_grants(phase) && !c->session.connected)
        assert(c->rivals.op == 0);
    if (c->node.revoked)
        assert(c->node.exists == PDK__NODE_YES);
}

void pdk__phase_check(const struct pdk__contender *c, const struct pdk__contender *before)
{
    enum pdk__phase phase = c->phase;
    assert(phase == before->phase || (moves[before->phase] & UINT32_C(1) << phase) != 0);
    check_identity(c, before);
    check_parts(c);
    check_conditions(c);
    if (asking(phase) || phase == PDK__WAITING)
        assert((c->session.connected || pdk__phase_keeps_watch(c)) && c->op != 0);
    if (!c->session.connected) /* it rests, but for a watch that was set */
        assert(phase == PDK__IDLE || phase == PDK__DISCONNECTED || phase == PDK__SUSPECT || phase == PDK__DONE ||
               pdk__phase_keeps_watch(c));
    if (phase == PDK__IDLE)
        assert(!c->requested && c->node.exists == PDK__NODE_NO);
    if (phase == PDK__DISCONNECTED)
        assert(!c->session.connected && (c->requested || c->node.exists != PDK__NODE_NO));
    if (phase == PDK__HELD)
        assert(c->session.connected && c->node.verified && c->session.lease_ok);
    if (phase == PDK__SUSPECT)
        assert(c->node.verified);
    if (phase == PDK__AWAITING_LEASE)
        assert(c->session.connected && c->node.verified && !c->session.lease_ok);
    if (pdk__phase_grants(phase) || pdk__phase_first(phase) || phase == PDK__WATCHING || phase == PDK__WAITING)
        assert((c->requested || phase == PDK__WRITING_HOLDER) && c->node.exists == PDK__NODE_YES);
    if ((pdk__phase_grants(phase) || phase == PDK__AWAITING_LEASE) && c->wish->conditions->confirmed)
        assert(c->node.confirmed != 0);
    if ((pdk__phase_grants(phase) || phase == PDK__AWAITING_LEASE || phase == PDK__CONFIRMING) &&
        c->wish->conditions->lock_delay_ms > 0)
        assert(c->record.ours == PDK__RECORD_YES);
    if (c->record.ours != PDK__RECORD_NO)
        assert(c->node.exists == PDK__NODE_YES && c->wish->conditions->lock_delay_ms > 0);
    if (c->node.confirmed != 0)
        assert(c->node.exists == PDK__NODE_YES && c->wish->conditions->confirmed);
    if (phase == PDK__LOOKING)
        assert(c->requested && c->node.exists == PDK__NODE_NO);
    if (phase == PDK__CREATING)
        assert(c->node.exists == PDK__NODE_MAYBE || (c->requested && c->node.verified));
    if (phase == PDK__RECOVERING || phase == PDK__IDENTIFYING)
        assert(c->node.exists == PDK__NODE_MAYBE);
    if (phase == PDK__IDENTIFYING)
        assert(c->node.name[0] != '\0');
    if (phase == PDK__LISTING)
        assert(c->requested && c->node.exists == PDK__NODE_YES);
    if (phase == PDK__DELETING)
        assert((!c->requested || c->queue.leaves) && c->node.exists == PDK__NODE_YES && c->node.n_deletes > 0);
    if (c->queue.leaves)
        assert(c->node.exists == PDK__NODE_YES &&
               (phase == PDK__DELETING || phase == PDK__DISCONNECTED || phase == PDK__BACKOFF));
    if (c->queue.spent)
        assert(c->queue.leaves || c->node.exists == PDK__NODE_NO || !c->requested);
    if (phase == PDK__DONE)
        assert(!c->requested && c->node.exists == PDK__NODE_NO);
}
