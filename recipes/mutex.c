#include "recipes/mutex.h"
#include "lib/alloc.h"
#include "recipes/grant.h"
#include "recipes/handover.h"
#include "recipes/lock.h"

enum { LOCK_DELAY_MAX_MS = 86400000 };

/* --- options ----------------------------------------------------------------------------------------------------- */

pdk_mutex_options *pdk_mutex_options_new(void) { return pdk__alloc(sizeof(pdk_mutex_options)); }

void pdk_mutex_options_free(pdk_mutex_options *o)
{
    if (o == NULL)
        return;
    pdk__free(o->shared.data);
    pdk__free(o);
}

int pdk_mutex_options_set_data(pdk_mutex_options *o, const void *data, size_t size)
{
    return o != NULL ? pdk__node_data_set(&o->shared, data, size) : PDK_EINVAL;
}

int pdk_mutex_options_set_min_token(pdk_mutex_options *o, int64_t min_token)
{
    if (o == NULL || min_token < 0)
        return PDK_EINVAL;
    o->shared.conditions.min_token = min_token;
    return 0;
}

int pdk_mutex_options_set_confirmed(pdk_mutex_options *o, bool confirmed)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->shared.conditions.confirmed = confirmed;
    return 0;
}

int pdk_mutex_options_set_lock_delay_ms(pdk_mutex_options *o, int delay_ms)
{
    if (o == NULL || delay_ms < 0 || delay_ms > LOCK_DELAY_MAX_MS)
        return PDK_EINVAL;
    o->shared.conditions.lock_delay_ms = delay_ms;
    return 0;
}

int pdk_mutex_options_set_unlock_nowait(pdk_mutex_options *o, bool nowait)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->shared.unlock_nowait = nowait;
    return 0;
}

int pdk_mutex_options_set_local_handover(pdk_mutex_options *o, unsigned budget)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->shared.handover_budget = budget;
    return 0;
}

int pdk_mutex_options_set_idle_hold_ms(pdk_mutex_options *o, int idle_ms)
{
    return o != NULL ? pdk__node_idle_hold_set(&o->shared, idle_ms) : PDK_EINVAL;
}

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk__holds *holds_of(pdk_mutex *m) { return m != NULL ? &m->holds : NULL; }

static struct pdk__object *object_of(pdk_mutex *m) { return m != NULL ? &m->holds.object : NULL; }

static pdk_mutex *mutex_of(struct pdk__object *o) { return PDK__MEMBER(o, struct pdk_mutex, holds.object); }

static int init(struct pdk__object *o, const void *options)
{
    const pdk_mutex_options *opts = options;
    int rc = pdk__holds_init(&mutex_of(o)->holds, opts != NULL ? &opts->shared : NULL);
    pdk__handover_init(&mutex_of(o)->holds);
    return rc;
}

static void clear(struct pdk__object *o) { pdk__holds_clear(&mutex_of(o)->holds); }

static void call(struct pdk__object *o, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_state_cb)cb)(mutex_of(o), (pdk_state)change->what, change->token, arg);
}

static void call_revoked(struct pdk__object *o, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_revoke_cb)cb)(mutex_of(o), change->token, arg);
}

static const struct pdk__object_kind kind = {.making = "make a mutex for",
                                             .size = sizeof(struct pdk_mutex),
                                             .init = init,
                                             .clear = clear,
                                             .asked = pdk__holds_asked,
                                             .waiting = pdk__holds_waiting,
                                             .changes = {call, pdk__object_ref, pdk__object_unref},
                                             .revocations = {call_revoked, pdk__object_ref, pdk__object_unref}};

int pdk_mutex_new(pdk_mutex **out, pdk_client *c, const char *path, const pdk_mutex_options *opts)
{
    struct pdk__object *o;
    int rc = out != NULL ? pdk__object_new(&o, c, path, &kind, opts) : PDK_EINVAL;
    if (rc == 0)
        *out = mutex_of(o);
    return rc;
}

int pdk_mutex_free(pdk_mutex *m) { return pdk__holds_free(holds_of(m)); }

/* --- verbs ------------------------------------------------------------------------------------------------------- */

int pdk_mutex_lock(pdk_mutex *m) { return pdk__lock(holds_of(m), &pdk__rule_mutex, PDK_FOREVER); }

int pdk_mutex_trylock(pdk_mutex *m) { return pdk__trylock(holds_of(m), &pdk__rule_mutex); }

int pdk_mutex_timedlock(pdk_mutex *m, int64_t timeout_ms)
{
    return pdk__lock(holds_of(m), &pdk__rule_mutex, timeout_ms);
}

int pdk_mutex_lock_async(pdk_mutex *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op)
{
    return pdk__lock_async(holds_of(m), &pdk__rule_mutex, timeout_ms, cb, arg, op);
}

int pdk_mutex_unlock(pdk_mutex *m) { return pdk__unlock(holds_of(m), &pdk__rule_mutex); }

int pdk_mutex_unlock_async(pdk_mutex *m, pdk_lock_cb cb, void *arg)
{
    return pdk__unlock_async(holds_of(m), &pdk__rule_mutex, cb, arg);
}

pdk_state pdk_mutex_state(pdk_mutex *m) { return pdk__grant_state(object_of(m)); }

int64_t pdk_mutex_valid_ms(pdk_mutex *m) { return pdk__grant_valid_ms(object_of(m)); }

int pdk_mutex_token(pdk_mutex *m, int64_t *token) { return pdk__grant_token(object_of(m), token); }

int pdk_mutex_turn(pdk_mutex *m, uint64_t *turn) { return pdk__holds_turn(holds_of(m), turn); }

size_t pdk_mutex_node(pdk_mutex *m, char *buf, size_t size) { return pdk__grant_node(object_of(m), buf, size); }

int pdk_mutex_ahead(pdk_mutex *m, int64_t *ahead) { return pdk__grant_ahead(object_of(m), ahead); }

int pdk_mutex_guard(pdk_mutex *m, struct zoo_op *check) { return pdk__grant_guard(object_of(m), check); }

/* --- as of every object ------------------------------------------------------------------------------------------ */

const char *pdk_mutex_path(pdk_mutex *m) { return object_of(m)->path; }

pdk_client *pdk_mutex_client(pdk_mutex *m) { return object_of(m)->client; }

void pdk_mutex_set_user(pdk_mutex *m, void *user) { object_of(m)->user = user; }

void *pdk_mutex_user(pdk_mutex *m) { return object_of(m)->user; }

int pdk_mutex_on_state(pdk_mutex *m, pdk_state_cb cb, void *arg)
{
    return pdk__object_on_change(object_of(m), (pdk__change_cb *)cb, arg);
}

int pdk_mutex_on_revoke(pdk_mutex *m, pdk_revoke_cb cb, void *arg)
{
    return pdk__object_on_revoke(object_of(m), (pdk__change_cb *)cb, arg);
}

int pdk_mutex_fd(pdk_mutex *m) { return pdk__object_fd(object_of(m)); }

int pdk_mutex_next_change(pdk_mutex *m, pdk_state *state, int64_t *token)
{
    int what;
    int rc = state != NULL ? pdk__object_next_change(object_of(m), &what, token) : PDK_EINVAL;
    if (rc == 1)
        *state = (pdk_state)what;
    return rc;
}

size_t pdk_mutex_last_error(pdk_mutex *m, char *buf, size_t size)
{
    return pdk__object_last_error(object_of(m), buf, size);
}
