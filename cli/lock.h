/*
 * `paddock lock` is two processes.
 *
 * The *runner* is the one the user started: it has one thread and no connection, runs the command, and speaks to the
 * terminal. The *session*, forked from it before anything else, holds the ZooKeeper session. So
 *  - the command inherits the user's descriptors and nothing else, from a process that may fork safely;
 *  - a job that is stopped with Ctrl-Z keeps its lock, as under flock(1), since the session goes on;
 *  - when the runner is killed, the session kills the command's process group, and gives the lock back after that;
 *  - when the session is killed, the runner stops the command;
 *  - both know until when the lock may be believed in (lease.h), so that either stops the command in time, whatever
 *    holds up the other, and the servers.
 */
#ifndef PDK_CLI_LOCK_H
#define PDK_CLI_LOCK_H

#include "cli/lease.h"
#include "cli/options.h"

#include <signal.h>

struct pdk__cli_lock {
    struct pdk__cli_options common;
    char *const *argv;
    struct pdk__cli_lease *lease;
    int on_lost;   /* the signal for a lost lock; 0: ignore it */
    int on_revoke; /* the signal when somebody asks for it; 0: ignore it */
    int64_t grace_ms;
    bool grace_given; /* by --kill-after */
    bool keep;        /* a leadership: stand again when the command has ended */
    bool once;        /* one term, however it ends */
    bool live;        /* keep a line on the terminal while waiting */
};

/* What runs a command under something that is held begins with its defaults, takes the options that are about that, and
 * runs the command with the ARGV it was given. Exit statuses, already explained; the first two return 0 when all is
 * well. */
int pdk__cli_lock_begin(struct pdk__cli_lock *l, const char *command);
int pdk__cli_lock_take(struct pdk__cli_lock *l, int option, char **argv);
int pdk__cli_lock_run(struct pdk__cli_lock *l);

/* The signals that ask a lock to end, or that its command may want to know of; all blocked, and read from a signalfd,
 * in both processes. */
void pdk__cli_lock_signals(sigset_t *set);

/* The session's life. WIRE leads to the runner, RUNNER is its process id. Never returns. */
_Noreturn void pdk__cli_session_run(const struct pdk__cli_lock *l, int wire, pid_t runner);

/* The runner's life: WIRE leads to the SESSION process, MASK is the signal mask the command gets. Returns the exit
 * status. */
int pdk__cli_runner_run(const struct pdk__cli_lock *l, int wire, pid_t session, const sigset_t *mask);

#endif
