#include "cli/run/listen.h"

#include "cli/call.h"
#include "cli/connect.h"
#include "cli/json.h"
#include "cli/message.h"
#include "cli/screen.h"

#include <errno.h>
#include <limits.h>
#include <paddock/leader.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* How often a session that is over is looked for. */
enum { LOOK_MS = 1000 };

struct listener {
    const char *path;
    bool json;
    atomic_int status;    /* why no more is printed */
    int ended;            /* readable then */
    atomic_bool printing; /* which may wait for a reader */
};

static int print_json(const struct listener *l, const char *id, int64_t token)
{
    json_t *top = json_object();
    pdk__cli_json_text(top, "path", l->path);
    json_object_set_new(top, "token", id != NULL ? json_integer(token) : json_null());
    if (id != NULL)
        pdk__cli_json_text(top, "leader", id);
    else
        json_object_set_new(top, "leader", json_null());
    return pdk__cli_json_print(top);
}

static void print_leader(const char *id, int64_t token)
{
    size_t size = strlen(id) + 1; /* no character becomes a longer one */
    char *text = malloc(size);
    if (text != NULL)
        pdk__cli_printable(text, size, INT_MAX, id);
    printf("%lld %s\n", (long long)token, text != NULL ? text : "?");
    free(text);
}

static int print_line(const char *id, int64_t token)
{
    if (id != NULL)
        print_leader(*id != '\0' ? id : "-", token);
    else
        puts("none");
    if (fflush(stdout) == 0)
        return 0;
    pdk__cli_message("cannot write to standard output: %s", strerror(errno));
    return STATUS_INTERNAL;
}

/* On the thread of the callbacks. */
static void changed(const char *id, int64_t token, void *arg)
{
    struct listener *l = arg;
    l->printing = true; /* before the status is read */
    int status = l->status;
    if (status == 0)
        status = l->json ? print_json(l, id, token) : print_line(id, token);
    if (status != 0 && l->status == 0) {
        l->status = status;
        eventfd_write(l->ended, 1);
    }
    l->printing = false;
}

/* Nothing is printed from here on. The end of the client would wait for a callback that prints. */
static int exit_by(struct listener *l, int signal)
{
    l->status = STATUS_SIGNAL + signal;
    if (l->printing)
        _exit(l->status);
    return l->status;
}

/* 128 and the signal, or why it ended before one came. */
static int await_signal(const struct pdk__cli_options *o, pdk_client *c, struct listener *l, int signals)
{
    struct pollfd fds[] = {
        {.fd = signals, .events = POLLIN}, {.fd = l->ended, .events = POLLIN}, {.fd = pdk__cli_screen_reader()}};
    bool by_terminal;
    for (;;) {
        poll(fds, 3, LOOK_MS);
        int signal = fds[0].revents != 0 ? pdk__cli_call_read(signals, &by_terminal) : 0;
        if (signal != 0 && signal != SIGCHLD)
            return exit_by(l, signal);
        if (l->status != 0)
            return l->status;
        if (fds[2].revents != 0)
            return pdk__cli_screen_unread();
        if (pdk_client_state(c) == PDK_SESSION_OVER)
            return pdk__cli_report_failure(o, c, pdk_client_wait(c, 0));
    }
}

static int listen_with(const struct pdk__cli_options *o, pdk_client *c, bool json)
{
    struct listener l = {.path = o->path, .json = json, .ended = eventfd(0, EFD_CLOEXEC)};
    pdk_leader_observer *observer = NULL;
    int signals = pdk__cli_call_signals();
    int rc = l.ended >= 0 && signals >= 0 ? pdk_leader_observe(&observer, c, o->path, changed, &l) : PDK_ESYSTEM;
    int status = rc == 0 ? await_signal(o, c, &l, signals) : pdk__cli_report_failure(o, c, rc);
    pdk_leader_observer_free(observer);
    pdk_client_close(c); /* no callback runs after it */
    return status;
}

int pdk__cli_listen(const struct pdk__cli_options *o, bool json)
{
    pdk_client *c = NULL;
    pdk__cli_connect_tell(o);
    int rc = pdk__cli_connect(o, &c);
    int status = rc == 0 ? listen_with(o, c, json) : pdk__cli_report_failure(o, c, rc);
    pdk_client_free(c);
    return status;
}
