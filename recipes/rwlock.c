#include "recipes/rwlock.h"
#include "lib/alloc.h"
#include "recipes/grant.h"
#include "recipes/handover.h"
#include "recipes/lock.h"

/* --- options ----------------------------------------------------------------------------------------------------- */

pdk_rwlock_options *pdk_rwlock_options_new(void) { return pdk__alloc(sizeof(pdk_rwlock_options)); }

void pdk_rwlock_options_free(pdk_rwlock_options *o)
{
    if (o == NULL)
        return;
    pdk__free(o->shared.data);
    pdk__free(o);
}

int pdk_rwlock_options_set_data(pdk_rwlock_options *o, const void *data, size_t size)
{
    return o != NULL ? pdk__node_data_set(&o->shared, data, size) : PDK_EINVAL;
}

int pdk_rwlock_options_set_min_token(pdk_rwlock_options *o, int64_t min_token)
{
    if (o == NULL || min_token < 0)
        return PDK_EINVAL;
    o->shared.conditions.min_token = min_token;
    return 0;
}

int pdk_rwlock_options_set_unlock_nowait(pdk_rwlock_options *o, bool nowait)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->shared.unlock_nowait = nowait;
    return 0;
}

int pdk_rwlock_options_set_idle_hold_ms(pdk_rwlock_options *o, int idle_ms)
{
    return o != NULL ? pdk__node_idle_hold_set(&o->shared, idle_ms) : PDK_EINVAL;
}

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk__holds *holds_of(pdk_rwlock *l) { return l != NULL ? &l->holds : NULL; }

static struct pdk__object *object_of(pdk_rwlock *l) { return l != NULL ? &l->holds.object : NULL; }

static pdk_rwlock *rwlock_of(struct pdk__object *o) { return PDK__MEMBER(o, struct pdk_rwlock, holds.object); }

static int init(struct pdk__object *o, const void *options)
{
    const pdk_rwlock_options *opts = options;
    int rc = pdk__holds_init(&rwlock_of(o)->holds, opts != NULL ? &opts->shared : NULL);
    pdk__handover_init(&rwlock_of(o)->holds);
    return rc;
}

static void clear(struct pdk__object *o) { pdk__holds_clear(&rwlock_of(o)->holds); }

static void call(struct pdk__object *o, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_rwlock_state_cb)cb)(rwlock_of(o), (pdk_state)change->what, change->token, arg);
}

static void call_revoked(struct pdk__object *o, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_rwlock_revoke_cb)cb)(rwlock_of(o), change->token, arg);
}

static const struct pdk__object_kind kind = {.making = "make a read/write lock for",
                                             .size = sizeof(struct pdk_rwlock),
                                             .init = init,
                                             .clear = clear,
                                             .asked = pdk__holds_asked,
                                             .waiting = pdk__holds_waiting,
                                             .changes = {call, pdk__object_ref, pdk__object_unref},
                                             .revocations = {call_revoked, pdk__object_ref, pdk__object_unref}};

int pdk_rwlock_new(pdk_rwlock **out, pdk_client *c, const char *path, const pdk_rwlock_options *opts)
{
    struct pdk__object *o;
    int rc = out != NULL ? pdk__object_new(&o, c, path, &kind, opts) : PDK_EINVAL;
    if (rc == 0)
        *out = rwlock_of(o);
    return rc;
}

int pdk_rwlock_free(pdk_rwlock *l) { return pdk__holds_free(holds_of(l)); }

/* --- verbs ------------------------------------------------------------------------------------------------------- */

int pdk_rwlock_rdlock(pdk_rwlock *l) { return pdk__lock(holds_of(l), &pdk__rule_reader, PDK_FOREVER); }

int pdk_rwlock_tryrdlock(pdk_rwlock *l) { return pdk__trylock(holds_of(l), &pdk__rule_reader); }

int pdk_rwlock_timedrdlock(pdk_rwlock *l, int64_t timeout_ms)
{
    return pdk__lock(holds_of(l), &pdk__rule_reader, timeout_ms);
}

int pdk_rwlock_rdlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op)
{
    return pdk__lock_async(holds_of(l), &pdk__rule_reader, timeout_ms, cb, arg, op);
}

int pdk_rwlock_wrlock(pdk_rwlock *l) { return pdk__lock(holds_of(l), &pdk__rule_writer, PDK_FOREVER); }

int pdk_rwlock_trywrlock(pdk_rwlock *l) { return pdk__trylock(holds_of(l), &pdk__rule_writer); }

int pdk_rwlock_timedwrlock(pdk_rwlock *l, int64_t timeout_ms)
{
    return pdk__lock(holds_of(l), &pdk__rule_writer, timeout_ms);
}

int pdk_rwlock_wrlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op)
{
    return pdk__lock_async(holds_of(l), &pdk__rule_writer, timeout_ms, cb, arg, op);
}

int pdk_rwlock_rdunlock(pdk_rwlock *l) { return pdk__unlock(holds_of(l), &pdk__rule_reader); }

int pdk_rwlock_wrunlock(pdk_rwlock *l) { return pdk__unlock(holds_of(l), &pdk__rule_writer); }

int pdk_rwlock_unlock(pdk_rwlock *l) { return pdk__unlock(holds_of(l), NULL); }

int pdk_rwlock_unlock_async(pdk_rwlock *l, pdk_lock_cb cb, void *arg)
{
    return pdk__unlock_async(holds_of(l), NULL, cb, arg);
}

pdk_state pdk_rwlock_state(pdk_rwlock *l) { return pdk__grant_state(object_of(l)); }

int64_t pdk_rwlock_valid_ms(pdk_rwlock *l) { return pdk__grant_valid_ms(object_of(l)); }

int pdk_rwlock_token(pdk_rwlock *l, int64_t *token) { return pdk__grant_token(object_of(l), token); }

int pdk_rwlock_turn(pdk_rwlock *l, uint64_t *turn) { return pdk__holds_turn(holds_of(l), turn); }

size_t pdk_rwlock_node(pdk_rwlock *l, char *buf, size_t size) { return pdk__grant_node(object_of(l), buf, size); }

int pdk_rwlock_ahead(pdk_rwlock *l, int64_t *ahead) { return pdk__grant_ahead(object_of(l), ahead); }

int pdk_rwlock_guard(pdk_rwlock *l, struct zoo_op *check) { return pdk__grant_guard(object_of(l), check); }

/* --- as of every object ------------------------------------------------------------------------------------------ */

const char *pdk_rwlock_path(pdk_rwlock *l) { return object_of(l)->path; }

pdk_client *pdk_rwlock_client(pdk_rwlock *l) { return object_of(l)->client; }

void pdk_rwlock_set_user(pdk_rwlock *l, void *user) { object_of(l)->user = user; }

void *pdk_rwlock_user(pdk_rwlock *l) { return object_of(l)->user; }

int pdk_rwlock_on_state(pdk_rwlock *l, pdk_rwlock_state_cb cb, void *arg)
{
    return pdk__object_on_change(object_of(l), (pdk__change_cb *)cb, arg);
}

int pdk_rwlock_on_revoke(pdk_rwlock *l, pdk_rwlock_revoke_cb cb, void *arg)
{
    return pdk__object_on_revoke(object_of(l), (pdk__change_cb *)cb, arg);
}

int pdk_rwlock_fd(pdk_rwlock *l) { return pdk__object_fd(object_of(l)); }

int pdk_rwlock_next_change(pdk_rwlock *l, pdk_state *state, int64_t *token)
{
    int what;
    int rc = state != NULL ? pdk__object_next_change(object_of(l), &what, token) : PDK_EINVAL;
    if (rc == 1)
        *state = (pdk_state)what;
    return rc;
}

size_t pdk_rwlock_last_error(pdk_rwlock *l, char *buf, size_t size)
{
    return pdk__object_last_error(object_of(l), buf, size);
}
