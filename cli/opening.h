/*
 * Creating a client, on a thread of its own: pdk_client_new() resolves host names, and a resolver may hang for longer
 * than the caller's timeout.
 */
#ifndef PDK_CLI_OPENING_H
#define PDK_CLI_OPENING_H

#include "cli/options.h"

struct pdk__cli_opening;

/* Start. NULL when no thread can be created. O is read at once. An opening that is not taken is left to the thread
 * that hangs. */
struct pdk__cli_opening *pdk__cli_opening_begin(const struct pdk__cli_options *o);

/* Readable from its end until it is taken. */
int pdk__cli_opening_fd(const struct pdk__cli_opening *opening);

/* Take its result: true when it is done, with *RC the result of pdk_client_new(). OPENING is freed then. */
bool pdk__cli_opening_take(struct pdk__cli_opening *opening, int *rc, pdk_client **c);

#endif
