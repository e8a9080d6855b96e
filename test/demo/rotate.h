/*
 * Leadership that rotates among workers, whose leaders are killed by SIGKILL. Their own stamps are judged. An error fails
 * the test, as do two leaders at once and a token that falls.
 */
#ifndef DEMO_ROTATE_H
#define DEMO_ROTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rotation {
    const char *hosts;
    bool turns; /* with the nodes of a LeaderSelector, by pdk_leader_yield(); else latches that resign */
    int processes, terms, kills, session_ms, tick_ms;
    /* The results. */
    size_t n_terms;
    int n_processes, n_kills, seconds;
    int64_t limit_ms; /* for a successor: session, tick and a second */
    int n_within;     /* kills whose successor began within the limit */
    int64_t median_ms, max_ms;
};

/* Returns when all processes have ended. workers_leave() ends those that a failed run has left. */
void rotation_run(struct rotation *r);

#endif
