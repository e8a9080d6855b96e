/*
 * Several locks as one: a multi-lock holds all its paths, or none.
 *
 * Caveats, first:
 *  - Those of <paddock/lock.h> apply. When one path is lost, all are: the state is PDK_LOST. The nodes on the other
 *    paths stay until the program unlocks, because it may be at work under them still. So a program that overlooks
 *    the loss keeps others from those paths, as long as its session lives; after a session timeout the log warns.
 *  - Two multi-locks never wait for each other, whatever paths they share. One transaction makes the nodes on all
 *    paths, so every queue has them in one order.
 *  - A multi-lock and a program that locks the same paths one by one, in another order, can wait for each other, as
 *    two such programs can. `paddock graph` shows who waits for whom. A deadline ends it.
 *  - While it waits for one path, it may be first on the others: nobody else gets those meanwhile.
 *  - Each path is a pdk_mutex to all others, of Paddock and of Curator. Curator's InterProcessMultiLock locks one path
 *    after another, in the order that its program gives: sort them.
 *  - It has no lock delay. On a path whose other users have one it does not wait for that after a holder that did not
 *    unlock.
 *
 * Tokens: each path has its own, with the meaning of a mutex's. With one transaction all are the same number, unless
 * they are confirmed (pdk_lock_options_set_confirmed()).
 */
#ifndef PADDOCK_MULTILOCK_H
#define PADDOCK_MULTILOCK_H

#include <paddock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most paths of one multi-lock. */
#define PDK_MULTILOCK_MAX 64

typedef struct pdk_lock pdk_multilock;

/*
 * Create an object for N paths, as pdk_mutex_new(); no request is sent. The paths are copied. On success *M is the
 * caller's, to be given to pdk_lock_free().
 *
 * PDK_EINVAL: N is 0 or above PDK_MULTILOCK_MAX, two paths are the same, or the request would have more than 512 KiB:
 * for each path its length, the data of its node (4096 bytes where the program sets none), and 64 bytes.
 * PDK_EPATH: one of them is no path, as for pdk_mutex_new(). PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_multilock_new(pdk_multilock **m, pdk_client *c, const char *const *paths, unsigned n,
                      const pdk_lock_options *opts);

/*
 * Lock all paths. The call waits indefinitely. A thread that holds them returns at once, and must unlock as often.
 * Another client that deletes a node while the call waits makes it queue again, on all paths. As pdk_mutex_lock().
 */
int pdk_multilock_lock(pdk_multilock *m);

/* Lock all paths if all are free now. PDK_EBUSY: one is not. As pdk_mutex_trylock(). */
int pdk_multilock_trylock(pdk_multilock *m);

/* Give up TIMEOUT_MS milliseconds from now, as pdk_mutex_timedlock(). */
int pdk_multilock_timedlock(pdk_multilock *m, int64_t timeout_ms);

/* Lock all paths without waiting, as pdk_mutex_lock_async(). */
int pdk_multilock_lock_async(pdk_multilock *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g);

/* Unlock all paths, as pdk_mutex_unlock() and pdk_mutex_unlock_async(). PDK_ELOST: one path was lost before. */
int pdk_multilock_unlock(pdk_multilock *m);
int pdk_multilock_unlock_async(pdk_multilock *m, pdk_lock_cb cb, void *arg);

/* How many paths it has, and path I, from 0, in the order in which they were given; NULL: there is none. */
unsigned pdk_multilock_count(pdk_multilock *m);
const char *pdk_multilock_path(pdk_multilock *m, unsigned i);

/* Of path I, as those of the mutex. PDK_EINVAL: there is no path I. */
int pdk_multilock_token(pdk_multilock *m, unsigned i, int64_t *token);
size_t pdk_multilock_node(pdk_multilock *m, unsigned i, char *buf, size_t size);
int pdk_multilock_guard(pdk_multilock *m, unsigned i, struct zoo_op *check);

#ifdef __cplusplus
}
#endif

#endif
