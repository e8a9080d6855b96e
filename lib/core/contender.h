/*
 * The contender: one request for one lock, from the caller's acquire until nothing of it is left on the servers.
 *
 * A machine without clock, heap, thread or network. Events go in: the caller's requests, the servers' answers, changes
 * of the session, the passing of time. Actions come out: requests to the servers, reports to the caller. A step cannot
 * fail and cannot block.
 *
 *     IDLE --lock-----------> CREATING <--made-- PARENTS         the lock is wanted
 *       |                     |  |  ^  `--no path----^
 *       `-try-> LOOKING -free-'  |  |                                            candidate
 *                                |  `------------ no node of ours there ------ RECOVERING <--> IDENTIFYING
 *                      listed    |                                                   not ours       |
 *          .---------------------+-----------------<----- listed ----- LISTING <----- ours --------'
 *          | first               `-- queued -.                       ^   ^
 *          v                                 v                       |   |
 *        HELD <--gone, next-- WAITING <-- WATCHING --------------------'   |
 *        ^  ^                    |           |      gone, or changed, or   |
 *        |  `------ CHECKING <---+-----------'      others still ahead     |
 *        |           the own node is looked at first                       |
 *        v                                                                 |
 *     SUSPECT     While the session is in doubt, PROVING precedes HELD.    |
 *                 CONFIRMING precedes both where it is requested.          |
 *                 READING, DELAYED, MARKING precede those with a delay.    |
 *                                                                          |
 *     any phase that talks --connection lost--> ADRIFT --connected again---+--> CREATING, RECOVERING, DELETING
 *     any phase that talks --outcome unknown--> RESTING --time------------'     or LISTING, by the table below
 *
 *     DELETING --deleted--> DONE                                 no longer wanted: unlocked, given up, failed, lost
 *
 * After ADRIFT and RESTING, the next phase depends on two facts only: whether the node exists, and whether the lock is
 * wanted. So no disturbance needs a path of its own:
 *
 *                  NO node      MAYBE one     YES, it is there
 *     wanted       CREATING     RECOVERING    LISTING
 *     not wanted   DONE         RECOVERING    DELETING
 *
 * A caller that gives up only stops wanting the lock. The machine goes on until the node is proven deleted, and says
 * DONE last.
 *
 * Why it is safe:
 *  - A node is looked for by session and attempt, and only after a write that a quorum committed (the barrier). A plain
 *    listing may come from a server that lags, and miss a create that is committed. sync does not help where the client
 *    is connected to a deposed leader that has not noticed and answers the sync on its own. In both cases a second
 *    create would follow, and leave an orphan of a living session that blocks every contender. The barrier is a delete
 *    of the name that we asked to create, without the sequence number. No such node can exist, so it changes nothing
 *    and fires no watch. But its refusal is agreed on like any write, after all writes before it.
 *  - The own node is an exact name. Either the create's reply carried it, or it has our session and attempt and its
 *    owner was read and is our session. Every client can read session and attempt in the name. So a listing alone
 *    cannot tell our node from one that another client created under such a name. Those nodes are contenders like
 *    others.
 *  - The barrier does not end every create. The servers can move a session back to the server that it came from, and
 *    then commit a create that was stuck there (Learner.pendingRevalidations, Leader.setOwner). A create that was
 *    looked for and not found is a stray (stray.h), and is looked for as long as the session lives.
 *  - A grant needs the node in a listing, no contender ahead, and the current session as the node's owner
 *    (CURATOR-604). It also needs that session proven alive for the time that session.h requires. A server that lost
 *    its leader still answers reads and pings.
 *  - A confirmed grant, where it is requested, writes our node once no contender is ahead. A quorum agrees that the
 *    node exists at that moment. The number of that write is the token. It is larger than the number of every write
 *    that any earlier holder has made on the servers by then. The data are written unchanged, at the version that was
 *    read, so that a revocation request in them is not lost.
 *  - With a lock delay, a holder writes a mark into the lock path's own data before its grant. It clears the mark
 *    before it deletes its node, in the same session and hence in that order. A contender that lost its grant clears
 *    nothing. So a mark whose node is deleted shows that its holder did not release the lock, and the successor waits.
 *    (A connection that breaks right between the two can lose the clear and not the delete: then the successor waits in
 *    vain. Servers under pressure can leave out the clear: it is sent again, and the successor waits in vain only if it
 *    has read the mark by then.) Marks are written at the version that was read: a late write changes nothing. A mark
 *    whose reply was lost stays. Its version is not known, and a guess could clear another holder's. A multi of check
 *    and mark would do as well, and could abort the process (see pdk_mutex_guard()).
 *  - All contenders of a mutex are sequential, so no lower number can appear. When the only contender ahead is deleted,
 *    the lock is ours, provided our own node still exists. Its watch, set before, would have reported otherwise, and
 *    earlier.
 *  - No name is ever used twice: when our node was deleted, or may have been, the next one has another attempt. A lock
 *    path that was deleted and created again counts from 0 again. A repeated name could be mistaken for the old node,
 *    by a late delete or by a check in another client's transaction.
 *  - A revocation request is reported once per grant, while the lock is held. It changes no other state.
 *  - Every question carries an op number. A reply or watch event with another number is stale and changes nothing.
 */
#ifndef PDK__CONTENDER_H
#define PDK__CONTENDER_H

#include "lib/core/name.h"
#include "lib/core/phase.h"
#include "lib/core/retry.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PDK__NEVER INT64_MAX

/* The outcome of a request. Unknown: it may have happened, or may yet. Changed: it was for another version. */
enum pdk__outcome { PDK__OK, PDK__NO_NODE, PDK__NO_AUTH, PDK__REFUSED, PDK__UNKNOWN, PDK__CHANGED };

enum pdk__event_kind {
    /* from the caller */
    PDK__EV_ACQUIRE, /* try_only, deadline_ms */
    PDK__EV_RELEASE, /* unlock, cancel, give up: all the same to the machine */
    /* from the clock */
    PDK__EV_TIMER,
    /* from the session */
    PDK__EV_SESSION_UP,       /* session */
    PDK__EV_SESSION_DOWN,     /* not connected; the session may live */
    PDK__EV_SESSION_PROVEN,   /* it is known to live for long enough for a grant */
    PDK__EV_SESSION_DOUBTED,  /* no longer, until it is proven again */
    PDK__EV_SESSION_PRESUMED, /* on our clock it may be over by now: no contender may count as the holder */
    PDK__EV_SESSION_EXPIRED,  /* the servers say it is over; another may follow */
    PDK__EV_SESSION_OVER,     /* error: no session will follow */
    PDK__EV_SESSION_LEFT,     /* error: it goes on without us: no grant, no wait from now on, and nodes must go */
    /* from the servers: op, outcome, error when refused */
    PDK__EV_CREATED, /* name, owner, token */
    PDK__EV_MADE_PARENTS,
    PDK__EV_BARRIER,    /* OK: a quorum has refused it, as expected */
    PDK__EV_LISTED,     /* children, n_children */
    PDK__EV_IDENTIFIED, /* owner, token, version: of the node that may be ours */
    PDK__EV_WATCHED,    /* name: the predecessor's */
    PDK__EV_FIRED,      /* deleted: the predecessor is deleted; else it changed */
    PDK__EV_OWN,        /* owner, token, version, revoked: our node is there, and is watched from now on */
    PDK__EV_OWN_FIRED,  /* deleted */
    PDK__EV_CONFIRMED,  /* owner, token (of the write), version */
    PDK__EV_READ,       /* name: of the lock path's mark, NULL: no mark; token: of the mark; version */
    PDK__EV_MARKED,     /* version */
    PDK__EV_UNMARKED,
    PDK__EV_DELETED
};

/* Pointers are borrowed for the step. */
struct pdk__event {
    enum pdk__event_kind kind;
    int64_t now_ms;
    uint64_t op;
    enum pdk__outcome outcome;
    int error;
    bool try_only;
    bool deleted;
    bool revoked;
    int64_t deadline_ms;
    int64_t session;
    int64_t owner;
    int64_t token;
    int32_t version;
    const char *name;
    const char *const *children;
    size_t n_children;
};

enum pdk__action_kind {
    /* to the servers; the answer echoes op */
    PDK__ACT_CREATE,   /* create our node, and list right after: CREATED, LISTED */
    PDK__ACT_PARENTS,  /* create the lock path and its ancestors: MADE_PARENTS */
    PDK__ACT_BARRIER,  /* a write that a quorum refuses, and list right after: BARRIER, LISTED */
    PDK__ACT_LIST,     /* LISTED */
    PDK__ACT_IDENTIFY, /* read the owner of `name`, which may be our node, and set no watch: IDENTIFIED */
    PDK__ACT_WATCH,    /* read and watch the predecessor `name`: WATCHED, later FIRED */
    PDK__ACT_UNWATCH,  /* the predecessor's watch is no longer needed */
    PDK__ACT_OWN,      /* read and watch our own node: OWN, later OWN_FIRED */
    PDK__ACT_CONFIRM,  /* write our node, which must be at `version`, unchanged: CONFIRMED */
    PDK__ACT_READ,     /* read the mark of the lock path: READ */
    PDK__ACT_MARK,     /* write our mark there, at `version`: MARKED */
    PDK__ACT_UNMARK,   /* clear our mark, at `version`: UNMARKED */
    PDK__ACT_DELETE,   /* delete our node: DELETED */
    /* to the client */
    PDK__ACT_STRAY, /* the create of `attempt` has left no node so far, and may still take effect: keep a stray */
    /* to the caller */
    PDK__ACT_GRANTED, /* token */
    PDK__ACT_FAILED,  /* error; instead of GRANTED */
    PDK__ACT_SUSPECT,
    PDK__ACT_HELD, /* held again, after SUSPECT */
    PDK__ACT_LOST,
    PDK__ACT_REVOKED, /* a client asks for the lock; once per grant */
    PDK__ACT_DONE     /* the last one: no node of it is left, but for strays, or error says why one may be. PDK_ELOST:
                      * another client had deleted the node of the grant before the release */
};

/* `name` is borrowed from the event. `by_exists`: watch by exists, because reading is not allowed. `revoked`: the
 * node carries a revocation request, and must keep it. */
struct pdk__action {
    enum pdk__action_kind kind;
    uint64_t op;
    const char *name;
    bool by_exists;
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

enum pdk__node { PDK__NODE_NO, PDK__NODE_MAYBE, PDK__NODE_YES };

/* The state of the watch on our own node, as far as is known. */
enum pdk__own { PDK__OWN_UNWATCHED, PDK__OWN_ASKED, PDK__OWN_WATCHED };

/* May the mark of a lock delay be ours? */
enum pdk__mark { PDK__MARK_NO, PDK__MARK_MAYBE, PDK__MARK_YES };

/* Since when we have known a mark whose owner's node is deleted. The code that creates contenders keeps it from one
 * to the next, so that the wait goes on and does not begin again. */
struct pdk__delay {
    int64_t token; /* of the mark */
    int64_t since_ms;
};

/* The conditions of a grant, beyond being the first. */
struct pdk__conditions {
    int64_t min_token; /* 0: none */
    bool confirmed;    /* our node is written before it, and the token is that write's */
    int lock_delay_ms; /* how much later it comes when the last holder did not release the lock; 0: no delay, no mark */
    struct pdk__delay *delay; /* borrowed */
};

struct pdk__contender {
    /* identity */
    uint64_t *ops;    /* the client's source of op numbers; borrowed */
    uint32_t attempt; /* unique within the session */
    uint32_t spare;   /* the next attempt, to be set, when 0, by the code that steps the machine */
    int64_t session;
    /* the request */
    bool wanted;
    bool try_only;
    bool looked;
    int64_t deadline_ms;
    /* the node */
    enum pdk__node node;
    bool verified; /* its owner was seen to be our session, and the token is known */
    bool revoked;  /* a revocation request was seen in it */
    int64_t token;
    int32_t version;          /* of its data, while verified */
    int64_t confirmed;        /* the token of a write of it, made once no contender was ahead; 0: no such write */
    char name[PDK__NAME_MAX]; /* its exact name, once it is there; before, the candidate that was looked at last */
    /* the mark */
    enum pdk__mark mark;
    int32_t mark_version; /* of the path's data, when it is ours */
    uint64_t unmark_op;   /* the last request to clear it */
    int64_t delayed_ms;   /* until when */
    /* the conversation */
    enum pdk__phase phase;
    bool connected;
    bool proven; /* the session is known to live for long enough */
    uint64_t op;
    uint64_t own_op;
    enum pdk__own own;
    bool own_by_exists;
    bool watching;     /* a watch on a predecessor may be set */
    bool by_exists;    /* it was asked for by exists */
    bool next_in_line; /* only one was ahead in the last listing */
    /* policy */
    struct pdk__conditions conditions; /* to be set before the first event */
    struct pdk__retry retry;
    unsigned lost_creates;
    unsigned parent_tries;
    bool given_back;    /* the caller released a grant: the node must exist at the first delete */
    unsigned n_deletes; /* requests to delete the node so far; of several, one may have succeeded unreported */
    int64_t rest_ms;
    int error;
};

/* OPS is borrowed for the contender's life. SESSION is 0 while not connected. PROVEN: whether the session was
 * proven, by its last report. */
void pdk__contender_init(struct pdk__contender *c, uint64_t *ops, uint32_t attempt, uint64_t seed, int64_t session,
                         bool connected, bool proven);

/* Take one event, fill ACTIONS, to be carried out in their order. Before it, `spare` must not be 0. */
void pdk__contender_step(struct pdk__contender *c, const struct pdk__event *event, struct pdk__actions *actions);

/* When a TIMER event is next of use, on the clock of now_ms; PDK__NEVER for never. Any TIMER in between does no harm.
 */
int64_t pdk__contender_wake_ms(const struct pdk__contender *c);

/* Does it hold, or is it about to? Then the session has to be proven again and again. */
bool pdk__contender_wants_proof(const struct pdk__contender *c);

#endif
