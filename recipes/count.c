#include "recipes/count.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/zk/account.h"
#include "lib/zk/code.h"
#include "lib/zk/handle.h"
#include "lib/zk/member.h"
#include "lib/zk/request.h"
#include <string.h>

/* After a request that had no answer, or was refused. */
enum { REST_MS = 1000, NUMBER_SIZE = 4 };

struct pdk__count {
    struct pdk__member member;
    struct pdk_client *client;
    unsigned refs; /* the owner's, and one for the request in flight */
    char *path;
    struct pdk__index_entry entry; /* of it */
    bool connected;                /* by the last report */
    bool looking;                  /* an answer is on its way */
    bool again;                    /* that answer will be out of date */
    bool looked;                   /* an answer has come, whatever it was */
    int64_t rest_ms;
    pdk__count_cb *cb; /* NULL: the owner has freed it */
    void *arg;
};

/* One request. */
struct look {
    struct pdk__request base;
    struct pdk__count *count;
};

static void unref(struct pdk__count *count)
{
    assert(pdk__client_locked(count->client) && count->refs > 0);
    if (--count->refs > 0)
        return;
    pdk__client_unref(count->client);
    pdk__free(count->path);
    pdk__free(count);
}

/* --- looking ----------------------------------------------------------------------------------------------------- */

static void end(struct look *look)
{
    struct pdk__count *count = look->count;
    pdk__request_untrack(&look->base);
    pdk__free(look);
    unref(count);
}

/* A new connection, or the time, will bring another look. */
static void rest(struct pdk__count *count)
{
    count->looking = false;
    count->rest_ms = pdk__now_ms() + REST_MS;
    pdk__client_arm(count->client, count->rest_ms);
}

static void forget(struct pdk__request *base)
{
    struct look *look = PDK__MEMBER(base, struct look, base);
    rest(look->count);
    end(look);
}

static struct look *begin(struct pdk__count *count)
{
    struct look *look = count->client->zh != NULL ? pdk__alloc(sizeof *look) : NULL;
    if (look == NULL)
        return NULL;
    look->count = count;
    count->refs++;
    pdk__request_track(&look->base, count->client, forget);
    return look;
}

/* The request was not sent. */
static void unsent(struct look *look, struct pdk__count *count)
{
    rest(count);
    if (look != NULL)
        end(look);
}

static void was_read(int zrc, const char *value, int length, const struct Stat *stat, const void *data);
static void absent(int zrc, const struct Stat *stat, const void *data);

static void ask(struct pdk__count *count)
{
    struct look *look = begin(count);
    void *id = (void *)count->client->id;
    if (look == NULL || zoo_awget(count->client->zh, count->path, pdk__handle_watch_nodes, id, was_read, look) != ZOK)
        unsent(look, count);
}

/* Reading a missing node sets no watch. */
static void await_creation(struct pdk__count *count)
{
    struct look *look = begin(count);
    void *id = (void *)count->client->id;
    if (look == NULL || zoo_awexists(count->client->zh, count->path, pdk__handle_watch_nodes, id, absent, look) != ZOK)
        unsent(look, count);
}

static void look_anew(struct pdk__count *count)
{
    count->again = count->looking;
    if (count->looking || count->cb == NULL || count->client->session.phase != PDK__SESSION_CONNECTED)
        return;
    count->looking = true;
    ask(count);
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

static void settle(struct pdk__count *count)
{
    count->looking = false;
    if (count->again)
        look_anew(count);
}

static void on_failed(struct pdk__count *count, int zrc)
{
    if (pdk__outcome_of(zrc) != PDK__UNKNOWN)
        pdk__client_incident(count->client, "read the count", count->path, pdk__error_of(zrc));
    rest(count);
}

static void depart(struct look *look, struct pdk_client *c)
{
    end(look);
    pdk__request_depart(c);
}

static int32_t number_of(const unsigned char *bytes)
{
    uint32_t number = 0;
    for (int i = 0; i < NUMBER_SIZE; i++)
        number = number << 8 | bytes[i];
    return (int32_t)number;
}

static void was_read(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    struct look *look = (struct look *)data;
    struct pdk__count *count = look->count;
    struct pdk_client *c = pdk__request_arrive(&look->base, zrc);
    (void)stat;
    count->looked = true;
    pthread_cond_broadcast(&c->changed);
    if (count->cb == NULL) {
        count->looking = false;
    } else if (zrc == ZNONODE) {
        await_creation(count);
    } else if (zrc != ZOK) {
        on_failed(count, zrc);
    } else {
        if (length == NUMBER_SIZE)
            count->cb(number_of((const unsigned char *)value), count->arg);
        settle(count);
    }
    depart(look, c);
}

static void absent(int zrc, const struct Stat *stat, const void *data)
{
    struct look *look = (struct look *)data;
    struct pdk__count *count = look->count;
    struct pdk_client *c = pdk__request_arrive(&look->base, zrc);
    (void)stat;
    count->again |= zrc == ZOK; /* created meanwhile */
    if (zrc == ZOK || zrc == ZNONODE)
        settle(count);
    else
        on_failed(count, zrc);
    depart(look, c);
}

/* --- as a member ------------------------------------------------------------------------------------------------- */

static struct pdk__count *count_of(struct pdk__member *m) { return PDK__MEMBER(m, struct pdk__count, member); }

static void refresh(struct pdk__member *m)
{
    struct pdk__count *count = count_of(m);
    bool connected = count->client->session.phase == PDK__SESSION_CONNECTED;
    bool rested = pdk__now_ms() >= count->rest_ms;
    if (rested)
        count->rest_ms = PDK__NEVER;
    if (rested || (connected && !count->connected))
        look_anew(count);
    count->connected = connected;
    pdk__client_arm(count->client, count->rest_ms);
}

static void fired(struct pdk__member *m, const char *path, enum pdk__node_change change)
{
    (void)change;
    if (strcmp(path, count_of(m)->path) == 0)
        look_anew(count_of(m));
}

static bool watches(struct pdk__member *m, const char *path) { return strcmp(path, count_of(m)->path) == 0; }

static const struct pdk__member_calls calls = {.changed = refresh, .tick = refresh, .fired = fired, .watches = watches};

bool pdk__count_looked(const struct pdk__count *count) { return count->looked; }

/* --- the object -------------------------------------------------------------------------------------------------- */

int pdk__count_new(struct pdk__count **out, struct pdk_client *c, const char *path, pdk__count_cb *cb, void *arg)
{
    assert(cb != NULL && path[0] == '/');
    int rc = pdk__member_may_join(c, path);
    if (rc != 0)
        return rc;
    struct pdk__count *count = pdk__alloc(sizeof *count);
    char *copy = pdk__strdup(path);
    if (count == NULL || copy == NULL) {
        pdk__free(count);
        pdk__free(copy);
        return PDK_ENOMEM;
    }
    *count = (struct pdk__count){.client = c, .refs = 1, .path = copy, .rest_ms = PDK__NEVER, .cb = cb, .arg = arg};
    pdk__client_ref(c);
    pdk__member_join(c, &count->member, &calls, copy);
    pdk__index_note(&c->index, &count->entry, &count->member, copy);
    refresh(&count->member);
    *out = count;
    return 0;
}

/* One that another member relies on stays. */
static void unwatch(struct pdk__count *count)
{
    struct pdk_client *c = count->client;
    if (!c->adopted && !c->closing && !pdk__members_watch(c, count->path, NULL))
        pdk__request_unwatch(c, count->path);
}

void pdk__count_free(struct pdk__count *count)
{
    if (count == NULL)
        return;
    pdk__member_leave(count->client, &count->member);
    pdk__index_drop(&count->client->index, &count->entry);
    count->cb = NULL;
    unwatch(count);
    unref(count);
}
