/*
 * Our own allocations, all of them: a test can make the i-th fail. ZooKeeper's client and jansson keep theirs (the
 * client does not survive a failed malloc, and we cannot change that from here).
 */
#ifndef PDK__ALLOC_H
#define PDK__ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory, or NULL. Freed with pdk__free. */
void *pdk__alloc(size_t size);
void *pdk__memdup(const void *data, size_t size); /* with a NUL after it */
char *pdk__strdup(const char *text);
char *pdk__join(const char *path, const char *name); /* "path/name" */
void pdk__free(void *memory);

/* For tests: asked before each allocation, from any thread; false makes it fail. NULL, the default, allows all. */
typedef bool pdk__alloc_gate(size_t size);
void pdk__alloc_set_gate(pdk__alloc_gate *gate);

#endif
