#include "server/java.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARE "/usr/share/java/"

static _Thread_local char error_text[512];

const char *pdk__server_error(void) { return error_text; }

int pdk__server_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error_text, sizeof error_text, format, args);
    va_end(args);
    return -1;
}

/* PATH becomes an absolute name, as the server has another working directory than ours. */
static bool has_java(const char *dir, int length, const char *below, char *path, size_t size)
{
    struct stat st;
    char here[PATH_MAX] = "";
    if (*dir != '/' && getcwd(here, sizeof here) == NULL)
        return false;
    int n = snprintf(path, size, "%s%s%.*s%s/java", here, *dir != '/' ? "/" : "", length, dir, below);
    return n < (int)size && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool find_java(char *path, size_t size)
{
    const char *home = getenv("JAVA_HOME");
    const char *dirs = getenv("PATH");
    if (home != NULL && *home != '\0' && has_java(home, (int)strlen(home), "/bin", path, size))
        return true;
    while (dirs != NULL && *dirs != '\0') {
        int n = (int)strcspn(dirs, ":");
        if (n > 0 && has_java(dirs, n, "", path, size))
            return true;
        dirs += n + (dirs[n] == ':');
    }
    return false;
}

/* Netty needs these, and Debian's manifest of ZooKeeper's jar leaves them out. Java passes over a jar that is
 * missing. */
#define NETTY SHARE "netty-codec.jar:" SHARE "netty-resolver.jar:" SHARE "netty-transport-native-unix-common.jar"

/* The jar's manifest names everything else it needs, except a log. */
static int find(const struct pdk__server_options *o, char java[PATH_MAX], char class_path[2 * PATH_MAX])
{
    const char *jar = o->jar != NULL ? o->jar : SHARE "zookeeper.jar";
    const char *log = o->log_file != NULL ? SHARE "slf4j-simple.jar" : SHARE "slf4j-nop.jar";
    if (!find_java(java, PATH_MAX))
        return pdk__server_fail("java is missing; on Debian: apt-get install default-jre-headless");
    if (access(jar, R_OK) != 0)
        return pdk__server_fail("%s is missing; on Debian: apt-get install libzookeeper-java", jar);
    if (access(log, R_OK) != 0)
        return pdk__server_fail("%s is missing; on Debian: apt-get install libslf4j-java", log);
    snprintf(class_path, 2 * PATH_MAX, "%s:%s:" NETTY, jar, log);
    return 0;
}

/* Where the keeper makes its directory. */
static const char *temporary(void)
{
    const char *dir = getenv("TMPDIR");
    return dir != NULL && *dir != '\0' ? dir : "/tmp";
}

/* -XX:-UsePerfData: a JVM that is killed leaves its /tmp/hsperfdata_* file in place. The relative names are right:
 * the server's working directory is its temporary one. */
int pdk__java_open(struct pdk__keeper *k, const struct pdk__server_options *o)
{
    char java[PATH_MAX], class_path[2 * PATH_MAX], heap[32];
    char *argv[64] = {java,
                      "-XX:+UseSerialGC",
                      "-XX:TieredStopAtLevel=1",
                      "-XX:-UsePerfData",
                      heap,
                      "-Djava.io.tmpdir=.",
                      "-Dzookeeper.jmx.log4j.disable=true",
                      "-Dzookeeper.preAllocSize=1024"};
    int n = 8;
    if (find(o, java, class_path) != 0)
        return -1;
    snprintf(heap, sizeof heap, "-Xmx%dm", o->heap_mb);
    if (!o->durable)
        argv[n++] = "-Dzookeeper.forceSync=no";
    char properties[32][512];
    for (int i = 0; o->properties != NULL && o->properties[i] != NULL; i++) {
        if (i == 32 || snprintf(properties[i], 512, "-D%s", o->properties[i]) >= 512)
            return pdk__server_fail("too many properties, or too long a one");
        argv[n++] = properties[i];
    }
    argv[n++] = "-cp";
    argv[n++] = class_path;
    argv[n++] = o->id > 0 ? "org.apache.zookeeper.server.quorum.QuorumPeerMain"
                          : "org.apache.zookeeper.server.ZooKeeperServerMain";
    argv[n] = "zoo.cfg";
    if (pdk__keeper_open(k, argv) == 0)
        return 0;
    if (errno == ECHILD)
        return pdk__server_fail("cannot make a directory in %s", temporary());
    return pdk__server_fail("cannot start the server's keeper: %s", strerror(errno));
}
