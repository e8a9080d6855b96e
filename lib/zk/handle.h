/*
 * ZooKeeper's handle: opening it, adopting the application's, closing it; and the watchers that get its events. The
 * watchers only translate: an event becomes one of the session machine, or of the client's members.
 */
#ifndef PDK__HANDLE_H
#define PDK__HANDLE_H

#include "lib/zk/client.h"

/* An open handle belongs to the client once it was taken, with the lock. Where open fails, there may be one to
 * close. */
int pdk__handle_open(struct pdk_client *c, zhandle_t **zh);
void pdk__handle_take(struct pdk_client *c, zhandle_t *zh);
void pdk__handle_close(struct pdk_client *c);

/* Close a handle that was not taken, without the lock. */
void pdk__handle_end(struct pdk_client *c, zhandle_t *zh);

/* With the lock: an authentication that the servers refused, if the handle has not reported it. True while that must be
 * looked for. */
bool pdk__handle_look(struct pdk_client *c);

/* The client is not closing. */
bool pdk__handle_wanted(struct pdk_client *c);

int pdk__handle_adopt(struct pdk_client *c, zhandle_t *zh);
void pdk__handle_release(struct pdk_client *c); /* with the lock */

/* The watcher of every node that a member watches. Its context is the client's number in the registry. */
void pdk__handle_watch_nodes(zhandle_t *zh, int type, int state, const char *path, void *id);

#endif
