#include "paddock/rwlock.h"
#include "recipes/handover.h"
#include "recipes/lock.h"

static const struct pdk__lock_kind kind = {.object = {PDK__LOCK_OBJECT(struct pdk__holds, "make a read/write lock for"),
                                                      .asked = pdk__holds_asked, .waiting = pdk__holds_waiting},
                                           .name = "a read/write lock",
                                           .kind = PDK__RWLOCK,
                                           .init = pdk__handover_init,
                                           .clear = pdk__holds_clear,
                                           .in_use = pdk__holds_in_use,
                                           .drop = pdk__holds_drop_all};

static struct pdk__holds *holds_of(pdk_rwlock *l) { return pdk__holds_of(l, &kind); }

int pdk_rwlock_new(pdk_rwlock **out, pdk_client *c, const char *path, const pdk_lock_options *opts)
{
    return pdk__lock_new(out, c, path, &kind, opts, NULL);
}

int pdk_rwlock_rdlock(pdk_rwlock *l) { return pdk__lock(holds_of(l), &pdk__rule_reader, PDK_FOREVER); }

int pdk_rwlock_tryrdlock(pdk_rwlock *l) { return pdk__trylock(holds_of(l), &pdk__rule_reader); }

int pdk_rwlock_timedrdlock(pdk_rwlock *l, int64_t timeout_ms)
{
    return pdk__lock(holds_of(l), &pdk__rule_reader, timeout_ms);
}

int pdk_rwlock_rdlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    return pdk__lock_async(holds_of(l), (struct pdk__lock_call){.wish.rule = &pdk__rule_reader, .cb = cb, .arg = arg},
                           timeout_ms, g);
}

int pdk_rwlock_wrlock(pdk_rwlock *l) { return pdk__lock(holds_of(l), &pdk__rule_writer, PDK_FOREVER); }

int pdk_rwlock_trywrlock(pdk_rwlock *l) { return pdk__trylock(holds_of(l), &pdk__rule_writer); }

int pdk_rwlock_timedwrlock(pdk_rwlock *l, int64_t timeout_ms)
{
    return pdk__lock(holds_of(l), &pdk__rule_writer, timeout_ms);
}

int pdk_rwlock_wrlock_async(pdk_rwlock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    return pdk__lock_async(holds_of(l), (struct pdk__lock_call){.wish.rule = &pdk__rule_writer, .cb = cb, .arg = arg},
                           timeout_ms, g);
}

int pdk_rwlock_unlock(pdk_rwlock *l) { return pdk__unlock(holds_of(l), NULL); }

int pdk_rwlock_downgrade(pdk_rwlock *l) { return pdk__change(holds_of(l), &pdk__rule_writer, &pdk__rule_reader); }

int pdk_rwlock_unlock_async(pdk_rwlock *l, pdk_lock_cb cb, void *arg)
{
    return pdk__unlock_async(holds_of(l), NULL, cb, arg);
}
