#include "cli/child.h"
#include "cli/group.h"
#include "cli/lock.h"
#include "cli/number.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "cli/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct runner {
    const struct pdk__cli_lock *lock;
    struct pdk__cli_terminal terminal;
    struct pdk__cli_group group;
    const sigset_t *mask;
    pid_t child; /* 0: not yet */
    bool dead;   /* the command ended; not reaped yet */
    bool lost;
    bool leaving;
    bool abandoned; /* somebody wants an end, and not to wait for the servers */
    bool ended;     /* the session said its last word */
    int status;     /* of the command, or why there was none */
    int gave_up;    /* the signal that ended the wait */
    int wire;
    int signals;
    int64_t began_ms;
};

static void say_unless_quiet(const struct runner *r, const char *what)
{
    if (!r->lock->common.quiet)
        pdk__cli_say("%s: %s", r->lock->common.path, what);
}

static void leave(struct runner *r)
{
    struct pdk__cli_note note = {.kind = NOTE_LEAVE};
    r->leaving = true;
    if (r->wire >= 0)
        pdk__cli_wire_send(r->wire, &note);
}

/* --- the command --- */

static void set_environment(const struct runner *r, const struct pdk__cli_note *grant)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)grant->token);
    setenv("PADDOCK_TOKEN", text, 1);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)grant->session);
    setenv("PADDOCK_SESSION", text, 1);
    setenv("PADDOCK_NODE", grant->text, 1);
    setenv("PADDOCK_PATH", r->lock->common.path, 1);
}

static void cannot_run(struct runner *r, int why)
{
    pdk__cli_say("cannot run %s: %s", r->lock->argv[0], strerror(why));
    r->status = why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

static void start(struct runner *r)
{
    struct pdk__cli_child child;
    if (pdk__cli_child_prepare(&child, r->lock->argv, r->mask) < 0) {
        pdk__cli_say("cannot start a process: %s", strerror(errno));
        r->status = STATUS_INTERNAL;
        leave(r);
        return;
    }
    r->child = r->group.leader = child.pid;
    /* The session must know whom to kill before there is anything to kill. */
    struct pdk__cli_note note = {.kind = NOTE_CHILD, .child = child.pid};
    pdk__cli_wire_send(r->wire, &note);
    int why = pdk__cli_child_go(&child);
    if (why != 0)
        cannot_run(r, why);
    else if (r->lock->common.verbose)
        pdk__cli_say("running %s", r->lock->argv[0]);
}

static void died(struct runner *r, const siginfo_t *info)
{
    r->dead = true;
    pdk__cli_terminal_return(&r->terminal, r->child);
    if (r->status == 0)
        r->status = info->si_code == CLD_EXITED ? info->si_status : STATUS_SIGNAL + info->si_status;
    /* What it left behind has no lock to work under. It cannot have a new group's number: the command is not reaped. */
    if (r->lost && r->lock->on_lost != 0)
        kill(-r->child, SIGKILL);
    r->group.leader = 0;
    leave(r);
}

/* Stop as the shell's job that we are, until it continues us. */
static void rest(struct runner *r)
{
    pdk__cli_terminal_erase(&r->terminal);
    raise(SIGSTOP);
}

/* The command stopped. It is in the background of its terminal until it wants to read there (SIGTTIN) or to set it
 * (SIGTTOU): then it gets the foreground, if that is ours. A pipeline's other processes, as a pager, so keep theirs. */
static void stopped(struct runner *r, int signal)
{
    bool had = pdk__cli_terminal_return(&r->terminal, r->child);
    if (r->terminal.fd < 0)
        return;
    if ((signal == SIGTTIN || signal == SIGTTOU) && pdk__cli_terminal_lend(&r->terminal, r->child)) {
        kill(-r->child, SIGCONT);
        return;
    }
    /* Nobody could continue a session's leader. */
    if (getsid(0) != getpid())
        rest(r);
    if (had)
        pdk__cli_terminal_lend(&r->terminal, r->child);
    kill(-r->child, SIGCONT);
}

static void look_at_child(struct runner *r)
{
    siginfo_t info = {0};
    if (r->child == 0 || r->dead)
        return;
    /* Not reaped before the lock is given back: as long as it is a zombie, nobody else gets its number. */
    if (waitid(P_PID, (id_t)r->child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == r->child) {
        died(r, &info);
        return;
    }
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)r->child, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == r->child)
        stopped(r, info.si_status);
}

/* --- signals --- */

static bool ends(int signal) { return signal != SIGCONT && signal != SIGWINCH && signal != SIGTSTP; }

static void give_up(struct runner *r, int signal)
{
    if (r->leaving) {
        r->abandoned = true;
        if (r->gave_up == 0 && r->child == 0)
            r->gave_up = signal;
        return;
    }
    r->gave_up = signal;
    pdk__cli_terminal_erase(&r->terminal);
    leave(r);
}

static void take_signal(struct runner *r)
{
    struct signalfd_siginfo info;
    if (read(r->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    int signal = (int)info.ssi_signo;
    if (signal == SIGCHLD)
        return; /* looked at on every turn */
    if (signal == SIGTSTP && getsid(0) == getpid())
        return;
    if (r->child != 0 && !r->dead)
        kill(-r->child, signal);
    else if (ends(signal))
        give_up(r, signal);
    else if (signal == SIGTSTP)
        rest(r);
}

/* --- the session --- */

static void take_grant(struct runner *r, const struct pdk__cli_note *note)
{
    pdk__cli_terminal_erase(&r->terminal);
    if (r->leaving)
        return;
    if (r->lock->common.verbose)
        pdk__cli_say("%s: got the lock after %.3f s, token %lld", r->lock->common.path,
                     (double)(pdk__cli_now_ms() - r->began_ms) / 1000, (long long)note->token);
    set_environment(r, note);
    start(r);
}

static void take_loss(struct runner *r)
{
    if (!r->lost && r->child != 0 && !r->dead)
        say_unless_quiet(r, r->lock->on_lost == 0 ? "the lock is lost; the command goes on"
                                                  : "the lock is lost: stopping the command");
    r->lost = true;
}

static void take_end(struct runner *r, const struct pdk__cli_note *note)
{
    pdk__cli_terminal_erase(&r->terminal);
    r->ended = true;
    if (note->lost && !r->lost && r->child != 0) {
        r->lost = true;
        say_unless_quiet(r, "the lock was lost before it could be given back");
    }
    if (r->child != 0 || r->gave_up != 0)
        return;
    if (r->status == 0)
        r->status = note->status;
    if (note->text[0] != '\0')
        pdk__cli_say("%s", note->text);
}

/* The session process is gone. Without its last word the lock is as good as lost: stop the command from here. */
static void take_silence(struct runner *r)
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
    if (!r->dead && r->lock->on_lost != 0)
        pdk__cli_group_stop(&r->group, r->lock->on_lost, r->lock->grace_ms);
}

static void hear(struct runner *r)
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
            pdk__cli_say("%s: connection lost; the lock may follow", r->lock->common.path);
        break;
    case NOTE_HELD:
        if (r->lock->common.verbose)
            pdk__cli_say("%s: connected again, still held", r->lock->common.path);
        break;
    case NOTE_LOST:
        take_loss(r);
        break;
    case NOTE_END:
        take_end(r, &note);
        break;
    default:
        break;
    }
}

/* --- the loop --- */

static bool finished(const struct runner *r)
{
    if (r->child != 0 && !r->dead)
        return false;
    return r->wire < 0 || r->abandoned;
}

static int outcome(const struct runner *r)
{
    if (r->gave_up != 0)
        return STATUS_SIGNAL + r->gave_up;
    if (r->child != 0 && r->lost && r->lock->on_lost != 0)
        return r->lock->common.lost_status;
    return r->status;
}

int pdk__cli_runner_run(const struct pdk__cli_lock *l, int wire, pid_t session, const sigset_t *mask)
{
    struct runner r = {.lock = l, .wire = wire, .mask = mask, .group.kill_at = -1, .began_ms = pdk__cli_now_ms()};
    sigset_t set;
    pdk__cli_lock_signals(&set);
    sigaddset(&set, SIGCHLD);
    r.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    pdk__cli_terminal_open(&r.terminal);
    while (!finished(&r)) {
        struct pollfd fds[] = {{.fd = r.wire, .events = POLLIN}, {.fd = r.signals, .events = POLLIN}};
        poll(fds, 2, pdk__cli_poll_ms(r.group.kill_at));
        if (fds[1].revents != 0)
            take_signal(&r);
        look_at_child(&r);
        if (fds[0].revents != 0)
            hear(&r);
        pdk__cli_group_step(&r.group);
    }
    pdk__cli_terminal_erase(&r.terminal);
    if (!r.abandoned)
        waitpid(session, NULL, 0);
    if (r.child != 0)
        waitpid(r.child, NULL, 0);
    return outcome(&r);
}
