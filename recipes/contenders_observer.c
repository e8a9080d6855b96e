/*
 * The contenders of a path, for a program that wants to know when they change.
 *
 * An observer lists the names under the path, and so sets a watch on the path's children; while there is no path, it
 * waits for the path's creation. The watch event, each new connection and a failed request cause another look. One
 * request is under way at a time. So a watch is set again before the program is notified, and what the program lists
 * then is what the watch guards. The watch is removed at the end, after the answer that is under way, which may set it.
 */
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/core/path.h"
#include "lib/zk/account.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/code.h"
#include "lib/zk/handle.h"
#include "lib/zk/member.h"
#include "lib/zk/request.h"
#include "paddock/contenders.h"

/* After a request that had no answer, or could not be sent; and after one that was refused, for want of permission. */
enum { REST_MS = 100, REFUSED_MS = 1000 };

struct pdk_contenders_observer {
    struct pdk__member member;
    struct pdk_client *client;
    unsigned refs; /* the user's, one for the request in flight, one for a waiting callback */
    char *path;
    struct pdk__index_entry entry; /* of it */
    bool connected;                /* by the last report */
    bool looking;                  /* an answer is on its way */
    bool again;                    /* that answer will be out of date */
    int64_t rest_ms;
    struct pdk__callback callback;
    pdk_contenders_cb cb; /* NULL: the user has freed it */
    void *arg;
};

/* One request. */
struct look {
    struct pdk__request base;
    struct pdk_contenders_observer *observer;
};

/* With the lock of a client to which the caller, too, holds a reference. */
static void unref(struct pdk_contenders_observer *o)
{
    assert(pdk__client_locked(o->client) && o->refs > 0);
    if (--o->refs > 0)
        return;
    pdk__client_unref(o->client);
    pdk__free(o->path);
    pdk__free(o);
}

/* --- telling ----------------------------------------------------------------------------------------------------- */

static void run(struct pdk__callback *callback)
{
    struct pdk_contenders_observer *o = PDK__MEMBER(callback, struct pdk_contenders_observer, callback);
    struct pdk_client *c = o->client;
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk_contenders_cb cb = o->cb;
    void *arg = o->arg;
    if (cb != NULL) {
        pdk__client_leave(c);
        cb(arg);
        pdk__client_lock(c);
    }
    unref(o);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

static void tell(struct pdk_contenders_observer *o)
{
    if (pdk__list_empty(&o->callback.link))
        o->refs++;
    pdk__client_queue_callback(o->client, &o->callback);
}

/* --- looking ----------------------------------------------------------------------------------------------------- */

static void end(struct look *look)
{
    struct pdk_contenders_observer *o = look->observer;
    pdk__request_untrack(&look->base);
    pdk__free(look);
    unref(o);
}

/* A new connection, or the time, will bring another look. */
static void rest(struct pdk_contenders_observer *o, int64_t ms)
{
    o->looking = false;
    o->rest_ms = pdk__now_ms() + ms;
    pdk__client_arm(o->client, o->rest_ms);
}

static void forget(struct pdk__request *base)
{
    struct look *look = PDK__MEMBER(base, struct look, base);
    rest(look->observer, REST_MS);
    end(look);
}

static struct look *begin(struct pdk_contenders_observer *o)
{
    struct look *look = o->client->zh != NULL ? pdk__alloc(sizeof *look) : NULL;
    if (look == NULL)
        return NULL;
    look->observer = o;
    o->refs++;
    pdk__request_track(&look->base, o->client, forget);
    return look;
}

/* The request was not sent. */
static void unsent(struct look *look, struct pdk_contenders_observer *o)
{
    rest(o, REST_MS);
    if (look != NULL)
        end(look);
}

static void listed(int zrc, const struct String_vector *names, const void *data);
static void absent(int zrc, const struct Stat *stat, const void *data);

static void ask(struct pdk_contenders_observer *o)
{
    struct look *look = begin(o);
    void *id = (void *)o->client->id;
    if (look == NULL || zoo_awget_children(o->client->zh, o->path, pdk__handle_watch_nodes, id, listed, look) != ZOK)
        unsent(look, o);
}

/* Listing a missing path sets no watch. */
static void await_creation(struct pdk_contenders_observer *o)
{
    struct look *look = begin(o);
    void *id = (void *)o->client->id;
    if (look == NULL || zoo_awexists(o->client->zh, o->path, pdk__handle_watch_nodes, id, absent, look) != ZOK)
        unsent(look, o);
}

static void look_anew(struct pdk_contenders_observer *o)
{
    o->again = o->looking;
    if (o->looking || o->cb == NULL || o->client->session.phase != PDK__SESSION_CONNECTED)
        return;
    o->looking = true;
    ask(o);
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

/* The path is watched. */
static void settle(struct pdk_contenders_observer *o)
{
    o->looking = false;
    tell(o);
    if (o->again)
        look_anew(o);
}

static void on_failed(struct pdk_contenders_observer *o, int zrc)
{
    bool refused = pdk__outcome_of(zrc) != PDK__UNKNOWN;
    if (refused)
        pdk__client_incident(o->client, "observe", o->path, pdk__error_of(zrc));
    rest(o, refused ? REFUSED_MS : REST_MS);
}

/* The user has freed it. */
static void forsake(const struct pdk_contenders_observer *o)
{
    if (o->cb == NULL && !o->looking)
        pdk__request_forsake(o->client, o->path);
}

static void depart(struct look *look, struct pdk_client *c)
{
    forsake(look->observer);
    end(look);
    pdk__request_depart(c);
}

static void listed(int zrc, const struct String_vector *names, const void *data)
{
    struct look *look = (struct look *)data;
    struct pdk_contenders_observer *o = look->observer;
    struct pdk_client *c = pdk__request_arrive(&look->base, zrc);
    (void)names;
    if (o->cb == NULL)
        o->looking = false; /* the user has freed it: there is no one to notify */
    else if (zrc == ZNONODE)
        await_creation(o);
    else if (zrc == ZOK)
        settle(o);
    else
        on_failed(o, zrc);
    depart(look, c);
}

static void absent(int zrc, const struct Stat *stat, const void *data)
{
    struct look *look = (struct look *)data;
    struct pdk_contenders_observer *o = look->observer;
    struct pdk_client *c = pdk__request_arrive(&look->base, zrc);
    (void)stat;
    o->again |= zrc == ZOK; /* created meanwhile */
    if (o->cb == NULL)
        o->looking = false;
    else if (zrc == ZOK || zrc == ZNONODE)
        settle(o);
    else
        on_failed(o, zrc);
    depart(look, c);
}

/* --- as a member ------------------------------------------------------------------------------------------------- */

static struct pdk_contenders_observer *observer_of(struct pdk__member *m)
{
    return PDK__MEMBER(m, struct pdk_contenders_observer, member);
}

static void refresh(struct pdk__member *m)
{
    struct pdk_contenders_observer *o = observer_of(m);
    bool connected = o->client->session.phase == PDK__SESSION_CONNECTED;
    bool rested = pdk__now_ms() >= o->rest_ms;
    if (rested)
        o->rest_ms = PDK__NEVER;
    if (rested || (connected && !o->connected))
        look_anew(o);
    o->connected = connected;
    pdk__client_arm(o->client, o->rest_ms);
}

static void fired(struct pdk__member *m, const char *path, enum pdk__node_change change)
{
    (void)path, (void)change;
    look_anew(observer_of(m));
}

/* It has noted one path. */
static bool watches(struct pdk__member *m, const char *path)
{
    (void)m, (void)path;
    return true;
}

static const struct pdk__member_calls calls = {.changed = refresh, .tick = refresh, .fired = fired, .watches = watches};

/* --- the object -------------------------------------------------------------------------------------------------- */

static int make(struct pdk_contenders_observer **out, struct pdk_client *c, const char *path)
{
    int rc = pdk__member_may_join(c, path);
    if (rc != 0)
        return rc;
    struct pdk_contenders_observer *o = pdk__alloc(sizeof *o);
    char *copy = pdk__strdup(path);
    if (o == NULL || copy == NULL) {
        pdk__free(o);
        pdk__free(copy);
        return PDK_ENOMEM;
    }
    *o = (struct pdk_contenders_observer){.client = c, .refs = 1, .path = copy, .rest_ms = PDK__NEVER};
    o->callback.run = run;
    pdk__list_init(&o->callback.link);
    pdk__client_ref(c);
    *out = o;
    return 0;
}

static void join(struct pdk_contenders_observer *o)
{
    struct pdk_client *c = o->client;
    pdk__member_join(c, &o->member, &calls, o->path);
    pdk__member_charge(c, &o->member, pdk__member_watch_cost(c, o->path));
    pdk__index_note(&c->index, &o->entry, &o->member, o->path);
    refresh(&o->member);
}

int pdk_contenders_observe(pdk_contenders_observer **out, pdk_client *c, const char *path, pdk_contenders_cb cb,
                           void *arg)
{
    struct pdk_contenders_observer *o = NULL;
    if (out == NULL || c == NULL || path == NULL || cb == NULL)
        return PDK_EINVAL;
    if (!pdk__path_valid(path))
        return PDK_EPATH;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    rc = make(&o, c, path);
    if (rc == 0) {
        *out = o;
        o->cb = cb;
        o->arg = arg;
        join(o);
    }
    pdk__client_end(c, "observe", path, rc);
    pdk__client_leave(c);
    return rc;
}

int pdk_contenders_observer_free(pdk_contenders_observer *o)
{
    if (o == NULL)
        return 0;
    struct pdk_client *c = o->client;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    pdk__client_ref(c);
    pdk__member_leave(c, &o->member);
    pdk__index_drop(&c->index, &o->entry);
    o->cb = NULL;
    forsake(o);
    unref(o);
    pdk__client_leave(c);
    pdk__client_unref(c);
    return 0;
}
