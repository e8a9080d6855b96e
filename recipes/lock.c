#include "recipes/lock.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/session.h"
#include "recipes/handover.h"
#include "recipes/late.h"
#include <stdio.h>

static int begin(struct pdk__holds *h) { return pdk__object_begin(h != NULL ? &h->lock.object : NULL); }

/* --- lock -------------------------------------------------------------------------------------------------------- */

static int relock(struct pdk__holding *op)
{
    assert(op->count > 0);
    if (op->hold.stage == PDK__HOLD_LOST)
        return pdk__hold_blame(&op->hold, "lock", PDK_ELOST); /* to go on would hide that it was interrupted */
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

/* The caller checks its own deadline: the timers' thread may be late. */
static void await_completed(struct pdk__holding *op, int64_t deadline_ms)
{
    struct pdk__hold *hold = &op->hold;
    pthread_cleanup_push(cancelled, op);
    while (hold->stage == PDK__HOLD_PENDING) {
        if (pdk__now_ms() >= deadline_ms)
            pdk__claim_tick(&hold->claim);
        else
            pdk__client_await(hold->object->client, &hold->moved, deadline_ms, true);
    }
    pthread_cleanup_pop(0);
    assert(pdk__client_locked(hold->object->client) && hold->refs > 0);
}

/* The caller may be woken long after the grant. It must not take a grant for a lock that was lost meanwhile; nor go on
 * under one that was. */
static bool over_already(struct pdk__holding *op)
{
    pdk__client_refresh(op->holds->lock.object.client);
    return op->hold.stage == PDK__HOLD_LOST || (op->base != NULL && op->base->stage == PDK__HOLD_LOST);
}

static int contend_once(struct pdk__holds *h, const struct pdk__wish *wish)
{
    struct pdk__holding *op;
    if (pdk__handover_on(h) && !wish->try_only)
        return pdk__handover_wait(h, wish->deadline_ms);
    int rc = pdk__holds_request(&op, h, wish, NULL, NULL);
    if (rc != 0)
        return pdk__object_blame(&h->lock.object, "lock", rc);
    await_completed(op, wish->deadline_ms);
    assert(op->hold.result == 0 || op->hold.stage == PDK__HOLD_FAILED);
    rc = op->hold.result;
    if (rc != 0) {
        pdk__hold_blame(&op->hold, wish->try_only ? "trylock" : "lock", rc);
    } else if (over_already(op)) {
        rc = pdk__hold_blame(&op->hold, "lock", PDK_ELOST);
        pdk__holds_drop(op);
    }
    pdk__hold_unref(&op->hold);
    return rc;
}

/* A lock made under another grant is not contended for again without that one. */
static int contend(struct pdk__holds *h, const struct pdk__wish *wish)
{
    int rc = contend_once(h, wish);
    while (rc == PDK_ELOST && wish->base == NULL && pdk__now_ms() < wish->deadline_ms)
        rc = contend_once(h, wish);
    if (rc != PDK_ELOST || wish->base != NULL)
        return rc;
    return wish->try_only ? PDK_EBUSY : PDK_ETIMEDOUT;
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
static int prepare_under(struct pdk__holding *other, struct pdk__wish *wish)
{
    if (other->hold.stage == PDK__HOLD_LOST)
        return pdk__hold_blame(&other->hold, "lock", PDK_ELOST);
    if ((wish->rule->under & 1U << other->rule->tag) == 0)
        return refuse_to_write(other->hold.object, wish->try_only ? "trylock" : "lock");
    wish->base = &other->hold;
    return 1;
}

/* Is there a grant in this process that a try need not ask the servers about? */
static bool in_the_way(struct pdk__holds *h, const struct pdk__rule *rule)
{
    if (pdk__handover_on(h))
        return pdk__handover_busy(h);
    PDK__LIST_EACH (link, &h->list) {
        const struct pdk__holding *op = PDK__MEMBER(link, struct pdk__holding, link);
        if (op->hold.stage == PDK__HOLD_GRANTED && (rule->passes & 1U << op->rule->tag) == 0)
            return true;
    }
    return false;
}

/* The checks common to all blocking verbs; 1 when the lock is to be contended for. */
static int prepare(struct pdk__holds *h, struct pdk__wish *wish)
{
    struct pdk__holding *own = pdk__holds_find_owned(h, wish->rule);
    struct pdk__holding *other = pdk__holds_find_owned(h, NULL);
    int rc = pdk__client_may_wait(h->lock.object.client);
    if (rc != 0)
        return rc;
    if (own != NULL)
        return relock(own);
    if (other != NULL)
        return prepare_under(other, wish);
    struct pdk__holding *idle = pdk__handover_idle(h, wish->rule);
    if (idle != NULL) {
        pdk__handover_resume(idle);
        return 0;
    }
    if (!wish->try_only || !in_the_way(h, wish->rule))
        return 1;
    pdk__stats_request(&h->lock.object.client->stats, h->lock.object.path);
    pdk__stats_failure(&h->lock.object.client->stats, h->lock.object.path, PDK_EBUSY);
    return PDK_EBUSY;
}

/* For as long as it may take to look once. */
static int64_t patience_ms(const struct pdk__holds *h)
{
    const struct pdk_client *c = h->lock.object.client;
    return c->session.id != 0 ? c->session.timeout_ms : c->options.session_timeout_ms;
}

int pdk__trylock(struct pdk__holds *h, const struct pdk__rule *rule)
{
    struct pdk__wish wish = {.rule = rule, .try_only = true};
    int rc = begin(h);
    if (rc != 0)
        return rc;
    rc = prepare(h, &wish);
    if (rc == 1) {
        wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), patience_ms(h));
        rc = contend(h, &wish);
        if (rc == PDK_ETIMEDOUT)
            rc = pdk__object_blame(&h->lock.object, "trylock", PDK_EDISCONNECTED);
    }
    return pdk__object_end(&h->lock.object, "trylock", rc);
}

static int timedlock(struct pdk__holds *h, const struct pdk__rule *rule, int64_t deadline_ms)
{
    struct pdk__wish wish = {.rule = rule, .deadline_ms = deadline_ms};
    int rc = prepare(h, &wish);
    return rc == 1 ? contend(h, &wish) : rc;
}

/* One look, without waiting for a missing connection. */
static int look(struct pdk__holds *h, const struct pdk__rule *rule)
{
    struct pdk_client *c = h->lock.object.client;
    struct pdk__wish wish = {.rule = rule, .try_only = true};
    int rc = prepare(h, &wish);
    if (rc == 1 && c->session.phase != PDK__SESSION_CONNECTED)
        return PDK_ETIMEDOUT;
    wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    if (rc == 1)
        rc = contend(h, &wish);
    return rc == PDK_EBUSY ? PDK_ETIMEDOUT : rc;
}

/* A deadline counts from the call: also the time in which the thread waits for the client's lock. */
int pdk__lock(struct pdk__holds *h, const struct pdk__rule *rule, int64_t timeout_ms)
{
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = begin(h);
    if (rc != 0)
        return rc;
    rc = timeout_ms == 0 ? look(h, rule) : timedlock(h, rule, deadline_ms);
    return pdk__object_end(&h->lock.object, "lock", rc);
}

/* --- unlock ------------------------------------------------------------------------------------------------------ */

/* The grant of which the calling thread took a level last. */
static struct pdk__holding *find_last(struct pdk__holds *h)
{
    struct pdk__holding *found = NULL;
    PDK__LIST_EACH (link, &h->list) {
        struct pdk__holding *op = PDK__MEMBER(link, struct pdk__holding, link);
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
    PDK__LIST_EACH (link, &h->list) {
        const struct pdk__holding *op = PDK__MEMBER(link, struct pdk__holding, link);
        if (op->count > 0)
            why = op->thread == 0 ? "its grant has a handle, which releases it" : "another thread has locked it";
    }
    return pdk__object_explain(&h->lock.object, "unlock", PDK_EPERM, why);
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
    bool lost = op->hold.stage == PDK__HOLD_LOST;
    if (--op->count > 0)
        return lost ? PDK_ELOST : 0;
    if (!lost)
        return 1;
    pdk__hold_blame(&op->hold, "unlock", PDK_ELOST);
    pdk__holds_drop(op);
    return PDK_ELOST;
}

static int give_away(struct pdk__holding *op)
{
    assert(op->hold.stage == PDK__HOLD_GRANTED && op->count == 0);
    if (pdk__handover_stays(op)) {
        pdk__handover_pass(op);
        return 0;
    }
    if (op->holds->lock.options.unlock_nowait) {
        pdk__hold_expect(&op->hold, NULL, NULL);
        pdk__holds_drop(op);
        return 0;
    }
    pdk__hold_ref(&op->hold); /* while we wait */
    pdk__holds_drop(op);
    int rc = pdk__hold_await_done(&op->hold);
    if (rc != 0 && !op->hold.at_work)
        pdk__hold_blame(&op->hold, "unlock", rc);
    pdk__hold_unref(&op->hold);
    return rc;
}

int pdk__unlock(struct pdk__holds *h, const struct pdk__rule *rule)
{
    int rc = begin(h);
    if (rc != 0)
        return rc;
    struct pdk__holding *op = find_unlockable(h, rule);
    rc = pdk__client_may_wait(h->lock.object.client);
    if (rc != PDK_EDEADLK && op != NULL)
        rc = unwind(op); /* an ended client's locks can be unlocked, too */
    else if (rc == 0)
        rc = refuse(h);
    if (rc == 1)
        rc = give_away(op);
    return pdk__object_end(&h->lock.object, "unlock", rc);
}

/* Nothing is waited for when the lock stays with this process. */
static int unwind_later(struct pdk__holding *op, pdk_lock_cb cb, void *arg)
{
    bool stays = op->count > 1 || pdk__handover_stays(op);
    int rc = stays && cb != NULL ? pdk__late_success(op->holds->lock.object.client, cb, arg) : 0;
    if (rc != 0 || --op->count > 0)
        return rc;
    if (!stays)
        pdk__hold_expect(&op->hold, cb, arg);
    pdk__handover_give_back(op);
    return 0;
}

int pdk__unlock_async(struct pdk__holds *h, const struct pdk__rule *rule, pdk_lock_cb cb, void *arg)
{
    int rc = begin(h);
    if (rc != 0)
        return rc;
    struct pdk__holding *op = find_unlockable(h, rule);
    if (op == NULL) {
        rc = refuse(h);
    } else if (op->hold.stage == PDK__HOLD_LOST) {
        rc = unwind(op);
    } else {
        rc = unwind_later(op, cb, arg);
    }
    return pdk__object_end(&h->lock.object, "unlock", rc);
}

/* --- the handle that the user has -------------------------------------------------------------------------------- */

static struct pdk__held held(const pdk_grant *g)
{
    struct pdk__holding *op = pdk__holds_handled(g->op);
    return (struct pdk__held){.hold = op != NULL ? &op->hold : NULL};
}

static uint64_t turn(const pdk_grant *g) { return pdk__holds_handled(g->op)->turn_number; }

static void cancel(pdk_grant *g)
{
    struct pdk__holding *op = g->op;
    pdk__hold_cancel(&op->hold);
    if (op->by_turn && !op->turn.settled) {
        pdk__turn_settle(&op->turn, PDK_ECANCELED, NULL);
        pdk__holds_moved(op->holds);
    }
}

/* The handle's reference to the request ends. */
static void forget(pdk_grant *g)
{
    g->op->unwanted = true;
    pdk__turn_clear(&g->op->turn);
    pdk__hold_unref(&g->op->hold);
}

static void drop(pdk_grant *g)
{
    struct pdk__holding *op = pdk__holds_handled(g->op);
    if (op != NULL)
        pdk__handover_give_back(op);
    else
        cancel(g);
    forget(g);
}

static int release(pdk_grant *g)
{
    struct pdk__holding *op = pdk__holds_handled(g->op);
    pdk__hold_ref(&op->hold);
    forget(g);
    op->count--;
    int rc = give_away(op);
    pdk__hold_unref(&op->hold);
    return rc;
}

static int release_later(pdk_grant *g, pdk_lock_cb cb, void *arg)
{
    int rc = unwind_later(pdk__holds_handled(g->op), cb, arg);
    if (rc != 0)
        drop(g);
    else
        forget(g);
    return rc;
}

static const struct pdk__grant_kind handle_kind = {.release_verb = "unlock",
                                                   .held = held,
                                                   .turn = turn,
                                                   .cancel = cancel,
                                                   .release = release,
                                                   .release_later = release_later,
                                                   .drop = drop};

/* Ask for a turn, or contend. */
static int request(struct pdk__holds *h, const struct pdk__wish *wish, pdk_lock_cb cb, void *arg,
                   struct pdk__holding **out)
{
    bool by_turn = pdk__handover_idle(h, wish->rule) != NULL ||
                   (pdk__handover_on(h) && (!wish->try_only || pdk__handover_busy(h)));
    return by_turn ? pdk__handover_request(out, h, wish, cb, arg) : pdk__holds_request(out, h, wish, cb, arg);
}

int pdk__lock_async(struct pdk__holds *h, const struct pdk__rule *rule, int64_t timeout_ms, pdk_lock_cb cb, void *arg,
                    pdk_grant **out)
{
    if (cb == NULL || out == NULL)
        return PDK_EINVAL;
    struct pdk__wish wish = {
        .rule = rule, .try_only = timeout_ms == 0, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms)};
    int rc = begin(h);
    if (rc != 0)
        return rc;
    struct pdk_client *c = h->lock.object.client;
    pdk_grant *g = pdk__grant_new(&h->lock, &handle_kind);
    /* One look lasts until its answer has come; without a connection it is over at once. */
    if (wish.try_only && c->session.phase == PDK__SESSION_CONNECTED)
        wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    rc = g != NULL ? request(h, &wish, cb, arg, &g->op) : PDK_ENOMEM;
    if (rc == 0)
        pdk__grant_join(*out = g);
    else if (g != NULL)
        pdk__grant_free(g);
    return pdk__object_end(&h->lock.object, "lock", rc);
}
