/* Callbacks: the calls that they may make, their thread, and their order. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "lib/clock.h"
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>

static pdk_client *c;
static pdk_mutex *m;
static const char *path;

static void begin(pdk_client_options *o)
{
    path = fixture_path();
    c = fixture_client(o);
    m = fixture_mutex(c, path);
}

static void end(void) { fixture_end(c, m); }

/* --- what may be done -------------------------------------------------------------------------------------------- */

static atomic_int n_refused, n_told, last_rc;
static pdk_grant *grant, *second;

static void count(int rc, void *arg)
{
    (void)arg;
    last_rc = rc;
    n_told++;
}

/* Calls that wait are refused; calls that do not wait work. Checks here would end the library's thread: count
 * instead. */
static void try_all(void)
{
    pdk_contender_list *list;
    n_refused += pdk_mutex_lock(m) == PDK_EDEADLK;
    n_refused += pdk_mutex_trylock(m) == PDK_EDEADLK;
    n_refused += pdk_mutex_timedlock(m, 10) == PDK_EDEADLK;
    n_refused += pdk_mutex_timedlock(m, 0) == PDK_EDEADLK;
    n_refused += pdk_mutex_unlock(m) == PDK_EDEADLK;
    n_refused += pdk_client_wait(c, 10) == PDK_EDEADLK;
    n_refused += pdk_contenders(c, path, PDK_CONTENDERS_ALL, 10, &list) == PDK_EDEADLK;
    n_refused += pdk_client_close(c) == PDK_EDEADLK;
    n_refused += pdk_client_free(c) == PDK_EDEADLK;
}
enum { N_BLOCKING = 9 };

static void on_lock(int rc, void *arg)
{
    (void)arg;
    try_all();
    n_refused += pdk_grant_release(grant) == PDK_EDEADLK;
    n_told += rc == 0 && pdk_grant_release_async(grant, count, NULL) == 0;
}

static void refused_on_lock(void)
{
    begin(NULL);
    n_refused = n_told = 0;
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, on_lock, NULL, &grant), 0);
    CHECK_WITHIN(LONG_MS, n_told == 2);
    CHECK_RC(last_rc, 0);
    CHECK_EQ(n_refused, N_BLOCKING + 1);
    CHECK_EQ(fixture_children(path), 0);
    end();
}

static void on_state(pdk_mutex *mutex, const pdk_event *event, void *arg)
{
    (void)mutex, (void)arg;
    if (event->state == PDK_LOST)
        try_all();
}

static void refused_on_state(void)
{
    begin(NULL);
    n_refused = 0;
    CHECK_RC(pdk_lock_on_event(m, on_state, NULL), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    fixture_delete_all(path);
    CHECK_WITHIN(LONG_MS, n_refused == N_BLOCKING);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    end();
}

static atomic_bool armed, was_suspended;

static void on_session(pdk_client *client, pdk_session_state state, void *arg)
{
    (void)client, (void)arg;
    if (state == PDK_SESSION_SUSPENDED)
        was_suspended = true;
    if (armed && state == PDK_SESSION_CONNECTED)
        try_all();
}

static void refused_on_session(void)
{
    pdk_client_options *o = fixture_options(10000);
    armed = false;
    CHECK_RC(pdk_client_options_set_on_session(o, on_session, NULL), 0);
    begin(o);
    n_refused = 0;
    armed = true;
    was_suspended = false;
    pdk__proxy_refuse(fixture.proxy, true); /* a state that ends at once is not reported */
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, was_suspended);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_WITHIN(LONG_MS, n_refused == N_BLOCKING);
    armed = false;
    end();
}

/* A lock from a callback, by the verb that does not wait. */
static void on_first(int rc, void *arg)
{
    if (rc == 0)
        pdk_mutex_lock_async(arg, PDK_FOREVER, count, NULL, &second);
}

static void asks_again(void)
{
    begin(NULL);
    pdk_mutex *n = fixture_mutex(c, fixture_path());
    n_told = 0;
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, on_first, n, &grant), 0);
    CHECK_WITHIN(LONG_MS, n_told == 1);
    CHECK_RC(last_rc, 0);
    CHECK_RC(pdk_grant_release(second), 0);
    CHECK_RC(pdk_grant_release(grant), 0);
    CHECK_RC(pdk_lock_free(n), 0);
    end();
}

/* No lock of ours is held meanwhile: other threads go on, on the same object. */
static atomic_bool inside, leave;

static void linger(int rc, void *arg)
{
    (void)rc, (void)arg;
    inside = true;
    while (!leave)
        pdk__test_nap();
}

static void holds_nothing(void)
{
    begin(NULL);
    pdk_mutex *n = fixture_mutex(c, fixture_path());
    inside = leave = false;
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, linger, NULL, &grant), 0);
    CHECK_WITHIN(LONG_MS, inside);
    CHECK_RC(pdk_mutex_timedlock(n, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    CHECK_RC(pdk_mutex_timedlock(m, 50), PDK_ETIMEDOUT); /* by a thread that looks after itself */
    CHECK_RC(pdk_grant_release(grant), 0);
    leave = true;
    CHECK_RC(pdk_lock_free(n), 0);
    end();
}

/* A callback that works for longer than a session lasts does not keep the session from being renewed. No verb is called
 * meanwhile, for each would look after the session itself; the renewals are counted, a timeout has at least five. */
static void works_long(void)
{
    begin(fixture_options(4000));
    inside = leave = false;
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, linger, NULL, &grant), 0);
    CHECK_WITHIN(LONG_MS, inside);
    pdk__proxy_reset_counters(fixture.proxy);
    CHECK_WITHIN(LONG_MS, SEEN(pdk__proxy_replies(fixture.proxy, PDK__OP_PROOF)) >= 15);
    CHECK_WITHIN(LONG_MS, pdk_grant_state(grant) == PDK_HELD); /* never again, if it was LOST */
    leave = true;
    CHECK_RC(pdk_grant_release(grant), 0);
    end();
}

/* --- the session's ----------------------------------------------------------------------------------------------- */

static char story[256];
static pthread_mutex_t story_lock = PTHREAD_MUTEX_INITIALIZER;

static void tell_story(pdk_client *client, pdk_session_state state, void *arg)
{
    static const char *const names[] = {"connecting ", "connected ", "suspended ", "over "};
    (void)client, (void)arg;
    pthread_mutex_lock(&story_lock);
    strcat(story, names[state]);
    pthread_mutex_unlock(&story_lock);
}

static bool told(const char *text)
{
    pthread_mutex_lock(&story_lock);
    bool same = strcmp(story, text) == 0;
    pthread_mutex_unlock(&story_lock);
    return same;
}

static void session_story(void)
{
    pdk_client_options *o = fixture_options(10000);
    story[0] = '\0';
    CHECK_RC(pdk_client_options_set_on_session(o, tell_story, NULL), 0);
    begin(o);
    CHECK_WITHIN(LONG_MS, told("connected "));
    int64_t first = pdk_client_session_id(c);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, told("connected suspended "));
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_WITHIN(LONG_MS, told("connected suspended connected "));
    CHECK_EQ(pdk_client_session_id(c), first);
    pdk_client_close(c);
    CHECK(told("connected suspended connected over "));
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_OVER);
    end();
    CHECK(told("connected suspended connected over "));
}

/* --- a program's own loop ---------------------------------------------------------------------------------------- */

static void refused_while_dispatching(void)
{
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_set_dispatch(o, true), 0);
    begin(o);
    n_refused = n_told = 0;
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, on_lock, NULL, &grant), 0);
    CHECK_WITHIN(LONG_MS, pdk_client_dispatch(c) >= 0 && n_told == 2);
    CHECK_EQ(n_refused, N_BLOCKING + 1);
    end();
}

/* --- a thread that is late --------------------------------------------------------------------------------------- */

static atomic_bool is_kept, let_go;

static atomic_bool keep_timers, keep_handles;

static void stay_until_let_go(void)
{
    is_kept = true;
    while (!let_go)
        pdk__test_nap();
}

/* In place of the C library's: the thread of the timers, and no other, does not come back from it. */
int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    struct itimerspec t;
    int (*next)(struct pollfd *, nfds_t, int) = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
    int rc = next(fds, n, timeout_ms);
    if (keep_timers && n == 2 && timerfd_gettime(fds[1].fd, &t) == 0)
        stay_until_let_go();
    return rc;
}

/* In place of ZooKeeper's client's: a handle that is to be closed lives on. */
int zookeeper_close(zhandle_t *zh)
{
    int (*next)(zhandle_t *) = (int (*)(zhandle_t *))dlsym(RTLD_NEXT, "zookeeper_close");
    if (keep_handles)
        stay_until_let_go();
    return next(zh);
}

static void expire_session(void)
{
    pdk__client_lock(c);
    pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_EXPIRED, .now_ms = pdk__now_ms()});
    pdk__client_leave(c);
}

static void note_answer(int rc, const struct Stat *stat, const void *data)
{
    (void)rc, (void)stat, (void)data;
    n_told++;
}

/* The handle is given up, and not closed yet: now the old one finds its server again. */
static void last_word_of_a_handle(void)
{
    begin(NULL);
    n_told = 0;
    is_kept = let_go = false;
    zhandle_t *old = pdk__client_zh(c);
    int64_t session = pdk_client_session_id(c);
    int connects = pdk__proxy_replies(fixture.proxy, PDK__OP_CONNECT);
    CHECK_RC(pdk_mutex_lock(m), 0);
    keep_handles = true;
    expire_session();
    CHECK_WITHIN(LONG_MS, is_kept);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_CONNECT) > connects);
    CHECK_WITHIN(LONG_MS, zoo_state(old) == ZOO_CONNECTED_STATE);
    CHECK_EQ(zoo_aexists(old, "/", 0, note_answer, NULL), ZOK);
    CHECK_WITHIN(LONG_MS, n_told == 1); /* its answer came after the connection's event */
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_CONNECTING);
    keep_handles = false;
    let_go = true;
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_CONNECTED);
    CHECK(pdk_client_session_id(c) != session);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    end();
}

/* No thread delivers the event. A caller that asks finds out by the clock, and all later calls must agree. */
static void lost_by_the_clock(void)
{
    begin(fixture_options(2000));
    is_kept = let_go = false;
    CHECK_RC(pdk_mutex_lock(m), 0);
    keep_timers = true;
    CHECK_WITHIN(LONG_MS, is_kept);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) != PDK_SESSION_SUSPENDED);
    pdk_state state = pdk_lock_state(m);
    int lock_rc = pdk_mutex_lock(m), unlock_rc = pdk_mutex_unlock(m);
    keep_timers = false;
    let_go = true;
    CHECK_EQ(state, PDK_LOST);
    CHECK_RC(lock_rc, PDK_ELOST);
    CHECK_RC(unlock_rc, PDK_ELOST);
    end();
}

/* --- the last packet --------------------------------------------------------------------------------------------- */

static _Atomic int64_t told_ms[4];

static bool first_is_watched(void)
{
    char node[512];
    snprintf(node, sizeof node, "%s/", path);
    pdk_lock_node(m, 0, node + strlen(node), sizeof node - strlen(node));
    return pdk__ask_watchers(fixture.e->server[0], node) == 2; /* its own, and the next one's */
}

static void note_time(pdk_mutex *mutex, const pdk_event *event, void *arg)
{
    (void)mutex, (void)arg;
    told_ms[event->state] = pdk__test_now_ms();
}

/* Granted by a notification, and from then on no packet passes. Whenever the silence is noticed, belief ends before the
 * session timeout, counted from the last packet, is over. */
static void lost_with_the_silence(void)
{
    enum { SESSION_MS = 6000 };
    begin(NULL);
    pdk_client *other = fixture_client(fixture_options(SESSION_MS));
    pdk_mutex *next = fixture_mutex(other, path);
    CHECK_RC(pdk_lock_on_event(next, note_time, NULL), 0);
    last_rc = 1;
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_lock_async(next, PDK_FOREVER, count, NULL, &grant), 0);
    CHECK_WITHIN(LONG_MS, first_is_watched());
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_WITHIN(LONG_MS, last_rc == 0);
    int64_t heard_ms = pdk__test_now_ms();
    pdk__proxy_hold(fixture.proxy, PDK__TO_SERVER, true);
    pdk__proxy_hold(fixture.proxy, PDK__TO_CLIENT, true);
    CHECK_WITHIN(LONG_MS, told_ms[PDK_LOST] != 0);
    CHECK(told_ms[PDK_SUSPECT] != 0 && told_ms[PDK_SUSPECT] <= told_ms[PDK_LOST]);
    CHECK(told_ms[PDK_LOST] - heard_ms < SESSION_MS);
    pdk__proxy_clear(fixture.proxy);
    CHECK_RC(pdk_grant_release(grant), PDK_ELOST);
    fixture_end(other, next);
    end();
}

/* The thread that closes runs the callbacks that are left: each one comes. */
static void closed_undispatched(void)
{
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_set_dispatch(o, true), 0);
    begin(o);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, "a-lock-0000000000", "");
    n_told = 0;
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, count, NULL, &grant), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_EQ(n_told, 1);
    CHECK_RC(last_rc, PDK_ECLOSED);
    CHECK_EQ(pdk_client_fd(c), -1);
    CHECK_EQ(pdk_client_dispatch(c), 0);
    end();
    fixture_delete_all(path);
}

static void *close_it(void *arg) { return (void *)(intptr_t)pdk_client_close(arg); }

static void stay_a_while(int rc, void *arg)
{
    (void)rc, (void)arg;
    is_kept = true;
    while (pdk_client_state(c) != PDK_SESSION_OVER)
        pdk__test_nap();
    for (int i = 0; i < 50; i++)
        pdk__test_nap();
    n_told++;
}

static void *dispatch_once(void *arg)
{
    (void)arg;
    CHECK_WITHIN(LONG_MS, pdk_client_dispatch(c) > 0);
    return NULL;
}

/* The last nap is long after all else that a close waits for. */
static void closed_while_dispatching(void)
{
    pthread_t closer, dispatcher;
    void *rc;
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_set_dispatch(o, true), 0);
    begin(o);
    n_told = 0;
    is_kept = false;
    for (int i = 0; i < 2; i++) /* where a create is lost, the second is granted first */
        CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, stay_a_while, NULL, i == 0 ? &grant : &second), 0);
    CHECK_EQ(pthread_create(&dispatcher, NULL, dispatch_once, NULL), 0);
    CHECK_WITHIN(LONG_MS, is_kept);
    CHECK_EQ(pthread_create(&closer, NULL, close_it, c), 0);
    CHECK_EQ(pthread_join(closer, &rc), 0);
    CHECK_RC((int)(intptr_t)rc, 0);
    CHECK_EQ(n_told, 2);
    CHECK_EQ(pthread_join(dispatcher, NULL), 0);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"in the callback of a lock whatever waits is refused, and unlock_async works", refused_on_lock},
        {"in the callback of a change of state whatever waits is refused", refused_on_state},
        {"in the callback of the session whatever waits is refused", refused_on_session},
        {"a callback can ask for the next lock", asks_again},
        {"while a callback runs other threads lock and unlock", holds_nothing},
        {"a callback that works for longer than a session lasts costs no lock", works_long},
        {"the session's callback tells of each change in order, and of the end", session_story},
        {"while it dispatches whatever waits is refused", refused_while_dispatching},
        {"a lock that is lost by the clock is lost for every call, though the thread is late", lost_by_the_clock},
        {"a notification was the last packet: lost when the silence is noticed", lost_with_the_silence},
        {"a handle that was given up has no more say, though the thread is late", last_word_of_a_handle},
        {"what was not dispatched is called by close", closed_undispatched},
        {"a close waits for a callback that is being dispatched, and for those behind it", closed_while_dispatching},
        {0},
    };
    return fixture_main(argc, argv, "callbacks", tests, ON_ONE);
}
