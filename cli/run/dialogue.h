/*
 * `paddock hold --json`: requests of a program on standard input, events on standard output, one JSON object in a line;
 * many locks over one session. doc/hold-json.md is the protocol.
 *
 * One thread and one poll() loop. The library's own threads renew the session, so no reader of the events can delay
 * that.
 */
#ifndef PDK_CLI_DIALOGUE_H
#define PDK_CLI_DIALOGUE_H

#include "cli/options.h"

/* Until standard input ends or a signal comes. O has the ensemble, and its path is requested at the start if it has
 * one. Returns the exit status, already explained. */
int pdk__cli_dialogue_run(struct pdk__cli_options *o);

#endif
