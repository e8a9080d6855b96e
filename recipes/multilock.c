#include "paddock/multilock.h"
#include "lib/alloc.h"
#include "lib/core/path.h"
#include "recipes/held.h"
#include "recipes/lock.h"
#include <string.h>

/* An identity has fewer bytes: its host and its label have 255 each, and six for each of those in JSON. */
enum { IDENTITY_MAX = 4096 };

/* --- the object -------------------------------------------------------------------------------------------------- */

struct pdk__multilock {
    struct pdk__holds holds;
    char **paths;     /* sorted */
    unsigned *places; /* of each path, as given, among the sorted ones */
};

static struct pdk__multilock *at(const struct pdk_lock *l) { return PDK__MEMBER(l, struct pdk__multilock, holds.lock); }

/* The paths of a new object. */
struct making {
    const char *const *paths;
    unsigned n;
};

static void clear(struct pdk_lock *l)
{
    struct pdk__multilock *m = at(l);
    pdk__holds_clear(l);
    for (unsigned i = 0; i < m->holds.sites.n && m->paths != NULL; i++)
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
    static const struct pdk__verbs verbs = {
        .acquire = "lock", .attempt = "trylock", .keep = "hold", .release = "unlock", .names_path = true};
    struct pdk__multilock *m = at(l);
    const struct making *making = arg;
    int rc = 0;
    pdk__holds_init(l);
    m->paths = pdk__alloc(making->n * sizeof *m->paths);
    m->places = pdk__alloc(making->n * sizeof *m->places);
    m->holds.verbs = &verbs;
    m->holds.sites = (struct pdk__sites){.n = making->n, .paths = (const char *const *)m->paths, .numbers = m->places};
    if (m->paths == NULL || m->places == NULL)
        rc = PDK_ENOMEM;
    for (unsigned i = 0; i < making->n && rc == 0; i++)
        rc = insert(m, i, making->paths[i]);
    return rc;
}

static const struct pdk__lock_kind kind = {.object = {PDK__LOCK_OBJECT(struct pdk__multilock, "make a multi-lock for"),
                                                      .asked = pdk__holds_asked, .waiting = pdk__holds_waiting},
                                           .name = "a multi-lock",
                                           .kind = PDK__MULTILOCK,
                                           .init = init,
                                           .clear = clear,
                                           .in_use = pdk__holds_in_use,
                                           .drop = pdk__holds_drop_all,
                                           .is_several = true};

static struct pdk__holds *holds_of(pdk_multilock *l) { return pdk__holds_of(l, &kind); }

/* Can one transaction carry them? */
static bool fits(const char *const *paths, unsigned n, const pdk_lock_options *opts)
{
    size_t bytes = 0, data_size = opts != NULL && opts->data != NULL ? opts->data_size : IDENTITY_MAX;
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

/* --- lock and unlock --------------------------------------------------------------------------------------------- */

int pdk_multilock_lock(pdk_multilock *m) { return pdk_multilock_timedlock(m, PDK_FOREVER); }

int pdk_multilock_trylock(pdk_multilock *m) { return pdk__trylock(holds_of(m), &pdk__rule_mutex); }

int pdk_multilock_timedlock(pdk_multilock *m, int64_t timeout_ms)
{
    return pdk__lock(holds_of(m), &pdk__rule_mutex, timeout_ms);
}

int pdk_multilock_lock_async(pdk_multilock *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    return pdk__lock_async(holds_of(m), (struct pdk__lock_call){.wish.rule = &pdk__rule_mutex, .cb = cb, .arg = arg},
                           timeout_ms, g);
}

int pdk_multilock_unlock(pdk_multilock *m) { return pdk__unlock(holds_of(m), &pdk__rule_mutex); }

int pdk_multilock_unlock_async(pdk_multilock *m, pdk_lock_cb cb, void *arg)
{
    return pdk__unlock_async(holds_of(m), &pdk__rule_mutex, cb, arg);
}

/* --- questions about a path -------------------------------------------------------------------------------------- */

/* Its sites; NULL: there is no path I. */
static const struct pdk__sites *sites_of(pdk_multilock *l, unsigned i)
{
    const struct pdk__holds *h = holds_of(l);
    return h != NULL && i < h->sites.n ? &h->sites : NULL;
}

unsigned pdk_multilock_count(pdk_multilock *l)
{
    const struct pdk__sites *sites = sites_of(l, 0);
    return sites != NULL ? sites->n : 0;
}

const char *pdk_multilock_path(pdk_multilock *l, unsigned i)
{
    const struct pdk__sites *sites = sites_of(l, i);
    return sites != NULL ? sites->paths[sites->numbers[i]] : NULL;
}

int pdk_multilock_token(pdk_multilock *l, unsigned i, int64_t *token)
{
    int rc = token != NULL && sites_of(l, i) != NULL ? pdk__object_ask(&l->object) : PDK_EINVAL;
    if (rc != 0)
        return rc;
    struct pdk__hold *hold = pdk__holds_asked(&l->object);
    if (hold != NULL)
        *token = pdk__hold_part(hold, i)->token;
    pdk__object_leave(&l->object);
    return hold != NULL ? 0 : PDK_EPERM;
}

size_t pdk_multilock_node(pdk_multilock *l, unsigned i, char *buf, size_t size)
{
    return sites_of(l, i) != NULL ? pdk__asked_node(&l->object, i, buf, size) : pdk__incident_copy(buf, size, "");
}

int pdk_multilock_guard(pdk_multilock *l, unsigned i, struct zoo_op *check)
{
    return sites_of(l, i) != NULL ? pdk__asked_guard(&l->object, i, check) : PDK_EINVAL;
}
