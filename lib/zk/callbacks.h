/*
 * The user's callbacks, one at a time and with no lock held: on a thread that does nothing else, or where the program
 * dispatches them. So a callback that takes long delays neither a timer nor a new handle.
 */
#ifndef PDK__CALLBACKS_H
#define PDK__CALLBACKS_H

#include "lib/zk/client.h"

/* Start the thread, or make the descriptor of a program that dispatches. Where there is a thread, stop runs the
 * callbacks that still wait. Both without the lock. */
int pdk__callbacks_start(struct pdk_client *c);
void pdk__callbacks_stop(struct pdk_client *c);

/* With the lock: queue NOTICE, if it is not queued already. */
void pdk__client_queue_callback(struct pdk_client *c, struct pdk__callback *callback);

/* With the lock, which is released around each callback: run the callbacks that wait. Returns how many. A second caller
 * leaves them to the first. */
int pdk__callbacks_run(struct pdk_client *c);

#endif
