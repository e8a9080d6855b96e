/* The mutex, inside: what the files that speak to the user (the object, its options, locking, its state) and op.c, which
 * speaks to the driver, share. */
#ifndef PDK__MUTEX_H
#define PDK__MUTEX_H

#include "recipes/changes.h"
#include "recipes/op.h"

struct pdk_mutex_options {
    void *data;
    size_t data_size;
    struct pdk__conditions conditions;
};

struct pdk_mutex {
    struct pdk_client *client;
    unsigned refs; /* the user's, one per op, one per call that is under way */
    char *path;
    struct pdk_mutex_options options;
    struct pdk__list ops;
    char error[256];
    struct pdk__delay delay;
    struct pdk__changes changes; /* of state */
    struct pdk__changes revocations;
};

/* All with the client's lock held. */

/* Contend. On success the caller has a reference to *OP, which may be settled already. */
int pdk__op_start(struct pdk_op **op, struct pdk_mutex *m, bool try_only, int64_t deadline_ms, uint64_t thread,
                  pdk_lock_cb cb, void *arg);
void pdk__op_unref(struct pdk_op *op);

/* Give up, if it is pending: it fails with PDK_ECANCELED. */
void pdk__op_cancel(struct pdk_op *op);

/* The caller does not wait for it any more, or gives the lock back. Takes the caller's reference. */
void pdk__op_abandon(struct pdk_op *op);

/* A number of the calling thread's own, never used by another. */
uint64_t pdk__thread_number(void);

/* Every public verb begins and ends so. What is known comes first: what one call finds out by it must hold for all that
 * follow, and the thread that brings the news may be late. And the object stays until the verb has left: it may be freed as
 * soon as nobody waits. */
int pdk__mutex_enter(pdk_mutex *m);
void pdk__mutex_leave(pdk_mutex *m);

/* The grant of THREAD: 0 finds one that belongs to no thread. Several threads of one object can each have one, when all
 * but the last were lost. */
struct pdk_op *pdk__mutex_find_owned(struct pdk_mutex *m, uint64_t thread);

/* The grant that a question of the calling thread is about: its own, else the one that stands, else a lost one. */
struct pdk_op *pdk__mutex_find_asked(struct pdk_mutex *m);

/* That one stands. */
bool pdk__mutex_held_here(struct pdk_mutex *m);

/* Note an incident on the mutex and its client. Returns RC. */
int pdk__mutex_incident(struct pdk_mutex *m, const char *verb, int rc);
void pdk__mutex_unref(struct pdk_mutex *m);

#endif
