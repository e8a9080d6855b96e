#include "lib/zk/reset.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/request.h"

enum { OPS = 2 };

struct reset {
    struct pdk__request base;
    char *path;
    zoo_op_t ops[OPS];
    zoo_op_result_t results[OPS];
};

static void end(struct reset *r)
{
    pdk__request_untrack(&r->base);
    pdk__free(r->path);
    pdk__free(r);
}

static void forget(struct pdk__request *base) { end(PDK__MEMBER(base, struct reset, base)); }

static struct reset *begin(struct pdk_client *c, const char *path, bool writes)
{
    struct reset *r = c->zh != NULL ? pdk__alloc(sizeof *r) : NULL;
    if (r == NULL)
        return NULL;
    pdk__request_track(&r->base, c, forget);
    r->base.writes = writes;
    r->path = pdk__strdup(path);
    if (r->path != NULL)
        return r;
    end(r);
    return NULL;
}

static void made_anew(int zrc, const void *data)
{
    struct reset *r = (struct reset *)data;
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    end(r);
    pdk__request_depart(c);
}

static void make_anew(struct pdk_client *c, const char *path, int32_t version, const struct ACL_vector *acl)
{
    struct reset *r = begin(c, path, true);
    if (r == NULL)
        return;
    zoo_delete_op_init(&r->ops[0], r->path, version);
    zoo_create_op_init(&r->ops[1], r->path, "", 0, acl, ZOO_PERSISTENT, NULL, 0);
    if (zoo_state(c->zh) != ZOO_CONNECTED_STATE || zoo_amulti(c->zh, OPS, r->ops, r->results, made_anew, r) != ZOK)
        end(r);
}

/* The only child that may be there is the caller's. */
static void seen(int zrc, struct ACL_vector *acl, struct Stat *stat, const void *data)
{
    struct reset *r = (struct reset *)data;
    struct pdk_client *c = pdk__request_arrive(&r->base, zrc);
    if (zrc == ZOK && stat->dataLength == 0 && stat->numChildren <= 1)
        make_anew(c, r->path, stat->version, acl);
    end(r);
    pdk__request_depart(c);
}

void pdk__reset_path(struct pdk_client *c, const char *path)
{
    assert(pdk__client_locked(c) && path[0] == '/');
    struct reset *r = begin(c, path, false);
    if (r != NULL && zoo_aget_acl(c->zh, r->path, seen, r) != ZOK)
        end(r);
}
