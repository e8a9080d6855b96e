#include "lib/zk/follower.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/core/path.h"
#include "lib/zk/account.h"
#include "lib/zk/handle.h"
#include "lib/zk/request.h"
#include <string.h>

/* After a request that had no answer, or could not be sent; and after one that was refused, for want of permission. */
enum { REST_MS = 100, REFUSED_MS = 1000 };

/* One request. */
struct look {
    struct pdk__request base;
    struct pdk__follower *follower;
};

static struct pdk__follower *follower_of(struct pdk__member *m) { return PDK__MEMBER(m, struct pdk__follower, member); }

void pdk__follower_ref(struct pdk__follower *f)
{
    assert(pdk__client_locked(f->client) && f->refs > 0);
    f->refs++;
}

void pdk__follower_unref(struct pdk__follower *f)
{
    assert(pdk__client_locked(f->client) && f->refs > 0);
    if (--f->refs > 0)
        return;
    pdk__client_unref(f->client);
    pdk__free(f->path);
    pdk__free(f->child);
    f->calls->free(f);
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

static void forget(struct pdk__request *base);

static struct look *begin(struct pdk__follower *f)
{
    struct look *look = pdk__request_begin(f->client, sizeof *look, forget);
    if (look == NULL)
        return NULL;
    look->follower = f;
    f->asking = true;
    pdk__follower_ref(f);
    return look;
}

static void end(struct look *look)
{
    struct pdk__follower *f = look->follower;
    pdk__request_end(&look->base);
    pdk__follower_unref(f);
}

/* A new connection, or the time, will bring another look. */
static void back_off(struct pdk__follower *f, int64_t ms)
{
    f->looking = f->asking = false;
    f->rest_ms = pdk__now_ms() + ms;
    pdk__client_arm(f->client, f->rest_ms);
}

void pdk__follower_rest(struct pdk__follower *f) { back_off(f, REST_MS); }

static void forget(struct pdk__request *base)
{
    struct look *look = PDK__MEMBER(base, struct look, base);
    back_off(look->follower, REST_MS);
    end(look);
}

/* It was sent, if ZRC says so. */
static void sent(struct look *look, struct pdk__follower *f, int zrc)
{
    if (look != NULL && zrc == ZOK)
        return;
    back_off(f, REST_MS);
    if (look != NULL)
        end(look);
}

static void listed(int zrc, const struct String_vector *names, const struct Stat *stat, const void *data);
static void was_read(int zrc, const char *value, int length, const struct Stat *stat, const void *data);
static void was_absent(int zrc, const struct Stat *stat, const void *data);

void pdk__follower_list(struct pdk__follower *f, bool watching)
{
    struct look *look = begin(f);
    watcher_fn watcher = watching ? pdk__handle_watch_nodes : NULL;
    void *id = (void *)f->client->id;
    sent(look, f, look == NULL ? ZSYSTEMERROR : zoo_awget_children2(f->client->zh, f->path, watcher, id, listed, look));
}

/* Takes CHILD. */
static void set_child(struct pdk__follower *f, char *child)
{
    struct pdk_client *c = f->client;
    size_t cost = pdk__member_watch_cost(c, f->path);
    pdk__index_note(&c->index, &f->child_entry, &f->member, child);
    pdk__free(f->child);
    f->child = child;
    if (f->member.calls != NULL)
        pdk__member_charge(c, &f->member, cost + (child != NULL ? pdk__member_watch_cost(c, child) : 0));
}

/* The child is not watched from now on, and a neighbour must not count on it. One that counted on it may have left its
 * own watch there. */
static void forget_child(struct pdk__follower *f)
{
    struct pdk_client *c = f->client;
    char *child = f->child;
    f->child = NULL;
    set_child(f, NULL);
    if (child != NULL && !c->adopted && !c->closing && !pdk__members_watch(c, child, NULL))
        pdk__request_unwatch(c, child);
    pdk__free(child);
}

void pdk__follower_read(struct pdk__follower *f, const char *name)
{
    char *child = name != NULL ? pdk__join(f->path, name) : NULL;
    const char *node = name != NULL ? child : f->path;
    struct look *look = node != NULL ? begin(f) : NULL;
    void *id = (void *)f->client->id;
    if (child == NULL || f->child == NULL || strcmp(child, f->child) != 0)
        forget_child(f); /* another one has come before it, and it may be there still */
    set_child(f, child);
    sent(look, f,
         look == NULL ? ZSYSTEMERROR : zoo_awget(f->client->zh, node, pdk__handle_watch_nodes, id, was_read, look));
}

/* Neither a listing nor a read of a missing path sets a watch. */
static void await_creation(struct pdk__follower *f)
{
    struct look *look = begin(f);
    void *id = (void *)f->client->id;
    sent(look, f,
         look == NULL ? ZSYSTEMERROR
                      : zoo_awexists(f->client->zh, f->path, pdk__handle_watch_nodes, id, was_absent, look));
}

static void look_again(struct pdk__follower *f)
{
    f->again = f->looking;
    if (f->looking || f->freed || f->client->session.phase != PDK__SESSION_CONNECTED)
        return;
    f->looking = true;
    f->calls->look(f);
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

/* Its owner has freed it, and no answer is under way that could set a watch. */
static void forsake(struct pdk__follower *f)
{
    if (!f->freed || f->asking || f->client->closing)
        return;
    forget_child(f);
    pdk__request_forsake(f->client, f->path);
}

static struct pdk__follower *arrive(struct look *look, int zrc)
{
    struct pdk__follower *f = look->follower;
    struct pdk_client *c = pdk__request_arrive(&look->base, zrc);
    f->asking = false;
    if (!f->answered)
        pthread_cond_broadcast(&c->changed);
    f->answered = true;
    return f;
}

static void on_failed(struct pdk__follower *f, int zrc)
{
    bool refused = pdk__outcome_of(zrc) != PDK__UNKNOWN;
    if (refused)
        pdk__client_incident(f->client, f->calls->verb, f->path, pdk__error_of(zrc));
    back_off(f, refused ? REFUSED_MS : REST_MS);
}

/* The look is over unless its owner has asked for more. Another follows if this one is out of date. */
static void depart(struct look *look, struct pdk__follower *f)
{
    struct pdk_client *c = f->client;
    if (f->looking && !f->asking) {
        f->looking = false;
        if (f->again)
            look_again(f);
    }
    forsake(f);
    end(look);
    pdk__request_depart(c);
}

static void listed(int zrc, const struct String_vector *names, const struct Stat *stat, const void *data)
{
    struct look *look = (struct look *)data;
    struct pdk__follower *f = arrive(look, zrc);
    if (f->freed)
        f->looking = false;
    else if (zrc == ZOK)
        f->calls->names(f, (const char *const *)names->data, (size_t)names->count, stat->pzxid);
    else if (zrc == ZNONODE)
        await_creation(f);
    else
        on_failed(f, zrc);
    depart(look, f);
}

static void child_read_failed(struct pdk__follower *f, int zrc)
{
    if (pdk__outcome_of(zrc) != PDK__UNKNOWN)
        forget_child(f);        /* a refused read has set no watch */
    f->again |= zrc == ZNONODE; /* deleted meanwhile */
    if (zrc != ZNONODE)
        on_failed(f, zrc);
}

static void was_read(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    struct look *look = (struct look *)data;
    struct pdk__follower *f = arrive(look, zrc);
    if (f->freed)
        f->looking = false;
    else if (zrc == ZOK) /* a node without data has no pointer to count from */
        f->calls->node(f, value != NULL ? value : "", length > 0 ? (size_t)length : 0, stat->czxid);
    else if (f->child != NULL)
        child_read_failed(f, zrc);
    else if (zrc == ZNONODE)
        await_creation(f);
    else
        on_failed(f, zrc);
    depart(look, f);
}

static void was_absent(int zrc, const struct Stat *stat, const void *data)
{
    struct look *look = (struct look *)data;
    struct pdk__follower *f = arrive(look, zrc);
    (void)stat;
    f->again |= zrc == ZOK; /* created meanwhile */
    if (f->freed)
        f->looking = false;
    else if (zrc == ZNONODE)
        f->calls->absent(f);
    else if (zrc != ZOK)
        on_failed(f, zrc);
    depart(look, f);
}

/* --- as a member ------------------------------------------------------------------------------------------------- */

static void refresh(struct pdk__member *m)
{
    struct pdk__follower *f = follower_of(m);
    bool connected = f->client->session.phase == PDK__SESSION_CONNECTED;
    bool rested = pdk__now_ms() >= f->rest_ms;
    if (rested)
        f->rest_ms = PDK__NEVER;
    if (rested || (connected && !f->connected))
        look_again(f);
    f->connected = connected;
    pdk__client_arm(f->client, f->rest_ms);
}

static bool look_once_more(struct pdk__member *m)
{
    look_again(follower_of(m));
    return true;
}

static void fired(struct pdk__member *m, const char *path, enum pdk__node_change change)
{
    (void)path, (void)change;
    look_again(follower_of(m));
}

static bool watches(struct pdk__member *m, const char *path)
{
    const struct pdk__follower *f = follower_of(m);
    return strcmp(path, f->path) == 0 || (f->child != NULL && strcmp(path, f->child) == 0);
}

static const struct pdk__member_calls calls = {
    .changed = refresh, .tick = refresh, .fired = fired, .watches = watches, .look_again = look_once_more};

/* --- from begin to end ------------------------------------------------------------------------------------------- */

int pdk__follower_init(struct pdk__follower *f, struct pdk_client *c, const char *path,
                       const struct pdk__follower_calls *owner)
{
    int rc = pdk__member_may_join(c, path);
    if (rc != 0)
        return rc;
    *f = (struct pdk__follower){.client = c, .calls = owner, .refs = 1, .rest_ms = PDK__NEVER};
    f->path = pdk__strdup(path);
    if (f->path == NULL)
        return PDK_ENOMEM;
    pdk__client_ref(c);
    return 0;
}

void pdk__follower_begin(struct pdk__follower *f)
{
    struct pdk_client *c = f->client;
    pdk__member_join(c, &f->member, &calls, f->path);
    pdk__index_note(&c->index, &f->path_entry, &f->member, f->path);
    set_child(f, NULL);
    refresh(&f->member);
}

int pdk__follower_close(struct pdk__follower *f)
{
    struct pdk_client *c = f->client;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    pdk__client_ref(c);
    pdk__follower_free(f);
    pdk__client_leave(c);
    pdk__client_unref(c);
    return 0;
}

void pdk__follower_free(struct pdk__follower *f)
{
    struct pdk_client *c = f->client;
    assert(!f->freed);
    pdk__member_leave(c, &f->member);
    pdk__index_drop(&c->index, &f->path_entry);
    pdk__index_drop(&c->index, &f->child_entry);
    f->freed = true;
    forsake(f);
    pdk__follower_unref(f);
}
