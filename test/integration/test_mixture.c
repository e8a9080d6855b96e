/* Contenders of different recipes on one path, and of different limits: the second sees it, and can be refused. */
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>

static pdk_client *a, *b;
static _Atomic int n_warned;

static void warn(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    (void)c, (void)level, (void)at_ms, (void)arg;
    n_warned += strstr(text, "contenders of different recipes") != NULL || strstr(text, "different limits") != NULL;
}

static void begin(void)
{
    fixture_begin();
    n_warned = 0;
    pdk_client_options *o = fixture_options(30000);
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_WARNING, warn, NULL), 0);
    a = fixture_client(NULL);
    b = fixture_client(o);
}

static void end(void)
{
    fixture_end(a, NULL);
    fixture_end(b, NULL);
}

/* Options that refuse a mixture, or do not: freed by the one that makes an object. */
static pdk_lock_options *options(bool refuse)
{
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_refuse_mixed(o, refuse), 0);
    return o;
}

static pdk_mutex *mutex_at(pdk_client *c, const char *path, bool refuse)
{
    pdk_mutex *m;
    pdk_lock_options *o = options(refuse);
    CHECK_RC(pdk_mutex_new(&m, c, path, o), 0);
    pdk_lock_options_free(o);
    return m;
}

static pdk_semaphore *semaphore_at(pdk_client *c, const char *path, unsigned limit, bool refuse)
{
    pdk_semaphore *s;
    pdk_lock_options *o = options(refuse);
    CHECK_RC(pdk_semaphore_new(&s, c, path, limit, o), 0);
    pdk_lock_options_free(o);
    return s;
}

static bool tells(pdk_lock *l, const char *text)
{
    char error[512];
    pdk_lock_last_error(l, error, sizeof error);
    return strstr(error, text) != NULL;
}

/* M is refused for the reason TEXT. */
static void check_mutex_refused(pdk_mutex *m, const char *text)
{
    CHECK_RC(pdk_mutex_lock(m), PDK_EMIXED);
    CHECK(tells(m, text));
    CHECK_EQ(pdk_lock_state(m), PDK_FREE);
    CHECK_RC(pdk_lock_free(m), 0);
}

/* --- a semaphore and a mutex ------------------------------------------------------------------------------------- */

static void mutex_beside_permits(void)
{
    pdk_grant *g;
    begin();
    pdk_semaphore *s = semaphore_at(a, fixture.path, 2, false);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &g), 0);
    check_mutex_refused(mutex_at(b, fixture.path, true), "lease-");
    CHECK_WITHIN(LONG_MS, n_warned == 1);
    CHECK_WITHIN(LONG_MS, fixture_children(fixture.path) == 2);
    pdk_mutex *m = mutex_at(b, fixture.path, false);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_WITHIN(LONG_MS, n_warned == 2 && tells(m, "hold") && tells(m, "contenders of different recipes"));
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_RC(pdk_grant_release(g), 0);
    CHECK_RC(pdk_lock_free(s), 0);
    end();
}

/* The parts of a semaphore stay for a while after its last permit. */
static void mutex_where_permits_were(void)
{
    pdk_grant *g;
    begin();
    pdk_semaphore *s = semaphore_at(a, fixture.path, 2, false);
    CHECK_RC(pdk_semaphore_acquire(s, 2, &g), 0);
    CHECK_RC(pdk_grant_release(g), 0);
    pdk_mutex *m = mutex_at(b, fixture.path, true);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(fixture_children(fixture.path), 3);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_EQ(n_warned, 0);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_RC(pdk_lock_free(s), 0);
    end();
}

static void semaphore_refused(pdk_semaphore *s, const char *text)
{
    pdk_grant *g;
    CHECK_RC(pdk_semaphore_acquire(s, 1, &g), PDK_EMIXED);
    CHECK(tells(s, text));
    CHECK_RC(pdk_semaphore_tryacquire(s, 2, &g), PDK_EMIXED);
    CHECK_RC(pdk_semaphore_timedacquire(s, 1, LONG_MS, &g), PDK_EMIXED);
    CHECK_RC(pdk_lock_free(s), 0);
}

static void permits_beside_a_mutex(void)
{
    pdk_grant *g;
    begin();
    pdk_mutex *m = mutex_at(a, fixture.path, true);
    CHECK_RC(pdk_mutex_lock(m), 0);
    semaphore_refused(semaphore_at(b, fixture.path, 2, true), "-lock-");
    CHECK_WITHIN(LONG_MS, n_warned == 3);
    pdk_semaphore *s = semaphore_at(b, fixture.path, 2, false);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &g), 0);
    CHECK_WITHIN(LONG_MS, n_warned == 4 && tells(s, "hold") && tells(s, "contenders of different recipes"));
    CHECK_RC(pdk_grant_release(g), 0);
    CHECK_RC(pdk_lock_free(s), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

static void several_beside_permits(void)
{
    pdk_grant *g;
    char other[160];
    pdk_mutex *m;
    begin();
    snprintf(other, sizeof other, "%s-0", fixture.path);
    const char *paths[] = {other, fixture.path};
    pdk_semaphore *s = semaphore_at(a, fixture.path, 2, false);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &g), 0);
    pdk_lock_options *o = options(true);
    CHECK_RC(pdk_mutex_new_several(&m, b, paths, 2, o), 0);
    pdk_lock_options_free(o);
    CHECK_RC(pdk_mutex_lock(m), PDK_EMIXED);
    CHECK_WITHIN(LONG_MS, fixture_children(other) == 0);
    CHECK_RC(pdk_grant_release(g), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_RC(pdk_lock_free(s), 0);
    end();
    fixture_delete_all(other);
}

/* --- limits ------------------------------------------------------------------------------------------------------ */

static void another_limit(void)
{
    pdk_grant *g, *h;
    begin();
    pdk_semaphore *s = semaphore_at(a, fixture.path, 2, true), *t = semaphore_at(b, fixture.path, 3, false);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &g), 0);
    semaphore_refused(semaphore_at(b, fixture.path, 3, true), "2 in another's permit, 3 here");
    CHECK_RC(pdk_semaphore_acquire(t, 1, &h), 0);
    CHECK_WITHIN(LONG_MS, tells(t, "2 in another's permit, 3 here"));
    CHECK_RC(pdk_grant_release(h), 0);
    CHECK_RC(pdk_lock_free(t), 0);
    t = semaphore_at(b, fixture.path, 2, true);
    CHECK_RC(pdk_semaphore_acquire(t, 1, &h), 0);
    CHECK_RC(pdk_grant_release(h), 0);
    CHECK_RC(pdk_grant_release(g), 0);
    CHECK_RC(pdk_lock_free(s), 0);
    CHECK_RC(pdk_lock_free(t), 0);
    end();
}

/* Permits of before a change of the node have the limit of then. */
static void followed(void)
{
    pdk_grant *g, *h;
    char count[160];
    begin();
    snprintf(count, sizeof count, "%s-count", fixture.path);
    fixture_make(count, NULL, ZOO_PERSISTENT, NULL);
    CHECK_EQ(zoo_set(fixture.zh, count, "\0\0\0\3", 4, -1), ZOK);
    pdk_semaphore *s = semaphore_at(a, fixture.path, 2, true), *t = semaphore_at(b, fixture.path, 1, true);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &g), 0);
    CHECK_RC(pdk_semaphore_follow(t, count), 0);
    CHECK_EQ(pdk_semaphore_limit(t), 3);
    CHECK_RC(pdk_semaphore_acquire(t, 1, &h), 0);
    CHECK_RC(pdk_grant_release(h), 0);
    CHECK_RC(pdk_grant_release(g), 0);
    CHECK_RC(pdk_lock_free(s), 0);
    CHECK_RC(pdk_lock_free(t), 0);
    end();
    fixture_delete_all(count);
}

/* --- what goes together, and what does not ----------------------------------------------------------------------- */

static void mutex_and_rwlock(void)
{
    pdk_rwlock *rw;
    begin();
    pdk_lock_options *o = options(true);
    CHECK_RC(pdk_rwlock_new(&rw, a, fixture.path, o), 0);
    pdk_lock_options_free(o);
    pdk_mutex *m = mutex_at(b, fixture.path, true);
    CHECK_RC(pdk_rwlock_rdlock(rw), 0);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EBUSY);
    CHECK_RC(pdk_rwlock_unlock(rw), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_EQ(n_warned, 0);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_RC(pdk_lock_free(rw), 0);
    end();
}

/* It is refused at once, and not when it would be granted. */
static void latch_beside_a_mutex(void)
{
    pdk_leader *l;
    begin();
    pdk_mutex *m = mutex_at(a, fixture.path, true);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_refuse_mixed(o, true), 0);
    CHECK_RC(pdk_leader_new(&l, b, fixture.path, PDK_LATCH, o), 0);
    pdk_lock_options_free(o);
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_RC(pdk_leader_wait(l, LONG_MS), PDK_EMIXED);
    CHECK(tells(l, "-lock-"));
    CHECK_WITHIN(LONG_MS, fixture_children(fixture.path) == 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_RC(pdk_leader_wait(l, LONG_MS), 0);
    check_mutex_refused(mutex_at(a, fixture.path, true), "latch-");
    CHECK_RC(pdk_leader_resign(l), 0);
    CHECK_RC(pdk_lock_free(l), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

static void nested(void)
{
    char locks[160], leases[160];
    begin();
    snprintf(locks, sizeof locks, "%s/locks", fixture.path);
    snprintf(leases, sizeof leases, "%s/leases", fixture.path);
    pdk_mutex *outer = mutex_at(a, fixture.path, true), *inner = mutex_at(b, locks, true),
              *other = mutex_at(a, leases, true);
    CHECK_RC(pdk_mutex_lock(inner), 0);
    CHECK_RC(pdk_mutex_lock(outer), 0);
    CHECK_RC(pdk_mutex_unlock(outer), 0);
    CHECK_RC(pdk_mutex_lock(other), 0);
    CHECK_RC(pdk_mutex_lock(outer), 0);
    CHECK_RC(pdk_mutex_unlock(outer), 0);
    CHECK_RC(pdk_mutex_unlock(inner), 0);
    CHECK_RC(pdk_mutex_unlock(other), 0);
    CHECK_EQ(n_warned, 0);
    CHECK_RC(pdk_lock_free(outer), 0);
    CHECK_RC(pdk_lock_free(inner), 0);
    CHECK_RC(pdk_lock_free(other), 0);
    end();
}

/* --- disturbed --------------------------------------------------------------------------------------------------- */

/* The connection breaks before the answer: it is asked again. */
static void cut_while_it_asks(void)
{
    pdk_grant *g;
    begin();
    pdk_mutex *m = mutex_at(a, fixture.path, false);
    CHECK_RC(pdk_mutex_lock(m), 0);
    struct peer p = peer_proxied();
    pdk_semaphore *s = semaphore_at(p.client, fixture.path, 2, true);
    /* The listings: of the gate and of the leases twice each, for they are missing, and the fifth, of the path. */
    struct pdk__proxy_rule cut = {.op = PDK__OP_LIST, .nth = 5, .act = PDK__CUT_BEFORE_REPLY};
    int rule = pdk__proxy_rule(p.proxy, &cut);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &g), PDK_EMIXED);
    CHECK_EQ(pdk__proxy_hits(p.proxy, rule), 1);
    CHECK_RC(pdk_lock_free(s), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    peer_free(&p);
    end();
}

static void arguments(void) { CHECK_RC(pdk_lock_options_set_refuse_mixed(NULL, true), PDK_EINVAL); }

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a mutex beside a semaphore's permits", mutex_beside_permits},
        {"a mutex where a semaphore's permits were", mutex_where_permits_were},
        {"permits beside a mutex", permits_beside_a_mutex},
        {"several paths, one of them a semaphore's", several_beside_permits},
        {"a semaphore beside one of another limit", another_limit},
        {"a limit that follows a node is not compared", followed},
        {"a mutex and a read/write lock go together", mutex_and_rwlock},
        {"a latch beside a mutex is refused at once, and a mutex beside a latch", latch_beside_a_mutex},
        {"nested locks are no mixture", nested},
        {"a connection that breaks while it asks", cut_while_it_asks},
        {"nonsense is refused", arguments},
        {0},
    };
    return fixture_main(argc, argv, "mixture", tests, ON_ONE);
}
