#include "recipes/grant.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/session_driver.h"
#include "recipes/handover.h"

/* --- the end of a grant ------------------------------------------------------------------------------------------ */

int pdk__grant_give_away(struct pdk__acquisition *op)
{
    assert(op->hold.stage == PDK__HOLD_GRANTED && op->count == 0);
    if (pdk__handover_stays(op)) {
        pdk__handover_pass(op);
        return 0;
    }
    if (op->lockable->lock.options.unlock_nowait) {
        pdk__hold_expect(&op->hold, NULL, NULL);
        pdk__lockable_drop(op);
        return 0;
    }
    pdk__hold_ref(&op->hold); /* while we wait */
    pdk__lockable_drop(op);
    int rc = pdk__hold_await_done(&op->hold);
    if (rc != 0 && op->hold.n_at_work == 0)
        pdk__hold_blame(&op->hold, op->lockable->verbs->release, rc);
    pdk__hold_unref(&op->hold);
    return rc;
}

/* A callback that has nothing to wait for. */
struct late {
    struct pdk__callback callback;
    pdk_lock_cb cb;
    void *arg;
};

static void run_late(struct pdk__callback *callback)
{
    struct late *late = PDK__MEMBER(callback, struct late, callback);
    late->cb(0, late->arg);
    pdk__free(late);
}

static int late_success(struct pdk_client *c, pdk_lock_cb cb, void *arg)
{
    assert(cb != NULL && pdk__client_locked(c));
    struct late *late = pdk__alloc(sizeof *late);
    if (late == NULL)
        return PDK_ENOMEM;
    *late = (struct late){.callback.run = run_late, .cb = cb, .arg = arg};
    pdk__list_init(&late->callback.link);
    pdk__client_queue_callback(c, &late->callback);
    return 0;
}

/* Nothing is waited for when the lock stays with this process. */
int pdk__grant_give_away_later(struct pdk__acquisition *op, pdk_lock_cb cb, void *arg)
{
    bool stays = op->count > 1 || pdk__handover_stays(op);
    int rc = stays && cb != NULL ? late_success(op->lockable->lock.object.client, cb, arg) : 0;
    if (rc != 0 || --op->count > 0)
        return rc;
    if (!stays)
        pdk__hold_expect(&op->hold, cb, arg);
    pdk__handover_give_back(op);
    return 0;
}

/* --- the handle -------------------------------------------------------------------------------------------------- */

pdk_grant *pdk__grant_new(struct pdk_lock *l)
{
    pdk_grant *g = pdk__alloc(sizeof *g);
    if (g == NULL)
        return NULL;
    g->lock = l;
    pdk__list_init(&g->link);
    return g;
}

void pdk__grant_join(pdk_grant *g)
{
    assert(pdk__client_locked(g->lock->object.client));
    pdk__list_append(&g->lock->grants, &g->link);
}

void pdk__grant_free(pdk_grant *g)
{
    pdk__list_remove(&g->link);
    pdk__free(g);
}

static struct pdk__object *object_of(const pdk_grant *g) { return g != NULL ? &g->lock->object : NULL; }

struct pdk__hold *pdk__grant_held(const pdk_grant *g)
{
    struct pdk__acquisition *op = pdk__lockable_handled(g->op);
    return op != NULL ? &op->hold : NULL;
}

/* --- it ends ----------------------------------------------------------------------------------------------------- */

static void cancel(pdk_grant *g)
{
    struct pdk__acquisition *op = g->op;
    pdk__hold_cancel(&op->hold);
    if (op->by_turn && !op->turn.finished) {
        pdk__turn_finish(&op->turn, PDK_ECANCELED, NULL);
        pdk__lockable_moved(op->lockable);
    }
}

/* Its reference to the request ends. */
static void forget(pdk_grant *g)
{
    g->op->unwanted = true;
    pdk__turn_clear(&g->op->turn);
    pdk__hold_unref(&g->op->hold);
}

/* It is no longer wanted, in whatever stage. */
static void drop(pdk_grant *g)
{
    struct pdk__acquisition *op = pdk__lockable_handled(g->op);
    if (op != NULL)
        pdk__handover_give_back(op);
    else
        cancel(g);
    forget(g);
}

void pdk__grant_drop(pdk_grant *g)
{
    drop(g);
    pdk__grant_free(g);
}

static int release(pdk_grant *g)
{
    struct pdk__acquisition *op = pdk__lockable_handled(g->op);
    pdk__hold_ref(&op->hold);
    forget(g);
    op->count--;
    int rc = pdk__grant_give_away(op);
    pdk__hold_unref(&op->hold);
    return rc;
}

static int release_later(pdk_grant *g, pdk_lock_cb cb, void *arg)
{
    int rc = pdk__grant_give_away_later(pdk__lockable_handled(g->op), cb, arg);
    if (rc != 0)
        drop(g);
    else
        forget(g);
    return rc;
}

static const char *release_verb(const pdk_grant *g) { return g->op->lockable->verbs->release; }

/* 0 when there is something to release. */
static int judge(const pdk_grant *g)
{
    const struct pdk__hold *hold = pdk__grant_held(g);
    switch (pdk__hold_state(hold)) {
    case PDK_FREE:
        return pdk__object_explain(object_of(g), release_verb(g), PDK_EPERM, "nothing was granted");
    case PDK_LOST:
        return pdk__hold_blame(hold, release_verb(g), PDK_ELOST);
    default:
        return 0;
    }
}

int pdk_grant_release(pdk_grant *g)
{
    struct pdk__object *o = object_of(g);
    int rc = pdk__object_begin(o);
    if (rc != 0)
        return rc;
    const char *verb = release_verb(g);
    if (pdk__client_may_wait(o->client) == PDK_EDEADLK)
        return pdk__object_end(o, verb, PDK_EDEADLK);
    rc = judge(g);
    pdk__list_remove(&g->link); /* its lock may end while we wait */
    if (rc == 0)
        rc = release(g);
    else
        drop(g);
    pdk__free(g);
    return pdk__object_end(o, verb, rc);
}

int pdk_grant_release_async(pdk_grant *g, pdk_lock_cb cb, void *arg)
{
    struct pdk__object *o = object_of(g);
    int rc = pdk__object_begin(o);
    if (rc != 0)
        return rc;
    const char *verb = release_verb(g);
    rc = judge(g);
    if (rc == 0)
        rc = release_later(g, cb, arg);
    else
        drop(g);
    pdk__grant_free(g);
    return pdk__object_end(o, verb, rc);
}

int pdk_grant_cancel(pdk_grant *g)
{
    int rc = pdk__object_enter(object_of(g));
    if (rc != 0)
        return rc;
    cancel(g);
    pdk__object_leave(object_of(g));
    return 0;
}

/* --- questions --------------------------------------------------------------------------------------------------- */

pdk_state pdk_grant_state(pdk_grant *g)
{
    int rc = pdk__object_ask(object_of(g));
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    pdk_state state = pdk__hold_state(pdk__grant_held(g));
    pdk__object_leave(object_of(g));
    return state;
}

int64_t pdk_grant_valid_ms(pdk_grant *g)
{
    if (pdk__object_ask(object_of(g)) != 0)
        return 0;
    int64_t left_ms = pdk__hold_valid_ms(pdk__grant_held(g));
    pdk__object_leave(object_of(g));
    return left_ms;
}

int pdk_grant_token(pdk_grant *g, int64_t *token, uint64_t *turn)
{
    int rc = pdk__object_ask(object_of(g));
    if (rc != 0)
        return rc;
    rc = pdk__hold_token(pdk__grant_held(g), token, turn);
    pdk__object_leave(object_of(g));
    return rc;
}

/* A request for a turn waits in the object, behind its node. */
static int64_t ahead_of(pdk_grant *g)
{
    const struct pdk__hold *waiting = g->op->by_turn ? pdk__lockable_waiting(object_of(g)) : &g->op->hold;
    return waiting != NULL ? pdk__hold_ahead(waiting) : 0;
}

int pdk_grant_ahead(pdk_grant *g, int64_t *ahead)
{
    int rc = ahead != NULL ? pdk__object_ask(object_of(g)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    bool waits = g->op->by_turn ? !g->op->turn.finished : g->op->hold.stage == PDK__HOLD_PENDING;
    if (waits)
        *ahead = ahead_of(g);
    pdk__object_leave(object_of(g));
    return waits ? 0 : PDK_EPERM;
}

unsigned pdk_grant_count(pdk_grant *g) { return g != NULL ? g->op->hold.sites.n : 0; }

size_t pdk_grant_node(pdk_grant *g, unsigned i, char *buf, size_t size)
{
    if (i >= pdk_grant_count(g) || pdk__object_ask(object_of(g)) != 0)
        return pdk__incident_copy(buf, size, "");
    size_t length = pdk__hold_node(pdk__grant_held(g), i, buf, size);
    pdk__object_leave(object_of(g));
    return length;
}

int pdk_grant_guard(pdk_grant *g, unsigned i, struct zoo_op *check)
{
    int rc = check != NULL && i < pdk_grant_count(g) ? pdk__object_begin(object_of(g)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    return pdk__object_end(object_of(g), "guard", pdk__hold_guard(pdk__grant_held(g), i, check));
}
