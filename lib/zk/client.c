#include "lib/zk/client.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/core/contender.h"
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>

/* --- the lock and the count -------------------------------------------------------------------------------------- */

void pdk__client_ref(struct pdk_client *c)
{
    int before = atomic_fetch_add(&c->refs, 1);
    assert(before > 0);
}

void pdk__client_unref(struct pdk_client *c)
{
    int before = atomic_fetch_sub(&c->refs, 1);
    assert(before > 0);
    if (before == 1)
        c->upper->end(c);
}

/* The client whose lock the calling thread has, also while it waits on a condition. It has one such lock at most. */
static _Thread_local const struct pdk_client *locked;

static const pthread_t no_thread; /* 0 is the id of none */

/* Only the thread that has the lock notes itself, and it takes the note back before it releases the lock. A thread
 * never reads a value older than its own last write. So a thread that finds itself noted has the lock. */
static void note_owner(struct pdk_client *c, pthread_t owner)
{
    atomic_store_explicit(&c->guard.owner, owner, memory_order_relaxed);
    c->guard.turn++;
}

static void take_lock(struct pdk_client *c, bool shielded)
{
    assert(locked == NULL);
    pthread_mutex_lock(&c->lock);
    note_owner(c, pthread_self());
    locked = c;
    c->guard.shielded = shielded;
}

/* ZooKeeper's client writes to a pipe inside its asynchronous calls: a cancellation point, with our lock held. */
void pdk__client_lock(struct pdk_client *c)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    take_lock(c, true);
    c->guard.cancel_state = before;
}

void pdk__client_shield(struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    if (!c->guard.shielded)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &c->guard.cancel_state);
    c->guard.shielded = true;
}

/* A forked child must touch nothing: the lock may have been held in the parent. */
static int refuse_child(const struct pdk_client *c) { return pdk__process_is_self(c->process) ? 0 : PDK_EFORKED; }

int pdk__client_enter(struct pdk_client *c)
{
    int rc = refuse_child(c);
    if (rc == 0)
        pdk__client_lock(c);
    return rc;
}

int pdk__client_ask(struct pdk_client *c)
{
    int rc = refuse_child(c);
    if (rc == 0)
        take_lock(c, false);
    return rc;
}

void pdk__client_session(struct pdk_client *c, const struct pdk__session_event *event)
{
    pdk__client_shield(c);
    c->upper->session(c, event);
}

static bool need_is_reported(const struct pdk_client *c)
{
    return c->session.lease_needed == (c->members.n_needing_lease > 0);
}

bool pdk__client_quiet(const struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    return pdk__list_empty(&c->guard.deferred) && need_is_reported(c);
}

/* Report to the session whether any member needs the lease, once the effects of a call are complete. */
static void report_need(struct pdk_client *c)
{
    if (need_is_reported(c))
        return;
    struct pdk__session_event event = {.kind = PDK__SEV_LEASE_UNNEEDED, .now_ms = pdk__now_ms()};
    if (c->members.n_needing_lease > 0)
        event.kind = PDK__SEV_LEASE_NEEDED;
    pdk__client_session(c, &event);
}

void pdk__client_defer(struct pdk_client *c, struct pdk__deferred *deferred)
{
    assert(pdk__client_locked(c) && deferred->run != NULL);
    if (pdk__list_empty(&deferred->link))
        pdk__list_append(&c->guard.deferred, &deferred->link);
}

/* All that follows from what happened under the lock. A report to the session can defer more. Was any work deferred? */
static bool run_deferred(struct pdk_client *c)
{
    bool worked = false;
    do {
        for (; !pdk__list_empty(&c->guard.deferred); worked = true) {
            struct pdk__deferred *deferred = PDK__MEMBER(c->guard.deferred.next, struct pdk__deferred, link);
            pdk__list_remove(&deferred->link);
            pdk__client_shield(c);
            deferred->run(deferred);
        }
        report_need(c);
    } while (!pdk__list_empty(&c->guard.deferred));
    return worked;
}

void pdk__client_leave(struct pdk_client *c)
{
    run_deferred(c);
    bool shielded = c->guard.shielded;
    int before = c->guard.cancel_state;
    assert(pdk__client_locked(c) && locked == c);
    locked = NULL;
    note_owner(c, no_thread);
    pthread_mutex_unlock(&c->lock);
    if (shielded)
        pthread_setcancelstate(before, NULL);
}

static int over(const struct pdk_client *c) { return c->closing ? PDK_ECLOSED : c->over; }

/* The client whose events the calling thread delivers. Each thread notes it itself: the system gives the id of an
 * ended thread to a new one, which may have nothing to do with us. */
static _Thread_local uintptr_t serves;

void pdk__client_serve(struct pdk_client *c) { serves = c->id; }

int pdk__client_may_wait(struct pdk_client *c)
{
    assert(pdk__client_locked(c));
    bool dispatches = c->callbacks.calling && pthread_equal(pthread_self(), c->callbacks.calling_thread);
    return serves == c->id || dispatches ? PDK_EDEADLK : over(c);
}

/* --- the timer --------------------------------------------------------------------------------------------------- */

void pdk__client_wake(struct pdk_client *c) { eventfd_write(c->timers.wake_fd, 1); }

/* A timer of the kernel's, because it counts suspended time and a timed wait on a condition does not. */
void pdk__client_arm(struct pdk_client *c, int64_t wake_ms)
{
    assert(pdk__client_locked(c));
    if (wake_ms >= c->timers.armed_ms)
        return;
    c->timers.armed_ms = wake_ms;
    if (wake_ms < 1)
        wake_ms = 1; /* 0 would disarm it */
    struct itimerspec at = {.it_value = pdk__timespec(wake_ms)};
    timerfd_settime(c->timers.fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* --- waiting ----------------------------------------------------------------------------------------------------- */

int pdk__cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    int rc = pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
    return rc == 0 ? 0 : PDK_ESYSTEM;
}

/* A thread that waited was shielded: only questions are not, and none of them waits. */
static void own_again(void *client)
{
    struct pdk_client *c = client;
    note_owner(c, pthread_self());
    c->guard.shielded = true;
}

/* At most until AT, unless it is NULL. The thread has the lock again also when it is cancelled. */
static void wait_on(struct pdk_client *c, pthread_cond_t *cond, const struct timespec *at)
{
    note_owner(c, no_thread);
    pthread_cleanup_push(own_again, c);
    if (at != NULL)
        pthread_cond_timedwait(cond, &c->lock, at);
    else
        pthread_cond_wait(cond, &c->lock);
    pthread_cleanup_pop(1);
}

/* With the lock, also when the waiting thread is cancelled: the waiter is on its stack. */
static void stop_waiting(void *waiter) { pdk__list_remove(&((struct pdk__waiter *)waiter)->link); }

/* The timers' thread wakes it in time: the clock of a condition stands still while the machine is suspended. The
 * condition's own timeout is for when that thread has ended. */
static void wait_until(struct pdk_client *c, pthread_cond_t *cond, int64_t deadline_ms)
{
    int64_t left_ms = deadline_ms - pdk__now_ms();
    if (left_ms <= 0)
        return;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
    struct timespec at = pdk__timespec(left_ms < INT64_MAX - now_ms ? now_ms + left_ms : INT64_MAX);
    struct pdk__waiter waiter = {.cond = cond, .deadline_ms = deadline_ms};
    pdk__list_append(&c->timers.waiters, &waiter.link);
    pdk__client_arm(c, deadline_ms);
    pthread_cleanup_push(stop_waiting, &waiter);
    wait_on(c, cond, &at);
    pthread_cleanup_pop(1);
}

void pdk__client_await(struct pdk_client *c, pthread_cond_t *cond, int64_t deadline_ms, bool cancellable)
{
    int state = c->guard.cancel_state;
    assert(pdk__client_locked(c) && c->guard.shielded);
    if (run_deferred(c))
        return; /* what the caller waits for may have happened */
    if (cancellable)
        pthread_setcancelstate(state, NULL);
    if (deadline_ms == PDK__NEVER)
        wait_on(c, cond, NULL);
    else
        wait_until(c, cond, deadline_ms);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    assert(pdk__client_locked(c));
    c->guard.cancel_state = state; /* other threads have had the lock since */
}

int pdk__client_await_answer(struct pdk_client *c, pthread_cond_t *cond, int64_t deadline_ms)
{
    int rc = pdk__client_may_wait(c);
    int64_t now_ms = pdk__now_ms(), soon_ms = now_ms + 100;
    if (rc == 0 && now_ms >= deadline_ms)
        rc = PDK_ETIMEDOUT;
    if (rc == 0)
        pdk__client_await(c, cond, deadline_ms < soon_ms ? deadline_ms : soon_ms, false);
    return rc;
}

zhandle_t *pdk__client_zh(struct pdk_client *c) { return c->zh; }
