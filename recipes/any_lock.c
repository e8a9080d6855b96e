#include "recipes/any_lock.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/account.h"
#include "recipes/grant.h"
#include <stdio.h>

/* --- from begin to end ------------------------------------------------------------------------------------------- */

static pdk_lock *lock_of(struct pdk__object *o) { return PDK__MEMBER(o, struct pdk_lock, object); }

static struct pdk__object *object_of(pdk_lock *l) { return l != NULL ? &l->object : NULL; }

static const struct pdk__lock_kind *kind_of(const pdk_lock *l)
{
    return PDK__MEMBER(l->object.kind, const struct pdk__lock_kind, object);
}

/* The options of a new object, and what its recipe makes of it. */
struct making {
    const pdk_lock_options *options;
    const void *arg;
};

int pdk__lock_init(struct pdk__object *o, const void *options)
{
    const struct making *making = options;
    pdk_lock *l = lock_of(o);
    if (making->options != NULL && !pdk__lock_options_suit(making->options, kind_of(l)->kind))
        return PDK_ENOTSUP;
    pdk__events_init(&l->events, o, l);
    pdk__list_init(&l->grants);
    int rc = making->options != NULL ? pdk__lock_options_copy(&l->options, making->options) : 0;
    if (rc == 0 && (rc = kind_of(l)->init(l, making->arg)) != 0)
        kind_of(l)->clear(l);
    if (rc != 0)
        pdk__lock_options_clear(&l->options);
    return rc;
}

void pdk__lock_clear(struct pdk__object *o)
{
    pdk_lock *l = lock_of(o);
    kind_of(l)->clear(l);
    pdk__events_clear(&l->events);
    pdk__lock_options_clear(&l->options);
}

int pdk__lock_new(pdk_lock **out, pdk_client *c, const char *path, const struct pdk__lock_kind *kind,
                  const pdk_lock_options *opts, const void *arg)
{
    struct making making = {opts, arg};
    struct pdk__object *o;
    if (out == NULL)
        return PDK_EINVAL;
    int rc = pdk__object_new(&o, c, path, &kind->object, &making);
    if (rc == 0)
        *out = lock_of(o);
    return rc;
}

static void drop_all(pdk_lock *l)
{
    PDK__LIST_EACH (link, &l->grants)
        pdk__grant_drop(PDK__MEMBER(link, struct pdk_grant, link));
    kind_of(l)->drop(l);
}

/* A closed client's locks are over: what remains ends with the object. */
int pdk_lock_free(pdk_lock *l)
{
    if (l == NULL)
        return 0;
    int rc = pdk__object_begin(&l->object);
    if (rc != 0)
        return rc;
    if (!l->object.client->closed && (!pdk__list_empty(&l->grants) || kind_of(l)->in_use(l))) {
        rc = pdk__object_explain(&l->object, "free", PDK_EBUSY, "a grant or a request of it remains");
    } else {
        drop_all(l);
        pdk__events_end(&l->events);
        pdk__object_retire(&l->object);
    }
    return pdk__object_end(&l->object, "free", rc);
}

/* --- which kind -------------------------------------------------------------------------------------------------- */

/* A verb that its kind does not have. */
static int refuse(pdk_lock *l)
{
    char why[64];
    snprintf(why, sizeof why, "it is %s", kind_of(l)->name);
    return pdk__object_explain(&l->object, "use", PDK_EINVAL, why);
}

pdk_lock *pdk__lock_as(pdk_lock *l, const struct pdk__lock_kind *kind)
{
    if (l == NULL || kind_of(l) == kind || kind_of(l)->as == kind)
        return l;
    refuse(l);
    return NULL;
}

/* May the object be asked about the grant of the calling thread? */
static int may_ask(pdk_lock *l)
{
    if (l == NULL)
        return PDK_EINVAL;
    return kind_of(l)->object.asked == NULL ? refuse(l) : 0;
}

/* --- questions --------------------------------------------------------------------------------------------------- */

unsigned pdk_lock_count(pdk_lock *l)
{
    if (l == NULL)
        return 0;
    return kind_of(l)->several != NULL ? kind_of(l)->several(l)->n : 1;
}

const char *pdk_lock_path(pdk_lock *l, unsigned i)
{
    if (i >= pdk_lock_count(l))
        return NULL;
    const struct pdk__sites *several = kind_of(l)->several != NULL ? kind_of(l)->several(l) : NULL;
    return several != NULL ? several->paths[several->numbers[i]] : l->object.path;
}

int pdk__lock_begin(pdk_lock *l)
{
    int rc = may_ask(l);
    return rc == 0 ? pdk__object_begin(&l->object) : rc;
}

struct pdk__hold *pdk__lock_asked(pdk_lock *l)
{
    const struct pdk__object_kind *kind = l->object.kind;
    return kind->asked != NULL ? kind->asked(&l->object) : NULL;
}

pdk_state pdk_lock_state(pdk_lock *l)
{
    int rc = pdk__object_ask(object_of(l));
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    pdk_state state = pdk__hold_state(pdk__lock_asked(l));
    pdk__object_leave(&l->object);
    return state;
}

int64_t pdk_lock_valid_ms(pdk_lock *l)
{
    if (pdk__object_ask(object_of(l)) != 0)
        return 0;
    int64_t left_ms = pdk__hold_valid_ms(pdk__lock_asked(l));
    pdk__object_leave(&l->object);
    return left_ms;
}

int pdk_lock_token(pdk_lock *l, int64_t *token, uint64_t *turn)
{
    int rc = may_ask(l);
    if (rc != 0 || (rc = pdk__object_ask(&l->object)) != 0)
        return rc;
    rc = pdk__hold_token(pdk__lock_asked(l), token, turn);
    pdk__object_leave(&l->object);
    return rc;
}

size_t pdk_lock_node(pdk_lock *l, unsigned i, char *buf, size_t size)
{
    if (i >= pdk_lock_count(l) || may_ask(l) != 0 || pdk__object_ask(&l->object) != 0)
        return pdk__incident_copy(buf, size, "");
    size_t length = pdk__hold_node(pdk__lock_asked(l), i, buf, size);
    pdk__object_leave(&l->object);
    return length;
}

int pdk_lock_guard(pdk_lock *l, unsigned i, struct zoo_op *check)
{
    int rc = may_ask(l);
    if (rc == 0 && (check == NULL || i >= pdk_lock_count(l)))
        rc = PDK_EINVAL;
    if (rc != 0 || (rc = pdk__lock_begin(l)) != 0)
        return rc;
    return pdk__object_end(&l->object, "guard", pdk__hold_guard(pdk__lock_asked(l), i, check));
}

int pdk_lock_ahead(pdk_lock *l, int64_t *ahead)
{
    int rc = ahead != NULL ? pdk__object_ask(object_of(l)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    const struct pdk__hold *waiting = l->object.kind->waiting(&l->object);
    if (waiting != NULL)
        *ahead = pdk__hold_ahead(waiting);
    pdk__object_leave(&l->object);
    return waiting != NULL ? 0 : PDK_EPERM;
}

/* --- events and incidents ---------------------------------------------------------------------------------------- */

int pdk_lock_on_event(pdk_lock *l, pdk_event_cb cb, void *arg)
{
    int rc = pdk__object_enter(object_of(l));
    if (rc != 0)
        return rc;
    rc = pdk__events_call(&l->events, cb, arg);
    pdk__object_leave(&l->object);
    return rc;
}

int pdk_lock_fd(pdk_lock *l)
{
    int rc = pdk__object_enter(object_of(l));
    if (rc != 0)
        return rc;
    rc = pdk__events_fd(&l->events);
    pdk__object_leave(&l->object);
    return rc;
}

int pdk_lock_next_event(pdk_lock *l, pdk_event *event)
{
    int rc = event != NULL ? pdk__object_enter(object_of(l)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    bool taken = pdk__events_read(&l->events, event);
    pdk__object_leave(&l->object);
    return taken;
}

size_t pdk_lock_last_error(pdk_lock *l, char *buf, size_t size)
{
    return pdk__object_last_error(object_of(l), buf, size);
}
