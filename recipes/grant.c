#include "recipes/grant.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/session.h"
#include "recipes/hold.h"

pdk_grant *pdk__grant_new(struct pdk_lock *l, const struct pdk__grant_kind *kind)
{
    pdk_grant *g = pdk__alloc(sizeof *g);
    if (g == NULL)
        return NULL;
    g->kind = kind;
    g->lock = l;
    g->count = 1;
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

/* --- it ends ----------------------------------------------------------------------------------------------------- */

/* 0 when there is something to release. */
static int judge(const pdk_grant *g)
{
    struct pdk__held held = g->kind->held(g);
    switch (pdk__held_state(held)) {
    case PDK_FREE:
        return pdk__object_explain(object_of(g), g->kind->release_verb, PDK_EPERM, "nothing was granted");
    case PDK_LOST:
        return pdk__held_blame(held, g->kind->release_verb, PDK_ELOST);
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
    const char *verb = g->kind->release_verb;
    if (pdk__client_may_wait(o->client) == PDK_EDEADLK)
        return pdk__object_end(o, verb, PDK_EDEADLK);
    rc = judge(g);
    pdk__list_remove(&g->link); /* its lock may end while we wait */
    if (rc == 0)
        rc = g->kind->release(g);
    else
        g->kind->drop(g);
    pdk__free(g);
    return pdk__object_end(o, verb, rc);
}

int pdk_grant_release_async(pdk_grant *g, pdk_lock_cb cb, void *arg)
{
    struct pdk__object *o = object_of(g);
    int rc = pdk__object_begin(o);
    if (rc != 0)
        return rc;
    const char *verb = g->kind->release_verb;
    rc = judge(g);
    if (rc == 0)
        rc = g->kind->release_later(g, cb, arg);
    else
        g->kind->drop(g);
    pdk__grant_free(g);
    return pdk__object_end(o, verb, rc);
}

int pdk_grant_cancel(pdk_grant *g)
{
    int rc = pdk__object_enter(object_of(g));
    if (rc != 0)
        return rc;
    g->kind->cancel(g);
    pdk__object_leave(object_of(g));
    return 0;
}

/* --- questions --------------------------------------------------------------------------------------------------- */

pdk_state pdk_grant_state(pdk_grant *g)
{
    int rc = pdk__object_enter(object_of(g));
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    pdk_state state = pdk__held_state(g->kind->held(g));
    pdk__object_leave(object_of(g));
    return state;
}

int64_t pdk_grant_valid_ms(pdk_grant *g)
{
    if (pdk__object_enter(object_of(g)) != 0)
        return 0;
    int64_t left_ms = pdk__held_valid_ms(g->kind->held(g));
    pdk__object_leave(object_of(g));
    return left_ms;
}

int pdk_grant_token(pdk_grant *g, int64_t *token)
{
    int rc = token != NULL ? pdk__object_enter(object_of(g)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    rc = pdk__held_token(g->kind->held(g), token);
    pdk__object_leave(object_of(g));
    return rc;
}

int pdk_grant_turn(pdk_grant *g, uint64_t *turn)
{
    int rc = turn != NULL ? pdk__object_enter(object_of(g)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    if (pdk__held_state(g->kind->held(g)) != PDK_FREE)
        *turn = g->kind->turn(g);
    else
        rc = PDK_EPERM;
    pdk__object_leave(object_of(g));
    return rc;
}

static unsigned place(const pdk_grant *g, unsigned i) { return g->places != NULL ? g->places[i] : i; }

unsigned pdk_grant_count(pdk_grant *g) { return g != NULL ? g->count : 0; }

size_t pdk_grant_node(pdk_grant *g, unsigned i, char *buf, size_t size)
{
    if (i >= pdk_grant_count(g) || pdk__object_enter(object_of(g)) != 0)
        return pdk__incident_copy(buf, size, "");
    const struct pdk__hold *hold = pdk__held_part(g->kind->held(g), place(g, i));
    size_t length = pdk__incident_copy(buf, size, hold != NULL ? hold->node : "");
    pdk__object_leave(object_of(g));
    return length;
}

int pdk_grant_guard(pdk_grant *g, unsigned i, struct zoo_op *check)
{
    int rc = check != NULL && i < pdk_grant_count(g) ? pdk__object_begin(object_of(g)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    return pdk__object_end(object_of(g), "guard", pdk__held_guard(g->kind->held(g), place(g, i), check));
}
