#include "recipes/bundle.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/session.h"
#include <stdio.h>

static struct pdk__part *part_of(struct pdk__hold *hold) { return PDK__MEMBER(hold, struct pdk__part, hold); }

static struct pdk_client *client_of(const struct pdk__bundle *b) { return b->spec.object->client; }

/* The parts that count, and the gate after them, where there is one. */
static unsigned count_all(const struct pdk__bundle *b) { return b->spec.n + (b->spec.gate != NULL); }

#define EACH_PART(part, b) for (struct pdk__part *part = (b)->parts; part < (b)->parts + count_all(b); part++)

static struct pdk__part *gate_of(const struct pdk__bundle *b)
{
    return b->spec.gate != NULL ? &b->parts[b->spec.n] : NULL;
}

/* Are the nodes made in one transaction? */
static bool batched(const struct pdk__bundle *b) { return b->spec.paths != NULL && b->spec.n > 1; }

static struct pdk_stats *stats_of(const struct pdk__bundle *b) { return &client_of(b)->stats; }

static const char *path_of(const struct pdk__bundle_spec *spec, unsigned i)
{
    return spec->paths != NULL ? spec->paths[i] : spec->path;
}

/* --- stages and the count ---------------------------------------------------------------------------------------- */

#define TO(stage) (UINT32_C(1) << PDK__BUNDLE_##stage)

static void move(struct pdk__bundle *b, enum pdk__bundle_stage stage)
{
    static const uint32_t moves[PDK__BUNDLE_N_STAGES] = {
        [PDK__BUNDLE_PENDING] = TO(GRANTED) | TO(ENDED),
        [PDK__BUNDLE_GRANTED] = TO(LOST) | TO(ENDED),
        [PDK__BUNDLE_LOST] = TO(ENDED),
    };
    assert(pdk__client_locked(client_of(b)) && (moves[b->stage] & UINT32_C(1) << stage) != 0);
    b->stage = stage;
    pthread_cond_broadcast(&b->moved);
}

static void destroy(struct pdk__bundle *b)
{
    struct pdk__object *o = b->spec.object;
    assert(pdk__list_empty(&b->link) && pdk__list_empty(&b->deferred.link));
    pdk__batch_clear(&b->batch);
    EACH_PART (part, b)
        pdk__hold_clear(&part->hold);
    pthread_cond_destroy(&b->moved);
    pdk__free(b->data);
    pdk__free(b->parts);
    pdk__free(b);
    pdk__object_unref(o);
}

void pdk__bundle_ref(struct pdk__bundle *b)
{
    assert(pdk__client_locked(client_of(b)) && b->refs > 0);
    b->refs++;
}

void pdk__bundle_unref(struct pdk__bundle *b)
{
    assert(pdk__client_locked(client_of(b)) && b->refs > 0);
    if (--b->refs == 0)
        destroy(b);
}

/* --- the outcome of a request ------------------------------------------------------------------------------------ */

/* As with a mutex: the callback may run long after the grant, and must not take one that is over. */
static int final_result(struct pdk__bundle *b)
{
    pdk__client_refresh(client_of(b));
    b->answered = true;
    return b->result == 0 && pdk__bundle_state(b) == PDK_LOST ? PDK_ELOST : b->result;
}

static void unref_unlocked(struct pdk__bundle *b)
{
    struct pdk_client *c = client_of(b);
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk__bundle_unref(b);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

static void run_completed(struct pdk__callback *callback)
{
    struct pdk__bundle *b = PDK__MEMBER(callback, struct pdk__bundle, completed);
    struct pdk_client *c = client_of(b);
    pdk__client_lock(c);
    int rc = final_result(b);
    pdk__client_leave(c);
    b->spec.cb(rc, b->spec.arg);
    unref_unlocked(b);
}

static void tell_completed(struct pdk__bundle *b)
{
    if (b->spec.cb == NULL)
        return;
    pdk__bundle_ref(b);
    pdk__client_queue_callback(client_of(b), &b->completed);
}

/* --- from one stage to the next ---------------------------------------------------------------------------------- */

static bool at_work(struct pdk__bundle *b)
{
    EACH_PART (part, b)
        if (part->hold.at_work)
            return true;
    return false;
}

static void release_all(struct pdk__bundle *b)
{
    EACH_PART (part, b)
        pdk__hold_release(&part->hold);
}

/* The grant is released or lost. */
static void count_end(struct pdk__bundle *b)
{
    pdk__stats_held(stats_of(b), b->spec.object->path, b->token, pdk__now_ms() - b->granted_ms);
}

/* It ends without a grant, or its grant ends. */
static void end(struct pdk__bundle *b, int rc)
{
    bool pending = b->stage == PDK__BUNDLE_PENDING;
    if (pending)
        pdk__stats_failure(stats_of(b), b->spec.object->path, rc);
    else if (b->stage == PDK__BUNDLE_GRANTED)
        count_end(b);
    move(b, PDK__BUNDLE_ENDED);
    if (pending) {
        b->result = rc;
        tell_completed(b);
    }
    release_all(b);
}

/* On an error nothing was started. A hold's own reference ends in unused(). */
static int start(struct pdk__part *part, const struct pdk__rule *rule)
{
    struct pdk__bundle *b = part->bundle;
    struct pdk__claim_spec spec = {.rule = rule,
                                   .data = b->data,
                                   .data_size = b->data_size,
                                   .try_only = b->spec.try_only,
                                   .deadline_ms = b->spec.deadline_ms,
                                   .conditions = b->spec.options->conditions,
                                   .batch = batched(b) ? &b->batch : NULL};
    pdk__bundle_ref(b);
    return pdk__hold_start(&part->hold, spec);
}

static int start_parts(struct pdk__bundle *b)
{
    int rc = 0;
    b->suspect = false;
    for (unsigned i = 0; i < b->spec.n && rc == 0; i++)
        rc = start(&b->parts[i], b->spec.rule);
    return rc;
}

static int begin(struct pdk__bundle *b)
{
    assert(b->stage == PDK__BUNDLE_PENDING && !at_work(b));
    b->again = false;
    return b->spec.gate != NULL && !b->spec.try_only ? start(gate_of(b), &pdk__rule_mutex) : start_parts(b);
}

static void tell_revoked(struct pdk__bundle *b) { pdk__changes_tell(&b->spec.object->revocations, 0, b->token); }

/* The token of the whole is that of its last node: larger than those of all acquisitions before it. */
static void grant(struct pdk__bundle *b)
{
    for (unsigned i = 0; i < b->spec.n; i++)
        if (b->parts[i].hold.token > b->token)
            b->token = b->parts[i].hold.token;
    move(b, PDK__BUNDLE_GRANTED);
    b->granted_ms = pdk__now_ms();
    pdk__stats_hold(stats_of(b), b->spec.object->path, b->token);
    pdk__stats_grant(stats_of(b), b->spec.object->path, PDK__BY_SERVERS, b->granted_ms - b->began_ms);
    b->gate_kind.names_path = true; /* from now on the caller has the lock, and the gate is a node that may be left */
    if (b->spec.gate != NULL)
        pdk__hold_release(&gate_of(b)->hold);
    tell_completed(b);
    for (unsigned i = 0; i < b->spec.n; i++)
        if (b->parts[i].revoked)
            tell_revoked(b);
}

/* Another client deleted a node of it, or the session ended: what is left cannot be added to. */
static void start_over(struct pdk__bundle *b)
{
    if (b->spec.try_only) {
        end(b, PDK_EBUSY);
        return;
    }
    b->again = true;
    release_all(b);
    EACH_PART (part, b)
        if (part->hold.at_work)
            pdk__hold_remind(&part->hold, b->spec.deadline_ms);
}

static unsigned count_parts(const struct pdk__bundle *b, enum pdk__hold_stage stage)
{
    unsigned n = 0;
    for (unsigned i = 0; i < b->spec.n; i++)
        n += b->parts[i].hold.stage == stage;
    return n;
}

/* The part that keeps the request from going on; NULL: none. */
static struct pdk__part *find_part(struct pdk__bundle *b, enum pdk__hold_stage stage)
{
    EACH_PART (part, b)
        if (part->hold.stage == stage)
            return part;
    return NULL;
}

/* The grants so far may allow the next step. */
static int go_on(struct pdk__bundle *b)
{
    const struct pdk__part *gate = gate_of(b);
    if (count_parts(b, PDK__HOLD_GRANTED) == b->spec.n)
        grant(b);
    else if (gate != NULL && gate->hold.stage == PDK__HOLD_GRANTED && !b->parts[0].hold.at_work)
        return start_parts(b);
    return 0;
}

static int go_on_again(struct pdk__bundle *b)
{
    if (pdk__now_ms() >= b->spec.deadline_ms)
        return PDK_ETIMEDOUT; /* what is left of the last attempt may take longer */
    return at_work(b) ? 0 : begin(b);
}

static void settle_pending(struct pdk__bundle *b, bool broken)
{
    int rc = 0;
    struct pdk__part *failed = find_part(b, PDK__HOLD_FAILED);
    if (b->again)
        rc = go_on_again(b);
    else if (failed != NULL)
        rc = failed->hold.result;
    else if (broken || find_part(b, PDK__HOLD_LOST) != NULL)
        start_over(b);
    else
        rc = go_on(b);
    if (rc != 0 && b->stage == PDK__BUNDLE_PENDING)
        end(b, rc);
}

static bool any_suspect(const struct pdk__bundle *b)
{
    for (unsigned i = 0; i < b->spec.n; i++)
        if (b->parts[i].suspect)
            return true;
    return false;
}

static void tell_changed(struct pdk__bundle *b, pdk_state state)
{
    pdk__changes_tell(&b->spec.object->changes, state, b->token);
}

static void settle_granted(struct pdk__bundle *b)
{
    bool suspect = any_suspect(b);
    if (count_parts(b, PDK__HOLD_LOST) > 0) {
        move(b, PDK__BUNDLE_LOST);
        count_end(b);
        pdk__stats_loss(stats_of(b), b->spec.object->path, b->token,
                        find_part(b, PDK__HOLD_LOST)->hold.claim.standing.loss);
        tell_changed(b, PDK_LOST);
    } else if (suspect != b->suspect) {
        tell_changed(b, suspect ? PDK_SUSPECT : PDK_HELD);
    }
    b->suspect = suspect;
}

static void settle(struct pdk__deferred *deferred)
{
    struct pdk__bundle *b = PDK__MEMBER(deferred, struct pdk__bundle, deferred);
    bool broken = batched(b) && !pdk__batch_consider(&b->batch);
    if (b->stage == PDK__BUNDLE_PENDING)
        settle_pending(b, broken);
    else if (b->stage == PDK__BUNDLE_GRANTED)
        settle_granted(b);
    pdk__bundle_unref(b);
}

/* --- reports of the holds ---------------------------------------------------------------------------------------- */

static void settle_later(struct pdk__bundle *b)
{
    if (!pdk__list_empty(&b->deferred.link))
        return;
    pdk__bundle_ref(b);
    pdk__client_defer(client_of(b), &b->deferred);
}

static void stirred(struct pdk__batch *batch) { settle_later(PDK__MEMBER(batch, struct pdk__bundle, batch)); }

static void defer(struct pdk__hold *hold) { settle_later(part_of(hold)->bundle); }

static void failed(struct pdk__hold *hold, int rc)
{
    (void)rc; /* the hold has it */
    defer(hold);
}

static void changed(struct pdk__hold *hold, enum pdk__action_kind state)
{
    part_of(hold)->suspect = state == PDK__ACT_SUSPECT;
    defer(hold);
}

static void granted(struct pdk__hold *hold)
{
    part_of(hold)->suspect = part_of(hold)->revoked = false;
    defer(hold);
}

static void revoked(struct pdk__hold *hold)
{
    struct pdk__bundle *b = part_of(hold)->bundle;
    if (b->stage == PDK__BUNDLE_GRANTED)
        tell_revoked(b);
    else
        part_of(hold)->revoked = true;
}

static void not_revoked(struct pdk__hold *hold) { (void)hold; }

static void unused(struct pdk__hold *hold) { pdk__bundle_unref(part_of(hold)->bundle); }

/* The gate is nothing but the request to the caller, until it is to be left. */
static void init_kinds(struct pdk__bundle *b, const struct pdk__bundle_kind *kind)
{
    b->part_kind = (struct pdk__hold_kind){.acquire = kind->acquire,
                                           .keep = kind->keep,
                                           .release = kind->release,
                                           .names_path = kind->names_path,
                                           .is_part = true,
                                           .granted = granted,
                                           .failed = failed,
                                           .changed = changed,
                                           .revoked = revoked,
                                           .due = defer,
                                           .done = defer,
                                           .unused = unused};
    b->gate_kind = b->part_kind;
    b->gate_kind.keep = kind->acquire;
    b->gate_kind.revoked = not_revoked;
}

/* --- a request --------------------------------------------------------------------------------------------------- */

static int init_part(struct pdk__part *part, const struct pdk__hold_kind *kind, const char *path)
{
    int rc = pdk__hold_init(&part->hold, part->bundle->spec.object, kind);
    part->hold.path = path;
    return rc;
}

static int init_parts(struct pdk__bundle *b)
{
    int rc = 0;
    EACH_PART (part, b)
        part->bundle = b;
    for (unsigned i = 0; i < b->spec.n && rc == 0; i++)
        rc = init_part(&b->parts[i], &b->part_kind, path_of(&b->spec, i));
    if (rc == 0 && b->spec.gate != NULL)
        rc = init_part(gate_of(b), &b->gate_kind, b->spec.gate);
    return rc;
}

static int fill(struct pdk__bundle *b)
{
    init_kinds(b, b->spec.kind);
    pdk__batch_init(&b->batch, client_of(b), b->spec.n, stirred);
    b->parts = pdk__alloc(count_all(b) * sizeof *b->parts);
    b->data = pdk__node_data_make(b->spec.options, client_of(b), &b->data_size);
    if (b->parts == NULL || b->data == NULL || pdk__cond_init(&b->moved) != 0)
        return PDK_ENOMEM;
    return init_parts(b);
}

static struct pdk__bundle *make(const struct pdk__bundle_spec *spec)
{
    struct pdk__bundle *b = pdk__alloc(spec->kind->size);
    if (b == NULL)
        return NULL;
    b->spec = *spec;
    b->spec.cb = NULL; /* until it has begun */
    if (fill(b) != 0) {
        pdk__free(b->data);
        pdk__free(b->parts);
        pdk__free(b);
        return NULL;
    }
    b->completed.run = run_completed;
    b->deferred.run = settle;
    pdk__list_init(&b->completed.link);
    pdk__list_init(&b->deferred.link);
    pdk__list_append(spec->handles, &b->link);
    pdk__object_ref(spec->object);
    b->refs = 2;
    return b;
}

int pdk__bundle_request(struct pdk__bundle **out, const struct pdk__bundle_spec *spec)
{
    assert(spec->n >= 1 && (spec->paths != NULL) != (spec->path != NULL));
    struct pdk__bundle *b = make(spec);
    if (b == NULL)
        return PDK_ENOMEM;
    b->began_ms = pdk__now_ms();
    pdk__stats_request(stats_of(b), spec->object->path);
    int rc = begin(b);
    if (rc != 0) {
        end(b, rc);
        pdk__list_remove(&b->link);
        pdk__bundle_unref(b);
        pdk__bundle_unref(b);
        return rc;
    }
    b->spec.cb = spec->cb;
    *out = b;
    return 0;
}

/* --- waiting for it ---------------------------------------------------------------------------------------------- */

/* The time of its caller is over: its holds look at the clock. */
static void tick(struct pdk__bundle *b)
{
    EACH_PART (part, b)
        if (part->hold.at_work)
            pdk__claim_tick(&part->hold.claim);
}

static void cancelled(void *arg)
{
    struct pdk__bundle *b = arg;
    struct pdk__object *o = b->spec.object;
    pdk__bundle_drop(b);
    pdk__bundle_unref(b);
    pdk__object_leave(o);
}

/* As for a mutex: the timers' thread may be late, and the caller may be woken long after the grant. */
int pdk__bundle_await(struct pdk__bundle *b)
{
    struct pdk_client *c = client_of(b);
    pthread_cleanup_push(cancelled, b);
    while (b->stage == PDK__BUNDLE_PENDING) {
        bool late = pdk__now_ms() >= b->spec.deadline_ms;
        if (late)
            tick(b);
        pdk__client_await(c, &b->moved, late ? pdk__deadline_ms(pdk__now_ms(), 1) : b->spec.deadline_ms, true);
    }
    pthread_cleanup_pop(0);
    pdk__client_refresh(c);
    return b->result == 0 && pdk__bundle_state(b) == PDK_LOST ? PDK_ELOST : b->result;
}

void pdk__bundle_drop(struct pdk__bundle *b)
{
    assert(!pdk__list_empty(&b->link));
    pdk__list_remove(&b->link);
    if (b->stage != PDK__BUNDLE_ENDED)
        end(b, PDK_ECANCELED);
    if (b->result == 0 && !b->answered)
        b->result = PDK_ECANCELED; /* granted, and its callback has not run */
    pdk__bundle_unref(b);
}

void pdk__bundle_cancel(struct pdk__bundle *b)
{
    if (b->stage == PDK__BUNDLE_PENDING)
        end(b, PDK_ECANCELED);
}

void pdk__bundle_refuse(struct pdk__bundle *b, int rc, const char *why)
{
    struct pdk__object *o = b->spec.object;
    if (b->stage != PDK__BUNDLE_PENDING)
        return;
    snprintf(b->why, sizeof b->why, "%s", why);
    pdk__incident_format(o->error, b->spec.kind->acquire, o->path, rc, b->why);
    end(b, rc);
}

void pdk__bundle_judge_again(struct pdk__bundle *b)
{
    for (unsigned i = 0; i < b->spec.n; i++)
        if (b->parts[i].hold.stage == PDK__HOLD_PENDING)
            pdk__claim_judge_again(&b->parts[i].hold.claim);
}

/* --- a release --------------------------------------------------------------------------------------------------- */

/* An error tells more than a success, and the first error more than those that follow. */
static int worse(int rc, int next) { return rc != 0 ? rc : next; }

/* Of the release of PART, for the caller: who deletes the gate's node takes nothing from a grant. */
static int outcome(const struct pdk__part *part, int rc)
{
    return part == gate_of(part->bundle) && rc == PDK_ELOST ? 0 : rc;
}

/* After a drop: wait until nothing is left, for one session timeout at most. Returns the outcome of the release. */
static int await_done(struct pdk__bundle *b)
{
    int rc = 0;
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), client_of(b)->session.timeout_ms);
    assert(b->stage == PDK__BUNDLE_ENDED);
    EACH_PART (part, b) { /* the gate is left since the grant, and yet its node may be there */
        struct pdk__hold *hold = &part->hold;
        int one = outcome(part, pdk__hold_await_until(hold, deadline_ms));
        if (hold->at_work)
            return worse(rc, one); /* the time is over for the others, too */
        if (one != 0 && rc == 0)
            pdk__hold_blame(hold, b->spec.kind->release, one);
        rc = worse(rc, one);
    }
    return rc;
}

/* On the thread of callbacks, without the lock. */
static void part_released(int rc, void *arg)
{
    struct pdk__part *part = arg;
    struct pdk__bundle *b = part->bundle;
    struct pdk_client *c = client_of(b);
    pdk__client_lock(c);
    assert(b->n_releasing > 0);
    b->released_rc = worse(b->released_rc, outcome(part, rc));
    bool last = --b->n_releasing == 0;
    pdk__client_leave(c);
    if (last)
        b->released_cb(b->released_rc, b->released_arg);
}

/* The gate was left, and the outcome is known. Or it was not needed. */
static void expect_nothing(struct pdk__part *gate)
{
    struct pdk__bundle *b = gate->bundle;
    b->released_rc = outcome(gate, gate->hold.release_result);
    if (b->released_rc != 0)
        pdk__hold_incident(&gate->hold, b->spec.kind->release, b->released_rc);
}

void pdk__bundle_expect(struct pdk__bundle *b, pdk_lock_cb cb, void *arg)
{
    assert(b->stage == PDK__BUNDLE_GRANTED && b->n_releasing == 0);
    b->released_cb = cb;
    b->released_arg = arg;
    EACH_PART (part, b) {
        if (part == gate_of(b) && !part->hold.at_work) {
            expect_nothing(part);
            continue;
        }
        b->n_releasing += cb != NULL;
        pdk__hold_expect(&part->hold, cb != NULL ? part_released : NULL, part);
    }
}

/* --- questions --------------------------------------------------------------------------------------------------- */

int pdk__bundle_blame(const struct pdk__bundle *b, const char *verb, int rc)
{
    const struct pdk__part *failed = find_part((struct pdk__bundle *)b, PDK__HOLD_FAILED);
    if (b->why[0] != '\0')
        return pdk__object_explain(b->spec.object, verb, rc, b->why);
    if (failed == NULL)
        failed = find_part((struct pdk__bundle *)b, PDK__HOLD_LOST);
    return failed != NULL ? pdk__hold_blame(&failed->hold, verb, rc) : pdk__object_blame(b->spec.object, verb, rc);
}

pdk_state pdk__bundle_state(const struct pdk__bundle *b)
{
    if (b->stage == PDK__BUNDLE_LOST || (b->stage == PDK__BUNDLE_GRANTED && count_parts(b, PDK__HOLD_LOST) > 0))
        return PDK_LOST;
    if (b->stage != PDK__BUNDLE_GRANTED)
        return PDK_FREE;
    for (unsigned i = 0; i < b->spec.n; i++)
        if (b->parts[i].hold.claim.machine.phase != PDK__HELD)
            return PDK_SUSPECT;
    return PDK_HELD;
}

int64_t pdk__bundle_valid_ms(const struct pdk__bundle *b)
{
    return b->stage == PDK__BUNDLE_GRANTED && count_parts(b, PDK__HOLD_GRANTED) == b->spec.n
               ? pdk__hold_valid_ms(&b->parts[0].hold)
               : 0;
}

/* --- the handle that the user has -------------------------------------------------------------------------------- */

static struct pdk__held held(const pdk_grant *g)
{
    return (struct pdk__held){.bundle = pdk__bundle_owned(g->bundle) ? g->bundle : NULL};
}

static uint64_t turn(const pdk_grant *g)
{
    (void)g;
    return 1;
}

static void cancel(pdk_grant *g) { pdk__bundle_cancel(g->bundle); }

static void drop(pdk_grant *g) { pdk__bundle_drop(g->bundle); }

int pdk__bundle_give_away(struct pdk__bundle *b)
{
    if (b->spec.options->unlock_nowait) {
        pdk__bundle_expect(b, NULL, NULL);
        pdk__bundle_drop(b);
        return 0;
    }
    pdk__bundle_ref(b);
    pdk__bundle_drop(b);
    int rc = await_done(b);
    pdk__bundle_unref(b);
    return rc;
}

static int release(pdk_grant *g) { return pdk__bundle_give_away(g->bundle); }

static int release_later(pdk_grant *g, pdk_lock_cb cb, void *arg)
{
    pdk__bundle_expect(g->bundle, cb, arg);
    pdk__bundle_drop(g->bundle);
    return 0;
}

const struct pdk__grant_kind pdk__bundle_permits = {.release_verb = "release",
                                                    .held = held,
                                                    .turn = turn,
                                                    .cancel = cancel,
                                                    .release = release,
                                                    .release_later = release_later,
                                                    .drop = drop};

const struct pdk__grant_kind pdk__bundle_paths = {.release_verb = "unlock",
                                                  .held = held,
                                                  .turn = turn,
                                                  .cancel = cancel,
                                                  .release = release,
                                                  .release_later = release_later,
                                                  .drop = drop};
