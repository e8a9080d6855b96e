/*
 * A mutex that the threads and processes of a fleet share, named by a path.
 *
 * Caveats, first:
 *  - A lock in a network is a belief. It ends on this process's clock before the servers can give the lock to another,
 *    but a process that is stopped between its last look and its write, or a write on its way, can still land after
 *    that. Ask pdk_mutex_valid_ms() before work that takes time, and pass pdk_mutex_token() to a resource that refuses
 *    tokens lower than one it has seen. What lies in
 *    ZooKeeper itself is written safely behind pdk_mutex_guard().
 *  - LOST is final for a grant: whatever the lock protected may be in other hands. Unlock (it answers PDK_ELOST), and
 *    lock again to start afresh.
 *  - Unlock, or close the client, before the process ends. Without either, the servers keep the node for one session
 *    timeout, and the next contender waits for that long.
 *  - Re-entry is counted per thread and per object: two pdk_mutex objects on one path exclude each other, also in one
 *    thread.
 *  - The order between waiters is the order in which the servers made their nodes.
 *  - Curator's InterProcessMutex on the same path and a pdk_mutex exclude each other. A Curator read/write lock or
 *    latch on the same path does not: give every lock a path of its own.
 */
#ifndef PADDOCK_MUTEX_H
#define PADDOCK_MUTEX_H

#include <paddock/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdk_mutex pdk_mutex;
typedef struct pdk_mutex_options pdk_mutex_options;
typedef struct pdk_op pdk_op;

typedef enum pdk_state {
    PDK_FREE = 0,    /* not held by the caller's thread, nor by any other through this object */
    PDK_HELD = 1,    /* held, with time left to do something */
    PDK_SUSPECT = 2, /* held, but little time is left; or the connection is lost, or being checked after it came back */
    PDK_LOST = 3     /* was held, and is no more; stays until the owner has unlocked */
} pdk_state;

/* New options with their defaults, or NULL when memory is out. Caller frees; the mutex copies what it needs. */
pdk_mutex_options *pdk_mutex_options_new(void);
void pdk_mutex_options_free(pdk_mutex_options *o);

/* Bytes for the lock's nodes to carry, instead of the identity that `paddock ls` reads (host, pid, thread, label). At
 * most 65536; the servers' jute.maxbuffer may allow less. PDK_EINVAL, PDK_ENOMEM. */
int pdk_mutex_options_set_data(pdk_mutex_options *o, const void *data, size_t size);

/*
 * Grant nothing whose token is less than MIN_TOKEN: the lock fails with PDK_ESTALE then, and leaves no node. Tokens are
 * transaction numbers of the servers, which go back when the ensemble is restored from an old backup; a program whose
 * store has seen token N asks for N + 1, and hears of it before it writes. Such an ensemble comes up to it in time, with
 * every transaction. Default 0, for none. PDK_EINVAL when it is negative.
 */
int pdk_mutex_options_set_min_token(pdk_mutex_options *o, int64_t min_token);

/*
 * Confirm each grant by a write to the lock's own node, one round trip more; its transaction number is the token. A
 * quorum agrees by it that the node is there at that moment, and the token is larger than the number of anything that a
 * holder before has written to the servers. (Without, it is the number of the node's creation: larger than those of
 * earlier grants, and smaller than those of what was written while we waited.)
 *
 * All who contend for a path must have it set, or none: tokens of the two kinds do not rise together. The token is not
 * the one that pdk_contender_token() tells. The nodes' ACL must permit WRITE to their makers. PDK_EINVAL.
 */
int pdk_mutex_options_set_confirmed(pdk_mutex_options *o, bool confirmed);

/*
 * A lock delay, as Chubby's: when a holder went without having given the lock back - its process died, its session
 * expired, it was LOST - the next one is granted DELAY_MS later, by its own clock from when it found that out. That is the
 * time for what was on its way from the one before to land, where nothing checks tokens. A lock that was unlocked is
 * handed over without delay. Closing the client is no unlock.
 *
 * All who contend for a path must have it set; the delay may differ, and the next one waits its own. Who has not set it
 * (Curator has not) leaves no mark and minds none. The mark of a holder is the data of PATH itself, "held NAME" and else
 * "free": whatever else lies there is overwritten. PATH is made as an ordinary node, for the servers would reap a
 * container with its mark; one that is there already is taken as it is. Its ACL must permit READ and WRITE.
 *
 * A grant takes two round trips more, an unlock none. While a delay runs, the lock is held: pdk_mutex_trylock() answers
 * PDK_EBUSY, and later tries through the same object do not begin to wait anew. A holder that could not take its mark off
 * (its session ended as it unlocked) makes the next one wait in vain. Default 0, for none; at most 24 hours. PDK_EINVAL.
 */
int pdk_mutex_options_set_lock_delay_ms(pdk_mutex_options *o, int delay_ms);

/*
 * Make a mutex object for PATH; no request is sent. PATH is absolute, within the client's chroot; the node and its
 * missing ancestors are made, as containers, by the first lock. OPTS may be NULL. On success *M is the caller's, to be
 * given to pdk_mutex_free(). PDK_EPATH when PATH is relative, is "/" or is not a ZooKeeper path; PDK_EINVAL,
 * PDK_ENOMEM, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_mutex_new(pdk_mutex **m, pdk_client *c, const char *path, const pdk_mutex_options *opts);

/* Free the object. NULL is allowed. PDK_EBUSY while somebody holds or waits through it and the client is open; then
 * nothing is freed. PDK_EFORKED. */
int pdk_mutex_free(pdk_mutex *m);

/*
 * Lock. The call waits as long as it takes, through disconnections and new sessions.
 *
 * The call returns 0 only for a grant that is valid at that moment. A caller that wakes after its grant has ended
 * contends again, until its deadline. The calling thread becomes the owner. An owner that locks again returns at once,
 * and must unlock as often. The call is a cancellation point: a cancelled thread leaves no node.
 *
 * PDK_ELOST: the caller's own grant was lost; unlock first. PDK_EACCES, PDK_EACL, PDK_EAUTH, PDK_EEXPIRED (adopted
 * handle), PDK_EEXHAUSTED, PDK_EREFUSED, PDK_EPATH (below an ephemeral node), PDK_ENOENT (an ancestor of the chroot is
 * missing), PDK_ELIMIT, PDK_ESTALE, PDK_ESHORT, PDK_ENOMEM, PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED: not locked, and no
 * node is left.
 */
int pdk_mutex_lock(pdk_mutex *m);

/* Lock if it is free. Looks before it writes: when somebody holds the lock, nothing is written. PDK_EBUSY when it is
 * held, or was a moment ago: the server that is asked may lag behind a release. PDK_EBUSY is also the answer when the
 * lock was granted and the grant was over when the call returned. PDK_EDISCONNECTED when no server answers within one
 * session timeout; otherwise as pdk_mutex_lock(). */
int pdk_mutex_trylock(pdk_mutex *m);

/*
 * Lock, and give up TIMEOUT_MS milliseconds from now, whether a server answers or not. The clock counts suspended time.
 *
 * After the deadline the node is deleted in the background. So is a node whose create the servers commit late. With 0
 * the call looks once, as pdk_mutex_trylock(), and does not wait for a connection. With PDK_FOREVER it waits
 * indefinitely.
 *
 * PDK_ETIMEDOUT; otherwise as pdk_mutex_lock().
 */
int pdk_mutex_timedlock(pdk_mutex *m, int64_t timeout_ms);

/*
 * Unlock; the last unlock of an owner gives the lock away. After it returned the caller does not hold the lock,
 * whatever the answer.
 *
 * 0: the node is deleted. PDK_EPERM: the caller is not the owner (nothing happens); a lock that was granted to
 * pdk_mutex_lock_async() any thread may unlock. PDK_ELOST: it was lost before; the delete finds that out, too, when
 * another client had deleted the node. PDK_EUNKNOWN: no server confirmed within one session timeout; the library goes
 * on deleting, or the session ends and takes the node with it. PDK_EACCES: the path's ACL lets nobody DELETE; the node
 * stays until the session ends. PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_mutex_unlock(pdk_mutex *m);

/* The outcome of pdk_mutex_lock_async(): RC is 0, an error of pdk_mutex_timedlock(), or PDK_ECANCELED. PDK_ELOST: the
 * lock was granted, and lost before the callback could run; there is nothing to unlock. */
typedef void (*pdk_lock_cb)(int rc, void *arg);

/*
 * Lock without waiting: CB is called exactly once, later, with the outcome; never from inside this call, and never if
 * it returned an error. The grant belongs to no thread: any thread may unlock, none re-enters. When OP is not NULL, *OP
 * is the caller's, to be given to pdk_op_free(). Any thread, also from a callback. PDK_EINVAL, PDK_ENOMEM, PDK_ELIMIT,
 * PDK_EAUTH, PDK_EEXPIRED, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_mutex_lock_async(pdk_mutex *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op);

/* Unlock without waiting: CB (may be NULL) is called exactly once, later, with what pdk_mutex_unlock() would have
 * returned; never from inside this call, and never if it returned an error. Any thread, also from a callback; the rules
 * of ownership are those of pdk_mutex_unlock(). PDK_EPERM, PDK_ELOST, PDK_ENOMEM, PDK_EFORKED. */
int pdk_mutex_unlock_async(pdk_mutex *m, pdk_lock_cb cb, void *arg);

/* Ask a pending lock to give up. Its callback still comes, with PDK_ECANCELED, or with 0 when the grant was faster. Any
 * thread, any number of times, also after the callback. PDK_EFORKED. */
int pdk_op_cancel(pdk_op *op);

/* Give the handle back; a pending lock goes on. NULL is allowed. Any time, any thread. */
void pdk_op_free(pdk_op *op);

/* The state of the caller's grant; when the calling thread has none, of whatever grant the object has. No request; any
 * thread. PDK_LOST after fork, whatever it was. */
pdk_state pdk_mutex_state(pdk_mutex *m);

/*
 * The fencing token of the caller's grant (of the object's, when the calling thread has none), by the rule of
 * pdk_mutex_state(). Later grants of a path have larger ones, also after the path was deleted and made anew; it is the
 * czxid of the lock's node, or the number of the write by which pdk_mutex_options_set_confirmed() has the grant
 * confirmed. Read it as an opaque signed 64-bit number. It is available while the grant is HELD, SUSPECT or LOST.
 * PDK_EPERM when there is no grant, PDK_EFORKED.
 */
int pdk_mutex_token(pdk_mutex *m, int64_t *token);

/*
 * For how many milliseconds more the caller's grant (by the rule of pdk_mutex_state()) may be believed in: before they have
 * passed, the servers cannot have given the lock to another, however the network and the servers fare, as long as the
 * clocks run at the same rate (pdk_client_options_set_drift_margin_ms()). 0 when there is no grant, or none any more; also
 * after fork. From the clock, without a request: renewed behind the caller's back while the servers answer. Any thread.
 * What is begun must be over by then, or carry the token. Doc/guarantees.md says what it rests on.
 */
int64_t pdk_mutex_valid_ms(pdk_mutex *m);

/* The name of the node of the caller's grant, under the lock's path. Copies as pdk_client_last_error(). "" without a
 * grant. */
size_t pdk_mutex_node(pdk_mutex *m, char *buf, size_t size);

/*
 * How many contenders are ahead of the first request that waits through the object: 0 when it is the first in the
 * queue.
 *
 * Any thread. The call sends no request. The answer comes from the last listing of the waiting request's node. It is -1
 * before the first listing, and again when the node is lost and another is to come. Otherwise it is never too small,
 * because no contender can enter the queue ahead of another. It can be too large: a waiter lists again only when the
 * node directly ahead is deleted. pdk_contenders() asks the servers.
 *
 * PDK_EPERM: nothing waits through the object. PDK_EINVAL, PDK_EFORKED.
 */
int pdk_mutex_ahead(pdk_mutex *m, int64_t *ahead);

/* The path and the client that the object was made with, borrowed until pdk_mutex_free() has returned 0. Any thread. */
const char *pdk_mutex_path(pdk_mutex *m);
pdk_client *pdk_mutex_client(pdk_mutex *m);

/* A pointer of the program's own, NULL at first. Any thread; the library never follows it. M must not be freed. */
void pdk_mutex_set_user(pdk_mutex *m, void *user);
void *pdk_mutex_user(pdk_mutex *m);

struct zoo_op; /* of <zookeeper/zookeeper.h> */

/*
 * Make *OP a check that the node of the caller's grant (by the rule of pdk_mutex_state()) is there, for a transaction of
 * the caller's own: with it, zoo_amulti() commits while the lock is held, or not at all. The servers decide, so no
 * belief is involved, nor a clock; no name is ever used twice, so a transaction that comes late is refused, too.
 *
 * The path in *OP is borrowed until pdk_mutex_free() has returned 0: an op that is used after the unlock, or after the
 * loss, is refused by the servers. *OP may be used any number of times, on any handle of the same ensemble and chroot,
 * also of another session. Each guarded grant keeps its path (the lock's path and at most 200 bytes) until then. A
 * program that guards millions of grants through one object can fill an op itself instead, with pdk_mutex_node() and
 * memory of its own.
 *
 * PDK_EPERM: there is no grant. PDK_ELOST: the grant was lost. PDK_EINVAL, PDK_ENOMEM, PDK_EFORKED.
 *
 * A refused check fails the whole transaction with ZNONODE, and the result of the check says so, too: its `err` is
 * ZNONODE, what stood before it has 0, and what stands behind it ZRUNTIMEINCONSISTENCY (put it first). With
 * ZCONNECTIONLOSS and ZOPERATIONTIMEOUT the outcome is unknown; the same transaction can be sent again if it may happen
 * twice.
 *
 * ZooKeeper's client (3.8.0, and later as far as we have read) has traps in its multi, which free memory of the caller's
 * or abort the process:
 *  - A handle whose session has expired, or whose authentication has failed, with two operations or more; with a chroot,
 *    with any. Let zoo_state() be ZOO_CONNECTED_STATE right before the call. That leaves the time between the two, in
 *    which a thread would have to sleep through a lost connection and the next one; with libzookeeper_st nothing. When
 *    the application adds authentication, let it have succeeded.
 *  - A path that ZooKeeper does not take, in any operation but the last.
 *  - A container among the creates (ZOO_CONTAINER). One with a time to live is refused.
 *  - zoo_multi(), which waits, can wait for ever when the session expires (ZOOKEEPER-2802), and leaves the results
 *    untouched when the connection is lost. zoo_amulti() does not wait; its results must stay until the completion,
 *    which zookeeper_close() may forget.
 */
int pdk_mutex_guard(pdk_mutex *m, struct zoo_op *op);

/* Called at each change that nobody asked for: HELD to SUSPECT, SUSPECT to HELD, anything to LOST. TOKEN tells which
 * grant. In order; a program that lets more than 16 of them wait loses those in the middle, never the last. */
typedef void (*pdk_state_cb)(pdk_mutex *m, pdk_state state, int64_t token, void *arg);

/* Set the callback for changes of state; NULL for none. Before the first lock, or from the thread that unlocks. */
int pdk_mutex_on_state(pdk_mutex *m, pdk_state_cb cb, void *arg);

/*
 * A descriptor that is readable while changes wait for pdk_mutex_next_change(): those that pdk_mutex_on_state() tells,
 * from this call on, whether there is a callback or not. For poll(), in any thread; nobody else reads or closes it. It
 * is made by the first call, is close-on-exec, and closed by pdk_mutex_free(). Not negative, or PDK_EINVAL, PDK_ESYSTEM,
 * PDK_EFORKED.
 */
int pdk_mutex_fd(pdk_mutex *m);

/* Take the oldest change that waits: 1 when there was one, 0 when there is none, never waiting. TOKEN may be NULL. A
 * program that lets more than 16 of them wait loses those in the middle, never the last. PDK_EINVAL, PDK_EFORKED. */
int pdk_mutex_next_change(pdk_mutex *m, pdk_state *state, int64_t *token);

/*
 * Called when a client asks the holder to release the lock.
 *
 * The request is the word "__REVOKE__" in the data of the holder's node. Curator's Revoker writes the word alone;
 * pdk_contender_revoke() writes it before a space and the node's own data. It is only a request: nothing changes unless
 * the program unlocks, now or when its work allows.
 *
 * TOKEN identifies the grant. A request is reported at most once per grant. A request that was written to a waiter's
 * node is reported after the grant, possibly before a blocking lock call has returned. The callback may run when that
 * grant has just been released. A node that its own session may not READ cannot carry a request.
 */
typedef void (*pdk_revoke_cb)(pdk_mutex *m, int64_t token, void *arg);

/* Set the callback for being asked; NULL for none. Before the first lock: without a callback, nobody is told. */
int pdk_mutex_on_revoke(pdk_mutex *m, pdk_revoke_cb cb, void *arg);

/*
 * The incident: why the last call on this object failed, as "lock /locks/a: timed out after 2000 ms: held by db7 pid
 * 4711 (nightly), 1 ahead", "lock /locks/a: timed out after 2000 ms: no server reached (last: connection refused by
 * 127.0.0.1:2181)", "unlock /locks/a: the lock was lost while it was held: its node is deleted".
 *
 * Any thread; the text is kept per thread. If the calling thread's last call on the object failed, the text describes
 * that call. Otherwise it describes the last failure since the last grant that came without a call: a loss, or the
 * outcome of an asynchronous call. It is "" when there was none. Queries such as pdk_mutex_state() do not change it.
 *
 * A request may wait on a link that is too slow for the session timeout. Any other thread then reads "lock /locks/a:
 * not granted yet: connected, but the session cannot be confirmed in time: round trip 2.4 s, session timeout 6 s". A
 * path's ACL may lack DELETE, by which the session is renewed. From the first refusal on, long before the loss, the
 * text is "hold /locks/a: the session cannot be renewed: /locks/a does not permit DELETE".
 *
 * Copies as pdk_client_last_error(), and has its trap.
 */
size_t pdk_mutex_last_error(pdk_mutex *m, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
