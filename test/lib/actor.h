/*
 * Actors for stories about one lock. An actor is a client with one mutex; it records the states it is notified of. The
 * observer reads the same path through ZooKeeper's own client, without proxies and without code of ours.
 */
#ifndef PDK__TEST_ACTOR_H
#define PDK__TEST_ACTOR_H

#include "test/lib/ensemble.h"
#include <paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <zookeeper/zookeeper.h>

/* Only a failing test waits this long. */
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

/* The actor is connected when this returns; it does not lock yet. */
void pdk__actor_open(pdk__actor *a, const char *hosts, int session_ms, const char *path);

/* May be called twice, and after an open that failed half-way. */
void pdk__actor_close(pdk__actor *a);

/* Begin to lock in the background, by pdk_mutex_lock_async(). Then wait for the outcome. */
void pdk__actor_queue(pdk__actor *a, int64_t timeout_ms);
int pdk__actor_outcome(pdk__actor *a);

/* Was the actor notified of STATE? When first (-1: never)? */
int64_t pdk__actor_told_ms(pdk__actor *a, pdk_state state);

/* The states it was notified of, as "suspect lost"; in BUF. */
const char *pdk__actor_story(pdk__actor *a, char *buf, size_t size);

/* End the actor's session on the servers now. The actor, connected through PROXY, learns of it when it reconnects. */
void pdk__actor_kill_session(pdk__actor *a, pdk__proxy *proxy, const pdk__server *server);

/* --- the observer ------------------------------------------------------------------------------------------------ */

/* A handle on server I, without a proxy. */
zhandle_t *pdk__observe(pdk__ensemble *e, int i);

/* The observer's reads after this call see everything that was committed before it. */
void pdk__observe_sync(zhandle_t *zh, const char *path);

/* The number of nodes under PATH; only those that SESSION owns, unless it is 0. */
int pdk__observe_nodes(zhandle_t *zh, const char *path, int64_t session);

/* The name of the node under PATH with the lowest sequence number, and its Stat; false when there is none. */
bool pdk__observe_first(zhandle_t *zh, const char *path, char name[128], struct Stat *stat);

/* Delete NAME under PATH, whichever session owns it. */
void pdk__observe_delete(zhandle_t *zh, const char *path, const char *name);

/* Check what must be true while A holds: its node is the first, its present session owns it and owns no other node, and
 * the token is the node's czxid. Returns the token. */
int64_t pdk__check_grant(pdk__actor *a, zhandle_t *zh);

#endif
