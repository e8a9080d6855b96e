#include "recipes/permit.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/session.h"

static struct pdk__part *part_of(struct pdk__hold *hold) { return PDK__MEMBER(hold, struct pdk__part, hold); }

static struct pdk_client *client_of(const struct pdk_permit *p) { return p->semaphore->object.client; }

/* The parts: the leases, and the gate after them. */
static struct pdk__part *part_at(struct pdk_permit *p, unsigned i) { return i < p->n ? &p->leases[i] : &p->gate; }

#define EACH_PART(part, p)                                                                                             \
    for (unsigned part##_i = 0; part##_i <= (p)->n; part##_i++)                                                        \
        for (struct pdk__part *part = part_at(p, part##_i); part != NULL; part = NULL)

/* --- stages and the count ---------------------------------------------------------------------------------------- */

#define TO(stage) (UINT32_C(1) << PDK__PERMIT_##stage)

static void move(struct pdk_permit *p, enum pdk__permit_stage stage)
{
    static const uint32_t moves[PDK__PERMIT_N_STAGES] = {
        [PDK__PERMIT_PENDING] = TO(GRANTED) | TO(ENDED),
        [PDK__PERMIT_GRANTED] = TO(LOST) | TO(ENDED),
        [PDK__PERMIT_LOST] = TO(ENDED),
    };
    assert(pdk__client_locked(client_of(p)) && (moves[p->stage] & UINT32_C(1) << stage) != 0);
    p->stage = stage;
    pthread_cond_broadcast(&p->moved);
}

static void destroy(struct pdk_permit *p)
{
    struct pdk__object *o = &p->semaphore->object;
    assert(pdk__list_empty(&p->link) && pdk__list_empty(&p->deferred.link));
    EACH_PART (part, p)
        pdk__hold_clear(&part->hold);
    pthread_cond_destroy(&p->moved);
    pdk__free(p->data);
    pdk__free(p);
    pdk__object_unref(o);
}

void pdk__permit_ref(struct pdk_permit *p)
{
    assert(pdk__client_locked(client_of(p)) && p->refs > 0);
    p->refs++;
}

void pdk__permit_unref(struct pdk_permit *p)
{
    assert(pdk__client_locked(client_of(p)) && p->refs > 0);
    if (--p->refs == 0)
        destroy(p);
}

/* --- the outcome of a request ------------------------------------------------------------------------------------ */

/* As with a mutex: the callback may run long after the grant, and must not take one that is over. */
static int final_result(struct pdk_permit *p)
{
    pdk__client_refresh(client_of(p));
    p->answered = true;
    return p->result == 0 && pdk__permit_state(p) == PDK_LOST ? PDK_ELOST : p->result;
}

static void unref_unlocked(struct pdk_permit *p)
{
    struct pdk_client *c = client_of(p);
    pdk__client_ref(c);
    pdk__client_lock(c);
    pdk__permit_unref(p);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

static void run_completed(struct pdk__callback *callback)
{
    struct pdk_permit *p = PDK__MEMBER(callback, struct pdk_permit, completed);
    struct pdk_client *c = client_of(p);
    pdk__client_lock(c);
    int rc = final_result(p);
    pdk__client_leave(c);
    p->completed_cb(rc, p->completed_arg);
    unref_unlocked(p);
}

static void tell_completed(struct pdk_permit *p)
{
    if (p->completed_cb == NULL)
        return;
    pdk__permit_ref(p);
    pdk__client_queue_callback(client_of(p), &p->completed);
}

/* --- from one stage to the next ---------------------------------------------------------------------------------- */

static bool at_work(struct pdk_permit *p)
{
    EACH_PART (part, p)
        if (part->hold.at_work)
            return true;
    return false;
}

static void release_all(struct pdk_permit *p)
{
    EACH_PART (part, p)
        pdk__hold_release(&part->hold);
}

/* It ends without a grant, or its grant ends. */
static void end(struct pdk_permit *p, int rc)
{
    bool pending = p->stage == PDK__PERMIT_PENDING;
    move(p, PDK__PERMIT_ENDED);
    if (pending) {
        p->result = rc;
        tell_completed(p);
    }
    release_all(p);
}

static const struct pdk__hold_kind gate_kind, lease_kind;

/* On an error nothing was started. A hold's own reference ends in unused(). */
static int start(struct pdk__part *part, const struct pdk__rule *rule, bool try_only)
{
    struct pdk_permit *p = part->permit;
    struct pdk__claim_spec spec = {.rule = rule,
                                   .data = p->data,
                                   .data_size = p->data_size,
                                   .try_only = try_only,
                                   .deadline_ms = p->deadline_ms,
                                   .conditions = p->semaphore->options.conditions};
    pdk__permit_ref(p);
    return pdk__hold_start(&part->hold, spec);
}

static int start_leases(struct pdk_permit *p)
{
    int rc = 0;
    p->suspect = false;
    for (unsigned i = 0; i < p->n && rc == 0; i++)
        rc = start(&p->leases[i], &p->semaphore->rule, p->try_only);
    return rc;
}

static int begin(struct pdk_permit *p)
{
    assert(p->stage == PDK__PERMIT_PENDING && !at_work(p));
    p->again = false;
    return p->try_only ? start_leases(p) : start(&p->gate, &pdk__rule_mutex, false);
}

static void tell_revoked(struct pdk_permit *p) { pdk__changes_tell(&p->semaphore->object.revocations, 0, p->token); }

/* The token of the whole is that of its last node: larger than those of all acquisitions before it. */
static void grant(struct pdk_permit *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->leases[i].hold.token > p->token)
            p->token = p->leases[i].hold.token;
    move(p, PDK__PERMIT_GRANTED);
    pdk__hold_release(&p->gate.hold);
    tell_completed(p);
    for (unsigned i = 0; i < p->n; i++)
        if (p->leases[i].revoked)
            tell_revoked(p);
}

/* Another client deleted a node of it, or the session ended: what is left cannot be added to. */
static void start_over(struct pdk_permit *p)
{
    if (p->try_only) {
        end(p, PDK_EBUSY);
        return;
    }
    p->again = true;
    release_all(p);
    EACH_PART (part, p)
        if (part->hold.at_work)
            pdk__hold_remind(&part->hold, p->deadline_ms);
}

static unsigned count_leases(const struct pdk_permit *p, enum pdk__hold_stage stage)
{
    unsigned n = 0;
    for (unsigned i = 0; i < p->n; i++)
        n += p->leases[i].hold.stage == stage;
    return n;
}

/* The part that keeps the request from going on; NULL: none. */
static struct pdk__part *find_part(struct pdk_permit *p, enum pdk__hold_stage stage)
{
    EACH_PART (part, p)
        if (part->hold.stage == stage)
            return part;
    return NULL;
}

static void settle_pending(struct pdk_permit *p)
{
    int rc = 0;
    struct pdk__part *failed = find_part(p, PDK__HOLD_FAILED);
    if (!p->again && failed != NULL)
        rc = failed->hold.result;
    else if (!p->again && find_part(p, PDK__HOLD_LOST) != NULL)
        start_over(p);
    else if (!p->again && count_leases(p, PDK__HOLD_GRANTED) == p->n)
        grant(p);
    else if (!p->again && p->gate.hold.stage == PDK__HOLD_GRANTED && !p->leases[0].hold.at_work)
        rc = start_leases(p);
    else if (p->again && pdk__now_ms() >= p->deadline_ms)
        rc = PDK_ETIMEDOUT; /* what is left of the last attempt may take longer */
    else if (p->again && !at_work(p))
        rc = begin(p);
    if (rc != 0 && p->stage == PDK__PERMIT_PENDING)
        end(p, rc);
}

static bool any_suspect(const struct pdk_permit *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->leases[i].suspect)
            return true;
    return false;
}

static void tell_changed(struct pdk_permit *p, pdk_state state)
{
    pdk__changes_tell(&p->semaphore->object.changes, state, p->token);
}

static void settle_granted(struct pdk_permit *p)
{
    bool suspect = any_suspect(p);
    if (count_leases(p, PDK__HOLD_LOST) > 0) {
        move(p, PDK__PERMIT_LOST);
        tell_changed(p, PDK_LOST);
    } else if (suspect != p->suspect) {
        tell_changed(p, suspect ? PDK_SUSPECT : PDK_HELD);
    }
    p->suspect = suspect;
}

static void settle(struct pdk__deferred *deferred)
{
    struct pdk_permit *p = PDK__MEMBER(deferred, struct pdk_permit, deferred);
    if (p->stage == PDK__PERMIT_PENDING)
        settle_pending(p);
    else if (p->stage == PDK__PERMIT_GRANTED)
        settle_granted(p);
    pdk__permit_unref(p);
}

/* --- reports of the holds ---------------------------------------------------------------------------------------- */

static void defer(struct pdk__hold *hold)
{
    struct pdk_permit *p = part_of(hold)->permit;
    if (!pdk__list_empty(&p->deferred.link))
        return;
    pdk__permit_ref(p);
    pdk__client_defer(client_of(p), &p->deferred);
}

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
    struct pdk_permit *p = part_of(hold)->permit;
    if (p->stage == PDK__PERMIT_GRANTED)
        tell_revoked(p);
    else
        part_of(hold)->revoked = true;
}

static void not_revoked(struct pdk__hold *hold) { (void)hold; }

static void unused(struct pdk__hold *hold) { pdk__permit_unref(part_of(hold)->permit); }

static const struct pdk__hold_kind gate_kind = {.acquire = "acquire",
                                                .keep = "acquire",
                                                .release = "acquire",
                                                .granted = granted,
                                                .failed = failed,
                                                .changed = changed,
                                                .revoked = not_revoked,
                                                .due = defer,
                                                .done = defer,
                                                .unused = unused};

static const struct pdk__hold_kind lease_kind = {.acquire = "acquire",
                                                 .keep = "hold",
                                                 .release = "release",
                                                 .granted = granted,
                                                 .failed = failed,
                                                 .changed = changed,
                                                 .revoked = revoked,
                                                 .due = defer,
                                                 .done = defer,
                                                 .unused = unused};

/* --- a request --------------------------------------------------------------------------------------------------- */

static int init_part(struct pdk_permit *p, struct pdk__part *part, const struct pdk__hold_kind *kind, const char *path)
{
    int rc = pdk__hold_init(&part->hold, &p->semaphore->object, kind);
    part->permit = p;
    part->hold.path = path;
    return rc;
}

static int init_parts(struct pdk_permit *p)
{
    struct pdk_semaphore *s = p->semaphore;
    int rc = init_part(p, &p->gate, &gate_kind, s->gate);
    for (unsigned i = 0; i < p->n && rc == 0; i++)
        rc = init_part(p, &p->leases[i], &lease_kind, s->leases);
    return rc;
}

static struct pdk_permit *make(struct pdk_semaphore *s, unsigned n)
{
    struct pdk_permit *p = pdk__alloc(sizeof *p + n * sizeof p->leases[0]);
    if (p == NULL)
        return NULL;
    p->semaphore = s;
    p->n = n;
    p->data = pdk__node_data_make(&s->options, s->object.client, &p->data_size);
    if (p->data == NULL || pdk__cond_init(&p->moved) != 0 || init_parts(p) != 0) {
        pdk__free(p->data);
        pdk__free(p);
        return NULL;
    }
    p->completed.run = run_completed;
    p->deferred.run = settle;
    pdk__list_init(&p->completed.link);
    pdk__list_init(&p->deferred.link);
    pdk__list_append(&s->permits, &p->link);
    pdk__object_ref(&s->object);
    p->refs = 2;
    return p;
}

int pdk__permit_request(struct pdk_permit **out, struct pdk_semaphore *s, unsigned n, bool try_only,
                        int64_t deadline_ms, pdk_lock_cb cb, void *arg)
{
    assert(n >= 1 && n <= PDK_SEMAPHORE_MAX);
    struct pdk_permit *p = make(s, n);
    if (p == NULL)
        return PDK_ENOMEM;
    p->try_only = try_only;
    p->deadline_ms = deadline_ms;
    int rc = begin(p);
    if (rc != 0) {
        end(p, rc);
        pdk__list_remove(&p->link);
        pdk__permit_unref(p);
        pdk__permit_unref(p);
        return rc;
    }
    p->completed_cb = cb;
    p->completed_arg = arg;
    *out = p;
    return 0;
}

void pdk__permit_drop(struct pdk_permit *p)
{
    assert(!pdk__list_empty(&p->link));
    pdk__list_remove(&p->link);
    if (p->stage != PDK__PERMIT_ENDED)
        end(p, PDK_ECANCELED);
    if (p->result == 0 && !p->answered)
        p->result = PDK_ECANCELED; /* granted, and its callback has not run */
    pdk__permit_unref(p);
}

void pdk__permit_tick(struct pdk_permit *p)
{
    EACH_PART (part, p)
        if (part->hold.at_work)
            pdk__claim_tick(&part->hold.claim);
}

void pdk__permit_judge_again(struct pdk_permit *p)
{
    for (unsigned i = 0; i < p->n; i++)
        if (p->leases[i].hold.stage == PDK__HOLD_PENDING)
            pdk__claim_judge_again(&p->leases[i].hold.claim);
}

/* --- a release --------------------------------------------------------------------------------------------------- */

/* An error tells more than a success, and the first error more than those that follow. */
static int worse(int rc, int next) { return rc != 0 ? rc : next; }

int pdk__permit_await_done(struct pdk_permit *p)
{
    int rc = 0;
    assert(p->stage == PDK__PERMIT_ENDED);
    for (unsigned i = 0; i < p->n; i++) {
        struct pdk__hold *hold = &p->leases[i].hold;
        int one = pdk__hold_await_done(hold);
        if (hold->at_work)
            return worse(rc, one); /* the time is over for the others, too */
        if (one != 0 && rc == 0)
            pdk__hold_blame(hold, "release", one);
        rc = worse(rc, one);
    }
    return rc;
}

/* On the thread of callbacks, without the lock. */
static void part_released(int rc, void *arg)
{
    struct pdk_permit *p = arg;
    struct pdk_client *c = client_of(p);
    pdk__client_lock(c);
    assert(p->n_releasing > 0);
    p->released_rc = worse(p->released_rc, rc);
    bool last = --p->n_releasing == 0;
    pdk__client_leave(c);
    if (last)
        p->released_cb(p->released_rc, p->released_arg);
}

void pdk__permit_expect(struct pdk_permit *p, pdk_lock_cb cb, void *arg)
{
    assert(p->stage == PDK__PERMIT_GRANTED && p->n_releasing == 0 && cb != NULL);
    p->released_cb = cb;
    p->released_arg = arg;
    p->n_releasing = p->n;
    for (unsigned i = 0; i < p->n; i++)
        pdk__hold_expect(&p->leases[i].hold, part_released, p);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

int pdk__permit_blame(const struct pdk_permit *p, const char *verb, int rc)
{
    const struct pdk__part *failed = find_part((struct pdk_permit *)p, PDK__HOLD_FAILED);
    if (failed == NULL)
        failed = find_part((struct pdk_permit *)p, PDK__HOLD_LOST);
    return failed != NULL ? pdk__hold_blame(&failed->hold, verb, rc)
                          : pdk__object_blame(&p->semaphore->object, verb, rc);
}

pdk_state pdk__permit_state(const struct pdk_permit *p)
{
    if (p->stage == PDK__PERMIT_LOST || (p->stage == PDK__PERMIT_GRANTED && count_leases(p, PDK__HOLD_LOST) > 0))
        return PDK_LOST;
    if (p->stage != PDK__PERMIT_GRANTED)
        return PDK_FREE;
    for (unsigned i = 0; i < p->n; i++)
        if (p->leases[i].hold.claim.machine.phase != PDK__HELD)
            return PDK_SUSPECT;
    return PDK_HELD;
}

int64_t pdk__permit_valid_ms(const struct pdk_permit *p)
{
    return p->stage == PDK__PERMIT_GRANTED && count_leases(p, PDK__HOLD_GRANTED) == p->n
               ? pdk__hold_valid_ms(&p->leases[0].hold)
               : 0;
}
