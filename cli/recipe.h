/*
 * The lock that the command line chose, as an acquisition uses it: a mutex, or one side of a read/write lock.
 *
 * The functions are those of the public interface, for an object whose type only its recipe knows.
 */
#ifndef PDK_CLI_RECIPE_H
#define PDK_CLI_RECIPE_H

#include "cli/options.h"

#include <paddock/mutex.h>

/* To be told of changes; ARG is passed to both. */
struct pdk__cli_watcher {
    void (*state)(void *arg, pdk_state state);
    void (*revoked)(void *arg);
    void *arg;
};

struct pdk__cli_recipe {
    int (*make)(void **object, pdk_client *c, const struct pdk__cli_options *o);
    void (*watch)(void *object, struct pdk__cli_watcher *watcher); /* borrowed until the object is freed */
    int (*request)(void *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op);
    int (*release)(void *object, pdk_lock_cb cb, void *arg);
    int (*token)(void *object, int64_t *token);
    size_t (*node)(void *object, char *buf, size_t size);
    int64_t (*valid_ms)(void *object);
    size_t (*last_error)(void *object, char *buf, size_t size);
    int (*free)(void *object); /* NULL is allowed */
};

/* The recipe that the options choose; static. */
const struct pdk__cli_recipe *pdk__cli_recipe(const struct pdk__cli_options *o);

#endif
