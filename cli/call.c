#include "cli/call.h"

#include "cli/signals.h"

#include <paddock/error.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

int pdk__cli_call_signals(void)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, 0};
    sigset_t set;
    pdk__cli_signals_not_ignored(&set, signals);
    sigaddset(&set, SIGCHLD);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int pdk__cli_call_read(int fd, bool *by_terminal)
{
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    *by_terminal = info.ssi_code == SI_KERNEL;
    return (int)info.ssi_signo;
}

struct call {
    int (*function)(void *arg);
    void *arg;
    int done; /* readable once the function has returned */
    atomic_int rc;
};

static void *run(void *arg)
{
    struct call *c = arg;
    c->rc = c->function(c->arg);
    eventfd_write(c->done, 1);
    return NULL;
}

/* The number of the signal that ended the wait; 0 when the call has returned. */
static int await(int fd, int done)
{
    struct pollfd fds[] = {{.fd = done, .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    bool by_terminal;
    for (;;) {
        poll(fds, 2, -1);
        if (fds[0].revents != 0)
            return 0;
        int signal = fds[1].revents != 0 ? pdk__cli_call_read(fd, &by_terminal) : 0;
        if (signal != 0 && signal != SIGCHLD)
            return signal;
    }
}

int pdk__cli_call_run(int fd, int (*function)(void *arg), void *arg, int *signal)
{
    struct call c = {.function = function, .arg = arg, .done = eventfd(0, EFD_CLOEXEC), .rc = PDK_ECANCELED};
    pthread_t thread;
    *signal = 0;
    if (c.done < 0)
        return PDK_ESYSTEM;
    if (pthread_create(&thread, NULL, run, &c) != 0) {
        close(c.done);
        return PDK_ESYSTEM;
    }
    *signal = await(fd, c.done);
    if (*signal != 0)
        pthread_cancel(thread);
    pthread_join(thread, NULL);
    close(c.done);
    return c.rc;
}
