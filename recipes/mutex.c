#include "paddock/mutex.h"
#include "recipes/handover.h"
#include "recipes/lock.h"

static const struct pdk__lock_kind kind = {.object = {PDK__LOCK_OBJECT(struct pdk__holds, "make a mutex for"),
                                                      .asked = pdk__holds_asked, .waiting = pdk__holds_waiting},
                                           .name = "a mutex",
                                           .kind = PDK__MUTEX,
                                           .init = pdk__handover_init,
                                           .clear = pdk__holds_clear,
                                           .in_use = pdk__holds_in_use,
                                           .drop = pdk__holds_drop_all,
                                           .turn = pdk__holds_turn};

static struct pdk__holds *holds_of(pdk_mutex *m) { return pdk__holds_of(m, &kind); }

int pdk_mutex_new(pdk_mutex **out, pdk_client *c, const char *path, const pdk_lock_options *opts)
{
    return pdk__lock_new(out, c, path, &kind, opts, NULL);
}

int pdk_mutex_lock(pdk_mutex *m) { return pdk__lock(holds_of(m), &pdk__rule_mutex, PDK_FOREVER); }

int pdk_mutex_trylock(pdk_mutex *m) { return pdk__trylock(holds_of(m), &pdk__rule_mutex); }

int pdk_mutex_timedlock(pdk_mutex *m, int64_t timeout_ms)
{
    return pdk__lock(holds_of(m), &pdk__rule_mutex, timeout_ms);
}

int pdk_mutex_lock_async(pdk_mutex *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    return pdk__lock_async(holds_of(m), (struct pdk__lock_call){.wish.rule = &pdk__rule_mutex, .cb = cb, .arg = arg},
                           timeout_ms, g);
}

int pdk_mutex_unlock(pdk_mutex *m) { return pdk__unlock(holds_of(m), &pdk__rule_mutex); }

int pdk_mutex_unlock_async(pdk_mutex *m, pdk_lock_cb cb, void *arg)
{
    return pdk__unlock_async(holds_of(m), &pdk__rule_mutex, cb, arg);
}
