/* The command that runs under the lock. */
#ifndef PDK_CLI_CHILD_H
#define PDK_CLI_CHILD_H

#include "cli/run/page.h"
#include "cli/spawn.h"

#include <signal.h>

/* In place of an errno: the lock could no longer be relied upon. */
enum { PDK__CLI_CHILD_EXPIRED = -1 };

/* The command to run, with MASK as its signal mask, under a lease whose end is announced to it by SIGNAL (0: never). */
struct pdk__cli_order {
    char *const *argv;
    const sigset_t *mask;
    const struct pdk__cli_page *page;
    int signal;
};

/*
 * Fork a process in a group of its own that will run the command on pdk__cli_spawn_go(), and is killed when the caller
 * dies. As its last act before exec it checks the lease itself, because the caller may have been stopped since it
 * checked: PDK__CLI_CHILD_EXPIRED. 0, or -1 with errno.
 */
int pdk__cli_child_prepare(struct pdk__cli_spawned *p, const struct pdk__cli_order *order);

#endif
