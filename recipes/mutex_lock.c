/* Locking and unlocking, by threads and asynchronously. */
#include "lib/alloc.h"
#include "lib/clock.h"
#include "recipes/mutex.h"

/* --- lock -------------------------------------------------------------------------------------------------------- */

static int relock(struct pdk_op *op)
{
    if (op->stage == PDK__OP_LOST)
        return pdk__op_blame(op, "lock", PDK_ELOST); /* the protection was interrupted: to go on would hide that */
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
    pdk__mutex_leave(m);
}

/* The caller checks its own deadline: the timers' thread may be late. */
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

/* The caller may be woken long after the grant. It must not take a grant for a lock that was lost meanwhile. */
static bool over_already(struct pdk_op *op)
{
    pdk__client_heed(op->mutex->client);
    return op->stage == PDK__OP_LOST;
}

static int contend_once(pdk_mutex *m, bool try_only, int64_t deadline_ms)
{
    struct pdk_op *op;
    int rc = pdk__op_start(&op, m, try_only, deadline_ms, pdk__thread_number(), NULL, NULL);
    if (rc != 0)
        return pdk__mutex_blame(m, "lock", rc);
    wait_settled(op, deadline_ms);
    rc = op->result;
    if (rc == 0 && over_already(op)) {
        pdk__op_blame(op, "lock", PDK_ELOST);
        pdk__op_abandon(op);
        return PDK_ELOST;
    }
    if (rc != 0)
        pdk__op_blame(op, try_only ? "trylock" : "lock", rc);
    pdk__op_unref(op);
    return rc;
}

static int contend(pdk_mutex *m, bool try_only, int64_t deadline_ms)
{
    int rc = contend_once(m, try_only, deadline_ms);
    while (rc == PDK_ELOST && pdk__now_ms() < deadline_ms)
        rc = contend_once(m, try_only, deadline_ms);
    if (rc != PDK_ELOST)
        return rc;
    return try_only ? PDK_EBUSY : PDK_ETIMEDOUT;
}

/* The checks common to all blocking verbs; 1 when the lock is to be contended for. */
static int prepare(pdk_mutex *m, bool try_only)
{
    struct pdk_op *own = pdk__mutex_find_owned(m, pdk__thread_number());
    int rc = pdk__client_may_wait(m->client);
    if (rc != 0)
        return rc;
    if (own != NULL)
        return relock(own);
    return try_only && pdk__mutex_held_here(m) ? PDK_EBUSY : 1;
}

int pdk_mutex_lock(pdk_mutex *m) { return pdk_mutex_timedlock(m, PDK_FOREVER); }

int pdk_mutex_trylock(pdk_mutex *m)
{
    int rc = pdk__mutex_begin(m);
    if (rc != 0)
        return rc;
    rc = prepare(m, true);
    if (rc == 1) {
        struct pdk_client *c = m->client;
        int64_t patience_ms = c->session.id != 0 ? c->session.timeout_ms : c->options.session_timeout_ms;
        rc = contend(m, true, pdk__deadline_ms(pdk__now_ms(), patience_ms));
        if (rc == PDK_ETIMEDOUT)
            rc = pdk__mutex_blame(m, "trylock", PDK_EDISCONNECTED);
    }
    return pdk__mutex_end(m, "trylock", rc);
}

static int timedlock(pdk_mutex *m, int64_t timeout_ms)
{
    int rc = prepare(m, false);
    return rc == 1 ? contend(m, false, pdk__deadline_ms(pdk__now_ms(), timeout_ms)) : rc;
}

/* One look, without waiting for a missing connection. */
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
    int rc = pdk__mutex_begin(m);
    if (rc != 0)
        return rc;
    rc = timeout_ms == 0 ? look(m) : timedlock(m, timeout_ms);
    return pdk__mutex_end(m, "lock", rc);
}

int pdk_mutex_lock_async(pdk_mutex *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_op **out)
{
    if (cb == NULL)
        return PDK_EINVAL;
    int rc = pdk__mutex_begin(m);
    if (rc != 0)
        return rc;
    struct pdk_op *op;
    bool once = timeout_ms == 0;
    /* One look lasts until its answer has come; without a connection it is over at once. */
    if (once && m->client->session.phase == PDK__SESSION_CONNECTED)
        timeout_ms = m->client->session.timeout_ms;
    rc = pdk__op_start(&op, m, once, pdk__deadline_ms(pdk__now_ms(), timeout_ms), 0, cb, arg);
    if (rc == 0 && out != NULL)
        *out = op;
    else if (rc == 0)
        pdk__op_unref(op);
    return pdk__mutex_end(m, "lock", rc);
}

/* --- unlock ------------------------------------------------------------------------------------------------------ */

/* The grant that the calling thread may unlock. */
static struct pdk_op *find_unlockable(struct pdk_mutex *m)
{
    struct pdk_op *op = pdk__mutex_find_owned(m, pdk__thread_number());
    return op != NULL ? op : pdk__mutex_find_owned(m, 0);
}

/* Release one level; 1 when that was the last, and the lock itself is to be released. */
static int unwind(struct pdk_op *op)
{
    bool lost = op->stage == PDK__OP_LOST;
    if (--op->count > 0)
        return lost ? PDK_ELOST : 0;
    if (!lost)
        return 1;
    op->refs++; /* the reference that pdk__op_abandon() takes */
    pdk__op_blame(op, "unlock", PDK_ELOST);
    pdk__op_abandon(op);
    return PDK_ELOST;
}

static int give_away(struct pdk_op *op)
{
    struct pdk_client *c = op->mutex->client;
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    op->refs += 2; /* the reference that pdk__op_abandon() takes, and ours while we wait */
    pdk__op_abandon(op);
    while (!op->gone && pdk__now_ms() < deadline_ms)
        pdk__client_await(c, &op->news, deadline_ms, false);
    int rc = op->gone ? op->release_result : PDK_EUNKNOWN;
    if (rc != 0 && op->gone)
        pdk__op_blame(op, "unlock", rc);
    pdk__op_unref(op);
    return rc;
}

int pdk_mutex_unlock(pdk_mutex *m)
{
    int rc = pdk__mutex_begin(m);
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
    return pdk__mutex_end(m, "unlock", rc);
}

/* The callback of an unlock that needs no wait. */
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
    op->refs++; /* the reference that pdk__op_abandon() takes */
    pdk__claim_expect(&op->claim, pdk__deadline_ms(pdk__now_ms(), patience_ms));
    pdk__op_abandon(op);
}

int pdk_mutex_unlock_async(pdk_mutex *m, pdk_lock_cb cb, void *arg)
{
    int rc = pdk__mutex_begin(m);
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
    return pdk__mutex_end(m, "unlock", rc);
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
