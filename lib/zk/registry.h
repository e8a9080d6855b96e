/* Clients by the number that watchers are given: a watcher may be called after its client has ended. */
#ifndef PDK__REGISTRY_H
#define PDK__REGISTRY_H

#include "lib/zk/client.h"

/* PDK_EBUSY: the handle is adopted already. */
int pdk__registry_add(struct pdk_client *c);
void pdk__registry_remove(struct pdk_client *c);

/* The result is counted, and must be released; or NULL. */
struct pdk_client *pdk__registry_find(uintptr_t id);
struct pdk_client *pdk__registry_find_handle(const zhandle_t *zh);

#endif
