/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adopt: a lock on the application's own ZooKeeper handle, and a write that the servers accept only while it is held.
 *
 *     adopt HOST:PORT[,HOST:PORT...] /PATH
 *
 * The application opened the handle and reads and writes with it; the lock adds no session. It links ZooKeeper's client
 * itself: cc adopt.c $(pkg-config --cflags --libs paddock) -lzookeeper_mt. The write to PATH-result goes out in one
 * transaction with a guard: when the lock is lost before the servers get it, they refuse the whole transaction.
 */
#include <inttypes.h>
#include <paddock.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_MS = 10000, LIMIT_MS = 30000, VALUE_MAX = 32 };

/* The application's own events. Adoption leaves them in place. */
static void on_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)zh, (void)path, (void)context;
    if (type == ZOO_SESSION_EVENT && state == ZOO_EXPIRED_SESSION_STATE)
        fprintf(stderr, "adopt: the session is over; make a new handle, and adopt that\n");
}

/* ZooKeeper's client calls this whether the node exists or not. */
static void on_made(int rc, const char *path, const void *data) { (void)rc, (void)path, (void)data; }

static void on_written(int rc, const void *data)
{
    (void)data;
    if (rc == ZOK)
        puts("written under the lock");
    else
        printf("not written: %s\n", rc == ZNONODE ? "the lock was lost" : zerror(rc));
    fflush(stdout);
}

/* PATH-result := VALUE, if the lock is held when the servers process it. Results and operations outlive the call. */
static int write_guarded(zhandle_t *zh, pdk_mutex *m, const char *result, const char *value)
{
    static zoo_op_t ops[2];
    static zoo_op_result_t results[2];
    int rc = pdk_lock_guard(m, 0, &ops[0]);
    if (rc != 0)
        return rc;
    zoo_set_op_init(&ops[1], result, value, (int)strlen(value), -1, NULL);
    if (zoo_state(zh) != ZOO_CONNECTED_STATE) /* zoo_amulti() has traps where it is not: lock.h */
        return PDK_EDISCONNECTED;
    return zoo_amulti(zh, 2, ops, results, on_written, NULL) == ZOK ? 0 : PDK_EUNKNOWN;
}

/* Completions of one handle come in order: the unlock is answered after the write. */
static int work(zhandle_t *zh, pdk_client *c, const char *path)
{
    static char result[512], value[VALUE_MAX];
    pdk_mutex *m = NULL;
    int64_t token;
    snprintf(result, sizeof result, "%s-result", path);
    int rc = pdk_mutex_new(&m, c, path, NULL);
    if (rc == 0)
        rc = pdk_mutex_timedlock(m, LIMIT_MS);
    if (rc == 0 && (rc = pdk_lock_token(m, &token, NULL)) == 0) {
        printf("held, token %" PRId64 "\n", token);
        snprintf(value, sizeof value, "%" PRId64, token);
        zoo_acreate(zh, result, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, on_made, NULL);
        rc = write_guarded(zh, m, result, value);
        int gone = pdk_mutex_unlock(m);
        rc = rc != 0 ? rc : gone;
    }
    pdk_client_close(c); /* the lock's nodes are deleted, the handle stays open */
    pdk_lock_free(m);
    return rc;
}

int main(int argc, char **argv)
{
    pdk_client *c = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: adopt HOST:PORT[,HOST:PORT...] /PATH\n");
        return 64;
    }
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    zhandle_t *zh = zookeeper_init(argv[1], on_event, SESSION_MS, NULL, NULL, 0);
    if (zh == NULL) {
        perror("adopt: zookeeper_init");
        return 1;
    }
    int rc = pdk_client_adopt(&c, zh, NULL);
    if (rc == 0)
        rc = work(zh, c, argv[2]);
    if (rc != 0)
        fprintf(stderr, "adopt: %s\n", pdk_strerror(rc));
    pdk_client_free(c);
    if (rc == 0)
        printf("the handle is the application's: %s\n",
               zoo_state(zh) == ZOO_CONNECTED_STATE ? "connected" : "not connected");
    zookeeper_close(zh);
    return rc != 0;
}
