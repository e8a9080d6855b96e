/*
 * The kinds of locks, a row each, and the hold of a lock. The facts of test_lock.c are about these, and are true of
 * each kind that has what they need.
 */
#ifndef PDK__INTEGRATION_KINDS_H
#define PDK__INTEGRATION_KINDS_H

#include "test/lib/fixture.h"

/* Not every kind has all. */
enum {
    /* A grant can be a thread's, which enters again. Permits are no thread's, and a leader is the object's. */
    OWNED = 1,
    /* Tries, deadlines, and requests with a handle. A leader is a candidate until it resigns. */
    HANDLED = 2
};

enum { MUTEX, READER, WRITER, SEMAPHORE, MULTILOCK, LEADER, N_KINDS };

struct kind {
    const char *is; /* in the incident of a verb of another kind */
    unsigned has;
    int rival;         /* the kind that a grant of this one excludes, on the same lock */
    unsigned n_paths;  /* of a lock */
    unsigned n_nodes;  /* of a grant */
    int n_nodes_asked; /* of a request that waits for the holder */
    int (*new)(pdk_lock **l, pdk_client *c, const char *const *paths, const pdk_lock_options *o);
    int (*lock)(pdk_lock *l, pdk_grant **g);
    int (*try)(pdk_lock *l, pdk_grant **g);
    int (*timed)(pdk_lock *l, int64_t timeout_ms, pdk_grant **g);
    int (*async)(pdk_lock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g);
    int (*unlock)(pdk_lock *l);
    int (*unlock_async)(pdk_lock *l, pdk_lock_cb cb, void *arg);
};
extern const struct kind kinds[N_KINDS];

/* How many nodes there are for locks of K on PATHS; and delete these with all their nodes. */
int kind_nodes(const struct kind *k, const char *const *paths);
void kind_delete(const struct kind *k, const char *const *paths);

/* --- a request, and what it becomes ------------------------------------------------------------------------------ */

struct hold {
    const struct kind *kind;
    pdk_lock *lock;
    pdk_grant *grant; /* NULL: the thread's, or the leader's */
    atomic_int n_told;
    atomic_int rc;
};

int hold_lock(struct hold *h, const struct kind *k, pdk_lock *l);
int hold_try(struct hold *h, const struct kind *k, pdk_lock *l);
int hold_timed(struct hold *h, const struct kind *k, pdk_lock *l, int64_t timeout_ms);

/* Without waiting. *H must stay valid until its callback was called. */
void hold_ask(struct hold *h, const struct kind *k, pdk_lock *l, int64_t timeout_ms);

/* The code that the callback was given; 1 before that. */
int hold_told(struct hold *h);

pdk_state hold_state(const struct hold *h);
int64_t hold_valid_ms(const struct hold *h);
int64_t hold_token(const struct hold *h);
int hold_guard(const struct hold *h, unsigned i, zoo_op_t *op);

/* The whole path of node I. Static, of the calling thread. */
const char *hold_node(const struct hold *h, unsigned i);

/* It is held, by every answer there is, in C's session. */
void hold_check(const struct hold *h, pdk_client *c);

int hold_release(struct hold *h);

/* As hold_told(), of the release. */
int hold_release_async(struct hold *h);

#endif
