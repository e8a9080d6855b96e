/*
 * The hand-over of a grant from thread to thread of one process, without a request to the servers.
 *
 * A grant is a hold with an owner, so another owner is a change that the core does not see. Where the option is set, a
 * request that finds a grant of its cohort (cohort.h), or a request under way, waits for a turn (turn.h). The hold that
 * contends then belongs to none of the waiting requests: the first of them gets it when it is granted, and its object
 * has the grant from then on. With none left it is released.
 *
 * At its last unlock the owner hands the grant on, as often as the budget allows, while it is held without doubt and no
 * client has asked for it. Otherwise it is released, and the next hold contends at the end of the servers' queue. So
 * other processes get their share.
 *
 * With an idle hold, the grant stays when no request waits for a turn: without an owner, until a contender that it
 * blocks is seen or the time ends. The next lock of the cohort by the same rule takes it over. One by another rule
 * releases it: a reader under a kept write lock would keep other readers out. One grant of a cohort is idle at most.
 */
#ifndef PDK__HANDOVER_H
#define PDK__HANDOVER_H

#include "recipes/lockable.h"

/* For a kind with one node: pdk__lockable_init(), the lock delay, and the hand-over where the options ask for it. */
int pdk__handover_init(struct pdk_lock *l, const void *none);

/* All below with the client's lock held. */

/* Are requests to wait for turns? */
static inline bool pdk__handover_on(const struct pdk__lockable *k) { return k->lock.options.handover_budget > 0; }

/* The grant that has no owner, if it can be had by RULE at once; NULL: none. One that cannot is released. */
struct pdk__acquisition *pdk__handover_idle(struct pdk__lockable *k, const struct pdk__rule *rule);

/* The calling thread becomes its owner, through K. */
void pdk__handover_resume(struct pdk__lockable *k, struct pdk__acquisition *op);

/* Is the lock in this process's hands, or asked for by it? A try need not ask the servers then. */
bool pdk__handover_busy(struct pdk__lockable *k);

/* Wait for a turn of the calling thread, which is a cancellation point. Notes the reason of a failure. PDK_ELOST: the
 * grant was over when the thread woke. */
int pdk__handover_wait(struct pdk__lockable *k, int64_t deadline_ms);

/* A request for a turn of no thread. The caller has a reference to *OP. PDK_ENOMEM, PDK_ESYSTEM. */
int pdk__handover_request(struct pdk__acquisition **op, struct pdk__lockable *k, const struct pdk__lock_call *call);

/* The owner's last unlock: is the grant to stay with this process? Then pass it on. */
bool pdk__handover_stays(const struct pdk__acquisition *op);
void pdk__handover_pass(struct pdk__acquisition *op);

/* The owner wants the grant no more, and waits for nothing: pass it on, or release it. */
void pdk__handover_give_back(struct pdk__acquisition *op);

#endif
