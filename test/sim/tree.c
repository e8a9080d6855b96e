#include "test/sim/tree.h"
#include "lib/core/order.h"
#include "lib/zk/reset.h"
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void clear_dir(struct dir *dir) { memset(dir, 0, offsetof(struct dir, nodes)); }

void tree_clear(struct tree *t)
{
    t->zxid = 0;
    t->alive = 0;
    for (int i = 0; i < PATHS; i++)
        clear_dir(&t->dirs[i]);
}

void tree_copy(struct tree *to, const struct tree *from)
{
    to->zxid = from->zxid;
    to->alive = from->alive;
    for (int i = 0; i < PATHS; i++)
        memcpy(&to->dirs[i], &from->dirs[i],
               offsetof(struct dir, nodes) + (size_t)from->dirs[i].n * sizeof *from->dirs[i].nodes);
}

struct node *tree_find(struct tree *t, int path, const char *name)
{
    struct dir *dir = &t->dirs[path];
    for (int i = 0; i < dir->n; i++)
        if (strcmp(dir->nodes[i].name, name) == 0)
            return &dir->nodes[i];
    return NULL;
}

static void create(struct tree *t, const struct txn *txn)
{
    struct dir *dir = &t->dirs[txn->path];
    if (dir->n == NODES_MAX) {
        fputs("sim: too many nodes\n", stderr);
        abort();
    }
    struct node *node = &dir->nodes[dir->n++];
    strcpy(node->name, txn->name);
    node->sequence = pdk__name_parse(node->name).sequence;
    node->owner = txn->kind == TXN_LEAVE_WORD ? -1 : txn->session;
    node->version = 0;
    node->czxid = node->mzxid = txn->zxid;
    node->mtime_ms = txn->time_ms;
    node->planted = txn->kind == TXN_PLANT;
    node->parent = node->planted && !isdigit((unsigned char)node->name[strlen(node->name) - 1]);
    node->data = DATA_OWN;
    node->secret = txn->secret;
    dir->used = true;
    dir->pzxid = txn->zxid;
    if (dir->counter < INT32_MAX) /* the counter stops there (ZOOKEEPER-3249) */
        dir->counter++;
    else if (dir->wraps)
        dir->counter = INT32_MIN;
}

struct txn txn_part(const struct txn *txn, int i)
{
    struct txn part = *txn;
    part.n_also = 0;
    part.also = NULL;
    if (i == 0)
        return part;
    part.path = txn->also[i - 1].path;
    strcpy(part.name, txn->also[i - 1].name);
    return part;
}

/* The children are not listed in the order of their creation: the server lists them in its hash table's order. */
static void remove_node(struct tree *t, struct dir *dir, int i)
{
    dir->nodes[i] = dir->nodes[--dir->n];
    dir->pzxid = t->zxid;
}

static void close_session(struct tree *t, session_index s)
{
    t->alive &= ~(UINT64_C(1) << s);
    for (int p = 0; p < PATHS; p++)
        for (int i = t->dirs[p].n - 1; i >= 0; i--)
            if (t->dirs[p].nodes[i].owner == s)
                remove_node(t, &t->dirs[p], i);
}

void tree_apply(struct tree *t, const struct txn *txn)
{
    struct node *node;
    t->zxid = txn->zxid;
    switch (txn->kind) {
    case TXN_ERROR:
        break;
    case TXN_CREATE:
    case TXN_LEAVE_WORD:
    case TXN_PLANT:
        for (int i = 0; i <= txn->n_also; i++) {
            struct txn part = txn_part(txn, i);
            create(t, &part);
        }
        break;
    case TXN_DELETE:
        for (int i = 0; i <= txn->n_also; i++) {
            struct txn part = txn_part(txn, i);
            node = tree_find(t, part.path, part.name);
            remove_node(t, &t->dirs[part.path], (int)(node - t->dirs[part.path].nodes));
        }
        break;
    case TXN_SET:
        node = tree_find(t, txn->path, txn->name);
        node->mzxid = txn->zxid;
        node->mtime_ms = txn->time_ms;
        node->data = txn->data;
        node->version++;
        break;
    case TXN_RECORD:
        strcpy(t->dirs[txn->path].record, txn->name);
        t->dirs[txn->path].version++;
        t->dirs[txn->path].mzxid = txn->zxid;
        break;
    case TXN_WRITE:
        if (!t->dirs[txn->path].exists)
            clear_dir(&t->dirs[txn->path]);
        else
            t->dirs[txn->path].version++;
        t->dirs[txn->path].exists = true;
        t->dirs[txn->path].text = txn->text;
        t->dirs[txn->path].size = txn->size;
        t->dirs[txn->path].mtime_ms = txn->time_ms;
        t->dirs[txn->path].mzxid = txn->zxid;
        break;
    case TXN_MAKE_DIR:
        clear_dir(&t->dirs[txn->path]);
        t->dirs[txn->path].exists = true;
        strcpy(t->dirs[txn->path].record, txn->name);
        t->dirs[txn->path].counter = txn->counter;
        t->dirs[txn->path].version = txn->counter != 0 ? PDK__RESET_RECORDS_MIN : 0; /* as old as its numbers */
        t->dirs[txn->path].wraps = txn->wraps;
        t->dirs[txn->path].mzxid = t->dirs[txn->path].pzxid = txn->zxid;
        break;
    case TXN_REMOVE_DIR:
        t->dirs[txn->path].exists = false;
        break;
    case TXN_OPEN_SESSION:
        t->alive |= UINT64_C(1) << txn->session;
        break;
    case TXN_CLOSE_SESSION:
        close_session(t, txn->session);
        break;
    }
}
