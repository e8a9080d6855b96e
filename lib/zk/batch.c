#include "lib/zk/batch.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/code.h"
#include "lib/zk/request.h"
#include <stdlib.h>
#include <string.h>

/* One create of a transaction. */
struct creation {
    uint64_t op;
    char *path;                  /* as asked; allocated on its own, since ZooKeeper's client may free it */
    char *made;                  /* with the number, in the transaction's block */
    struct pdk__node_data *data; /* borrowed for the call */
};

struct pdk__transaction {
    struct pdk__request base;
    struct pdk__batch *batch; /* NULL: no claim waits for the answer */
    unsigned n;
    struct creation *creations;
    zoo_op_t *ops;
    zoo_op_result_t *results;
};

#define EACH_SEAT(seat, batch)                                                                                         \
    PDK__LIST_EACH (seat##_link, &(batch)->seats)                                                                      \
        for (struct pdk__seat *seat = PDK__MEMBER(seat##_link, struct pdk__seat, link); seat != NULL; seat = NULL)

static void check(const struct pdk__batch *batch)
{
    assert(pdk__client_locked(batch->client) && batch->n > 0);
    assert(batch->sent == NULL || batch->sent->batch == batch);
}

/* --- a claim's question ------------------------------------------------------------------------------------------ */

static void withdraw(struct pdk__seat *seat)
{
    pdk__free(seat->path);
    seat->path = NULL;
    seat->op = 0;
    seat->sent = false;
}

static void answer(struct pdk__seat *seat, int zrc, const char *path)
{
    struct pdk__event event = {
        .kind = PDK__EV_CREATED, .op = seat->op, .outcome = pdk__outcome_of(zrc), .error = pdk__error_of(zrc)};
    assert(event.op != 0);
    withdraw(seat);
    seat->created(seat, &event, path);
}

/* --- a transaction ----------------------------------------------------------------------------------------------- */

static void end(struct pdk__transaction *t)
{
    if (t->batch != NULL)
        t->batch->sent = NULL;
    for (unsigned i = 0; i < t->n; i++) {
        pdk__free(t->creations[i].path);
        pdk__free(t->creations[i].made);
    }
    pdk__free(t->creations);
    pdk__free(t->ops);
    pdk__free(t->results);
    pdk__request_untrack(&t->base);
    pdk__free(t);
}

static void forget(struct pdk__request *base) { end(PDK__MEMBER(base, struct pdk__transaction, base)); }

/* The claim that still waits for this create. The batch may end with the answer to another. */
static struct pdk__seat *find_seat(const struct pdk__transaction *t, uint64_t op)
{
    if (t->batch == NULL)
        return NULL;
    EACH_SEAT (seat, t->batch)
        if (seat->op == op)
            return seat;
    return NULL;
}

/* All nodes are made, or it is not known whether any is. */
static void answer_all(const struct pdk__transaction *t, int zrc)
{
    for (unsigned i = 0; i < t->n; i++) {
        struct pdk__seat *seat = find_seat(t, t->creations[i].op);
        if (seat != NULL)
            answer(seat, zrc, zrc == ZOK ? t->creations[i].made : NULL);
    }
}

/* The create that the servers refused; those after it were not tried. */
static unsigned find_refused(const struct pdk__transaction *t)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->results[i].err != ZOK && t->results[i].err != ZRUNTIMEINCONSISTENCY)
            return i;
    return 0;
}

/* No node is made. Only the claim whose create was refused is to blame; the others ask on. */
static void answer_refused(const struct pdk__transaction *t, int zrc)
{
    struct pdk__seat *refused = find_seat(t, t->creations[find_refused(t)].op);
    EACH_SEAT (seat, t->batch)
        seat->sent = false;
    if (refused != NULL)
        answer(refused, zrc, NULL);
}

static void settle(const struct pdk__transaction *t, int zrc)
{
    enum pdk__outcome outcome = pdk__outcome_of(zrc);
    if (outcome == PDK__OK || outcome == PDK__UNKNOWN || outcome == PDK__NO_NODE)
        answer_all(t, zrc);
    else
        answer_refused(t, zrc);
}

static void completed(int zrc, const void *data)
{
    struct pdk__transaction *t = (struct pdk__transaction *)data;
    struct pdk_client *c = pdk__request_arrive(&t->base, zrc);
    if (t->batch != NULL)
        settle(t, zrc);
    if (t->batch != NULL)
        t->batch->stirred(t->batch);
    end(t);
    pdk__request_depart(c);
}

static bool fill(struct pdk__transaction *t, struct pdk__seat *seat)
{
    struct creation *creation = &t->creations[t->n++];
    size_t size = strlen(seat->path) + PDK__NAME_MAX;
    creation->op = seat->op;
    creation->data = &seat->data;
    creation->path = pdk__strdup(seat->path);
    creation->made = pdk__alloc(size);
    return creation->path != NULL && creation->made != NULL;
}

static struct pdk__transaction *begin(struct pdk__batch *batch)
{
    struct pdk__transaction *t = batch->client->zh != NULL ? pdk__alloc(sizeof *t) : NULL;
    if (t == NULL)
        return NULL;
    pdk__request_track(&t->base, batch->client, forget);
    t->base.writes = true;
    t->creations = pdk__alloc(batch->n * sizeof *t->creations);
    t->ops = pdk__alloc(batch->n * sizeof *t->ops);
    t->results = pdk__alloc(batch->n * sizeof *t->results);
    bool complete = t->creations != NULL && t->ops != NULL && t->results != NULL;
    EACH_SEAT (seat, batch)
        complete = complete && fill(t, seat);
    if (complete)
        return t;
    end(t);
    return NULL;
}

/* Where the handle has ended in the call, ZooKeeper's client may have freed one of the paths, or more. */
static void leave_paths(struct pdk__transaction *t)
{
    for (unsigned i = 0; i < t->n && zoo_state(t->base.client->zh) < 0; i++)
        t->creations[i].path = NULL;
}

static bool call(struct pdk__transaction *t, struct ACL_vector *acl)
{
    zhandle_t *zh = t->base.client->zh;
    for (unsigned i = 0; i < t->n; i++) {
        struct creation *one = &t->creations[i];
        int size = (int)(strlen(one->path) + PDK__NAME_MAX) - 1; /* a zero is written after the last byte */
        zoo_create_op_init(&t->ops[i], one->path, one->data->data, (int)one->data->size, acl, ZOO_EPHEMERAL_SEQUENTIAL,
                           one->made, size);
    }
    if (zoo_state(zh) != ZOO_CONNECTED_STATE)
        return false;
    if (zoo_amulti(zh, (int)t->n, t->ops, t->results, completed, t) == ZOK)
        return true;
    leave_paths(t);
    return false;
}

static void send_all(struct pdk__batch *batch)
{
    struct ACL_vector acl = pdk__options_acl(&batch->client->options);
    struct pdk__transaction *t = begin(batch);
    assert(batch->sent == NULL);
    if (t != NULL && call(t, &acl)) {
        batch->sent = t;
        t->batch = batch;
        EACH_SEAT (seat, batch)
            seat->sent = true;
        return;
    }
    EACH_SEAT (seat, batch)
        answer(seat, ZCONNECTIONLOSS, NULL);
    if (t != NULL)
        end(t);
}

/* --- what the claims need together ------------------------------------------------------------------------------- */

/* Its claim no longer waits for the answer, or no longer wants the node. */
static void revise(struct pdk__seat *seat)
{
    const struct pdk__contender *m = seat->machine;
    if (seat->op == 0)
        return;
    if (seat->op != m->op)
        withdraw(seat);
    else if (!m->requested && !seat->sent)
        answer(seat, ZNONODE, NULL);
}

bool pdk__batch_consider(struct pdk__batch *batch)
{
    unsigned n_asking = 0;
    bool any_made = false;
    check(batch);
    EACH_SEAT (seat, batch)
        revise(seat);
    if (batch->sent != NULL)
        return true;
    EACH_SEAT (seat, batch) {
        n_asking += seat->op != 0;
        any_made |= seat->op == 0 && seat->machine->requested && seat->machine->node.exists == PDK__NODE_YES;
    }
    if (n_asking == batch->n)
        send_all(batch);
    return n_asking == 0 || n_asking == batch->n || !any_made;
}

/* --- for its owner ----------------------------------------------------------------------------------------------- */

void pdk__batch_init(struct pdk__batch *batch, struct pdk_client *c, unsigned n,
                     void (*stirred)(struct pdk__batch *batch))
{
    *batch = (struct pdk__batch){.client = c, .n = n, .stirred = stirred};
    pdk__list_init(&batch->seats);
}

void pdk__batch_clear(struct pdk__batch *batch)
{
    check(batch);
    assert(pdk__list_empty(&batch->seats));
    if (batch->sent != NULL)
        batch->sent->batch = NULL;
    batch->sent = NULL;
}

/* --- for its claims ---------------------------------------------------------------------------------------------- */

void pdk__batch_join(struct pdk__batch *batch, struct pdk__seat *seat)
{
    assert(seat->machine != NULL && seat->created != NULL);
    seat->batch = batch;
    pdk__list_append(&batch->seats, &seat->link);
}

void pdk__batch_leave(struct pdk__seat *seat)
{
    withdraw(seat);
    pdk__list_remove(&seat->link);
    seat->batch = NULL;
}

void pdk__batch_ask(struct pdk__seat *seat, uint64_t op, char *path)
{
    assert(op != 0 && path != NULL);
    withdraw(seat);
    seat->op = op;
    seat->path = path;
    seat->batch->stirred(seat->batch);
}

void pdk__batch_stepped(struct pdk__seat *seat)
{
    struct pdk__batch *batch = seat->batch;
    bool asking = false;
    EACH_SEAT (one, batch)
        asking |= one->op != 0 && !one->sent;
    if (asking)
        batch->stirred(batch);
}
