/*
 * Requests: what each asynchronous call of ZooKeeper's client has while it is in flight.
 *
 * All with the client's lock held, but for arrive.
 */
#ifndef PDK__REQUEST_H
#define PDK__REQUEST_H

#include "lib/zk/client.h"
#include "lib/zk/code.h"

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
    bool syncs;      /* the leader of our server answers it */
    bool asked;      /* by the session machine, for the chain's sake */
    char *path;      /* the path of a delete; NULL: another request */
};

/* A request that is to be sent: the head of a structure of SIZE bytes, which are zero. It holds its client. NULL: there
 * is no handle, or no memory. */
void *pdk__request_begin(struct pdk_client *c, size_t size, void (*forget)(struct pdk__request *request));

/* It was not sent after all, is being forgotten, or its completion has done its work: it is freed, with its path. */
void pdk__request_end(struct pdk__request *request);

/* Its completion has come, with ZRC: lock, note the thread, and inform the session. Returns the client, to be passed
 * to pdk__request_depart. */
struct pdk_client *pdk__request_arrive(struct pdk__request *request, int zrc);

/* The completion has done its work, and has ended the request: unlock. */
void pdk__request_depart(struct pdk_client *c);

/* The handle is closed, and its threads have ended: drop every request in flight. */
void pdk__request_drop_all(struct pdk_client *c);

/* Send a no-op read as a fence: when it completes, every earlier request and event has been delivered. */
void pdk__request_nothing(struct pdk_client *c);

/* Have our server apply what was written before this call, by a write that changes nothing: reads after it see all of
 * it. A sync would not do: a leader answers the sync of its own client before it has applied what its followers have
 * (CommitProcessor, which matches syncs on followers only). False: nothing was sent. */
bool pdk__request_flush(struct pdk_client *c, const char *path);

/* Remove the data watches of PATH from the server; no caller waits for the answer. Without memory, a watch stays until
 * the node is deleted, and one on a deleted node until the session ends. */
void pdk__request_unwatch(struct pdk_client *c, const char *path);

/* The same for a member that has left PATH, unless another relies on one; and of the watch on its children as well,
 * where no other has noted PATH. Nothing on an adopted handle, and when the client is about to be closed. */
void pdk__request_forsake(struct pdk_client *c, const char *path);

#endif
