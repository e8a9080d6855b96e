/*
 * The patrol: what the members watch is looked at again, one member after another.
 *
 * Servers from 3.8.4 and 3.9.2 on (and Debian's 3.8.0) send no event of a node that the session may not READ at that
 * moment (CVE-2024-23944), and the watch, which reports once, is spent. A client whose permission was taken and given
 * back would wait for good. So each member looks again once in a session timeout, also if its watch has not reported.
 * Of a client with more than PDK__PATROL_MAX members, so many do in that time, in turn.
 */
#ifndef PDK__PATROL_H
#define PDK__PATROL_H

#include "lib/zk/client.h"

enum { PDK__PATROL_MAX = 32 };

/* With the client's lock. A member has joined: its turn comes, after those of the others. */
void pdk__patrol_join(struct pdk_client *c);

/* The session has changed: there are no looks, and no timer for them, while no server is connected. */
void pdk__patrol_arm(struct pdk_client *c);

/* Time has passed. */
void pdk__patrol_tick(struct pdk_client *c);

#endif
