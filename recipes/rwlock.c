#include "paddock/rwlock.h"
#include "recipes/handover.h"
#include "recipes/verbs.h"

static const struct pdk__lock_kind kind = {
    .object = {PDK__LOCK_OBJECT(struct pdk__lockable, "make a read/write lock for"), .asked = pdk__lockable_asked,
               .waiting = pdk__lockable_waiting},
    .name = "a read/write lock",
    .kind = PDK__RWLOCK,
    .init = pdk__handover_init,
    .clear = pdk__lockable_clear,
    .in_use = pdk__lockable_in_use,
    .drop = pdk__lockable_drop_all};

static struct pdk__lockable *lockable_of(pdk_rwlock *l) { return pdk__lockable_of(l, &kind); }

int pdk_rwlock_new(pdk_rwlock **out, pdk_client *c, const char *path, const pdk_lock_options *opts)
{
    return pdk__lock_new(out, c, path, &kind, opts, NULL);
}

int pdk_rwlock_rdlock(pdk_rwlock *l) { return pdk__lock(lockable_of(l), &pdk__rule_reader, PDK_FOREVER); }

int pdk_rwlock_tryrdlock(pdk_rwlock *l) { return pdk__trylock(lockable_of(l), &pdk__rule_reader); }

int pdk_rwlock_timedrdlock(pdk_rwlock *l, int64_t timeout_ms)
{
    return pdk__lock(lockable_of(l), &pdk__rule_reader, timeout_ms);
}

int pdk_rwlock_rdlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    return pdk__lock_async(
        lockable_of(l), (struct pdk__lock_call){.wish.rule = &pdk__rule_reader, .cb = cb, .arg = arg}, timeout_ms, g);
}

int pdk_rwlock_wrlock(pdk_rwlock *l) { return pdk__lock(lockable_of(l), &pdk__rule_writer, PDK_FOREVER); }

int pdk_rwlock_trywrlock(pdk_rwlock *l) { return pdk__trylock(lockable_of(l), &pdk__rule_writer); }

int pdk_rwlock_timedwrlock(pdk_rwlock *l, int64_t timeout_ms)
{
    return pdk__lock(lockable_of(l), &pdk__rule_writer, timeout_ms);
}

int pdk_rwlock_wrlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    return pdk__lock_async(
        lockable_of(l), (struct pdk__lock_call){.wish.rule = &pdk__rule_writer, .cb = cb, .arg = arg}, timeout_ms, g);
}

int pdk_rwlock_unlock(pdk_rwlock *l) { return pdk__unlock(lockable_of(l), NULL); }

int pdk_rwlock_downgrade(pdk_rwlock *l) { return pdk__change(lockable_of(l), &pdk__rule_writer, &pdk__rule_reader); }

int pdk_rwlock_unlock_async(pdk_rwlock *l, pdk_lock_cb cb, void *arg)
{
    return pdk__unlock_async(lockable_of(l), NULL, cb, arg);
}
