/* Releases that are not waited for; and threads that take turns under one node. */
#include "recipes/lockable.h"
#include "test/lib/fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* SOON_MS is less than a twentieth of LONG_SESSION_MS, for which the node of a lock is not watched. */
enum { LONG_SESSION_MS = 600000, SOON_MS = 20000 };

static struct peer a, b;

/* --- releases that are not waited for ---------------------------------------------------------------------------- */

static pdk_mutex *nowait_mutex(pdk_client *c)
{
    pdk_mutex *m;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_unlock_nowait(o, true), 0);
    CHECK_RC(pdk_mutex_new(&m, c, fixture.path, o), 0);
    pdk_lock_options_free(o);
    return m;
}

static void begin(void)
{
    fixture_begin();
    fixture_make(fixture.path, "", ZOO_PERSISTENT, NULL);
    a = peer_proxied();
    CHECK_RC(pdk_lock_free(a.mutex), 0);
    a.mutex = nowait_mutex(a.client);
    b = peer_new(0);
}

static void end(void)
{
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_EQ(fixture_nodes(), 0);
    peer_free(&a);
    peer_free(&b);
}

static int rule(int op, pdk__act act)
{
    return pdk__proxy_rule(a.proxy, &(struct pdk__proxy_rule){.op = op, .act = act});
}

/* The reply to the delete is held back: the unlock does not wait for it, and the flush does. */
static void flush_waits(void)
{
    begin();
    CHECK_RC(pdk_client_flush(a.client, 0), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_client_flush(a.client, 0), 0); /* a lock that is held is none of its business */
    int held = rule(PDK__OP_DELETE, PDK__HOLD_REPLY);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_FREE);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    CHECK_RC(pdk_client_flush(a.client, 0), PDK_ETIMEDOUT);
    CHECK_RC(pdk_client_flush(a.client, 20), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(a.proxy, held) == 1);
    CHECK_EQ(fixture_nodes(), 0);
    pdk__proxy_release(a.proxy, held);
    CHECK_RC(pdk_client_flush(a.client, PDK_FOREVER), 0);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_DELETE), 1);
    end();
}

/* Nothing of the next lock waits for the answer to the delete. */
static void next_lock(void)
{
    begin();
    for (int i = 0; i < 10; i++) {
        CHECK_RC(pdk_mutex_lock(a.mutex), 0);
        CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
        CHECK_RC(pdk_mutex_trylock(a.mutex), 0);
        CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    }
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_DELETE), 20);
    end();
}

static void repeated(pdk__act act)
{
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    int cut = rule(PDK__OP_DELETE, act);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0); /* behind its own earlier node, if that is there */
    CHECK_LAW(peer_token(&a) > token);
    CHECK_EQ(pdk__proxy_hits(a.proxy, cut), 1);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

static void reply_lost(void) { repeated(PDK__CUT_BEFORE_REPLY); }
static void request_lost(void) { repeated(PDK__CUT_BEFORE); }
static void reply_unknown(void) { repeated(PDK__CUT_AFTER_FORWARD); }

static void hands_over(void)
{
    struct request w;
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_queued(&w, &b, PDK_FOREVER, 2);
    rule(PDK__OP_DELETE, PDK__CUT_BEFORE);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&w, 0);
    request_end(&w, 0);
    end();
}

/* Another client has deleted the node, and the holder does not know it yet. */
static void failure_told_later(void)
{
    char text[256], node[128];
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk_lock_node(a.mutex, 0, node, sizeof node);
    pdk__proxy_hold(a.proxy, PDK__TO_CLIENT, true);
    fixture_delete_below(fixture.path, node);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_EQ(pdk_lock_last_error(a.mutex, text, sizeof text), 0);
    pdk__proxy_hold(a.proxy, PDK__TO_CLIENT, false);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK(pdk_lock_last_error(a.mutex, text, sizeof text) > 0);
    CHECK_EQ(strncmp(text, "unlock ", 7), 0);
    end();
}

/* The object is gone, the release goes on. */
static void freed_meanwhile(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    rule(PDK__OP_DELETE, PDK__CUT_BEFORE);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_lock_free(a.mutex), 0);
    a.mutex = NULL;
    end();
}

static void closed_meanwhile(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    rule(PDK__OP_DELETE, PDK__SWALLOW_REQUEST);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_client_close(a.client), 0);
    CHECK_EQ(fixture_nodes(), 0);
    CHECK_RC(pdk_client_flush(a.client, 0), PDK_ECLOSED);
    peer_free(&a);
    peer_free(&b);
}

/* --- the flush --------------------------------------------------------------------------------------------------- */

struct flush {
    pthread_t thread;
    atomic_int rc; /* 1: not back yet */
};

static void *flush_run(void *arg)
{
    struct flush *f = arg;
    atomic_store(&f->rc, pdk_client_flush(a.client, PDK_FOREVER));
    return NULL;
}

static void flush_start(struct flush *f)
{
    atomic_store(&f->rc, 1);
    CHECK_EQ(pthread_create(&f->thread, NULL, flush_run, f), 0);
}

/* A lock whose caller gives up is a release, too. */
static void abandoned(void)
{
    begin();
    int held = rule(PDK__OP_CREATE2, PDK__HOLD_REPLY);
    CHECK_RC(pdk_mutex_timedlock(a.mutex, 20), PDK_ETIMEDOUT);
    CHECK_RC(pdk_client_flush(a.client, 20), PDK_ETIMEDOUT);
    pdk__proxy_release(a.proxy, held);
    end();
}

static bool flushes(void)
{
    CHECK_RC(pdk__client_enter(a.client), 0);
    bool yes = a.client->releases.n_flushing > 0;
    pdk__client_leave(a.client);
    return yes;
}

/* A release that begins later is not waited for: the answer to its delete is held back. */
static void flush_ends(void)
{
    struct flush f;
    begin();
    pdk_mutex *first = a.mutex;
    snprintf(fixture.path, sizeof fixture.path, "%s", fixture_path());
    pdk_mutex *second = nowait_mutex(a.client);
    CHECK_RC(pdk_mutex_lock(first), 0);
    CHECK_RC(pdk_mutex_lock(second), 0);
    int held = rule(PDK__OP_DELETE, PDK__HOLD_REPLY);
    CHECK_RC(pdk_mutex_unlock(first), 0);
    flush_start(&f);
    CHECK_WITHIN(LONG_MS, flushes() && pdk__proxy_hits(a.proxy, held) == 1);
    int later = rule(PDK__OP_DELETE, PDK__HOLD_REPLY);
    CHECK_RC(pdk_mutex_unlock(second), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(a.proxy, PDK__OP_DELETE) == 2);
    CHECK_EQ(f.rc, 1);
    pdk__proxy_release(a.proxy, held);
    CHECK_WITHIN(LONG_MS, atomic_load(&f.rc) != 1);
    pthread_join(f.thread, NULL);
    CHECK_RC(f.rc, 0);
    CHECK_RC(pdk_client_flush(a.client, 0), PDK_ETIMEDOUT);
    pdk__proxy_release(a.proxy, later);
    CHECK_RC(pdk_lock_free(second), 0);
    end();
}

static void cancelled_flush(void)
{
    struct flush f;
    void *result;
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int held = rule(PDK__OP_DELETE, PDK__HOLD_REPLY);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    flush_start(&f);
    CHECK_EQ(pthread_cancel(f.thread), 0);
    CHECK_EQ(pthread_join(f.thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
    pdk__proxy_release(a.proxy, held);
    end();
}

static void closed_flush(void)
{
    struct flush f;
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    rule(PDK__OP_DELETE, PDK__SWALLOW_REQUEST);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    flush_start(&f);
    CHECK_RC(pdk_client_close(a.client), 0);
    pthread_join(f.thread, NULL);
    CHECK_RC(f.rc, PDK_ECLOSED);
    CHECK_EQ(fixture_nodes(), 0);
    peer_free(&a);
    peer_free(&b);
}

static void flush_in_callback(int rc, void *arg)
{
    CHECK_RC(rc, 0);
    atomic_store((atomic_int *)arg, pdk_client_flush(a.client, 0));
}

static void deadlock(void)
{
    atomic_int rc = 1;
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock_async(a.mutex, flush_in_callback, &rc), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&rc) != 1);
    CHECK_RC(rc, PDK_EDEADLK);
    CHECK_RC(pdk_client_flush(NULL, 0), PDK_EINVAL);
    end();
}

/* --- the other locks --------------------------------------------------------------------------------------------- */

static void rwlock(void)
{
    pdk_rwlock *l;
    pdk_lock_options *o = pdk_lock_options_new();
    begin();
    CHECK_RC(pdk_lock_options_set_unlock_nowait(o, true), 0);
    CHECK_RC(pdk_rwlock_new(&l, a.client, fixture.path, o), 0);
    pdk_lock_options_free(o);
    int held = rule(PDK__OP_DELETE, PDK__HOLD_REPLY);
    CHECK_RC(pdk_rwlock_rdlock(l), 0);
    CHECK_RC(pdk_rwlock_unlock(l), 0);
    CHECK_RC(pdk_client_flush(a.client, 0), PDK_ETIMEDOUT);
    pdk__proxy_release(a.proxy, held);
    CHECK_RC(pdk_rwlock_wrlock(l), 0);
    CHECK_RC(pdk_rwlock_rdlock(l), 0);
    CHECK_RC(pdk_rwlock_unlock(l), 0);
    CHECK_RC(pdk_rwlock_unlock(l), 0);
    CHECK_RC(pdk_lock_free(l), 0);
    end();
}

static void multilock(void)
{
    pdk_mutex *m;
    pdk_lock_options *o = pdk_lock_options_new();
    begin();
    const char *paths[] = {fixture.path, fixture_path()};
    CHECK_RC(pdk_lock_options_set_unlock_nowait(o, true), 0);
    CHECK_RC(pdk_mutex_new_several(&m, a.client, paths, 2, o), 0);
    pdk_lock_options_free(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    int held = rule(PDK__OP_MULTI, PDK__HOLD_REPLY);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_client_flush(a.client, 0), PDK_ETIMEDOUT);
    pdk__proxy_release(a.proxy, held);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_EQ(fixture_children(paths[0]), 0);
    CHECK_EQ(fixture_children(paths[1]), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

/* --- threads that take turns ------------------------------------------------------------------------------------- */

enum { BUDGET = 100, CROWD = 8 };

static pdk_mutex *turns_mutex(pdk_client *c, unsigned budget)
{
    pdk_mutex *m;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_keep(o, budget, 0), 0);
    CHECK_RC(pdk_mutex_new(&m, c, fixture.path, o), 0);
    pdk_lock_options_free(o);
    return m;
}

static void begin_turns(unsigned budget)
{
    begin();
    CHECK_RC(pdk_lock_free(a.mutex), 0);
    a.mutex = turns_mutex(a.client, budget);
    CHECK_RC(pdk_lock_free(b.mutex), 0);
    b.mutex = turns_mutex(b.client, budget);
}

static uint64_t turn_of(pdk_mutex *m)
{
    uint64_t turn;
    CHECK_RC(pdk_lock_token(m, NULL, &turn), 0);
    return turn;
}

/* How many requests wait for a turn of the object. */
static int waiting(pdk_mutex *m)
{
    int n = 0;
    struct pdk__object *o = &m->object;
    CHECK_RC(pdk__object_enter(o), 0);
    PDK__LIST_EACH (link, &PDK__MEMBER(m, struct pdk__lockable, lock)->cohort->turns.queue)
        n++;
    pdk__object_leave(o);
    return n;
}

static bool revoked(pdk_mutex *m)
{
    struct pdk__object *o = &m->object;
    CHECK_RC(pdk__object_enter(o), 0);
    bool yes = PDK__MEMBER(PDK__MEMBER(m, struct pdk__lockable, lock)->cohort->acquisitions.next,
                           struct pdk__acquisition, link)
                   ->revoked;
    pdk__object_leave(o);
    return yes;
}

/* A thread that locks, and has its place in the queue. */
static void queue_locker(struct locker *l, pdk_mutex *m)
{
    int before = waiting(m);
    locker_start(l, m);
    CHECK_WITHIN(LONG_MS, waiting(m) == before + 1);
}

static void finish(struct locker *l)
{
    CHECK_WITHIN(LONG_MS, atomic_load(&l->settled));
    CHECK_RC(l->rc, 0);
    locker_finish(l);
    CHECK_RC(l->unlock_rc, 0);
}

static void handed_on(void)
{
    struct locker l[3];
    uint64_t turn;
    begin_turns(BUDGET);
    CHECK_RC(pdk_lock_token(a.mutex, NULL, &turn), PDK_EPERM);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_EQ(turn_of(a.mutex), 1);
    int64_t token = peer_token(&a), ahead;
    CHECK_RC(pdk_lock_ahead(a.mutex, &ahead), PDK_EPERM);
    for (int i = 0; i < 3; i++)
        queue_locker(&l[i], a.mutex);
    CHECK_RC(pdk_lock_ahead(a.mutex, &ahead), 0);
    CHECK_EQ(ahead, 0); /* they wait behind their own node, which is the first */
    CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY);
    pdk__proxy_reset_counters(a.proxy);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    for (int i = 0; i < 3; i++) {
        CHECK_WITHIN(LONG_MS, atomic_load(&l[i].settled));
        CHECK_EQ(turn_of(a.mutex), i + 2);
        CHECK_EQ(peer_token(&a), token);
        CHECK_RC(pdk_mutex_trylock(a.mutex), PDK_EBUSY);
        CHECK_RC(pdk_mutex_timedlock(a.mutex, 0), PDK_EBUSY);
        CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY);
        CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2) + pdk__proxy_requests(a.proxy, PDK__OP_LIST), 0);
        finish(&l[i]);
    }
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2), 0);
    CHECK_EQ(fixture_nodes(), 0);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_FREE);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_LAW(peer_token(&a) > token);
    CHECK_EQ(turn_of(a.mutex), 1);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

/* One create for all that wait before the grant. */
static void one_node(void)
{
    struct locker l[3];
    begin_turns(BUDGET);
    CHECK_RC(pdk_mutex_lock(b.mutex), 0);
    for (int i = 0; i < 3; i++)
        queue_locker(&l[i], a.mutex);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_RC(pdk_mutex_unlock(b.mutex), 0);
    for (int i = 0; i < 3; i++)
        finish(&l[i]);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2), 1);
    end();
}

/* The budget is used up: the other process is next. */
static void budget(void)
{
    struct locker l[4], other;
    begin_turns(2);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    for (int i = 0; i < 4; i++)
        queue_locker(&l[i], a.mutex);
    locker_start(&other, b.mutex);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    finish(&l[0]);
    CHECK(!atomic_load(&other.settled));
    finish(&l[1]);
    finish(&other);
    CHECK_WITHIN(LONG_MS, atomic_load(&l[2].settled));
    CHECK_LAW(peer_token(&a) > token);
    CHECK_EQ(turn_of(a.mutex), 1);
    finish(&l[2]);
    finish(&l[3]);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2), 2);
    end();
}

static void gives_up(void)
{
    char text[256];
    struct locker l;
    begin_turns(BUDGET);
    CHECK_RC(pdk_mutex_lock(b.mutex), 0);
    CHECK_RC(pdk_mutex_timedlock(a.mutex, 50), PDK_ETIMEDOUT);
    pdk_lock_last_error(a.mutex, text, sizeof text);
    CHECK_EQ(strncmp(text, "lock ", 5), 0);
    CHECK(strstr(text, "timed out after ") != NULL);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 1); /* none waits: its node goes */
    queue_locker(&l, a.mutex);
    CHECK_RC(pdk_mutex_timedlock(a.mutex, 20), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2); /* one waits: it stays */
    CHECK_RC(pdk_mutex_unlock(b.mutex), 0);
    finish(&l);
    end();
}

static void thread_cancelled(void)
{
    struct locker l[2];
    void *result;
    begin_turns(BUDGET);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    queue_locker(&l[0], a.mutex);
    queue_locker(&l[1], a.mutex);
    CHECK_EQ(pthread_cancel(l[0].thread), 0);
    pthread_join(l[0].thread, &result);
    CHECK(result == PTHREAD_CANCELED);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    finish(&l[1]);
    CHECK_EQ(fixture_nodes(), 0);
    CHECK_RC(pdk_mutex_lock(b.mutex), 0);
    queue_locker(&l[0], a.mutex);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_EQ(pthread_cancel(l[0].thread), 0);
    pthread_join(l[0].thread, &result);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_mutex_unlock(b.mutex), 0);
    end();
}

static void asynchronous(void)
{
    struct request w[3];
    struct locker l;
    uint64_t turn;
    begin_turns(BUDGET);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_now(&w[0], &a, PDK_FOREVER);
    queue_locker(&l, a.mutex);
    request_now(&w[1], &a, 50);
    request_now(&w[2], &a, PDK_FOREVER);
    request_told(&w[1], PDK_ETIMEDOUT);
    CHECK_RC(pdk_grant_cancel(w[2].grant), 0);
    request_told(&w[2], PDK_ECANCELED);
    CHECK_EQ(atomic_load(&w[0].n_told), 0);
    pdk__proxy_reset_counters(a.proxy);
    CHECK_RC(pdk_mutex_unlock_async(a.mutex, NULL, NULL), 0);
    request_told(&w[0], 0);
    CHECK_RC(pdk_grant_token(w[0].grant, NULL, &turn), 0);
    CHECK_EQ(turn, 2);
    CHECK_EQ(pdk_grant_state(w[0].grant), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    request_end(&w[0], 0);
    finish(&l);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2), 0);
    request_end(&w[1], PDK_ETIMEDOUT);
    request_end(&w[2], PDK_ECANCELED);
    request_now(&w[0], &a, PDK_FOREVER);
    request_told(&w[0], 0);
    request_now(&w[1], &a, 0);
    request_told(&w[1], PDK_EBUSY);
    request_end(&w[0], 0);
    request_end(&w[1], PDK_EBUSY);
    end();
}

static void reenters(void)
{
    struct locker l;
    begin_turns(BUDGET);
    locker_start(&l, a.mutex);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    struct locker next;
    queue_locker(&next, a.mutex);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, 0);
    finish(&next);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    queue_locker(&l, a.mutex);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_lock_free(a.mutex), PDK_EBUSY);
    CHECK(!atomic_load(&l.settled));
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    finish(&l);
    end();
}

/* The owner's grant is lost: the others contend again. */
static void lost_meanwhile(void)
{
    struct locker l;
    char node[128];
    begin_turns(BUDGET);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    queue_locker(&l, a.mutex);
    pdk_lock_node(a.mutex, 0, node, sizeof node);
    fixture_delete_below(fixture.path, node);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_LOST); /* the caller's own */
    CHECK_EQ(peer_token(&a), token);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_ELOST);
    CHECK_LAW(peer_token(&a) > token);
    finish(&l);
    end();
}

static void in_doubt(void)
{
    struct locker l;
    begin_turns(BUDGET);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    queue_locker(&l, a.mutex);
    pdk__proxy_refuse(a.proxy, true);
    pdk__proxy_cut(a.proxy);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(a.mutex) == PDK_SUSPECT);
    CHECK_RC(pdk_mutex_unlock_async(a.mutex, NULL, NULL), 0);
    CHECK(!atomic_load(&l.settled));
    pdk__proxy_refuse(a.proxy, false);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    CHECK_LAW(peer_token(&a) > token);
    finish(&l);
    end();
}

static void closed_while_waiting(void)
{
    struct locker l[2];
    struct request w;
    begin_turns(BUDGET);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    queue_locker(&l[0], a.mutex);
    request_now(&w, &a, PDK_FOREVER);
    CHECK_RC(pdk_client_close(a.client), 0);
    request_told(&w, PDK_ECLOSED);
    locker_finish(&l[0]);
    CHECK_RC(l[0].rc, PDK_ECLOSED);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_ELOST);
    request_end(&w, PDK_ECLOSED);
    CHECK_EQ(fixture_nodes(), 0);
    peer_free(&a);
    peer_free(&b);
}

/* The path's ACL permits nothing: all that wait are told. */
static void failed_for_all(void)
{
    struct ACL none[] = {{ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE}};
    struct ACL_vector acl = {1, none};
    char text[256];
    begin_turns(BUDGET);
    CHECK_EQ(zoo_set_acl(fixture.zh, fixture.path, -1, &acl), ZOK);
    CHECK_RC(pdk_mutex_lock(a.mutex), PDK_EACCES);
    pdk_lock_last_error(a.mutex, text, sizeof text);
    CHECK_EQ(strncmp(text, "lock ", 5), 0);
    struct request w;
    request_now(&w, &a, PDK_FOREVER);
    request_end(&w, PDK_EACCES);
    CHECK_EQ(fixture_nodes(), 0);
    peer_free(&a);
    peer_free(&b);
}

/* A holder that is asked for its lock releases it. */
static void asked_for(void)
{
    struct locker l;
    char path[256], node[128];
    begin_turns(BUDGET);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    queue_locker(&l, a.mutex);
    pdk_lock_node(a.mutex, 0, node, sizeof node);
    snprintf(path, sizeof path, "%s/%s", fixture.path, node);
    CHECK_EQ(zoo_set(fixture.zh, path, "__REVOKE__", 10, -1), ZOK);
    CHECK_WITHIN(LONG_MS, pdk__proxy_events(a.proxy, ZOO_CHANGED_EVENT, NULL) > 0);
    CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY);
    CHECK_WITHIN(LONG_MS, revoked(a.mutex));
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    CHECK_LAW(peer_token(&a) > token);
    finish(&l);
    end();
}

static atomic_int n_states, n_others, n_asked;

static void note_state(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m;
    if (event->kind == PDK_EVENT_STATE)
        atomic_fetch_add(arg != NULL ? (atomic_int *)arg : &n_states, 1);
    else if (event->kind == PDK_EVENT_REVOKED)
        atomic_fetch_add(&n_asked, 1);
}

/* --- several objects of one path --------------------------------------------------------------------------------- */

/* The same as a peer, with an object of its own. */
static struct peer another(unsigned budget)
{
    struct peer peer = a;
    peer.mutex = turns_mutex(a.client, budget);
    return peer;
}

static void across_objects(void)
{
    struct locker l;
    begin_turns(BUDGET);
    struct peer c = another(BUDGET);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    queue_locker(&l, c.mutex);
    CHECK_EQ(pdk_lock_state(c.mutex), PDK_FREE);
    CHECK_RC(pdk_mutex_trylock(c.mutex), PDK_EBUSY);
    CHECK_RC(pdk_lock_free(c.mutex), PDK_EBUSY);
    CHECK_RC(pdk_mutex_unlock(c.mutex), PDK_EPERM);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_FREE);
    CHECK_EQ(pdk_lock_state(c.mutex), PDK_HELD);
    CHECK_EQ(peer_token(&c), token);
    CHECK_EQ(turn_of(c.mutex), 2);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    CHECK_RC(pdk_mutex_timedlock(a.mutex, 0), PDK_EBUSY);
    finish(&l);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2), 1);
    CHECK_RC(pdk_lock_free(c.mutex), 0);
    end();
}

struct trial {
    atomic_bool told, go, over;
    int rc;
};

static void try_told(int rc, void *arg)
{
    struct trial *t = arg;
    t->rc = rc;
    atomic_store(&t->told, true);
    while (!atomic_load(&t->go))
        pdk__test_nap();
    atomic_store(&t->over, true);
}

/* The library looks at the grant after its callback, while another thread hands it to an object, whose own is freed. */
static void moved_after_its_callback(void)
{
    begin_turns(BUDGET);
    for (int i = 0; i < 20; i++) {
        struct locker l;
        struct trial t = {0};
        pdk_grant *g;
        struct peer c = another(BUDGET), d = another(BUDGET);
        CHECK_RC(pdk_mutex_lock_async(c.mutex, 0, try_told, &t, &g), 0);
        CHECK_WITHIN(LONG_MS, atomic_load(&t.told));
        CHECK_RC(t.rc, 0);
        queue_locker(&l, d.mutex);
        atomic_store(&t.go, true);
        while (!atomic_load(&t.over))
            continue;
        CHECK_RC(pdk_grant_release(g), 0);
        CHECK_RC(pdk_lock_free(c.mutex), 0);
        finish(&l);
        CHECK_RC(pdk_lock_free(d.mutex), 0);
    }
    end();
}

/* The object whose request made the node is freed; the node is that of the others, and keeps its place. */
static void freed_ahead_of_others(void)
{
    struct locker l;
    struct request w;
    int64_t ahead;
    begin_turns(BUDGET);
    struct peer c = another(BUDGET);
    CHECK_RC(pdk_mutex_lock(b.mutex), 0);
    request_queued(&w, &c, PDK_FOREVER, 2);
    queue_locker(&l, a.mutex);
    CHECK_RC(pdk_grant_cancel(w.grant), 0);
    request_end(&w, PDK_ECANCELED);
    CHECK_RC(pdk_lock_ahead(c.mutex, &ahead), PDK_EPERM);
    CHECK_RC(pdk_lock_free(c.mutex), 0);
    CHECK_WITHIN(LONG_MS, pdk_lock_ahead(a.mutex, &ahead) == 0 && ahead == 1);
    CHECK_RC(pdk_mutex_unlock(b.mutex), 0);
    finish(&l);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2), 1);
    end();
}

/* A grant that was handed on is lost: the object of its owner reports that, and no other does. */
static void lost_by_the_owner(void)
{
    struct locker l;
    char node[128];
    begin_turns(BUDGET);
    struct peer c = another(BUDGET);
    atomic_store(&n_states, 0);
    atomic_store(&n_others, 0);
    CHECK_RC(pdk_lock_on_event(a.mutex, note_state, NULL), 0);
    CHECK_RC(pdk_lock_on_event(c.mutex, note_state, &n_others), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    queue_locker(&l, c.mutex);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    pdk_lock_node(c.mutex, 0, node, sizeof node);
    fixture_delete_below(fixture.path, node);
    CHECK_WITHIN(LONG_MS, atomic_load(&n_others) == 1);
    CHECK_EQ(pdk_lock_state(c.mutex), PDK_LOST);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_FREE);
    CHECK_EQ(atomic_load(&n_states), 0);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, PDK_ELOST);
    CHECK_RC(pdk_lock_free(c.mutex), 0);
    end();
}

/* One node cannot serve two objects that want it to be made in different ways. */
static void unlike_objects(void)
{
    struct request w;
    pdk_lock_options *o = pdk_lock_options_new();
    struct peer c;
    begin_turns(BUDGET);
    c = a;
    CHECK_RC(pdk_lock_options_set_keep(o, BUDGET, 0), 0);
    CHECK_RC(pdk_lock_options_set_data(o, "another", 7), 0);
    CHECK_RC(pdk_mutex_new(&c.mutex, a.client, fixture.path, o), 0);
    pdk_lock_options_free(o);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    request_queued(&w, &c, PDK_FOREVER, 2);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&w, 0);
    CHECK_LAW(request_token(&w) > token);
    request_end(&w, 0);
    CHECK_RC(pdk_lock_free(c.mutex), 0);
    end();
}

/* --- two processes ----------------------------------------------------------------------------------------------- */

enum { SHARE = 5, N_SHARES = 20, N_TURNS = SHARE * N_SHARES };

/* In memory that the processes share: whose each turn was. */
struct turns {
    atomic_int inside, n;
    int process[N_TURNS];
};

static struct turns *turns;

struct worker {
    pthread_t thread;
    struct peer *peer;
    int process;
};

static int contenders(pdk_client *c)
{
    pdk_contender_list *list;
    CHECK_RC(pdk_contenders(c, fixture.path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    int n = (int)pdk_contender_list_size(list);
    pdk_contender_list_free(list);
    return n;
}

/* The owner unlocks when all other threads of its process wait, and the other process does: both want it all the time,
 * however slow the machine is. */
static void *take_turns(void *arg)
{
    struct worker *w = arg;
    while (atomic_load(&turns->n) < N_TURNS) {
        CHECK_RC(pdk_mutex_lock(w->peer->mutex), 0);
        CHECK_EQ(atomic_fetch_add(&turns->inside, 1), 0);
        int n = atomic_load(&turns->n);
        if (n < N_TURNS) {
            CHECK_WITHIN(LONG_MS, waiting(w->peer->mutex) == CROWD - 1);
            CHECK_WITHIN(LONG_MS, contenders(w->peer->client) == 2);
            turns->process[n] = w->process;
            atomic_store(&turns->n, n + 1);
        }
        CHECK_EQ(atomic_fetch_sub(&turns->inside, 1), 1);
        CHECK_RC(pdk_mutex_unlock(w->peer->mutex), 0);
    }
    return NULL;
}

static void turns_of_a_process(int process)
{
    struct worker workers[CROWD];
    struct peer peer = peer_new(0);
    CHECK_RC(pdk_lock_free(peer.mutex), 0);
    peer.mutex = turns_mutex(peer.client, SHARE - 1);
    for (int i = 0; i < CROWD; i++) {
        workers[i] = (struct worker){.peer = &peer, .process = process};
        CHECK_EQ(pthread_create(&workers[i].thread, NULL, take_turns, &workers[i]), 0);
    }
    for (int i = 0; i < CROWD; i++)
        pthread_join(workers[i].thread, NULL);
    peer_free(&peer);
    _exit(0);
}

/* Two that want it all the time take exactly as many turns as the budget permits, one after the other. */
static void fair(void)
{
    pid_t pids[2];
    CHILD_HAS_THREADS();
    fixture_begin();
    turns = mmap(NULL, sizeof *turns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(turns != MAP_FAILED);
    for (int i = 0; i < 2; i++)
        if ((pids[i] = pdk__test_fork()) == 0)
            turns_of_a_process(i);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pdk__test_wait(pids[i]), 0);
    CHECK_EQ(turns->n, N_TURNS);
    for (int i = 0; i < N_TURNS; i++)
        CHECK_EQ(turns->process[i], i / SHARE % 2 == 0 ? turns->process[0] : 1 - turns->process[0]);
    CHECK_EQ(fixture_nodes(), 0);
    munmap(turns, sizeof *turns);
}

/* --- a lock that stays ------------------------------------------------------------------------------------------- */

static pdk_mutex *idle_mutex(pdk_client *c, int idle_ms, unsigned budget)
{
    pdk_mutex *m;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_keep(o, 0, -1), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_keep(o, budget, idle_ms), 0);
    CHECK_RC(pdk_mutex_new(&m, c, fixture.path, o), 0);
    pdk_lock_options_free(o);
    return m;
}

static void begin_idle(int idle_ms, unsigned budget)
{
    begin();
    atomic_store(&n_states, 0);
    atomic_store(&n_asked, 0);
    CHECK_RC(pdk_lock_free(a.mutex), 0);
    a.mutex = idle_mutex(a.client, idle_ms, budget);
    CHECK_RC(pdk_lock_on_event(a.mutex, note_state, NULL), 0);
}

/* Returns the token of the hold that ended. */
static int64_t use_once(void)
{
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_FREE);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    return token;
}

/* The lock is idle: nobody holds it, and its node is there. Returns its token. */
static int64_t make_idle(void)
{
    int64_t token = use_once();
    CHECK_EQ(fixture_nodes(), 1);
    return token;
}

static void end_idle(void)
{
    CHECK_EQ(atomic_load(&n_states), 0);
    CHECK_EQ(atomic_load(&n_asked), 0);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_FREE);
    CHECK_RC(pdk_lock_free(a.mutex), 0);
    a.mutex = NULL;
    end();
}

static void no_request(void)
{
    begin_idle(600000, 0);
    int64_t token = make_idle();
    for (int i = 0; i < 2; i++) {
        CHECK_RC(pdk_mutex_lock(a.mutex), 0); /* the answer to the listing may be under way still */
        CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    }
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 2);
    pdk__proxy_reset_counters(a.proxy);
    for (int i = 4; i < 1000; i++) {
        CHECK_RC(i % 3 == 0 ? pdk_mutex_trylock(a.mutex) : pdk_mutex_lock(a.mutex), 0);
        CHECK_EQ(peer_token(&a), token);
        CHECK_EQ(turn_of(a.mutex), i);
        CHECK_EQ(pdk_lock_state(a.mutex), PDK_HELD);
        CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY);
        i % 5 == 0 ? CHECK_RC(pdk_mutex_unlock_async(a.mutex, NULL, NULL), 0) : CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    }
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2) + pdk__proxy_requests(a.proxy, PDK__OP_LIST), 0);
    CHECK(pdk__proxy_requests(a.proxy, PDK__OP_GET) <= 1); /* its own node, once the hold has lasted */
    struct request w;
    request_now(&w, &a, PDK_FOREVER);
    request_told(&w, 0);
    CHECK_EQ(request_token(&w), token);
    request_end(&w, 0);
    end_idle();
}

/* The program uses it again. Its own node is not watched yet: the children are. */
static void deleted_while_used_again(void)
{
    fixture_begin();
    a = peer_new(LONG_SESSION_MS);
    CHECK_RC(pdk_lock_free(a.mutex), 0);
    a.mutex = idle_mutex(a.client, 600000, 0);
    make_idle();
    CHECK_WITHIN(LONG_MS, fixture_watches_in_all() > 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_HELD);
    fixture_delete_below(fixture.path, fixture_find(fixture.path, ""));
    CHECK_WITHIN(SOON_MS, pdk_lock_state(a.mutex) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_ELOST);
    peer_free(&a);
}

static void gives_way(void)
{
    struct request w;
    begin_idle(600000, 0);
    for (int i = 0; i < 3; i++) {
        int64_t token = make_idle();
        if (i == 1)
            CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) > 0);
        request_now(&w, &b, PDK_FOREVER);
        request_told(&w, 0);
        CHECK_LAW(request_token(&w) > token);
        CHECK_EQ(fixture_nodes(), 1);
        request_end(&w, 0);
    }
    end_idle();
}

/* The contender came before the first idle moment. */
static void gives_way_at_once(void)
{
    struct request w;
    begin_idle(600000, 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_queued(&w, &b, PDK_FOREVER, 2);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&w, 0);
    request_end(&w, 0);
    end_idle();
}

/* A contender that came while the lock was used is served at its unlock. */
static void gives_way_when_used(void)
{
    struct request w;
    begin_idle(600000, 0);
    make_idle();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_queued(&w, &b, PDK_FOREVER, 2);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_EQ(atomic_load(&w.n_told), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&w, 0);
    request_end(&w, 0);
    end_idle();
}

static void time_ends(void)
{
    begin_idle(50, 0);
    int64_t token = use_once();
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_LAW(peer_token(&a) > token);
    CHECK_EQ(turn_of(a.mutex), 1);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end_idle();
}

/* The deadline of a request that was served says nothing of the time after it. The thread that lost the lock unlocks
 * when the lock is idle again. */
static void time_ends_after_a_deadline(void)
{
    struct locker l;
    struct request w;
    begin_idle(5000, 1);
    locker_start(&l, a.mutex);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    fixture_delete_below(fixture.path, fixture_find(fixture.path, "-lock-"));
    CHECK_WITHIN(LONG_MS, atomic_load(&n_states) == 1);
    request_now(&w, &a, 4000);
    request_end(&w, 0);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, PDK_ELOST);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    atomic_store(&n_states, 0);
    end_idle();
}

static void connection_lost(void)
{
    begin_idle(600000, 0);
    int64_t token = make_idle();
    pdk__proxy_cut(a.proxy);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    CHECK_EQ(atomic_load(&n_states), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_LAW(peer_token(&a) > token);
    pdk__proxy_cut(a.proxy); /* it is used: held again */
    CHECK_WITHIN(LONG_MS, pdk_lock_state(a.mutex) == PDK_SUSPECT || atomic_load(&n_states) > 0);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(a.mutex) == PDK_HELD);
    CHECK_WITHIN(LONG_MS, atomic_load(&n_states) == 2);
    atomic_store(&n_states, 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    struct request w; /* and the children are watched on the new connection */
    request_now(&w, &b, PDK_FOREVER);
    request_told(&w, 0);
    request_end(&w, 0);
    end_idle();
}

static void node_deleted(void)
{
    char node[128];
    begin_idle(600000, 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk_lock_node(a.mutex, 0, node, sizeof node);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    fixture_delete_below(fixture.path, node);
    CHECK_WITHIN(LONG_MS, pdk_client_flush(a.client, 0) == 0 && pdk_mutex_trylock(b.mutex) == 0);
    CHECK_RC(pdk_mutex_unlock(b.mutex), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end_idle();
}

static void asked_while_idle(void)
{
    char path[256], node[128];
    begin_idle(600000, 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk_lock_node(a.mutex, 0, node, sizeof node);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    snprintf(path, sizeof path, "%s/%s", fixture.path, node);
    CHECK_EQ(zoo_set(fixture.zh, path, "__REVOKE__", 10, -1), ZOK);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    end_idle();
}

static void closed_while_idle(void)
{
    begin_idle(600000, 0);
    make_idle();
    CHECK_RC(pdk_client_close(a.client), 0);
    CHECK_EQ(fixture_nodes(), 0);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_FREE);
    CHECK_EQ(atomic_load(&n_states), 0);
    peer_free(&a);
    peer_free(&b);
}

/* Without hand-over, a thread that waits has a node of its own. */
static void threads_first(void)
{
    struct locker l;
    begin_idle(600000, 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    locker_start(&l, a.mutex);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2 && pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 2);
    pdk__proxy_reset_counters(a.proxy);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_LIST), 0);
    finish(&l);
    CHECK_EQ(fixture_nodes(), 1);
    end_idle();
}

/* Both options: nobody else waits, so the budget is not used up. */
static void no_budget_needed(void)
{
    struct locker l[4];
    begin_idle(600000, 1);
    int64_t token = make_idle();
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 2);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    for (int i = 0; i < 4; i++)
        queue_locker(&l[i], a.mutex);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_WITHIN(LONG_MS, atomic_load(&l[i].settled));
        CHECK_EQ(peer_token(&a), token);
        finish(&l[i]);
    }
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2), 1);
    end_idle();
}

static void idle_across_objects(void)
{
    begin_idle(600000, 1);
    int64_t token = make_idle();
    struct peer c = a;
    c.mutex = idle_mutex(a.client, 600000, 1);
    CHECK_RC(pdk_mutex_lock(c.mutex), 0);
    CHECK_EQ(peer_token(&c), token);
    CHECK_EQ(turn_of(c.mutex), 2);
    CHECK_RC(pdk_mutex_unlock(c.mutex), 0);
    CHECK_RC(pdk_lock_free(c.mutex), 0); /* the other object still has it */
    CHECK_RC(pdk_mutex_trylock(a.mutex), 0);
    CHECK_EQ(peer_token(&a), token);
    CHECK_EQ(turn_of(a.mutex), 3);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2), 1);
    end_idle();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an unlock that does not wait is waited for by a flush", flush_waits},
        {"the next lock does not wait for the answer to a delete", next_lock},
        {"an unlock that does not wait, and whose reply is lost, is repeated", reply_lost},
        {"an unlock that does not wait, and whose request is lost, is repeated", request_lost},
        {"an unlock that does not wait, and of which nothing is known, is repeated", reply_unknown},
        {"an unlock that does not wait hands over", hands_over},
        {"an unlock that does not wait tells a failure as an incident", failure_told_later},
        {"a lock can be freed while it is released", freed_meanwhile},
        {"a client can be closed while a lock is released", closed_meanwhile},
        {"a flush waits for a lock that was given up", abandoned},
        {"a flush ends with the releases before it", flush_ends},
        {"a thread that flushes can be cancelled", cancelled_flush},
        {"a close ends a flush", closed_flush},
        {"a flush on the thread of callbacks is refused", deadlock},
        {"a read/write lock is unlocked without waiting", rwlock},
        {"a multi-lock is unlocked without waiting", multilock},
        {"an owner hands the lock to the next thread without a request", handed_on},
        {"threads that wait have one node together", one_node},
        {"a budget that is used up lets other processes go first", budget},
        {"a thread that gives up its turn leaves no node", gives_up},
        {"a thread that is cancelled leaves the queue of turns", thread_cancelled},
        {"asynchronous requests take turns", asynchronous},
        {"an owner by turn re-enters, and no other thread unlocks", reenters},
        {"threads that wait contend again when the grant is lost", lost_meanwhile},
        {"a grant in doubt is not handed on", in_doubt},
        {"a close ends the wait for a turn", closed_while_waiting},
        {"a failure is told to all that wait", failed_for_all},
        {"a grant that another client asks for is not handed on", asked_for},
        {"an owner hands the lock to a thread that locks through another object", across_objects},
        {"a grant of a try is handed on while its callback ends", moved_after_its_callback},
        {"a freed object leaves the node to the others of its path", freed_ahead_of_others},
        {"the object of its owner reports the loss of a grant", lost_by_the_owner},
        {"objects whose nodes differ have a node each", unlike_objects},
        {"two processes with one budget have equal shares, to the turn", fair},
        {"an idle lock is taken again without a request", no_request},
        {"a lock that was idle, and whose node is deleted while it is used again, is LOST at once",
         deleted_while_used_again},
        {"an idle lock gives way to another contender", gives_way},
        {"an idle lock gives way to a contender that came before", gives_way_at_once},
        {"a lock that was idle gives way to a contender that came while it was used", gives_way_when_used},
        {"an idle lock goes when its time ends", time_ends},
        {"an idle lock goes when its time ends, after a request with a deadline", time_ends_after_a_deadline},
        {"an idle lock goes with its connection", connection_lost},
        {"an idle lock whose node is deleted is contended for again", node_deleted},
        {"an idle lock goes when a client asks for it", asked_while_idle},
        {"a close deletes the node of an idle lock", closed_while_idle},
        {"a lock is not idle while a thread waits", threads_first},
        {"an idle lock needs no budget", no_budget_needed},
        {"an idle lock is taken again through another object", idle_across_objects},
        {0},
    };
    return fixture_main(argc, argv, "handover", tests, ON_ONE | ON_THREE | ON_OWN);
}
