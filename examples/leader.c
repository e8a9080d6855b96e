/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leader: a daemon that runs in many instances, of which one works: the leader.
 *
 * Everything happens on one thread, in a loop of its own: signals and changes of the leadership come through
 * descriptors, so there are no callbacks and no locks. The daemon works in short steps. Before each step it checks
 * whether it leads, and for long enough. When that is in doubt it pauses, and when a term is lost it remains a
 * candidate for the next one. On a resignation request (`paddock break`) it resigns, and goes to the end of the queue.
 * SIGTERM ends it: it resigns first, so the next one leads without waiting for a session to expire.
 */
#define _POSIX_C_SOURCE 200809L /* signals, where the compiler is asked for strict C11 */
#include <errno.h>
#include <inttypes.h>
#include <paddock.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* How often a step is taken, and how long one may last. */
enum { STEP_MS = 1000, WORK_MS = 100, EXIT_USAGE = 64 };

static void say(const char *what, int64_t token)
{
    printf("%s, token %" PRId64 "\n", what, token);
    fflush(stdout);
}

/* Work that only a leader may do; short. The token goes along, so that the receiver of a write can refuse a smaller
 * one. */
static void work(pdk_leader *l)
{
    int64_t token;
    if (pdk_lock_state(l) == PDK_HELD && pdk_lock_valid_ms(l) > WORK_MS && pdk_lock_token(l, &token, NULL) == 0)
        say("working", token);
}

/* Resign in favour of the next one. Whether the servers have received it yet does not matter: they will. */
static int oblige(pdk_leader *l, int64_t token)
{
    say("standing down: asked to resign", token);
    int rc = pdk_leader_resign(l);
    return rc == 0 || rc == PDK_EUNKNOWN ? pdk_leader_start(l) : rc;
}

static int take(pdk_leader *l, const pdk_event *event)
{
    switch (event->kind) {
    case PDK_EVENT_ELECTED:
        say("leading", event->token);
        return 0;
    case PDK_EVENT_STATE:
        say(event->state == PDK_HELD ? "leading on" : "pausing", event->token);
        return 0;
    case PDK_EVENT_DEPOSED:
        say("term over", event->token);
        return 0;
    case PDK_EVENT_WITHDRAWN:
        return pdk_leader_wait(l, 0); /* the reason */
    case PDK_EVENT_REVOKED:
        return oblige(l, event->token);
    default:
        return 0;
    }
}

static int take_all(pdk_leader *l)
{
    pdk_event event;
    int rc = 0;
    while (rc == 0 && pdk_lock_next_event(l, &event) > 0)
        rc = take(l, &event);
    return rc;
}

static int end(pdk_leader *l)
{
    int64_t token;
    if (pdk_lock_token(l, &token, NULL) == 0)
        say("standing down: asked to end", token);
    return pdk_leader_resign(l);
}

/* Returns when it was asked to end and has resigned, or when it can no longer lead. */
static int run(pdk_leader *l, int signals)
{
    struct pollfd fds[] = {{.fd = signals, .events = POLLIN}, {.fd = pdk_lock_fd(l), .events = POLLIN}};
    int rc = fds[1].fd < 0 ? fds[1].fd : pdk_leader_start(l);
    while (rc == 0) {
        poll(fds, 2, STEP_MS);
        rc = take_all(l);
        if (rc == 0 && (fds[0].revents & POLLIN) != 0)
            return end(l);
        work(l);
    }
    return rc;
}

/* Before the client is created: its threads inherit the mask, and leave these signals to us. */
static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int main(int argc, char **argv)
{
    pdk_client *client = NULL;
    pdk_leader *leader = NULL;
    if (argc != 3) {
        fprintf(stderr, "Usage: leader HOST:PORT[,HOST:PORT...] /PATH\n");
        return EXIT_USAGE;
    }
    int signals = open_signals();
    if (signals < 0) {
        fprintf(stderr, "leader: signalfd: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    int rc = pdk_client_new(&client, argv[1], NULL);
    if (rc == 0)
        rc = pdk_leader_new(&leader, client, argv[2], PDK_LATCH, NULL); /* its id: this host, and this process */
    if (rc == 0)
        rc = run(leader, signals);
    if (rc != 0)
        fprintf(stderr, "leader: %s\n", pdk_strerror(rc));
    pdk_lock_free(leader);
    pdk_client_free(client);
    close(signals);
    return rc != 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
