#include "lib/core/contender.h"
#include "lib/assert.h"
#include "lib/core/ask.h"
#include "lib/core/contract.h"
#include "lib/core/course.h"
#include "lib/core/reply.h"
#include "paddock/error.h"

static bool granted(const struct pdk__contender *c) { return pdk__phase_grants(c->phase); }

/* --- the caller and the clock ------------------------------------------------------------------------------------ */

static void on_acquire(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->phase == PDK__IDLE && !c->requested);
    assert(c->node.exists == PDK__NODE_NO && c->record.ours == PDK__RECORD_NO);
    const struct pdk__conditions *conditions = c->wish->conditions;
    assert(conditions->min_token >= 0 && conditions->lock_delay_ms >= 0);
    assert(conditions->lock_delay_ms == 0 || conditions->delay != NULL);
    assert(c->wish->base == NULL || (c->wish->rule->under != 0 && c->wish->base_token > 0));
    c->requested = true;
    c->queue.spent = c->spent > 0;
    c->retry.failures = c->spent;
    c->queue.looked = c->wish->base != NULL; /* a try would see that one, and find the lock taken */
    if (c->queue.spent && c->session.connected)
        pdk__course_back_off(c);
    else
        pdk__course_advance(c, out);
}

static void on_release(struct pdk__contender *c, struct pdk__actions *out)
{
    c->released = granted(c);
    if (c->requested || c->phase == PDK__IDLE)
        pdk__course_give_up(c, out);
}

/* Where the children cannot be watched now, there may be a rival. */
static void on_idle(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(granted(c) && c->requested);
    c->rivals.idle = true;
    if (c->phase != PDK__HELD || c->rivals.state == PDK__RIVALS_SEEN)
        pdk__ask_push(out, PDK__ACT_CONTENDED);
    else if (c->rivals.state == PDK__RIVALS_UNKNOWN)
        pdk__ask_rivals(c, out);
}

/* Listings that are under way are judged by the new limit. */
static void on_rule(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->phase == PDK__WAITING)
        pdk__course_advance(c, out);
}

bool pdk__contender_watches(const struct pdk__contender *c)
{
    return c->phase == PDK__WAITING || c->node.watch == PDK__OWN_WATCHED || c->rivals.state == PDK__RIVALS_NONE;
}

/* Also at what could not be read before: it may be readable by now. */
static void on_look_again(struct pdk__contender *c, struct pdk__actions *out)
{
    if (!c->session.connected)
        return;
    if (c->node.watch == PDK__OWN_WATCHED || c->node.watch == PDK__OWN_KEPT) {
        c->node.by_exists = false;
        pdk__ask_own(c, out);
    }
    if (c->rivals.state == PDK__RIVALS_NONE)
        pdk__ask_rivals(c, out);
    if (c->phase == PDK__WAITING)
        pdk__ask_watch(c, out, NULL, c->queue.by_exists);
}

/* The own watch is not set, nothing prevents asking for it, and no other request will bring it. */
static bool own_missing(const struct pdk__contender *c)
{
    bool settled = granted(c) || c->phase == PDK__AWAITING_LEASE || c->phase == PDK__DELAYED ||
                   c->phase == PDK__WATCHING || c->phase == PDK__WAITING;
    return c->session.connected && c->node.watch == PDK__OWN_UNWATCHED && settled;
}

/* Servers with the fix of CVE-2024-23944 accept an exists-watch on a node that may not be read, and never fire it.
 * So list at intervals. */
static bool watch_doubtful(const struct pdk__contender *c) { return c->phase == PDK__WAITING && c->queue.by_exists; }

static void on_timer(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->requested && !granted(c) && c->now_ms >= c->wish->deadline_ms)
        pdk__course_fail(c, out, PDK_ETIMEDOUT);
    else if ((c->phase == PDK__BACKOFF || watch_doubtful(c)) && c->now_ms >= c->rest_ms)
        pdk__course_advance(c, out);
    else if (c->phase == PDK__DELAYED && c->now_ms >= c->record.delayed_ms)
        pdk__course_check(c, out);
    else if (own_missing(c))
        pdk__ask_own_if_due(c, out);
}

int64_t pdk__contender_wake_ms(const struct pdk__contender *c)
{
    int64_t wake = PDK__NEVER;
    if (c->requested && !granted(c))
        wake = c->wish->deadline_ms;
    if ((c->phase == PDK__BACKOFF || watch_doubtful(c)) && c->rest_ms < wake)
        wake = c->rest_ms;
    if (own_missing(c) && pdk__ask_own_due_ms(c) < wake)
        wake = pdk__ask_own_due_ms(c);
    if (c->phase == PDK__DELAYED && c->record.delayed_ms < wake)
        wake = c->record.delayed_ms;
    return wake;
}

/* Next in line, it is proven ahead of its grant. Of readers that wait for one writer the first alone is: waiting must
 * not cost more because others wait, too. */
bool pdk__contender_needs_lease(const struct pdk__contender *c)
{
    bool queued = c->phase == PDK__WATCHING || c->phase == PDK__WAITING;
    return granted(c) || (pdk__phase_first(c->phase) && c->phase != PDK__DELAYED) || (queued && c->queue.leads);
}

/* --- the session ------------------------------------------------------------------------------------------------- */

static void suspect(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->phase == PDK__HELD);
    c->phase = PDK__SUSPECT;
    pdk__ask_push(out, PDK__ACT_SUSPECT);
    if (c->session.connected)
        pdk__ask_own_if_due(c, out);
}

/* Some servers that speak ZooKeeper's protocol grant a new session without a word about the old one. */
static void on_session_up(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(ev->session != 0 && ev->timeout_ms >= 0);
    if (c->session.id != ev->session && c->node.exists != PDK__NODE_NO)
        pdk__course_expire(c, false, out);
    c->session.id = ev->session;
    c->session.timeout_ms = ev->timeout_ms;
    c->session.connected = true;
    if (c->phase == PDK__DISCONNECTED)
        pdk__course_advance(c, out);
    else if (c->phase == PDK__SUSPECT)
        pdk__ask_own(c, out);
}

/* A request ends. Its contender goes on with what it has to clean up. */
static void end_request(struct pdk__contender *c, int error, struct pdk__actions *out)
{
    if (c->requested && !granted(c))
        pdk__ask_push(out, PDK__ACT_FAILED)->error = error;
    c->requested = c->requested && granted(c);
}

/* A try does not wait for another connection. */
static void on_session_down(struct pdk__contender *c, struct pdk__actions *out)
{
    c->session.connected = false;
    if (pdk__phase_keeps_watch(c)) {
        pdk__own_node_keep_watch(&c->node);
        return;
    }
    pdk__own_node_forget_watch(&c->node);
    pdk__rivals_forget(&c->rivals);
    if (c->wish->try_only)
        end_request(c, PDK_EDISCONNECTED, out);
    if (c->phase == PDK__HELD)
        suspect(c, out);
    else if (c->phase != PDK__IDLE && c->phase != PDK__DONE && c->phase != PDK__SUSPECT)
        pdk__course_advance(c, out);
}

static void on_lease_ok(struct pdk__contender *c, struct pdk__actions *out)
{
    c->session.lease_ok = true;
    if (c->phase == PDK__AWAITING_LEASE)
        pdk__course_check(c, out);
    else
        pdk__course_recover(c, out);
}

static void on_lease_low(struct pdk__contender *c, struct pdk__actions *out)
{
    c->session.lease_ok = false;
    if (c->phase == PDK__HELD)
        suspect(c, out);
}

/* The loss is reported before the delete is requested: from then on it must not count as the holder. */
static void on_lease_expired(struct pdk__contender *c, struct pdk__actions *out)
{
    if (granted(c))
        pdk__course_lose(c, out);
}

static void on_session_over(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    end_request(c, ev->error, out);
    pdk__course_expire(c, ev->error == PDK_EEXPIRED, out);
}

static void on_session_left(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (granted(c))
        pdk__course_lose(c, out);
    else if (c->requested)
        pdk__course_fail(c, out, ev->error);
}

/* --- the step ---------------------------------------------------------------------------------------------------- */

static void dispatch(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    switch (ev->kind) {
    case PDK__EV_ACQUIRE:
        on_acquire(c, out);
        break;
    case PDK__EV_RELEASE:
        on_release(c, out);
        break;
    case PDK__EV_RULE:
        on_rule(c, out);
        break;
    case PDK__EV_IDLE:
        on_idle(c, out);
        break;
    case PDK__EV_USED:
        pdk__rivals_used(&c->rivals);
        break;
    case PDK__EV_LOOK_AGAIN:
        on_look_again(c, out);
        break;
    case PDK__EV_TIMER:
        on_timer(c, out);
        break;
    case PDK__EV_SESSION_UP:
        on_session_up(c, ev, out);
        break;
    case PDK__EV_SESSION_DOWN:
        on_session_down(c, out);
        break;
    case PDK__EV_LEASE_OK:
        on_lease_ok(c, out);
        break;
    case PDK__EV_LEASE_LOW:
        on_lease_low(c, out);
        break;
    case PDK__EV_LEASE_EXPIRED:
        on_lease_expired(c, out);
        break;
    case PDK__EV_SESSION_EXPIRED:
        pdk__course_expire(c, ev->error == 0, out);
        break;
    case PDK__EV_SESSION_OVER:
        on_session_over(c, ev, out);
        break;
    case PDK__EV_SESSION_LEFT:
        on_session_left(c, ev, out);
        break;
    default:
        pdk__reply(c, ev, out);
    }
}

void pdk__contender_init(struct pdk__contender *c, uint64_t *ops, const struct pdk__wish *wish, uint32_t attempt,
                         uint64_t seed, int64_t session, bool connected, bool lease_ok)
{
    *c = (struct pdk__contender){.ops = ops,
                                 .wish = wish,
                                 .attempt = attempt,
                                 .session = {.id = session, .connected = connected, .lease_ok = lease_ok},
                                 .phase = PDK__IDLE};
    assert(ops != NULL && attempt != 0 && (!connected || session != 0));
    assert(wish->rule->admits == 1 || wish->rule->by_children);
    pdk__retry_init(&c->retry, seed);
}

void pdk__contender_step(struct pdk__contender *c, const struct pdk__event *event, struct pdk__actions *actions)
{
    const struct pdk__contender before = *c;
    assert(c->spare != 0 && pdk__contract_allows(c, event));
    actions->n = 0;
    c->now_ms = event->now_ms;
    dispatch(c, event, actions);
    pdk__phase_check(c, &before);
}
