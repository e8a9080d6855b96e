#include "recipes/late.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/callbacks.h"

struct late {
    struct pdk__callback callback;
    pdk_lock_cb cb;
    void *arg;
};

static void run_late(struct pdk__callback *callback)
{
    struct late *late = PDK__MEMBER(callback, struct late, callback);
    late->cb(0, late->arg);
    pdk__free(late);
}

int pdk__late_success(struct pdk_client *c, pdk_lock_cb cb, void *arg)
{
    assert(cb != NULL && pdk__client_locked(c));
    struct late *late = pdk__alloc(sizeof *late);
    if (late == NULL)
        return PDK_ENOMEM;
    *late = (struct late){.callback.run = run_late, .cb = cb, .arg = arg};
    pdk__list_init(&late->callback.link);
    pdk__client_queue_callback(c, &late->callback);
    return 0;
}
