/* A phase of a scenario: its figures are one object in the line of JSON. For one thread. */
#ifndef BENCH_PHASE_H
#define BENCH_PHASE_H

#include <paddock.h>

/* Count the changes of this lock's grant to SUSPECT and to LOST. */
void phase_watch(pdk_lock *l);

/* All counters are 0 from now on. */
void phase_begin(void);

double phase_seconds(void);          /* since then */
double phase_second_of(double when); /* of a crowd_now(); 0 for one before then */

/* Wait until all clients are connected, HAS_PLACE is true (NULL: there is no such condition), and nothing was created
 * or listed for key settle_ms. Reads do not count: a waiter's node is read at a steady pace for as long as it waits.
 * Returns the seconds from the beginning to the last of these requests or connections. */
double phase_settle(bool (*has_place)(void));

/* Print the figures of the phase, which took SECONDS. */
void phase_print(const char *name, double seconds);

/* One more figure, after phase_print(). */
void phase_add(const char *name, double figure);

#endif
