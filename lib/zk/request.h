/*
 * Requests: one asynchronous call of ZooKeeper's client each, whose completion becomes an event of the claim that
 * asked.
 *
 * All with the client's lock held. 0 means that the completion will come, or that the handle's end will stand in for
 * it; an error means that nothing was sent, and none will.
 */
#ifndef PDK__REQUEST_H
#define PDK__REQUEST_H

#include "lib/zk/client.h"
#include "lib/zk/code.h"

/* The data of a lock path whose users have set a lock delay: the mark of a holder before its node's name, and none. */
#define PDK__HELD_BY "held "
#define PDK__FREE "free"

struct pdk__claim;

/*
 * What every request in flight begins with. ZooKeeper's client may forget to complete it, so its client keeps a list:
 * `forget` is called, with the lock, for what is on it when the handle is gone.
 */
struct pdk__request {
    struct pdk__list link;
    struct pdk_client *client;
    void (*forget)(struct pdk__request *request);
    int64_t sent_ms; /* or earlier than that: ZooKeeper's client has it since then */
    bool writes;     /* a quorum answers it */
    bool asked;      /* by the session machine, for the chain's sake */
    char *path;      /* whose delete that was; NULL: another request */
};

/* A request goes out: it holds its client from now on. */
void pdk__request_track(struct pdk__request *request, struct pdk_client *c, void (*forget)(struct pdk__request *));

/* It was not sent after all, or is being forgotten. */
void pdk__request_untrack(struct pdk__request *request);

/* Its completion has come, with ZRC: lock, know the thread, and let the session know. Returns the client, to be given to
 * pdk__request_depart. */
struct pdk_client *pdk__request_arrive(struct pdk__request *request, int zrc);

/* The completion has done its work: untrack, and unlock. REQUEST is the caller's to free, before. */
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

/* Ask for what nobody wants to know: when it completes, so has all that was asked and told before. */
void pdk__request_nothing(struct pdk_client *c);

/* The path of a create, to which the server adds the sequence number: no node has it. NULL when memory is out; the
 * caller frees. */
char *pdk__request_asked_path(struct pdk__claim *claim);

/* proof.c: what the session machine asks for. */
void pdk__request_probe(struct pdk_client *c);
void pdk__request_touch(struct pdk_client *c);

/* Take the mark at VERSION off the lock path; nobody waits for the answer. */
void pdk__request_unmark(struct pdk__claim *claim, uint64_t op, int32_t version);

/* Take the data watches of PATH off the server; nobody waits for the answer. */
void pdk__request_unwatch(struct pdk_client *c, const char *path);

/* CLAIM is no more: whatever it has in flight completes into nothing. */
void pdk__request_orphan(struct pdk__claim *claim);

/* The handle is gone, and its threads with it: so is all that was in flight. */
void pdk__request_drop_all(struct pdk_client *c);

#endif
