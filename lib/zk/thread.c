/*
 * The thread of our own: it wakes for timers, makes new handles, and runs the user's callbacks.
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
    struct itimerspec at = {.it_value = {.tv_sec = wake_ms / 1000, .tv_nsec = wake_ms % 1000 * 1000000}};
    timerfd_settime(c->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

/* --- callbacks --------------------------------------------------------------------------------------------------- */

void pdk__client_notify(struct pdk_client *c, struct pdk__notice *notice)
{
    if (!pdk__list_empty(&notice->link))
        return;
    pdk__list_append(&c->notices, &notice->link);
    if (c->options.dispatch_by_caller)
        eventfd_write(c->ready_fd, 1);
    else
        pdk__thread_wake(c);
}

/* With the lock, which is let go around each. One runs at a time: who comes second leaves them to the first. */
int pdk__thread_run_notices(struct pdk_client *c)
{
    int n = 0;
    if (c->calling)
        return 0;
    c->calling = true;
    c->calling_thread = pthread_self();
    for (; !pdk__list_empty(&c->notices); n++) {
        struct pdk__notice *notice = PDK__MEMBER(c->notices.next, struct pdk__notice, link);
        pdk__list_remove(&notice->link);
        pdk__client_leave(c);
        notice->run(notice);
        pdk__client_lock(c);
    }
    c->calling = false;
    pthread_cond_broadcast(&c->changed);
    return n;
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

static void tick(struct pdk_client *c)
{
    c->armed_ms = PDK__NEVER;
    pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_TIMER, .now_ms = pdk__now_ms()});
    PDK__LIST_EACH (link, &c->claims)
        pdk__claim_tick(PDK__MEMBER(link, struct pdk__claim, link));
    PDK__LIST_EACH (link, &c->followers) {
        struct pdk__follower *f = PDK__MEMBER(link, struct pdk__follower, link);
        f->heed(f);
    }
}

/* Not in the watcher that heard of the expiry: a handle is not to be closed on its own thread, and names take long. */
static void reopen(struct pdk_client *c)
{
    pdk__client_leave(c);
    pdk__handle_close(c);
    int rc = pdk__handle_open(c);
    pdk__client_lock(c);
    if (rc == 0)
        return;
    pdk__client_incident(c, "connect", c->hosts, rc);
    pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_OPEN_FAILED, .now_ms = pdk__now_ms()});
}

/* Was there anything? */
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
    if (c->open_wanted && !c->closing)
        reopen(c);
    if (!c->options.dispatch_by_caller)
        pdk__thread_run_notices(c);
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
        stopping = c->stopping && (c->options.dispatch_by_caller || pdk__list_empty(&c->notices));
        pdk__client_leave(c);
    }
    return NULL;
}

static int start(struct pdk_client *c)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&c->thread, NULL, run, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc == 0 ? 0 : PDK_ESYSTEM;
}

static void close_fds(struct pdk_client *c)
{
    int *fds[] = {&c->timer_fd, &c->wake_fd, &c->ready_fd};
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
    c->ready_fd = c->options.dispatch_by_caller ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
    bool open = c->timer_fd >= 0 && c->wake_fd >= 0 && (c->ready_fd >= 0 || !c->options.dispatch_by_caller);
    int rc = open ? start(c) : PDK_ESYSTEM;
    if (rc != 0)
        close_fds(c);
    return rc;
}

/* Without the lock. The thread runs what callbacks are left before it ends. */
void pdk__thread_stop(struct pdk_client *c)
{
    pdk__client_lock(c);
    c->stopping = true;
    pdk__thread_wake(c);
    pdk__client_leave(c);
    pthread_join(c->thread, NULL);
    pdk__client_lock(c);
    close_fds(c);
    pdk__client_leave(c);
}
