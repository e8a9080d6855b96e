#include "lib/zk/batch.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/transaction.h"
#include "lib/zk/window.h"
#include <string.h>

/* One create or delete. */
struct change {
    uint64_t op;
    char *made; /* of a create: the path with the number */
};

/* A transaction of all that ask. */
struct pdk__changes {
    struct pdk__transaction transaction;
    struct pdk__batch *batch;  /* NULL: no claim waits for the answer */
    enum pdk__batch_wish wish; /* what it does for each */
    unsigned weight;           /* in the window */
    struct change *changes;
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

static void end(struct pdk__changes *t)
{
    if (t->batch != NULL)
        t->batch->sent = NULL;
    pdk__window_answered(t->transaction.base.client, t->weight, pdk__now_ms() - t->transaction.base.sent_ms);
    for (unsigned i = 0; t->changes != NULL && i < t->transaction.n_max; i++)
        pdk__free(t->changes[i].made);
    pdk__free(t->changes);
    pdk__transaction_end(&t->transaction);
}

static void forget(struct pdk__request *base) { end(PDK__MEMBER(base, struct pdk__changes, transaction.base)); }

/* The claim that still waits for this change. The batch may end with the answer to another. */
static struct pdk__seat *find_seat(const struct pdk__changes *t, uint64_t op)
{
    if (t->batch == NULL)
        return NULL;
    EACH_SEAT (seat, t->batch)
        if (seat->op == op)
            return seat;
    return NULL;
}

/* All are done, or it is not known whether any is. */
static void answer_all(const struct pdk__changes *t, int zrc)
{
    bool made = zrc == ZOK && t->wish == PDK__BATCH_CREATE;
    for (unsigned i = 0; i < t->transaction.n; i++) {
        struct pdk__seat *seat = find_seat(t, t->changes[i].op);
        if (seat != NULL)
            answer(seat, zrc, made ? &(struct pdk__made){t->changes[i].made, t->changes[0].made} : NULL);
    }
}

/* Nothing is done. Only the claim whose change was refused is to blame; the others ask on. */
static void answer_refused(const struct pdk__changes *t, int zrc)
{
    struct pdk__seat *refused = find_seat(t, t->changes[pdk__transaction_refused(&t->transaction)].op);
    EACH_SEAT (seat, t->batch)
        seat->sent = false;
    if (refused != NULL)
        answer(refused, zrc, NULL);
}

static void answer_result(const struct pdk__changes *t, int zrc)
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
    struct pdk__changes *t = (struct pdk__changes *)data;
    struct pdk_client *c = pdk__request_arrive(&t->transaction.base, zrc);
    if (t->batch != NULL)
        answer_result(t, zrc);
    if (t->batch != NULL)
        t->batch->stirred(t->batch);
    end(t);
    pdk__request_depart(c);
}

static bool fill(struct pdk__changes *t, const struct pdk__seat *seat, const struct ACL_vector *acl)
{
    struct change *change = &t->changes[t->transaction.n];
    size_t size = strlen(seat->path) + PDK__NAME_MAX;
    change->op = seat->op;
    if (t->wish == PDK__BATCH_DELETE)
        return pdk__transaction_delete(&t->transaction, seat->path, -1);
    change->made = pdk__alloc(size);
    return change->made != NULL &&
           pdk__transaction_create(&t->transaction, seat->path, seat->data.data, seat->data.size, acl,
                                   ZOO_EPHEMERAL_SEQUENTIAL, change->made, size);
}

static struct pdk__changes *begin(struct pdk__batch *batch, enum pdk__batch_wish wish, const struct ACL_vector *acl)
{
    struct pdk__changes *t = pdk__transaction_begin(batch->client, sizeof *t, batch->n, forget);
    if (t == NULL)
        return NULL;
    t->wish = wish;
    t->changes = pdk__alloc(batch->n * sizeof *t->changes);
    bool complete = t->changes != NULL;
    EACH_SEAT (seat, batch)
        if (asks(seat, wish))
            complete = complete && fill(t, seat, acl);
    if (complete)
        return t;
    end(t);
    return NULL;
}

/* All that ask for it. */
static void send_all(struct pdk__batch *batch, enum pdk__batch_wish wish)
{
    struct ACL_vector acl = pdk__options_acl(&batch->client->options);
    struct pdk__changes *t = begin(batch, wish, &acl);
    bool sent = t != NULL && pdk__transaction_send(&t->transaction, completed);
    assert(batch->sent == NULL);
    if (sent) {
        batch->sent = t;
        t->batch = batch;
        t->weight = t->transaction.n;
        pdk__window_asked(batch->client, t->weight);
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
