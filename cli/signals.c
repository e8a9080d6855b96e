#include "cli/signals.h"

#include <stddef.h>

void pdk__cli_signals_not_ignored(sigset_t *set, const int *signals)
{
    struct sigaction was;
    sigemptyset(set);
    for (; *signals != 0; signals++)
        if (sigaction(*signals, NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaddset(set, *signals);
}

void pdk__cli_lock_signals(sigset_t *set)
{
    static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,  SIGUSR2, SIGALRM,
                                  SIGTERM, SIGCONT, SIGTSTP, SIGWINCH, 0};
    pdk__cli_signals_not_ignored(set, signals);
}
