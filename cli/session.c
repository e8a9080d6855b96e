#include "cli/claim.h"
#include "cli/group.h"
#include "cli/lock.h"
#include "cli/number.h"
#include "cli/queue.h"
#include "cli/say.h"
#include "cli/timer.h"
#include "cli/title.h"
#include "cli/wire.h"
#include "lib/server/descriptors.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CONNECTING_MS = 500 };

struct session {
    const struct pdk__cli_lock *lock;
    struct pdk__cli_claim claim;
    struct pdk__cli_group group;
    struct pdk__cli_queue *queue;
    enum pdk__cli_phase told;
    pdk_state told_state;
    bool told_lost;
    bool told_revoked;
    bool orphan; /* the runner is dead */
    int wire;
    int signals;
    int timer;
    int child; /* pidfd of the command; -1: none */
    pid_t runner;
    int64_t connecting_at; /* when to report that a server is still looked for; -1: no longer */
    int64_t renew_at;      /* when to renew the lease; -1: not held */
};

static void tell(const struct session *s, enum pdk__cli_note_kind kind)
{
    struct pdk__cli_note note = {.kind = kind};
    if (kind == NOTE_GRANTED) {
        pdk__cli_claim_grant(&s->claim, &note.token, note.text, sizeof note.text);
        note.session = pdk_client_session_id(s->claim.client);
    }
    if (!s->orphan)
        pdk__cli_wire_send(s->wire, &note);
}

static void tell_end(const struct session *s, int status, const char *text)
{
    struct pdk__cli_note note = {.kind = NOTE_END, .status = status, .lost = s->claim.lost};
    snprintf(note.text, sizeof note.text, "%s", text);
    if (!s->orphan)
        pdk__cli_wire_send(s->wire, &note);
}

/* A terminal that shows nothing for long looks broken. */
static void tell_connecting(struct session *s)
{
    struct pdk__cli_note note = {.kind = NOTE_QUEUE};
    if (s->connecting_at < 0 || pdk__cli_now_ms() < s->connecting_at)
        return;
    s->connecting_at = -1;
    if (s->claim.phase != CLAIM_CONNECTING || s->orphan)
        return;
    snprintf(note.text, sizeof note.text, "paddock: connecting to %s", s->lock->common.hosts);
    pdk__cli_wire_send(s->wire, &note);
}

/* --- the lease --------------------------------------------------------------------------------------------------- */

static struct pdk__cli_lease *lease(const struct session *s) { return s->lock->lease; }

static void renew(struct session *s)
{
    int64_t now = pdk__cli_now_ms(); /* before the query: time that passes in between only shortens the result */
    s->renew_at = -1;
    if (s->claim.phase != CLAIM_HELD)
        return;
    pdk__cli_lease_renew(lease(s), now, pdk__cli_claim_valid_ms(&s->claim));
    s->renew_at = now + pdk__cli_lease_beat_ms(lease(s));
}

/* Is there time for a command, before it would have to be stopped? Right after the grant there need not be. */
static bool worth_starting(const struct session *s)
{
    return pdk__cli_lease_covers(lease(s), pdk__cli_now_ms(), s->group.signal);
}

/* --- the command ------------------------------------------------------------------------------------------------- */

/* The command is dead, or never existed: no group to signal, no descriptor to wait for. */
static void unguard(struct session *s)
{
    s->group.leader = 0;
    if (s->child >= 0)
        close(s->child);
    s->child = -1;
}

static void release(struct session *s)
{
    unguard(s);
    pdk__cli_claim_leave(&s->claim);
}

/* Reports about the last term do not count for the next. */
static void stand_again(struct session *s, int64_t rest_ms)
{
    unguard(s);
    pdk__cli_claim_again(&s->claim, rest_ms);
    s->told = CLAIM_WAITING;
    s->told_state = PDK_FREE;
    s->told_lost = s->told_revoked = false;
    s->renew_at = -1;
}

/* The page, not the notes, names the group: the notes of a runner that has ended may all be unread. The runner sets
 * the page before it writes a note, and reaps after that. */
static void look(struct session *s)
{
    if (s->group.leader != lease(s)->leader)
        s->group.leader = 0;
}

static void guard(struct session *s, pid_t child)
{
    pdk__cli_group_init(&s->group, lease(s), s->lock->on_lost);
    s->group.leader = child;
    look(s);
    s->child = (int)syscall(SYS_pidfd_open, child, 0);
    if (s->claim.lost)
        pdk__cli_group_stop(&s->group);
}

/* The runner was killed. The command's whole group is killed too, before another client can have the lock. If the
 * command ended in this very moment, its number can hardly have gone to another group yet. */
static void orphaned(struct session *s)
{
    s->orphan = true; /* the descriptor stays open: the queue's thread may be about to write there */
    if (s->group.leader != 0)
        kill(-s->group.leader, SIGKILL);
    s->group.leader = 0;
    lease(s)->leader = 0; /* so that the guard does not kill later, when the number may be another group's */
    /* The release may go on after the runner has returned. A pipe ends for its reader when no process holds it. */
    dup2(STDOUT_FILENO, STDERR_FILENO);
    if (s->child < 0)
        release(s);
}

/* `paddock ls` shows this process's number: a signal to it is meant for the command. A runner that is stopped reads
 * nothing until it is continued. */
static void pass_signals(struct session *s)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        struct pdk__cli_note note = {.kind = NOTE_SIGNAL, .status = (int)info.ssi_signo, .pid = (pid_t)info.ssi_pid};
        if (s->orphan)
            continue;
        if (info.ssi_signo == SIGCONT)
            kill(s->runner, SIGCONT);
        else
            pdk__cli_wire_send(s->wire, &note);
    }
}

static void answer(struct session *s)
{
    pass_signals(s);
    tell(s, NOTE_SIGNALS);
}

static void hear(struct session *s)
{
    struct pdk__cli_note note;
    if (pdk__cli_wire_receive(s->wire, &note) == 0) {
        orphaned(s);
    } else if (note.kind == NOTE_CHILD) {
        guard(s, note.pid);
    } else if (note.kind == NOTE_AGAIN) {
        stand_again(s, note.rest_ms);
        tell(s, NOTE_UNGUARDED);
    } else if (note.kind == NOTE_ASK) {
        answer(s);
    } else if (note.kind == NOTE_LEAVE) {
        release(s);
    }
}

/* The library's grant is not the command's start: that waits until there is time for it, or the lock is lost. */
static enum pdk__cli_phase phase_to_tell(struct session *s)
{
    enum pdk__cli_phase phase = s->claim.phase;
    if (phase != CLAIM_HELD || s->told == CLAIM_HELD)
        return phase;
    if (s->renew_at < 0)
        pdk__cli_lease_begin(lease(s), pdk_client_session_timeout_ms(s->claim.client), s->lock->grace_ms);
    renew(s);
    return worth_starting(s) ? CLAIM_HELD : CLAIM_WAITING;
}

static void tell_phase(struct session *s)
{
    enum pdk__cli_phase phase = phase_to_tell(s);
    if (s->told == phase)
        return;
    if (s->told == CLAIM_CONNECTING && (phase == CLAIM_WAITING || phase == CLAIM_HELD)) {
        tell(s, NOTE_CONNECTED);
        if (s->lock->common.wait_ms != 0)
            s->queue = pdk__cli_queue_watch(s->claim.client, &s->lock->common, s->lock->live ? s->wire : -1);
    }
    if (phase == CLAIM_HELD) {
        pdk__cli_queue_rest(s->queue);
        tell(s, NOTE_GRANTED);
    }
    s->told = phase;
}

static void tell_state(struct session *s)
{
    bool unknown = s->told != CLAIM_HELD; /* to the runner, so no command was started */
    if (s->claim.lost && unknown && s->claim.leader != NULL) {
        stand_again(s, 0);
        return;
    }
    if (s->claim.lost && !s->told_lost) {
        s->told_lost = true;
        lease(s)->lost = true;
        if (unknown)
            pdk__cli_claim_leave(&s->claim);
        tell(s, NOTE_LOST);
        pdk__cli_group_stop(&s->group);
    }
    if (s->claim.phase == CLAIM_HELD && !s->told_lost && s->claim.state != s->told_state) {
        if (s->claim.state == PDK_SUSPECT)
            tell(s, NOTE_SUSPECT);
        else if (s->told_state == PDK_SUSPECT)
            tell(s, NOTE_HELD);
        s->told_state = s->claim.state;
    }
}

/* Only to a runner that has a command to signal. */
static void tell_revoked(struct session *s)
{
    if (s->claim.phase != CLAIM_HELD || s->told != CLAIM_HELD || !s->claim.revoked || s->told_revoked)
        return;
    s->told_revoked = true;
    tell(s, NOTE_REVOKED);
}

static int64_t due(const struct session *s)
{
    /* After a rest the answer to the resignation is awaited. It makes the claim's descriptor readable. */
    int64_t due = pdk__cli_earlier(s->claim.resigning ? -1 : s->claim.deadline, s->connecting_at);
    due = pdk__cli_earlier(due, s->renew_at);
    return pdk__cli_earlier(due, pdk__cli_group_due(&s->group));
}

/* The group that may have to be killed comes first, because any time may have passed since poll() was called. */
static void turn(struct session *s)
{
    struct pollfd fds[] = {{.fd = s->orphan ? -1 : s->wire, .events = POLLIN},
                           {.fd = pdk__cli_claim_fd(&s->claim), .events = POLLIN},
                           {.fd = s->signals, .events = POLLIN},
                           {.fd = s->orphan ? s->child : -1, .events = POLLIN},
                           {.fd = s->timer, .events = POLLIN}};
    pdk__cli_timer_arm(s->timer, due(s));
    poll(fds, 5, pdk__cli_poll_ms(due(s)));
    renew(s);
    look(s);
    pdk__cli_group_step(&s->group);
    pdk__cli_claim_step(&s->claim);
    tell_connecting(s);
    tell_phase(s);
    tell_state(s);
    tell_revoked(s);
    if (fds[2].revents != 0)
        pass_signals(s);
    if (fds[3].revents != 0)
        release(s);
    if (fds[0].revents != 0)
        hear(s);
}

/* Of the runner's descriptors this process keeps only standard error, for a failed assertion, until the runner has
 * ended. It must not hold a pipe open that another process reads to its end, nor a file that flock(1) locked. */
static void withdraw(int wire, int wake)
{
    int low = wire < wake ? wire : wake, high = wire < wake ? wake : wire;
    setsid(); /* signals from the terminal go to the runner */
    for (int fd = STDERR_FILENO + 1; fd < high; fd++)
        if (fd != low)
            close(fd);
    pdk__close_from(high + 1);
    if (freopen("/dev/null", "r", stdin) == NULL || freopen("/dev/null", "w", stdout) == NULL)
        _exit(STATUS_INTERNAL);
}

static int never_started(const struct session *s, char *text, size_t size)
{
    snprintf(text, size, "%s: the lock was lost before the command was started", s->lock->common.path);
    return s->lock->common.lost_status;
}

_Noreturn void pdk__cli_session_run(const struct pdk__cli_lock *l, int wire, int wake, pid_t runner)
{
    struct session s = {.lock = l, .wire = wire, .child = -1, .runner = runner, .renew_at = -1};
    char text[PDK__CLI_INCIDENT];
    sigset_t set;
    pdk__cli_title_set("pdk-session", runner);
    withdraw(wire, wake);
    pdk__cli_lock_signals(&set);
    s.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    s.timer = pdk__cli_timer_new();
    pdk__cli_group_init(&s.group, l->lease, l->on_lost);
    s.connecting_at = l->live ? pdk__cli_now_ms() + CONNECTING_MS : -1;
    pdk__cli_claim_begin(&s.claim, &l->common);
    while (s.claim.phase != CLAIM_ENDED)
        turn(&s);
    tell_state(&s);
    int status = pdk__cli_claim_status(&s.claim, text);
    if (s.claim.lost && s.told != CLAIM_HELD)
        status = never_started(&s, text, sizeof text);
    /* The close answers the queue's requests, so they end before the client is freed. */
    pdk__cli_queue_rest(s.queue);
    pdk_client_close(s.claim.client);
    pdk__cli_queue_free(s.queue);
    pdk__cli_claim_close(&s.claim);
    tell_end(&s, status, text);
    exit(0);
}
