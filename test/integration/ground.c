#include "test/integration/ground.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ground ground;

void ground_open(const struct pdk__ensemble_options *o)
{
    ground.e = pdk__ensemble_new(o != NULL ? o : &(struct pdk__ensemble_options){.n = 1});
    ground.proxy = ground.e->proxy[0];
    ground.hosts = ground.e->address[0];
    snprintf(ground.direct, sizeof ground.direct, "127.0.0.1:%d", pdk__server_port(ground.e->server[0]));
    ground.zh = pdk__zk_open(ground.direct, 60000);
}

void ground_close(void)
{
    if (ground.zh != NULL)
        zookeeper_close(ground.zh);
    pdk__ensemble_free(ground.e);
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

/* No other process has used the path either: several programs may share the servers, one after another. */
const char *ground_path(void)
{
    static char paths[4][32];
    static atomic_int n;
    int i = atomic_fetch_add(&n, 1);
    snprintf(paths[i % 4], sizeof paths[i % 4], "/ground-%d-%d", (int)getpid(), i);
    return paths[i % 4];
}

void ground_make(const char *path, const char *data, int mode, const struct ACL_vector *acl)
{
    int length = data != NULL ? (int)strlen(data) : -1;
    int rc = zoo_create(ground.zh, path, data, length, acl != NULL ? acl : &ZOO_OPEN_ACL_UNSAFE, mode, NULL, 0);
    if (rc != ZOK)
        pdk__test_fail(__FILE__, __LINE__, "create %s: %s", path, zerror(rc));
}

static const char *below(const char *path, const char *name)
{
    static _Thread_local char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    return whole;
}

void ground_make_below(const char *path, const char *name, const char *data)
{
    ground_make(below(path, name), data, ZOO_EPHEMERAL, NULL);
}

void ground_delete_below(const char *path, const char *name)
{
    CHECK_EQ(zoo_delete(ground.zh, below(path, name), -1), ZOK);
}

static int last_first(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t n = strlen(x), m = strlen(y);
    return strcmp(y + (m > 10 ? m - 10 : 0), x + (n > 10 ? n - 10 : 0));
}

/* In one transaction, so that no contender loses two nodes. The last in the queue is deleted first, since a contender
 * that hears of its predecessor's end before its own is granted the lock, rightly, and loses it again. */
static int delete_once(const char *path)
{
    enum { MAX = 64 };
    char whole[MAX][512];
    zoo_op_t ops[MAX + 1];
    zoo_op_result_t results[MAX + 1];
    struct String_vector names = {0};
    int rc = zoo_get_children(ground.zh, path, 0, &names);
    if (rc != ZOK)
        return rc;
    CHECK(names.count <= MAX);
    if (names.count > 0)
        qsort(names.data, (size_t)names.count, sizeof *names.data, last_first);
    for (int i = 0; i < names.count; i++) {
        snprintf(whole[i], sizeof whole[i], "%s/%s", path, names.data[i]);
        zoo_delete_op_init(&ops[i], whole[i], -1);
    }
    zoo_delete_op_init(&ops[names.count], path, -1);
    rc = zoo_multi(ground.zh, names.count + 1, ops, results);
    deallocate_String_vector(&names);
    return rc;
}

void ground_delete_all(const char *path)
{
    int rc;
    CHECK_WITHIN(PATIENCE_MS, (rc = delete_once(path)) == ZOK || rc == ZNONODE);
}

int ground_children(const char *path)
{
    struct Stat stat;
    int rc = pdk__zk_stat(ground.zh, path, &stat);
    return (int)pdk__test_saw("children", rc == ZOK ? stat.numChildren : -1);
}

const char *ground_find(const char *path, const char *part)
{
    static char found[256];
    struct String_vector names = {0};
    found[0] = '\0';
    zoo_get_children(ground.zh, path, 0, &names);
    for (int i = 0; i < names.count && found[0] == '\0'; i++)
        if (strstr(names.data[i], part) != NULL)
            snprintf(found, sizeof found, "%s", names.data[i]);
    deallocate_String_vector(&names);
    return found;
}

/* --- no server --------------------------------------------------------------------------------------------------- */

int ground_refusing_port(int *fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(*fd >= 0 && bind(*fd, (struct sockaddr *)&address, sizeof address) == 0); /* and no process listens */
    CHECK_EQ(getsockname(*fd, (struct sockaddr *)&address, &size), 0);
    return ntohs(address.sin_port);
}

/* --- clients ----------------------------------------------------------------------------------------------------- */

pdk_client_options *ground_options(int session_ms)
{
    pdk_client_options *o = pdk_client_options_new();
    CHECK(o != NULL);
    CHECK_RC(pdk_client_options_set_session_timeout_ms(o, session_ms), 0);
    return o;
}

pdk_client *ground_client(pdk_client_options *options)
{
    pdk_client *c;
    CHECK_RC(pdk_client_new(&c, ground.hosts, options), 0);
    pdk_client_options_free(options);
    CHECK_RC(pdk_client_wait(c, PATIENCE_MS), 0);
    return c;
}

pdk_mutex *ground_mutex(pdk_client *c, const char *path)
{
    pdk_mutex *m;
    CHECK_RC(pdk_mutex_new(&m, c, path, NULL), 0);
    return m;
}

void ground_end(pdk_client *c, pdk_mutex *m)
{
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_mutex_free(m), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

void ground_expire(zhandle_t *zh)
{
    clientid_t id = *zoo_client_id(zh);
    pdk__proxy_refuse(ground.proxy, true);
    pdk__proxy_cut(ground.proxy);
    CHECK_EQ(pdk__zk_kill_session(pdk__server_port(ground.e->server[0]), &id), 0);
    pdk__proxy_refuse(ground.proxy, false);
}

/* --- lockers ----------------------------------------------------------------------------------------------------- */

static void *lock_and_unlock(void *arg)
{
    struct locker *l = arg;
    l->rc = pdk_mutex_lock(l->m);
    l->settled = true;
    if (l->rc != 0)
        return NULL;
    while (!l->release)
        pdk__test_nap();
    l->unlock_rc = pdk_mutex_unlock(l->m);
    return NULL;
}

void locker_start(struct locker *l, pdk_mutex *m)
{
    memset(l, 0, sizeof *l);
    l->m = m;
    CHECK_EQ(pthread_create(&l->thread, NULL, lock_and_unlock, l), 0);
}

void locker_finish(struct locker *l)
{
    l->release = true;
    CHECK_EQ(pthread_join(l->thread, NULL), 0);
}
