/*
 * The clients of a run: processes in places. Each place has proxies of its own before every server, so that one client
 * alone can be cut off; who dies is followed by another, in the same place, with a history of its own.
 */
#ifndef CHAOS_CREW_H
#define CHAOS_CREW_H

#include "test/chaos/history.h"
#include "test/lib/ensemble.h"

enum { CREW_MAX = 16 };

struct place {
    pid_t pid; /* 0: nobody */
    int generation;
    bool stopped;
    struct history *history; /* of who is there, or was last */
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

/* Somebody new in a place that is free. */
void crew_hire(struct crew *crew, int i);

/* By signals, each written down. A client that is stopped may be killed. */
void crew_kill(struct crew *crew, int i);
void crew_stop(struct crew *crew, int i);
void crew_continue(struct crew *crew, int i);

/* Fails the test when somebody died who was not killed. */
void crew_check(struct crew *crew);

/* Tell all to finish and wait for it; fails the test when one does not end well. Who does not end at all is left to the
 * judge. */
void crew_finish(struct crew *crew, int limit_ms);

/* Whatever happened: no process, no proxy is left. */
void crew_end(struct crew *crew);

#endif
