/*
 * Ten machines that have one crontab line: commands under faketime(1), each with the clock and the time zone of its
 * machine, between ten minutes slow and ten minutes fast. The clock of elapsed time, CLOCK_MONOTONIC, is true.
 *
 * The line is for each full hour. PERIOD_MS is the length of an hour in the show, and the machines start its command
 * apart by as large a part of it as their clocks differ by of an hour.
 */
#ifndef PDK__TEST_FLEET_H
#define PDK__TEST_FLEET_H

#include "test/lib/program.h"

enum { FLEET_SIZE = 10, FLEET_HOUR_S = 3600 };

/* By how much the clock of MACHINE is fast. */
int fleet_ahead_s(int machine);

/* When MACHINE starts the command, after the true hour: a machine whose clock is fast starts early. */
int fleet_start_ms(int machine, int period_ms);

/* Once, before and after all starts. The first skips the tests without faketime. */
void fleet_begin(void);
void fleet_end(void);

/* Start COMMAND on MACHINE, with NUMBER in its environment as $PERIOD, and with $MACHINE. Its processes are a session,
 * and its standard error is captured. */
void fleet_start(struct program *p, int machine, int number, const char *const *command);

/* All processes of a command die at once, as their machine does: none acts on the death of another. */
void fleet_kill(const struct program *p);

#endif
