/* Locks without waiting: cancelling, callbacks and their threads, changes of state. */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"
#include "test/lib/zk.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int n_lost;

static void note_lost(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m, (void)arg;
    atomic_fetch_add(&n_lost, event->state == PDK_LOST);
}

/* Two grants of one object: the one that is lost was asked for later. Each is asked and released by its own handle, and
 * the object has neither. */
static void each_grant_has_its_handle(void)
{
    int64_t tokens[2];
    struct request held, lost;
    fixture_begin();
    atomic_store(&n_lost, 0);
    struct peer a = peer_new(0), b = peer_new(0);
    CHECK_RC(pdk_mutex_lock(b.mutex), 0);
    CHECK_RC(pdk_lock_on_event(a.mutex, note_lost, NULL), 0);
    request_queued(&held, &a, PDK_FOREVER, 2);
    request_queued(&lost, &a, PDK_FOREVER, 3);
    fixture_delete_below(fixture.path, fixture_find(fixture.path, "-lock-0000000001"));
    CHECK_WITHIN(LONG_MS, fixture_find(fixture.path, "-lock-0000000003")[0] != '\0');
    CHECK_RC(pdk_mutex_unlock(b.mutex), 0);
    request_told(&lost, 0);
    fixture_delete_below(fixture.path, fixture_find(fixture.path, "-lock-0000000002"));
    request_told(&held, 0);
    CHECK_WITHIN(LONG_MS, atomic_load(&n_lost) == 1);
    CHECK_EQ(pdk_lock_state(a.mutex), PDK_FREE);
    CHECK_RC(pdk_mutex_unlock(a.mutex), PDK_EPERM);
    CHECK_RC(pdk_mutex_unlock_async(a.mutex, NULL, NULL), PDK_EPERM);
    CHECK_RC(pdk_lock_free(a.mutex), PDK_EBUSY);
    CHECK_EQ(pdk_grant_state(held.grant), PDK_HELD);
    CHECK_EQ(pdk_grant_state(lost.grant), PDK_LOST);
    CHECK(pdk_grant_valid_ms(held.grant) > 0 && pdk_grant_valid_ms(lost.grant) == 0);
    CHECK_RC(pdk_grant_token(held.grant, &tokens[0], NULL), 0);
    CHECK_RC(pdk_grant_token(lost.grant, &tokens[1], NULL), 0);
    CHECK_LAW(tokens[0] > tokens[1]);
    CHECK_RC(pdk_grant_release(lost.grant), PDK_ELOST);
    CHECK_EQ(pdk_grant_state(held.grant), PDK_HELD);
    CHECK_EQ(fixture_nodes(), 1);
    CHECK_RC(pdk_grant_release(held.grant), 0);
    CHECK_EQ(fixture_nodes(), 0);
    peer_free(&a);
    peer_free(&b);
}

/* --- the threads of callbacks ------------------------------------------------------------------------------------ */

static pthread_t teller;
static int n_calls;
static pdk_grant *grant;
static int call_rc;

static void note_call(int rc, void *arg)
{
    teller = pthread_self();
    n_calls++;
    call_rc = rc;
    if (arg != NULL) {
        struct peer *p = arg;
        CHECK_RC(pdk_mutex_lock(p->mutex), PDK_EDEADLK);
        CHECK_RC(pdk_grant_release(grant), PDK_EDEADLK);
        CHECK_RC(pdk_client_dispatch(p->client), PDK_EDEADLK);
    }
}

/* Connected through the first proxy. */
static struct peer dispatching_peer(void)
{
    pdk_client_options *opts = fixture_options(30000);
    CHECK_RC(pdk_client_options_set_dispatch(opts, true), 0);
    struct peer p = peer_at(fixture.e->address[0], opts);
    pdk_client_options_free(opts);
    return p;
}

static bool readable(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, timeout_ms) == 1;
}

/* So that the library's thread wakes, and could run callbacks that it should not. */
static void let_timers_pass(struct peer *p)
{
    pdk_mutex *twin;
    CHECK_RC(pdk_mutex_new(&twin, p->client, fixture.path, NULL), 0);
    for (int i = 0; i < 3; i++)
        CHECK_RC(pdk_mutex_timedlock(twin, 50), PDK_ETIMEDOUT);
    CHECK_RC(pdk_client_flush(p->client, LONG_MS), 0); /* nothing is left of them */
    CHECK_RC(pdk_lock_free(twin), 0);
}

static void dispatched(void)
{
    fixture_begin();
    struct peer a = dispatching_peer();
    int fd = pdk_client_fd(a.client);
    CHECK(fd >= 0);
    CHECK_EQ(pdk_client_dispatch(a.client), 0);
    CHECK(!readable(fd, 0));
    n_calls = 0;
    CHECK_RC(pdk_mutex_lock_async(a.mutex, PDK_FOREVER, note_call, &a, &grant), 0);
    CHECK(readable(fd, LONG_MS));
    let_timers_pass(&a);
    CHECK_EQ(pdk_grant_state(grant), PDK_HELD); /* known, but not reported before the caller dispatches */
    CHECK_EQ(n_calls, 0);
    CHECK_EQ(pdk_client_dispatch(a.client), 1);
    CHECK_EQ(n_calls, 1);
    CHECK_RC(call_rc, 0);
    CHECK(pthread_equal(teller, pthread_self()));
    CHECK(!readable(fd, 0));
    CHECK_EQ(pdk_client_dispatch(a.client), 0);
    CHECK_RC(pdk_grant_release_async(grant, note_call, NULL), 0);
    CHECK(readable(fd, LONG_MS));
    CHECK_EQ(pdk_client_dispatch(a.client), 1);
    CHECK_EQ(n_calls, 2);
    CHECK_EQ(fixture_nodes(), 0);
    CHECK_RC(pdk_mutex_lock_async(a.mutex, PDK_FOREVER, note_call, NULL, &grant), 0);
    CHECK(readable(fd, LONG_MS));
    CHECK_RC(pdk_grant_release(grant), 0);
    CHECK_EQ(pdk_client_dispatch(a.client), 1);
    CHECK_RC(call_rc, PDK_ECANCELED); /* granted, and released before the callback */
    peer_free(&a);
}

static atomic_int n_answers;

static void note_thread(int rc, void *arg)
{
    (void)arg;
    teller = pthread_self();
    call_rc = rc;
    atomic_fetch_add(&n_answers, 1);
}

static void library_thread(void)
{
    fixture_begin();
    struct peer a = peer_new(0);
    atomic_store(&n_answers, 0);
    CHECK_EQ(pdk_client_fd(a.client), -1);
    CHECK_RC(pdk_client_dispatch(a.client), PDK_EINVAL);
    CHECK_RC(pdk_mutex_lock_async(a.mutex, PDK_FOREVER, note_thread, NULL, &grant), 0);
    CHECK_WITHIN(LONG_MS, n_answers == 1);
    CHECK(!pthread_equal(teller, pthread_self()));
    CHECK_RC(call_rc, 0);
    CHECK_RC(pdk_grant_release_async(grant, note_thread, NULL), 0);
    CHECK_WITHIN(LONG_MS, n_answers == 2);
    CHECK_RC(call_rc, 0);
    CHECK_EQ(fixture_nodes(), 0);
    peer_free(&a);
}

/* --- changes of state -------------------------------------------------------------------------------------------- */

enum { MAX_CHANGES = 16 };

static struct change {
    pdk_state state;
    int64_t token;
} changes[MAX_CHANGES];
static atomic_int n_changes;

static void note_change(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m, (void)arg;
    if (event->kind != PDK_EVENT_STATE)
        return;
    if (n_changes < MAX_CHANGES)
        changes[n_changes] = (struct change){event->state, event->token};
    atomic_fetch_add(&n_changes, 1);
}

static void check_change(int i, pdk_state state, int64_t token)
{
    CHECK_WITHIN(LONG_MS, n_changes > i);
    CHECK_EQ(changes[i].state, state);
    CHECK_EQ(changes[i].token, token);
}

/* Both have happened when the first is reported. */
static void states_that_waited(void)
{
    fixture_begin();
    pdk__proxy *proxy = fixture.e->proxy[0];
    struct peer a = dispatching_peer();
    atomic_store(&n_changes, 0);
    CHECK_RC(pdk_lock_on_event(a.mutex, note_change, NULL), 0);
    CHECK_RC(pdk_mutex_lock(a.mutex), 0);
    int64_t token = peer_token(&a);
    pdk__proxy_refuse(proxy, true);
    pdk__proxy_cut(proxy);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(a.mutex) == PDK_SUSPECT);
    pdk__proxy_refuse(proxy, false);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(a.mutex) == PDK_HELD);
    CHECK_EQ(n_changes, 0);
    CHECK(pdk_client_dispatch(a.client) > 0);
    check_change(0, PDK_SUSPECT, token);
    check_change(1, PDK_HELD, token);
    CHECK_EQ(n_changes, 2);
    CHECK_RC(pdk_mutex_unlock(a.mutex), 0);
    peer_free(&a);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"of two grants of one object each has its handle", each_grant_has_its_handle},
        {"callbacks run when the caller dispatches, and only then", dispatched},
        {"callbacks run on the library's thread otherwise", library_thread},
        {"changes of state that waited are told in order, too", states_that_waited},
        {0},
    };
    return fixture_main(argc, argv, "mutex async", tests, ON_ONE);
}
