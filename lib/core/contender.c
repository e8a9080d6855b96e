#include "lib/core/contender.h"
#include "lib/assert.h"
#include "lib/core/ask.h"
#include "lib/core/course.h"
#include "lib/core/judge.h"
#include "paddock/error.h"

static bool granted(const struct pdk__contender *c) { return pdk__phase_grants(c->phase); }

/* --- the caller and the clock ------------------------------------------------------------------------------------ */

static void on_acquire(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    assert(c->phase == PDK__IDLE && !c->requested);
    assert(c->node.exists == PDK__NODE_NO && c->record.ours == PDK__RECORD_NO);
    assert(c->conditions.min_token >= 0 && c->conditions.lock_delay_ms >= 0);
    assert(c->conditions.lock_delay_ms == 0 || c->conditions.delay != NULL);
    assert(c->conditions.base[0] == '\0' || (c->rule->under != 0 && c->conditions.base_token > 0));
    c->requested = true;
    c->try_only = ev->try_only;
    c->deadline_ms = ev->deadline_ms;
    c->queue.looked = c->conditions.base[0] != '\0'; /* a try would see that one, and find the lock taken */
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

static enum pdk__rivals_news judge_rivals(struct pdk__contender *c, const struct pdk__event *ev)
{
    if (ev->kind == PDK__EV_RIVALS_FIRED)
        return pdk__rivals_fired(&c->rivals, c->rule);
    bool news = pdk__rivals_listed(&c->rivals, c->rule, ev, c->node.name);
    return news ? PDK__RIVALS_CONTENDED : PDK__RIVALS_NOTHING;
}

static void on_rivals(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    enum pdk__rivals_news news = judge_rivals(c, ev);
    if (!granted(c))
        return;
    if (news == PDK__RIVALS_CONTENDED)
        pdk__ask_push(out, PDK__ACT_CONTENDED);
    else if (news == PDK__RIVALS_LOOK)
        pdk__ask_rivals(c, out);
}

/* The own watch is not set, nothing prevents asking for it, and no other request will bring it. */
static bool own_missing(const struct pdk__contender *c)
{
    bool settled = granted(c) || c->phase == PDK__AWAITING_LEASE || c->phase == PDK__DELAYED ||
                   c->phase == PDK__WAITING;
    return c->session.connected && c->node.watch == PDK__OWN_UNWATCHED && settled;
}

/* Servers with the fix of CVE-2024-23944 accept an exists-watch on a node that may not be read, and never fire it.
 * So list at intervals. */
static bool watch_doubtful(const struct pdk__contender *c) { return c->phase == PDK__WAITING && c->queue.by_exists; }

static void on_timer(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (c->requested && !granted(c) && ev->now_ms >= c->deadline_ms)
        pdk__course_fail(c, out, PDK_ETIMEDOUT);
    else if ((c->phase == PDK__BACKOFF || watch_doubtful(c)) && ev->now_ms >= c->rest_ms)
        pdk__course_advance(c, out);
    else if (c->phase == PDK__DELAYED && ev->now_ms >= c->record.delayed_ms)
        pdk__course_check(c, out);
    else if (own_missing(c))
        pdk__ask_own_if_due(c, out);
}

int64_t pdk__contender_wake_ms(const struct pdk__contender *c)
{
    int64_t wake = PDK__NEVER;
    if (c->requested && !granted(c))
        wake = c->deadline_ms;
    if ((c->phase == PDK__BACKOFF || watch_doubtful(c)) && c->rest_ms < wake)
        wake = c->rest_ms;
    if (own_missing(c) && pdk__ask_own_due_ms(c) < wake)
        wake = pdk__ask_own_due_ms(c);
    if (c->phase == PDK__DELAYED && c->record.delayed_ms < wake)
        wake = c->record.delayed_ms;
    return wake;
}

bool pdk__contender_needs_lease(const struct pdk__contender *c)
{
    bool queued = c->phase == PDK__WATCHING || c->phase == PDK__WAITING;
    return granted(c) || (pdk__phase_first(c->phase) && c->phase != PDK__DELAYED) || (queued && c->queue.next_in_line);
}

/* --- acting on a verdict ----------------------------------------------------------------------------------------- */

static void delay(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->try_only) {
        pdk__course_fail(c, out, PDK_EBUSY);
        return;
    }
    assert(c->conditions.lock_delay_ms > 0);
    c->phase = PDK__DELAYED;
    c->op = 0;
}

/* Since the listing there was time for our node to be deleted. */
static void recorded(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->requested)
        pdk__course_check(c, out);
    else
        pdk__course_advance(c, out);
}

static void wait(struct pdk__contender *c, int64_t now_ms)
{
    assert(c->queue.watching);
    c->phase = PDK__WAITING;
    if (c->queue.by_exists)
        pdk__course_timer(c, now_ms);
}

/* An exists-watch may be on a node that was gone when it was set, and would stay there. */
static void watch(struct pdk__contender *c, const struct pdk__verdict *v, struct pdk__actions *out)
{
    if (c->queue.by_exists)
        pdk__ask_unwatch(c, out, false);
    pdk__ask_watch(c, out, v->name, v->by_exists);
    pdk__ask_own_if_due(c, out);
}

/* The predecessor is deleted. */
static void move_up(struct pdk__contender *c, struct pdk__actions *out)
{
    /* on a deleted node an exists-watch stays, a get-watch does not */
    c->queue.watching = c->queue.watching && c->queue.by_exists;
    pdk__ask_unwatch(c, out, true);
    if (c->queue.next_in_line && !c->queue.replaceable)
        pdk__course_check(c, out);
    else
        pdk__course_advance(c, out);
}

/* A node that was created on this connection, right before the listing, is there. */
static void first(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->phase == PDK__CREATING)
        pdk__course_grant(c, out);
    else
        pdk__course_check(c, out);
}

static void act_in_queue(struct pdk__contender *c, const struct pdk__verdict *v, const struct pdk__event *ev,
                         struct pdk__actions *out)
{
    switch (v->move) {
    case PDK__MOVE_FIRST:
        first(c, out);
        break;
    case PDK__MOVE_WATCH:
        watch(c, v, out);
        break;
    case PDK__MOVE_WAIT:
        wait(c, ev->now_ms);
        break;
    case PDK__MOVE_MOVE_UP:
        move_up(c, out);
        break;
    case PDK__MOVE_CHECK:
        pdk__course_check(c, out);
        break;
    case PDK__MOVE_DELAY:
        delay(c, out);
        break;
    case PDK__MOVE_RECORD:
        pdk__ask_record(c, out, ev->version);
        break;
    case PDK__MOVE_RECORDED:
        recorded(c, out);
        break;
    case PDK__MOVE_CLEAR:
        pdk__ask_clear(c, out);
        break;
    default:
        assert(!"a move of no known kind");
    }
}

static void suspect(struct pdk__contender *c, struct pdk__actions *out)
{
    assert(c->phase == PDK__HELD);
    c->phase = PDK__SUSPECT;
    pdk__ask_push(out, PDK__ACT_SUSPECT);
    if (c->session.connected)
        pdk__ask_own_if_due(c, out);
}

/* Held again: there is time, and our node exists and is watched. */
static void recover(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->phase != PDK__SUSPECT || !c->session.connected || !c->session.lease_ok || c->node.watch != PDK__OWN_WATCHED)
        return;
    c->phase = PDK__HELD;
    pdk__ask_push(out, PDK__ACT_HELD);
}

static void act_on_session(struct pdk__contender *c, const struct pdk__verdict *v, const struct pdk__event *ev,
                           struct pdk__actions *out)
{
    switch (v->move) {
    case PDK__MOVE_SUSPECT:
        suspect(c, out);
        break;
    case PDK__MOVE_RECOVER:
        recover(c, out);
        break;
    case PDK__MOVE_LOSE: /* reported before the delete is requested: from then on it must not count as the holder */
        pdk__course_lose(c, out);
        break;
    case PDK__MOVE_REPLACE:
        pdk__course_expire(c, false, out);
        if (pdk__judge_session(c, ev).move == PDK__MOVE_ADVANCE)
            pdk__course_advance(c, out);
        break;
    case PDK__MOVE_EXPIRE:
        pdk__course_expire(c, v->confirmed, out);
        break;
    case PDK__MOVE_END:
        if (c->requested && !granted(c))
            pdk__ask_push(out, PDK__ACT_FAILED)->error = v->error;
        c->requested = c->requested && granted(c);
        pdk__course_expire(c, v->error == PDK_EEXPIRED, out);
        break;
    case PDK__MOVE_LEAVE:
        if (c->requested)
            pdk__course_fail(c, out, v->error);
        break;
    default:
        act_in_queue(c, v, ev, out);
    }
}

/* The revocation word stays in the node, and is read again at every change: only the first time counts. A contender
 * that does not hold yet reports it right after the grant. */
static void on_revocation(struct pdk__contender *c, bool revoked, struct pdk__actions *out)
{
    if (revoked && !c->node.revoked && granted(c))
        pdk__ask_push(out, PDK__ACT_REVOKED);
    c->node.revoked = c->node.revoked || revoked;
}

static void seen(struct pdk__contender *c, bool revoked, struct pdk__actions *out)
{
    assert(c->node.verified && c->node.watch == PDK__OWN_WATCHED);
    recover(c, out);
    on_revocation(c, revoked, out);
    if (c->phase == PDK__VERIFYING_NODE)
        pdk__course_grant(c, out);
}

static void unseen(struct pdk__contender *c, int error, int64_t now_ms, struct pdk__actions *out)
{
    if (c->phase == PDK__VERIFYING_NODE && error != 0)
        pdk__course_fail(c, out, error);
    else if (c->phase == PDK__VERIFYING_NODE)
        pdk__course_rest(c, now_ms);
    else
        c->node.again_ms = pdk__course_again_ms(c, now_ms);
}

static void act_on_node(struct pdk__contender *c, const struct pdk__verdict *v, const struct pdk__event *ev,
                        struct pdk__actions *out)
{
    switch (v->move) {
    case PDK__MOVE_CREATED:
        if (!c->requested)
            pdk__course_advance(c, out);
        break;
    case PDK__MOVE_UNCREATED:
        pdk__course_uncreated(c, ev, v->error, out);
        break;
    case PDK__MOVE_CANDIDATE:
        pdk__ask(c, out, PDK__ACT_IDENTIFY, PDK__IDENTIFYING)->name = c->node.name;
        break;
    case PDK__MOVE_ANOTHER:
        pdk__ask(c, out, PDK__ACT_LIST, PDK__RECOVERING);
        break;
    case PDK__MOVE_ABSENT:
        pdk__course_absent(c, ev, out);
        break;
    case PDK__MOVE_SEEN:
        seen(c, v->revoked, out);
        break;
    case PDK__MOVE_UNSEEN:
        unseen(c, v->error, ev->now_ms, out);
        break;
    case PDK__MOVE_LOOK:
        pdk__ask_own(c, out);
        break;
    case PDK__MOVE_NODE_DELETED:
        pdk__course_node_deleted(c, out);
        break;
    case PDK__MOVE_CONFIRMED:
        pdk__course_grant(c, out);
        break;
    case PDK__MOVE_DELETED:
        pdk__course_deleted(c, v->error, out);
        break;
    default:
        act_on_session(c, v, ev, out);
    }
}

static void act(struct pdk__contender *c, const struct pdk__verdict *v, const struct pdk__event *ev,
                struct pdk__actions *out)
{
    switch (v->move) {
    case PDK__MOVE_NONE:
        break;
    case PDK__MOVE_ADVANCE:
        pdk__course_advance(c, out);
        break;
    case PDK__MOVE_RETRY:
        pdk__course_rest(c, ev->now_ms);
        break;
    case PDK__MOVE_FAIL:
        pdk__course_fail(c, out, v->error);
        break;
    case PDK__MOVE_SEARCH: /* if the caller has given up, the removal still needs the node */
        if (c->requested)
            pdk__course_fail(c, out, v->error);
        pdk__course_rest(c, ev->now_ms);
        break;
    default:
        act_on_node(c, v, ev, out);
    }
}

/* --- the step ---------------------------------------------------------------------------------------------------- */

/* A reply or watch event of an earlier request. */
static bool stale(const struct pdk__contender *c, const struct pdk__event *ev)
{
    if (ev->kind < PDK__EV_CREATED)
        return false;
    if (ev->op == 0)
        return true;
    if (ev->kind == PDK__EV_OWN || ev->kind == PDK__EV_OWN_FIRED)
        return ev->op != c->node.watch_op;
    if (ev->kind == PDK__EV_RIVALS || ev->kind == PDK__EV_RIVALS_FIRED)
        return ev->op != c->rivals.op;
    return ev->op != (ev->kind == PDK__EV_CLEARED ? c->record.clear_op : c->op);
}

/* Listings that are under way are judged by the new limit. */
static void on_rule(struct pdk__contender *c, struct pdk__actions *out)
{
    if (c->phase == PDK__WAITING)
        pdk__course_advance(c, out);
}

static void dispatch(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out)
{
    if (ev->kind == PDK__EV_ACQUIRE) {
        on_acquire(c, ev, out);
    } else if (ev->kind == PDK__EV_RELEASE) {
        on_release(c, out);
    } else if (ev->kind == PDK__EV_RULE) {
        on_rule(c, out);
    } else if (ev->kind == PDK__EV_IDLE) {
        on_idle(c, out);
    } else if (ev->kind == PDK__EV_USED) {
        pdk__rivals_used(&c->rivals);
    } else if (ev->kind == PDK__EV_TIMER) {
        on_timer(c, ev, out);
    } else if (stale(c, ev)) {
        return;
    } else if (ev->kind == PDK__EV_RIVALS || ev->kind == PDK__EV_RIVALS_FIRED) {
        on_rivals(c, ev, out);
    } else {
        struct pdk__verdict verdict = pdk__judge(c, ev);
        act(c, &verdict, ev, out);
    }
}

void pdk__contender_init(struct pdk__contender *c, uint64_t *ops, const struct pdk__rule *rule, uint32_t attempt,
                         uint64_t seed, int64_t session, bool connected, bool lease_ok)
{
    *c = (struct pdk__contender){.ops = ops,
                                 .rule = rule,
                                 .attempt = attempt,
                                 .session = {.id = session, .connected = connected, .lease_ok = lease_ok},
                                 .phase = PDK__IDLE};
    assert(ops != NULL && attempt != 0);
    assert(rule->admits == 1 || rule->by_children);
    pdk__retry_init(&c->retry, seed);
}

void pdk__contender_step(struct pdk__contender *c, const struct pdk__event *event, struct pdk__actions *actions)
{
    const struct pdk__contender before = *c;
    assert(c->spare != 0);
    actions->n = 0;
    c->now_ms = event->now_ms;
    dispatch(c, event, actions);
    pdk__phase_check(c, &before);
}
