/*
 * The data of the nodes that a recipe creates: the program's own, or the identity of the thread that asks.
 */
#ifndef PDK__NODE_DATA_H
#define PDK__NODE_DATA_H

#include "lib/core/contender.h"
#include "lib/zk/client.h"
#include <stddef.h>

/* Options of a recipe: how its nodes are made, and when it is granted. */
struct pdk__node_options {
    void *data; /* owned; NULL: an identity */
    size_t data_size;
    struct pdk__conditions conditions;
    unsigned handover_budget; /* how often a grant is handed on to a thread of this process; 0: never */
    int idle_hold_ms;         /* how long a grant stays without an owner; 0: it does not */
    bool unlock_nowait;       /* an unlock that waits sends the delete, and does not await its answer */
    bool unmixed;             /* a request fails beside contenders of another recipe */
    unsigned limit;           /* the permits of a semaphore, for the identity; 0: it is none */
};

/* Set the data: a copy. PDK_EINVAL, PDK_ENOMEM. */
int pdk__node_data_set(struct pdk__node_options *options, const void *data, size_t size);

/* PDK_EINVAL: negative, or more than a day. */
int pdk__node_idle_hold_set(struct pdk__node_options *options, int idle_ms);

/* With the client's lock: the data for a node that the calling thread asks for; the caller's, to be freed. NULL when
 * memory is out. The client keeps the usual identity: the host's name is the one at its first request. */
char *pdk__node_data_make(const struct pdk__node_options *options, struct pdk_client *c, size_t *size);

#endif
