/*
 * The contender: one request for one lock, from the caller's acquire until nothing of it is left on the servers.
 *
 * A machine without clock, heap, thread or network. Events go in: the caller's requests, the servers' answers, changes
 * of the session, the passing of time. Actions come out: requests to the servers, reports to the caller. A step cannot
 * fail and cannot block.
 *
 *     IDLE --lock-----------> CREATING <--no path-.              the lock is wanted
 *       |                     |  |  ^  `------------'
 *       `-try-> LOOKING -free-'  |  |                                            candidate
 *                                |  `------------ no node of ours there ------ RECOVERING <--> IDENTIFYING
 *                      listed    |                                                   not ours       |
 *          .---------------------+-----------------<----- listed ----- LISTING <----- ours --------'
 *          | first               `-- queued -.                       ^   ^
 *          v                                 v                       |   |
 *        HELD <--gone, next-- WAITING <-- WATCHING --------------------'   |
 *        ^  ^                    |           |      gone, or changed, or   |
 *        |  `-- VERIFYING_NODE <-+-----------'      others still ahead     |
 *        |           the own node is looked at first                       |
 *        v                                                                 |
 *     SUSPECT     While the lease is low, AWAITING_LEASE precedes HELD.    |
 *                 CONFIRMING precedes both where it is requested.          |
 *                 READING_HOLDER, DELAYED, WRITING_HOLDER precede those    |
 *                 with a lock delay.                                       |
 *                                                                          |
 *     any phase that talks --connection lost--> DISCONNECTED --connected---+--> CREATING, RECOVERING, DELETING
 *     any phase that talks --outcome unknown--> BACKOFF --time-------------'     or LISTING, by the table below
 *     WAITING stays, where its watch is of a node: ZooKeeper's client sets it again
 *
 *     DELETING --deleted--> DONE                                 no longer wanted: unlocked, given up, failed, lost
 *         `---deleted--> CREATING, or BACKOFF and LOOKING until the path is renewed       its number was no place
 *
 * After DISCONNECTED and BACKOFF, the next phase depends on two facts only: whether the node exists, and whether the
 * lock is wanted. So no disturbance needs a path of its own:
 *
 *                  NO node      MAYBE one     YES, it is there
 *     wanted       CREATING     RECOVERING    LISTING, or DELETING where its number is no place
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
 *    (CURATOR-604). It also needs that session proven alive for the time that lease.c requires. A server that lost
 *    its leader still answers reads and pings.
 *  - A confirmed grant, where it is requested, writes our node once no contender is ahead. A quorum agrees that the
 *    node exists at that moment. The number of that write is the token. It is larger than the number of every write
 *    that any earlier holder has made on the servers by then. The data are written unchanged, at the version that was
 *    read, so that a revocation request in them is not lost.
 *  - With a lock delay, a holder writes a record into the lock path's own data before its grant. It clears the record
 *    before it deletes its node, in the same session and hence in that order. A contender that lost its grant clears
 *    nothing. So a record whose node is deleted shows that its holder did not release the lock, and the successor
 *    waits.
 *    (A connection that breaks right between the two can lose the clear and not the delete: then the successor waits in
 *    vain. Servers under pressure can leave out the clear: it is sent again, and the successor waits in vain only if it
 *    has read the record by then.) Records are written at the version that was read: a late write changes nothing. A
 *    record whose reply was lost stays. Its version is not known, and a guess could clear another holder's. A multi of
 *    check and record would do as well, and could abort the process (see pdk_lock_guard()).
 *  - All contenders of a mutex are sequential, so no lower number can appear. When the only contender ahead is deleted,
 *    the lock is ours, provided our own node still exists. Its watch, set before, would have reported otherwise, and
 *    earlier. After a lost connection that is not so: the events of watches that are set again come in no order, and
 *    the node is read first.
 *  - A number that another contender has, too, or that comes after the end of the path's counter, is no place in the
 *    queue. Such a node is never granted: it is deleted, and another is made. After the end of the counter the others
 *    are waited for, because only a path without children can be made anew, and no grant of the old one outlives that.
 *  - A writer that takes the read lock makes its node under the number of its own writer's, not a sequential one. A
 *    listing that shows both proves that the writer's still held when the reader's was there: from then on the reader's
 *    blocks every writer. A listing without the writer's proves nothing, and the request fails. A contender that waits
 *    for the writer's node lists when that is deleted: the reader's has appeared below its own.
 *  - No name is ever used twice: when our node was deleted, or may have been, the next one has another attempt. A lock
 *    path that was deleted and created again counts from 0 again. A repeated name could be mistaken for the old node,
 *    by a late delete or by a check in another client's transaction.
 *  - A revocation request is reported once per grant, while the lock is held. It changes no other state.
 *  - A holder that is idle reports other contenders, and releases nothing by itself (rivals.h). Idle or not, it is the
 *    holder.
 *  - Every question carries an op number. A reply or watch event with another number is stale and changes nothing.
 */
#ifndef PDK__CONTENDER_H
#define PDK__CONTENDER_H

#include "lib/core/event.h"
#include "lib/core/own_node.h"
#include "lib/core/phase.h"
#include "lib/core/queue.h"
#include "lib/core/record.h"
#include "lib/core/retry.h"
#include "lib/core/rivals.h"
#include "lib/core/wish.h"

struct pdk__contender {
    /* identity */
    uint64_t *ops;                /* the client's source of op numbers; borrowed */
    const struct pdk__wish *wish; /* borrowed */
    uint32_t attempt;             /* unique within the session */
    uint32_t spare;               /* the next attempt, to be set, when 0, by the code that steps the machine */
    /* the request */
    unsigned spent; /* so often its owner found the numbers of the path used up: if at all, it makes no node before the
                       path is renewed. To be set before the first event */
    bool requested;
    bool released; /* the caller released a grant: the node must exist at the first delete */
    int error;     /* why DONE may leave a node */
    struct {       /* by the last events of it */
        int64_t id;
        bool connected;
        bool lease_ok; /* it is known to live for long enough */
        int64_t timeout_ms;
    } session;
    struct pdk__own_node node;
    struct pdk__queue queue;
    struct pdk__record record;
    struct pdk__rivals rivals;
    /* the conversation */
    enum pdk__phase phase;
    uint64_t op; /* of the last request, while its answer or a watch event is awaited; else 0 */
    struct pdk__retry retry;
    int64_t rest_ms;  /* when the rest ends */
    int64_t now_ms;   /* of the present step */
    int64_t asked_ms; /* when the main question was sent */
};

/* OPS and WISH are borrowed for the contender's life; a limit in its rule may change, followed by the event for that. A
 * rule that admits several is BY_CHILDREN: a watch on the nearest contender that blocks ours is not enough. SESSION is
 * 0 while not connected. LEASE_OK: whether it is OK by the lease's last report. Where connected, session.timeout_ms is
 * to be set before the first event. */
void pdk__contender_init(struct pdk__contender *c, uint64_t *ops, const struct pdk__wish *wish, uint32_t attempt,
                         uint64_t seed, int64_t session, bool connected, bool lease_ok);

/* Take one event, fill ACTIONS, to be carried out in their order. Before it, `spare` must not be 0. */
void pdk__contender_step(struct pdk__contender *c, const struct pdk__event *event, struct pdk__actions *actions);

/* When a TIMER event is next of use, on the clock of now_ms; PDK__NEVER for never. Any TIMER in between does no harm.
 */
int64_t pdk__contender_wake_ms(const struct pdk__contender *c);

/* Does it rely on a watch at this moment? Then LOOK_AGAIN is of use. */
bool pdk__contender_watches(const struct pdk__contender *c);

/* Does it hold, or is it about to? Then the lease has to be renewed again and again. */
bool pdk__contender_needs_lease(const struct pdk__contender *c);

#endif
