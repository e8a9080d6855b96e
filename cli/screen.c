#include "cli/screen.h"

#include "cli/message.h"
#include "cli/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLOSING "\033[?25h\033[?1049l"

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
    s->open = true; /* before, so that a signal that comes between gives them back */
    s->open = tcsetattr(STDIN_FILENO, TCSANOW, &modes) == 0;
    if (s->open)
        fputs("\033[?1049h\033[?25l", stdout);
}

void pdk__cli_screen_close(struct pdk__cli_screen *s)
{
    if (!s->open)
        return;
    fputs(CLOSING, stdout);
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
    *lines = size.ws_row - 2U;
    *columns = size.ws_col - 1;
}

void pdk__cli_screen_draw(char *text)
{
    char cut[2048], *line;
    size_t lines, left;
    int columns;
    pdk__cli_screen_size(&lines, &columns);
    left = lines;
    fputs("\033[H", stdout);
    while (left-- > 0 && (line = strsep(&text, "\n")) != NULL && text != NULL) {
        pdk__cli_printable(cut, sizeof cut, columns, line);
        printf("%s\033[K\n", cut);
    }
    printf("\033[J\033[%zu;1Hq quit", lines + 1);
}

void pdk__cli_screen_note(const char *text) { printf("\033[H%s\033[K\n", text); }

/* --- signals ------------------------------------------------------------------------------------------------------ */

/* For the handler. */
static const struct pdk__cli_screen *volatile shown;
static volatile int shown_status;
static sigset_t ending;

/* The modes first, and the text only where it does not have to wait for the terminal. */
static void restore_and_exit(int signal)
{
    struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (shown->open) {
        tcsetattr(STDIN_FILENO, TCSANOW, &shown->modes);
        if (poll(&fd, 1, 0) == 1)
            (void)!write(STDOUT_FILENO, CLOSING, sizeof CLOSING - 1);
    }
    _exit(shown_status >= 0 ? shown_status : STATUS_SIGNAL + signal);
}

void pdk__cli_screen_begin(struct pdk__cli_screen *s, int status)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, 0}, resized[] = {SIGWINCH, 0};
    struct sigaction action = {.sa_handler = restore_and_exit};
    sigset_t all;
    pdk__cli_signals_not_ignored(&ending, signals);
    pdk__cli_signals_not_ignored(&all, resized);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    shown = s;
    shown_status = status;
    action.sa_mask = ending;
    for (const int *signal = signals; *signal != 0; signal++)
        if (sigismember(&ending, *signal) == 1) {
            sigaddset(&all, *signal);
            sigaction(*signal, &action, NULL);
        }
    s->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int read_signal(int fd)
{
    struct signalfd_siginfo info;
    return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

static bool key_quits(void)
{
    char key;
    return read(STDIN_FILENO, &key, 1) != 1 || key == 'q';
}

int pdk__cli_screen_reader(void)
{
    struct stat out;
    bool has_reader = fstat(STDOUT_FILENO, &out) == 0 && (S_ISFIFO(out.st_mode) || S_ISSOCK(out.st_mode));
    return has_reader ? STDOUT_FILENO : -1;
}

int pdk__cli_screen_unread(void)
{
    (void)!write(STDOUT_FILENO, "\n", 1);
    pdk__cli_message("cannot write to standard output");
    return STATUS_INTERNAL;
}

int pdk__cli_screen_wait(const struct pdk__cli_screen *s, int news, int ms, bool *quits)
{
    struct pollfd fds[] = {{.fd = s->signals, .events = POLLIN},
                           {.fd = news, .events = POLLIN},
                           {.fd = s->open ? STDIN_FILENO : -1, .events = POLLIN},
                           {.fd = pdk__cli_screen_reader()}};
    pthread_sigmask(SIG_BLOCK, &ending, NULL);
    poll(fds, 4, ms);
    int signal = fds[0].revents != 0 ? read_signal(s->signals) : 0;
    pthread_sigmask(SIG_UNBLOCK, &ending, NULL); /* one that comes while it ends does not wait for that */
    *quits = fds[2].revents != 0 && key_quits();
    return signal == 0 && fds[3].revents != 0 ? SIGPIPE : signal;
}
