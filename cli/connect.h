/* A session for a sub-command that makes a request and waits for the answer. */
#ifndef PDK_CLI_CONNECT_H
#define PDK_CLI_CONNECT_H

#include "cli/options.h"

/* Create a client and wait until it is connected. *C is the caller's, to be freed, also when this fails. */
int pdk__cli_connect(const struct pdk__cli_options *o, pdk_client **c);

/* Explain why something failed with RC (C may be NULL). Returns the exit status. */
int pdk__cli_report_failure(const struct pdk__cli_options *o, pdk_client *c, int rc);

#endif
