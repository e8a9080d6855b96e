#include "cli/recipe.h"

#include <paddock/mutex.h>
#include <paddock/rwlock.h>

#include <string.h>

/* --- every lock -------------------------------------------------------------------------------------------------- */

static int set_options(pdk_lock_options *to, const struct pdk__cli_options *o)
{
    int rc = pdk_lock_options_set_confirmed(to, o->confirmed);
    if (rc == 0)
        rc = pdk_lock_options_set_lock_delay_ms(to, (int)o->lock_delay_ms);
    if (rc == 0)
        rc = pdk_lock_options_set_min_token(to, o->min_token);
    if (rc == 0 && o->data != NULL)
        rc = pdk_lock_options_set_data(to, o->data, strlen(o->data));
    return rc;
}

static void changed(pdk_lock *l, pdk_state state, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)l;
    (void)token; /* one grant in an acquisition's life */
    watcher->state(watcher->arg, state);
}

static void revoked(pdk_lock *l, int64_t token, void *arg)
{
    const struct pdk__cli_watcher *watcher = arg;
    (void)l;
    (void)token;
    watcher->revoked(watcher->arg);
}

int pdk__cli_object_make(struct pdk__cli_object *object, pdk_client *c, const struct pdk__cli_options *o,
                         struct pdk__cli_watcher *watcher)
{
    pdk_lock_options *options = pdk_lock_options_new();
    int rc = options != NULL ? set_options(options, o) : PDK_ENOMEM;
    if (rc == 0)
        rc = pdk__cli_recipe(o)->make(&object->lock, c, o, options);
    if (rc == 0)
        rc = pdk_lock_on_state(object->lock, changed, watcher);
    if (rc == 0)
        rc = pdk_lock_on_revoke(object->lock, revoked, watcher);
    pdk_lock_options_free(options);
    object->count = (unsigned)o->count;
    return rc;
}

void pdk__cli_object_free(struct pdk__cli_object *object)
{
    pdk_op_free(object->op);
    pdk_lock_free(object->lock);
    *object = (struct pdk__cli_object){0};
}

static void cancel(struct pdk__cli_object *object) { pdk_op_cancel(object->op); }

static int lock_token(const struct pdk__cli_object *object, int64_t *token)
{
    return pdk_lock_token(object->lock, token);
}

static size_t lock_node(const struct pdk__cli_object *object, char *buf, size_t size)
{
    return pdk_lock_node(object->lock, buf, size);
}

static int64_t lock_valid_ms(const struct pdk__cli_object *object) { return pdk_lock_valid_ms(object->lock); }

/* --- the mutex --------------------------------------------------------------------------------------------------- */

static int mutex_make(pdk_lock **lock, pdk_client *c, const struct pdk__cli_options *o, const pdk_lock_options *options)
{
    return pdk_mutex_new(lock, c, o->path, options);
}

static int mutex_request(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_mutex_lock_async(object->lock, timeout_ms, cb, arg, &object->op);
}

static int mutex_release(struct pdk__cli_object *object, pdk_lock_cb cb, void *arg)
{
    return pdk_mutex_unlock_async(object->lock, cb, arg);
}

/* --- the read/write lock ----------------------------------------------------------------------------------------- */

static int rwlock_make(pdk_lock **lock, pdk_client *c, const struct pdk__cli_options *o,
                       const pdk_lock_options *options)
{
    return pdk_rwlock_new(lock, c, o->path, options);
}

static int rwlock_read(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_rwlock_rdlock_async(object->lock, timeout_ms, cb, arg, &object->op);
}

static int rwlock_write(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_rwlock_wrlock_async(object->lock, timeout_ms, cb, arg, &object->op);
}

static int rwlock_release(struct pdk__cli_object *object, pdk_lock_cb cb, void *arg)
{
    return pdk_rwlock_unlock_async(object->lock, cb, arg);
}

/* --- the semaphore ----------------------------------------------------------------------------------------------- */

static int permits_make(pdk_lock **lock, pdk_client *c, const struct pdk__cli_options *o,
                        const pdk_lock_options *options)
{
    return pdk_semaphore_new(lock, c, o->path, (unsigned)o->limit, options);
}

static int permits_request(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_semaphore_acquire_async(object->lock, object->count, timeout_ms, cb, arg, &object->permit);
}

static int permits_release(struct pdk__cli_object *object, pdk_lock_cb cb, void *arg)
{
    pdk_permit *permit = object->permit;
    object->permit = NULL;
    return pdk_permit_release_async(permit, cb, arg);
}

static void permits_cancel(struct pdk__cli_object *object) { permits_release(object, NULL, NULL); }

static int permits_token(const struct pdk__cli_object *object, int64_t *token)
{
    return pdk_permit_token(object->permit, token);
}

/* Of the first permit; the path that it stands under is that of the leases. */
static size_t permits_node(const struct pdk__cli_object *object, char *buf, size_t size)
{
    return pdk_permit_node(object->permit, 0, buf, size);
}

static int64_t permits_valid_ms(const struct pdk__cli_object *object) { return pdk_permit_valid_ms(object->permit); }

/* --- several paths ----------------------------------------------------------------------------------------------- */

static int several_make(pdk_lock **lock, pdk_client *c, const struct pdk__cli_options *o,
                        const pdk_lock_options *options)
{
    const char *paths[PDK_MULTILOCK_MAX];
    for (unsigned i = 0; i <= o->n_also; i++)
        paths[i] = pdk__cli_options_path_at(o, i);
    return pdk_multilock_new(lock, c, paths, o->n_also + 1, options);
}

static int several_request(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_multilock_lock_async(object->lock, timeout_ms, cb, arg);
}

static void several_cancel(struct pdk__cli_object *object) { pdk_multilock_cancel(object->lock); }

static int several_release(struct pdk__cli_object *object, pdk_lock_cb cb, void *arg)
{
    return pdk_multilock_unlock_async(object->lock, cb, arg);
}

/* Of the first path. */
static int several_token(const struct pdk__cli_object *object, int64_t *token)
{
    return pdk_multilock_token(object->lock, 0, token);
}

static size_t several_node(const struct pdk__cli_object *object, char *buf, size_t size)
{
    return pdk_multilock_node(object->lock, 0, buf, size);
}

/* --- which ------------------------------------------------------------------------------------------------------- */

const struct pdk__cli_recipe *pdk__cli_recipe(const struct pdk__cli_options *o)
{
    static const struct pdk__cli_recipe recipes[] = {
        [MODE_MUTEX] = {mutex_make, mutex_request, cancel, mutex_release, lock_token, lock_node, lock_valid_ms},
        [MODE_SHARED] = {rwlock_make, rwlock_read, cancel, rwlock_release, lock_token, lock_node, lock_valid_ms},
        [MODE_EXCLUSIVE] = {rwlock_make, rwlock_write, cancel, rwlock_release, lock_token, lock_node, lock_valid_ms},
        [MODE_PERMITS] = {permits_make, permits_request, permits_cancel, permits_release, permits_token, permits_node,
                          permits_valid_ms},
        [MODE_SEVERAL] = {several_make, several_request, several_cancel, several_release, several_token, several_node,
                          lock_valid_ms}};
    return &recipes[o->mode];
}
