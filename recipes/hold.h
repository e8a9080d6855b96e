/*
 * A hold: one request for one lock, from its call until nothing of it is left on the servers. Each has a contender of
 * its own, so the order among threads is the order among processes: the servers'.
 *
 *     IDLE --start--> PENDING --granted--> GRANTED --lost--> LOST
 *                      |   |                  |               |
 *                      |   `------------------+---------------'   no longer wanted
 *                      v                      v
 *                   FAILED                RELEASED
 *
 * Its afterlife is the time in which the claim still cleans up: `at_work`, until done. After that a hold that is LOST,
 * RELEASED or FAILED can be started again.
 *
 * So no two nodes of one hold are ever in the queue, and a request that follows a loss needs no memory.
 *
 * It is counted. The claim holds it until nothing is left on the servers, a queued callback until it has run, an owner
 * as the recipe decides. While it is counted at all, it holds its object.
 */
#ifndef PDK__HOLD_H
#define PDK__HOLD_H

#include "lib/zk/claim.h"
#include "recipes/object.h"

enum pdk__hold_stage {
    PDK__HOLD_IDLE,     /* was never requested */
    PDK__HOLD_PENDING,  /* contends */
    PDK__HOLD_GRANTED,  /* held; the machine knows whether it is suspect */
    PDK__HOLD_LOST,     /* was held; its owner has not released it yet */
    PDK__HOLD_RELEASED, /* its node may not be deleted yet */
    PDK__HOLD_FAILED,   /* never held */
    PDK__HOLD_N_STAGES
};

struct pdk__hold;

/* The recipe: its verbs in incidents, and its reaction to each report, with the client's lock held. */
struct pdk__hold_kind {
    const char *acquire, *keep, *release;
    bool names_path; /* an incident names the hold's path, not the object's */
    bool is_part;    /* of a bundle, which counts for the statistics as a whole */
    void (*granted)(struct pdk__hold *hold);
    void (*failed)(struct pdk__hold *hold, int rc);                       /* instead of granted */
    void (*changed)(struct pdk__hold *hold, enum pdk__action_kind state); /* SUSPECT, HELD again, LOST; while granted */
    void (*revoked)(struct pdk__hold *hold);                              /* while granted */
    void (*contended)(struct pdk__hold *hold); /* after pdk__claim_idle(), while granted. May be NULL */
    void (*due)(struct pdk__hold *hold);       /* the time of pdk__hold_remind() has come. May be NULL */
    void (*done)(struct pdk__hold *hold);      /* nothing is left; it may be started again. May be NULL */
    void (*unused)(struct pdk__hold *hold);    /* it has no reference any more. May be NULL */
};

/* The outcome of a release; as pdk_lock_cb and pdk_resign_cb. */
typedef void pdk__release_cb(int rc, void *arg);

struct pdk__hold {
    struct pdk__claim claim;
    struct pdk__object *object;
    const char *path; /* of the lock: the object's, unless the recipe has set another; borrowed */
    const struct pdk__hold_kind *kind;
    unsigned refs;
    enum pdk__hold_stage stage;
    bool at_work;              /* the claim: something may be left on the servers */
    unsigned n_done;           /* how often the claim has done its work */
    int result;                /* why it failed, or 0 */
    int release_result;        /* the outcome of the last release */
    int64_t token;             /* of the last grant */
    char node[PDK__NAME_MAX];  /* of the last grant */
    char why[PDK__REASON_MAX]; /* why it failed, was lost, or could not be released, beyond the code */
    const char *lent;          /* the path of that node, once it was lent; owned by the object */
    int64_t began_ms, granted_ms, waited_ms;
    bool for_turns;       /* it was started for requests that are counted by themselves */
    pthread_cond_t moved; /* to another stage, or done */

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

/* OBJECT may be under construction. PDK_ESYSTEM. */
int pdk__hold_init(struct pdk__hold *hold, struct pdk__object *object, const struct pdk__hold_kind *kind);
void pdk__hold_clear(struct pdk__hold *hold);

void pdk__hold_ref(struct pdk__hold *hold);
void pdk__hold_unref(struct pdk__hold *hold);

/* Without the lock, for a callback that has run: end its reference. The hold, its object and its client may be freed
 * then. */
void pdk__hold_finish_call(struct pdk__hold *hold);

/* Contend for the hold's path, as SPEC says; that one's path is ignored. The claim must not be at work. The recipe is
 * notified later or from inside the call; never when an error is returned. */
int pdk__hold_start(struct pdk__hold *hold, struct pdk__claim_spec spec);

/* Give up, if it is pending: it fails with PDK_ECANCELED. */
void pdk__hold_cancel(struct pdk__hold *hold);

/* It is no longer wanted, for whatever reason. Nothing happens if it failed, or was released before. */
void pdk__hold_release(struct pdk__hold *hold);

/* Call due() at AT_MS, unless nothing is left by then, or a release is awaited. */
void pdk__hold_remind(struct pdk__hold *hold, int64_t at_ms);

/* After a release: wait until nothing is left, for one session timeout at most. Returns the outcome of the release. */
int pdk__hold_await_done(struct pdk__hold *hold);

/* Likewise, until DEADLINE_MS at most. */
int pdk__hold_await_until(struct pdk__hold *hold, int64_t deadline_ms);

/* Request CB, to be called with the outcome of the release, within one session timeout from now. An outcome that is not
 * 0 is an incident of the object, also where CB is NULL. */
void pdk__hold_expect(struct pdk__hold *hold, pdk__release_cb *cb, void *arg);

/* The calling thread's call fails with RC, which is returned. Notes the reason, as far as the hold knows it. */
int pdk__hold_blame(const struct pdk__hold *hold, const char *verb, int rc);

/* Note in the object a failure that came without a call, with the reason that the hold knows. */
void pdk__hold_incident(struct pdk__hold *hold, const char *verb, int rc);

/* Is there a grant that its owner has not released? */
static inline bool pdk__hold_owned(const struct pdk__hold *hold)
{
    return hold->stage == PDK__HOLD_GRANTED || hold->stage == PDK__HOLD_LOST;
}

/* It is lost, and a program relied on it. */
void pdk__hold_count_loss(const struct pdk__hold *hold);

/* The milliseconds for which it is certain to be held. */
int64_t pdk__hold_valid_ms(const struct pdk__hold *hold);

#endif
