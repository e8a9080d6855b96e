/*
 * Creating a client, on a thread of its own: pdk_client_new() resolves host names, and a resolver may hang for longer
 * than the caller's timeout.
 */
#ifndef PDK_CLI_OPENER_H
#define PDK_CLI_OPENER_H

#include "cli/options.h"

struct pdk__cli_opener;

/* Start. NULL when no thread can be created. O is read at once. An opener that is not taken is left to the thread
 * that hangs. */
struct pdk__cli_opener *pdk__cli_opener_begin(const struct pdk__cli_options *o);

/* Readable from its end until it is taken. */
int pdk__cli_opener_fd(const struct pdk__cli_opener *opener);

enum { PDK__CLI_WHY = 256 };

/* Take its result: true when it is done, with *RC the result of pdk_client_new(), and the reason of a failure of TLS in
 * WHY, else "". OPENER is freed then. */
bool pdk__cli_opener_take(struct pdk__cli_opener *opener, int *rc, pdk_client **c, char why[PDK__CLI_WHY]);

#endif
