/*
 * The truth as the servers have it, past our library: a bare client of theirs that looks at the nodes of locks.
 *
 * What cannot be done fails the test.
 */
#ifndef SHOW_OBSERVER_H
#define SHOW_OBSERVER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Ask HOSTS from now on. */
void observer_begin(const char *hosts);
void observer_end(void);

/* How many contenders' nodes there are. */
int observer_count(const char *path);

/* Stamp GONE_NS (0 until then) when the node of the one contender of PATH is gone; at once when there is none. */
void observer_watch(const char *path, _Atomic int64_t *gone_ns);

#endif
