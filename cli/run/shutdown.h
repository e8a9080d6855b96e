/* From the moment when the lock is no longer needed to the end of the program: the servers may be unreachable then. */
#ifndef PDK_CLI_SHUTDOWN_H
#define PDK_CLI_SHUTDOWN_H

#include "cli/run/runner.h"

/* Tell the session that the lock is no longer needed. */
void pdk__cli_shutdown_begin(struct pdk__cli_runner *r);

/* A signal came meanwhile; FROM_TERMINAL: typed there. */
void pdk__cli_shutdown_hurry(struct pdk__cli_runner *r, bool from_terminal);

/* Do what is due: report the wait, and end it. */
void pdk__cli_shutdown_step(struct pdk__cli_runner *r);

/* When a step is next of use; -1: never. */
int64_t pdk__cli_shutdown_due(const struct pdk__cli_runner *r);

#endif
