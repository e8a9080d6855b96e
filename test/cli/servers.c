/* The server, and what is on it. */
#include "test/cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

static pdk__server *server;
static zhandle_t *zh;

static void connect_observer(void)
{
    char hosts[64];
    zoo_set_debug_level(0);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__server_port(server));
    setenv("PADDOCK_HOSTS", hosts, 1);
    unsetenv("PADDOCK_AUTH");
    zh = zookeeper_init2(hosts, NULL, 30000, NULL, NULL, 0, NULL);
    CHECK(zh != NULL);
    CHECK_WITHIN(GENEROUS, zoo_state(zh) == ZOO_CONNECTED_STATE);
}

void cli_setup(void)
{
    cli_as_by_hand();
    if (pdk__server_new(&server, &(struct pdk__server_options){0}) != 0 || pdk__server_start(server) != 0 ||
        pdk__server_wait_ready(server, 60000) != 0)
        pdk__test_fail(__FILE__, __LINE__, "%s", pdk__server_error());
    connect_observer();
}

void cli_teardown(void)
{
    if (zh != NULL)
        zookeeper_close(zh);
    pdk__server_free(server);
}

pdk__server *cli_server(void) { return server; }

const char *cli_path(const char *name)
{
    static char path[128];
    static int n;
    snprintf(path, sizeof path, "/%s-%d", name, n++);
    return path;
}

static int count(const char *path)
{
    struct String_vector names = {0};
    int n = 0;
    if (zoo_get_children(zh, path, 0, &names) != ZOK)
        return 0;
    for (int i = 0; i < names.count; i++) {
        char child[1024];
        snprintf(child, sizeof child, "%s/%s", path[1] == '\0' ? "" : path, names.data[i]);
        if (strcmp(child, "/zookeeper") != 0)
            n += 1 + count(child);
    }
    deallocate_String_vector(&names);
    return n;
}

int cli_nodes(void) { return count("/"); }

int cli_children(const char *path) { return count(path); }

int cli_changes(const char *path)
{
    struct Stat st;
    CHECK_EQ(zoo_exists(zh, path, 0, &st), ZOK);
    return st.cversion;
}

/* The first contender, or the last. */
static void find(const char *path, bool last, char *node, size_t size)
{
    struct String_vector names = {0};
    CHECK_EQ(zoo_get_children(zh, path, 0, &names), ZOK);
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

bool cli_asked(const char *path)
{
    char node[1024], data[1024];
    int size = sizeof data;
    find_holder(path, node, sizeof node);
    CHECK_EQ(zoo_get(zh, node, 0, data, &size, NULL), ZOK);
    return size == 10 && memcmp(data, "__REVOKE__", 10) == 0;
}

bool cli_may_write(const char *path)
{
    char node[1024];
    find_holder(path, node, sizeof node);
    int rc = zoo_set(zh, node, "{}", 2, -1);
    CHECK(rc == ZOK || rc == ZNOAUTH);
    return rc == ZOK;
}

void cli_make(const char *path, const char *name, const char *data)
{
    char node[1024];
    zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0);
    snprintf(node, sizeof node, "%s/%s", path, name);
    CHECK_EQ(zoo_create(zh, node, data, (int)strlen(data), &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK);
}

void cli_make_private(const char *path)
{
    CHECK_EQ(zoo_add_auth(zh, "digest", "keeper:secret", 13, NULL, NULL), ZOK);
    CHECK_EQ(zoo_create(zh, path, "", 0, &ZOO_CREATOR_ALL_ACL, 0, NULL, 0), ZOK);
}
