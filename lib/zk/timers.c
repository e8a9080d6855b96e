#include "lib/zk/timers.h"
#include "lib/assert.h"
#include "lib/clock.h"
#include "lib/zk/handle.h"
#include "lib/zk/log.h"
#include "lib/zk/member.h"
#include "lib/zk/opener.h"
#include "lib/zk/patrol.h"
#include "lib/zk/thread.h"
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* A waiter whose deadline has come checks its own condition. */
static void wake_waiters(struct pdk_client *c)
{
    PDK__LIST_EACH (link, &c->timers.waiters) {
        struct pdk__waiter *waiter = PDK__MEMBER(link, struct pdk__waiter, link);
        assert(waiter->cond != NULL && waiter->deadline_ms != PDK__NEVER);
        if (pdk__now_ms() >= waiter->deadline_ms)
            pthread_cond_broadcast(waiter->cond);
        else
            pdk__client_arm(c, waiter->deadline_ms);
    }
}

/* How often a handle is looked at that may have been refused without an event. */
enum { LOOK_MS = 100 };

static void tick(struct pdk_client *c)
{
    assert(pdk__client_locked(c) && !c->closed);
    c->timers.armed_ms = PDK__NEVER;
    wake_waiters(c);
    pdk__client_session(c, &(struct pdk__session_event){.kind = PDK__SEV_TIMER, .now_ms = pdk__now_ms()});
    if (pdk__handle_look(c))
        pdk__client_arm(c, pdk__now_ms() + LOOK_MS);
    pdk__members_tick(c);
    pdk__patrol_tick(c);
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
    if (c->opener.wanted && !c->opener.opening && !c->opener.launching && !c->closing)
        pdk__opener_start(c);
    pdk__log_turn(c);
}

static void *run(void *arg)
{
    struct pdk_client *c = arg;
    struct pollfd fds[] = {{.fd = c->timers.wake_fd, .events = POLLIN}, {.fd = c->timers.fd, .events = POLLIN}};
    bool stopping = false;
    pdk__client_serve(c);
    while (!stopping) {
        poll(fds, 2, -1);
        drain(c->timers.wake_fd);
        bool time_has_come = drain(c->timers.fd); /* whatever poll saw: it can have fired since */
        pdk__client_lock(c);
        turn(c, time_has_come);
        stopping = c->timers.stopping;
        pdk__client_leave(c);
    }
    return NULL;
}

static void close_fds(struct pdk_client *c)
{
    int *fds[] = {&c->timers.fd, &c->timers.wake_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

int pdk__timers_start(struct pdk_client *c)
{
    c->timers.armed_ms = PDK__NEVER;
    c->timers.fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    c->timers.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int rc = c->timers.fd >= 0 && c->timers.wake_fd >= 0 ? pdk__thread_create(&c->timers.thread, run, c) : PDK_ESYSTEM;
    if (rc == 0)
        pdk__log_wake(c, true);
    else
        close_fds(c);
    return rc;
}

void pdk__timers_stop(struct pdk_client *c)
{
    pdk__client_lock(c);
    assert(!c->timers.stopping);
    c->timers.stopping = true;
    pdk__client_wake(c);
    pdk__client_leave(c);
    pthread_join(c->timers.thread, NULL);
    pdk__log_wake(c, false);
    pdk__client_lock(c);
    close_fds(c);
    pdk__client_leave(c);
}
