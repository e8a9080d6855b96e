#include "recipes/verbs.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/session_driver.h"
#include "recipes/handover.h"
#include <stdio.h>

struct pdk__lockable *pdk__lockable_of(struct pdk_lock *l, const struct pdk__lock_kind *kind)
{
    l = pdk__lock_as(l, kind);
    return l != NULL ? PDK__MEMBER(l, struct pdk__lockable, lock) : NULL;
}

static int begin(struct pdk__lockable *k) { return pdk__object_begin(k != NULL ? &k->lock.object : NULL); }

static int end(struct pdk__lockable *k, const char *verb, int rc) { return pdk__object_end(&k->lock.object, verb, rc); }

static const char *verb_of(const struct pdk__lockable *k, const struct pdk__lock_call *call)
{
    return call->wish.try_only ? k->verbs->attempt : k->verbs->acquire;
}

/* --- lock -------------------------------------------------------------------------------------------------------- */

static int relock(struct pdk__acquisition *op)
{
    assert(op->count > 0);
    if (pdk__hold_lost(&op->hold)) /* to go on would hide that it was interrupted */
        return pdk__hold_blame(&op->hold, op->lockable->verbs->acquire, PDK_ELOST);
    return pdk__lockable_deepen(op);
}

static void cancelled(void *arg)
{
    struct pdk__acquisition *op = arg;
    struct pdk__lockable *k = op->lockable;
    pdk__lockable_drop(op);
    pdk__hold_unref(&op->hold);
    pdk__object_leave(&k->lock.object);
}

/* The caller checks its own deadline: the timers' thread may be late. With several nodes the rest is settled while
 * it waits. */
static void await_completed(struct pdk__acquisition *op, int64_t deadline_ms)
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
static bool over_already(struct pdk__acquisition *op)
{
    pdk__client_refresh(op->lockable->lock.object.client);
    return !pdk__hold_valid(&op->hold) || (op->base != NULL && !pdk__hold_valid(op->base));
}

/* The reference to a request that has ended passes to *OUT, where it is granted and wanted. */
static int contend_once(struct pdk__lockable *k, const struct pdk__lock_call *call, struct pdk__acquisition **out)
{
    struct pdk__acquisition *op;
    if (pdk__handover_on(k) && !call->wish.try_only)
        return pdk__handover_wait(k, call->wish.deadline_ms);
    int rc = pdk__lockable_request(&op, k, call);
    if (rc != 0)
        return pdk__object_blame(&k->lock.object, k->verbs->acquire, rc);
    await_completed(op, call->wish.deadline_ms);
    assert(op->hold.result == 0 || op->hold.stage == PDK__HOLD_FAILED);
    rc = op->hold.result;
    if (rc != 0) {
        pdk__hold_blame(&op->hold, verb_of(k, call), rc);
    } else if (over_already(op)) {
        rc = pdk__hold_blame(&op->hold, k->verbs->acquire, PDK_ELOST);
        pdk__lockable_drop(op);
    }
    if (rc == 0 && out != NULL)
        *out = op;
    else
        pdk__hold_unref(&op->hold);
    return rc;
}

/* A lock made under another grant is not contended for again without that one. */
static int contend(struct pdk__lockable *k, const struct pdk__lock_call *call, struct pdk__acquisition **out)
{
    int rc = contend_once(k, call, out);
    while (rc == PDK_ELOST && call->base == NULL && pdk__now_ms() < call->wish.deadline_ms)
        rc = contend_once(k, call, out);
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
static int prepare_under(struct pdk__acquisition *other, struct pdk__lock_call *call)
{
    if (pdk__hold_lost(&other->hold))
        return pdk__hold_blame(&other->hold, other->lockable->verbs->acquire, PDK_ELOST);
    if ((call->wish.rule->under & 1U << other->wish.rule->tag) == 0)
        return refuse_to_write(other->hold.object, verb_of(other->lockable, call));
    call->base = &other->hold;
    return 1;
}

/* Is there a grant in this process that a try need not ask the servers about? */
static bool in_the_way(struct pdk__lockable *k, const struct pdk__rule *rule)
{
    if (pdk__handover_on(k))
        return pdk__handover_busy(k);
    PDK__EACH_ACQUISITION (op, k)
        if (op->hold.stage == PDK__HOLD_GRANTED && (rule->passes & 1U << op->wish.rule->tag) == 0)
            return true;
    return false;
}

/* For the calling thread; 1 when the lock is to be contended for. */
static int prepare_thread(struct pdk__lockable *k, struct pdk__lock_call *call)
{
    struct pdk__acquisition *own = pdk__lockable_find_owned(k, call->wish.rule);
    struct pdk__acquisition *other = pdk__lockable_find_owned(k, NULL);
    if (own != NULL)
        return relock(own);
    if (other != NULL)
        return prepare_under(other, call);
    struct pdk__acquisition *idle = pdk__handover_idle(k, call->wish.rule);
    if (idle != NULL) {
        pdk__handover_resume(k, idle);
        return 0;
    }
    if (!call->wish.try_only || !in_the_way(k, call->wish.rule))
        return 1;
    pdk__stats_request(&k->lock.object.client->stats, k->lock.object.path);
    pdk__stats_failure(&k->lock.object.client->stats, k->lock.object.path, PDK_EBUSY);
    return PDK_EBUSY;
}

static int prepare(struct pdk__lockable *k, struct pdk__lock_call *call)
{
    int rc = pdk__client_may_wait(k->lock.object.client);
    if (rc != 0)
        return rc;
    if (call->n > call->wish.rule->admits)
        return PDK_EINVAL;
    return call->thread != 0 ? prepare_thread(k, call) : 1;
}

/* For as long as it may take to look once. */
static int64_t look_until_ms(const struct pdk_client *c)
{
    return pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
}

/* One look, over the connection that there is. */
static int look(struct pdk__lockable *k, struct pdk__lock_call *call, struct pdk__acquisition **out)
{
    const struct pdk_client *c = k->lock.object.client;
    call->wish.try_only = true;
    int rc = prepare(k, call);
    if (rc != 1)
        return rc;
    if (c->session.phase != PDK__SESSION_CONNECTED)
        return PDK_EDISCONNECTED;
    call->wish.deadline_ms = look_until_ms(c);
    rc = contend(k, call, out);
    return rc == PDK_ETIMEDOUT ? PDK_EDISCONNECTED : rc;
}

static int attempt(struct pdk__lockable *k, struct pdk__lock_call *call, struct pdk__acquisition **out)
{
    int rc = look(k, call, out);
    return rc == PDK_EDISCONNECTED ? pdk__object_blame(&k->lock.object, k->verbs->attempt, rc) : rc;
}

/* With a timeout of TIMEOUT_MS, from the call: the thread may have waited for the client's lock since. */
static int take(struct pdk__lockable *k, struct pdk__lock_call *call, int64_t timeout_ms, struct pdk__acquisition **out)
{
    if (timeout_ms == 0)
        return attempt(k, call, out);
    int rc = prepare(k, call);
    return rc == 1 ? contend(k, call, out) : rc;
}

int pdk__trylock(struct pdk__lockable *k, const struct pdk__rule *rule)
{
    struct pdk__lock_call call = {.wish.rule = rule, .thread = pdk__lockable_thread()};
    int rc = begin(k);
    return rc != 0 ? rc : end(k, k->verbs->attempt, attempt(k, &call, NULL));
}

int pdk__lock(struct pdk__lockable *k, const struct pdk__rule *rule, int64_t timeout_ms)
{
    struct pdk__lock_call call = {.wish = {.rule = rule, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms)},
                                  .thread = pdk__lockable_thread()};
    int rc = begin(k);
    return rc != 0 ? rc : end(k, k->verbs->acquire, take(k, &call, timeout_ms, NULL));
}

/* --- unlock ------------------------------------------------------------------------------------------------------ */

/* The grant of which the calling thread took a level last. */
static struct pdk__acquisition *find_last(struct pdk__lockable *k)
{
    struct pdk__acquisition *found = NULL;
    PDK__EACH_ACQUISITION (op, k) {
        bool ours = pdk__hold_owned(&op->hold) && op->count > 0 && op->thread == pdk__lockable_thread();
        if (ours && (found == NULL || pdk__lockable_level(op) > pdk__lockable_level(found)))
            found = op;
    }
    return found;
}

/* The calling thread has nothing to unlock. */
static int refuse(struct pdk__lockable *k)
{
    const char *why = "nothing is locked by it";
    PDK__EACH_ACQUISITION (op, k)
        if (op->count > 0)
            why = op->thread == 0                        ? "its grant has a handle, which releases it"
                  : op->thread == pdk__lockable_thread() ? "it is locked in the other mode"
                                                         : "another thread has locked it";
    return pdk__object_explain(&k->lock.object, k->verbs->release, PDK_EPERM, why);
}

/* The grant by RULE that the calling thread may unlock. */
static struct pdk__acquisition *find_unlockable(struct pdk__lockable *k, const struct pdk__rule *rule)
{
    return rule != NULL ? pdk__lockable_find_owned(k, rule) : find_last(k);
}

/* Release one level; 1 when that was the last, and the lock itself is to be released. */
static int unwind(struct pdk__acquisition *op)
{
    assert(pdk__hold_owned(&op->hold) && op->count > 0);
    bool lost = pdk__hold_lost(&op->hold);
    if (--op->count > 0)
        return lost ? PDK_ELOST : 0;
    if (!lost)
        return 1;
    pdk__hold_blame(&op->hold, op->lockable->verbs->release, PDK_ELOST);
    pdk__lockable_drop(op);
    return PDK_ELOST;
}

/* Release one level of OP, or say that there is none. An ended client's locks can be unlocked, too. */
static int release(struct pdk__lockable *k, struct pdk__acquisition *op)
{
    int rc = pdk__client_may_wait(k->lock.object.client);
    if (rc != PDK_EDEADLK && op != NULL)
        rc = unwind(op);
    else if (rc == 0)
        rc = refuse(k);
    return rc == 1 ? pdk__grant_give_away(op) : rc;
}

int pdk__unlock(struct pdk__lockable *k, const struct pdk__rule *rule)
{
    int rc = begin(k);
    return rc == 0 ? end(k, k->verbs->release, release(k, find_unlockable(k, rule))) : rc;
}

/* RC is of the end of the grant under which that by RULE was made. That one may be over when the thread wakes. Where it
 * is not, it takes nothing from it that another client had deleted the node of the other. */
static int judge_change(struct pdk__lockable *k, const struct pdk__rule *rule, int rc)
{
    pdk__client_refresh(k->lock.object.client);
    const struct pdk__acquisition *held = pdk__lockable_find_owned(k, rule);
    if (held == NULL || !pdk__hold_valid(&held->hold))
        return PDK_ELOST;
    return rc == PDK_ELOST ? 0 : rc;
}

int pdk__change(struct pdk__lockable *k, const struct pdk__rule *from, const struct pdk__rule *to)
{
    struct pdk__lock_call call = {.wish = {.rule = to, .deadline_ms = PDK__NEVER}, .thread = pdk__lockable_thread()};
    int rc = begin(k);
    if (rc != 0)
        return rc;
    rc = pdk__lockable_find_owned(k, from) != NULL ? take(k, &call, PDK_FOREVER, NULL) : refuse(k);
    if (rc == 0)
        rc = judge_change(k, to, release(k, pdk__lockable_find_owned(k, from)));
    return end(k, k->verbs->release, rc);
}

int pdk__unlock_async(struct pdk__lockable *k, const struct pdk__rule *rule, pdk_lock_cb cb, void *arg)
{
    int rc = begin(k);
    if (rc != 0)
        return rc;
    struct pdk__acquisition *op = find_unlockable(k, rule);
    if (op == NULL)
        rc = refuse(k);
    else if (pdk__hold_lost(&op->hold))
        rc = unwind(op);
    else
        rc = pdk__grant_give_away_later(op, cb, arg);
    return end(k, k->verbs->release, rc);
}

/* --- for no thread ----------------------------------------------------------------------------------------------- */

static int begin_grant(struct pdk__lockable *k, pdk_grant **out) { return out != NULL ? begin(k) : PDK_EINVAL; }

/* A handle is the user's once its request has succeeded, or waits. */
static int end_grant(struct pdk__lockable *k, const char *verb, pdk_grant *g, int rc, pdk_grant **out)
{
    if (rc == 0)
        pdk__grant_join(*out = g);
    else if (g != NULL)
        pdk__grant_free(g);
    return end(k, verb, rc);
}

/* A thread that is cancelled leaves no handle. It has left the client's lock by then. */
static void abandoned(void *handle) { pdk__grant_free(handle); }

int pdk__tryacquire(struct pdk__lockable *k, const struct pdk__rule *rule, unsigned n, pdk_grant **out)
{
    struct pdk__lock_call call = {.wish.rule = rule, .n = n};
    int rc = begin_grant(k, out);
    if (rc != 0)
        return rc;
    pdk_grant *g = pdk__grant_new(&k->lock);
    pthread_cleanup_push(abandoned, g);
    rc = g != NULL ? attempt(k, &call, &g->op) : PDK_ENOMEM;
    pthread_cleanup_pop(0);
    return end_grant(k, k->verbs->attempt, g, rc, out);
}

int pdk__acquire(struct pdk__lockable *k, const struct pdk__rule *rule, unsigned n, int64_t timeout_ms, pdk_grant **out)
{
    struct pdk__lock_call call = {.wish = {.rule = rule, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms)},
                                  .n = n};
    int rc = begin_grant(k, out);
    if (rc != 0)
        return rc;
    pdk_grant *g = pdk__grant_new(&k->lock);
    pthread_cleanup_push(abandoned, g);
    rc = g != NULL ? take(k, &call, timeout_ms, &g->op) : PDK_ENOMEM;
    pthread_cleanup_pop(0);
    return end_grant(k, k->verbs->acquire, g, rc, out);
}

/* Ask for a turn, or contend. */
static int request(struct pdk__lockable *k, const struct pdk__lock_call *call, struct pdk__acquisition **out)
{
    bool by_turn = pdk__handover_idle(k, call->wish.rule) != NULL ||
                   (pdk__handover_on(k) && (!call->wish.try_only || pdk__handover_busy(k)));
    return by_turn ? pdk__handover_request(out, k, call) : pdk__lockable_request(out, k, call);
}

int pdk__lock_async(struct pdk__lockable *k, struct pdk__lock_call call, int64_t timeout_ms, pdk_grant **out)
{
    call.wish.try_only = timeout_ms == 0;
    call.wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = call.cb != NULL ? begin_grant(k, out) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    struct pdk_client *c = k->lock.object.client;
    pdk_grant *g = pdk__grant_new(&k->lock);
    if (call.wish.try_only) /* one look lasts until its answer has come */
        call.wish.deadline_ms = look_until_ms(c);
    if (g == NULL)
        rc = PDK_ENOMEM;
    else if (call.wish.try_only && !c->closing && c->over == 0 && c->session.phase != PDK__SESSION_CONNECTED)
        rc = PDK_EDISCONNECTED;
    else
        rc = request(k, &call, &g->op);
    return end_grant(k, k->verbs->acquire, g, rc, out);
}
