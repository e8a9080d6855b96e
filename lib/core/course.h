/*
 * The moves of a contender, whatever event led to them: go on, rest, end the request, hold, lose, begin again.
 */
#ifndef PDK__COURSE_H
#define PDK__COURSE_H

#include "lib/core/contender.h"

/* Continue from the known state of the node and from the request, whatever disturbance came before. */
void pdk__course_advance(struct pdk__contender *c, struct pdk__actions *out);

/* The same, after a rest. */
void pdk__course_back_off(struct pdk__contender *c);

/* Only the timer of a rest: for a queue that is listed again. */
void pdk__course_timer(struct pdk__contender *c);

/* The end of a rest that begins now. */
int64_t pdk__course_again_ms(struct pdk__contender *c);

/* The request is over: delete what there is. */
void pdk__course_give_up(struct pdk__contender *c, struct pdk__actions *out);

/* The same, and report ERROR in place of the grant. */
void pdk__course_fail(struct pdk__contender *c, struct pdk__actions *out, int error);

/* The same, and report the end of the grant. */
void pdk__course_lose(struct pdk__contender *c, struct pdk__actions *out);

/* No contender is ahead, and our node was seen since: meet the next condition of a grant, or hold. */
void pdk__course_grant(struct pdk__contender *c, struct pdk__actions *out);

/* No contender is ahead: the same, but look at our node first, unless its watch says that it is there, or it was shown
 * a short time ago. */
void pdk__course_check(struct pdk__contender *c, struct pdk__actions *out);

/* Held again, if nothing is in doubt any more: there is time, and our node exists and is watched. */
void pdk__course_recover(struct pdk__contender *c, struct pdk__actions *out);

/* Another client deleted our node: a holder has lost, a waiter queues again. */
void pdk__course_node_deleted(struct pdk__contender *c, struct pdk__actions *out);

/* The session has ended. CONFIRMED: by the servers' word. */
void pdk__course_expire(struct pdk__contender *c, bool confirmed, struct pdk__actions *out);

/* The create was refused, as EVENT reports. */
void pdk__course_uncreated(struct pdk__contender *c, const struct pdk__event *ev, struct pdk__actions *out);

/* The node was looked for, and does not exist. */
void pdk__course_absent(struct pdk__contender *c, struct pdk__actions *out);

/* The node is deleted, or cannot be; ERROR: why it may exist, or 0. Where the request goes on, it is for another. */
void pdk__course_deleted(struct pdk__contender *c, int error, struct pdk__actions *out);

#endif
