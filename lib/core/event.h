/*
 * The events and actions of the contender (contender.h) and of the stray (stray.h). Every request carries an op number,
 * and its answer echoes that number.
 */
#ifndef PDK__EVENT_H
#define PDK__EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDK__NEVER INT64_MAX

/* The outcome of a request. Unknown: it may have happened, or may yet. Changed: it was for another version. */
enum pdk__outcome { PDK__OK, PDK__NO_NODE, PDK__NO_AUTH, PDK__REFUSED, PDK__UNKNOWN, PDK__CHANGED };

enum pdk__event_kind {
    /* from the caller */
    PDK__EV_ACQUIRE, /* of a barrier: try_only, deadline_ms */
    PDK__EV_RELEASE, /* unlock, cancel, give up: all the same to the machine */
    PDK__EV_RULE,    /* the rule has another limit from now on */
    PDK__EV_IDLE,    /* the lock is held, and not used: report other contenders */
    PDK__EV_USED,    /* it is used again */
    /* from the driver, once in a session timeout: a server may have swallowed the event of a watch. So all that is
     * watched is read and watched once more */
    PDK__EV_LOOK_AGAIN,
    /* from the clock */
    PDK__EV_TIMER,
    /* from the session */
    PDK__EV_SESSION_UP,      /* session, timeout_ms */
    PDK__EV_SESSION_DOWN,    /* not connected; the session may live */
    PDK__EV_LEASE_OK,        /* it is known to live for long enough for a grant */
    PDK__EV_LEASE_LOW,       /* no longer, until it is proven again */
    PDK__EV_LEASE_EXPIRED,   /* on our clock it may be over by now: no contender may count as the holder */
    PDK__EV_SESSION_EXPIRED, /* it is over, by the servers' word, or (error) given up; another may follow */
    PDK__EV_SESSION_OVER,    /* error: no session will follow */
    PDK__EV_SESSION_LEFT,    /* error: it goes on without us: no grant, no wait from now on, and nodes must go */
    /* from the servers: op, outcome, error when refused */
    PDK__EV_CREATED, /* name, owner, token */
    PDK__EV_MADE_PARENTS,
    PDK__EV_BARRIER,     /* OK: a quorum has refused it, as expected */
    PDK__EV_LISTED,      /* children, n_children */
    PDK__EV_IDENTIFIED,  /* owner, token, version: of the node that may be ours */
    PDK__EV_WATCHED,     /* name: the predecessor's; or children, n_children */
    PDK__EV_FIRED,       /* deleted: the predecessor, and first: nothing was ahead of it; else there is a change */
    PDK__EV_OWN,         /* owner, token, version, revoked: our node is there, and is watched from now on */
    PDK__EV_OWN_FIRED,   /* deleted */
    PDK__EV_CONFIRMED,   /* owner, token (of the write), version */
    PDK__EV_RECORD_READ, /* name: in the holder record, NULL: none; token: of the record; version */
    PDK__EV_RECORDED,    /* version */
    PDK__EV_CLEARED,
    PDK__EV_RIVALS,       /* children, n_children: the answer to RIVALS */
    PDK__EV_RIVALS_FIRED, /* they have changed since */
    PDK__EV_DELETED
};

/* Pointers are borrowed for the step. */
struct pdk__event {
    enum pdk__event_kind kind;
    int64_t now_ms;
    uint64_t op;
    enum pdk__outcome outcome;
    int error;
    int code; /* the servers', for people: no machine looks at it */
    bool try_only;
    bool deleted;
    bool first;
    bool revoked;
    bool has_children; /* of IDENTIFIED and WATCHED: the node is no barrier's */
    int64_t deadline_ms;
    int64_t session;
    int64_t timeout_ms;
    int64_t owner;
    int64_t token;
    int32_t version;
    const char *name;
    const char *const *children;
    size_t n_children;
};

/* Have the servers refused the request that EVENT answers, a reading one? They may say anything. */
bool pdk__event_refused(const struct pdk__event *event);

/* The error by which the servers have refused the request that EVENT answers. */
int pdk__event_error(const struct pdk__event *event);

enum pdk__action_kind {
    /* to the servers; the answer echoes op */
    PDK__ACT_CREATE,      /* create our node, and list right after: CREATED, LISTED */
    PDK__ACT_PARENTS,     /* create the lock path and its ancestors, right before a CREATE with its op: MADE_PARENTS */
    PDK__ACT_BARRIER,     /* a write that a quorum refuses, and list right after: BARRIER, LISTED */
    PDK__ACT_LIST,        /* LISTED */
    PDK__ACT_IDENTIFY,    /* read the owner of `name`, which may be our node, and set no watch: IDENTIFIED */
    PDK__ACT_WATCH,       /* read and watch the predecessor `name`, NULL: the same as before; or the children: WATCHED,
                           * later FIRED */
    PDK__ACT_UNWATCH,     /* the predecessor's watch is no longer wanted */
    PDK__ACT_OWN,         /* read and watch our own node: OWN, later OWN_FIRED */
    PDK__ACT_CONFIRM,     /* write our node, which must be at `version`, unchanged: CONFIRMED */
    PDK__ACT_READ_RECORD, /* read the record of the lock path: RECORD_READ */
    PDK__ACT_RECORD,      /* write our record there, at `version`: RECORDED */
    PDK__ACT_CLEAR,       /* clear our record, at `version`: CLEARED */
    PDK__ACT_RIVALS,      /* list and watch the children of the path: RIVALS, later RIVALS_FIRED */
    PDK__ACT_DELETE,      /* delete our node: DELETED */
    /* to the client */
    PDK__ACT_STRAY, /* the create of `attempt` has left no node so far, and may still take effect: keep a stray */
    PDK__ACT_RENEW, /* before a DELETE: the path's numbers are near their end; delete it, too, if it is empty then */
    /* to the caller */
    PDK__ACT_GRANTED, /* token */
    PDK__ACT_FAILED,  /* error; instead of GRANTED */
    PDK__ACT_SUSPECT,
    PDK__ACT_HELD, /* held again, after SUSPECT */
    PDK__ACT_LOST,
    PDK__ACT_CONTENDED, /* after IDLE: another contender may wait for it; once per connection */
    PDK__ACT_REVOKED,   /* a client asks for the lock; once per grant */
    PDK__ACT_DONE       /* the last one: no node of it is left, but for strays, or error says why one may be. PDK_ELOST:
                      * another client had deleted the node of the grant before the release */
};

/* `name` is borrowed from the event. `by_exists`: watch by exists, because reading is not allowed. `again`: a watch
 * that was asked for before may be left, on this predecessor or on another. `kept`: the last listing will do. `all`:
 * the ancestors up to the root, not only the nearest. `by_children`: list and watch the children of the path.
 * `revoked`: the node carries a revocation request, and must keep it. */
struct pdk__action {
    enum pdk__action_kind kind;
    uint64_t op;
    const char *name;
    bool by_exists;
    bool by_children;
    bool again;
    bool kept;
    bool all;
    bool revoked;
    uint32_t attempt;
    int32_t version;
    int64_t token;
    int error;
};

enum { PDK__ACTIONS_MAX = 6 };

struct pdk__actions {
    size_t n;
    struct pdk__action list[PDK__ACTIONS_MAX];
};

/* ACTION comes after the others. Returns it, where it lies. */
struct pdk__action *pdk__actions_add(struct pdk__actions *out, struct pdk__action action);

#endif
