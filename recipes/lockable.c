#include "recipes/lockable.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/callbacks.h"
#include "lib/zk/session_driver.h"
#include "recipes/node_data.h"
#include <limits.h>
#include <string.h>

static struct pdk__acquisition *op_of(struct pdk__hold *hold)
{
    return PDK__MEMBER(hold, struct pdk__acquisition, hold);
}

static struct pdk__lockable *lockable_of(const struct pdk_lock *l)
{
    return PDK__MEMBER(l, struct pdk__lockable, lock);
}

struct pdk__acquisition *pdk__acquisition_at(struct pdk__list *link)
{
    return PDK__MEMBER(link, struct pdk__acquisition, link);
}

/* --- whose ------------------------------------------------------------------------------------------------------- */

static bool owned(const struct pdk__acquisition *op) { return pdk__hold_owned(&op->hold) && op->count > 0; }

/* The system can give a thread's id to a new one after its end, while a lock is still in its name. */
uint64_t pdk__lockable_thread(void)
{
    static atomic_uint_least64_t last;
    static _Thread_local uint64_t number;
    if (number == 0)
        number = atomic_fetch_add(&last, 1) + 1;
    return number;
}

struct pdk__acquisition *pdk__lockable_find_owned(struct pdk__lockable *k, const struct pdk__rule *rule)
{
    assert(pdk__client_locked(k->lock.object.client));
    PDK__EACH_ACQUISITION (op, k) {
        if (owned(op) && op->thread == pdk__lockable_thread() && (rule == NULL || op->wish.rule == rule))
            return op;
    }
    return NULL;
}

static struct pdk__acquisition *find_asked(struct pdk__lockable *k)
{
    struct pdk__acquisition *found = pdk__lockable_find_owned(k, NULL);
    if (found != NULL)
        return found;
    PDK__EACH_ACQUISITION (op, k) {
        if (owned(op) && op->thread != 0 && (found == NULL || !pdk__hold_lost(&op->hold)))
            found = op;
    }
    return found;
}

uint64_t pdk__lockable_turn(const struct pdk__lockable *k, int64_t token)
{
    PDK__LIST_EACH (link, &k->cohort->acquisitions) {
        const struct pdk__hold *hold = &pdk__acquisition_at(link)->hold;
        if (hold->stage == PDK__HOLD_GRANTED && hold->token == token)
            return hold->turn;
    }
    return 0;
}

struct pdk__hold *pdk__lockable_asked(struct pdk__object *o)
{
    struct pdk__acquisition *op = find_asked(PDK__MEMBER(o, struct pdk__lockable, lock.object));
    return op != NULL ? &op->hold : NULL;
}

/* A hold without an owner contends for all that wait for a turn. */
static bool contends_for(const struct pdk__acquisition *op, const struct pdk__object *o)
{
    if (op->thread == PDK__NO_THREAD)
        return pdk__turns_ask_for(&op->lockable->cohort->turns, o);
    return &op->lockable->lock.object == o;
}

/* A thread that waits for a turn under a grant of this process is behind that. */
struct pdk__hold *pdk__lockable_waiting(struct pdk__object *o)
{
    struct pdk__lockable *k = PDK__MEMBER(o, struct pdk__lockable, lock.object);
    struct pdk__hold *granted = NULL;
    assert(pdk__client_locked(o->client));
    PDK__LIST_EACH (link, &k->cohort->acquisitions) {
        struct pdk__acquisition *op = pdk__acquisition_at(link);
        if (op->hold.stage == PDK__HOLD_PENDING && contends_for(op, o))
            return &op->hold;
        if (op->hold.stage == PDK__HOLD_GRANTED)
            granted = &op->hold;
    }
    return pdk__turns_ask_for(&k->cohort->turns, o) ? granted : NULL;
}

void pdk__lockable_moved(struct pdk__lockable *k)
{
    if (k->cohort->deferred.run != NULL)
        pdk__client_defer(k->cohort->client, &k->cohort->deferred);
}

void pdk__lockable_take(struct pdk__lockable *k, struct pdk__acquisition *op)
{
    assert(op->lockable->cohort == k->cohort && op->count == 0);
    if (op->lockable == k)
        return;
    op->lockable = k;
    op->wish.conditions = &k->lock.options.conditions;
    pdk__hold_move(&op->hold, &k->lock.object);
}

/* --- levels ------------------------------------------------------------------------------------------------------ */

static int make_room(struct pdk__acquisition *op)
{
    unsigned n = op->n_levels_max * 2;
    if (n <= op->n_levels_max || n > INT_MAX / 2)
        return PDK_EINVAL;
    uint64_t *levels = pdk__alloc(n * sizeof *levels);
    if (levels == NULL)
        return PDK_ENOMEM;
    memcpy(levels, op->levels, op->count * sizeof *levels);
    if (op->levels != op->few_levels)
        pdk__free(op->levels);
    op->levels = levels;
    op->n_levels_max = n;
    return 0;
}

int pdk__lockable_deepen(struct pdk__acquisition *op)
{
    int rc = op->count == op->n_levels_max ? make_room(op) : 0;
    if (rc != 0)
        return rc;
    op->levels[op->count++] = ++op->lockable->last_level;
    return 0;
}

uint64_t pdk__lockable_level(const struct pdk__acquisition *op)
{
    assert(op->count > 0);
    return op->levels[op->count - 1];
}

void pdk__lockable_drop(struct pdk__acquisition *op)
{
    bool granted = pdk__hold_owned(&op->hold);
    struct pdk__lockable *k = op->lockable;
    assert(pdk__client_locked(k->lock.object.client) && op->hold.refs > 0);
    pdk__list_remove(&op->link);
    pdk__lockable_moved(k);
    pdk__hold_release(&op->hold);
    if (granted)
        pdk__hold_unref(&op->hold); /* the owner's */
}

/* --- reports of a hold ------------------------------------------------------------------------------------------- */

/* Until its handle ends, nobody else can release it. */
static struct pdk__acquisition *find_turn(const struct pdk__acquisition *op)
{
    if (!op->turn.finished || op->turn.rc != 0)
        return NULL;
    struct pdk__acquisition *grant = op_of(op->turn.hold);
    assert(owned(grant) && grant->thread == 0);
    return grant;
}

struct pdk__acquisition *pdk__lockable_handled(const struct pdk__acquisition *op)
{
    if (op->unwanted)
        return NULL;
    if (op->by_turn)
        return find_turn(op);
    return owned(op) ? (struct pdk__acquisition *)op : NULL;
}

/* The callback may run long after the grant, and must not be told of one that is over. */
static int final_result(const struct pdk__acquisition *op)
{
    int rc = op->by_turn ? op->turn.rc : op->hold.result;
    if (rc == PDK_ETIMEDOUT && op->wish.try_only)
        return PDK_EDISCONNECTED; /* no server has answered */
    if (rc != 0)
        return rc;
    pdk__client_refresh(pdk__hold_client(&op->hold));
    const struct pdk__acquisition *grant = pdk__lockable_handled(op);
    if (grant == NULL)
        return PDK_ECANCELED;
    return pdk__hold_lost(&grant->hold) ? PDK_ELOST : 0;
}

static void run_completed(struct pdk__callback *callback)
{
    struct pdk__acquisition *op = PDK__MEMBER(callback, struct pdk__acquisition, completed_callback);
    struct pdk_client *c = pdk__hold_client(&op->hold);
    pdk__client_lock(c);
    int rc = final_result(op);
    pdk__client_leave(c);
    op->completed_cb(rc, op->completed_arg);
    pdk__hold_finish_call(&op->hold);
}

static void complete(struct pdk__acquisition *op)
{
    assert(op->hold.stage == PDK__HOLD_GRANTED || op->hold.stage == PDK__HOLD_FAILED);
    if (op->completed_cb == NULL)
        return;
    pdk__hold_ref(&op->hold);
    pdk__client_queue_callback(pdk__hold_client(&op->hold), &op->completed_callback);
}

static void granted(struct pdk__hold *hold)
{
    struct pdk__acquisition *op = op_of(hold);
    assert(op->count == 0);
    pdk__hold_ref(hold); /* the owner's, until unlock */
    if (op->base != NULL)
        hold->turn = op->base->turn; /* with its token */
    if (op->thread == PDK__NO_THREAD)
        hold->turn = 0;
    else
        pdk__lockable_deepen(op);
    complete(op);
    pdk__lockable_moved(op->lockable);
}

static void failed(struct pdk__hold *hold, int rc)
{
    struct pdk__acquisition *op = op_of(hold);
    assert(rc != 0 && op->count == 0);
    if (op->completed_cb != NULL && rc != PDK_ECANCELED)
        pdk__hold_incident(hold, op->lockable->verbs->acquire, rc);
    pdk__list_remove(&op->link);
    complete(op);
    if (op->thread == PDK__NO_THREAD)
        pdk__hold_ref(&(op->lockable->cohort->failed = op)->hold);
    pdk__lockable_moved(op->lockable);
}

static void changed(struct pdk__hold *hold, enum pdk__report_kind state)
{
    struct pdk__acquisition *op = op_of(hold);
    pdk__lockable_moved(op->lockable);
    if (op->idle) { /* no program relies on it */
        pdk__text_set(&hold->object->error, "");
        return;
    }
    if (state == PDK__REPORT_LOST)
        pdk__hold_count_loss(hold);
    pdk_state now = state == PDK__REPORT_LOST ? PDK_LOST : state == PDK__REPORT_SUSPECT ? PDK_SUSPECT : PDK_HELD;
    pdk__events_tell(&op->lockable->lock.events,
                     (pdk_event){.kind = PDK_EVENT_STATE, .state = now, .token = hold->token});
}

static void revoked(struct pdk__hold *hold)
{
    struct pdk__acquisition *op = op_of(hold);
    op->revoked = true;
    pdk__lockable_moved(op->lockable);
    if (op->idle)
        return;
    pdk_event event = {.kind = PDK_EVENT_REVOKED, .state = pdk__hold_state(hold), .token = hold->token};
    pdk__events_tell(&op->lockable->lock.events, event);
}

static void queued(struct pdk__hold *hold, int64_t ahead)
{
    PDK__LIST_EACH (link, &op_of(hold)->lockable->cohort->objects) {
        pdk_lock *l = &PDK__MEMBER(link, struct pdk__lockable, companion)->lock;
        if (contends_for(op_of(hold), &l->object))
            pdk__events_tell(&l->events, (pdk_event){.kind = PDK_EVENT_QUEUED, .ahead = ahead});
    }
}

static void contended(struct pdk__hold *hold)
{
    op_of(hold)->contended = true;
    pdk__lockable_moved(op_of(hold)->lockable);
}

static void unused(struct pdk__hold *hold)
{
    struct pdk__acquisition *op = op_of(hold);
    assert(pdk__list_empty(&op->link) && op->turn.hold == NULL);
    if (op->base != NULL)
        pdk__hold_unref(op->base);
    pdk__hold_clear(hold);
    if (op->levels != op->few_levels)
        pdk__free(op->levels);
    pdk__free(op->data);
    pdk__free(op);
}

static void reported(struct pdk__hold *hold, const struct pdk__report *report)
{
    switch (report->kind) {
    case PDK__REPORT_GRANTED:
        granted(hold);
        break;
    case PDK__REPORT_FAILED:
        failed(hold, report->rc);
        break;
    case PDK__REPORT_SUSPECT:
    case PDK__REPORT_HELD:
    case PDK__REPORT_LOST:
        changed(hold, report->kind);
        break;
    case PDK__REPORT_REVOKED:
        revoked(hold);
        break;
    case PDK__REPORT_CONTENDED:
        contended(hold);
        break;
    case PDK__REPORT_QUEUED:
        queued(hold, report->ahead);
        break;
    case PDK__REPORT_DUE:
        pdk__lockable_moved(op_of(hold)->lockable);
        break;
    case PDK__REPORT_UNUSED:
        unused(hold);
        break;
    default:
        break;
    }
}

/* --- a request --------------------------------------------------------------------------------------------------- */

/* SITES NULL: it never contends itself. */
static struct pdk__acquisition *make(struct pdk__lockable *k, const struct pdk__sites *sites)
{
    struct pdk__acquisition *op = pdk__alloc(sizeof *op);
    if (op == NULL || pdk__hold_init(&op->hold, &k->lock.object, reported, k->verbs, sites) != 0) {
        pdk__free(op);
        return NULL;
    }
    op->lockable = k;
    op->levels = op->few_levels;
    op->n_levels_max = sizeof op->few_levels / sizeof *op->few_levels;
    op->completed_callback.run = run_completed;
    pdk__list_init(&op->completed_callback.link);
    pdk__list_init(&op->link);
    pdk__hold_ref(&op->hold); /* the caller's */
    return op;
}

/* With the data of its nodes. */
static struct pdk__acquisition *make_with_data(struct pdk__lockable *k, const struct pdk__lock_call *call)
{
    struct pdk__sites sites = k->sites;
    const struct pdk__rule *rule = call->wish.rule;
    unsigned limit = rule->tag == PDK__TAG_PERMIT ? (unsigned)rule->admits : 0;
    if (call->n > 0)
        sites.n = call->n;
    struct pdk__acquisition *op = make(k, &sites);
    if (op == NULL)
        return NULL;
    op->wish = call->wish;
    op->wish.data = op->data = pdk__node_data_make(&k->lock.options, limit, k->lock.object.client, &op->wish.data_size);
    if (op->data != NULL)
        return op;
    pdk__hold_unref(&op->hold);
    return NULL;
}

static void tell_turn(struct pdk__turn *turn)
{
    struct pdk__acquisition *op = PDK__MEMBER(turn, struct pdk__acquisition, turn);
    char text[PDK__INCIDENT_MAX];
    if (turn->rc != 0 && turn->rc != PDK_ECANCELED) {
        pdk__turn_describe(turn, text);
        pdk__text_set(&turn->object->error, text);
    }
    pdk__client_queue_callback(turn->object->client, &op->completed_callback);
}

int pdk__lockable_make_turn(struct pdk__acquisition **out, struct pdk__lockable *k, pdk_lock_cb cb, void *arg)
{
    struct pdk__acquisition *op = make(k, NULL);
    if (op == NULL)
        return PDK_ENOMEM;
    op->by_turn = true;
    op->turn.tell = tell_turn;
    op->turn.object = &k->lock.object;
    op->completed_cb = cb;
    op->completed_arg = arg;
    pdk__hold_ref(&op->hold); /* the callback's */
    *out = op;
    return 0;
}

/* The rest of the description: what the object has, and the grant under which it is made. */
static void describe(struct pdk__acquisition *op, struct pdk__hold *base)
{
    const struct pdk__sites *sites = &op->hold.sites;
    struct pdk__wish *wish = &op->wish;
    wish->conditions = &op->lockable->lock.options.conditions;
    wish->places = sites->path != NULL ? sites->n : 0;
    wish->bound = sites->n > 1;
    if (base == NULL)
        return;
    assert(pdk__hold_owned(base));
    pdk__hold_ref(op->base = base);
    wish->base = base->parts->node;
    wish->base_token = base->token;
}

int pdk__lockable_request(struct pdk__acquisition **out, struct pdk__lockable *k, const struct pdk__lock_call *call)
{
    if (call->n > call->wish.rule->admits)
        return PDK_EINVAL; /* it would wait indefinitely, and all others with it */
    struct pdk__acquisition *op = make_with_data(k, call);
    if (op == NULL)
        return PDK_ENOMEM;
    pdk__list_append(&k->cohort->acquisitions, &op->link);
    describe(op, call->base);
    op->thread = call->thread;
    op->hold.unmixed = k->lock.options.unmixed;
    op->hold.for_turns = call->thread == PDK__NO_THREAD;
    op->completed_cb = call->cb;
    op->completed_arg = call->arg;
    int rc = pdk__hold_start(&op->hold, &op->wish);
    if (rc != 0) {
        pdk__list_remove(&op->link);
        pdk__hold_unref(&op->hold);
        return rc;
    }
    *out = op;
    return 0;
}

/* --- for the lock's kind ----------------------------------------------------------------------------------------- */

void pdk__lockable_init(struct pdk_lock *l)
{
    static const struct pdk__verbs verbs = {
        .acquire = "lock", .attempt = "trylock", .keep = "hold", .release = "unlock"};
    struct pdk__lockable *k = lockable_of(l);
    k->verbs = &verbs;
    k->sites = (struct pdk__sites){.n = 1, .path = l->object.path};
    pdk__cohort_init(k);
}

void pdk__lockable_clear(struct pdk_lock *l) { pdk__cohort_leave(lockable_of(l)); }

bool pdk__lockable_in_use(const struct pdk_lock *l)
{
    struct pdk__lockable *k = lockable_of(l);
    PDK__EACH_ACQUISITION (op, k)
        if (op->thread != PDK__NO_THREAD)
            return true;
    return pdk__turns_ask_for(&k->cohort->turns, &l->object);
}

/* A hold without an owner is another object's from now on, if there is one. */
void pdk__lockable_drop_all(struct pdk_lock *l)
{
    struct pdk__lockable *k = lockable_of(l), *next = pdk__cohort_retire(k);
    PDK__EACH_ACQUISITION (op, k) {
        if (next != NULL && op->thread == PDK__NO_THREAD)
            pdk__lockable_take(next, op);
        else
            pdk__lockable_drop(op);
    }
}
