#include "cli/runner.h"

#include "cli/number.h"
#include "cli/say.h"
#include "cli/timer.h"

#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* SETTLE_MS is what the library may take to close a session that nobody answers, and some. */
enum { IMPATIENT_MS = 1000, SETTLE_MS = 15000 };

/* What is held. */
static const char *noun(const struct pdk__cli_runner *r) { return r->lock->common.elect ? "leadership" : "lock"; }

static void say_unless_quiet(const struct pdk__cli_runner *r, const char *before, const char *behind)
{
    if (!r->lock->common.quiet)
        pdk__cli_say("%s: %s %s%s", r->lock->common.path, before, noun(r), behind);
}

void pdk__cli_runner_leave(struct pdk__cli_runner *r)
{
    struct pdk__cli_note note = {.kind = NOTE_LEAVE};
    r->leaving = true;
    r->left_ms = pdk__cli_now_ms();
    if (r->wire >= 0)
        pdk__cli_wire_send(r->wire, &note);
}

/* --- the lease --- */

static void take_expiry(struct pdk__cli_runner *r)
{
    if (!r->lost)
        say_unless_quiet(r, "the servers have not confirmed the", " in time: stopping the command");
    r->lost = true;
}

void pdk__cli_runner_watch(struct pdk__cli_runner *r)
{
    if (pdk__cli_group_step(&r->group))
        take_expiry(r);
}

/* The command was stopped, and the session does not say its last word: it hangs, or was stopped itself. */
static int64_t abandon_at(const struct pdk__cli_runner *r)
{
    bool waits = r->lost && r->leaving && r->wire >= 0;
    return waits ? r->left_ms + r->lock->lease->timeout_ms + SETTLE_MS : -1;
}

static void abandon_if_due(struct pdk__cli_runner *r, pid_t session)
{
    int64_t at = abandon_at(r);
    if (at < 0 || pdk__cli_now_ms() < at)
        return;
    kill(session, SIGKILL); /* so that nothing renews what nobody needs */
    r->abandoned = true;
}

/* --- signals --- */

static bool ends(int signal) { return signal != SIGCONT && signal != SIGWINCH && signal != SIGTSTP; }

static void give_up(struct pdk__cli_runner *r, int signal)
{
    if (r->leaving) {
        /* Not the second of a pair, as timeout(1) and service managers send: to the process, and to its group. */
        r->abandoned = pdk__cli_now_ms() - r->left_ms >= IMPATIENT_MS;
        if (r->gave_up == 0 && r->child == 0)
            r->gave_up = signal;
        return;
    }
    r->gave_up = signal;
    pdk__cli_terminal_erase(&r->terminal);
    pdk__cli_runner_leave(r);
}

static void take_signal(struct pdk__cli_runner *r)
{
    struct signalfd_siginfo info;
    if (read(r->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    int signal = (int)info.ssi_signo;
    if (signal == SIGCHLD)
        return; /* looked at on every turn */
    if (signal == SIGTSTP && getsid(0) == getpid())
        return;
    r->quit = r->quit || signal == SIGTERM || signal == SIGINT || signal == SIGQUIT;
    if (r->child != 0 && !r->dead)
        kill(-r->child, signal);
    else if (ends(signal))
        give_up(r, signal);
    else if (signal == SIGTSTP)
        pdk__cli_job_rest(r);
}

/* --- the session --- */

/* The servers may grant less than was asked for. */
static void tell_grace(const struct pdk__cli_runner *r)
{
    const struct pdk__cli_lock *l = r->lock;
    if (l->grace_given && l->on_lost != 0 && l->lease->grace_ms < l->grace_ms && !l->common.quiet)
        pdk__cli_say("--kill-after is %.3g s, a fifth of the session timeout that the servers grant",
                     (double)l->lease->grace_ms / 1000);
}

static void take_grant(struct pdk__cli_runner *r, const struct pdk__cli_note *note)
{
    pdk__cli_terminal_erase(&r->terminal);
    if (r->leaving)
        return;
    tell_grace(r);
    if (r->lock->common.verbose)
        pdk__cli_say("%s: got the %s after %.3f s, token %lld", r->lock->common.path, noun(r),
                     (double)(pdk__cli_now_ms() - r->began_ms) / 1000, (long long)note->token);
    pdk__cli_job_start(r, note);
}

static void take_loss(struct pdk__cli_runner *r)
{
    if (!r->lost && r->child != 0 && !r->dead)
        say_unless_quiet(r, "the",
                         r->lock->on_lost == 0 ? " is lost; the command goes on" : " is lost: stopping the command");
    r->lost = true;
}

/* A request, and no more: the command ends in its own time, if at all, and the lock is given back after that. */
static void take_revocation(struct pdk__cli_runner *r)
{
    int signal = r->lock->on_revoke;
    if (r->child == 0 || r->dead || r->lost)
        return;
    say_unless_quiet(r, "somebody asks for the",
                     signal == 0 ? "; the command goes on" : ": the command is asked to end");
    if (signal == 0)
        return;
    kill(-r->child, signal);
    kill(-r->child, SIGCONT); /* a stopped one hears nothing */
}

static void take_end(struct pdk__cli_runner *r, const struct pdk__cli_note *note)
{
    pdk__cli_terminal_erase(&r->terminal);
    r->ended = true;
    if (note->lost && !r->lost && r->child != 0) {
        r->lost = true;
        say_unless_quiet(r, "the", " was lost before it could be given back");
    }
    if (r->child != 0 || r->gave_up != 0)
        return;
    if (r->status == 0)
        r->status = note->status;
    if (note->text[0] != '\0')
        pdk__cli_say("%s", note->text);
}

/* The session process is gone. Without its last word the lock is as good as lost: stop the command from here. */
static void take_silence(struct pdk__cli_runner *r)
{
    close(r->wire);
    r->wire = -1;
    if (r->ended)
        return;
    pdk__cli_terminal_erase(&r->terminal);
    if (r->gave_up == 0)
        pdk__cli_say("%s: the process that keeps the session was killed", r->lock->common.path);
    if (r->child == 0 && r->status == 0)
        r->status = STATUS_INTERNAL;
    r->lost = true;
    if (!r->dead)
        pdk__cli_group_stop(&r->group);
}

static void hear(struct pdk__cli_runner *r)
{
    struct pdk__cli_note note;
    if (pdk__cli_wire_receive(r->wire, &note) == 0) {
        take_silence(r);
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
        if (r->lock->common.verbose)
            pdk__cli_say("%s: connection lost; the %s may follow", r->lock->common.path, noun(r));
        break;
    case NOTE_HELD:
        if (r->lock->common.verbose)
            pdk__cli_say("%s: connected again, still held", r->lock->common.path);
        break;
    case NOTE_LOST:
        take_loss(r);
        break;
    case NOTE_REVOKED:
        take_revocation(r);
        break;
    case NOTE_END:
        take_end(r, &note);
        break;
    default:
        break;
    }
}

void pdk__cli_runner_listen(struct pdk__cli_runner *r)
{
    struct pollfd fd = {.events = POLLIN};
    while ((fd.fd = r->wire) >= 0 && poll(&fd, 1, 0) > 0)
        hear(r);
}

/* --- the loop --- */

static bool finished(const struct pdk__cli_runner *r)
{
    if (r->child != 0 && !r->dead)
        return false;
    return r->wire < 0 || r->abandoned;
}

static int outcome(const struct pdk__cli_runner *r)
{
    if (r->gave_up != 0)
        return STATUS_SIGNAL + r->gave_up;
    if (r->child != 0 && r->lost && r->lock->on_lost != 0)
        return r->lock->common.lost_status;
    return r->status;
}

/* What may have to be killed comes first, for nobody knows how long ago poll() was called. */
static void turn(struct pdk__cli_runner *r, pid_t session)
{
    struct pollfd fds[] = {
        {.fd = r->wire, .events = POLLIN}, {.fd = r->signals, .events = POLLIN}, {.fd = r->timer, .events = POLLIN}};
    int64_t due = pdk__cli_earlier(pdk__cli_group_due(&r->group), abandon_at(r));
    pdk__cli_timer_arm(r->timer, due);
    poll(fds, 3, pdk__cli_poll_ms(due));
    pdk__cli_runner_watch(r);
    if (fds[1].revents != 0)
        take_signal(r);
    pdk__cli_job_look(r);
    pdk__cli_runner_listen(r);
    abandon_if_due(r, session);
}

int pdk__cli_runner_run(const struct pdk__cli_lock *l, int wire, pid_t session, const sigset_t *mask)
{
    struct pdk__cli_runner r = {.lock = l, .wire = wire, .mask = mask, .began_ms = pdk__cli_now_ms()};
    sigset_t set;
    pdk__cli_lock_signals(&set);
    sigaddset(&set, SIGCHLD);
    r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    r.timer = pdk__cli_timer_new();
    pdk__cli_group_init(&r.group, l->lease, l->on_lost);
    pdk__cli_terminal_open(&r.terminal);
    while (!finished(&r))
        turn(&r, session);
    pdk__cli_terminal_erase(&r.terminal);
    if (!r.abandoned)
        waitpid(session, NULL, 0);
    pdk__cli_job_bury(&r);
    if (r.child != 0)
        waitpid(r.child, NULL, 0);
    return outcome(&r);
}
