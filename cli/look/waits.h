/*
 * Waits among actors, and their deadlocks.
 *
 * An actor waits for others by any number of waits, and goes on when none of them is left. A wait ends when as many of
 * its blockers as are in excess have gone on: all of them for a mutex, fewer for a semaphore. Actors that can never go
 * on, whatever the order, are stuck. That is decided by reduction, which lets every actor go on that can: a circle
 * alone is no deadlock where a wait needs one blocker of many. A deadlock is a largest set of stuck actors in which
 * each waits for each, directly or through others (Tarjan's strongly connected components). Actors that are stuck
 * outside of any such set wait for one.
 */
#ifndef PDK_CLI_WAITS_H
#define PDK_CLI_WAITS_H

#include <stdbool.h>
#include <stddef.h>

struct pdk__cli_wait {
    size_t actor;           /* the one that waits */
    const size_t *blockers; /* actors; borrowed */
    size_t n, excess;       /* how many blockers, and how many of them must go on: at least 1, at most N */
};

struct pdk__cli_waits {
    size_t n_actors;
    const struct pdk__cli_wait *list;
    size_t n;
};

struct pdk__cli_verdict {
    bool *stuck;      /* by actor */
    size_t *deadlock; /* by actor: the number of its deadlock, from 1; 0: it is in none */
    size_t n_deadlocks;
};

/* Judge WAITS. False when memory is out. V is to be given to pdk__cli_verdict_free(), either way. */
bool pdk__cli_waits_judge(const struct pdk__cli_waits *waits, struct pdk__cli_verdict *v);
void pdk__cli_verdict_free(struct pdk__cli_verdict *v);

/* A shortest circle through the first actor of DEADLOCK: the indices of its waits, in order, into CIRCLE, which has
 * room for n_actors. The blocker that is meant is the actor of the next wait, for the last one the actor of the first.
 * Returns how many; 0 when memory is out. */
size_t pdk__cli_waits_circle(const struct pdk__cli_waits *waits, const struct pdk__cli_verdict *v, size_t deadlock,
                             size_t *circle);

#endif
