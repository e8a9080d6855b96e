#include "recipes/multilock.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include "lib/zk/session.h"
#include "recipes/held.h"
#include "recipes/holds.h"
#include "recipes/late.h"
#include <stdlib.h>
#include <string.h>

/* An identity has fewer bytes: its host and its label have 255 each, and six for each of those in JSON. */
enum { IDENTITY_MAX = 4096 };

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk__multilock *at(const struct pdk_lock *l) { return PDK__MEMBER(l, struct pdk__multilock, lock); }

static struct pdk__object *object_of(struct pdk__multilock *m) { return m != NULL ? &m->lock.object : NULL; }

/* The paths of a new object. */
struct making {
    const char *const *paths;
    unsigned n;
};

static void clear(struct pdk_lock *l)
{
    struct pdk__multilock *m = at(l);
    assert(pdk__list_empty(&m->list));
    for (unsigned i = 0; i < m->n && m->paths != NULL; i++)
        pdk__free(m->paths[i]);
    pdk__free(m->paths);
    pdk__free(m->places);
}

/* Copy PATH to its place among the N before it. */
static int insert(struct pdk__multilock *m, unsigned n, const char *path)
{
    unsigned place = n;
    char *copy = pdk__strdup(path);
    if (copy == NULL)
        return PDK_ENOMEM;
    for (; place > 0 && strcmp(m->paths[place - 1], copy) > 0; place--)
        m->paths[place] = m->paths[place - 1];
    m->paths[place] = copy;
    for (unsigned i = 0; i < n; i++)
        m->places[i] += m->places[i] >= place;
    m->places[n] = place;
    return 0;
}

static int init(struct pdk_lock *l, const void *arg)
{
    struct pdk__multilock *m = at(l);
    const struct making *making = arg;
    int rc = 0;
    pdk__list_init(&m->list);
    m->n = making->n;
    m->paths = pdk__alloc(m->n * sizeof *m->paths);
    m->places = pdk__alloc(m->n * sizeof *m->places);
    if (m->paths == NULL || m->places == NULL)
        rc = PDK_ENOMEM;
    for (unsigned i = 0; i < m->n && rc == 0; i++)
        rc = insert(m, i, making->paths[i]);
    return rc;
}

/* --- grips ------------------------------------------------------------------------------------------------------- */

static struct pdk__grip *grip_of(struct pdk__bundle *b) { return PDK__MEMBER(b, struct pdk__grip, bundle); }

#define EACH_GRIP(grip, m)                                                                                             \
    PDK__LIST_EACH (grip##_link, &(m)->list)                                                                           \
        for (struct pdk__grip *grip = PDK__MEMBER(grip##_link, struct pdk__grip, bundle.link); grip != NULL;           \
             grip = NULL)

/* The grant of THREAD. */
static struct pdk__grip *find_owned(struct pdk__multilock *m, uint64_t thread)
{
    EACH_GRIP (grip, m)
        if (grip->thread == thread && pdk__bundle_owned(&grip->bundle))
            return grip;
    return NULL;
}

/* The grant that a question of the calling thread is about: its own, else one of another thread, and first one that is
 * not lost. */
static struct pdk__grip *find_asked(struct pdk__multilock *m)
{
    struct pdk__grip *found = find_owned(m, pdk__holds_thread());
    if (found != NULL)
        return found;
    EACH_GRIP (grip, m) {
        bool fits = grip->thread != 0 && pdk__bundle_owned(&grip->bundle);
        if (fits && (found == NULL || pdk__bundle_state(&found->bundle) == PDK_LOST))
            found = grip;
    }
    return found;
}

/* --- the kind ---------------------------------------------------------------------------------------------------- */

static struct pdk__held asked(struct pdk__object *o)
{
    struct pdk__grip *grip = find_asked(PDK__MEMBER(o, struct pdk__multilock, lock.object));
    return (struct pdk__held){.bundle = grip != NULL ? &grip->bundle : NULL};
}

static bool in_use(const struct pdk_lock *l) { return !pdk__list_empty(&at(l)->list); }

static void drop(struct pdk_lock *l)
{
    EACH_GRIP (grip, at(l))
        pdk__bundle_drop(&grip->bundle);
}

static const struct pdk__lock_kind kind = {
    .object = {PDK__LOCK_OBJECT(struct pdk__multilock, "make a multi-lock for"), .asked = asked},
    .name = "a multi-lock",
    .options = PDK__HAS_CONFIRMED | PDK__HAS_UNLOCK_NOWAIT,
    .init = init,
    .clear = clear,
    .in_use = in_use,
    .drop = drop,
    .is_several = true};

static struct pdk__multilock *multilock_of(pdk_multilock *l)
{
    l = pdk__lock_as(l, &kind);
    return l != NULL ? at(l) : NULL;
}

/* Can one transaction carry them? */
static bool fits(const char *const *paths, unsigned n, const pdk_lock_options *opts)
{
    size_t bytes = 0, data_size = opts != NULL && opts->shared.data != NULL ? opts->shared.data_size : IDENTITY_MAX;
    for (unsigned i = 0; i < n; i++)
        bytes += strlen(paths[i]) + PDK__NAME_MAX + data_size;
    return bytes <= PDK__BATCH_BYTES_MAX;
}

static int check_paths(const char *const *paths, unsigned n)
{
    if (paths == NULL || n < 1 || n > PDK_MULTILOCK_MAX)
        return PDK_EINVAL;
    for (unsigned i = 0; i < n; i++)
        if (paths[i] == NULL || !pdk__path_valid(paths[i]))
            return PDK_EPATH;
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = 0; j < i; j++)
            if (strcmp(paths[i], paths[j]) == 0)
                return PDK_EINVAL;
    return 0;
}

int pdk_multilock_new(pdk_multilock **out, pdk_client *c, const char *const *paths, unsigned n,
                      const pdk_lock_options *opts)
{
    struct making making = {.paths = paths, .n = n};
    int rc = check_paths(paths, n);
    if (rc == 0 && !fits(paths, n, opts))
        rc = PDK_EINVAL;
    return rc == 0 ? pdk__lock_new(out, c, paths[0], &kind, opts, &making) : rc;
}

/* --- lock -------------------------------------------------------------------------------------------------------- */

struct wish {
    bool try_only;
    int64_t deadline_ms;
};

static const struct pdk__bundle_kind grip_kind = {
    .size = sizeof(struct pdk__grip), .acquire = "lock", .keep = "hold", .release = "unlock", .names_path = true};

static int request(struct pdk__multilock *m, const struct wish *wish, pdk_lock_cb cb, void *arg, struct pdk__grip **out)
{
    struct pdk__bundle *b;
    struct pdk__bundle_spec spec = {.kind = &grip_kind,
                                    .object = &m->lock.object,
                                    .handles = &m->list,
                                    .options = &m->lock.options,
                                    .rule = &pdk__rule_mutex,
                                    .paths = (const char *const *)m->paths,
                                    .n = m->n,
                                    .try_only = wish->try_only,
                                    .deadline_ms = wish->deadline_ms,
                                    .cb = cb,
                                    .arg = arg};
    int rc = pdk__bundle_request(&b, &spec);
    if (rc != 0)
        return rc;
    *out = grip_of(b);
    (*out)->count = 1;
    return 0;
}

static int relock(struct pdk__grip *grip)
{
    assert(grip->count > 0);
    if (pdk__bundle_state(&grip->bundle) == PDK_LOST)
        return pdk__bundle_blame(&grip->bundle, "lock", PDK_ELOST); /* to go on would hide that it was interrupted */
    if (grip->count == UINT32_MAX)
        return PDK_EINVAL;
    grip->count++;
    return 0;
}

static int contend_once(struct pdk__multilock *m, const struct wish *wish)
{
    struct pdk__grip *grip;
    int rc = request(m, wish, NULL, NULL, &grip);
    if (rc != 0)
        return pdk__object_blame(&m->lock.object, "lock", rc);
    grip->thread = pdk__holds_thread();
    rc = pdk__bundle_await(&grip->bundle);
    if (rc != 0) {
        pdk__bundle_blame(&grip->bundle, wish->try_only ? "trylock" : "lock", rc);
        pdk__bundle_drop(&grip->bundle);
    }
    pdk__bundle_unref(&grip->bundle);
    return rc;
}

static int contend(struct pdk__multilock *m, const struct wish *wish)
{
    int rc = contend_once(m, wish);
    while (rc == PDK_ELOST && pdk__now_ms() < wish->deadline_ms)
        rc = contend_once(m, wish);
    if (rc != PDK_ELOST)
        return rc;
    return wish->try_only ? PDK_EBUSY : PDK_ETIMEDOUT;
}

/* 1 when the paths are to be contended for. */
static int prepare(struct pdk__multilock *m)
{
    struct pdk__grip *own = find_owned(m, pdk__holds_thread());
    int rc = pdk__client_may_wait(m->lock.object.client);
    if (rc != 0)
        return rc;
    return own != NULL ? relock(own) : 1;
}

/* For as long as it may take to look once. */
static int64_t patience_ms(const struct pdk_client *c)
{
    return c->session.id != 0 ? c->session.timeout_ms : c->options.session_timeout_ms;
}

int pdk_multilock_trylock(pdk_multilock *l)
{
    struct pdk__multilock *m = multilock_of(l);
    int rc = pdk__object_begin(object_of(m));
    if (rc != 0)
        return rc;
    struct wish wish = {.try_only = true};
    rc = prepare(m);
    wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), patience_ms(m->lock.object.client));
    if (rc == 1)
        rc = contend(m, &wish);
    if (rc == PDK_ETIMEDOUT)
        rc = pdk__object_blame(&m->lock.object, "trylock", PDK_EDISCONNECTED);
    return pdk__object_end(&m->lock.object, "trylock", rc);
}

/* One look, without waiting for a missing connection. */
static int look(struct pdk__multilock *m)
{
    struct pdk_client *c = m->lock.object.client;
    struct wish wish = {.try_only = true};
    int rc = prepare(m);
    if (rc == 1 && c->session.phase != PDK__SESSION_CONNECTED)
        return PDK_ETIMEDOUT;
    wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    if (rc == 1)
        rc = contend(m, &wish);
    return rc == PDK_EBUSY ? PDK_ETIMEDOUT : rc;
}

static int lock(struct pdk__multilock *m, int64_t deadline_ms)
{
    struct wish wish = {.deadline_ms = deadline_ms};
    int rc = prepare(m);
    return rc == 1 ? contend(m, &wish) : rc;
}

int pdk_multilock_timedlock(pdk_multilock *l, int64_t timeout_ms)
{
    struct pdk__multilock *m = multilock_of(l);
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = pdk__object_begin(object_of(m));
    if (rc != 0)
        return rc;
    rc = timeout_ms == 0 ? look(m) : lock(m, deadline_ms);
    return pdk__object_end(&m->lock.object, "lock", rc);
}

int pdk_multilock_lock(pdk_multilock *m) { return pdk_multilock_timedlock(m, PDK_FOREVER); }

/* --- asynchronously ---------------------------------------------------------------------------------------------- */

int pdk_multilock_lock_async(pdk_multilock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **out)
{
    struct pdk__multilock *m = multilock_of(l);
    struct wish wish = {.try_only = timeout_ms == 0, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms)};
    int rc = cb != NULL && out != NULL ? pdk__object_begin(object_of(m)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    struct pdk_client *c = m->lock.object.client;
    struct pdk__grip *grip;
    pdk_grant *g = pdk__grant_new(&m->lock, &pdk__bundle_paths);
    /* One look lasts until its answer has come; without a connection it is over at once. */
    if (wish.try_only && c->session.phase == PDK__SESSION_CONNECTED)
        wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    rc = g != NULL ? request(m, &wish, cb, arg, &grip) : PDK_ENOMEM;
    if (rc == 0) {
        g->bundle = &grip->bundle;
        g->count = m->n;
        g->places = m->places;
        pdk__bundle_unref(g->bundle); /* the caller's */
        pdk__grant_join(*out = g);
    } else if (g != NULL) {
        pdk__grant_free(g);
    }
    return pdk__object_end(&m->lock.object, "lock", rc);
}

/* --- unlock ------------------------------------------------------------------------------------------------------ */

/* Release one level; 1 when that was the last, and the paths are to be released. */
static int unwind(struct pdk__grip *grip)
{
    struct pdk__bundle *b = &grip->bundle;
    bool lost = pdk__bundle_state(b) == PDK_LOST;
    assert(pdk__bundle_owned(b) && grip->count > 0);
    if (--grip->count > 0)
        return lost ? PDK_ELOST : 0;
    if (!lost)
        return 1;
    pdk__bundle_blame(b, "unlock", PDK_ELOST);
    pdk__bundle_drop(b);
    return PDK_ELOST;
}

/* The calling thread has nothing to unlock. */
static int refuse(struct pdk__multilock *m)
{
    const char *why = "nothing is locked by it";
    EACH_GRIP (grip, m)
        if (pdk__bundle_owned(&grip->bundle))
            why = grip->thread == 0 ? "its grant has a handle, which releases it" : "another thread has locked it";
    return pdk__object_explain(object_of(m), "unlock", PDK_EPERM, why);
}

int pdk_multilock_unlock(pdk_multilock *l)
{
    struct pdk__multilock *m = multilock_of(l);
    int rc = pdk__object_begin(object_of(m));
    if (rc != 0)
        return rc;
    struct pdk__grip *grip = find_owned(m, pdk__holds_thread());
    rc = pdk__client_may_wait(m->lock.object.client);
    if (rc != PDK_EDEADLK && grip != NULL)
        rc = unwind(grip); /* an ended client's locks can be unlocked, too */
    else if (rc == 0)
        rc = refuse(m);
    if (rc == 1)
        rc = pdk__bundle_give_away(&grip->bundle);
    return pdk__object_end(&m->lock.object, "unlock", rc);
}

int pdk_multilock_unlock_async(pdk_multilock *l, pdk_lock_cb cb, void *arg)
{
    struct pdk__multilock *m = multilock_of(l);
    int rc = pdk__object_begin(object_of(m));
    if (rc != 0)
        return rc;
    struct pdk__grip *grip = find_owned(m, pdk__holds_thread());
    if (grip == NULL)
        rc = refuse(m);
    else if (grip->count > 1 && cb != NULL && pdk__bundle_state(&grip->bundle) != PDK_LOST)
        rc = pdk__late_success(m->lock.object.client, cb, arg);
    if (rc == 0)
        rc = unwind(grip);
    if (rc == 1) {
        pdk__bundle_expect(&grip->bundle, cb, arg);
        pdk__bundle_drop(&grip->bundle);
        rc = 0;
    }
    return pdk__object_end(&m->lock.object, "unlock", rc);
}

/* --- questions about a path -------------------------------------------------------------------------------------- */

unsigned pdk_multilock_count(pdk_multilock *l)
{
    const struct pdk__multilock *m = multilock_of(l);
    return m != NULL ? m->n : 0;
}

const char *pdk_multilock_path(pdk_multilock *l, unsigned i)
{
    const struct pdk__multilock *m = multilock_of(l);
    return m != NULL && i < m->n ? m->paths[m->places[i]] : NULL;
}

int pdk_multilock_token(pdk_multilock *l, unsigned i, int64_t *token)
{
    struct pdk__multilock *m = multilock_of(l);
    int rc = m != NULL && token != NULL && i < m->n ? pdk__object_enter(object_of(m)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    const struct pdk__hold *hold = pdk__held_part(asked(object_of(m)), m->places[i]);
    if (hold != NULL)
        *token = hold->token;
    pdk__object_leave(object_of(m));
    return hold != NULL ? 0 : PDK_EPERM;
}

size_t pdk_multilock_node(pdk_multilock *l, unsigned i, char *buf, size_t size)
{
    struct pdk__multilock *m = multilock_of(l);
    if (m == NULL || i >= m->n)
        return pdk__incident_copy(buf, size, "");
    return pdk__asked_node(object_of(m), m->places[i], buf, size);
}

int pdk_multilock_guard(pdk_multilock *l, unsigned i, struct zoo_op *check)
{
    struct pdk__multilock *m = multilock_of(l);
    return m != NULL && i < m->n ? pdk__asked_guard(object_of(m), m->places[i], check) : PDK_EINVAL;
}
