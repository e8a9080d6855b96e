/*
 * An acquisition: one lock, requested, held and released from a poll() loop; or a leadership, term by term.
 *
 *                      ┌─ again ──┐
 *   CONNECTING ──► WAITING ──► HELD ──► LEAVING ──► ENDED
 *        └────────────┴── leave, or it failed ───────┘
 *
 * pdk__cli_acquisition_step() moves it on when its descriptor is readable or its deadline has come. The owner of the
 * loop compares the phase, and the state of the grant, with those that it saw before. Only
 * pdk__cli_acquisition_close() may block.
 */
#ifndef PDK_CLI_ACQUISITION_H
#define PDK_CLI_ACQUISITION_H

#include "cli/incident.h"
#include "cli/run/phase.h"

/* Start. An acquisition that failed at once is ENDED. */
void pdk__cli_acquisition_begin(struct pdk__cli_acquisition *c, const struct pdk__cli_options *o);

/* The descriptor to poll for reading; -1 when there is none. */
int pdk__cli_acquisition_fd(const struct pdk__cli_acquisition *c);

/* Run the callbacks that wait, and check the deadline. */
void pdk__cli_acquisition_step(struct pdk__cli_acquisition *c);

/* Give up, or release. The acquisition becomes ENDED, at once or later. */
void pdk__cli_acquisition_leave(struct pdk__cli_acquisition *c);

/* Of a leadership: the term is over for its owner, too. Give up the rest of it, and after PAUSE_MS become a candidate
 * again. */
void pdk__cli_acquisition_again(struct pdk__cli_acquisition *c, int64_t pause_ms);

/* The token and the node's name of the grant that is HELD. */
void pdk__cli_acquisition_grant(const struct pdk__cli_acquisition *c, int64_t *token, char *node, size_t size);

/* For how long the grant may be believed in. */
int64_t pdk__cli_acquisition_valid_ms(const struct pdk__cli_acquisition *c);

/* End the session. Blocks while the servers are notified, at most some seconds when they do not answer. */
void pdk__cli_acquisition_close(struct pdk__cli_acquisition *c);

/* The exit status for an acquisition that ended. When it is not 0, TEXT is the reason, or empty when no message is
 * needed. */
int pdk__cli_acquisition_status(const struct pdk__cli_acquisition *c, char text[PDK__CLI_INCIDENT]);

#endif
