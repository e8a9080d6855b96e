/*
 * A transaction: operations that the servers commit together, or not at all.
 *
 * ZooKeeper's client can abort the process in such a call, or free memory of its caller (3.8.0 and later). Hence:
 *  - No container is made in a transaction, and its caller has checked every path.
 *  - The handle is connected when the call begins. Then it has heard from its server within two thirds of the session,
 *    and it can learn that the session is over only by a new connection. That takes two exchanges of messages, and
 *    the call takes microseconds. A thread that is stopped in the middle of it, for the rest of the session, while
 *    the others go on, can still meet that. Its session is over then. The paths are not freed, because the client
 *    may have freed one of them; it frees it twice where there are three paths or a chroot, and the process ends.
 *
 * All with the client's lock held.
 */
#ifndef PDK__TRANSACTION_H
#define PDK__TRANSACTION_H

#include "lib/zk/request.h"

/* All paths and data of a transaction: jute.maxbuffer is 1 MiB by default, in both directions. */
#define PDK__TRANSACTION_BYTES_MAX ((size_t)512 * 1024)

struct pdk__transaction {
    struct pdk__request base;
    unsigned n, n_max; /* operations */
    char **paths;      /* of each; allocated on its own, since ZooKeeper's client may free it */
    zoo_op_t *ops;
    zoo_op_result_t *results;
};

/* The head of a structure of SIZE bytes, which are zero, for up to N operations. NULL: there is no handle, or no
 * memory. */
void *pdk__transaction_begin(struct pdk_client *c, size_t size, unsigned n, void (*forget)(struct pdk__request *));

/* It was not sent after all, is being forgotten, or its completion has done its work: it is freed. */
void pdk__transaction_end(struct pdk__transaction *t);

/* The next operation. The path is copied; all else is lent until the completion, or until the end. False: no memory. */
bool pdk__transaction_check(struct pdk__transaction *t, const char *path);
bool pdk__transaction_set(struct pdk__transaction *t, const char *path, const void *data, size_t size, int32_t version,
                          struct Stat *stat);
bool pdk__transaction_delete(struct pdk__transaction *t, const char *path, int32_t version);

/* MADE gets the path of the node, and has SIZE bytes for it; NULL: it is not wanted. */
bool pdk__transaction_create(struct pdk__transaction *t, const char *path, const void *data, size_t size,
                             const struct ACL_vector *acl, int mode, char *made, size_t made_size);

/* Send it. COMPLETED gets T. False: it was not sent, and nothing happens. */
bool pdk__transaction_send(struct pdk__transaction *t, void_completion_t completed);

/* Of one that was refused: the number of the operation to blame, from 0. The servers did not try those after it. */
unsigned pdk__transaction_refused(const struct pdk__transaction *t);

#endif
