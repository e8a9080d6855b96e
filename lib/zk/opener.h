/*
 * A thread that replaces the handle, or closes it, and ends. Host names are resolved in zookeeper_init, and by the
 * handle's own thread before each attempt to connect, for which zookeeper_close waits: both can take longer than any
 * timer, deadline or close may. The thread holds the client by a reference, so that it can outlive the client's close.
 */
#ifndef PDK__OPENER_H
#define PDK__OPENER_H

#include "lib/zk/client.h"

/* With the lock, and no other opener may be under way: replace the handle; in a client that is closing, only close
 * it. */
void pdk__opener_start(struct pdk_client *c);

/* With the lock: wait for the opener, for MS at most. */
void pdk__opener_await(struct pdk_client *c, int64_t ms);

/* With the lock: join the opener, if it has done its work. */
void pdk__opener_join(struct pdk_client *c);

/* Without the lock, in a client that is closing: free the opener's resources, now or when it ends. */
void pdk__opener_leave(struct pdk_client *c);

#endif
