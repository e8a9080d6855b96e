/*
 * Stopping a process group: a polite signal, then SIGKILL.
 *
 * What calls for it today is the word of the library that the lock is lost. A caller that knows how long the lock stays
 * valid would begin so much earlier, and nothing here would change.
 */
#ifndef PDK_CLI_GROUP_H
#define PDK_CLI_GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pdk__cli_group {
    pid_t leader;    /* 0: none. Its owner may not have been reaped while it stands here: the number stays its own */
    int64_t kill_at; /* when SIGKILL is due; -1: not due */
    bool stopping;
};

/* Begin to stop it with SIGNAL; SIGKILL follows after GRACE_MS. Does nothing the second time, or without a leader. */
void pdk__cli_group_stop(struct pdk__cli_group *g, int signal, int64_t grace_ms);

/* Kill it if that is due. */
void pdk__cli_group_step(struct pdk__cli_group *g);

#endif
