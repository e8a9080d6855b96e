#include "cli/run/recipe.h"

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
    if (rc == 0)
        rc = pdk_lock_options_set_look_ahead(to, o->look_ahead);
    if (rc == 0)
        rc = pdk_lock_options_set_refuse_mixed(to, !o->mixed_ok);
    if (rc == 0 && o->data != NULL)
        rc = pdk_lock_options_set_data(to, o->data, strlen(o->data));
    return rc;
}

int pdk__cli_object_make(struct pdk__cli_object *object, pdk_client *c, const struct pdk__cli_options *o,
                         pdk_event_cb happened, void *arg)
{
    pdk_lock_options *options = pdk_lock_options_new();
    int rc = options != NULL ? set_options(options, o) : PDK_ENOMEM;
    if (rc == 0)
        rc = pdk__cli_recipe(o)->make(&object->lock, c, o, options);
    if (rc == 0)
        rc = pdk_lock_on_event(object->lock, happened, arg);
    pdk_lock_options_free(options);
    object->count = (unsigned)o->count;
    object->limit_from = o->limit_from;
    return rc;
}

int pdk__cli_object_release(struct pdk__cli_object *object, pdk_lock_cb cb, void *arg)
{
    pdk_grant *grant = object->grant;
    object->grant = NULL;
    return pdk_grant_release_async(grant, cb, arg);
}

void pdk__cli_object_free(struct pdk__cli_object *object)
{
    pdk_lock_free(object->lock);
    *object = (struct pdk__cli_object){0};
}

/* --- the mutex --------------------------------------------------------------------------------------------------- */

static int mutex_make(pdk_lock **lock, pdk_client *c, const struct pdk__cli_options *o, const pdk_lock_options *options)
{
    return pdk_mutex_new(lock, c, o->path, options);
}

static int mutex_request(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_mutex_lock_async(object->lock, timeout_ms, cb, arg, &object->grant);
}

/* --- the read/write lock ----------------------------------------------------------------------------------------- */

static int rwlock_make(pdk_lock **lock, pdk_client *c, const struct pdk__cli_options *o,
                       const pdk_lock_options *options)
{
    return pdk_rwlock_new(lock, c, o->path, options);
}

static int rwlock_read(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_rwlock_rdlock_async(object->lock, timeout_ms, cb, arg, &object->grant);
}

static int rwlock_write(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_rwlock_wrlock_async(object->lock, timeout_ms, cb, arg, &object->grant);
}

/* --- the semaphore ----------------------------------------------------------------------------------------------- */

static int permits_make(pdk_lock **lock, pdk_client *c, const struct pdk__cli_options *o,
                        const pdk_lock_options *options)
{
    return pdk_semaphore_new(lock, c, o->path, (unsigned)o->limit, options);
}

/* A server is connected: the limit is read before the request. */
static int permits_request(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    int rc = object->limit_from != NULL ? pdk_semaphore_follow(object->lock, object->limit_from) : 0;
    if (rc != 0)
        return rc;
    return pdk_semaphore_acquire_async(object->lock, object->count, timeout_ms, cb, arg, &object->grant);
}

/* --- several paths ----------------------------------------------------------------------------------------------- */

static int several_make(pdk_lock **lock, pdk_client *c, const struct pdk__cli_options *o,
                        const pdk_lock_options *options)
{
    const char *paths[PDK_MUTEX_PATHS_MAX];
    for (unsigned i = 0; i <= o->n_also; i++)
        paths[i] = pdk__cli_options_path_at(o, i);
    return pdk_mutex_new_several(lock, c, paths, o->n_also + 1, options);
}

static int several_request(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    return pdk_mutex_lock_async(object->lock, timeout_ms, cb, arg, &object->grant);
}

/* --- which ------------------------------------------------------------------------------------------------------- */

const struct pdk__cli_recipe *pdk__cli_recipe(const struct pdk__cli_options *o)
{
    static const struct pdk__cli_recipe recipes[] = {
        [MODE_MUTEX] = {mutex_make, mutex_request},       [MODE_SHARED] = {rwlock_make, rwlock_read},
        [MODE_EXCLUSIVE] = {rwlock_make, rwlock_write},   [MODE_PERMITS] = {permits_make, permits_request},
        [MODE_SEVERAL] = {several_make, several_request},
    };
    return &recipes[o->mode];
}
