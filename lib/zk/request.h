/*
 * Requests: one asynchronous call of ZooKeeper's client each. Its completion becomes an event of the claim that made
 * it.
 *
 * All with the client's lock held. 0 means that the completion will come, or that the handle's end will take its place.
 * An error means that nothing was sent, and no completion will come.
 */
#ifndef PDK__REQUEST_H
#define PDK__REQUEST_H

#include "lib/zk/client.h"
#include "lib/zk/code.h"

/* The data of a lock path whose users have set a lock delay: a holder's mark, before its node's name; and no mark. */
#define PDK__HELD_BY "held "
#define PDK__FREE "free"

struct pdk__claim;

/*
 * The head of every request in flight. ZooKeeper's client may forget to complete it, so our client keeps a list. When
 * the handle is closed, `forget` is called, with the lock, for each request on it.
 */
struct pdk__request {
    struct pdk__list link;
    struct pdk_client *client;
    void (*forget)(struct pdk__request *request);
    int64_t sent_ms; /* the request was passed to ZooKeeper's client then or later */
    bool writes;     /* a quorum answers it */
    bool asked;      /* by the session machine, for the chain's sake */
    char *path;      /* the path of a delete; NULL: another request */
};

/* A request goes out: it holds its client from now on. */
void pdk__request_track(struct pdk__request *request, struct pdk_client *c, void (*forget)(struct pdk__request *));

/* It was not sent after all, or is being forgotten. */
void pdk__request_untrack(struct pdk__request *request);

/* Its completion has come, with ZRC: lock, note the thread, and inform the session. Returns the client, to be passed
 * to pdk__request_depart. */
struct pdk_client *pdk__request_arrive(struct pdk__request *request, int zrc);

/* The completion has done its work: untrack, and unlock. The caller frees REQUEST, before. */
void pdk__request_depart(struct pdk_client *c);

int pdk__request_create(struct pdk__claim *claim, uint64_t op);
int pdk__request_parents(struct pdk__claim *claim, uint64_t op);
int pdk__request_barrier(struct pdk__claim *claim, uint64_t op);
int pdk__request_identify(struct pdk__claim *claim, uint64_t op, const char *name);
int pdk__request_list(struct pdk__claim *claim, uint64_t op);
int pdk__request_watch(struct pdk__claim *claim, uint64_t op, bool by_exists);
int pdk__request_own(struct pdk__claim *claim, uint64_t op, bool by_exists);
int pdk__request_confirm(struct pdk__claim *claim, uint64_t op, int32_t version, bool revoked);
int pdk__request_read(struct pdk__claim *claim, uint64_t op);
int pdk__request_mark(struct pdk__claim *claim, uint64_t op, int32_t version);
int pdk__request_delete(struct pdk__claim *claim, uint64_t op);

/* Send a no-op read as a fence: when it completes, every earlier request and event has been delivered. */
void pdk__request_nothing(struct pdk_client *c);

/* The path of a create, to which the server adds the sequence number: no node has exactly this path. NULL when
 * memory is out; the caller frees. */
char *pdk__request_asked_path(struct pdk__claim *claim);

/* proof.c: the requests of the session machine. */
void pdk__request_probe(struct pdk_client *c);
void pdk__request_touch(struct pdk_client *c);

/* Clear the mark at VERSION of the lock path; no caller waits for the answer. */
void pdk__request_unmark(struct pdk__claim *claim, uint64_t op, int32_t version);

/* Remove the data watches of PATH from the server; no caller waits for the answer. */
void pdk__request_unwatch(struct pdk_client *c, const char *path);

/* CLAIM has ended: its requests in flight complete without effect. */
void pdk__request_orphan(struct pdk__claim *claim);

/* The handle is closed, and its threads have ended: drop every request in flight. */
void pdk__request_drop_all(struct pdk_client *c);

#endif
