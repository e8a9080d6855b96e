#include "paddock/semaphore.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include "recipes/count.h"
#include "recipes/verbs.h"
#include <stdio.h>

/* --- the object -------------------------------------------------------------------------------------------------- */

struct pdk__semaphore {
    struct pdk__lockable lockable;
    struct pdk__rule rule;    /* of a permit; with the limit */
    char *gate, *leases;      /* the paths under the object's */
    struct pdk__count *count; /* the node that has the limit; NULL: none */
};

static struct pdk__semaphore *at(const struct pdk_lock *l)
{
    return PDK__MEMBER(l, struct pdk__semaphore, lockable.lock);
}

static struct pdk__object *object_of(struct pdk__semaphore *s) { return s != NULL ? &s->lockable.lock.object : NULL; }

static void clear(struct pdk_lock *l)
{
    struct pdk__semaphore *s = at(l);
    pdk__lockable_clear(l);
    pdk__free(s->gate);
    pdk__free(s->leases);
}

static int init(struct pdk_lock *l, const void *arg)
{
    static const struct pdk__verbs verbs = {
        .acquire = "acquire", .attempt = "tryacquire", .keep = "hold", .release = "release"};
    struct pdk__semaphore *s = at(l);
    const unsigned *limit = arg;
    pdk__lockable_init(l);
    s->rule = pdk__rule_permit(*limit);
    s->gate = pdk__join(l->object.path, "locks");
    s->leases = pdk__join(l->object.path, "leases");
    s->lockable.verbs = &verbs;
    s->lockable.sites.path = s->leases;
    s->lockable.sites.gate = s->gate;
    return s->gate != NULL && s->leases != NULL ? 0 : PDK_ENOMEM;
}

static void drop(struct pdk_lock *l)
{
    struct pdk__semaphore *s = at(l);
    pdk__lockable_drop_all(l);
    pdk__count_free(s->count);
    s->count = NULL;
}

static const struct pdk__lock_kind kind = {
    .object = {PDK__LOCK_OBJECT(struct pdk__semaphore, "make a semaphore for"), .waiting = pdk__lockable_waiting},
    .name = "a semaphore",
    .kind = PDK__SEMAPHORE,
    .init = init,
    .clear = clear,
    .in_use = pdk__lockable_in_use,
    .drop = drop};

static struct pdk__semaphore *semaphore_of(pdk_semaphore *l)
{
    l = pdk__lock_as(l, &kind);
    return l != NULL ? at(l) : NULL;
}

static bool valid_limit(unsigned limit) { return limit >= 1 && limit <= PDK_SEMAPHORE_MAX; }

int pdk_semaphore_new(pdk_semaphore **out, pdk_client *c, const char *path, unsigned limit,
                      const pdk_lock_options *opts)
{
    return valid_limit(limit) ? pdk__lock_new(out, c, path, &kind, opts, &limit) : PDK_EINVAL;
}

/* A request for more than the limit could never be granted, and would keep the gate from all others. */
static void judge_again(struct pdk__hold *hold, unsigned limit)
{
    char why[PDK__REASON_MAX];
    snprintf(why, sizeof why, "the limit is %u now", limit);
    if (hold->sites.n > limit)
        pdk__hold_refuse(hold, PDK_EINVAL, why);
    else
        pdk__hold_judge_again(hold);
}

static void set_limit(struct pdk__semaphore *s, unsigned limit)
{
    assert(pdk__client_locked(s->lockable.lock.object.client) && valid_limit(limit));
    s->rule.admits = limit;
    PDK__EACH_ACQUISITION (op, &s->lockable)
        judge_again(&op->hold, limit);
}

int pdk_semaphore_set_limit(pdk_semaphore *l, unsigned limit)
{
    struct pdk__semaphore *s = semaphore_of(l);
    if (!valid_limit(limit))
        return PDK_EINVAL;
    int rc = pdk__object_begin(object_of(s));
    if (rc != 0)
        return rc;
    set_limit(s, limit);
    return pdk__object_end(&s->lockable.lock.object, "set the limit of", 0);
}

static void counted(int32_t number, void *arg)
{
    if (number >= 1 && valid_limit((unsigned)number))
        set_limit(arg, (unsigned)number);
}

/* A request after it is then judged, and its nodes tell, by the right limit. */
static void await_first_look(const struct pdk__semaphore *s)
{
    enum { POLL_MS = 100 }; /* an end of the permission to wait is not signalled */
    struct pdk_client *c = s->lockable.lock.object.client;
    int64_t end_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    while (s->count != NULL && !pdk__count_looked(s->count) && c->session.phase == PDK__SESSION_CONNECTED &&
           pdk__client_may_wait(c) == 0 && pdk__now_ms() < end_ms)
        pdk__client_await(c, &c->changed, pdk__now_ms() + POLL_MS, false);
}

int pdk_semaphore_follow(pdk_semaphore *l, const char *count_path)
{
    struct pdk__semaphore *s = semaphore_of(l);
    if (count_path == NULL)
        return PDK_EINVAL;
    int rc = pdk__object_begin(object_of(s));
    if (rc != 0)
        return rc;
    if (!pdk__path_valid(count_path))
        rc = PDK_EPATH;
    else if (s->count != NULL)
        rc = PDK_EINVAL;
    else
        rc = pdk__count_new(&s->count, s->lockable.lock.object.client, count_path, counted, s);
    if (rc == 0) {
        object_of(s)->limit_follows = true;
        await_first_look(s);
    }
    return pdk__object_end(&s->lockable.lock.object, "follow the limit of", rc);
}

unsigned pdk_semaphore_limit(pdk_semaphore *l)
{
    struct pdk__semaphore *s = semaphore_of(l);
    if (pdk__object_ask(object_of(s)) != 0)
        return 0;
    unsigned limit = (unsigned)s->rule.admits;
    pdk__object_leave(&s->lockable.lock.object);
    return limit;
}

/* --- acquire ----------------------------------------------------------------------------------------------------- */

/* S, where it is asked for a number of permits that can be had at all. */
static struct pdk__lockable *holds_for(pdk_semaphore *l, unsigned n)
{
    struct pdk__semaphore *s = n >= 1 && n <= PDK_SEMAPHORE_MAX ? semaphore_of(l) : NULL;
    return s != NULL ? &s->lockable : NULL;
}

static const struct pdk__rule *rule_of(const struct pdk__lockable *k)
{
    return k != NULL ? &PDK__MEMBER(k, struct pdk__semaphore, lockable)->rule : NULL;
}

int pdk_semaphore_acquire(pdk_semaphore *s, unsigned n, pdk_grant **g)
{
    return pdk_semaphore_timedacquire(s, n, PDK_FOREVER, g);
}

int pdk_semaphore_tryacquire(pdk_semaphore *s, unsigned n, pdk_grant **g)
{
    struct pdk__lockable *k = holds_for(s, n);
    return pdk__tryacquire(k, rule_of(k), n, g);
}

int pdk_semaphore_timedacquire(pdk_semaphore *s, unsigned n, int64_t timeout_ms, pdk_grant **g)
{
    struct pdk__lockable *k = holds_for(s, n);
    return pdk__acquire(k, rule_of(k), n, timeout_ms, g);
}

int pdk_semaphore_acquire_async(pdk_semaphore *s, unsigned n, int64_t timeout_ms, pdk_lock_cb cb, void *arg,
                                pdk_grant **g)
{
    struct pdk__lockable *k = holds_for(s, n);
    return pdk__lock_async(k, (struct pdk__lock_call){.wish.rule = rule_of(k), .n = n, .cb = cb, .arg = arg},
                           timeout_ms, g);
}
