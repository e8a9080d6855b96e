/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_store: the sessions of a web application in ZooKeeper, of which two requests of one user change the same.
 *
 *     session_store HOST:PORT[,HOST:PORT...] ID WORD [--late]
 *
 * A request locks the session ID, reads its data, adds WORD, and writes them back. A session handler that writes
 * without a guard, as that of PHP's extension for ZooKeeper does, overwrites what the next request wrote if it lost the
 * lock meanwhile. Here each write is under guard: the servers refuse it once the lock is lost. It also needs the
 * version that was read, for writers that do not lock at all.
 *
 * With --late a request is slow: it reads a line before it writes. Start one, take the lock from it (paddock break
 * --force /session-locks/ID), run a second request, and press Enter.
 *
 * It reads on the handle that it lends to the lock: such a read sees what earlier holders wrote. So it links
 * ZooKeeper's client itself: cc session_store.c $(pkg-config --cflags --libs paddock) -lzookeeper_mt
 */
#define THREADED /* ZooKeeper's blocking calls, too */
#include <paddock.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_MS = 4000, LIMIT_MS = 30000, PATH_SIZE = 256, DATA_SIZE = 4096, USAGE = 64 };

struct request {
    zhandle_t *zh;
    pdk_client *client;
    pdk_mutex *mutex;
    char path[PATH_SIZE];
    char data[DATA_SIZE];
    bool exists;
    int32_t version; /* of the data that were read */
};

static int open_request(struct request *r, const char *id)
{
    char lock[PATH_SIZE];
    snprintf(r->path, sizeof r->path, "/sessions/%s", id);
    snprintf(lock, sizeof lock, "/session-locks/%s", id);
    int rc = pdk_client_adopt(&r->client, r->zh, NULL);
    if (rc == 0)
        rc = pdk_mutex_new(&r->mutex, r->client, lock, NULL);
    return rc != 0 ? rc : pdk_mutex_timedlock(r->mutex, LIMIT_MS);
}

static bool read_session(struct request *r)
{
    struct Stat stat;
    int length = sizeof r->data - 1;
    zoo_create(r->zh, "/sessions", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0);
    int zrc = zoo_get(r->zh, r->path, 0, r->data, &length, &stat);
    r->exists = zrc == ZOK;
    r->version = r->exists ? stat.version : -1;
    r->data[r->exists && length > 0 ? length : 0] = '\0';
    printf("read: %s\n", r->exists ? r->data : zerror(zrc));
    fflush(stdout);
    return zrc == ZNONODE || (r->exists && stat.dataLength < DATA_SIZE);
}

static bool add_word(struct request *r, const char *word)
{
    size_t length = strlen(r->data), room = sizeof r->data - length;
    return (size_t)snprintf(r->data + length, room, "%s%s", length > 0 ? " " : "", word) < room;
}

static int write_session(struct request *r)
{
    size_t size = strlen(r->data);
    return r->exists ? pdk_guarded_set(r->mutex, r->path, r->data, size, r->version, LIMIT_MS)
                     : pdk_guarded_create(r->mutex, r->path, r->data, size, LIMIT_MS);
}

static int change_session(struct request *r, const char *word, bool late)
{
    if (!read_session(r) || !add_word(r, word)) {
        fprintf(stderr, "session_store: %s is not read, or has no room\n", r->path);
        return 1;
    }
    for (int c = late ? 0 : EOF; c != '\n' && c != EOF;)
        c = getchar();
    int rc = write_session(r);
    if (rc == 0)
        printf("written: %s\n", r->data);
    else if (rc == PDK_ELOST || rc == PDK_ECONFLICT)
        printf("refused: %s\n", rc == PDK_ELOST ? "the lock was lost" : "another has written");
    else /* PDK_EUNKNOWN: it may be written. The next request reads what is there */
        printf("failed: %s\n", pdk_strerror(rc));
    return rc != 0;
}

int main(int argc, char **argv)
{
    struct request r = {0};
    bool late = argc == 5 && strcmp(argv[4], "--late") == 0;
    if ((argc != 4 && !late) || strchr(argv[2], '/') != NULL || strlen(argv[2]) > 200) {
        fprintf(stderr, "usage: session_store HOST:PORT[,HOST:PORT...] ID WORD [--late]\n");
        return USAGE;
    }
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    r.zh = zookeeper_init(argv[1], NULL, SESSION_MS, NULL, NULL, 0);
    if (r.zh == NULL) {
        perror("session_store: zookeeper_init");
        return 1;
    }
    int rc = open_request(&r, argv[2]);
    int status = 1;
    if (rc == 0) {
        status = change_session(&r, argv[3], late);
        pdk_mutex_unlock(r.mutex); /* the write has had its own answer */
    } else {
        fprintf(stderr, "session_store: %s: %s\n", r.path, pdk_strerror(rc));
    }
    pdk_client_close(r.client);
    pdk_lock_free(r.mutex);
    pdk_client_free(r.client);
    zookeeper_close(r.zh);
    return status;
}
