/*
 * A claim: a contender of the core at work for a client. It owns the machine, carries out its actions, and reports to a
 * listener. A recipe embeds one in each request for a lock.
 */
#ifndef PDK__CLAIM_H
#define PDK__CLAIM_H

#include "lib/core/contender.h"
#include "lib/zk/account.h"
#include "lib/zk/client.h"

struct pdk__claim;

/* Called with the client's lock held; must not call back into the claim. After done() the claim is not touched again.
 */
struct pdk__claim_listener {
    void (*granted)(struct pdk__claim *claim, int64_t token);
    void (*failed)(struct pdk__claim *claim, int rc);                       /* instead of granted */
    void (*changed)(struct pdk__claim *claim, enum pdk__action_kind state); /* SUSPECT, HELD again, LOST */
    void (*due)(struct pdk__claim *claim);          /* the time of pdk__claim_expect() has come */
    void (*done)(struct pdk__claim *claim, int rc); /* the last call, always */
    void (*revoked)(struct pdk__claim *claim);      /* a client asks for the lock; once per grant, while granted */
    void (*hindered)(struct pdk__claim *claim, const char *why); /* it waits, and WHY names the obstacle */
};

/* The lock that is contended for, and how. PATH and DATA are borrowed until done. */
struct pdk__claim_spec {
    const char *path;
    enum pdk__word word;
    const char *data;
    size_t data_size;
    bool try_only;
    int64_t deadline_ms;
    struct pdk__conditions conditions;
};

struct pdk__claim {
    struct pdk__list link;
    struct pdk_client *client;
    const struct pdk__claim_listener *listener;
    struct pdk__contender machine;
    struct pdk__claim_spec spec;
    bool wants_proof;               /* that the session lives; counted in the client */
    int64_t due_ms;                 /* when to call the listener's due(); PDK__NEVER for never */
    char *predecessor;              /* the path that is watched */
    bool unwatched;                 /* the path was watched: its watch is being removed */
    char *own;                      /* the path of our own node, once it is known */
    struct pdk__stray_entry *stray; /* memory for a stray, while a create may become one */
    struct pdk__standing standing;
};

/* Start to contend, with the client's lock held. The listener is notified later or from inside the call. PDK_ELIMIT
 * when the session carries as many paths as ZooKeeper can bear; PDK_ECLOSED. On an error the listener is never
 * called. */
int pdk__claim_start(struct pdk__claim *claim, struct pdk_client *client, const struct pdk__claim_listener *listener,
                     const struct pdk__claim_spec *spec);

/* The caller no longer wants to hold. */
void pdk__claim_release(struct pdk__claim *claim);

/* Time has passed. */
void pdk__claim_tick(struct pdk__claim *claim);

/* Call the listener's due() at AT_MS, unless all is done by then. */
void pdk__claim_expect(struct pdk__claim *claim, int64_t at_ms);

/* For the rest of the driver: can the session carry one more claim's worth of paths, on PATH? 0 or PDK_ELIMIT. */
int pdk__claim_reserve(struct pdk_client *c, const char *path);
void pdk__claim_give_back(struct pdk_client *c, const char *path);

/* An event for the machine. EVENT need not carry now_ms. */
void pdk__claim_feed(struct pdk__claim *claim, struct pdk__event event);

/* The path of our own node, or NULL while it has none (or memory is out). Borrowed until the next event. */
const char *pdk__claim_own(struct pdk__claim *claim);

#endif
