#include "cli/child.h"
#include "cli/number.h"
#include "cli/runner.h"
#include "cli/say.h"

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
    pdk__cli_say("cannot run %s: %s", r->lock->argv[0], strerror(why));
    r->status = why == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

void pdk__cli_job_bury(struct pdk__cli_runner *r)
{
    if (r->zombie != 0)
        waitpid(r->zombie, NULL, 0);
    r->zombie = 0;
}

/* Since the session granted it, this process may have been stopped for any time. */
static bool expired(struct pdk__cli_runner *r)
{
    int64_t stop_at = pdk__cli_lease_stop_at(r->lock->lease, r->lock->on_lost);
    if (r->lock->on_lost == 0 || pdk__cli_now_ms() < stop_at)
        return false;
    pdk__cli_say("%s: the servers have not confirmed the lock in time: the command is not started",
                 r->lock->common.path);
    r->status = r->lock->common.lost_status;
    pdk__cli_runner_leave(r);
    return true;
}

void pdk__cli_job_start(struct pdk__cli_runner *r, const struct pdk__cli_note *grant)
{
    pdk__cli_job_bury(r);
    if (expired(r))
        return;
    r->lost = false;
    r->status = 0;
    set_environment(r, grant);
    struct pdk__cli_child child;
    if (pdk__cli_child_prepare(&child, r->lock->argv, r->mask) < 0) {
        pdk__cli_say("cannot start a process: %s", strerror(errno));
        r->status = STATUS_INTERNAL;
        pdk__cli_runner_leave(r);
        return;
    }
    pdk__cli_group_init(&r->group, r->lock->lease, r->lock->on_lost);
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

/* A term that was lost is followed by another, as a rule; one whose command ended is not. */
static bool stands_again(const struct pdk__cli_runner *r)
{
    const struct pdk__cli_lock *l = r->lock;
    return l->common.elect && r->wire >= 0 && !r->quit && !r->leaving && (r->lost ? !l->once : l->keep);
}

static void stand_again(struct pdk__cli_runner *r)
{
    struct pdk__cli_note note = {.kind = NOTE_AGAIN};
    r->zombie = r->child;
    r->child = 0;
    r->dead = false;
    pdk__cli_wire_send(r->wire, &note);
}

static void died(struct pdk__cli_runner *r, const siginfo_t *info)
{
    r->dead = true;
    r->lost = r->lost || r->lock->lease->stopping;
    pdk__cli_terminal_return(&r->terminal, r->child);
    if (r->status == 0)
        r->status = info->si_code == CLD_EXITED ? info->si_status : STATUS_SIGNAL + info->si_status;
    /* What it left behind has no lock to work under. It cannot have a new group's number: the command is not reaped. */
    if (r->lost && r->lock->on_lost != 0)
        kill(-r->child, SIGKILL);
    r->group.leader = 0;
    if (stands_again(r))
        stand_again(r);
    else
        pdk__cli_runner_leave(r);
}

void pdk__cli_job_rest(struct pdk__cli_runner *r)
{
    pdk__cli_terminal_erase(&r->terminal);
    raise(SIGSTOP);
}

/* The command stopped. It is in the background of its terminal until it wants to read there (SIGTTIN) or to set it
 * (SIGTTOU): then it gets the foreground, if that is ours. A pipeline's other processes, as a pager, so keep theirs. */
static void stopped(struct pdk__cli_runner *r, int signal)
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
        pdk__cli_job_rest(r);
    pdk__cli_runner_watch(r); /* before it goes on: nobody knows how long it rested */
    if (had)
        pdk__cli_terminal_lend(&r->terminal, r->child);
    kill(-r->child, SIGCONT);
}

void pdk__cli_job_look(struct pdk__cli_runner *r)
{
    siginfo_t info = {0};
    if (r->child == 0 || r->dead)
        return;
    /* Not reaped before the lock is given back: as long as it is a zombie, nobody else gets its number. */
    if (waitid(P_PID, (id_t)r->child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == r->child) {
        /* A loss that made the session stop the command was told before: it must be known when the end is judged. */
        pdk__cli_runner_listen(r);
        died(r, &info);
        return;
    }
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)r->child, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == r->child)
        stopped(r, info.si_status);
}
