/* When a job is done by the age of its last run that counts, and what a KEY is. */
#ifndef PDK__ONCE_H
#define PDK__ONCE_H

#include <stdbool.h>
#include <stdint.h>

enum { PDK__RUN_KEY_MAX = 200 };

enum pdk__once_verdict {
    PDK__ONCE_DUE,
    PDK__ONCE_DONE,
    PDK__ONCE_LATER, /* it was done when our node was made, and may be due by now */
    PDK__ONCE_FUTURE /* no clock of a leader's can have told that time */
};

/* The run began at BEGUN_MS, by the clock of the servers' leader. It was NOW_MS at some moment of ours, and PASSED_MS
 * at most have passed since on our clock; 0: that is the present time. The times are not negative. */
enum pdk__once_verdict pdk__once_judge(int64_t begun_ms, int64_t now_ms, int64_t passed_ms, int64_t period_ms);

/* Text of 1 to PDK__RUN_KEY_MAX bytes, in UTF-8, without control characters. */
bool pdk__run_key_valid(const char *key);

/* Has TEXT a control character? */
bool pdk__run_has_control(const char *text);

#endif
