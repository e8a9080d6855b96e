/*
 * Who holds a lock, who waits for it, since when, from where.
 *
 * The answer is a snapshot: it may be out of date when it arrives. Never build a lock on it. What may be done about a
 * contender, to ask it or to take its node away, is done to that very node or to none.
 */
#ifndef PADDOCK_CONTENDERS_H
#define PADDOCK_CONTENDERS_H

#include <paddock/client.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pdk_contender_list pdk_contender_list;

typedef enum pdk_dialect {
    PDK_DIALECT_PADDOCK = 0, /* <session>-<attempt>-lock-<sequence>, for a leader -latch-<sequence> */
    PDK_DIALECT_CURATOR = 1, /* any other name with lock- or latch- before the number: Curator, go-zk */
    PDK_DIALECT_FOREIGN = 2, /* a contender of another recipe, by its sequence number; it counts in the order */
    PDK_DIALECT_JUNK = 3     /* no lock library could have made it; it blocks nobody */
} pdk_dialect;

/*
 * List the contenders of PATH in their order, junk last. A path that does not exist has none. *LIST is the caller's, to
 * be given to pdk_contender_list_free(). PDK_ETIMEDOUT after TIMEOUT_MS (PDK_FOREVER: never), PDK_EACCES when the path
 * may not be read, PDK_EPATH, PDK_EREFUSED, PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_EDEADLK, PDK_ECLOSED,
 * PDK_EFORKED.
 */
int pdk_contenders(pdk_client *c, const char *path, int64_t timeout_ms, pdk_contender_list **list);
void pdk_contender_list_free(pdk_contender_list *list);

/* How many there are. Index I below is 0 for the holder, and less than this; strings are borrowed until the list is
 * freed. */
size_t pdk_contender_list_size(const pdk_contender_list *list);

/* The node's name under the path. */
const char *pdk_contender_name(const pdk_contender_list *list, size_t i);
pdk_dialect pdk_contender_dialect(const pdk_contender_list *list, size_t i);

/* The sequence number; -1 for junk. */
int64_t pdk_contender_sequence(const pdk_contender_list *list, size_t i);

/* The session that owns the node; 0 for a node that is not ephemeral, or that may not be looked at. */
int64_t pdk_contender_session(const pdk_contender_list *list, size_t i);

/* The czxid of the node: the token of the grant it has or will have. 0 when it may not be looked at. */
int64_t pdk_contender_token(const pdk_contender_list *list, size_t i);

/* When the node was made, in milliseconds since 1970 by the servers' clock. */
int64_t pdk_contender_since_ms(const pdk_contender_list *list, size_t i);

/* The node's data, as it is: *SIZE bytes, and a NUL behind them that does not count. */
const char *pdk_contender_data(const pdk_contender_list *list, size_t i, size_t *size);

/* Identity, when the data carries it: "" and 0 otherwise. */
const char *pdk_contender_host(const pdk_contender_list *list, size_t i);
int64_t pdk_contender_pid(const pdk_contender_list *list, size_t i);
int64_t pdk_contender_thread(const pdk_contender_list *list, size_t i);
const char *pdk_contender_label(const pdk_contender_list *list, size_t i);

/*
 * Ask contender I of LIST to give the lock back: "__REVOKE__" becomes the data of its node, as Curator's Revoker does it.
 * A pdk_mutex tells it to the program when it holds (pdk_mutex_on_revoke()), a pdk_leader too, a Curator lock that was
 * made revocable as well; anybody else takes no notice. What the node said of its owner is overwritten. Waits until the
 * servers have it, at most TIMEOUT_MS, not for the contender.
 *
 * PDK_ENOENT: that node is gone, and whatever may have its name now was left alone. PDK_EACCES: the ACL of the node does
 * not let this client WRITE, or did not let it READ when it was listed. PDK_ETIMEDOUT: nothing was written. PDK_EUNKNOWN:
 * it may have been. PDK_EINVAL, PDK_EREFUSED, PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED.
 */
int pdk_contender_revoke(pdk_client *c, const pdk_contender_list *list, size_t i, int64_t timeout_ms);

/*
 * Delete the node of contender I of LIST, against its owner's will. A waiter queues anew; a holder has lost, and the next
 * in line is granted AT ONCE, while the one before may not have heard of it and goes on working: only tokens (mutex.h)
 * protect what they both write to. For a holder that is known to be dead, or that does not answer to being asked.
 *
 * Errors as pdk_contender_revoke(), of the permission to DELETE in the lock's path. PDK_EREFUSED when the node has
 * children, as no contender has.
 */
int pdk_contender_remove(pdk_client *c, const pdk_contender_list *list, size_t i, int64_t timeout_ms);

#ifdef __cplusplus
}
#endif

#endif
