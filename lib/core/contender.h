/*
 * The contender: one request for one lock, from the wish to the last trace of it on the servers.
 *
 * A machine without clock, heap, thread or network. Events go in: what the caller wants, what the servers answered,
 * what became of the session, that time has passed. Actions come out: what to ask the servers, what to tell the
 * caller. A step cannot fail and cannot block.
 *
 *     IDLE --lock-----------> CREATING <--made-- PARENTS         the wish is to hold
 *       |                     |  |  ^  `--no path----^
 *       `-try-> LOOKING -free-'  |  |                                            candidate
 *                                |  `------------ no node of ours there ------ RECOVERING <--> IDENTIFYING
 *                      listed    |                                                   not ours       |
 *          .---------------------+-----------------<----- listed ----- LISTING <----- ours --------'
 *          | first               `-- behind -.                       ^   ^
 *          v                                 v                       |   |
 *        HELD <--gone, next-- WAITING <-- WATCHING --------------------'   |
 *        ^  ^                    |           |      gone, or changed, or   |
 *        |  `------ CHECKING <---+-----------'      others still ahead     |
 *        |           the own node is looked at first                       |
 *        v                                                                 |
 *     SUSPECT     PROVING comes before HELD while the session is in doubt, |
 *                 and CONFIRMING before both where it is asked for;        |
 *                 READING, DELAYED, MARKING before those, likewise         |
 *                                                                          |
 *     any phase that talks --connection lost--> ADRIFT --connected again---+--> CREATING, RECOVERING, DELETING
 *     any phase that talks --outcome unknown--> RESTING --time------------'     or LISTING, by the table below
 *
 *     DELETING --gone--> DONE                                    the wish is gone: unlocked, given up, failed, lost
 *
 * Where to go on, from ADRIFT and RESTING, is decided by what is known of the node and by the wish, so that no
 * disturbance needs a path of its own:
 *
 *                  NO node      MAYBE one     YES, it is there
 *     wanted       CREATING     RECOVERING    LISTING
 *     not wanted   DONE         RECOVERING    DELETING
 *
 * A caller who gives up only changes the wish: the machine goes on until the node is proven gone, and says DONE last.
 *
 * Why it is safe:
 *  - A node is looked for by session and attempt, and only behind a write that a quorum committed (the barrier). A
 *    plain listing may come from a server that lags, and miss a create that is committed; sync does not help where the
 *    client came to a deposed leader that has not noticed, which answers it by itself. Either way a second create would
 *    follow, and leave an orphan of a living session that blocks everybody. The barrier is a delete of the name that we
 *    asked to create, without the sequence number: no such node can be, so it changes nothing and fires nothing, but its
 *    refusal is agreed on like any write, after all writes before it.
 *  - The own node is an exact name: the one that the create's reply told, or one of our session and attempt whose owner
 *    was read and is our session. Session and attempt are in the name for every client to read, so a listing alone
 *    cannot tell our node from one that another client has made under such a name: those are contenders like others.
 *  - The barrier is not the end of every create: the servers can move a session back to the server that it came from,
 *    and a create that was stuck there is committed then (Learner.pendingRevalidations, Leader.setOwner). A create that
 *    was looked for and not found is a stray (stray.h), and is looked for as long as the session lives.
 *  - A grant needs the node in a listing, nobody ahead, and the node's owner to be the session of now (CURATOR-604); and
 *    that session to be proven alive for some time to come: a server that lost its leader answers all the others.
 *  - Where it is asked for, a grant is confirmed: our node is written when nobody is ahead any more. A quorum agrees that it
 *    is there at that moment, and the number of that write, the token, is larger than those of all that any holder before
 *    has written to the servers. It is written as it is, and at the version that was seen: the word of somebody who asks
 *    for the lock must not be lost by it.
 *  - Where a lock delay is asked for, a holder leaves a mark in the lock path's own data before its grant, and takes it off
 *    before its node goes, in the same session and hence in that order; who lost takes nothing off. So a mark of somebody
 *    whose node is gone says that he did not give the lock back, and his successor waits. (A connection that breaks right
 *    between the two can lose the one and not the other: then he waits in vain. Servers under pressure can leave out
 *    the one: it is sent again, and he waits in vain only if he has read the mark by then.) Marks are written for the
 *    version that was read: a write that is late changes nothing. A mark whose reply was lost is left, for its version
 *    is not known, and a guess could take off another holder's. A multi of check and mark would do as well, and could
 *    abort the process (see pdk_mutex_guard()).
 *  - All contenders of a mutex are sequential, so nothing lower can appear: when the only one ahead is gone, the lock
 *    is ours, provided our own node is still there; its watch, set before, would have told otherwise, and first.
 *  - No name is ever used twice: when our node was deleted, or may have been, the next one has another attempt. A lock
 *    path that was deleted and made anew counts from 0 again, and a name that comes back could be mistaken, by a delete
 *    that was late or by a check in somebody's transaction.
 *  - Who is asked to give the lock back (revoked) is told so once, while he holds it, and nothing else changes.
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

/* What a request came to. Unknown: it may have happened, or may yet. Changed: it was for another version. */
enum pdk__outcome { PDK__OK, PDK__NO_NODE, PDK__NO_AUTH, PDK__REFUSED, PDK__UNKNOWN, PDK__CHANGED };

enum pdk__event_kind {
    /* from the caller */
    PDK__EV_ACQUIRE, /* try_only, deadline_ms */
    PDK__EV_RELEASE, /* unlock, cancel, give up: the same wish */
    /* from the clock */
    PDK__EV_TIMER,
    /* from the session */
    PDK__EV_SESSION_UP,       /* session */
    PDK__EV_SESSION_DOWN,     /* not connected; the session may live */
    PDK__EV_SESSION_PROVEN,   /* it is known to live for long enough to be granted something */
    PDK__EV_SESSION_DOUBTED,  /* not any more, until it is proven again */
    PDK__EV_SESSION_PRESUMED, /* on our clock it may be over by now: nobody may believe to hold */
    PDK__EV_SESSION_EXPIRED,  /* the servers say it is over; another may follow */
    PDK__EV_SESSION_OVER,     /* error: none will follow */
    PDK__EV_SESSION_LEFT,     /* error: it goes on without us: nobody holds or waits from now on, and nodes must go */
    /* from the servers: op, outcome, error when refused */
    PDK__EV_CREATED, /* name, owner, token */
    PDK__EV_MADE_PARENTS,
    PDK__EV_BARRIER,    /* OK: a quorum has refused it, as it must */
    PDK__EV_LISTED,     /* children, n_children */
    PDK__EV_IDENTIFIED, /* owner, token, version: of the node that may be ours */
    PDK__EV_WATCHED,    /* name: the predecessor's */
    PDK__EV_FIRED,      /* deleted: the predecessor is gone; else it changed */
    PDK__EV_OWN,        /* owner, token, version, revoked: our node is there, and is watched from now on */
    PDK__EV_OWN_FIRED,  /* deleted */
    PDK__EV_CONFIRMED,  /* owner, token (of the write), version */
    PDK__EV_READ,       /* name: whose mark the lock path carries, NULL: nobody's; token: of the mark; version */
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
    PDK__ACT_CREATE,   /* create our node, and list right behind: CREATED, LISTED */
    PDK__ACT_PARENTS,  /* make the lock path and its ancestors: MADE_PARENTS */
    PDK__ACT_BARRIER,  /* a write that a quorum refuses, and list right behind: BARRIER, LISTED */
    PDK__ACT_LIST,     /* LISTED */
    PDK__ACT_IDENTIFY, /* read the owner of `name`, which may be our node, and set no watch: IDENTIFIED */
    PDK__ACT_WATCH,    /* read and watch the predecessor `name`: WATCHED, later FIRED */
    PDK__ACT_UNWATCH,  /* the predecessor's watch is of no more use */
    PDK__ACT_OWN,      /* read and watch our own node: OWN, later OWN_FIRED */
    PDK__ACT_CONFIRM,  /* write our node, which must be at `version`, as it is: CONFIRMED */
    PDK__ACT_READ,     /* read the mark of the lock path: READ */
    PDK__ACT_MARK,     /* write ours there, at `version`: MARKED */
    PDK__ACT_UNMARK,   /* take ours off, at `version`: UNMARKED */
    PDK__ACT_DELETE,   /* delete our node: DELETED */
    /* to the client */
    PDK__ACT_STRAY, /* the create of `attempt` has left no node so far, and the servers may hold it still: keep a stray */
    /* to the caller */
    PDK__ACT_GRANTED, /* token */
    PDK__ACT_FAILED,  /* error; instead of GRANTED */
    PDK__ACT_SUSPECT,
    PDK__ACT_HELD, /* held again, after SUSPECT */
    PDK__ACT_LOST,
    PDK__ACT_REVOKED, /* somebody asks for the lock; once per grant */
    PDK__ACT_DONE /* no node of it is on the servers, but for strays, or error says why one may be; the last one. PDK_ELOST:
                         another client had deleted the node of the grant before the release */
};

/* `name` is borrowed from the event. `by_exists`: watch by exists, because reading is not allowed. `revoked`: the node
 * carries the word for it, and must not lose it. */
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

/* What is known of the watch on our own node. */
enum pdk__own { PDK__OWN_UNWATCHED, PDK__OWN_ASKED, PDK__OWN_WATCHED };

/* What is known of the mark of a lock delay: may it be ours? */
enum pdk__mark { PDK__MARK_NO, PDK__MARK_MAYBE, PDK__MARK_YES };

/* Since when a mark is known whose owner is gone. Whoever makes contenders keeps it from one to the next, so that the wait
 * goes on and does not begin anew. */
struct pdk__delay {
    int64_t token; /* of the mark */
    int64_t since_ms;
};

/* What a grant must come up to, beyond being the first. */
struct pdk__conditions {
    int64_t min_token; /* 0: none */
    bool confirmed;    /* our node is written before it, and the token is that write's */
    int lock_delay_ms; /* how long it comes later when the holder before did not give the lock back; 0: no delay, no mark */
    struct pdk__delay *delay; /* borrowed */
};

struct pdk__contender {
    /* identity */
    uint64_t *ops;    /* the client's source of op numbers; borrowed */
    uint32_t attempt; /* unique within the session */
    uint32_t spare;   /* the next attempt, to be filled up by whoever steps the machine when it is 0 */
    int64_t session;
    /* the wish */
    bool wanted;
    bool try_only;
    bool looked;
    int64_t deadline_ms;
    /* the node */
    enum pdk__node node;
    bool verified; /* its owner was seen to be our session, and the token is known */
    bool revoked;  /* it was seen to ask for the lock back */
    int64_t token;
    int32_t version;          /* of its data, while verified */
    int64_t confirmed;        /* the token of a write of it that was made when nobody was ahead any more; 0: none was */
    char name[PDK__NAME_MAX]; /* its exact name, once it is there; before, the candidate that was looked at last */
    /* the mark */
    enum pdk__mark mark;
    int32_t mark_version; /* of the path's data, when it is ours */
    uint64_t unmark_op;   /* the last request to take it off */
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
    struct pdk__conditions conditions; /* to be set before it is asked for anything */
    struct pdk__retry retry;
    unsigned lost_creates;
    unsigned parent_tries;
    bool given_back;    /* the caller gave a grant back: the node must be there for the first delete */
    unsigned n_deletes; /* requests to delete the node so far; of several, one may have done it unheard */
    int64_t rest_ms;
    int error;
};

/* OPS is borrowed for the contender's life. SESSION is 0 while not connected; PROVEN says what the session was told to be
 * last. */
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
