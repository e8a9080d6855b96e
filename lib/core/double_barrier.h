/*
 * A member of a double barrier: its members enter together, when there are enough of them, and leave together.
 *
 * A machine of the same kind as the contender, with its events and actions. Each member has an ephemeral node under the
 * path, of any name. The member whose create makes them enough creates the node "ready" beside them; the others wait
 * for it. To leave, a member deletes its node and waits until no other member has one; the last deletes "ready".
 *
 *     entering:   CREATING --created--> COUNTING --enough--> OPENING ---------------.
 *                  ^  | `-no path-> PARENTS |  ^ `--"ready"-> DATING --of our round---.
 *                  |  `-exists-> IDENTIFYING|  |                `--of the one before: it is waited out, as by a leaver
 *                  |                        |  `--"ready"-- FOLLOWING, WAITING        v
 *                  |                        `----too few-------^                    INSIDE
 *                  `--- the node was deleted                                          |
 *     leaving:    LISTING <------------------------------------------------ leave ----'
 *                  |  ^  ^
 *                  |  |  `--deleted-- FOLLOWING, WAITING: for another member, the highest if ours is the lowest, else
 *                  |  |               the lowest
 *                  |  `-- REMOVING: the own node, before the wait for the lowest
 *                  `--no other member--> REMOVING --> CHECKING, CLOSING: "ready" --> OVER
 *
 * APART and BACKOFF interrupt any of these: the connection is lost, or the outcome of a request unknown. The next
 * phase depends on the aim and on the own node only:
 *
 *                 no node, maybe one   it is there
 *     ENTER       CREATING             COUNTING
 *     LEAVE       LISTING              LISTING
 *     QUIT        REMOVING or OVER     REMOVING    the entry or the wait has ended: the node must go
 *     TIDY        LISTING              -           the session has ended: "ready" must go if no member is left
 *
 * Rules, which are Curator's where it has one:
 *  - The round is the creation of "ready". One that was created after the member had come lets it in. An older one is
 *    of the round before: the member waits until the others whose nodes are older than it have left, and deletes it
 *    when none of them has (Curator enters). Else every child counts as a member, but where contenders of a lock stand
 *    no member enters.
 *  - A member that comes when COUNT others are there is refused: PDK_EBUSY (Curator lets it in). Where more than COUNT
 *    are there, PLACING asks for their ages, one after the other; that costs nothing where there are no more. The
 *    driver keeps the listing meanwhile: COUNT listings of as many names would be the square. Once a member has seen
 *    that fewer than COUNT are older than itself, it is one of those that enter: no older one can come. Older ones that
 *    may not be read are not counted. When one has left before it was asked, the others are listed anew.
 *  - A watch event lets no member in, and none out. It causes a listing (Curator before 5.10 takes any event for the
 *    entry, GH-1290).
 *  - The own name has session and attempt. It is exact: a create whose answer was lost is repeated under the same name,
 *    and the answer "exists" leads to a look at the owner. So no attempt has two nodes. A create that may still take
 *    effect when the node has been deleted is a stray (stray.h).
 *  - Only members of the round are waited for: those whose nodes are older than its "ready". A node of the next round
 *    would else hold back a member that is slow to leave this one, while the next round waits for that member (Curator
 *    waits so). And only the round's own "ready" is deleted. Between the look at it and its deletion another member can
 *    have deleted it, and the next round have created one: members of that round who have not seen it create it again.
 *  - A session that is given up without the servers' word may live on for a session timeout, and its node would count
 *    beside that of the next session. So the node is deleted first, by its name.
 *  - A member whose session ends inside has left against its will: LOST. If its own node is missing when it leaves,
 *    too.
 */
#ifndef PDK__DOUBLE_BARRIER_H
#define PDK__DOUBLE_BARRIER_H

#include "lib/core/barrier.h"
#include "lib/core/name.h"
#include "lib/core/own_node.h"
#include "lib/core/retry.h"

#define PDK__READY "ready"

enum pdk__member_aim { PDK__AIM_ENTER, PDK__AIM_INSIDE, PDK__AIM_LEAVE, PDK__AIM_QUIT, PDK__AIM_TIDY };

enum pdk__member_phase {
    PDK__MEMBER_APART,
    PDK__MEMBER_BACKOFF,
    PDK__MEMBER_CREATING,
    PDK__MEMBER_PARENTS,
    PDK__MEMBER_IDENTIFYING,
    PDK__MEMBER_COUNTING,
    PDK__MEMBER_PLACING, /* is another member older? */
    PDK__MEMBER_DATING,  /* did "ready" come after us? */
    PDK__MEMBER_OPENING,
    PDK__MEMBER_FOLLOWING, /* a read that sets a watch is under way */
    PDK__MEMBER_WAITING,
    PDK__MEMBER_INSIDE,
    PDK__MEMBER_LISTING,
    PDK__MEMBER_REMOVING,
    PDK__MEMBER_CHECKING, /* is "ready" that of the round, which has ended? */
    PDK__MEMBER_CLOSING,
    PDK__MEMBER_OVER
};

struct pdk__double_barrier {
    uint64_t *ops; /* borrowed */
    size_t count;  /* how many members are enough */
    int64_t session;
    bool connected;
    enum pdk__member_aim aim;
    enum pdk__member_phase phase;
    uint64_t op;

    /* the caller's request: to enter, then to leave */
    bool once;
    int64_t deadline_ms;
    bool told; /* that it has failed */

    /* the own node */
    enum pdk__existence node;
    int64_t token; /* of its create */
    int64_t came;  /* of the create of the first one */
    uint32_t attempt;
    uint32_t spare; /* the next attempt, to be set, when 0, by the code that steps the machine */
    bool unsure;    /* a create of this attempt may still take effect */
    char name[PDK__NAME_MAX];
    unsigned parent_tries;
    bool admitted; /* it is one of the first COUNT members */
    size_t older;  /* members of those that were asked */
    bool outlived; /* the session was given up: a node of that name may be left, and must go before the next one */

    /* the node that is waited for */
    bool watched; /* a watch of ours may be on it */
    bool by_exists;

    bool passing; /* the member that was read last is dealt with: find the next one */

    /* the round that it is in, or waits out */
    int64_t round; /* the token of its "ready" */
    bool outwaits; /* it waits for its end */
    bool lowest;   /* our node is the lowest, so the highest is waited for */

    int64_t due_ms;
    struct pdk__retry retry;
};

/* OPS is borrowed for the machine's life. SESSION is 0 before the first one. */
void pdk__double_barrier_init(struct pdk__double_barrier *b, uint64_t *ops, size_t count, uint32_t attempt,
                              uint64_t seed, int64_t session, bool connected);

/*
 * Take one event, fill ACTIONS.
 *
 * Events: ACQUIRE to enter, RELEASE to leave, both with deadline_ms and try_only; RELEASE while it enters, or leaves,
 * ends that with PDK_ECANCELED. TIMER, the events of the session, and the replies. LISTED has the name of the node that
 * was last asked for or watched; CREATED, IDENTIFIED and WATCHED have the token of the node.
 *
 * Actions: CREATE of `name` with its attempt, or of "ready" with attempt 0; PARENTS; IDENTIFY, DELETE, WATCH of `name`;
 * LIST, for which the last one will do where it says `kept`; UNWATCH; STRAY. GRANTED: it is inside. FAILED: the request
 * has failed. LOST: the session has ended inside. DONE is the last one, with an error if our node, or "ready", may be
 * left.
 */
void pdk__double_barrier_step(struct pdk__double_barrier *b, const struct pdk__event *event,
                              struct pdk__actions *actions);

/* May it be in this state? After every step it is asserted. */
bool pdk__double_barrier_allowed(const struct pdk__double_barrier *b);

/* When a TIMER event is next of use; PDK__NEVER for never. */
int64_t pdk__double_barrier_wake_ms(const struct pdk__double_barrier *b);

#endif
