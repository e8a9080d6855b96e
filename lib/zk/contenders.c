/*
 * A snapshot of a lock's contenders, or of the first of them: one listing, then the nodes read at once.
 */
#include "paddock/contenders.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/core/order.h"
#include "lib/core/path.h"
#include "lib/zk/client.h"
#include "lib/zk/listing.h"
#include "lib/zk/request.h"
#include "paddock/leader.h"
#include <stdlib.h>
#include <string.h>

struct item {
    char *name;
    char *data;
    size_t size;
    struct Stat stat;
    struct pdk__name parsed;
    struct pdk__identity identity;
    bool vanished;
};

struct pdk_contender_list {
    char *path;
    size_t n;
    struct item *items;
};

void pdk_contender_list_free(pdk_contender_list *list)
{
    if (list == NULL)
        return;
    for (size_t i = 0; i < list->n; i++) {
        pdk__free(list->items[i].name);
        pdk__free(list->items[i].data);
    }
    pdk__free(list->items);
    pdk__free(list->path);
    pdk__free(list);
}

struct question {
    const char *path;
    bool first_only;
    int64_t deadline_ms;
};

/* A look at the path. It is counted, since completions may come when the caller has left. */
struct survey {
    struct pdk_client *client;
    unsigned refs; /* the caller's, and one per request in flight */
    unsigned in_flight;
    bool first_only;
    int zrc; /* of the listing, or the first that makes the whole worthless */
    struct pdk_contender_list *list;
    pthread_cond_t news;
};

/* One request of it. */
struct read {
    struct pdk__request base;
    struct survey *survey;
    size_t i; /* which of the items it is about */
};

static void unref(struct survey *s)
{
    if (--s->refs > 0)
        return;
    pdk_contender_list_free(s->list);
    pthread_cond_destroy(&s->news);
    pdk__free(s);
}

static void end(struct read *read)
{
    struct survey *s = read->survey;
    s->in_flight--;
    pthread_cond_broadcast(&s->news);
    pdk__request_untrack(&read->base);
    pdk__free(read);
    unref(s);
}

static void forget(struct pdk__request *base)
{
    struct read *read = PDK__MEMBER(base, struct read, base);
    read->survey->zrc = ZCONNECTIONLOSS;
    end(read);
}

static struct read *begin(struct survey *s, size_t i)
{
    struct read *read = s->client->zh != NULL ? pdk__alloc(sizeof *read) : NULL;
    if (read == NULL)
        return NULL;
    read->survey = s;
    read->i = i;
    s->refs++;
    s->in_flight++;
    pdk__request_track(&read->base, s->client, forget);
    return read;
}

/* The call was made, or it was not. */
static int sent(struct read *read, int zrc)
{
    if (zrc != ZOK)
        end(read);
    return zrc;
}

/* --- the listing ------------------------------------------------------------------------------------------------- */

static struct pdk_contender_list *make_list(const struct String_vector *names)
{
    struct pdk_contender_list *list = pdk__alloc(sizeof *list);
    if (list == NULL || names->count == 0)
        return list;
    list->items = pdk__alloc((size_t)names->count * sizeof *list->items);
    bool whole = list->items != NULL;
    for (int i = 0; whole && i < names->count; i++) {
        struct item *item = &list->items[list->n++];
        item->name = pdk__strdup(names->data[i]);
        item->parsed = pdk__name_parse(names->data[i]);
        whole = item->name != NULL;
    }
    if (whole)
        return list;
    pdk_contender_list_free(list);
    return NULL;
}

static void listed(int zrc, const struct String_vector *names, const void *data)
{
    static const struct String_vector none;
    struct read *read = (struct read *)data;
    struct survey *s = read->survey;
    struct pdk_client *c = pdk__request_arrive(&read->base, zrc);
    s->zrc = zrc == ZNONODE ? ZOK : zrc;
    if (s->zrc == ZOK && (s->list = make_list(zrc == ZOK ? names : &none)) == NULL)
        s->zrc = ZSYSTEMERROR;
    end(read);
    pdk__request_depart(c);
}

/* --- the nodes --------------------------------------------------------------------------------------------------- */

static void keep(struct survey *s, struct item *item, const char *value, int length, const struct Stat *stat)
{
    item->stat = *stat;
    item->size = length > 0 ? (size_t)length : 0; /* -1 for NULL data */
    item->data = pdk__memdup(value, item->size);
    if (item->data == NULL)
        s->zrc = ZSYSTEMERROR;
    else
        pdk__identity_parse(&item->identity, item->data, item->size);
}

static void read_node(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    struct read *read = (struct read *)data;
    struct survey *s = read->survey;
    struct pdk_client *c = pdk__request_arrive(&read->base, zrc);
    if (zrc == ZOK)
        keep(s, &s->list->items[read->i], value, length, stat);
    else if (zrc == ZNONODE)
        s->list->items[read->i].vanished = true;
    else if (zrc != ZNOAUTH)
        s->zrc = zrc;
    end(read);
    pdk__request_depart(c);
}

static int ask_node(struct survey *s, const char *path, size_t i)
{
    char *node = pdk__join(path, s->list->items[i].name);
    struct read *read = node != NULL ? begin(s, i) : NULL;
    int zrc = read != NULL ? sent(read, zoo_aget(s->client->zh, node, 0, read_node, read)) : ZSYSTEMERROR;
    pdk__free(node);
    return zrc;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static int settle(struct survey *s, int64_t deadline_ms)
{
    while (s->in_flight > 0) {
        int rc = pdk__client_may_wait(s->client);
        if (rc != 0)
            return rc;
        if (pdk__now_ms() >= deadline_ms)
            return PDK_ETIMEDOUT;
        pdk__client_await(s->client, &s->news, deadline_ms < pdk__now_ms() + 100 ? deadline_ms : pdk__now_ms() + 100,
                          false);
    }
    return s->zrc == ZSYSTEMERROR ? PDK_ENOMEM : pdk__error_of(s->zrc);
}

static int compare(const void *a, const void *b)
{
    return pdk__order_compare(((const struct item *)a)->name, ((const struct item *)b)->name);
}

static void drop_tail(struct pdk_contender_list *list, size_t n)
{
    for (size_t i = n; i < list->n; i++)
        pdk__free(list->items[i].name);
    list->n = n;
}

/* What is to be read, in order: all, or the first contender. */
static void choose(struct survey *s)
{
    struct pdk_contender_list *list = s->list;
    if (list->n > 0)
        qsort(list->items, list->n, sizeof *list->items, compare);
    if (s->first_only && list->n > 0)
        drop_tail(list, list->items[0].parsed.kind != PDK__NAME_JUNK);
}

static int run(struct survey *s, const char *path, int64_t deadline_ms)
{
    struct read *read = begin(s, 0);
    s->zrc = read != NULL ? sent(read, zoo_aget_children(s->client->zh, path, 0, listed, read)) : ZSYSTEMERROR;
    int rc = settle(s, deadline_ms);
    if (rc != 0)
        return rc;
    choose(s);
    for (size_t i = 0; i < s->list->n && s->zrc == ZOK; i++)
        s->zrc = ask_node(s, path, i);
    return settle(s, deadline_ms);
}

static void tidy(struct pdk_contender_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (!list->items[i].vanished)
            list->items[n++] = list->items[i];
        else
            pdk__free(list->items[i].name);
    }
    list->n = n;
}

static int survey(struct pdk_client *c, const struct question *q, struct pdk_contender_list **list)
{
    struct survey *s = pdk__alloc(sizeof *s);
    if (s == NULL)
        return PDK_ENOMEM;
    s->client = c;
    s->refs = 1;
    s->first_only = q->first_only;
    pdk__cond_init(&s->news);
    int rc = run(s, q->path, q->deadline_ms);
    if (rc == 0 && q->first_only && s->list->n == 1 && s->list->items[0].vanished) {
        rc = PDK_EUNKNOWN; /* who is first now, another look tells */
    } else if (rc == 0 && (s->list->path = pdk__strdup(q->path)) == NULL) {
        rc = PDK_ENOMEM;
    } else if (rc == 0) {
        tidy(s->list);
        *list = s->list;
        s->list = NULL;
    }
    unref(s);
    return rc;
}

static int connect_and_survey(struct pdk_client *c, const struct question *q, struct pdk_contender_list **list)
{
    int rc;
    while ((rc = pdk__client_may_wait(c)) == 0) {
        if (c->session.phase == PDK__SESSION_CONNECTED) {
            rc = survey(c, q, list);
            if (rc != PDK_EUNKNOWN)
                return rc; /* else the connection was lost, and the session will tell */
        }
        if (pdk__now_ms() >= q->deadline_ms)
            return PDK_ETIMEDOUT;
        int64_t soon_ms = pdk__now_ms() + 100;
        pdk__client_await(c, &c->changed, q->deadline_ms < soon_ms ? q->deadline_ms : soon_ms, false);
    }
    return rc;
}

static int ask(struct pdk_client *c, struct question q, struct pdk_contender_list **list)
{
    if (c == NULL || q.path == NULL || list == NULL)
        return PDK_EINVAL;
    if (!pdk__path_valid(q.path))
        return PDK_EPATH;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    rc = connect_and_survey(c, &q, list);
    if (rc != 0 && rc != PDK_ETIMEDOUT)
        pdk__client_incident(c, "list", q.path, rc);
    pdk__client_leave(c);
    return rc;
}

int pdk_contenders(pdk_client *c, const char *path, int64_t timeout_ms, pdk_contender_list **list)
{
    return ask(c, (struct question){path, false, pdk__deadline_ms(pdk__now_ms(), timeout_ms)}, list);
}

int pdk_leader_current(pdk_client *c, const char *path, int64_t timeout_ms, pdk_contender_list **list)
{
    return ask(c, (struct question){path, true, pdk__deadline_ms(pdk__now_ms(), timeout_ms)}, list);
}

/* --- what it says ------------------------------------------------------------------------------------------------ */

const char *pdk__listing_path(const pdk_contender_list *list) { return list->path; }

size_t pdk_contender_list_size(const pdk_contender_list *list) { return list->n; }

const char *pdk_contender_name(const pdk_contender_list *list, size_t i) { return list->items[i].name; }

pdk_dialect pdk_contender_dialect(const pdk_contender_list *list, size_t i)
{
    static const pdk_dialect dialects[] = {[PDK__NAME_OURS] = PDK_DIALECT_PADDOCK,
                                           [PDK__NAME_CURATOR] = PDK_DIALECT_CURATOR,
                                           [PDK__NAME_FOREIGN] = PDK_DIALECT_FOREIGN,
                                           [PDK__NAME_JUNK] = PDK_DIALECT_JUNK};
    return dialects[list->items[i].parsed.kind];
}

int64_t pdk_contender_sequence(const pdk_contender_list *list, size_t i)
{
    const struct pdk__name *name = &list->items[i].parsed;
    return name->kind != PDK__NAME_JUNK ? name->sequence : -1;
}

/* A container's owner is a number with the highest bit alone, and a node with a time to live has its two highest bytes
 * set: neither is a session. */
int64_t pdk_contender_session(const pdk_contender_list *list, size_t i)
{
    int64_t owner = list->items[i].stat.ephemeralOwner;
    bool special = owner == INT64_MIN || ((uint64_t)owner >> 56) == 0xff;
    return special ? 0 : owner;
}

int64_t pdk_contender_token(const pdk_contender_list *list, size_t i) { return list->items[i].stat.czxid; }

int64_t pdk_contender_since_ms(const pdk_contender_list *list, size_t i) { return list->items[i].stat.ctime; }

const char *pdk_contender_data(const pdk_contender_list *list, size_t i, size_t *size)
{
    const struct item *item = &list->items[i];
    if (size != NULL)
        *size = item->size;
    return item->data != NULL ? item->data : "";
}

const char *pdk_contender_host(const pdk_contender_list *list, size_t i) { return list->items[i].identity.host; }

int64_t pdk_contender_pid(const pdk_contender_list *list, size_t i) { return list->items[i].identity.pid; }

int64_t pdk_contender_thread(const pdk_contender_list *list, size_t i) { return list->items[i].identity.thread; }

const char *pdk_contender_label(const pdk_contender_list *list, size_t i) { return list->items[i].identity.label; }
