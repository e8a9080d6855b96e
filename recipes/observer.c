/*
 * The leader of a path, for a program that is not a candidate: an observer reports it at each change.
 *
 * It is a follower that lists the path, then reads the first contender's node and watches that alone: nothing lower can
 * appear while it is there. It watches the path itself only while there is no candidate.
 */
#include "lib/alloc.h"
#include "lib/core/order.h"
#include "lib/revocation.h"
#include "lib/zk/account.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/follower.h"
#include "paddock/leader.h"
#include "recipes/object.h"

struct pdk_leader_observer {
    struct pdk__follower follower;
    bool watching; /* the requested listing watches the path */

    /* the known leader, and the last reported one */
    struct pdk__callback callback;
    char *id; /* of a leader that is still to be reported */
    int64_t token;
    bool told;
    int64_t told_token;
    pdk_observer_cb cb;
    void *arg;
};

static struct pdk_leader_observer *observer_of(struct pdk__follower *f)
{
    return PDK__MEMBER(f, struct pdk_leader_observer, follower);
}

/* --- telling ----------------------------------------------------------------------------------------------------- */

static bool news(const struct pdk_leader_observer *o)
{
    return !o->follower.freed && (!o->told || o->token != o->told_token);
}

static void run(struct pdk__callback *callback)
{
    struct pdk_leader_observer *o = PDK__MEMBER(callback, struct pdk_leader_observer, callback);
    struct pdk_client *c = o->follower.client;
    pdk__client_ref(c);
    pdk__client_lock(c);
    if (news(o)) {
        pdk_observer_cb cb = o->cb;
        void *arg = o->arg;
        char *id = o->id;
        int64_t token = o->token;
        o->id = NULL;
        o->told = true;
        o->told_token = token;
        pdk__client_leave(c);
        cb(id, token, arg);
        pdk__free(id);
        pdk__client_lock(c);
    }
    pdk__follower_unref(&o->follower);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

/* Takes ID; NULL for no leader. */
static void learn(struct pdk_leader_observer *o, char *id, int64_t token)
{
    pdk__free(o->id);
    o->id = id;
    o->token = token;
    if (!news(o))
        return;
    if (pdk__list_empty(&o->callback.link))
        pdk__follower_ref(&o->follower);
    pdk__client_queue_callback(o->follower.client, &o->callback);
}

/* --- following --------------------------------------------------------------------------------------------------- */

static void list(struct pdk__follower *f, bool watching)
{
    observer_of(f)->watching = watching;
    pdk__follower_list(f, watching);
}

static void look(struct pdk__follower *f) { list(f, false); }

static void none(struct pdk__follower *f) { learn(observer_of(f), NULL, 0); }

static void listed(struct pdk__follower *f, const char *const *names, size_t n, int64_t last)
{
    (void)last;
    const char *first = pdk__order_first(names, n);
    if (first != NULL)
        pdk__follower_read(f, first);
    else if (!observer_of(f)->watching)
        list(f, true);
    else
        none(f);
}

static void was_read(struct pdk__follower *f, const char *data, size_t size, int64_t token)
{
    size_t foreign = pdk__revocation_prefix(data, size); /* the id is after it */
    size -= foreign;
    char *id = pdk__memdup(data + foreign, size < PDK_CONTENDER_DATA_MAX ? size : PDK_CONTENDER_DATA_MAX);
    if (id != NULL)
        learn(observer_of(f), id, token);
    else
        pdk__follower_rest(f);
}

static void release(struct pdk__follower *f)
{
    pdk__free(observer_of(f)->id);
    pdk__free(observer_of(f));
}

static const struct pdk__follower_calls calls = {
    .verb = "observe", .look = look, .names = listed, .node = was_read, .absent = none, .free = release};

/* --- the object -------------------------------------------------------------------------------------------------- */

static int observe(struct pdk_leader_observer **out, struct pdk_client *c, const char *path, pdk_observer_cb cb,
                   void *arg)
{
    struct pdk_leader_observer *o = pdk__alloc(sizeof *o);
    int rc = o != NULL ? pdk__follower_init(&o->follower, c, path, &calls) : PDK_ENOMEM;
    if (rc != 0) {
        pdk__free(o);
        return rc;
    }
    o->callback.run = run;
    pdk__list_init(&o->callback.link);
    o->cb = cb;
    o->arg = arg;
    *out = o;
    pdk__follower_begin(&o->follower);
    return 0;
}

int pdk_leader_observe(pdk_leader_observer **out, pdk_client *c, const char *path, pdk_observer_cb cb, void *arg)
{
    int rc = out != NULL && cb != NULL ? pdk__path_enter(c, path) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    rc = observe(out, c, path, cb, arg);
    pdk__client_end(c, "observe", path, rc);
    pdk__client_leave(c);
    return rc;
}

int pdk_leader_observer_free(pdk_leader_observer *o) { return o != NULL ? pdk__follower_close(&o->follower) : 0; }
