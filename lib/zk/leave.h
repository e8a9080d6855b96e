/* Leaving a server that is silent, in the same session. */
#ifndef PDK__LEAVE_H
#define PDK__LEAVE_H

#include "lib/zk/client.h"

/* With the lock: break the connection of a handle of ours, if its socket is known for sure. */
void pdk__leave(struct pdk_client *c);

#endif
