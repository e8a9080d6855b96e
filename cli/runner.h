/* The runner of `paddock lock` and its job, the command: shared by runner.c and job.c. */
#ifndef PDK_CLI_RUNNER_H
#define PDK_CLI_RUNNER_H

#include "cli/group.h"
#include "cli/lock.h"
#include "cli/relay.h"
#include "cli/terminal.h"
#include "cli/wire.h"
#include "lib/core/retry.h"

struct pdk__cli_runner {
    const struct pdk__cli_lock *lock;
    struct pdk__cli_terminal terminal;
    struct pdk__cli_group group;
    struct pdk__cli_relay relay;
    struct pdk__retry rests; /* between terms that are short */
    const sigset_t *mask;
    pid_t session;
    pid_t guard;
    pid_t child;  /* 0: not yet */
    pid_t zombie; /* the last term's command: its number must stay its own until the session knows of its end */
    bool quit;    /* a signal requested the end of the program, when the command ends */
    bool ran;     /* the command could be started */
    bool dead;    /* the command ended; not reaped yet */
    bool lost;
    bool suspended; /* there is no connection */
    bool leaving;
    bool told_wait; /* the wait was reported */
    bool abandoned; /* no longer wait for the servers */
    bool ended;     /* the session sent its last note */
    int status;     /* of the command, or why there was none */
    int gave_up;    /* the signal that ended the wait */
    int wire;
    int wake; /* the guard reads there */
    int signals;
    int timer;
    int64_t began_ms;
    int64_t term_ms; /* when the command was started */
    int64_t left_ms; /* when it began to leave */
};

/* The thing that is held: "lock" or "leadership". */
const char *pdk__cli_runner_noun(const struct pdk__cli_runner *r);

/* Stop the command if it is time for that. */
void pdk__cli_runner_watch(struct pdk__cli_runner *r);

/* Act upon the session's notes so far. */
void pdk__cli_runner_listen(struct pdk__cli_runner *r);

/* Run the command under GRANT. A failure is explained, and becomes the status. */
void pdk__cli_job_start(struct pdk__cli_runner *r, const struct pdk__cli_note *grant);

/* Reap the command of the last term. */
void pdk__cli_job_bury(struct pdk__cli_runner *r);

/* Check whether the command ended, or stopped. Reap the children that the system assigned to us, as it does to
 * process 1. */
void pdk__cli_job_look(struct pdk__cli_runner *r);

/* Send the command SIGNAL. */
void pdk__cli_job_signal(struct pdk__cli_runner *r, int signal);

/* Send the command the signals that are due, unless it got them with every other process. */
void pdk__cli_job_relay(struct pdk__cli_runner *r);

/*
 * Stop, as the shell's job that we are, until the shell continues us; with GROUP all of our process group. Returns
 * false when that is impossible, because no shell controls this job: the system stops no orphaned process group.
 */
bool pdk__cli_job_rest(struct pdk__cli_runner *r, bool group);

#endif
