/*
 * Strays at work for a client: lib/core/stray.h decides, here its actions become requests. All with the client's lock
 * held.
 */
#ifndef PDK__ZK_STRAY_H
#define PDK__ZK_STRAY_H

#include "lib/zk/client.h"

struct pdk__stray_entry;

/* Memory for a stray under PATH, reserved before the create is sent, so that keeping a stray cannot fail. NULL when
 * memory is out. The caller frees it with pdk__free(), or passes it to pdk__stray_keep(). */
struct pdk__stray_entry *pdk__stray_reserve(const char *path);

/* The create of ATTEMPT in the current session left no node. Takes ENTRY. */
void pdk__stray_keep(struct pdk_client *c, struct pdk__stray_entry *entry, uint32_t attempt);

/* A request of the client has listed PATH. */
void pdk__stray_listed(struct pdk_client *c, const char *path, const char *const *children, size_t n);

/* A client begins, and ends, to have strays. PDK_ENOMEM. The end comes without the lock, and with no request in
 * flight. */
int pdk__strays_begin(struct pdk_client *c);
void pdk__strays_end(struct pdk_client *c);

/* The client leaves its session, which goes on: forget all strays. Returns whether one of them is younger than the
 * session timeout, so that a node may yet appear. */
bool pdk__strays_leave(struct pdk_client *c);

#endif
