/*
 * ZooKeeper's transaction logs, as they lie in the version-2 directory of a server: what the ensemble did, in its
 * order.
 *
 * A file is a header (magic "ZKLG", version, database id) and transactions: a checksum, a length, as many bytes, and
 * 0x42. Zeros follow the last one. The bytes are jute: the session, its request number, the zxid, the leader's clock in
 * ms, the type, and what the type says (ZooKeeper's zookeeper.jute).
 */
#ifndef CHAOS_TXNLOG_H
#define CHAOS_TXNLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum txn_type {
    TXN_ERROR = -1,
    TXN_CREATE = 1,
    TXN_DELETE = 2,
    TXN_SET_DATA = 5,
    TXN_MULTI = 14,
    TXN_CREATE2 = 15,
    TXN_CREATE_CONTAINER = 19,
    TXN_DELETE_CONTAINER = 20,
    TXN_CREATE_TTL = 21,
    TXN_CREATE_SESSION = -10,
    TXN_CLOSE_SESSION = -11
};

struct txn {
    int64_t session;
    int32_t cxid;
    int64_t zxid, time_ms;
    int32_t type;      /* of a multi that was done: one call for each of its parts, with the part's type */
    bool is_ephemeral; /* of a create */
    const char *path;  /* of creates, deletes and sets; borrowed, not terminated; else NULL */
    size_t path_size;
    const char *data; /* of creates and sets; likewise */
    size_t data_size;
};

typedef void (*txn_cb)(const struct txn *txn, void *arg);

/* Every transaction of DATA, in its order. How many there were (parts not counted), or -1 when this is no such file or
 * a transaction is broken in the middle. */
long txnlog_parse(const void *data, size_t size, txn_cb cb, void *arg);
long txnlog_read(const char *file, txn_cb cb, void *arg);

#endif
