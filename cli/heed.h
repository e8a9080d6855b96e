/* The signals that a process reads from a signalfd. */
#ifndef PDK_CLI_HEED_H
#define PDK_CLI_HEED_H

#include <signal.h>

/* Put those of SIGNALS (up to 0) into SET that were not ignored when the program was started, as by nohup(1) or in a
 * script's background. A blocked signal reaches a signalfd although it is ignored, so an ignored one is not blocked. */
void pdk__cli_heed(sigset_t *set, const int *signals);

#endif
