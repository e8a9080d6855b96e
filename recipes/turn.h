/*
 * A turn: one owner's share of a grant that the threads of a process hand from one to the next (handover.h). A request
 * for a turn waits in its cohort (cohort.h), and has no node of its own. Its queue is served in the order of the calls.
 */
#ifndef PDK__TURN_H
#define PDK__TURN_H

#include "recipes/hold.h"

/* The owner of a grant that waits for its next turn. No thread has this number. */
#define PDK__NO_THREAD UINT64_MAX

/* A request for a turn, on the stack of its thread or in the handle of an asynchronous one. */
struct pdk__turn {
    struct pdk__list link;      /* in the queue, until it is finished */
    uint64_t thread;            /* that asks; 0: none */
    struct pdk__object *object; /* that is asked for */
    bool counted;               /* in the statistics: it waits, or waited */
    int64_t began_ms, deadline_ms;
    void (*tell)(struct pdk__turn *turn); /* it was finished */
    bool finished;
    int rc;
    struct pdk__hold *hold; /* the grant; or the request that failed, or did not succeed in time. Counted; NULL: none */
};

/* The queue of a cohort. */
struct pdk__turns {
    struct pdk__list queue;
    int64_t due_ms; /* no deadline in the queue is earlier; PDK__NEVER for none */
};

/* All with the client's lock held. */

void pdk__turns_init(struct pdk__turns *turns);

/* It begins, and counts. */
void pdk__turn_begin(struct pdk__turn *turn);
void pdk__turn_join(struct pdk__turns *turns, struct pdk__turn *turn);

/* The first in the queue; NULL: none waits. */
struct pdk__turn *pdk__turns_first(const struct pdk__turns *turns);

/* Does one wait for OBJECT? */
bool pdk__turns_ask_for(const struct pdk__turns *turns, const struct pdk__object *object);

/* It leaves the queue with RC, and is told. HOLD may be NULL. */
void pdk__turn_finish(struct pdk__turn *turn, int rc, struct pdk__hold *hold);

/* Settle all that wait, or those whose deadline has passed at NOW_MS. */
void pdk__turns_fail(struct pdk__turns *turns, int rc, struct pdk__hold *hold);
void pdk__turns_expire(struct pdk__turns *turns, int64_t now_ms, struct pdk__hold *hold);

/* Why it failed, as an incident of its object. */
void pdk__turn_describe(const struct pdk__turn *turn, char text[PDK__INCIDENT_MAX]);

/* The caller has read the result. */
void pdk__turn_clear(struct pdk__turn *turn);

#endif
