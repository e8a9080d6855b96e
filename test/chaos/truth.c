#include "test/chaos/truth.h"

#include "test/chaos/txnlog.h"
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
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

static void add(struct truth *t, const char *name, const struct txn *txn)
{
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

/* The newest are the likeliest: from the end. */
static void remove_name(struct truth *t, const char *name, const struct txn *txn)
{
    for (size_t i = t->n; i-- > 0;) {
        struct znode *z = &t->nodes[i];
        if (z->ending == STAYED && strcmp(z->name, name) == 0) {
            finish(z, txn, txn->session == z->owner ? BY_OWNER : BY_ANOTHER);
            return;
        }
    }
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

/* --- three logs -------------------------------------------------------------------------------------------------- */

struct entry {
    struct txn txn;
    int server, part; /* a multi's parts have one zxid */
    char path[192];
};

struct entries {
    struct entry *list;
    size_t n, cap;
    int server;
    int64_t last_zxid;
    int part;
};

static void collect(const struct txn *txn, void *arg)
{
    struct entries *all = arg;
    if (all->n == all->cap) {
        all->cap = all->cap > 0 ? 2 * all->cap : 4096;
        all->list = realloc(all->list, all->cap * sizeof *all->list);
        if (all->list == NULL)
            abort();
    }
    all->part = txn->zxid == all->last_zxid ? all->part + 1 : 0;
    all->last_zxid = txn->zxid;
    struct entry *e = &all->list[all->n++];
    *e = (struct entry){.txn = *txn, .server = all->server, .part = all->part};
    snprintf(e->path, sizeof e->path, "%.*s", (int)txn->path_size, txn->path != NULL ? txn->path : "");
}

static int by_zxid(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->txn.zxid != y->txn.zxid)
        return x->txn.zxid < y->txn.zxid ? -1 : 1;
    return x->part != y->part ? x->part - y->part : x->server - y->server;
}

static bool read_server(struct entries *all, const char *dir)
{
    DIR *d = opendir(dir);
    bool is_good = d != NULL;
    for (struct dirent *e; is_good && (e = readdir(d)) != NULL;) {
        char file[PATH_MAX + 256];
        if (strncmp(e->d_name, "log.", 4) != 0)
            continue;
        snprintf(file, sizeof file, "%.4000s/%s", dir, e->d_name);
        all->last_zxid = -1;
        is_good = txnlog_read(file, collect, all) >= 0;
    }
    if (d != NULL)
        closedir(d);
    return is_good;
}

/* In two logs: of different servers, for one server can have it twice, too. */
static void replay(struct truth *t, const struct entries *all, const char *path, int n_servers)
{
    for (size_t i = 0, end; i < all->n; i = end) {
        int n = 1;
        for (end = i + 1; end < all->n && all->list[end].txn.zxid == all->list[i].txn.zxid &&
                          all->list[end].part == all->list[i].part;
             end++)
            n += all->list[end].server != all->list[end - 1].server;
        if (2 * n <= n_servers) {
            t->n_discarded++;
            continue;
        }
        struct txn txn = all->list[i].txn;
        txn.path = all->list[i].path;
        txn.path_size = strlen(txn.path);
        t->n_txns += all->list[i].part == 0;
        truth_apply(t, path, &txn);
    }
}

bool truth_read(struct truth *t, const char *dir, const char *path)
{
    struct entries all = {0};
    bool is_good = true;
    *t = (struct truth){0};
    for (; is_good; all.server++) {
        char server[PATH_MAX];
        snprintf(server, sizeof server, "%s/server-%d", dir, all.server);
        DIR *d = opendir(server);
        if (d == NULL)
            break;
        closedir(d);
        is_good = read_server(&all, server);
    }
    if (all.n > 0) {
        qsort(all.list, all.n, sizeof *all.list, by_zxid);
        replay(t, &all, path, all.server);
    }
    free(all.list);
    return is_good && all.n > 0;
}

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
