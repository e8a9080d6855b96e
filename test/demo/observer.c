#include "test/demo/observer.h"

#include "test/lib/check.h"
#include "test/lib/history.h"
#include "test/lib/zk.h"

#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_MS = 30000, SEEN_MS = 60000 };

static zhandle_t *zh;

void observer_begin(const char *hosts)
{
    observer_end();
    zh = pdk__zk_open(hosts, SESSION_MS);
}

void observer_end(void)
{
    if (zh != NULL)
        zookeeper_close(zh);
    zh = NULL;
}

int observer_count(const char *path)
{
    struct String_vector names;
    int n = 0, rc = zoo_get_children(zh, path, 0, &names);
    if (rc == ZOK) {
        n = names.count;
        deallocate_String_vector(&names);
    }
    return n;
}

static void on_event(zhandle_t *h, int type, int state, const char *path, void *arg)
{
    (void)h, (void)state, (void)path;
    if (type == ZOO_DELETED_EVENT)
        atomic_store((_Atomic int64_t *)arg, now_ns());
}

void observer_watch(const char *path, _Atomic int64_t *gone_ns)
{
    struct String_vector names;
    char node[1024];
    struct Stat stat;
    atomic_store(gone_ns, 0);
    int rc;
    CHECK_WITHIN(SEEN_MS, (rc = zoo_get_children(zh, path, 0, &names)) == ZOK); /* our server may lag */
    int n = names.count;
    rc = ZNONODE;
    if (n > 0)
        snprintf(node, sizeof node, "%s/%s", path, names.data[0]);
    deallocate_String_vector(&names);
    if (n > 0)
        rc = zoo_wexists(zh, node, on_event, gone_ns, &stat);
    if (rc == ZNONODE)
        atomic_store(gone_ns, now_ns());
    CHECK(n <= 1 && (rc == ZOK || rc == ZNONODE));
}
