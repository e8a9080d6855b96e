/* A read/write lock whose node stays after the last unlock, in either mode. */
#include "test/lib/fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct peer a, b; /* A through a proxy; their read/write locks */
static pdk_rwlock *la, *lb;

enum mode { READ, WRITE };

static pdk_rwlock *idle_lock(pdk_client *c, int idle_ms)
{
    pdk_rwlock *l;
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_keep(NULL, 0, 1), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_keep(o, 0, -1), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_keep(o, 0, 86400001), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_keep(o, 0, idle_ms), 0);
    CHECK_RC(pdk_rwlock_new(&l, c, fixture.path, o), 0);
    pdk_lock_options_free(o);
    return l;
}

static void begin(int idle_ms)
{
    fixture_begin();
    fixture_make(fixture.path, "", ZOO_PERSISTENT, NULL);
    a = peer_proxied();
    b = peer_new(0);
    la = idle_lock(a.client, idle_ms);
    CHECK_RC(pdk_rwlock_new(&lb, b.client, fixture.path, NULL), 0);
}

static void end(void)
{
    CHECK_RC(pdk_lock_free(la), 0);
    CHECK_RC(pdk_lock_free(lb), 0);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_EQ(fixture_nodes(), 0);
    peer_free(&a);
    peer_free(&b);
}

static int lock(pdk_rwlock *l, enum mode mode) { return mode == READ ? pdk_rwlock_rdlock(l) : pdk_rwlock_wrlock(l); }

static int try_lock(pdk_rwlock *l, enum mode mode)
{
    return mode == READ ? pdk_rwlock_tryrdlock(l) : pdk_rwlock_trywrlock(l);
}

static int64_t token_of(pdk_rwlock *l)
{
    int64_t token;
    CHECK_RC(pdk_lock_token(l, &token, NULL), 0);
    return token;
}

static uint64_t turn_of(pdk_rwlock *l)
{
    uint64_t turn;
    CHECK_RC(pdk_lock_token(l, NULL, &turn), 0);
    return turn;
}

/* Returns the token of the hold that ended. */
static int64_t use_once(enum mode mode)
{
    uint64_t turn;
    CHECK_RC(lock(la, mode), 0);
    int64_t token = token_of(la);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    CHECK_EQ(pdk_lock_state(la), PDK_FREE);
    CHECK_RC(pdk_lock_token(la, NULL, &turn), PDK_EPERM);
    CHECK_RC(pdk_rwlock_unlock(la), PDK_EPERM);
    return token;
}

/* Nobody holds it, and its node is there. Returns its token. */
static int64_t make_idle(enum mode mode)
{
    int64_t token = use_once(mode);
    CHECK_EQ(fixture_nodes(), 1);
    return token;
}

/* --- the same mode ----------------------------------------------------------------------------------------------- */

static atomic_int told;

static void tell(int rc, void *arg)
{
    (void)arg;
    atomic_store(&told, rc);
}

static pdk_grant *asked;

static void ask(pdk_rwlock *l, enum mode mode)
{
    atomic_store(&told, 1);
    if (mode == READ)
        CHECK_RC(pdk_rwlock_rdlock_async(l, PDK_FOREVER, tell, NULL, &asked), 0);
    else
        CHECK_RC(pdk_rwlock_wrlock_async(l, PDK_FOREVER, tell, NULL, &asked), 0);
}

static void resume_often(enum mode mode)
{
    begin(600000);
    int64_t token = make_idle(mode), again;
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 2);
    pdk__proxy_reset_counters(a.proxy);
    for (uint64_t i = 2; i < 500; i++) {
        CHECK_RC(i % 3 == 0 ? try_lock(la, mode) : lock(la, mode), 0);
        CHECK_EQ(token_of(la), token);
        CHECK_EQ(turn_of(la), i);
        CHECK_EQ(pdk_lock_state(la), PDK_HELD);
        CHECK_RC(try_lock(lb, WRITE), PDK_EBUSY);
        i % 5 == 0 ? CHECK_RC(pdk_rwlock_unlock_async(la, NULL, NULL), 0) : CHECK_RC(pdk_rwlock_unlock(la), 0);
    }
    ask(la, mode);
    CHECK_WITHIN(LONG_MS, atomic_load(&told) == 0);
    CHECK_RC(pdk_grant_token(asked, &again, NULL), 0);
    CHECK_EQ(again, token);
    CHECK_RC(pdk_grant_release(asked), 0);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_CREATE2) + pdk__proxy_requests(a.proxy, PDK__OP_LIST), 0);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_DELETE), 0);
    end();
}

static void reader_resumes(void) { resume_often(READ); }
static void writer_resumes(void) { resume_often(WRITE); }

/* --- others ------------------------------------------------------------------------------------------------------ */

static void gives_way(enum mode kept, enum mode wanted)
{
    begin(600000);
    for (int i = 0; i < 3; i++) {
        int64_t token = make_idle(kept);
        if (i == 1)
            CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) > 0);
        CHECK_RC(lock(lb, wanted), 0);
        CHECK_LAW(token_of(lb) > token);
        CHECK_WITHIN(LONG_MS, fixture_nodes() == 1);
        CHECK_RC(pdk_rwlock_unlock(lb), 0);
    }
    end();
}

static void writer_gives_way_to_a_reader(void) { gives_way(WRITE, READ); }
static void reader_gives_way_to_a_writer(void) { gives_way(READ, WRITE); }

/* A reader comes, and goes: the kept one lists, and stays. A writer behind them is served when the other unlocks. */
static void reader_stays_beside_readers(void)
{
    begin(600000);
    int64_t token = make_idle(READ);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 2);
    CHECK_RC(pdk_rwlock_rdlock(lb), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 3);
    CHECK_EQ(fixture_nodes(), 2);
    CHECK_RC(pdk_rwlock_rdlock(la), 0);
    CHECK_EQ(token_of(la), token);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    CHECK_RC(pdk_rwlock_unlock(lb), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 4);
    CHECK_RC(pdk_rwlock_wrlock(lb), 0);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 1);
    CHECK_RC(pdk_rwlock_unlock(lb), 0);
    end();
}

/* Readers that come and go cost an idle one four listings, and then its node. */
static void readers_cost_no_more_than_a_lock(void)
{
    begin(600000);
    make_idle(READ);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 2);
    for (int i = 1; i <= 4; i++) {
        i % 2 == 1 ? CHECK_RC(pdk_rwlock_rdlock(lb), 0) : CHECK_RC(pdk_rwlock_unlock(lb), 0);
        CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 2 + i);
    }
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_rwlock_rdlock(lb), 0);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 1 && pdk__proxy_requests(a.proxy, PDK__OP_DELETE) == 1);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_LIST), 6);
    CHECK_RC(pdk_rwlock_unlock(lb), 0);
    end();
}

/* A listing of the client's own: its answer comes after every earlier event, and after every request that those
 * caused. */
static void fence(void)
{
    pdk_contender_list *list;
    CHECK_RC(pdk_contenders(a.client, fixture.path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    pdk_contender_list_free(list);
}

/* Readers that come while it is used are looked for once, when it is idle again. */
static void used_meanwhile(void)
{
    begin(600000);
    make_idle(READ);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 2);
    int64_t fired = pdk__proxy_events(a.proxy, ZOO_CHILD_EVENT, NULL);
    CHECK_RC(pdk_rwlock_rdlock(la), 0);
    CHECK_RC(pdk_rwlock_rdlock(lb), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_events(a.proxy, ZOO_CHILD_EVENT, NULL) == fired + 1);
    fence();
    fence();
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_LIST), 2);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 3);
    CHECK_EQ(fixture_nodes(), 2);
    CHECK_RC(pdk_rwlock_unlock(lb), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(a.proxy, PDK__OP_LIST) == 4);
    end();
}

/* A writer that comes while the reader is used waits for its unlock, and no longer. */
static void writer_comes_while_used(void)
{
    begin(600000);
    make_idle(READ);
    CHECK_RC(pdk_rwlock_rdlock(la), 0);
    ask(lb, WRITE);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_RC(pdk_rwlock_rdlock(la), 0);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    CHECK_EQ(atomic_load(&told), 1);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&told) == 0);
    CHECK_RC(pdk_grant_release(asked), 0);
    end();
}

/* --- the other mode, and other threads --------------------------------------------------------------------------- */

static void other_mode(enum mode kept, enum mode wanted)
{
    begin(600000);
    int64_t token = make_idle(kept);
    CHECK_RC(lock(la, wanted), 0);
    CHECK_LAW(token_of(la) > token);
    CHECK_EQ(turn_of(la), 1);
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_rwlock_tryrdlock(lb), wanted == READ ? 0 : PDK_EBUSY);
    if (wanted == READ)
        CHECK_RC(pdk_rwlock_unlock(lb), 0);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    make_idle(kept);
    CHECK_RC(try_lock(la, wanted), 0);
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    make_idle(kept);
    ask(la, wanted);
    CHECK_WITHIN(LONG_MS, atomic_load(&told) == 0);
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_grant_release(asked), 0);
    end();
}

static void writes_after_reading(void) { other_mode(READ, WRITE); }
static void reads_after_writing(void) { other_mode(WRITE, READ); }

/* A thread that takes the lock, and gives it back when it is told to. */
struct sharer {
    pthread_t thread;
    enum mode mode;
    atomic_int rc; /* 1 until it is answered */
    atomic_bool release;
};

static void *share(void *arg)
{
    struct sharer *s = arg;
    atomic_store(&s->rc, lock(la, s->mode));
    CHECK_WITHIN(LONG_MS, atomic_load(&s->release));
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    return NULL;
}

static void share_begin(struct sharer *s, enum mode mode)
{
    *s = (struct sharer){.mode = mode, .rc = 1};
    CHECK_EQ(pthread_create(&s->thread, NULL, share, s), 0);
}

static void share_end(struct sharer *s)
{
    CHECK_WITHIN(LONG_MS, atomic_load(&s->rc) == 0);
    atomic_store(&s->release, true);
    CHECK_EQ(pthread_join(s->thread, NULL), 0);
}

/* Two threads read, each with a node of its own: one of the two is kept. */
static void one_is_kept(void)
{
    struct sharer s;
    begin(600000);
    CHECK_RC(pdk_rwlock_rdlock(la), 0);
    share_begin(&s, READ);
    CHECK_WITHIN(LONG_MS, atomic_load(&s.rc) == 0);
    CHECK_EQ(fixture_nodes(), 2);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    CHECK_EQ(fixture_nodes(), 2);
    share_end(&s);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 1);
    end();
}

/* A thread that reads under its write lock gives that back: no other may take the write lock over. */
static void no_writer_beside_a_reader(void)
{
    struct sharer s;
    begin(600000);
    CHECK_RC(pdk_rwlock_wrlock(la), 0);
    CHECK_RC(pdk_rwlock_downgrade(la), 0);
    CHECK_EQ(fixture_nodes(), 1);
    share_begin(&s, WRITE);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_EQ(atomic_load(&s.rc), 1);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    share_end(&s);
    end();
}

/* The reader has the token of its writer, which was not the first owner of its node: the pair must not fall. */
static void reader_has_the_writers_turn(void)
{
    begin(600000);
    make_idle(WRITE);
    CHECK_RC(pdk_rwlock_wrlock(la), 0);
    int64_t token = token_of(la);
    CHECK_EQ(turn_of(la), 2);
    CHECK_RC(pdk_rwlock_downgrade(la), 0);
    CHECK_EQ(token_of(la), token);
    CHECK_EQ(turn_of(la), 2);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    end();
}

/* A read lock that was taken under a write lock is not kept. */
static void under_is_not_kept(void)
{
    begin(600000);
    CHECK_RC(pdk_rwlock_wrlock(la), 0);
    CHECK_RC(pdk_rwlock_rdlock(la), 0);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_rwlock_downgrade(la), 0);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    CHECK_EQ(fixture_nodes(), 0);
    end();
}

/* --- the end of it ----------------------------------------------------------------------------------------------- */

static void time_ends(void)
{
    begin(50);
    int64_t token = use_once(READ);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    CHECK_RC(pdk_rwlock_rdlock(la), 0);
    CHECK_LAW(token_of(la) > token);
    CHECK_EQ(turn_of(la), 1);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    end();
}

static void connection_lost(void)
{
    begin(600000);
    int64_t token = make_idle(READ);
    pdk__proxy_cut(a.proxy);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    CHECK_RC(pdk_rwlock_rdlock(la), 0);
    CHECK_LAW(token_of(la) > token);
    CHECK_RC(pdk_rwlock_unlock(la), 0);
    end();
}

static void closed(void)
{
    begin(600000);
    make_idle(READ);
    CHECK_RC(pdk_client_close(a.client), 0);
    CHECK_EQ(fixture_nodes(), 0);
    CHECK_EQ(pdk_lock_state(la), PDK_FREE);
    CHECK_RC(pdk_lock_free(la), 0);
    CHECK_RC(pdk_lock_free(lb), 0);
    peer_free(&a);
    peer_free(&b);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an idle read lock is taken again without a request", reader_resumes},
        {"an idle write lock is taken again without a request", writer_resumes},
        {"an idle write lock gives way to a reader", writer_gives_way_to_a_reader},
        {"an idle read lock gives way to a writer", reader_gives_way_to_a_writer},
        {"an idle read lock stays beside readers", reader_stays_beside_readers},
        {"readers that come and go cost an idle read lock no more than a lock", readers_cost_no_more_than_a_lock},
        {"a read lock lists no reader that comes while it is used", used_meanwhile},
        {"a read lock that was idle gives way to a writer that came while it was used", writer_comes_while_used},
        {"a thread that wants to write gives up the idle read lock", writes_after_reading},
        {"a thread that wants to read gives up the idle write lock", reads_after_writing},
        {"one read lock of an object is idle at most", one_is_kept},
        {"a writer that goes on as a reader keeps no write lock", no_writer_beside_a_reader},
        {"a writer that goes on as a reader keeps its turn", reader_has_the_writers_turn},
        {"what was taken under a write lock is not kept", under_is_not_kept},
        {"an idle read lock goes when its time ends", time_ends},
        {"an idle read lock goes with its connection", connection_lost},
        {"a close deletes the node of an idle read lock", closed},
        {0},
    };
    return fixture_main(argc, argv, "rwlock idle", tests, ON_ONE | ON_THREE | ON_OWN);
}
