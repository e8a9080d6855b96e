/*
 * A permit: an acquisition of a semaphore, from the request until nothing of it is left on the servers. It is several
 * holds that count as one: the gate, by the rule of a mutex, and then a lease for each permit that was asked for.
 *
 *     PENDING --all leases granted--> GRANTED --one is lost--> LOST
 *        |  ^                            |                       |
 *        |  `- gate or lease lost        `-----------------------+-- released
 *        |     meanwhile: all again                              v
 *        `------------ no longer wanted, or refused ---------> ENDED
 *
 * The holder of the gate alone creates leases and waits, so no two requests can each wait for what the other has. It
 * leaves the gate once its leases are granted. A try takes no gate, because it never waits: the order of the leases
 * decides.
 *
 * It is counted: by its handle, by its caller, by each hold in use, and by a queued callback.
 */
#ifndef PDK__PERMIT_H
#define PDK__PERMIT_H

#include "recipes/hold.h"
#include "recipes/semaphore.h"

enum pdk__permit_stage {
    PDK__PERMIT_PENDING,
    PDK__PERMIT_GRANTED,
    PDK__PERMIT_LOST,
    PDK__PERMIT_ENDED, /* released, given up or refused */
    PDK__PERMIT_N_STAGES
};

/* One hold of it. */
struct pdk__part {
    struct pdk__hold hold;
    struct pdk_permit *permit;
    bool suspect;
    bool revoked; /* before the whole was granted */
};

struct pdk_permit {
    struct pdk__list link;
    struct pdk_semaphore *semaphore;
    unsigned refs;
    enum pdk__permit_stage stage;
    bool try_only;
    int64_t deadline_ms;
    struct pdk__deferred deferred; /* what follows from the reports of its holds */
    bool again;                    /* when its holds are at rest, it begins again */
    int result;                    /* why it has ended without a grant, or 0 */
    int64_t token;
    bool suspect;
    char *data;
    size_t data_size;
    pthread_cond_t moved; /* to another stage */

    bool answered;                  /* the callback was told, or is about to be */
    struct pdk__callback completed; /* of an asynchronous request */
    pdk_lock_cb completed_cb;
    void *completed_arg;

    pdk_lock_cb released_cb;
    void *released_arg;
    int released_rc;
    unsigned n_releasing; /* leases whose release is still to be reported */

    struct pdk__part gate;
    unsigned n;
    struct pdk__part leases[];
};

/* All with the client's lock held. */

/* A request for N permits. The caller and the handle have a reference each. PDK_ENOMEM, or as pdk__hold_start(). */
int pdk__permit_request(struct pdk_permit **out, struct pdk_semaphore *s, unsigned n, bool try_only,
                        int64_t deadline_ms, pdk_lock_cb cb, void *arg);

void pdk__permit_ref(struct pdk_permit *p);
void pdk__permit_unref(struct pdk_permit *p);

/* It is no longer wanted. Its handle ends. */
void pdk__permit_drop(struct pdk_permit *p);

/* The time of its caller is over: its holds look at the clock. */
void pdk__permit_tick(struct pdk_permit *p);

/* The limit has changed. */
void pdk__permit_judge_again(struct pdk_permit *p);

/* After a drop: wait until nothing is left, for one session timeout at most. Returns the outcome of the release. */
int pdk__permit_await_done(struct pdk_permit *p);

/* Before the drop of one that is granted: CB is to be called with the outcome. */
void pdk__permit_expect(struct pdk_permit *p, pdk_lock_cb cb, void *arg);

/* The calling thread's call fails with RC, which is returned: by the hold that has the reason. */
int pdk__permit_blame(const struct pdk_permit *p, const char *verb, int rc);

pdk_state pdk__permit_state(const struct pdk_permit *p);
int64_t pdk__permit_valid_ms(const struct pdk_permit *p);

#endif
