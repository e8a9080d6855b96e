/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks of every kind: a mutex, a read/write lock, a semaphore and a leader are each a pdk_lock. The verbs here
 * take any of them. Each kind has a header of its own, with the verbs that lock and unlock.
 *
 * Caveats, first:
 *  - A lock in a network is a belief. It ends on this process's clock before the servers can give the lock to another.
 *    Two writes can still arrive later: one that was sent before, and one of a process that was stopped after its
 *    check. Ask pdk_lock_valid_ms() before work that takes time, and pass pdk_lock_token() to a resource that refuses
 *    tokens lower than one it has seen. Data in ZooKeeper itself are written safely in a transaction with
 *    pdk_lock_guard().
 *  - LOST is final for a grant: whatever the lock protected may be in other hands. Unlock (it answers PDK_ELOST), and
 *    lock again.
 *  - Another client may delete the lock's node, as `paddock break` does. The holder then becomes LOST within a
 *    twentieth of the session timeout and one round trip (a leader within the round trip). Until then another contender
 *    can hold the lock, too.
 *  - Unlock, or close the client, before the process ends. Without either, the servers keep the node for one session
 *    timeout, and the next contender waits for that long.
 *  - Re-entry is counted per thread and per object: two objects on one path exclude each other, also in one thread.
 *  - The order between waiters is the order in which the servers created their nodes.
 *
 * A verb of another kind of lock answers PDK_EINVAL, and pdk_lock_last_error() says of which kind the lock is. So does
 * NULL, without that; a verb that returns no code answers as for a lock without a grant.
 *
 * A grant belongs to the thread that locked, which unlocks by the lock; or to no thread, when it was requested without
 * waiting or is of a semaphore: then it is asked and released by its handle, a pdk_grant, and by nothing else. So a
 * question about the grant of a semaphore is PDK_EINVAL, and its state PDK_FREE.
 */
#ifndef PADDOCK_LOCK_H
#define PADDOCK_LOCK_H

#include <paddock/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdk_lock pdk_lock;
typedef struct pdk_lock_options pdk_lock_options;
typedef struct pdk_grant pdk_grant;

typedef enum pdk_state {
    PDK_FREE = 0,    /* not held by the caller's thread, nor by any other through this object; no term of a leader */
    PDK_HELD = 1,    /* held, with at least a tenth of the session timeout left */
    PDK_SUSPECT = 2, /* held, but with less time left; or the connection is lost, or being checked after its return */
    PDK_LOST = 3     /* no longer held; stays until the owner has unlocked */
} pdk_state;

/*
 * Create options with their defaults; NULL when memory is out. The caller frees them; a lock copies what it needs.
 *
 * Not every option has a meaning for every kind of lock: each says for which. With one that was set and has none for
 * the lock, creating the lock fails with PDK_ENOTSUP. All kinds have data.
 */
pdk_lock_options *pdk_lock_options_new(void);
void pdk_lock_options_free(pdk_lock_options *o);

/* The data of the lock's nodes (of a semaphore: of each permit's), instead of the identity that `paddock ls` reads
 * (host, pid, thread, label). At most 65536 bytes; the servers' jute.maxbuffer may allow less. PDK_EINVAL, PDK_ENOMEM.
 * */
int pdk_lock_options_set_data(pdk_lock_options *o, const void *data, size_t size);

/*
 * Refuse a grant whose token is less than MIN_TOKEN: the lock then fails with PDK_ESTALE, and leaves no node. Default
 * 0: no least token.
 *
 * Tokens are transaction numbers of the servers. They go back when the ensemble is restored from an old backup. A
 * program whose store has seen token N asks for N + 1, and so detects the backup before it writes. Each transaction of
 * such an ensemble brings it nearer to MIN_TOKEN.
 *
 * For all kinds: each node of a grant must have such a token. PDK_EINVAL: MIN_TOKEN is negative.
 */
int pdk_lock_options_set_min_token(pdk_lock_options *o, int64_t min_token);

/*
 * Confirm each grant by a write to each of the lock's own nodes. It costs one round trip, and its transaction number is
 * the token.
 *
 * By this write a quorum agrees that the node exists at that moment. The token is larger than the number of every write
 * of an earlier holder to the servers. Without this option the token is the number of the node's creation. That number
 * is larger than those of earlier grants, but smaller than those of the writes during the wait.
 *
 * For all kinds. A reader that goes on from its own writer has the writer's token. The nodes' ACL must permit WRITE to
 * the sessions that create them. PDK_EINVAL.
 *
 * The trap: all contenders of a path must have this option, or none. Tokens of the two kinds do not rise together.
 * PDK_CONTENDER_TOKEN is the number of the creation, not the token of a confirmed grant.
 */
int pdk_lock_options_set_confirmed(pdk_lock_options *o, bool confirmed);

/*
 * Set a lock delay, as Chubby's: a contender that follows a holder that did not unlock is granted the lock DELAY_MS
 * later. For a mutex. Default 0, for none; at most 24 hours. PDK_EINVAL.
 *
 * A holder did not unlock if its process died, its session expired, or its grant was LOST. Closing the client is no
 * unlock. The delay runs on the contender's clock, from the moment at which it detected that. In this time the earlier
 * holder's writes in flight can land on a resource that checks no tokens. A lock that was unlocked is handed over
 * without delay.
 *
 * Every contender of a path must have a delay. The delays may differ: each contender waits its own. Clients without
 * this option, Curator included, neither write nor honour the holder record. The record is the data of PATH itself:
 * "held NAME", or "free". Other data there are overwritten. PATH is created as an ordinary node, because the servers
 * would delete a container together with its record. An existing node is used as it is. Its ACL must permit READ and
 * WRITE.
 *
 * A grant takes two round trips more, an unlock none. During a delay the lock is held: a try answers
 * PDK_EBUSY, and later tries through the same object do not restart the delay.
 *
 * The trap: a holder whose session ends while it unlocks may leave its record. The next contender then waits in vain.
 */
int pdk_lock_options_set_lock_delay_ms(pdk_lock_options *o, int delay_ms);

/*
 * Let a waiter look ahead, so that a hand-over waits for no listing. For a mutex, a read/write lock and a multi-lock.
 * Default: false.
 *
 * A waiter watches its immediate predecessor. When the predecessor goes and others were ahead of it, the waiter lists
 * before it holds: two round trips after the unlock. A waiter that looks ahead and has two or more contenders ahead
 * watches the contender before its predecessor. It lists when that contender goes, while its predecessor holds, and is
 * granted the lock by the end of its predecessor: half a round trip after the unlock.
 *
 * The cost: a release wakes a second waiter, which lists. A cycle of many contenders takes 1.6 packets more. Where the
 * round trip to the servers is long, the waiter gains one round trip for each hand-over.
 *
 * Each contender decides for itself, and contenders with and without the option queue together. A predecessor of the
 * same client is watched in any case. Objects take turns (pdk_lock_options_set_keep()) only with objects that have the
 * same setting.
 *
 * PDK_EINVAL: O is NULL. pdk_semaphore_new() answers PDK_ENOTSUP: a semaphore's waiter watches the path.
 */
int pdk_lock_options_set_look_ahead(pdk_lock_options *o, bool look_ahead);

/*
 * Refuse a path that has contenders of another recipe: a request fails with PDK_EMIXED. Default: false, and such a
 * request is granted; the log warns, and pdk_lock_last_error() has the incident from the grant on.
 *
 * A mutex and a read/write lock go together. A latch does not go with them, nor any of them with a semaphore, nor two
 * semaphores with different limits: holders of the one are holders beside those of the other. The contender that comes
 * second sees it, in the first listing that shows its node. The first is not notified. A semaphore has its nodes below
 * the path: the first request of an object asks for the children of the path as well, and for the limit in one other
 * permit, once its own are granted. With this option it holds only when they are answered. Nested locks, as /app and
 * /app/locks, are no mixture.
 *
 * PDK_EINVAL: O is NULL.
 */
int pdk_lock_options_set_refuse_mixed(pdk_lock_options *o, bool refuse);

/*
 * Unlock without waiting for the servers: the unlock, or the release of a grant, then sends the delete and returns 0.
 * For all kinds. Default: false.
 *
 * The caller does not hold the lock any more, whatever becomes of the delete. The library repeats it until the node is
 * proven deleted, or the session has ended. A failure is the object's incident in pdk_lock_last_error(): PDK_ELOST,
 * PDK_EACCES, or PDK_EUNKNOWN after one session timeout. pdk_client_flush() waits for the end of all releases.
 *
 * The node of the next lock queues behind the earlier one: the servers keep the order of a session's requests. While a
 * lost delete is repeated, the next lock waits for it. pdk_lock_free() does not wait, and the release goes on.
 * pdk_client_close() leaves no node, as without this option.
 *
 * PDK_EINVAL.
 */
int pdk_lock_options_set_unlock_nowait(pdk_lock_options *o, bool nowait);

/*
 * Keep a grant in this process after the last unlock, without a request to the servers: for TURNS owners more that wait
 * in this process, and for IDLE_MS milliseconds without an owner. Default: 0 and 0, the last unlock releases the lock.
 * At most 24 hours. A mutex has both, a read/write lock an idle time alone, and the other kinds neither.
 *
 * With turns, the threads that lock one path through objects of one client wait in the process while the process holds
 * the lock or waits for it, in the order of their calls; so do asynchronous locks. The objects are those with this
 * option and the same data, least token, confirmation, lock delay and look-ahead. An unlock hands the lock to the next
 * of them. After TURNS times it is released, and the node for the next of them is created at the end of the servers'
 * queue: two processes that both want the lock all the time have about the same number of turns. While the lock is in
 * the hands of this process, a try answers PDK_EBUSY without a request, and pdk_lock_ahead() tells the place of the
 * process's node. A lost grant is its last owner's; those that wait contend again. A failure is told to all that wait.
 * The identity of a node is that of the thread that created it, not that of the owner.
 *
 * With an idle time, the node stays when nobody waits for a turn. The unlock returns 0 at once, and pdk_lock_state() is
 * PDK_FREE. The next lock through the object, or through one that takes turns with it, takes the node over. The node
 * goes when another contender appears, when the time ends, with pdk_lock_free() unless another such object keeps it,
 * and with pdk_client_close(). To notice another contender, the client watches the children of PATH from the first idle
 * moment of a node on: one request for each node, not for each unlock, and the contender is served at most one round
 * trip later. The client renews its session as for a lock that is held. Of a read/write lock the next lock of the same
 * mode takes the node over, and one of the other mode gives it up first; a read lock that was taken under a write lock
 * is not kept. A kept read lock gives way to a writer, and not to readers. It cannot tell them apart without a listing,
 * so the writer is served at most two round trips later, and after four listings that have shown no writer the node
 * goes with the next change.
 *
 * A grant that is not HELD is never kept, nor one that a client has asked for (PDK_EVENT_REVOKED).
 *
 * All owners under one node have one token. It rises from node to node, not from turn to turn: a resource that refuses
 * older tokens is protected against other processes, as before. It does not tell a thread that was slow to write from
 * the next owner in the same process. The pair of token and turn, which pdk_lock_token() has, rises with every owner.
 * pdk_lock_guard() checks the node, so it does not tell turns apart.
 *
 * The traps: a try does not become a contender where it finds a node, so another client that only tries is answered
 * PDK_EBUSY for as long as the node is idle. A lock delay begins as after a holder that did not unlock, if the process
 * dies while the node is idle.
 *
 * PDK_EINVAL: IDLE_MS is negative or too large.
 */
int pdk_lock_options_set_keep(pdk_lock_options *o, unsigned turns, int idle_ms);

/* Free the object. NULL is allowed. PDK_EBUSY while a grant or a request of the object remains and the client is open;
 * then nothing is freed. With a closed client what remains ends with the object. PDK_EFORKED. */
int pdk_lock_free(pdk_lock *l);

/* The number of its paths: 1, or those of pdk_mutex_new_several(). 0 for NULL. Any thread. */
unsigned pdk_lock_count(pdk_lock *l);

/* Path I, from 0, in the order in which they were given; borrowed until pdk_lock_free() has returned 0. NULL: there is
 * none. Any thread. */
const char *pdk_lock_path(pdk_lock *l, unsigned i);

/* The state of the caller's grant. When the calling thread has none: of the object's grant. Of a read/write lock the
 * caller's grant is its own write lock, else its read lock; of a multi-lock PDK_SUSPECT when one path is, PDK_LOST when
 * one is. No request; any thread. PDK_LOST after fork, whatever it was. */
pdk_state pdk_lock_state(pdk_lock *l);

/*
 * The fencing token of the caller's grant (by the rule of pdk_lock_state()), and the number of its turn. Both are there
 * while the grant is HELD, SUSPECT or LOST. TOKEN and TURN may be NULL. No request; any thread.
 *
 * Later grants of a path have larger tokens, also after the path was deleted and created again. The token is the czxid
 * of the lock's node, or the number of the write that confirmed the grant (pdk_lock_options_set_confirmed()). Read it
 * as an opaque signed 64-bit number. Readers that hold at the same time have different tokens. A grant of several nodes
 * has the largest of their numbers; it is larger than those of all earlier grants of each of its paths.
 *
 * The turn is 1 for the first owner under the node of the grant, and one more for each owner after it. It is always 1
 * without pdk_lock_options_set_keep().
 *
 * PDK_EPERM: there is no grant. PDK_EINVAL, PDK_EFORKED.
 */
int pdk_lock_token(pdk_lock *l, int64_t *token, uint64_t *turn);

/*
 * The milliseconds that the caller's grant (by the rule of pdk_lock_state()) is still certain to last.
 *
 * Before they have passed, the servers cannot give the lock to another contender, whatever the state of the network and
 * the servers. That requires clocks that run at the same rate (pdk_client_options_set_clock());
 * doc/guarantees.md has the other assumptions. The client renews the time unasked while the servers answer. The call
 * reads the clock and sends no request; any thread.
 *
 * 0: there is no grant, or none any more; also after fork. Of a multi-lock: the time for which all paths are certain.
 *
 * The trap: work that has begun must end within this time, or carry the token.
 */
int64_t pdk_lock_valid_ms(pdk_lock *l);

/* The name of the node of the caller's grant, under path I, from 0. Copies as pdk_client_last_error(). "" without a
 * grant, and where there is no path I. */
size_t pdk_lock_node(pdk_lock *l, unsigned i, char *buf, size_t size);

/*
 * The number of contenders ahead of the first request that waits through the object: 0 when it is the first in the
 * queue.
 *
 * Any thread. The call sends no request. The answer comes from the last listing of the waiting request's node. It is -1
 * before the first listing, and again when the node is lost and another is to come. Otherwise it is never too small,
 * because no contender can enter the queue ahead of another. It can be too large: a waiter lists again only when the
 * node that it watches is deleted. That is the node directly ahead, or the one before it
 * (pdk_lock_options_set_look_ahead()). pdk_contenders() asks the servers.
 *
 * Of a multi-lock the number on the path where most are ahead. Of a semaphore the number of requests ahead, and of
 * permits ahead once the request is the first of them. PDK_EPERM: nothing waits through the object. PDK_EINVAL,
 * PDK_EFORKED.
 */
int pdk_lock_ahead(pdk_lock *l, int64_t *ahead);

struct zoo_op; /* of <zookeeper/zookeeper.h> */

/*
 * Fill *OP with a check that the node of the caller's grant (by the rule of pdk_lock_state()) exists, the one under
 * path I, from 0. In a transaction of the caller's own, zoo_amulti() commits with it while the lock is held, or not at
 * all.
 *
 * The servers decide, so neither a belief nor a clock is involved. No name is ever used twice, so a late transaction is
 * refused, too.
 *
 * The path in *OP is borrowed until pdk_lock_free() has returned 0: an op that is used after the unlock, or after the
 * loss, is refused by the servers. *OP may be used any number of times, on any handle of the same ensemble and chroot,
 * also of another session. Each guarded grant keeps its path (the lock's path and at most 200 bytes) until then. A
 * program that guards millions of grants through one object can fill an op itself instead, with pdk_lock_node() and
 * memory of its own.
 *
 * PDK_EPERM: there is no grant. PDK_ELOST: the grant was lost. PDK_EINVAL: also where there is no path I.
 * PDK_ENOMEM, PDK_EFORKED.
 *
 * A refused check fails the whole transaction with ZNONODE. The result of the check says so, too: its `err` is ZNONODE.
 * The operations before it have 0, those after it ZRUNTIMEINCONSISTENCY; so put the check first. With ZCONNECTIONLOSS
 * and ZOPERATIONTIMEOUT the outcome is unknown; the same transaction can be sent again if it may happen twice.
 *
 * ZooKeeper's client (3.8.0, and later as far as we have read) has traps in its multi, which free memory of the
 * caller's or abort the process:
 *  - A handle whose session has expired, or whose authentication has failed: with two operations or more; with a
 *    chroot, with any number. Check that zoo_state() is ZOO_CONNECTED_STATE right before the call. That leaves the time
 *    between the two, in which a thread would have to sleep through a lost connection and the next one; with
 *    libzookeeper_st nothing is left. When the application adds authentication, wait until it has succeeded.
 *  - A path that ZooKeeper does not take, in any operation but the last.
 *  - A container among the creates (ZOO_CONTAINER). A node with a time to live is refused.
 *  - zoo_multi(), which waits, can wait indefinitely when the session expires (ZOOKEEPER-2802), and leaves the results
 *    untouched when the connection is lost. zoo_amulti() does not wait; its results must stay until the completion,
 *    which zookeeper_close() may forget.
 */
int pdk_lock_guard(pdk_lock *l, unsigned i, struct zoo_op *op);

/* The kinds of an event: a change, or a request, that the program did not ask for. */
typedef enum pdk_event_kind {
    /*
     * A request has its place in the queue, and waits: its node is there, and `ahead` contenders, by the listing that
     * showed it. From then on nobody can come before it. A request that is granted at once is not reported.
     *
     * Once for each node of a request; for a semaphore also when the request becomes the first, and waits for permits.
     * pdk_lock_ahead() tells the place later on. Of several requests through one object the event does not tell which;
     * pdk_grant_ahead() is about one.
     */
    PDK_EVENT_QUEUED = 1,
    /* The state of a grant has changed: HELD to SUSPECT, SUSPECT to HELD, any to LOST. The loss of a leader's term is
     * PDK_EVENT_DEPOSED instead. */
    PDK_EVENT_STATE = 2,
    /*
     * A client asks the holder to release the lock. It is only a request: nothing changes unless the program unlocks,
     * now or when its work allows.
     *
     * The request is the word "__REVOKE__" in the data of the holder's node. Curator's Revoker writes the word alone;
     * pdk_contender_revoke() writes it before a space and the node's own data.
     *
     * A request is reported at most once per grant. A request that was written to a waiter's node is reported after the
     * grant, possibly before a blocking lock call has returned. The library reads its node only once a wait or a hold
     * has lasted for a twentieth of the session timeout: a shorter hold is not told of a request. The grant may just
     * have been released. Of a multi-lock and of permits it is reported once for each path and permit that is asked
     * for. A node that its own session may not READ cannot carry a request.
     */
    PDK_EVENT_REVOKED = 3,
    /* Of a leader (leader.h). */
    PDK_EVENT_ELECTED = 4,  /* a term has begun */
    PDK_EVENT_DEPOSED = 5,  /* the term is over. `state`: PDK_LOST, or PDK_FREE after a resignation or a yield */
    PDK_EVENT_WITHDRAWN = 6 /* the candidacy ended without a resignation: the client is closed, or the servers refuse it
                               for good; pdk_leader_wait() with 0 tells why */
} pdk_event_kind;

typedef struct pdk_event {
    pdk_event_kind kind;
    pdk_state state; /* of the grant, which the event leaves; PDK_FREE: there is none */
    int64_t token;   /* of the grant, as pdk_lock_token() and pdk_grant_token() have it; 0: there is none */
    int64_t ahead;   /* of PDK_EVENT_QUEUED, as pdk_lock_ahead() has it; else 0 */
} pdk_event;

/* Called with each EVENT, which is borrowed for the call, in order. A program that lets more than 16 wait loses some in
 * the middle. It never loses the last change of a grant, the last request for it, or the last place. */
typedef void (*pdk_event_cb)(pdk_lock *l, const pdk_event *event, void *arg);

/* Set the callback for events; NULL for none. Before the first lock, or from the thread that unlocks: an event that
 * comes without a callback is not reported. One that is about to run while another thread frees the lock still runs:
 * ARG must last until pdk_client_close() has returned. PDK_EINVAL, PDK_EFORKED, PDK_ENOMEM: all is as before. */
int pdk_lock_on_event(pdk_lock *l, pdk_event_cb cb, void *arg);

/*
 * A descriptor that is readable while events wait for pdk_lock_next_event(). For poll(), in any thread.
 *
 * The events are those from this call on, with or without a callback. The library owns the descriptor: the program
 * neither reads nor closes it. The first call creates it, close-on-exec; pdk_lock_free() closes it.
 *
 * Returns the descriptor, or PDK_EINVAL, PDK_ESYSTEM, PDK_ENOMEM, PDK_EFORKED.
 */
int pdk_lock_fd(pdk_lock *l);

/* Take the oldest event that waits, without blocking. Returns 1 when there was one, 0 when there was none. Events over
 * 16 are lost as with the callback. PDK_EINVAL, PDK_EFORKED. */
int pdk_lock_next_event(pdk_lock *l, pdk_event *event);

/*
 * The incident: why the last call on this object failed, as "lock /locks/a: timed out after 2000 ms: held by db7 pid
 * 4711 (nightly), 1 ahead", "lock /locks/a: timed out after 2000 ms: no server reached (last: connection refused by
 * 127.0.0.1:2181)", "unlock /locks/a: the lock was lost while it was held: its node is deleted".
 *
 * Any thread; the text is kept per thread. If the calling thread's last call on the object failed, the text describes
 * that call, unless that was refused for its arguments alone. Otherwise it describes the last failure since the last
 * grant that came without a call: a loss, or the outcome of an asynchronous call. It is "" when there was none. Queries
 * such as pdk_lock_state() do not change it.
 *
 * A request may wait on a link that is too slow for the session timeout. Any other thread then reads "lock /locks/a:
 * not granted yet: connected, but the session cannot be confirmed in time: round trip 2.4 s, session timeout 6 s". A
 * path's ACL may lack DELETE, by which the session is renewed. From the first refusal on, long before the loss, the
 * text is "hold /locks/a: the session cannot be renewed: /locks/a does not permit DELETE".
 *
 * Copies as pdk_client_last_error(), and has its trap.
 */
size_t pdk_lock_last_error(pdk_lock *l, char *buf, size_t size);

/* --- grants that belong to no thread ------------------------------------------------------------------------------ */

/*
 * A request, and the grant that it becomes. Any thread may ask and release it, and no thread re-enters it.
 *
 * The handle is the caller's from the call that requested until a release, whatever becomes of the request. Any thread,
 * also from a callback. Once a release has returned, it must not be used again, unless that was refused with
 * PDK_EDEADLK or PDK_EFORKED. NULL is PDK_EINVAL, and has no grant.
 *
 * With a closed client the handles that remain end with pdk_lock_free().
 */

/* The outcome of a request, or of a release that does not wait. RC is 0, an error of the verb that waits, or
 * PDK_ECANCELED: it was cancelled, or released before the callback. PDK_ELOST: it was granted, and lost before the
 * callback could run. PDK_EBUSY, PDK_EDISCONNECTED: with a timeout of 0 a request is a try. */
typedef void (*pdk_lock_cb)(int rc, void *arg);

/* Ask a request that waits to give up. Its callback still comes, with PDK_ECANCELED, or with 0 when the grant was
 * faster. Any number of times, also after the callback. PDK_EINVAL, PDK_EFORKED. */
int pdk_grant_cancel(pdk_grant *g);

/*
 * Release, and end the handle. The call returns when the servers have deleted the nodes, within one session timeout. A
 * request that still waits is taken back: its callback is called with PDK_ECANCELED.
 *
 * 0: released; with pdk_lock_options_set_unlock_nowait(), the deletes were sent.
 * PDK_EPERM: nothing was granted.
 * PDK_ELOST: it was lost before; the work done under it may have overlapped with that of others.
 * PDK_EUNKNOWN: no server confirmed within one session timeout; it goes on in the background.
 * PDK_EACCES: an ACL does not permit to DELETE; the node stays until the session ends. Of a semaphore that may be the
 * ACL of PATH/locks: the node there, by which the permits were acquired, keeps all requests but tries waiting.
 * PDK_EDEADLK: the calling thread runs callbacks of the client: use pdk_grant_release_async(). The handle stays.
 * PDK_EFORKED: the handle stays. PDK_EINVAL.
 */
int pdk_grant_release(pdk_grant *g);

/* Release without waiting, and end the handle. CB (may be NULL) is called exactly once, later, with what
 * pdk_grant_release() would return; never if this call returned an error. PDK_EPERM, PDK_ELOST, PDK_ENOMEM: the handle
 * has ended all the same. PDK_EINVAL, PDK_EFORKED: as pdk_grant_release(). */
int pdk_grant_release_async(pdk_grant *g, pdk_lock_cb cb, void *arg);

/* As pdk_lock_state(), of this grant. PDK_FREE: it waits, or has failed. */
pdk_state pdk_grant_state(pdk_grant *g);

/* As pdk_lock_valid_ms(), of this grant: the time for which all of it is certain. */
int64_t pdk_grant_valid_ms(pdk_grant *g);

/* As pdk_lock_token(), of this grant. PDK_EPERM: nothing is granted. PDK_EINVAL, PDK_EFORKED. */
int pdk_grant_token(pdk_grant *g, int64_t *token, uint64_t *turn);

/* As pdk_lock_ahead(), of this request. Where it waits for a turn in this process (pdk_lock_options_set_keep()) the
 * number is that of the process's node. PDK_EPERM: it does not wait any more. PDK_EINVAL, PDK_EFORKED. */
int pdk_grant_ahead(pdk_grant *g, int64_t *ahead);

/* The number of its nodes: of permits, or of paths; else 1. 0 for NULL. */
unsigned pdk_grant_count(pdk_grant *g);

/* The name of its node I, from 0, as pdk_lock_node(); of a multi-lock on path I as given, of a semaphore under
 * "leases". "" without a grant. */
size_t pdk_grant_node(pdk_grant *g, unsigned i, char *buf, size_t size);

/* Fill *OP for node I, from 0, as pdk_lock_guard(): the transaction commits only while that node is there. A
 * transaction of all of them has a check for each. PDK_EINVAL: there is no node I. PDK_EPERM, PDK_ELOST, PDK_ENOMEM,
 * PDK_EFORKED. */
int pdk_grant_guard(pdk_grant *g, unsigned i, struct zoo_op *op);

#ifdef __cplusplus
}
#endif

#endif
