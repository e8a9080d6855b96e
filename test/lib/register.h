/*
 * The register of a run: a node that only holders write, each write in a transaction with pdk_lock_guard(). ZooKeeper
 * numbers the writes: the answer has the version that a write made. test/porcupine judges them.
 *
 * A client has one write in flight at most, and does not wait for its answer.
 */
#ifndef PDK__TEST_REGISTER_H
#define PDK__TEST_REGISTER_H

#include "test/lib/history.h"
#include <paddock.h>

struct zoo_op;

/* Fill OP with the guard of the grant at hand, as pdk_lock_guard(). */
typedef int register_guard(struct zoo_op *op);

void register_begin(struct history *h, pdk_client *c, register_guard *guard);

/* Has it been created? */
bool register_exists(void);

/* Create the node, unless it is known to exist. For the session callback, when the client is connected. */
void register_create(pdk_client *c);

/* Write under the grant TOKEN of the request of that number, unless a write under the same grant is in flight. */
void register_write(int request, int64_t token);

/* The token of the grant that wrote last; 0: none. */
int64_t register_token(void);

/* The same after the end of the grant, by the guard that it had: the servers must refuse it. */
void register_write_late(int request, int64_t token);

#endif
