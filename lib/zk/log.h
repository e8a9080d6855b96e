/*
 * The log, inside: lines of the library and of ZooKeeper's client wait in a ring until the thread of the callbacks
 * takes them.
 *
 * ZooKeeper's client writes a line at any point: on its own threads, or inside a call of ours that holds the client's
 * lock. So the ring has a lock of its own, a leaf: no other lock is taken inside it, and writing a line never needs the
 * client's lock.
 */
#ifndef PDK__LOG_H
#define PDK__LOG_H

#include "paddock/log.h"
#include <stdbool.h>
#include <zookeeper/zookeeper.h>

/* Write a line, if the program listens to LEVEL. Any thread, with the client's lock or without. */
void pdk__log(struct pdk_client *c, pdk_log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Does the program listen to LEVEL? */
bool pdk__log_wants(const struct pdk_client *c, pdk_log_level level);

/* A client begins, and ends, to have a log. PDK_ENOMEM. */
int pdk__log_begin(struct pdk_client *c);
void pdk__log_end(struct pdk_client *c);

/* From now on a line wakes the client's thread; or no longer does, because the descriptor is about to be closed. */
void pdk__log_wake(struct pdk_client *c, bool wake);

/* Queue the callback, if there are lines: with the client's lock; or, for the last of them, without. */
void pdk__log_turn(struct pdk_client *c);
void pdk__log_flush(struct pdk_client *c);

/* The function to which ZooKeeper's client passes its lines. */
log_callback_fn pdk__log_zookeeper(struct pdk_client *c);

/* The last message of ZooKeeper's client about a connection that it lost or could not make, as "connection refused by
 * 127.0.0.1:2181" or "TLS with 127.0.0.1:2281: certificate has expired"; "" when there was none since the last
 * connection. */
void pdk__log_trouble(struct pdk_client *c, char *buf, size_t size);

/* Set it. SECURE: TLS is the reason. Is it new? */
bool pdk__log_set_trouble(struct pdk_client *c, const char *text, bool secure);

/* Is TLS the reason for it? */
bool pdk__log_trouble_secure(struct pdk_client *c);
void pdk__log_forget_trouble(struct pdk_client *c);

#endif
