/* The callback of a verb that has nothing to wait for. */
#ifndef PDK__LATE_H
#define PDK__LATE_H

#include "lib/zk/client.h"
#include "paddock/lock.h"

/* Call CB with 0, on the thread of callbacks. With the client's lock held. PDK_ENOMEM. */
int pdk__late_success(struct pdk_client *c, pdk_lock_cb cb, void *arg);

#endif
