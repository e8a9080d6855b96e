/*
 * Actors for stories about one lock: each a client of its own with one mutex, that remembers what it was told; and an
 * observer, who looks at the same path by ZooKeeper's own client, past all proxies and all code of ours.
 */
#ifndef PDK__TEST_ACTOR_H
#define PDK__TEST_ACTOR_H

#include "test/lib/ensemble.h"
#include <paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <zookeeper/zookeeper.h>

/* Nothing here takes long; only a test that fails waits for so long. */
enum { PDK__ACTOR_LIMIT_MS = 60000 };

/* The result of a lock that is still pending. */
enum { PDK__PENDING = 1 };

enum { PDK__TOLD_MAX = 16 };

typedef struct pdk__actor {
    pdk_client *client;
    pdk_mutex *mutex;
    char path[64];
    pthread_mutex_t guard;
    int n_told;
    pdk_state told[PDK__TOLD_MAX]; /* by the state callback, in order */
    int64_t told_ms[PDK__TOLD_MAX];
    pdk_op *op;
    _Atomic int rc; /* of the last pdk__actor_queue() */
    _Atomic int n_answers;
    _Atomic int64_t answered_ms;
} pdk__actor;

/* Connected, not yet locking. */
void pdk__actor_open(pdk__actor *a, const char *hosts, int session_ms, const char *path);

/* Safe after a failure half-way, and twice. */
void pdk__actor_close(pdk__actor *a);

/* Begin to lock, in the background, by pdk_mutex_lock_async(); and wait until there is an outcome. */
void pdk__actor_queue(pdk__actor *a, int64_t timeout_ms);
int pdk__actor_outcome(pdk__actor *a);

/* Has the actor been told STATE? When it was first (-1: never)? */
int64_t pdk__actor_told_ms(pdk__actor *a, pdk_state state);

/* What it was told, as "suspect lost"; in BUF. */
const char *pdk__actor_story(pdk__actor *a, char *buf, size_t size);

/* End the actor's session at once, on the servers; the actor, behind PROXY, hears of it when it reconnects. */
void pdk__actor_kill_session(pdk__actor *a, pdk__proxy *proxy, const pdk__server *server);

/* --- the observer ------------------------------------------------------------------------------------------------ */

/* A handle on server I, without a proxy. */
zhandle_t *pdk__observe(pdk__ensemble *e, int i);

/* Nothing committed before this call is missed by what the observer looks at next. */
void pdk__observe_sync(zhandle_t *zh, const char *path);

/* How many nodes are under PATH; of SESSION, unless it is 0, by their owner. */
int pdk__observe_nodes(zhandle_t *zh, const char *path, int64_t session);

/* The name of the node under PATH with the lowest sequence number, and its Stat; false when there is none. */
bool pdk__observe_first(zhandle_t *zh, const char *path, char name[128], struct Stat *stat);

/* Delete NAME under PATH, whoever owns it. */
void pdk__observe_delete(zhandle_t *zh, const char *path, const char *name);

/* Check all that must be so while A holds: its node is the first, is owned by its session of now, is the session's only
 * one, and its czxid is the token. Returns the token. */
int64_t pdk__check_grant(pdk__actor *a, zhandle_t *zh);

#endif
