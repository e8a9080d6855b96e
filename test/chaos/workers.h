/*
 * The clients of a run: processes in places. Each place has a proxy of its own for every server, so that one client
 * alone can be cut off. A client that dies is followed by another in the same place, with a history of its own.
 */
#ifndef CHAOS_WORKERS_H
#define CHAOS_WORKERS_H

#include "test/lib/ensemble.h"
#include "test/lib/history.h"
#include "test/lib/program.h"

enum { WORKERS_MAX = 16 };

struct place {
    struct program program;
    int generation;
    bool stopped;
    struct history *history; /* of the client that is there, or was last */
    pdk__proxy *proxy[PDK__SERVER_MAX];
    char hosts[PDK__SERVER_MAX * 32];
};

struct workers {
    int n;
    const char *dir, *worker;
    const char *craft[WORKERS_MAX]; /* what the client of each place contends for (test/lib/crafts.h) */
    unsigned lanes;                 /* the set of lanes that they use */
    int session_ms, tick_ms;
    bool secure; /* they speak TLS, of which the proxies see bytes */
    uint64_t seed;
    pdk__ensemble *e;
    struct history *log; /* the nemesis's */
    struct place places[WORKERS_MAX];
};

/* Proxies and clients, for the N places of CREW. */
void workers_begin(struct workers *workers);

/* Start a new client in a free place. */
void workers_hire(struct workers *workers, int i);

/* By signals, each written down. A client that is stopped may be killed. */
void workers_kill(struct workers *workers, int i);
void workers_stop(struct workers *workers, int i);
void workers_continue(struct workers *workers, int i);

/* Fails the test when a client died that was not killed. */
void workers_check(struct workers *workers);

/* Tell all clients to finish, and wait for them. The test fails when one does not end well. A client that does not end
 * at all is left to the judge. */
void workers_finish(struct workers *workers, int limit_ms);

/* End every process and every proxy, whatever happened. */
void workers_end(struct workers *workers);

#endif
