/*
 * The lock that the command line chose, as an acquisition uses it: a mutex, one side of a read/write
 * lock, permits of a semaphore, or several paths at once.
 *
 * The functions are those of the public interface.
 */
#ifndef PDK_CLI_RECIPE_H
#define PDK_CLI_RECIPE_H

#include "cli/options.h"

#include <paddock/rwlock.h>
#include <paddock/semaphore.h>

/* To be told of changes; ARG is passed to both. */
struct pdk__cli_watcher {
    void (*state)(void *arg, pdk_state state);
    void (*revoked)(void *arg);
    void *arg;
};

/* The object of that lock, and what was requested of it: of one recipe, all else is NULL. */
struct pdk__cli_object {
    pdk_mutex *mutex;
    pdk_rwlock *rwlock;
    pdk_op *op; /* of either */
    pdk_semaphore *semaphore;
    pdk_permit *permit;
    unsigned count; /* of permits to request */
    pdk_multilock *multilock;
};

struct pdk__cli_recipe {
    int (*make)(struct pdk__cli_object *object, pdk_client *c, const struct pdk__cli_options *o);
    int (*watch)(struct pdk__cli_object *object, struct pdk__cli_watcher *watcher); /* borrowed until it is freed */
    int (*request)(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg);
    void (*cancel)(struct pdk__cli_object *object); /* the request's callback tells PDK_ECANCELED */
    int (*release)(struct pdk__cli_object *object, pdk_lock_cb cb, void *arg);
    int (*token)(const struct pdk__cli_object *object, int64_t *token);
    size_t (*node)(const struct pdk__cli_object *object, char *buf, size_t size);
    int64_t (*valid_ms)(const struct pdk__cli_object *object);
    size_t (*last_error)(struct pdk__cli_object *object, char *buf, size_t size);
    void (*free)(struct pdk__cli_object *object); /* after the client was closed; may never have been made */
};

/* The recipe that the options choose; static. */
const struct pdk__cli_recipe *pdk__cli_recipe(const struct pdk__cli_options *o);

#endif
