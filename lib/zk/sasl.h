/* SASL of ZooKeeper's client. It calls the functions that give user and password at each connection, on its own
 * thread. */
#ifndef PDK__SASL_H
#define PDK__SASL_H

#include "lib/zk/client.h"

/* As zookeeper_init2(). */
zhandle_t *pdk__sasl_open(struct pdk_client *c, const char *hosts, watcher_fn watcher);

/* The handle is closed: overwrite the password. */
void pdk__sasl_closed(struct pdk_client *c);

#endif
