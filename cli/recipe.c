#include "cli/recipe.h"

#include <string.h>

/* --- the mutex --------------------------------------------------------------------------------------------------- */

static int mutex_make(struct pdk__cli_object *object, pdk_client *c, const struct pdk__cli_options *o)
{
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
        rc = pdk_mutex_new(&object->mutex, c, o->path, m);
    pdk_mutex_options_free(m);
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

static int mutex_watch(struct pdk__cli_object *o, struct pdk__cli_watcher *watcher)
{
    int rc = pdk_mutex_on_state(o->mutex, mutex_state, watcher);
    return rc == 0 ? pdk_mutex_on_revoke(o->mutex, mutex_revoked, watcher) : rc;
}

static int mutex_request(struct pdk__cli_object *o, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_mutex_lock_async(o->mutex, timeout_ms, cb, arg, &o->op);
}

static void cancel(struct pdk__cli_object *o) { pdk_op_cancel(o->op); }

static int mutex_release(struct pdk__cli_object *o, pdk_lock_cb cb, void *arg)
{
    return pdk_mutex_unlock_async(o->mutex, cb, arg);
}

static int mutex_token(const struct pdk__cli_object *o, int64_t *token) { return pdk_mutex_token(o->mutex, token); }

static size_t mutex_node(const struct pdk__cli_object *o, char *buf, size_t size)
{
    return pdk_mutex_node(o->mutex, buf, size);
}

static int64_t mutex_valid_ms(const struct pdk__cli_object *o) { return pdk_mutex_valid_ms(o->mutex); }

static size_t mutex_error(struct pdk__cli_object *o, char *buf, size_t size)
{
    return pdk_mutex_last_error(o->mutex, buf, size);
}

static void mutex_free(struct pdk__cli_object *o)
{
    pdk_op_free(o->op);
    pdk_mutex_free(o->mutex);
}

/* --- the read/write lock ----------------------------------------------------------------------------------------- */

static int rwlock_make(struct pdk__cli_object *object, pdk_client *c, const struct pdk__cli_options *o)
{
    pdk_rwlock_options *l = pdk_rwlock_options_new();
    int rc = l != NULL ? 0 : PDK_ENOMEM;
    if (rc == 0)
        rc = pdk_rwlock_options_set_min_token(l, o->min_token);
    if (rc == 0 && o->data != NULL)
        rc = pdk_rwlock_options_set_data(l, o->data, strlen(o->data));
    if (rc == 0)
        rc = pdk_rwlock_new(&object->rwlock, c, o->path, l);
    pdk_rwlock_options_free(l);
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

static int rwlock_watch(struct pdk__cli_object *o, struct pdk__cli_watcher *watcher)
{
    int rc = pdk_rwlock_on_state(o->rwlock, rwlock_state, watcher);
    return rc == 0 ? pdk_rwlock_on_revoke(o->rwlock, rwlock_revoked, watcher) : rc;
}

static int rwlock_read(struct pdk__cli_object *o, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_rwlock_rdlock_async(o->rwlock, timeout_ms, cb, arg, &o->op);
}

static int rwlock_write(struct pdk__cli_object *o, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_rwlock_wrlock_async(o->rwlock, timeout_ms, cb, arg, &o->op);
}

static int rwlock_release(struct pdk__cli_object *o, pdk_lock_cb cb, void *arg)
{
    return pdk_rwlock_unlock_async(o->rwlock, cb, arg);
}

static int rwlock_token(const struct pdk__cli_object *o, int64_t *token) { return pdk_rwlock_token(o->rwlock, token); }

static size_t rwlock_node(const struct pdk__cli_object *o, char *buf, size_t size)
{
    return pdk_rwlock_node(o->rwlock, buf, size);
}

static int64_t rwlock_valid_ms(const struct pdk__cli_object *o) { return pdk_rwlock_valid_ms(o->rwlock); }

static size_t rwlock_error(struct pdk__cli_object *o, char *buf, size_t size)
{
    return pdk_rwlock_last_error(o->rwlock, buf, size);
}

static void rwlock_free(struct pdk__cli_object *o)
{
    pdk_op_free(o->op);
    pdk_rwlock_free(o->rwlock);
}

/* --- the semaphore ----------------------------------------------------------------------------------------------- */

static int permits_make(struct pdk__cli_object *object, pdk_client *c, const struct pdk__cli_options *o)
{
    pdk_semaphore_options *s = pdk_semaphore_options_new();
    int rc = s != NULL ? 0 : PDK_ENOMEM;
    if (rc == 0 && o->data != NULL)
        rc = pdk_semaphore_options_set_data(s, o->data, strlen(o->data));
    if (rc == 0)
        rc = pdk_semaphore_new(&object->semaphore, c, o->path, (unsigned)o->limit, s);
    pdk_semaphore_options_free(s);
    object->count = (unsigned)o->count;
    return rc;
}

static void permits_state(pdk_semaphore *s, pdk_state state, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)s;
    (void)token;
    watcher->state(watcher->arg, state);
}

static void permits_revoked(pdk_semaphore *s, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)s;
    (void)token;
    watcher->revoked(watcher->arg);
}

static int permits_watch(struct pdk__cli_object *o, struct pdk__cli_watcher *watcher)
{
    int rc = pdk_semaphore_on_state(o->semaphore, permits_state, watcher);
    return rc == 0 ? pdk_semaphore_on_revoke(o->semaphore, permits_revoked, watcher) : rc;
}

static int permits_request(struct pdk__cli_object *o, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_semaphore_acquire_async(o->semaphore, o->count, timeout_ms, cb, arg, &o->permit);
}

static int permits_release(struct pdk__cli_object *o, pdk_lock_cb cb, void *arg)
{
    pdk_permit *permit = o->permit;
    o->permit = NULL;
    return pdk_permit_release_async(permit, cb, arg);
}

static void permits_cancel(struct pdk__cli_object *o) { permits_release(o, NULL, NULL); }

static int permits_token(const struct pdk__cli_object *o, int64_t *token) { return pdk_permit_token(o->permit, token); }

/* Of the first permit; the path that it stands under is that of the leases. */
static size_t permits_node(const struct pdk__cli_object *o, char *buf, size_t size)
{
    return pdk_permit_node(o->permit, 0, buf, size);
}

static int64_t permits_valid_ms(const struct pdk__cli_object *o) { return pdk_permit_valid_ms(o->permit); }

static size_t permits_error(struct pdk__cli_object *o, char *buf, size_t size)
{
    return pdk_semaphore_last_error(o->semaphore, buf, size);
}

static void permits_free(struct pdk__cli_object *o) { pdk_semaphore_free(o->semaphore); }

/* --- several paths ----------------------------------------------------------------------------------------------- */

static int several_make(struct pdk__cli_object *object, pdk_client *c, const struct pdk__cli_options *o)
{
    const char *paths[PDK_MULTILOCK_MAX];
    pdk_multilock_options *m = pdk_multilock_options_new();
    int rc = m != NULL ? 0 : PDK_ENOMEM;
    for (unsigned i = 0; i <= o->n_also; i++)
        paths[i] = pdk__cli_options_path_at(o, i);
    if (rc == 0)
        rc = pdk_multilock_options_set_confirmed(m, o->confirmed);
    if (rc == 0 && o->data != NULL)
        rc = pdk_multilock_options_set_data(m, o->data, strlen(o->data));
    if (rc == 0)
        rc = pdk_multilock_new(&object->multilock, c, paths, o->n_also + 1, m);
    pdk_multilock_options_free(m);
    return rc;
}

static void several_state(pdk_multilock *m, pdk_state state, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)m;
    (void)token;
    watcher->state(watcher->arg, state);
}

static void several_revoked(pdk_multilock *m, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)m;
    (void)token;
    watcher->revoked(watcher->arg);
}

static int several_watch(struct pdk__cli_object *o, struct pdk__cli_watcher *watcher)
{
    int rc = pdk_multilock_on_state(o->multilock, several_state, watcher);
    return rc == 0 ? pdk_multilock_on_revoke(o->multilock, several_revoked, watcher) : rc;
}

static int several_request(struct pdk__cli_object *o, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_multilock_lock_async(o->multilock, timeout_ms, cb, arg);
}

static void several_cancel(struct pdk__cli_object *o) { pdk_multilock_cancel(o->multilock); }

static int several_release(struct pdk__cli_object *o, pdk_lock_cb cb, void *arg)
{
    return pdk_multilock_unlock_async(o->multilock, cb, arg);
}

/* Of the first path. */
static int several_token(const struct pdk__cli_object *o, int64_t *token)
{
    return pdk_multilock_token(o->multilock, 0, token);
}

static size_t several_node(const struct pdk__cli_object *o, char *buf, size_t size)
{
    return pdk_multilock_node(o->multilock, 0, buf, size);
}

static int64_t several_valid_ms(const struct pdk__cli_object *o) { return pdk_multilock_valid_ms(o->multilock); }

static size_t several_error(struct pdk__cli_object *o, char *buf, size_t size)
{
    return pdk_multilock_last_error(o->multilock, buf, size);
}

static void several_free(struct pdk__cli_object *o) { pdk_multilock_free(o->multilock); }

/* --- which ------------------------------------------------------------------------------------------------------- */

#define RWLOCK(side)                                                                                                   \
    {                                                                                                                  \
        rwlock_make, rwlock_watch, side, cancel, rwlock_release, rwlock_token, rwlock_node, rwlock_valid_ms,           \
            rwlock_error, rwlock_free                                                                                  \
    }

const struct pdk__cli_recipe *pdk__cli_recipe(const struct pdk__cli_options *o)
{
    static const struct pdk__cli_recipe recipes[] = {
        [MODE_MUTEX] = {mutex_make, mutex_watch, mutex_request, cancel, mutex_release, mutex_token, mutex_node,
                        mutex_valid_ms, mutex_error, mutex_free},
        [MODE_SHARED] = RWLOCK(rwlock_read),
        [MODE_EXCLUSIVE] = RWLOCK(rwlock_write),
        [MODE_PERMITS] = {permits_make, permits_watch, permits_request, permits_cancel, permits_release, permits_token,
                          permits_node, permits_valid_ms, permits_error, permits_free},
        [MODE_SEVERAL] = {several_make, several_watch, several_request, several_cancel, several_release, several_token,
                          several_node, several_valid_ms, several_error, several_free}};
    return &recipes[o->mode];
}
