/*
 * The worker on ZooKeeper's own client, with the fewest requests that a queue needs: the limit of every lock on these
 * servers.
 *
 * Alone it creates a node and deletes it. With others it creates a sequential node, watches the node with the number
 * before its own, and deletes its node when that one is deleted. This is no lock for use: it takes for granted that no
 * client dies or gives up, and that no other node is created there.
 */
#include "bench/worker.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_MS = 10000, CONNECT_MS = 30000, PATH_BYTES = 320 };

struct bare_lock {
    zhandle_t *zh;
    char path[256], node[PATH_BYTES], ahead[PATH_BYTES];
    bool contended;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool fired;
    bool queued;
    void (*granted)(void *), (*done)(void *);
    void *arg;
};

static void check(int rc, const char *what)
{
    if (rc != ZOK)
        worker_fail("%s: %s", what, zerror(rc));
}

static void ignore_event(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    (void)zh, (void)type, (void)state, (void)path, (void)arg;
}

static void *connect_client(const char *where)
{
    zoo_set_debug_level((ZooLogLevel)0);
    zhandle_t *zh = zookeeper_init(where, ignore_event, SESSION_MS, NULL, NULL, 0);
    if (zh == NULL)
        worker_fail("no handle");
    for (int ms = 0; zoo_state(zh) != ZOO_CONNECTED_STATE; ms++, usleep(1000))
        if (ms > CONNECT_MS)
            worker_fail("not connected");
    return zh;
}

static void disconnect(void *client) { zookeeper_close(client); }

/* PATH and its ancestors. */
static void make_path(zhandle_t *zh, const char *path)
{
    char part[256];
    snprintf(part, sizeof part, "%s", path);
    for (char *at = part + 1; at != NULL;) {
        at = strchr(at, '/');
        if (at != NULL)
            *at = '\0';
        int rc = zoo_create(zh, part, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
        if (rc != ZNODEEXISTS)
            check(rc, part);
        if (at != NULL)
            *at++ = '/';
    }
}

static void *lock_new(void *client, const char *path, bool contended)
{
    struct bare_lock *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    l->zh = client;
    l->contended = contended;
    snprintf(l->path, sizeof l->path, "%s", path);
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->changed, NULL);
    make_path(client, path);
    return l;
}

static void lock_free(void *lock)
{
    struct bare_lock *l = lock;
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->changed);
    free(l);
}

/* --- with a thread ----------------------------------------------------------------------------------------------- */

static void on_fired(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    struct bare_lock *l = arg;
    (void)zh, (void)state, (void)path;
    if (type != ZOO_DELETED_EVENT)
        return;
    pthread_mutex_lock(&l->mutex);
    l->fired = true;
    pthread_cond_signal(&l->changed);
    pthread_mutex_unlock(&l->mutex);
}

/* False: the node is the first of the path. */
static bool name_ahead(struct bare_lock *l)
{
    int number = atoi(l->node + strlen(l->node) - 10);
    snprintf(l->ahead, sizeof l->ahead, "%s/lock-%010d", l->path, number - 1);
    return number > 0;
}

static void await_ahead(struct bare_lock *l)
{
    char data[8];
    int size = sizeof data;
    l->fired = false;
    int rc = zoo_wget(l->zh, l->ahead, on_fired, l, data, &size, NULL);
    if (rc == ZNONODE)
        return;
    check(rc, "watch");
    pthread_mutex_lock(&l->mutex);
    while (!l->fired)
        pthread_cond_wait(&l->changed, &l->mutex);
    pthread_mutex_unlock(&l->mutex);
}

static void lock(void *lock)
{
    struct bare_lock *l = lock;
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/lock-", l->path);
    check(zoo_create(l->zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, l->node, sizeof l->node),
          "create");
    if (l->contended && name_ahead(l))
        await_ahead(l);
}

static void unlock(void *lock)
{
    struct bare_lock *l = lock;
    check(zoo_delete(l->zh, l->node, -1), "delete");
}

/* --- without ----------------------------------------------------------------------------------------------------- */

static void on_deleted(int rc, const void *arg)
{
    const struct bare_lock *l = arg;
    check(rc, "delete");
    l->done(l->arg);
}

static void pass_on(struct bare_lock *l)
{
    l->granted(l->arg);
    check(zoo_adelete(l->zh, l->node, -1, on_deleted, l), "delete");
}

static void on_turn(zhandle_t *zh, int type, int state, const char *path, void *arg)
{
    (void)zh, (void)state, (void)path;
    if (type == ZOO_DELETED_EVENT)
        pass_on(arg);
}

static void on_watched(int rc, const char *value, int size, const struct Stat *stat, const void *arg)
{
    struct bare_lock *l = (struct bare_lock *)arg;
    (void)value, (void)size, (void)stat;
    if (rc == ZNONODE)
        pass_on(l);
    else
        check(rc, "watch");
    __atomic_store_n(&l->queued, true, __ATOMIC_RELEASE);
}

static void on_created(int rc, const char *name, const void *arg)
{
    struct bare_lock *l = (struct bare_lock *)arg;
    check(rc, "create");
    snprintf(l->node, sizeof l->node, "%s", name);
    name_ahead(l);
    check(zoo_awget(l->zh, l->ahead, on_turn, l, on_watched, l), "watch");
}

static void queue(void *lock, void (*granted)(void *), void (*done)(void *), void *arg)
{
    struct bare_lock *l = lock;
    char path[PATH_BYTES];
    l->granted = granted;
    l->done = done;
    l->arg = arg;
    snprintf(path, sizeof path, "%s/lock-", l->path);
    check(zoo_acreate(l->zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, on_created, l), "create");
}

static bool is_queued(void *lock) { return __atomic_load_n(&((struct bare_lock *)lock)->queued, __ATOMIC_ACQUIRE); }

int main(int argc, char **argv)
{
    static const struct worker_system bare = {connect_client, disconnect, lock_new,  lock_free, lock,
                                              unlock,         queue,      is_queued, NULL};
    return worker_main(argc, argv, &bare);
}
