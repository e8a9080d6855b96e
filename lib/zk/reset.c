#include "lib/zk/reset.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/request.h"
#include "lib/zk/wire.h"
#include <string.h>

enum { OPS = 2 };

/* The transaction carries the data, and jute.maxbuffer is 1 MiB by default. */
enum { DATA_MAX = 512 * 1024 };

/* Shared by its requests. */
struct reset {
    unsigned refs;
    char *path;
    char *value; /* the data; NULL: none */
    int size;
    int32_t version; /* at which they were read; -1: they were not */
};

struct question {
    struct pdk__request base;
    struct reset *reset;
    zoo_op_t ops[OPS];
    zoo_op_result_t results[OPS];
};

/* --- one of its requests ----------------------------------------------------------------------------------------- */

static void unref(struct reset *r)
{
    if (--r->refs > 0)
        return;
    pdk__free(r->path);
    pdk__free(r->value);
    pdk__free(r);
}

static void end(struct question *q)
{
    unref(q->reset);
    pdk__request_end(&q->base);
}

static void forget(struct pdk__request *base) { end(PDK__MEMBER(base, struct question, base)); }

static struct question *begin(struct pdk_client *c, struct reset *r, bool writes)
{
    struct question *q = pdk__request_begin(c, sizeof *q, forget);
    if (q == NULL)
        return NULL;
    q->base.writes = writes;
    q->reset = r;
    r->refs++;
    return q;
}

static struct question *arrive(const void *data, int zrc)
{
    struct question *q = (struct question *)data;
    pdk__request_arrive(&q->base, zrc);
    return q;
}

static void depart(struct question *q)
{
    struct pdk_client *c = q->base.client;
    end(q);
    pdk__request_depart(c);
}

/* --- the transaction --------------------------------------------------------------------------------------------- */

static void made_anew(int zrc, const void *data) { depart(arrive(data, zrc)); }

static void make_anew(struct pdk_client *c, struct reset *r, const struct ACL_vector *acl)
{
    struct question *q = begin(c, r, true);
    if (q == NULL)
        return;
    zoo_delete_op_init(&q->ops[0], r->path, r->version);
    zoo_create_op_init(&q->ops[1], r->path, r->value != NULL ? r->value : "", r->size, acl, ZOO_PERSISTENT, NULL, 0);
    if (zoo_state(c->zh) != ZOO_CONNECTED_STATE || zoo_amulti(c->zh, OPS, q->ops, q->results, made_anew, q) != ZOK)
        end(q);
}

/* --- the two looks ----------------------------------------------------------------------------------------------- */

static void was_read(int zrc, const char *value, int length, const struct Stat *stat, const void *data)
{
    struct question *q = arrive(data, zrc);
    struct reset *r = q->reset;
    bool known = zrc == ZOK && length <= DATA_MAX;
    if (known && length > 0) {
        r->value = pdk__alloc((size_t)length);
        known = r->value != NULL;
    }
    if (known) {
        r->size = length > 0 ? length : 0;
        r->version = stat->version;
    }
    if (r->value != NULL)
        memcpy(r->value, value, (size_t)length);
    depart(q);
}

static bool begins(const struct reset *r, const char *text)
{
    size_t length = strlen(text);
    return (size_t)r->size >= length && memcmp(r->value, text, length) == 0;
}

static bool has_young_record(const struct reset *r)
{
    bool record = r->value != NULL && (begins(r, PDK__HELD_BY) || begins(r, PDK__FREE));
    return record && (uint32_t)r->version < PDK__RESET_RECORDS_MIN;
}

/* The only child that may be there is the caller's. */
static void seen(int zrc, struct ACL_vector *acl, struct Stat *stat, const void *data)
{
    struct question *q = arrive(data, zrc);
    struct reset *r = q->reset;
    if (zrc == ZOK && stat->numChildren <= 1 && stat->version == r->version && !has_young_record(r))
        make_anew(q->base.client, r, acl);
    depart(q);
}

static bool read_data(struct pdk_client *c, struct reset *r)
{
    struct question *q = begin(c, r, false);
    bool sent = q != NULL && zoo_aget(c->zh, r->path, 0, was_read, q) == ZOK;
    if (q != NULL && !sent)
        end(q);
    return sent;
}

static void look(struct pdk_client *c, struct reset *r)
{
    struct question *q = begin(c, r, false);
    if (q != NULL && zoo_aget_acl(c->zh, r->path, seen, q) != ZOK)
        end(q);
}

void pdk__reset_path(struct pdk_client *c, const char *path)
{
    assert(pdk__client_locked(c) && path[0] == '/');
    struct reset *r = pdk__alloc(sizeof *r);
    if (r == NULL)
        return;
    r->refs = 1;
    r->version = -1;
    r->path = pdk__strdup(path);
    if (r->path != NULL && read_data(c, r))
        look(c, r);
    unref(r);
}
