/* When a job is done: by the age of its last run that counts. Both times are of the servers' leader. */
#ifndef PDK__ONCE_H
#define PDK__ONCE_H

#include <stdint.h>

enum pdk__once_verdict {
    PDK__ONCE_DUE,
    PDK__ONCE_DONE,
    PDK__ONCE_LATER, /* it was done when our node was made, and may be due by now */
    PDK__ONCE_FUTURE /* no clock of a leader's can have told that time */
};

/* The run began at BEGUN_MS. It was NOW_MS at some moment of ours, and PASSED_MS at most have passed since on our
 * clock; 0: that is the present time. The times are not negative. */
enum pdk__once_verdict pdk__once_judge(int64_t begun_ms, int64_t now_ms, int64_t passed_ms, int64_t period_ms);

#endif
