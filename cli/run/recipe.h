/*
 * The lock that the command line chose, as an acquisition uses it: a mutex, one side of a read/write
 * lock, permits of a semaphore, or several paths at once.
 *
 * The functions are those of the public interface.
 */
#ifndef PDK_CLI_RECIPE_H
#define PDK_CLI_RECIPE_H

#include "cli/options.h"

#include <paddock/semaphore.h>

/* The lock, and what was requested of it. */
struct pdk__cli_object {
    pdk_lock *lock;
    pdk_grant *grant;       /* NULL: nothing, or it was released */
    unsigned count;         /* of permits to request */
    const char *limit_from; /* the node that has their limit; NULL: none */
};

struct pdk__cli_recipe {
    int (*make)(pdk_lock **lock, pdk_client *c, const struct pdk__cli_options *o, const pdk_lock_options *options);
    int (*request)(struct pdk__cli_object *object, int64_t timeout_ms, pdk_lock_cb cb, void *arg);
};

/* Make the lock that the options choose. HAPPENED is its callback for events. */
int pdk__cli_object_make(struct pdk__cli_object *object, pdk_client *c, const struct pdk__cli_options *o,
                         pdk_event_cb happened, void *arg);

/* Release what was requested, as pdk_grant_release_async(). */
int pdk__cli_object_release(struct pdk__cli_object *object, pdk_lock_cb cb, void *arg);

/* After the client was closed; it may never have been made. */
void pdk__cli_object_free(struct pdk__cli_object *object);

/* The recipe that the options choose; static. */
const struct pdk__cli_recipe *pdk__cli_recipe(const struct pdk__cli_options *o);

#endif
