/*
 * A crontab line on the machines of a fleet, period after period: its starts, the runs of its job, and faults in a
 * third of the periods. Several lines can be played at once.
 */
#ifndef PDK__TEST_NIGHTS_H
#define PDK__TEST_NIGHTS_H

#include "test/demo/fleet.h"
#include "test/lib/dice.h"
#include "test/lib/ensemble.h"

#include <stdio.h>

enum { PERIODS_MAX = 1000, RUNS_MAX = PERIODS_MAX * FLEET_SIZE, RULE_MAX = 2 };

/* The job is shorter than the time between the first start of a period and the last. */
enum { JOB_MS = 500 };

enum fault {
    CALM,
    DEATHS, /* the first machine that runs in a period dies in the middle of it */
    LEADERS /* the servers' leader is killed, about the time of the first run, and starts again */
};

struct start {
    struct program program;
    int late_ms; /* after its machine's crontab was due */
    bool killed;
};

struct run {
    int period, machine;
    int64_t seen_ms; /* after the first start of its period was due */
    bool ended;
};

struct nights {
    const char *name;           /* a title, and a path of the servers below "/" */
    const char *rule[RULE_MAX]; /* options of paddock lock */
    const char *session_s;      /* --session-timeout */
    enum fault fault;
    int n_periods, period_ms;

    int64_t origin_ms;     /* the true hour of period 0 */
    int begun[FLEET_SIZE]; /* how many periods each machine has started the command for */
    struct start starts[PERIODS_MAX][FLEET_SIZE];
    struct run runs[RUNS_MAX];
    int n_runs, n_faults;
    FILE *notes;
    char file[64]; /* NOTES for the job: a file without a name */
    struct dice dice;
    int64_t fault_at, restart_at; /* -1: none is planned */
    int victim, n_seen, n_planned;
};

/* Has PERIOD a fault, if there are any? */
bool nights_faulty(int period);

/* Play N lines to the end of their last command. */
void nights_play(struct nights *const *lines, int n, pdk__ensemble *e);

/* How often the job of each period has succeeded: it ended, its command exited with 0, and its machine lived. */
void nights_count(const struct nights *n, int *successes);

#endif
