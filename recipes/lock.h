/*
 * Locking and unlocking through the holds of an object, by threads and asynchronously: the verbs of every recipe that
 * locks, whole. H may be NULL. Their errors and rules are those of pdk_mutex.
 */
#ifndef PDK__LOCK_H
#define PDK__LOCK_H

#include "recipes/holds.h"

int pdk__lock(struct pdk__holds *h, int64_t timeout_ms);
int pdk__trylock(struct pdk__holds *h);
int pdk__lock_async(struct pdk__holds *h, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **op);
int pdk__unlock(struct pdk__holds *h);
int pdk__unlock_async(struct pdk__holds *h, pdk_lock_cb cb, void *arg);

#endif
