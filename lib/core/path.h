/* Paths that can carry a lock, by the rules of ZooKeeper's servers (PathUtils) as far as they concern us. */
#ifndef PDK__PATH_H
#define PDK__PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Long enough for every program, and far from jute.maxbuffer, beyond which a server drops the connection. */
enum { PDK__PATH_MAX = 4096 };

/* Absolute, below the root, no empty, "." or ".." part, no trailing slash, no control characters. An invalid path
 * inside a multi aborts the process in ZooKeeper's client, so none gets that far. */
bool pdk__path_valid(const char *path);

/* The length of the next ancestor of PATH that is longer than LENGTH; the whole length for PATH itself; 0 when there is
 * none. Start with 0. "/a/b": 2, 4, 0. */
size_t pdk__path_next(const char *path, size_t length);

#endif
