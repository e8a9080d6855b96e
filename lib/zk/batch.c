#include "lib/zk/batch.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/zk/code.h"
#include "lib/zk/request.h"
#include <stdlib.h>
#include <string.h>

/* One create or delete of a transaction. */
struct change {
    uint64_t op;
    char *path;                  /* as asked; allocated on its own, since ZooKeeper's client may free it */
    char *made;                  /* of a create: with the number */
    struct pdk__node_data *data; /* of a create: borrowed for the call */
};

struct pdk__transaction {
    struct pdk__request base;
    struct pdk__batch *batch;  /* NULL: no claim waits for the answer */
    enum pdk__batch_wish wish; /* what it does for each */
    unsigned n;
    struct change *changes;
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

static bool asks(const struct pdk__seat *seat, enum pdk__batch_wish wish)
{
    return seat->op != 0 && seat->wish == wish;
}

static void answer(struct pdk__seat *seat, int zrc, const struct pdk__made *made)
{
    struct pdk__event event = {.kind = seat->wish == PDK__BATCH_CREATE ? PDK__EV_CREATED : PDK__EV_DELETED,
                               .op = seat->op,
                               .outcome = pdk__outcome_of(zrc),
                               .error = pdk__error_of(zrc),
                               .code = zrc};
    assert(event.op != 0);
    withdraw(seat);
    seat->answered(seat, &event, made);
}

/* --- a transaction ----------------------------------------------------------------------------------------------- */

static void end(struct pdk__transaction *t)
{
    if (t->batch != NULL)
        t->batch->sent = NULL;
    for (unsigned i = 0; i < t->n; i++) {
        pdk__free(t->changes[i].path);
        pdk__free(t->changes[i].made);
    }
    pdk__free(t->changes);
    pdk__free(t->ops);
    pdk__free(t->results);
    pdk__request_end(&t->base);
}

static void forget(struct pdk__request *base) { end(PDK__MEMBER(base, struct pdk__transaction, base)); }

/* The claim that still waits for this change. The batch may end with the answer to another. */
static struct pdk__seat *find_seat(const struct pdk__transaction *t, uint64_t op)
{
    if (t->batch == NULL)
        return NULL;
    EACH_SEAT (seat, t->batch)
        if (seat->op == op)
            return seat;
    return NULL;
}

/* All are done, or it is not known whether any is. */
static void answer_all(const struct pdk__transaction *t, int zrc)
{
    bool made = zrc == ZOK && t->wish == PDK__BATCH_CREATE;
    for (unsigned i = 0; i < t->n; i++) {
        struct pdk__seat *seat = find_seat(t, t->changes[i].op);
        if (seat != NULL)
            answer(seat, zrc, made ? &(struct pdk__made){t->changes[i].made, t->changes[0].made} : NULL);
    }
}

/* The change that the servers refused; those after it were not tried. */
static unsigned find_refused(const struct pdk__transaction *t)
{
    for (unsigned i = 0; i < t->n; i++)
        if (t->results[i].err != ZOK && t->results[i].err != ZRUNTIMEINCONSISTENCY)
            return i;
    return 0;
}

/* Nothing is done. Only the claim whose change was refused is to blame; the others ask on. */
static void answer_refused(const struct pdk__transaction *t, int zrc)
{
    struct pdk__seat *refused = find_seat(t, t->changes[find_refused(t)].op);
    EACH_SEAT (seat, t->batch)
        seat->sent = false;
    if (refused != NULL)
        answer(refused, zrc, NULL);
}

static void answer_result(const struct pdk__transaction *t, int zrc)
{
    enum pdk__outcome outcome = pdk__outcome_of(zrc);
    bool pathless = outcome == PDK__NO_NODE && t->wish == PDK__BATCH_CREATE;
    if (outcome == PDK__OK || outcome == PDK__UNKNOWN || pathless)
        answer_all(t, zrc);
    else
        answer_refused(t, zrc);
}

static void completed(int zrc, const void *data)
{
    struct pdk__transaction *t = (struct pdk__transaction *)data;
    struct pdk_client *c = pdk__request_arrive(&t->base, zrc);
    if (t->batch != NULL)
        answer_result(t, zrc);
    if (t->batch != NULL)
        t->batch->stirred(t->batch);
    end(t);
    pdk__request_depart(c);
}

static bool fill(struct pdk__transaction *t, struct pdk__seat *seat)
{
    bool creates = t->wish == PDK__BATCH_CREATE;
    struct change *change = &t->changes[t->n++];
    change->op = seat->op;
    change->data = &seat->data;
    change->path = pdk__strdup(seat->path);
    change->made = creates ? pdk__alloc(strlen(seat->path) + PDK__NAME_MAX) : NULL;
    return change->path != NULL && (change->made != NULL || !creates);
}

static struct pdk__transaction *begin(struct pdk__batch *batch, enum pdk__batch_wish wish)
{
    struct pdk__transaction *t = pdk__request_begin(batch->client, sizeof *t, forget);
    if (t == NULL)
        return NULL;
    t->base.writes = true;
    t->wish = wish;
    t->changes = pdk__alloc(batch->n * sizeof *t->changes);
    t->ops = pdk__alloc(batch->n * sizeof *t->ops);
    t->results = pdk__alloc(batch->n * sizeof *t->results);
    bool complete = t->changes != NULL && t->ops != NULL && t->results != NULL;
    EACH_SEAT (seat, batch)
        if (asks(seat, wish))
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
        t->changes[i].path = NULL;
}

static void put(zoo_op_t *op, const struct change *change, enum pdk__batch_wish wish, const struct ACL_vector *acl)
{
    if (wish == PDK__BATCH_DELETE) {
        zoo_delete_op_init(op, change->path, -1);
        return;
    }
    int size = (int)(strlen(change->path) + PDK__NAME_MAX) - 1; /* a zero is written after the last byte */
    zoo_create_op_init(op, change->path, change->data->data, (int)change->data->size, acl, ZOO_EPHEMERAL_SEQUENTIAL,
                       change->made, size);
}

static bool call(struct pdk__transaction *t, const struct ACL_vector *acl)
{
    zhandle_t *zh = t->base.client->zh;
    for (unsigned i = 0; i < t->n; i++)
        put(&t->ops[i], &t->changes[i], t->wish, acl);
    if (zoo_state(zh) != ZOO_CONNECTED_STATE)
        return false;
    if (zoo_amulti(zh, (int)t->n, t->ops, t->results, completed, t) == ZOK)
        return true;
    leave_paths(t);
    return false;
}

/* All that ask for it. */
static void send_all(struct pdk__batch *batch, enum pdk__batch_wish wish)
{
    struct ACL_vector acl = pdk__options_acl(&batch->client->options);
    struct pdk__transaction *t = begin(batch, wish);
    bool sent = t != NULL && call(t, &acl);
    assert(batch->sent == NULL);
    if (sent) {
        batch->sent = t;
        t->batch = batch;
    }
    EACH_SEAT (seat, batch) {
        if (asks(seat, wish) && !sent)
            answer(seat, ZCONNECTIONLOSS, NULL);
        else if (asks(seat, wish))
            seat->sent = true;
    }
    if (t != NULL && !sent)
        end(t);
}

/* --- what the claims need together ------------------------------------------------------------------------------- */

/* Its claim no longer waits for the answer, or no longer wants the node that it asks for. */
static void revise(struct pdk__seat *seat)
{
    const struct pdk__contender *m = seat->machine;
    if (seat->op == 0)
        return;
    if (seat->op != m->op)
        withdraw(seat);
    else if (!m->requested && asks(seat, PDK__BATCH_CREATE) && !seat->sent)
        answer(seat, ZNONODE, NULL);
}

bool pdk__batch_consider(struct pdk__batch *batch)
{
    unsigned n_creating = 0, n_deleting = 0;
    bool any_made = false;
    check(batch);
    EACH_SEAT (seat, batch)
        revise(seat);
    if (batch->sent != NULL)
        return true;
    EACH_SEAT (seat, batch) {
        n_creating += asks(seat, PDK__BATCH_CREATE);
        n_deleting += asks(seat, PDK__BATCH_DELETE);
        any_made |= seat->op == 0 && seat->machine->requested && seat->machine->node.exists == PDK__NODE_YES;
    }
    if (n_creating == batch->n)
        send_all(batch, PDK__BATCH_CREATE);
    else if (n_deleting > 0)
        send_all(batch, PDK__BATCH_DELETE);
    return n_creating == 0 || n_creating == batch->n || !any_made;
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
    assert(seat->machine != NULL && seat->answered != NULL);
    seat->batch = batch;
    pdk__list_append(&batch->seats, &seat->link);
}

void pdk__batch_leave(struct pdk__seat *seat)
{
    withdraw(seat);
    pdk__list_remove(&seat->link);
    seat->batch = NULL;
}

void pdk__batch_ask(struct pdk__seat *seat, enum pdk__batch_wish wish, uint64_t op, char *path)
{
    assert(op != 0 && path != NULL);
    withdraw(seat);
    seat->wish = wish;
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
