#include "cli/number.h"
#include "lib/assert.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

bool pdk__cli_number_ms(double seconds, int64_t *ms)
{
    double exact = seconds * 1000;
    if (!(seconds >= 0 && seconds <= 1e9))
        return false;
    *ms = (int64_t)exact;
    if ((double)*ms < exact)
        ++*ms;
    return true;
}

bool pdk__cli_number_seconds(const char *text, int64_t *ms)
{
    char *end;
    /* strtod() alone would accept "nan", "inf" and "0x1p3". */
    if (*text == '\0' || strspn(text, "0123456789.") != strlen(text) || strpbrk(text, "0123456789") == NULL)
        return false;
    double value = strtod(text, &end);
    return *end == '\0' && pdk__cli_number_ms(value, ms);
}

bool pdk__cli_number_period(const char *text, int64_t *ms)
{
    static const struct {
        char unit;
        int64_t s;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 9 || text[n] == '\0' || text[n + 1] != '\0')
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].unit == text[n]) {
            *ms = strtoll(text, NULL, 10) * units[i].s * 1000;
            return true;
        }
    return false;
}

bool pdk__cli_number_whole(const char *text, int low, int high, int *value)
{
    char *end;
    assert(low >= 0 && low <= high);
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || number < low || number > high)
        return false;
    *value = (int)number;
    return true;
}

bool pdk__cli_number_token(const char *text, int64_t *token)
{
    if (*text == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *token = strtoll(text, NULL, 10);
    return errno == 0;
}

/* No C library but glibc from 2.32 on has these names. */
static const struct {
    const char *name;
    int number;
} signals[] = {
    {"HUP", SIGHUP},       {"INT", SIGINT},     {"QUIT", SIGQUIT}, {"ILL", SIGILL},   {"TRAP", SIGTRAP},
    {"ABRT", SIGABRT},     {"BUS", SIGBUS},     {"FPE", SIGFPE},   {"KILL", SIGKILL}, {"USR1", SIGUSR1},
    {"SEGV", SIGSEGV},     {"USR2", SIGUSR2},   {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"TERM", SIGTERM},
    {"CHLD", SIGCHLD},     {"CONT", SIGCONT},   {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"TTIN", SIGTTIN},
    {"TTOU", SIGTTOU},     {"URG", SIGURG},     {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM},
    {"PROF", SIGPROF},     {"WINCH", SIGWINCH}, {"IO", SIGIO},     {"PWR", SIGPWR},   {"SYS", SIGSYS},
    {"POLL", SIGPOLL},
#ifdef SIGSTKFLT /* not on every architecture */
    {"STKFLT", SIGSTKFLT},
#endif
};

bool pdk__cli_number_signal(const char *text, int *number)
{
    if (pdk__cli_number_whole(text, 1, SIGRTMAX, number))
        return true;
    if (strncasecmp(text, "SIG", 3) == 0)
        text += 3;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcasecmp(text, signals[i].name) == 0) {
            *number = signals[i].number;
            return true;
        }
    return false;
}

int64_t pdk__cli_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int pdk__cli_poll_ms(int64_t deadline)
{
    if (deadline < 0)
        return -1;
    int64_t left = deadline - pdk__cli_now_ms();
    if (left < 0)
        return 0;
    return left > INT_MAX ? INT_MAX : (int)left;
}

int64_t pdk__cli_earlier(int64_t a, int64_t b)
{
    if (a < 0)
        return b;
    return b >= 0 && b < a ? b : a;
}

const char *pdk__cli_duration(int64_t ms, char buf[32])
{
    long long s = ms < 0 ? 0 : ms / 1000;
    if (s < 60)
        snprintf(buf, 32, "%llds", s);
    else if (s < 3600)
        snprintf(buf, 32, "%lldm%02llds", s / 60, s % 60);
    else if (s < 86400)
        snprintf(buf, 32, "%lldh%02lldm", s / 3600, s / 60 % 60);
    else
        snprintf(buf, 32, "%lldd%02lldh", s / 86400, s / 3600 % 24);
    return buf;
}
