#include "lib/core/contract.h"
#include "lib/core/barrier.h"
#include "lib/core/contender.h"
#include "lib/core/double_barrier.h"
#include "lib/core/session.h"
#include "lib/core/stray.h"

/* A refusal has the error for the caller. */
static bool has_error(const struct pdk__event *ev)
{
    return ev->outcome == PDK__OK || ev->outcome == PDK__UNKNOWN || ev->error < 0;
}

static bool granted(const struct pdk__contender *c) { return pdk__phase_grants(c->phase); }

/* A create is followed by the listing that was sent with it, and a barrier, too. A listing that could not be sent is
 * answered at once. */
static bool may_be_listed(const struct pdk__contender *c, const struct pdk__event *ev)
{
    bool created = c->node.exists == PDK__NODE_YES || ev->outcome == PDK__UNKNOWN;
    return (c->phase == PDK__CREATING && created) || c->phase == PDK__RECOVERING || c->phase == PDK__LOOKING ||
           c->phase == PDK__LISTING;
}

/* A reply to the main question, or the event of its watch. */
static bool may_be_answered(const struct pdk__contender *c, const struct pdk__event *ev)
{
    switch (ev->kind) {
    case PDK__EV_CREATED:
    case PDK__EV_MADE_PARENTS:
        return c->phase == PDK__CREATING && c->node.exists == PDK__NODE_MAYBE;
    case PDK__EV_BARRIER:
        return c->phase == PDK__RECOVERING;
    case PDK__EV_LISTED:
        return may_be_listed(c, ev);
    case PDK__EV_IDENTIFIED:
        return c->phase == PDK__IDENTIFYING;
    case PDK__EV_WATCHED: /* it is asked for again by name */
        return c->phase == PDK__WATCHING &&
               (ev->outcome != PDK__NO_AUTH || c->wish->rule->by_children || ev->name != NULL);
    case PDK__EV_CONFIRMED:
        return c->phase == PDK__CONFIRMING;
    case PDK__EV_RECORD_READ:
        return c->phase == PDK__READING_HOLDER;
    case PDK__EV_RECORDED:
        return c->phase == PDK__WRITING_HOLDER;
    case PDK__EV_DELETED:
        return c->phase == PDK__DELETING;
    default:
        return false;
    }
}

/* A reply or a watch event. One of an earlier request may be anything. */
static bool may_arrive(const struct pdk__contender *c, const struct pdk__event *ev)
{
    switch (ev->kind) {
    case PDK__EV_OWN:
        return ev->op != c->node.watch_op || c->node.watch == PDK__OWN_ASKED;
    case PDK__EV_FIRED: /* by the path: of this watch or of an older one */
    case PDK__EV_OWN_FIRED:
    case PDK__EV_RIVALS:
    case PDK__EV_RIVALS_FIRED:
        return true;
    case PDK__EV_CLEARED: /* before the delete that was sent after it */
        return ev->op != c->record.clear_op || c->phase != PDK__DELETING || c->record.ours == PDK__RECORD_YES;
    default:
        return ev->op != c->op || may_be_answered(c, ev);
    }
}

bool pdk__contract_allows(const struct pdk__contender *c, const struct pdk__event *ev)
{
    if (ev->now_ms < c->now_ms || ev->error > 0)
        return false;
    switch (ev->kind) {
    case PDK__EV_ACQUIRE:
        return c->phase == PDK__IDLE;
    case PDK__EV_IDLE:
        return granted(c) && c->requested;
    case PDK__EV_SESSION_UP:
        return ev->session != 0 && ev->timeout_ms >= 0;
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
        return ev->error != 0;
    case PDK__EV_RELEASE:
    case PDK__EV_RULE:
    case PDK__EV_USED:
    case PDK__EV_LOOK_AGAIN:
    case PDK__EV_TIMER:
    case PDK__EV_SESSION_DOWN:
    case PDK__EV_LEASE_OK:
    case PDK__EV_LEASE_LOW:
    case PDK__EV_LEASE_EXPIRED:
    case PDK__EV_SESSION_EXPIRED:
        return true;
    default:
        return has_error(ev) && (ev->op == 0 || may_arrive(c, ev));
    }
}

/* --- the other machines ------------------------------------------------------------------------------------------ */

/* A listing with op 0 is one that another request has brought. */
bool pdk__contract_allows_stray(const struct pdk__stray *s, const struct pdk__event *ev)
{
    if (ev->now_ms < s->since_ms)
        return false;
    switch (ev->kind) {
    case PDK__EV_TIMER:
    case PDK__EV_SESSION_DOWN:
    case PDK__EV_SESSION_EXPIRED:
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
        return true;
    case PDK__EV_SESSION_UP:
        return ev->session != 0;
    case PDK__EV_LISTED:
        return ev->op == 0 || ev->op != s->op || s->phase == PDK__STRAY_LISTING;
    case PDK__EV_IDENTIFIED:
        return ev->op == 0 || ev->op != s->op || s->phase == PDK__STRAY_IDENTIFYING;
    case PDK__EV_DELETED:
        return ev->op == 0 || ev->op != s->op || s->phase == PDK__STRAY_DELETING;
    default:
        return true; /* of the contender alone: nothing happens */
    }
}

/* The reply belongs to the task, and a barrier that is set may be looked at, too. A reply that comes after the loss of
 * its connection changes nothing. */
static bool answers_task(const struct pdk__barrier *b, const struct pdk__event *ev)
{
    if (b->phase != PDK__BARRIER_ASKING && b->phase != PDK__BARRIER_PARENTS && b->phase != PDK__BARRIER_FADING)
        return true;
    switch (ev->kind) {
    case PDK__EV_CREATED:
        return b->task == PDK__BARRIER_SET && b->phase == PDK__BARRIER_ASKING;
    case PDK__EV_MADE_PARENTS:
        return b->task == PDK__BARRIER_SET && b->phase == PDK__BARRIER_PARENTS;
    case PDK__EV_DELETED:
        return b->task == PDK__BARRIER_REMOVE && b->phase == PDK__BARRIER_ASKING;
    case PDK__EV_IDENTIFIED:
        return (b->task == PDK__BARRIER_SET || b->once) && b->phase == PDK__BARRIER_ASKING;
    default:
        return b->task == PDK__BARRIER_WAIT && !b->once;
    }
}

bool pdk__contract_allows_barrier(const struct pdk__barrier *b, const struct pdk__event *ev)
{
    switch (ev->kind) {
    case PDK__EV_ACQUIRE:
        return b->op == 0 && b->phase == PDK__BARRIER_APART;
    case PDK__EV_CREATED:
    case PDK__EV_MADE_PARENTS:
    case PDK__EV_IDENTIFIED:
    case PDK__EV_WATCHED:
    case PDK__EV_DELETED:
        return has_error(ev) && (ev->op != b->op || answers_task(b, ev));
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
        return ev->error < 0;
    default:
        return true;
    }
}

/* A reply that its phase does not expect changes nothing. */
bool pdk__contract_allows_member(const struct pdk__double_barrier *b, const struct pdk__event *ev)
{
    switch (ev->kind) {
    case PDK__EV_ACQUIRE:
        return b->aim == PDK__AIM_ENTER && b->phase == PDK__MEMBER_APART && b->op == 0;
    case PDK__EV_SESSION_UP:
        return ev->session != 0;
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
        return ev->error < 0;
    case PDK__EV_CREATED:
    case PDK__EV_MADE_PARENTS:
    case PDK__EV_LISTED:
    case PDK__EV_IDENTIFIED:
    case PDK__EV_WATCHED:
    case PDK__EV_DELETED:
        return has_error(ev);
    default:
        return true;
    }
}

/* While a handle is being opened, the events of the one before it do not come. So there is no session when that fails;
 * the first attempt may have been given up by then. */
bool pdk__contract_allows_session(const struct pdk__session *s, const struct pdk__session_event *ev)
{
    return (ev->kind != PDK__SEV_OPEN_FAILED || s->id == 0) &&
           (ev->kind != PDK__SEV_OPENED || ev->since_ms <= ev->now_ms) &&
           (ev->kind != PDK__SEV_ANSWERED || ev->sent_ms <= ev->now_ms);
}
