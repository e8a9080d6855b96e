/*
 * The clients of a run: processes in places. Each place has a proxy of its own for every server, so that one client
 * alone can be cut off. A client that dies is followed by another in the same place, with a history of its own.
 */
#ifndef CHAOS_CREW_H
#define CHAOS_CREW_H

#include "test/chaos/history.h"
#include "test/lib/ensemble.h"

enum { CREW_MAX = 16 };

struct place {
    pid_t pid; /* 0: none */
    int generation;
    bool stopped;
    struct history *history; /* of the client that is there, or was last */
    pdk__proxy *proxy[PDK__SERVER_MAX];
    char hosts[PDK__SERVER_MAX * 32];
};

struct crew {
    int n;
    const char *dir, *program, *path;
    int session_ms, tick_ms;
    uint64_t seed;
    pdk__ensemble *e;
    struct history *log; /* the nemesis's */
    struct place places[CREW_MAX];
};

/* Proxies and clients, for the N places of CREW. */
void crew_begin(struct crew *crew);

/* Start a new client in a free place. */
void crew_hire(struct crew *crew, int i);

/* By signals, each written down. A client that is stopped may be killed. */
void crew_kill(struct crew *crew, int i);
void crew_stop(struct crew *crew, int i);
void crew_continue(struct crew *crew, int i);

/* Fails the test when a client died that was not killed. */
void crew_check(struct crew *crew);

/* Tell all clients to finish, and wait for them. The test fails when one does not end well. A client that does not end
 * at all is left to the judge. */
void crew_finish(struct crew *crew, int limit_ms);

/* End every process and every proxy, whatever happened. */
void crew_end(struct crew *crew);

#endif
