#include "cli/run/dialogue.h"

#include "cli/connect.h"
#include "cli/json.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/run/line_input.h"
#include "cli/run/request.h"
#include "cli/run/request_options.h"
#include "cli/signals.h"
#include "lib/assert.h"

#include <paddock/version.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Of the requests and the events; a change that could break a program makes it larger. */
enum { PROTOCOL = 1 };

/* An id is an integer, or a string of at most so many bytes. */
enum { ID_MAX = 255 };

/* A signal that comes so long after the first does not wait for the servers, or for the reader. */
enum { LATE_MS = 1000 };

struct dialogue {
    const struct pdk__cli_options *options;
    struct pdk__cli_line_input *input;
    struct pdk__cli_line_output output;
    struct pdk__cli_requests requests;
    pdk_client *client;
    int signals;
    int64_t left_ms; /* when it began to leave; 0: not yet */
    int status;
    int gave_up; /* the signal that ended the wait for the servers */
};

/* --- the session ------------------------------------------------------------------------------------------------- */

static void session_changed(pdk_client *c, pdk_session_state state, void *arg)
{
    static const char *const states[] = {[PDK_SESSION_CONNECTING] = "connecting",
                                         [PDK_SESSION_CONNECTED] = "connected",
                                         [PDK_SESSION_SUSPENDED] = "suspended",
                                         [PDK_SESSION_OVER] = "over"};
    struct dialogue *d = arg;
    char reason[256];
    json_t *event = pdk__cli_event("session", NULL);
    pdk__cli_json_text(event, "state", states[state]);
    pdk_client_session_reason(c, reason, sizeof reason);
    pdk__cli_json_text(event, "message", reason);
    json_object_set_new(event, "timeout_ms", json_integer(pdk_client_session_timeout_ms(c)));
    pdk__cli_line_output_add(&d->output, event);
}

static void greet(struct dialogue *d)
{
    json_t *event = pdk__cli_event("hello", NULL);
    json_object_set_new(event, "protocol", json_integer(PROTOCOL));
    pdk__cli_json_text(event, "version", pdk_version());
    pdk__cli_line_output_add(&d->output, event);
    pdk__cli_line_output_flush(&d->output);
}

/* --- requests ---------------------------------------------------------------------------------------------------- */

static void report_error(struct dialogue *d, json_t *id, const char *message)
{
    json_t *event = pdk__cli_event("error", id);
    pdk__cli_json_text(event, "message", message);
    pdk__cli_line_output_add(&d->output, event);
}

static void lock_as(struct dialogue *d, json_t *id, const json_t *request, bool tries)
{
    struct pdk__cli_options o = *d->options;
    const char *wrong = pdk__cli_request_options(&o, request);
    if (tries)
        o.wait_ms = 0;
    if (pdk__cli_requests_have(&d->requests, id))
        report_error(d, id, "the id is in use");
    else if (wrong != NULL)
        pdk__cli_request_refuse(&d->requests, id, PDK_EINVAL, wrong);
    else
        pdk__cli_request_lock(&d->requests, id, &o);
}

static void do_lock(struct dialogue *d, json_t *id, const json_t *request) { lock_as(d, id, request, false); }

static void do_try(struct dialogue *d, json_t *id, const json_t *request) { lock_as(d, id, request, true); }

static void do_unlock(struct dialogue *d, json_t *id, const json_t *request)
{
    (void)request;
    if (!pdk__cli_request_unlock(&d->requests, id))
        report_error(d, id, "no lock has the id");
}

static void do_state(struct dialogue *d, json_t *id, const json_t *request)
{
    (void)request;
    pdk__cli_request_state(&d->requests, id);
}

static bool is_id(const json_t *id)
{
    return json_is_integer(id) || (json_is_string(id) && json_string_length(id) <= ID_MAX);
}

static void take_request(struct dialogue *d, const json_t *request)
{
    static const struct {
        const char *name;
        void (*run)(struct dialogue *d, json_t *id, const json_t *request);
    } verbs[] = {{"lock", do_lock}, {"try", do_try}, {"unlock", do_unlock}, {"state", do_state}};
    json_t *id = json_object_get(request, "id");
    const char *name = json_string_value(json_object_get(request, "do"));
    if (!is_id(id)) {
        report_error(d, NULL, "a request has an id: an integer, or a string of at most 255 bytes");
        return;
    }
    for (size_t i = 0; name != NULL && i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, name) == 0) {
            verbs[i].run(d, id, request);
            return;
        }
    report_error(d, id, "do is lock, try, unlock or state");
}

static void take_line(struct dialogue *d, const char *line, size_t size)
{
    json_error_t error;
    char text[sizeof error.text + 32];
    json_t *request = json_loadb(line, size, JSON_REJECT_DUPLICATES, &error);
    snprintf(text, sizeof text, "not a JSON object: %s", error.text);
    if (json_is_object(request))
        take_request(d, request);
    else
        report_error(d, NULL, request == NULL ? text : "not a JSON object");
    json_decref(request);
}

/* --- leaving ----------------------------------------------------------------------------------------------------- */

static void leave(struct dialogue *d)
{
    if (d->left_ms == 0)
        d->left_ms = pdk__cli_now_ms();
    pdk__cli_requests_leave(&d->requests);
}

static void take_input(struct dialogue *d)
{
    size_t size;
    bool too_long;
    const char *line;
    pdk__cli_line_input_read(d->input);
    while ((line = pdk__cli_line_input_next(d->input, &size, &too_long)) != NULL)
        if (too_long)
            report_error(d, NULL, "a line has more than 1048576 bytes");
        else
            take_line(d, line, size);
    if (d->input->ended)
        leave(d);
}

static void take_signal(struct dialogue *d)
{
    struct signalfd_siginfo info;
    if (read(d->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (d->left_ms != 0 && pdk__cli_now_ms() - d->left_ms >= LATE_MS)
        d->gave_up = (int)info.ssi_signo;
    leave(d);
}

/* Nothing more can be written: explained once. */
static void check_output(struct dialogue *d)
{
    if (d->output.why[0] == '\0' || d->status != 0)
        return;
    pdk__cli_message("%s", d->output.why);
    d->status = STATUS_INTERNAL;
    leave(d);
}

/* The session is over for good. */
static void check_session(struct dialogue *d)
{
    if (d->left_ms != 0 || pdk_client_state(d->client) != PDK_SESSION_OVER)
        return;
    d->status = pdk__cli_report_failure(d->options, d->client, pdk_client_wait(d->client, 0));
    leave(d);
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

static bool has_ended(const struct dialogue *d)
{
    return d->gave_up != 0 || (d->left_ms != 0 && pdk__list_empty(&d->requests.open) && d->output.n == 0);
}

static void turn(struct dialogue *d)
{
    bool writes = d->output.why[0] == '\0';
    /* An output without a reader is in error, also when nothing is to be written. */
    struct pollfd fds[] = {{.fd = pdk_client_fd(d->client), .events = POLLIN},
                           {.fd = d->signals, .events = POLLIN},
                           {.fd = writes ? STDOUT_FILENO : -1, .events = d->output.n > 0 ? POLLOUT : 0},
                           {.fd = d->left_ms == 0 ? STDIN_FILENO : -1, .events = POLLIN}};
    poll(fds, sizeof fds / sizeof *fds, pdk__cli_poll_ms(pdk__cli_requests_due(&d->requests)));
    pdk_client_dispatch(d->client);
    if (fds[3].revents != 0)
        take_input(d);
    if (fds[1].revents != 0)
        take_signal(d);
    if ((fds[2].revents & (POLLERR | POLLNVAL)) != 0)
        pdk__cli_line_output_fail(&d->output, "standard output has no reader");
    check_session(d);
    pdk__cli_requests_step(&d->requests);
    pdk__cli_line_output_flush(&d->output);
    check_output(d);
}

static int open_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, 0};
    sigset_t set;
    pdk__cli_signals_not_ignored(&set, signals);
    int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return fd;
}

static int converse(struct dialogue *d, const struct pdk__cli_options *o)
{
    d->signals = open_signals();
    pdk__cli_requests_begin(&d->requests, d->client, &d->output);
    if (o->path[0] != '\0') {
        json_t *id = json_string(o->path);
        pdk__cli_request_lock(&d->requests, id, o);
        json_decref(id);
    }
    while (!has_ended(d))
        turn(d);
    if (d->gave_up != 0)
        return STATUS_SIGNAL + d->gave_up; /* without a close, which would wait for the servers */
    pdk_client_close(d->client);
    pdk__cli_requests_free(&d->requests);
    close(d->signals);
    return d->status;
}

int pdk__cli_dialogue_run(struct pdk__cli_options *o)
{
    struct dialogue d = {.options = o, .input = calloc(1, sizeof *d.input)};
    if (d.input == NULL) {
        pdk__cli_message("%s", pdk_strerror(PDK_ENOMEM));
        return STATUS_INTERNAL;
    }
    greet(&d);
    pdk_client_options_set_on_session(o->client, session_changed, &d);
    int rc = pdk__cli_connect_dispatched(o, &d.client);
    int status = rc == 0 ? converse(&d, o) : pdk__cli_report_failure(o, d.client, rc);
    if (d.gave_up == 0)
        pdk_client_free(d.client);
    pdk__cli_line_output_clear(&d.output);
    free(d.input);
    return status;
}
