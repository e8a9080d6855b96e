#include "lib/zk/exchange.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/transaction.h"

/* The request: of one operation, or of a transaction. */
struct plain {
    struct pdk__request base;
    struct pdk__exchange *exchange;
};

struct guarded {
    struct pdk__transaction transaction;
    struct pdk__exchange *exchange;
};

void pdk__exchange_unref(struct pdk__exchange *x)
{
    assert(pdk__client_locked(x->client) && x->refs > 0);
    if (--x->refs > 0)
        return;
    pthread_cond_destroy(&x->news);
    pdk__free(x->data);
    pdk__free(x);
}

static void tell(struct pdk__exchange *x, int zrc)
{
    assert(!x->answered);
    x->answered = true;
    x->zrc = zrc;
    pthread_cond_broadcast(&x->news);
    if (x->heard != NULL)
        x->heard(x, x->arg);
}

/* The request has ended. */
static void answer(struct pdk__exchange *x, int zrc)
{
    if (!x->answered)
        tell(x, zrc);
    pdk__exchange_unref(x);
}

/* --- one operation ----------------------------------------------------------------------------------------------- */

static void forget_plain(struct pdk__request *base)
{
    struct pdk__exchange *x = PDK__MEMBER(base, struct plain, base)->exchange;
    pdk__request_end(base);
    answer(x, ZCONNECTIONLOSS);
}

static void arrived(int zrc, const char *data, int size, const struct Stat *stat, const void *request)
{
    struct plain *p = (struct plain *)request;
    struct pdk__exchange *x = p->exchange;
    struct pdk_client *c = pdk__request_arrive(&p->base, zrc);
    if (zrc == ZOK && stat != NULL)
        x->stat = *stat;
    if (zrc == ZOK && size > 0) { /* -1 for no data */
        x->size = (size_t)size;
        x->data = pdk__memdup(data, x->size);
        zrc = x->data != NULL ? ZOK : ZSYSTEMERROR;
    }
    pdk__request_end(&p->base);
    answer(x, zrc);
    pdk__request_depart(c);
}

static void seen(int zrc, const struct Stat *stat, const void *request) { arrived(zrc, NULL, 0, stat, request); }
static void deleted(int zrc, const void *request) { arrived(zrc, NULL, 0, NULL, request); }

static int call(zhandle_t *zh, const struct pdk__inquiry *q, struct plain *p)
{
    switch (q->kind) {
    case PDK__REQUEST_EXISTS:
        return zoo_aexists(zh, q->path, 0, seen, p);
    case PDK__REQUEST_READ:
        return zoo_aget(zh, q->path, 0, arrived, p);
    case PDK__REQUEST_SET:
        return zoo_aset(zh, q->path, q->data, (int)q->size, q->version, seen, p);
    default:
        assert(q->kind == PDK__REQUEST_DELETE);
        return zoo_adelete(zh, q->path, q->version, deleted, p);
    }
}

/* 0, or why it was not sent. */
static int send_plain(struct pdk__exchange *x, const struct pdk__inquiry *q)
{
    struct plain *p = pdk__request_begin(x->client, sizeof *p, forget_plain);
    if (p == NULL)
        return PDK_ENOMEM;
    p->exchange = x;
    p->base.writes = q->kind == PDK__REQUEST_SET || q->kind == PDK__REQUEST_DELETE;
    int zrc = call(x->client->zh, q, p);
    if (zrc == ZOK)
        return 0;
    pdk__request_end(&p->base);
    return pdk__meaning_of(zrc) == PDK__FINAL ? pdk__error_of(zrc) : PDK_EDISCONNECTED;
}

/* --- a write under guards ---------------------------------------------------------------------------------------- */

static void forget_guarded(struct pdk__request *base)
{
    struct guarded *g = PDK__MEMBER(base, struct guarded, transaction.base);
    struct pdk__exchange *x = g->exchange;
    pdk__transaction_end(&g->transaction);
    if (x != NULL)
        answer(x, ZCONNECTIONLOSS);
}

static void committed(int zrc, const void *request)
{
    struct guarded *g = (struct guarded *)request;
    struct pdk__exchange *x = g->exchange;
    struct pdk_client *c = pdk__request_arrive(&g->transaction.base, zrc);
    x->unguarded = zrc == ZNONODE && pdk__transaction_refused(&g->transaction) + 1 < g->transaction.n;
    pdk__transaction_end(&g->transaction);
    answer(x, zrc);
    pdk__request_depart(c);
}

static bool add_write(struct guarded *g, const struct pdk__inquiry *q, const struct ACL_vector *acl)
{
    switch (q->kind) {
    case PDK__REQUEST_SET:
        return pdk__transaction_set(&g->transaction, q->path, q->data, q->size, q->version, &g->exchange->stat);
    case PDK__REQUEST_CREATE:
        return pdk__transaction_create(&g->transaction, q->path, q->data, q->size, acl, ZOO_PERSISTENT, NULL, 0);
    default:
        assert(q->kind == PDK__REQUEST_DELETE);
        return pdk__transaction_delete(&g->transaction, q->path, q->version);
    }
}

static int send_guarded(struct pdk__exchange *x, const struct pdk__inquiry *q)
{
    struct ACL_vector acl = pdk__options_acl(&x->client->options);
    struct guarded *g = pdk__transaction_begin(x->client, sizeof *g, q->n_guards + 1, forget_guarded);
    bool complete = g != NULL;
    if (g != NULL)
        g->exchange = x;
    for (unsigned i = 0; i < q->n_guards; i++)
        complete = complete && pdk__transaction_check(&g->transaction, q->guards[i]);
    complete = complete && add_write(g, q, &acl);
    if (complete && pdk__transaction_send(&g->transaction, committed))
        return 0;
    if (g != NULL)
        pdk__transaction_end(&g->transaction);
    return complete ? PDK_EDISCONNECTED : PDK_ENOMEM;
}

/* --- a handle that stays ----------------------------------------------------------------------------------------- */

static struct pdk__exchange *exchange_of(struct pdk__request *base)
{
    if (base->forget == forget_plain)
        return PDK__MEMBER(base, struct plain, base)->exchange;
    return base->forget == forget_guarded ? PDK__MEMBER(base, struct guarded, transaction.base)->exchange : NULL;
}

/* ZooKeeper's client can still write a result into the exchange, which is kept for that. At the end of a session it may
 * forget to answer (ZOOKEEPER-2802). */
void pdk__exchange_give_up_all(struct pdk_client *c)
{
    assert(pdk__client_locked(c) && c->adopted && (c->closing || c->over != 0));
    PDK__LIST_EACH (link, &c->requests) {
        struct pdk__exchange *x = exchange_of(PDK__MEMBER(link, struct pdk__request, link));
        if (x != NULL && !x->answered)
            tell(x, ZCONNECTIONLOSS);
    }
}

/* --- for its caller ---------------------------------------------------------------------------------------------- */

int pdk__exchange_begin(struct pdk_client *c, const struct pdk__inquiry *inquiry,
                        void (*heard)(struct pdk__exchange *x, void *arg), void *arg, struct pdk__exchange **out)
{
    assert(pdk__client_locked(c) && (inquiry->kind != PDK__REQUEST_CREATE || inquiry->n_guards > 0));
    if (c->zh == NULL || c->session.phase != PDK__SESSION_CONNECTED)
        return PDK_EDISCONNECTED;
    struct pdk__exchange *x = pdk__alloc(sizeof *x);
    if (x == NULL || pdk__cond_init(&x->news) != 0) {
        pdk__free(x);
        return PDK_ENOMEM;
    }
    x->client = c;
    x->refs = 2;
    x->heard = heard;
    x->arg = arg;
    int rc = (inquiry->n_guards > 0 ? send_guarded : send_plain)(x, inquiry);
    if (rc == 0) {
        *out = x;
        return 0;
    }
    x->refs = 1;
    pdk__exchange_unref(x);
    return rc;
}

int pdk__exchange_await(struct pdk__exchange *x, int64_t deadline_ms)
{
    int rc = 0;
    while (!x->answered && rc == 0)
        rc = pdk__client_await_answer(x->client, &x->news, deadline_ms);
    return rc;
}

int pdk__exchange_until(struct pdk_client *c, int64_t deadline_ms, int (*attempt)(void *arg, int64_t deadline_ms),
                        void *arg)
{
    int rc;
    while ((rc = pdk__client_may_wait(c)) == 0) {
        rc = attempt(arg, deadline_ms);
        if (rc != PDK_EDISCONNECTED && rc != PDK__TRY_AGAIN)
            break;
        if (rc == PDK_EDISCONNECTED) /* the session will report the next one */
            rc = pdk__client_await_answer(c, &c->changed, deadline_ms);
        else
            rc = pdk__now_ms() >= deadline_ms ? PDK_ETIMEDOUT : 0;
        if (rc != 0)
            break;
    }
    return rc;
}
