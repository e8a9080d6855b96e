/*
 * Recorders for stories about one lock. A recorder is a client with one mutex; it records the states it is notified of.
 * The observer reads the same path through ZooKeeper's own client, without proxies and without code of ours.
 */
#ifndef PDK__TEST_RECORDER_H
#define PDK__TEST_RECORDER_H

#include "test/lib/fixture.h"
#include <paddock.h>
#include <pthread.h>
#include <stdatomic.h>
#include <zookeeper/zookeeper.h>

/* The result of a lock that is still pending. */
enum { PDK__PENDING = 1 };

enum { PDK__TOLD_MAX = 16 };

struct recorder {
    pdk_client *client;
    pdk_mutex *mutex;
    char path[64];
    pthread_mutex_t guard;
    int n_told;
    pdk_state told[PDK__TOLD_MAX]; /* by the state callback, in order */
    int64_t told_ms[PDK__TOLD_MAX];
    pdk_grant *grant;
    _Atomic int rc; /* of the last recorder_queue() */
    _Atomic int n_answers;
    _Atomic int64_t answered_ms;
};

/* The recorder is connected when this returns; it does not lock yet. */
void recorder_open(struct recorder *a, const char *hosts, int session_ms, const char *path);

/* May be called twice, and after an open that failed half-way. */
void recorder_close(struct recorder *a);

/* Begin to lock in the background, by pdk_mutex_lock_async(). Then wait for the outcome. */
void recorder_queue(struct recorder *a, int64_t timeout_ms);
int recorder_outcome(struct recorder *a);

/* Of what was queued and granted, or else of what the thread has locked. */
int recorder_unlock(struct recorder *a);
pdk_state recorder_state(const struct recorder *a);
int64_t recorder_token(const struct recorder *a);

/* Was the recorder notified of STATE? When first (-1: never)? */
int64_t recorder_told_ms(struct recorder *a, pdk_state state);

/* The states it was notified of, as "suspect lost"; in BUF. */
const char *recorder_states(struct recorder *a, char *buf, size_t size);

/* End the recorder's session on the servers now. The recorder, connected through PROXY, learns of it when it
 * reconnects. */
void recorder_kill_session(struct recorder *a, pdk__proxy *proxy, const pdk__server *server);

/* --- the observer ------------------------------------------------------------------------------------------------ */

/* A handle on server I, without a proxy. */
zhandle_t *pdk__observe(pdk__ensemble *e, int i);

/* The observer's reads after this call see everything that was committed before it. */
void pdk__observe_flush(zhandle_t *zh, const char *path);

/* The number of nodes under PATH; only those that SESSION owns, unless it is 0. */
int pdk__observe_nodes(zhandle_t *zh, const char *path, int64_t session);

/* The name of the node under PATH with the lowest sequence number, and its Stat; false when there is none. */
bool pdk__observe_first(zhandle_t *zh, const char *path, char name[128], struct Stat *stat);

/* Delete NAME under PATH, whichever session owns it. */
void pdk__observe_delete(zhandle_t *zh, const char *path, const char *name);

/* Check what must be true while A holds: its node is the first, its present session owns it and owns no other node, and
 * the token is the node's czxid. Returns the token. */
int64_t pdk__check_grant(struct recorder *a, zhandle_t *zh);

#endif
