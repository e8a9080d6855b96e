#include "lib/core/course.h"
#include "lib/assert.h"
#include "lib/core/ask.h"
#include "paddock/error.h"

/* A create may never arrive although every look for it is answered. Then the servers will never accept it: over
 * jute.maxbuffer they drop the connection, each time (-4, never an error code). */
enum { LOST_CREATES_MAX = 8 };

/* The path may be reaped or deleted between its creation and a create in it; but not that often. */
enum { PARENT_TRIES_MAX = 16 };

enum { REST_FLOOR_MS = 10, REST_CEILING_MS = 1000 };

static bool granted(const struct pdk__contender *c) { return pdk__phase_grants(c->phase); }

static void forget_node(struct pdk__contender *c)
{
    pdk__own_node_forget(&c->node);
    c->queue.leaves = false;
    c->record.ours = PDK__RECORD_NO;
}

static void finish(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(!c->requested && c->node.exists == PDK__NODE_NO);
    pdk__ask_unwatch(c, out);
    c->queue.watching = false; /* without a connection nothing can remove it */
    pdk__rivals_forget(&c->rivals);
    c->phase = PDK__DONE;
    c->op = 0;
    pdk__ask_push(out, PDK__ACT_DONE)->error = c->error;
}

/* A watch may be left of a wait whose own node was deleted without a connection. */
static void look(struct pdk__contender *c, struct pdk__actions *out)
{
    pdk__ask_unwatch(c, out);
    pdk__ask(c, out, PDK__ACT_LIST, PDK__LOOKING);
}

static void continue_acquire(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->node.exists == PDK__NODE_MAYBE)
        pdk__ask_barrier(c, out);
    else if (c->node.exists == PDK__NODE_YES && c->queue.leaves)
        pdk__ask_delete(c, out);
    else if (c->node.exists == PDK__NODE_YES)
        pdk__ask(c, out, PDK__ACT_LIST, PDK__LISTING);
    else if (c->queue.spent || (c->wish->try_only && !c->queue.looked))
        look(c, out);
    else
        pdk__ask_create(c, out);
}

static void clean_up(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->node.exists == PDK__NODE_MAYBE)
        pdk__ask_barrier(c, out);
    else
        pdk__ask_delete(c, out);
}

/* Continue from the known state of the node and from the request, whatever disturbance came before. */
void pdk__course_advance(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->phase != PDK__DONE);
    c->op = 0;
    if (!c->requested && c->node.exists == PDK__NODE_NO)
        finish(c, out);
    else if (!c->session.connected)
        c->phase = PDK__DISCONNECTED;
    else if (c->requested)
        continue_acquire(c, out);
    else
        clean_up(c, out);
}

int64_t pdk__course_again_ms(struct pdk__contender *c)
{
    return c->now_ms + pdk__retry_delay_ms(&c->retry, REST_FLOOR_MS, REST_CEILING_MS);
}

void pdk__course_timer(struct pdk__contender *c) { c->rest_ms = pdk__course_again_ms(c); }

void pdk__course_back_off(struct pdk__contender *c)
{
    c->op = 0;
    c->phase = PDK__BACKOFF;
    pdk__course_timer(c);
}

/* A create that may be on its way must be awaited, or the node could appear after we have finished. The same holds
 * for a record: its reply carries the version at which we may clear it. A delete is not sent twice. */
static bool awaits(const struct pdk__contender *c)
{
    bool node = c->phase == PDK__CREATING || c->phase == PDK__RECOVERING || c->phase == PDK__IDENTIFYING;
    return (c->node.exists == PDK__NODE_MAYBE && node) || (c->phase == PDK__WRITING_HOLDER && c->op != 0) ||
           c->phase == PDK__DELETING;
}

void pdk__course_give_up(struct pdk__contender *c, struct pdk__actions *out)
{
    c->requested = false;
    if (!awaits(c))
        pdk__course_advance(c, out);
}

void pdk__course_fail(struct pdk__contender *c, struct pdk__actions *out, int error)
{
    assert(!granted(c) && error < 0);
    if (c->requested)
        pdk__ask_push(out, PDK__ACT_FAILED)->error = error;
    pdk__course_give_up(c, out);
}

/* After a loss the program may still be at work: the record stays. */
void pdk__course_lose(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(granted(c));
    pdk__ask_push(out, PDK__ACT_LOST);
    c->record.ours = PDK__RECORD_NO;
    pdk__course_give_up(c, out);
}

static int64_t token_of(const struct pdk__contender *c)
{
    if (c->wish->base != NULL)
        return c->wish->base_token;
    return c->wish->conditions->confirmed ? c->node.confirmed : c->node.token;
}

static void hold(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->requested && c->session.connected && c->node.verified);
    assert(token_of(c) > 0 && token_of(c) >= c->wish->conditions->min_token);
    c->phase = c->session.lease_ok ? PDK__HELD : PDK__AWAITING_LEASE;
    c->op = 0;
    pdk__retry_reset(&c->retry);
    if (c->session.lease_ok)
        pdk__ask_push(out, PDK__ACT_GRANTED)->token = token_of(c);
    if (c->session.lease_ok && c->node.revoked)
        pdk__ask_push(out, PDK__ACT_REVOKED);
}

/* No contender is ahead. The other conditions of a grant are met here, one after another. The own node is watched
 * after the write, because the write would only set that watch off. */
void pdk__course_grant(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->requested && !granted(c));
    if (c->wish->conditions->lock_delay_ms > 0 && c->record.ours != PDK__RECORD_YES) {
        pdk__ask(c, out, PDK__ACT_READ_RECORD, PDK__READING_HOLDER);
    } else if (c->wish->conditions->confirmed && c->node.confirmed == 0) {
        pdk__ask_confirm(c, out);
    } else if (token_of(c) < c->wish->conditions->min_token) {
        pdk__course_fail(c, out, PDK_ESTALE);
        return;
    } else {
        hold(c, out);
    }
    pdk__ask_own_if_due(c, out);
}

/* Our node was shown, and its watch is not due. A read of it that is under way will tell more. */
static bool fresh(const struct pdk__contender *c)
{
    return c->node.verified && c->node.watch == PDK__OWN_UNWATCHED && c->now_ms < pdk__ask_own_unwatched_ms(c);
}

/* No contender has been ahead for some time, in which our node may have been deleted. Its watch would have fired
 * first. A holder without a watch would not notice a deletion for as long. */
void pdk__course_check(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->requested && c->node.exists == PDK__NODE_YES);
    if (pdk__own_node_there(&c->node) || fresh(c)) {
        pdk__course_grant(c, out);
        return;
    }
    c->phase = PDK__VERIFYING_NODE;
    c->op = 0;
    if (c->node.watch != PDK__OWN_ASKED)
        pdk__ask_own(c, out);
}

void pdk__course_recover(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->phase != PDK__SUSPECT || !c->session.connected || !c->session.lease_ok || c->node.watch != PDK__OWN_WATCHED)
        return;
    c->phase = PDK__HELD;
    pdk__ask_push(out, PDK__ACT_HELD);
}

/* The node that existed, or may have, is deleted for good: its name must not come back. */
static void renew_name(struct pdk__contender *c)
{
    assert(c->spare != 0 && c->spare != c->attempt && c->node.exists == PDK__NODE_NO);
    c->attempt = c->spare;
    c->spare = 0;
}

/* The record may have been read when our node was deleted already, and its holder is the next. Its delay has not begun
 * then, for it runs from the end of that holder. */
static void forget_delay(struct pdk__contender *c)
{
    if (c->wish->conditions->lock_delay_ms > 0)
        *c->wish->conditions->delay = (struct pdk__delay){0};
}

/* Another client deleted our node: a holder has lost, a waiter queues again. */
void pdk__course_node_deleted(struct pdk__contender *c, struct pdk__actions *out)
{
    bool held = granted(c);
    forget_node(c);
    forget_delay(c);
    if (held) {
        pdk__course_lose(c, out);
        return;
    }
    pdk__ask_unwatch(c, out);
    renew_name(c);
    pdk__course_advance(c, out);
}

/* The node goes with its session. A release is confirmed by that only if the servers have ended the session, and not
 * the client. */
void pdk__course_expire(struct pdk__contender *c, bool confirmed, struct pdk__actions *out)
{
    bool held = granted(c);
    if (c->released && c->node.exists != PDK__NODE_NO && !confirmed)
        c->error = PDK_EUNKNOWN;
    c->session.connected = c->session.lease_ok = false;
    c->op = 0; /* no reply is awaited any more */
    c->queue.watching = false;
    forget_node(c);
    forget_delay(c);
    if (held)
        pdk__course_lose(c, out);
    else if (c->requested && c->wish->base != NULL)
        pdk__course_fail(c, out, PDK_ELOST); /* the grant under which it was to be made has ended */
    else if (c->phase != PDK__IDLE && c->phase != PDK__DONE)
        pdk__course_advance(c, out);
}

/* An answer to the last creates of the path from which others would not differ. Where the nearest ancestors were not
 * enough, all are created. */
static bool path_refused(const struct pdk__own_node *n)
{
    bool higher = n->parents_made == PDK__NO_NODE && n->parent_tries == 1;
    return n->parents_made != PDK__OK && n->parents_made != PDK__UNKNOWN && !higher;
}

/* The lock path is missing. */
static void make_path(struct pdk__contender *c, struct pdk__actions *out)
{
    struct pdk__own_node *n = &c->node;
    if (path_refused(n)) {
        pdk__course_fail(c, out, n->parents_error);
    } else if (n->parents_made == PDK__UNKNOWN) {
        n->parents_made = PDK__OK;
        pdk__course_back_off(c);
    } else if (n->parent_tries < PARENT_TRIES_MAX) {
        pdk__ask_create_with_parents(c, out, n->parent_tries++ > 0);
    } else {
        pdk__course_fail(c, out, PDK_ENOENT);
    }
}

/* The node does not exist, and no request that could still create it is under way. */
void pdk__course_uncreated(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    forget_node(c);
    if (!c->requested)
        pdk__course_advance(c, out);
    else if (ev->outcome == PDK__NO_NODE)
        make_path(c, out);
    else
        pdk__course_fail(c, out, pdk__event_error(ev));
}

/* The node does not exist, and the servers have not committed its create by now. It can still appear only if they
 * move the session back. */
void pdk__course_absent(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->node.exists == PDK__NODE_MAYBE);
    forget_node(c);
    pdk__ask_push(out, PDK__ACT_STRAY)->attempt = c->attempt;
    renew_name(c);
    c->node.lost_creates++;
    if (!c->requested || c->node.lost_creates == 1)
        pdk__course_advance(c, out);
    else if (c->node.lost_creates > LOST_CREATES_MAX)
        pdk__course_fail(c, out, PDK_EREFUSED);
    else
        pdk__course_back_off(c);
}

void pdk__course_deleted(struct pdk__contender *c, int error, struct pdk__actions *out)
{
    assert((!c->requested || c->queue.leaves) && error <= 0);
    if (error != 0 && c->requested)
        pdk__course_fail(c, out, error);
    if (error != 0)
        c->error = error;
    c->queue.watching = false;
    forget_node(c);
    if (c->requested)
        renew_name(c);
    if (c->requested && c->queue.spent && !c->wish->try_only)
        pdk__course_back_off(c); /* two that come back at once would each keep the other from renewing the path */
    else
        pdk__course_advance(c, out);
}
