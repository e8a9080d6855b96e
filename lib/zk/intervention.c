/*
 * Interventions of another client in a contender: request its release, or delete its node.
 *
 * ZooKeeper can make a write depend on the number of writes to a node, not on the identity of the node. So the node is
 * read first, and must be the one that was listed, by its czxid. Then the write is tied to the version that was read.
 * Only a node of the same name that was created, and written to as often, between that answer and the write could be
 * mistaken for it. A name of ours is never used again.
 */

#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/core/path.h"
#include "lib/revocation.h"
#include "lib/zk/account.h"
#include "lib/zk/code.h"
#include "lib/zk/exchange.h"
#include "lib/zk/listing.h"
#include <string.h>

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
};

/* One request and its answer. A request that was not sent, or whose answer was lost, is made again. */
static int ask(struct intervention *v, const struct pdk__inquiry *q, int64_t deadline_ms, int *zrc, struct Stat *stat)
{
    struct pdk__exchange *x;
    int rc = pdk__exchange_begin(v->client, q, NULL, NULL, &x);
    if (rc != 0)
        return rc;
    rc = pdk__exchange_await(x, deadline_ms);
    *zrc = x->zrc;
    *stat = x->stat;
    bool unsure = rc == 0 ? pdk__meaning_of(*zrc) == PDK__UNSURE : rc == PDK_ETIMEDOUT;
    v->unsure = v->unsure || (unsure && q->kind != PDK__REQUEST_EXISTS);
    pdk__exchange_unref(x);
    if (rc == 0)
        rc = pdk__error_of(*zrc);
    return rc == PDK_EUNKNOWN ? PDK_EDISCONNECTED : rc;
}

/* The version of the node, if it is still the intended one. */
static int look(struct intervention *v, int64_t deadline_ms, int *version)
{
    int zrc;
    struct Stat stat;
    int rc = ask(v, &(struct pdk__inquiry){.kind = PDK__REQUEST_EXISTS, .path = v->node}, deadline_ms, &zrc, &stat);
    if (rc == 0 && stat.czxid != v->token)
        rc = PDK_ENOENT;
    *version = rc == 0 ? stat.version : -1;
    return rc;
}

static int put(struct intervention *v, int64_t deadline_ms, int version)
{
    int zrc = ZOK;
    struct Stat stat;
    struct pdk__inquiry q = {.kind = v->remove ? PDK__REQUEST_DELETE : PDK__REQUEST_SET,
                             .path = v->node,
                             .data = v->word,
                             .size = version == v->listed_version ? v->size : strlen(PDK__REVOKE),
                             .version = version};
    int rc = ask(v, &q, deadline_ms, &zrc, &stat);
    return rc != 0 && zrc == ZBADVERSION ? PDK__TRY_AGAIN : rc;
}

static int attempt(void *arg, int64_t deadline_ms)
{
    struct intervention *v = arg;
    int version;
    int rc = look(v, deadline_ms, &version);
    if (rc == 0)
        rc = put(v, deadline_ms, version);
    /* Deleted after a delete whose answer was lost: by that delete or otherwise. */
    return rc == PDK_ENOENT && v->remove && v->unsure ? 0 : rc;
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
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    v.node = pdk__join(list->path, pdk_contender_text(list, i, PDK_CONTENDER_NAME));
    compose(&v, &list->items[i]);
    if (v.node == NULL || v.word == NULL)
        rc = PDK_ENOMEM;
    else
        rc = v.token != 0 ? pdk__exchange_until(c, deadline_ms, attempt, &v) : PDK_EACCES;
    if (rc == PDK_ETIMEDOUT && v.unsure)
        rc = PDK_EUNKNOWN;
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
