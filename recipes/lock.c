#include "recipes/lock.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/session.h"
#include "recipes/handover.h"
#include <stdio.h>

struct pdk__holds *pdk__holds_of(struct pdk_lock *l, const struct pdk__lock_kind *kind)
{
    l = pdk__lock_as(l, kind);
    return l != NULL ? PDK__MEMBER(l, struct pdk__holds, lock) : NULL;
}

static int begin(struct pdk__holds *h) { return pdk__object_begin(h != NULL ? &h->lock.object : NULL); }

static int end(struct pdk__holds *h, const char *verb, int rc) { return pdk__object_end(&h->lock.object, verb, rc); }

static const char *verb_of(const struct pdk__holds *h, const struct pdk__lock_call *call)
{
    return call->wish.try_only ? h->verbs->attempt : h->verbs->acquire;
}

/* --- lock -------------------------------------------------------------------------------------------------------- */

static int relock(struct pdk__holding *op)
{
    assert(op->count > 0);
    if (pdk__hold_lost(&op->hold)) /* to go on would hide that it was interrupted */
        return pdk__hold_blame(&op->hold, op->holds->verbs->acquire, PDK_ELOST);
    return pdk__holds_deepen(op);
}

static void cancelled(void *arg)
{
    struct pdk__holding *op = arg;
    struct pdk__holds *h = op->holds;
    pdk__holds_drop(op);
    pdk__hold_unref(&op->hold);
    pdk__object_leave(&h->lock.object);
}

/* The caller checks its own deadline: the timers' thread may be late. With several nodes the rest is settled while
 * it waits. */
static void await_completed(struct pdk__holding *op, int64_t deadline_ms)
{
    struct pdk__hold *hold = &op->hold;
    pthread_cleanup_push(cancelled, op);
    while (hold->stage == PDK__HOLD_PENDING) {
        bool late = pdk__now_ms() >= deadline_ms;
        if (late)
            pdk__hold_tick(hold);
        if (hold->stage == PDK__HOLD_PENDING)
            pdk__client_await(hold->object->client, &hold->moved,
                              late ? pdk__deadline_ms(pdk__now_ms(), 1) : deadline_ms, true);
    }
    pthread_cleanup_pop(0);
    assert(pdk__client_locked(hold->object->client) && hold->refs > 0);
}

/* The caller may be woken long after the grant. It must not take one for a lock that was lost meanwhile, or that ended
 * with its closed client; nor go on under one that was. */
static bool over_already(struct pdk__holding *op)
{
    pdk__client_refresh(op->holds->lock.object.client);
    return !pdk__hold_valid(&op->hold) || (op->base != NULL && !pdk__hold_valid(op->base));
}

/* The reference to a request that has ended passes to *OUT, where it is granted and wanted. */
static int contend_once(struct pdk__holds *h, const struct pdk__lock_call *call, struct pdk__holding **out)
{
    struct pdk__holding *op;
    if (pdk__handover_on(h) && !call->wish.try_only)
        return pdk__handover_wait(h, call->wish.deadline_ms);
    int rc = pdk__holds_request(&op, h, call);
    if (rc != 0)
        return pdk__object_blame(&h->lock.object, h->verbs->acquire, rc);
    await_completed(op, call->wish.deadline_ms);
    assert(op->hold.result == 0 || op->hold.stage == PDK__HOLD_FAILED);
    rc = op->hold.result;
    if (rc != 0) {
        pdk__hold_blame(&op->hold, verb_of(h, call), rc);
    } else if (over_already(op)) {
        rc = pdk__hold_blame(&op->hold, h->verbs->acquire, PDK_ELOST);
        pdk__holds_drop(op);
    }
    if (rc == 0 && out != NULL)
        *out = op;
    else
        pdk__hold_unref(&op->hold);
    return rc;
}

/* A lock made under another grant is not contended for again without that one. */
static int contend(struct pdk__holds *h, const struct pdk__lock_call *call, struct pdk__holding **out)
{
    int rc = contend_once(h, call, out);
    while (rc == PDK_ELOST && call->base == NULL && pdk__now_ms() < call->wish.deadline_ms)
        rc = contend_once(h, call, out);
    if (rc != PDK_ELOST || call->base != NULL)
        return rc;
    return call->wish.try_only ? PDK_EBUSY : PDK_ETIMEDOUT;
}

/* It would wait for itself. The text of the code is about a callback thread. */
static int refuse_to_write(struct pdk__object *o, const char *verb)
{
    char text[PDK__INCIDENT_MAX];
    snprintf(text, sizeof text, "%s %s: the calling thread holds it for reading", verb, o->path);
    pdk__incident_note(o->number, text);
    return PDK_EDEADLK;
}

/* The thread holds by another rule. 1 when the lock can be had under that grant. */
static int prepare_under(struct pdk__holding *other, struct pdk__lock_call *call)
{
    if (pdk__hold_lost(&other->hold))
        return pdk__hold_blame(&other->hold, other->holds->verbs->acquire, PDK_ELOST);
    if ((call->wish.rule->under & 1U << other->wish.rule->tag) == 0)
        return refuse_to_write(other->hold.object, verb_of(other->holds, call));
    call->base = &other->hold;
    return 1;
}

/* Is there a grant in this process that a try need not ask the servers about? */
static bool in_the_way(struct pdk__holds *h, const struct pdk__rule *rule)
{
    if (pdk__handover_on(h))
        return pdk__handover_busy(h);
    PDK__EACH_HOLDING (op, h)
        if (op->hold.stage == PDK__HOLD_GRANTED && (rule->passes & 1U << op->wish.rule->tag) == 0)
            return true;
    return false;
}

/* For the calling thread; 1 when the lock is to be contended for. */
static int prepare_thread(struct pdk__holds *h, struct pdk__lock_call *call)
{
    struct pdk__holding *own = pdk__holds_find_owned(h, call->wish.rule);
    struct pdk__holding *other = pdk__holds_find_owned(h, NULL);
    if (own != NULL)
        return relock(own);
    if (other != NULL)
        return prepare_under(other, call);
    struct pdk__holding *idle = pdk__handover_idle(h, call->wish.rule);
    if (idle != NULL) {
        pdk__handover_resume(h, idle);
        return 0;
    }
    if (!call->wish.try_only || !in_the_way(h, call->wish.rule))
        return 1;
    pdk__stats_request(&h->lock.object.client->stats, h->lock.object.path);
    pdk__stats_failure(&h->lock.object.client->stats, h->lock.object.path, PDK_EBUSY);
    return PDK_EBUSY;
}

static int prepare(struct pdk__holds *h, struct pdk__lock_call *call)
{
    int rc = pdk__client_may_wait(h->lock.object.client);
    if (rc != 0)
        return rc;
    if (call->n > call->wish.rule->admits)
        return PDK_EINVAL;
    return call->thread != 0 ? prepare_thread(h, call) : 1;
}

/* For as long as it may take to look once. */
static int64_t look_until_ms(const struct pdk_client *c)
{
    return pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
}

/* One look, over the connection that there is. */
static int look(struct pdk__holds *h, struct pdk__lock_call *call, struct pdk__holding **out)
{
    const struct pdk_client *c = h->lock.object.client;
    call->wish.try_only = true;
    int rc = prepare(h, call);
    if (rc != 1)
        return rc;
    if (c->session.phase != PDK__SESSION_CONNECTED)
        return PDK_EDISCONNECTED;
    call->wish.deadline_ms = look_until_ms(c);
    rc = contend(h, call, out);
    return rc == PDK_ETIMEDOUT ? PDK_EDISCONNECTED : rc;
}

static int attempt(struct pdk__holds *h, struct pdk__lock_call *call, struct pdk__holding **out)
{
    int rc = look(h, call, out);
    return rc == PDK_EDISCONNECTED ? pdk__object_blame(&h->lock.object, h->verbs->attempt, rc) : rc;
}

/* With a timeout of TIMEOUT_MS, from the call: the thread may have waited for the client's lock since. */
static int take(struct pdk__holds *h, struct pdk__lock_call *call, int64_t timeout_ms, struct pdk__holding **out)
{
    if (timeout_ms == 0)
        return attempt(h, call, out);
    int rc = prepare(h, call);
    return rc == 1 ? contend(h, call, out) : rc;
}

int pdk__trylock(struct pdk__holds *h, const struct pdk__rule *rule)
{
    struct pdk__lock_call call = {.wish.rule = rule, .thread = pdk__holds_thread()};
    int rc = begin(h);
    return rc != 0 ? rc : end(h, h->verbs->attempt, attempt(h, &call, NULL));
}

int pdk__lock(struct pdk__holds *h, const struct pdk__rule *rule, int64_t timeout_ms)
{
    struct pdk__lock_call call = {.wish = {.rule = rule, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms)},
                                  .thread = pdk__holds_thread()};
    int rc = begin(h);
    return rc != 0 ? rc : end(h, h->verbs->acquire, take(h, &call, timeout_ms, NULL));
}

/* --- unlock ------------------------------------------------------------------------------------------------------ */

/* The grant of which the calling thread took a level last. */
static struct pdk__holding *find_last(struct pdk__holds *h)
{
    struct pdk__holding *found = NULL;
    PDK__EACH_HOLDING (op, h) {
        bool ours = pdk__hold_owned(&op->hold) && op->count > 0 && op->thread == pdk__holds_thread();
        if (ours && (found == NULL || pdk__holds_level(op) > pdk__holds_level(found)))
            found = op;
    }
    return found;
}

/* The calling thread has nothing to unlock. */
static int refuse(struct pdk__holds *h)
{
    const char *why = "nothing is locked by it";
    PDK__EACH_HOLDING (op, h)
        if (op->count > 0)
            why = op->thread == 0                     ? "its grant has a handle, which releases it"
                  : op->thread == pdk__holds_thread() ? "it is locked in the other mode"
                                                      : "another thread has locked it";
    return pdk__object_explain(&h->lock.object, h->verbs->release, PDK_EPERM, why);
}

/* The grant by RULE that the calling thread may unlock. */
static struct pdk__holding *find_unlockable(struct pdk__holds *h, const struct pdk__rule *rule)
{
    return rule != NULL ? pdk__holds_find_owned(h, rule) : find_last(h);
}

/* Release one level; 1 when that was the last, and the lock itself is to be released. */
static int unwind(struct pdk__holding *op)
{
    assert(pdk__hold_owned(&op->hold) && op->count > 0);
    bool lost = pdk__hold_lost(&op->hold);
    if (--op->count > 0)
        return lost ? PDK_ELOST : 0;
    if (!lost)
        return 1;
    pdk__hold_blame(&op->hold, op->holds->verbs->release, PDK_ELOST);
    pdk__holds_drop(op);
    return PDK_ELOST;
}

/* Release one level of OP, or say that there is none. An ended client's locks can be unlocked, too. */
static int release(struct pdk__holds *h, struct pdk__holding *op)
{
    int rc = pdk__client_may_wait(h->lock.object.client);
    if (rc != PDK_EDEADLK && op != NULL)
        rc = unwind(op);
    else if (rc == 0)
        rc = refuse(h);
    return rc == 1 ? pdk__grant_give_away(op) : rc;
}

int pdk__unlock(struct pdk__holds *h, const struct pdk__rule *rule)
{
    int rc = begin(h);
    return rc == 0 ? end(h, h->verbs->release, release(h, find_unlockable(h, rule))) : rc;
}

/* RC is of the end of the grant under which that by RULE was made. That one may be over when the thread wakes. Where it
 * is not, it takes nothing from it that another client had deleted the node of the other. */
static int judge_change(struct pdk__holds *h, const struct pdk__rule *rule, int rc)
{
    pdk__client_refresh(h->lock.object.client);
    const struct pdk__holding *held = pdk__holds_find_owned(h, rule);
    if (held == NULL || !pdk__hold_valid(&held->hold))
        return PDK_ELOST;
    return rc == PDK_ELOST ? 0 : rc;
}

int pdk__change(struct pdk__holds *h, const struct pdk__rule *from, const struct pdk__rule *to)
{
    struct pdk__lock_call call = {.wish = {.rule = to, .deadline_ms = PDK__NEVER}, .thread = pdk__holds_thread()};
    int rc = begin(h);
    if (rc != 0)
        return rc;
    rc = pdk__holds_find_owned(h, from) != NULL ? take(h, &call, PDK_FOREVER, NULL) : refuse(h);
    if (rc == 0)
        rc = judge_change(h, to, release(h, pdk__holds_find_owned(h, from)));
    return end(h, h->verbs->release, rc);
}

int pdk__unlock_async(struct pdk__holds *h, const struct pdk__rule *rule, pdk_lock_cb cb, void *arg)
{
    int rc = begin(h);
    if (rc != 0)
        return rc;
    struct pdk__holding *op = find_unlockable(h, rule);
    if (op == NULL)
        rc = refuse(h);
    else if (pdk__hold_lost(&op->hold))
        rc = unwind(op);
    else
        rc = pdk__grant_give_away_later(op, cb, arg);
    return end(h, h->verbs->release, rc);
}

/* --- for no thread ----------------------------------------------------------------------------------------------- */

static int begin_grant(struct pdk__holds *h, pdk_grant **out) { return out != NULL ? begin(h) : PDK_EINVAL; }

/* A handle is the user's once its request has succeeded, or waits. */
static int end_grant(struct pdk__holds *h, const char *verb, pdk_grant *g, int rc, pdk_grant **out)
{
    if (rc == 0)
        pdk__grant_join(*out = g);
    else if (g != NULL)
        pdk__grant_free(g);
    return end(h, verb, rc);
}

/* A thread that is cancelled leaves no handle. It has left the client's lock by then. */
static void abandoned(void *handle) { pdk__grant_free(handle); }

int pdk__tryacquire(struct pdk__holds *h, const struct pdk__rule *rule, unsigned n, pdk_grant **out)
{
    struct pdk__lock_call call = {.wish.rule = rule, .n = n};
    int rc = begin_grant(h, out);
    if (rc != 0)
        return rc;
    pdk_grant *g = pdk__grant_new(&h->lock);
    pthread_cleanup_push(abandoned, g);
    rc = g != NULL ? attempt(h, &call, &g->op) : PDK_ENOMEM;
    pthread_cleanup_pop(0);
    return end_grant(h, h->verbs->attempt, g, rc, out);
}

int pdk__acquire(struct pdk__holds *h, const struct pdk__rule *rule, unsigned n, int64_t timeout_ms, pdk_grant **out)
{
    struct pdk__lock_call call = {.wish = {.rule = rule, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms)},
                                  .n = n};
    int rc = begin_grant(h, out);
    if (rc != 0)
        return rc;
    pdk_grant *g = pdk__grant_new(&h->lock);
    pthread_cleanup_push(abandoned, g);
    rc = g != NULL ? take(h, &call, timeout_ms, &g->op) : PDK_ENOMEM;
    pthread_cleanup_pop(0);
    return end_grant(h, h->verbs->acquire, g, rc, out);
}

/* Ask for a turn, or contend. */
static int request(struct pdk__holds *h, const struct pdk__lock_call *call, struct pdk__holding **out)
{
    bool by_turn = pdk__handover_idle(h, call->wish.rule) != NULL ||
                   (pdk__handover_on(h) && (!call->wish.try_only || pdk__handover_busy(h)));
    return by_turn ? pdk__handover_request(out, h, call) : pdk__holds_request(out, h, call);
}

int pdk__lock_async(struct pdk__holds *h, struct pdk__lock_call call, int64_t timeout_ms, pdk_grant **out)
{
    call.wish.try_only = timeout_ms == 0;
    call.wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = call.cb != NULL ? begin_grant(h, out) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    struct pdk_client *c = h->lock.object.client;
    pdk_grant *g = pdk__grant_new(&h->lock);
    if (call.wish.try_only) /* one look lasts until its answer has come */
        call.wish.deadline_ms = look_until_ms(c);
    if (g == NULL)
        rc = PDK_ENOMEM;
    else if (call.wish.try_only && !c->closing && c->over == 0 && c->session.phase != PDK__SESSION_CONNECTED)
        rc = PDK_EDISCONNECTED;
    else
        rc = request(h, &call, &g->op);
    return end_grant(h, h->verbs->acquire, g, rc, out);
}
