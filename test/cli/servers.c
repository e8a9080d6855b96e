/* The server, and what is on it. */
#include "test/cli/cli.h"
#include "test/lib/proxy.h"
#include "test/lib/sequence.h"
#include "test/lib/zk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STOP_MS = 10000, OBSERVER_MS = 120000 };

static pdk__server *server;
static pdk__proxy *door; /* refuses while the server does not grant sessions */
static zhandle_t *zh;    /* the observer's */

/* A command that connects while its server starts waits for the answer for up to two thirds of its session timeout. */
static void start(void)
{
    if (pdk__server_start(server) != 0 || pdk__server_wait_ready(server, GENEROUS) != 0)
        pdk__test_fail(__FILE__, __LINE__, "%s", pdk__server_error());
}

static void connect_observer(void)
{
    char hosts[64];
    door = pdk__proxy_new(pdk__server_port(server), false);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__proxy_port(door));
    setenv("PADDOCK_HOSTS", hosts, 1);
    unsetenv("PADDOCK_AUTH");
    zh = pdk__zk_open(hosts, OBSERVER_MS);
}

void cli_setup(void)
{
    cli_as_by_hand();
    if (pdk__server_new(&server, &(struct pdk__server_options){0}) != 0)
        pdk__test_fail(__FILE__, __LINE__, "%s", pdk__server_error());
    start();
    connect_observer();
}

void cli_teardown(void)
{
    if (zh != NULL)
        zookeeper_close(zh);
    pdk__proxy_free(door);
    pdk__server_free(server);
}

pdk__server *cli_server(void) { return server; }

void cli_server_stop(void)
{
    pdk__proxy_refuse(door, true);
    pdk__server_stop(server, STOP_MS);
    pdk__proxy_cut(door);
}

void cli_server_start(void)
{
    start();
    pdk__proxy_refuse(door, false);
}

const char *cli_path(const char *name)
{
    static char path[128];
    static int n;
    snprintf(path, sizeof path, "/%s-%d", name, n++);
    return path;
}

/* -1: there is no such path. */
static int count(const char *path)
{
    struct String_vector names;
    if (pdk__zk_list(zh, path, &names) != ZOK)
        return -1;
    int n = 0;
    for (int i = 0; i < names.count; i++) {
        char child[1024];
        snprintf(child, sizeof child, "%s/%s", path[1] == '\0' ? "" : path, names.data[i]);
        if (strcmp(child, "/zookeeper") == 0)
            continue;
        int below = count(child);
        n += below >= 0 ? 1 + below : 0; /* it was deleted while we counted */
    }
    deallocate_String_vector(&names);
    return n;
}

int cli_nodes(void) { return (int)pdk__test_saw("nodes", count("/")); }

int cli_children(const char *path)
{
    int n = count(path);
    return (int)pdk__test_saw("nodes under the path", n > 0 ? n : 0);
}

int cli_changes(const char *path)
{
    struct Stat st;
    CHECK_EQ(pdk__zk_stat(zh, path, &st), ZOK);
    return st.cversion;
}

/* The first contender, or the last. */
static void find(const char *path, bool last, char *node, size_t size)
{
    struct String_vector names;
    CHECK_EQ(pdk__zk_list(zh, path, &names), ZOK);
    CHECK(names.count > 0);
    const char *found = names.data[0];
    for (int i = 1; i < names.count; i++)
        if ((strcmp(strrchr(names.data[i], '-'), strrchr(found, '-')) > 0) == last)
            found = names.data[i];
    snprintf(node, size, "%s/%s", path, found);
    deallocate_String_vector(&names);
}

static void find_holder(const char *path, char *node, size_t size) { find(path, false, node, size); }

void cli_ask_last(const char *path)
{
    char node[1024];
    find(path, true, node, sizeof node);
    CHECK_EQ(zoo_set(zh, node, "__REVOKE__", 10, -1), ZOK);
}

void cli_delete_holder(const char *path)
{
    char node[1024];
    find_holder(path, node, sizeof node);
    CHECK_EQ(zoo_delete(zh, node, -1), ZOK);
}

void cli_delete_child(const char *path, const char *part)
{
    char node[1024] = "";
    struct String_vector names;
    CHECK_EQ(pdk__zk_list(zh, path, &names), ZOK);
    for (int i = 0; i < names.count && node[0] == '\0'; i++)
        if (strstr(names.data[i], part) != NULL)
            snprintf(node, sizeof node, "%s/%s", path, names.data[i]);
    deallocate_String_vector(&names);
    CHECK_EQ(zoo_delete(zh, node, -1), ZOK);
}

bool cli_asked(const char *path)
{
    char node[1024], data[1024];
    int size = sizeof data;
    find_holder(path, node, sizeof node);
    CHECK_EQ(zoo_get(zh, node, 0, data, &size, NULL), ZOK);
    return size >= 10 && memcmp(data, "__REVOKE__", 10) == 0;
}

bool cli_may_write(const char *path)
{
    char node[1024];
    find_holder(path, node, sizeof node);
    int rc = zoo_set(zh, node, "{}", 2, -1);
    CHECK(rc == ZOK || rc == ZNOAUTH);
    return rc == ZOK;
}

bool cli_has_data(const char *path, const char *data)
{
    char found[256];
    int size = sizeof found;
    CHECK_EQ(zoo_get(zh, path, 0, found, &size, NULL), ZOK);
    return size == (int)strlen(data) && memcmp(found, data, (size_t)size) == 0;
}

void cli_make(const char *path, const char *name, const char *data)
{
    char node[1024];
    zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    snprintf(node, sizeof node, "%s/%s", path, name);
    CHECK_EQ(zoo_create(zh, node, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK);
}

void cli_make_ephemeral(const char *path, const char *name, const char *data)
{
    char node[1024];
    zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    snprintf(node, sizeof node, "%s/%s", path, name);
    CHECK_EQ(zoo_create(zh, node, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0), ZOK);
}

const char *cli_run_of(const char *host, int64_t ago_ms, int64_t token, const char *more)
{
    static char texts[4][512];
    static unsigned n;
    char *text = texts[n++ % 4];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(text, sizeof *texts,
             "{\"host\":\"%s\",\"pid\":7,\"label\":\"nightly\",\"token\":%lld,\"begun_ms\":%lld%s}", host,
             (long long)token, (long long)now.tv_sec * 1000 - (long long)ago_ms, more);
    return text;
}

void cli_record(const char *path, const char *last, const char *done)
{
    char record[256], data[1200];
    snprintf(record, sizeof record, "%s.last-run", path);
    snprintf(data, sizeof data, "{\"paddock\":1%s%s%s%s}", last != NULL ? ",\"last\":" : "", last != NULL ? last : "",
             done != NULL ? ",\"done\":" : "", done != NULL ? done : "");
    zoo_delete(zh, record, -1);
    CHECK_EQ(zoo_create(zh, record, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK);
}

void cli_make_unreadable(const char *path, const char *name, const char *data)
{
    struct ACL entry = {.perms = ZOO_PERM_WRITE | ZOO_PERM_ADMIN, .id = {"world", "anyone"}};
    struct ACL_vector acl = {.count = 1, .data = &entry};
    char node[1024];
    zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    snprintf(node, sizeof node, "%s/%s", path, name);
    CHECK_EQ(zoo_create(zh, node, data, (int)strlen(data), &acl, ZOO_EPHEMERAL, NULL, 0), ZOK);
}

void cli_make_count(const char *path, unsigned char number)
{
    const char bytes[] = {0, 0, 0, (char)number};
    zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    CHECK_EQ(zoo_set(zh, path, bytes, sizeof bytes, -1), ZOK);
}

void cli_delete(const char *path, const char *name)
{
    char node[1024];
    snprintf(node, sizeof node, "%s/%s", path, name);
    CHECK_EQ(zoo_delete(zh, node, -1), ZOK);
}

void cli_make_path(const char *path) { CHECK_EQ(zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK); }

void cli_permit(const char *path, const char *letters)
{
    struct ACL entry = {.id = {"world", "anyone"}};
    struct ACL_vector acl = {.count = 1, .data = &entry};
    for (; *letters != '\0'; letters++)
        entry.perms |= 1 << strcspn("rwcda", (char[]){*letters, 0});
    CHECK_EQ(zoo_set_acl(zh, path, -1, &acl), ZOK);
}

void cli_make_private(const char *path)
{
    CHECK_EQ(zoo_add_auth(zh, "digest", "keeper:secret", 13, NULL, NULL), ZOK);
    CHECK_EQ(zoo_create(zh, path, "", 0, &ZOO_CREATOR_ALL_ACL, 0, NULL, 0), ZOK);
}

void cli_set_counter(const char *path, int32_t created)
{
    cli_server_stop();
    sequence_set(cli_server(), path, created);
    cli_server_start();
}
