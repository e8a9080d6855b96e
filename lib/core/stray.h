/*
 * The stray: a create of ours that left no node when it was looked for, and that the servers may still hold.
 *
 * The barrier of a contender does not end every create. Answers to REVALIDATE are matched by session, not by connection
 * (Learner.pendingRevalidations, 3.8.0), and each REVALIDATE sets the owner of the session at the leader
 * (Leader.revalidateSession, setOwner). One that was stuck between an old server and the leader moves the session back
 * to that server, and a create that was stuck there, too, is committed. Its node belongs to no contender, its session
 * lives, and it blocks every contender after it.
 *
 * A stray lists its path until the session is over, first after 0.1 to 0.2 s, then at intervals that grow with its age:
 * a node that lands at age T is seen by 2T. A listing that another request of the same client brought serves as well.
 * Each child of our session and this attempt is looked at, and deleted when its owner is our session. One create
 * creates at most one node, so the stray ends with it.
 *
 * Only attempts that were recorded are touched. Another client can share an adopted session; its attempts are others.
 *
 * A machine of the same kind as the contender, with its events and actions.
 *
 *     WAITING --time--> LISTING --candidate--> IDENTIFYING --ours--> DELETING --deleted--> OVER
 *        ^ ^               |  ^                     |                   |
 *        | `-- none there -'  `------ not ours -----'                   |
 *        `------ connection lost, outcome unknown, refused -------------'
 */
#ifndef PDK__STRAY_H
#define PDK__STRAY_H

#include "lib/core/contender.h"

enum pdk__stray_phase {
    PDK__STRAY_WAITING,
    PDK__STRAY_LISTING,
    PDK__STRAY_IDENTIFYING,
    PDK__STRAY_DELETING,
    PDK__STRAY_OVER
};

struct pdk__stray {
    uint64_t *ops; /* borrowed */
    int64_t session;
    uint32_t attempt;
    enum pdk__stray_phase phase;
    bool connected;
    uint64_t op;
    int64_t since_ms;
    int64_t due_ms;
    struct pdk__retry retry;
    char name[PDK__NAME_MAX]; /* the candidate that was looked at last; "" for none */
};

/* The create of ATTEMPT in SESSION, which is connected, was not found at NOW_MS. OPS is borrowed for the stray's
 * life. */
void pdk__stray_init(struct pdk__stray *s, uint64_t *ops, int64_t session, uint32_t attempt, uint64_t seed,
                     int64_t now_ms);

/*
 * Take one event, fill ACTIONS. The events it accepts are SESSION_UP, SESSION_DOWN, SESSION_EXPIRED, SESSION_OVER,
 * SESSION_LEFT, TIMER, LISTED, IDENTIFIED and DELETED. A LISTED with op 0 is a listing that another request has
 * brought. Its actions are LIST, IDENTIFY and DELETE of `name`; DONE is the last one.
 */
void pdk__stray_step(struct pdk__stray *s, const struct pdk__event *event, struct pdk__actions *actions);

/* May it be in this state? After every step it is asserted. */
bool pdk__stray_allowed(const struct pdk__stray *s);

/* Does the answer to its LIST serve other strays of the path, too? The first listing of a look does. The next ones,
 * after a candidate of another owner, do not: two strays would make each other look without end. */
bool pdk__stray_shares(const struct pdk__stray *s);

/* When a TIMER event is next of use; PDK__NEVER for never. */
int64_t pdk__stray_wake_ms(const struct pdk__stray *s);

#endif
