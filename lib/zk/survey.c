#include "lib/zk/survey.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/order.h"
#include "lib/zk/listing.h"
#include "lib/zk/request.h"
#include <stdlib.h>
#include <string.h>

/* It is counted, because completions may come when the caller has left. */
struct survey {
    struct pdk_client *client;
    unsigned refs; /* the caller's, and one per request in flight */
    bool left;     /* the caller has left: no more requests are sent */
    int zrc;       /* of the listing, or the first that makes the survey useless */
    const char *path;
    struct pdk_contender_list *list;
    pthread_cond_t news; /* nothing is in flight */

    /* the window */
    unsigned in_flight;
    size_t bytes_in_flight;

    /* The items, in order: how many are to be looked at, had their size requested, have it, and had their data
     * requested or need not. */
    size_t n, n_asked, n_sized, n_read;
    size_t bytes; /* of data asked for altogether */
};

/* One request of the survey. */
struct read {
    struct pdk__request base;
    struct survey *survey;
    struct pdk__listing_item *item; /* the item that it reads; NULL: the path */
    size_t bytes;
};

static void unref(struct survey *s)
{
    assert(pdk__client_locked(s->client) && s->refs > 0);
    if (--s->refs > 0)
        return;
    pdk_contender_list_free(s->list);
    pthread_cond_destroy(&s->news);
    pdk__free(s);
}

static void proceed(struct survey *s);

static void end(struct read *read)
{
    struct survey *s = read->survey;
    assert(s->in_flight > 0 && s->bytes_in_flight >= read->bytes);
    s->in_flight--;
    s->bytes_in_flight -= read->bytes;
    proceed(s);
    if (s->in_flight == 0)
        pthread_cond_broadcast(&s->news);
    pdk__request_end(&read->base);
    unref(s);
}

static void spoil(struct survey *s, int zrc)
{
    if (s->zrc == ZOK)
        s->zrc = zrc;
}

static void forget(struct pdk__request *base)
{
    struct read *read = PDK__MEMBER(base, struct read, base);
    spoil(read->survey, ZCONNECTIONLOSS);
    end(read);
}

/* NULL when it cannot be sent; then the survey has the reason. */
static struct read *begin(struct survey *s, struct pdk__listing_item *item, size_t bytes)
{
    struct read *read = pdk__request_begin(s->client, sizeof *read, forget);
    if (read == NULL) {
        spoil(s, s->client->zh == NULL ? ZCONNECTIONLOSS : ZSYSTEMERROR);
        return NULL;
    }
    read->survey = s;
    read->item = item;
    read->bytes = bytes;
    assert(!s->left);
    s->refs++;
    s->in_flight++;
    s->bytes_in_flight += bytes;
    return read;
}

/* The call was made, or it was not. */
static void sent(struct read *read, int zrc)
{
    if (zrc == ZOK)
        return;
    spoil(read->survey, zrc);
    end(read);
}

static void arrived(struct read *read, struct pdk_client *c)
{
    end(read);
    pdk__request_depart(c);
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
        struct pdk__listing_item *item = &list->items[list->n++];
        item->name = pdk__strdup(names->data[i]);
        item->parsed = pdk__name_parse(names->data[i]);
        whole = item->name != NULL;
    }
    if (whole)
        return list;
    pdk_contender_list_free(list);
    return NULL;
}

static void listed(int zrc, const struct String_vector *names, const struct Stat *stat, const void *data)
{
    static const struct String_vector none;
    struct read *read = (struct read *)data;
    bool answered = zrc == ZOK || zrc == ZNONODE;
    struct pdk_contender_list *list = answered ? make_list(zrc == ZOK ? names : &none) : NULL; /* without the lock */
    struct pdk_client *c = pdk__request_arrive(&read->base, zrc);
    assert(read->survey->list == NULL && read->item == NULL);
    read->survey->list = list;
    if (list != NULL && zrc == ZOK)
        list->stat = *stat;
    if (list == NULL)
        spoil(read->survey, answered ? ZSYSTEMERROR : zrc);
    arrived(read, c);
}

static void ask_list(struct survey *s)
{
    struct read *read = begin(s, NULL, 0);
    if (read != NULL)
        sent(read, zoo_aget_children2(s->client->zh, s->path, 0, listed, read));
}

/* --- its ACL ----------------------------------------------------------------------------------------------------- */

/* A client that may not read it, or a path that is gone meanwhile, has nothing to judge. */
static void judged(int zrc, struct ACL_vector *acl, struct Stat *stat, const void *data)
{
    struct read *read = (struct read *)data;
    struct survey *s = read->survey;
    struct pdk_client *c = pdk__request_arrive(&read->base, zrc);
    (void)stat;
    if (zrc == ZOK && s->list != NULL && !pdk__listing_judge_acl(s->list, acl))
        spoil(s, ZSYSTEMERROR);
    else if (zrc != ZOK && zrc != ZNONODE && zrc != ZNOAUTH)
        spoil(s, zrc);
    arrived(read, c);
}

static void ask_acl(struct survey *s)
{
    struct read *read = begin(s, NULL, 0);
    if (read != NULL)
        sent(read, zoo_aget_acl(s->client->zh, s->path, judged, read));
}

/* --- a node's size ----------------------------------------------------------------------------------------------- */

/* A session's answers come in the order of its requests, so a count shows which items have theirs. */
static void sized(int zrc, const struct Stat *stat, const void *data)
{
    struct read *read = (struct read *)data;
    struct survey *s = read->survey;
    struct pdk_client *c = pdk__request_arrive(&read->base, zrc);
    s->n_sized++;
    assert(read->item == &s->list->items[s->n_sized - 1]);
    if (zrc == ZOK)
        read->item->stat = *stat;
    else if (zrc == ZNONODE)
        read->item->vanished = true;
    else if (zrc == ZNOAUTH)
        read->item->refused = true;
    else
        spoil(s, zrc);
    arrived(read, c);
}

static void ask_size(struct survey *s, struct pdk__listing_item *item)
{
    char *node = pdk__join(s->list->path, item->name);
    struct read *read = node != NULL ? begin(s, item, 0) : NULL;
    if (node == NULL)
        spoil(s, ZSYSTEMERROR);
    if (read != NULL)
        sent(read, zoo_aexists(s->client->zh, node, 0, sized, read));
    pdk__free(node);
}

/* --- its data ---------------------------------------------------------------------------------------------------- */

static void keep(struct survey *s, struct pdk__listing_item *item, const char *value, int length)
{
    size_t size = length > 0 ? (size_t)length : 0; /* -1 for NULL data */
    if (size > PDK_CONTENDER_DATA_MAX) {           /* it has grown since its size was read */
        item->omitted = size;
        return;
    }
    item->data = pdk__memdup(value, size);
    item->size = size;
    if (item->data == NULL)
        spoil(s, ZSYSTEMERROR);
}

static void got(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    struct read *read = (struct read *)data;
    struct survey *s = read->survey;
    struct pdk_client *c = pdk__request_arrive(&read->base, zrc);
    if (zrc == ZOK && !s->left) {
        read->item->stat = *stat;
        keep(s, read->item, value, length);
    } else if (zrc == ZNONODE) {
        read->item->vanished = true;
    } else if (zrc == ZNOAUTH) {
        read->item->omitted = (size_t)read->item->stat.dataLength;
        read->item->refused = true;
    } else {
        spoil(s, zrc);
    }
    arrived(read, c);
}

static void ask_data(struct survey *s, struct pdk__listing_item *item)
{
    size_t bytes = (size_t)item->stat.dataLength;
    char *node = pdk__join(s->list->path, item->name);
    struct read *read = node != NULL ? begin(s, item, bytes) : NULL;
    s->bytes += bytes;
    if (node == NULL)
        spoil(s, ZSYSTEMERROR);
    if (read != NULL)
        sent(read, zoo_aget(s->client->zh, node, 0, got, read));
    pdk__free(node);
}

/* --- the window -------------------------------------------------------------------------------------------------- */

/* Empty and too large data are passed over. */
static void pass_over(struct survey *s)
{
    for (; s->n_read < s->n_sized; s->n_read++) {
        struct pdk__listing_item *item = &s->list->items[s->n_read];
        size_t bytes = (size_t)item->stat.dataLength; /* 0 for a node that is deleted, or may not be looked at */
        bool too_large = bytes > PDK_CONTENDER_DATA_MAX || s->bytes + bytes > PDK_CONTENDERS_DATA_MAX;
        if (too_large)
            item->omitted = bytes;
        else if (bytes > 0)
            return;
    }
}

/* Send one more request, if one fits. */
static bool step(struct survey *s)
{
    if (s->left || s->zrc != ZOK || s->in_flight >= PDK__SURVEY_REQUESTS)
        return false;
    pass_over(s);
    struct pdk__listing_item *next = s->n_read < s->n_sized ? &s->list->items[s->n_read] : NULL;
    size_t after = next != NULL ? s->bytes_in_flight + (size_t)next->stat.dataLength : 0;
    if (next != NULL && (after <= PDK__SURVEY_BYTES || s->bytes_in_flight == 0)) {
        s->n_read++;
        ask_data(s, next);
    } else if (s->n_asked < s->n) {
        ask_size(s, &s->list->items[s->n_asked++]);
    } else {
        return false;
    }
    return true;
}

static void proceed(struct survey *s)
{
    while (step(s))
        ;
    assert(s->n_read <= s->n_sized && s->n_sized <= s->n_asked && s->n_asked <= s->n);
}

static int await_answers(struct survey *s, int64_t deadline_ms)
{
    int rc = 0;
    while (s->in_flight > 0 && rc == 0)
        rc = pdk__client_await_answer(s->client, &s->news, deadline_ms);
    if (rc != 0)
        return rc;
    return s->zrc == ZSYSTEMERROR ? PDK_ENOMEM : pdk__error_of(s->zrc);
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    return pdk__order_compare(((const struct pdk__listing_item *)a)->name, ((const struct pdk__listing_item *)b)->name);
}

/* Choose the nodes to be read, in order. Without the lock: nothing is in flight, and the list is the caller's alone. */
static void choose(struct survey *s, const struct pdk__question *q)
{
    struct pdk_contender_list *list = s->list;
    pdk__client_leave(s->client);
    if (list->n > 0)
        qsort(list->items, list->n, sizeof *list->items, compare);
    pdk__client_lock(s->client);
    s->n = list->n < q->n_read ? list->n : q->n_read;
}

static int run(struct survey *s, const struct pdk__question *q)
{
    s->path = q->path;
    ask_list(s);
    if (q->n_read == PDK_CONTENDERS_ALL)
        ask_acl(s);
    int rc = await_answers(s, q->deadline_ms);
    const char *above = strcmp(q->path, "/") != 0 ? q->path : ""; /* of each node's name and its slash */
    if (rc == 0 && (s->list->path = pdk__strdup(above)) == NULL)
        rc = PDK_ENOMEM;
    if (rc != 0)
        return rc;
    choose(s, q);
    proceed(s);
    return await_answers(s, q->deadline_ms);
}

/* Were all nodes that it should read deleted before that? Then it knows no token, and others may have come. */
static bool is_stale(const struct survey *s, const struct pdk__question *q)
{
    size_t n = 0;
    while (n < s->n && s->list->items[n].vanished)
        n++;
    return q->n_read != PDK_CONTENDERS_ALL && s->n > 0 && n == s->n;
}

static void tidy(struct pdk_contender_list *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        struct pdk__listing_item *item = &list->items[i];
        if (!item->vanished) {
            list->items[n++] = *item;
            continue;
        }
        pdk__free(item->name);
        pdk__free(item->data);
    }
    list->n = n;
}

int pdk__survey(struct pdk_client *c, const struct pdk__question *q, pdk_contender_list **list)
{
    struct survey *s = pdk__alloc(sizeof *s);
    if (s == NULL)
        return PDK_ENOMEM;
    s->client = c;
    s->refs = 1;
    pdk__cond_init(&s->news);
    int rc = run(s, q);
    if (rc == 0 && is_stale(s, q)) {
        rc = PDK_EUNKNOWN; /* another look finds the present first one */
    } else if (rc == 0) {
        tidy(s->list);
        *list = s->list;
        s->list = NULL;
    }
    s->left = true;
    unref(s);
    return rc;
}
