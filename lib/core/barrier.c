#include "lib/core/barrier.h"
#include "lib/assert.h"
#include "lib/core/contract.h"
#include "paddock/error.h"

static void ask(struct pdk__barrier *b, struct pdk__actions *out, enum pdk__action_kind kind)
{
    b->op = ++*b->ops;
    b->phase = kind == PDK__ACT_PARENTS ? PDK__BARRIER_PARENTS : PDK__BARRIER_ASKING;
    pdk__actions_add(
        out, (struct pdk__action){.kind = kind, .op = b->op, .by_exists = b->by_exists && kind == PDK__ACT_WATCH});
}

static void conclude(struct pdk__barrier *b, struct pdk__actions *out, int error)
{
    assert(b->phase != PDK__BARRIER_OVER);
    if (b->watched)
        pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_UNWATCH});
    b->watched = false;
    b->phase = PDK__BARRIER_OVER;
    pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_DONE, .error = error});
}

/* The node is not there any more, nor a watch of ours, but for one by exists, which waits for its creation. */
static void conclude_free(struct pdk__barrier *b, struct pdk__actions *out)
{
    b->watched = b->watched && b->by_exists;
    conclude(b, out, 0);
}

/* The call ends without its effect: the caller is told at once. A watch that the answer under way will set, or that the
 * handle will set again on the next connection, can be removed only afterwards. */
static void conclude_unmet(struct pdk__barrier *b, struct pdk__actions *out, int error)
{
    if (b->begun)
        error = PDK_EUNKNOWN;
    if (!b->watched || (b->connected && b->phase != PDK__BARRIER_ASKING)) {
        conclude(b, out, error);
        return;
    }
    b->phase = PDK__BARRIER_FADING;
    pdk__actions_add(out, (struct pdk__action){.kind = PDK__ACT_FAILED, .error = error});
}

static void start(struct pdk__barrier *b, struct pdk__actions *out)
{
    assert(b->connected);
    b->overtaken = false;
    if (b->task == PDK__BARRIER_WAIT) {
        b->watched |= !b->once;
        ask(b, out, b->once ? PDK__ACT_IDENTIFY : PDK__ACT_WATCH);
    } else {
        b->begun = true;
        ask(b, out, b->task == PDK__BARRIER_SET ? PDK__ACT_CREATE : PDK__ACT_DELETE);
    }
}

static void go(struct pdk__barrier *b, struct pdk__actions *out)
{
    if (b->connected)
        start(b, out);
    else if (b->once)
        conclude_unmet(b, out, PDK_ETIMEDOUT);
    else
        b->phase = PDK__BARRIER_APART;
}

static void back_off(struct pdk__barrier *b, int64_t now_ms)
{
    b->phase = PDK__BARRIER_BACKOFF;
    b->due_ms = now_ms + pdk__retry_delay_ms(&b->retry, PDK__BARRIER_FLOOR_MS, PDK__BARRIER_CEILING_MS);
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

static void refuse(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__UNKNOWN) {
        back_off(b, ev->now_ms);
        return;
    }
    conclude(b, out, ev->error);
}

/* For a node with a name of its own, "exhausted" is the answer that it exists. */
static void on_created(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    bool exists = ev->outcome == PDK__REFUSED && ev->error == PDK_EEXHAUSTED;
    if (exists)
        ask(b, out, PDK__ACT_IDENTIFY);
    else if (ev->outcome == PDK__OK)
        conclude(b, out, 0);
    else if (ev->outcome == PDK__NO_NODE && b->parent_tries++ < PDK__BARRIER_PARENT_TRIES_MAX)
        ask(b, out, PDK__ACT_PARENTS);
    else
        refuse(b, ev, out);
}

/* The node that was there before the create: a barrier was set, or a lock's contenders are below it. */
static void on_found(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK && ev->has_children)
        conclude(b, out, PDK_EINVAL);
    else if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE || ev->outcome == PDK__NO_AUTH)
        conclude(b, out, 0);
    else
        refuse(b, ev, out);
}

static void on_made_parents(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK)
        start(b, out);
    else
        refuse(b, ev, out);
}

static void on_deleted(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE)
        conclude(b, out, 0);
    else
        refuse(b, ev, out);
}

static void on_seen(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->outcome == PDK__NO_NODE) {
        conclude_free(b, out);
    } else if (ev->outcome == PDK__NO_AUTH && !b->by_exists && !b->once) {
        b->by_exists = true;
        start(b, out);
    } else if (ev->outcome != PDK__OK) {
        refuse(b, ev, out);
    } else if (ev->has_children) {
        conclude(b, out, PDK_EINVAL);
    } else if (b->once) {
        conclude(b, out, PDK_ETIMEDOUT);
    } else if (b->overtaken) {
        start(b, out);
    } else {
        pdk__retry_reset(&b->retry);
        b->phase = PDK__BARRIER_WATCHING;
        b->due_ms = b->by_exists ? ev->now_ms + PDK__BARRIER_UNREADABLE_MS : PDK__NEVER;
    }
}

static void on_reply(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    bool asking = b->phase == PDK__BARRIER_ASKING || b->phase == PDK__BARRIER_PARENTS;
    if (ev->op != b->op || (!asking && b->phase != PDK__BARRIER_FADING))
        return;
    if (b->phase == PDK__BARRIER_FADING)
        conclude(b, out, 0);
    else if (ev->kind == PDK__EV_CREATED)
        on_created(b, ev, out);
    else if (ev->kind == PDK__EV_MADE_PARENTS)
        on_made_parents(b, ev, out);
    else if (b->task == PDK__BARRIER_SET)
        on_found(b, ev, out);
    else if (ev->kind == PDK__EV_DELETED)
        on_deleted(b, ev, out);
    else
        on_seen(b, ev, out);
}

/* A watch reports once. A report that comes before the answer to our read may be of an earlier call's watch, and the
 * barrier set again since; or it is ours, and has overtaken the answer. After the answer it is ours. */
static void on_fired(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    b->overtaken |= b->phase == PDK__BARRIER_ASKING;
    if (b->phase != PDK__BARRIER_WATCHING)
        return;
    if (ev->deleted) {
        b->watched = b->by_exists = false;
        conclude(b, out, 0);
    } else {
        start(b, out);
    }
}

/* --- time and session -------------------------------------------------------------------------------------------- */

/* Is it to look again at a time? */
static bool scheduled(const struct pdk__barrier *b)
{
    return b->phase == PDK__BARRIER_BACKOFF || b->phase == PDK__BARRIER_WATCHING;
}

static void on_timer(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (b->phase == PDK__BARRIER_FADING)
        return;
    if (ev->now_ms >= b->deadline_ms)
        conclude_unmet(b, out, PDK_ETIMEDOUT);
    else if (scheduled(b) && ev->now_ms >= b->due_ms)
        go(b, out);
}

static void on_acquire(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    b->once = ev->try_only;
    b->deadline_ms = ev->deadline_ms;
    go(b, out);
}

static void on_session_up(struct pdk__barrier *b, struct pdk__actions *out)
{
    b->connected = true;
    if (b->phase == PDK__BARRIER_FADING)
        conclude(b, out, 0);
    else if (b->phase == PDK__BARRIER_APART)
        start(b, out);
}

/* The watch may be set again by the handle, or be the next session's: the node is read again in any case. */
static void on_session_down(struct pdk__barrier *b, bool ended, struct pdk__actions *out)
{
    b->connected = false;
    b->watched = b->watched && !ended;
    if (b->phase != PDK__BARRIER_FADING)
        go(b, out);
    else if (ended)
        conclude(b, out, 0);
}

void pdk__barrier_init(struct pdk__barrier *b, uint64_t *ops, enum pdk__barrier_task task, uint64_t seed,
                       bool connected)
{
    *b = (struct pdk__barrier){.ops = ops, .task = task, .connected = connected, .deadline_ms = PDK__NEVER};
    assert(ops != NULL);
    pdk__retry_init(&b->retry, seed);
}

/* A call that waits has a watch, and any other sends a write or looks. One that fades has a watch to remove: the answer
 * that sets it is under way, or the connection is lost. */
bool pdk__barrier_allowed(const struct pdk__barrier *b)
{
    bool waits = b->task == PDK__BARRIER_WAIT && !b->once, watching = b->phase == PDK__BARRIER_WATCHING;
    bool asking = b->phase == PDK__BARRIER_ASKING, making = b->phase == PDK__BARRIER_PARENTS;
    if ((asking || making || watching || b->phase == PDK__BARRIER_BACKOFF) && !b->connected)
        return false;
    if (b->op == 0 && (asking || making || b->begun || b->watched || b->by_exists))
        return false;
    if (!waits && (b->watched || b->by_exists || watching))
        return false;
    if ((b->begun && b->task == PDK__BARRIER_WAIT) || (making && b->task != PDK__BARRIER_SET))
        return false;
    return b->watched || !(watching || (asking && waits) || b->phase == PDK__BARRIER_FADING);
}

static void dispatch(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    switch (ev->kind) {
    case PDK__EV_ACQUIRE:
        on_acquire(b, ev, out);
        break;
    case PDK__EV_RELEASE:
        if (b->phase != PDK__BARRIER_FADING)
            conclude_unmet(b, out, PDK_ECANCELED);
        break;
    case PDK__EV_TIMER:
        on_timer(b, ev, out);
        break;
    case PDK__EV_SESSION_UP:
        on_session_up(b, out);
        break;
    case PDK__EV_SESSION_DOWN:
    case PDK__EV_SESSION_EXPIRED:
        on_session_down(b, ev->kind == PDK__EV_SESSION_EXPIRED, out);
        break;
    case PDK__EV_SESSION_OVER:
    case PDK__EV_SESSION_LEFT:
        conclude(b, out, ev->error);
        break;
    case PDK__EV_LOOK_AGAIN:
        if (b->phase == PDK__BARRIER_WATCHING)
            start(b, out);
        break;
    case PDK__EV_FIRED:
        on_fired(b, ev, out);
        break;
    case PDK__EV_CREATED:
    case PDK__EV_MADE_PARENTS:
    case PDK__EV_IDENTIFIED:
    case PDK__EV_WATCHED:
    case PDK__EV_DELETED:
        on_reply(b, ev, out);
        break;
    default:
        break; /* events of the contender alone */
    }
}

void pdk__barrier_step(struct pdk__barrier *b, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(b->phase != PDK__BARRIER_OVER && pdk__contract_allows_barrier(b, ev));
    out->n = 0;
    dispatch(b, ev, out);
    assert(pdk__barrier_allowed(b));
}

int64_t pdk__barrier_wake_ms(const struct pdk__barrier *b)
{
    if (b->phase == PDK__BARRIER_FADING)
        return PDK__NEVER;
    return scheduled(b) && b->due_ms < b->deadline_ms ? b->due_ms : b->deadline_ms;
}
