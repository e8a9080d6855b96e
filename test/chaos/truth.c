#include "test/chaos/truth.h"

#include "test/chaos/evidence.h"
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

/* The name under the lane's path, or NULL. */
static const char *child(enum lane lane, const struct txn *txn, char name[128])
{
    const char *path = lane_rules[lane].path;
    size_t n = strlen(path);
    if (txn->path == NULL || txn->path_size <= n + 1 || memcmp(txn->path, path, n) != 0 || txn->path[n] != '/')
        return NULL;
    snprintf(name, 128, "%.*s", (int)(txn->path_size - n - 1), txn->path + n + 1);
    return strchr(name, '/') == NULL ? name : NULL;
}

static struct znode *find_living(struct truth *t, enum lane lane, const char *name)
{
    for (size_t i = t->n; i-- > 0;)
        if (t->nodes[i].ending == STAYED && t->nodes[i].lane == lane && strcmp(t->nodes[i].name, name) == 0)
            return &t->nodes[i];
    return NULL;
}

static const char *number_of(const char *name) { return name + strlen(name) - 10; }

/* A writer that goes on as a reader makes a node with the number of its own. */
static int64_t rank_of(const struct truth *t, enum lane lane, const char *name, int64_t czxid)
{
    for (size_t i = t->n; i-- > 0 && ends_in_ten_digits(name);) {
        const struct znode *z = &t->nodes[i];
        if (z->ending == STAYED && z->lane == lane && ends_in_ten_digits(z->name) &&
            strcmp(number_of(z->name), number_of(name)) == 0)
            return z->rank;
    }
    return czxid;
}

static void add(struct truth *t, enum lane lane, const char *name, const struct txn *txn)
{
    int64_t rank = rank_of(t, lane, name, txn->zxid);
    t->n_contradictions += find_living(t, lane, name) != NULL;
    struct znode *z = evidence_grow((void **)&t->nodes, &t->n, &t->cap, sizeof *z);
    *z = (struct znode){.lane = lane,
                        .is_contender = ends_in_ten_digits(name) || lane_rules[lane].counts_all,
                        .rank = rank,
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

static void remove_name(struct truth *t, enum lane lane, const char *name, const struct txn *txn)
{
    struct znode *z = find_living(t, lane, name);
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

static bool is_record(const struct txn *txn)
{
    char path[64];
    snprintf(path, sizeof path, "%s.last-run", lane_rules[LANE_LOCK].path);
    return txn->data != NULL && txn->path_size == strlen(path) && memcmp(txn->path, path, txn->path_size) == 0;
}

static void add_run_write(struct truth *t, const struct txn *txn)
{
    struct run_write *w = &PUSH(&t->runs);
    *w = (struct run_write){
        .zxid = txn->zxid, .ms = txn->time_ms, .text = strndup(txn->data, txn->data_size), .size = txn->data_size};
    if (w->text == NULL)
        abort();
}

static void apply_in(struct truth *t, enum lane lane, const struct txn *txn)
{
    char name[128];
    switch (txn->type) {
    case TXN_CREATE:
    case TXN_CREATE2:
    case TXN_CREATE_CONTAINER:
    case TXN_CREATE_TTL:
        if (child(lane, txn, name) != NULL)
            add(t, lane, name, txn);
        break;
    case TXN_DELETE:
    case TXN_DELETE_CONTAINER:
        if (child(lane, txn, name) != NULL)
            remove_name(t, lane, name, txn);
        break;
    }
}

int64_t truth_epoch(int64_t zxid) { return zxid >> 32; }

void truth_apply(struct truth *t, const struct txn *txn)
{
    if (t->last_zxid > 0 && truth_epoch(txn->zxid) > truth_epoch(t->last_zxid))
        PUSH(&t->elections) = (struct election){.from_ms = t->last_ms, .until_ms = txn->time_ms};
    t->last_zxid = txn->zxid;
    t->last_ms = txn->time_ms;
    if (txn->type == TXN_CLOSE_SESSION)
        remove_session(t, txn);
    if (is_record(txn))
        add_run_write(t, txn);
    for (int lane = 0; lane < N_LANES; lane++)
        apply_in(t, (enum lane)lane, txn);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

void truth_free(struct truth *t)
{
    for (size_t i = 0; i < t->runs.n; i++)
        free(t->runs.list[i].text);
    free(t->runs.list);
    free(t->nodes);
    free(t->elections.list);
    *t = (struct truth){0};
}

const struct znode *truth_find(const struct truth *t, enum lane lane, int64_t czxid)
{
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (t->nodes[mid].czxid < czxid)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < t->n && t->nodes[low].czxid == czxid; low++)
        if (t->nodes[low].lane == lane)
            return &t->nodes[low];
    return NULL;
}

const struct znode *truth_find_name(const struct truth *t, enum lane lane, const char *name)
{
    for (size_t i = t->n; i-- > 0;)
        if (t->nodes[i].lane == lane && strcmp(t->nodes[i].name, name) == 0)
            return &t->nodes[i];
    return NULL;
}

/* Those before Z that it may have waited for, by the time when they went. */
static bool was_before(const struct znode *a, const struct znode *z)
{
    return a->lane == z->lane && a->is_contender && a->rank < z->rank && a->gone_zxid >= z->czxid;
}

/* The last to go among those that went before LIMIT, a node of that set; NULL: there is none. */
static const struct znode *last_before(const struct truth *t, const struct znode *z, const struct znode *limit)
{
    const struct znode *last = NULL;
    for (size_t i = 0; i < t->n; i++) {
        const struct znode *a = &t->nodes[i];
        bool is_earlier = limit == NULL || a->gone_ms < limit->gone_ms || (a->gone_ms == limit->gone_ms && a < limit);
        if (was_before(a, z) && is_earlier && (last == NULL || a->gone_ms >= last->gone_ms))
            last = a;
    }
    return last;
}

/* From the last one to go on, as many as fit beside it may have been there still. */
int64_t truth_first_ms(const struct truth *t, const struct znode *z, const struct znode **last)
{
    int room = lane_rules[z->lane].room - lane_weight(z->lane, z->name);
    const struct znode *a = last_before(t, z, NULL);
    for (; a != NULL && room >= lane_weight(z->lane, a->name); a = last_before(t, z, a))
        room -= lane_weight(z->lane, a->name);
    if (last != NULL)
        *last = a;
    return a != NULL && a->gone_ms > z->created_ms ? a->gone_ms : z->created_ms;
}
