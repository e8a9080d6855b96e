/*
 * An object that can be locked, and its acquisitions: what every recipe with lock and unlock has in common. An
 * acquisition belongs to a thread, which can re-enter, or to no thread, when it was requested asynchronously.
 */
#ifndef PDK__LOCKABLE_H
#define PDK__LOCKABLE_H

#include "recipes/any_lock.h"
#include "recipes/cohort.h"

struct pdk__lockable {
    struct pdk_lock lock;
    const struct pdk__verbs *verbs;
    struct pdk__sites sites; /* of each hold, unless a request says how many */
    uint64_t last_level;     /* a number for each level that an owner takes */

    struct pdk__cohort *cohort, alone; /* of its own, until it joins another */
    struct pdk__list companion;        /* in its objects */
};

/* An acquisition of a cohort, and of one of its objects: a hold (hold.h), and whose it is. It is a request, and then
 * the grant that the request becomes. It is counted as a hold is: its caller holds it until the call ends, its owner
 * until it is unlocked, the user's handle until that ends. */
struct pdk__acquisition {
    struct pdk__hold hold;
    struct pdk__list link;
    struct pdk__lockable *lockable; /* of its owner, or of the one that asked for it */
    struct pdk__wish wish;
    struct pdk__hold *base; /* the grant under which it was made; counted. NULL: none */
    char *data;             /* of its nodes */

    /* the owner */
    uint64_t thread; /* 0: belongs to a handle; PDK__NO_THREAD: to the next owner, if one comes */
    unsigned count;  /* of its levels; 0: it has no owner */
    uint64_t *levels, few_levels[4];
    unsigned n_levels_max;
    unsigned n_handed; /* how often it was handed on */
    bool revoked;      /* a client has asked for the grant */
    bool contended;    /* another contender may wait for it; known only after it was idle */
    bool idle;         /* granted, without an owner, until idle_until_ms */
    int64_t idle_until_ms;

    /* a request for a turn: its hold is never started */
    bool by_turn;
    struct pdk__turn turn;

    /* the callback of an asynchronous request */
    struct pdk__callback completed_callback;
    pdk_lock_cb completed_cb;
    void *completed_arg;
    bool unwanted; /* its handle has ended */
};

/* For the lock's kind. As they are made, the holds of L have one node, of its path, and the verbs of a lock. */
void pdk__lockable_init(struct pdk_lock *l);
void pdk__lockable_clear(struct pdk_lock *l);
bool pdk__lockable_in_use(const struct pdk_lock *l);
void pdk__lockable_drop_all(struct pdk_lock *l);

/* All with the client's lock held. */

struct pdk__acquisition *pdk__acquisition_at(struct pdk__list *link);

/* For each OP of its cohort that is of K. Only the current one may be removed. */
#define PDK__EACH_ACQUISITION(op, k)                                                                                   \
    PDK__LIST_EACH (op##_link, &(k)->cohort->acquisitions)                                                             \
        for (struct pdk__acquisition *op = pdk__acquisition_at(op##_link); op != NULL && op->lockable == (k); op = NULL)

/* The turn of the grant with TOKEN, through whichever object of K's cohort; 0: there is none. */
uint64_t pdk__lockable_turn(const struct pdk__lockable *k, int64_t token);

/* A number of the calling thread's own, never used by another. */
uint64_t pdk__lockable_thread(void);

/* The grant of the calling thread by RULE, or by any rule where it is NULL. Several threads of one object can each have
 * a grant, when all but the last were lost. */
struct pdk__acquisition *pdk__lockable_find_owned(struct pdk__lockable *k, const struct pdk__rule *rule);

/* The grant that the request OP became, until its handle ends; or NULL. */
struct pdk__acquisition *pdk__lockable_handled(const struct pdk__acquisition *op);

/* For the object's kind. Asked about is the thread's own grant, else another thread's valid one, else a lost one. The
 * request that waits is the first one. */
struct pdk__hold *pdk__lockable_asked(struct pdk__object *o);
struct pdk__hold *pdk__lockable_waiting(struct pdk__object *o);

/* A call of the program that asks for the lock. */
struct pdk__lock_call {
    struct pdk__wish wish;  /* rule, try_only and deadline_ms; the request adds what the object has */
    unsigned n;             /* nodes of one path; 0: as the object has them */
    uint64_t thread;        /* as in pdk__acquisition */
    struct pdk__hold *base; /* likewise */
    pdk_lock_cb cb;         /* NULL: a thread waits */
    void *arg;
};

/* Contend. On success the caller has a reference to *OP, which may be settled already. PDK_EINVAL: its
 * rule never admits so many. PDK_ENOMEM, or as pdk__hold_start(). */
int pdk__lockable_request(struct pdk__acquisition **op, struct pdk__lockable *k, const struct pdk__lock_call *call);

/* A request for a turn, with a callback, that waits nowhere yet. The caller has a reference to *OP, and the callback
 * another. PDK_ENOMEM. */
int pdk__lockable_make_turn(struct pdk__acquisition **op, struct pdk__lockable *k, pdk_lock_cb cb, void *arg);

/* K, of the same cohort, has OP from now on. */
void pdk__lockable_take(struct pdk__lockable *k, struct pdk__acquisition *op);

/* A hold or the queue of turns has changed: see to it, outside of every step. */
void pdk__lockable_moved(struct pdk__lockable *k);

/* Its owner takes one level more; the first needs no memory. PDK_EINVAL: they are too many. PDK_ENOMEM. */
int pdk__lockable_deepen(struct pdk__acquisition *op);

/* The number of the level that its owner took last. */
uint64_t pdk__lockable_level(const struct pdk__acquisition *op);

/* The owner unlocks it, or its caller no longer waits for it: it is released, and the owner's reference ends. */
void pdk__lockable_drop(struct pdk__acquisition *op);

#endif
