/* Who holds a lock and where we stand in its queue, in a line that is sent again every other second. */
#ifndef PDK_CLI_QUEUE_H
#define PDK_CLI_QUEUE_H

#include <paddock/client.h>

struct pdk__cli_queue;

/* Start to look, from a thread of its own since looking blocks; lines go to WIRE as NOTE_QUEUE. NULL when there is no
 * thread to be had: the wait goes on without. */
struct pdk__cli_queue *pdk__cli_queue_watch(pdk_client *c, const char *path, int wire);

/* No more lines, please; does not block. */
void pdk__cli_queue_rest(struct pdk__cli_queue *q);

/* Wait for the thread's end: after pdk_client_close(), before pdk_client_free(). NULL is allowed, here and above. */
void pdk__cli_queue_free(struct pdk__cli_queue *q);

#endif
