/*
 * A claim: a contender of the core at work for a client, by an agent. It owns the machine, sends its requests, and
 * reports to its owner. A recipe embeds one in each request for a lock.
 */
#ifndef PDK__CLAIM_H
#define PDK__CLAIM_H

#include "lib/core/contender.h"
#include "lib/zk/agent.h"
#include "lib/zk/batch.h"
#include "lib/zk/release.h"
#include "lib/zk/standing.h"
#include "lib/zk/window.h"

struct pdk__claim;

/* The reports of a claim, and of the hold that it is a part of (recipes/hold.h). */
enum pdk__report_kind {
    PDK__REPORT_GRANTED,
    PDK__REPORT_FAILED,  /* instead of GRANTED */
    PDK__REPORT_SUSPECT, /* from here on while it is granted */
    PDK__REPORT_HELD,    /* again */
    PDK__REPORT_LOST,
    PDK__REPORT_REVOKED,   /* a client asks for the lock; once per grant */
    PDK__REPORT_CONTENDED, /* another contender may wait, after pdk__claim_idle() */
    PDK__REPORT_QUEUED,    /* it waits, and its node has a place in the queue; once per node */
    PDK__REPORT_HINDERED,  /* it waits, and WHY names the obstacle */
    PDK__REPORT_DUE,       /* the time of pdk__claim_expect() has come */
    PDK__REPORT_DONE,      /* nothing is left of it on the servers; the last of a claim, always */
    PDK__REPORT_UNUSED     /* of a hold: it has no reference any more */
};

struct pdk__report {
    enum pdk__report_kind kind;
    int64_t token;   /* of GRANTED */
    int64_t ahead;   /* of QUEUED, of a hold: as pdk__hold_ahead() */
    int rc;          /* of FAILED; of DONE, why the node may be left, or 0 */
    const char *why; /* of HINDERED; borrowed for the call */
};

/* Called with the client's lock held; must not call back into the claim. After DONE the claim is not touched again. */
typedef void pdk__claim_reported(struct pdk__claim *claim, const struct pdk__report *report);

/* The node of a wish that a claim contends with: what differs from one to the next. The batch makes it together with
 * the nodes of other claims, and is borrowed until done. */
struct pdk__site {
    struct pdk__batch *batch; /* NULL: the claim makes it alone */
    unsigned spent;           /* as in the machine */
};

struct pdk__claim {
    struct pdk__agent agent;
    struct pdk__seat seat; /* in the batch, if it has one */
    pdk__claim_reported *reported;
    struct pdk__contender machine;
    const struct pdk__wish *wish; /* borrowed until done */
    struct pdk__site site;
    struct pdk__release release; /* from the moment at which it is no longer wanted */
    bool needs_lease;            /* it holds, or is about to; counted in the client */
    int64_t due_ms;              /* when to report DUE; PDK__NEVER for never */
    char *predecessor;           /* the path that is watched, while queue.watching; or was */
    bool unwatched;              /* the watch is being removed; the request may be lost and repeated */
    char *own;                   /* the path of our own node, once it is known */
    struct pdk__index_entry predecessor_entry, own_entry; /* of those two, while they are not NULL */
    struct pdk__index_entry rivals_entry;                 /* of the lock path, once its children were watched */
    struct pdk__standing standing;
};

/* Start to contend, with the client's lock held. The claim is zeroed, or has ended. REPORTED is called later or
 * from inside the call. PDK_ELIMIT when the session carries as many paths as ZooKeeper can bear; PDK_ECLOSED. On an
 * error it is never called. */
int pdk__claim_start(struct pdk__claim *claim, struct pdk_client *client, pdk__claim_reported *reported,
                     const struct pdk__wish *wish, const char *path, const struct pdk__site *site);

/* It is not at work: free what it tells of its last request. */
void pdk__claim_clear(struct pdk__claim *claim);

/* The caller no longer wants to hold. */
void pdk__claim_release(struct pdk__claim *claim);

/* It holds, and no caller uses it: report whether another contender waits. Cheap when that is known already. */
void pdk__claim_idle(struct pdk__claim *claim);

/* A caller uses it again. */
void pdk__claim_used(struct pdk__claim *claim);

/* The limit in its rule has changed. */
void pdk__claim_judge_again(struct pdk__claim *claim);

/* Does it wait in the queue? */
bool pdk__claim_waits(const struct pdk__claim *claim);

/* Time has passed. */
void pdk__claim_tick(struct pdk__claim *claim);

/* Report DUE at AT_MS, unless all is done by then. */
void pdk__claim_expect(struct pdk__claim *claim, int64_t at_ms);

#endif
