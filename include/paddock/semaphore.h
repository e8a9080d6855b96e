/* SPDX-License-Identifier: Apache-2.0 */
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
 *  - An acquisition belongs to no thread. Any thread may release it, and no thread re-enters it: a thread that holds
 *    all permits and asks for one more waits for itself.
 *  - When one node of an acquisition is lost, all of it is. Its other permits stay taken until it is released, because
 *    the program may be at work under them still. After a session timeout the log warns.
 *  - Wire: Curator's InterProcessSemaphoreV2; with one permit, its InterProcessSemaphoreMutex. A Curator client that
 *    asks for several permits collects them one by one. While it waits with a part of them, it can block all others.
 *
 * Tokens: each acquisition has one, which tells it from all others. Several acquisitions are valid at once, so a
 * resource cannot refuse a token because it is smaller than another; it can refuse the token of an acquisition whose
 * end it was told. With a limit of 1 the token is a fencing token as that of a mutex. With a larger one it does not
 * even tell which acquisition came first: a try can be granted before an older request hears of its last permit.
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

/*
 * Create an object for PATH with LIMIT permits, as pdk_mutex_new(); no request is sent. On success *S is the caller's,
 * to be given to pdk_lock_free(). PDK_EINVAL: LIMIT is 0 or above PDK_SEMAPHORE_MAX. PDK_EPATH, PDK_ENOMEM,
 * PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_semaphore_new(pdk_semaphore **s, pdk_client *c, const char *path, unsigned limit, const pdk_lock_options *opts);

/*
 * Acquire N permits, all or none. On success *G is the caller's, to be given to pdk_grant_release().
 *
 * The call waits indefinitely: first for the requests before it, then until N permits are free.
 *
 * PDK_EINVAL: N is 0 or above the limit; nothing is requested. Or the limit has become smaller than N meanwhile.
 * PDK_EDEADLK: the calling thread runs callbacks of the client.
 * Otherwise as pdk_mutex_lock().
 */
int pdk_semaphore_acquire(pdk_semaphore *s, unsigned n, pdk_grant **g);

/* Acquire N permits if they are free now, without waiting for others. The call lists before it writes: when fewer are
 * free, nothing is written. PDK_EBUSY: fewer are free, or a request before this one has claimed them. Two tries at the
 * same moment can both find too few. Otherwise as pdk_mutex_trylock(). */
int pdk_semaphore_tryacquire(pdk_semaphore *s, unsigned n, pdk_grant **g);

/* Acquire N permits, and give up TIMEOUT_MS milliseconds from now, as pdk_mutex_timedlock(). 0: one look, as
 * pdk_semaphore_tryacquire(), but PDK_ETIMEDOUT. */
int pdk_semaphore_timedacquire(pdk_semaphore *s, unsigned n, int64_t timeout_ms, pdk_grant **g);

/*
 * Request N permits, and call CB with the outcome on the client's callback thread, as pdk_mutex_lock_async().
 *
 * *G is the handle of the request, before CB is called. It is the caller's, to be given to pdk_grant_release(),
 * also when the outcome is an error. A release before the outcome takes the request back: CB is called with
 * PDK_ECANCELED.
 */
int pdk_semaphore_acquire_async(pdk_semaphore *s, unsigned n, int64_t timeout_ms, pdk_lock_cb cb, void *arg,
                                pdk_grant **g);

/*
 * Change the limit of this object, also while its threads wait. Permits above a smaller limit stay with their holders,
 * and with those requests that had found them free already.
 * A request that waits for more than the limit fails at once with PDK_EINVAL, and its incident says so.
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
 * While a server is connected, the call waits for the first reading, for at most a session timeout; on a thread that
 * runs callbacks it does not wait. The limit of pdk_semaphore_new() stands until the node was read. It stays as it is
 * while the node is missing, cannot be read, or has another size or a number below 1 or above PDK_SEMAPHORE_MAX;
 * pdk_client_last_error() has the reason of a refusal. A smaller one is as with pdk_semaphore_set_limit(). A change
 * reaches each client on its own: until it has, the trap of that function applies. The node is read again once in a
 * session timeout, because servers send no event to a client that may not READ it at that moment.
 *
 * PDK_EINVAL: it follows a node already. PDK_EPATH, PDK_ELIMIT, PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT,
 * PDK_ESERVER, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_semaphore_follow(pdk_semaphore *s, const char *count_path);

#ifdef __cplusplus
}
#endif

#endif
