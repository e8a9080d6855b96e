/* The right contender is next, whichever one leaves, and no other is woken. */
#include "test/lib/fixture.h"

#include <signal.h>
#include <unistd.h>

enum { EVENT_DELETED = 2, CHILD_SESSION_MS = 3000, N_WAITERS = 6 };

static void wait_for_nodes(int n) { CHECK_WITHIN(LONG_MS, fixture_nodes() == n); }

/* --- processes that are killed ----------------------------------------------------------------------------------- */

/* In a process of its own: ask for the lock, and hold on to it for good. */
static pid_t contend_elsewhere(int n_nodes)
{
    pid_t pid = pdk__test_fork();
    if (pid == 0) {
        struct peer p = peer_new(CHILD_SESSION_MS);
        CHECK_RC(pdk_mutex_lock(p.mutex), 0);
        for (;;)
            pause();
    }
    wait_for_nodes(n_nodes);
    return pid;
}

static void kill_it(pid_t pid)
{
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(pdk__test_wait(pid), -SIGKILL);
}

static void holder_killed(void)
{
    struct request next, last;
    CHILD_HAS_THREADS();
    fixture_begin();
    pid_t pid = contend_elsewhere(1);
    struct peer b = peer_new(0), c = peer_new(0);
    request_queued(&next, &b, PDK_FOREVER, 2);
    request_queued(&last, &c, PDK_FOREVER, 3);
    CHECK_EQ(next.n_told, 0);
    kill_it(pid);
    request_told(&next, 0);
    CHECK_EQ(fixture_nodes(), 2);
    CHECK_EQ(last.n_told, 0);
    request_end(&next, 0);
    request_end(&last, 0);
    peer_free(&b);
    peer_free(&c);
}

/* The contender that waited for it waits for the one ahead of it. */
static void waiter_killed(void)
{
    struct request w;
    CHILD_HAS_THREADS();
    fixture_begin();
    struct peer a = peer_new(0), c = peer_proxied();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    pid_t pid = contend_elsewhere(2);
    request_queued(&w, &c, PDK_FOREVER, 3);
    kill_it(pid);
    wait_for_nodes(2);
    CHECK_WITHIN(LONG_MS, pdk__proxy_events(c.proxy, EVENT_DELETED, NULL) == 1);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(c.proxy, PDK__OP_GET) == 3); /* two ahead of it, and its own */
    CHECK_EQ(w.n_told, 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_end(&w, 0);
    peer_free(&a);
    peer_free(&c);
}

/* --- gone between list and watch --------------------------------------------------------------------------------- */

/* The request that would set the watch is held back. */
static int hold_watch(struct peer *p)
{
    return pdk__proxy_rule(p->proxy, &(struct pdk__proxy_rule){.op = PDK__OP_GET, .act = PDK__HOLD_REQUEST});
}

static void gone_before_watched(void)
{
    struct request w;
    fixture_begin();
    struct peer a = peer_new(0), b = peer_proxied();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int held = hold_watch(&b);
    request_now(&w, &b, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(b.proxy, held) == 1);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    wait_for_nodes(1);
    pdk__proxy_release(b.proxy, held);
    request_told(&w, 0);
    if (fixture.e->n == 1) /* else its server may have lagged, and notified it later */
        CHECK_EQ(pdk__proxy_events(b.proxy, 0, NULL), 0);
    request_end(&w, 0);
    peer_free(&a);
    peer_free(&b);
}

/* It was not the holder: the lock is not ours yet. */
static void middle_gone_before_watched(void)
{
    struct request middle, last;
    fixture_begin();
    struct peer a = peer_new(0), b = peer_new(0), c = peer_proxied();
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    request_queued(&middle, &b, PDK_FOREVER, 2);
    int held = hold_watch(&c);
    request_now(&last, &c, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(c.proxy, held) == 1);
    CHECK_RC(pdk_grant_cancel(middle.grant), 0);
    wait_for_nodes(2);
    int lists = pdk__proxy_replies(c.proxy, PDK__OP_LIST), gets = pdk__proxy_replies(c.proxy, PDK__OP_GET);
    pdk__proxy_release(c.proxy, held);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(c.proxy, PDK__OP_LIST) > lists &&
                              pdk__proxy_replies(c.proxy, PDK__OP_GET) >= gets + 3);
    fixture_settle(&c.client, 1);
    CHECK_EQ(last.n_told, 0);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    request_end(&last, 0);
    request_end(&middle, PDK_ECANCELED);
    peer_free(&a);
    peer_free(&b);
    peer_free(&c);
}

/* --- no herd ----------------------------------------------------------------------------------------------------- */

static struct peer peers[N_WAITERS + 1];
static struct request wants[N_WAITERS + 1];

/* The peers from FIRST on got no event, and sent no request but the listing that settles. */
static void check_quiet(int first)
{
    for (int i = first; i <= N_WAITERS; i++) {
        fixture_settle(&peers[i].client, 1);
        CHECK_EQ(pdk__proxy_events(peers[i].proxy, 0, NULL), 0);
        CHECK_EQ(pdk__proxy_requests(peers[i].proxy, PDK__OP_CREATE2), 0);
        CHECK_EQ(pdk__proxy_requests(peers[i].proxy, PDK__OP_LIST), 0);
        CHECK_EQ(pdk__proxy_requests(peers[i].proxy, PDK__OP_LIST2), 1); /* which settles */
    }
}

/* Peer I has the lock and releases it: the next one is notified, once, and no other. */
static void release(int i)
{
    char node[128];
    pdk_lock_node(peers[i].mutex, 0, node, sizeof node);
    for (int k = 0; k <= N_WAITERS; k++)
        pdk__proxy_reset_counters(peers[k].proxy);
    request_end(&wants[i], 0);
    if (i == N_WAITERS)
        return;
    request_told(&wants[i + 1], 0);
    fixture_settle(&peers[i + 1].client, 1);
    CHECK_EQ(pdk__proxy_events(peers[i + 1].proxy, EVENT_DELETED, node), 1);
    CHECK_EQ(pdk__proxy_events(peers[i + 1].proxy, 0, NULL), 1);
    check_quiet(i + 2);
}

/* All are in the queue, and have settled there. */
static void line_up(void)
{
    fixture_begin();
    for (int i = 0; i <= N_WAITERS; i++) {
        peers[i] = peer_proxied();
        request_queued(&wants[i], &peers[i], PDK_FOREVER, i + 1);
        /* it watches its own node, and the one ahead */
        CHECK_WITHIN(LONG_MS, pdk__proxy_replies(peers[i].proxy, PDK__OP_GET) == (i == 0 ? 1 : 2));
    }
    request_told(&wants[0], 0);
}

static void no_herd(void)
{
    line_up();
    for (int i = 0; i <= N_WAITERS; i++)
        release(i);
    for (int i = 0; i <= N_WAITERS; i++)
        peer_free(&peers[i]);
}

/* One in the middle gives up: the one after it looks again, the others hear nothing. */
static void quiet_departure(void)
{
    line_up();
    for (int i = 0; i <= N_WAITERS; i++)
        pdk__proxy_reset_counters(peers[i].proxy);
    CHECK_RC(pdk_grant_cancel(wants[2].grant), 0);
    request_end(&wants[2], PDK_ECANCELED);
    CHECK_WITHIN(LONG_MS, pdk__proxy_events(peers[3].proxy, 0, NULL) == 1);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(peers[3].proxy, PDK__OP_GET) == 1);
    check_quiet(4);
    fixture_settle(&peers[1].client, 1);
    CHECK_EQ(pdk__proxy_events(peers[1].proxy, 0, NULL), 0);
    for (int i = 0; i <= N_WAITERS; i++)
        if (i != 2)
            request_end(&wants[i], 0);
    for (int i = 0; i <= N_WAITERS; i++)
        peer_free(&peers[i]);
}

/* --- what the servers say of the watches ------------------------------------------------------------------------- */

/* Of the client with SESSION. */
static pdk_client *client_of(int64_t session)
{
    for (int i = 0; i <= N_WAITERS; i++)
        if (peers[i].client != NULL && pdk_client_session_id(peers[i].client) == session)
            return peers[i].client;
    return NULL;
}

/* Each contender watches its own node, and the one directly ahead; and these are all that are watched. */
static bool each_watches_its_own_and_the_one_ahead(pdk_contender_list *list)
{
    size_t n = pdk_contender_list_size(list);
    bool right = fixture_watches_in_all() == 2 * (long)n - 1;
    for (size_t i = 0; i < n && right; i++) {
        char node[256];
        snprintf(node, sizeof node, "%s/%s", fixture.path, pdk_contender_text(list, i, PDK_CONTENDER_NAME));
        right = fixture_watchers(node) == (i + 1 < n ? 2 : 1);
        for (size_t watcher = i; right && watcher < n && watcher <= i + 1; watcher++)
            right = fixture_watches(client_of(pdk_contender_number(list, watcher, PDK_CONTENDER_SESSION)), node);
    }
    return right;
}

static void check_watches(int n_nodes)
{
    pdk_contender_list *list;
    wait_for_nodes(n_nodes);
    CHECK_RC(pdk_contenders(peers[N_WAITERS].client, fixture.path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    CHECK_EQ(pdk_contender_list_size(list), n_nodes);
    CHECK_WITHIN(LONG_MS, each_watches_its_own_and_the_one_ahead(list));
    pdk_contender_list_free(list);
}

/* Seven contenders; then one in the middle has left, the holder, and the next in line. */
static void own_and_predecessor(void)
{
    static const int leavers[] = {3, 0, 2};
    line_up();
    check_watches(N_WAITERS + 1);
    for (int i = 0; i < 3; i++) {
        struct request *w = &wants[leavers[i]];
        if (leavers[i] != 0)
            CHECK_RC(pdk_grant_cancel(w->grant), 0);
        request_end(w, leavers[i] != 0 ? PDK_ECANCELED : 0);
        check_watches(N_WAITERS - i);
    }
    for (int i = 0; i <= N_WAITERS; i++)
        if (i != 0 && i != 2 && i != 3)
            request_end(&wants[i], 0);
    for (int i = 0; i <= N_WAITERS; i++)
        peer_free(&peers[i]);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"when the holder is killed, the next one holds", holder_killed},
        {"when a waiter is killed, the one behind it waits on", waiter_killed},
        {"a predecessor gone between list and watch is not waited for", gone_before_watched},
        {"a waiter gone between list and watch gives nobody the lock", middle_gone_before_watched},
        {"a release is told to one waiter, once", no_herd},
        {"a waiter that gives up is told to the one behind it only", quiet_departure},
        {"each of seven watches its own node and the one ahead, also when three have left", own_and_predecessor},
        {0},
    };
    return fixture_main(argc, argv, "mutex queue", tests, ON_ONE | ON_THREE);
}
