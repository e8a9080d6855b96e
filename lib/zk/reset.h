/*
 * The reset of a path whose sequence numbers are near their end: one transaction deletes it and makes it again, with the
 * same permissions, and it counts from 0. No contender can be hurt. Where one has come, the servers refuse the delete,
 * and with it the whole.
 *
 * A path with data is kept: they may be a holder record, whose versions must not repeat. The new path is no container,
 * because one in a transaction aborts the process (an assertion of ZooKeeper's client). Both operations have one path
 * string: a handle that ends in the call frees what differs from the first (batch.h).
 */
#ifndef PDK__RESET_H
#define PDK__RESET_H

#include "lib/zk/client.h"

/* The caller deletes its own node right after this. With the client's lock. No caller waits for the answer; without
 * memory nothing happens. The servers answer requests in their order: the path is looked at before the node goes, and
 * the transaction is sent before the caller hears of its own delete. So a process that ends then has sent it. */
void pdk__reset_path(struct pdk_client *c, const char *path);

#endif
