#include "recipes/handover.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/incident.h"
#include "lib/zk/member.h"
#include "lib/zk/session_driver.h"

/* The hold that contends or is granted, whoever owns it: one at most. */
static struct pdk__acquisition *find_live(struct pdk__cohort *cohort)
{
    PDK__LIST_EACH (link, &cohort->acquisitions) {
        struct pdk__acquisition *op = pdk__acquisition_at(link);
        if (op->hold.stage == PDK__HOLD_PENDING || op->hold.stage == PDK__HOLD_GRANTED)
            return op;
    }
    return NULL;
}

bool pdk__handover_busy(struct pdk__lockable *k)
{
    return find_live(k->cohort) != NULL || pdk__turns_first(&k->cohort->turns) != NULL;
}

/* The object that TURN asks for. */
static struct pdk__lockable *asker(const struct pdk__turn *turn)
{
    return PDK__MEMBER(turn->object, struct pdk__lockable, lock.object);
}

/* --- the next owner ---------------------------------------------------------------------------------------------- */

static void own(struct pdk__acquisition *op, uint64_t thread)
{
    assert(op->hold.stage == PDK__HOLD_GRANTED && op->thread == PDK__NO_THREAD && op->count == 0);
    op->thread = thread;
    pdk__lockable_deepen(op);
    op->hold.turn++;
    if (!op->idle)
        return;
    op->n_handed = 0; /* nobody else wanted it */
    op->idle = false;
    pdk__claim_used(&op->hold.parts->claim);
}

/* A request that found an idle grant was not counted: it never waited. */
static void count_turn(const struct pdk__acquisition *op, const struct pdk__turn *turn)
{
    struct pdk__object *o = turn->object;
    enum pdk__grant_source source = op->hold.turn > 0 ? PDK__BY_HANDOVER : PDK__BY_SERVERS;
    if (!turn->counted)
        pdk__stats_reuse(&o->client->stats, o->path);
    else
        pdk__stats_grant(&o->client->stats, o->path, source, pdk__now_ms() - turn->began_ms);
}

static void give(struct pdk__acquisition *op, struct pdk__turn *turn)
{
    count_turn(op, turn);
    pdk__lockable_take(asker(turn), op);
    own(op, turn->thread);
    pdk__turn_finish(turn, 0, &op->hold);
}

static void disown(struct pdk__acquisition *op)
{
    op->thread = PDK__NO_THREAD;
    op->count = 0;
}

/* Only a grant without doubt, and only while no other client has asked for it. */
static bool sound(const struct pdk__acquisition *op)
{
    return op->hold.stage == PDK__HOLD_GRANTED && op->hold.parts->claim.machine.phase == PDK__HELD && !op->revoked;
}

/* Other contenders are known once the grant was idle. */
static bool may_hand_on(const struct pdk__acquisition *op)
{
    bool alone = op->hold.parts->claim.machine.rivals.state == PDK__RIVALS_NONE;
    return alone || op->n_handed < op->lockable->lock.options.handover_budget;
}

/* A request of the same cohort may wait with a node of its own. A grant that OP does not pass is its writer's that goes
 * on as a reader: no thread may write beside it. */
static bool keeps_from_rest(const struct pdk__acquisition *other, const struct pdk__acquisition *op)
{
    bool blocked = other->hold.stage == PDK__HOLD_GRANTED && (op->wish.rule->passes & 1U << other->wish.rule->tag) == 0;
    return other != op && (blocked || other->idle || other->hold.stage == PDK__HOLD_PENDING);
}

static bool may_keep_idle(const struct pdk__acquisition *op)
{
    const struct pdk__lockable *k = op->lockable;
    if (k->lock.options.idle_hold_ms == 0 || op->contended || op->base != NULL || k->lock.object.client->closing)
        return false;
    PDK__LIST_EACH (link, &k->cohort->acquisitions)
        if (keeps_from_rest(pdk__acquisition_at(link), op))
            return false;
    return true;
}

bool pdk__handover_stays(const struct pdk__acquisition *op)
{
    assert(op->hold.stage == PDK__HOLD_GRANTED);
    const struct pdk__cohort *cohort = op->lockable->cohort;
    if (cohort->deferred.run == NULL || !sound(op))
        return false;
    return pdk__turns_first(&cohort->turns) != NULL ? may_hand_on(op) : may_keep_idle(op);
}

static void keep_idle(struct pdk__acquisition *op)
{
    op->idle = true;
    op->idle_until_ms = pdk__deadline_ms(pdk__now_ms(), op->lockable->lock.options.idle_hold_ms);
    pdk__hold_remind(&op->hold, op->idle_until_ms);
    pdk__claim_idle(&op->hold.parts->claim);
}

void pdk__handover_pass(struct pdk__acquisition *op)
{
    struct pdk__turn *next = pdk__turns_first(&op->lockable->cohort->turns);
    assert(pdk__handover_stays(op));
    disown(op);
    if (next == NULL) {
        keep_idle(op);
        return;
    }
    op->n_handed++;
    give(op, next);
}

static bool resumable(const struct pdk__acquisition *op) { return op->idle && !op->contended && sound(op); }

static struct pdk__acquisition *find_idle(struct pdk__cohort *cohort)
{
    PDK__LIST_EACH (link, &cohort->acquisitions)
        if (pdk__acquisition_at(link)->idle)
            return pdk__acquisition_at(link);
    return NULL;
}

struct pdk__acquisition *pdk__handover_idle(struct pdk__lockable *k, const struct pdk__rule *rule)
{
    struct pdk__acquisition *op = find_idle(k->cohort);
    if (op == NULL || (op->wish.rule == rule && resumable(op)))
        return op;
    pdk__lockable_drop(op);
    return NULL;
}

void pdk__handover_resume(struct pdk__lockable *k, struct pdk__acquisition *op)
{
    struct pdk__object *o = &k->lock.object;
    assert(resumable(op));
    pdk__stats_reuse(&o->client->stats, o->path);
    pdk__lockable_take(k, op);
    own(op, pdk__lockable_thread());
}

/* --- what waits is served ---------------------------------------------------------------------------------------- */

static void contend(struct pdk__cohort *cohort)
{
    struct pdk__lock_call call = {.wish = {.rule = &pdk__rule_mutex, .deadline_ms = PDK__NEVER},
                                  .thread = PDK__NO_THREAD};
    struct pdk__acquisition *op;
    int rc = pdk__lockable_request(&op, asker(pdk__turns_first(&cohort->turns)), &call);
    if (rc == 0)
        pdk__hold_unref(&op->hold);
    else
        pdk__turns_fail(&cohort->turns, rc, NULL);
}

/* The hold that contended for all has failed. */
static void tell_failure(struct pdk__cohort *cohort)
{
    struct pdk__acquisition *failed = cohort->failed;
    cohort->failed = NULL;
    pdk__turns_fail(&cohort->turns, failed->hold.result, &failed->hold);
    pdk__hold_unref(&failed->hold);
}

/* It is idle no longer than the option says, nor once it is wanted by others or lost. */
static void end_idleness(struct pdk__cohort *cohort)
{
    PDK__LIST_EACH (link, &cohort->acquisitions) {
        struct pdk__acquisition *op = pdk__acquisition_at(link);
        if (op->idle && (!resumable(op) || pdk__now_ms() >= op->idle_until_ms))
            pdk__lockable_drop(op);
    }
}

static void serve(struct pdk__cohort *cohort)
{
    struct pdk__turn *first = pdk__turns_first(&cohort->turns);
    struct pdk__acquisition *live = find_live(cohort);
    if (live == NULL && first != NULL)
        contend(cohort);
    else if (live == NULL || live->thread != PDK__NO_THREAD)
        return;
    else if (first == NULL && !live->idle)
        pdk__lockable_drop(live);
    else if (first != NULL && live->hold.stage == PDK__HOLD_GRANTED)
        give(live, first);
}

/* When its hold has to be looked at: for a request without a thread, or for the end of its idleness. */
static int64_t next_due_ms(const struct pdk__cohort *cohort, const struct pdk__acquisition *live)
{
    bool idle = live->idle && live->idle_until_ms < cohort->turns.due_ms;
    return idle ? live->idle_until_ms : cohort->turns.due_ms;
}

/* The deadlines of requests without a thread are watched by the hold that is at work for them. */
static void keep_deadlines(struct pdk__cohort *cohort)
{
    struct pdk__acquisition *live = find_live(cohort);
    int64_t now_ms = cohort->turns.due_ms != PDK__NEVER ? pdk__now_ms() : 0;
    if (now_ms >= cohort->turns.due_ms)
        pdk__turns_expire(&cohort->turns, now_ms, live != NULL ? &live->hold : NULL);
    if (live != NULL && next_due_ms(cohort, live) != PDK__NEVER)
        pdk__hold_remind(&live->hold, next_due_ms(cohort, live));
}

/* After every change of a hold or of the queue, outside of the steps of the claims. */
static void go_on(struct pdk__deferred *deferred)
{
    struct pdk__cohort *cohort = PDK__MEMBER(deferred, struct pdk__cohort, deferred);
    if (cohort->failed != NULL)
        tell_failure(cohort);
    keep_deadlines(cohort);
    end_idleness(cohort);
    serve(cohort);
    if (cohort->turns.due_ms != PDK__NEVER)
        keep_deadlines(cohort);
}

int pdk__handover_init(struct pdk_lock *l, const void *none)
{
    struct pdk__lockable *k = PDK__MEMBER(l, struct pdk__lockable, lock);
    (void)none;
    pdk__lockable_init(l);
    int rc = pdk__handover_on(k) ? pdk__cohort_join(k, go_on) : 0;
    if (rc == 0 && k->lock.options.idle_hold_ms > 0)
        k->cohort->deferred.run = go_on;
    k->sites.path = k->cohort->path;
    l->options.conditions.delay = &k->cohort->delay;
    return rc;
}

/* --- a thread ---------------------------------------------------------------------------------------------------- */

struct sleeper {
    struct pdk__turn turn;
    struct pdk__lockable *lockable;
    pthread_cond_t told;
};

static void wake(struct pdk__turn *turn) { pthread_cond_signal(&PDK__MEMBER(turn, struct sleeper, turn)->told); }

static struct pdk__acquisition *grant_of(const struct pdk__turn *turn)
{
    return PDK__MEMBER(turn->hold, struct pdk__acquisition, hold);
}

void pdk__handover_give_back(struct pdk__acquisition *op)
{
    if (op->hold.stage == PDK__HOLD_GRANTED && pdk__handover_stays(op))
        pdk__handover_pass(op);
    else
        pdk__lockable_drop(op);
}

static void cancelled(void *arg)
{
    struct sleeper *s = arg;
    struct pdk__object *o = s->turn.object;
    if (!s->turn.finished) {
        pdk__list_remove(&s->turn.link);
        pdk__stats_failure(&o->client->stats, o->path, PDK_ECANCELED);
    } else if (s->turn.rc == 0) {
        pdk__handover_give_back(grant_of(&s->turn));
    }
    pdk__lockable_moved(s->lockable);
    pdk__turn_clear(&s->turn);
    pthread_cond_destroy(&s->told);
    pdk__object_leave(o);
}

static void await_turn(struct sleeper *s)
{
    struct pdk_client *c = s->lockable->lock.object.client;
    pthread_cleanup_push(cancelled, s);
    while (!s->turn.finished) {
        struct pdk__acquisition *live = find_live(s->lockable->cohort);
        if (pdk__now_ms() >= s->turn.deadline_ms)
            pdk__turn_finish(&s->turn, PDK_ETIMEDOUT, live != NULL ? &live->hold : NULL);
        else
            pdk__client_await(c, &s->told, s->turn.deadline_ms, true);
    }
    pthread_cleanup_pop(0);
}

static int blame(const struct pdk__turn *turn)
{
    char text[PDK__INCIDENT_MAX];
    pdk__turn_describe(turn, text);
    pdk__incident_note(turn->object->number, text);
    return turn->rc;
}

/* The thread may wake long after it got its turn: when that is lost, or ended with its closed client. */
static int judge(const struct pdk__turn *turn)
{
    if (turn->rc != 0)
        return blame(turn);
    pdk__client_refresh(turn->object->client);
    if (pdk__hold_valid(turn->hold))
        return 0;
    pdk__hold_blame(turn->hold, "lock", PDK_ELOST);
    pdk__lockable_drop(grant_of(turn));
    return PDK_ELOST;
}

int pdk__handover_wait(struct pdk__lockable *k, int64_t deadline_ms)
{
    struct sleeper s = {.lockable = k,
                        .turn = {.object = &k->lock.object,
                                 .thread = pdk__lockable_thread(),
                                 .began_ms = pdk__now_ms(),
                                 .deadline_ms = deadline_ms,
                                 .tell = wake}};
    int rc = pdk__cond_init(&s.told);
    if (rc != 0)
        return rc;
    pdk__turn_begin(&s.turn);
    pdk__turn_join(&k->cohort->turns, &s.turn);
    pdk__lockable_moved(k);
    await_turn(&s);
    pdk__lockable_moved(k); /* it may have been the last that waited */
    rc = judge(&s.turn);
    pdk__turn_clear(&s.turn);
    pthread_cond_destroy(&s.told);
    return rc;
}

/* --- no thread --------------------------------------------------------------------------------------------------- */

/* Once the client ends, no callback may be left that would never run. */
static int may_request(struct pdk__lockable *k)
{
    const struct pdk_client *c = k->lock.object.client;
    if (!pdk__handover_busy(k))
        return pdk__member_may_join(c, k->lock.object.path);
    return c->closing ? PDK_ECLOSED : c->over;
}

int pdk__handover_request(struct pdk__acquisition **out, struct pdk__lockable *k, const struct pdk__lock_call *call)
{
    struct pdk__acquisition *op;
    int rc = may_request(k);
    if (rc == 0)
        rc = pdk__lockable_make_turn(&op, k, call->cb, call->arg);
    if (rc != 0)
        return rc;
    op->turn.began_ms = pdk__now_ms();
    op->turn.deadline_ms = call->wish.deadline_ms;
    struct pdk__acquisition *idle = pdk__handover_idle(k, call->wish.rule);
    if (idle != NULL) {
        pdk__list_init(&op->turn.link);
        give(idle, &op->turn);
    } else if (call->wish.try_only) {
        pdk__turn_begin(&op->turn);
        pdk__list_init(&op->turn.link);
        pdk__turn_finish(&op->turn, PDK_EBUSY, NULL);
    } else {
        pdk__turn_begin(&op->turn);
        pdk__turn_join(&k->cohort->turns, &op->turn);
        pdk__lockable_moved(k);
    }
    *out = op;
    return 0;
}
