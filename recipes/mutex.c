#include "recipes/mutex.h"
#include "lib/alloc.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include <stdio.h>
#include <string.h>

enum { DATA_MAX = 65536, LOCK_DELAY_MAX_MS = 86400000 };

/* --- options ----------------------------------------------------------------------------------------------------- */

pdk_mutex_options *pdk_mutex_options_new(void) { return pdk__alloc(sizeof(pdk_mutex_options)); }

void pdk_mutex_options_free(pdk_mutex_options *o)
{
    if (o == NULL)
        return;
    pdk__free(o->data);
    pdk__free(o);
}

int pdk_mutex_options_set_data(pdk_mutex_options *o, const void *data, size_t size)
{
    if (o == NULL || (data == NULL && size > 0) || size > DATA_MAX)
        return PDK_EINVAL;
    void *copy = pdk__memdup(data, size);
    if (copy == NULL)
        return PDK_ENOMEM;
    pdk__free(o->data);
    o->data = copy;
    o->data_size = size;
    return 0;
}

int pdk_mutex_options_set_min_token(pdk_mutex_options *o, int64_t min_token)
{
    if (o == NULL || min_token < 0)
        return PDK_EINVAL;
    o->conditions.min_token = min_token;
    return 0;
}

int pdk_mutex_options_set_confirmed(pdk_mutex_options *o, bool confirmed)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->conditions.confirmed = confirmed;
    return 0;
}

int pdk_mutex_options_set_lock_delay_ms(pdk_mutex_options *o, int delay_ms)
{
    if (o == NULL || delay_ms < 0 || delay_ms > LOCK_DELAY_MAX_MS)
        return PDK_EINVAL;
    o->conditions.lock_delay_ms = delay_ms;
    return 0;
}

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk_mutex *mutex_of(struct pdk__changes *changes)
{
    return PDK__MEMBER(changes, struct pdk_mutex, changes);
}

static void call(struct pdk__changes *changes, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_state_cb)cb)(mutex_of(changes), (pdk_state)change->what, change->token, arg);
}

static void hold(struct pdk__changes *changes) { mutex_of(changes)->refs++; }

static void let_go(struct pdk__changes *changes) { pdk__mutex_unref(mutex_of(changes)); }

static const struct pdk__changes_owner owner = {call, hold, let_go};

static struct pdk_mutex *revoked_mutex(struct pdk__changes *revocations)
{
    return PDK__MEMBER(revocations, struct pdk_mutex, revocations);
}

static void call_revoke(struct pdk__changes *changes, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_revoke_cb)cb)(revoked_mutex(changes), change->token, arg);
}

static void hold_revoked(struct pdk__changes *changes) { revoked_mutex(changes)->refs++; }

static void let_revoked_go(struct pdk__changes *changes) { pdk__mutex_unref(revoked_mutex(changes)); }

static const struct pdk__changes_owner revocations_owner = {call_revoke, hold_revoked, let_revoked_go};

static struct pdk_mutex *make(pdk_client *c, const char *path, const pdk_mutex_options *opts)
{
    struct pdk_mutex *m = pdk__alloc(sizeof *m);
    if (m == NULL)
        return NULL;
    m->path = pdk__strdup(path);
    bool copied = true;
    if (m->path != NULL && opts != NULL && opts->data != NULL)
        copied = pdk_mutex_options_set_data(&m->options, opts->data, opts->data_size) == 0;
    if (m->path == NULL || !copied) {
        pdk__free(m->path);
        pdk__free(m);
        return NULL;
    }
    if (opts != NULL)
        m->options.conditions = opts->conditions;
    m->options.conditions.delay = &m->delay;
    m->client = c;
    m->refs = 1;
    pdk__list_init(&m->ops);
    pdk__changes_init(&m->changes, c, &owner);
    pdk__changes_init(&m->revocations, c, &revocations_owner);
    pdk__client_ref(c);
    return m;
}

int pdk_mutex_new(pdk_mutex **out, pdk_client *c, const char *path, const pdk_mutex_options *opts)
{
    if (out == NULL || c == NULL || path == NULL)
        return PDK_EINVAL;
    if (!pdk__path_valid(path))
        return PDK_EPATH;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    struct pdk_mutex *m = NULL;
    if (c->closing)
        rc = PDK_ECLOSED;
    else if ((m = make(c, path, opts)) == NULL)
        rc = PDK_ENOMEM;
    pdk__client_leave(c);
    if (rc == 0)
        *out = m;
    return rc;
}

/* With the lock of a client that the caller, too, holds by a reference. */
void pdk__mutex_unref(struct pdk_mutex *m)
{
    if (--m->refs > 0)
        return;
    pdk__client_unref(m->client);
    pdk__free(m->options.data);
    pdk__free(m->path);
    pdk__free(m);
}

/* A closed client's locks are over: their owners' references go with the object. */
static void disown_all(struct pdk_mutex *m)
{
    PDK__LIST_EACH (link, &m->ops) {
        struct pdk_op *op = PDK__MEMBER(link, struct pdk_op, link);
        op->refs++; /* the one that abandoning takes */
        pdk__op_abandon(op);
    }
}

int pdk_mutex_free(pdk_mutex *m)
{
    if (m == NULL)
        return 0;
    struct pdk_client *c = m->client;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    pdk__client_ref(c);
    if (!c->closed && !pdk__list_empty(&m->ops)) {
        rc = PDK_EBUSY;
    } else {
        disown_all(m);
        pdk__changes_end(&m->changes);
        pdk__changes_end(&m->revocations);
        pdk__mutex_unref(m);
    }
    pdk__client_leave(c);
    pdk__client_unref(c);
    return rc;
}

int pdk__mutex_incident(struct pdk_mutex *m, const char *verb, int rc)
{
    snprintf(m->error, sizeof m->error, "%s %s: %s", verb, m->path, pdk_strerror(rc));
    pdk__client_incident(m->client, verb, m->path, rc);
    return rc;
}

/* Every public verb begins so. What is known comes first: what one call finds out by it must hold for all that follow, and
 * the thread that brings the news may be late. And the object stays until the verb has left: it may be freed as soon as
 * nobody waits. */
static int enter(pdk_mutex *m)
{
    int rc = m != NULL ? pdk__client_enter(m->client) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    m->refs++;
    pdk__client_heed(m->client);
    return 0;
}

static void leave(pdk_mutex *m)
{
    struct pdk_client *c = m->client;
    pdk__client_ref(c);
    pdk__mutex_unref(m);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

/* --- whose ------------------------------------------------------------------------------------------------------- */

/* An id of the system's can come back after its thread ended, with a lock still in its name. */
uint64_t pdk__thread_number(void)
{
    static atomic_uint_least64_t last;
    static _Thread_local uint64_t number;
    if (number == 0)
        number = atomic_fetch_add(&last, 1) + 1;
    return number;
}

static bool owned(const struct pdk_op *op) { return op->stage == PDK__OP_GRANTED || op->stage == PDK__OP_LOST; }

/* The grant of THREAD: 0 finds one that belongs to no thread. Several threads of one object can each have one, when all
 * but the last were lost. */
static struct pdk_op *find_owned(struct pdk_mutex *m, uint64_t thread)
{
    PDK__LIST_EACH (link, &m->ops) {
        struct pdk_op *op = PDK__MEMBER(link, struct pdk_op, link);
        if (owned(op) && op->thread == thread)
            return op;
    }
    return NULL;
}

/* The grant that the calling thread may unlock. */
static struct pdk_op *find_unlockable(struct pdk_mutex *m)
{
    struct pdk_op *op = find_owned(m, pdk__thread_number());
    return op != NULL ? op : find_owned(m, 0);
}

/* The grant that a question of the calling thread is about: its own, else the one that stands, else a lost one. */
static struct pdk_op *find_asked(struct pdk_mutex *m)
{
    struct pdk_op *found = find_owned(m, pdk__thread_number());
    if (found != NULL)
        return found;
    PDK__LIST_EACH (link, &m->ops) {
        struct pdk_op *op = PDK__MEMBER(link, struct pdk_op, link);
        if (owned(op) && (found == NULL || op->stage == PDK__OP_GRANTED))
            found = op;
    }
    return found;
}

static bool held_here(struct pdk_mutex *m)
{
    struct pdk_op *op = find_asked(m);
    return op != NULL && op->stage == PDK__OP_GRANTED;
}

/* --- lock -------------------------------------------------------------------------------------------------------- */

static int relock(struct pdk_op *op)
{
    if (op->stage == PDK__OP_LOST)
        return PDK_ELOST; /* what it protected was broken into: to go on as if it were whole would hide that */
    if (op->count == UINT32_MAX)
        return PDK_EINVAL;
    op->count++;
    return 0;
}

static void cancelled(void *arg)
{
    struct pdk_op *op = arg;
    struct pdk_mutex *m = op->mutex;
    pdk__op_abandon(op);
    leave(m);
}

/* The caller looks after its own deadline: the library's thread may be busy in somebody's callback. */
static void wait_settled(struct pdk_op *op, int64_t deadline_ms)
{
    struct pdk_client *c = op->mutex->client;
    pthread_cleanup_push(cancelled, op);
    while (!op->settled) {
        if (pdk__now_ms() >= deadline_ms)
            pdk__claim_tick(&op->claim);
        else
            pdk__client_await(c, &op->news, deadline_ms, true);
    }
    pthread_cleanup_pop(0);
}

static int contend(pdk_mutex *m, bool try_only, int64_t deadline_ms)
{
    struct pdk_op *op;
    int rc = pdk__op_start(&op, m, try_only, deadline_ms, pdk__thread_number(), NULL, NULL);
    if (rc != 0)
        return pdk__mutex_incident(m, "lock", rc);
    wait_settled(op, deadline_ms);
    rc = op->result;
    pdk__op_unref(op);
    return rc;
}

/* What all the blocking verbs check first; 1 when the lock is to be contended for. */
static int prepare(pdk_mutex *m, bool try_only)
{
    struct pdk_op *own = find_owned(m, pdk__thread_number());
    int rc = pdk__client_may_wait(m->client);
    if (rc != 0)
        return rc;
    if (own != NULL)
        return relock(own);
    return try_only && held_here(m) ? PDK_EBUSY : 1;
}

int pdk_mutex_lock(pdk_mutex *m) { return pdk_mutex_timedlock(m, PDK_FOREVER); }

int pdk_mutex_trylock(pdk_mutex *m)
{
    int rc = enter(m);
    if (rc != 0)
        return rc;
    rc = prepare(m, true);
    if (rc == 1) {
        struct pdk_client *c = m->client;
        int64_t patience_ms = c->session.id != 0 ? c->session.timeout_ms : c->options.session_timeout_ms;
        rc = contend(m, true, pdk__deadline_ms(pdk__now_ms(), patience_ms));
        if (rc == PDK_ETIMEDOUT)
            rc = pdk__mutex_incident(m, "trylock", PDK_EDISCONNECTED);
    }
    leave(m);
    return rc;
}

static int timedlock(pdk_mutex *m, int64_t timeout_ms)
{
    int rc = prepare(m, false);
    return rc == 1 ? contend(m, false, pdk__deadline_ms(pdk__now_ms(), timeout_ms)) : rc;
}

/* One look, and no waiting for a connection that is not there. */
static int look(pdk_mutex *m)
{
    int rc = prepare(m, true);
    if (rc == 1 && m->client->session.phase != PDK__SESSION_CONNECTED)
        return PDK_ETIMEDOUT;
    if (rc == 1)
        rc = contend(m, true, pdk__deadline_ms(pdk__now_ms(), m->client->session.timeout_ms));
    return rc == PDK_EBUSY ? PDK_ETIMEDOUT : rc;
}

int pdk_mutex_timedlock(pdk_mutex *m, int64_t timeout_ms)
{
    int rc = enter(m);
    if (rc != 0)
        return rc;
    rc = timeout_ms == 0 ? look(m) : timedlock(m, timeout_ms);
    leave(m);
    return rc;
}

int pdk_mutex_lock_async(pdk_mutex *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **out)
{
    if (cb == NULL)
        return PDK_EINVAL;
    int rc = enter(m);
    if (rc != 0)
        return rc;
    struct pdk_op *op;
    bool once = timeout_ms == 0;
    /* One look lasts until its answer is there; without a connection it is over at once. */
    if (once && m->client->session.phase == PDK__SESSION_CONNECTED)
        timeout_ms = m->client->session.timeout_ms;
    rc = pdk__op_start(&op, m, once, pdk__deadline_ms(pdk__now_ms(), timeout_ms), 0, cb, arg);
    if (rc != 0)
        pdk__mutex_incident(m, "lock", rc);
    else if (out != NULL)
        *out = op;
    else
        pdk__op_unref(op);
    leave(m);
    return rc;
}

/* --- unlock ------------------------------------------------------------------------------------------------------ */

/* Give up one level; 1 when that was the last, and the lock is to be given away. */
static int unwind(struct pdk_op *op)
{
    bool lost = op->stage == PDK__OP_LOST;
    if (--op->count > 0)
        return lost ? PDK_ELOST : 0;
    if (!lost)
        return 1;
    op->refs++; /* the one that abandoning takes */
    pdk__op_abandon(op);
    return PDK_ELOST;
}

static int give_away(struct pdk_op *op)
{
    struct pdk_client *c = op->mutex->client;
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    op->refs += 2; /* the one that abandoning takes, and ours while we wait */
    pdk__op_abandon(op);
    while (!op->gone && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &op->news, deadline_ms, false);
    int rc = op->gone ? op->release_result : PDK_EUNKNOWN;
    if (rc != 0)
        pdk__mutex_incident(op->mutex, "unlock", rc);
    pdk__op_unref(op);
    return rc;
}

int pdk_mutex_unlock(pdk_mutex *m)
{
    int rc = enter(m);
    if (rc != 0)
        return rc;
    struct pdk_op *op = find_unlockable(m);
    rc = pdk__client_may_wait(m->client);
    if (rc != PDK_EDEADLK && op != NULL)
        rc = unwind(op); /* an ended client's locks can be unlocked, too */
    else if (rc == 0)
        rc = PDK_EPERM;
    if (rc == 1)
        rc = give_away(op);
    leave(m);
    return rc;
}

/* The callback of an unlock that has nothing to wait for. */
struct late {
    struct pdk__notice notice;
    pdk_lock_cb cb;
    void *arg;
};

static void run_late(struct pdk__notice *notice)
{
    struct late *late = PDK__MEMBER(notice, struct late, notice);
    late->cb(0, late->arg);
    pdk__free(late);
}

static int unwind_later(struct pdk_mutex *m, struct pdk_op *op, pdk_lock_cb cb, void *arg)
{
    struct late *late = cb != NULL ? pdk__alloc(sizeof *late) : NULL;
    if (cb != NULL && late == NULL)
        return PDK_ENOMEM;
    op->count--;
    if (late == NULL)
        return 0;
    *late = (struct late){.notice.run = run_late, .cb = cb, .arg = arg};
    pdk__list_init(&late->notice.link);
    pdk__client_notify(m->client, &late->notice);
    return 0;
}

static void give_away_later(struct pdk_op *op, pdk_lock_cb cb, void *arg)
{
    int64_t patience_ms = op->mutex->client->session.timeout_ms;
    op->gone_cb = cb;
    op->gone_arg = arg;
    op->refs++; /* the one that abandoning takes */
    pdk__claim_expect(&op->claim, pdk__deadline_ms(pdk__now_ms(), patience_ms));
    pdk__op_abandon(op);
}

int pdk_mutex_unlock_async(pdk_mutex *m, pdk_lock_cb cb, void *arg)
{
    int rc = enter(m);
    if (rc != 0)
        return rc;
    struct pdk_op *op = find_unlockable(m);
    if (op == NULL)
        rc = PDK_EPERM;
    else if (op->stage == PDK__OP_LOST)
        rc = unwind(op);
    else if (op->count > 1)
        rc = unwind_later(m, op, cb, arg);
    else
        give_away_later(op, cb, arg);
    leave(m);
    return rc;
}

/* --- the user's handle of a pending lock ------------------------------------------------------------------------- */

int pdk_op_cancel(pdk_op *op)
{
    if (op == NULL)
        return PDK_EINVAL;
    struct pdk_client *c = op->mutex->client;
    int rc = pdk__client_enter(c);
    if (rc != 0)
        return rc;
    pdk__op_cancel(op);
    pdk__client_leave(c);
    return 0;
}

void pdk_op_free(pdk_op *op)
{
    if (op == NULL)
        return;
    struct pdk_client *c = op->mutex->client;
    if (pdk__client_enter(c) != 0)
        return;
    pdk__client_ref(c);
    pdk__op_unref(op);
    pdk__client_leave(c);
    pdk__client_unref(c);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

static pdk_state state_of(const struct pdk_op *op)
{
    if (op == NULL)
        return PDK_FREE;
    if (op->stage == PDK__OP_LOST)
        return PDK_LOST;
    return op->claim.machine.phase == PDK__HELD ? PDK_HELD : PDK_SUSPECT;
}

pdk_state pdk_mutex_state(pdk_mutex *m)
{
    int rc = enter(m);
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    pdk_state state = state_of(find_asked(m));
    leave(m);
    return state;
}

int64_t pdk_mutex_valid_ms(pdk_mutex *m)
{
    if (enter(m) != 0)
        return 0;
    int64_t left_ms = 0;
    if (held_here(m))
        left_ms = pdk__session_deadline_ms(&m->client->session) - pdk__now_ms();
    leave(m);
    return left_ms > 0 ? left_ms : 0;
}

int pdk_mutex_token(pdk_mutex *m, int64_t *token)
{
    if (token == NULL)
        return PDK_EINVAL;
    int rc = enter(m);
    if (rc != 0)
        return rc;
    struct pdk_op *op = find_asked(m);
    if (op != NULL)
        *token = op->token;
    leave(m);
    return op != NULL ? 0 : PDK_EPERM;
}

static size_t copy_out(char *buf, size_t size, const char *text) { return (size_t)snprintf(buf, size, "%s", text); }

size_t pdk_mutex_node(pdk_mutex *m, char *buf, size_t size)
{
    if (enter(m) != 0)
        return copy_out(buf, size, "");
    struct pdk_op *op = find_asked(m);
    size_t length = copy_out(buf, size, op != NULL ? op->node : "");
    leave(m);
    return length;
}

size_t pdk_mutex_last_error(pdk_mutex *m, char *buf, size_t size)
{
    if (enter(m) != 0)
        return copy_out(buf, size, "");
    size_t length = copy_out(buf, size, m->error);
    leave(m);
    return length;
}

/* --- the guard of a transaction ---------------------------------------------------------------------------------- */

/* The claim's own copy of the path goes with the node: the caller's may outlive it. */
static int fill_guard(struct pdk_op *op, struct zoo_op *check)
{
    if (op == NULL)
        return PDK_EPERM;
    if (op->stage == PDK__OP_LOST)
        return PDK_ELOST;
    if (op->guard == NULL)
        op->guard = pdk__join(op->mutex->path, op->node);
    if (op->guard == NULL)
        return PDK_ENOMEM;
    zoo_check_op_init(check, op->guard, -1);
    return 0;
}

int pdk_mutex_guard(pdk_mutex *m, struct zoo_op *check)
{
    if (check == NULL)
        return PDK_EINVAL;
    int rc = enter(m);
    if (rc != 0)
        return rc;
    rc = fill_guard(find_asked(m), check);
    leave(m);
    return rc;
}

/* --- changes of state -------------------------------------------------------------------------------------------- */

int pdk_mutex_on_state(pdk_mutex *m, pdk_state_cb cb, void *arg)
{
    int rc = enter(m);
    if (rc != 0)
        return rc;
    pdk__changes_call(&m->changes, (pdk__change_cb *)cb, arg);
    leave(m);
    return 0;
}

int pdk_mutex_fd(pdk_mutex *m)
{
    int rc = enter(m);
    if (rc != 0)
        return rc;
    rc = pdk__changes_fd(&m->changes);
    leave(m);
    return rc;
}

int pdk_mutex_next_change(pdk_mutex *m, pdk_state *state, int64_t *token)
{
    struct pdk__change change;
    if (state == NULL)
        return PDK_EINVAL;
    int rc = enter(m);
    if (rc != 0)
        return rc;
    bool taken = pdk__changes_read(&m->changes, &change);
    leave(m);
    if (!taken)
        return 0;
    *state = (pdk_state)change.what;
    if (token != NULL)
        *token = change.token;
    return 1;
}

int pdk_mutex_on_revoke(pdk_mutex *m, pdk_revoke_cb cb, void *arg)
{
    int rc = enter(m);
    if (rc != 0)
        return rc;
    pdk__changes_call(&m->revocations, (pdk__change_cb *)cb, arg);
    leave(m);
    return 0;
}
