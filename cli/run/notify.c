#include "cli/run/notify.h"

#include "cli/number.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un manager;
static socklen_t manager_length; /* 0: none */
static int64_t alive_every_ms;   /* 0: never */
static int64_t alive_at;

/* A name that begins with "@" is in no file system. */
static void take_address(const char *name)
{
    size_t length = strlen(name);
    if ((name[0] != '/' && name[0] != '@') || length < 2 || length >= sizeof manager.sun_path)
        return;
    manager.sun_family = AF_UNIX;
    memcpy(manager.sun_path, name, length);
    if (name[0] == '@')
        manager.sun_path[0] = '\0';
    manager_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

static long long number_in(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

void pdk__cli_notify_begin(void)
{
    const char *name = getenv("NOTIFY_SOCKET");
    long long pid = number_in("WATCHDOG_PID"), limit_us = number_in("WATCHDOG_USEC");
    if (name != NULL)
        take_address(name);
    if (manager_length > 0 && limit_us > 0 && (pid == 0 || pid == getpid()))
        alive_every_ms = limit_us < 4000 ? 1 : limit_us / 2000;
    alive_at = pdk__cli_now_ms();
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_PID");
    unsetenv("WATCHDOG_USEC");
}

/* A manager whose queue is full is not waited for: it could hold up the end of a lost lock's command. */
void pdk__cli_notify(const char *format, ...)
{
    char text[512];
    va_list arguments;
    int fd = manager_length > 0 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
    if (fd < 0)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)!sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&manager, manager_length);
    close(fd);
}

int64_t pdk__cli_notify_due(void) { return alive_every_ms > 0 ? alive_at : -1; }

void pdk__cli_notify_step(void)
{
    int64_t now = pdk__cli_now_ms();
    if (alive_every_ms == 0 || now < alive_at)
        return;
    alive_at = now + alive_every_ms;
    pdk__cli_notify("WATCHDOG=1");
}
