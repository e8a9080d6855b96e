/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A read/write lock that the threads and processes of a fleet share, named by a path: many readers at once, or one
 * writer.
 *
 * Caveats, first:
 *  - Those of <paddock/lock.h> apply.
 *  - Readers and writers queue in one order, that in which the servers created their nodes. A reader that comes after a
 *    waiting writer waits for it. A thread that holds the lock re-enters it in the same mode at once, also while a
 *    writer waits.
 *  - No thread can turn its read lock into a write lock: two readers that tried would wait for each other. The answer
 *    is PDK_EDEADLK, at once.
 *  - A writer can go on as a reader, and no writer comes between (pdk_rwlock_downgrade()). The token stays.
 *  - Curator's InterProcessReadWriteLock on the same path and a pdk_rwlock exclude each other as their modes demand. A
 *    pdk_mutex on the path is one more writer. Locks of other libraries count as writers when they are ahead, and may
 *    not wait for a reader: give every lock a path of its own.
 *
 * Tokens: each grant has the number of its node's creation, so a later writer's token is larger than those of all who
 * held before it. Readers that hold at the same time have different tokens. A store keeps the largest writer's token
 * that it has seen, and refuses reads and writes with a smaller one. It does not keep readers' tokens: a reader's may
 * be larger than that of a writer that now goes on as a reader.
 */
#ifndef PADDOCK_RWLOCK_H
#define PADDOCK_RWLOCK_H

#include <paddock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdk_lock pdk_rwlock;

/* Create an object for PATH, as pdk_mutex_new(); no request is sent. On success *L is the caller's, to be given to
 * pdk_lock_free(). PDK_EPATH, PDK_EINVAL, PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED. */
int pdk_rwlock_new(pdk_rwlock **l, pdk_client *c, const char *path, const pdk_lock_options *opts);

/*
 * Lock for reading. The call waits indefinitely while a writer holds the lock or waits ahead of it.
 *
 * A thread that reads already returns at once, and must unlock as often. A thread that writes gets the lock for reading
 * too, with a node under the number of its writer's and with that one's token.
 *
 * PDK_ELOST: the caller's own grant was lost; unlock first. Otherwise as pdk_mutex_lock().
 */
int pdk_rwlock_rdlock(pdk_rwlock *l);

/* Lock for reading if that is possible now, as pdk_mutex_trylock(). PDK_EBUSY: a writer holds the lock or waits for it.
 * */
int pdk_rwlock_tryrdlock(pdk_rwlock *l);

/* Lock for reading, and give up TIMEOUT_MS milliseconds from now, as pdk_mutex_timedlock(). */
int pdk_rwlock_timedrdlock(pdk_rwlock *l, int64_t timeout_ms);

/* Lock for writing. PDK_EDEADLK: the calling thread holds the lock for reading, or it is a callback's. Otherwise as
 * pdk_mutex_lock(). */
int pdk_rwlock_wrlock(pdk_rwlock *l);
int pdk_rwlock_trywrlock(pdk_rwlock *l);
int pdk_rwlock_timedwrlock(pdk_rwlock *l, int64_t timeout_ms);

/*
 * Unlock what the calling thread took last, one level of it. The last level of a mode gives that mode back.
 *
 * A thread that wrote, and reads under its write lock, gives back the read lock first. PDK_EPERM: the caller holds
 * nothing; nothing happens. Otherwise as pdk_mutex_unlock().
 */
int pdk_rwlock_unlock(pdk_rwlock *l);

/*
 * Go on as a reader: lock for reading, under the write lock of the calling thread, and unlock one level of that. No
 * writer comes between, and the token stays.
 *
 * 0: the thread reads. PDK_EUNKNOWN, PDK_EACCES: it reads, and the node of the write lock may be left, as after
 * pdk_mutex_unlock().
 * PDK_EPERM: the thread has not locked for writing. PDK_ELOST: the lock was lost; unlock it. Other errors are those of
 * pdk_rwlock_rdlock(): the thread writes as before.
 */
int pdk_rwlock_downgrade(pdk_rwlock *l);

/* Lock without waiting, as pdk_mutex_lock_async(). Such a grant belongs to no thread, and is never made under another.
 * */
int pdk_rwlock_rdlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g);
int pdk_rwlock_wrlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g);

/* Unlock without waiting, as pdk_mutex_unlock_async(), what pdk_rwlock_unlock() would unlock. */
int pdk_rwlock_unlock_async(pdk_rwlock *l, pdk_lock_cb cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
