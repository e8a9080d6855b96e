/*
 * The leader of a path, for a program that is not a candidate: at one moment, or by an observer at each change.
 *
 * An observer lists the path, then reads the first contender's node and watches that alone: nothing lower can appear
 * while it is there. It watches the path itself only while there is no candidate, and waits for the path's creation
 * while there is no path. Each watch event and each new connection causes another look; one request is under way at a
 * time. The watches are removed at the end, after the answer that is under way, which may set one.
 */
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/core/order.h"
#include "lib/core/path.h"
#include "lib/revocation.h"
#include "lib/zk/account.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/contenders.h"
#include "lib/zk/handle.h"
#include "lib/zk/member.h"
#include "lib/zk/request.h"
#include "paddock/leader.h"
#include <string.h>

/* After a request that had no answer, or could not be sent; and after one that was refused, for want of permission. */
enum { REST_MS = 100, REFUSED_MS = 1000 };

struct pdk_leader_observer {
    struct pdk__member member;
    struct pdk_client *client;
    unsigned refs; /* the user's, one per request in flight, one for a waiting callback */
    char *path;
    bool connected; /* by the last report */
    bool looking;   /* an answer is on its way */
    bool again;     /* that answer will be out of date */
    bool watching;  /* the requested listing watches the path */
    int64_t rest_ms;
    char *node; /* the leader's, watched */
    struct pdk__index_entry path_entry, node_entry;

    /* the known leader, and the last reported one */
    struct pdk__callback callback;
    char *id; /* of a leader that is still to be reported */
    int64_t token;
    bool told;
    int64_t told_token;
    pdk_observer_cb cb; /* NULL: the user has closed it */
    void *arg;
};

/* One request. */
struct look {
    struct pdk__request base;
    struct pdk_leader_observer *observer;
};

static struct pdk_leader_observer *observer_of(struct pdk__member *m)
{
    return PDK__MEMBER(m, struct pdk_leader_observer, member);
}

/* With the lock of a client to which the caller, too, holds a reference. */
static void unref(struct pdk_leader_observer *o)
{
    if (--o->refs > 0)
        return;
    pdk__client_unref(o->client);
    pdk__free(o->path);
    pdk__free(o->node);
    pdk__free(o->id);
    pdk__free(o);
}

/* --- telling ----------------------------------------------------------------------------------------------------- */

static bool news(const struct pdk_leader_observer *o)
{
    return o->cb != NULL && (!o->told || o->token != o->told_token);
}

static void run(struct pdk__callback *callback)
{
    struct pdk_leader_observer *o = PDK__MEMBER(callback, struct pdk_leader_observer, callback);
    struct pdk_client *c = o->client;
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
    unref(o);
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
        o->refs++;
    pdk__client_queue_callback(o->client, &o->callback);
}

/* --- looking ----------------------------------------------------------------------------------------------------- */

static void forget(struct pdk__request *base);

static struct look *begin(struct pdk_leader_observer *o)
{
    struct look *look = o->client->zh != NULL ? pdk__alloc(sizeof *look) : NULL;
    if (look == NULL)
        return NULL;
    look->observer = o;
    o->refs++;
    pdk__request_track(&look->base, o->client, forget);
    return look;
}

static void end(struct look *look)
{
    struct pdk_leader_observer *o = look->observer;
    pdk__request_untrack(&look->base);
    pdk__free(look);
    unref(o);
}

/* A new connection, or the time, will bring another look. */
static void rest(struct pdk_leader_observer *o, int64_t ms)
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

/* The request was not sent. */
static void sent(struct look *look, struct pdk_leader_observer *o, int zrc)
{
    if (zrc == ZOK)
        return;
    rest(o, REST_MS);
    if (look != NULL)
        end(look);
}

static void listed(int zrc, const struct String_vector *names, const void *data);
static void read_node(int zrc, const char *value, int length, const struct Stat *stat, const void *data);
static void absent(int zrc, const struct Stat *stat, const void *data);

static void ask_list(struct pdk_leader_observer *o, bool watching)
{
    struct look *look = begin(o);
    void *id = (void *)o->client->id;
    o->watching = watching;
    sent(look, o,
         look == NULL
             ? ZSYSTEMERROR
             : zoo_awget_children(o->client->zh, o->path, watching ? pdk__handle_watch_nodes : NULL, id, listed, look));
}

/* Takes NODE. */
static void set_node(struct pdk_leader_observer *o, char *node)
{
    pdk__index_note(&o->client->index, &o->node_entry, &o->member, node);
    pdk__free(o->node);
    o->node = node;
}

static void ask_node(struct pdk_leader_observer *o, const char *name)
{
    char *node = pdk__join(o->path, name);
    struct look *look = node != NULL ? begin(o) : NULL;
    void *id = (void *)o->client->id;
    set_node(o, node);
    sent(look, o,
         look == NULL ? ZSYSTEMERROR : zoo_awget(o->client->zh, node, pdk__handle_watch_nodes, id, read_node, look));
}

static void ask_absent(struct pdk_leader_observer *o)
{
    struct look *look = begin(o);
    void *id = (void *)o->client->id;
    sent(look, o,
         look == NULL ? ZSYSTEMERROR : zoo_awexists(o->client->zh, o->path, pdk__handle_watch_nodes, id, absent, look));
}

static void look_anew(struct pdk_leader_observer *o)
{
    o->again = o->looking;
    if (o->looking || o->cb == NULL || o->client->session.phase != PDK__SESSION_CONNECTED)
        return;
    o->looking = true;
    ask_list(o, false);
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

static void settle(struct pdk_leader_observer *o)
{
    o->looking = false;
    if (o->again)
        look_anew(o);
}

static void on_failed(struct pdk_leader_observer *o, int zrc)
{
    bool refused = pdk__outcome_of(zrc) != PDK__UNKNOWN;
    if (refused)
        pdk__client_incident(o->client, "observe", o->path, pdk__error_of(zrc));
    rest(o, refused ? REFUSED_MS : REST_MS);
}

/* A refused read has set no watch, and a neighbour must not count on it. One that counted on it may have left its own
 * there. */
static void forget_node(struct pdk_leader_observer *o)
{
    char *node = o->node;
    pdk__index_drop(&o->client->index, &o->node_entry);
    o->node = NULL;
    if (node != NULL && !o->client->adopted && !pdk__members_watch(o->client, node, NULL))
        pdk__request_unwatch(o->client, node);
    pdk__free(node);
}

/* The user has freed it. */
static void forsake(struct pdk_leader_observer *o)
{
    if (o->cb != NULL || o->looking || o->client->closing)
        return;
    forget_node(o);
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
    struct pdk_leader_observer *o = look->observer;
    struct pdk_client *c = pdk__request_arrive(&look->base, zrc);
    const char *first = zrc == ZOK ? pdk__order_first((const char *const *)names->data, (size_t)names->count) : NULL;
    if (o->cb == NULL) {
        o->looking = false; /* the user has closed it: there is no one to notify */
    } else if (first != NULL) {
        ask_node(o, first);
    } else if (zrc == ZOK && !o->watching) {
        ask_list(o, true);
    } else if (zrc == ZOK) {
        learn(o, NULL, 0);
        settle(o);
    } else if (zrc == ZNONODE) {
        ask_absent(o);
    } else {
        on_failed(o, zrc);
    }
    depart(look, c);
}

static void absent(int zrc, const struct Stat *stat, const void *data)
{
    struct look *look = (struct look *)data;
    struct pdk_leader_observer *o = look->observer;
    struct pdk_client *c = pdk__request_arrive(&look->base, zrc);
    (void)stat;
    if (zrc == ZNONODE)
        learn(o, NULL, 0);
    o->again |= zrc == ZOK; /* created meanwhile */
    if (zrc == ZOK || zrc == ZNONODE)
        settle(o);
    else
        on_failed(o, zrc);
    depart(look, c);
}

static void read_node(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    struct look *look = (struct look *)data;
    struct pdk_leader_observer *o = look->observer;
    struct pdk_client *c = pdk__request_arrive(&look->base, zrc);
    size_t size = length > 0 ? (size_t)length : 0;
    if (value == NULL) /* a node without data */
        value = "";
    size_t foreign = zrc == ZOK ? pdk__revocation_prefix(value, size) : 0; /* the id is after it */
    value += foreign;
    size -= foreign;
    char *id = zrc == ZOK ? pdk__memdup(value, size < PDK_CONTENDER_DATA_MAX ? size : PDK_CONTENDER_DATA_MAX) : NULL;
    if (id != NULL)
        learn(o, id, stat->czxid);
    if (zrc != ZOK && pdk__outcome_of(zrc) != PDK__UNKNOWN)
        forget_node(o);
    o->again |= zrc == ZNONODE; /* deleted meanwhile */
    if (id != NULL || zrc == ZNONODE)
        settle(o);
    else
        on_failed(o, zrc == ZOK ? ZSYSTEMERROR : zrc);
    depart(look, c);
}

/* --- following --------------------------------------------------------------------------------------------------- */

static void refresh(struct pdk__member *m)
{
    struct pdk_leader_observer *o = observer_of(m);
    bool connected = o->client->session.phase == PDK__SESSION_CONNECTED;
    bool rested = pdk__now_ms() >= o->rest_ms;
    if (rested)
        o->rest_ms = PDK__NEVER;
    if (rested || (connected && !o->connected))
        look_anew(o);
    o->connected = connected;
    pdk__client_arm(o->client, o->rest_ms);
}

static bool watches(struct pdk__member *m, const char *path)
{
    const struct pdk_leader_observer *o = observer_of(m);
    return strcmp(path, o->path) == 0 || (o->node != NULL && strcmp(path, o->node) == 0);
}

static void fired(struct pdk__member *m, const char *path, enum pdk__node_change change)
{
    (void)change;
    if (watches(m, path))
        look_anew(observer_of(m));
}

static const struct pdk__member_calls calls = {.changed = refresh, .tick = refresh, .fired = fired, .watches = watches};

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk_leader_observer *make(struct pdk_client *c, const char *path)
{
    struct pdk_leader_observer *o = pdk__alloc(sizeof *o);
    if (o == NULL)
        return NULL;
    o->path = pdk__strdup(path);
    if (o->path == NULL) {
        pdk__free(o);
        return NULL;
    }
    o->client = c;
    o->refs = 1;
    o->rest_ms = PDK__NEVER;
    o->callback.run = run;
    pdk__list_init(&o->callback.link);
    pdk__client_ref(c);
    return o;
}

static int observe(struct pdk_leader_observer **out, struct pdk_client *c, const char *path)
{
    int rc = pdk__member_may_join(c, path);
    if (rc != 0)
        return rc;
    *out = make(c, path);
    return *out != NULL ? 0 : PDK_ENOMEM;
}

int pdk_leader_observe(pdk_leader_observer **out, pdk_client *c, const char *path, pdk_observer_cb cb, void *arg)
{
    struct pdk_leader_observer *o = NULL;
    if (out == NULL || c == NULL || path == NULL || cb == NULL)
        return PDK_EINVAL;
    if (!pdk__path_valid(path))
        return PDK_EPATH;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    rc = observe(&o, c, path);
    if (rc == 0) {
        *out = o;
        o->cb = cb;
        o->arg = arg;
        pdk__member_join(c, &o->member, &calls, o->path);
        pdk__index_note(&c->index, &o->path_entry, &o->member, o->path);
        refresh(&o->member);
    }
    pdk__client_end(c, "observe", path, rc);
    pdk__client_leave(c);
    return rc;
}

int pdk_leader_observer_free(pdk_leader_observer *o)
{
    if (o == NULL)
        return 0;
    struct pdk_client *c = o->client;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    pdk__client_ref(c);
    pdk__member_leave(c, &o->member);
    pdk__index_drop(&c->index, &o->path_entry);
    pdk__index_drop(&c->index, &o->node_entry);
    o->cb = NULL;
    forsake(o);
    unref(o);
    pdk__client_leave(c);
    pdk__client_unref(c);
    return 0;
}

/* --- at one moment ----------------------------------------------------------------------------------------------- */

int pdk_leader_current(pdk_client *c, const char *path, int64_t timeout_ms, pdk_contender_list **list)
{
    struct pdk__question q = {.path = path, .n_read = 1, .first_only = true};
    q.deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    return pdk__contenders_ask(c, q, list);
}
