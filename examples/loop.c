/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop: locks in a program that has one thread and an event loop.
 *
 *     loop HOST:PORT[,HOST:PORT...] /PATH [ROUNDS]
 *
 * The loop polls the client's descriptor beside its own, here standard input, and calls pdk_client_dispatch() when that
 * is readable. Every callback runs inside it, on this thread, so nothing needs a lock. No call here waits. A line of
 * input releases the lock early.
 */
#include <inttypes.h>
#include <paddock.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { HOLD_MS = 50, LIMIT_MS = 30000 };

struct program {
    pdk_client *client;
    pdk_mutex *mutex;
    pdk_grant *grant; /* of the round */
    int rounds;       /* still to do */
    int rc;
    bool held, done;
};

static void granted(int rc, void *arg);

static void say(const char *what, int64_t token)
{
    printf("%s, token %" PRId64 "\n", what, token);
    fflush(stdout);
}

static void stop(struct program *p, int rc)
{
    p->done = true;
    p->rc = rc;
}

static void begin_round(struct program *p)
{
    int rc = pdk_mutex_lock_async(p->mutex, LIMIT_MS, granted, p, &p->grant);
    if (rc != 0)
        stop(p, rc);
}

static void released(int rc, void *arg)
{
    struct program *p = arg;
    if (rc != 0 && rc != PDK_ELOST)
        stop(p, rc);
    else if (--p->rounds == 0)
        stop(p, 0);
    else
        begin_round(p);
}

static void release(struct program *p)
{
    p->held = false;
    int rc = pdk_grant_release_async(p->grant, released, p);
    if (rc == PDK_ELOST) /* released all the same; no callback comes */
        released(rc, p);
    else if (rc != 0)
        stop(p, rc);
}

static void granted(int rc, void *arg)
{
    struct program *p = arg;
    int64_t token = 0;
    if (rc != 0) {
        stop(p, rc);
        return;
    }
    p->held = true;
    pdk_grant_token(p->grant, &token, NULL);
    say("held", token);
}

/* Work pauses on SUSPECT, and ends on LOST. */
static void happened(pdk_mutex *m, const pdk_event *event, void *arg)
{
    struct program *p = arg;
    (void)m;
    if (event->kind != PDK_EVENT_STATE)
        return;
    say(event->state == PDK_HELD ? "held again" : event->state == PDK_SUSPECT ? "in doubt" : "lost", event->token);
    if (event->state == PDK_LOST && p->held)
        release(p);
}

/* A step of work would be here: short, and begun only where the lock lasts for it. */
static void work(struct program *p, bool asked)
{
    if (p->held && (asked || pdk_grant_valid_ms(p->grant) > HOLD_MS))
        release(p);
}

static void run(struct program *p)
{
    struct pollfd fds[] = {{.fd = pdk_client_fd(p->client), .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    char line[64];
    begin_round(p);
    while (!p->done) {
        bool asked = false;
        int n = poll(fds, 2, p->held ? HOLD_MS : -1);
        if (n > 0 && fds[1].revents != 0) {
            asked = read(STDIN_FILENO, line, sizeof line) > 0;
            if (!asked)
                fds[1].fd = -1; /* no more input */
        }
        if (n > 0 && (fds[0].revents & POLLIN) != 0)
            pdk_client_dispatch(p->client);
        else
            work(p, asked);
    }
}

static int make(struct program *p, const char *hosts, const char *path)
{
    pdk_client_options *o = pdk_client_options_new();
    int rc = o != NULL ? pdk_client_options_set_dispatch(o, true) : PDK_ENOMEM;
    if (rc == 0)
        rc = pdk_client_new(&p->client, hosts, o);
    pdk_client_options_free(o);
    if (rc == 0)
        rc = pdk_mutex_new(&p->mutex, p->client, path, NULL);
    return rc != 0 ? rc : pdk_lock_on_event(p->mutex, happened, p);
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: loop HOST:PORT[,HOST:PORT...] /PATH [ROUNDS]\n");
        return 64;
    }
    struct program p = {.rounds = argc == 4 ? atoi(argv[3]) : 3};
    int rc = make(&p, argv[1], argv[2]);
    if (rc == 0) {
        run(&p);
        rc = p.rc;
    }
    if (rc != 0)
        fprintf(stderr, "loop: %s\n", pdk_strerror(rc));
    pdk_client_close(p.client); /* runs the callbacks that still wait */
    pdk_lock_free(p.mutex);
    pdk_client_free(p.client);
    return rc != 0;
}
