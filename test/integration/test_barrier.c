/* The barrier and the double barrier: who waits, for how long, and what is left on the servers. */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N_PEERS = 3 };

static pdk_client *clients[N_PEERS];
static pdk_barrier *barriers[N_PEERS];
static pdk_barrier *members[N_PEERS];

static void begin_with(unsigned count, int session_ms)
{
    fixture_begin();
    for (int i = 0; i < N_PEERS; i++) {
        clients[i] = fixture_client(fixture_options(session_ms));
        CHECK_RC(pdk_barrier_new(&barriers[i], clients[i], fixture.path), 0);
        CHECK_RC(pdk_barrier_new_double(&members[i], clients[i], fixture.path, count), 0);
    }
}

static void begin(unsigned count) { begin_with(count, 30000); }

static void end(void)
{
    for (int i = 0; i < N_PEERS; i++) {
        CHECK_RC(pdk_barrier_free(barriers[i]), 0);
        CHECK_RC(pdk_barrier_free(members[i]), 0);
        CHECK_RC(pdk_client_close(clients[i]), 0);
        CHECK_RC(pdk_client_free(clients[i]), 0);
    }
}

/* The server that the test reads from may lag behind the others: counting has it catch up. */
static void catch_up(void) { CHECK_WITHIN(LONG_MS, fixture_nodes() >= 0); }

static bool exists(const char *path)
{
    struct Stat stat;
    catch_up();
    return pdk__zk_stat(fixture.zh, path, &stat) == ZOK;
}

static bool is_set(void) { return exists(fixture.path); }

static const char *ready_path(void)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/ready", fixture.path);
    return path;
}

/* --- a thread that calls ----------------------------------------------------------------------------------------- */

struct caller {
    pthread_t thread;
    int (*call)(struct caller *c);
    int peer;
    int64_t timeout_ms;
    atomic_bool returned;
    _Atomic int rc;
};

static int wait(struct caller *c) { return pdk_barrier_wait(barriers[c->peer], c->timeout_ms); }
static int enter(struct caller *c) { return pdk_barrier_enter(members[c->peer], c->timeout_ms); }
static int leave(struct caller *c) { return pdk_barrier_leave(members[c->peer], c->timeout_ms); }

static void *run(void *arg)
{
    struct caller *c = arg;
    c->rc = c->call(c);
    atomic_store(&c->returned, true);
    return NULL;
}

static void start(struct caller *c, int (*call)(struct caller *), int peer, int64_t timeout_ms)
{
    *c = (struct caller){.call = call, .peer = peer, .timeout_ms = timeout_ms};
    CHECK_EQ(pthread_create(&c->thread, NULL, run, c), 0);
}

static void finish(struct caller *c, int rc)
{
    CHECK_WITHIN(LONG_MS, atomic_load(&c->returned));
    CHECK_EQ(pthread_join(c->thread, NULL), 0);
    CHECK_RC(c->rc, rc);
}

static void cancel(struct caller *c)
{
    void *result;
    CHECK_EQ(pthread_cancel(c->thread), 0);
    CHECK_EQ(pthread_join(c->thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
}

/* --- the proxies ----------------------------------------------------------------------------------------------- */

/* On every server; the first that matches acts, once. Returns the number of the rule, the same on all. To count goes
 * on. */
static int rule_on(int op, const char *what, pdk__act act)
{
    struct pdk__proxy_rule rule = {.op = op, .path = what, .act = act, .every = act == PDK__COUNT};
    int number = 0;
    for (int i = 0; i < fixture.e->n; i++)
        number = pdk__proxy_rule(fixture.e->proxy[i], &rule);
    return number;
}

static int rule(int op, pdk__act act) { return rule_on(op, NULL, act); }

static int hits(int number)
{
    int n = 0;
    for (int i = 0; i < fixture.e->n; i++)
        n += pdk__proxy_hits(fixture.e->proxy[i], number);
    return n;
}

static void release(int number)
{
    for (int i = 0; i < fixture.e->n; i++)
        pdk__proxy_release(fixture.e->proxy[i], number);
}

/* --- the barrier ------------------------------------------------------------------------------------------------- */

static void set_and_removed(void)
{
    begin(1);
    CHECK_RC(pdk_barrier_remove(barriers[0], LONG_MS), 0);
    CHECK_RC(pdk_barrier_wait(barriers[0], 0), 0);
    CHECK_RC(pdk_barrier_set(barriers[0], LONG_MS), 0);
    CHECK(is_set());
    struct Stat stat;
    CHECK_EQ(pdk__zk_stat(fixture.zh, fixture.path, &stat), ZOK);
    CHECK_EQ(stat.ephemeralOwner, 0);
    CHECK(stat.dataLength > 0);
    CHECK_RC(pdk_barrier_set(barriers[1], LONG_MS), 0);
    CHECK_RC(pdk_barrier_wait(barriers[0], 0), PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_remove(barriers[1], LONG_MS), 0);
    CHECK(!is_set());
    CHECK_RC(pdk_barrier_wait(barriers[0], 0), 0);
    end();
}

static void a_locks_path_is_no_barriers(void)
{
    char text[400];
    pdk_mutex *m;
    begin(1);
    CHECK_RC(pdk_mutex_new(&m, clients[1], fixture.path, NULL), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_barrier_set(barriers[0], LONG_MS), PDK_EINVAL);
    pdk_barrier_last_error(barriers[0], text, sizeof text);
    CHECK(strstr(text, "nodes are below it") != NULL);
    CHECK_RC(pdk_barrier_wait(barriers[0], LONG_MS), PDK_EINVAL);
    CHECK_RC(pdk_barrier_wait(barriers[0], 0), PDK_EINVAL);
    CHECK_RC(pdk_barrier_remove(barriers[0], LONG_MS), PDK_EINVAL);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

/* A server may lag behind the one that has set the barrier, or has removed it. */
static void a_look_is_at_the_present(void)
{
    begin(1);
    for (int i = 0; i < 50; i++) {
        CHECK_RC(pdk_barrier_set(barriers[i % N_PEERS], LONG_MS), 0);
        for (int k = 0; k < N_PEERS; k++)
            CHECK_RC(pdk_barrier_wait(barriers[k], 0), PDK_ETIMEDOUT);
        CHECK_RC(pdk_barrier_remove(barriers[i % N_PEERS], LONG_MS), 0);
        for (int k = 0; k < N_PEERS; k++)
            CHECK_RC(pdk_barrier_wait(barriers[k], 0), 0);
    }
    int before = pdk__proxy_requests(fixture.proxy, PDK__OP_PROOF);
    for (int k = 0; k < N_PEERS; k++)
        CHECK_RC(pdk_barrier_wait(barriers[k], LONG_MS), 0);
    CHECK(fixture.e->n > 1 || pdk__proxy_requests(fixture.proxy, PDK__OP_PROOF) == before + N_PEERS);
    end();
}

static void waits_until_it_is_removed(void)
{
    struct caller c[N_PEERS];
    begin(1);
    CHECK_RC(pdk_barrier_set(barriers[0], LONG_MS), 0);
    for (int i = 0; i < N_PEERS; i++)
        start(&c[i], wait, i, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == N_PEERS);
    for (int i = 0; i < N_PEERS; i++)
        CHECK(!atomic_load(&c[i].returned));
    CHECK_RC(pdk_barrier_free(barriers[1]), PDK_EBUSY);
    CHECK_RC(pdk_barrier_remove(barriers[0], LONG_MS), 0);
    for (int i = 0; i < N_PEERS; i++)
        finish(&c[i], 0);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 0);
    end();
}

static void a_late_wait_leaves_no_watch(void)
{
    struct caller c;
    begin(1);
    CHECK_RC(pdk_barrier_set(barriers[0], LONG_MS), 0);
    CHECK_RC(pdk_barrier_wait(barriers[0], 50), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 0);
    start(&c, wait, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1);
    CHECK_RC(pdk_barrier_wait(barriers[0], 50), PDK_ETIMEDOUT); /* the other still relies on the watch */
    CHECK_RC(pdk_barrier_wait(barriers[0], 0), PDK_ETIMEDOUT);
    CHECK_EQ(fixture_watchers(fixture.path), 1);
    CHECK_RC(pdk_barrier_remove(barriers[1], LONG_MS), 0);
    finish(&c, 0);
    CHECK_RC(pdk_barrier_wait(barriers[0], LONG_MS), 0);
    CHECK_EQ(fixture_watchers(fixture.path), 0);
    end();
}

/* The answer of the read that sets the watch is late, too. */
static void a_watch_that_is_set_after_the_wait_is_removed(void)
{
    begin(1);
    CHECK_RC(pdk_barrier_set(barriers[0], LONG_MS), 0);
    int r = rule(PDK__OP_GET, PDK__HOLD_REPLY);
    CHECK_RC(pdk_barrier_wait(barriers[0], KNOWN_MS), PDK_ETIMEDOUT);
    CHECK(hits(r) >= 1);
    CHECK_EQ(fixture_watchers(fixture.path), 1);
    release(r);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 0);
    CHECK_RC(pdk_barrier_remove(barriers[0], LONG_MS), 0);
    end();
}

static void a_cancelled_wait_leaves_no_watch(void)
{
    struct caller c;
    begin(1);
    CHECK_RC(pdk_barrier_set(barriers[0], LONG_MS), 0);
    start(&c, wait, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1);
    cancel(&c);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 0);
    CHECK_RC(pdk_barrier_remove(barriers[0], LONG_MS), 0);
    end();
}

static void a_change_of_its_data_ends_no_wait(void)
{
    struct caller c;
    begin(1);
    CHECK_RC(pdk_barrier_set(barriers[0], LONG_MS), 0);
    start(&c, wait, 0, PDK_FOREVER);
    for (int i = 0; i < 3; i++) {
        CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1);
        CHECK_EQ(zoo_set(fixture.zh, fixture.path, "x", 1, -1), ZOK);
    }
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1);
    CHECK(!atomic_load(&c.returned));
    CHECK_RC(pdk_barrier_remove(barriers[1], LONG_MS), 0);
    finish(&c, 0);
    end();
}

/* --- the double barrier ------------------------------------------------------------------------------------------ */

static void enter_together_and_leave_together(void)
{
    struct caller c[N_PEERS];
    begin(N_PEERS);
    for (int round = 0; round < 3; round++) {
        start(&c[0], enter, 0, PDK_FOREVER);
        start(&c[1], enter, 1, PDK_FOREVER);
        CHECK_WITHIN(LONG_MS, fixture_nodes() == 2 && fixture_watchers(ready_path()) == 2);
        CHECK(!atomic_load(&c[0].returned) && !atomic_load(&c[1].returned));
        CHECK_RC(pdk_barrier_enter(members[2], LONG_MS), 0);
        finish(&c[0], 0);
        finish(&c[1], 0);
        CHECK_EQ(fixture_nodes(), N_PEERS + 1);
        for (int i = 0; i < N_PEERS; i++)
            CHECK_EQ(pdk_barrier_state(members[i]), PDK_HELD);
        CHECK_RC(pdk_barrier_enter(members[0], 0), PDK_EBUSY);
        CHECK_RC(pdk_barrier_free(members[0]), PDK_EBUSY);
        start(&c[0], leave, 0, PDK_FOREVER);
        start(&c[1], leave, 1, PDK_FOREVER);
        CHECK_WITHIN(LONG_MS, fixture_nodes() <= 3);
        CHECK(!atomic_load(&c[0].returned) && !atomic_load(&c[1].returned));
        CHECK_RC(pdk_barrier_leave(members[2], LONG_MS), 0);
        finish(&c[0], 0);
        finish(&c[1], 0);
        CHECK_EQ(fixture_nodes(), 0);
        CHECK_EQ(pdk_barrier_state(members[0]), PDK_FREE);
        CHECK_RC(pdk_barrier_leave(members[0], 0), PDK_EPERM);
    }
    CHECK_WITHIN(LONG_MS, fixture_watchers(ready_path()) == 0);
    end();
}

/* A member that has gone makes room, in the next round. */
static void one_too_many_is_refused(void)
{
    struct caller c;
    char text[400];
    begin(2);
    start(&c, enter, 0, PDK_FOREVER);
    CHECK_RC(pdk_barrier_enter(members[1], LONG_MS), 0);
    finish(&c, 0);
    int listings = rule(PDK__OP_LIST2, PDK__COUNT), ages = rule(PDK__OP_EXISTS, PDK__COUNT);
    CHECK_RC(pdk_barrier_enter(members[2], PDK_FOREVER), PDK_EBUSY);
    CHECK_EQ(hits(listings), 1);
    CHECK_EQ(hits(ages), 2);
    pdk_barrier_last_error(members[2], text, sizeof text);
    CHECK(strstr(text, "as many members as it has came before") != NULL);
    CHECK_EQ(pdk_barrier_state(members[2]), PDK_FREE);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 3);
    CHECK_RC(pdk_barrier_leave(members[0], 0), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_RC(pdk_barrier_enter(members[2], 0), PDK_ETIMEDOUT);
    start(&c, enter, 2, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 3);
    usleep(1000 * 1000);
    CHECK(!atomic_load(&c.returned));
    CHECK_RC(pdk_barrier_leave(members[1], LONG_MS), 0); /* it waits for no member of the next round */
    CHECK_RC(pdk_barrier_enter(members[0], LONG_MS), 0);
    finish(&c, 0);
    start(&c, leave, 2, PDK_FOREVER);
    CHECK_RC(pdk_barrier_leave(members[0], LONG_MS), 0);
    finish(&c, 0);
    CHECK_EQ(fixture_nodes(), 0);
    end();
}

/* All that were inside have died: the next members find the "ready" that they left. */
static void a_round_whose_members_died_is_closed(void)
{
    struct caller c;
    begin(2);
    start(&c, enter, 0, PDK_FOREVER);
    CHECK_RC(pdk_barrier_enter(members[1], LONG_MS), 0);
    finish(&c, 0);
    CHECK_RC(pdk_client_close(clients[0]), 0);
    CHECK_RC(pdk_client_close(clients[1]), 0);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 1);
    CHECK_RC(pdk_barrier_enter(members[2], KNOWN_MS), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    end();
}

/* None of them sees another inside. */
static void of_three_at_once_two_enter(void)
{
    begin(2);
    for (int round = 0; round < 20; round++) {
        struct caller c[N_PEERS];
        int inside[N_PEERS], n = 0;
        for (int i = 0; i < N_PEERS; i++)
            start(&c[i], enter, i, PDK_FOREVER);
        for (int i = 0; i < N_PEERS; i++) {
            CHECK_WITHIN(LONG_MS, atomic_load(&c[i].returned));
            CHECK_EQ(pthread_join(c[i].thread, NULL), 0);
            CHECK(c[i].rc == 0 || c[i].rc == PDK_EBUSY);
            if (c[i].rc == 0)
                inside[n++] = i;
        }
        CHECK_EQ(n, 2);
        CHECK_WITHIN(LONG_MS, fixture_nodes() == 3);
        for (int i = 0; i < n; i++)
            start(&c[i], leave, inside[i], PDK_FOREVER);
        for (int i = 0; i < n; i++)
            finish(&c[i], 0);
    }
    end();
}

static void a_late_entry_leaves_no_node(void)
{
    begin(2);
    CHECK_RC(pdk_barrier_enter(members[0], 50), PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_enter(members[0], 0), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    CHECK_WITHIN(LONG_MS, fixture_watchers(ready_path()) == 0);
    end();
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

static void expire(int peer) { fixture_expire(pdk__client_zh(clients[peer])); }

static void a_wait_goes_on_through_connections_and_sessions(void)
{
    struct caller c;
    begin(1);
    CHECK_RC(pdk_barrier_set(barriers[1], LONG_MS), 0);
    start(&c, wait, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1);
    fixture_each_proxy(pdk__proxy_cut);
    CHECK_WITHIN(LONG_MS, pdk_client_state(clients[0]) == PDK_SESSION_CONNECTED && fixture_watchers(fixture.path) == 1);
    int64_t session = pdk_client_session_id(clients[0]);
    expire(0);
    CHECK_WITHIN(LONG_MS, pdk_client_session_id(clients[0]) != session && fixture_watchers(fixture.path) == 1);
    CHECK(!atomic_load(&c.returned));
    CHECK_RC(pdk_barrier_remove(barriers[1], LONG_MS), 0);
    finish(&c, 0);
    end();
}

static void a_removal_during_an_outage_is_seen_afterwards(void)
{
    struct caller c;
    begin(1);
    CHECK_RC(pdk_barrier_set(barriers[1], LONG_MS), 0);
    start(&c, wait, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1);
    fixture_cut_off(true);
    CHECK_EQ(zoo_delete(fixture.zh, fixture.path, -1), ZOK);
    CHECK(!atomic_load(&c.returned));
    fixture_cut_off(false);
    finish(&c, 0);
    end();
}

static void calls_return_in_time_during_an_outage(void)
{
    begin(1);
    CHECK_RC(pdk_barrier_set(barriers[0], LONG_MS), 0);
    CHECK_RC(pdk_barrier_wait(barriers[0], 20), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 0); /* not to be taken for the next one's */
    struct caller c;
    start(&c, wait, 0, 4000);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1);
    fixture_cut_off(true);
    CHECK_WITHIN(LONG_MS, pdk_client_state(clients[0]) != PDK_SESSION_CONNECTED);
    finish(&c, PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_wait(barriers[0], 0), PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_wait(barriers[0], 50), PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_set(barriers[0], 50), PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_remove(barriers[0], 50), PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_enter(members[0], 0), PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_enter(members[0], 50), PDK_ETIMEDOUT);
    fixture_cut_off(false);
    CHECK_WITHIN(LONG_MS, pdk_client_state(clients[0]) == PDK_SESSION_CONNECTED && fixture_watchers(fixture.path) == 0);
    CHECK(is_set());
    CHECK_RC(pdk_barrier_remove(barriers[0], LONG_MS), 0);
    end();
}

static void a_write_whose_answer_is_lost_is_repeated(void)
{
    begin(1);
    int r = rule(PDK__OP_CREATE2, PDK__CUT_BEFORE_REPLY);
    CHECK_RC(pdk_barrier_set(barriers[0], LONG_MS), 0);
    CHECK(is_set());
    CHECK(hits(r) >= 1);
    r = rule(PDK__OP_DELETE, PDK__CUT_BEFORE_REPLY);
    CHECK_RC(pdk_barrier_remove(barriers[0], LONG_MS), 0);
    CHECK(!is_set());
    CHECK(hits(r) >= 1);
    r = rule(PDK__OP_CREATE2, PDK__HOLD_REPLY);
    CHECK_RC(pdk_barrier_set(barriers[0], KNOWN_MS), PDK_EUNKNOWN);
    release(r);
    CHECK_WITHIN(LONG_MS, is_set());
    CHECK_RC(pdk_barrier_remove(barriers[0], LONG_MS), 0);
    end();
}

/* One node, whatever became of the create. */
static void enters_once(pdk__act act, const char *what)
{
    begin(1);
    int r = rule_on(PDK__OP_CREATE2, what, act);
    CHECK_RC(pdk_barrier_enter(members[0], LONG_MS), 0);
    CHECK(hits(r) >= 1);
    CHECK_EQ(fixture_nodes(), 2);
    CHECK_RC(pdk_barrier_leave(members[0], LONG_MS), 0);
    CHECK_EQ(fixture_nodes(), 0);
    end();
}

static void a_lost_create_makes_no_second_node(void)
{
    enters_once(PDK__CUT_BEFORE_REPLY, "-member");
    enters_once(PDK__CUT_BEFORE, "-member");
    enters_once(PDK__CUT_AFTER_FORWARD, "-member");
    enters_once(PDK__CUT_BEFORE_REPLY, "/ready");
    enters_once(PDK__CUT_BEFORE, "/ready");
}

static void a_lost_delete_is_repeated(void)
{
    static const char *const paths[] = {"-member", "/ready"};
    for (int i = 0; i < 4; i++) {
        begin(1);
        CHECK_RC(pdk_barrier_enter(members[0], LONG_MS), 0);
        int r = rule_on(PDK__OP_DELETE, paths[i % 2], i < 2 ? PDK__CUT_BEFORE_REPLY : PDK__CUT_BEFORE);
        CHECK_RC(pdk_barrier_leave(members[0], LONG_MS), 0);
        CHECK(hits(r) >= 1);
        CHECK_EQ(fixture_nodes(), 0);
        end();
    }
}

/* The create is under way when the caller gives up. */
static void a_late_entry_whose_create_is_under_way_leaves_no_node(void)
{
    begin(1);
    fixture_make(fixture.path, "", ZOO_PERSISTENT, NULL);
    int r = rule(PDK__OP_CREATE2, PDK__HOLD_REPLY);
    CHECK_RC(pdk_barrier_enter(members[0], KNOWN_MS), PDK_ETIMEDOUT);
    CHECK(hits(r) >= 1);
    release(r);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    end();
}

static void a_member_that_dies_is_not_waited_for(void)
{
    struct caller c[2];
    begin(N_PEERS);
    start(&c[0], enter, 0, PDK_FOREVER);
    start(&c[1], enter, 1, PDK_FOREVER);
    CHECK_RC(pdk_barrier_enter(members[2], LONG_MS), 0);
    finish(&c[0], 0);
    finish(&c[1], 0);
    start(&c[0], leave, 0, PDK_FOREVER);
    start(&c[1], leave, 1, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_nodes() <= 3);
    CHECK(!atomic_load(&c[0].returned) && !atomic_load(&c[1].returned));
    expire(2);
    finish(&c[0], 0);
    finish(&c[1], 0);
    CHECK_EQ(fixture_nodes(), 0);
    CHECK_WITHIN(LONG_MS, pdk_barrier_state(members[2]) == PDK_LOST);
    CHECK_RC(pdk_barrier_leave(members[2], LONG_MS), PDK_ELOST);
    CHECK_EQ(pdk_barrier_state(members[2]), PDK_FREE);
    end();
}

/* All of them: what they leave behind must not let the next round in. */
static void members_that_are_all_lost_close_the_barrier(void)
{
    struct caller c;
    begin(2);
    start(&c, enter, 0, PDK_FOREVER);
    CHECK_RC(pdk_barrier_enter(members[1], LONG_MS), 0);
    finish(&c, 0);
    expire(0);
    expire(1);
    CHECK_WITHIN(LONG_MS, pdk_barrier_state(members[0]) == PDK_LOST && pdk_barrier_state(members[1]) == PDK_LOST);
    CHECK(exists(ready_path()));
    CHECK_RC(pdk_barrier_leave(members[0], LONG_MS), PDK_ELOST);
    CHECK_RC(pdk_barrier_leave(members[1], LONG_MS), PDK_ELOST);
    CHECK_WITHIN(LONG_MS, !exists(ready_path()));
    end();
}

static void a_member_whose_session_ends_while_it_waits_enters_in_the_next(void)
{
    struct caller c;
    begin(2);
    start(&c, enter, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(ready_path()) == 1);
    expire(0);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 1 && fixture_watchers(ready_path()) == 1);
    CHECK_RC(pdk_barrier_enter(members[1], LONG_MS), 0);
    finish(&c, 0);
    start(&c, leave, 0, PDK_FOREVER);
    CHECK_RC(pdk_barrier_leave(members[1], LONG_MS), 0);
    finish(&c, 0);
    end();
}

static void a_cancelled_member_leaves_nothing(void)
{
    struct caller c;
    begin(2);
    start(&c, enter, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(ready_path()) == 1);
    cancel(&c);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0 && fixture_watchers(ready_path()) == 0);
    start(&c, enter, 0, PDK_FOREVER);
    CHECK_RC(pdk_barrier_enter(members[1], LONG_MS), 0);
    finish(&c, 0);
    start(&c, leave, 0, PDK_FOREVER);
    CHECK_RC(pdk_barrier_leave(members[2], 0), PDK_EPERM);
    cancel(&c);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_EQ(pdk_barrier_state(members[0]), PDK_FREE);
    CHECK_RC(pdk_barrier_leave(members[1], LONG_MS), 0);
    CHECK_EQ(fixture_nodes(), 0);
    end();
}

/* The last answer is there, and waits for the client's lock, when the thread is cancelled. */
static void a_member_cancelled_as_it_enters_leaves_nothing(void)
{
    struct caller c;
    begin(1);
    int opened = rule_on(PDK__OP_CREATE2, "/ready", PDK__HOLD_REPLY);
    start(&c, enter, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, hits(opened) == 1);
    pdk__client_lock(clients[0]);
    for (int i = 0; i < fixture.e->n; i++)
        pdk__proxy_release(fixture.e->proxy[i], opened);
    usleep(200000);
    CHECK_EQ(pthread_cancel(c.thread), 0);
    usleep(200000);
    pdk__client_leave(clients[0]);
    CHECK_EQ(pthread_join(c.thread, NULL), 0);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    CHECK_EQ(pdk_barrier_state(members[0]), PDK_FREE);
    end();
}

static void a_leave_that_is_late_leaves_all_the_same(void)
{
    struct caller c;
    begin(2);
    start(&c, enter, 0, PDK_FOREVER);
    CHECK_RC(pdk_barrier_enter(members[1], LONG_MS), 0);
    finish(&c, 0);
    CHECK_RC(pdk_barrier_leave(members[0], 50), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    CHECK_RC(pdk_barrier_leave(members[1], 0), 0);
    CHECK_EQ(fixture_nodes(), 0);
    end();
}

/* Both barriers on one path that is not there yet, with its parent. */
static void all_calls(const char *path)
{
    pdk_barrier *b;
    pdk_barrier *d;
    struct Stat stat;
    CHECK_RC(pdk_barrier_new(&b, clients[0], path), 0);
    CHECK_RC(pdk_barrier_remove(b, LONG_MS), 0);
    CHECK_RC(pdk_barrier_wait(b, LONG_MS), 0);
    CHECK_RC(pdk_barrier_set(b, LONG_MS), 0);
    catch_up();
    CHECK_EQ(pdk__zk_stat(fixture.zh, path, &stat), ZOK);
    CHECK(stat.ephemeralOwner == 0 && stat.dataLength > 0); /* nor is it a container */
    CHECK_RC(pdk_barrier_remove(b, LONG_MS), 0);
    CHECK(!exists(path));
    CHECK_RC(pdk_barrier_free(b), 0);
    CHECK_RC(pdk_barrier_new_double(&d, clients[0], path, 1), 0);
    CHECK_RC(pdk_barrier_enter(d, LONG_MS), 0);
    catch_up();
    CHECK_EQ(fixture_children(path), 2);
    CHECK_RC(pdk_barrier_leave(d, LONG_MS), 0);
    catch_up();
    CHECK_EQ(fixture_children(path), 0);
    CHECK_RC(pdk_barrier_free(d), 0);
}

/* A short session: after a cut, ZooKeeper's client rests for a sixtieth of it. */
static void the_same_whichever_request_is_cut(void)
{
    static const pdk__act acts[] = {PDK__CUT_BEFORE, PDK__CUT_AFTER_FORWARD, PDK__CUT_BEFORE_REPLY};
    char path[160];
    int made = 1;
    begin_with(1, 6000);
    for (int nth = 1; made > 0; nth++) {
        made = 0;
        for (int act = 0; act < 3; act++) {
            snprintf(path, sizeof path, "%s/%d-%d/b", fixture.path, nth, act);
            for (int i = 0; i < fixture.e->n; i++) {
                pdk__proxy_clear(fixture.e->proxy[i]);
                pdk__proxy_rule(fixture.e->proxy[i], &(struct pdk__proxy_rule){.nth = nth, .act = acts[act]});
            }
            all_calls(path);
            made += hits(0);
        }
        CHECK(made > 0 || nth > 12);
    }
    end();
}

/* --- others ------------------------------------------------------------------------------------------------------ */

static void children_of_any_name_count(void)
{
    struct caller c;
    char name[700];
    begin(2);
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    fixture_make(fixture.path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(fixture.path, name, "\033[2J");
    CHECK_RC(pdk_barrier_enter(members[0], LONG_MS), 0);
    CHECK_RC(pdk_barrier_leave(members[0], 50), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 2);
    start(&c, enter, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 3);
    CHECK(!atomic_load(&c.returned)); /* it is of the round */
    fixture_delete_below(fixture.path, name);
    CHECK_RC(pdk_barrier_enter(members[1], LONG_MS), 0);
    finish(&c, 0);
    start(&c, leave, 0, PDK_FOREVER);
    CHECK_RC(pdk_barrier_leave(members[1], LONG_MS), 0);
    finish(&c, 0);
    CHECK_EQ(fixture_nodes(), 0);
    end();
}

/* Servers from 3.8.4 on refuse exists, too. */
static void a_node_that_may_not_be_read_is_waited_for(void)
{
    struct caller c;
    struct ACL write_only[] = {
        {ZOO_PERM_WRITE | ZOO_PERM_CREATE | ZOO_PERM_DELETE | ZOO_PERM_ADMIN, ZOO_ANYONE_ID_UNSAFE}};
    struct ACL_vector acl = {1, write_only};
    begin(1);
    fixture_make(fixture.path, "x", ZOO_PERSISTENT, &acl);
    start(&c, wait, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1 || atomic_load(&c.returned));
    bool refused = atomic_load(&c.returned);
    CHECK_RC(pdk_barrier_remove(barriers[1], LONG_MS), 0);
    finish(&c, refused ? PDK_EACCES : 0);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 0);
    end();
}

static void called_back(int rc, void *arg)
{
    _Atomic int *seen = arg;
    CHECK_RC(rc, 0);
    CHECK_RC(pdk_barrier_wait(barriers[0], 0), PDK_EDEADLK);
    CHECK_RC(pdk_barrier_set(barriers[0], 0), PDK_EDEADLK);
    CHECK_RC(pdk_barrier_enter(members[0], 0), PDK_EDEADLK);
    CHECK_RC(pdk_barrier_leave(members[0], 0), PDK_EDEADLK);
    atomic_store(seen, 1);
}

static void no_call_waits_on_a_callback_thread(void)
{
    _Atomic int seen = 0;
    pdk_grant *g;
    begin(1);
    pdk_mutex *m = fixture_mutex(clients[0], fixture_path());
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, called_back, (void *)&seen, &g), 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&seen) == 1);
    CHECK_RC(pdk_grant_release_async(g, NULL, NULL), 0);
    CHECK_WITHIN(LONG_MS, pdk_lock_free(m) == 0);
    end();
}

static void a_forked_child_has_no_barrier(void)
{
    begin(1);
    CHECK_RC(pdk_barrier_enter(members[0], LONG_MS), 0);
    pid_t pid = pdk__test_fork();
    if (pid == 0) {
        CHECK_RC(pdk_barrier_wait(barriers[0], 0), PDK_EFORKED);
        CHECK_RC(pdk_barrier_leave(members[0], 0), PDK_EFORKED);
        CHECK_RC(pdk_barrier_free(members[0]), PDK_EFORKED);
        CHECK_EQ(pdk_barrier_state(members[0]), PDK_LOST);
        _exit(0);
    }
    CHECK_EQ(pdk__test_wait(pid), 0);
    CHECK_RC(pdk_barrier_leave(members[0], LONG_MS), 0);
    end();
}

static void a_client_that_closes_ends_its_calls(void)
{
    struct caller c[2];
    char text[256];
    begin(2);
    CHECK_RC(pdk_barrier_set(barriers[1], LONG_MS), 0);
    start(&c[0], wait, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1);
    start(&c[1], enter, 0, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, fixture_watchers(ready_path()) == 1);
    CHECK_RC(pdk_client_close(clients[0]), 0);
    finish(&c[0], PDK_ECLOSED);
    finish(&c[1], PDK_ECLOSED);
    CHECK_RC(pdk_barrier_wait(barriers[0], 0), PDK_ECLOSED);
    CHECK(pdk_barrier_last_error(barriers[0], text, sizeof text) > 0);
    CHECK(strstr(text, fixture.path) != NULL);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 0);
    CHECK_RC(pdk_barrier_remove(barriers[1], LONG_MS), 0);
    end();
}

static void path_of_a_lock(void)
{
    char text[256];
    begin(2);
    pdk_mutex *m = fixture_mutex(clients[0], fixture.path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_barrier_enter(members[1], LONG_MS), PDK_EINVAL);
    pdk_barrier_last_error(members[1], text, sizeof text);
    CHECK(strstr(text, ": a lock's nodes are there") != NULL);
    CHECK_EQ(pdk_barrier_state(members[1]), PDK_FREE);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == 1);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

static void arguments(void)
{
    char text[600];
    begin(7);
    pdk_barrier *b = NULL, *d = NULL;
    CHECK_RC(pdk_barrier_new(&b, clients[0], "relative"), PDK_EPATH);
    CHECK_RC(pdk_barrier_new(NULL, clients[0], "/b"), PDK_EINVAL);
    CHECK_RC(pdk_barrier_new_double(&d, clients[0], "/b", 0), PDK_EINVAL);
    CHECK_RC(pdk_barrier_new_double(&d, clients[0], "/b", PDK_BARRIER_MEMBERS_MAX + 1), PDK_EINVAL);
    CHECK(b == NULL && d == NULL);
    CHECK_RC(pdk_barrier_wait(NULL, 0), PDK_EINVAL);
    CHECK_RC(pdk_barrier_enter(NULL, 0), PDK_EINVAL);
    CHECK_RC(pdk_barrier_free(NULL), 0);
    CHECK_RC(pdk_barrier_enter(barriers[0], 0), PDK_EINVAL);
    CHECK_RC(pdk_barrier_leave(barriers[0], 0), PDK_EINVAL);
    CHECK_EQ(pdk_barrier_state(barriers[0]), PDK_FREE);
    CHECK_RC(pdk_barrier_set(members[0], 0), PDK_EINVAL);
    CHECK_RC(pdk_barrier_wait(members[0], 0), PDK_EINVAL);
    CHECK_STR(pdk_barrier_path(barriers[0]), fixture.path);
    CHECK_STR(pdk_barrier_path(members[0]), fixture.path);
    CHECK(pdk_barrier_path(NULL) == NULL);
    CHECK(pdk_barrier_last_error(members[0], text, sizeof text) < sizeof text);
    CHECK(strstr(text, ": it is a double one") != NULL);
    end();
}

/* --- rounds ------------------------------------------------------------------------------------------------------ */

enum { N_ROUNDS = 12 };

static atomic_int entering[N_ROUNDS], leaving[N_ROUNDS]; /* calls that have begun */
static atomic_bool wrong;

/* A member that returns from a call finds that all of them have begun it. */
static void *rounds(void *arg)
{
    pdk_barrier *b = arg;
    for (int r = 0; r < N_ROUNDS; r++) {
        atomic_fetch_add(&entering[r], 1);
        CHECK_RC(pdk_barrier_enter(b, PDK_FOREVER), 0);
        if (atomic_load(&entering[r]) != N_PEERS)
            wrong = true;
        atomic_fetch_add(&leaving[r], 1);
        CHECK_RC(pdk_barrier_leave(b, PDK_FOREVER), 0);
        if (atomic_load(&leaving[r]) != N_PEERS)
            wrong = true;
    }
    return NULL;
}

/* With SHAKEN the connections are cut, again and again. */
static void go_round(bool shaken)
{
    pthread_t threads[N_PEERS];
    begin(N_PEERS);
    memset(entering, 0, sizeof entering);
    memset(leaving, 0, sizeof leaving);
    wrong = false;
    for (int i = 0; i < N_PEERS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, rounds, members[i]), 0);
    for (int r = 0; r < N_ROUNDS && shaken; r++) {
        CHECK_WITHIN(LONG_MS, atomic_load(&entering[r]) > 0);
        for (int i = 0; i < fixture.e->n; i++)
            pdk__proxy_cut(fixture.e->proxy[i]);
    }
    for (int i = 0; i < N_PEERS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    CHECK(!wrong);
    CHECK_EQ(atomic_load(&leaving[N_ROUNDS - 1]), N_PEERS);
    CHECK_EQ(fixture_nodes(), 0);
    end();
}

static void rounds_do_not_mix(void) { go_round(false); }
static void rounds_do_not_mix_while_connections_break(void) { go_round(true); }

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"it is set and removed, once or again", set_and_removed},
        {"the path of a lock is no barrier's", a_locks_path_is_no_barriers},
        {"a look is at the present, whichever server answers", a_look_is_at_the_present},
        {"a wait lasts until it is removed", waits_until_it_is_removed},
        {"a wait that is late leaves no watch, but for another that relies on it", a_late_wait_leaves_no_watch},
        {"a watch that is set after the wait has ended is removed", a_watch_that_is_set_after_the_wait_is_removed},
        {"a cancelled wait leaves no watch", a_cancelled_wait_leaves_no_watch},
        {"a change of its data ends no wait", a_change_of_its_data_ends_no_wait},
        {"members enter together and leave together, round after round", enter_together_and_leave_together},
        {"one too many is refused, or waits for the next round", one_too_many_is_refused},
        {"a round whose members died is closed by the next", a_round_whose_members_died_is_closed},
        {"of three that come at once two enter", of_three_at_once_two_enter},
        {"a member that is too late to enter leaves no node", a_late_entry_leaves_no_node},
        {"a wait goes on through connections and sessions", a_wait_goes_on_through_connections_and_sessions},
        {"a removal during an outage is seen afterwards", a_removal_during_an_outage_is_seen_afterwards},
        {"calls return in time during an outage, and leave no watch", calls_return_in_time_during_an_outage},
        {"a write whose answer is lost is repeated", a_write_whose_answer_is_lost_is_repeated},
        {"a lost create makes no second node", a_lost_create_makes_no_second_node},
        {"a lost delete is repeated", a_lost_delete_is_repeated},
        {"a late entry whose create is under way leaves no node",
         a_late_entry_whose_create_is_under_way_leaves_no_node},
        {"a member that dies is not waited for, and is told", a_member_that_dies_is_not_waited_for},
        {"members that are all lost close the barrier", members_that_are_all_lost_close_the_barrier},
        {"a member whose session ends while it waits enters in the next",
         a_member_whose_session_ends_while_it_waits_enters_in_the_next},
        {"a cancelled member leaves nothing", a_cancelled_member_leaves_nothing},
        {"a member that is cancelled as it enters leaves nothing", a_member_cancelled_as_it_enters_leaves_nothing},
        {"a leave that is late leaves all the same", a_leave_that_is_late_leaves_all_the_same},
        {"all ends the same, whichever request is cut", the_same_whichever_request_is_cut},
        {"children of any name count", children_of_any_name_count},
        {"a node that may not be read is waited for", a_node_that_may_not_be_read_is_waited_for},
        {"no call waits on a callback thread", no_call_waits_on_a_callback_thread},
        {"a forked child has no barrier", a_forked_child_has_no_barrier},
        {"a client that closes ends its calls", a_client_that_closes_ends_its_calls},
        {"no member enters where a lock is", path_of_a_lock},
        {"arguments", arguments},
        {"rounds do not mix", rounds_do_not_mix},
        {"rounds do not mix while connections break", rounds_do_not_mix_while_connections_break},
        {0}};
    return fixture_main(argc, argv, "barrier", tests, ON_ONE | ON_THREE | ON_OWN);
}
