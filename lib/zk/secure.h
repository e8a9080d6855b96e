/* Handles with TLS or SASL: opened, checked and closed, whichever it is. */
#ifndef PDK__SECURE_H
#define PDK__SECURE_H

#include "lib/zk/client.h"

/* Does the client want either? */
bool pdk__secure_wanted(const struct pdk_client *c);

/* Can it be had? 0 or why not; then pdk__log_trouble() tells more. */
int pdk__secure_check(struct pdk_client *c);

/* As zookeeper_init2(). */
zhandle_t *pdk__secure_open(struct pdk_client *c, const char *hosts, watcher_fn watcher);

/* Was the server checked that the handle is connected to? */
bool pdk__secure_checked(struct pdk_client *c);

/* Before and after its close. */
void pdk__secure_closing(struct pdk_client *c);
void pdk__secure_closed(struct pdk_client *c);

#endif
