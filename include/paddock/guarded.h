/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes under guard: data in ZooKeeper itself that change only while the lock is held.
 *
 * Each call sends one transaction: a check of every node of the grant, and one write. The servers commit both, or
 * neither. So a holder that was stopped, or that has lost the lock and does not know, changes nothing. No clock is
 * involved. The write goes through the client's own session, whose state it does not depend on.
 *
 * Caveats, first:
 *  - PDK_EUNKNOWN: the connection was lost after the write was sent. It may have happened, or happen yet, while the
 *    lock is held. Read the node, or write again if a repetition does no harm. A version makes a repetition harmless:
 *    a set or a delete of version N happens once.
 *  - The check is about the node of the grant. With pdk_lock_options_set_keep() owners of one process follow each
 *    other under one node: a write of an earlier owner passes. Wait for its answer before the unlock.
 *  - A read lock guards, too: no writer holds the lock meanwhile, but other readers may write.
 *
 * A transaction of several writes is the program's own: pdk_lock_guard().
 */
#ifndef PADDOCK_GUARDED_H
#define PADDOCK_GUARDED_H

#include <paddock/lock.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pdk_write_kind {
    PDK_WRITE_SET = 1,    /* the data of a node that is there */
    PDK_WRITE_CREATE = 2, /* an ordinary node, with the ACL of the client's nodes (pdk_client_options_add_acl()) */
    PDK_WRITE_DELETE = 3  /* a node without children */
} pdk_write_kind;

/* One write. All is borrowed for the call. */
typedef struct pdk_write {
    pdk_write_kind kind;
    const char *path; /* under the client's chroot, as that of a lock */
    const void *data; /* of a set or a create; NULL: empty data */
    size_t size;      /* at most 256 KiB; the servers' jute.maxbuffer may allow less */
    int32_t version;  /* that a set or a delete needs, as the node's Stat has it; -1: any */
} pdk_write;

/*
 * Set the data of PATH; create it; delete it, under the caller's grant (by the rule of pdk_lock_state()). The call
 * waits for the answer, at most for TIMEOUT_MS. While no server is connected it waits for one; with a TIMEOUT_MS of 0
 * it sends at once or not at all, and waits for one session timeout at most.
 *
 * 0: done.
 * PDK_ELOST: refused, because a node of the grant is gone, or the grant was lost before. Nothing has changed.
 * PDK_EUNKNOWN: sent, and the answer was lost, or did not come in time.
 * PDK_ETIMEDOUT, PDK_EDISCONNECTED: not sent.
 * PDK_ECONFLICT: PATH has another version, is there already, or has children.
 * PDK_ENOENT: there is no PATH; of a create: no node above it.
 * PDK_EACCES, PDK_EREFUSED, PDK_EACL: the servers refuse the write; pdk_lock_last_error() tells why.
 * PDK_EPATH: PATH is none; of a create: a node above it is ephemeral.
 * PDK_EPERM: there is no grant. PDK_EINVAL: also of a semaphore, whose grants are asked by their handles.
 * PDK_EDEADLK: the calling thread runs callbacks of the client. PDK_ENOMEM, PDK_ECLOSED, PDK_EEXPIRED, PDK_EFORKED.
 */
int pdk_guarded_set(pdk_lock *l, const char *path, const void *data, size_t size, int32_t version, int64_t timeout_ms);
int pdk_guarded_create(pdk_lock *l, const char *path, const void *data, size_t size, int64_t timeout_ms);
int pdk_guarded_delete(pdk_lock *l, const char *path, int32_t version, int64_t timeout_ms);

/*
 * The same without waiting: any thread, also from a callback. CB is called exactly once, later, with the outcome; never
 * if this call returned an error. The answer may come after the unlock: the write happened before that, or not at all.
 *
 * PDK_EDISCONNECTED: no server is connected, and nothing was sent; from CB: a server was too busy to try. All other
 * errors as above, except PDK_ETIMEDOUT and PDK_EDEADLK.
 */
int pdk_guarded_write_async(pdk_lock *l, const pdk_write *write, pdk_lock_cb cb, void *arg);

/* As those, under the grant of G: of a semaphore that is all its permits. */
int pdk_grant_write(pdk_grant *g, const pdk_write *write, int64_t timeout_ms);
int pdk_grant_write_async(pdk_grant *g, const pdk_write *write, pdk_lock_cb cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
