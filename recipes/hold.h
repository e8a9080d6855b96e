/*
 * A hold: one request for one lock, from its call until nothing of it is left on the servers. Each has contenders of
 * its own, so the order among threads is the order among processes: the servers'.
 *
 *     IDLE --start--> PENDING --all parts granted--> GRANTED --one is lost--> LOST
 *                      |   |                            |                       |
 *                      |   `----------------------------+-----------------------'   no longer wanted
 *                      v                                v
 *                   FAILED                          RELEASED
 *
 * Its afterlife is the time in which claims still clean up: they are `at_work`, until done. After that a hold that is
 * LOST, RELEASED or FAILED can be started again. So no two nodes of one part are ever in the queue, and a request that
 * follows a loss needs no memory.
 *
 * It has one part (part.h) for each node, and counts as one. A mutex has one; a multi-lock has one on each path; a
 * permit has one for each lease. A part or a gate that is lost while the hold is pending makes it begin again: what is
 * left cannot be added to. So does a part without a place in its queue, so that at the end of a path's numbers no other
 * part has one in the meantime.
 *
 * Two requests must never each wait for what the other has. There are three ways to that:
 *  - A gate, by the rule of a mutex: its holder alone makes parts and waits. It leaves the gate once its parts are
 *    granted.
 *  - One transaction makes the nodes of all parts (lib/zk/batch.h), so all queues have them in one order.
 *  - A try takes what is free, and never waits.
 *
 * It is counted. Each claim holds it until nothing is left on the servers, a queued callback until it has run, an owner
 * as the recipe decides. While it is counted at all, it holds its object.
 */
#ifndef PDK__HOLD_H
#define PDK__HOLD_H

#include "lib/zk/batch.h"
#include "paddock/lock.h"
#include "recipes/mixture.h"
#include "recipes/part.h"

struct pdk__hold;

/* The recipe's reaction to each report, with the client's lock held. REVOKED and CONTENDED come while it is granted.
 * After DONE it may be started again. */
typedef void pdk__hold_reported(struct pdk__hold *hold, const struct pdk__report *report);

/* The nodes of a hold. All is borrowed, for as long as its object lives. */
struct pdk__sites {
    unsigned n;
    const char *path;         /* of all */
    const char *const *paths; /* or one for each, in one transaction; the other is NULL */
    const char *gate;         /* the path of the gate; NULL: none */
    const unsigned *numbers;  /* the place of each part, as the program numbers them; NULL: their own order */
};

/* The outcome of a release; as pdk_lock_cb and pdk_resign_cb. */
typedef void pdk__release_cb(int rc, void *arg);

struct pdk__hold {
    struct pdk__object *object;
    pdk__hold_reported *reported;
    struct pdk__verbs gate_verbs;
    struct pdk__sites sites;
    struct pdk__part *parts;      /* sites.n, and the gate after them */
    struct pdk__part one;         /* they, where it has one */
    const struct pdk__wish *wish; /* borrowed, until nothing of the request is left */
    struct pdk__wish gate_wish;
    struct pdk__batch batch;
    struct pdk__deferred deferred; /* what follows from the reports of several parts */
    unsigned refs;
    enum pdk__hold_stage stage;
    unsigned n_at_work; /* parts */
    bool again;         /* when none is at work, it begins again */
    unsigned spent;     /* how often it did, for want of a number */
    unsigned returns;   /* of those: when no other contender was on the path */
    bool placed;        /* its place was reported; of several parts */
    bool suspect;       /* as it was reported */
    unsigned n_done;    /* how often all its work was done */
    int result;         /* why it failed, or 0 */
    int undone;         /* why a node of it may be left, or 0 */
    int release_result; /* the outcome of the last release */
    struct pdk__part
        *blamed;   /* has the reason of the failure, of the loss or of that outcome; NULL: the client has it */
    int64_t token; /* of the last grant */
    uint64_t turn; /* the number of its owner under its node, from 1; 0: it has had none yet */
    int64_t began_ms, granted_ms;
    int64_t lost_ms;              /* PDK__NEVER once its owner was warned that it keeps others out */
    bool unmixed;                 /* it fails beside contenders of another recipe */
    struct pdk__mixture *mixture; /* of others beside it; NULL: none was looked for */
    bool for_turns;               /* it was started for requests that are counted by themselves */
    pthread_cond_t moved;         /* to another stage, or done */

    /* the callback of a release */
    struct pdk__callback released_callback;
    pdk__release_cb *released_cb;
    void *released_arg;
    int released_rc;
    bool released_wanted;  /* the result is to be reported, or still to be corrected */
    bool released_told;    /* the callback is queued, or has run */
    bool released_pending; /* the callback is still to be called: no other can be requested */
};

/* All with the client's lock held, unless it says otherwise. */

/* OBJECT may be under construction. VERBS is borrowed. SITES NULL: one node, of the object's path. PDK_ESYSTEM,
 * PDK_ENOMEM. */
int pdk__hold_init(struct pdk__hold *hold, struct pdk__object *object, pdk__hold_reported *reported,
                   const struct pdk__verbs *verbs, const struct pdk__sites *sites);
void pdk__hold_clear(struct pdk__hold *hold);

void pdk__hold_ref(struct pdk__hold *hold);
void pdk__hold_unref(struct pdk__hold *hold);

/* Without the lock: a hold may be moved to another object at any time, and never to another client. */
static inline struct pdk_client *pdk__hold_client(const struct pdk__hold *hold) { return hold->batch.client; }

/* Without the lock, for a callback that has run: end its reference. The hold, its object and its client may be freed
 * then. */
void pdk__hold_finish_call(struct pdk__hold *hold);

/* Contend, as WISH says, which is borrowed until nothing of the request is left. No part may be at work. The recipe is
 * notified later or from inside the call; never when an error is returned. */
int pdk__hold_start(struct pdk__hold *hold, const struct pdk__wish *wish);

/* Give up, if it is pending: it fails with PDK_ECANCELED. */
void pdk__hold_cancel(struct pdk__hold *hold);

/* If it is pending, it fails with RC, for the reason WHY. */
void pdk__hold_refuse(struct pdk__hold *hold, int rc, const char *why);

/* It is no longer wanted, for whatever reason. Nothing happens if it failed, or was released before. */
void pdk__hold_release(struct pdk__hold *hold);

/* Its time may be over: look at the clock. */
void pdk__hold_tick(struct pdk__hold *hold);

/* The limit in its rule has changed. */
void pdk__hold_judge_again(struct pdk__hold *hold);

/* Report DUE at AT_MS, unless nothing is left by then, or a release is awaited. */
void pdk__hold_remind(struct pdk__hold *hold, int64_t at_ms);

/* After a release: wait until nothing is left, for one session timeout at most. Returns the outcome of the release. */
int pdk__hold_await_done(struct pdk__hold *hold);

/* Request CB, to be called with the outcome of the release, within one session timeout from now. An outcome that is not
 * 0 is an incident of the object, also where CB is NULL. */
void pdk__hold_expect(struct pdk__hold *hold, pdk__release_cb *cb, void *arg);

/* The calling thread's call fails with RC, which is returned. Notes the reason, as far as the hold knows it. */
int pdk__hold_blame(const struct pdk__hold *hold, const char *verb, int rc);

/* Note in the object a failure that came without a call, with the reason that the hold knows. */
void pdk__hold_incident(struct pdk__hold *hold, const char *verb, int rc);

/* It is lost, and a program relied on it. */
void pdk__hold_count_loss(const struct pdk__hold *hold);

/* Is there a grant that its owner has not released? */
static inline bool pdk__hold_owned(const struct pdk__hold *hold)
{
    return hold->stage == PDK__HOLD_GRANTED || hold->stage == PDK__HOLD_LOST;
}

/* Of that grant: is it lost? It may not be reported yet. */
bool pdk__hold_lost(const struct pdk__hold *hold);

/* Is there a grant, and neither lost nor released? */
bool pdk__hold_valid(const struct pdk__hold *hold);

/* The answers to questions about a grant, as <paddock/lock.h> has them. NULL: there is none. */
pdk_state pdk__hold_state(const struct pdk__hold *hold);

int pdk__hold_token(const struct pdk__hold *hold, int64_t *token, uint64_t *turn);

/* The milliseconds for which it is certain to be held, from the refresh that the caller has made. */
int64_t pdk__hold_valid_ms(const struct pdk__hold *hold);

/* Of the node that the program numbers I, from 0. */
size_t pdk__hold_node(struct pdk__hold *hold, unsigned i, char *buf, size_t size);
int pdk__hold_guard(struct pdk__hold *hold, unsigned i, struct zoo_op *check);
char *pdk__hold_node_path(struct pdk__hold *hold, unsigned i); /* the caller frees it; NULL: no memory */

/* How many contenders are ahead of a hold that is pending, in the queue where most are: that of the gate, or of its
 * parts. -1: not known yet. 0 of one that is granted. */
int64_t pdk__hold_ahead(const struct pdk__hold *hold);

/* OBJECT, whose nodes are the same, has it from now on. No callback of its release may be under way. */
void pdk__hold_move(struct pdk__hold *hold, struct pdk__object *object);

#endif
