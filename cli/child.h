/* The command that runs under the lock. */
#ifndef PDK_CLI_CHILD_H
#define PDK_CLI_CHILD_H

#include <signal.h>
#include <sys/types.h>

struct pdk__cli_child {
    pid_t pid;
    int go;     /* writing here starts it; closing it unwritten ends it */
    int failed; /* tells the errno of a failed exec */
};

/*
 * Fork a process in a group of its own that will run ARGV, with MASK as its signal mask, when told to go. The caller
 * must have one thread. It is killed when the caller dies. 0, or -1 with errno.
 */
int pdk__cli_child_prepare(struct pdk__cli_child *c, char *const *argv, const sigset_t *mask);

/* Let it go. Returns 0 when the command runs, or the errno of the failed exec. */
int pdk__cli_child_go(struct pdk__cli_child *c);

#endif
