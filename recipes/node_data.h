/*
 * The data of the nodes that a recipe creates: the program's own, or the identity of the thread that asks.
 */
#ifndef PDK__NODE_DATA_H
#define PDK__NODE_DATA_H

#include "lib/zk/client.h"
#include "recipes/lock_options.h"

/* With the client's lock: the data for a node that the calling thread asks for; the caller's, to be freed. NULL when
 * memory is out. LIMIT: the permits of a semaphore, else 0. The client keeps the usual identity: the host's name is the
 * one at its first request. */
char *pdk__node_data_make(const pdk_lock_options *options, unsigned limit, struct pdk_client *c, size_t *size);

#endif
