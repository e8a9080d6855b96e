/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mutex that the threads and processes of a fleet share, named by a path, or by several that are held together: a
 * multi-lock.
 *
 * Caveats, first:
 *  - Those of <paddock/lock.h> apply.
 *  - Curator's InterProcessMutex on the same path and a pdk_mutex exclude each other. A Curator read/write lock or
 *    latch on the same path does not: give every lock a path of its own.
 *  - When one path of several is lost, all are: the state is PDK_LOST. The nodes on the other paths stay until the
 *    program unlocks, because it may be at work under them still. So a program that overlooks the loss keeps others
 *    from those paths, as long as its session lives; after a session timeout the log warns.
 *  - Two multi-locks never wait for each other, whatever paths they share. One transaction makes the nodes on all
 *    paths, so every queue has them in one order.
 *  - A multi-lock and a program that locks the same paths one by one, in another order, can wait for each other, as
 *    two such programs can. `paddock graph` shows who waits for whom. A deadline ends it.
 *  - While it waits for one path, it may be first on the others: nobody else gets those meanwhile.
 *  - Each path is a pdk_mutex to all others, of Paddock and of Curator. Curator's InterProcessMultiLock locks one path
 *    after another, in the order that its program gives: sort them.
 *  - It has no lock delay. On a path whose other users have one it does not wait for that after a holder that did not
 *    unlock.
 */
#ifndef PADDOCK_MUTEX_H
#define PADDOCK_MUTEX_H

#include <paddock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdk_lock pdk_mutex;

/*
 * Create a mutex object for PATH; no request is sent.
 *
 * PATH is absolute, within the client's chroot. The first lock creates the node and its missing ancestors, as
 * containers. OPTS may be NULL. On success *M is the caller's, to be given to pdk_lock_free().
 *
 * PDK_EPATH: PATH is relative, is "/", has more than 4096 bytes, or is not a ZooKeeper path.
 * PDK_EINVAL, PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_mutex_new(pdk_mutex **m, pdk_client *c, const char *path, const pdk_lock_options *opts);

/* The most paths of one mutex. */
#define PDK_MUTEX_PATHS_MAX 64

/*
 * Create a mutex object for N paths, which it holds all or none. The paths are copied. Another client that deletes a
 * node while a lock waits makes it queue again, on all paths. Otherwise as pdk_mutex_new().
 *
 * PDK_EINVAL: N is 0 or above PDK_MUTEX_PATHS_MAX, two paths are the same, or the request would have more than 512 KiB:
 * for each path its length, the data of its node (4096 bytes where the program sets none), and 64 bytes.
 * PDK_EPATH: one of them is no path. PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_mutex_new_several(pdk_mutex **m, pdk_client *c, const char *const *paths, unsigned n,
                          const pdk_lock_options *opts);

/*
 * Lock. The call waits indefinitely, through disconnections and new sessions.
 *
 * The call returns 0 only for a grant that is valid at that moment. A caller that wakes after its grant has ended
 * contends again, until its deadline. The calling thread becomes the owner. An owner that locks again returns at once,
 * and must unlock as often. The call is a cancellation point: a cancelled thread leaves no node.
 *
 * PDK_ELOST: the caller's own grant was lost; unlock first.
 * PDK_EACCES, PDK_EACL, PDK_EAUTH, PDK_EEXPIRED (adopted handle), PDK_EEXHAUSTED, PDK_EREFUSED, PDK_EPATH (below an
 * ephemeral node), PDK_ENOENT (an ancestor of the chroot is missing), PDK_ELIMIT, PDK_ESTALE, PDK_ESHORT, PDK_ESERVER,
 * PDK_ENOMEM, PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED: not locked, and no node is left.
 */
int pdk_mutex_lock(pdk_mutex *m);

/*
 * Lock if the lock is free; of several paths if all are. The call lists before it writes: when the lock is held,
 * nothing is written. It waits for the answers of a server, and for no connection.
 *
 * PDK_EBUSY: the lock is held, or was released so recently that the server does not know it yet; or its node is idle
 * (pdk_lock_options_set_keep()). Also: the lock was granted, and the grant was over when the call returned.
 * PDK_EDISCONNECTED: no server is connected, or none yet (pdk_client_wait()); or the connection ended during the call,
 * or no server answered within one session timeout. No grant; a node that may have been made is deleted in the
 * background. Otherwise as pdk_mutex_lock().
 */
int pdk_mutex_trylock(pdk_mutex *m);

/*
 * Lock, and give up TIMEOUT_MS milliseconds from now, whether a server answers or not. The clock counts suspended time.
 *
 * After the deadline the node is deleted in the background. So is a node whose create the servers commit late. With 0
 * the call is pdk_mutex_trylock(), with PDK_FOREVER pdk_mutex_lock().
 *
 * PDK_ETIMEDOUT; otherwise as pdk_mutex_lock().
 */
int pdk_mutex_timedlock(pdk_mutex *m, int64_t timeout_ms);

/*
 * Unlock; the last unlock of an owner releases the lock. After that call the caller does not hold the lock, whatever
 * the answer.
 *
 * 0: the node is deleted; with pdk_lock_options_set_unlock_nowait(), the delete was sent.
 * PDK_EPERM: the calling thread has not locked it; nothing happens. pdk_lock_last_error() says whether a thread or a
 * handle has.
 * PDK_ELOST: the lock was lost before. The delete detects that, too, when another client had deleted the node.
 * PDK_EUNKNOWN: no server confirmed within one session timeout; the library goes on deleting, or the session ends and
 * takes the node with it.
 * PDK_EACCES: the path's ACL does not permit to DELETE; the node stays until the session ends.
 * PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_mutex_unlock(pdk_mutex *m);

/*
 * Lock without waiting. CB is called exactly once, later, with the outcome.
 *
 * CB never runs inside this call, and never if the call returned an error. Any thread, also from a callback. On success
 * *G is the caller's, to be given to pdk_grant_release() or its like; it is set before CB is called. The grant belongs
 * to no thread: pdk_mutex_unlock() does not see it.
 *
 * PDK_EINVAL, PDK_ENOMEM, PDK_ELIMIT, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_ESERVER, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_mutex_lock_async(pdk_mutex *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g);

/* Unlock without waiting. CB (may be NULL) is called exactly once, later, with the result that pdk_mutex_unlock() would
 * have returned; never from inside this call, and never if it returned an error. Any thread, also from a callback; the
 * rules of ownership are those of pdk_mutex_unlock(). PDK_ENOMEM: the lock is held as before. PDK_EPERM, PDK_ELOST,
 * PDK_EFORKED. */
int pdk_mutex_unlock_async(pdk_mutex *m, pdk_lock_cb cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
