/*
 * Interventions of another client in a contender: request its release, or delete its node.
 *
 * ZooKeeper can make a write depend on the number of writes to a node, not on the identity of the node. So the node is
 * read first, and must be the one that was listed, by its czxid. Then the write is tied to the version that was read.
 * Only a node of the same name that was created, and written to as often, between that answer and the write could be
 * mistaken for it. A name of ours is never used again.
 */

#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/core/path.h"
#include "lib/revocation.h"
#include "lib/zk/account.h"
#include "lib/zk/listing.h"
#include "lib/zk/request.h"
#include <string.h>

/* One request and its answer. It is counted, because the answer may come when the caller has left. */
struct exchange {
    struct pdk_client *client;
    unsigned refs; /* the caller's, and the request's */
    bool answered;
    int zrc;
    struct Stat stat;
    pthread_cond_t news;
};

struct question {
    struct pdk__request base;
    struct exchange *exchange;
};

/* --- asking, and waiting for the answer -------------------------------------------------------------------------- */

static void unref(struct exchange *x)
{
    assert(pdk__client_locked(x->client) && x->refs > 0);
    if (--x->refs > 0)
        return;
    pthread_cond_destroy(&x->news);
    pdk__free(x);
}

static void end(struct question *q, int zrc)
{
    struct exchange *x = q->exchange;
    assert(!x->answered);
    x->answered = true;
    x->zrc = zrc;
    pthread_cond_broadcast(&x->news);
    pdk__request_end(&q->base);
    unref(x);
}

static void forget(struct pdk__request *base) { end(PDK__MEMBER(base, struct question, base), ZCONNECTIONLOSS); }

static void arrived(int zrc, const struct Stat *stat, const void *data)
{
    struct question *q = (struct question *)data;
    struct pdk_client *c = pdk__request_arrive(&q->base, zrc);
    if (zrc == ZOK && stat != NULL)
        q->exchange->stat = *stat;
    end(q, zrc);
    pdk__request_depart(c);
}

static void removed(int zrc, const void *data) { arrived(zrc, NULL, data); }

/* PDK_EUNKNOWN while the handle is being replaced: the session will report the new one. */
static int begin(struct pdk_client *c, struct question **out)
{
    if (c->zh == NULL)
        return PDK_EUNKNOWN;
    struct exchange *x = pdk__alloc(sizeof *x);
    struct question *q = x != NULL ? pdk__request_begin(c, sizeof *q, forget) : NULL;
    if (q == NULL || pdk__cond_init(&x->news) != 0) {
        if (q != NULL)
            pdk__request_end(&q->base);
        pdk__free(x);
        return PDK_ENOMEM;
    }
    x->client = c;
    x->refs = 2;
    q->exchange = x;
    *out = q;
    return 0;
}

/* The call was made, with SENT: wait for its answer. Takes the caller's reference; STAT may be NULL. */
static int await_answer(struct question *q, int sent, int64_t deadline_ms, int *zrc, struct Stat *stat)
{
    struct exchange *x = q->exchange;
    assert(!x->answered && x->refs == 2);
    int rc = 0;
    if (sent != ZOK)
        end(q, sent);
    while (!x->answered && rc == 0) {
        rc = pdk__client_may_wait(x->client);
        if (rc == 0 && pdk__now_ms() >= deadline_ms)
            rc = PDK_ETIMEDOUT;
        int64_t soon_ms = pdk__now_ms() + 100; /* an end of the permission to wait is not signalled */
        if (rc == 0)
            pdk__client_await(x->client, &x->news, deadline_ms < soon_ms ? deadline_ms : soon_ms, false);
    }
    *zrc = x->zrc;
    if (stat != NULL)
        *stat = x->stat;
    unref(x);
    return rc;
}

/* --- one intervention -------------------------------------------------------------------------------------------- */

struct intervention {
    struct pdk_client *client;
    char *node;
    int64_t token;
    bool remove; /* else request the release */
    char *word;  /* the data to write, while the node is at the version that was listed; else the word alone */
    size_t size;
    int32_t listed_version;
    bool unsure; /* a write may have happened */
    int64_t deadline_ms;
};

enum { AGAIN = 1 };

/* The version of the node, if it is still the intended one. */
static int look(const struct intervention *v, int *version)
{
    struct Stat stat;
    int zrc;
    struct question *q;
    int rc = begin(v->client, &q);
    if (rc != 0)
        return rc;
    rc = await_answer(q, zoo_aexists(v->client->zh, v->node, 0, arrived, q), v->deadline_ms, &zrc, &stat);
    if (rc == 0)
        rc = pdk__error_of(zrc);
    if (rc == 0 && stat.czxid != v->token)
        rc = PDK_ENOENT;
    *version = rc == 0 ? stat.version : -1;
    return rc;
}

static int put(struct intervention *v, int version)
{
    zhandle_t *zh = v->client->zh;
    size_t size = version == v->listed_version ? v->size : strlen(PDK__REVOKE);
    struct question *q;
    int zrc;
    int rc = begin(v->client, &q);
    if (rc != 0)
        return rc;
    int sent = v->remove ? zoo_adelete(zh, v->node, version, removed, q)
                         : zoo_aset(zh, v->node, v->word, (int)size, version, arrived, q);
    rc = await_answer(q, sent, v->deadline_ms, &zrc, NULL);
    v->unsure = v->unsure || (rc == 0 ? pdk__meaning_of(zrc) == PDK__UNSURE : rc == PDK_ETIMEDOUT);
    if (rc == 0)
        rc = zrc == ZBADVERSION ? AGAIN : pdk__error_of(zrc);
    return rc;
}

static int attempt(struct intervention *v)
{
    int version;
    int rc = look(v, &version);
    if (rc == 0)
        rc = put(v, version);
    /* Deleted after a delete whose answer was lost: by that delete or otherwise. */
    return rc == PDK_ENOENT && v->remove && v->unsure ? 0 : rc;
}

static int retry_until(struct intervention *v)
{
    struct pdk_client *c = v->client;
    int rc;
    while ((rc = pdk__client_may_wait(c)) == 0) {
        bool connected = c->session.phase == PDK__SESSION_CONNECTED;
        rc = connected ? attempt(v) : PDK_EUNKNOWN;
        if (rc != PDK_EUNKNOWN && rc != AGAIN)
            break;
        if (pdk__now_ms() >= v->deadline_ms) {
            rc = PDK_ETIMEDOUT;
            break;
        }
        int64_t soon_ms = pdk__now_ms() + 100;
        if (rc == PDK_EUNKNOWN) /* the connection was lost, and the session will report it */
            pdk__client_await(c, &c->changed, v->deadline_ms < soon_ms ? v->deadline_ms : soon_ms, false);
    }
    return rc == PDK_ETIMEDOUT && v->unsure ? PDK_EUNKNOWN : rc;
}

/* A Paddock contender accepts the word with data after it, too, and its node still names its owner. Others compare
 * all bytes. */
static void compose(struct intervention *v, const struct pdk__listing_item *item)
{
    bool ours = item->parsed.kind == PDK__NAME_OURS && item->data != NULL;
    const char *data = ours ? item->data + item->foreign : "";
    v->word = pdk__revocation_with(data, ours ? item->size - item->foreign : 0, &v->size);
    v->listed_version = item->stat.version;
}

static int intervene(pdk_client *c, const pdk_contender_list *list, size_t i, int64_t timeout_ms, bool remove)
{
    if (c == NULL || list == NULL || i >= pdk_contender_list_size(list))
        return PDK_EINVAL;
    struct intervention v = {
        .client = c, .token = pdk_contender_number(list, i, PDK_CONTENDER_TOKEN), .remove = remove};
    v.deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    v.node = pdk__join(list->path, pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    compose(&v, &list->items[i]);
    if (v.node == NULL || v.word == NULL)
        rc = PDK_ENOMEM;
    else
        rc = v.token != 0 ? retry_until(&v) : PDK_EACCES;
    pdk__client_end(c, remove ? "delete" : "revoke", v.node != NULL ? v.node : "", rc);
    pdk__free(v.word);
    pdk__free(v.node);
    pdk__client_leave(c);
    return rc;
}

int pdk_contender_revoke(pdk_client *c, const pdk_contender_list *list, size_t i, int64_t timeout_ms)
{
    return intervene(c, list, i, timeout_ms, false);
}

int pdk_contender_remove(pdk_client *c, const pdk_contender_list *list, size_t i, int64_t timeout_ms)
{
    return intervene(c, list, i, timeout_ms, true);
}
