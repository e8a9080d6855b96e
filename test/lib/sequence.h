/* The counter of a path, set as years of locking would, and the version of its data, if they were changed. No request
 * sets them, so the server's log is edited: each create in it carries the counter after it, each change the version. */
#ifndef PDK__TEST_SEQUENCE_H
#define PDK__TEST_SEQUENCE_H

#include "server/throwaway.h"

#include <stdint.h>

/* Set those of PATH, under which a node was created since SERVER was started. It is stopped, and is to be started. */
void sequence_set(const pdk__server *server, const char *path, int32_t created);

#endif
