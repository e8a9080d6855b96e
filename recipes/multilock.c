#include "recipes/multilock.h"
#include "lib/alloc.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/path.h"
#include "lib/zk/session.h"
#include "recipes/grant.h"
#include "recipes/holds.h"
#include "recipes/late.h"
#include <stdlib.h>
#include <string.h>

/* An identity has fewer bytes: its host and its label have 255 each, and six for each of those in JSON. */
enum { IDENTITY_MAX = 4096 };

/* --- options ----------------------------------------------------------------------------------------------------- */

pdk_multilock_options *pdk_multilock_options_new(void) { return pdk__alloc(sizeof(pdk_multilock_options)); }

void pdk_multilock_options_free(pdk_multilock_options *o)
{
    if (o == NULL)
        return;
    pdk__free(o->shared.data);
    pdk__free(o);
}

int pdk_multilock_options_set_data(pdk_multilock_options *o, const void *data, size_t size)
{
    return o != NULL ? pdk__node_data_set(&o->shared, data, size) : PDK_EINVAL;
}

int pdk_multilock_options_set_confirmed(pdk_multilock_options *o, bool confirmed)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->shared.conditions.confirmed = confirmed;
    return 0;
}

int pdk_multilock_options_set_unlock_nowait(pdk_multilock_options *o, bool nowait)
{
    if (o == NULL)
        return PDK_EINVAL;
    o->shared.unlock_nowait = nowait;
    return 0;
}

/* --- the object -------------------------------------------------------------------------------------------------- */

static struct pdk__object *object_of(pdk_multilock *m) { return m != NULL ? &m->object : NULL; }

static pdk_multilock *multilock_of(struct pdk__object *o) { return PDK__MEMBER(o, struct pdk_multilock, object); }

/* The paths and options of a new object. */
struct making {
    const char *const *paths;
    unsigned n;
    const struct pdk__node_options *options;
};

static void clear(struct pdk__object *o)
{
    pdk_multilock *m = multilock_of(o);
    assert(pdk__list_empty(&m->list));
    for (unsigned i = 0; i < m->n && m->paths != NULL; i++)
        pdk__free(m->paths[i]);
    pdk__free(m->paths);
    pdk__free(m->places);
    pdk__free(m->options.data);
}

/* Copy PATH to its place among the N before it. */
static int insert(pdk_multilock *m, unsigned n, const char *path)
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

static int init(struct pdk__object *o, const void *options)
{
    pdk_multilock *m = multilock_of(o);
    const struct making *making = options;
    int rc = 0;
    pdk__list_init(&m->list);
    m->n = making->n;
    m->paths = pdk__alloc(m->n * sizeof *m->paths);
    m->places = pdk__alloc(m->n * sizeof *m->places);
    if (m->paths == NULL || m->places == NULL)
        rc = PDK_ENOMEM;
    for (unsigned i = 0; i < m->n && rc == 0; i++)
        rc = insert(m, i, making->paths[i]);
    if (rc == 0 && making->options != NULL) {
        m->options.conditions = making->options->conditions;
        m->options.unlock_nowait = making->options->unlock_nowait;
        if (making->options->data != NULL)
            rc = pdk__node_data_set(&m->options, making->options->data, making->options->data_size);
    }
    if (rc != 0)
        clear(o);
    return rc;
}

static void call(struct pdk__object *o, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_multilock_state_cb)cb)(multilock_of(o), (pdk_state)change->what, change->token, arg);
}

static void call_revoked(struct pdk__object *o, pdk__change_cb *cb, void *arg, const struct pdk__change *change)
{
    ((pdk_multilock_revoke_cb)cb)(multilock_of(o), change->token, arg);
}

static const struct pdk__object_kind kind = {.making = "make a multi-lock for",
                                             .size = sizeof(struct pdk_multilock),
                                             .init = init,
                                             .clear = clear,
                                             .changes = {call, pdk__object_ref, pdk__object_unref},
                                             .revocations = {call_revoked, pdk__object_ref, pdk__object_unref}};

/* Can one transaction carry them? */
static bool fits(const char *const *paths, unsigned n, const pdk_multilock_options *opts)
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
                      const pdk_multilock_options *opts)
{
    struct pdk__object *o;
    struct making making = {.paths = paths, .n = n, .options = opts != NULL ? &opts->shared : NULL};
    int rc = out != NULL ? check_paths(paths, n) : PDK_EINVAL;
    if (rc == 0 && !fits(paths, n, opts))
        rc = PDK_EINVAL;
    if (rc == 0)
        rc = pdk__object_new(&o, c, paths[0], &kind, &making);
    if (rc == 0)
        *out = multilock_of(o);
    return rc;
}

/* --- grips ------------------------------------------------------------------------------------------------------- */

static struct pdk__grip *grip_of(struct pdk__bundle *b) { return PDK__MEMBER(b, struct pdk__grip, bundle); }

#define EACH_GRIP(grip, m)                                                                                             \
    PDK__LIST_EACH (grip##_link, &(m)->list)                                                                           \
        for (struct pdk__grip *grip = PDK__MEMBER(grip##_link, struct pdk__grip, bundle.link); grip != NULL;           \
             grip = NULL)

/* The grant of THREAD. Thread 0 finds one that belongs to no thread, and first one whose callback knows of it. */
static struct pdk__grip *find_owned(pdk_multilock *m, uint64_t thread)
{
    struct pdk__grip *found = NULL;
    EACH_GRIP (grip, m) {
        if (grip->thread == thread && pdk__bundle_owned(&grip->bundle) &&
            (found == NULL || (grip->bundle.answered && !found->bundle.answered)))
            found = grip;
    }
    return found;
}

/* The grant that a question of the calling thread is about: its own, else one that is valid, else one that is lost. */
static struct pdk__grip *find_asked(pdk_multilock *m)
{
    struct pdk__grip *found = find_owned(m, pdk__holds_thread());
    if (found != NULL)
        return found;
    EACH_GRIP (grip, m)
        if (pdk__bundle_owned(&grip->bundle) && (found == NULL || pdk__bundle_state(&found->bundle) == PDK_LOST))
            found = grip;
    return found;
}

int pdk_multilock_free(pdk_multilock *m)
{
    if (m == NULL)
        return 0;
    int rc = pdk__object_begin(&m->object);
    if (rc != 0)
        return rc;
    if (!m->object.client->closed && !pdk__list_empty(&m->list)) {
        rc = PDK_EBUSY;
    } else {
        EACH_GRIP (grip, m)
            pdk__bundle_drop(&grip->bundle);
        pdk__object_retire(&m->object);
    }
    return pdk__object_end(&m->object, "free", rc);
}

/* --- lock -------------------------------------------------------------------------------------------------------- */

struct wish {
    bool try_only;
    int64_t deadline_ms;
};

static const struct pdk__bundle_kind grip_kind = {
    .size = sizeof(struct pdk__grip), .acquire = "lock", .keep = "hold", .release = "unlock", .names_path = true};

static int request(pdk_multilock *m, const struct wish *wish, pdk_lock_cb cb, struct pdk__grip **out)
{
    struct pdk__bundle *b;
    struct pdk__bundle_spec spec = {.kind = &grip_kind,
                                    .object = &m->object,
                                    .handles = &m->list,
                                    .options = &m->options,
                                    .rule = &pdk__rule_mutex,
                                    .paths = (const char *const *)m->paths,
                                    .n = m->n,
                                    .try_only = wish->try_only,
                                    .deadline_ms = wish->deadline_ms,
                                    .cb = cb};
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

static int contend_once(pdk_multilock *m, const struct wish *wish)
{
    struct pdk__grip *grip;
    int rc = request(m, wish, NULL, &grip);
    if (rc != 0)
        return pdk__object_blame(&m->object, "lock", rc);
    grip->thread = pdk__holds_thread();
    rc = pdk__bundle_await(&grip->bundle);
    if (rc != 0) {
        pdk__bundle_blame(&grip->bundle, wish->try_only ? "trylock" : "lock", rc);
        pdk__bundle_drop(&grip->bundle);
    }
    pdk__bundle_unref(&grip->bundle);
    return rc;
}

static int contend(pdk_multilock *m, const struct wish *wish)
{
    int rc = contend_once(m, wish);
    while (rc == PDK_ELOST && pdk__now_ms() < wish->deadline_ms)
        rc = contend_once(m, wish);
    if (rc != PDK_ELOST)
        return rc;
    return wish->try_only ? PDK_EBUSY : PDK_ETIMEDOUT;
}

/* 1 when the paths are to be contended for. */
static int prepare(pdk_multilock *m)
{
    struct pdk__grip *own = find_owned(m, pdk__holds_thread());
    int rc = pdk__client_may_wait(m->object.client);
    if (rc != 0)
        return rc;
    return own != NULL ? relock(own) : 1;
}

/* For as long as it may take to look once. */
static int64_t patience_ms(const struct pdk_client *c)
{
    return c->session.id != 0 ? c->session.timeout_ms : c->options.session_timeout_ms;
}

int pdk_multilock_trylock(pdk_multilock *m)
{
    int rc = pdk__object_begin(object_of(m));
    if (rc != 0)
        return rc;
    struct wish wish = {.try_only = true};
    rc = prepare(m);
    wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), patience_ms(m->object.client));
    if (rc == 1)
        rc = contend(m, &wish);
    if (rc == PDK_ETIMEDOUT)
        rc = pdk__object_blame(&m->object, "trylock", PDK_EDISCONNECTED);
    return pdk__object_end(&m->object, "trylock", rc);
}

/* One look, without waiting for a missing connection. */
static int look(pdk_multilock *m)
{
    struct pdk_client *c = m->object.client;
    struct wish wish = {.try_only = true};
    int rc = prepare(m);
    if (rc == 1 && c->session.phase != PDK__SESSION_CONNECTED)
        return PDK_ETIMEDOUT;
    wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    if (rc == 1)
        rc = contend(m, &wish);
    return rc == PDK_EBUSY ? PDK_ETIMEDOUT : rc;
}

static int lock(pdk_multilock *m, int64_t deadline_ms)
{
    struct wish wish = {.deadline_ms = deadline_ms};
    int rc = prepare(m);
    return rc == 1 ? contend(m, &wish) : rc;
}

int pdk_multilock_timedlock(pdk_multilock *m, int64_t timeout_ms)
{
    int64_t deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms);
    int rc = pdk__object_begin(object_of(m));
    if (rc != 0)
        return rc;
    rc = timeout_ms == 0 ? look(m) : lock(m, deadline_ms);
    return pdk__object_end(&m->object, "lock", rc);
}

int pdk_multilock_lock(pdk_multilock *m) { return pdk_multilock_timedlock(m, PDK_FOREVER); }

/* --- asynchronously ---------------------------------------------------------------------------------------------- */

/* A request that fails has no owner: it ends with its callback. */
static void completed(int rc, void *arg)
{
    struct pdk__grip *grip = arg;
    struct pdk_client *c = grip->bundle.spec.object->client;
    if (rc != 0) {
        pdk__client_lock(c);
        if (!pdk__list_empty(&grip->bundle.link))
            pdk__bundle_drop(&grip->bundle);
        pdk__client_leave(c);
    }
    grip->cb(rc, grip->arg);
}

int pdk_multilock_lock_async(pdk_multilock *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg)
{
    struct wish wish = {.try_only = timeout_ms == 0, .deadline_ms = pdk__deadline_ms(pdk__now_ms(), timeout_ms)};
    int rc = cb != NULL ? pdk__object_begin(object_of(m)) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    struct pdk_client *c = m->object.client;
    struct pdk__grip *grip;
    /* One look lasts until its answer has come; without a connection it is over at once. */
    if (wish.try_only && c->session.phase == PDK__SESSION_CONNECTED)
        wish.deadline_ms = pdk__deadline_ms(pdk__now_ms(), c->session.timeout_ms);
    rc = request(m, &wish, completed, &grip);
    if (rc == 0) {
        grip->cb = cb;
        grip->arg = arg;
        grip->bundle.spec.arg = grip;
        pdk__bundle_unref(&grip->bundle);
    }
    return pdk__object_end(&m->object, "lock", rc);
}

int pdk_multilock_cancel(pdk_multilock *m)
{
    int n = 0, rc = pdk__object_enter(object_of(m));
    if (rc != 0)
        return rc;
    EACH_GRIP (grip, m)
        if (grip->thread == 0 && grip->bundle.stage == PDK__BUNDLE_PENDING) {
            pdk__bundle_drop(&grip->bundle);
            n++;
        }
    pdk__object_leave(&m->object);
    return n;
}

/* --- unlock ------------------------------------------------------------------------------------------------------ */

/* The grant that the calling thread may unlock. */
static struct pdk__grip *find_unlockable(pdk_multilock *m)
{
    struct pdk__grip *grip = find_owned(m, pdk__holds_thread());
    return grip != NULL ? grip : find_owned(m, 0);
}

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

static int give_away(struct pdk__grip *grip, bool nowait)
{
    if (nowait) {
        pdk__bundle_expect(&grip->bundle, NULL, NULL);
        pdk__bundle_drop(&grip->bundle);
        return 0;
    }
    pdk__bundle_ref(&grip->bundle);
    pdk__bundle_drop(&grip->bundle);
    int rc = pdk__bundle_await_done(&grip->bundle);
    pdk__bundle_unref(&grip->bundle);
    return rc;
}

int pdk_multilock_unlock(pdk_multilock *m)
{
    int rc = pdk__object_begin(object_of(m));
    if (rc != 0)
        return rc;
    struct pdk__grip *grip = find_unlockable(m);
    rc = pdk__client_may_wait(m->object.client);
    if (rc != PDK_EDEADLK && grip != NULL)
        rc = unwind(grip); /* an ended client's locks can be unlocked, too */
    else if (rc == 0)
        rc = PDK_EPERM;
    if (rc == 1)
        rc = give_away(grip, m->options.unlock_nowait);
    return pdk__object_end(&m->object, "unlock", rc);
}

int pdk_multilock_unlock_async(pdk_multilock *m, pdk_lock_cb cb, void *arg)
{
    int rc = pdk__object_begin(object_of(m));
    if (rc != 0)
        return rc;
    struct pdk__grip *grip = find_unlockable(m);
    if (grip == NULL)
        rc = PDK_EPERM;
    else if (grip->count > 1 && cb != NULL && pdk__bundle_state(&grip->bundle) != PDK_LOST)
        rc = pdk__late_success(m->object.client, cb, arg);
    if (rc == 0)
        rc = unwind(grip);
    if (rc == 1) {
        pdk__bundle_expect(&grip->bundle, cb, arg);
        pdk__bundle_drop(&grip->bundle);
        rc = 0;
    }
    return pdk__object_end(&m->object, "unlock", rc);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

pdk_state pdk_multilock_state(pdk_multilock *m)
{
    int rc = pdk__object_enter(object_of(m));
    if (rc != 0)
        return rc == PDK_EFORKED ? PDK_LOST : PDK_FREE;
    const struct pdk__grip *grip = find_asked(m);
    pdk_state state = grip != NULL ? pdk__bundle_state(&grip->bundle) : PDK_FREE;
    pdk__object_leave(&m->object);
    return state;
}

int64_t pdk_multilock_valid_ms(pdk_multilock *m)
{
    if (pdk__object_enter(object_of(m)) != 0)
        return 0;
    const struct pdk__grip *grip = find_asked(m);
    int64_t left_ms = grip != NULL ? pdk__bundle_valid_ms(&grip->bundle) : 0;
    pdk__object_leave(&m->object);
    return left_ms;
}

unsigned pdk_multilock_count(pdk_multilock *m) { return m != NULL ? m->n : 0; }

const char *pdk_multilock_path(pdk_multilock *m, unsigned i)
{
    return m != NULL && i < m->n ? m->paths[m->places[i]] : NULL;
}

/* The hold of path I, as given; NULL: nothing is granted. */
static struct pdk__hold *find_hold(pdk_multilock *m, unsigned i)
{
    struct pdk__grip *grip = find_asked(m);
    return grip != NULL ? &grip->bundle.parts[m->places[i]].hold : NULL;
}

int pdk_multilock_token(pdk_multilock *m, unsigned i, int64_t *token)
{
    if (m == NULL || token == NULL || i >= m->n)
        return PDK_EINVAL;
    int rc = pdk__object_enter(&m->object);
    if (rc != 0)
        return rc;
    const struct pdk__hold *hold = find_hold(m, i);
    if (hold != NULL)
        *token = hold->token;
    pdk__object_leave(&m->object);
    return hold != NULL ? 0 : PDK_EPERM;
}

size_t pdk_multilock_node(pdk_multilock *m, unsigned i, char *buf, size_t size)
{
    if (m == NULL || i >= m->n || pdk__object_enter(&m->object) != 0)
        return pdk__incident_copy(buf, size, "");
    const struct pdk__hold *hold = find_hold(m, i);
    size_t length = pdk__incident_copy(buf, size, hold != NULL ? hold->node : "");
    pdk__object_leave(&m->object);
    return length;
}

int pdk_multilock_guard(pdk_multilock *m, unsigned i, struct zoo_op *check)
{
    if (m == NULL || check == NULL || i >= m->n)
        return PDK_EINVAL;
    int rc = pdk__object_begin(&m->object);
    if (rc != 0)
        return rc;
    struct pdk__grip *grip = find_asked(m);
    if (grip != NULL && pdk__bundle_state(&grip->bundle) == PDK_LOST)
        rc = pdk__bundle_blame(&grip->bundle, "guard", PDK_ELOST);
    else
        rc = pdk__grant_fill(find_hold(m, i), check);
    return pdk__object_end(&m->object, "guard", rc);
}

/* --- as of every object ------------------------------------------------------------------------------------------ */

pdk_client *pdk_multilock_client(pdk_multilock *m) { return object_of(m)->client; }

void pdk_multilock_set_user(pdk_multilock *m, void *user) { object_of(m)->user = user; }

void *pdk_multilock_user(pdk_multilock *m) { return object_of(m)->user; }

int pdk_multilock_on_state(pdk_multilock *m, pdk_multilock_state_cb cb, void *arg)
{
    return pdk__object_on_change(object_of(m), (pdk__change_cb *)cb, arg);
}

int pdk_multilock_on_revoke(pdk_multilock *m, pdk_multilock_revoke_cb cb, void *arg)
{
    return pdk__object_on_revoke(object_of(m), (pdk__change_cb *)cb, arg);
}

int pdk_multilock_fd(pdk_multilock *m) { return pdk__object_fd(object_of(m)); }

int pdk_multilock_next_change(pdk_multilock *m, pdk_state *state, int64_t *token)
{
    int what;
    int rc = state != NULL ? pdk__object_next_change(object_of(m), &what, token) : PDK_EINVAL;
    if (rc == 1)
        *state = (pdk_state)what;
    return rc;
}

size_t pdk_multilock_last_error(pdk_multilock *m, char *buf, size_t size)
{
    return pdk__object_last_error(object_of(m), buf, size);
}
