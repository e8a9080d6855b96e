#include "test/integration/kinds.h"

#include <stdio.h>
#include <string.h>

enum { PERMITS = 2 };

/* --- the rows ---------------------------------------------------------------------------------------------------- */

static int new_mutex(pdk_lock **l, pdk_client *c, const char *const *paths, const pdk_lock_options *o)
{
    return pdk_mutex_new(l, c, paths[0], o);
}

static int new_rwlock(pdk_lock **l, pdk_client *c, const char *const *paths, const pdk_lock_options *o)
{
    return pdk_rwlock_new(l, c, paths[0], o);
}

static int new_semaphore(pdk_lock **l, pdk_client *c, const char *const *paths, const pdk_lock_options *o)
{
    return pdk_semaphore_new(l, c, paths[0], PERMITS, o);
}

static int new_multilock(pdk_lock **l, pdk_client *c, const char *const *paths, const pdk_lock_options *o)
{
    return pdk_mutex_new_several(l, c, paths, 2, o);
}

static int new_leader(pdk_lock **l, pdk_client *c, const char *const *paths, const pdk_lock_options *o)
{
    return pdk_leader_new(l, c, paths[0], PDK_LATCH, o);
}

/* Verbs that have no handle. */
#define PLAIN(name, verb)                                                                                              \
    static int name(pdk_lock *l, pdk_grant **g)                                                                        \
    {                                                                                                                  \
        (void)g;                                                                                                       \
        return verb(l);                                                                                                \
    }
#define PLAIN_TIMED(name, verb)                                                                                        \
    static int name(pdk_lock *l, int64_t timeout_ms, pdk_grant **g)                                                    \
    {                                                                                                                  \
        (void)g;                                                                                                       \
        return verb(l, timeout_ms);                                                                                    \
    }

PLAIN(mutex_lock, pdk_mutex_lock)
PLAIN(mutex_try, pdk_mutex_trylock)
PLAIN_TIMED(mutex_timed, pdk_mutex_timedlock)
PLAIN(read_lock, pdk_rwlock_rdlock)
PLAIN(read_try, pdk_rwlock_tryrdlock)
PLAIN_TIMED(read_timed, pdk_rwlock_timedrdlock)
PLAIN(write_lock, pdk_rwlock_wrlock)
PLAIN(write_try, pdk_rwlock_trywrlock)
PLAIN_TIMED(write_timed, pdk_rwlock_timedwrlock)

static int acquire(pdk_lock *l, pdk_grant **g) { return pdk_semaphore_acquire(l, PERMITS, g); }

static int acquire_try(pdk_lock *l, pdk_grant **g) { return pdk_semaphore_tryacquire(l, PERMITS, g); }

static int acquire_timed(pdk_lock *l, int64_t timeout_ms, pdk_grant **g)
{
    return pdk_semaphore_timedacquire(l, PERMITS, timeout_ms, g);
}

static int acquire_async(pdk_lock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    return pdk_semaphore_acquire_async(l, PERMITS, timeout_ms, cb, arg, g);
}

static int stand(pdk_lock *l, int64_t timeout_ms, pdk_lock_cb cb, void *arg, pdk_grant **g)
{
    (void)timeout_ms, (void)cb, (void)arg, (void)g;
    return pdk_leader_start(l);
}

static int lead_in_time(pdk_lock *l, int64_t timeout_ms, pdk_grant **g)
{
    int rc = stand(l, 0, NULL, NULL, g);
    return rc != 0 ? rc : pdk_leader_wait(l, timeout_ms);
}

static int lead(pdk_lock *l, pdk_grant **g) { return lead_in_time(l, PDK_FOREVER, g); }

const struct kind kinds[N_KINDS] = {
    [MUTEX] = {"a mutex", OWNED | HANDLED, MUTEX, 1, 1, 1, new_mutex, mutex_lock, mutex_try, mutex_timed,
               pdk_mutex_lock_async, pdk_mutex_unlock, pdk_mutex_unlock_async},
    [READER] = {"a read/write lock", OWNED | HANDLED, WRITER, 1, 1, 1, new_rwlock, read_lock, read_try, read_timed,
                pdk_rwlock_rdlock_async, pdk_rwlock_unlock, pdk_rwlock_unlock_async},
    [WRITER] = {"a read/write lock", OWNED | HANDLED, WRITER, 1, 1, 1, new_rwlock, write_lock, write_try, write_timed,
                pdk_rwlock_wrlock_async, pdk_rwlock_unlock, pdk_rwlock_unlock_async},
    [SEMAPHORE] = {"a semaphore", HANDLED, SEMAPHORE, 1, PERMITS, PERMITS + 1, new_semaphore, acquire, acquire_try,
                   acquire_timed, acquire_async, NULL, NULL},
    [MULTILOCK] = {"a multi-lock", OWNED | HANDLED, MULTILOCK, 2, 2, 2, new_multilock, mutex_lock, mutex_try,
                   mutex_timed, pdk_mutex_lock_async, pdk_mutex_unlock, pdk_mutex_unlock_async},
    [LEADER] = {"a leader", 0, LEADER, 1, 1, 1, new_leader, lead, NULL, lead_in_time, stand, pdk_leader_resign,
                pdk_leader_resign_async},
};

/* --- nodes ------------------------------------------------------------------------------------------------------- */

static int nodes_below(const char *path)
{
    int n = fixture_children(path);
    return n > 0 ? n : 0;
}

int kind_nodes(const struct kind *k, const char *const *paths)
{
    char leases[160], gate[160];
    if (k != &kinds[SEMAPHORE])
        return nodes_below(paths[0]) + (k->n_paths == 2 ? nodes_below(paths[1]) : 0);
    snprintf(leases, sizeof leases, "%s/leases", paths[0]);
    snprintf(gate, sizeof gate, "%s/locks", paths[0]);
    return nodes_below(leases) + nodes_below(gate);
}

void kind_delete(const struct kind *k, const char *const *paths)
{
    static const char *const parts[] = {"leases", "locks"};
    char part[160];
    for (int i = 0; i < 2 && k == &kinds[SEMAPHORE]; i++) {
        snprintf(part, sizeof part, "%s/%s", paths[0], parts[i]);
        fixture_delete_all(part);
    }
    for (unsigned i = 0; i < k->n_paths; i++)
        fixture_delete_all(paths[i]);
}

/* --- holds ------------------------------------------------------------------------------------------------------- */

static void begin(struct hold *h, const struct kind *k, pdk_lock *l)
{
    h->kind = k;
    h->lock = l;
    h->grant = NULL;
    atomic_store(&h->n_told, 0);
    atomic_store(&h->rc, 1);
}

int hold_lock(struct hold *h, const struct kind *k, pdk_lock *l)
{
    begin(h, k, l);
    return k->lock(l, &h->grant);
}

int hold_try(struct hold *h, const struct kind *k, pdk_lock *l)
{
    begin(h, k, l);
    return k->try(l, &h->grant);
}

int hold_timed(struct hold *h, const struct kind *k, pdk_lock *l, int64_t timeout_ms)
{
    begin(h, k, l);
    return k->timed(l, timeout_ms, &h->grant);
}

static void told(int rc, void *arg)
{
    struct hold *h = arg;
    atomic_store(&h->rc, rc);
    atomic_fetch_add(&h->n_told, 1);
}

void hold_ask(struct hold *h, const struct kind *k, pdk_lock *l, int64_t timeout_ms)
{
    begin(h, k, l);
    CHECK_RC(k->async(l, timeout_ms, told, h, &h->grant), 0);
}

int hold_told(struct hold *h)
{
    if ((h->kind->has & HANDLED) != 0)
        return atomic_load(&h->rc);
    int rc = pdk_leader_wait(h->lock, 0);
    return rc != PDK_ETIMEDOUT ? rc : 1;
}

pdk_state hold_state(const struct hold *h)
{
    return h->grant != NULL ? pdk_grant_state(h->grant) : pdk_lock_state(h->lock);
}

int64_t hold_valid_ms(const struct hold *h)
{
    return h->grant != NULL ? pdk_grant_valid_ms(h->grant) : pdk_lock_valid_ms(h->lock);
}

int64_t hold_token(const struct hold *h)
{
    int64_t token = 0;
    CHECK_RC(h->grant != NULL ? pdk_grant_token(h->grant, &token, NULL) : pdk_lock_token(h->lock, &token, NULL), 0);
    return token;
}

int hold_guard(const struct hold *h, unsigned i, zoo_op_t *op)
{
    return h->grant != NULL ? pdk_grant_guard(h->grant, i, op) : pdk_lock_guard(h->lock, i, op);
}

const char *hold_node(const struct hold *h, unsigned i)
{
    static _Thread_local char whole[512];
    char name[256] = "";
    size_t size = h->grant != NULL ? pdk_grant_node(h->grant, i, name, sizeof name)
                                   : pdk_lock_node(h->lock, i, name, sizeof name);
    CHECK(size > 0 && size == strlen(name));
    bool permits = h->kind == &kinds[SEMAPHORE];
    snprintf(whole, sizeof whole, "%s/%s%s", pdk_lock_path(h->lock, permits ? 0 : i), permits ? "leases/" : "", name);
    return whole;
}

void hold_check(const struct hold *h, pdk_client *c)
{
    int64_t largest = 0;
    struct Stat stat;
    CHECK_EQ(hold_state(h), PDK_HELD);
    CHECK(hold_valid_ms(h) > 0 && hold_valid_ms(h) <= pdk_client_session_timeout_ms(c));
    (void)fixture_nodes(); /* the server of the test's own handle may lag */
    for (unsigned i = 0; i < h->kind->n_nodes; i++) {
        CHECK_EQ(zoo_exists(fixture.zh, hold_node(h, i), 0, &stat), ZOK);
        CHECK_EQ(stat.ephemeralOwner, pdk_client_session_id(c));
        largest = stat.czxid > largest ? stat.czxid : largest;
    }
    CHECK_EQ(hold_token(h), largest);
}

int hold_release(struct hold *h)
{
    pdk_grant *g = h->grant;
    h->grant = NULL;
    return g != NULL ? pdk_grant_release(g) : h->kind->unlock(h->lock);
}

int hold_release_async(struct hold *h)
{
    pdk_grant *g = h->grant;
    begin(h, h->kind, h->lock);
    return g != NULL ? pdk_grant_release_async(g, told, h) : h->kind->unlock_async(h->lock, told, h);
}
