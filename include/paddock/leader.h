/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A leader, chosen among all candidates of a path: a latch, as Curator calls it. The leader leads until it resigns,
 * dies or loses its session; then the next candidate does.
 *
 * Caveats, first:
 *  - To lead is a belief, as holding a lock is (lock.h). Check that pdk_lock_state() is PDK_HELD before each step that
 *    only a leader may take. Pass the term's token to every resource that is written to, and let it refuse smaller
 *    tokens.
 *  - PDK_SUSPECT is not yet the end of a term, but no longer a licence to work: stop, and wait for PDK_HELD or
 *    PDK_EVENT_DEPOSED.
 *  - PDK_EVENT_DEPOSED ends a term, not the candidacy. The object becomes a candidate again unasked, at the end of the
 *    queue, with a new node and a new token, until it resigns or is freed.
 *  - The object belongs to no thread: any thread may start it, ask it or make it resign.
 *  - Curator's LeaderLatch on the same path and a pdk_leader exclude each other, and each reads the other's id; its
 *    LeaderSelector and a pdk_leader in turns likewise. Locks of any kind need paths of their own.
 */
#ifndef PADDOCK_LEADER_H
#define PADDOCK_LEADER_H

#include <paddock/contenders.h>
#include <paddock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of <paddock/lock.h> these verbs take it: free, path, state, valid_ms, token, node, guard, ahead, on_event,
 * fd, next_event and last_error. */
typedef struct pdk_lock pdk_leader;

/* The nodes of the candidates. */
typedef enum pdk_leader_mode {
    PDK_LATCH = 0,   /* those of Curator's LeaderLatch: a term ends when the leader resigns */
    PDK_IN_TURNS = 1 /* those of Curator's LeaderSelector: pdk_leader_yield() ends a term, and the candidate is again at
                        the end of the queue */
} pdk_leader_mode;

/*
 * Create a leader object for PATH, which is no candidate yet; no request is sent. PATH as in pdk_mutex_new().
 *
 * OPTS may be NULL. Its data are the id that other clients read, Curator's participant id; without data the id is the
 * host's name and the process, as "db7:4711". A leader has pdk_lock_options_set_refuse_mixed(), too: its candidacy then
 * ends on a path with contenders of another recipe, and pdk_leader_wait() answers PDK_EMIXED. It has no other option.
 *
 * On success *L is the caller's, to be given to pdk_lock_free(), which refuses no leader: its candidacy ends, and its
 * node is deleted in the background. A caller that must know that the node is deleted resigns before.
 *
 * PDK_ENOTSUP: OPTS has an option that leaders do not have. PDK_EPATH, PDK_EINVAL, PDK_ENOMEM, PDK_ESYSTEM,
 * PDK_ECLOSED, PDK_EFORKED.
 *
 * The trap: a path has candidates of one mode. A latch and a candidate in turns on one path wait for each other, but
 * Curator's LeaderLatch and LeaderSelector do not.
 */
int pdk_leader_new(pdk_leader **l, pdk_client *c, const char *path, pdk_leader_mode mode, const pdk_lock_options *opts);

/*
 * Become a candidate, without waiting for the outcome. Nothing happens when the object is a candidate already. From now
 * on, through disconnections and new sessions, it has one node in the queue, and leads when that is the first.
 *
 * PDK_ELIMIT, PDK_EAUTH, PDK_ESHORT, PDK_ESERVER, PDK_EEXPIRED (adopted handle), PDK_ECLOSED, PDK_EFORKED: it is no
 * candidate.
 */
int pdk_leader_start(pdk_leader *l);

/*
 * End the candidacy, and the term if there is one. The term ends at once for every call on the object, and
 * PDK_EVENT_DEPOSED is reported.
 *
 * The call returns when the node is deleted, or after one session timeout.
 *
 * 0: the node is deleted, or there was none.
 * PDK_ELOST: another client had deleted the node of the term.
 * PDK_EUNKNOWN: no server confirmed within one session timeout; the library goes on deleting, or the session ends and
 * takes the node with it.
 * PDK_EACCES: the path's ACL does not permit to DELETE; the node stays until the session ends.
 * PDK_EDEADLK: the caller is a callback thread; nothing happens.
 * PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_leader_resign(pdk_leader *l);

/*
 * End the term, and be a candidate again at the end of the queue, with a new node and a new token. PDK_EVENT_DEPOSED is
 * reported. The call does not wait. Any thread, also from a callback.
 *
 * PDK_EPERM: the object does not lead; nothing happens. PDK_EINVAL, PDK_EFORKED.
 */
int pdk_leader_yield(pdk_leader *l);

/* The outcome of pdk_leader_resign_async(). */
typedef void (*pdk_resign_cb)(int rc, void *arg);

/* Resign without waiting. CB (may be NULL) is called exactly once, later, with the result that pdk_leader_resign()
 * would have returned; never from inside this call, and never if it returned an error. Any thread, also from a
 * callback. PDK_EBUSY while the callback of an earlier call is still to come, PDK_ECLOSED, PDK_EFORKED. */
int pdk_leader_resign_async(pdk_leader *l, pdk_resign_cb cb, void *arg);

/*
 * Wait until the object leads, at most TIMEOUT_MS milliseconds (PDK_FOREVER: no limit). The clock counts suspended
 * time.
 *
 * With 0 the call does not wait, and is allowed in a callback. The call is a cancellation point: the object of a
 * cancelled thread stays a candidate.
 *
 * 0: it leads.
 * PDK_ETIMEDOUT: it does not lead yet.
 * PDK_ECANCELED: it has resigned, before or meanwhile.
 * PDK_EPERM: it never was a candidate.
 * PDK_EACCES, PDK_EACL, PDK_EAUTH, PDK_EEXPIRED (adopted handle), PDK_EEXHAUSTED, PDK_EREFUSED, PDK_EPATH (below an
 * ephemeral node), PDK_ENOENT (an ancestor of the chroot is missing), PDK_ELIMIT, PDK_ESHORT, PDK_ESERVER, PDK_ECLOSED:
 * its candidacy ended for this reason.
 * PDK_EDEADLK: the caller is a callback thread, and TIMEOUT_MS is not 0.
 * PDK_EFORKED.
 */
int pdk_leader_wait(pdk_leader *l, int64_t timeout_ms);

typedef struct pdk_leader_observer pdk_leader_observer;

/* Called with the ID of a new leader and the token of its term, or with NULL and 0 when there is no leader. ID is the
 * data of the leader's node, up to the first NUL byte and at most PDK_CONTENDER_DATA_MAX bytes, borrowed for the
 * call. */
typedef void (*pdk_observer_cb)(const char *id, int64_t token, void *arg);

/*
 * Report the leader of PATH from now on, without being a candidate. CB is called with the first answer and at every
 * change, on the thread of all callbacks.
 *
 * A leader whose term ended before CB could run is not reported, nor is any change while the connection is lost.
 * Observation continues in a new session. The observer watches the leader's node alone, so other candidates cost it
 * nothing. It watches the path itself only while there is no candidate. It looks again once in a session timeout,
 * because servers send no event to a client that may not READ the node at that moment. It retries a path that it may
 * not read, and pdk_client_last_error() has the reason.
 *
 * On success *O is the caller's, to be given to pdk_leader_observer_free(). PDK_EPATH, PDK_EINVAL, PDK_ELIMIT,
 * PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_ESERVER, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_leader_observe(pdk_leader_observer **o, pdk_client *c, const char *path, pdk_observer_cb cb, void *arg);

/* Stop observing. Any thread, also in the callback; a callback that runs in another thread ends in its own time. NULL
 * is allowed. PDK_EFORKED. */
int pdk_leader_observer_free(pdk_leader_observer *o);

#ifdef __cplusplus
}
#endif

#endif
