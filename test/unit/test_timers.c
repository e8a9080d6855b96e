/* Timers of a client whose thread is woken for other reasons, too. No server is needed. */
#include "lib/clock.h"
#include "lib/zk/client.h"
#include "test/lib/check.h"
#include <paddock.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { TIMEOUT_MS = 300, LIMIT_MS = 30000, TRIES_MAX = 20 };

static atomic_bool may_be_late, was_late;
static atomic_int result;

static int poll_now(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    struct timespec t = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, fds, n, timeout_ms < 0 ? NULL : &t, NULL, 0);
}

static bool is_timer(int fd)
{
    struct itimerspec t;
    return timerfd_gettime(fd, &t) == 0;
}

/* Replaces the C library's: a thread woken by something other than its timer is held until the timer has fired. */
int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    int rc = poll_now(fds, n, timeout_ms);
    if (n == 2 && fds[1].revents == 0 && is_timer(fds[1].fd) && atomic_exchange(&may_be_late, false)) {
        struct pollfd timer = {.fd = fds[1].fd, .events = POLLIN};
        atomic_store(&was_late, poll_now(&timer, 1, LIMIT_MS) == 1);
    }
    return rc;
}

static void settled(int rc, void *arg)
{
    (void)arg;
    atomic_store(&result, rc);
}

static void fired_while_waking(void)
{
    pdk_client *c;
    pdk_mutex *m;
    pdk_grant *g;
    CHECK_EQ(pdk_client_new(&c, "127.0.0.1:1", NULL), 0);
    CHECK_EQ(pdk_mutex_new(&m, c, "/lock", NULL), 0);
    for (int i = 0; i < TRIES_MAX && !atomic_load(&was_late); i++) {
        atomic_store(&result, 1);
        CHECK_EQ(pdk_mutex_lock_async(m, TIMEOUT_MS, settled, NULL, &g), 0);
        atomic_store(&may_be_late, true);
        pdk__client_wake(c);
        CHECK_WITHIN(LIMIT_MS, atomic_load(&result) == PDK_ETIMEDOUT);
        CHECK_EQ(pdk_grant_release(g), PDK_EPERM);
    }
    CHECK(atomic_load(&was_late));
    CHECK_EQ(pdk_client_close(c), 0);
    CHECK_EQ(pdk_lock_free(m), 0);
    CHECK_EQ(pdk_client_free(c), 0);
}

/* With a time_t of 32 bits the seconds would overflow, and a far deadline would lie in the past. */
static void far_deadlines(void)
{
    CHECK_EQ(pdk__timespec(0).tv_sec, 0);
    CHECK_EQ(pdk__timespec(12345).tv_sec, 12);
    CHECK_EQ(pdk__timespec(12345).tv_nsec, 345000000);
    CHECK_EQ(pdk__timespec(INT64_C(1000) * INT32_MAX - 1).tv_sec, INT32_MAX - 1);
    CHECK_EQ(pdk__timespec(INT64_C(1000) * INT32_MAX).tv_sec, INT32_MAX);
    CHECK_EQ(pdk__timespec(INT64_MAX).tv_sec, INT32_MAX);
    CHECK_EQ(pdk__timespec(INT64_MAX).tv_nsec, 0);
}

/* --- from when a timeout counts ---------------------------------------------------------------------------------- */

enum { HELD_MS = 1000 };

static pdk_client *client;
static pdk_mutex *mutex;
static pdk_leader *leader;

struct call {
    int (*run)(int64_t timeout_ms);
    pthread_t thread;
    atomic_bool begun;
    int rc;
    int64_t took_ms;
};

static int lock_sync(int64_t timeout_ms) { return pdk_mutex_timedlock(mutex, timeout_ms); }

static int lock_async(int64_t timeout_ms)
{
    pdk_grant *g;
    atomic_store(&result, 1);
    CHECK_EQ(pdk_mutex_lock_async(mutex, timeout_ms, settled, NULL, &g), 0);
    CHECK_WITHIN(LIMIT_MS, atomic_load(&result) != 1);
    CHECK_EQ(pdk_grant_release(g), PDK_EPERM);
    return atomic_load(&result);
}

static int wait_client(int64_t timeout_ms) { return pdk_client_wait(client, timeout_ms); }

static int wait_leader(int64_t timeout_ms) { return pdk_leader_wait(leader, timeout_ms); }

static void *run_call(void *arg)
{
    struct call *call = arg;
    int64_t began_ms = pdk__now_ms();
    atomic_store(&call->begun, true);
    call->rc = call->run(pdk__test_slowed(HELD_MS));
    call->took_ms = pdk__now_ms() - began_ms;
    return NULL;
}

/* The client's lock is held until HELD_MS after the call has begun. */
static void check_call(int (*run)(int64_t timeout_ms))
{
    struct call call = {.run = run};
    int64_t held_ms = pdk__test_slowed(HELD_MS);
    pdk__client_lock(client);
    CHECK_EQ(pthread_create(&call.thread, NULL, run_call, &call), 0);
    CHECK_WITHIN(LIMIT_MS, atomic_load(&call.begun));
    int64_t until_ms = pdk__now_ms() + held_ms;
    while (pdk__now_ms() < until_ms)
        pdk__test_nap();
    pdk__client_leave(client);
    CHECK_EQ(pthread_join(call.thread, NULL), 0);
    CHECK_RC(call.rc, PDK_ETIMEDOUT);
    CHECK(call.took_ms < 2 * held_ms);
}

static void counts_from_the_call(void)
{
    CHECK_EQ(pdk_client_new(&client, "127.0.0.1:1", NULL), 0);
    CHECK_EQ(pdk_mutex_new(&mutex, client, "/lock", NULL), 0);
    CHECK_EQ(pdk_leader_new(&leader, client, "/leader", PDK_LATCH, NULL), 0);
    CHECK_EQ(pdk_leader_start(leader), 0);
    check_call(lock_sync);
    check_call(lock_async);
    check_call(wait_client);
    check_call(wait_leader);
    CHECK_EQ(pdk_client_close(client), 0);
    CHECK_EQ(pdk_lock_free(leader), 0);
    CHECK_EQ(pdk_lock_free(mutex), 0);
    CHECK_EQ(pdk_client_free(client), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a timer that fires while its thread wakes for something else is noticed", fired_while_waking},
        {"a timeout counts from the call, and not from when the client's lock was free", counts_from_the_call},
        {"a time that a time_t of 32 bits cannot hold is the last that it can", far_deadlines},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "timers", .tests = tests});
}
