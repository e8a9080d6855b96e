/*
 * The holds of one object, and whose they are: what every recipe with lock and unlock has in common. A hold belongs to
 * a thread, which can re-enter, or to no thread, when it was requested asynchronously.
 */
#ifndef PDK__HOLDS_H
#define PDK__HOLDS_H

#include "paddock/mutex.h"
#include "recipes/hold.h"
#include "recipes/node_data.h"
#include "recipes/object.h"

struct pdk__holds {
    struct pdk__object object;
    struct pdk__node_options options;
    struct pdk__delay delay;
    struct pdk__list list; /* of pdk_op: those that contend or are owned */
};

/* A hold in that list, and the user's handle of a request. It is counted as a hold is: its caller holds it until the
 * call ends, its owner until it is unlocked, the user's handle until pdk_op_free(). */
struct pdk_op {
    struct pdk__hold hold;
    struct pdk__list link;
    struct pdk__holds *holds;
    const struct pdk__rule *rule;
    struct pdk__hold *base; /* the grant under which it was made; counted. NULL: none */
    char *data;

    /* the owner */
    uint64_t thread; /* 0: belongs to no thread */
    unsigned count;

    /* the callback of an asynchronous request */
    struct pdk__callback completed_callback;
    pdk_lock_cb completed_cb;
    void *completed_arg;
    bool answered; /* the callback was told of the grant, or is about to be */
};

/* For the object's kind. OPTIONS are copied; they may be NULL. */
int pdk__holds_init(struct pdk__holds *h, const struct pdk__node_options *options);
void pdk__holds_clear(struct pdk__holds *h);

/* The public verb, whole; H may be NULL. PDK_EBUSY: a grant or a request remains, and the client is open. */
int pdk__holds_free(struct pdk__holds *h);

/* All with the client's lock held. */

/* A number of the calling thread's own, never used by another. */
uint64_t pdk__holds_thread(void);

/* The grant of THREAD by RULE, or by any rule where it is NULL. Thread 0 finds one that belongs to no thread, and first
 * one whose callback knows of it: another may have been lost, and not be unlocked yet. Several threads of one object
 * can each have a grant, when all but the last were lost. */
struct pdk_op *pdk__holds_find_owned(struct pdk__holds *h, const struct pdk__rule *rule, uint64_t thread);

/* For the object's kind. Asked about is the thread's own grant, else the valid one, else a lost one. The request that
 * waits is the first one. */
struct pdk__hold *pdk__holds_asked(struct pdk__object *o);
struct pdk__hold *pdk__holds_waiting(struct pdk__object *o);

/* A request: how it contends. */
struct pdk__wish {
    const struct pdk__rule *rule;
    bool try_only;
    int64_t deadline_ms;
    struct pdk__hold *base; /* as in pdk_op */
};

/* Contend, for the calling thread, or with a callback for none. On success the caller has a reference to *OP, which may
 * be settled already. */
int pdk__holds_request(struct pdk_op **op, struct pdk__holds *h, const struct pdk__wish *wish, pdk_lock_cb cb,
                       void *arg);

/* The owner unlocks it, or its caller no longer waits for it: it is released, and the owner's reference ends. */
void pdk__holds_drop(struct pdk_op *op);

#endif
