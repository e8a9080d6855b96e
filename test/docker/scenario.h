/*
 * The parts of the fault tests: a lock path, workers that contend for it, and looks at both sides, the holder's belief
 * and the servers' nodes.
 */
#ifndef PDK__TEST_SCENARIO_H
#define PDK__TEST_SCENARIO_H

#include "test/docker/servers.h"
#include "test/docker/workers.h"
#include "test/lib/check.h"

/* A limit that is only spent when something is wrong. */
enum { SOON_MS = 60000 };

/* A path that no test has used, no workers, and an ensemble that is whole again. */
void scenario_begin(void);

/* How many contenders the servers have. */
size_t scenario_nodes(void);

/* A new worker whose session is with the server of that name, or is not. */
int scenario_hire_at(const char *server, bool at, int session_ms);

/* A new worker that knows no other server. */
int scenario_hire_only_at(const char *server, int session_ms);

/* Let a worker wait, as the last of the queue; its node exists when this returns. Returns the worker. */
int scenario_queue_up(int who);

/* The grant that the worker has, or will soon have: the servers must agree that it is first. */
struct record scenario_granted(int who);

struct record scenario_lock(int who);
void scenario_unlock(int who);

/* The worker has lost its server, and has one again. */
void scenario_reconnected(int who);

/* The worker has left SERVER for another. It may have been so quick that no change was reported to it. */
void scenario_moved(int who, const char *server);

/* GRANT is still valid, for its holder and for the servers, and none of N others has got one. */
void scenario_still_holds(int who, const struct record *grant, const int *others, size_t n);

/* The queue is served in its order, to its end. */
void scenario_serve(const int *queue, size_t n);

/* N new workers contend, over and over, and each has been served several times. At the end each is served several times
 * more, and they stop. None was refused a round, nor notified that the lock was lost. */
void scenario_contend(int n, int session_ms);
void scenario_contended(int n);

/* After all this the lock can be used again, and was never held twice. */
void scenario_finish(int who);

#endif
