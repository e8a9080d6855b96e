/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client: one ZooKeeper session, shared by all the locks of a process.
 *
 * Caveats, first:
 *  - A client does not survive fork(). In the child every call answers PDK_EFORKED and touches nothing; the parent's
 *    session goes on. Make the client after the fork. The child of a bare clone() is detected as well, and so is a
 *    child with its parent's process number in another PID namespace. Before Linux 4.14 that last one is detected only
 *    after fork(). A child that shares its parent's memory, as that of vfork() does, is not detected: it must not call
 *    the library.
 *  - A process that ends without pdk_client_free() or pdk_client_close() leaves its session on the servers, which keep
 *    its nodes for one session timeout. Until then its locks are granted to no other contender. exit() and a return
 *    from main() count.
 *  - A client carries the paths of about 16,000 held locks: 1,000,000 bytes. A held lock on a path of N bytes, with the
 *    chroot, takes N + 50. A waiter takes 2 * (N + 50), and so does a permit of a semaphore. One more is refused with
 *    PDK_ELIMIT. ZooKeeper's client sends all watched paths in one packet when it reconnects, and servers drop a packet
 *    over 1 MB (ZOOKEEPER-706). On an adopted handle the budget is half, because the application's watches and chroot
 *    are not known. A second client has a budget of its own.
 *  - Callbacks run on a thread of the client's own, or inside pdk_client_dispatch(): one at a time, with no lock held.
 *    A callback may run as long as it likes. Other callbacks wait for it; timers, renewals and new sessions do not. A
 *    blocking call from a callback answers PDK_EDEADLK.
 *  - A client has two threads of ZooKeeper's, one for timers, and one for callbacks unless the program dispatches them.
 *    One more exists while a handle is made or closed. None of them takes signals.
 *  - ZooKeeper's client has three descriptors of its own that are not close-on-exec: close what you do not want a child
 *    to inherit.
 *  - A server in the host list that swallows packets costs a tenth of the session timeout when the client tries it,
 *    more for each further one in a row, and two thirds at most. With one server, or on an adopted handle, it costs two
 *    thirds. List servers that exist.
 *  - One client at a time may adopt a given handle.
 *  - A thread whose cancellation is asynchronous (PTHREAD_CANCEL_ASYNCHRONOUS) must not call the library: it could end
 *    while it has a lock of the client. The calls that are cancellation points say so.
 */
#ifndef PADDOCK_CLIENT_H
#define PADDOCK_CLIENT_H

#include <paddock/error.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdk_client pdk_client;
typedef struct pdk_client_options pdk_client_options;

/* ZooKeeper's own handle, from zookeeper.h. */
struct _zhandle;

/* No limit, in place of a time in milliseconds. */
#define PDK_FOREVER ((int64_t)-1)

/* Permissions, as in zookeeper.h. */
enum pdk_perm {
    PDK_PERM_READ = 1,
    PDK_PERM_WRITE = 2,
    PDK_PERM_CREATE = 4,
    PDK_PERM_DELETE = 8,
    PDK_PERM_ADMIN = 16,
    PDK_PERM_ALL = 31
};

typedef enum pdk_session_state {
    PDK_SESSION_CONNECTING = 0, /* no session yet, or a new one is being created after an expiry */
    PDK_SESSION_CONNECTED = 1,
    PDK_SESSION_SUSPENDED = 2, /* the connection is lost; the session may still live */
    PDK_SESSION_OVER = 3       /* closed, refused, or an adopted handle that expired: for good */
} pdk_session_state;

/* Create options with their defaults; NULL when memory is out. The caller frees them; the client copies what it
 * needs. */
pdk_client_options *pdk_client_options_new(void);
void pdk_client_options_free(pdk_client_options *o);

/* The session timeout to ask for, in milliseconds; the servers clamp it (by default to 2 to 20 of their ticks). Default
 * 10000. PDK_EINVAL under 100 or over 86400000. */
int pdk_client_options_set_session_timeout_ms(pdk_client_options *o, int timeout_ms);

/* Authenticate with SCHEME ("digest") and CRED ("user:password"), on every connection. May be called up to 8 times.
 * Wrong digest credentials are not refused by ZooKeeper: they merely have no rights. PDK_EINVAL: also the ninth time.
 * PDK_ENOMEM. */
int pdk_client_options_add_auth(pdk_client_options *o, const char *scheme, const char *cred);

/* Add an entry to the ACL of every node the client creates, which has 16 at most. Default, with no entry: every client
 * has all permissions. Contenders for a lock must be able to READ its nodes, and its path must permit them READ, CREATE
 * and DELETE. PDK_EINVAL: also the seventeenth entry. PDK_ENOMEM. */
int pdk_client_options_add_acl(pdk_client_options *o, const char *scheme, const char *id, int perms);

/* A text of at most 255 bytes that the nodes of this client carry. Lists of contenders show it. Default: the program's
 * name. PDK_EINVAL when it is longer.
 *
 * Beside it the nodes carry the host, the process, the thread, a digest of the machine's start and of the PID namespace
 * (read from /proc), and PADDOCK_NODE of the environment, if that is the name of a node: paddock(1) sets it for the
 * command that it runs while it holds a lock. pdk_client_options_new() reads the last two. */
int pdk_client_options_set_label(pdk_client_options *o, const char *label);

/* Run callbacks inside pdk_client_dispatch() instead of on the client's thread. The program's own event loop calls it
 * when pdk_client_fd() is readable. Default: false. */
int pdk_client_options_set_dispatch(pdk_client_options *o, bool by_caller);

/*
 * The deadline of a held lock. While a lock is held or about to be granted, the client sends reads, syncs and writes
 * that change nothing: deletes of a node that does not exist. Only writes that a quorum has acknowledged renew the
 * deadline, and a refused delete is such a write. The session lives for a whole timeout from the send time of an
 * earlier request, which the write proves. An idle holder needs 2.1 to 3.3 logged writes in a session timeout, and six
 * or seven requests that servers do not log. doc/guarantees.md has the argument and its assumptions. The defaults suit
 * servers that run with ZooKeeper's own limits.
 *
 * A held lock is SUSPECT when less than a tenth of the session timeout remains to the deadline. A new grant needs up to
 * a tenth more, so that it does not turn SUSPECT before its first renewal. A tenth of the timeout, the margin, 0.55
 * ticks and 10 ms must together be less than the timeout that the servers grant. Otherwise the client is over with
 * PDK_ESHORT, and pdk_client_last_error() has the numbers.
 */

/*
 * The servers' tickTime, and the margin of the deadline, in milliseconds. 0 is the default of either.
 *
 * TICK_MS: by default half the session timeout, which is the most it can be unless the servers' minSessionTimeout was
 * lowered. With a tick of a fifth of the timeout an idle holder writes 2.1 times in it, with the default 3.3 times. The
 * tick also decides up to which round trip locks are granted and held: 0.2 of the timeout with a tick of a fifth of it,
 * 0.12 with the default.
 *
 * MARGIN_MS: the time between the deadline and the session's earliest possible end. It covers clocks that do not run at
 * the same rate. By default a twentieth of the session timeout.
 *
 * PDK_EINVAL: either is under 0 or over 86400000.
 *
 * The trap: a TICK_MS below the servers' tickTime makes the deadline unsafe.
 */
int pdk_client_options_set_clock(pdk_client_options *o, int tick_ms, int margin_ms);

/* Called when the session has changed. A state that ended before the callback could run is not reported. */
typedef void (*pdk_session_cb)(pdk_client *c, pdk_session_state state, void *arg);

/* Set the callback for changes of the session; NULL, the default, for none. The client copies CB and ARG.
 * PDK_EINVAL. */
int pdk_client_options_set_on_session(pdk_client_options *o, pdk_session_cb cb, void *arg);

/*
 * Create a client and start to connect; the call does not wait for a server.
 *
 * HOSTS is ZooKeeper's list, "h1:2181,h2:2181/chroot"; an IPv6 address may have brackets, "[::1]:2181" or "::1:2181".
 * The call waits up to 2000 ms for the names to be resolved. It answers PDK_EHOST when no name is known. When the name
 * servers take longer, it returns 0 and the client goes on trying; pdk_client_last_error() has the outcome. Names are
 * resolved again before each attempt to connect. When a session begins, the log names each host that is not known, and
 * so do the incidents of calls that find no server. The first lock creates a missing chroot node, but not the chroot's
 * ancestors.
 *
 * When HOSTS lists several servers and one answers nothing for a fifth of the session timeout, the client goes to
 * another server in the same session. The client does not do so on an adopted handle, nor when the process has another
 * socket to that server.
 *
 * OPTS may be NULL. On success *C is the caller's, to be given to pdk_client_free().
 *
 * PDK_EINVAL: HOSTS is empty, or has an entry without a port, a port of 0, or a chroot that is no path.
 * PDK_EHOST: no name in HOSTS is known. A missing name counts as unknown.
 * PDK_ENOMEM, PDK_ESYSTEM.
 */
int pdk_client_new(pdk_client **c, const char *hosts, const pdk_client_options *opts);

/*
 * Create a client on the application's own handle. The program links ZooKeeper's threaded client itself: -lpaddock
 * -lzookeeper_mt. See examples/adopt.c.
 *
 * The client borrows ZH until pdk_client_close() has returned. It puts a watcher of its own before the handle's global
 * watcher, hands every event on to that one, and restores it at close. When the session expires, every call answers
 * PDK_EEXPIRED: close the client, create a new handle, adopt that.
 *
 * The age of an adopted session is unknown. So the first lock waits until the session is proven alive: 0.55 ticks of
 * the servers, 10 ms and three round trips from this call on. Host list, timeout and authentication of OPTS are
 * ignored.
 *
 * The trap: some requests are still in flight when pdk_client_close() returns. If the handle is closed then,
 * ZooKeeper's client may drop them without a word (ZOOKEEPER-2894), and the client's memory is not freed.
 *
 * PDK_EBUSY: another client has adopted ZH.
 * PDK_EEXPIRED: its session has expired already.
 * PDK_EAUTH: the servers refused its authentication.
 * PDK_EINVAL, PDK_ENOMEM, PDK_ESYSTEM.
 */
int pdk_client_adopt(pdk_client **c, struct _zhandle *zh, const pdk_client_options *opts);

/*
 * End the session: its nodes are deleted, waiting threads return PDK_ECLOSED, held locks are LOST, pending callbacks
 * are called, and the client's threads end. Any thread, several at once: each call returns when the client is closed.
 *
 * The call waits for callbacks that are running. It takes at most about seven seconds when the servers do not answer,
 * most of them ZooKeeper's own limits; then the nodes are deleted when the session expires. An adopted handle stays
 * open; the nodes created through it are deleted first, within one session timeout.
 *
 * PDK_EDEADLK: the caller is a callback thread.
 * PDK_EUNKNOWN, on an adopted handle: the servers did not confirm that the nodes are deleted, or a create whose reply
 * was lost less than a session timeout ago may still leave one, or the client was over before, by PDK_EAUTH,
 * PDK_ESHORT or PDK_ESERVER. Such nodes stay until the session ends.
 * PDK_EFORKED.
 *
 * The trap: while a name server keeps the client waiting, one thread of the client outlives the close, and ends
 * unasked. Do not unload the library before.
 */
int pdk_client_close(pdk_client *c);

/* Close if need be, and free the client. Locks of the client may still be freed afterwards; nothing else. NULL is
 * allowed. No other thread may be using C. PDK_EDEADLK on a callback thread, PDK_EFORKED. */
int pdk_client_free(pdk_client *c);

/*
 * Wait until the session is connected.
 *
 * Returns on the calling thread, after TIMEOUT_MS at the latest (PDK_FOREVER: no limit).
 *
 * PDK_ETIMEDOUT: no server was reached in time; pdk_client_last_error() tells what came instead.
 * PDK_EAUTH: the servers refused the authentication.
 * PDK_EEXPIRED: the session of an adopted handle has expired.
 * PDK_ESHORT: the timeout that the servers granted is too short; pdk_client_last_error() has the numbers.
 * PDK_ESERVER: the servers resume no session on another connection, and are not ZooKeeper's.
 * PDK_ECLOSED, PDK_EDEADLK, PDK_EFORKED.
 */
int pdk_client_wait(pdk_client *c, int64_t timeout_ms);

/*
 * Wait until every release that began before this call is over.
 *
 * A release begins when a lock, a leadership, a permit or a multi-lock is given back, when its caller gives up, and
 * when it is lost. Of several nodes only the lost one is released by the loss, and the others when the owner unlocks.
 * A release is over when its node is proven deleted, or when the client is no longer in its session: the
 * servers delete the node with that. Releases that begin later are not waited for. The call returns on the calling
 * thread, after TIMEOUT_MS at the latest (PDK_FOREVER: no limit). It is a cancellation point, and sends no request.
 *
 * 0: none is under way any more. A release that the servers refused is over, too: the incident of its object tells.
 * PDK_ETIMEDOUT: one is under way. PDK_ECLOSED: the client is closed meanwhile, and close deletes the nodes.
 * PDK_EDEADLK, PDK_EINVAL, PDK_EFORKED.
 */
int pdk_client_flush(pdk_client *c, int64_t timeout_ms);

/* The state of the session. No request; any thread. After fork: PDK_SESSION_OVER. */
pdk_session_state pdk_client_state(pdk_client *c);

/* The id of the session, or 0 while there is none. */
int64_t pdk_client_session_id(pdk_client *c);

/* The session timeout the servers granted, in milliseconds, or 0 while there is none. */
int pdk_client_session_timeout_ms(pdk_client *c);

/* A descriptor that is readable while callbacks are pending; -1 unless pdk_client_options_set_dispatch() asked for it.
 * Owned by the client, closed by pdk_client_close(). */
int pdk_client_fd(pdk_client *c);

/* Run the pending callbacks. Returns a positive number when there were any, 0 when there were none; blocks only in the
 * callbacks. PDK_EINVAL when the client's own thread runs them, PDK_EDEADLK inside a callback, PDK_EFORKED. */
int pdk_client_dispatch(pdk_client *c);

/*
 * The reason for the state of the session, in words: "connected to 10.0.0.5:2181", "the connection to 10.0.0.5:2181 was
 * lost (last: connection refused by 10.0.0.5:2181)", "the servers ended the session".
 *
 * Any thread. In the callback of pdk_client_options_set_on_session() the text belongs to the state that the callback
 * was called with, elsewhere to the present state.
 *
 * At most SIZE bytes with the terminating NUL are copied into BUF. Returns the length of the whole text; 0 after fork.
 *
 * The trap: the wording may change with any release.
 */
size_t pdk_client_session_reason(pdk_client *c, char *buf, size_t size);

/*
 * The incident: why the last call on the client failed, as "list /locks/a: timed out: no server reached (last:
 * connection refused by 127.0.0.1:2181)".
 *
 * Any thread; the text is kept per thread. If the calling thread's last call on the client failed, the text describes
 * that call. Otherwise it describes the last failure since the last connection that came without a call; it is "" when
 * there was none. Calls on a lock, a leader or a barrier leave their texts in the ..._last_error() of that.
 * With C NULL: why the calling thread's last pdk_client_new() or pdk_client_adopt() failed.
 *
 * At most SIZE bytes with the terminating NUL are copied into BUF. Returns the length of the whole text; 0 after fork.
 *
 * The trap: a thread keeps the text of one failed call. A failure on another object replaces it.
 */
size_t pdk_client_last_error(pdk_client *c, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
