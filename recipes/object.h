/*
 * An object of a recipe: what a mutex, a leader and every other recipe have in common. It has a client, a path, a
 * count and incidents, and it brackets every public verb. An object is the first member of its
 * recipe's structure, so that one allocation serves both.
 *
 * It is counted. The user holds it until it is freed, each hold (hold.h) while it is in use, a queued callback until it
 * has run, and each call for as long as it is under way.
 */
#ifndef PDK__OBJECT_H
#define PDK__OBJECT_H

#include "lib/incident.h"
#include "lib/text.h"
#include "lib/zk/client.h"

struct pdk__object;
struct pdk__hold;

/* The recipe. */
struct pdk__object_kind {
    const char *making; /* the verb of an incident: "make a mutex for" */
    size_t size;        /* of the recipe's structure */

    /* With the lock: prepare the recipe's own members, which are zero, by OPTIONS. Where it fails nothing is left. */
    int (*init)(struct pdk__object *o, const void *options);
    void (*clear)(struct pdk__object *o);

    /* With the lock: the grant that a question of the calling thread is about, and the request that waits, or NULL. For
     * locks: other recipes have neither. */
    struct pdk__hold *(*asked)(struct pdk__object *o);
    struct pdk__hold *(*waiting)(struct pdk__object *o);
};

/* A path that was lent with a check op. The program may use it long after the grant, and zoo_multi() frees a path
 * that it rejects. So it is freed with the object, and is never written to again. */
struct pdk__lent {
    struct pdk__lent *next;
    char *path;
};

struct pdk__object {
    const struct pdk__object_kind *kind;
    struct pdk_client *client;
    unsigned refs;
    char *path;
    uint64_t number;        /* its number in incidents */
    struct pdk__text error; /* the last incident that came without a call, since the last grant */
    struct pdk__lent *lent;
    bool unmixed;       /* of a semaphore: what stands beside its permits was looked for, and nothing found */
    bool limit_follows; /* of a semaphore: its limit is in a node, and permits are of the one at their time */
};

/* A program's call about PATH: enter C, unless one of the two is wrong. */
int pdk__path_enter(struct pdk_client *c, const char *path);

/* Create an object, as pdk_mutex_new() does. */
int pdk__object_new(struct pdk__object **out, struct pdk_client *c, const char *path,
                    const struct pdk__object_kind *kind, const void *options);

/* --- without the lock: the brackets of a verb, and whole verbs --------------------------------------------------- */

/* Every public verb begins and ends with these. The state is brought up to date first: the state that one call finds
 * must hold for all later calls, and the thread that delivers the event may be late. The object stays until the verb
 * has left: it may be freed as soon as no thread waits. PDK_EINVAL: O is NULL. That is decided here, in sight of the
 * analyzers of each verb. */
int pdk__object_enter_that(struct pdk__object *o);
static inline int pdk__object_enter(struct pdk__object *o)
{
    return o != NULL ? pdk__object_enter_that(o) : PDK_EINVAL;
}
void pdk__object_leave(struct pdk__object *o); /* with the lock, which it releases */

/* A question, which only reads, begins with this instead (pdk__client_ask()). */
int pdk__object_ask_that(struct pdk__object *o);
static inline int pdk__object_ask(struct pdk__object *o) { return o != NULL ? pdk__object_ask_that(o) : PDK_EINVAL; }

/* Verbs that can fail begin and end with these instead. The end notes why the call failed, unless a callee has noted
 * it already, or that it did not fail. Returns RC. */
int pdk__object_begin_that(struct pdk__object *o);
static inline int pdk__object_begin(struct pdk__object *o)
{
    return o != NULL ? pdk__object_begin_that(o) : PDK_EINVAL;
}
int pdk__object_end(struct pdk__object *o, const char *verb, int rc);

size_t pdk__object_last_error(struct pdk__object *o, char *buf, size_t size);
/* --- with the lock ----------------------------------------------------------------------------------------------- */

void pdk__object_ref(struct pdk__object *o);

/* With the lock of a client that the caller, too, holds by a reference. */
void pdk__object_unref(struct pdk__object *o);

/* The user frees the object, inside a verb: the user's reference ends. */
void pdk__object_retire(struct pdk__object *o);

/* The path of the node NAME under PATH, which lives as long as the object; NULL when memory is out. */
const char *pdk__object_lend(struct pdk__object *o, const char *path, const char *name);

/* The calling thread's call fails with RC, which is returned. Notes the reason, as far as the client knows it. */
int pdk__object_blame(struct pdk__object *o, const char *verb, int rc);

/* Likewise without the lock, for the reason WHY. */
int pdk__object_explain(struct pdk__object *o, const char *verb, int rc, const char *why);

/* Note a failure that came without a call, with the reason that the client knows. Returns RC. */
int pdk__object_incident(struct pdk__object *o, const char *verb, int rc);

/* Likewise for the reason WHY. */
int pdk__object_incident_for(struct pdk__object *o, const char *verb, int rc, const char *why);

#endif
