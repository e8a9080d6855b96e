/*
 * The third process of a lock: it kills the command's group when the other two cannot.
 *
 * The group to kill is in the lease. Both other processes hold the writing end of a pipe; its end of file means that
 * both are dead. The guard has no connection and none of the user's descriptors, and it blocks every signal that can
 * be blocked.
 *
 * It leads a process group, not a session (setsid(2)): Linux shares the processors out among sessions where
 * sched_autogroup is on, and beside a busy session a process alone in one woke up to 3 s late, long after the deadline.
 */
#ifndef PDK_CLI_GUARD_H
#define PDK_CLI_GUARD_H

#include "cli/run/page.h"

#include <sys/types.h>

/* Fork it for process RUNNER. ON_LOST as in struct pdk__cli_lock. Call it after the other process was forked, with the
 * pipe's two ENDS; the caller loses ends[0]. Returns its process id, or -1 with errno. */
pid_t pdk__cli_guard_start(struct pdk__cli_page *page, int on_lost, int ends[2], pid_t runner);

/* Guard process group LEADER from now on; 0: none. WAKE is the writing end. */
void pdk__cli_guard_set_group(struct pdk__cli_page *page, int wake, pid_t leader);

#endif
