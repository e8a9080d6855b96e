/*
 * The same crontab line with ShedLock, by arithmetic: no ShedLock is run. Its documented rule: a row has lockUntil. A
 * client may run when lockUntil <= its now, and sets lockUntil = its now + lockAtMostFor. At the end of a run lockUntil
 * becomes the later of the client's now and the run's beginning + lockAtLeastFor. Its now is by the machine's own
 * clock, or by the data base's with usingDbTime.
 */
#ifndef PDK__TEST_SHEDLOCK_H
#define PDK__TEST_SHEDLOCK_H

#include <stdbool.h>

struct shedlock {
    int hold_s; /* lockAtMostFor, and lockAtLeastFor */
    bool own_clocks;
    int job_s; /* not longer than HOLD_S: the end of a run leaves lockUntil */
};

/* Count the successes of each of N_PERIODS hours. The first machine that runs in an hour dies where DIES says so.
 * Returns the number of runs that were begun. */
int shedlock_play(const struct shedlock *s, int n_periods, bool (*dies)(int period), int *successes);

#endif
