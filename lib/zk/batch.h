/*
 * A batch: claims of one client whose nodes one transaction makes, and one deletes. Every queue has the nodes of all
 * batches in one order, so two batches never each wait for the other.
 *
 * Each claim asks for its create as if it were alone. Once all have asked, the batch sends one transaction, and gives
 * each claim its own answer: all nodes are there, or none. When a path is missing, all claims make theirs and ask
 * again. When a server refuses one create, its claim is told and the others wait.
 *
 * Deletes wait for no other: those that are asked for by then go into one transaction. When one is refused, because
 * another client has deleted the node, nothing is deleted. Its claim is told, and the others are sent again.
 *
 * A claim may want a node while another of the batch has one: another client deleted a node, or a late create appeared
 * after one claim had looked for it. One transaction cannot make it good. The batch is broken then, and its owner gives
 * all up and begins again.
 */
#ifndef PDK__BATCH_H
#define PDK__BATCH_H

#include "lib/core/contender.h"
#include "lib/zk/client.h"
#include "lib/zk/wire.h"

struct pdk__changes;

/* The kinds of a request. */
enum pdk__batch_wish { PDK__BATCH_CREATE, PDK__BATCH_DELETE };

/* The path of a claim's node, and that of any node of the transaction that has made it. Both are borrowed for the call.
 */
struct pdk__made {
    const char *path, *any;
};

/* A claim's place in it. */
struct pdk__seat {
    struct pdk__list link;
    struct pdk__batch *batch; /* NULL: the claim is in none */
    const struct pdk__contender *machine;
    uint64_t op; /* of the create or delete that it asks for; 0: none */
    enum pdk__batch_wish wish;
    bool sent;
    char *path; /* of that one; of a create without the sequence number */
    struct pdk__node_data data;

    /* The answer: CREATED or DELETED. MADE of a create that is OK, whose event tells no more; else NULL. */
    void (*answered)(struct pdk__seat *seat, const struct pdk__event *event, const struct pdk__made *made);
};

struct pdk__batch {
    struct pdk_client *client;
    unsigned n; /* claims */
    struct pdk__list seats;
    struct pdk__changes *sent;                 /* awaits its answer; NULL: none */
    void (*stirred)(struct pdk__batch *batch); /* it is to be considered, outside of every step */
};

/* All with the client's lock held. */

/* For N claims. */
void pdk__batch_init(struct pdk__batch *batch, struct pdk_client *c, unsigned n,
                     void (*stirred)(struct pdk__batch *batch));

/* Do what its claims need together. False: it is broken. Its claims may end. */
bool pdk__batch_consider(struct pdk__batch *batch);

/* All its claims have ended. */
void pdk__batch_clear(struct pdk__batch *batch);

/* --- for a claim of it ------------------------------------------------------------------------------------------- */

void pdk__batch_join(struct pdk__batch *batch, struct pdk__seat *seat);
void pdk__batch_leave(struct pdk__seat *seat);

/* It asks for the create or the delete of PATH, which the batch frees. */
void pdk__batch_ask(struct pdk__seat *seat, enum pdk__batch_wish wish, uint64_t op, char *path);

/* It has made a step. */
void pdk__batch_stepped(struct pdk__seat *seat);

#endif
