#include "lib/alloc.h"
#include "lib/clock.h"
#include "recipes/leader.h"
#include <stdio.h>
#include <string.h>

static struct pdk_leader *leader_of(struct pdk__claim *claim) { return PDK__MEMBER(claim, struct pdk_leader, claim); }

/* --- what becomes of it ------------------------------------------------------------------------------------------ */

static void move(struct pdk_leader *l, pdk_leadership state)
{
    l->state = state;
    pthread_cond_broadcast(&l->news);
}

/* It is no longer a candidate: because of RESULT. */
static void stand_down(struct pdk_leader *l, int result)
{
    if (pdk__in_term(l))
        pdk__changes_tell(&l->changes, PDK_DEPOSED, l->token);
    l->result = result;
    move(l, PDK_LEADER_IDLE);
}

static void withdraw(struct pdk_leader *l, int rc)
{
    stand_down(l, pdk__leader_incident(l, "stand", rc));
    pdk__changes_tell(&l->changes, PDK_WITHDRAWN, 0);
}

/* --- a resignation ----------------------------------------------------------------------------------------------- */

static void run_resigned(struct pdk__notice *notice)
{
    struct pdk_leader *l = PDK__MEMBER(notice, struct pdk_leader, resigned_notice);
    struct pdk_client *c = l->client;
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk_resign_cb cb = l->resigned_cb;
    void *arg = l->resigned_arg;
    int rc = l->resigned_rc;
    l->resigned_pending = false;
    pdk__client_leave(c);
    cb(rc, arg);
    pdk__client_lock(c);
    pdk__leader_unref(l);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

/* Reported once: that the node is deleted, or that no server could confirm it in time. */
static void tell_resigned(struct pdk_leader *l, int rc)
{
    if (!l->resigned_wanted)
        return;
    l->resigned_wanted = false;
    l->resigned_rc = rc;
    l->refs++;
    pdk__client_notify(l->client, &l->resigned_notice);
}

void pdk__candidacy_expect(struct pdk_leader *l, pdk_resign_cb cb, void *arg)
{
    l->resigned_wanted = l->resigned_pending = true;
    l->resigned_cb = cb;
    l->resigned_arg = arg;
    if (!l->claimed)
        tell_resigned(l, 0);
    else
        pdk__claim_expect(&l->claim, pdk__deadline_ms(pdk__now_ms(), l->client->session.timeout_ms));
}

/* --- reports of the claim ---------------------------------------------------------------------------------------- */

static void granted(struct pdk__claim *claim, int64_t token)
{
    struct pdk_leader *l = leader_of(claim);
    l->token = token;
    strcpy(l->node, claim->machine.name);
    l->error[0] = '\0';
    move(l, PDK_LEADER_LEADING);
    pdk__changes_tell(&l->changes, PDK_ELECTED, token);
}

static void failed(struct pdk__claim *claim, int rc) { withdraw(leader_of(claim), rc); }

/* It is a candidate again when nothing of the term is left on the servers. */
static void lose(struct pdk_leader *l)
{
    pdk__leader_incident(l, "lead", PDK_ELOST);
    pdk__changes_tell(&l->changes, PDK_DEPOSED, l->token);
    move(l, PDK_LEADER_STANDING);
}

static void changed(struct pdk__claim *claim, enum pdk__action_kind state)
{
    struct pdk_leader *l = leader_of(claim);
    if (!pdk__in_term(l))
        return; /* resigned meanwhile */
    if (state == PDK__ACT_LOST) {
        lose(l);
    } else {
        bool suspect = state == PDK__ACT_SUSPECT;
        move(l, suspect ? PDK_LEADER_SUSPENDED : PDK_LEADER_LEADING);
        pdk__changes_tell(&l->changes, suspect ? PDK_SUSPENDED : PDK_RESUMED, l->token);
    }
}

static void due(struct pdk__claim *claim)
{
    struct pdk_leader *l = leader_of(claim);
    tell_resigned(l, pdk__leader_incident(l, "resign", PDK_EUNKNOWN));
}

static int claim_anew(struct pdk_leader *l);

static void done(struct pdk__claim *claim, int rc)
{
    struct pdk_leader *l = leader_of(claim);
    l->claimed = false;
    l->n_done++;
    l->release_result = rc;
    tell_resigned(l, rc);
    if (l->state == PDK_LEADER_STANDING && (rc = claim_anew(l)) != 0)
        withdraw(l, rc);
    pthread_cond_broadcast(&l->news);
    pdk__leader_unref(l);
}

static void revoked(struct pdk__claim *claim)
{
    struct pdk_leader *l = leader_of(claim);
    if (pdk__in_term(l))
        pdk__changes_tell(&l->changes, PDK_REVOKED, l->token);
}

static void hindered(struct pdk__claim *claim, const char *why)
{
    struct pdk_leader *l = leader_of(claim);
    if (l->state == PDK_LEADER_STANDING)
        snprintf(l->error, sizeof l->error, "stand %s: not granted yet: %s", l->path, why);
    else if (pdk__in_term(l))
        snprintf(l->error, sizeof l->error, "lead %s: %s", l->path, why);
}

static const struct pdk__claim_listener listener = {granted, failed, changed, due, done, revoked, hindered};

/* --- start and end ----------------------------------------------------------------------------------------------- */

/* The claim is free to be used again: it is not touched after done(), in which this may run. */
static int claim_anew(struct pdk_leader *l)
{
    struct pdk__claim_spec spec = {
        .path = l->path, .word = PDK__WORD_LATCH, .data = l->id, .data_size = strlen(l->id), .deadline_ms = PDK__NEVER};
    l->claimed = true;
    l->refs++;
    int rc = pdk__claim_start(&l->claim, l->client, &listener, &spec);
    if (rc != 0) {
        l->claimed = false;
        l->refs--; /* the caller has another reference */
    }
    return rc;
}

void pdk__candidacy_init(struct pdk_leader *l)
{
    pdk__list_init(&l->resigned_notice.link);
    l->resigned_notice.run = run_resigned;
}

int pdk__candidacy_start(struct pdk_leader *l)
{
    l->state = PDK_LEADER_STANDING;
    int rc = l->claimed ? 0 : claim_anew(l); /* else when it has done its work */
    if (rc != 0)
        stand_down(l, pdk__leader_incident(l, "stand", rc));
    return rc;
}

void pdk__candidacy_end(struct pdk_leader *l)
{
    if (l->state == PDK_LEADER_IDLE)
        return;
    stand_down(l, PDK_ECANCELED);
    if (l->claimed)
        pdk__claim_release(&l->claim);
}
