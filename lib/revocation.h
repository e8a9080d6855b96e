/*
 * A revocation: a request to a contender to release the lock, by a word in the data of its node. Curator's Revoker
 * writes the word alone, over the identity of the node's owner. The word with the previous data after it, "__REVOKE__
 * {"host":…}", asks the same of our contenders and keeps their identity. Curator's contenders read only their own
 * nodes, and compare the data with the word alone.
 */
#ifndef PDK__REVOCATION_H
#define PDK__REVOCATION_H

#include <stdbool.h>
#include <stddef.h>

#define PDK__REVOKE "__REVOKE__"

/* The word alone. */
bool pdk__revocation_bare(const char *data, size_t size);

/* The word, alone or before data. */
bool pdk__revocation_asks(const char *data, size_t size);

/* How many bytes of DATA are the request, and not the node's own: 0 without a request. */
size_t pdk__revocation_prefix(const char *data, size_t size);

/* The word, then DATA, *TOTAL bytes; the word alone when DATA is empty. Caller frees with pdk__free. NULL when
 * memory is out. */
char *pdk__revocation_with(const char *data, size_t size, size_t *total);

#endif
