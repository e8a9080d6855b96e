/* Statistics on real servers: each thing that happens is counted where it belongs, and nowhere else. */
#include "recipes/lockable.h"
#include "test/lib/fixture.h"

#include <stdio.h>
#include <unistd.h>

static struct peer a, b;

static void begin(void)
{
    fixture_begin();
    fixture_make(fixture.path, "", ZOO_PERSISTENT, NULL);
    a = peer_proxied();
    b = peer_new(0);
}

static void end(void)
{
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    peer_free(&a);
    peer_free(&b);
}

static pdk_stats *take(pdk_client *c)
{
    pdk_stats *s;
    CHECK_RC(pdk_client_stats(c, &s), 0);
    uint64_t over = pdk_stats_count(s, PDK_STAT_GRANTS) + pdk_stats_count(s, PDK_STAT_FAILURES);
    CHECK_EQ(pdk_stats_count(s, PDK_STAT_ACQUIRES), over + pdk_stats_count(s, PDK_STAT_WAITING));
    return s;
}

static int64_t count(pdk_client *c, pdk_stat what)
{
    pdk_stats *s = take(c);
    int64_t n = (int64_t)pdk_stats_count(s, what);
    pdk_stats_free(s);
    return n;
}

static int64_t failures(pdk_client *c, int error)
{
    pdk_stats *s = take(c);
    int64_t n = (int64_t)pdk_stats_failures(s, error);
    pdk_stats_free(s);
    return n;
}

static int64_t losses(pdk_client *c, pdk_loss reason)
{
    pdk_stats *s = take(c);
    int64_t n = (int64_t)pdk_stats_losses(s, reason);
    pdk_stats_free(s);
    return n;
}

/* How many values a histogram has, and how many of them are at most BOUND, one of its own. */
static int64_t values(pdk_client *c, pdk_histogram which, int64_t bound)
{
    pdk_stats *s = take(c);
    int64_t at = -1;
    uint64_t n = 0;
    for (size_t i = 0; at < bound && pdk_stats_bucket(s, which, i, &at, &n); i++)
        ;
    CHECK_EQ(at, bound);
    pdk_stats_free(s);
    return (int64_t)n;
}

static int64_t all(pdk_client *c, pdk_histogram which) { return values(c, which, INT64_MAX); }

static int64_t sum(pdk_client *c, pdk_histogram which)
{
    pdk_stats *s = take(c);
    int64_t n = (int64_t)pdk_stats_sum(s, which);
    pdk_stats_free(s);
    return n;
}

/* The counts of a client; those that are not named are 0. */
struct tally {
    int acquires, servers, handovers, reuses, failures, losses, waiting, held;
};

static void check_tally(pdk_client *c, struct tally t)
{
    CHECK_EQ(count(c, PDK_STAT_ACQUIRES), t.acquires);
    CHECK_EQ(count(c, PDK_STAT_SERVER_GRANTS), t.servers);
    CHECK_EQ(count(c, PDK_STAT_HANDOVERS), t.handovers);
    CHECK_EQ(count(c, PDK_STAT_REUSES), t.reuses);
    CHECK_EQ(count(c, PDK_STAT_FAILURES), t.failures);
    CHECK_EQ(count(c, PDK_STAT_LOSSES), t.losses);
    CHECK_EQ(count(c, PDK_STAT_WAITING), t.waiting);
    CHECK_EQ(count(c, PDK_STAT_HELD), t.held);
    CHECK_EQ(all(c, PDK_HISTOGRAM_WAIT), t.servers + t.handovers + t.reuses);
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

static void granted(void)
{
    begin();
    check_tally(a.client, (struct tally){0});
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0); /* the owner's second is no request */
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1, .held = 1});
    CHECK_EQ(all(a.client, PDK_HISTOGRAM_HOLD), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1});
    CHECK_EQ(all(a.client, PDK_HISTOGRAM_HOLD), 1);
    CHECK_EQ(values(a.client, PDK_HISTOGRAM_QUEUE, 0), 1);
    check_tally(b.client, (struct tally){0});
    end();
}

static void refused(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY);
    CHECK_RC(pdk_mutex_timedlock(b.mutex, 0), PDK_EBUSY);
    CHECK_RC(pdk_mutex_timedlock(b.mutex, 20), PDK_ETIMEDOUT);
    check_tally(b.client, (struct tally){.acquires = 3, .failures = 3});
    CHECK_EQ(failures(b.client, PDK_ETIMEDOUT), 1);
    CHECK_EQ(failures(b.client, PDK_EBUSY), 2); /* one look with a deadline of 0 finds it busy, too */
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

/* A thread of the same object has it: no server is asked. */
static void tried_by_a_thread(void)
{
    struct locker l;
    begin();
    locker_start(&l, a.mutex);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    CHECK_RC(pdk_mutex_trylock(a.mutex), PDK_EBUSY);
    check_tally(a.client, (struct tally){.acquires = 2, .servers = 1, .failures = 1, .held = 1});
    locker_finish(&l);
    end();
}

static void waited(void)
{
    struct request w;
    begin();
    int64_t before_ms = pdk__test_now_ms();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t from_ms = pdk__test_now_ms();
    request_queued(&w, &b, PDK_FOREVER, 2);
    CHECK_WITHIN(LONG_MS, values(b.client, PDK_HISTOGRAM_QUEUE, 1) == 1);
    CHECK_EQ(values(b.client, PDK_HISTOGRAM_QUEUE, 0), 0);
    check_tally(b.client, (struct tally){.acquires = 1, .waiting = 1});
    CHECK_WITHIN(LONG_MS, pdk__test_now_ms() >= from_ms + 60);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&w, 0);
    int64_t most_ms = pdk__test_now_ms() - before_ms + 1;
    check_tally(b.client, (struct tally){.acquires = 1, .servers = 1, .held = 1});
    CHECK(sum(b.client, PDK_HISTOGRAM_WAIT) >= 59 && sum(b.client, PDK_HISTOGRAM_WAIT) <= most_ms);
    CHECK(sum(a.client, PDK_HISTOGRAM_HOLD) >= 59 && sum(a.client, PDK_HISTOGRAM_HOLD) <= most_ms);
    request_end(&w, 0);
    end();
}

/* The one before it gives up, and it lists again. */
static void queued_once(void)
{
    struct request first, second;
    int64_t ahead = -1;
    begin();
    struct peer third = peer_new(0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_queued(&first, &b, PDK_FOREVER, 2);
    request_queued(&second, &third, PDK_FOREVER, 3);
    CHECK_WITHIN(LONG_MS, values(third.client, PDK_HISTOGRAM_QUEUE, 2) == 1);
    CHECK_EQ(values(third.client, PDK_HISTOGRAM_QUEUE, 1), 0);
    CHECK_RC(pdk_grant_cancel(first.grant), 0);
    request_end(&first, PDK_ECANCELED);
    CHECK_WITHIN(LONG_MS, pdk_lock_ahead(third.mutex, &ahead) == 0 && ahead == 1);
    CHECK_EQ(all(third.client, PDK_HISTOGRAM_QUEUE), 1);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_end(&second, 0);
    peer_free(&third);
    end();
}

static void cancelled(void)
{
    struct request w;
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_queued(&w, &b, PDK_FOREVER, 2);
    CHECK_RC(pdk_grant_cancel(w.grant), 0);
    request_end(&w, PDK_ECANCELED);
    check_tally(b.client, (struct tally){.acquires = 1, .failures = 1});
    CHECK_EQ(failures(b.client, PDK_ECANCELED), 1);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

static void thread_cancelled(void)
{
    struct locker l;
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    locker_start(&l, b.mutex);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_EQ(pthread_cancel(l.thread), 0);
    pthread_join(l.thread, NULL);
    check_tally(b.client, (struct tally){.acquires = 1, .failures = 1});
    CHECK_EQ(failures(b.client, PDK_ECANCELED), 1);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

/* --- inside the process ------------------------------------------------------------------------------------------ */

static void begin_with(unsigned budget, int idle_ms)
{
    pdk_lock_options *o = pdk_lock_options_new();
    begin();
    CHECK_RC(pdk_lock_free(a.mutex), 0);
    CHECK_RC(pdk_lock_options_set_keep(o, budget, idle_ms), 0);
    CHECK_RC(pdk_mutex_new(&a.mutex, a.client, fixture.path, o), 0);
    pdk_lock_options_free(o);
}

static void handed_over(void)
{
    struct locker l;
    begin_with(100, 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    locker_start(&l, a.mutex);
    CHECK_WITHIN(LONG_MS, count(a.client, PDK_STAT_WAITING) == 1);
    CHECK_RC(pdk_mutex_timedlock(a.mutex, 0), 0); /* its own, once more */
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    check_tally(a.client, (struct tally){.acquires = 2, .servers = 1, .waiting = 1, .held = 1});
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&l.settled));
    check_tally(a.client, (struct tally){.acquires = 2, .servers = 1, .handovers = 1, .held = 1});
    CHECK_RC(pdk_mutex_timedlock(a.mutex, 20), PDK_ETIMEDOUT);
    check_tally(a.client, (struct tally){.acquires = 3, .servers = 1, .handovers = 1, .failures = 1, .held = 1});
    locker_finish(&l);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_EQ(all(a.client, PDK_HISTOGRAM_HOLD), 1); /* one node */
    CHECK_EQ(count(a.client, PDK_STAT_HELD), 0);
    end();
}

static void turn_cancelled(void)
{
    struct locker l;
    begin_with(100, 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    locker_start(&l, a.mutex);
    CHECK_WITHIN(LONG_MS, count(a.client, PDK_STAT_WAITING) == 1);
    CHECK_EQ(pthread_cancel(l.thread), 0);
    pthread_join(l.thread, NULL);
    CHECK_EQ(failures(a.client, PDK_ECANCELED), 1);
    CHECK_EQ(count(a.client, PDK_STAT_WAITING), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

static void taken_up_again(void)
{
    struct request w;
    begin_with(0, 60000);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1, .held = 1}); /* without an owner */
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    check_tally(a.client, (struct tally){.acquires = 2, .servers = 1, .reuses = 1, .held = 1});
    request_now(&w, &a, PDK_FOREVER);
    request_end(&w, 0);
    check_tally(a.client, (struct tally){.acquires = 3, .servers = 1, .reuses = 2, .held = 1});
    CHECK(values(a.client, PDK_HISTOGRAM_WAIT, 1) >= 2);
    CHECK_RC(pdk_mutex_lock(b.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(b.mutex), 0);
    CHECK_EQ(count(a.client, PDK_STAT_HELD), 0);
    end();
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

static void node_deleted(void)
{
    char node[128];
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk_lock_node(a.mutex, 0, node, sizeof node);
    fixture_delete_below(fixture.path, node);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(a.mutex) == PDK_LOST);
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1, .losses = 1});
    CHECK_EQ(losses(a.client, PDK_LOSS_NODE), 1);
    CHECK_EQ(all(a.client, PDK_HISTOGRAM_HOLD), 1);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_ELOST);
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1, .losses = 1});
    end();
}

static void session_expired(void)
{
    begin();
    pdk_client *c = fixture_client(fixture_options(30000));
    pdk_mutex *m = fixture_mutex(c, fixture.path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(count(c, PDK_STAT_SESSIONS), 1);
    fixture_expire(pdk__client_zh(c));
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_CONNECTED);
    CHECK_EQ(losses(c, PDK_LOSS_SESSION), 1);
    CHECK_EQ(count(c, PDK_STAT_LOSSES), 1);
    CHECK_EQ(count(c, PDK_STAT_EXPIRIES), 1);
    CHECK_EQ(count(c, PDK_STAT_SESSIONS), 2);
    CHECK_EQ(count(c, PDK_STAT_CONNECTED), 1);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    fixture_end(c, m);
    end();
}

static void no_server(void)
{
    begin();
    struct peer p = peer_proxied_for(2000);
    CHECK_RC(pdk_mutex_lock(p.mutex), 0);
    pdk__proxy_refuse(p.proxy, true);
    pdk__proxy_cut(p.proxy);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(p.mutex) == PDK_LOST);
    CHECK_EQ(losses(p.client, PDK_LOSS_LEASE), 1);
    CHECK_EQ(count(p.client, PDK_STAT_LOSSES), 1);
    CHECK_EQ(count(p.client, PDK_STAT_CONNECTED), 0);
    CHECK(count(p.client, PDK_STAT_DISCONNECTS) >= 1);
    pdk__proxy_refuse(p.proxy, false);
    CHECK_RC(pdk_mutex_unlock(p.mutex), PDK_ELOST);
    peer_free(&p);
    end();
}

static void client_closed(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_client_close(a.client), 0);
    CHECK_EQ(losses(a.client, PDK_LOSS_CLOSED), 1);
    CHECK_EQ(count(a.client, PDK_STAT_CONNECTED), 0);
    CHECK_EQ(count(a.client, PDK_STAT_EXPIRIES), 0);
    peer_free(&a);
    peer_free(&b);
}

/* No program relied on it. */
static void lost_without_an_owner(void)
{
    char node[128];
    begin_with(0, 60000);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk_lock_node(a.mutex, 0, node, sizeof node);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    fixture_delete_below(fixture.path, node);
    CHECK_WITHIN(LONG_MS, count(a.client, PDK_STAT_HELD) == 0);
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1});
    end();
}

/* --- the session ------------------------------------------------------------------------------------------------- */

static void reconnected(void)
{
    begin();
    CHECK_EQ(count(a.client, PDK_STAT_RECONNECTS), 0);
    pdk__proxy_cut(a.proxy);
    CHECK_WITHIN(LONG_MS, count(a.client, PDK_STAT_RECONNECTS) == 1);
    CHECK_EQ(count(a.client, PDK_STAT_DISCONNECTS), 1);
    CHECK_EQ(count(a.client, PDK_STAT_SESSIONS), 1);
    CHECK_EQ(count(a.client, PDK_STAT_EXPIRIES), 0);
    end();
}

static void renewed(void)
{
    begin();
    struct peer p = peer_proxied_for(4000);
    CHECK_RC(pdk_mutex_lock(p.mutex), 0);
    CHECK_WITHIN(LONG_MS, count(p.client, PDK_STAT_RENEWALS) >= 2);
    CHECK(count(p.client, PDK_STAT_RENEWALS_SENT) >= count(p.client, PDK_STAT_RENEWALS));
    CHECK(all(p.client, PDK_HISTOGRAM_RENEWAL) >= 2);
    CHECK_RC(pdk_mutex_unlock(p.mutex), 0);
    peer_free(&p);
    CHECK_EQ(count(a.client, PDK_STAT_RENEWALS_SENT), 0); /* it held nothing, and only reads */
    end();
}

/* --- other locks ------------------------------------------------------------------------------------------------- */

static void permits(void)
{
    pdk_semaphore *s;
    pdk_grant *p, *q;
    begin();
    CHECK_RC(pdk_semaphore_new(&s, a.client, fixture_path(), 3, NULL), 0);
    CHECK_RC(pdk_semaphore_acquire(s, 2, &p), 0);
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1, .held = 1});
    CHECK_RC(pdk_semaphore_tryacquire(s, 2, &q), PDK_EBUSY);
    CHECK_RC(pdk_semaphore_timedacquire(s, 2, 50, &q), PDK_ETIMEDOUT);
    check_tally(a.client, (struct tally){.acquires = 3, .servers = 1, .failures = 2, .held = 1});
    CHECK_EQ(failures(a.client, PDK_ETIMEDOUT), 1);
    CHECK_RC(pdk_grant_release(p), 0);
    check_tally(a.client, (struct tally){.acquires = 3, .servers = 1, .failures = 2});
    CHECK_EQ(all(a.client, PDK_HISTOGRAM_HOLD), 1);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_RC(pdk_lock_free(s), 0);
    end();
}

static void several_at_once(void)
{
    pdk_mutex *m;
    char node[128];
    begin();
    const char *paths[] = {fixture.path, fixture_path()};
    CHECK_RC(pdk_mutex_new_several(&m, a.client, paths, 2, NULL), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1, .held = 1});
    snprintf(node, sizeof node, "%s", fixture_find(paths[1], "lock-"));
    fixture_delete_below(paths[1], node);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1, .losses = 1});
    CHECK_EQ(losses(a.client, PDK_LOSS_NODE), 1);
    CHECK_EQ(all(a.client, PDK_HISTOGRAM_HOLD), 1);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_EQ(all(a.client, PDK_HISTOGRAM_HOLD), 1);
    CHECK_RC(pdk_client_flush(a.client, LONG_MS), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

static void terms(void)
{
    pdk_leader *l;
    char node[128];
    begin();
    const char *path = fixture_path();
    CHECK_RC(pdk_leader_new(&l, a.client, path, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(l) == PDK_HELD);
    check_tally(a.client, (struct tally){.acquires = 1, .servers = 1, .held = 1});
    pdk_lock_node(l, 0, node, sizeof node);
    fixture_delete_below(path, node);
    CHECK_WITHIN(LONG_MS, count(a.client, PDK_STAT_SERVER_GRANTS) == 2);
    check_tally(a.client, (struct tally){.acquires = 2, .servers = 2, .losses = 1, .held = 1});
    CHECK_RC(pdk_leader_resign(l), 0);
    check_tally(a.client, (struct tally){.acquires = 2, .servers = 2, .losses = 1});
    CHECK_RC(pdk_lock_free(l), 0);
    end();
}

/* --- the calls --------------------------------------------------------------------------------------------------- */

static void arguments(void)
{
    pdk_stats *s;
    begin();
    CHECK_RC(pdk_client_stats(NULL, &s), PDK_EINVAL);
    CHECK_RC(pdk_client_stats(a.client, NULL), PDK_EINVAL);
    pid_t child = pdk__test_fork();
    if (child == 0)
        _exit(pdk_client_stats(a.client, &s) == PDK_EFORKED ? 0 : 1);
    CHECK_EQ(pdk__test_wait(child), 0);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a lock is one request, one grant and one hold", granted},
        {"a lock that is busy is a failure", refused},
        {"a try that finds another thread is a failure", tried_by_a_thread},
        {"a wait has its time, and its place in the queue", waited},
        {"a place in a queue is counted once", queued_once},
        {"a cancelled request is a failure", cancelled},
        {"a cancelled thread's request is a failure", thread_cancelled},
        {"a turn is a hand-over, of one hold", handed_over},
        {"a cancelled thread's turn is a failure", turn_cancelled},
        {"a lock that stayed is taken up again", taken_up_again},
        {"a deleted node is a loss", node_deleted},
        {"an expired session is a loss, and another session", session_expired},
        {"a lease that ends is a loss", no_server},
        {"a close is a loss", client_closed},
        {"a loss that no program met is none", lost_without_an_owner},
        {"a new connection is no new session", reconnected},
        {"renewals are counted while a lock is held", renewed},
        {"several permits are one request", permits},
        {"a multi-lock is one request", several_at_once},
        {"each term of a leader is a request", terms},
        {"refusals of the call itself", arguments},
        {0},
    };
    return fixture_main(argc, argv, "stats", tests, ON_ONE);
}
