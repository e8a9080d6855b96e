/* The timers' thread: it wakes for timers, and waits for nothing else. It also starts the opener where one is
 * wanted. */
#ifndef PDK__TIMERS_H
#define PDK__TIMERS_H

#include "lib/zk/client.h"

int pdk__timers_start(struct pdk_client *c);
void pdk__timers_stop(struct pdk_client *c); /* without the lock */

#endif
