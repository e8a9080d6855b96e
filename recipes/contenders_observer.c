/* The contenders of a path, for a program that wants to know when they change: a follower that lists their names. */
#include "lib/alloc.h"
#include "lib/zk/account.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/follower.h"
#include "paddock/contenders.h"
#include "recipes/object.h"

struct pdk_contenders_observer {
    struct pdk__follower follower;
    struct pdk__callback callback;
    int64_t known; /* the last change of the listing that was told; 0: there was no path; -1: nothing yet */
    pdk_contenders_cb cb;
    void *arg;
};

static struct pdk_contenders_observer *observer_of(struct pdk__follower *f)
{
    return PDK__MEMBER(f, struct pdk_contenders_observer, follower);
}

/* --- telling ----------------------------------------------------------------------------------------------------- */

static void run(struct pdk__callback *callback)
{
    struct pdk_contenders_observer *o = PDK__MEMBER(callback, struct pdk_contenders_observer, callback);
    struct pdk_client *c = o->follower.client;
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk_contenders_cb cb = o->cb;
    void *arg = o->arg;
    if (!o->follower.freed) {
        pdk__client_leave(c);
        cb(arg);
        pdk__client_lock(c);
    }
    pdk__follower_unref(&o->follower);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

/* The path is watched. A look that finds no change is not reported. */
static void learn(struct pdk__follower *f, int64_t changed)
{
    struct pdk_contenders_observer *o = observer_of(f);
    if (changed == o->known)
        return;
    o->known = changed;
    if (pdk__list_empty(&o->callback.link))
        pdk__follower_ref(f);
    pdk__client_queue_callback(f->client, &o->callback);
}

/* --- following --------------------------------------------------------------------------------------------------- */

static void look(struct pdk__follower *f) { pdk__follower_list(f, true); }

static void listed(struct pdk__follower *f, const char *const *names, size_t n, int64_t changed)
{
    (void)names, (void)n;
    learn(f, changed);
}

static void absent(struct pdk__follower *f) { learn(f, 0); }

static void release(struct pdk__follower *f) { pdk__free(observer_of(f)); }

static const struct pdk__follower_calls calls = {
    .verb = "observe", .look = look, .names = listed, .absent = absent, .free = release};

/* --- the object -------------------------------------------------------------------------------------------------- */

static int observe(struct pdk_contenders_observer **out, struct pdk_client *c, const char *path, pdk_contenders_cb cb,
                   void *arg)
{
    struct pdk_contenders_observer *o = pdk__alloc(sizeof *o);
    int rc = o != NULL ? pdk__follower_init(&o->follower, c, path, &calls) : PDK_ENOMEM;
    if (rc != 0) {
        pdk__free(o);
        return rc;
    }
    o->callback.run = run;
    pdk__list_init(&o->callback.link);
    o->known = -1;
    o->cb = cb;
    o->arg = arg;
    *out = o;
    pdk__follower_begin(&o->follower);
    return 0;
}

int pdk_contenders_observe(pdk_contenders_observer **out, pdk_client *c, const char *path, pdk_contenders_cb cb,
                           void *arg)
{
    int rc = out != NULL && cb != NULL ? pdk__path_enter(c, path) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    rc = observe(out, c, path, cb, arg);
    pdk__client_end(c, "observe", path, rc);
    pdk__client_leave(c);
    return rc;
}

int pdk_contenders_observer_free(pdk_contenders_observer *o)
{
    return o != NULL ? pdk__follower_close(&o->follower) : 0;
}
