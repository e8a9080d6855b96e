/*
 * The leader latch, inside: shared by leader.c, which serves the user, and candidacy.c, which serves the driver.
 *
 * There is one claim, used again for every term. So no two nodes of one candidate are ever in the queue, and a new
 * candidacy after a loss can neither fail nor need memory.
 */
#ifndef PDK__LEADER_H
#define PDK__LEADER_H

#include "lib/incident.h"
#include "lib/zk/claim.h"
#include "paddock/leader.h"
#include "recipes/changes.h"

struct pdk_leader_options {
    char *id;
};

struct pdk_leader {
    struct pdk__claim claim;
    struct pdk_client *client;
    unsigned refs; /* the user's, the claim's, one per waiting callback, one per call that is under way */
    char *path;
    char *id;
    pdk_leadership state;
    bool claimed;       /* the claim is at work, for this candidacy or to clean up after the last */
    int result;         /* why it is no candidate, or 0: it never was one */
    unsigned n_done;    /* how often the claim has done its work */
    int release_result; /* the outcome of its last release */
    int64_t token;      /* of the term */
    char node[PDK__NAME_MAX];
    struct pdk__changes changes;
    pthread_cond_t news;           /* the state, or done */
    uint64_t number;               /* its number in incidents */
    char error[PDK__INCIDENT_MAX]; /* the last incident that came without a call, since the last term began */
    _Atomic(void *) user;

    /* the callback of a resignation */
    struct pdk__notice resigned_notice;
    bool resigned_wanted;  /* the callback is still to be queued */
    bool resigned_pending; /* the callback is still to be called, as set below: no other can be requested */
    pdk_resign_cb resigned_cb;
    void *resigned_arg;
    int resigned_rc;
};

/* All with the client's lock held. */

/* Become a candidate. Only from PDK_LEADER_IDLE. */
int pdk__candidacy_start(struct pdk_leader *l);

/* End the candidacy. Its node is deleted; `claimed` is false once that is done. */
void pdk__candidacy_end(struct pdk_leader *l);

/* Request the callback of a resignation. */
void pdk__candidacy_expect(struct pdk_leader *l, pdk_resign_cb cb, void *arg);
void pdk__candidacy_init(struct pdk_leader *l);

/* Is there a term? */
static inline bool pdk__in_term(const struct pdk_leader *l)
{
    return l->state == PDK_LEADER_LEADING || l->state == PDK_LEADER_SUSPENDED;
}

/* Note a failure that came without a call, with the reason that the claim knows, or the client. Returns RC. */
int pdk__leader_incident(struct pdk_leader *l, const char *verb, int rc);
void pdk__leader_unref(struct pdk_leader *l);

#endif
