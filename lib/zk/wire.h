/*
 * The wire of a contender: its questions to the servers, one asynchronous call each (the lock path and its ancestors
 * take several), and one function for all replies. It knows nothing of the contender, nor of its machine.
 *
 * All with the client's lock held. 0 means that the reply will come, unless the wire or the handle ends before. An
 * error means that nothing was sent, and no reply will come. Paths and data are borrowed for the call.
 */
#ifndef PDK__WIRE_H
#define PDK__WIRE_H

#include "lib/core/contender.h"
#include "lib/zk/client.h"

/* The data of a lock path whose users have set a lock delay: the record of a holder, before its node's name; and of
 * none. */
#define PDK__HELD_BY "held "
#define PDK__FREE "free"

struct pdk__wire_reply {
    struct pdk__event event; /* but for its time, and the name of a predecessor */
    const char *who;         /* WATCHED: the owner of that node, or "" */
    int64_t limit;           /* IDENTIFIED by its data: the limit that its owner goes by, or 0 */
    bool bare;               /* OWN: the data are a revocation request alone */
};

struct pdk__wire;

/* REPLY is borrowed for the call. */
typedef void pdk__wire_replied(struct pdk__wire *wire, const struct pdk__wire_reply *reply);

struct pdk__wire {
    struct pdk_client *client;
    struct pdk__list questions; /* that are not answered yet */
    uint64_t asked;             /* the number of its last request that is no listing */
    bool awaits_nodes; /* its watches by exists are to stay where there is no node: they tell of its creation */
    pdk__wire_replied *reply;
};

void pdk__wire_begin(struct pdk__wire *wire, struct pdk_client *c, pdk__wire_replied *reply);

/* The data of a contender's node. Never NULL data: Curator's getParticipants dies of it. */
struct pdk__node_data {
    const char *data;
    size_t size;
};

/* PATH without the sequence number, which the server adds; or, where `sequential` is false, the whole path: CREATED. */
int pdk__wire_create(struct pdk__wire *wire, uint64_t op, const char *path, struct pdk__node_data data,
                     bool sequential);

/* The node at PATH, which a transaction has made, with the owner and the token of the node ANY of the same one:
 * CREATED. One request for all wires that ask while the lock is kept. */
int pdk__wire_made(struct pdk__wire *wire, uint64_t op, const char *path, const char *any);

/* A node of no session, which stays until it is deleted: CREATED */
int pdk__wire_create_persistent(struct pdk__wire *wire, uint64_t op, const char *path, struct pdk__node_data data);

/* The lock path and its ancestors: MADE_PARENTS. PERSISTENT: the lock path is no container. Without ALL, of the path
 * and its ancestors only the nearest, PDK__NEAREST_MAX at most. */
enum { PDK__NEAREST_MAX = 3 };
int pdk__wire_parents(struct pdk__wire *wire, uint64_t op, const char *path, bool persistent, bool all);

/* A delete of PATH, which no node can have: BARRIER. */
int pdk__wire_barrier(struct pdk__wire *wire, uint64_t op, const char *path);

/* IDENTIFIED */
int pdk__wire_identify(struct pdk__wire *wire, uint64_t op, const char *node);

/* IDENTIFIED, by its data */
int pdk__wire_identify_data(struct pdk__wire *wire, uint64_t op, const char *node);

/* LISTED, by a request that was sent after all earlier ones of the wire, and no earlier than the lock was taken. All
 * wires that ask meanwhile have one. */
int pdk__wire_list(struct pdk__wire *wire, uint64_t op, const char *path);

/* LISTED, with the number of the last change of the children as its token. */
int pdk__wire_list_dated(struct pdk__wire *wire, uint64_t op, const char *path);

/* Read a node and watch it: WATCHED for the predecessor, or for the children of the path; OWN for our own node. */
int pdk__wire_watch(struct pdk__wire *wire, uint64_t op, const char *node, bool by_exists);
int pdk__wire_watch_children(struct pdk__wire *wire, uint64_t op, const char *path);
int pdk__wire_own(struct pdk__wire *wire, uint64_t op, const char *node, bool by_exists);

/* Curator's revoker has overwritten the data of our node with the word: write both, at the VERSION that was read. No
 * caller waits for the answer. */
void pdk__wire_restore(struct pdk__wire *wire, const char *node, struct pdk__node_data data, int32_t version);

/* Write our own node: CONFIRMED. REVOKED: after the word that asks for its release. */
int pdk__wire_confirm(struct pdk__wire *wire, uint64_t op, const char *node, struct pdk__node_data data,
                      int32_t version, bool revoked);

/* The holder record of the lock path: RECORD_READ, RECORDED with the name of our node, CLEARED. */
int pdk__wire_read(struct pdk__wire *wire, uint64_t op, const char *path);
int pdk__wire_record(struct pdk__wire *wire, uint64_t op, const char *path, const char *name, int32_t version);
int pdk__wire_clear(struct pdk__wire *wire, uint64_t op, const char *path, int32_t version);

/* DELETED */
int pdk__wire_delete(struct pdk__wire *wire, uint64_t op, const char *node);

/* The contender has ended: requests in flight complete without a reply. */
void pdk__wire_end(struct pdk__wire *wire);

#endif
