#include "cli/run/runner.h"

#include "cli/message.h"
#include "cli/number.h"
#include "cli/run/job.h"
#include "cli/run/notify.h"
#include "cli/run/once.h"
#include "cli/run/shutdown.h"
#include "cli/run/timer.h"
#include "cli/signals.h"
#include "lib/assert.h"

#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

static void message_unless_quiet(const struct pdk__cli_runner *r, const char *before, const char *behind)
{
    if (!r->lock->common.quiet)
        pdk__cli_message("%s: %s %s%s", r->lock->common.path, before, pdk__cli_runner_noun(r), behind);
}

/* --- signals --- */

static bool ends(int signal) { return signal != SIGCONT && signal != SIGWINCH && signal != SIGTSTP; }

static void give_up(struct pdk__cli_runner *r, int signal, bool typed)
{
    assert(r->child == 0 || r->dead);
    if (r->gave_up == 0 && r->child == 0)
        r->gave_up = signal;
    if (r->leaving) {
        pdk__cli_shutdown_hurry(r, typed);
        return;
    }
    pdk__cli_terminal_erase(&r->terminal);
    pdk__cli_shutdown_begin(r);
}

/* SIGNAL is for the command, as long as it runs. TYPED: at the terminal, to this process group and no other. */
static void direct(struct pdk__cli_runner *r, int signal, pid_t sender, enum pdk__cli_way way, bool typed)
{
    r->quit = r->quit || signal == SIGTERM || signal == SIGINT || signal == SIGQUIT;
    if (r->child == 0 || r->dead) {
        if (ends(signal))
            give_up(r, signal, typed);
        else if (signal == SIGTSTP)
            pdk__cli_job_suspend(r, false);
    } else if (typed || !ends(signal)) {
        pdk__cli_job_signal(r, signal);
    } else {
        pdk__cli_relay_take(&r->relay, signal, sender, way, pdk__cli_now_ms());
    }
}

static void take_signal(struct pdk__cli_runner *r)
{
    struct signalfd_siginfo info;
    if (read(r->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    int signal = (int)info.ssi_signo;
    if (signal != SIGCHLD) /* checked on every turn */
        direct(r, signal, (pid_t)info.ssi_pid, WAY_RUNNER, info.ssi_code == SI_KERNEL);
}

/* --- the session --- */

static void notify_state(const struct pdk__cli_runner *r, const char *state)
{
    pdk__cli_notify("STATUS=%s: %s", r->lock->common.path, state);
}

/* The servers may grant a shorter timeout than was requested. */
static void report_grace(const struct pdk__cli_runner *r)
{
    const struct pdk__cli_lock *l = r->lock;
    if (l->kill_after_ms >= 0 && l->on_lost != 0 && l->page->grace_ms < l->grace_ms && !l->common.quiet)
        pdk__cli_message("--kill-after is %.3g s, a fifth of the session timeout that the servers grant",
                         (double)l->page->grace_ms / 1000);
}

static void take_grant(struct pdk__cli_runner *r, const struct pdk__cli_note *note)
{
    pdk__cli_terminal_erase(&r->terminal);
    r->suspended = false;
    if (r->leaving)
        return;
    report_grace(r);
    if (r->lock->common.verbose)
        pdk__cli_message("%s: got the %s after %.3f s, token %lld", r->lock->common.path, pdk__cli_runner_noun(r),
                         (double)(pdk__cli_now_ms() - r->began_ms) / 1000, (long long)note->token);
    pdk__cli_job_start(r, note);
}

static const char *what_follows(const struct pdk__cli_runner *r)
{
    if (r->dead)
        return " was lost before it could be released";
    return r->lock->on_lost == 0 ? " is lost; the command goes on" : " is lost: stopping the command";
}

static void take_loss(struct pdk__cli_runner *r)
{
    if (!r->lost && r->child != 0)
        message_unless_quiet(r, "the", what_follows(r));
    r->lost = true;
    notify_state(r, "lost");
}

/* Only a request: the command ends in its own time, if at all, and the lock is released after that. */
static void take_revocation(struct pdk__cli_runner *r)
{
    int signal = r->lock->on_revoke;
    if (r->child == 0 || r->dead || r->lost)
        return;
    message_unless_quiet(r, "somebody asks for the",
                         signal == 0 ? "; the command goes on" : ": the command is asked to end");
    if (signal == 0)
        return;
    r->asked = true;
    kill(-r->child, signal);
    kill(-r->child, SIGCONT); /* a stopped command receives nothing */
}

static void take_end(struct pdk__cli_runner *r, const struct pdk__cli_note *note)
{
    pdk__cli_terminal_erase(&r->terminal);
    assert(!r->ended);
    r->ended = true;
    if (note->lost && !r->lost && r->child != 0) {
        message_unless_quiet(r, "the", what_follows(r));
        r->lost = true;
    }
    bool unrecorded = note->status == STATUS_UNRECORDED && pdk__cli_is_job(&r->lock->common);
    if ((r->child != 0 && !unrecorded) || r->gave_up != 0)
        return;
    if (r->status == 0)
        r->status = note->status;
    if (note->text[0] != '\0')
        pdk__cli_message("%s", note->text);
}

/* The session process has ended. Without its last note the lock counts as lost: stop the command from here. */
static void take_channel_end(struct pdk__cli_runner *r)
{
    assert(r->channel >= 0);
    close(r->channel);
    r->channel = -1;
    if (r->ended)
        return;
    pdk__cli_terminal_erase(&r->terminal);
    if (r->gave_up == 0)
        pdk__cli_message("%s: the process that keeps the session was killed", r->lock->common.path);
    if (r->child == 0 && r->status == 0)
        r->status = STATUS_INTERNAL;
    r->lost = true;
    if (!r->dead)
        pdk__cli_group_stop(&r->group);
}

static void take_note(struct pdk__cli_runner *r)
{
    struct pdk__cli_note note;
    if (pdk__cli_channel_receive(r->channel, &note) == 0) {
        take_channel_end(r);
        return;
    }
    switch (note.kind) {
    case NOTE_QUEUE:
        if (r->child == 0 && !r->leaving)
            pdk__cli_terminal_show(&r->terminal, note.text);
        break;
    case NOTE_GRANTED:
        take_grant(r, &note);
        break;
    case NOTE_SUSPECT:
        r->suspended = true;
        notify_state(r, "held, but the connection is lost");
        if (r->lock->common.verbose)
            pdk__cli_message("%s: connection lost; the %s may follow", r->lock->common.path, pdk__cli_runner_noun(r));
        break;
    case NOTE_HELD:
        r->suspended = false;
        notify_state(r, "held, connected again");
        if (r->lock->common.verbose)
            pdk__cli_message("%s: connected again, still held", r->lock->common.path);
        break;
    case NOTE_LOST:
        take_loss(r);
        break;
    case NOTE_REVOKED:
        take_revocation(r);
        break;
    case NOTE_SIGNAL:
        direct(r, note.status, note.pid, WAY_SESSION, false);
        break;
    case NOTE_SIGNALS:
        pdk__cli_relay_answered(&r->relay, pdk__cli_now_ms());
        break;
    case NOTE_UNGUARDED:
        pdk__cli_job_reap(r);
        break;
    case NOTE_END:
        take_end(r, &note);
        break;
    default:
        break;
    }
}

/* Act upon the session's notes so far. */
static void take_notes(struct pdk__cli_runner *r)
{
    struct pollfd fd = {.events = POLLIN};
    while ((fd.fd = r->channel) >= 0 && poll(&fd, 1, 0) > 0)
        take_note(r);
}

/* --- the loop --- */

static bool finished(const struct pdk__cli_runner *r)
{
    if (r->child != 0 && !r->dead)
        return false;
    return r->channel < 0 || r->abandoned;
}

static int outcome(const struct pdk__cli_runner *r)
{
    assert(finished(r) && r->gave_up >= 0);
    if (r->gave_up != 0)
        return STATUS_SIGNAL + r->gave_up;
    if (r->child != 0 && pdk__cli_runner_lost(r))
        return r->lock->common.lost_status;
    if (r->child != 0 && r->status == 0 && !r->ended && pdk__cli_is_job(&r->lock->common)) {
        pdk__cli_message("%s: the command succeeded, and no server has confirmed its record: another run may follow",
                         r->lock->common.path);
        return STATUS_UNRECORDED;
    }
    return r->status;
}

static void check_job(struct pdk__cli_runner *r)
{
    siginfo_t info;
    assert(!r->dead || r->child != 0);
    if (!pdk__cli_job_check(r, &info))
        return;
    /* A loss that made the session stop the command was sent before. It must be known when the end is judged. */
    take_notes(r);
    pdk__cli_job_ended(r, &info);
}

/* The group that may have to be killed comes first, because any time may have passed since poll() was called. */
static void turn(struct pdk__cli_runner *r)
{
    struct pollfd fds[] = {
        {.fd = r->channel, .events = POLLIN}, {.fd = r->signals, .events = POLLIN}, {.fd = r->timer, .events = POLLIN}};
    int64_t due = pdk__cli_earlier(pdk__cli_group_due(&r->group), pdk__cli_shutdown_due(r));
    due = pdk__cli_earlier(due, pdk__cli_relay_due(&r->relay));
    due = pdk__cli_earlier(due, pdk__cli_notify_due());
    pdk__cli_timer_arm(r->timer, due);
    poll(fds, 3, pdk__cli_poll_ms(due));
    pdk__cli_job_enforce_lease(r);
    if (fds[1].revents != 0)
        take_signal(r);
    check_job(r);
    take_notes(r);
    pdk__cli_job_relay(r);
    pdk__cli_shutdown_step(r);
    pdk__cli_notify_step();
}

/* A candidate is ready, also while no server answers: it will be there when one does. */
static void notify_begin(const struct pdk__cli_runner *r)
{
    pdk__cli_notify_begin();
    pdk__cli_notify("%sSTATUS=%s: waiting", r->lock->common.elect ? "READY=1\n" : "", r->lock->common.path);
}

/* Without a command there is nothing to guard. A guard that ended on its own would be a zombie, for a time, in a
 * container whose process 1 reaps none. */
static void reap_all(struct pdk__cli_runner *r)
{
    if (!r->abandoned && r->session != 0)
        waitpid(r->session, NULL, 0);
    pdk__cli_job_reap(r);
    if (r->child != 0)
        waitpid(r->child, NULL, 0);
    if (r->guard != 0 && kill(r->guard, SIGKILL) == 0)
        waitpid(r->guard, NULL, 0);
}

static uint64_t seed(void)
{
    uint64_t seed = 0; /* 0 is valid for the generator, too */
    (void)!getrandom(&seed, sizeof seed, 0);
    return seed;
}

int pdk__cli_runner_run(const struct pdk__cli_lock *l, const struct pdk__cli_processes *processes, const sigset_t *mask)
{
    struct pdk__cli_runner r = {.lock = l,
                                .channel = processes->channel,
                                .wake = processes->wake,
                                .session = processes->session,
                                .guard = processes->guard,
                                .mask = mask,
                                .began_ms = pdk__cli_now_ms()};
    sigset_t set;
    pdk__retry_init(&r.pauses, seed());
    pdk__cli_lock_signals(&set);
    sigaddset(&set, SIGCHLD);
    r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    r.timer = pdk__cli_timer_new();
    pdk__cli_group_init(&r.group, l->page, l->on_lost);
    pdk__cli_terminal_open(&r.terminal);
    notify_begin(&r);
    while (!finished(&r))
        turn(&r);
    pdk__cli_terminal_erase(&r.terminal);
    reap_all(&r);
    return outcome(&r);
}
