#include "test/chaos/truth.h"

#include "test/chaos/txnlog.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- replay ------------------------------------------------------------------------------------------------------ */

static bool ends_in_ten_digits(const char *name)
{
    size_t n = strlen(name);
    if (n <= 10)
        return false;
    for (size_t i = n - 10; i < n; i++)
        if (!isdigit((unsigned char)name[i]))
            return false;
    return true;
}

/* The name under PATH, or NULL. */
static const char *child(const char *path, const struct txn *txn, char name[128])
{
    size_t n = strlen(path);
    if (txn->path == NULL || txn->path_size <= n + 1 || memcmp(txn->path, path, n) != 0 || txn->path[n] != '/')
        return NULL;
    snprintf(name, 128, "%.*s", (int)(txn->path_size - n - 1), txn->path + n + 1);
    return strchr(name, '/') == NULL ? name : NULL;
}

static struct znode *find_living(struct truth *t, const char *name)
{
    for (size_t i = t->n; i-- > 0;)
        if (t->nodes[i].ending == STAYED && strcmp(t->nodes[i].name, name) == 0)
            return &t->nodes[i];
    return NULL;
}

static void add(struct truth *t, const char *name, const struct txn *txn)
{
    t->n_contradictions += find_living(t, name) != NULL;
    if (t->n == t->cap) {
        t->cap = t->cap > 0 ? 2 * t->cap : 256;
        t->nodes = realloc(t->nodes, t->cap * sizeof *t->nodes);
        if (t->nodes == NULL)
            abort();
    }
    struct znode *z = &t->nodes[t->n++];
    *z = (struct znode){.is_contender = ends_in_ten_digits(name),
                        .owner = txn->is_ephemeral ? txn->session : 0,
                        .czxid = txn->zxid,
                        .created_ms = txn->time_ms,
                        .gone_zxid = INT64_MAX,
                        .gone_ms = INT64_MAX};
    snprintf(z->name, sizeof z->name, "%s", name);
}

static void finish(struct znode *z, const struct txn *txn, enum ending ending)
{
    z->gone_zxid = txn->zxid;
    z->gone_ms = txn->time_ms;
    z->gone_cxid = txn->cxid;
    z->ending = ending;
}

static void remove_name(struct truth *t, const char *name, const struct txn *txn)
{
    struct znode *z = find_living(t, name);
    if (z != NULL)
        finish(z, txn, txn->session == z->owner ? BY_OWNER : BY_ANOTHER);
    else
        t->n_contradictions++;
}

/* The leader ends a session whose time is over in a request that has no number. */
static void remove_session(struct truth *t, const struct txn *txn)
{
    for (size_t i = 0; i < t->n; i++) {
        struct znode *z = &t->nodes[i];
        if (z->ending == STAYED && z->owner != 0 && z->owner == txn->session)
            finish(z, txn, txn->cxid == 0 ? BY_EXPIRY : BY_CLOSE);
    }
}

void truth_apply(struct truth *t, const char *path, const struct txn *txn)
{
    char name[128];
    switch (txn->type) {
    case TXN_CREATE:
    case TXN_CREATE2:
    case TXN_CREATE_CONTAINER:
    case TXN_CREATE_TTL:
        if (child(path, txn, name) != NULL)
            add(t, name, txn);
        break;
    case TXN_DELETE:
    case TXN_DELETE_CONTAINER:
        if (child(path, txn, name) != NULL)
            remove_name(t, name, txn);
        break;
    case TXN_CLOSE_SESSION:
        remove_session(t, txn);
        break;
    }
}

/* --- questions --------------------------------------------------------------------------------------------------- */

void truth_free(struct truth *t)
{
    free(t->nodes);
    *t = (struct truth){0};
}

const struct znode *truth_find(const struct truth *t, int64_t czxid)
{
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (t->nodes[mid].czxid < czxid)
            low = mid + 1;
        else
            high = mid;
    }
    return low < t->n && t->nodes[low].czxid == czxid ? &t->nodes[low] : NULL;
}
