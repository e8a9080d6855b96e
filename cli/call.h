/* A blocking call of the library that a signal can end: it runs on a thread, which the signal cancels. */
#ifndef PDK_CLI_CALL_H
#define PDK_CLI_CALL_H

#include <stdbool.h>

/* Block the signals that end a command, and SIGCHLD, from here on. Returns a descriptor that reads them, or -1. */
int pdk__cli_call_signals(void);

/* Read one signal from FD. BY_TERMINAL: the whole process group got it. 0: there was none. */
int pdk__cli_call_read(int fd, bool *by_terminal);

/* Run CALL with ARG until it returns, or a signal comes on FD: then *SIGNAL is its number, and the call is over.
 * Returns the result of CALL. */
int pdk__cli_call_run(int fd, int (*call)(void *arg), void *arg, int *signal);

#endif
