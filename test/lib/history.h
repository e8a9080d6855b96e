/*
 * Histories: the acts of one process of a run and the reports to it, in a mapped file that survives its death.
 *
 * A record is written once, by any thread, and counts when its event is set. A process that is killed half-way leaves a
 * blank, not a wrong record. One host has one CLOCK_MONOTONIC, so the records of all its processes can be compared.
 */
#ifndef PDK__TEST_HISTORY_H
#define PDK__TEST_HISTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event {
    BLANK = 0,
    /* A client's. KIND is the number of the request; those of its thread N begin at N * THREAD_NUMBERS. */
    /* to lock; RC is the way (enum way), TOKEN the timeout in ms, -1 without; NODE is the recipe (lanes.h), "" a mutex;
     * SESSION how many nodes a grant has */
    ASKED,
    GRANTED,  /* TOKEN, SESSION, NODE, VALID_MS */
    FAILED,   /* with RC */
    QUESTION, /* pdk_lock_state() answered RC, then pdk_lock_valid_ms() VALID_MS; TOKEN and SESSION are its */
    TOLD,     /* the state callback said RC, of the grant TOKEN */
    /* about to call unlock; RC 1: a leader yields, and stays a candidate; SESSION 1: the node may be there when it
     * returns, by the options of the lock */
    UNLOCKING,
    UNLOCKED, /* it returned RC */
    ENDED,    /* everything closed and freed */
    SESSION,  /* the session callback said RC, of SESSION */
    /* The nemesis's. KIND is the fault's (enum fault_id), TOKEN its serial number, RC its victim's index, or -1;
     * VALID_MS the lane (lanes.h) of an administrator's. */
    FAULT_BEGINS, /* before the first thing is done */
    FAULT_ENDS,   /* after the last thing is undone; SESSION: 1 when it took effect */
    KILLED,       /* PID is dead, by SIGKILL; RC is its place */
    STOPPED,      /* PID: about to get SIGSTOP */
    CONTINUED,    /* PID: has got SIGCONT */
    BORN,         /* PID works in place RC */
    WALL,         /* TOKEN is CLOCK_REALTIME in ns at NS */
    HEALED,       /* no fault from here on; all servers serve */
    LEFTOVER,     /* after all clients have ended, the servers have: TOKEN of NODE */
    SETTING,      /* TOKEN is the value of the setting NODE */
    /* A client's guarded writes (register.h). KIND is the number of the request, TOKEN the grant's, SESSION the write's
     * number in its process. */
    WRITING, /* about to send it */
    WROTE,   /* answered with RC (ZooKeeper's); VALID_MS is the version that it made */
    PART,    /* before GRANTED, of a grant with several nodes: NODE, in the lane RC; TOKEN is its own, or 0 */
    TURN,    /* before GRANTED, where a node can have several owners: TOKEN is the number of the grant's turn */
    /* A client's jobs (job.h). KIND is the number of the request. */
    JOB_BEGINS, /* about to begin a run, of the KEY NODE or in the period VALID_MS; TOKEN is the grant's */
    JOB_BEGUN,  /* answered with RC */
    JOB_ENDS,   /* about to end it, with the status RC */
    JOB_ENDED,  /* answered with RC */
    N_EVENTS
};

enum way { BY_LOCK, BY_TIMEDLOCK, BY_TRYLOCK, BY_ASYNC, N_WAYS };

struct record {
    int64_t ns;
    _Atomic int32_t event;
    int32_t rc;
    int64_t token;
    int64_t session;
    int64_t valid_ms;
    int32_t kind;
    int32_t pid;
    char node[56];
};

enum { RECORDS_MAX = 1 << 18, THREAD_NUMBERS = 1000000 };

/* The start of the file. The orders and counters below are for the processes while they live. */
struct history {
    char magic[8];
    int32_t place, generation;
    _Atomic int32_t pid;
    _Atomic int32_t n;
    _Atomic int32_t finish; /* the client shall unlock, close and end */
    _Atomic int32_t n_grants;
    _Atomic int32_t holding;  /* it believes that it holds */
    _Atomic int32_t linger;   /* the client shall not unlock of its own accord */
    _Atomic int32_t hasty;    /* the client shall give up soon */
    _Atomic int32_t n_obeyed; /* orders that a worker has carried out */
    _Atomic uint32_t turn;    /* odd while the two below change */
    uint32_t unused;          /* the same layout everywhere: Java and Go know it */
    int64_t session;          /* the current one, with its password, for the faults that end it */
    char password[16];
    char pad[40];
    struct record records[RECORDS_MAX];
};

int64_t now_ns(void);
int64_t wall_ns(void);

/* Make FILE, all blank, and map it; or map one that exists, READ_ONLY or not. NULL with errno. */
struct history *history_create(const char *file, int place, int generation);
struct history *history_open(const char *file, bool read_only);
void history_close(struct history *h);

/* Write a copy of R, with the time NS it has (0: now) and this process. Any thread. */
void history_write(struct history *h, const struct record *r);

/* How many records there are to be read, blanks included. */
size_t history_size(const struct history *h);

#endif
