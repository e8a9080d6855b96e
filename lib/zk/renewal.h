/* Requests for the session alone: to prove that it lives (lib/core/chain.h). With the lock. */
#ifndef PDK__RENEWAL_H
#define PDK__RENEWAL_H

#include "lib/zk/client.h"

/* A write that changes nothing; a sync; and a read. */
void pdk__renewal_write(struct pdk_client *c);
void pdk__renewal_sync(struct pdk_client *c);
void pdk__renewal_read(struct pdk_client *c);

#endif
