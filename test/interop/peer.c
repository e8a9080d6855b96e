#include "test/interop/peer.h"

#include "test/lib/check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHARE "/usr/share/java/"
#define PYTHON "/usr/bin/python3" /* the one that Debian's packages are for */

static const char *const jars[][2] = {{SHARE "curator-recipes.jar", "libcurator-recipes-java"},
                                      {SHARE "curator-framework.jar", "libcurator-framework-java"},
                                      {SHARE "curator-client.jar", "libcurator-client-java"},
                                      {SHARE "guava.jar", "libguava-java"},
                                      {SHARE "zookeeper.jar", "libzookeeper-java"},
                                      {SHARE "slf4j-api.jar", "libslf4j-java"},
                                      {SHARE "slf4j-nop.jar", "libslf4j-java"}};

static char class_path[4096];
struct program peer;

/* --- starting it ------------------------------------------------------------------------------------------------- */

/* NULL, or why not. */
static const char *missing_jar(const char *dir)
{
    static char reason[256];
    snprintf(class_path, sizeof class_path, "%s", dir);
    for (size_t i = 0; i < sizeof jars / sizeof *jars; i++) {
        snprintf(reason, sizeof reason, "no %s: apt-get install %s", jars[i][0], jars[i][1]);
        if (access(jars[i][0], R_OK) != 0)
            return reason;
        strncat(class_path, ":", sizeof class_path - strlen(class_path) - 1);
        strncat(class_path, jars[i][0], sizeof class_path - strlen(class_path) - 1);
    }
    return NULL;
}

const char *peer_class_path(const char *dir, const char *source, const char **why)
{
    struct program javac;
    if ((*why = missing_jar(dir)) != NULL)
        return NULL;
    int status = program_run(
        &javac, ARGS("javac", "-J-XX:-UsePerfData", "-cp", class_path, "-d", dir, program_source(source)), 0);
    if (status == 127) {
        *why = "no javac: apt-get install default-jdk-headless";
        return NULL;
    }
    CHECK_EQ(status, 0);
    return class_path;
}

void peer_compile(const char *dir)
{
    const char *why;
    if (peer_class_path(dir, "test/interop/CuratorPeer.java", &why) == NULL)
        SKIP(why);
}

static void start(const char *const *argv)
{
    program_start(&peer, argv, PROGRAM_INPUT | PROGRAM_OUTPUT);
    CHECK_STR(program_hear(&peer), "ready");
}

void peer_start(int port, const char *path, int session_ms)
{
    char hosts[32], session[16];
    program_end(&peer);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
    snprintf(session, sizeof session, "%d", session_ms);
    start(ARGS("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx128m", "-cp", class_path,
               "CuratorPeer", hosts, path, session));
}

void peer_need_kazoo(void)
{
    static const char find[] = "import importlib.util, sys; sys.exit(importlib.util.find_spec('kazoo') is None)";
    if (program_run(&peer, ARGS(PYTHON, "-c", find), 0) != 0)
        SKIP("no kazoo: apt-get install python3-kazoo");
}

void peer_start_kazoo(int port, const char *path)
{
    char hosts[32];
    program_end(&peer);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
    start(ARGS(PYTHON, "-B", program_source("test/interop/kazoo_peer.py"), hosts, path));
}

static char go_peer[1024];

void peer_build_go(const char *dir)
{
    struct program build;
    snprintf(go_peer, sizeof go_peer, "%s/gozk", dir);
    int status = program_run(
        &build,
        ARGS(program_source("test/build/go-program"), "test/interop/gozk", "github.com/go-zookeeper/zk", go_peer),
        PROGRAM_OUTPUT);
    if (status == 77)
        SKIP("no Go, or no go-zookeeper");
    CHECK_EQ(status, 0);
}

void peer_start_go(int port)
{
    char hosts[32];
    program_end(&peer);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", port);
    start(ARGS(go_peer, hosts));
}

void peer_hear_both(const char *one, const char *other)
{
    char first[64];
    snprintf(first, sizeof first, "%s", program_hear(&peer));
    bool swapped = strcmp(first, other) == 0;
    CHECK_STR(first, swapped ? other : one);
    CHECK_STR(program_hear(&peer), swapped ? one : other);
}
