/*
 * The reset of a path whose sequence numbers are near their end: one transaction deletes it and makes it again, with
 * the same permissions and data, and it counts from 0. No contender can be hurt. Where one has come, the servers refuse
 * the delete, and with it the whole.
 *
 * The data may be a holder record (record.h), whose versions begin again with the path. A late clear of an old record
 * must not meet the version of a new one: it would be cleared, and its successor not delayed. So a record that has been
 * written a few times only is kept, and with it the path. One that was written often will not be as often within the
 * life of a session. A path with more data than half of what a packet may carry is kept, too.
 *
 * The new path is no container, because one in a transaction aborts the process (an assertion of ZooKeeper's client).
 * Both operations have one path string: a handle that ends in the call frees what differs from the first (batch.h).
 */
#ifndef PDK__RESET_H
#define PDK__RESET_H

#include "lib/zk/client.h"

/* So often a holder record was written if it may be made anew: two writes a grant. */
enum { PDK__RESET_RECORDS_MIN = 1 << 17 };

/* The caller deletes its own node right after this. With the client's lock. No caller waits for the answer; without
 * memory nothing happens. The servers answer requests in their order: the path is read before the node goes, and
 * the transaction is sent before the caller hears of its own delete. So a process that ends then has sent it. */
void pdk__reset_path(struct pdk_client *c, const char *path);

#endif
