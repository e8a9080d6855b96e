#include "recipes/hold.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/callbacks.h"
#include <stdio.h>
#include <string.h>

/* --- stages ------------------------------------------------------------------------------------------------------ */

#define TO(stage) (UINT32_C(1) << PDK__HOLD_##stage)

static const uint32_t moves[PDK__HOLD_N_STAGES] = {
    [PDK__HOLD_IDLE] = TO(PENDING),
    [PDK__HOLD_PENDING] = TO(GRANTED) | TO(FAILED) | TO(RELEASED),
    [PDK__HOLD_GRANTED] = TO(LOST) | TO(RELEASED),
    [PDK__HOLD_LOST] = TO(RELEASED) | TO(PENDING),
    [PDK__HOLD_RELEASED] = TO(PENDING),
    [PDK__HOLD_FAILED] = TO(PENDING),
};

static void move(struct pdk__hold *hold, enum pdk__hold_stage stage)
{
    assert(pdk__client_locked(hold->object->client));
    assert((moves[hold->stage] & UINT32_C(1) << stage) != 0);
    hold->stage = stage;
    pthread_cond_broadcast(&hold->moved);
}

/* After every report of the claim: the claim is at work for a contender and for a holder. */
static void check(const struct pdk__hold *hold)
{
    assert(pdk__client_locked(hold->object->client) && hold->refs > 0);
    if (hold->stage == PDK__HOLD_PENDING || hold->stage == PDK__HOLD_GRANTED)
        assert(hold->at_work);
    if (pdk__hold_owned(hold))
        assert(hold->token != 0 && hold->node[0] != '\0');
}

/* --- statistics -------------------------------------------------------------------------------------------------- */

static struct pdk_stats *stats_of(const struct pdk__hold *hold) { return &hold->object->client->stats; }

/* Is it a request of the program's own? */
static bool is_request(const struct pdk__hold *hold) { return !hold->kind->is_part && !hold->for_turns; }

static void count_grant(struct pdk__hold *hold)
{
    hold->granted_ms = hold->claim.stepped_ms;
    if (!hold->kind->is_part)
        pdk__stats_hold(stats_of(hold), hold->path, hold->token);
    if (is_request(hold))
        pdk__stats_grant(stats_of(hold), hold->path, PDK__BY_SERVERS, hold->granted_ms - hold->began_ms);
}

static void count_failure(const struct pdk__hold *hold, int rc)
{
    if (is_request(hold))
        pdk__stats_failure(stats_of(hold), hold->path, rc);
}

/* The claim has taken the event by which the hold is over. */
static void count_end(const struct pdk__hold *hold)
{
    if (!hold->kind->is_part)
        pdk__stats_held(stats_of(hold), hold->path, hold->token, hold->claim.stepped_ms - hold->granted_ms);
}

void pdk__hold_count_loss(const struct pdk__hold *hold)
{
    assert(hold->stage == PDK__HOLD_LOST);
    pdk__stats_loss(stats_of(hold), hold->path, hold->token, hold->claim.standing.loss);
}

/* --- the count --------------------------------------------------------------------------------------------------- */

void pdk__hold_ref(struct pdk__hold *hold)
{
    assert(pdk__client_locked(hold->object->client));
    if (hold->refs++ == 0)
        pdk__object_ref(hold->object);
}

void pdk__hold_unref(struct pdk__hold *hold)
{
    struct pdk__object *o = hold->object;
    assert(pdk__client_locked(o->client) && hold->refs > 0);
    if (--hold->refs > 0)
        return;
    assert(!hold->at_work && !hold->released_pending);
    if (hold->kind->unused != NULL)
        hold->kind->unused(hold);
    pdk__object_unref(o);
}

void pdk__hold_finish_call(struct pdk__hold *hold)
{
    struct pdk_client *c = hold->object->client;
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk__hold_unref(hold);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

/* --- the callback of a release ----------------------------------------------------------------------------------- */

static void run_released(struct pdk__callback *callback)
{
    struct pdk__hold *hold = PDK__MEMBER(callback, struct pdk__hold, released_callback);
    struct pdk_client *c = hold->object->client;
    pdk__client_lock(c);
    assert(hold->released_pending && hold->released_told && hold->released_cb != NULL);
    pdk__release_cb *cb = hold->released_cb;
    void *arg = hold->released_arg;
    int rc = hold->released_rc; /* it may have become known since the callback was queued */
    hold->released_pending = false;
    pdk__client_leave(c);
    cb(rc, arg);
    pdk__hold_finish_call(hold);
}

/* Reported once: that the node is deleted, or that no server could confirm it in time. */
static void tell_released(struct pdk__hold *hold, int rc)
{
    if (!hold->released_wanted || !hold->released_pending)
        return;
    hold->released_rc = rc;
    if (hold->released_told)
        return;
    hold->released_told = true;
    pdk__hold_ref(hold);
    pdk__client_queue_callback(hold->object->client, &hold->released_callback);
}

void pdk__hold_expect(struct pdk__hold *hold, pdk__release_cb *cb, void *arg)
{
    struct pdk_client *c = hold->object->client;
    assert(pdk__client_locked(c) && !hold->released_pending);
    hold->released_cb = cb;
    hold->released_arg = arg;
    hold->released_pending = cb != NULL;
    hold->released_wanted = true; /* for the incident, without a callback */
    hold->released_told = false;
    if (hold->at_work) {
        pdk__claim_expect(&hold->claim, pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms));
    } else {
        tell_released(hold, 0);
        hold->released_wanted = false;
    }
}

/* --- incidents --------------------------------------------------------------------------------------------------- */

/* The claim's next request will soon overwrite its reason. The client's own is better, but does not tell the place of a
 * request that timed out. */
static void keep_reason(struct pdk__hold *hold, int rc)
{
    hold->why[0] = '\0';
    if (rc != PDK_ETIMEDOUT)
        pdk__account_error(hold->object->client, rc, hold->why, sizeof hold->why);
    if (hold->why[0] == '\0')
        snprintf(hold->why, sizeof hold->why, "%s", hold->claim.standing.why);
    hold->waited_ms = pdk__now_ms() - hold->began_ms;
}

static const char *named_path(const struct pdk__hold *hold)
{
    return hold->kind->names_path ? hold->path : hold->object->path;
}

static void describe(const struct pdk__hold *hold, const char *verb, int rc, char text[PDK__INCIDENT_MAX])
{
    const char *path = named_path(hold);
    assert(pdk__client_locked(hold->object->client));
    if (rc == PDK_ETIMEDOUT)
        snprintf(text, PDK__INCIDENT_MAX, "%s %s: timed out after %lld ms%s%s", verb, path, (long long)hold->waited_ms,
                 hold->why[0] != '\0' ? ": " : "", hold->why);
    else
        pdk__incident_format(text, verb, path, rc, hold->why);
}

void pdk__hold_incident(struct pdk__hold *hold, const char *verb, int rc)
{
    describe(hold, verb, rc, hold->object->error);
}

int pdk__hold_blame(const struct pdk__hold *hold, const char *verb, int rc)
{
    char text[PDK__INCIDENT_MAX];
    describe(hold, verb, rc, text);
    pdk__incident_note(hold->object->number, text);
    return rc;
}

/* --- reports of the claim ---------------------------------------------------------------------------------------- */

static struct pdk__hold *hold_of(struct pdk__claim *claim) { return PDK__MEMBER(claim, struct pdk__hold, claim); }

static void granted(struct pdk__claim *claim, int64_t token)
{
    struct pdk__hold *hold = hold_of(claim);
    hold->token = token;
    hold->lent = NULL;
    strcpy(hold->node, claim->machine.node.name);
    hold->object->error[0] = '\0';
    move(hold, PDK__HOLD_GRANTED);
    count_grant(hold);
    hold->kind->granted(hold);
    check(hold);
}

static void fail(struct pdk__hold *hold, int rc)
{
    hold->result = rc;
    move(hold, PDK__HOLD_FAILED);
    count_failure(hold, rc);
    hold->kind->failed(hold, rc);
    check(hold);
}

static void failed(struct pdk__claim *claim, int rc)
{
    keep_reason(hold_of(claim), rc);
    fail(hold_of(claim), rc);
}

static void changed(struct pdk__claim *claim, enum pdk__action_kind state)
{
    struct pdk__hold *hold = hold_of(claim);
    if (hold->stage != PDK__HOLD_GRANTED)
        return; /* released meanwhile: no caller relies on it any more */
    if (state == PDK__ACT_LOST) {
        keep_reason(hold, PDK_ELOST);
        pdk__hold_incident(hold, hold->kind->keep, PDK_ELOST);
        move(hold, PDK__HOLD_LOST);
        count_end(hold);
    }
    hold->kind->changed(hold, state);
    check(hold);
}

static void due(struct pdk__claim *claim)
{
    struct pdk__hold *hold = hold_of(claim);
    check(hold);
    if (!hold->released_wanted && hold->kind->due != NULL) {
        hold->kind->due(hold);
        return;
    }
    pdk__object_incident(hold->object, hold->kind->release, PDK_EUNKNOWN);
    tell_released(hold, PDK_EUNKNOWN);
}

/* The node of a failed request may stay on the servers: the incident of the failure includes that. */
static void note_leftover(struct pdk__hold *hold)
{
    char *text = hold->object->error;
    const char *why = hold->claim.standing.why;
    size_t n = strlen(text);
    if (strstr(text, why) == NULL)
        snprintf(text + n, PDK__INCIDENT_MAX - n, "%s%s", n > 0 ? "; " : "", why);
}

static void note_undone(struct pdk__hold *hold, int rc)
{
    if (hold->stage == PDK__HOLD_FAILED)
        note_leftover(hold);
    if (hold->stage == PDK__HOLD_RELEASED)
        keep_reason(hold, rc);
    if (hold->released_wanted)
        pdk__hold_incident(hold, hold->kind->release, rc);
}

static void done(struct pdk__claim *claim, int rc)
{
    struct pdk__hold *hold = hold_of(claim);
    assert(hold->at_work && hold->stage != PDK__HOLD_PENDING && hold->stage != PDK__HOLD_GRANTED);
    hold->at_work = false;
    hold->n_done++;
    hold->release_result = rc;
    if (rc != 0)
        note_undone(hold, rc);
    tell_released(hold, rc);
    hold->released_wanted = false;
    pthread_cond_broadcast(&hold->moved);
    if (hold->kind->done != NULL)
        hold->kind->done(hold);
    check(hold);
    pdk__hold_unref(hold); /* the claim's */
}

static void revoked(struct pdk__claim *claim)
{
    struct pdk__hold *hold = hold_of(claim);
    if (hold->stage == PDK__HOLD_GRANTED)
        hold->kind->revoked(hold);
}

static void hindered(struct pdk__claim *claim, const char *why)
{
    struct pdk__hold *hold = hold_of(claim);
    struct pdk__object *o = hold->object;
    if (hold->stage == PDK__HOLD_PENDING)
        snprintf(o->error, sizeof o->error, "%s %s: not granted yet: %s", hold->kind->acquire, named_path(hold), why);
    else if (hold->stage == PDK__HOLD_GRANTED)
        snprintf(o->error, sizeof o->error, "%s %s: %s", hold->kind->keep, named_path(hold), why);
}

static void contended(struct pdk__claim *claim)
{
    struct pdk__hold *hold = hold_of(claim);
    if (hold->stage == PDK__HOLD_GRANTED && hold->kind->contended != NULL)
        hold->kind->contended(hold);
}

static const struct pdk__claim_listener listener = {granted, failed, changed, due, done, revoked, hindered, contended};

/* --- start and release ------------------------------------------------------------------------------------------- */

int pdk__hold_init(struct pdk__hold *hold, struct pdk__object *object, const struct pdk__hold_kind *kind)
{
    *hold = (struct pdk__hold){
        .object = object, .path = object->path, .kind = kind, .released_callback.run = run_released};
    pdk__list_init(&hold->released_callback.link);
    return pdk__cond_init(&hold->moved);
}

void pdk__hold_clear(struct pdk__hold *hold)
{
    assert(hold->refs == 0 && !hold->at_work);
    pthread_cond_destroy(&hold->moved);
}

/* The claim is not touched after done(), in which this may run. */
int pdk__hold_start(struct pdk__hold *hold, struct pdk__claim_spec spec)
{
    assert(pdk__client_locked(hold->object->client) && !hold->at_work);
    spec.path = hold->path;
    hold->began_ms = pdk__now_ms();
    hold->why[0] = '\0';
    hold->result = 0;
    hold->at_work = true;
    pdk__hold_ref(hold); /* the claim's */
    move(hold, PDK__HOLD_PENDING);
    if (is_request(hold))
        pdk__stats_request(stats_of(hold), hold->path);
    int rc = pdk__claim_start(&hold->claim, hold->object->client, &listener, &spec);
    if (rc == 0)
        return 0;
    hold->at_work = false;
    hold->result = rc;
    move(hold, PDK__HOLD_FAILED);
    count_failure(hold, rc);
    pdk__hold_unref(hold);
    return rc;
}

void pdk__hold_cancel(struct pdk__hold *hold)
{
    if (hold->stage != PDK__HOLD_PENDING)
        return;
    fail(hold, PDK_ECANCELED);
    pdk__claim_release(&hold->claim);
}

/* The claim's reference may be the last. */
static void release_claim(struct pdk__hold *hold, enum pdk__hold_stage before)
{
    pdk__hold_ref(hold);
    pdk__claim_release(&hold->claim);
    if (before == PDK__HOLD_GRANTED)
        count_end(hold);
    else
        count_failure(hold, PDK_ECANCELED);
    pdk__hold_unref(hold);
}

void pdk__hold_release(struct pdk__hold *hold)
{
    enum pdk__hold_stage before = hold->stage;
    assert(pdk__client_locked(hold->object->client));
    if (before == PDK__HOLD_PENDING || pdk__hold_owned(hold))
        move(hold, PDK__HOLD_RELEASED);
    if (before == PDK__HOLD_PENDING || before == PDK__HOLD_GRANTED)
        release_claim(hold, before);
}

void pdk__hold_remind(struct pdk__hold *hold, int64_t at_ms)
{
    assert(hold->at_work && hold->kind->due != NULL);
    pdk__claim_expect(&hold->claim, at_ms);
}

int pdk__hold_await_until(struct pdk__hold *hold, int64_t deadline_ms)
{
    struct pdk_client *c = hold->object->client;
    unsigned before = hold->n_done; /* another thread may start it again */
    assert(hold->stage != PDK__HOLD_GRANTED);
    while (hold->at_work && hold->n_done == before && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &hold->moved, deadline_ms, false);
    return hold->at_work && hold->n_done == before ? PDK_EUNKNOWN : hold->release_result;
}

int pdk__hold_await_done(struct pdk__hold *hold)
{
    return pdk__hold_await_until(hold, pdk__deadline_ms(pdk__now_ms(), hold->object->client->session.timeout_ms));
}

int64_t pdk__hold_valid_ms(const struct pdk__hold *hold)
{
    struct pdk_client *c = hold->object->client;
    assert(pdk__client_locked(c));
    if (hold->stage != PDK__HOLD_GRANTED)
        return 0;
    int64_t left_ms = pdk__session_deadline_ms(&c->session) - pdk__now_ms();
    return left_ms > 0 ? left_ms : 0;
}
