#include "lib/core/judge.h"
#include "lib/assert.h"

/* The answer to the create follows, and decides. */
static struct pdk__verdict judge_parents(struct pdk__own_node *n, const struct pdk__event *ev)
{
    n->parents_made = ev->outcome;
    if (ev->outcome != PDK__OK && ev->outcome != PDK__UNKNOWN)
        n->parents_error = pdk__verdict_refused(PDK__MOVE_NONE, ev).error;
    return pdk__verdict(PDK__MOVE_NONE);
}

/* Without the barrier the listing after it proves nothing. */
static struct pdk__verdict judge_barrier(const struct pdk__event *ev)
{
    return pdk__verdict(ev->outcome == PDK__OK ? PDK__MOVE_NONE : PDK__MOVE_RETRY);
}

/* The request that EVENT answers has shown our node. A write tells whose it is. A listing tells a name only, which may
 * be that of another node by now: but for the first, it does not put the watch off. */
static struct pdk__verdict shown(struct pdk__contender *c, struct pdk__verdict v)
{
    bool listed = v.move == PDK__MOVE_FIRST || v.move == PDK__MOVE_WATCH || v.move == PDK__MOVE_WAIT;
    if (v.move == PDK__MOVE_CONFIRMED || (listed && c->node.shown_ms == 0))
        c->node.shown_ms = c->asked_ms;
    return v;
}

static struct pdk__verdict judge_listing(struct pdk__contender *c, const struct pdk__event *ev)
{
    if (ev->outcome == PDK__UNKNOWN)
        return pdk__verdict(PDK__MOVE_RETRY);
    if (ev->outcome == PDK__NO_AUTH || ev->outcome == PDK__REFUSED)
        return pdk__verdict_refused(c->phase == PDK__RECOVERING ? PDK__MOVE_SEARCH : PDK__MOVE_FAIL, ev);
    if (c->phase == PDK__LOOKING)
        return pdk__queue_looked(&c->queue, c->rule, ev);
    if (c->phase == PDK__RECOVERING)
        return pdk__own_node_candidate(&c->node, ev, c->session.id, c->attempt);
    assert(c->requested); /* once the lock is not wanted, a known node is deleted, and no listing is requested */
    return shown(c, pdk__queue_listed(&c->queue, c->rule, ev, c->node.name, c->conditions.base, c->try_only));
}

static struct pdk__verdict judge_watch(struct pdk__contender *c, const struct pdk__event *ev)
{
    bool waits = c->phase == PDK__WAITING || c->phase == PDK__WATCHING;
    return waits ? pdk__queue_fired(&c->queue, ev, c->phase == PDK__WATCHING) : pdk__verdict(PDK__MOVE_NONE);
}

struct pdk__verdict pdk__judge_session(struct pdk__contender *c, const struct pdk__event *ev)
{
    if (ev->kind == PDK__EV_SESSION_DOWN)
        pdk__own_node_forget_watch(&c->node); /* the client re-arms watches, but events until then may be missed */
    if (ev->kind == PDK__EV_SESSION_DOWN)
        pdk__rivals_forget(&c->rivals);
    return pdk__session_view_judge(&c->session, ev, c->phase, c->node.exists != PDK__NODE_NO);
}

/* The record is cleared. The delete was sent right after, and is answered after it. If both outcomes are unknown, both
 * are sent again. */
static struct pdk__verdict judge_cleared(const struct pdk__contender *c, const struct pdk__event *ev)
{
    bool again = ev->outcome == PDK__UNKNOWN && c->phase == PDK__DELETING;
    return pdk__verdict(again ? PDK__MOVE_CLEAR : PDK__MOVE_NONE);
}

struct pdk__verdict pdk__judge(struct pdk__contender *c, const struct pdk__event *ev)
{
    switch (ev->kind) {
    case PDK__EV_CREATED:
        return pdk__own_node_created(&c->node, ev, c->session.id);
    case PDK__EV_MADE_PARENTS:
        return judge_parents(&c->node, ev);
    case PDK__EV_BARRIER:
        return judge_barrier(ev);
    case PDK__EV_LISTED:
        return judge_listing(c, ev);
    case PDK__EV_IDENTIFIED:
        return pdk__own_node_identified(&c->node, ev, c->session.id);
    case PDK__EV_WATCHED:
        return c->rule->by_children ? shown(c, pdk__queue_watched_children(&c->queue, c->rule, ev, c->node.name))
                                    : pdk__queue_watched(&c->queue, ev);
    case PDK__EV_FIRED:
        return judge_watch(c, ev);
    case PDK__EV_OWN:
        return pdk__own_node_read(&c->node, ev, c->session.id);
    case PDK__EV_OWN_FIRED:
        return pdk__verdict(ev->deleted ? PDK__MOVE_NODE_DELETED : PDK__MOVE_LOOK);
    case PDK__EV_CONFIRMED:
        return shown(c, pdk__own_node_confirmed(&c->node, ev, c->session.id));
    case PDK__EV_RECORD_READ:
        return pdk__record_read(&c->record, ev, c->node.name, c->conditions.delay, c->conditions.lock_delay_ms);
    case PDK__EV_RECORDED:
        c->op = 0; /* no longer awaited, whatever follows */
        return pdk__record_written(&c->record, ev);
    case PDK__EV_CLEARED:
        return judge_cleared(c, ev);
    case PDK__EV_DELETED:
        return pdk__own_node_deleted(&c->node, ev, c->released);
    default:
        return pdk__judge_session(c, ev);
    }
}
