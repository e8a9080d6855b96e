#include "lib/clock.h"
#include "lib/core/contender.h"

int64_t pdk__now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t pdk__deadline_ms(int64_t now_ms, int64_t timeout_ms)
{
    return timeout_ms < 0 || timeout_ms > PDK__NEVER - now_ms ? PDK__NEVER : now_ms + timeout_ms;
}

struct timespec pdk__timespec(int64_t ms)
{
    if (ms / 1000 >= INT32_MAX)
        return (struct timespec){.tv_sec = INT32_MAX};
    return (struct timespec){.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * 1000000)};
}
