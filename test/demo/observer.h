/*
 * The locks' nodes as the servers have them, read without our library by a client of ZooKeeper's.
 *
 * An error fails the test.
 */
#ifndef DEMO_OBSERVER_H
#define DEMO_OBSERVER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Query HOSTS from now on. */
void observer_begin(const char *hosts);
void observer_end(void);

/* How many contenders' nodes there are. */
int observer_count(const char *path);

/* Stamp GONE_NS (0 until then) when the node of PATH's only contender is deleted; at once when there is none. */
void observer_watch(const char *path, _Atomic int64_t *gone_ns);

#endif
