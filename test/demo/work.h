/*
 * The work of one worker under one grant, in a mapped file that survives its death: when it began, when it last worked,
 * the answers it got. The driver of a demo reads the file while it changes.
 *
 * A worker takes a stamp, then asks whether it may work, and only then records the stamp: so its last work never looks
 * earlier than it was. One machine has one CLOCK_MONOTONIC, so all stamps can be compared.
 */
#ifndef DEMO_WORK_H
#define DEMO_WORK_H

#include <stdatomic.h>
#include <stdint.h>

/* A worker without a stamp for STOPPED_MS has been stopped. */
enum { WORK_EVERY_MS = 1, STOPPED_MS = 700 };

/* A late write was not refused. 0 means that it was not tried. */
enum { TAKEN = -1000 };

/* Java writes here too: eight bytes each, in the machine's order, and CuratorHolder.java knows the places. */
struct work {
    _Atomic int64_t must_end; /* the driver's: not 0 when the worker must end its work and release */
    _Atomic int64_t pid;      /* the process that works */
    _Atomic int64_t first_ns; /* it began to work; 0: not yet */
    _Atomic int64_t last_ns;  /* the last moment at which it worked */
    _Atomic int64_t ended_ns; /* it learned that it must not, or was asked to end; 0: not yet */
    _Atomic int64_t token;
    _Atomic int64_t woke_ns;  /* it went on after it had been stopped; 0: it never was */
    _Atomic int64_t answer;   /* the first answer after that; a pdk_state */
    _Atomic int64_t guarded;  /* the result of the guarded write it then tried: ZooKeeper's error, or TAKEN */
    _Atomic int64_t fenced;   /* and of the write to the fenced store: its exit status, or TAKEN */
    _Atomic int64_t session;  /* of a program of ours: the session it works under */
    _Atomic int64_t state;    /* and the last answer; a pdk_state */
    _Atomic int64_t until_ns; /* and the deadline given with it */
    _Atomic int64_t turn;     /* and the last turn that it had by its idle node; 0: none */
    char why[200];            /* and the last error of its lock, when it is lost; complete once ended_ns is set */
};

int64_t work_now_ns(void);

/* Create FILE, all zero, and map it; or map an existing one. NULL with errno. */
struct work *work_create(const char *file);
struct work *work_open(const char *file);
void work_close(struct work *w);

/* One moment of work, at NS. */
void work_stamp(struct work *w, int64_t ns);

void work_nap(void);

#endif
