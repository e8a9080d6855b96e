/*
 * A lock of any kind, and the public verbs that take it: the first member of the structure of a mutex, a read/write
 * lock, a semaphore, a multi-lock and a leader.
 */
#ifndef PDK__ANY_LOCK_H
#define PDK__ANY_LOCK_H

#include "recipes/events.h"
#include "recipes/lock_options.h"

struct pdk__hold;
struct pdk__sites;

struct pdk_lock {
    struct pdk__object object;
    struct pdk__events events;
    pdk_lock_options options;
    struct pdk__list grants; /* of pdk_grant: the handles that have not ended */
};

/* The recipe; all with the client's lock. */
struct pdk__lock_kind {
    struct pdk__object_kind object;
    const char *name;                /* "a mutex" */
    const struct pdk__lock_kind *as; /* the kind whose verbs it has, too; NULL: none */
    enum pdk__lock_kinds kind;       /* whose options it has */

    /* Prepare the recipe's own members, which are zero, after the options. Where it fails, clear() is called. */
    int (*init)(struct pdk_lock *l, const void *arg);
    void (*clear)(struct pdk_lock *l);

    bool (*in_use)(const struct pdk_lock *l); /* does a grant or a request without a handle remain? */
    void (*drop)(struct pdk_lock *l);         /* end all that remains, after the handles */

    const struct pdk__sites *(*several)(
        const struct pdk_lock *l); /* a node on each of several paths; NULL: it has one */
};

/* The object's part of a kind. */
#define PDK__LOCK_OBJECT(type, verb)                                                                                   \
    .making = (verb), .size = sizeof(type), .init = pdk__lock_init, .clear = pdk__lock_clear
int pdk__lock_init(struct pdk__object *o, const void *options);
void pdk__lock_clear(struct pdk__object *o);

/* Create a lock, as pdk_mutex_new() does; ARG is for init(). PDK_ENOTSUP: OPTS has what the kind has not. */
int pdk__lock_new(pdk_lock **out, pdk_client *c, const char *path, const struct pdk__lock_kind *kind,
                  const pdk_lock_options *opts, const void *arg);

/* L, where it is of KIND, or as one of it; otherwise NULL, and an incident of L says of which it is. */
pdk_lock *pdk__lock_as(pdk_lock *l, const struct pdk__lock_kind *kind);

/* A verb about the grant of the calling thread begins, as pdk__object_begin(). PDK_EINVAL: the kind's grants have
 * handles. */
int pdk__lock_begin(pdk_lock *l);

/* The grant that is asked about; NULL: none. With the client's lock. */
struct pdk__hold *pdk__lock_asked(pdk_lock *l);

#endif
