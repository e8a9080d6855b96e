#include "lib/zk/transaction.h"
#include "lib/alloc.h"
#include "lib/assert.h"

void *pdk__transaction_begin(struct pdk_client *c, size_t size, unsigned n, void (*forget)(struct pdk__request *))
{
    assert(n > 0 && size >= sizeof(struct pdk__transaction));
    struct pdk__transaction *t = pdk__request_begin(c, size, forget);
    if (t == NULL)
        return NULL;
    t->base.writes = true;
    t->n_max = n;
    t->paths = pdk__alloc(n * sizeof *t->paths);
    t->ops = pdk__alloc(n * sizeof *t->ops);
    t->results = pdk__alloc(n * sizeof *t->results);
    if (t->paths != NULL && t->ops != NULL && t->results != NULL)
        return t;
    pdk__transaction_end(t);
    return NULL;
}

void pdk__transaction_end(struct pdk__transaction *t)
{
    for (unsigned i = 0; i < t->n; i++)
        pdk__free(t->paths[i]);
    pdk__free(t->paths);
    pdk__free(t->ops);
    pdk__free(t->results);
    pdk__request_end(&t->base);
}

/* --- operations -------------------------------------------------------------------------------------------------- */

static zoo_op_t *add(struct pdk__transaction *t, const char *path, const char **copy)
{
    assert(t->n < t->n_max);
    char *own = pdk__strdup(path);
    if (own == NULL)
        return NULL;
    *copy = t->paths[t->n] = own;
    return &t->ops[t->n++];
}

bool pdk__transaction_check(struct pdk__transaction *t, const char *path)
{
    zoo_op_t *op = add(t, path, &path);
    if (op != NULL)
        zoo_check_op_init(op, path, -1);
    return op != NULL;
}

bool pdk__transaction_set(struct pdk__transaction *t, const char *path, const void *data, size_t size, int32_t version,
                          struct Stat *stat)
{
    zoo_op_t *op = add(t, path, &path);
    if (op != NULL)
        zoo_set_op_init(op, path, data, (int)size, version, stat);
    return op != NULL;
}

bool pdk__transaction_delete(struct pdk__transaction *t, const char *path, int32_t version)
{
    zoo_op_t *op = add(t, path, &path);
    if (op != NULL)
        zoo_delete_op_init(op, path, version);
    return op != NULL;
}

bool pdk__transaction_create(struct pdk__transaction *t, const char *path, const void *data, size_t size,
                             const struct ACL_vector *acl, int mode, char *made, size_t made_size)
{
    assert(mode != ZOO_CONTAINER);
    zoo_op_t *op = add(t, path, &path);
    int buffer = made_size > 0 ? (int)made_size - 1 : 0; /* a zero is written after the last byte */
    if (op != NULL)
        zoo_create_op_init(op, path, data, (int)size, acl, mode, made, buffer);
    return op != NULL;
}

/* --- the call ---------------------------------------------------------------------------------------------------- */

/* Where the handle has ended in the call, ZooKeeper's client may have freed one of the paths, or more. */
static void leave_paths(struct pdk__transaction *t)
{
    for (unsigned i = 0; i < t->n && zoo_state(t->base.client->zh) < 0; i++)
        t->paths[i] = NULL;
}

bool pdk__transaction_send(struct pdk__transaction *t, void_completion_t completed)
{
    zhandle_t *zh = t->base.client->zh;
    assert(t->n > 0);
    if (zoo_state(zh) != ZOO_CONNECTED_STATE)
        return false;
    if (zoo_amulti(zh, (int)t->n, t->ops, t->results, completed, t) == ZOK)
        return true;
    leave_paths(t);
    return false;
}

unsigned pdk__transaction_refused(const struct pdk__transaction *t)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->results[i].err != ZOK && t->results[i].err != ZRUNTIMEINCONSISTENCY)
            return i;
    return 0;
}
