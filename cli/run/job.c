#include "cli/run/job.h"

#include "cli/message.h"
#include "cli/number.h"
#include "cli/run/child.h"
#include "cli/run/guard.h"
#include "cli/run/notify.h"
#include "cli/run/shutdown.h"
#include "cli/run/witness.h"
#include "lib/assert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_environment(const struct pdk__cli_runner *r, const struct pdk__cli_note *grant)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)grant->token);
    setenv("PADDOCK_TOKEN", text, 1);
    snprintf(text, sizeof text, "%016llx", (unsigned long long)grant->session);
    setenv("PADDOCK_SESSION", text, 1);
    setenv("PADDOCK_NODE", grant->text, 1);
    setenv("PADDOCK_PATH", r->lock->common.path, 1);
}

static void cannot_run(struct pdk__cli_runner *r, int why)
{
    pdk__cli_message("cannot run %s: %s", r->lock->argv[0], strerror(why));
    r->status = why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

void pdk__cli_job_reap(struct pdk__cli_runner *r)
{
    if (r->zombie != 0)
        waitpid(r->zombie, NULL, 0);
    r->zombie = 0;
}

/* Since the session granted it, this process may have been stopped for any length of time. */
static void expired(struct pdk__cli_runner *r)
{
    pdk__cli_message("%s: the servers have not confirmed the %s in time: the command is not started",
                     r->lock->common.path, pdk__cli_runner_noun(r));
    r->lost = r->late = true;
}

/* The other two processes must know what to kill before it exists. */
static void announce(struct pdk__cli_runner *r)
{
    struct pdk__cli_note note = {.kind = NOTE_CHILD, .pid = r->child};
    pdk__cli_group_init(&r->group, r->lock->page, r->lock->on_lost);
    assert(r->child > 0);
    r->group.leader = r->child;
    pdk__cli_guard_set_group(r->lock->page, r->wake, r->child);
    pdk__cli_channel_send(r->channel, &note);
}

/* Give the command the foreground, if that is ours. */
static bool lend_terminal(struct pdk__cli_runner *r)
{
    if (!r->terminal.saved)
        pdk__cli_terminal_save(&r->terminal);
    return pdk__cli_terminal_lend(&r->terminal, r->child);
}

static void start_command(struct pdk__cli_runner *r, struct pdk__cli_spawned *child)
{
    pdk__cli_terminal_save(&r->terminal);
    if (r->lock->common.elect && r->terminal.fd >= 0)
        r->witness = pdk__cli_witness_start(r->child);
    if (r->terminal.whole)
        lend_terminal(r);
    int why = pdk__cli_spawn_go(child);
    r->term_ms = pdk__cli_now_ms();
    r->ran = why == 0;
    if (why == PDK__CLI_CHILD_EXPIRED)
        expired(r);
    else if (why != 0)
        cannot_run(r, why);
    else if (r->lock->common.verbose)
        pdk__cli_message("running %s", r->lock->argv[0]);
    if (r->ran)
        pdk__cli_notify("READY=1\nSTATUS=%s: held, token %s", r->lock->common.path, getenv("PADDOCK_TOKEN"));
}

void pdk__cli_job_start(struct pdk__cli_runner *r, const struct pdk__cli_note *grant)
{
    struct pdk__cli_order order = {r->lock->argv, r->mask, r->lock->page, r->lock->on_lost};
    struct pdk__cli_spawned child;
    assert(r->child == 0 && !r->dead && !r->leaving);
    pdk__cli_job_reap(r);
    r->lost = r->late = r->asked = false;
    r->status = 0;
    r->relay = (struct pdk__cli_relay){0};
    set_environment(r, grant);
    if (pdk__cli_child_prepare(&child, &order) < 0) {
        pdk__cli_message("cannot start a process: %s", strerror(errno));
        r->status = STATUS_INTERNAL;
        pdk__cli_shutdown_begin(r);
        return;
    }
    r->child = child.pid;
    announce(r);
    start_command(r, &child);
}

/* --- another term ------------------------------------------------------------------------------------------------ */

enum { SHORT_MS = 10000, PAUSE_MIN_MS = 250, PAUSE_MAX_MS = 30000 };

/* A command that could not be run in one term cannot be run in the next. */
static bool runs(const struct pdk__cli_runner *r)
{
    if (r->status != STATUS_CANNOT_RUN && r->status != STATUS_NOT_FOUND)
        return true;
    if (r->lock->keep && r->ran && !r->lock->common.quiet)
        pdk__cli_message("%s: not a candidate any more: the command ended with %d", r->lock->common.path, r->status);
    return false;
}

/* As a rule, a lost term is followed by another; a term whose command ended by itself is not. */
static bool wants_next_term(const struct pdk__cli_runner *r)
{
    const struct pdk__cli_lock *l = r->lock;
    if (!l->common.elect || r->channel < 0 || r->quit || r->leaving)
        return false;
    return pdk__cli_runner_lost(r) ? !l->once : l->keep && runs(r);
}

/* A command that ends as soon as it is started must not keep the servers busy with elections. */
static int64_t pause_ms(struct pdk__cli_runner *r)
{
    bool turn = r->lock->common.turns && r->status == 0; /* the others have theirs first */
    if (pdk__cli_now_ms() - r->term_ms < SHORT_MS && !turn)
        return pdk__retry_delay_ms(&r->pauses, PAUSE_MIN_MS, PAUSE_MAX_MS);
    pdk__retry_reset(&r->pauses);
    return 0;
}

static void request_next_term(struct pdk__cli_runner *r)
{
    struct pdk__cli_note note = {.kind = NOTE_AGAIN, .status = r->status, .pause_ms = pause_ms(r)};
    if (r->lock->common.verbose && note.pause_ms > 0)
        pdk__cli_message("%s: a short term: a candidate again in %.3g s", r->lock->common.path,
                         (double)note.pause_ms / 1000);
    assert(r->dead && r->zombie == 0);
    r->zombie = r->child;
    r->child = 0;
    r->dead = r->lost = r->late = false;
    r->status = 0; /* the status of this term does not count for the next */
    pdk__cli_notify("STATUS=%s: waiting", r->lock->common.path);
    pdk__cli_channel_send(r->channel, &note);
}

/* --- its end ----------------------------------------------------------------------------------------------------- */

/* A command that was killed has not restored the terminal. And a key that killed it, while it alone was in the
 * foreground, was meant for the rest of this job as well; a signal of ours, or that we passed on, was not. */
static void take_back_terminal(struct pdk__cli_runner *r, const siginfo_t *info)
{
    bool had = pdk__cli_terminal_return(&r->terminal, r->child);
    bool killed = info->si_code != CLD_EXITED;
    if (killed || r->lost)
        pdk__cli_terminal_restore(&r->terminal);
    bool ours = (r->lost && info->si_status == r->lock->on_lost) ||
                (r->asked && info->si_status == r->lock->on_revoke) || pdk__cli_relay_took(&r->relay, info->si_status);
    if (had && killed && !ours && (info->si_status == SIGINT || info->si_status == SIGQUIT))
        kill(0, info->si_status);
}

void pdk__cli_job_ended(struct pdk__cli_runner *r, const siginfo_t *info)
{
    assert(r->child != 0 && !r->dead);
    r->dead = true;
    r->lost = r->lost || r->lock->page->stopping;
    take_back_terminal(r, info);
    if (pdk__cli_witness_end(r->witness)) /* after the last key that can reach it */
        r->quit = true;
    r->witness = 0;
    if (r->status == 0)
        r->status = info->si_code == CLD_EXITED ? info->si_status : STATUS_SIGNAL + info->si_status;
    /* Processes that the command left have no lock to work under. The group is still theirs: the command is not
     * reaped. */
    if (r->lost && r->lock->on_lost != 0)
        kill(-r->child, SIGKILL);
    r->group.leader = 0;
    r->relay = (struct pdk__cli_relay){0}; /* no signal is due for a dead command */
    pdk__cli_guard_set_group(r->lock->page, r->wake, 0);
    if (wants_next_term(r))
        request_next_term(r);
    else
        pdk__cli_shutdown_begin(r);
}

/* --- signals, and stops ------------------------------------------------------------------------------------------ */

static bool same_file(const char *a, const char *b)
{
    char in_a[4096], in_b[4096];
    FILE *fa = fopen(a, "re"), *fb = fopen(b, "re");
    size_t na = fa != NULL ? fread(in_a, 1, sizeof in_a, fa) : 0;
    size_t nb = fb != NULL ? fread(in_b, 1, sizeof in_b, fb) : 0;
    if (fa != NULL)
        fclose(fa);
    if (fb != NULL)
        fclose(fb);
    return na > 0 && na < sizeof in_a && na == nb && memcmp(in_a, in_b, na) == 0;
}

/* Service managers signal by control group. Other senders may have picked their processes by name. 0 is a sender
 * outside of our PID namespace. */
static bool manages_services(pid_t pid)
{
    char file[64], name[32] = "";
    if (pid <= 1)
        return true;
    snprintf(file, sizeof file, "/proc/%d/comm", (int)pid);
    FILE *in = fopen(file, "re");
    if (in == NULL)
        return false;
    bool known = fgets(name, sizeof name, in) != NULL && strcmp(name, "systemd\n") == 0;
    fclose(in);
    return known;
}

static bool shares_cgroup(pid_t pid)
{
    char file[64];
    snprintf(file, sizeof file, "/proc/%d/cgroup", (int)pid);
    return same_file("/proc/self/cgroup", file);
}

void pdk__cli_job_signal(struct pdk__cli_runner *r, int signal)
{
    assert(r->child > 0 && !r->dead && signal > 0);
    kill(-r->child, signal);
    if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT)
        kill(-r->child, SIGCONT); /* a stopped command acts on nothing else */
    if (signal == SIGCONT && r->terminal.whole)
        lend_terminal(r); /* the shell had it back, and gave it to us */
}

/* A signal that came by both ways. */
static bool reached_command(const struct pdk__cli_runner *r, pid_t sender)
{
    return manages_services(sender) && shares_cgroup(r->child);
}

void pdk__cli_job_relay(struct pdk__cli_runner *r)
{
    struct pdk__cli_note note = {.kind = NOTE_ASK};
    bool everywhere;
    pid_t sender;
    int signal;
    if (pdk__cli_relay_asks(&r->relay, pdk__cli_now_ms())) {
        if (r->channel >= 0)
            pdk__cli_channel_send(r->channel, &note);
        else
            pdk__cli_relay_answered(&r->relay, pdk__cli_now_ms());
    }
    while (r->child != 0 && !r->dead &&
           (signal = pdk__cli_relay_next(&r->relay, pdk__cli_now_ms(), &everywhere, &sender)) != 0)
        if (!everywhere || !reached_command(r, sender))
            pdk__cli_job_signal(r, signal);
}

/* Not SIGSTOP: that would stop an orphaned group too, which no shell continues. */
bool pdk__cli_job_suspend(struct pdk__cli_runner *r, bool group)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    pdk__cli_terminal_erase(&r->terminal);
    kill(group ? 0 : getpid(), SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &set, NULL); /* here it stops */
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigpending(&set);
    return sigismember(&set, SIGCONT) == 1;
}

void pdk__cli_job_enforce_lease(struct pdk__cli_runner *r)
{
    if (!pdk__cli_group_step(&r->group))
        return;
    if (!r->lost && !r->lock->common.quiet)
        pdk__cli_message("%s: the servers have not confirmed the %s in time: stopping the command",
                         r->lock->common.path, pdk__cli_runner_noun(r));
    r->lost = true;
}

/*
 * The command stopped. In a pipeline, it is in the background of its terminal until it wants to read there (SIGTTIN) or
 * to set it (SIGTTOU). Then it gets the foreground, if that is ours. So the other processes, such as a pager, keep
 * theirs.
 */
static void stopped(struct pdk__cli_runner *r, int signal)
{
    assert(r->child > 0 && !r->dead);
    bool had = pdk__cli_terminal_return(&r->terminal, r->child);
    if (r->terminal.fd < 0)
        return;
    if ((signal == SIGTTIN || signal == SIGTTOU) && lend_terminal(r)) {
        kill(-r->child, SIGCONT);
        return;
    }
    /* A key stopped the command alone, but was meant for the whole job. */
    bool continued = pdk__cli_job_suspend(r, had);
    pdk__cli_job_enforce_lease(r); /* before it goes on: the stop may have been long */
    if (!continued && !had && signal != SIGTSTP)
        return; /* another process stopped it by a signal, and may continue it; or there is no terminal */
    if (had || r->terminal.whole)
        lend_terminal(r);
    kill(-r->child, SIGCONT);
}

/* The system assigns orphans to process 1. */
static void reap_orphans(struct pdk__cli_runner *r)
{
    siginfo_t info = {0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        if (info.si_pid == r->child || info.si_pid == r->zombie)
            break; /* orphans after it are reaped when it is */
        /* A number may be another process's from now on. */
        if (info.si_pid == r->guard)
            r->guard = 0;
        if (info.si_pid == r->session)
            r->session = 0;
        if (info.si_pid == r->witness)
            r->witness = 0;
        waitpid(info.si_pid, NULL, 0);
        info.si_pid = 0;
    }
}

bool pdk__cli_job_check(struct pdk__cli_runner *r, siginfo_t *info)
{
    reap_orphans(r);
    if (r->child == 0 || r->dead)
        return false;
    *info = (siginfo_t){0};
    /* Not reaped before the lock is released: as long as it is a zombie, no other process gets its number. */
    if (waitid(P_PID, (id_t)r->child, info, WEXITED | WNOHANG | WNOWAIT) == 0 && info->si_pid == r->child)
        return true;
    info->si_pid = 0;
    if (waitid(P_PID, (id_t)r->child, info, WSTOPPED | WNOHANG) == 0 && info->si_pid == r->child)
        stopped(r, info->si_status);
    return false;
}
