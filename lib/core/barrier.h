/*
 * A barrier: one node, and a call about it. The call waits until the node is deleted, or creates it, or deletes it.
 *
 * A machine of the same kind as the contender, with its events and actions.
 *
 *     APART --connected--> ASKING --the node is there--> WATCHING --it changed, or is deleted--> ASKING
 *       ^                  |  ^ ^                            |
 *       |                  |  | `--made-- PARENTS            |
 *       |                  |  `--time-- BACKOFF              |
 *       `-connection lost- any phase      any phase --answered, late, or no longer wanted--> OVER
 *                                         `--the same, and a watch is not set yet--> FADING --it is removed--> OVER
 *
 * Every call may be repeated: a node that is there is a barrier that is set, whichever request created it, and a node
 * that is not there is one that is removed. So a lost answer needs no search. A node with children is no barrier's, but
 * the path of a lock or of anything else: PDK_EINVAL. The watch is set by a read, which sets
 * none on a node that is not there; a node that may not be read is watched by exists, and looked at each second.
 */
#ifndef PDK__CORE_BARRIER_H
#define PDK__CORE_BARRIER_H

#include "lib/core/event.h"
#include "lib/core/retry.h"

/* Of both barriers. */
enum {
    PDK__BARRIER_FLOOR_MS = 50, /* the rest after an answer that leaves the outcome open */
    PDK__BARRIER_CEILING_MS = 3000,

    /* Servers with the fix of CVE-2024-23944 accept an exists-watch on a node that may not be read, and never fire it.
     * So it is looked at again. */
    PDK__BARRIER_UNREADABLE_MS = 1000,

    /* The servers may reap an empty container between the creates of the ancestors and ours. */
    PDK__BARRIER_PARENT_TRIES_MAX = 8
};

enum pdk__barrier_task { PDK__BARRIER_WAIT, PDK__BARRIER_SET, PDK__BARRIER_REMOVE };

enum pdk__barrier_phase {
    PDK__BARRIER_APART, /* no server is connected */
    PDK__BARRIER_ASKING,
    PDK__BARRIER_PARENTS,
    PDK__BARRIER_WATCHING,
    PDK__BARRIER_BACKOFF,
    PDK__BARRIER_FADING, /* the caller was told, and a watch is still to be removed */
    PDK__BARRIER_OVER
};

struct pdk__barrier {
    uint64_t *ops; /* borrowed */
    enum pdk__barrier_task task;
    bool once; /* look, and do not wait */
    int64_t deadline_ms;
    enum pdk__barrier_phase phase;
    bool connected;
    bool begun;     /* a write was sent, and may have happened */
    bool watched;   /* a watch of ours may be on the node */
    bool by_exists; /* it is watched by exists, because it may not be read */
    bool overtaken; /* a watch has reported since the request was sent */
    unsigned parent_tries;
    uint64_t op;
    int64_t due_ms;
    struct pdk__retry retry;
};

/* OPS is borrowed for the barrier's life. */
void pdk__barrier_init(struct pdk__barrier *b, uint64_t *ops, enum pdk__barrier_task task, uint64_t seed,
                       bool connected);

/*
 * Take one event, fill ACTIONS. It accepts ACQUIRE, the first, with deadline_ms and try_only; RELEASE, which ends it
 * with PDK_ECANCELED; TIMER; the events of the session; CREATED, MADE_PARENTS, IDENTIFIED, WATCHED, FIRED, DELETED. Its
 * actions have no name, for they are about the node itself: CREATE with attempt 0, PARENTS, IDENTIFY, WATCH, UNWATCH,
 * DELETE; FAILED with the error of a call that has ended before the last action; and DONE, the last one, with the error
 * of the call unless FAILED had it. A write that was sent and not answered in time: PDK_EUNKNOWN.
 */
void pdk__barrier_step(struct pdk__barrier *b, const struct pdk__event *event, struct pdk__actions *actions);

/* May it be in this state? After every step it is asserted. */
bool pdk__barrier_allowed(const struct pdk__barrier *b);

/* When a TIMER event is next of use; PDK__NEVER for never. */
int64_t pdk__barrier_wake_ms(const struct pdk__barrier *b);

#endif
