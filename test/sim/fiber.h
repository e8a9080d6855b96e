/*
 * Fibers: threads of the simulated processes, of which one runs at a time, until it blocks. Each belongs to a client:
 * it does not run while that is paused, and never again once that is dead.
 */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include "test/sim/agenda.h"

struct world;
struct client;

struct fiber {
    struct client *owner;
    void *(*run)(void *);
    void *arg;
    uint64_t number;
    bool done, detached;
    bool woken;     /* and has not run yet */
    bool postponed; /* woken while its client was paused */
    unsigned sleep; /* counts its blocks: an alarm of an earlier one is void */
    bool timed_out;
    int n_locks;
    const void *waits_on; /* a mutex, a condition, a fiber or a descriptor table; NULL: none */
    void *stack;
    void *sp;
    char *tls;
    struct fiber *next; /* of the world's */
};

/* The fiber that runs; NULL: the world does. */
extern struct fiber *fiber_now;

void fibers_begin(struct world *w);

/* A fiber of OWNER's, woken. */
struct fiber *fiber_start(struct client *owner, void *(*run)(void *), void *arg);

/* The fiber that runs waits on WHAT until it is woken, or (unless it is negative) for AT_MOST. True when it was
 * woken. */
bool fiber_block(const void *what, instant at_most);

/* Let F go on soon. */
void fiber_wake(struct fiber *f);

/* Wake those that wait on WHAT: the first, or all. */
void fiber_wake_one(const void *what);
void fiber_wake_all(const void *what);

/* Its client goes on. */
void fibers_resume(struct client *c);

#endif
