/* The runner of `paddock lock` and its job, the command: what runner.c and job.c share. */
#ifndef PDK_CLI_RUNNER_H
#define PDK_CLI_RUNNER_H

#include "cli/group.h"
#include "cli/lock.h"
#include "cli/terminal.h"
#include "cli/wire.h"

struct pdk__cli_runner {
    const struct pdk__cli_lock *lock;
    struct pdk__cli_terminal terminal;
    struct pdk__cli_group group;
    const sigset_t *mask;
    pid_t child;  /* 0: not yet */
    pid_t zombie; /* that of the term before: its number must stay its own until the session has heard of its end */
    bool quit;    /* somebody asked for the end of it all, when the command ends */
    bool dead;    /* the command ended; not reaped yet */
    bool lost;
    bool leaving;
    bool abandoned; /* somebody wants an end, and not to wait for the servers */
    bool ended;     /* the session said its last word */
    int status;     /* of the command, or why there was none */
    int gave_up;    /* the signal that ended the wait */
    int wire;
    int signals;
    int timer;
    int64_t began_ms;
    int64_t left_ms; /* when it began to leave */
};

/* Tell the session that nobody needs the lock any more. */
void pdk__cli_runner_leave(struct pdk__cli_runner *r);

/* Stop the command if it is time for that. */
void pdk__cli_runner_watch(struct pdk__cli_runner *r);

/* Act upon what the session has said by now. */
void pdk__cli_runner_listen(struct pdk__cli_runner *r);

/* Run the command under GRANT. What goes wrong is explained, and becomes the status. */
void pdk__cli_job_start(struct pdk__cli_runner *r, const struct pdk__cli_note *grant);

/* Reap the command of the term before. */
void pdk__cli_job_bury(struct pdk__cli_runner *r);

/* See whether it ended, or stopped. */
void pdk__cli_job_look(struct pdk__cli_runner *r);

/* Stop, as the shell's job that we are, until it continues us. */
void pdk__cli_job_rest(struct pdk__cli_runner *r);

#endif
