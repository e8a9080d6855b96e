#include "cli/signals.h"

#include "cli/message.h"

#include <stddef.h>
#include <unistd.h>

void pdk__cli_signals_not_ignored(sigset_t *set, const int *signals)
{
    struct sigaction was;
    sigemptyset(set);
    for (; *signals != 0; signals++)
        if (sigaction(*signals, NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaddset(set, *signals);
}

static void exit_by(int signal) { _exit(STATUS_SIGNAL + signal); }

void pdk__cli_signals_end_first(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, 0};
    struct sigaction action = {.sa_handler = exit_by};
    sigset_t set;
    pdk__cli_signals_not_ignored(&set, signals);
    for (const int *signal = signals; getpid() == 1 && *signal != 0; signal++)
        if (sigismember(&set, *signal) == 1)
            sigaction(*signal, &action, NULL);
}

void pdk__cli_lock_signals(sigset_t *set)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,  SIGUSR2, SIGALRM,
                                  SIGTERM, SIGCONT, SIGTSTP, SIGWINCH, 0};
    pdk__cli_signals_not_ignored(set, signals);
}
