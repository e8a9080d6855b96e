#include "lib/core/reply.h"
#include "lib/assert.h"
#include "lib/core/ask.h"
#include "lib/core/course.h"
#include "lib/core/order.h"
#include "paddock/error.h"
#include <string.h>

/* --- the node: created, looked for, deleted ---------------------------------------------------------------------- */

static void found(struct pdk__own_node *n, const struct pdk__event *ev, int32_t version)
{
    assert(n->exists != PDK__NODE_NO);
    n->exists = PDK__NODE_YES;
    n->token = ev->token;
    n->version = version;
    n->lost_creates = n->parent_tries = 0;
}

static void on_created(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    struct pdk__own_node *n = &c->node;
    bool nameless = ev->outcome == PDK__OK && (ev->name == NULL || ev->name[0] == '\0');
    if (ev->outcome == PDK__UNKNOWN || nameless) { /* a server may say anything: the node is looked for */
        pdk__course_back_off(c);
        return;
    }
    if (ev->outcome != PDK__OK) {
        pdk__course_uncreated(c, ev, out);
        return;
    }
    found(n, ev, 0);
    strncpy(n->name, ev->name, PDK__NAME_MAX - 1);
    n->verified = ev->owner == c->session.id && ev->token > 0;
    if (!n->verified)
        pdk__course_fail(c, out, PDK_EREFUSED);
    else if (!c->requested) /* otherwise the listing that was sent with the create follows */
        pdk__course_advance(c, out);
}

/* The answer to the create follows, and decides. */
static void on_made_parents(struct pdk__contender *c, const struct pdk__event *ev)
{
    c->node.parents_made = ev->outcome;
    if (ev->outcome != PDK__OK && ev->outcome != PDK__UNKNOWN)
        c->node.parents_error = pdk__event_error(ev);
}

/* Without the barrier the listing after it proves nothing. */
static void on_barrier(struct pdk__contender *c, const struct pdk__event *ev)
{
    if (ev->outcome != PDK__OK)
        pdk__course_back_off(c);
}

/* The search is refused. If the caller has given up, the removal still needs the node. */
static void search_later(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (c->requested)
        pdk__course_fail(c, out, pdk__event_error(ev));
    pdk__course_back_off(c);
}

/* The lowest candidate that was not looked at yet. Without one, the node does not exist. */
static void search(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    struct pdk__own_node *n = &c->node;
    assert(n->exists == PDK__NODE_MAYBE);
    const char *candidate = NULL;
    if (ev->outcome == PDK__OK)
        candidate = pdk__order_candidate(ev->children, ev->n_children, c->session.id, c->attempt, n->name);
    if (candidate == NULL) {
        pdk__course_absent(c, out);
        return;
    }
    strncpy(n->name, candidate, PDK__NAME_MAX - 1);
    pdk__ask(c, out, PDK__ACT_IDENTIFY, PDK__IDENTIFYING)->name = n->name;
}

static void on_listed(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    bool refused = pdk__event_refused(ev);
    if (ev->outcome == PDK__UNKNOWN)
        pdk__course_back_off(c);
    else if (refused && c->phase == PDK__RECOVERING)
        search_later(c, ev, out);
    else if (refused)
        pdk__course_fail(c, out, pdk__event_error(ev));
    else if (c->phase == PDK__RECOVERING)
        search(c, ev, out);
    else if (c->phase == PDK__LOOKING)
        pdk__queue_looked(c, ev, out);
    else
        pdk__queue_listed(c, ev, out);
}

static void on_identified(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(c->node.exists == PDK__NODE_MAYBE && c->node.name[0] != '\0');
    if (ev->outcome == PDK__OK && ev->owner == c->session.id && ev->token > 0) {
        found(&c->node, ev, ev->version);
        c->node.verified = true;
        pdk__course_advance(c, out);
    } else if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE) { /* another client's, or deleted */
        pdk__ask(c, out, PDK__ACT_LIST, PDK__RECOVERING);
    } else if (ev->outcome == PDK__UNKNOWN) {
        pdk__course_back_off(c);
    } else {
        search_later(c, ev, out);
    }
}

static void on_deleted(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(c->node.exists == PDK__NODE_YES && c->node.n_deletes > 0);
    /* Another client deleted the node of a grant, and its event did not come before the release. */
    bool lost = ev->outcome == PDK__NO_NODE && c->released && c->node.n_deletes == 1;
    if (ev->outcome == PDK__UNKNOWN)
        pdk__course_back_off(c);
    else if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE)
        pdk__course_deleted(c, lost ? PDK_ELOST : 0, out);
    else /* without DELETE on the path a session cannot remove its own node, and asking again will not help */
        pdk__course_deleted(c, pdk__event_error(ev), out);
}

/* --- the node: read, written, watched ---------------------------------------------------------------------------- */

/* The revocation word stays in the node, and is read again at every change: only the first time counts. A contender
 * that does not hold yet reports it right after the grant. */
static void note_revocation(struct pdk__contender *c, bool revoked, struct pdk__actions *out)
{
    if (revoked && !c->node.revoked && pdk__phase_grants(c->phase))
        pdk__ask_push(out, PDK__ACT_REVOKED);
    c->node.revoked = c->node.revoked || revoked;
}

static void own_read(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    struct pdk__own_node *n = &c->node;
    if (ev->owner != c->session.id || ev->token <= 0 || ev->token != n->token) {
        pdk__course_node_deleted(c, out); /* another node, under our name */
        return;
    }
    n->watch = PDK__OWN_WATCHED;
    n->verified = true;
    n->version = ev->version;
    pdk__course_recover(c, out);
    note_revocation(c, ev->revoked, out);
    if (c->phase == PDK__VERIFYING_NODE)
        pdk__course_grant(c, out);
}

static void own_unread(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (c->phase != PDK__VERIFYING_NODE)
        c->node.again_ms = pdk__course_again_ms(c);
    else if (ev->outcome == PDK__UNKNOWN)
        pdk__course_back_off(c);
    else
        pdk__course_fail(c, out, pdk__event_error(ev));
}

static void on_own(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(c->node.exists == PDK__NODE_YES && c->node.watch_op != 0);
    c->node.watch = PDK__OWN_UNWATCHED;
    if (ev->outcome == PDK__OK) {
        own_read(c, ev, out);
    } else if (ev->outcome == PDK__NO_NODE) {
        pdk__course_node_deleted(c, out);
    } else if (ev->outcome == PDK__NO_AUTH && !c->node.by_exists) {
        c->node.by_exists = true;
        pdk__ask_own(c, out);
    } else {
        own_unread(c, ev, out);
    }
}

static void on_own_fired(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->deleted)
        pdk__course_node_deleted(c, out);
    else if (c->session.connected)
        pdk__ask_own(c, out);
    else
        pdk__own_node_forget_watch(&c->node);
}

/* A quorum agreed on the write, so the node existed, after all that the last holder had written. If the outcome is
 * unknown, or another client wrote meanwhile, the node is read again, and written again. */
static void on_confirmed(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    struct pdk__own_node *n = &c->node;
    assert(n->exists == PDK__NODE_YES && n->verified);
    if (ev->outcome == PDK__NO_NODE || (ev->outcome == PDK__OK && ev->owner != c->session.id)) {
        pdk__course_node_deleted(c, out);
    } else if (ev->outcome == PDK__OK && ev->token > n->token) {
        n->confirmed = ev->token;
        n->version = ev->version;
        n->shown_ms = c->asked_ms;
        pdk__course_grant(c, out);
    } else if (ev->outcome == PDK__UNKNOWN || ev->outcome == PDK__CHANGED) {
        n->verified = false;
        pdk__course_back_off(c);
    } else { /* a server may say anything: also OK, with an older token */
        pdk__course_fail(c, out, ev->outcome == PDK__OK ? PDK_EREFUSED : pdk__event_error(ev));
    }
}

/* --- rivals ------------------------------------------------------------------------------------------------------ */

static void on_rivals(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (pdk__rivals_listed(&c->rivals, c->wish->rule, ev, c->node.name) && pdk__phase_grants(c->phase))
        pdk__ask_push(out, PDK__ACT_CONTENDED);
}

static void on_rivals_fired(struct pdk__contender *c, struct pdk__actions *out)
{
    enum pdk__rivals_news news = pdk__rivals_fired(&c->rivals, c->wish->rule);
    if (!pdk__phase_grants(c->phase))
        return;
    if (c->node.watch == PDK__OWN_UNWATCHED) /* the child that went may be our node */
        pdk__ask_own(c, out);
    if (news == PDK__RIVALS_CONTENDED)
        pdk__ask_push(out, PDK__ACT_CONTENDED);
    else if (news == PDK__RIVALS_LOOK)
        pdk__ask_rivals(c, out);
}

/* --- the reply --------------------------------------------------------------------------------------------------- */

/* A reply or watch event of an earlier request. */
static bool stale(const struct pdk__contender *c, const struct pdk__event *ev)
{
    if (ev->op == 0)
        return true;
    if (ev->kind == PDK__EV_OWN || ev->kind == PDK__EV_OWN_FIRED)
        return ev->op != c->node.watch_op;
    if (ev->kind == PDK__EV_RIVALS || ev->kind == PDK__EV_RIVALS_FIRED)
        return ev->op != c->rivals.op;
    return ev->op != (ev->kind == PDK__EV_CLEARED ? c->record.clear_op : c->op);
}

void pdk__reply(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (stale(c, ev))
        return;
    switch (ev->kind) {
    case PDK__EV_CREATED:
        on_created(c, ev, out);
        break;
    case PDK__EV_MADE_PARENTS:
        on_made_parents(c, ev);
        break;
    case PDK__EV_BARRIER:
        on_barrier(c, ev);
        break;
    case PDK__EV_LISTED:
        on_listed(c, ev, out);
        break;
    case PDK__EV_IDENTIFIED:
        on_identified(c, ev, out);
        break;
    case PDK__EV_WATCHED:
        pdk__queue_watched(c, ev, out);
        break;
    case PDK__EV_FIRED:
        pdk__queue_fired(c, ev, out);
        break;
    case PDK__EV_OWN:
        on_own(c, ev, out);
        break;
    case PDK__EV_OWN_FIRED:
        on_own_fired(c, ev, out);
        break;
    case PDK__EV_CONFIRMED:
        on_confirmed(c, ev, out);
        break;
    case PDK__EV_RECORD_READ:
        pdk__record_read(c, ev, out);
        break;
    case PDK__EV_RECORDED:
        pdk__record_written(c, ev, out);
        break;
    case PDK__EV_CLEARED:
        pdk__record_cleared(c, ev, out);
        break;
    case PDK__EV_RIVALS:
        on_rivals(c, ev, out);
        break;
    case PDK__EV_RIVALS_FIRED:
        on_rivals_fired(c, out);
        break;
    case PDK__EV_DELETED:
        on_deleted(c, ev, out);
        break;
    default:
        assert(!"a reply of no known kind");
    }
}
