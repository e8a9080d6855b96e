/*
 * Locking and unlocking through the holds of an object, by threads and asynchronously: the verbs of every recipe that
 * locks, whole. H may be NULL. Their errors and rules are those of pdk_mutex.
 *
 * RULE is how the lock is taken. A thread re-enters what it holds by the same rule. When it holds by another rule,
 * either RULE can be had under that grant, or the answer is PDK_EDEADLK. Unlock takes NULL for what the thread took
 * last.
 */
#ifndef PDK__LOCK_H
#define PDK__LOCK_H

#include "recipes/grant.h"
#include "recipes/holds.h"

int pdk__lock(struct pdk__holds *h, const struct pdk__rule *rule, int64_t timeout_ms);
int pdk__trylock(struct pdk__holds *h, const struct pdk__rule *rule);
int pdk__lock_async(struct pdk__holds *h, const struct pdk__rule *rule, int64_t timeout_ms, pdk_lock_cb cb, void *arg,
                    pdk_grant **out);
int pdk__unlock(struct pdk__holds *h, const struct pdk__rule *rule);
int pdk__unlock_async(struct pdk__holds *h, const struct pdk__rule *rule, pdk_lock_cb cb, void *arg);

#endif
