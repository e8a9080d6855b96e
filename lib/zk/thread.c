/*
 * The timers' thread: it wakes for timers, and waits for nothing else.
 */
#include "lib/clock.h"
#include "lib/core/contender.h"
#include "lib/zk/claim.h"
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

void pdk__thread_wake(struct pdk_client *c) { eventfd_write(c->wake_fd, 1); }

/* A timer of the kernel's, because it counts suspended time and a timed wait on a condition does not. */
void pdk__client_arm(struct pdk_client *c, int64_t wake_ms)
{
    if (wake_ms >= c->armed_ms)
        return;
    c->armed_ms = wake_ms;
    if (wake_ms < 1)
        wake_ms = 1; /* 0 would disarm it */
    struct itimerspec at = {.it_value = pdk__timespec(wake_ms)};
    timerfd_settime(c->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

/* A waiter whose deadline has come checks its own condition. */
static void wake_waiters(struct pdk_client *c)
{
    PDK__LIST_EACH (link, &c->waiters) {
        struct pdk__waiter *waiter = PDK__MEMBER(link, struct pdk__waiter, link);
        if (pdk__now_ms() >= waiter->deadline_ms)
            pthread_cond_broadcast(waiter->cond);
        else
            pdk__client_arm(c, waiter->deadline_ms);
    }
}

static void tick(struct pdk_client *c)
{
    c->armed_ms = PDK__NEVER;
    wake_waiters(c);
    pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_TIMER, .now_ms = pdk__now_ms()});
    PDK__LIST_EACH (link, &c->claims)
        pdk__claim_tick(PDK__MEMBER(link, struct pdk__claim, link));
    PDK__LIST_EACH (link, &c->followers) {
        struct pdk__follower *f = PDK__MEMBER(link, struct pdk__follower, link);
        f->heed(f);
    }
}

/* Was anything there? */
static bool drain(int fd)
{
    uint64_t count;
    bool any = false;
    while (read(fd, &count, sizeof count) > 0)
        any = true;
    return any;
}

static void turn(struct pdk_client *c, bool time_has_come)
{
    if (time_has_come)
        tick(c);
    pdk__opener_join(c);
    if (c->open_wanted && !c->opening && !c->launching && !c->closing)
        pdk__opener_start(c);
    pdk__log_turn(c);
}

static void *run(void *arg)
{
    struct pdk_client *c = arg;
    struct pollfd fds[] = {{.fd = c->wake_fd, .events = POLLIN}, {.fd = c->timer_fd, .events = POLLIN}};
    bool stopping = false;
    pdk__client_serve(c);
    while (!stopping) {
        poll(fds, 2, -1);
        drain(c->wake_fd);
        bool time_has_come = drain(c->timer_fd); /* whatever poll saw: it can have fired since */
        pdk__client_lock(c);
        turn(c, time_has_come);
        stopping = c->stopping;
        pdk__client_leave(c);
    }
    return NULL;
}

int pdk__thread_create(pthread_t *thread, void *(*run_it)(void *), struct pdk_client *c)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, run_it, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? 0 : PDK_ESYSTEM;
}

static void close_fds(struct pdk_client *c)
{
    int *fds[] = {&c->timer_fd, &c->wake_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

int pdk__thread_start(struct pdk_client *c)
{
    c->armed_ms = PDK__NEVER;
    c->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = c->timer_fd >= 0 && c->wake_fd >= 0 ? pdk__thread_create(&c->thread, run, c) : PDK_ESYSTEM;
    if (rc == 0)
        pdk__log_wake(c, true);
    else
        close_fds(c);
    return rc;
}

/* Without the lock. */
void pdk__thread_stop(struct pdk_client *c)
{
    pdk__client_lock(c);
    c->stopping = true;
    pdk__thread_wake(c);
    pdk__client_leave(c);
    pthread_join(c->thread, NULL);
    pdk__log_wake(c, false);
    pdk__client_lock(c);
    close_fds(c);
    pdk__client_leave(c);
}
