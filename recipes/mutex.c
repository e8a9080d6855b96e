#include "paddock/mutex.h"
#include "lib/alloc.h"
#include "lib/core/path.h"
#include "lib/zk/transaction.h"
#include "recipes/handover.h"
#include "recipes/verbs.h"
#include <string.h>

/* --- of one path ------------------------------------------------------------------------------------------------- */

static const struct pdk__lock_kind kind = {.object = {PDK__LOCK_OBJECT(struct pdk__lockable, "make a mutex for"),
                                                      .asked = pdk__lockable_asked, .waiting = pdk__lockable_waiting},
                                           .name = "a mutex",
                                           .kind = PDK__MUTEX,
                                           .init = pdk__handover_init,
                                           .clear = pdk__lockable_clear,
                                           .in_use = pdk__lockable_in_use,
                                           .drop = pdk__lockable_drop_all};

int pdk_mutex_new(pdk_mutex **out, pdk_client *c, const char *path, const pdk_lock_options *opts)
{
    return pdk__lock_new(out, c, path, &kind, opts, NULL);
}

/* --- of several paths -------------------------------------------------------------------------------------------- */

/* An identity has fewer bytes: its host and its label have 255 each, and six for each of those in JSON. */
enum { IDENTITY_MAX = 4096 };

struct several {
    struct pdk__lockable lockable;
    char **paths;     /* sorted */
    unsigned *places; /* of each path, as given, among the sorted ones */
};

static struct several *at(const struct pdk_lock *l) { return PDK__MEMBER(l, struct several, lockable.lock); }

/* The paths of a new object. */
struct making {
    const char *const *paths;
    unsigned n;
};

static void clear_several(struct pdk_lock *l)
{
    struct several *m = at(l);
    pdk__lockable_clear(l);
    for (unsigned i = 0; i < m->lockable.sites.n && m->paths != NULL; i++)
        pdk__free(m->paths[i]);
    pdk__free(m->paths);
    pdk__free(m->places);
}

/* Copy PATH to its place among the N before it. */
static int insert(struct several *m, unsigned n, const char *path)
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

static int init_several(struct pdk_lock *l, const void *arg)
{
    static const struct pdk__verbs verbs = {
        .acquire = "lock", .attempt = "trylock", .keep = "hold", .release = "unlock", .names_path = true};
    struct several *m = at(l);
    const struct making *making = arg;
    int rc = 0;
    pdk__lockable_init(l);
    m->paths = pdk__alloc(making->n * sizeof *m->paths);
    m->places = pdk__alloc(making->n * sizeof *m->places);
    m->lockable.verbs = &verbs;
    m->lockable.sites = (struct pdk__sites){
        .n = making->n, .paths = (const char *const *)m->paths, .numbers = m->places};
    if (m->paths == NULL || m->places == NULL)
        rc = PDK_ENOMEM;
    for (unsigned i = 0; i < making->n && rc == 0; i++)
        rc = insert(m, i, making->paths[i]);
    return rc;
}

static const struct pdk__sites *several_sites(const struct pdk_lock *l) { return &at(l)->lockable.sites; }

static const struct pdk__lock_kind several_kind = {.object = {PDK__LOCK_OBJECT(struct several, "make a multi-lock for"),
                                                              .asked = pdk__lockable_asked,
                                                              .waiting = pdk__lockable_waiting},
                                                   .name = "a multi-lock",
                                                   .kind = PDK__MULTILOCK,
                                                   .as = &kind,
                                                   .init = init_several,
                                                   .clear = clear_several,
                                                   .in_use = pdk__lockable_in_use,
                                                   .drop = pdk__lockable_drop_all,
                                                   .several = several_sites};

/* Can one transaction carry them? */
static bool fits(const char *const *paths, unsigned n, const pdk_lock_options *opts)
{
    size_t bytes = 0, data_size = opts != NULL && opts->data != NULL ? opts->data_size : IDENTITY_MAX;
    for (unsigned i = 0; i < n; i++)
        bytes += strlen(paths[i]) + PDK__NAME_MAX + data_size;
    return bytes <= PDK__TRANSACTION_BYTES_MAX;
}

static int check_paths(const char *const *paths, unsigned n)
{
    if (paths == NULL || n < 1 || n > PDK_MUTEX_PATHS_MAX)
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

int pdk_mutex_new_several(pdk_mutex **out, pdk_client *c, const char *const *paths, unsigned n,
                          const pdk_lock_options *opts)
{
    struct making making = {.paths = paths, .n = n};
    int rc = check_paths(paths, n);
    if (rc == 0 && !fits(paths, n, opts))
        rc = PDK_EINVAL;
    return rc == 0 ? pdk__lock_new(out, c, paths[0], &several_kind, opts, &making) : rc;
}

/* --- lock and unlock --------------------------------------------------------------------------------------------- */

static struct pdk__lockable *lockable_of(pdk_mutex *m) { return pdk__lockable_of(m, &kind); }

int pdk_mutex_lock(pdk_mutex *m) { return pdk__lock(lockable_of(m), &pdk__rule_mutex, PDK_FOREVER); }

int pdk_mutex_trylock(pdk_mutex *m) { return pdk__trylock(lockable_of(m), &pdk__rule_mutex); }

int pdk_mutex_timedlock(pdk_mutex *m, int64_t timeout_ms)
{
    return pdk__lock(lockable_of(m), &pdk__rule_mutex, timeout_ms);
}

int pdk_mutex_lock_async(pdk_mutex *m, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    return pdk__lock_async(lockable_of(m), (struct pdk__lock_call){.wish.rule = &pdk__rule_mutex, .cb = cb, .arg = arg},
                           timeout_ms, g);
}

int pdk_mutex_unlock(pdk_mutex *m) { return pdk__unlock(lockable_of(m), &pdk__rule_mutex); }

int pdk_mutex_unlock_async(pdk_mutex *m, pdk_lock_cb cb, void *arg)
{
    return pdk__unlock_async(lockable_of(m), &pdk__rule_mutex, cb, arg);
}
