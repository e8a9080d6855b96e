/* Three servers' logs made one. */
#include "test/chaos/truth.h"

#include "test/chaos/txnlog.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SNAPSHOTS_MAX = 4096 };

struct entry {
    struct txn txn;
    int server, part; /* a multi's parts have one zxid */
    bool happened;
    char path[192];
    char *data; /* NULL: none */
};

struct snapshot {
    int64_t zxid, ms;
};

struct entries {
    struct entry *list;
    size_t n, cap;
    struct snapshot snapshots[SNAPSHOTS_MAX];
    size_t n_snapshots;
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
    if (txn->data != NULL && (e->data = strndup(txn->data, txn->data_size)) == NULL)
        abort();
}

static int by_zxid(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->txn.zxid != y->txn.zxid)
        return x->txn.zxid < y->txn.zxid ? -1 : 1;
    return x->part != y->part ? x->part - y->part : x->server - y->server;
}

static void note_snapshot(struct entries *all, const char *file, const char *name)
{
    struct stat st;
    if (all->n_snapshots == SNAPSHOTS_MAX || stat(file, &st) != 0)
        return;
    all->snapshots[all->n_snapshots++] = (struct snapshot){
        .zxid = strtoll(strchr(name, '.') + 1, NULL, 16),
        .ms = st.st_mtim.tv_sec * INT64_C(1000) + st.st_mtim.tv_nsec / 1000000,
    };
}

static bool read_server(struct entries *all, const char *dir)
{
    DIR *d = opendir(dir);
    bool is_good = d != NULL;
    for (struct dirent *e; is_good && (e = readdir(d)) != NULL;) {
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%.3800s/%s", dir, e->d_name);
        all->last_zxid = -1;
        if (strncmp(e->d_name, "snapshot.", 9) == 0)
            note_snapshot(all, file, e->d_name);
        else if (strncmp(e->d_name, "log.", 4) == 0)
            is_good = txnlog_read(file, collect, all) >= 0;
    }
    if (d != NULL)
        closedir(d);
    return is_good;
}

/* The last transaction that the leader of the epoch that began with FIRST had then: the snapshot that was written last
 * before it. */
static int64_t base_of(const struct entries *all, const struct txn *first)
{
    const struct snapshot *last = NULL;
    for (size_t i = 0; i < all->n_snapshots; i++) {
        const struct snapshot *s = &all->snapshots[i];
        if (truth_epoch(s->zxid) < truth_epoch(first->zxid) && s->ms <= first->time_ms &&
            (last == NULL || s->ms >= last->ms))
            last = s;
    }
    return last != NULL ? last->zxid : INT64_MAX;
}

/* The entries of one transaction, from I on; in how many logs they are. One server can have a transaction twice,
 * too. */
static size_t same(const struct entries *all, size_t i, int *n_logs)
{
    size_t end = i + 1;
    *n_logs = 1;
    for (; end < all->n && all->list[end].txn.zxid == all->list[i].txn.zxid && all->list[end].part == all->list[i].part;
         end++)
        *n_logs += all->list[end].server != all->list[end - 1].server;
    return end;
}

/* From the end: each epoch that begins discards the transactions that its leader did not have. */
static void discard(struct entries *all, int n_servers)
{
    int64_t base = INT64_MAX, current = INT64_MAX;
    for (size_t end = all->n; end > 0;) {
        int n_logs;
        size_t i = end - 1;
        while (i > 0 && all->list[i - 1].txn.zxid == all->list[i].txn.zxid &&
               all->list[i - 1].part == all->list[i].part)
            i--;
        same(all, i, &n_logs);
        const struct txn *txn = &all->list[i].txn;
        bool happened = 2 * n_logs > n_servers && (truth_epoch(txn->zxid) >= current || txn->zxid <= base);
        for (size_t j = i; j < end; j++)
            all->list[j].happened = happened;
        if (happened) {
            current = truth_epoch(txn->zxid);
            base = base_of(all, txn);
        }
        end = i;
    }
}

static void replay(struct truth *t, const struct entries *all)
{
    int n_logs;
    for (size_t i = 0; i < all->n; i = same(all, i, &n_logs)) {
        if (!all->list[i].happened) {
            t->n_discarded++;
            continue;
        }
        struct txn txn = all->list[i].txn;
        txn.path = all->list[i].path;
        txn.path_size = strlen(txn.path);
        txn.data = all->list[i].data;
        txn.data_size = txn.data != NULL ? strlen(txn.data) : 0;
        t->n_txns += all->list[i].part == 0;
        truth_apply(t, &txn);
    }
}

bool truth_read(struct truth *t, const char *dir)
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
        discard(&all, all.server);
        replay(t, &all);
    }
    for (size_t i = 0; i < all.n; i++)
        free(all.list[i].data);
    free(all.list);
    return is_good && all.n > 0;
}
