/*
 * A read/write lock that the threads and processes of a fleet share, named by a path: many readers at once, or one
 * writer.
 *
 * Caveats, first:
 *  - Those of <paddock/mutex.h> apply: a grant is a belief, LOST is final, the process must unlock or close.
 *  - Readers and writers queue in one order, that in which the servers created their nodes. A reader that comes after a
 *    waiting writer waits for it. A thread that holds the lock re-enters it in the same mode at once, also while a
 *    writer waits.
 *  - No thread can turn its read lock into a write lock: two readers that tried would wait for each other. The answer is
 *    PDK_EDEADLK, at once.
 *  - A writer can go on as a reader, and no writer comes between: it takes the read lock, then gives back the write
 *    lock (pdk_rwlock_wrunlock()). The token stays.
 *  - Curator's InterProcessReadWriteLock on the same path and a pdk_rwlock exclude each other as their modes demand. A
 *    pdk_mutex on the path is one more writer. Locks of other libraries count as writers when they are ahead, and may
 *    not wait for a reader: give every lock a path of its own.
 *
 * Tokens: each grant has the number of its node's creation, so a later writer's token is larger than those of all who
 * held before it. Readers that hold at the same time have different tokens. A store that is to be safe remembers the
 * largest token of a writer that it has seen, and refuses what carries a smaller one, reads as well as writes. It does
 * not remember readers' tokens: a reader's may be larger than that of a writer that now goes on as a reader.
 */
#ifndef PADDOCK_RWLOCK_H
#define PADDOCK_RWLOCK_H

#include <paddock/mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdk_rwlock pdk_rwlock;
typedef struct pdk_rwlock_options pdk_rwlock_options;

/* Create options with their defaults; NULL when memory is out. The caller frees them; the lock copies what it needs. */
pdk_rwlock_options *pdk_rwlock_options_new(void);
void pdk_rwlock_options_free(pdk_rwlock_options *o);

/* As pdk_mutex_options_set_data(). */
int pdk_rwlock_options_set_data(pdk_rwlock_options *o, const void *data, size_t size);

/* As pdk_mutex_options_set_min_token(), for both modes. */
int pdk_rwlock_options_set_min_token(pdk_rwlock_options *o, int64_t min_token);

/* As pdk_mutex_options_set_unlock_nowait(), for both modes. */
int pdk_rwlock_options_set_unlock_nowait(pdk_rwlock_options *o, bool nowait);

/*
 * Keep the node of either mode after its last unlock, as pdk_mutex_options_set_idle_hold_ms(). The next lock of that mode
 * through the object takes it over.
 *
 * One node of an object is kept at most. A lock of the other mode through the object gives it up first. Nor does a kept
 * write lock serve a reader: it would keep other readers out. A read lock that a thread took under its own write lock is not kept.
 *
 * A kept write lock gives way to every contender, as a mutex. A kept read lock gives way to a writer, and not to readers.
 * It cannot tell them apart without a listing, so the writer is served at most two round trips later than without this
 * option. The client lists once for each change of PATH's children while the node is idle; when four such listings in a
 * row have shown no writer, the node goes with the next change. The first idle moment after a change costs one listing.
 *
 * PDK_EINVAL: IDLE_MS is negative or over 24 hours.
 */
int pdk_rwlock_options_set_idle_hold_ms(pdk_rwlock_options *o, int idle_ms);

/* Create an object for PATH, as pdk_mutex_new(); no request is sent. On success *L is the caller's, to be given to
 * pdk_rwlock_free(). PDK_EPATH, PDK_EINVAL, PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED. */
int pdk_rwlock_new(pdk_rwlock **l, pdk_client *c, const char *path, const pdk_rwlock_options *opts);

/* Free the object, as pdk_mutex_free(). NULL is allowed. PDK_EBUSY, PDK_EFORKED. */
int pdk_rwlock_free(pdk_rwlock *l);

/*
 * Lock for reading. The call waits indefinitely while a writer holds the lock or waits ahead of it.
 *
 * A thread that reads already returns at once, and must unlock as often. A thread that writes gets the lock for reading
 * too, with a node under the number of its writer's and with that one's token.
 *
 * PDK_ELOST: the caller's own grant was lost; unlock first. Otherwise as pdk_mutex_lock().
 */
int pdk_rwlock_rdlock(pdk_rwlock *l);

/* Lock for reading if that is possible now, as pdk_mutex_trylock(). PDK_EBUSY: a writer holds the lock or waits for it. */
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

/* Unlock one level of that mode, whichever was taken last. PDK_EPERM: the caller does not hold it in that mode. */
int pdk_rwlock_rdunlock(pdk_rwlock *l);
int pdk_rwlock_wrunlock(pdk_rwlock *l);

/* Lock without waiting, as pdk_mutex_lock_async(). Such a grant belongs to no thread, and is never made under another. */
int pdk_rwlock_rdlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op);
int pdk_rwlock_wrlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op);

/* Unlock without waiting, as pdk_mutex_unlock_async(), what pdk_rwlock_unlock() would unlock. */
int pdk_rwlock_unlock_async(pdk_rwlock *l, pdk_lock_cb cb, void *arg);

/* As those of the mutex. The caller's grant is its own write lock, else its read lock; when the calling thread has none,
 * any of the object's. */
pdk_state pdk_rwlock_state(pdk_rwlock *l);
int pdk_rwlock_token(pdk_rwlock *l, int64_t *token);
int pdk_rwlock_turn(pdk_rwlock *l, uint64_t *turn);
int64_t pdk_rwlock_valid_ms(pdk_rwlock *l);
size_t pdk_rwlock_node(pdk_rwlock *l, char *buf, size_t size);
int pdk_rwlock_ahead(pdk_rwlock *l, int64_t *ahead);
int pdk_rwlock_guard(pdk_rwlock *l, struct zoo_op *op);
const char *pdk_rwlock_path(pdk_rwlock *l);
pdk_client *pdk_rwlock_client(pdk_rwlock *l);
void pdk_rwlock_set_user(pdk_rwlock *l, void *user);
void *pdk_rwlock_user(pdk_rwlock *l);
int pdk_rwlock_fd(pdk_rwlock *l);
int pdk_rwlock_next_change(pdk_rwlock *l, pdk_state *state, int64_t *token);
size_t pdk_rwlock_last_error(pdk_rwlock *l, char *buf, size_t size);

/* As pdk_state_cb and pdk_mutex_on_state(). TOKEN identifies the grant; the read lock under a write lock has its token. */
typedef void (*pdk_rwlock_state_cb)(pdk_rwlock *l, pdk_state state, int64_t token, void *arg);
int pdk_rwlock_on_state(pdk_rwlock *l, pdk_rwlock_state_cb cb, void *arg);

/* As pdk_revoke_cb and pdk_mutex_on_revoke(). */
typedef void (*pdk_rwlock_revoke_cb)(pdk_rwlock *l, int64_t token, void *arg);
int pdk_rwlock_on_revoke(pdk_rwlock *l, pdk_rwlock_revoke_cb cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
