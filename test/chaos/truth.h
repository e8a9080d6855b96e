/*
 * The ensemble's record of the lanes: every node under their paths, when it was created, when it was deleted, and by
 * what.
 *
 * A transaction happened when two of the three logs have it: every committed one is in two. The converse does not hold.
 * A server can log what a deposed leader proposed after it has told its peers how far it got, and does not take it back
 * (ZOOKEEPER-4712). But a leader writes a snapshot when it begins, whose name is the last transaction that the leader
 * had then: transactions between that one and its own first never happened. Where a log is missing one, its server got
 * it by a snapshot.
 */
#ifndef CHAOS_TRUTH_H
#define CHAOS_TRUTH_H

#include "test/lib/lanes.h"
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
    enum lane lane;
    bool is_contender; /* it counts in the order: it has a sequence number, or the lane counts all */
    int64_t owner;     /* 0: none */
    int64_t czxid, created_ms;
    int64_t rank;               /* its place in the queue: its czxid, or that of the living node whose number it took */
    int64_t gone_zxid, gone_ms; /* INT64_MAX while it stays */
    int32_t gone_cxid;          /* of the request that ended it */
    enum ending ending;
};

/* From the last transaction of one leader to the first of the next. */
struct election {
    int64_t from_ms, until_ms;
};

/* A write of the record of the mutex's job. */
struct run_write {
    int64_t zxid, ms;
    char *text; /* truth_free() frees it */
    size_t size;
};

struct truth {
    struct {
        struct run_write *list;
        size_t n, cap;
    } runs;              /* in the order of zxid */
    struct znode *nodes; /* in the order of czxid */
    size_t n, cap;
    struct {
        struct election *list;
        size_t n, cap;
    } elections;
    int64_t last_zxid, last_ms; /* of the transaction that was applied last */
    long n_txns;                /* that happened */
    long n_discarded;           /* that did not, though a log has them */
    long n_contradictions;      /* of nodes that were created twice, or deleted without having been there */
};

/* Read the logs in DIR/server-0, DIR/server-1…, for children of the lanes' paths. False: there are none, or one is
 * broken. The caller gives it to truth_free(). */
bool truth_read(struct truth *t, const char *dir);
void truth_free(struct truth *t);

/* The node of the lane with that czxid, or the last one with that name; or NULL. One transaction can make nodes in
 * several lanes. */
const struct znode *truth_find(const struct truth *t, enum lane lane, int64_t czxid);
const struct znode *truth_find_name(const struct truth *t, enum lane lane, const char *name);

/* By the servers' clock, when the node had room beside those before it; *LAST, when not NULL, is the one that it waited
 * for, or NULL: it waited for none. INT64_MAX: it never had. */
int64_t truth_first_ms(const struct truth *t, const struct znode *z, const struct znode **last);

/* The half of a transaction's number that names its leader's term. */
int64_t truth_epoch(int64_t zxid);

/* For truth_read() and for tests: what happened next to the children of the lanes' paths, by name. */
struct txn;
void truth_apply(struct truth *t, const struct txn *txn);

#endif
