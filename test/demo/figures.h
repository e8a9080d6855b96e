/*
 * Figures of the recipes, each measured on servers that the program starts for it. A figure is recorded once it is
 * measured; figures.c prints it.
 *
 * An overlap, a permit too many and a deadlock fail the test. Ratios and times are recorded only.
 */
#ifndef DEMO_FIGURES_H
#define DEMO_FIGURES_H

#include <paddock.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { WORKERS = 8, SESSION_MS = 30000, STALL_MS = 60000 };

/* How much is done; --quick chooses less. */
struct figures_size {
    int servers;
    int processes, terms, kills; /* of the rotation */
    int batches, batch_rounds;   /* of the read/write lock: interleaved with those of the mutex */
    int cycles;                  /* of the multi-lock, and of the mutex beside it */
    int rounds;                  /* of the semaphore, ours and Curator's */
    bool curator;                /* beside it */
};
extern struct figures_size size;

/* The connect string of all servers, without proxies; the port of one; the requests that all have received so far. */
const char *figures_hosts(void);
int figures_port(void);
long figures_requests(void);

/* Record a figure: its KEY ("rwlock.ratio"), VALUE with so many DECIMALS, UNIT, AIM ("" for none), and what it is. */
void figure(const char *key, double value, int decimals, const char *unit, const char *aim, const char *what, ...)
    __attribute__((format(printf, 6, 7)));

/* A connected client with a session of SESSION_MS. */
pdk_client *figures_client(void);

/* WORKERS threads, each with a client of its own. They take rounds until all ROUNDS are taken. */
struct crew {
    int (*round)(int worker, int64_t round); /* 0, or an error of Paddock's, which ends the worker */
    int64_t rounds;
    _Atomic int64_t next; /* the first round that no worker has taken */
    _Atomic int error;    /* the first one */
};

/* Returns the seconds that all rounds took. A worker's error fails the test. */
double crew_run(struct crew *c);

/* The tests. */
void figure_rotation(void);
void figure_rwlock(void);
void figure_multilock(void);
void figure_semaphore(void);
void figure_curator(void);

#endif
