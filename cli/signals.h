/* The signals that a process reads from a signalfd. */
#ifndef PDK_CLI_SIGNALS_H
#define PDK_CLI_SIGNALS_H

#include <signal.h>

/* Put those of SIGNALS (up to 0) into SET that were not ignored when the program was started, as by nohup(1) or in a
 * script's background. A blocked signal reaches a signalfd although it is ignored, so an ignored one is not blocked. */
void pdk__cli_signals_not_ignored(sigset_t *set, const int *signals);

/* For process 1 of a container, to which the system sends no signal that has no handler: from here on a signal that
 * ends any other process ends it, with the status that a shell gives to such an end. Other processes are left alone. */
void pdk__cli_signals_end_first(void);

/* The signals that ask a lock to end, or that its command may need, without those that are ignored; all blocked, and
 * read from a signalfd, in the runner and in the session. */
void pdk__cli_lock_signals(sigset_t *set);

#endif
