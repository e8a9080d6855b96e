/*
 * The packets of each verb, counted by the proxy before the client: a change of these numbers is a change of the
 * product. Times are no part of it.
 */
#include "lib/zk/window.h"
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A hold or a wait of less than a twentieth of LONG_SESSION_MS has no watch on its node: however slow this machine
 * is. */
enum { LONG_SESSION_MS = 600000, IDLE_SESSION_MS = 6000, IDLE_SESSIONS = 1 };

/* Requests, those of them that a quorum logs, and packets: requests, replies and events of watches. No pings. */
struct cost {
    int requests, writes, packets;
};

/*
 * The one table of these numbers. A cycle is the sum of its verbs: uncontended 4 + 2 packets; of many contenders
 * 6 + 3 + 2, or 6 + 5 + 1 + 2 where they look ahead; of two contenders, or of many in one process, 6 + 1 + 2.
 */
static const struct {
    struct cost lock, unlock, trylock, trylock_taken, first_lock, queueing, hand_over, hand_over_to_third, move_up,
        hand_over_inside, nothing, reconnect;
    struct cost ask, begin_first, begin_key, skip_key, begin_period, skip_period, end; /* of a job's run */
    struct cost idle_session; /* of an idle holder in one session timeout, at most: its schedule is by the clock */
} costs = {
    .lock = {2, 1, 4}, /* create and list */
    .unlock = {1, 1, 2},
    .trylock = {3, 1, 6}, /* lists first */
    .trylock_taken = {1, 0, 2},
    .first_lock = {7, 5, 14}, /* the path has four names, and the last two are missing */
    .queueing = {3, 1, 6},
    .hand_over = {0, 0, 1}, /* the event */
    .hand_over_to_third = {1, 0, 3},
    .move_up = {2, 0, 5},          /* looking ahead: the event; lists, and watches its predecessor */
    .hand_over_inside = {1, 1, 3}, /* the delete of the second, and the event of the third */
    .nothing = {0, 0, 0},
    .reconnect = {2, 0, 4}, /* of ZooKeeper's client: it connects, and sets the watches again */
    .ask = {1, 0, 2},
    .begin_first = {3, 1, 6},  /* reads, makes the record, and looks at its time */
    .begin_key = {2, 1, 4},    /* reads, and writes */
    .skip_key = {1, 0, 2},     /* reads */
    .begin_period = {3, 1, 6}, /* looks at its own node, reads, and writes */
    .skip_period = {2, 0, 4},
    .end = {1, 1, 2},
    .idle_session = {12, 4, 24},
};

static struct peer a, b;

static void begin(void)
{
    fixture_begin();
    a = peer_proxied_for(LONG_SESSION_MS);
    b = peer_proxied_for(LONG_SESSION_MS);
}

/* The path exists from then on. */
static void begin_again(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    pdk__proxy_reset_counters(a.proxy);
}

static void end(void)
{
    peer_free(&a);
    peer_free(&b);
}

/* A listing of a path that is missing, as a fence: when it is answered, so is everything that was sent before. */
static const struct cost cost_of_fence = {1, 0, 2};

static void fence(struct peer *p)
{
    pdk_contender_list *list;
    CHECK_RC(pdk_contenders(p->client, "/missing", 1, LONG_MS, &list), 0);
    pdk_contender_list_free(list);
}

static int packets(struct peer *p)
{
    return pdk__proxy_requests(p->proxy, 0) + pdk__proxy_replies(p->proxy, 0) + pdk__proxy_events(p->proxy, 0, NULL);
}

/* The peer has sent and received just that since the last reset. */
static void check_cost(struct peer *p, const char *verb, const struct cost *c)
{
    char story[512];
    fence(p);
    pdk__proxy_story(p->proxy, story, sizeof story);
    printf("# %s: %s\n", verb, story);
    CHECK_EQ(pdk__proxy_requests(p->proxy, 0) - cost_of_fence.requests, c->requests);
    CHECK_EQ(pdk__proxy_writes(p->proxy), c->writes);
    CHECK_EQ(packets(p) - cost_of_fence.packets, c->packets);
    pdk__proxy_reset_counters(p->proxy);
}

static void uncontended(void)
{
    begin_again();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    check_cost(&a, "lock", &costs.lock);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    check_cost(&a, "unlock", &costs.unlock);
    end();
}

static void first_of_a_path(void)
{
    begin();
    pdk_mutex *m;
    char path[200];
    snprintf(path, sizeof path, "%s/below", fixture.path);
    CHECK_RC(pdk_mutex_new(&m, a.client, path, NULL), 0);
    pdk__proxy_reset_counters(a.proxy);
    CHECK_RC(pdk_mutex_lock(m), 0);
    check_cost(&a, "first lock", &costs.first_lock);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

static void tried(void)
{
    begin_again();
    CHECK_RC(pdk_mutex_trylock(a.mutex), 0);
    check_cost(&a, "trylock", &costs.trylock);
    pdk__proxy_reset_counters(b.proxy);
    CHECK_RC(pdk_mutex_trylock(b.mutex), PDK_EBUSY);
    check_cost(&b, "trylock of a lock that is held", &costs.trylock_taken);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

/* When this returns, the request has listed, and has set its watches. */
static void request_watching(struct request *w, struct peer *p, int n_ahead)
{
    int64_t ahead = -1;
    request_queued(w, p, PDK_FOREVER, n_ahead + 1);
    CHECK_WITHIN(LONG_MS, pdk_lock_ahead(p->mutex, &ahead) == 0 && ahead == n_ahead);
}

/* A peer whose waiters look ahead. */
static struct peer looking_ahead(void)
{
    struct peer p = peer_proxied_for(LONG_SESSION_MS);
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_look_ahead(o, true), 0);
    CHECK_RC(pdk_lock_free(p.mutex), 0);
    CHECK_RC(pdk_mutex_new(&p.mutex, p.client, fixture.path, o), 0);
    pdk_lock_options_free(o);
    return p;
}

/* The second of the queue knows that no other node is ahead. */
static void contended_by(struct peer c, const struct cost *when_second_holds, const struct cost *hand_over_to_third)
{
    struct request second, third;
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk__proxy_reset_counters(b.proxy);
    pdk__proxy_reset_counters(c.proxy);
    request_watching(&second, &b, 1);
    check_cost(&b, "lock that waits", &costs.queueing);
    request_watching(&third, &c, 2);
    check_cost(&c, "lock that waits behind it", &costs.queueing);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&second, 0);
    check_cost(&b, "hand-over to the second", &costs.hand_over);
    CHECK_WITHIN(LONG_MS, packets(&c) == when_second_holds->packets);
    check_cost(&c, "what the third does then", when_second_holds);
    request_end(&second, 0);
    check_cost(&b, "unlock after it", &costs.unlock);
    request_told(&third, 0);
    check_cost(&c, "hand-over to the third", hand_over_to_third);
    request_end(&third, 0);
    peer_free(&c);
    end();
}

/* The third lists again. */
static void contended(void)
{
    begin_again();
    contended_by(peer_proxied_for(LONG_SESSION_MS), &costs.nothing, &costs.hand_over_to_third);
}

/* The third lists while the second holds. */
static void contended_looking_ahead(void)
{
    begin_again();
    contended_by(looking_ahead(), &costs.move_up, &costs.hand_over);
}

/* The third knows that the second was the first: it is of the same client. */
static void contended_in_a_process(void)
{
    struct request second, third;
    begin_again();
    struct peer c = b;
    c.mutex = fixture_mutex(b.client, fixture.path);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_watching(&second, &b, 1);
    request_watching(&third, &c, 2);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_told(&second, 0);
    fence(&b);
    pdk__proxy_reset_counters(b.proxy);
    request_end(&second, 0);
    request_told(&third, 0);
    check_cost(&b, "unlock, and hand-over to the third in the same process", &costs.hand_over_inside);
    request_end(&third, 0);
    CHECK_RC(pdk_lock_free(c.mutex), 0);
    end();
}

/* The next in line proves its session anew, and is another. */
static void reconnected(void)
{
    struct request second, third;
    begin_again();
    struct peer c = peer_proxied_for(LONG_SESSION_MS);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_watching(&second, &b, 1);
    request_watching(&third, &c, 2);
    fence(&c);
    pdk__proxy_reset_counters(c.proxy);
    pdk__proxy_cut(c.proxy);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(c.proxy, PDK__OP_SET_WATCHES) == 1);
    check_cost(&c, "a waiter's connection is lost", &costs.reconnect);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_end(&second, 0);
    request_end(&third, 0);
    peer_free(&c);
    end();
}

static void ended(int rc, void *arg)
{
    (void)rc;
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* Many requests of one client for one lock. */
enum { CROWD = 200, FEW = 24 };

struct crowd {
    int n;
    pdk_grant *grants[CROWD];
    atomic_int n_ended;
};

static void crowd_begin(struct crowd *w, pdk_mutex *m, int n)
{
    *w = (struct crowd){.n = n};
    for (int i = 0; i < n; i++)
        CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, ended, &w->n_ended, &w->grants[i]), 0);
}

/* The first N_HELD have the lock. The others wait, and give up. */
static void crowd_end(struct crowd *w, int n_held)
{
    for (int i = n_held; i < w->n; i++)
        CHECK_RC(pdk_grant_cancel(w->grants[i]), 0);
    CHECK_WITHIN(LONG_MS, w->n_ended == w->n);
    for (int i = 0; i < w->n; i++)
        CHECK_RC(pdk_grant_release(w->grants[i]), i < n_held ? 0 : PDK_EPERM);
}

/* The first of them proves its session anew; none lists. */
static void crowd_reconnected(void)
{
    static struct crowd crowd;
    begin_again();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    crowd_begin(&crowd, b.mutex, CROWD);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(b.proxy, PDK__OP_GET) >= CROWD); /* each its predecessor */
    fence(&b);
    pdk__proxy_reset_counters(b.proxy);
    pdk__proxy_cut(b.proxy);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(b.proxy, PDK__OP_SET_WATCHES) == 1);
    fence(&b);
    CHECK_EQ(pdk__proxy_requests(b.proxy, PDK__OP_LIST), 0);
    CHECK_EQ(pdk__proxy_requests(b.proxy, PDK__OP_GET), 0);
    crowd_end(&crowd, 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

/* All have asked before the first is answered: what it lists is answered, and one listing follows for the others. */
static void crowd_joined(void)
{
    static struct crowd crowd;
    begin_again();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk__proxy_reset_counters(b.proxy);
    pdk__proxy_hold(b.proxy, PDK__TO_CLIENT, true);
    crowd_begin(&crowd, b.mutex, FEW);
    pdk__proxy_hold(b.proxy, PDK__TO_CLIENT, false);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(b.proxy, PDK__OP_GET) >= FEW);
    CHECK_EQ(pdk__proxy_requests(b.proxy, PDK__OP_LIST), 2);
    CHECK_EQ(pdk__proxy_requests(b.proxy, PDK__OP_CREATE2), FEW);
    crowd_end(&crowd, 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

/* The path is missing: one of them makes it. The next listing is that of the first node on it. */
static void crowd_joined_first(void)
{
    static struct crowd crowd;
    pdk_mutex *m;
    char path[200];
    begin();
    snprintf(path, sizeof path, "%s/below", fixture.path);
    CHECK_RC(pdk_mutex_new(&m, b.client, path, NULL), 0);
    pdk__proxy_reset_counters(b.proxy);
    pdk__proxy_hold(b.proxy, PDK__TO_CLIENT, true);
    crowd_begin(&crowd, m, FEW);
    pdk__proxy_hold(b.proxy, PDK__TO_CLIENT, false);
    CHECK_WITHIN(LONG_MS, crowd.n_ended == 1);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(b.proxy, PDK__OP_GET) >= FEW - 1);
    CHECK_EQ(pdk__proxy_requests(b.proxy, PDK__OP_LIST), 3);
    CHECK_EQ(pdk__proxy_requests(b.proxy, PDK__OP_CREATE2), 2 * FEW);
    CHECK_EQ(pdk__proxy_requests(b.proxy, PDK__OP_CREATE_CONTAINER), costs.first_lock.writes - 2);
    crowd_end(&crowd, 1);
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

static unsigned size_of_window(pdk_client *c)
{
    pdk__client_lock(c);
    unsigned size = c->window.size;
    pdk__client_leave(c);
    return size;
}

static atomic_int creates_before; /* the first grant */

static void granted_of_many(int rc, void *arg)
{
    if (*(atomic_int *)arg == 0)
        creates_before = pdk__proxy_requests(a.proxy, PDK__OP_CREATE2);
    ended(rc, arg);
}

/* Each has a path of its own, which is missing, and none is answered: creates and listings fill the window, and no more
 * are sent. The window grows with the answers. A lock whose path was missing does not wait for all others. */
static void locks_asked_for_at_once(void)
{
    enum { LOCKS = 500 };
    static pdk_mutex *m[LOCKS];
    static pdk_grant *grants[LOCKS];
    char path[200];
    atomic_int n_ended = 0;
    begin_again();
    for (int i = 0; i < LOCKS; i++) {
        snprintf(path, sizeof path, "%s-%d", fixture.path, i);
        CHECK_RC(pdk_mutex_new(&m[i], a.client, path, NULL), 0);
    }
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk__proxy_reset_counters(a.proxy);
    pdk__proxy_hold(a.proxy, PDK__TO_CLIENT, true);
    for (int i = 0; i < LOCKS; i++)
        CHECK_RC(pdk_mutex_lock_async(m[i], PDK_FOREVER, granted_of_many, &n_ended, &grants[i]), 0);
    int n = (int)(size_of_window(a.client) + 1) / 2;
    CHECK(n >= PDK__WINDOW_FIRST / 2 && n < PDK__WINDOW_FIRST);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(a.proxy, PDK__OP_LIST) == n);
    CHECK_EQ(pdk__proxy_requests(a.proxy, 0), 2 * n);
    pdk__proxy_hold(a.proxy, PDK__TO_CLIENT, false);
    CHECK_WITHIN(LONG_MS, n_ended == LOCKS);
    CHECK_EQ(size_of_window(a.client), PDK__WINDOW_MAX);
    CHECK(creates_before < LOCKS);
    pdk__proxy_reset_counters(a.proxy);
    pdk__proxy_hold(a.proxy, PDK__TO_CLIENT, true);
    for (int i = 0; i < LOCKS; i++)
        CHECK_RC(pdk_grant_release_async(grants[i], ended, &n_ended), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(a.proxy, PDK__OP_DELETE) == PDK__WINDOW_MAX);
    CHECK_EQ(pdk__proxy_requests(a.proxy, 0), PDK__WINDOW_MAX);
    pdk__proxy_hold(a.proxy, PDK__TO_CLIENT, false);
    CHECK_WITHIN(LONG_MS, n_ended == 2 * LOCKS);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    for (int i = 0; i < LOCKS; i++)
        CHECK_RC(pdk_lock_free(m[i]), 0);
    end();
}

/* A transaction weighs as much as the nodes that it makes. */
static void paths_asked_for_at_once(void)
{
    enum { LOCKS = 100, PATHS = 4 };
    static pdk_mutex *m[LOCKS];
    static pdk_grant *grants[LOCKS];
    char paths[PATHS][200];
    const char *of[PATHS];
    atomic_int n_ended = 0;
    begin_again();
    for (int i = 0; i < LOCKS; i++) {
        for (int k = 0; k < PATHS; k++) {
            snprintf(paths[k], sizeof paths[k], "%s-%d-%d", fixture.path, i, k);
            of[k] = paths[k];
        }
        CHECK_RC(pdk_mutex_new_several(&m[i], a.client, of, PATHS, NULL), 0);
    }
    int n = (int)(size_of_window(a.client) + PATHS - 1) / PATHS;
    pdk__proxy_reset_counters(a.proxy);
    pdk__proxy_hold(a.proxy, PDK__TO_CLIENT, true);
    for (int i = 0; i < LOCKS; i++)
        CHECK_RC(pdk_mutex_lock_async(m[i], PDK_FOREVER, ended, &n_ended, &grants[i]), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(a.proxy, PDK__OP_MULTI) >= n);
    CHECK_EQ(pdk__proxy_requests(a.proxy, PDK__OP_MULTI), n);
    pdk__proxy_hold(a.proxy, PDK__TO_CLIENT, false);
    CHECK_WITHIN(LONG_MS, n_ended == LOCKS);
    for (int i = 0; i < LOCKS; i++)
        CHECK_RC(pdk_grant_release_async(grants[i], ended, &n_ended), 0);
    CHECK_WITHIN(LONG_MS, n_ended == 2 * LOCKS);
    for (int i = 0; i < LOCKS; i++)
        CHECK_RC(pdk_lock_free(m[i]), 0);
    end();
}

static void looked_at(void)
{
    int64_t token;
    char node[128];
    begin_again();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    fence(&a);
    pdk__proxy_reset_counters(a.proxy);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_HELD);
    CHECK_RC(pdk_lock_token(a.mutex, &token, NULL), 0);
    CHECK(pdk_lock_valid_ms(a.mutex) > 0);
    CHECK(pdk_lock_node(a.mutex, 0, node, sizeof node) > 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    check_cost(&a, "state, token, valid_ms, node, and the owner's lock and unlock", &costs.nothing);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    end();
}

static void check_begin(pdk_once *job, const char *verb, int rc, const struct cost *cost)
{
    CHECK_RC(pdk_once_begin(job, NULL, LONG_MS), rc);
    check_cost(&a, verb, cost);
}

static void check_end(pdk_once *job)
{
    CHECK_RC(pdk_once_end(job, 0, LONG_MS), 0);
    check_cost(&a, "end of a run", &costs.end);
}

static void jobs(void)
{
    pdk_once *first, *second, *nightly;
    begin_again();
    CHECK_RC(pdk_once_new(&first, a.mutex, "first", 0), 0);
    CHECK_RC(pdk_once_new(&second, a.mutex, "second", 0), 0);
    CHECK_RC(pdk_once_new(&nightly, a.mutex, NULL, 1), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk__proxy_reset_counters(a.proxy);
    check_begin(first, "begin the first run", 0, &costs.begin_first);
    check_end(first);
    CHECK_RC(pdk_once_ask(first, LONG_MS), PDK_EDONE);
    check_cost(&a, "ask", &costs.ask);
    check_begin(first, "skip by KEY", PDK_EDONE, &costs.skip_key);
    check_begin(second, "begin for a KEY", 0, &costs.begin_key);
    check_end(second);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    usleep(2000); /* the period is over */
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pdk__proxy_reset_counters(a.proxy);
    check_begin(nightly, "begin in a period", 0, &costs.begin_period);
    check_end(nightly);
    CHECK_RC(pdk_once_free(nightly), 0);
    CHECK_RC(pdk_once_new(&nightly, a.mutex, NULL, PDK_ONCE_PERIOD_MAX_MS), 0);
    check_begin(nightly, "skip by age", PDK_EDONE, &costs.skip_period);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    CHECK_RC(pdk_once_free(first), 0);
    CHECK_RC(pdk_once_free(second), 0);
    CHECK_RC(pdk_once_free(nightly), 0);
    end();
}

/* Time passes; nothing is waited for. */
static void idle(void)
{
    pdk_client_options *o = fixture_options(IDLE_SESSION_MS);
    begin();
    struct peer p = {.client = fixture_client(o)};
    p.mutex = fixture_mutex(p.client, fixture.path);
    CHECK_RC(pdk_mutex_lock(p.mutex), 0);
    pdk__proxy_reset_counters(fixture.proxy);
    int64_t until_ms = pdk__test_now_ms() + IDLE_SESSIONS * IDLE_SESSION_MS;
    CHECK_WITHIN(LONG_MS, pdk__test_now_ms() >= until_ms);
    p.proxy = fixture.proxy;
    printf("# in %d session timeouts: %d requests, %d writes\n", IDLE_SESSIONS, pdk__proxy_requests(p.proxy, 0),
           pdk__proxy_writes(p.proxy));
    CHECK(pdk__proxy_writes(p.proxy) > 0 && pdk__proxy_writes(p.proxy) <= IDLE_SESSIONS * costs.idle_session.writes);
    CHECK(pdk__proxy_requests(p.proxy, 0) <= IDLE_SESSIONS * costs.idle_session.requests);
    CHECK(packets(&p) <= IDLE_SESSIONS * costs.idle_session.packets);
    CHECK_RC(pdk_mutex_unlock(p.mutex), 0);
    fixture_end(p.client, p.mutex);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an uncontended lock and its unlock", uncontended},
        {"the first lock of a path that is missing", first_of_a_path},
        {"trylock of a free lock, and of one that is held", tried},
        {"a lock that waits, and is handed over", contended},
        {"a lock that waits behind two, looks ahead, and is handed over", contended_looking_ahead},
        {"a lock that waits behind another of its process", contended_in_a_process},
        {"a waiter whose connection is lost", reconnected},
        {"two hundred waiters whose connection is lost list nothing", crowd_reconnected},
        {"many that join at once list twice", crowd_joined},
        {"many that join a path that is missing make it once", crowd_joined_first},
        {"of five hundred locks that are asked for at once a window is under way", locks_asked_for_at_once},
        {"of a hundred locks of four paths, too", paths_asked_for_at_once},
        {"calls that only look send nothing", looked_at},
        {"a job that runs, and that is skipped", jobs},
        {"an idle holder's requests", idle},
        {0},
    };
    return fixture_main(argc, argv, "verb cost", tests, ON_ONE);
}
