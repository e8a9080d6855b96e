/* The runner of `paddock lock`, as runner.c, job.c and shutdown.c share it. runner.c calls the other two. */
#ifndef PDK_CLI_RUNNER_H
#define PDK_CLI_RUNNER_H

#include "cli/run/channel.h"
#include "cli/run/group.h"
#include "cli/run/lock.h"
#include "cli/run/relay.h"
#include "cli/run/terminal.h"
#include "lib/core/retry.h"

struct pdk__cli_runner {
    const struct pdk__cli_lock *lock;
    struct pdk__cli_terminal terminal;
    struct pdk__cli_group group;
    struct pdk__cli_relay relay;
    struct pdk__retry pauses; /* between terms that are short */
    const sigset_t *mask;
    pid_t session;
    pid_t guard;
    pid_t child;   /* 0: not yet */
    pid_t zombie;  /* the last term's command: its number must stay its own until the session knows of its end */
    pid_t witness; /* of the keys that the command gets; 0: none */
    bool quit;     /* a signal requested the end of the program, when the command ends */
    bool ran;      /* the command could be started */
    bool dead;     /* the command ended; not reaped yet */
    bool lost;
    bool late;      /* it was lost, or not confirmed, before the command could be started */
    bool asked;     /* a signal asked the command to end: another client wants the lock */
    bool suspended; /* there is no connection */
    bool leaving;
    bool reported_wait; /* the wait was reported */
    bool abandoned;     /* no longer wait for the servers */
    bool ended;         /* the session sent its last note */
    int status;         /* of the command, or why there was none */
    int gave_up;        /* the signal that ended the wait */
    int channel;
    int wake; /* the guard reads there */
    int signals;
    int timer;
    int64_t began_ms;
    int64_t term_ms; /* when the command was started */
    int64_t left_ms; /* when it began to leave */
};

/* The thing that is held. */
static inline const char *pdk__cli_runner_noun(const struct pdk__cli_runner *r)
{
    return r->lock->common.elect ? "leadership" : "lock";
}

/* Is the command's own status of no account, because the lock was lost? */
static inline bool pdk__cli_runner_lost(const struct pdk__cli_runner *r)
{
    return r->late || (r->lost && r->lock->on_lost != 0);
}

#endif
