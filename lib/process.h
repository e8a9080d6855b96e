/*
 * Which process this is: the child of a fork must not use what it inherited.
 *
 * A process number alone is not enough: in a new PID namespace the child can have its parent's. So there is a mark on a
 * page that the kernel wipes in a child (MADV_WIPEONFORK, Linux 4.14), however the child was created. The mark is all
 * that a call compares there: getpid() is a call of the system, and cost more than the rest of a question. Where the
 * kernel does not wipe the page, fork() itself does, and the process number is compared, too.
 *
 * A child that shares its parent's memory (vfork(), or clone() with CLONE_VM) has the parent's mark. POSIX permits the
 * child of vfork() no call but exec and _exit.
 */
#ifndef PDK__PROCESS_H
#define PDK__PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pdk__process {
    pid_t pid;
    uint64_t mark;
};

/* The calling process. Any thread. */
struct pdk__process pdk__process_self(void);

/* Is PROCESS, of pdk__process_self(), the calling one? Any thread. It writes nothing, so that it does no harm in a
 * child that shares its parent's memory. */
bool pdk__process_is_self(struct pdk__process process);

#endif
