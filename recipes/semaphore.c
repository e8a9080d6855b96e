#include "recipes/semaphore.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include "lib/zk/session.h"
#include "recipes/held.h"
#include <stdio.h>
#include <string.h>

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk__semaphore *at(const struct pdk_lock *l) { return PDK__MEMBER(l, struct pdk__semaphore, lock); }

static struct pdk__object *object_of(struct pdk__semaphore *s) { return s != NULL ? &s->lock.object : NULL; }

static void clear(struct pdk_lock *l)
{
    struct pdk__semaphore *s = at(l);
    assert(pdk__list_empty(&s->permits));
    pdk__free(s->gate);
    pdk__free(s->leases);
}

static int init(struct pdk_lock *l, const void *arg)
{
    struct pdk__semaphore *s = at(l);
    const unsigned *limit = arg;
    pdk__list_init(&s->permits);
    s->rule = pdk__rule_permit(*limit);
    l->options.limit = *limit;
    s->gate = pdk__join(l->object.path, "locks");
    s->leases = pdk__join(l->object.path, "leases");
    return s->gate != NULL && s->leases != NULL ? 0 : PDK_ENOMEM;
}

static bool in_use(const struct pdk_lock *l) { return !pdk__list_empty(&at(l)->permits); }

static void drop(struct pdk_lock *l)
{
    struct pdk__semaphore *s = at(l);
    pdk__count_free(s->count);
    s->count = NULL;
}

static const struct pdk__lock_kind kind = {.object = {PDK__LOCK_OBJECT(struct pdk__semaphore, "make a semaphore for")},
                                           .name = "a semaphore",
                                           .init = init,
                                           .clear = clear,
                                           .in_use = in_use,
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
static void judge_again(struct pdk__bundle *b, unsigned limit)
{
    char why[PDK__REASON_MAX];
    snprintf(why, sizeof why, "the limit is %u now", limit);
    if (b->spec.n > limit)
        pdk__bundle_refuse(b, PDK_EINVAL, why);
    else
        pdk__bundle_judge_again(b);
}

static void set_limit(struct pdk__semaphore *s, unsigned limit)
{
    assert(pdk__client_locked(s->lock.object.client) && valid_limit(limit));
    s->rule.admits = s->lock.options.limit = limit;
    PDK__LIST_EACH (link, &s->permits)
        judge_again(PDK__MEMBER(link, struct pdk__bundle, link), limit);
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
    return pdk__object_end(&s->lock.object, "set the limit of", 0);
}

static void counted(int32_t number, void *arg)
{
    if (number >= 1 && valid_limit((unsigned)number))
        set_limit(arg, (unsigned)number);
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
        rc = pdk__count_new(&s->count, s->lock.object.client, count_path, counted, s);
    return pdk__object_end(&s->lock.object, "follow the limit of", rc);
}

unsigned pdk_semaphore_limit(pdk_semaphore *l)
{
    struct pdk__semaphore *s = semaphore_of(l);
    if (pdk__object_enter(object_of(s)) != 0)
        return 0;
    unsigned limit = (unsigned)s->rule.admits;
    pdk__object_leave(&s->lock.object);
    return limit;
}

/* --- acquire ----------------------------------------------------------------------------------------------------- */

/* A request of a thread that waits. */
struct wish {
    unsigned n;
    bool try_only;
    int64_t deadline_ms;
};

static const struct pdk__bundle_kind permit_kind = {
    .size = sizeof(struct pdk__bundle), .acquire = "acquire", .keep = "hold", .release = "release"};

static int request(struct pdk__semaphore *s, const struct wish *wish, pdk_lock_cb cb, void *arg, pdk_grant **out)
{
    if (wish->n > s->rule.admits)
        return PDK_EINVAL;
    struct pdk__bundle_spec spec = {.kind = &permit_kind,
                                    .object = &s->lock.object,
                                    .handles = &s->permits,
                                    .options = &s->lock.options,
                                    .rule = &s->rule,
                                    .gate = s->gate,
                                    .path = s->leases,
                                    .n = wish->n,
                                    .try_only = wish->try_only,
                                    .deadline_ms = wish->deadline_ms,
                                    .cb = cb,
                                    .arg = arg};
    pdk_grant *g = pdk__grant_new(&s->lock, &pdk__bundle_permits);
    int rc = g != NULL ? pdk__bundle_request(&g->bundle, &spec) : PDK_ENOMEM;
    if (rc != 0) {
        if (g != NULL)
            pdk__grant_free(g);
        return rc;
    }
    g->count = wish->n;
    *out = g;
    return 0;
}

static void cancelled(void *arg) { pdk__grant_free(arg); }

/* A thread that is cancelled leaves no handle. It has left the client's lock by then. */
static int await(pdk_grant *g)
{
    int rc;
    pthread_cleanup_push(cancelled, g);
    rc = pdk__bundle_await(g->bundle);
    pthread_cleanup_pop(0);
    pdk__bundle_unref(g->bundle);
    return rc;
}

static int acquire_once(struct pdk__semaphore *s, const struct wish *wish, pdk_grant **out)
{
    pdk_grant *g;
    int rc = request(s, wish, NULL, NULL, &g);
    if (rc != 0)
        return pdk__object_blame(&s->lock.object, "acquire", rc);
    rc = await(g);
    if (rc != 0) {
        pdk__bundle_blame(g->bundle, wish->try_only ? "tryacquire" : "acquire", rc);
        pdk__bundle_drop(g->bundle);
        pdk__grant_free(g);
    } else {
        pdk__grant_join(*out = g);
    }
    return rc;
}

static int acquire(struct pdk__semaphore *s, const struct wish *wish, pdk_grant **out)
{
    int rc = pdk__client_may_wait(s->lock.object.client);
    if (rc != 0)
        return rc;
    while ((rc = acquire_once(s, wish, out)) == PDK_ELOST && pdk__now_ms() < wish->deadline_ms)
        continue;
    if (rc != PDK_ELOST)
        return rc;
    return wish->try_only ? PDK_EBUSY : PDK_ETIMEDOUT;
}

static int begin(struct pdk__semaphore *s, unsigned n, pdk_grant **out)
{
    return out != NULL && n >= 1 && n <= PDK_SEMAPHORE_MAX ? pdk__object_begin(object_of(s)) : PDK_EINVAL;
}

/* For as long as it may take to look once. */
static int64_t patience_ms(const struct pdk_client *c)
{
    return c->session.id != 0 ? c->session.timeout_ms : c->options.session_timeout_ms;
}

int pdk_semaphore_tryacquire(pdk_semaphore *l, unsigned n, pdk_grant **out)
{
    struct pdk__semaphore *s = semaphore_of(l);
    int rc = begin(s, n, out);
    if (rc != 0)
        return rc;
    struct wish wish = {.n = n, .try_only = true};
    wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), patience_ms(s->lock.object.client));
    rc = acquire(s, &wish, out);
    if (rc == PDK_ETIMEDOUT)
        rc = pdk__object_blame(&s->lock.object, "tryacquire", PDK_EDISCONNECTED);
    return pdk__object_end(&s->lock.object, "tryacquire", rc);
}

/* One look, without waiting for a missing connection. */
static int look(struct pdk__semaphore *s, unsigned n, pdk_grant **out)
{
    struct pdk_client *c = s->lock.object.client;
    struct wish wish = {
        .n = n, .try_only = true, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms)};
    if (n <= s->rule.admits && pdk__client_may_wait(c) == 0 && c->session.phase != PDK__SESSION_CONNECTED)
        return PDK_ETIMEDOUT;
    int rc = acquire(s, &wish, out);
    return rc == PDK_EBUSY ? PDK_ETIMEDOUT : rc;
}

int pdk_semaphore_timedacquire(pdk_semaphore *l, unsigned n, int64_t timeout_ms, pdk_grant **out)
{
    struct pdk__semaphore *s = semaphore_of(l);
    struct wish wish = {.n = n, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms)};
    int rc = begin(s, n, out);
    if (rc != 0)
        return rc;
    rc = timeout_ms == 0 ? look(s, n, out) : acquire(s, &wish, out);
    return pdk__object_end(&s->lock.object, "acquire", rc);
}

int pdk_semaphore_acquire(pdk_semaphore *l, unsigned n, pdk_grant **out)
{
    return pdk_semaphore_timedacquire(l, n, PDK_FOREVER, out);
}

int pdk_semaphore_acquire_async(pdk_semaphore *l, unsigned n, int64_t timeout_ms, pdk_lock_cb cb, void *arg,
                                pdk_grant **out)
{
    struct pdk__semaphore *s = semaphore_of(l);
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = cb != NULL ? begin(s, n, out) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    struct pdk_client *c = s->lock.object.client;
    struct wish wish = {.n = n, .try_only = timeout_ms == 0, .deadline_ms = deadline_ms};
    /* One look lasts until its answer has come; without a connection it is over at once. */
    if (wish.try_only && c->session.phase == PDK__SESSION_CONNECTED)
        wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    rc = request(s, &wish, cb, arg, out);
    if (rc == 0) {
        pdk__bundle_unref((*out)->bundle); /* the caller's */
        pdk__grant_join(*out);
    }
    return pdk__object_end(&s->lock.object, "acquire", rc);
}
