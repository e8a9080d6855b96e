#include "cli/screen.h"

#include "cli/message.h"
#include "cli/signals.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* Without the stop key, which would leave the shell with these modes. */
void pdk__cli_screen_open(struct pdk__cli_screen *s)
{
    struct termios modes;
    bool whole = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (!whole || tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &s->modes) != 0)
        return;
    modes = s->modes;
    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    modes.c_cc[VSUSP] = _POSIX_VDISABLE;
    s->open = tcsetattr(STDIN_FILENO, TCSANOW, &modes) == 0;
    if (s->open)
        fputs("\033[?1049h\033[?25l", stdout);
}

void pdk__cli_screen_close(struct pdk__cli_screen *s)
{
    if (!s->open)
        return;
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &s->modes);
    s->open = false;
}

/* The last row and column stay empty: writing there would scroll or wrap on some terminals. */
void pdk__cli_screen_size(size_t *lines, int *columns)
{
    struct winsize size = {0};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 3 || size.ws_col < 20)
        size = (struct winsize){.ws_row = 24, .ws_col = 80};
    *lines = size.ws_row - 1U;
    *columns = size.ws_col - 1;
}

void pdk__cli_screen_draw(char *text)
{
    char cut[2048], *line;
    size_t lines;
    int columns;
    pdk__cli_screen_size(&lines, &columns);
    fputs("\033[H", stdout);
    while (lines-- > 0 && (line = strsep(&text, "\n")) != NULL && text != NULL) {
        pdk__cli_printable(cut, sizeof cut, columns, line);
        printf("%s\033[K\n", cut);
    }
    fputs("\033[J", stdout);
}

void pdk__cli_screen_note(const char *text) { printf("\033[H%s\033[K\n", text); }

int pdk__cli_screen_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH, 0};
    sigset_t set;
    pdk__cli_signals_not_ignored(&set, signals);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int pdk__cli_screen_signal(int fd)
{
    struct signalfd_siginfo info;
    if (read(fd, &info, sizeof info) != (ssize_t)sizeof info)
        return 0;
    return (int)info.ssi_signo;
}

bool pdk__cli_screen_quits(void)
{
    char key;
    return read(STDIN_FILENO, &key, 1) != 1 || key == 'q';
}
