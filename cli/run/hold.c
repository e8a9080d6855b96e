#include "cli/commands.h"
#include "cli/message.h"
#include "cli/number.h"
#include "cli/run/acquisition.h"
#include "cli/run/dialogue.h"
#include "cli/run/wait_line.h"
#include "cli/signals.h"
#include "lib/assert.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const char usage[] = "Usage: paddock hold [OPTION]... PATH\n"
                            "       paddock hold --json [OPTION]... [PATH]\n"
                            "Take the lock PATH (-n: only if it is free now), print its token in a line, and\n"
                            "hold it until standard input ends or a signal (HUP, INT, TERM) comes. For\n"
                            "scripts that keep a lock across several commands, and for co-processes.\n"
                            "With --json: as many locks as a program requests, in lines; see hold-json.md.\n";

static const char notes[] = "Exit: 0 released, 64 usage, 69 no ensemble, 70 internal, 76 lock lost,\n"
                            "77 not permitted, 78 mixed recipes, 128+signal when one came before the lock.\n"
                            "With --json an event tells of a lock; 70 when its reader is gone or too slow.\n";

enum { LATE_MS = 1000 };

struct hold {
    struct pdk__cli_options options;
    struct pdk__cli_acquisition acquisition;
    struct pdk__cli_wait_line *queue;
    bool json;
    int signals;
    int gave_up;     /* the signal that came before the lock, or while the servers did not confirm its release */
    int64_t left_ms; /* when it began to leave; 0: not yet */
    bool reported_wait;
    bool abandoned; /* no longer wait for the servers */
    bool silent;    /* no program reads the token */
    bool reported_suspect;
    bool reported_revoked;
};

/* A program on standard input may ask for every lock. Options that choose a lock or its wait are about PATH. */
static int check_no_path(struct pdk__cli_options *o)
{
    o->path = "";
    if (o->mode != MODE_MUTEX || o->count > 0 || o->limit > 0 || o->limit_from != NULL || o->n_also > 0 ||
        o->wait_ms != PDK_FOREVER)
        return pdk__cli_usage("hold: -s, -x, -N, --limit, --limit-from, -l, -n and -w need a PATH");
    return pdk__cli_options_ensemble(o);
}

static int check(struct pdk__cli_options *o)
{
    struct hold *h = PDK__MEMBER(o, struct hold, options);
    if (h->json && h->options.words[0] == NULL)
        return check_no_path(&h->options);
    int status = pdk__cli_options_path(&h->options, h->options.words[0]);
    if (status == 0 && h->options.words[1] != NULL)
        return pdk__cli_usage("hold: one path, and no command: '%s'", h->options.words[1]);
    return status;
}

static void leave(struct hold *h)
{
    if (h->left_ms == 0)
        h->left_ms = pdk__cli_now_ms();
    pdk__cli_acquisition_leave(&h->acquisition);
}

static void print_token(struct hold *h)
{
    int64_t token = 0;
    assert(h->acquisition.phase == PHASE_HELD);
    pdk_grant_token(h->acquisition.lock.grant, &token, NULL);
    printf("%lld\n", (long long)token);
    if (fflush(stdout) == 0)
        return;
    pdk__cli_message("cannot write to standard output: %s", strerror(errno));
    h->silent = true;
    leave(h);
}

/* Servers answer within that time, if at all; and by then the second of a pair of signals has come. */
static bool is_late(const struct hold *h)
{
    return h->acquisition.phase == PHASE_LEAVING && pdk__cli_now_ms() - h->left_ms >= LATE_MS;
}

static void take_signal(struct hold *h)
{
    struct signalfd_siginfo info;
    if (read(h->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (h->acquisition.phase != PHASE_HELD && (h->acquisition.phase != PHASE_LEAVING || is_late(h)))
        h->gave_up = (int)info.ssi_signo;
    h->abandoned = is_late(h);
    leave(h);
}

static void report_wait(struct hold *h)
{
    if (!is_late(h) || h->reported_wait)
        return;
    h->reported_wait = true;
    if (!h->options.quiet)
        pdk__cli_message("%s: waiting for a server to confirm; a signal ends that, and the lock is then free when its "
                         "session has timed out",
                         h->options.path);
}

/* The content of standard input does not matter, only its end. */
static void take_input(struct hold *h)
{
    char scrap[4096];
    ssize_t n = read(STDIN_FILENO, scrap, sizeof scrap);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        leave(h);
}

/* The process that feeds our standard input decides. */
static void report_revoked(struct hold *h)
{
    if (h->acquisition.phase == PHASE_HELD && h->acquisition.revoked && !h->reported_revoked && !h->options.quiet)
        pdk__cli_message("%s: somebody asks for the lock", h->options.path);
    h->reported_revoked = h->acquisition.revoked;
}

/* Watch the queue while the acquisition waits. */
static void watch_queue(struct hold *h, enum pdk__cli_phase before)
{
    if (before == PHASE_CONNECTING && h->acquisition.phase == PHASE_WAITING && h->options.wait_ms != 0)
        h->queue = pdk__cli_wait_line_watch(h->acquisition.client, &h->options, -1);
    if (before == PHASE_WAITING && h->acquisition.phase != before)
        pdk__cli_wait_line_stop(h->queue);
}

static void turn(struct hold *h)
{
    enum pdk__cli_phase before = h->acquisition.phase;
    /* While waiting, a file or /dev/null at its end means nothing. A pipe whose writer has closed it does (POLLHUP),
     * and so does a pipe's writing end whose reader has closed it (POLLERR). */
    struct pollfd fds[] = {{.fd = pdk__cli_acquisition_fd(&h->acquisition), .events = POLLIN},
                           {.fd = h->signals, .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = before == PHASE_HELD ? POLLIN : 0}};
    int64_t late_at = before == PHASE_LEAVING && !h->reported_wait ? h->left_ms + LATE_MS : -1;
    poll(fds, before == PHASE_LEAVING ? 2 : 3, pdk__cli_poll_ms(pdk__cli_earlier(h->acquisition.deadline, late_at)));
    pdk__cli_acquisition_step(&h->acquisition);
    watch_queue(h, before);
    if (before < PHASE_HELD && h->acquisition.phase == PHASE_HELD)
        print_token(h);
    report_revoked(h);
    report_wait(h);
    if (fds[1].revents != 0)
        take_signal(h);
    if (before == PHASE_HELD && fds[2].revents != 0)
        take_input(h);
    else if (before < PHASE_HELD && (fds[2].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 &&
             h->acquisition.phase < PHASE_HELD)
        leave(h);
    if (h->acquisition.phase == PHASE_HELD && h->acquisition.lost)
        leave(h);
}

static int outcome(struct hold *h, const char *text, int status)
{
    if (h->acquisition.lost) {
        if (!h->options.quiet)
            pdk__cli_message("%s: the lock is lost", h->options.path);
        return h->options.lost_status;
    }
    if (h->gave_up != 0)
        return STATUS_SIGNAL + h->gave_up;
    if (h->silent)
        return STATUS_INTERNAL;
    if (h->acquisition.rc == PDK_ECANCELED) {
        pdk__cli_message("%s: standard input ended before the lock came", h->options.path);
        return h->options.busy_status;
    }
    if (text[0] != '\0')
        pdk__cli_message("%s", text);
    assert(status >= 0 && status <= 255);
    return status;
}

static int hold_one(struct hold *h)
{
    char text[PDK__CLI_INCIDENT];
    sigset_t set;
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, 0};
    pdk__cli_signals_not_ignored(&set, signals);
    h->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pdk__cli_acquisition_begin(&h->acquisition, &h->options);
    while (h->acquisition.phase != PHASE_ENDED && !h->abandoned)
        turn(h);
    if (h->abandoned)
        return STATUS_SIGNAL + h->gave_up; /* without a close, which would wait for the servers as well */
    int status = pdk__cli_acquisition_status(&h->acquisition, text);
    /* The close answers the queue's requests, so they end before the client is freed. */
    pdk__cli_wait_line_stop(h->queue);
    pdk_client_close(h->acquisition.client);
    pdk__cli_wait_line_free(h->queue);
    pdk__cli_acquisition_close(&h->acquisition);
    close(h->signals);
    return outcome(h, text, status);
}

static int run(struct pdk__cli_options *o)
{
    struct hold *h = PDK__MEMBER(o, struct hold, options);
    return h->json ? pdk__cli_dialogue_run(&h->options) : hold_one(h);
}

static const struct pdk__cli_option own_options[] = {
    {"json", 0, KIND_FLAG, .at = offsetof(struct hold, json), .help = "requests and events, JSON objects in lines"},
    {0}};

static const struct pdk__cli_verb verb = {
    "hold",
    usage,
    notes,
    {own_options, pdk__cli_mode_options, pdk__cli_nowait_options, pdk__cli_wait_options, pdk__cli_ensemble_options,
     pdk__cli_grant_options, pdk__cli_label_options, pdk__cli_node_options, pdk__cli_no_once_options},
    .ends = true,
    .check = check,
    .run = run,
};

int pdk__cli_hold_main(int argc, char **argv)
{
    struct hold h = {0};
    return pdk__cli_verb_main(&verb, &h.options, argc, argv);
}
