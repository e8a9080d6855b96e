/* A session for a sub-command that makes a request and waits for the answer. */
#ifndef PDK_CLI_CONNECT_H
#define PDK_CLI_CONNECT_H

#include "cli/options.h"

/* Create a client and wait until it is connected. *C is the caller's, to be freed, also when this fails. */
int pdk__cli_connect(const struct pdk__cli_options *o, pdk_client **c);

/* The same, for a program that dispatches the callbacks itself from then on. */
int pdk__cli_connect_dispatched(const struct pdk__cli_options *o, pdk_client **c);

/* Before pdk__cli_connect(): if O is verbose, each outage is told while the client is there, as for a lock's queue. */
void pdk__cli_connect_tell(const struct pdk__cli_options *o);

/* Why C, which may be NULL, has no session after so long: "no server answered within 5 s (last: connection refused by
 * 127.0.0.1:2181)". Its last call on this thread was a pdk_client_wait() that timed out. */
void pdk__cli_unanswered(pdk_client *c, int64_t ms, char *why, size_t size);

/* Explain why something failed with RC (C may be NULL). Returns the exit status. */
int pdk__cli_report_failure(const struct pdk__cli_options *o, pdk_client *c, int rc);

#endif
