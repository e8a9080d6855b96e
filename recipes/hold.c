#include "recipes/hold.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/queue.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/log.h"
#include "lib/zk/session_driver.h"
#include <stdio.h>
#include <string.h>

static struct pdk__part *part_of(struct pdk__claim *claim) { return PDK__MEMBER(claim, struct pdk__part, claim); }

static struct pdk_client *client_of(const struct pdk__hold *hold) { return pdk__hold_client(hold); }

static unsigned count_all(const struct pdk__sites *sites) { return sites->n + (sites->gate != NULL); }

/* The parts that count, and the gate after them. */
#define EACH_PART(part, hold)                                                                                          \
    for (struct pdk__part *part = (hold)->parts; part < (hold)->parts + count_all(&(hold)->sites); part++)

static struct pdk__part *gate_of(const struct pdk__hold *hold)
{
    return hold->sites.gate != NULL ? &hold->parts[hold->sites.n] : NULL;
}

/* Are there several nodes? All that follows from their reports is decided outside of the steps of their claims. */
static bool several(const struct pdk__hold *hold) { return hold->parts != &hold->one; }

/* Are they made in one transaction? */
static bool batched(const struct pdk__hold *hold) { return hold->sites.paths != NULL && hold->sites.n > 1; }

static unsigned count_parts(const struct pdk__hold *hold, enum pdk__hold_stage stage)
{
    unsigned n = 0;
    for (unsigned i = 0; i < hold->sites.n; i++)
        n += hold->parts[i].stage == stage;
    return n;
}

static struct pdk__part *find_part(struct pdk__hold *hold, enum pdk__hold_stage stage)
{
    EACH_PART (part, hold)
        if (part->stage == stage)
            return part;
    return NULL;
}

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
    assert(pdk__client_locked(client_of(hold)));
    assert((moves[hold->stage] & UINT32_C(1) << stage) != 0);
    hold->stage = stage;
    pthread_cond_broadcast(&hold->moved);
}

/* After every report of a claim: claims are at work for a contender and for a holder. With several, what follows is
 * still to be settled. */
static void check(const struct pdk__hold *hold)
{
    assert(pdk__client_locked(client_of(hold)) && hold->refs > 0);
    if (!several(hold) && (hold->stage == PDK__HOLD_PENDING || hold->stage == PDK__HOLD_GRANTED))
        assert(hold->n_at_work > 0);
    if (pdk__hold_owned(hold))
        assert(hold->token != 0 && hold->parts[0].node[0] != '\0');
}

/* --- statistics -------------------------------------------------------------------------------------------------- */

static struct pdk_stats *stats_of(const struct pdk__hold *hold) { return &client_of(hold)->stats; }

static void count_grant(const struct pdk__hold *hold)
{
    pdk__stats_hold(stats_of(hold), hold->object->path, hold->token);
    if (!hold->for_turns)
        pdk__stats_grant(stats_of(hold), hold->object->path, PDK__BY_SERVERS, hold->granted_ms - hold->began_ms);
}

static void count_failure(const struct pdk__hold *hold, int rc)
{
    if (!hold->for_turns)
        pdk__stats_failure(stats_of(hold), hold->object->path, rc);
}

/* The claim of PART has taken the event by which the grant is over. */
static void count_end(const struct pdk__hold *hold, const struct pdk__part *part)
{
    pdk__stats_held(stats_of(hold), hold->object->path, hold->token, part->claim.agent.stepped_ms - hold->granted_ms);
}

void pdk__hold_count_loss(const struct pdk__hold *hold)
{
    assert(hold->stage == PDK__HOLD_LOST && hold->blamed != NULL);
    pdk__stats_loss(stats_of(hold), hold->object->path, hold->token, hold->blamed->claim.standing.loss);
}

static void report(struct pdk__hold *hold, enum pdk__report_kind kind)
{
    hold->reported(hold, &(struct pdk__report){.kind = kind});
}

/* --- the count --------------------------------------------------------------------------------------------------- */

void pdk__hold_ref(struct pdk__hold *hold)
{
    assert(pdk__client_locked(client_of(hold)));
    if (hold->refs++ == 0)
        pdk__object_ref(hold->object);
}

void pdk__hold_move(struct pdk__hold *hold, struct pdk__object *object)
{
    struct pdk__object *before = hold->object;
    assert(hold->refs > 0 && !hold->released_pending && object->client == before->client);
    pdk__object_ref(object);
    hold->object = object;
    EACH_PART (part, hold) {
        part->object = object;
        part->lent = NULL;
    }
    pdk__object_unref(before);
}

void pdk__hold_unref(struct pdk__hold *hold)
{
    struct pdk__object *o = hold->object;
    assert(pdk__client_locked(client_of(hold)) && hold->refs > 0);
    if (--hold->refs > 0)
        return;
    assert(hold->n_at_work == 0 && !hold->released_pending);
    report(hold, PDK__REPORT_UNUSED);
    pdk__object_unref(o);
}

void pdk__hold_finish_call(struct pdk__hold *hold)
{
    struct pdk_client *c = client_of(hold);
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
    struct pdk_client *c = client_of(hold);
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

/* Reported once: that the nodes are deleted, or that no server could confirm it in time. */
static void tell_released(struct pdk__hold *hold, int rc)
{
    if (!hold->released_wanted || !hold->released_pending)
        return;
    hold->released_rc = rc;
    if (hold->released_told)
        return;
    hold->released_told = true;
    pdk__hold_ref(hold);
    pdk__client_queue_callback(client_of(hold), &hold->released_callback);
}

void pdk__hold_expect(struct pdk__hold *hold, pdk__release_cb *cb, void *arg)
{
    assert(pdk__client_locked(client_of(hold)) && !hold->released_pending);
    hold->released_cb = cb;
    hold->released_arg = arg;
    hold->released_pending = cb != NULL;
    hold->released_wanted = true; /* for the incident, without a callback */
    hold->released_told = false;
    if (hold->n_at_work > 0) {
        pdk__hold_remind(hold, pdk__deadline_ms(pdk__now_ms(), client_of(hold)->session.timeout_ms));
    } else {
        tell_released(hold, 0);
        hold->released_wanted = false;
    }
}

/* --- incidents --------------------------------------------------------------------------------------------------- */

void pdk__hold_incident(struct pdk__hold *hold, const char *verb, int rc)
{
    if (hold->blamed != NULL)
        pdk__part_incident(hold->blamed, verb, rc);
    else
        pdk__object_incident(hold->object, verb, rc);
}

int pdk__hold_blame(const struct pdk__hold *hold, const char *verb, int rc)
{
    return hold->blamed != NULL ? pdk__part_blame(hold->blamed, verb, rc) : pdk__object_blame(hold->object, verb, rc);
}

/* --- from one stage to the next ---------------------------------------------------------------------------------- */

static void release_part(struct pdk__part *part)
{
    enum pdk__hold_stage before = part->stage;
    if (before == PDK__HOLD_PENDING || before == PDK__HOLD_GRANTED || before == PDK__HOLD_LOST)
        part->stage = PDK__HOLD_RELEASED;
    if (before == PDK__HOLD_PENDING || before == PDK__HOLD_GRANTED)
        pdk__claim_release(&part->claim);
}

static void release_parts(struct pdk__hold *hold)
{
    pdk__hold_ref(hold); /* those of the claims may be the last */
    EACH_PART (part, hold)
        release_part(part);
    pdk__hold_unref(hold);
}

static void fail(struct pdk__hold *hold, int rc)
{
    hold->result = rc;
    move(hold, PDK__HOLD_FAILED);
    count_failure(hold, rc);
    pdk__hold_ref(hold);
    hold->reported(hold, &(struct pdk__report){.kind = PDK__REPORT_FAILED, .rc = rc});
    release_parts(hold);
    pdk__hold_unref(hold);
}

/* The token of the whole is that of its last node: larger than those of all acquisitions before it. */
static void grant(struct pdk__hold *hold)
{
    struct pdk__part *gate = gate_of(hold);
    hold->token = 0;
    hold->turn = 1;
    for (unsigned i = 0; i < hold->sites.n; i++)
        if (hold->parts[i].token > hold->token)
            hold->token = hold->parts[i].token;
    hold->suspect = false;
    pdk__text_set(&hold->object->error, "");
    for (unsigned i = 0; i < hold->sites.n; i++)
        pdk__part_note_misfit(&hold->parts[i]);
    move(hold, PDK__HOLD_GRANTED);
    count_grant(hold);
    hold->gate_verbs.names_path = true; /* from now on the gate is a node that may be left */
    if (gate != NULL)
        release_part(gate);
    report(hold, PDK__REPORT_GRANTED);
    for (unsigned i = 0; i < hold->sites.n; i++)
        if (hold->parts[i].revoked)
            report(hold, PDK__REPORT_REVOKED);
}

static pdk__claim_reported part_reported;

/* On an error nothing was started. */
static int start_part(struct pdk__part *part)
{
    struct pdk__hold *hold = part->hold;
    struct pdk__site site = {.batch = batched(hold) ? &hold->batch : NULL, .spent = part->spent ? hold->spent : 0};
    part->began_ms = hold->began_ms;
    pdk__text_set(&part->why, "");
    part->stage = PDK__HOLD_PENDING;
    part->at_work = true;
    part->spent = false;
    hold->n_at_work++;
    pdk__hold_ref(hold); /* the claim's */
    const struct pdk__wish *wish = part == gate_of(hold) ? &hold->gate_wish : hold->wish;
    int rc = pdk__claim_start(&part->claim, client_of(hold), part_reported, wish, part->path, &site);
    if (rc == 0)
        return 0;
    part->stage = PDK__HOLD_FAILED;
    part->at_work = false;
    hold->n_at_work--;
    pdk__hold_unref(hold);
    return rc;
}

static int start_parts(struct pdk__hold *hold)
{
    int rc = 0;
    hold->placed = false;
    for (unsigned i = 0; i < hold->sites.n && rc == 0; i++)
        rc = start_part(&hold->parts[i]);
    return rc;
}

static int contend(struct pdk__hold *hold)
{
    struct pdk__part *gate = gate_of(hold);
    assert(hold->stage == PDK__HOLD_PENDING && hold->n_at_work == 0);
    pdk__mixture_free(hold->mixture);
    hold->mixture = NULL;
    hold->again = hold->placed = false;
    hold->undone = 0;
    hold->blamed = NULL;
    hold->gate_verbs.names_path = false;
    EACH_PART (part, hold)
        part->stage = PDK__HOLD_IDLE;
    return gate != NULL && !hold->wish->try_only ? start_part(gate) : start_parts(hold);
}

static void settle_later(struct pdk__hold *hold);

/* Another client deleted a node of it, or the session ended. */
static void start_over(struct pdk__hold *hold)
{
    if (hold->wish->try_only) {
        fail(hold, PDK_EBUSY);
        return;
    }
    hold->again = true;
    hold->blamed = NULL;
    release_parts(hold);
    pdk__hold_remind(hold, hold->wish->deadline_ms);
    if (hold->n_at_work == 0)
        settle_later(hold); /* no part is left that would call for it */
}

static bool any_suspect(const struct pdk__hold *hold)
{
    for (unsigned i = 0; i < hold->sites.n; i++)
        if (hold->parts[i].suspect)
            return true;
    return false;
}

static void judge(struct pdk__hold *hold);

/* Its parts are granted, and have no deadline any more. */
static int wait_out(struct pdk__hold *hold)
{
    if (pdk__now_ms() >= hold->wish->deadline_ms)
        return PDK_ETIMEDOUT;
    pdk__hold_remind(hold, hold->wish->deadline_ms);
    return 0;
}

/* Its parts are granted. */
static int complete(struct pdk__hold *hold)
{
    int rc = pdk__mixture_judge(hold, judge);
    if (rc == 0)
        grant(hold);
    return rc > 0 ? wait_out(hold) : rc;
}

/* The grants so far may allow the next step. One in doubt is HELD again first, or LOST. */
static int go_on(struct pdk__hold *hold)
{
    const struct pdk__part *gate = gate_of(hold);
    if (count_parts(hold, PDK__HOLD_GRANTED) == hold->sites.n)
        return any_suspect(hold) ? wait_out(hold) : complete(hold);
    if (gate != NULL && gate->stage == PDK__HOLD_GRANTED && !hold->parts[0].at_work)
        return start_parts(hold);
    return 0;
}

/* Only parts without a place in their queues have failed: then all nodes go, and others are made. On one path all wait
 * for it to be renewed. */
static bool may_come_back(struct pdk__hold *hold)
{
    bool counts = false, spent = false;
    for (unsigned i = 0; i < hold->sites.n; i++) {
        struct pdk__part *part = &hold->parts[i];
        if (part->stage != PDK__HOLD_FAILED)
            continue;
        if (part->result != PDK_EEXHAUSTED)
            return false;
        part->spent = part->claim.machine.queue.spent;
        spent |= part->spent;
        counts |= part->claim.machine.queue.returns > 0;
    }
    for (unsigned i = 0; i < hold->sites.n && hold->sites.path != NULL; i++)
        hold->parts[i].spent = spent;
    hold->spent++;
    hold->returns += counts;
    return hold->sites.n > 1 && hold->returns < PDK__RETURNS_MAX;
}

/* A node that cannot be deleted would keep its path from being renewed. */
static int go_on_again(struct pdk__hold *hold)
{
    if (hold->undone == PDK_EACCES)
        return PDK_EACCES;
    if (pdk__now_ms() >= hold->wish->deadline_ms)
        return PDK_ETIMEDOUT; /* what is left of the last attempt may take longer */
    return hold->n_at_work > 0 ? 0 : contend(hold);
}

/* A part whose path has a contender of another recipe, if that is refused. */
static struct pdk__part *find_misfit(struct pdk__hold *hold)
{
    for (unsigned i = 0; i < hold->sites.n && hold->unmixed; i++)
        if (pdk__text(&hold->parts[i].claim.standing.misfit)[0] != '\0')
            return &hold->parts[i];
    return NULL;
}

static int refuse_mixed(struct pdk__hold *hold, struct pdk__part *misfit)
{
    hold->blamed = misfit;
    pdk__text_set(&misfit->why, pdk__text(&misfit->claim.standing.misfit));
    return PDK_EMIXED;
}

static void settle_pending(struct pdk__hold *hold, bool broken)
{
    int rc = 0;
    struct pdk__part *failed = find_part(hold, PDK__HOLD_FAILED), *misfit = find_misfit(hold);
    if (misfit != NULL)
        rc = refuse_mixed(hold, misfit);
    else if (hold->again)
        rc = go_on_again(hold);
    else if (failed != NULL && (failed == gate_of(hold) || !may_come_back(hold)))
        rc = failed->result;
    else if (failed != NULL || broken || find_part(hold, PDK__HOLD_LOST) != NULL)
        start_over(hold);
    else
        rc = go_on(hold);
    if (rc != 0 && hold->stage == PDK__HOLD_PENDING)
        fail(hold, rc);
}

static int64_t warn_ms(const struct pdk__hold *hold)
{
    return pdk__deadline_ms(hold->lost_ms, client_of(hold)->session.timeout_ms);
}

/* The other parts' nodes keep others out until the owner releases them, for it may be at work still. It may also have
 * overlooked the loss. */
static void settle_lost(struct pdk__hold *hold)
{
    unsigned n = count_parts(hold, PDK__HOLD_GRANTED);
    int64_t now_ms = pdk__now_ms();
    if (n == 0 || now_ms < warn_ms(hold))
        return;
    pdk__log(client_of(hold), PDK_LOG_WARNING, "%s: lost %lld ms ago and not released: %u of its nodes keep others out",
             hold->object->path, (long long)(now_ms - hold->lost_ms), n);
    hold->lost_ms = PDK__NEVER;
}

static void settle_granted(struct pdk__hold *hold)
{
    bool suspect = any_suspect(hold), before = hold->suspect;
    hold->suspect = suspect;
    if (count_parts(hold, PDK__HOLD_LOST) > 0) {
        hold->blamed = find_part(hold, PDK__HOLD_LOST);
        move(hold, PDK__HOLD_LOST);
        hold->lost_ms = pdk__now_ms();
        if (several(hold))
            pdk__hold_remind(hold, warn_ms(hold));
        count_end(hold, hold->blamed);
        report(hold, PDK__REPORT_LOST);
    } else if (suspect != before) {
        report(hold, suspect ? PDK__REPORT_SUSPECT : PDK__REPORT_HELD);
    }
}

static void settle(struct pdk__hold *hold)
{
    bool broken = batched(hold) && !pdk__batch_consider(&hold->batch);
    if (hold->stage == PDK__HOLD_PENDING)
        settle_pending(hold, broken);
    else if (hold->stage == PDK__HOLD_GRANTED)
        settle_granted(hold);
    else if (hold->stage == PDK__HOLD_LOST)
        settle_lost(hold);
}

static bool waits(const struct pdk__hold *hold)
{
    EACH_PART (part, hold)
        if (part->stage == PDK__HOLD_PENDING && pdk__claim_waits(&part->claim))
            return true;
    return false;
}

/* Of several parts once in each queue, when all have their places. A single node may be followed by another, which is
 * placed anew. */
static void tell_place(struct pdk__hold *hold)
{
    bool tells = hold->stage == PDK__HOLD_PENDING && !hold->placed;
    int64_t ahead = tells && waits(hold) ? pdk__hold_ahead(hold) : -1;
    if (ahead < 0)
        return;
    hold->placed = several(hold);
    hold->reported(hold, &(struct pdk__report){.kind = PDK__REPORT_QUEUED, .ahead = ahead});
}

static void run_deferred(struct pdk__deferred *deferred)
{
    struct pdk__hold *hold = PDK__MEMBER(deferred, struct pdk__hold, deferred);
    settle(hold);
    tell_place(hold);
    pdk__hold_unref(hold);
}

static void settle_later(struct pdk__hold *hold)
{
    if (!pdk__list_empty(&hold->deferred.link))
        return;
    pdk__hold_ref(hold);
    pdk__client_defer(client_of(hold), &hold->deferred);
}

static void stirred(struct pdk__batch *batch) { settle_later(PDK__MEMBER(batch, struct pdk__hold, batch)); }

/* A part has moved. */
static void judge(struct pdk__hold *hold)
{
    if (several(hold))
        settle_later(hold);
    else
        settle(hold);
}

/* --- reports of the claims --------------------------------------------------------------------------------------- */

static void granted(struct pdk__claim *claim, int64_t token)
{
    struct pdk__part *part = part_of(claim);
    part->token = token;
    part->lent = NULL;
    strcpy(part->node, claim->machine.node.name);
    part->suspect = part->revoked = false;
    assert(part->stage == PDK__HOLD_PENDING);
    part->stage = PDK__HOLD_GRANTED;
    part->hold->granted_ms = claim->agent.stepped_ms;
    judge(part->hold);
    check(part->hold);
}

static void failed(struct pdk__claim *claim, int rc)
{
    struct pdk__part *part = part_of(claim);
    pdk__part_keep_reason(part, rc);
    if (part->hold->blamed == NULL)
        part->hold->blamed = part;
    part->result = rc;
    part->stage = PDK__HOLD_FAILED;
    judge(part->hold);
    check(part->hold);
}

static void changed(struct pdk__claim *claim, enum pdk__report_kind state)
{
    struct pdk__part *part = part_of(claim);
    if (part->stage != PDK__HOLD_GRANTED)
        return; /* released meanwhile: no caller relies on it any more */
    part->suspect = state == PDK__REPORT_SUSPECT;
    if (state == PDK__REPORT_LOST) {
        pdk__part_keep_reason(part, PDK_ELOST);
        pdk__part_incident(part, part->verbs->keep, PDK_ELOST);
        part->stage = PDK__HOLD_LOST;
        part->hold->blamed = part;
    }
    judge(part->hold);
    check(part->hold);
}

static void due(struct pdk__claim *claim)
{
    struct pdk__hold *hold = part_of(claim)->hold;
    check(hold);
    if (hold->released_wanted) {
        pdk__object_incident(hold->object, part_of(claim)->verbs->release, PDK_EUNKNOWN);
        tell_released(hold, PDK_EUNKNOWN);
    } else if (several(hold)) {
        judge(hold);
    } else {
        report(hold, PDK__REPORT_DUE);
    }
}

static int worse(int rc, int next) { return rc != 0 ? rc : next; }

/* Its node may be there still. */
static void note_undone(struct pdk__part *part, int rc)
{
    struct pdk__hold *hold = part->hold;
    if (hold->stage == PDK__HOLD_FAILED)
        pdk__part_note_leftover(part);
    if (hold->stage != PDK__HOLD_RELEASED && hold->stage != PDK__HOLD_GRANTED)
        return;
    pdk__part_keep_reason(part, rc);
    if (hold->undone == 0)
        hold->blamed = part;
}

/* Nothing is left of all its parts. */
static void finish(struct pdk__hold *hold)
{
    hold->n_done++;
    hold->release_result = hold->undone;
    if (hold->release_result != 0 && hold->released_wanted)
        pdk__hold_incident(hold, hold->parts->verbs->release, hold->release_result);
    tell_released(hold, hold->release_result);
    hold->released_wanted = false;
    pthread_cond_broadcast(&hold->moved);
    report(hold, PDK__REPORT_DONE);
}

/* That another client deletes the gate's node takes nothing from a grant. */
static void done(struct pdk__claim *claim, int rc)
{
    struct pdk__part *part = part_of(claim);
    struct pdk__hold *hold = part->hold;
    assert(part->at_work && part->stage != PDK__HOLD_PENDING && part->stage != PDK__HOLD_GRANTED);
    if (part == gate_of(hold) && rc == PDK_ELOST)
        rc = 0;
    if (rc != 0)
        note_undone(part, rc);
    hold->undone = worse(hold->undone, rc);
    part->at_work = false;
    hold->n_at_work--;
    if (several(hold))
        settle_later(hold);
    if (hold->n_at_work == 0 && hold->stage != PDK__HOLD_PENDING)
        finish(hold);
    check(hold);
    pdk__hold_unref(hold); /* the claim's */
}

static void revoked(struct pdk__claim *claim)
{
    struct pdk__part *part = part_of(claim);
    if (part->stage != PDK__HOLD_GRANTED || part == gate_of(part->hold))
        return;
    if (part->hold->stage == PDK__HOLD_GRANTED)
        report(part->hold, PDK__REPORT_REVOKED);
    else
        part->revoked = true;
}

static void queued(struct pdk__claim *claim)
{
    struct pdk__hold *hold = part_of(claim)->hold;
    if (several(hold) || hold->unmixed)
        settle_later(hold);
    else
        tell_place(hold);
}

static void contended(struct pdk__claim *claim)
{
    struct pdk__hold *hold = part_of(claim)->hold;
    if (hold->stage == PDK__HOLD_GRANTED)
        report(hold, PDK__REPORT_CONTENDED);
}

static void part_reported(struct pdk__claim *claim, const struct pdk__report *report)
{
    switch (report->kind) {
    case PDK__REPORT_GRANTED:
        granted(claim, report->token);
        break;
    case PDK__REPORT_FAILED:
        failed(claim, report->rc);
        break;
    case PDK__REPORT_SUSPECT:
    case PDK__REPORT_HELD:
    case PDK__REPORT_LOST:
        changed(claim, report->kind);
        break;
    case PDK__REPORT_REVOKED:
        revoked(claim);
        break;
    case PDK__REPORT_CONTENDED:
        contended(claim);
        break;
    case PDK__REPORT_QUEUED:
        queued(claim);
        break;
    case PDK__REPORT_HINDERED:
        pdk__part_note_hindrance(part_of(claim), report->why);
        break;
    case PDK__REPORT_DUE:
        due(claim);
        break;
    default:
        done(claim, report->rc);
    }
}

/* --- from its making to its end ---------------------------------------------------------------------------------- */

static void init_part(struct pdk__part *part, struct pdk__hold *hold, const struct pdk__verbs *verbs, const char *path)
{
    *part = (struct pdk__part){.hold = hold, .object = hold->object, .verbs = verbs, .path = path};
}

static int init_parts(struct pdk__hold *hold, const struct pdk__verbs *verbs)
{
    const struct pdk__sites *sites = &hold->sites;
    unsigned n = count_all(sites);
    hold->parts = n > 1 ? pdk__alloc(n * sizeof *hold->parts) : &hold->one;
    if (hold->parts == NULL)
        return PDK_ENOMEM;
    for (unsigned i = 0; i < sites->n; i++)
        init_part(&hold->parts[i], hold, verbs, sites->paths != NULL ? sites->paths[i] : sites->path);
    /* To the caller the gate is nothing but the request, until it is to be left. */
    hold->gate_verbs = (struct pdk__verbs){
        .acquire = verbs->acquire, .keep = verbs->acquire, .release = verbs->release};
    struct pdk__part *gate = gate_of(hold);
    if (gate != NULL)
        init_part(gate, hold, &hold->gate_verbs, sites->gate);
    return 0;
}

int pdk__hold_init(struct pdk__hold *hold, struct pdk__object *object, pdk__hold_reported *reported,
                   const struct pdk__verbs *verbs, const struct pdk__sites *sites)
{
    const struct pdk__sites own = {.n = 1, .path = object->path};
    *hold = (struct pdk__hold){.object = object,
                               .reported = reported,
                               .sites = sites != NULL ? *sites : own,
                               .deferred.run = run_deferred,
                               .released_callback.run = run_released};
    assert(hold->sites.n >= 1 && (hold->sites.paths != NULL) != (hold->sites.path != NULL));
    pdk__list_init(&hold->deferred.link);
    pdk__list_init(&hold->released_callback.link);
    pdk__batch_init(&hold->batch, object->client, hold->sites.n, stirred);
    int rc = init_parts(hold, verbs);
    if (rc == 0 && (rc = pdk__cond_init(&hold->moved)) != 0 && several(hold))
        pdk__free(hold->parts);
    return rc;
}

void pdk__hold_clear(struct pdk__hold *hold)
{
    assert(hold->refs == 0 && hold->n_at_work == 0 && pdk__list_empty(&hold->deferred.link));
    EACH_PART (part, hold)
        pdk__part_clear(part);
    pdk__mixture_free(hold->mixture);
    pdk__batch_clear(&hold->batch);
    pthread_cond_destroy(&hold->moved);
    if (several(hold))
        pdk__free(hold->parts);
}

/* --- start and release ------------------------------------------------------------------------------------------- */

/* The gate has the deadline and the data of its request, and is a mutex otherwise. */
static struct pdk__wish gate_wish(const struct pdk__wish *wish)
{
    static const struct pdk__conditions none;
    return (struct pdk__wish){.rule = &pdk__rule_mutex,
                              .conditions = &none,
                              .data = wish->data,
                              .data_size = wish->data_size,
                              .try_only = wish->try_only,
                              .deadline_ms = wish->deadline_ms};
}

/* A claim is not touched after done(), in which this may run. */
int pdk__hold_start(struct pdk__hold *hold, const struct pdk__wish *wish)
{
    assert(pdk__client_locked(client_of(hold)) && hold->n_at_work == 0);
    hold->wish = wish;
    hold->gate_wish = gate_wish(wish);
    hold->spent = hold->returns = 0;
    hold->began_ms = pdk__now_ms();
    hold->result = 0;
    move(hold, PDK__HOLD_PENDING);
    if (!hold->for_turns)
        pdk__stats_request(stats_of(hold), hold->object->path);
    int rc = contend(hold);
    if (rc == 0)
        return 0;
    hold->result = rc;
    move(hold, PDK__HOLD_FAILED);
    count_failure(hold, rc);
    release_parts(hold);
    return rc;
}

void pdk__hold_cancel(struct pdk__hold *hold)
{
    if (hold->stage == PDK__HOLD_PENDING)
        fail(hold, PDK_ECANCELED);
}

void pdk__hold_refuse(struct pdk__hold *hold, int rc, const char *why)
{
    if (hold->stage != PDK__HOLD_PENDING)
        return;
    hold->blamed = hold->parts;
    pdk__text_set(&hold->blamed->why, why);
    fail(hold, rc);
}

void pdk__hold_release(struct pdk__hold *hold)
{
    assert(pdk__client_locked(client_of(hold)));
    if (hold->stage == PDK__HOLD_GRANTED && pdk__hold_lost(hold))
        settle_granted(hold);
    enum pdk__hold_stage before = hold->stage;
    if (before != PDK__HOLD_PENDING && !pdk__hold_owned(hold))
        return;
    move(hold, PDK__HOLD_RELEASED);
    pdk__hold_ref(hold);
    release_parts(hold);
    if (before == PDK__HOLD_GRANTED)
        count_end(hold, hold->parts);
    else if (before == PDK__HOLD_PENDING)
        count_failure(hold, PDK_ECANCELED);
    pdk__hold_unref(hold);
}

void pdk__hold_tick(struct pdk__hold *hold)
{
    EACH_PART (part, hold)
        if (part->at_work)
            pdk__claim_tick(&part->claim);
}

void pdk__hold_judge_again(struct pdk__hold *hold)
{
    for (unsigned i = 0; i < hold->sites.n; i++)
        if (hold->parts[i].stage == PDK__HOLD_PENDING)
            pdk__claim_judge_again(&hold->parts[i].claim);
}

void pdk__hold_remind(struct pdk__hold *hold, int64_t at_ms)
{
    EACH_PART (part, hold)
        if (part->at_work)
            pdk__claim_expect(&part->claim, at_ms);
}

int pdk__hold_await_done(struct pdk__hold *hold)
{
    struct pdk_client *c = client_of(hold);
    unsigned before = hold->n_done; /* another thread may start it again */
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    assert(hold->stage != PDK__HOLD_GRANTED);
    while (hold->n_at_work > 0 && hold->n_done == before && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &hold->moved, deadline_ms, false);
    bool over = hold->n_at_work == 0 || hold->n_done != before;
    return over ? hold->release_result : worse(hold->undone, PDK_EUNKNOWN);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

bool pdk__hold_lost(const struct pdk__hold *hold)
{
    return hold->stage == PDK__HOLD_LOST || (hold->stage == PDK__HOLD_GRANTED && count_parts(hold, PDK__HOLD_LOST) > 0);
}

bool pdk__hold_valid(const struct pdk__hold *hold) { return hold->stage == PDK__HOLD_GRANTED && !pdk__hold_lost(hold); }

pdk_state pdk__hold_state(const struct pdk__hold *hold)
{
    if (hold == NULL || !pdk__hold_owned(hold))
        return PDK_FREE;
    if (pdk__hold_lost(hold))
        return PDK_LOST;
    for (unsigned i = 0; i < hold->sites.n; i++)
        if (hold->parts[i].claim.machine.phase != PDK__HELD)
            return PDK_SUSPECT;
    return PDK_HELD;
}

int64_t pdk__hold_ahead(const struct pdk__hold *hold)
{
    int64_t most = hold->stage == PDK__HOLD_GRANTED ? 0 : -1;
    EACH_PART (part, hold) {
        if (part->stage != PDK__HOLD_PENDING)
            continue;
        int64_t ahead = pdk__standing_ahead(&part->claim.standing);
        if (ahead < 0)
            return -1;
        most = ahead > most ? ahead : most;
    }
    return most;
}

int64_t pdk__hold_valid_ms(const struct pdk__hold *hold)
{
    if (hold == NULL)
        return 0;
    struct pdk_client *c = client_of(hold);
    assert(pdk__client_locked(c));
    if (hold->stage != PDK__HOLD_GRANTED || pdk__hold_lost(hold))
        return 0;
    int64_t left_ms = pdk__session_deadline_ms(&c->session) - pdk__client_refreshed_ms(c);
    return left_ms > 0 ? left_ms : 0;
}

int pdk__hold_token(const struct pdk__hold *hold, int64_t *token, uint64_t *turn)
{
    if (hold == NULL)
        return PDK_EPERM;
    if (token != NULL)
        *token = hold->token;
    if (turn != NULL)
        *turn = hold->turn;
    return 0;
}

/* The part that the program numbers I, from 0. */
static struct pdk__part *numbered(struct pdk__hold *hold, unsigned i)
{
    assert(i < hold->sites.n);
    return &hold->parts[hold->sites.numbers != NULL ? hold->sites.numbers[i] : i];
}

size_t pdk__hold_node(struct pdk__hold *hold, unsigned i, char *buf, size_t size)
{
    return pdk__incident_copy(buf, size, hold != NULL ? numbered(hold, i)->node : "");
}

char *pdk__hold_node_path(struct pdk__hold *hold, unsigned i)
{
    const struct pdk__part *part = numbered(hold, i);
    return pdk__join(part->path, part->node);
}

int pdk__hold_guard(struct pdk__hold *hold, unsigned i, struct zoo_op *check)
{
    if (hold == NULL)
        return PDK_EPERM;
    return pdk__hold_lost(hold) ? pdk__hold_blame(hold, "guard", PDK_ELOST) : pdk__part_guard(numbered(hold, i), check);
}
