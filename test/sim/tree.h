/*
 * What every server keeps: the lock paths with their children, and which sessions live. A transaction changes it the
 * same way everywhere.
 */
#ifndef SIM_TREE_H
#define SIM_TREE_H

#include "lib/core/name.h"
#include <stdbool.h>
#include <stdint.h>

enum { PATHS = 2, NODES_MAX = 48, SESSIONS_MAX = 64 };

/* A session's place in every table; -1 is nobody, as the owner of a node that is not ephemeral. */
typedef int session_index;

struct node {
    char name[PDK__NAME_MAX];
    session_index owner;
    int64_t czxid;
    int64_t mzxid;
    bool planted; /* made under a name that its maker chose: no place in the queue */
    bool revoked; /* its data ask for the lock back */
};

struct dir {
    bool exists;
    bool used;       /* it has had a child: only then a container is reaped */
    int32_t counter; /* what the next sequential child is called */
    int32_t version; /* of its data */
    int64_t mzxid;
    char mark[PDK__NAME_MAX]; /* its data: who holds, "" for nobody */
    int n;
    struct node nodes[NODES_MAX];
};

struct tree {
    int64_t zxid;
    uint64_t alive; /* a bit per session */
    struct dir dirs[PATHS];
};

enum txn_kind {
    TXN_ERROR, /* a request that was refused takes its turn like any other */
    TXN_CREATE,
    TXN_PLANT, /* a create whose name is not numbered by the server */
    TXN_DELETE,
    TXN_SET,
    TXN_MARK,
    TXN_MAKE_DIR,
    TXN_REMOVE_DIR,
    TXN_OPEN_SESSION,
    TXN_CLOSE_SESSION
};

/* What a request is refused for; 0 for nothing. As in ZooKeeper. */
enum zerror {
    Z_OK = 0,
    Z_NONODE = -101,
    Z_BADVERSION = -103,
    Z_EXISTS = -110,
    Z_NOTEMPTY = -111,
    Z_EXPIRED = -112,
    Z_MOVED = -118
};

struct txn {
    enum txn_kind kind;
    int64_t zxid;
    session_index session; /* who asked; -1: the servers themselves, or an administrator */
    int origin;            /* the server it was asked at */
    uint64_t request;      /* the number of the request it answers, 0 for none */
    enum zerror error;
    bool revokes; /* a write that asks for the lock back */
    int path;
    char name[PDK__NAME_MAX];
};

void tree_clear(struct tree *t);
void tree_apply(struct tree *t, const struct txn *txn);
struct node *tree_find(struct tree *t, int path, const char *name);

static inline bool tree_alive(const struct tree *t, session_index s) { return s >= 0 && (t->alive >> s & 1) != 0; }

#endif
