/*
 * Shared by the parts of the contest.
 *
 * A worker is a process that locks and unlocks, and writes each of its events into a pipe, with the time. The parent
 * reads those records, prints them, and checks them once all workers are done.
 */
#ifndef EXAMPLES_CONTEST_H
#define EXAMPLES_CONTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { CONTEST_MAX_PROCESSES = 64, CONTEST_SESSION_MS = 2000, NS_PER_MS = 1000000 };

enum what { WHAT_READY, WHAT_GRANTED, WHAT_RELEASED, WHAT_LOST, WHAT_KILLED, WHAT_FAILED };

/* One line of a worker's diary: smaller than PIPE_BUF, so the writes of several workers into one pipe never mix. */
struct record {
    int64_t at_ns;   /* CLOCK_MONOTONIC: one clock for all the processes of a machine */
    int64_t token;   /* of the grant */
    int64_t span_ns; /* granted: how long it waited; released, lost, killed: how long it held */
    int32_t worker;  /* from 0 */
    int32_t pid;     /* its process */
    int32_t what;    /* enum what */
    int32_t stays;   /* granted: it will not release, and waits to be killed */
    char text[128];  /* failed: why */
};

struct plan {
    const char *hosts;
    char path[64]; /* the lock they contend for */
    int processes;
    int rounds;      /* for each of them */
    int victim;      /* the worker to be killed while it holds */
    int fatal_round; /* in which of its rounds */
};

/* All the records of a contest, in the order of their time once laws_check() has seen them. */
struct diary {
    struct record *records;
    size_t count, room;
};

/* The time during which one worker believed that it held the lock. */
struct hold {
    int64_t asked_ns, from_ns, to_ns, token;
    int worker;
    bool killed; /* it ended with its process */
    bool ended;  /* false when its end was not recorded */
};

struct verdict {
    size_t grants, overlaps, disorder, unended, handovers, kills, takeovers;
    int64_t first_token, last_token;
    int64_t handover_median_ns, handover_p99_ns, takeover_ns; /* of the slowest takeover */
    int heir;                                                 /* the worker that took over last, or -1 */
    size_t by_worker[CONTEST_MAX_PROCESSES];
};

struct report {
    FILE *out;
    bool colour, all, quiet;
    const struct plan *plan;
    int64_t start_ns, killed_ns;
    size_t rows, left_out;
    int after; /* rows to show yet after something special */
};

int64_t now_ns(void);

/* contest_worker.c: contend until done, with records to DIARY. GO is at its end of file when all may start, VICTIM
 * when the victim has ended. Returns the exit status of the process. */
int worker_run(const struct plan *plan, int worker, int diary, int go, int victim);

/* contest_race.c: fork the workers, read their records to the end, kill one on the way. Returns 0, EINTR when a
 * signal came, or another errno value. In any case no worker is left. */
int race_run(const struct plan *plan, struct report *report, struct diary *diary);
void race_catch_signals(void);
int race_interrupted(void); /* the signal that came, or 0 */
void diary_free(struct diary *diary);

/* contest_laws.c: did two workers hold the lock at once, and do the tokens grow? False when memory is out. */
bool laws_check(struct diary *diary, struct verdict *verdict);
bool laws_hold(const struct verdict *verdict);

/* contest_report.c */
void report_begin(struct report *report);
void report_record(struct report *report, const struct record *record);
void report_verdict(struct report *report, const struct verdict *verdict);

/* contest_json.c */
int report_json(FILE *out, const struct plan *plan, const struct diary *diary, const struct verdict *verdict);

#endif
