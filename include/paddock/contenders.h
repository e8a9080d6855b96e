/*
 * The contenders of a path: the holder of a lock and its waiters, since when, from where.
 *
 * The answer is a snapshot: it may be out of date when it arrives. Never build a lock on it. The calls that act on a
 * contender, to ask it or to delete its node, act on the listed node or on none.
 */
#ifndef PADDOCK_CONTENDERS_H
#define PADDOCK_CONTENDERS_H

#include <paddock/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdk_contender_list pdk_contender_list;

typedef enum pdk_dialect {
    PDK_DIALECT_PADDOCK = 0, /* <session>-<attempt>-lock-<sequence>; or latch-, __READ__, __WRIT__ for lock- */
    PDK_DIALECT_CURATOR = 1, /* any other name with one of these tags before the number: Curator, go-zk */
    PDK_DIALECT_FOREIGN = 2, /* a contender of another recipe, by its sequence number; it counts in the order */
    PDK_DIALECT_JUNK = 3     /* no lock library could have created it. It blocks nobody, but is a permit */
} pdk_dialect;

/* Bytes of data that are read of one contender, and of all contenders of a list together. */
#define PDK_CONTENDER_DATA_MAX 65536
#define PDK_CONTENDERS_DATA_MAX 16777216

/* How a contender holds the lock, by the tag of its name. */
typedef enum pdk_mode {
    PDK_MODE_EXCLUSIVE = 0, /* alone: a mutex, a leader, a recipe that this library does not know */
    PDK_MODE_READ = 1,      /* beside other readers */
    PDK_MODE_WRITE = 2,     /* alone, as the writer of a read/write lock */
    PDK_MODE_NONE = 3,      /* junk */
    PDK_MODE_PERMIT = 4     /* beside as many others as a semaphore has permits; below PATH/leases */
} pdk_mode;

/*
 * List the contenders of PATH in their order, junk last. A path that does not exist has none. PATH may be "/", which is
 * no lock's.
 *
 * The call returns when the servers have answered, on the calling thread. It asks for each node's size before its data,
 * and has at most 64 requests under way, for at most 256 KiB of data: locks that the same client holds are renewed
 * meanwhile. A list of N contenders costs up to 2 N + 1 requests.
 *
 * *LIST is the caller's, to be given to pdk_contender_list_free().
 *
 * PDK_ETIMEDOUT: no whole answer within TIMEOUT_MS (PDK_FOREVER: no limit).
 * PDK_EACCES: the ACL does not permit to READ the path.
 * PDK_EPATH: PATH is not an absolute path.
 * PDK_EREFUSED, PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED.
 *
 * The trap: data over the two limits above are left out; pdk_contender_data_omitted() has their size.
 */
int pdk_contenders(pdk_client *c, const char *path, int64_t timeout_ms, pdk_contender_list **list);

/* As pdk_contenders(), but read only the first N nodes: up to 2 N + 1 requests. For the others the list has the name,
 * the dialect and the sequence number; every other property is 0 or "". For a waiter that shows the holder and how many
 * contenders are ahead. */
int pdk_contenders_first(pdk_client *c, const char *path, size_t n, int64_t timeout_ms, pdk_contender_list **list);

/* An observer of the contenders of a path. */
typedef struct pdk_contenders_observer pdk_contenders_observer;

/* Called when the contenders of the path may have changed, on the thread of all callbacks. */
typedef void (*pdk_contenders_cb)(void *arg);

/*
 * Report from now on when a contender joins PATH or leaves it. CB is called once the path is watched, and after each
 * change. The list comes from pdk_contenders(), which a callback must not call: it wakes another thread.
 *
 * Changes that come together are reported once, and so are those that came while the connection was lost. Observation
 * continues in a new session. An observer has one watch on the servers, on the children of PATH or, while there is no
 * path, on its creation; each change costs it one listing of names. It retries a path that it may not read, and
 * pdk_client_last_error() has the reason.
 *
 * On success *O is the caller's, to be given to pdk_contenders_observer_free(). PDK_EPATH, PDK_EINVAL, PDK_ELIMIT,
 * PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_ECLOSED, PDK_EFORKED.
 *
 * The trap: what a contender writes into its node, and a request for revocation, are not reported.
 */
int pdk_contenders_observe(pdk_contenders_observer **o, pdk_client *c, const char *path, pdk_contenders_cb cb,
                           void *arg);

/* Stop observing. Any thread, also in the callback; a callback that runs in another thread ends in its own time. NULL
 * is allowed. PDK_EFORKED. */
int pdk_contenders_observer_free(pdk_contenders_observer *o);

/* Free the list, and the strings that were borrowed from it. NULL is allowed. */
void pdk_contender_list_free(pdk_contender_list *list);

/* The number of contenders in the list. Index I below is less than it, and 0 for the first holder. Strings are borrowed
 * until the list is freed. */
size_t pdk_contender_list_size(const pdk_contender_list *list);

/* How many nodes were created under the path since it exists: the sequence number that the servers give to the next
 * one. From 2147483647 on no number orders contenders (PDK_EEXHAUSTED). 0 for a path that does not exist. */
int64_t pdk_contender_list_created(const pdk_contender_list *list);

/* The time at which the path was created, in milliseconds since 1970 by the servers' clock; 0 for one that does not
 * exist. */
int64_t pdk_contender_list_since_ms(const pdk_contender_list *list);

/* The node's name under the path. */
const char *pdk_contender_name(const pdk_contender_list *list, size_t i);
pdk_dialect pdk_contender_dialect(const pdk_contender_list *list, size_t i);

/* The sequence number; -1 for junk. */
int64_t pdk_contender_sequence(const pdk_contender_list *list, size_t i);

/* How the contender holds the lock, or will hold it. */
pdk_mode pdk_contender_mode(const pdk_contender_list *list, size_t i);

/* Does no contender ahead in LIST block this one? Then it holds the lock, or is about to: the first contender, each
 * reader that has only readers ahead, a writer beside the read lock that it took under its own, and a permit with fewer
 * nodes ahead than pdk_contender_limit(), or where that is not known. Junk among permits counts as one, ahead of all of
 * them, and holds; elsewhere it is false for junk. */
bool pdk_contender_holds(const pdk_contender_list *list, size_t i);

/* The session that owns the node; 0 for a node that is not ephemeral, or that this client may not look at. */
int64_t pdk_contender_session(const pdk_contender_list *list, size_t i);

/* The czxid of the node: the token of the grant it has or will have. 0 when this client may not look at it. */
int64_t pdk_contender_token(const pdk_contender_list *list, size_t i);

/* The time at which the node was created, in milliseconds since 1970 by the servers' clock. */
int64_t pdk_contender_since_ms(const pdk_contender_list *list, size_t i);

/* The node's data, without a request for revocation: *SIZE bytes, and a NUL after them that does not count. SIZE may be
 * NULL. */
const char *pdk_contender_data(const pdk_contender_list *list, size_t i, size_t *size);

/* Does the node carry a request for revocation, by pdk_contender_revoke() or Curator's Revoker? */
bool pdk_contender_revoked(const pdk_contender_list *list, size_t i);

/* How many bytes of the node's data were not read, and are therefore missing from pdk_contender_data(). Data are left
 * out when they are over PDK_CONTENDER_DATA_MAX, when they are over PDK_CONTENDERS_DATA_MAX together with those before
 * them, or when the ACL does not permit to READ them. 0 when the data are whole. Also 0 when this client may not look
 * at the node (servers that refuse exists without READ): pdk_contender_token() is 0 then. */
size_t pdk_contender_data_omitted(const pdk_contender_list *list, size_t i);

/* Did the servers let this client look at the node, and read its data where there are any? true for a node that was
 * not read (pdk_contenders_first()). Contenders must be able to READ the nodes of each other. */
bool pdk_contender_readable(const pdk_contender_list *list, size_t i);

/* Identity, when the data carries it: "" and 0 otherwise. */
const char *pdk_contender_host(const pdk_contender_list *list, size_t i);
int64_t pdk_contender_pid(const pdk_contender_list *list, size_t i);
int64_t pdk_contender_thread(const pdk_contender_list *list, size_t i);
const char *pdk_contender_label(const pdk_contender_list *list, size_t i);

/* Does the identity say that this contender's grants are confirmed (pdk_lock_options_set_confirmed())? Either all
 * contenders of a path should confirm their grants, or none. */
bool pdk_contender_confirmed(const pdk_contender_list *list, size_t i);

/* The lock delay in the contender's identity (pdk_lock_options_set_lock_delay_ms()), in milliseconds; 0 for none.
 * Either all contenders of a path should have one, or none. */
int64_t pdk_contender_lock_delay_ms(const pdk_contender_list *list, size_t i);

/* How many permits the semaphore has, by the identity of this one's contender; 0: not known, or it is none. All
 * contenders of a semaphore should have one limit. */
int64_t pdk_contender_limit(const pdk_contender_list *list, size_t i);

/* Where the number of the process counts, in the contender's identity: a text that two contenders share if they ran on
 * one machine since it was started, in one PID namespace; "" when it is not known. */
const char *pdk_contender_machine(const pdk_contender_list *list, size_t i);

/* The name of the node that paddock(1) held while it ran the contender's process, or an ancestor of that, by the
 * contender's identity; "" for none. The holder of that node releases it when the process has ended. */
const char *pdk_contender_under(const pdk_contender_list *list, size_t i);

/* Did the contender's process run on this machine, and has it ended? The servers keep its node until its session
 * expires. Also false when that is not proven: another machine, another PID namespace, no identity. */
bool pdk_contender_dead(const pdk_contender_list *list, size_t i);

/*
 * Ask contender I of LIST to release the lock: write "__REVOKE__" into its node's data, as Curator's Revoker does.
 *
 * The call returns when the servers have the request, within TIMEOUT_MS. It does not wait for the contender.
 *
 * The node of a pdk_mutex or pdk_leader keeps its own data after that word and a space, so that lists still show its
 * owner. When Curator's Revoker has overwritten the data, the contender writes them back in that form. The data of
 * other libraries' nodes are overwritten. A holder reports the request to the program (pdk_lock_on_revoke(),
 * PDK_REVOKED), and so does a Curator lock that was made revocable. Other libraries ignore it.
 *
 * PDK_ENOENT: that node is deleted; a new node of its name was left alone.
 * PDK_EACCES: the ACL of the node does not permit this client to WRITE, or did not permit to READ when it was listed.
 * PDK_ETIMEDOUT: nothing was written.
 * PDK_EUNKNOWN: the request may have been written.
 * PDK_EINVAL, PDK_EREFUSED, PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_contender_revoke(pdk_client *c, const pdk_contender_list *list, size_t i, int64_t timeout_ms);

/*
 * Delete the node of contender I of LIST, against its owner's will. Use it for a holder that is known to be dead, or
 * that does not answer a request.
 *
 * A waiter queues again. A holder has lost its lock.
 *
 * PDK_EACCES: the lock's path does not permit this client to DELETE.
 * PDK_EREFUSED: the node has children; a contender's node has none.
 * Otherwise as pdk_contender_revoke().
 *
 * The trap: the next contender is granted the lock AT ONCE. The holder before it may not have been notified, and works
 * on. Only tokens (lock.h) protect a resource that both write to.
 */
int pdk_contender_remove(pdk_client *c, const pdk_contender_list *list, size_t i, int64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
