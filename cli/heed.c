#include "cli/heed.h"

#include <stddef.h>

void pdk__cli_heed(sigset_t *set, const int *signals)
{
    struct sigaction was;
    sigemptyset(set);
    for (; *signals != 0; signals++)
        if (sigaction(*signals, NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaddset(set, *signals);
}
