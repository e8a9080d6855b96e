/*
 * A client: one ZooKeeper session, shared by all the locks of a process.
 *
 * Caveats, first:
 *  - A client does not survive fork(). In the child every call answers PDK_EFORKED and touches nothing; the parent's
 *    session goes on. Make the client after the fork.
 *  - Callbacks run on the library's thread (or inside pdk_client_dispatch()), one at a time, with no lock held. A
 *    blocking call from a callback answers PDK_EDEADLK.
 *  - ZooKeeper's client has three descriptors of its own that are not close-on-exec: close what you do not want a child
 *    to inherit.
 *  - One server in the host list that swallows packets costs two thirds of the session timeout whenever the client
 *    happens to try it. List servers that exist.
 *  - One client at a time may adopt a given handle.
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

/* For ever, where a time in milliseconds is asked for. */
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
    PDK_SESSION_CONNECTING = 0, /* no session yet, or a new one is being made after an expiry */
    PDK_SESSION_CONNECTED = 1,
    PDK_SESSION_SUSPENDED = 2, /* the connection is lost; the session may still live */
    PDK_SESSION_OVER = 3       /* closed, refused, or an adopted handle that expired: for good */
} pdk_session_state;

/* New options with their defaults, or NULL when memory is out. Caller frees; the client copies what it needs. */
pdk_client_options *pdk_client_options_new(void);
void pdk_client_options_free(pdk_client_options *o);

/* The session timeout to ask for, in milliseconds; the servers clamp it (by default to 2 to 20 of their ticks). Default
 * 10000. PDK_EINVAL under 100 or over 86400000. */
int pdk_client_options_set_session_timeout_ms(pdk_client_options *o, int timeout_ms);

/* Authenticate with SCHEME ("digest") and CRED ("user:password"), on every connection. May be called several times.
 * Wrong digest credentials are not refused by ZooKeeper: they merely have no rights. PDK_EINVAL, PDK_ENOMEM. */
int pdk_client_options_add_auth(pdk_client_options *o, const char *scheme, const char *cred);

/* Add an entry to the ACL of every node the client makes. Default, with no entry: everybody may do everything. The
 * peers that wait on a lock must be able to READ its nodes, and its path must let them READ, CREATE and DELETE.
 * PDK_EINVAL, PDK_ENOMEM. */
int pdk_client_options_add_acl(pdk_client_options *o, const char *scheme, const char *id, int perms);

/* A text of at most 255 bytes that the nodes of this client carry, for people who ask who holds a lock. Default: the
 * program's name. PDK_EINVAL when it is longer. */
int pdk_client_options_set_label(pdk_client_options *o, const char *label);

/* Callbacks run inside pdk_client_dispatch(), called by the program's own event loop when pdk_client_fd() is readable,
 * and not on the library's thread. Default: false. */
int pdk_client_options_set_dispatch(pdk_client_options *o, bool by_caller);

/*
 * How long a holder may believe. While a lock is held, or is about to be, the client writes to the servers now and then, what
 * changes nothing, and counts only what a quorum has acknowledged: from the send time of the third-newest such write on
 * the session lives for a whole timeout. Doc/guarantees.md has the argument and its assumptions. Defaults suit servers
 * that run with ZooKeeper's own limits.
 */

/* The servers' tickTime, in milliseconds. Default: half the session timeout, which is the most it can be unless the
 * servers' minSessionTimeout was lowered. A smaller one lets the client write less often; one that is smaller than the
 * truth makes the deadline unsafe. PDK_EINVAL under 1 or over 86400000. */
int pdk_client_options_set_server_tick_ms(pdk_client_options *o, int tick_ms);

/* How long before the session can end belief ends, in milliseconds: for clocks that do not run at the same rate. Default: a
 * twentieth of the session timeout. PDK_EINVAL as above. */
int pdk_client_options_set_drift_margin_ms(pdk_client_options *o, int margin_ms);

/* The least time that must remain for a lock that is held not to be SUSPECT, in milliseconds. For a grant up to a tenth of
 * the session timeout more must, or it would be SUSPECT before there can be news. Default: a tenth of the session timeout.
 * With the margin and a little more than half a tick it must fit into the timeout that the servers grant, or the client is
 * over with PDK_ESHORT. PDK_EINVAL as above. */
int pdk_client_options_set_min_valid_ms(pdk_client_options *o, int min_valid_ms);

typedef enum pdk_renewal { PDK_RENEW_BY_WRITE = 0, PDK_RENEW_BY_SYNC = 1 } pdk_renewal;

/* What the client asks the servers while a lock is held. By write (the default): refused by a quorum. By sync: cheaper for
 * the servers, who log nothing; but a leader that was deposed and has not noticed answers sync by itself, and its clients
 * believe for as long as it does. PDK_EINVAL. */
int pdk_client_options_set_renewal(pdk_client_options *o, pdk_renewal renewal);

/* Called when the session has changed. What came and went before the callback could run is not told. */
typedef void (*pdk_session_cb)(pdk_client *c, pdk_session_state state, void *arg);
int pdk_client_options_set_on_session(pdk_client_options *o, pdk_session_cb cb, void *arg);

/*
 * Make a client and start to connect; the call does not wait for a server.
 *
 * HOSTS is ZooKeeper's list, "h1:2181,h2:2181/chroot"; host names are resolved before the call returns. A missing
 * chroot node is made by the first lock, its ancestors are not. OPTS may be NULL. On success *C is the caller's, to be
 * given to pdk_client_free(). PDK_EINVAL (no port, no host), PDK_EHOST, PDK_ENOMEM, PDK_ESYSTEM.
 */
int pdk_client_new(pdk_client **c, const char *hosts, const pdk_client_options *opts);

/*
 * Make a client on the application's own handle. The client borrows ZH until pdk_client_close() has returned, and puts
 * a watcher of its own before the handle's global watcher: it hands every event on to the one it found, and puts that
 * back at close. When the session expires, everything answers PDK_EEXPIRED: close the client, make a new handle, adopt
 * that. How old the session is nobody knows: the first lock waits until it is proven alive, a little more than half a tick of
 * the servers from the call on. Host list, timeout and authentication of OPTS are ignored. PDK_EBUSY when another client has adopted ZH,
 * PDK_EEXPIRED when its session is over already, PDK_EAUTH when the servers refused its authentication, PDK_EINVAL,
 * PDK_ENOMEM, PDK_ESYSTEM.
 */
int pdk_client_adopt(pdk_client **c, struct _zhandle *zh, const pdk_client_options *opts);

/*
 * End the session: its nodes go, waiting threads return PDK_ECLOSED, locks that were held are LOST, pending callbacks
 * are called, and the client's threads end. Any thread, several at once: each returns when it is done. An adopted
 * handle stays open; the nodes made through it are deleted first, within one session timeout. Takes a moment, and at
 * most about seven seconds when the servers do not answer (most of it ZooKeeper's own limits); then the nodes go when
 * the session expires. Waits for callbacks that are running. PDK_EDEADLK on a callback thread, PDK_EFORKED,
 * PDK_EUNKNOWN when an adopted handle would not confirm that the nodes are gone.
 */
int pdk_client_close(pdk_client *c);

/* Close if need be, and give the memory back. Locks of the client may still be freed afterwards; nothing else. NULL is
 * allowed. No other thread may be using C. PDK_EDEADLK on a callback thread, PDK_EFORKED. */
int pdk_client_free(pdk_client *c);

/* Wait until the session is connected. Returns 0, PDK_ETIMEDOUT after TIMEOUT_MS (PDK_FOREVER: never), PDK_EAUTH,
 * PDK_EEXPIRED, PDK_ESHORT, PDK_ECLOSED, PDK_EDEADLK, PDK_EFORKED. */
int pdk_client_wait(pdk_client *c, int64_t timeout_ms);

/* Where the session stands, without a request. Any thread. After fork: PDK_SESSION_OVER. */
pdk_session_state pdk_client_state(pdk_client *c);

/* The id of the session, or 0 while there is none. */
int64_t pdk_client_session_id(pdk_client *c);

/* The session timeout the servers granted, in milliseconds, or 0 while there is none. */
int pdk_client_session_timeout_ms(pdk_client *c);

/* A descriptor that is readable while callbacks wait to be run; -1 unless pdk_client_options_set_dispatch() asked for
 * it. Owned by the client, closed by pdk_client_close(). */
int pdk_client_fd(pdk_client *c);

/* Run the callbacks that wait. Returns a positive number when some waited, 0 when none did; never blocks except in
 * those. PDK_EINVAL when the library's own thread runs them, PDK_EDEADLK inside a callback, PDK_EFORKED. */
int pdk_client_dispatch(pdk_client *c);

/* The last incident, as "create /locks/a: not permitted by the ACL"; "" when there was none. At most SIZE bytes with
 * the terminating NUL are copied into BUF. Returns the length of the whole text. */
size_t pdk_client_last_error(pdk_client *c, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif
