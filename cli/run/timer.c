#include "cli/run/timer.h"
#include "lib/assert.h"

#include <stddef.h>
#include <sys/timerfd.h>

int pdk__cli_timer_new(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

void pdk__cli_timer_arm(int timer, int64_t at)
{
    struct itimerspec when = {0};
    assert(at >= -1);
    if (at >= 0) {
        when.it_value.tv_sec = at / 1000;
        when.it_value.tv_nsec = at % 1000 * 1000000 + 1; /* all zeros would disarm it */
    }
    if (timer >= 0)
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}
