#include "cli/message.h"
#include "cli/number.h"
#include "cli/process_title.h"
#include "cli/run/acquisition.h"
#include "cli/run/channel.h"
#include "cli/run/group.h"
#include "cli/run/lock.h"
#include "cli/run/metrics.h"
#include "cli/run/timer.h"
#include "cli/run/wait_line.h"
#include "cli/signals.h"
#include "lib/assert.h"
#include "server/descriptors.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CONNECTING_MS = 500 };

struct session {
    const struct pdk__cli_lock *lock;
    struct pdk__cli_acquisition acquisition;
    struct pdk__cli_group group;
    struct pdk__cli_wait_line *queue;
    struct pdk__cli_metrics metrics;
    enum pdk__cli_phase written; /* to them */
    pdk_state written_state;
    enum pdk__cli_phase reported;
    pdk_state reported_state;
    bool reported_lost;
    bool reported_revoked;
    bool orphan; /* the runner is dead */
    int channel;
    int signals;
    int timer;
    int child; /* pidfd of the command; -1: none */
    pid_t runner;
    int64_t connecting_at; /* when to report that a server is still looked for; -1: no longer */
    int64_t renew_at;      /* when to renew the page; -1: not held */
};

static void report(const struct session *s, enum pdk__cli_note_kind kind)
{
    struct pdk__cli_note note = {.kind = kind};
    assert(kind < NOTE_CHILD);
    if (kind == NOTE_GRANTED) {
        pdk__cli_acquisition_grant(&s->acquisition, &note.token, note.text, sizeof note.text);
        note.session = pdk_client_session_id(s->acquisition.client);
    }
    if (!s->orphan)
        pdk__cli_channel_send(s->channel, &note);
}

static void report_end(const struct session *s, int status, const char *text)
{
    struct pdk__cli_note note = {.kind = NOTE_END, .status = status, .lost = s->acquisition.lost};
    snprintf(note.text, sizeof note.text, "%s", text);
    if (!s->orphan)
        pdk__cli_channel_send(s->channel, &note);
}

/* A terminal that shows nothing for long looks broken. */
static void report_connecting(struct session *s)
{
    struct pdk__cli_note note = {.kind = NOTE_QUEUE};
    if (s->connecting_at < 0 || pdk__cli_now_ms() < s->connecting_at)
        return;
    s->connecting_at = -1;
    if (s->acquisition.phase != PHASE_CONNECTING || s->orphan)
        return;
    snprintf(note.text, sizeof note.text, "paddock: connecting to %s", s->lock->common.hosts);
    pdk__cli_channel_send(s->channel, &note);
}

/* --- the lease --------------------------------------------------------------------------------------------------- */

static struct pdk__cli_page *page(const struct session *s) { return s->lock->page; }

static void renew(struct session *s)
{
    int64_t now = pdk__cli_now_ms(); /* before the query: time that passes in between only shortens the result */
    s->renew_at = -1;
    if (s->acquisition.phase != PHASE_HELD)
        return;
    pdk__cli_page_renew(page(s), now, pdk__cli_acquisition_valid_ms(&s->acquisition));
    s->renew_at = now + pdk__cli_page_beat_ms(page(s));
}

/* Is there time for a command, before it would have to be stopped? Right after the grant there need not be. */
static bool worth_starting(const struct session *s)
{
    return pdk__cli_page_covers(page(s), pdk__cli_now_ms(), s->group.signal);
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
    pdk__cli_acquisition_leave(&s->acquisition);
}

/* Reports about the last term do not count for the next. */
static void begin_next_term(struct session *s, int64_t pause_ms)
{
    unguard(s);
    pdk__cli_acquisition_again(&s->acquisition, pause_ms);
    pdk__cli_wait_line_again(s->queue);
    s->reported = PHASE_WAITING;
    s->reported_state = PDK_FREE;
    s->reported_lost = s->reported_revoked = false;
    s->renew_at = -1;
}

/* The page, not the notes, names the group: the notes of a runner that has ended may all be unread. The runner sets
 * the page before it writes a note, and reaps after that. */
static void check_group(struct session *s)
{
    if (s->group.leader != page(s)->leader)
        s->group.leader = 0;
}

static void guard(struct session *s, pid_t child)
{
    assert(child > 0 && s->child < 0);
    pdk__cli_group_init(&s->group, page(s), s->lock->on_lost);
    s->group.leader = child;
    check_group(s);
    s->child = (int)syscall(SYS_pidfd_open, child, 0);
    if (s->acquisition.lost)
        pdk__cli_group_stop(&s->group);
}

/* The runner was killed. The command's whole group is killed too, before another client can have the lock. If the
 * command ended in this very moment, its number can hardly have gone to another group yet. */
static void orphaned(struct session *s)
{
    assert(!s->orphan);
    s->orphan = true; /* the descriptor stays open: the queue's thread may be about to write there */
    if (s->group.leader != 0)
        kill(-s->group.leader, SIGKILL);
    s->group.leader = 0;
    page(s)->leader = 0; /* so that the guard does not kill later, when the number may be another group's */
    /* The release may go on after the runner has returned. A pipe ends for its reader when no process holds it. */
    dup2(STDOUT_FILENO, STDERR_FILENO);
    if (s->child < 0)
        release(s);
}

/* `paddock ls` shows this process's number: a signal to it is meant for the command. A runner that is stopped reads
 * nothing until it is continued. The kernel may continue this process with a hangup when the runner has died: that is
 * for no process, and the runner's number may be another one's by then. */
static void pass_signals(struct session *s)
{
    struct signalfd_siginfo info;
    while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        struct pdk__cli_note note = {.kind = NOTE_SIGNAL, .status = (int)info.ssi_signo, .pid = (pid_t)info.ssi_pid};
        if (s->orphan || getppid() != s->runner)
            continue;
        if (info.ssi_signo == SIGCONT)
            kill(s->runner, SIGCONT);
        else
            pdk__cli_channel_send(s->channel, &note);
    }
}

static void answer(struct session *s)
{
    pass_signals(s);
    report(s, NOTE_SIGNALS);
}

/* Without a grant that the runner knows of, there was no command. */
static void end_job(struct session *s, int status)
{
    if (s->reported == PHASE_HELD)
        pdk__cli_metrics_job_end(&s->metrics, status, false);
}

static void take_note(struct session *s)
{
    struct pdk__cli_note note;
    if (pdk__cli_channel_receive(s->channel, &note) == 0) {
        orphaned(s);
    } else if (note.kind == NOTE_CHILD) {
        guard(s, note.pid);
    } else if (note.kind == NOTE_AGAIN) {
        end_job(s, note.status);
        begin_next_term(s, note.pause_ms);
        report(s, NOTE_UNGUARDED);
    } else if (note.kind == NOTE_ASK) {
        answer(s);
    } else if (note.kind == NOTE_LEAVE) {
        end_job(s, note.status);
        s->acquisition.once.status = note.pid != 0 && !note.lost ? note.status : -1;
        release(s);
    }
}

/* The library's grant is not the command's start: that waits until there is time for it, or the lock is lost. */
static enum pdk__cli_phase phase_to_report(struct session *s)
{
    enum pdk__cli_phase phase = s->acquisition.phase;
    if (phase == PHASE_WAITING && s->acquisition.once.job != NULL && s->acquisition.lock.grant == NULL)
        return PHASE_CONNECTING; /* of a job that may be done there is no queue yet */
    if (phase != PHASE_HELD || s->reported == PHASE_HELD)
        return phase;
    if (s->renew_at < 0)
        pdk__cli_page_begin(page(s), pdk_client_session_timeout_ms(s->acquisition.client), s->lock->grace_ms);
    renew(s);
    return worth_starting(s) ? PHASE_HELD : PHASE_WAITING;
}

static void report_phase(struct session *s)
{
    enum pdk__cli_phase phase = phase_to_report(s);
    if (s->reported == phase)
        return;
    if (s->reported == PHASE_CONNECTING && (phase == PHASE_WAITING || phase == PHASE_HELD)) {
        report(s, NOTE_CONNECTED);
        if (s->lock->common.wait_ms != 0)
            s->queue = pdk__cli_wait_line_watch(s->acquisition.client, &s->lock->common,
                                                s->lock->live ? s->channel : -1);
    }
    if (phase == PHASE_HELD) {
        assert(s->renew_at >= 0 && s->child < 0);
        pdk__cli_wait_line_stop(s->queue);
        pdk__cli_metrics_job_begin(&s->metrics);
        report(s, NOTE_GRANTED);
    }
    s->reported = phase;
}

static void report_state(struct session *s)
{
    bool unknown = s->reported != PHASE_HELD; /* to the runner, so no command was started */
    if (s->acquisition.lost && unknown && s->acquisition.leader != NULL) {
        begin_next_term(s, 0);
        return;
    }
    if (s->acquisition.lost && !s->reported_lost) {
        s->reported_lost = true;
        page(s)->lost = true;
        if (unknown)
            pdk__cli_acquisition_leave(&s->acquisition);
        report(s, NOTE_LOST);
        pdk__cli_group_stop(&s->group);
    }
    if (s->acquisition.phase == PHASE_HELD && !s->reported_lost && s->acquisition.state != s->reported_state) {
        if (s->acquisition.state == PDK_SUSPECT)
            report(s, NOTE_SUSPECT);
        else if (s->reported_state == PDK_SUSPECT)
            report(s, NOTE_HELD);
        s->reported_state = s->acquisition.state;
    }
}

/* Only to a runner that has a command to signal. */
static void report_revoked(struct session *s)
{
    if (s->acquisition.phase != PHASE_HELD || s->reported != PHASE_HELD || !s->acquisition.revoked ||
        s->reported_revoked)
        return;
    s->reported_revoked = true;
    report(s, NOTE_REVOKED);
}

static int64_t due(const struct session *s)
{
    /* After a pause the answer to the resignation is awaited. It makes the acquisition's descriptor readable. */
    int64_t due = pdk__cli_earlier(s->acquisition.resigning ? -1 : s->acquisition.deadline, s->connecting_at);
    due = pdk__cli_earlier(due, s->renew_at);
    due = pdk__cli_earlier(due, s->metrics.due);
    return pdk__cli_earlier(due, pdk__cli_group_due(&s->group));
}

/* Before the command can start: it may read them. */
static void keep_metrics(struct session *s)
{
    const struct pdk__cli_acquisition *c = &s->acquisition;
    bool news = c->phase != s->written || c->state != s->written_state;
    s->written = c->phase;
    s->written_state = c->state;
    s->metrics.last_success_ms = c->once.done_ms;
    pdk__cli_metrics_step(&s->metrics, c->client, news);
}

/* The group that may have to be killed comes first, because any time may have passed since poll() was called. */
static void turn(struct session *s)
{
    struct pollfd fds[] = {{.fd = s->orphan ? -1 : s->channel, .events = POLLIN},
                           {.fd = pdk__cli_acquisition_fd(&s->acquisition), .events = POLLIN},
                           {.fd = s->signals, .events = POLLIN},
                           {.fd = s->orphan ? s->child : -1, .events = POLLIN},
                           {.fd = s->timer, .events = POLLIN}};
    pdk__cli_timer_arm(s->timer, due(s));
    poll(fds, 5, pdk__cli_poll_ms(due(s)));
    renew(s);
    check_group(s);
    pdk__cli_group_step(&s->group);
    pdk__cli_acquisition_step(&s->acquisition);
    keep_metrics(s);
    report_connecting(s);
    report_phase(s);
    report_state(s);
    report_revoked(s);
    if (fds[2].revents != 0)
        pass_signals(s);
    if (fds[3].revents != 0)
        release(s);
    if (fds[0].revents != 0)
        take_note(s);
}

/* Of the runner's descriptors this process keeps only standard error, for a failed assertion, until the runner has
 * ended. It must not hold a pipe open that another process reads to its end, nor a file that flock(1) locked. */
static void detach(int channel, int wake)
{
    int low = channel < wake ? channel : wake, high = channel < wake ? wake : channel;
    /* A terminal's signals go to the runner. Why a session would be too much: cli/run/guard.h. */
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN); /* a failed assertion must not stop at a terminal whose foreground is another group's */
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

_Noreturn void pdk__cli_session_run(const struct pdk__cli_lock *l, int channel, int wake, pid_t runner)
{
    struct session s = {.lock = l, .channel = channel, .child = -1, .runner = runner, .renew_at = -1};
    char text[PDK__CLI_INCIDENT];
    sigset_t set;
    pdk__cli_process_title_set("pdk-session", runner);
    detach(channel, wake);
    pdk__cli_lock_signals(&set);
    s.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    s.timer = pdk__cli_timer_new();
    pdk__cli_group_init(&s.group, l->page, l->on_lost);
    s.connecting_at = l->live ? pdk__cli_now_ms() + CONNECTING_MS : -1;
    pdk__cli_metrics_begin(&s.metrics, &l->common, l->metrics);
    pdk__cli_acquisition_begin(&s.acquisition, &l->common);
    while (s.acquisition.phase != PHASE_ENDED)
        turn(&s);
    report_state(&s);
    int status = pdk__cli_acquisition_status(&s.acquisition, text);
    if (s.acquisition.lost && s.reported != PHASE_HELD && s.acquisition.rc != PDK_EDONE)
        status = never_started(&s, text, sizeof text);
    if ((status != 0 || s.acquisition.rc == PDK_EDONE) && s.metrics.ended_s == 0)
        pdk__cli_metrics_job_end(&s.metrics, status, true);
    /* The close answers the queue's requests, so they end before the client is freed. */
    pdk__cli_wait_line_stop(s.queue);
    pdk_client_close(s.acquisition.client);
    pdk__cli_metrics_write(&s.metrics, s.acquisition.client);
    pdk__cli_wait_line_free(s.queue);
    pdk__cli_acquisition_close(&s.acquisition);
    report_end(&s, status, text);
    exit(0);
}
