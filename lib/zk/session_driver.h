/*
 * The session, driven: the steps of lib/core/session.h, the requests and handles that it asks for, and its reports to
 * the members and to the program.
 */
#ifndef PDK__SESSION_DRIVER_H
#define PDK__SESSION_DRIVER_H

#include "lib/zk/client.h"

/* A client is being created, with its options; MOVABLE: it knows several servers. */
void pdk__client_session_init(struct pdk_client *c, bool movable);

/* With the lock: a step of the session machine, and all that follows from it. The files below call it by
 * pdk__client_session(). */
void pdk__client_session_step(struct pdk_client *c, const struct pdk__session_event *event);

/* With the lock: step the session machine with the current time and the handle's state, in case the thread that should
 * have done so is late. */
void pdk__client_refresh(struct pdk_client *c);

/* With the lock: that time. The lock was not released since. */
int64_t pdk__client_refreshed_ms(const struct pdk_client *c);

#endif
