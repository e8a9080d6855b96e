/* A client and fork(): the child has none, the parent notices nothing. */
#define _GNU_SOURCE /* unshare */
#include "lib/zk/client.h"
#include "lib/zk/registry.h"
#include "test/lib/fixture.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static pdk_client *c;
static pdk_mutex *m; /* held */
static pdk_mutex *w; /* waited for, asynchronously */
static pdk_grant *g;
static pdk_leader *l; /* is a candidate, after a stranger */
static pdk_leader_observer *o;
static const char *path, *busy;
static int64_t began_ms; /* before any of these */
static atomic_int told;

static void tell(int rc, void *arg)
{
    (void)rc, (void)arg;
    told++;
}

static atomic_int n_leaders;

static void note_leader(const char *id, int64_t token, void *arg)
{
    (void)id, (void)token, (void)arg;
    n_leaders++;
}

static void begin(void)
{
    n_leaders = 0;
    path = fixture_path();
    busy = fixture_path();
    told = 0;
    pdk__proxy_reset_counters(fixture.proxy);
    fixture_make(busy, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(busy, "a-lock-0000000000", "");
    began_ms = pdk__test_now_ms();
    c = fixture_client(NULL);
    m = fixture_mutex(c, path);
    w = fixture_mutex(c, busy);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_lock_async(w, PDK_FOREVER, tell, NULL, &g), 0);
    CHECK_RC(pdk_leader_new(&l, c, busy, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(busy) == 3);
    CHECK_RC(pdk_leader_observe(&o, c, busy, note_leader, NULL), 0);
    /* Each contender watches its own node, a waiter also the one ahead, and the observer the first. No other request is
     * left but those of the patrol, which may be among these on a slow machine. */
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_GET) >= 6 && n_leaders == 1);
    pdk__proxy_reset_counters(fixture.proxy);
}

/* How many requests the patrol (lib/zk/patrol.h) can have sent by now: each of the four looks again once in a session
 * timeout, a waiter at its node and the one ahead, the observer at the path and the first. Less than a quarter of the
 * timeout after the beginning: none. */
static int patrol_max(void)
{
    int64_t pause_ms = pdk_client_session_timeout_ms(c) / 4;
    return 2 * (int)((pdk__test_now_ms() - began_ms) / pause_ms);
}

/* Whatever a child did: nothing went over its parent's connection, and the parent has what it had. The parent renews
 * its hold meanwhile, by reads and syncs of the root and deletes of a node that is not there; and its patrol looks. */
static void end(void)
{
    int renewal = pdk__proxy_requests(fixture.proxy, PDK__OP_EXISTS) +
                  pdk__proxy_requests(fixture.proxy, PDK__OP_SYNC) + pdk__proxy_requests(fixture.proxy, PDK__OP_PROOF);
    int patrol = pdk__proxy_requests(fixture.proxy, PDK__OP_GET) + pdk__proxy_requests(fixture.proxy, PDK__OP_LIST2);
    CHECK(patrol <= patrol_max());
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, 0) - renewal - patrol, 0);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    CHECK_EQ(fixture_children(path), 1);
    CHECK_EQ(told, 0);
    CHECK_RC(pdk_leader_wait(l, 0), PDK_ETIMEDOUT);
    CHECK_EQ(n_leaders, 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_leader_resign(l), 0);
    CHECK_RC(pdk_lock_free(l), 0);
    CHECK_RC(pdk_leader_observer_free(o), 0);
    CHECK_RC(pdk_grant_cancel(g), 0);
    CHECK_WITHIN(LONG_MS, told == 1);
    CHECK_RC(pdk_grant_release(g), PDK_EPERM);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_CONNECT), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(w), 0);
    fixture_end(c, m);
    fixture_delete_all(busy);
}

static void verbs_of_mutexes(void)
{
    pdk_grant *other;
    int64_t token;
    pdk_event event;
    zoo_op_t check;
    CHECK_RC(pdk_mutex_lock(m), PDK_EFORKED);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EFORKED);
    CHECK_RC(pdk_mutex_timedlock(m, 0), PDK_EFORKED);
    CHECK_RC(pdk_mutex_timedlock(w, PDK_FOREVER), PDK_EFORKED);
    CHECK_RC(pdk_mutex_unlock(m), PDK_EFORKED);
    CHECK_RC(pdk_mutex_lock_async(w, 0, tell, NULL, &other), PDK_EFORKED);
    CHECK_RC(pdk_mutex_unlock_async(m, tell, NULL), PDK_EFORKED);
    CHECK_RC(pdk_grant_cancel(g), PDK_EFORKED);
    CHECK_RC(pdk_grant_release(g), PDK_EFORKED);
    CHECK_RC(pdk_grant_release_async(g, tell, NULL), PDK_EFORKED);
    CHECK_RC(pdk_grant_token(g, &token, NULL), PDK_EFORKED);
    CHECK_EQ(pdk_grant_state(g), PDK_LOST);
    CHECK_EQ(pdk_grant_valid_ms(g), 0);
    CHECK_RC(pdk_lock_token(m, &token, NULL), PDK_EFORKED);
    CHECK_RC(pdk_lock_guard(m, 0, &check), PDK_EFORKED);
    CHECK_RC(pdk_lock_on_event(m, NULL, NULL), PDK_EFORKED);
    CHECK_RC(pdk_lock_fd(m), PDK_EFORKED);
    CHECK_RC(pdk_lock_next_event(m, &event), PDK_EFORKED);
    CHECK_EQ(pdk_lock_state(m), PDK_LOST);
    char text[8] = "x";
    CHECK_EQ(pdk_lock_node(m, 0, text, sizeof text), 0);
    CHECK_STR(text, "");
    CHECK_EQ(pdk_lock_last_error(m, text, sizeof text), 0);
    CHECK_RC(pdk_lock_free(w), PDK_EFORKED);
    CHECK_RC(pdk_lock_free(m), PDK_EFORKED);
}

static void verbs_of_leaders(void)
{
    int64_t token;
    pdk_event event;
    char text[8] = "x";
    CHECK_RC(pdk_leader_start(l), PDK_EFORKED);
    CHECK_RC(pdk_leader_wait(l, PDK_FOREVER), PDK_EFORKED);
    CHECK_RC(pdk_leader_resign(l), PDK_EFORKED);
    CHECK_RC(pdk_leader_resign_async(l, tell, NULL), PDK_EFORKED);
    CHECK_EQ(pdk_lock_state(l), PDK_LOST);
    CHECK_EQ(pdk_lock_valid_ms(l), 0);
    CHECK_RC(pdk_lock_token(l, &token, NULL), PDK_EFORKED);
    CHECK_RC(pdk_lock_on_event(l, NULL, NULL), PDK_EFORKED);
    CHECK_RC(pdk_lock_fd(l), PDK_EFORKED);
    CHECK_RC(pdk_lock_next_event(l, &event), PDK_EFORKED);
    CHECK_EQ(pdk_lock_node(l, 0, text, sizeof text), 0);
    CHECK_EQ(pdk_lock_last_error(l, text, sizeof text), 0);
    CHECK_STR(text, "");
    CHECK_RC(pdk_lock_free(l), PDK_EFORKED);
    CHECK_RC(pdk_leader_observer_free(o), PDK_EFORKED);
}

static void verbs_of_clients(void)
{
    pdk_mutex *other;
    pdk_leader *leader;
    pdk_leader_observer *observer;
    pdk_contender_list *list;
    char text[8] = "x";
    CHECK_RC(pdk_mutex_new(&other, c, path, NULL), PDK_EFORKED);
    CHECK_RC(pdk_contenders(c, path, PDK_CONTENDERS_ALL, PDK_FOREVER, &list), PDK_EFORKED);
    CHECK_RC(pdk_leader_new(&leader, c, path, PDK_LATCH, NULL), PDK_EFORKED);
    CHECK_RC(pdk_leader_observe(&observer, c, path, note_leader, NULL), PDK_EFORKED);
    CHECK_RC(pdk_client_wait(c, PDK_FOREVER), PDK_EFORKED);
    CHECK_RC(pdk_client_dispatch(c), PDK_EFORKED);
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_OVER);
    CHECK_EQ(pdk_client_session_id(c), 0);
    CHECK_EQ(pdk_client_session_timeout_ms(c), 0);
    CHECK_EQ(pdk_client_fd(c), -1);
    CHECK_EQ(pdk_client_last_error(c, text, sizeof text), 0);
    CHECK_STR(text, "");
    CHECK_RC(pdk_client_close(c), PDK_EFORKED);
    CHECK_RC(pdk_client_free(c), PDK_EFORKED);
}

static void refused(void)
{
    begin();
    pid_t pid = pdk__test_fork();
    if (pid == 0) {
        verbs_of_mutexes();
        verbs_of_leaders();
        verbs_of_clients();
        verbs_of_mutexes();
        _exit(0);
    }
    CHECK_EQ(pdk__test_wait(pid), 0);
    end();
}

/* Also one of a child's thread's, and one that runs what it has for its end. */
static void exits(void)
{
    begin();
    for (int i = 0; i < 10; i++) {
        pid_t pid = pdk__test_fork();
        if (pid == 0)
            _exit(0);
        CHECK_EQ(pdk__test_wait(pid), 0);
    }
    pid_t pid = pdk__test_fork();
    if (pid == 0) {
        fclose(stdout);
        quick_exit(0);
    }
    CHECK_EQ(pdk__test_wait(pid), 0);
    end();
}

/* The parent's threads may be anywhere in the library when the child is created. */
static atomic_bool enough;

static void *be_busy(void *arg)
{
    (void)arg;
    while (!enough)
        pdk__registry_find_handle((zhandle_t *)(void *)&told);
    return NULL;
}

static void makes_its_own(void)
{
    pthread_t thread;
    CHILD_HAS_THREADS();
    begin();
    enough = false;
    CHECK_EQ(pthread_create(&thread, NULL, be_busy, NULL), 0);
    for (int i = 0; i < 20; i++) {
        pid_t pid = pdk__test_fork();
        if (pid == 0) { /* one that hangs is ended by this */
            signal(SIGALRM, SIG_DFL);
            setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_sec = 30}, NULL);
            pdk_client *mine;
            CHECK_RC(pdk_client_new(&mine, fixture.direct, NULL), 0);
            pdk_mutex *n = fixture_mutex(mine, path);
            CHECK_RC(pdk_client_wait(mine, LONG_MS), 0);
            CHECK_RC(pdk_mutex_trylock(n), PDK_EBUSY);
            CHECK_RC(pdk_mutex_lock(m), PDK_EFORKED);
            fixture_end(mine, n);
            _exit(0);
        }
        CHECK_EQ(pdk__test_wait(pid), 0);
    }
    enough = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    end();
}

/* --- a child that looks like its parent -------------------------------------------------------------------------- */

enum { NOT_PERMITTED = 77 };

/* A child that no handler of fork() hears of, with a process number of its own or, in a new namespace, number 1. */
static pid_t raw_fork(int flags) { return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL); }

/* Bits, for it must not allocate: another thread may have been at it. */
static int how_it_looks(pdk_client *mine, pdk_mutex *held)
{
    return (pdk_lock_state(held) != PDK_LOST) | (pdk_mutex_unlock(held) != PDK_EFORKED) << 1 |
           (pdk_client_state(mine) != PDK_SESSION_OVER) << 2 | (pdk_client_close(mine) != PDK_EFORKED) << 3;
}

/* Hold a lock in this process; its child, created with FLAGS, must not believe that it does. */
static void hold_and_fork(int flags)
{
    pdk_client *mine;
    CHECK_RC(pdk_client_new(&mine, fixture.direct, NULL), 0);
    pdk_mutex *held = fixture_mutex(mine, fixture_path());
    CHECK_RC(pdk_mutex_lock(held), 0);
    pid_t parent = getpid(), pid = raw_fork(flags);
    if (pid == 0)
        _exit(getpid() == parent || flags == 0 ? how_it_looks(mine, held) : 16);
    CHECK(pid > 0);
    CHECK_EQ(pdk__test_wait(pid), 0);
    CHECK_EQ(pdk_lock_state(held), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(held), 0);
    fixture_end(mine, held);
}

/* Number 1 of a namespace has a child that is number 1 of another. */
static void hold_as_number_one(void)
{
    if (unshare(CLONE_NEWPID) != 0)
        _exit(NOT_PERMITTED);
    pid_t pid = fork(); /* its parent is out of its sight: pdk__test_fork() would take it for dead */
    if (pid == 0) {
        CHECK_EQ(getpid(), 1);
        hold_and_fork(CLONE_NEWPID);
        _exit(0);
    }
    _exit(pdk__test_wait(pid));
}

static void unlike_its_twin(void)
{
    CHILD_HAS_THREADS();
    pid_t pid = pdk__test_fork();
    if (pid == 0)
        hold_as_number_one();
    int status = pdk__test_wait(pid);
    if (status == NOT_PERMITTED)
        SKIP("new namespaces of processes are not permitted here");
    CHECK_EQ(status, 0);
}

static void unlike_its_parent(void) { hold_and_fork(0); }

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"in a child every call is refused, and the parent notices nothing", refused},
        {"the end of a child does not hurt its parent's session", exits},
        {"a child can make a client of its own, whatever the parent was doing", makes_its_own},
        {"a child with the number of its parent, in a namespace of its own, has no client", unlike_its_twin},
        {"a child that was made without fork() has no client", unlike_its_parent},
        {0},
    };
    return fixture_main(argc, argv, "fork", tests, ON_ONE);
}
