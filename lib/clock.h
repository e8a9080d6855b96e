/* The clock of the library. It counts the time a machine is suspended, because the servers do; the clock of
 * ZooKeeper's client does not. No program can set it. */
#ifndef PDK__CLOCK_H
#define PDK__CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t pdk__now_ms(void);

/* NOW_MS + TIMEOUT_MS; PDK__NEVER for a negative timeout or a sum beyond INT64_MAX. */
int64_t pdk__deadline_ms(int64_t now_ms, int64_t timeout_ms);

/* MS, which must not be negative, for the system's calls. A time past what a time_t of 32 bits can hold (68 years)
 * becomes the last that it can. */
struct timespec pdk__timespec(int64_t ms);

#endif
