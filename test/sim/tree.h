/*
 * The state that every server keeps: the lock paths with their children, and the live sessions. A transaction changes
 * it the same way on every server.
 */
#ifndef SIM_TREE_H
#define SIM_TREE_H

#include "lib/core/name.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    ELECTION_PATH = 2,
    SHARED_PATH = 3,
    GATE_PATH = 4,
    LEASE_PATH = 5,
    MEETING_PATH = 6, /* of a double barrier */
    BARRIER_PATH = 7, /* that the barrier's node stands on */
    NOTE_PATH = 8,    /* no lock's: it has data, which are written under guard */
    JOB_PATH = 9,     /* likewise: the record of the job of the first path */
    PATHS = 10,
    NODES_MAX = 1024,
    NODES_MANY = 24, /* no strangers and no lost creates beyond that */
    SESSIONS_MAX = 64
};

/* A session's index in every table; -1 is no session, as the owner of a node that is not ephemeral. */
typedef int session_index;

/* A node carries data of its own; or a revocation request, before them or in their place. */
enum node_data { DATA_OWN, DATA_REVOKED, DATA_REVOKED_BARE };

struct node {
    char name[PDK__NAME_MAX];
    session_index owner;
    int64_t sequence; /* of its name */
    int64_t czxid;
    int64_t mzxid;
    int64_t mtime_ms;
    bool planted; /* created under a name that its client chose: no place in the queue */
    bool parent;  /* it has a child; so does what is planted without a number */
    bool secret;  /* only its client may read it */
    enum node_data data;
    int32_t version;
};

struct dir {
    bool exists;
    bool used;       /* it has had a child: only then a container is reaped */
    int32_t counter; /* the number of the next sequential child */
    bool wraps;      /* at its end the counter becomes negative; it stays there otherwise */
    int32_t version; /* of its data */
    int64_t mzxid;
    int64_t pzxid;              /* of the last change of its children */
    char record[PDK__NAME_MAX]; /* its data: the holder's name, "free"; "" for none */
    const char *text;           /* its data, of no lock's path; NULL: none */
    int size;
    int64_t mtime_ms;
    int n;
    struct node nodes[NODES_MAX]; /* last, for what follows the N-th needs no clearing */
};

struct tree {
    int64_t zxid;
    uint64_t alive; /* a bit per session */
    struct dir dirs[PATHS];
};

enum txn_kind {
    TXN_ERROR, /* a request that was refused takes its turn like any other */
    TXN_CREATE,
    TXN_LEAVE_WORD, /* a create of a node of no session */
    TXN_PLANT,      /* a create whose name is not numbered by the server */
    TXN_DELETE,
    TXN_SET,
    TXN_RECORD,
    TXN_WRITE, /* the data of a path, which it makes if need be */
    TXN_MAKE_DIR,
    TXN_REMOVE_DIR,
    TXN_OPEN_SESSION,
    TXN_CLOSE_SESSION
};

/* The error that a request is refused with, as in ZooKeeper; 0 when it is not. */
enum zerror {
    Z_OK = 0,
    Z_NONODE = -101,
    Z_NOAUTH = -102,
    Z_BADVERSION = -103,
    Z_EXISTS = -110,
    Z_NOTEMPTY = -111,
    Z_EXPIRED = -112,
    Z_MOVED = -118
};

/* One more create or delete of the same request, in the same transaction. */
struct also {
    int path;
    char name[PDK__NAME_MAX];
};

struct txn {
    enum txn_kind kind;
    int64_t zxid;
    session_index session; /* the requester; -1: the servers themselves, or an administrator */
    int origin;            /* the server that received it */
    uint64_t request;      /* the number of the request it answers, 0 for none */
    enum zerror error;
    enum node_data data; /* that it writes */
    bool secret;         /* what it creates is */
    int32_t counter;     /* of a path that it makes */
    bool wraps;
    int path;
    char name[PDK__NAME_MAX];
    int n_also; /* of a create or a delete */
    const struct also *also;
    int refused; /* the part for which it is an error */
    const char *text;
    int size;
    int64_t time_ms; /* by the clock of the leader that proposed it */
};

/* Its create or delete I: 0 is its own, 1 and above those in `also`. */
struct txn txn_part(const struct txn *txn, int i);

void tree_clear(struct tree *t);
void tree_copy(struct tree *to, const struct tree *from);
void tree_apply(struct tree *t, const struct txn *txn);
struct node *tree_find(struct tree *t, int path, const char *name);

static inline bool tree_alive(const struct tree *t, session_index s) { return s >= 0 && (t->alive >> s & 1) != 0; }

#endif
