/* The mutex, inside: shared by the files that serve the user (the object, its options, locking, its state) and op.c,
 * which serves the driver. */
#ifndef PDK__MUTEX_H
#define PDK__MUTEX_H

#include "lib/incident.h"
#include "recipes/changes.h"
#include "recipes/op.h"

struct pdk_mutex_options {
    void *data;
    size_t data_size;
    struct pdk__conditions conditions;
};

/* A path that was lent with a check op. The program may use it long after the grant, and zoo_multi() frees a path
 * that it rejects. So it is freed with the mutex, and is never written to again. */
struct pdk__guard {
    struct pdk__guard *next;
    char *path;
};

struct pdk_mutex {
    struct pdk_client *client;
    unsigned refs; /* the user's, one per op, one per call that is under way */
    char *path;
    struct pdk_mutex_options options;
    struct pdk__list ops;
    struct pdk__guard *guards;
    uint64_t number;               /* its number in incidents */
    char error[PDK__INCIDENT_MAX]; /* the last incident that came without a call, since the last grant */
    _Atomic(void *) user;
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

/* The caller no longer waits for it, or releases the lock. Takes the caller's reference. */
void pdk__op_abandon(struct pdk_op *op);

/* A number of the calling thread's own, never used by another. */
uint64_t pdk__thread_number(void);

/* Every public verb begins and ends with these. The state is brought up to date first: the state that one call finds
 * must hold for all later calls, and the thread that delivers the event may be late. The object stays until the verb
 * has left: it may be freed as soon as no thread waits. */
int pdk__mutex_enter(pdk_mutex *m);
void pdk__mutex_leave(pdk_mutex *m);

/* The grant of THREAD; 0 finds one that belongs to no thread. Several threads of one object can each have a grant,
 * when all but the last were lost. */
struct pdk_op *pdk__mutex_find_owned(struct pdk_mutex *m, uint64_t thread);

/* The grant that a question of the calling thread is about: its own, else the valid one, else a lost one. */
struct pdk_op *pdk__mutex_find_asked(struct pdk_mutex *m);

/* The path of the node of OP's grant, for a check op; NULL when memory is out. */
const char *pdk__mutex_guard_path(struct pdk_op *op);

/* Is there such a grant, and is it not lost? */
bool pdk__mutex_held_here(struct pdk_mutex *m);

/* Verbs that can fail begin and end with these instead. The end notes why the call failed, unless a callee has noted
 * it already, or that it did not fail. Returns RC. */
int pdk__mutex_begin(pdk_mutex *m);
int pdk__mutex_end(pdk_mutex *m, const char *verb, int rc);

/* The calling thread's call fails with RC, which is returned. Notes the reason, as far as the client or the op knows
 * it. */
int pdk__mutex_blame(struct pdk_mutex *m, const char *verb, int rc);
int pdk__op_blame(const struct pdk_op *op, const char *verb, int rc);

/* Note a failure that came without a call. */
void pdk__mutex_incident(struct pdk_mutex *m, const char *verb, int rc);
void pdk__mutex_unref(struct pdk_mutex *m);

#endif
