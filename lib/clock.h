/* The clock of the library: it counts the time a machine is suspended, which ZooKeeper's client does not, because the
 * servers do. Nobody can set it. */
#ifndef PDK__CLOCK_H
#define PDK__CLOCK_H

#include <stdint.h>
#include <time.h>

int64_t pdk__now_ms(void);

/* NOW_MS + TIMEOUT_MS, PDK__NEVER for a negative timeout or one past the end of time. */
int64_t pdk__deadline_ms(int64_t now_ms, int64_t timeout_ms);

/* MS, which must not be negative, for the system's calls. A time past what a time_t of 32 bits can hold (68 years)
 * becomes the last that it can. */
struct timespec pdk__timespec(int64_t ms);

#endif
