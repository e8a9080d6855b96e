/*
 * Stopping a process group: a polite signal, then SIGKILL; in time, that is, before another client can hold the lock
 * under which it works.
 *
 * Both processes of a lock have one of these for the same group, so that one of the two may be stopped, hang or be
 * dead.
 */
#ifndef PDK_CLI_GROUP_H
#define PDK_CLI_GROUP_H

#include "cli/run/page.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pdk__cli_group {
    struct pdk__cli_page *page;
    int signal;      /* the polite one; 0: the group goes on, whatever happens */
    pid_t leader;    /* 0: none. While it is set, its owner must not be reaped: the number stays its own */
    int64_t kill_at; /* when SIGKILL is due; -1: not due */
    bool stopping;
};

void pdk__cli_group_init(struct pdk__cli_group *g, struct pdk__cli_page *page, int signal);

/* The lock is lost, or its state is unknown: begin to stop the group now. Does nothing the second time, or without a
 * leader. */
void pdk__cli_group_stop(struct pdk__cli_group *g);

/* Do what is due. True when the lease has just called for an end. */
bool pdk__cli_group_step(struct pdk__cli_group *g);

/* When a step is next of use; -1: never. */
int64_t pdk__cli_group_due(const struct pdk__cli_group *g);

#endif
