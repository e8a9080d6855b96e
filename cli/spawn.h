/*
 * A process that is forked early and becomes its command late: before the caller has a second thread, and once it has
 * the lock.
 */
#ifndef PDK_CLI_SPAWN_H
#define PDK_CLI_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

struct pdk__cli_spawned {
    pid_t pid;
    int go;     /* a write here starts the command; its end without a write ends the process */
    int failed; /* carries why there is no command */
};

/* `become`, in the process, does not return when it becomes the command. Otherwise it returns why: an errno, or a
 * number below 0 of the caller's own. */
struct pdk__cli_errand {
    int (*become)(const void *arg);
    const void *arg;
    int death_signal; /* what the process gets when the caller dies */
    bool leads;       /* a process group of its own */
};

/* 0, or -1 with errno. The caller must have one thread. */
int pdk__cli_spawn(struct pdk__cli_spawned *p, const struct pdk__cli_errand *errand);

/* Start the command: 0, or what `become` returned. 0 as well when a signal stops the process before it is the command:
 * the caller must hear signals meanwhile, and the exit status tells what became of it. */
int pdk__cli_spawn_go(struct pdk__cli_spawned *p);

/* It is not needed: end the process, which has not started the command. */
void pdk__cli_spawn_dismiss(struct pdk__cli_spawned *p);

#endif
