/* Preloaded before faketime's library, which moves the absolute timers of clocks that it leaves as they are. */
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int fd, int flags, const struct itimerspec *new_value, struct itimerspec *old_value)
{
    return (int)syscall(SYS_timerfd_settime, fd, flags, new_value, old_value);
}
