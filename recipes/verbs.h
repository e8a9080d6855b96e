/*
 * Locking and unlocking, by threads and asynchronously: the verbs of every recipe that locks, whole. K may be NULL.
 * Their errors and rules are those of pdk_mutex.
 *
 * RULE is how the lock is taken. A thread re-enters what it holds by the same rule. When it holds by another rule,
 * either RULE can be had under that grant, or the answer is PDK_EDEADLK. Unlock takes NULL for what the thread took
 * last.
 */
#ifndef PDK__VERBS_H
#define PDK__VERBS_H

#include "recipes/grant.h"
#include "recipes/lockable.h"

/* L as a lockable, if it is of KIND; or NULL, as pdk__lock_as(). */
struct pdk__lockable *pdk__lockable_of(struct pdk_lock *l, const struct pdk__lock_kind *kind);

int pdk__lock(struct pdk__lockable *k, const struct pdk__rule *rule, int64_t timeout_ms);
int pdk__trylock(struct pdk__lockable *k, const struct pdk__rule *rule);
int pdk__unlock(struct pdk__lockable *k, const struct pdk__rule *rule);

/* Lock by TO, under the grant by FROM, and unlock that. PDK_EPERM: there is no such grant. */
int pdk__change(struct pdk__lockable *k, const struct pdk__rule *from, const struct pdk__rule *to);
int pdk__unlock_async(struct pdk__lockable *k, const struct pdk__rule *rule, pdk_lock_cb cb, void *arg);

/* For no thread: N nodes of one path. */
int pdk__acquire(struct pdk__lockable *k, const struct pdk__rule *rule, unsigned n, int64_t timeout_ms,
                 pdk_grant **out);
int pdk__tryacquire(struct pdk__lockable *k, const struct pdk__rule *rule, unsigned n, pdk_grant **out);

/* CALL has the rule, the number of nodes, and the callback. */
int pdk__lock_async(struct pdk__lockable *k, struct pdk__lock_call call, int64_t timeout_ms, pdk_grant **out);

#endif
