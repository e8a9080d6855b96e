#include "cli/run/terminal.h"

#include "cli/message.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

void pdk__cli_terminal_open(struct pdk__cli_terminal *t)
{
    t->fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    t->drawn = t->saved = false;
    t->whole = t->fd >= 0 && tcgetpgrp(STDIN_FILENO) >= 0 && tcgetpgrp(STDOUT_FILENO) >= 0;
}

void pdk__cli_terminal_close(struct pdk__cli_terminal *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

bool pdk__cli_terminal_foreground(const struct pdk__cli_terminal *t)
{
    return t->fd >= 0 && tcgetpgrp(t->fd) == getpgrp();
}

static int columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
        return size.ws_col;
    return 80;
}

void pdk__cli_terminal_show(struct pdk__cli_terminal *t, const char *text)
{
    char line[1024];
    if (!pdk__cli_terminal_foreground(t))
        return;
    /* The last column stays empty: writing there would wrap on some terminals. */
    pdk__cli_printable(line, sizeof line, columns() - 1, text);
    dprintf(STDERR_FILENO, "\r%s\033[K", line);
    t->drawn = true;
}

void pdk__cli_terminal_erase(struct pdk__cli_terminal *t)
{
    if (t->drawn)
        dprintf(STDERR_FILENO, "\r\033[K");
    t->drawn = false;
}

void pdk__cli_terminal_save(struct pdk__cli_terminal *t)
{
    t->saved = pdk__cli_terminal_foreground(t) && tcgetattr(t->fd, &t->modes) == 0;
}

/* At once: output that the terminal holds back would make this wait. */
void pdk__cli_terminal_restore(const struct pdk__cli_terminal *t)
{
    if (t->saved && pdk__cli_terminal_foreground(t))
        tcsetattr(t->fd, TCSANOW, &t->modes);
}

bool pdk__cli_terminal_lend(const struct pdk__cli_terminal *t, pid_t group)
{
    return pdk__cli_terminal_foreground(t) && tcsetpgrp(t->fd, group) == 0;
}

bool pdk__cli_terminal_return(const struct pdk__cli_terminal *t, pid_t group)
{
    return t->fd >= 0 && tcgetpgrp(t->fd) == group && tcsetpgrp(t->fd, getpgrp()) == 0;
}
