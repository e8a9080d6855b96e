/*
 * Several locks as one: a multi-lock holds all its paths, or none.
 *
 * Caveats, first:
 *  - Those of <paddock/mutex.h> apply: a grant is a belief, LOST is final, the process must unlock or close. When one
 *    path is lost, all are.
 *  - Two multi-locks never wait for each other, whatever paths they share. One transaction makes the nodes on all
 *    paths, so every queue has them in one order.
 *  - A multi-lock and a program that locks the same paths one by one, in another order, can wait for each other, as
 *    two such programs can. `paddock graph` shows who waits for whom. A deadline ends it.
 *  - While it waits for one path, it may be first on the others: nobody else gets those meanwhile.
 *  - Each path is a pdk_mutex to all others, of Paddock and of Curator. Curator's InterProcessMultiLock locks one path
 *    after another, in the order that its program gives: sort them.
 *  - It has neither a lock delay nor a least token. On a path whose other users have a lock delay it does not wait for
 *    that after a holder that did not unlock.
 *
 * Tokens: each path has its own, with the meaning of a mutex's. With one transaction all are the same number.
 */
#ifndef PADDOCK_MULTILOCK_H
#define PADDOCK_MULTILOCK_H

#include <paddock/mutex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most paths of one multi-lock. */
#define PDK_MULTILOCK_MAX 64

typedef struct pdk_multilock pdk_multilock;
typedef struct pdk_multilock_options pdk_multilock_options;

/* Create options with their defaults; NULL when memory is out. The caller frees them; the lock copies what it needs. */
pdk_multilock_options *pdk_multilock_options_new(void);
void pdk_multilock_options_free(pdk_multilock_options *o);

/* As those of the mutex, for each path. */
int pdk_multilock_options_set_data(pdk_multilock_options *o, const void *data, size_t size);
int pdk_multilock_options_set_confirmed(pdk_multilock_options *o, bool confirmed);
int pdk_multilock_options_set_unlock_nowait(pdk_multilock_options *o, bool nowait);

/*
 * Create an object for N paths, as pdk_mutex_new(); no request is sent. The paths are copied. On success *M is the
 * caller's, to be given to pdk_multilock_free().
 *
 * PDK_EINVAL: N is 0 or above PDK_MULTILOCK_MAX, two paths are the same, or the request would have more than 512 KiB:
 * for each path its length, the data of its node, and 64 bytes.
 * PDK_EPATH: one of them is no path. PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_multilock_new(pdk_multilock **m, pdk_client *c, const char *const *paths, unsigned n,
                      const pdk_multilock_options *opts);

/* Free the object, as pdk_mutex_free(). NULL is allowed. PDK_EBUSY, PDK_EFORKED. */
int pdk_multilock_free(pdk_multilock *m);

/*
 * Lock all paths. The call waits indefinitely. A thread that holds them returns at once, and must unlock as often.
 * Another client that deletes a node while the call waits makes it queue again, on all paths. As pdk_mutex_lock().
 */
int pdk_multilock_lock(pdk_multilock *m);

/* Lock all paths if all are free now. PDK_EBUSY: one is not. As pdk_mutex_trylock(). */
int pdk_multilock_trylock(pdk_multilock *m);

/* Give up TIMEOUT_MS milliseconds from now, as pdk_mutex_timedlock(). */
int pdk_multilock_timedlock(pdk_multilock *m, int64_t timeout_ms);

/* Call CB with the outcome, as pdk_mutex_lock_async(). The grant belongs to no thread: any thread may unlock it. */
int pdk_multilock_lock_async(pdk_multilock *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg);

/* Take back the asynchronous requests that wait: their callbacks get PDK_ECANCELED. Returns how many, or PDK_EINVAL,
 * PDK_EFORKED. */
int pdk_multilock_cancel(pdk_multilock *m);

/* Unlock all paths, as pdk_mutex_unlock() and pdk_mutex_unlock_async(). PDK_ELOST: one path was lost before. */
int pdk_multilock_unlock(pdk_multilock *m);
int pdk_multilock_unlock_async(pdk_multilock *m, pdk_lock_cb cb, void *arg);

/* The state of the whole: PDK_SUSPECT when one path is, PDK_LOST when one is. As pdk_mutex_state(). */
pdk_state pdk_multilock_state(pdk_multilock *m);

/* The milliseconds for which all paths are certain to be held, as pdk_mutex_valid_ms(). */
int64_t pdk_multilock_valid_ms(pdk_multilock *m);

/* How many paths it has, and path I, from 0, in the order in which they were given; NULL: there is none. */
unsigned pdk_multilock_count(pdk_multilock *m);
const char *pdk_multilock_path(pdk_multilock *m, unsigned i);

/* Of path I, as those of the mutex. PDK_EINVAL: there is no path I. */
int pdk_multilock_token(pdk_multilock *m, unsigned i, int64_t *token);
size_t pdk_multilock_node(pdk_multilock *m, unsigned i, char *buf, size_t size);
int pdk_multilock_guard(pdk_multilock *m, unsigned i, struct zoo_op *check);

/* As those of the mutex. */
pdk_client *pdk_multilock_client(pdk_multilock *m);
void pdk_multilock_set_user(pdk_multilock *m, void *user);
void *pdk_multilock_user(pdk_multilock *m);
int pdk_multilock_fd(pdk_multilock *m);
int pdk_multilock_next_change(pdk_multilock *m, pdk_state *state, int64_t *token);
size_t pdk_multilock_last_error(pdk_multilock *m, char *buf, size_t size);

/* As pdk_state_cb and pdk_mutex_on_state(). TOKEN, the largest of the grant's tokens, identifies the grant. */
typedef void (*pdk_multilock_state_cb)(pdk_multilock *m, pdk_state state, int64_t token, void *arg);
int pdk_multilock_on_state(pdk_multilock *m, pdk_multilock_state_cb cb, void *arg);

/* As pdk_revoke_cb and pdk_mutex_on_revoke(). Called once for each path that is asked for. */
typedef void (*pdk_multilock_revoke_cb)(pdk_multilock *m, int64_t token, void *arg);
int pdk_multilock_on_revoke(pdk_multilock *m, pdk_multilock_revoke_cb cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
