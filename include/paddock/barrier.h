/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers that the threads and processes of a fleet share.
 *
 * A barrier is a node: while it is set, every wait blocks. A double barrier lets COUNT members begin together and end
 * together.
 *
 * Caveats, first:
 *  - A barrier excludes nobody and fences nothing. A wait that has returned proves that the barrier was not set at one
 *    moment of the call. It can be set again before the caller does its next step.
 *  - A barrier that is set outlives its setter: its node is no session's. It stands until some client removes it.
 *  - A member of a double barrier is in its session. When the process dies, the servers delete the member's node, and
 *    the others no longer wait for it. The node "ready" is no session's: when all members die inside, it stays, and the
 *    next member of that path deletes it.
 *  - Members of a double barrier must agree on the count. A member that comes when COUNT others are there, inside or
 *    about to enter, is refused. Curator's members are never refused.
 *  - Each member lists the others when it enters and when it leaves. COUNT members read the square of COUNT names.
 *  - A path can be used again, round after round. A member that comes while others are inside, or leave, waits for the
 *    next round.
 *  - Wire: Curator's DistributedBarrier and DistributedDoubleBarrier. A Curator member that comes while others are
 *    inside enters at once; one that is slow to leave a round can wait for a member of the next one, and then neither
 *    goes on.
 */
#ifndef PADDOCK_BARRIER_H
#define PADDOCK_BARRIER_H

#include <paddock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdk_barrier pdk_barrier;

/* The most members of a double barrier. */
#define PDK_BARRIER_MEMBERS_MAX 10000

/*
 * Create an object for the barrier at PATH; no request is sent. On success *B is the caller's, to be given to
 * pdk_barrier_free(). Its calls may be made by several threads at once.
 *
 * PDK_EPATH: PATH is relative, is "/", has more than 4096 bytes, or is not a ZooKeeper path.
 * PDK_EINVAL, PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_barrier_new(pdk_barrier **b, pdk_client *c, const char *path);

/* Create one member of the double barrier at PATH, which lets COUNT members enter together. PDK_EINVAL: COUNT is 0 or
 * above PDK_BARRIER_MEMBERS_MAX. Otherwise as pdk_barrier_new(). */
int pdk_barrier_new_double(pdk_barrier **b, pdk_client *c, const char *path, unsigned count);

/* Free the object; its barrier stays as it is. NULL is allowed. PDK_EBUSY: a call of it is under way; or the member is
 * inside, which with a closed client is no obstacle. Then nothing is freed. PDK_EFORKED. */
int pdk_barrier_free(pdk_barrier *b);

/* As those of a lock. */
const char *pdk_barrier_path(pdk_barrier *b);
size_t pdk_barrier_last_error(pdk_barrier *b, char *buf, size_t size);

/* --- the barrier: PDK_EINVAL for a double one -------------------------------------------------------------------- */

/*
 * Set the barrier: create its node, and missing ancestors as containers. A barrier that is set already is a success.
 *
 * The call returns when the servers have the node, within TIMEOUT_MS milliseconds. PDK_FOREVER: no limit. 0: as long as
 * one answer may take, if a server is connected. The call repeats a request whose answer was lost. It is a cancellation
 * point.
 *
 * PDK_ETIMEDOUT: nothing was sent.
 * PDK_EUNKNOWN: no answer in time; the barrier may be set, now or later.
 * PDK_EINVAL: nodes are below PATH: it is that of a lock, or of something else, and no barrier's.
 * PDK_EACCES, PDK_EACL, PDK_EPATH (below an ephemeral node), PDK_ENOENT (an ancestor of the chroot is missing),
 * PDK_EREFUSED, PDK_EAUTH, PDK_EEXPIRED (adopted handle), PDK_ESHORT, PDK_ESERVER, PDK_ELIMIT, PDK_ENOMEM, PDK_ECLOSED,
 * PDK_EFORKED.
 * PDK_EDEADLK: the calling thread runs callbacks of the client.
 */
int pdk_barrier_set(pdk_barrier *b, int64_t timeout_ms);

/* Remove the barrier: delete its node. A barrier that is not set is a success. As pdk_barrier_set(). The trap: a
 * repeated request can remove a barrier that was set again meanwhile. */
int pdk_barrier_remove(pdk_barrier *b, int64_t timeout_ms);

/*
 * Wait until the barrier is not set, for at most TIMEOUT_MS milliseconds. PDK_FOREVER: no limit. 0: look once.
 *
 * Each look follows a write that changes nothing: a barrier that was set before the call began is seen, whichever
 * server set it. So each look costs the servers a logged transaction.
 *
 * The call goes on through lost connections and new sessions: it looks again. So it does once in a session timeout,
 * because servers send no event to a client that may not READ the node at that moment. It is a cancellation point.
 * When it returns, its watch is removed from the servers, or is about to be.
 *
 * PDK_ETIMEDOUT: the barrier is set, or no server has answered.
 * PDK_EINVAL: as for pdk_barrier_set().
 * PDK_EACCES: the ACL does not permit to READ the node, and the servers refuse exists without READ.
 * PDK_EREFUSED, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_ESERVER, PDK_ELIMIT, PDK_ENOMEM, PDK_EDEADLK, PDK_ECLOSED,
 * PDK_EFORKED.
 *
 * The trap: on an adopted handle a watch stays until the node changes, because the application may rely on it.
 */
int pdk_barrier_wait(pdk_barrier *b, int64_t timeout_ms);

/* --- the double barrier: PDK_EINVAL for another one --------------------------------------------------------------- */

/*
 * Enter: create the member's node, and wait until COUNT members are there.
 *
 * The call returns 0 when COUNT members were there, or once another member has created the node "ready" after this
 * one came.
 * It waits TIMEOUT_MS milliseconds at most. PDK_FOREVER: no limit. 0: enter if this member makes them enough. The call
 * goes on through lost connections and new sessions, with a new node in a new session. When another client deletes the
 * node, the call finds that within a session timeout, and creates a new one. It is a cancellation point. A call that
 * fails removes the member's node, also after it has returned.
 *
 * PDK_ETIMEDOUT: not entered. The trap: members that had counted this one go on without it.
 * PDK_EINVAL: contenders of a lock, or a semaphore, are at PATH. They would be counted as members.
 * PDK_EBUSY: COUNT other members came before this one, and are there; a member that died counts until its session has
 *     ended. Or the object is inside, or another thread's call is under way.
 * PDK_EACCES, PDK_EACL, PDK_EPATH, PDK_ENOENT, PDK_EREFUSED, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_ESERVER,
 * PDK_ELIMIT, PDK_ENOMEM, PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_barrier_enter(pdk_barrier *b, int64_t timeout_ms);

/*
 * Leave: delete the member's node, and wait until the members of the round have left or died: those that came before
 * its "ready". One that came again after that, in a new session, is not waited for.
 *
 * The call waits TIMEOUT_MS milliseconds at most. PDK_FOREVER: no limit. 0: leave, and see whether the others have
 * left. Whatever it returns, this member is outside afterwards: its node is deleted, or is about to be. It is a
 * cancellation point.
 *
 * PDK_EPERM: the object is not inside.
 * PDK_ETIMEDOUT: other members are still inside.
 * PDK_ELOST: the session ended after the object had entered, or another client deleted its node. The others may have
 *     left before.
 * PDK_EBUSY: another thread's call is under way.
 * PDK_EACCES: the ACL of PATH does not permit to READ or to DELETE.
 * PDK_EREFUSED, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_ESERVER, PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_barrier_leave(pdk_barrier *b, int64_t timeout_ms);

/* PDK_FREE: outside, or entering; or no double barrier. PDK_HELD: inside, until leave is called. PDK_LOST: the session
 * has ended since it entered; or this is a child process of the one that created the object. */
pdk_state pdk_barrier_state(pdk_barrier *b);

#ifdef __cplusplus
}
#endif

#endif
