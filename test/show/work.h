/*
 * What one worker did under one grant, in a mapped file that survives its death: when it began, when it last worked,
 * what it was answered. The driver of a show reads it while it grows.
 *
 * A worker asks whether it may work, and only then says that it did at the moment before it asked: so its last work
 * never looks earlier than it was. One machine has one CLOCK_MONOTONIC, so all stamps can be compared.
 */
#ifndef SHOW_WORK_H
#define SHOW_WORK_H

#include <stdatomic.h>
#include <stdint.h>

/* A worker that was silent for so long has been stopped. */
enum { WORK_EVERY_MS = 1, STOPPED_MS = 700 };

/* A late write was not refused. 0 is: it was not tried. */
enum { TAKEN = -1000 };

/* Java writes here too: eight bytes each, in the machine's order, and CuratorHolder.java knows the places. */
struct work {
    _Atomic int64_t wish;     /* the driver's: not 0 when the worker shall end its work and let go */
    _Atomic int64_t pid;      /* the process that works */
    _Atomic int64_t first_ns; /* it began to work; 0: not yet */
    _Atomic int64_t last_ns;  /* the last moment at which it worked */
    _Atomic int64_t ended_ns; /* it knew that it must not, or was told to end; 0: not yet */
    _Atomic int64_t token;
    _Atomic int64_t woke_ns;  /* it went on after it had been stopped; 0: it never was */
    _Atomic int64_t answer;   /* the first answer after that; a pdk_state */
    _Atomic int64_t guarded;  /* what became of the guarded write it then tried: ZooKeeper's error, or TAKEN */
    _Atomic int64_t fenced;   /* and of the write to the fenced store: its exit status, or TAKEN */
    _Atomic int64_t session;  /* of a program of ours: the session it works under */
    _Atomic int64_t state;    /* and the last answer; a pdk_state */
    _Atomic int64_t until_ns; /* and the deadline that it was told with it */
    char why[200];            /* and the last error of its lock, when it is lost; complete once ended_ns is set */
};

int64_t work_now_ns(void);

/* Make FILE, all zero, and map it; or map one that exists. NULL with errno. */
struct work *work_create(const char *file);
struct work *work_open(const char *file);
void work_close(struct work *w);

/* One moment of work, at NS. */
void work_stamp(struct work *w, int64_t ns);

void work_nap(void);

#endif
