/*
 * A follower of Curator's SharedCount: a node whose data are a 32-bit number, the most significant byte first. It is a
 * member of its client. It reads the node and watches it, and reads again at each change, at each new connection and,
 * after a request that failed, after a rest. While the node is missing it waits for its creation.
 */
#ifndef PDK__COUNT_H
#define PDK__COUNT_H

#include "lib/zk/client.h"

struct pdk__count;

/* With the client's lock, outside of every step: the number that was read. */
typedef void pdk__count_cb(int32_t number, void *arg);

/* All with the client's lock held. */

/* Follow the node at PATH. The caller frees it with pdk__count_free(). PDK_ENOMEM, and as pdk__member_may_join(). */
int pdk__count_new(struct pdk__count **out, struct pdk_client *c, const char *path, pdk__count_cb *cb, void *arg);

/* Has an answer come to the first look? The client's `changed` is signalled when it comes. */
bool pdk__count_looked(const struct pdk__count *count);

/* CB is not called any more. NULL is allowed. */
void pdk__count_free(struct pdk__count *count);

#endif
