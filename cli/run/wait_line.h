/* A line about the holder of a lock and our place in its queue, less often the longer the wait is; or that no server
 * answers, within a second. */
#ifndef PDK_CLI_WAIT_LINE_H
#define PDK_CLI_WAIT_LINE_H

#include "cli/options.h"

struct pdk__cli_wait_line;

/* Start to look, from a thread of its own because looking blocks. Lines go to CHANNEL as NOTE_QUEUE; with -1 they are
 * printed, if O is verbose. A holder with other rules than O causes a warning. NULL when no thread can be created:
 * the wait goes on without lines. */
struct pdk__cli_wait_line *pdk__cli_wait_line_watch(pdk_client *c, const struct pdk__cli_options *o, int channel);

/* Stop the lines; does not block. And go on with them, for another wait. */
void pdk__cli_wait_line_stop(struct pdk__cli_wait_line *q);
void pdk__cli_wait_line_again(struct pdk__cli_wait_line *q);

/* Wait for the thread's end: after pdk_client_close(), before pdk_client_free(). NULL is allowed, here and in both
 * above. */
void pdk__cli_wait_line_free(struct pdk__cli_wait_line *q);

#endif
