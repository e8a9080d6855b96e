#include "cli/recipe.h"

#include <paddock/rwlock.h>
#include <string.h>

/* --- the mutex --------------------------------------------------------------------------------------------------- */

static int mutex_make(void **object, pdk_client *c, const struct pdk__cli_options *o)
{
    pdk_mutex *made = NULL;
    pdk_mutex_options *m = pdk_mutex_options_new();
    int rc = m != NULL ? 0 : PDK_ENOMEM;
    if (rc == 0)
        rc = pdk_mutex_options_set_confirmed(m, o->confirmed);
    if (rc == 0)
        rc = pdk_mutex_options_set_lock_delay_ms(m, (int)o->lock_delay_ms);
    if (rc == 0)
        rc = pdk_mutex_options_set_min_token(m, o->min_token);
    if (rc == 0 && o->data != NULL)
        rc = pdk_mutex_options_set_data(m, o->data, strlen(o->data));
    if (rc == 0)
        rc = pdk_mutex_new(&made, c, o->path, m);
    pdk_mutex_options_free(m);
    *object = made;
    return rc;
}

static void mutex_state(pdk_mutex *m, pdk_state state, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)m;
    (void)token; /* one grant in an acquisition's life */
    watcher->state(watcher->arg, state);
}

static void mutex_revoked(pdk_mutex *m, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)m;
    (void)token;
    watcher->revoked(watcher->arg);
}

static void mutex_watch(void *object, struct pdk__cli_watcher *watcher)
{
    pdk_mutex_on_state(object, mutex_state, watcher);
    pdk_mutex_on_revoke(object, mutex_revoked, watcher);
}

static int mutex_request(void *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op)
{
    return pdk_mutex_lock_async(object, timeout_ms, cb, arg, op);
}

static int mutex_release(void *object, pdk_lock_cb cb, void *arg) { return pdk_mutex_unlock_async(object, cb, arg); }
static int mutex_token(void *object, int64_t *token) { return pdk_mutex_token(object, token); }
static size_t mutex_node(void *object, char *buf, size_t size) { return pdk_mutex_node(object, buf, size); }
static int64_t mutex_valid_ms(void *object) { return pdk_mutex_valid_ms(object); }
static size_t mutex_error(void *object, char *buf, size_t size) { return pdk_mutex_last_error(object, buf, size); }
static int mutex_free(void *object) { return pdk_mutex_free(object); }

/* --- the read/write lock ----------------------------------------------------------------------------------------- */

static int rwlock_make(void **object, pdk_client *c, const struct pdk__cli_options *o)
{
    pdk_rwlock *made = NULL;
    pdk_rwlock_options *l = pdk_rwlock_options_new();
    int rc = l != NULL ? 0 : PDK_ENOMEM;
    if (rc == 0)
        rc = pdk_rwlock_options_set_min_token(l, o->min_token);
    if (rc == 0 && o->data != NULL)
        rc = pdk_rwlock_options_set_data(l, o->data, strlen(o->data));
    if (rc == 0)
        rc = pdk_rwlock_new(&made, c, o->path, l);
    pdk_rwlock_options_free(l);
    *object = made;
    return rc;
}

static void rwlock_state(pdk_rwlock *l, pdk_state state, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)l;
    (void)token;
    watcher->state(watcher->arg, state);
}

static void rwlock_revoked(pdk_rwlock *l, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)l;
    (void)token;
    watcher->revoked(watcher->arg);
}

static void rwlock_watch(void *object, struct pdk__cli_watcher *watcher)
{
    pdk_rwlock_on_state(object, rwlock_state, watcher);
    pdk_rwlock_on_revoke(object, rwlock_revoked, watcher);
}

static int rwlock_read(void *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op)
{
    return pdk_rwlock_rdlock_async(object, timeout_ms, cb, arg, op);
}

static int rwlock_write(void *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op)
{
    return pdk_rwlock_wrlock_async(object, timeout_ms, cb, arg, op);
}

static int rwlock_release(void *object, pdk_lock_cb cb, void *arg) { return pdk_rwlock_unlock_async(object, cb, arg); }
static int rwlock_token(void *object, int64_t *token) { return pdk_rwlock_token(object, token); }
static size_t rwlock_node(void *object, char *buf, size_t size) { return pdk_rwlock_node(object, buf, size); }
static int64_t rwlock_valid_ms(void *object) { return pdk_rwlock_valid_ms(object); }
static size_t rwlock_error(void *object, char *buf, size_t size) { return pdk_rwlock_last_error(object, buf, size); }
static int rwlock_free(void *object) { return pdk_rwlock_free(object); }

#define RWLOCK(side)                                                                                                   \
    {                                                                                                                  \
        rwlock_make, rwlock_watch, side, rwlock_release, rwlock_token, rwlock_node, rwlock_valid_ms, rwlock_error,     \
            rwlock_free                                                                                                \
    }

const struct pdk__cli_recipe *pdk__cli_recipe(const struct pdk__cli_options *o)
{
    static const struct pdk__cli_recipe recipes[] = {[MODE_MUTEX] = {mutex_make, mutex_watch, mutex_request,
                                                                     mutex_release, mutex_token, mutex_node,
                                                                     mutex_valid_ms, mutex_error, mutex_free},
                                                     [MODE_SHARED] = RWLOCK(rwlock_read),
                                                     [MODE_EXCLUSIVE] = RWLOCK(rwlock_write)};
    return &recipes[o->mode];
}
