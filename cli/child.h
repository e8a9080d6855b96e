/* The command that runs under the lock. */
#ifndef PDK_CLI_CHILD_H
#define PDK_CLI_CHILD_H

#include "cli/lease.h"

#include <signal.h>
#include <sys/types.h>

struct pdk__cli_child {
    pid_t pid;
    int go;     /* a write here starts it; closing it without a write ends it */
    int failed; /* carries the errno of a failed exec */
};

/* In place of an errno: the lock could no longer be relied upon. */
enum { PDK__CLI_CHILD_EXPIRED = -1 };

/* The command to run, with MASK as its signal mask, under a lease whose end is announced to it by SIGNAL (0: never). */
struct pdk__cli_order {
    char *const *argv;
    const sigset_t *mask;
    const struct pdk__cli_lease *lease;
    int signal;
};

/*
 * Fork a process in a group of its own that will run the command on pdk__cli_child_go(). The caller must have one
 * thread. The process is killed when the caller dies. 0, or -1 with errno.
 */
int pdk__cli_child_prepare(struct pdk__cli_child *c, const struct pdk__cli_order *order);

/* Start the command. The process checks the lease itself, as its last act before exec: the caller may have been
 * stopped since it checked. Returns 0 when the command runs, the errno of the failed exec, or
 * PDK__CLI_CHILD_EXPIRED. */
int pdk__cli_child_go(struct pdk__cli_child *c);

#endif
