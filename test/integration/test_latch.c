/* The leader latch: one of many leads, hands over, loses, and is a candidate again. */
#include "lib/core/name.h"
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A leader with a client of its own, and the reports to it. */
struct candidate {
    pdk_client *client;
    pdk_leader *leader;
    atomic_int n_told;
    pdk_event told[16];
    int64_t told_ms[16];
};

/* SOON_MS is less than a twentieth of LONG_SESSION_MS, for which the node of a lock is not watched. */
enum { LONG_SESSION_MS = 600000, SOON_MS = 20000 };

static const char *path;
static struct candidate a, b, c;

static void note(pdk_leader *l, const pdk_event *event, void *arg)
{
    struct candidate *who = arg;
    int n = who->n_told;
    (void)l;
    if (event->kind == PDK_EVENT_QUEUED)
        return;
    if (n < 16) {
        who->told[n] = *event;
        who->told_ms[n] = pdk__test_now_ms();
    }
    who->n_told = n + 1;
}

static void new_at(struct candidate *who, const char *hosts, int session_ms, const char *id)
{
    pdk_client_options *co = fixture_options(session_ms);
    pdk_lock_options *lo = pdk_lock_options_new();
    memset(who, 0, sizeof *who);
    CHECK_RC(pdk_lock_options_set_data(lo, id, strlen(id)), 0);
    CHECK_RC(pdk_client_new(&who->client, hosts, co), 0);
    CHECK_RC(pdk_leader_new(&who->leader, who->client, path, PDK_LATCH, lo), 0);
    CHECK_RC(pdk_lock_on_event(who->leader, note, who), 0);
    pdk_client_options_free(co);
    pdk_lock_options_free(lo);
}

static void open_at(struct candidate *who, const char *hosts, int session_ms, const char *id)
{
    new_at(who, hosts, session_ms, id);
    CHECK_RC(pdk_client_wait(who->client, LONG_MS), 0);
}

/* Around the proxy; B and C, for A to be cut off alone. */
static void open_direct(struct candidate *who, const char *id) { open_at(who, fixture.direct, 10000, id); }

static void close_it(struct candidate *who)
{
    CHECK_RC(pdk_client_close(who->client), 0);
    CHECK_RC(pdk_lock_free(who->leader), 0);
    CHECK_RC(pdk_client_free(who->client), 0);
    memset(who, 0, sizeof *who);
}

static void begin(void)
{
    pdk__proxy_clear(fixture.proxy);
    path = fixture_path();
    open_at(&a, fixture.hosts, 10000, "a");
}

/* Into the queue, as number POSITION. */
static void stand(struct candidate *who, int position)
{
    CHECK_RC(pdk_leader_start(who->leader), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == position);
}

static void check_told(struct candidate *who, int i, pdk_event_kind kind, pdk_state state, int64_t token)
{
    CHECK_WITHIN(LONG_MS, who->n_told > i);
    CHECK_EQ(who->told[i].kind, kind);
    CHECK_EQ(who->told[i].state, state);
    CHECK_EQ(who->told[i].token, token);
}

/* It leads, by every answer there is. Returns the token. */
static int64_t check_leads(struct candidate *who)
{
    int64_t token = 0;
    char node[512], name[PDK__NAME_MAX];
    struct Stat stat;
    CHECK_RC(pdk_leader_wait(who->leader, LONG_MS), 0);
    CHECK(pdk_lock_state(who->leader) == PDK_HELD);
    CHECK(pdk_lock_valid_ms(who->leader) > 0);
    CHECK(pdk_lock_valid_ms(who->leader) <= pdk_client_session_timeout_ms(who->client));
    CHECK_EQ(pdk_lock_state(who->leader), PDK_HELD);
    CHECK_RC(pdk_lock_token(who->leader, &token, NULL), 0);
    pdk_lock_node(who->leader, 0, name, sizeof name);
    snprintf(node, sizeof node, "%s/%s", path, name);
    CHECK_EQ(zoo_exists(fixture.zh, node, 0, &stat), ZOK);
    CHECK_EQ(stat.czxid, token);
    CHECK_EQ(stat.ephemeralOwner, pdk_client_session_id(who->client));
    return token;
}

static void check_stands(struct candidate *who)
{
    int64_t token;
    char node[8] = "x";
    CHECK_EQ(pdk_lock_state(who->leader), PDK_FREE);
    CHECK(pdk_lock_state(who->leader) != PDK_HELD);
    CHECK_EQ(pdk_lock_valid_ms(who->leader), 0);
    CHECK_RC(pdk_lock_token(who->leader, &token, NULL), PDK_EPERM);
    CHECK_EQ(pdk_lock_node(who->leader, 0, node, sizeof node), 0);
    CHECK_RC(pdk_leader_wait(who->leader, 0), PDK_ETIMEDOUT);
}

/* --- terms ------------------------------------------------------------------------------------------------------- */

static void one_leads(void)
{
    begin();
    open_direct(&b, "b");
    open_direct(&c, "c");
    stand(&a, 1);
    stand(&b, 2);
    stand(&c, 3);
    int64_t first = check_leads(&a);
    check_stands(&b);
    check_stands(&c);
    CHECK_RC(pdk_leader_start(a.leader), 0); /* it does: nothing happens */
    CHECK_EQ(fixture_children(path), 3);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    CHECK_RC(pdk_leader_wait(a.leader, 0), PDK_ECANCELED);
    int64_t second = check_leads(&b);
    CHECK_LAW(second > first);
    check_stands(&c);
    CHECK_EQ(fixture_children(path), 2);
    check_told(&a, 0, PDK_EVENT_ELECTED, PDK_HELD, first);
    check_told(&a, 1, PDK_EVENT_DEPOSED, PDK_FREE, first);
    check_told(&b, 0, PDK_EVENT_ELECTED, PDK_HELD, second);
    close_it(&b);
    int64_t third = check_leads(&c);
    CHECK(third > second);
    check_told(&c, 0, PDK_EVENT_ELECTED, PDK_HELD, third);
    CHECK_EQ(c.n_told, 1);
    CHECK_EQ(a.n_told, 2);
    close_it(&c);
    close_it(&a);
}

static void wire(void)
{
    char expected[300], data[300], node[512], name[PDK__NAME_MAX], host[256];
    int size = sizeof data;
    begin();
    pdk_leader *l;
    CHECK_RC(pdk_leader_new(&l, a.client, path, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_RC(pdk_leader_wait(l, LONG_MS), 0);
    pdk_lock_node(l, 0, name, sizeof name);
    CHECK_EQ(strlen(name), 16 + 1 + 8 + 1 + 6 + 10);
    CHECK_STR(strstr(name, "-latch-"), "-latch-0000000000");
    snprintf(node, sizeof node, "%s/%s", path, name);
    CHECK_EQ(zoo_get(fixture.zh, node, 0, data, &size, NULL), ZOK);
    CHECK_EQ(gethostname(host, sizeof host), 0);
    CHECK_EQ(size, snprintf(expected, sizeof expected, "%s:%d", host, (int)getpid()));
    CHECK_EQ(memcmp(data, expected, (size_t)size), 0);
    CHECK_RC(pdk_leader_resign(l), 0);
    CHECK_RC(pdk_lock_free(l), 0);
    close_it(&a);
}

static void of_ids(void)
{
    struct Stat stat;
    char node[512], name[PDK__NAME_MAX];
    begin();
    close_it(&a);
    open_at(&a, fixture.hosts, 10000, "");
    CHECK_RC(pdk_leader_start(a.leader), 0);
    CHECK_RC(pdk_leader_wait(a.leader, LONG_MS), 0);
    pdk_lock_node(a.leader, 0, name, sizeof name);
    snprintf(node, sizeof node, "%s/%s", path, name);
    CHECK_EQ(zoo_exists(fixture.zh, node, 0, &stat), ZOK);
    CHECK_EQ(stat.dataLength, 0);
    static char huge[65538];
    memset(huge, 'x', sizeof huge - 1);
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_data(o, huge, strlen(huge)), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_data(o, NULL, 1), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_confirmed(o, true), 0);
    CHECK_RC(pdk_leader_new(&a.leader, a.client, path, PDK_LATCH, o), PDK_ENOTSUP);
    pdk_lock_options_free(o);
    close_it(&a);
}

/* The same session, and the same queue: a lock and a latch on one path count each other. */
static void with_a_mutex(void)
{
    begin();
    pdk_mutex *m = fixture_mutex(a.client, path);
    stand(&a, 1);
    check_leads(&a);
    CHECK_RC(pdk_mutex_timedlock(m, 0), PDK_EBUSY);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    stand(&a, 2);
    check_stands(&a);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    check_leads(&a);
    CHECK_RC(pdk_lock_free(m), 0);
    close_it(&a);
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

static pid_t lead_in_child(void)
{
    int told[2];
    char byte;
    CHECK_EQ(pipe(told), 0);
    pid_t pid = pdk__test_fork();
    if (pid == 0) {
        open_at(&c, fixture.direct, 4000, "child");
        CHECK_RC(pdk_leader_start(c.leader), 0);
        CHECK_RC(pdk_leader_wait(c.leader, LONG_MS), 0);
        CHECK_EQ(write(told[1], "!", 1), 1);
        for (;;)
            pause();
    }
    close(told[1]);
    CHECK_EQ(read(told[0], &byte, 1), 1);
    close(told[0]);
    return pid;
}

static void killed(void)
{
    CHILD_HAS_THREADS();
    begin();
    pid_t pid = lead_in_child();
    stand(&a, 2);
    check_stands(&a);
    CHECK_EQ(kill(pid, SIGKILL), 0);
    CHECK_EQ(pdk__test_wait(pid), -SIGKILL);
    check_leads(&a);
    CHECK_EQ(fixture_children(path), 1);
    close_it(&a);
}

/* A term is watched from its grant: no other leads beside it until a watch is due. */
static void deleted_in_a_young_term(void)
{
    char name[PDK__NAME_MAX];
    begin();
    open_at(&b, fixture.direct, LONG_SESSION_MS, "b");
    stand(&b, 1);
    int64_t token = check_leads(&b);
    CHECK_EQ(pdk_client_session_timeout_ms(b.client), LONG_SESSION_MS);
    pdk_lock_node(b.leader, 0, name, sizeof name);
    fixture_delete_below(path, name);
    CHECK_WITHIN(SOON_MS, b.n_told > 1);
    check_told(&b, 1, PDK_EVENT_DEPOSED, PDK_LOST, token);
    close_it(&b);
    close_it(&a);
}

static void all_deleted(void)
{
    begin();
    for (int i = 1; i < 4; i++) {
        stand(&a, 1);
        int64_t token = check_leads(&a);
        fixture_delete_all(path);
        check_told(&a, 2 * i - 1, PDK_EVENT_DEPOSED, PDK_LOST, token);
        CHECK_LAW(check_leads(&a) > token);
    }
    close_it(&a);
}

/* Deposed by the clock, before the servers can have another. */
static void no_server(void)
{
    begin();
    close_it(&a);
    open_at(&a, fixture.hosts, 2000, "a");
    open_direct(&b, "b");
    stand(&a, 1);
    stand(&b, 2);
    int64_t first = check_leads(&a);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    check_told(&a, 2, PDK_EVENT_DEPOSED, PDK_LOST, first);
    check_stands(&a);
    int64_t second = check_leads(&b);
    check_told(&b, 0, PDK_EVENT_ELECTED, PDK_HELD, second);
    CHECK(a.told_ms[2] <= b.told_ms[0]);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    close_it(&b);
    CHECK(check_leads(&a) > second);
    close_it(&a);
}

static void no_server_at_the_start(void)
{
    begin();
    close_it(&a);
    pdk__proxy_refuse(fixture.proxy, true);
    new_at(&a, fixture.hosts, 10000, "a");
    CHECK_RC(pdk_leader_start(a.leader), 0);
    CHECK_RC(pdk_leader_wait(a.leader, 100), PDK_ETIMEDOUT);
    check_stands(&a);
    pdk__proxy_refuse(fixture.proxy, false);
    int64_t token = check_leads(&a);
    check_told(&a, 0, PDK_EVENT_ELECTED, PDK_HELD, token);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    check_told(&a, 1, PDK_EVENT_DEPOSED, PDK_FREE, token);
    CHECK_EQ(a.n_told, 2);
    close_it(&a);
}

/* The reply to the create is lost: one node, all the same. */
static void reply_lost(void)
{
    begin();
    int rule = pdk__proxy_rule(fixture.proxy,
                               &(struct pdk__proxy_rule){.op = PDK__OP_CREATE2, .act = PDK__CUT_BEFORE_REPLY});
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_leader_start(a.leader), 0);
    check_told(&a, 0, PDK_EVENT_ELECTED, PDK_HELD, check_leads(&a));
    CHECK_EQ(pdk__proxy_hits(fixture.proxy, rule), 1);
    CHECK_EQ(fixture_children(path), 1);
    CHECK_EQ(a.n_told, 1);
    close_it(&a);
}

/* --- resigning --------------------------------------------------------------------------------------------------- */

static void resigned(void)
{
    begin();
    CHECK_RC(pdk_leader_resign(a.leader), 0); /* nothing to resign from */
    stand(&a, 1);
    int64_t first = check_leads(&a);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    CHECK_EQ(fixture_children(path), 0);
    CHECK_RC(pdk_leader_wait(a.leader, PDK_FOREVER), PDK_ECANCELED);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    stand(&a, 1);
    int64_t second = check_leads(&a);
    CHECK_LAW(second > first);
    check_told(&a, 1, PDK_EVENT_DEPOSED, PDK_FREE, first);
    check_told(&a, 2, PDK_EVENT_ELECTED, PDK_HELD, second);
    fixture_make_below(path, "x-latch-0000000000", ""); /* before its node: it is a candidate, and will not lead */
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    CHECK_RC(pdk_leader_start(a.leader), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    check_stands(&a);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    CHECK_EQ(fixture_children(path), 1);
    check_told(&a, 3, PDK_EVENT_DEPOSED, PDK_FREE, second);
    CHECK_EQ(a.n_told, 4);
    fixture_delete_all(path);
    close_it(&a);
}

/* The one that yields comes last. */
static void yields(void)
{
    int64_t tokens[4];
    begin();
    open_direct(&b, "b");
    CHECK_RC(pdk_leader_yield(a.leader), PDK_EPERM);
    stand(&a, 1);
    stand(&b, 2);
    for (int turn = 0; turn < 4; turn++) {
        struct candidate *leads = turn % 2 == 0 ? &a : &b;
        CHECK_RC(pdk_leader_wait(leads->leader, LONG_MS), 0);
        CHECK_RC(pdk_lock_token(leads->leader, &tokens[turn], NULL), 0);
        CHECK_LAW(turn == 0 || tokens[turn] > tokens[turn - 1]);
        CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
        CHECK_RC(pdk_leader_yield(leads->leader), 0);
        CHECK(pdk_lock_state(leads->leader) != PDK_HELD);
        CHECK_EQ(pdk_lock_state(leads->leader), PDK_FREE);
        CHECK_RC(pdk_leader_yield(leads->leader), PDK_EPERM);
    }
    CHECK_WITHIN(LONG_MS, a.n_told >= 5);
    check_told(&a, 0, PDK_EVENT_ELECTED, PDK_HELD, tokens[0]);
    check_told(&a, 1, PDK_EVENT_DEPOSED, PDK_FREE, tokens[0]);
    check_told(&a, 2, PDK_EVENT_ELECTED, PDK_HELD, tokens[2]);
    close_it(&a);
    close_it(&b);
}

/* As Curator's LeaderSelector names them. */
static void turns_have_nodes_of_locks(void)
{
    char node[64];
    pdk_leader *l;
    begin();
    CHECK_RC(pdk_leader_new(&l, a.client, path, PDK_IN_TURNS, NULL), 0);
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_RC(pdk_leader_wait(l, LONG_MS), 0);
    CHECK(pdk_lock_node(l, 0, node, sizeof node) > 0 && strstr(node, "-lock-") != NULL);
    CHECK_RC(pdk_lock_free(l), 0);
    close_it(&a);
}

/* While the node of the last candidacy is still being deleted. */
static void start_behind_a_resignation(void)
{
    begin();
    stand(&a, 1);
    int64_t first = check_leads(&a);
    int rule = pdk__proxy_rule(fixture.proxy,
                               &(struct pdk__proxy_rule){.op = PDK__OP_DELETE, .act = PDK__HOLD_REQUEST});
    CHECK_RC(pdk_leader_resign_async(a.leader, NULL, NULL), 0);
    CHECK_RC(pdk_leader_start(a.leader), 0);
    check_stands(&a);
    CHECK_EQ(fixture_children(path), 1);
    pdk__proxy_release(fixture.proxy, rule);
    CHECK_LAW(check_leads(&a) > first);
    CHECK_EQ(fixture_children(path), 1);
    close_it(&a);
}

static atomic_int n_resigned, resign_rc;

static void count_resigned(int rc, void *arg)
{
    (void)arg;
    resign_rc = rc;
    n_resigned++;
}

static void resigned_async(void)
{
    begin();
    n_resigned = 0;
    CHECK_RC(pdk_leader_resign_async(a.leader, count_resigned, NULL), 0); /* nothing to resign from */
    CHECK_WITHIN(LONG_MS, n_resigned == 1);
    CHECK_RC(resign_rc, 0);
    stand(&a, 1);
    check_leads(&a);
    int rule = pdk__proxy_rule(fixture.proxy,
                               &(struct pdk__proxy_rule){.op = PDK__OP_DELETE, .act = PDK__HOLD_REQUEST});
    CHECK_RC(pdk_leader_resign_async(a.leader, count_resigned, NULL), 0);
    CHECK_RC(pdk_leader_wait(a.leader, 0), PDK_ECANCELED);
    CHECK_RC(pdk_leader_resign_async(a.leader, count_resigned, NULL), PDK_EBUSY);
    CHECK_EQ(n_resigned, 1);
    pdk__proxy_release(fixture.proxy, rule);
    CHECK_WITHIN(LONG_MS, n_resigned == 2);
    CHECK_RC(resign_rc, 0);
    CHECK_EQ(fixture_children(path), 0);
    close_it(&a);
}

/* Two threads resign an idle leader, again and again; each call that is accepted has a callback of its own to count. */
enum { N_RESIGNATIONS = 20000 };

static struct resigner {
    pthread_t thread;
    atomic_int n_called[N_RESIGNATIONS];
} resigners[2];

static void count_call(int rc, void *arg) { *(atomic_int *)arg += rc == 0 ? 1 : 2; }

static void *resign_often(void *arg)
{
    struct resigner *r = arg;
    for (int i = 0, rc; i < N_RESIGNATIONS; i += rc == 0)
        rc = pdk_leader_resign_async(a.leader, count_call, &r->n_called[i]);
    return NULL;
}

static void resigned_by_threads(void)
{
    begin();
    memset(resigners, 0, sizeof resigners);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_create(&resigners[i].thread, NULL, resign_often, &resigners[i]), 0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_join(resigners[i].thread, NULL), 0);
    close_it(&a); /* after the last callback */
    for (int i = 0; i < 2 * N_RESIGNATIONS; i++)
        CHECK_EQ(resigners[i % 2].n_called[i / 2], 1);
}

/* --- callbacks and descriptors ----------------------------------------------------------------------------------- */

static atomic_int refused, allowed;

static void try_all(pdk_leader *l, const pdk_event *event, void *arg)
{
    int64_t own = 0;
    (void)arg;
    if (event->kind != PDK_EVENT_ELECTED)
        return;
    refused += pdk_leader_resign(l) == PDK_EDEADLK;
    allowed += pdk_leader_wait(l, 0) == 0;
    allowed += pdk_lock_state(l) == PDK_HELD;
    allowed += pdk_lock_token(l, &own, NULL) == 0 && own == event->token;
    allowed += pdk_leader_resign_async(l, count_resigned, NULL) == 0;
    refused += pdk_leader_resign(l) == PDK_EDEADLK;
    allowed += pdk_leader_start(l) == 0;
    refused += pdk_leader_wait(l, PDK_FOREVER) == PDK_EDEADLK;
    allowed += pdk_leader_resign_async(l, NULL, NULL) == PDK_EBUSY;
    allowed += pdk_lock_on_event(l, NULL, NULL) == 0;
}

static void in_a_callback(void)
{
    begin();
    refused = allowed = n_resigned = 0;
    CHECK_RC(pdk_lock_on_event(a.leader, try_all, NULL), 0);
    CHECK_RC(pdk_leader_start(a.leader), 0);
    CHECK_WITHIN(LONG_MS, n_resigned == 1);
    CHECK_EQ(refused, 3);
    CHECK_EQ(allowed, 7);
    check_leads(&a); /* it was started again */
    close_it(&a);
}

static void free_it(pdk_leader *l, const pdk_event *event, void *arg)
{
    (void)arg;
    allowed += event->kind == PDK_EVENT_ELECTED && pdk_lock_free(l) == 0;
}

static void freed_in_a_callback(void)
{
    begin();
    allowed = 0;
    pdk_leader *l;
    CHECK_RC(pdk_leader_new(&l, a.client, path, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_lock_on_event(l, free_it, NULL), 0);
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_WITHIN(LONG_MS, allowed == 1);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 0);
    close_it(&a);
}

static void check_polled(pdk_leader *l, pdk_event_kind kind, pdk_state state, int64_t token)
{
    struct pollfd p = {.fd = pdk_lock_fd(l), .events = POLLIN};
    pdk_event told;
    CHECK_EQ(poll(&p, 1, LONG_MS), 1);
    CHECK_EQ(pdk_lock_next_event(l, &told), 1);
    CHECK_EQ(told.kind, kind);
    CHECK_EQ(told.state, state);
    CHECK_EQ(told.token, token);
}

static void polled(void)
{
    pdk_event event;
    begin();
    struct pollfd p = {.fd = pdk_lock_fd(a.leader), .events = POLLIN};
    CHECK(p.fd >= 0);
    CHECK_EQ(poll(&p, 1, 0), 0);
    stand(&a, 1);
    int64_t first = check_leads(&a);
    check_polled(a.leader, PDK_EVENT_ELECTED, PDK_HELD, first);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    check_polled(a.leader, PDK_EVENT_DEPOSED, PDK_FREE, first);
    CHECK_EQ(poll(&p, 1, 0), 0);
    CHECK_EQ(pdk_lock_next_event(a.leader, &event), 0);
    close_it(&a);
}

/* --- waiting ----------------------------------------------------------------------------------------------------- */

struct wait {
    pthread_t thread;
    atomic_bool settled;
    _Atomic int rc;
};

static void *wait_to_lead(void *arg)
{
    struct wait *w = arg;
    w->rc = pdk_leader_wait(a.leader, PDK_FOREVER);
    w->settled = true;
    return NULL;
}

static void start_wait(struct wait *w)
{
    *w = (struct wait){.rc = 1};
    CHECK_EQ(pthread_create(&w->thread, NULL, wait_to_lead, w), 0);
}

static void end_wait(struct wait *w, int rc)
{
    CHECK_EQ(pthread_join(w->thread, NULL), 0);
    CHECK_RC(w->rc, rc);
}

static void waits(void)
{
    struct wait w[2];
    begin();
    open_direct(&b, "b");
    CHECK_RC(pdk_leader_wait(a.leader, PDK_FOREVER), PDK_EPERM);
    stand(&b, 1);
    stand(&a, 2);
    CHECK_RC(pdk_leader_wait(a.leader, 20), PDK_ETIMEDOUT);
    for (int i = 0; i < 2; i++)
        start_wait(&w[i]);
    CHECK(!w[0].settled && !w[1].settled);
    CHECK_RC(pdk_leader_resign(b.leader), 0);
    for (int i = 0; i < 2; i++)
        end_wait(&w[i], 0);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    stand(&b, 1);
    stand(&a, 2);
    start_wait(&w[0]);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    end_wait(&w[0], PDK_ECANCELED);
    close_it(&b);
    close_it(&a);
}

/* --- the end ----------------------------------------------------------------------------------------------------- */

static void closed_while_leading(void)
{
    struct wait w;
    begin();
    open_direct(&b, "b");
    stand(&a, 1);
    stand(&b, 2);
    int64_t token = check_leads(&a);
    pdk_event event;
    CHECK(pdk_lock_fd(a.leader) >= 0);
    CHECK_RC(pdk_client_close(a.client), 0);
    check_told(&a, 1, PDK_EVENT_DEPOSED, PDK_LOST, token);
    check_told(&a, 2, PDK_EVENT_WITHDRAWN, PDK_FREE, 0);
    CHECK_EQ(pdk_lock_next_event(a.leader, &event), 1);
    CHECK_RC(pdk_leader_wait(a.leader, 0), PDK_ECLOSED);
    CHECK_RC(pdk_leader_start(a.leader), PDK_ECLOSED);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    CHECK_RC(pdk_leader_resign_async(a.leader, count_resigned, NULL), PDK_ECLOSED);
    start_wait(&w);
    end_wait(&w, PDK_ECLOSED);
    check_leads(&b);
    close_it(&b);
    close_it(&a);
}

static void closed_while_standing(void)
{
    struct wait w;
    begin();
    open_direct(&b, "b");
    stand(&b, 1);
    stand(&a, 2);
    start_wait(&w);
    CHECK_RC(pdk_client_close(a.client), 0);
    end_wait(&w, PDK_ECLOSED);
    check_told(&a, 0, PDK_EVENT_WITHDRAWN, PDK_FREE, 0);
    CHECK_EQ(a.n_told, 1);
    CHECK_EQ(fixture_children(path), 1);
    close_it(&b);
    close_it(&a);
}

static void freed(void)
{
    begin();
    open_direct(&b, "b");
    pdk_leader *leading, *standing;
    CHECK_RC(pdk_leader_new(&leading, a.client, path, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_leader_new(&standing, a.client, path, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_leader_start(leading), 0);
    CHECK_RC(pdk_leader_wait(leading, LONG_MS), 0);
    CHECK_RC(pdk_leader_start(standing), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    stand(&b, 3);
    CHECK_RC(pdk_lock_free(standing), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    check_stands(&b);
    CHECK_RC(pdk_lock_free(leading), 0);
    check_leads(&b);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 1);
    CHECK_RC(pdk_lock_free(NULL), 0);
    close_it(&b);
    close_it(&a);
}

/* Refused for good; and when that is mended, it can be a candidate again. */
static void not_permitted(void)
{
    struct ACL read_only = {ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector acl = {1, &read_only};
    char text[256];
    begin();
    fixture_make(path, "", ZOO_PERSISTENT, &ZOO_OPEN_ACL_UNSAFE);
    CHECK_EQ(zoo_set_acl(fixture.zh, path, -1, &acl), ZOK);
    CHECK_RC(pdk_leader_start(a.leader), 0);
    CHECK_RC(pdk_leader_wait(a.leader, LONG_MS), PDK_EACCES);
    check_told(&a, 0, PDK_EVENT_WITHDRAWN, PDK_FREE, 0);
    CHECK_EQ(a.n_told, 1);
    CHECK(pdk_lock_last_error(a.leader, text, sizeof text) > 0);
    CHECK(strstr(text, path) != NULL);
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    close_it(&a);
}

static void arguments(void)
{
    begin();
    pdk_leader *l = NULL;
    CHECK_RC(pdk_leader_new(&l, a.client, path, (pdk_leader_mode)2, NULL), PDK_EINVAL);
    CHECK_RC(pdk_leader_wait(NULL, 0), PDK_EINVAL);
    close_it(&a);
}

/* --- asking ------------------------------------------------------------------------------------------------------ */

static void check_current(const char *id, int64_t token)
{
    pdk_contender_list *list;
    size_t size;
    CHECK_RC(pdk_contenders(a.client, path, 1, LONG_MS, &list), 0);
    CHECK_EQ(pdk_contender_list_size(list) > 0 &&
                 pdk_contender_number(list, 0, PDK_CONTENDER_DIALECT) != PDK_DIALECT_JUNK,
             id != NULL);
    if (id != NULL) {
        CHECK_STR(pdk_contender_data(list, 0, &size), id);
        CHECK_EQ(size, strlen(id));
        CHECK_EQ(pdk_contender_number(list, 0, PDK_CONTENDER_TOKEN), token);
    }
    pdk_contender_list_free(list);
}

static void current(void)
{
    begin();
    open_direct(&b, "somebody");
    check_current(NULL, 0); /* there is no such path yet */
    stand(&b, 1);
    int64_t first = check_leads(&b);
    check_current("somebody", first);
    stand(&a, 2);
    check_current("somebody", first);
    pdk__proxy_reset_counters(fixture.proxy);
    check_current("somebody", first);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_GET), 1); /* however many candidates there are */
    close_it(&b);
    check_current("a", check_leads(&a));
    CHECK_RC(pdk_leader_resign(a.leader), 0);
    fixture_make_below(path, "notes", "junk");
    check_current(NULL, 0);
    fixture_delete_all(path);
    close_it(&a);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"of three one leads, and the next when it resigns or closes", one_leads},
        {"the node is called latch- and carries host and pid", wire},
        {"the id may be empty, and not too long", of_ids},
        {"a mutex and a latch on one path wait for each other", with_a_mutex},
        {"a killed leader is followed by the next", killed},
        {"a leader whose node is deleted right after its election is deposed at once", deleted_in_a_young_term},
        {"a path deleted under its leader is made anew, with larger tokens", all_deleted},
        {"a candidate that starts without a server is elected once there is one, and reported once",
         no_server_at_the_start},
        {"without servers it is deposed by its clock, before another leads", no_server},
        {"a reply that is lost leaves one node", reply_lost},
        {"resigned: deposed, its node gone, and it can stand again", resigned},
        {"a leader that yields comes last, and leads again in its turn", yields},
        {"candidates in turns have the nodes of locks", turns_have_nodes_of_locks},
        {"who stands again at once has one node at a time", start_behind_a_resignation},
        {"resigning without waiting", resigned_async},
        {"resigned by two threads at once: each accepted call is answered once", resigned_by_threads},
        {"in the callback whatever waits is refused, all else works", in_a_callback},
        {"it can be freed in its callback", freed_in_a_callback},
        {"terms can be polled for", polled},
        {"a wait ends with the election, the time, or the resignation", waits},
        {"closed while it leads: deposed and withdrawn", closed_while_leading},
        {"closed while it stands: withdrawn", closed_while_standing},
        {"freed while it stands or leads: the next one leads", freed},
        {"without permission it is withdrawn, and tells why", not_permitted},
        {"nonsense is refused", arguments},
        {"who leads can be asked by anybody, with one read", current},
        {0},
    };
    return fixture_main(argc, argv, "latch", tests, ON_ONE);
}
