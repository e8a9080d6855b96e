/*
 * The ensemble's record of one lock: every node under its path, when it was created, when it was deleted, and by what.
 *
 * A transaction happened when two of the three logs have it: every committed one is in two. The converse does not hold.
 * A server can log what a deposed leader proposed after it has told its peers how far it got, and does not take it back
 * (ZOOKEEPER-4712). But a leader writes a snapshot when it begins, whose name is the last transaction that the leader
 * had then: transactions between that one and its own first never happened. Where a log is missing one, its server got
 * it by a snapshot.
 */
#ifndef CHAOS_TRUTH_H
#define CHAOS_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ending {
    STAYED,     /* it still exists */
    BY_OWNER,   /* deleted by its own session */
    BY_ANOTHER, /* deleted by another session */
    BY_CLOSE,   /* its session was closed by request, of its owner or in its owner's name */
    BY_EXPIRY   /* its session expired */
};

struct znode {
    char name[128];
    bool is_contender; /* it has a sequence number, and counts in the order */
    int64_t owner;     /* 0: none */
    int64_t czxid, created_ms;
    int64_t gone_zxid, gone_ms; /* INT64_MAX while it stays */
    int32_t gone_cxid;          /* of the request that ended it */
    enum ending ending;
};

struct truth {
    struct znode *nodes; /* in the order of czxid */
    size_t n, cap;
    long n_txns;           /* that happened */
    long n_discarded;      /* that did not, though a log has them */
    long n_contradictions; /* of nodes that were created twice, or deleted without having been there */
};

/* Read the logs in DIR/server-0, DIR/server-1…, for children of PATH. False: there are none, or one is broken. The
 * caller gives it to truth_free(). */
bool truth_read(struct truth *t, const char *dir, const char *path);
void truth_free(struct truth *t);

/* The node with that czxid, or NULL. */
const struct znode *truth_find(const struct truth *t, int64_t czxid);

/* For truth_read() and for tests: what happened next to a child of the path, by name. */
struct txn;
void truth_apply(struct truth *t, const char *path, const struct txn *txn);

#endif
