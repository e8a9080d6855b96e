/* The job of the runner: the command, from its start under a grant to its end. */
#ifndef PDK_CLI_JOB_H
#define PDK_CLI_JOB_H

#include "cli/run/runner.h"

/* Run the command under GRANT. A failure is explained, and becomes the status. */
void pdk__cli_job_start(struct pdk__cli_runner *r, const struct pdk__cli_note *grant);

/* Reap the command of the last term. */
void pdk__cli_job_reap(struct pdk__cli_runner *r);

/* Stop the command if it is time for that. */
void pdk__cli_job_enforce_lease(struct pdk__cli_runner *r);

/* Check whether the command stopped, or ended. True if it ended, as INFO says: the runner acts upon the session's notes
 * so far, and then judges the end. Reap the children that the system assigned to us, as it does to process 1. */
bool pdk__cli_job_check(struct pdk__cli_runner *r, siginfo_t *info);
void pdk__cli_job_ended(struct pdk__cli_runner *r, const siginfo_t *info);

/* Send the command SIGNAL. */
void pdk__cli_job_signal(struct pdk__cli_runner *r, int signal);

/* Send the command the signals that are due, unless it got them with every other process. */
void pdk__cli_job_relay(struct pdk__cli_runner *r);

/*
 * Stop, as the shell's job that we are, until the shell continues us; with GROUP all of our process group. Returns
 * false when that is impossible, because no shell controls this job: the system stops no orphaned process group.
 */
bool pdk__cli_job_suspend(struct pdk__cli_runner *r, bool group);

#endif
