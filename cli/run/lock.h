/*
 * `paddock lock` is three processes.
 *
 * The *runner* is the one the user started. It has one thread and no connection, runs the command, and speaks to the
 * terminal. The *session*, forked from it before anything else, holds the ZooKeeper session. The *guard* (guard.h) does
 * nothing until both are dead, or the deadline is near. So
 *  - the command inherits the user's descriptors and nothing else, from a process that may fork safely;
 *  - a job that is stopped with Ctrl-Z keeps its lock, as under flock(1), because the session goes on;
 *  - when the runner is killed, the session kills the command's process group, and then releases the lock;
 *  - when the session is killed, the runner stops the command;
 *  - when both are killed, the guard kills the command's process group;
 *  - each knows until when the lock may be believed in (lease.h), so that each stops the command in time, whatever
 *    delays the other two, and the servers;
 *  - no two have the same name, in ps(1) and for pkill(1): a kill by name leaves two of them.
 *
 * `paddock elect` on a terminal has a fourth in each term, the *witness* (witness.h), which only looks on.
 */
#ifndef PDK_CLI_LOCK_H
#define PDK_CLI_LOCK_H

#include "cli/options.h"
#include "cli/run/page.h"

#include <signal.h>

struct pdk__cli_lock {
    struct pdk__cli_options common; /* first */
    char *const *argv;
    char *script; /* for the shell, instead of words; NULL: none */
    char *shell[4];
    struct pdk__cli_page *page;
    int on_lost;           /* the signal for a lost lock; 0: ignore it */
    int on_revoke;         /* the signal for a revocation request; 0: ignore it */
    int64_t kill_after_ms; /* the requested grace; -1: not given */
    int64_t grace_ms;
    const char *metrics; /* the file for them; NULL: none */
    bool keep;           /* a leadership: be a candidate again when the command has ended */
    bool once;           /* one term, however it ends */
    bool listen;         /* no candidate: print the leaders; as JSON */
    bool json;
    bool live; /* keep a line on the terminal while waiting */
};

/* A sub-command that runs a command begins with these defaults, takes the command from the WORDS after the path, and
 * runs it. Exit statuses, already explained; the second returns 0 when all is well. */
void pdk__cli_lock_begin(struct pdk__cli_options *o);
int pdk__cli_command_take(struct pdk__cli_lock *l, char **words);
int pdk__cli_lock_run(struct pdk__cli_lock *l);

/* Options about the command. */
extern const struct pdk__cli_option pdk__cli_command_options[];

/* The session's life. CHANNEL leads to the runner, whose process id is RUNNER; WAKE, to the guard, is held open. Never
 * returns. */
_Noreturn void pdk__cli_session_run(const struct pdk__cli_lock *l, int channel, int wake, pid_t runner);

/* The processes beside the runner, and the channels to them. */
struct pdk__cli_processes {
    pid_t session, guard;
    int channel, wake;
};

/* The runner's life; MASK is the signal mask that the command gets. Returns the exit status. */
int pdk__cli_runner_run(const struct pdk__cli_lock *l, const struct pdk__cli_processes *processes,
                        const sigset_t *mask);

#endif
