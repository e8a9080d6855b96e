/* Requests for the session alone: to prove that it lives (lib/core/chain.h). With the lock. */
#ifndef PDK__PROOF_H
#define PDK__PROOF_H

#include "lib/zk/client.h"

/* A write that changes nothing, or a sync; and a read. */
void pdk__proof_probe(struct pdk_client *c);
void pdk__proof_touch(struct pdk_client *c);

#endif
