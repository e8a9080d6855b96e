/* SPDX-License-Identifier: Apache-2.0 */
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
    PDK_DIALECT_PADDOCK = 0, /* <session>-<attempt>-lock-<sequence>; or latch-, __READ__, __WRIT__, lease- for lock- */
    PDK_DIALECT_CURATOR = 1, /* any other name with one of these tags before the number: Curator, go-zk */
    PDK_DIALECT_FOREIGN = 2, /* a contender of another recipe, by its sequence number; it counts in the order */
    PDK_DIALECT_JUNK = 3     /* no lock library could have created it. It blocks nobody, but is a permit */
} pdk_dialect;

/* Bytes of data that are read of one contender, and of all contenders of a list together. */
#define PDK_CONTENDER_DATA_MAX 65536
#define PDK_CONTENDERS_DATA_MAX 16777216

/* The number of contenders that means: all of them. */
#define PDK_CONTENDERS_ALL SIZE_MAX

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
 * no lock's. The nodes of the first N are read, or with PDK_CONTENDERS_ALL each node, and the path's ACL.
 *
 * Of a contender that is not read the list has the name, and what the name tells: PDK_CONTENDER_SEQUENCE,
 * PDK_CONTENDER_DIALECT and PDK_CONTENDER_MODE. PDK_CONTENDER_READABLE is 1. Every other property is 0 or "".
 *
 * With an N of 1 contender 0 is the holder or the leader, unless it is junk: PDK_CONTENDER_TOKEN is the token of its
 * grant or term, and pdk_contender_data() a leader's id. A waiter that shows the holder, and how many contenders are
 * ahead, needs no more.
 *
 * The call returns when the servers have answered, on the calling thread. It asks for each node's size before its data,
 * and has at most 64 requests under way, for at most 256 KiB of data: locks that the same client holds are renewed
 * meanwhile. It costs a request for the list, one for the ACL, and up to two for each node that is read. When all of
 * the first N nodes are deleted before they are read, it lists again.
 *
 * *LIST is the caller's, to be given to pdk_contender_list_free().
 *
 * PDK_ETIMEDOUT: no whole answer within TIMEOUT_MS (PDK_FOREVER: no limit). 0 leaves no time for an answer.
 * PDK_EACCES: the ACL does not permit to READ the path.
 * PDK_EPATH: PATH is not an absolute path, or has more than 4096 bytes.
 * PDK_EREFUSED, PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_ESERVER, PDK_EDEADLK, PDK_ECLOSED, PDK_EFORKED.
 *
 * The trap: data over the two limits above are left out; PDK_CONTENDER_DATA_OMITTED is their size.
 */
int pdk_contenders(pdk_client *c, const char *path, size_t n, int64_t timeout_ms, pdk_contender_list **list);

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
 * path, on its creation; each change costs it one listing of names. Once in a session timeout it lists again, and
 * calls CB if there is a change: servers send no event to a client that may not READ the path at that moment. It
 * retries a path that it may not read, and pdk_client_last_error() has the reason.
 *
 * On success *O is the caller's, to be given to pdk_contenders_observer_free(). PDK_EPATH, PDK_EINVAL, PDK_ELIMIT,
 * PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_ESERVER, PDK_ECLOSED, PDK_EFORKED.
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

/* The properties of the path that was listed. Those of one that does not exist are 0 or "". */
typedef enum pdk_list_property {
    /* Numbers. */
    PDK_LIST_CREATED,  /* how many nodes were created under the path since it exists: the sequence number that the
                          servers give to the next one. From 2147483647 on no number orders contenders: new ones wait
                          until no other is there, and renew the path */
    PDK_LIST_SINCE_MS, /* when the path was created, in milliseconds since 1970 by the servers' clock */
    PDK_LIST_LACKS,    /* permissions that the path's ACL lacks for contenders: an OR of ZOO_PERM_READ, ZOO_PERM_CREATE
                          and ZOO_PERM_DELETE, that somebody needs and does not have. 0: nothing, or this client may not
                          read the ACL, or the list is not of PDK_CONTENDERS_ALL. READ or DELETE: PDK_LIST_LACKING may
                          CREATE nodes there, and then cannot see its predecessor, or cannot release. CREATE: nobody may
                          contend */

    /* Texts. */
    PDK_LIST_LACKING /* "scheme:id", whose READ or DELETE PDK_LIST_LACKS names; otherwise "" */
} pdk_list_property;

/* A number: 0 for a property that is a text. */
int64_t pdk_contender_list_number(const pdk_contender_list *list, pdk_list_property property);

/* A text: "" for a property that is a number. */
const char *pdk_contender_list_text(const pdk_contender_list *list, pdk_list_property property);

/* True if no contender ahead in LIST blocks this one: it holds the lock, or is about to. True for the first contender,
 * each reader that has only readers ahead, a writer beside the read lock that it took under its own, kazoo's first
 * beside all others, which it does not see, and a permit with fewer nodes ahead than PDK_CONTENDER_LIMIT, or where that
 * is not known. Junk among permits counts as one, ahead of all of them, and holds; elsewhere it is false for junk. */
bool pdk_contender_holds(const pdk_contender_list *list, size_t i);

/* Does contender K block contender I? A mutex, a writer or a candidate waits for each contender ahead. A reader waits
 * for those ahead that are no readers, but for the writer under whose number it stands, and kazoo's for those of kazoo.
 * A permit waits until fewer nodes than PDK_CONTENDER_LIMIT block it, whichever are deleted. Nothing blocks junk. */
bool pdk_contender_blocks(const pdk_contender_list *list, size_t k, size_t i);

/* The node's data, without a request for revocation: *SIZE bytes, and a NUL after them that does not count. SIZE may be
 * NULL. */
const char *pdk_contender_data(const pdk_contender_list *list, size_t i, size_t *size);

/* The other properties of contender I: 0 or "" where it has none. "By its identity" is by the data of its node, which
 * any client may have written. */
typedef enum pdk_contender_property {
    /* Numbers. */
    PDK_CONTENDER_SEQUENCE, /* the sequence number; -1 for junk */
    PDK_CONTENDER_DIALECT,  /* a pdk_dialect: whose name the node has */
    PDK_CONTENDER_MODE,     /* a pdk_mode: how the contender holds the lock, or will hold it */
    PDK_CONTENDER_SESSION,  /* the session that owns the node; 0: it is not ephemeral, or may not be looked at */
    PDK_CONTENDER_TOKEN,    /* the node's czxid: the token of the grant that it has or will have, unless that is
                               confirmed. 0: this client may not look at it */
    PDK_CONTENDER_SINCE_MS, /* when the node was created, in milliseconds since 1970 by the servers' clock */
    PDK_CONTENDER_REVOKED,  /* 1: it carries a request for revocation, by pdk_contender_revoke() or Curator's Revoker */
    PDK_CONTENDER_READABLE, /* 1: the servers let this client look at the node, and read its data if there are any;
                               or it was not read. Contenders must be able to READ the nodes of each other */
    PDK_CONTENDER_DATA_OMITTED,  /* how many bytes of the node's data pdk_contender_data() leaves out: they are over
                                   PDK_CONTENDER_DATA_MAX, over PDK_CONTENDERS_DATA_MAX with those before them, or the ACL
                                   does not permit to READ them. Also 0 when this client may not look at the node: the
                                   token is 0 then */
    PDK_CONTENDER_PID,           /* by its identity; 0: unknown */
    PDK_CONTENDER_THREAD,        /* likewise */
    PDK_CONTENDER_CONFIRMED,     /* 1: its grants are confirmed (pdk_lock_options_set_confirmed()), by its identity.
                                    Either all contenders of a path should confirm their grants, or none */
    PDK_CONTENDER_LOCK_DELAY_MS, /* its lock delay (pdk_lock_options_set_lock_delay_ms()), by its identity. Either all
                                    contenders of a path should have one, or none */
    PDK_CONTENDER_LIMIT, /* how many permits the semaphore has, by its identity; 0: not known, or it is none. All
                            contenders of a semaphore should have one limit */
    PDK_CONTENDER_DEAD,  /* 1: its process ran on this machine, and has ended; the servers keep the node until the
                            session expires. 0 also where that is not proven: another machine, another PID namespace, no
                            identity */

    /* Texts; the others than the name are by its identity. */
    PDK_CONTENDER_NAME, /* of the node, under the path */
    PDK_CONTENDER_HOST,
    PDK_CONTENDER_LABEL,
    PDK_CONTENDER_MACHINE, /* where the number of the process counts: a text that two contenders share if they ran on
                              one machine since it was started, in one PID namespace */
    PDK_CONTENDER_UNDER    /* the name of the node that paddock(1) held while it ran the contender's process, or an
                              ancestor of that. The holder of that node releases it when the process has ended */
} pdk_contender_property;

/* A number: 0 for a property that is a text. */
int64_t pdk_contender_number(const pdk_contender_list *list, size_t i, pdk_contender_property property);

/* A text: "" for a property that is a number. */
const char *pdk_contender_text(const pdk_contender_list *list, size_t i, pdk_contender_property property);

/*
 * Ask contender I of LIST to release the lock: write "__REVOKE__" into its node's data, as Curator's Revoker does.
 *
 * The call returns when the servers have the request, within TIMEOUT_MS. It does not wait for the contender.
 *
 * The node of a Paddock contender keeps its own data after that word and a space, so that lists still show its
 * owner. When Curator's Revoker has overwritten the data, the contender writes them back in that form. The data of
 * other libraries' nodes are overwritten. A holder reports the request to the program (PDK_EVENT_REVOKED), and so does
 * a Curator lock that was made revocable. Other libraries ignore it.
 *
 * PDK_ENOENT: that node is deleted; a new node of its name was left alone.
 * PDK_EACCES: the ACL of the node does not permit this client to WRITE, or did not permit to READ when it was listed.
 * PDK_ETIMEDOUT: nothing was written; always with a TIMEOUT_MS of 0.
 * PDK_EUNKNOWN: the request may have been written.
 * PDK_EINVAL, PDK_EREFUSED, PDK_ENOMEM, PDK_EAUTH, PDK_EEXPIRED, PDK_ESHORT, PDK_ESERVER, PDK_EDEADLK, PDK_ECLOSED,
 * PDK_EFORKED.
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
