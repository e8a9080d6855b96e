/*
 * A semaphore that the threads and processes of a fleet share: up to LIMIT permits are held at once.
 *
 * Caveats, first:
 *  - Those of <paddock/lock.h> apply to a permit.
 *  - All clients of a path must agree on the limit. A client with a larger limit is granted permits beyond the limit of
 *    the others.
 *  - A request for several permits gets all of them or none. No two requests can block each other: one at a time
 *    collects permits, in the order in which they came, and the others wait for it. So a request for many permits is
 *    not passed by one for few.
 *  - An acquisition belongs to no thread. Any thread may release it, and no thread re-enters it: a thread that holds all
 *    permits and asks for one more waits for itself.
 *  - Wire: Curator's InterProcessSemaphoreV2; with one permit, its InterProcessSemaphoreMutex. A Curator client that
 *    asks for several permits collects them one by one. While it waits with a part of them, it can block all others.
 *
 * Tokens: each acquisition has one, and later ones have larger ones. Several acquisitions are valid at once, so a
 * resource cannot refuse a token because it is smaller than another; it can refuse a token that it was told is over.
 * With a limit of 1 the token is a fencing token as that of a mutex.
 */
#ifndef PADDOCK_SEMAPHORE_H
#define PADDOCK_SEMAPHORE_H

#include <paddock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The largest limit, and the most permits of one acquisition. */
#define PDK_SEMAPHORE_MAX 1000

typedef struct pdk_lock pdk_semaphore;

/* One acquisition, of one or more permits; or a request for it. */
typedef struct pdk_permit pdk_permit;

/*
 * Create an object for PATH with LIMIT permits, as pdk_mutex_new(); no request is sent. On success *S is the caller's,
 * to be given to pdk_lock_free(). PDK_EINVAL: LIMIT is 0 or above PDK_SEMAPHORE_MAX. PDK_EPATH, PDK_ENOMEM,
 * PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_semaphore_new(pdk_semaphore **s, pdk_client *c, const char *path, unsigned limit, const pdk_lock_options *opts);

/*
 * Acquire N permits, all or none. On success *PERMIT is the caller's, to be given to pdk_permit_release().
 *
 * The call waits indefinitely: first for the requests before it, then until N permits are free.
 *
 * PDK_EINVAL: N is 0 or above the limit; nothing is requested.
 * PDK_EDEADLK: the calling thread runs callbacks of the client.
 * Otherwise as pdk_mutex_lock().
 */
int pdk_semaphore_acquire(pdk_semaphore *s, unsigned n, pdk_permit **permit);

/* Acquire N permits if they are free now, without waiting for others. PDK_EBUSY: fewer are free, or a request before
 * this one has claimed them. Two tries at the same moment can both find too few. Otherwise as pdk_mutex_trylock(). */
int pdk_semaphore_tryacquire(pdk_semaphore *s, unsigned n, pdk_permit **permit);

/* Acquire N permits, and give up TIMEOUT_MS milliseconds from now, as pdk_mutex_timedlock(). 0: one look, as
 * pdk_semaphore_tryacquire(), but PDK_ETIMEDOUT. */
int pdk_semaphore_timedacquire(pdk_semaphore *s, unsigned n, int64_t timeout_ms, pdk_permit **permit);

/*
 * Request N permits, and call CB with the outcome on the client's callback thread, as pdk_mutex_lock_async().
 *
 * *PERMIT is the handle of the request, before CB is called. It is the caller's, to be given to pdk_permit_release(),
 * also when the outcome is an error. A release before the outcome takes the request back: CB is called with
 * PDK_ECANCELED.
 */
int pdk_semaphore_acquire_async(pdk_semaphore *s, unsigned n, int64_t timeout_ms, pdk_lock_cb cb, void *arg,
                                pdk_permit **permit);

/*
 * Change the limit of this object, also while its threads wait. Permits above a smaller limit stay with their holders.
 * PDK_EINVAL: LIMIT is 0 or above PDK_SEMAPHORE_MAX. PDK_EFORKED.
 *
 * The trap: other clients keep theirs. Lower the limit in all clients before you rely on it.
 */
int pdk_semaphore_set_limit(pdk_semaphore *s, unsigned limit);
unsigned pdk_semaphore_limit(pdk_semaphore *s);

/*
 * Take the limit from the node at COUNT_PATH, and follow its changes, also while threads wait: Curator's SharedCount,
 * whose data are a 32-bit number with the most significant byte first. So a fleet has one limit, and a change of it
 * reaches all.
 *
 * The limit of pdk_semaphore_new() stands until the node was read. It stays as it is while the node is missing, cannot
 * be read, or has another size or a number below 1 or above PDK_SEMAPHORE_MAX; pdk_client_last_error() has the reason
 * of a refusal. A change reaches each client on its own: until it has, the trap of pdk_semaphore_set_limit() applies.
 *
 * PDK_EINVAL: it follows a node already. PDK_EPATH, PDK_ELIMIT, PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_semaphore_follow(pdk_semaphore *s, const char *count_path);

/*
 * Release the permits, from any thread, and end the handle: whatever the result is, PERMIT must not be used again. The
 * call returns when the servers have deleted the nodes, within one session timeout. NULL is allowed.
 *
 * PDK_ELOST: the permits were lost before; the work done under them may have overlapped with that of others.
 * PDK_EUNKNOWN: no server confirmed the release; it goes on in the background.
 * PDK_EDEADLK: the calling thread runs callbacks of the client; use pdk_permit_release_async(). The handle stays.
 * PDK_EFORKED: the handle stays.
 */
int pdk_permit_release(pdk_permit *permit);

/*
 * Release the permits without waiting, and end the handle. CB (may be NULL) is called, when 0 is returned, with what
 * pdk_permit_release() would return, within one session timeout.
 *
 * PDK_ELOST: the permits were lost before.
 * PDK_EPERM: they were not granted; a request that still waits is taken back.
 * PDK_EINVAL: PERMIT is NULL. PDK_EFORKED: the handle stays.
 */
int pdk_permit_release_async(pdk_permit *permit, pdk_lock_cb cb, void *arg);

/* The state of the acquisition: PDK_FREE before the outcome and after a failure, PDK_SUSPECT when one of its permits
 * is, PDK_LOST when one of them is. */
pdk_state pdk_permit_state(pdk_permit *permit);

/* The milliseconds for which all permits of it are certain to be held, as pdk_lock_valid_ms(). */
int64_t pdk_permit_valid_ms(pdk_permit *permit);

/* The token of the acquisition. PDK_EPERM: it was not granted. PDK_EINVAL, PDK_EFORKED. */
int pdk_permit_token(pdk_permit *permit, int64_t *token);

/* How many permits it has. */
unsigned pdk_permit_count(pdk_permit *permit);

/* The name of the node of permit I, from 0, under the path's "leases", as pdk_lock_node(). */
size_t pdk_permit_node(pdk_permit *permit, unsigned i, char *buf, size_t size);

/* Fill CHECK for permit I, from 0, as pdk_lock_guard(): the transaction commits only while that permit is held. A
 * transaction of all of them has a check for each. */
int pdk_permit_guard(pdk_permit *permit, unsigned i, struct zoo_op *check);

#ifdef __cplusplus
}
#endif

#endif
