/* The tools of the other tests, on real servers. */
#include "lib/server/throwaway.h"
#include "test/lib/check.h"
#include "test/lib/ensemble.h"
#include "test/lib/zk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static pdk__server *server;

static void make(pdk__server **s, const struct pdk__server_options *o)
{
    if (pdk__server_new(s, o) != 0 || pdk__server_start(*s) != 0 || pdk__server_wait_ready(*s, 60000) != 0)
        pdk__test_fail(__FILE__, __LINE__, "%s", pdk__server_error());
}

static void setup(void) { make(&server, &(struct pdk__server_options){0}); }

static void teardown(void) { pdk__server_free(server); }

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static void comes_back(void)
{
    int port = pdk__server_port(server);
    pdk__server_stop(server, 10000);
    CHECK(!pdk__server_running(server));
    CHECK_EQ(pdk__server_ask_role(server), PDK__SERVER_NONE);
    CHECK_EQ(pdk__server_start(server), 0);
    CHECK_EQ(pdk__server_wait_ready(server, 60000), 0);
    CHECK_EQ(pdk__server_port(server), port);
    CHECK_EQ(pdk__server_ask_role(server), PDK__SERVER_STANDALONE);
}

/* Another server is in the way: found out, and not mistaken for ours. */
static void port_taken(void)
{
    pdk__server *other;
    CHECK_EQ(pdk__server_new(&other, &(struct pdk__server_options){.client_port = pdk__server_port(server)}), 0);
    CHECK_EQ(pdk__server_start(other), 0);
    CHECK_EQ(pdk__server_wait_ready(other, 60000), -1);
    CHECK(strstr(pdk__server_error(), "ended before it was ready") != NULL);
    pdk__server_free(other);
}

static struct sockaddr_in loopback(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

/* Nobody else can take it, and a client is refused. A server that nobody has talked to yet: connections that ended a
 * moment ago would keep its port, too. */
static void keeps_its_port(void)
{
    pdk__server *s;
    CHECK_EQ(pdk__server_new(&s, &(struct pdk__server_options){0}), 0);
    CHECK_EQ(pdk__server_start(s), 0);
    pdk__server_kill(s);
    struct sockaddr_in at = loopback(pdk__server_port(s));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(bind(fd, (struct sockaddr *)&at, sizeof at), -1);
    CHECK_EQ(errno, EADDRINUSE);
    CHECK_EQ(connect(fd, (struct sockaddr *)&at, sizeof at), -1);
    CHECK_EQ(errno, ECONNREFUSED);
    close(fd);
    pdk__server_free(s);
}

struct news {
    pid_t pid;
    char dir[4096];
};

/* kill -9 of the process that started it: no server and no directory is left. */
static void dies_with_parent(void)
{
    int pipe_ends[2];
    struct news news;
    CHECK_EQ(pipe(pipe_ends), 0);
    pid_t parent = pdk__test_fork();
    if (parent == 0) {
        pdk__server *s;
        make(&s, &(struct pdk__server_options){0});
        news.pid = pdk__server_pid(s);
        snprintf(news.dir, sizeof news.dir, "%s", pdk__server_dir(s));
        CHECK_EQ(write(pipe_ends[1], &news, sizeof news), sizeof news);
        pause();
    }
    close(pipe_ends[1]);
    CHECK_EQ(read(pipe_ends[0], &news, sizeof news), sizeof news);
    close(pipe_ends[0]);
    CHECK(exists(news.dir));
    CHECK_EQ(kill(news.pid, 0), 0);
    kill(parent, SIGKILL);
    CHECK_EQ(pdk__test_wait(parent), -SIGKILL);
    CHECK_WITHIN(30000, kill(news.pid, 0) != 0 && !exists(news.dir));
}

static void leaves_nothing(void)
{
    pdk__server *s;
    char dir[4096];
    make(&s, &(struct pdk__server_options){0});
    snprintf(dir, sizeof dir, "%s", pdk__server_dir(s));
    pid_t pid = pdk__server_pid(s);
    pdk__server_pause(s); /* not even a stopped one */
    pdk__server_free(s);
    CHECK(!exists(dir));
    CHECK(kill(pid, 0) != 0);
}

static void names_the_package(void)
{
    pdk__server *s;
    char *path = strdup(getenv("PATH"));
    CHECK_EQ(pdk__server_new(&s, &(struct pdk__server_options){.jar = "/nonexistent.jar"}), -1);
    CHECK_STR(pdk__server_error(), "/nonexistent.jar is missing; on Debian: apt-get install libzookeeper-java");
    setenv("PATH", "/nonexistent", 1);
    unsetenv("JAVA_HOME");
    int rc = pdk__server_new(&s, &(struct pdk__server_options){0});
    setenv("PATH", path, 1);
    free(path);
    CHECK_EQ(rc, -1);
    CHECK_STR(pdk__server_error(), "java is missing; on Debian: apt-get install default-jre-headless");
}

static void borrowed(void)
{
    char name[32];
    int port = pdk__server_port(server);
    snprintf(name, sizeof name, "127.0.0.1:%d", port);
    setenv("PADDOCK_TEST_HOSTS", name, 1);
    pdk__ensemble *e = pdk__ensemble_new(&(struct pdk__ensemble_options){0});
    unsetenv("PADDOCK_TEST_HOSTS");
    CHECK(pdk__server_port(e->server[0]) != port);
    zhandle_t *zh = pdk__zk_open(e->hosts, 30000);
    CHECK_EQ(zoo_create(zh, "/borrowed", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0), ZOK);
    CHECK_EQ(pdk__ask_ephemerals(e->server[0], zoo_client_id(zh)->client_id), 1);
    CHECK_EQ(pdk__ask_ephemerals(server, zoo_client_id(zh)->client_id), 1);
    CHECK_EQ(pdk__server_start(e->server[0]), -1);
    zookeeper_close(zh);
    pdk__ensemble_free(e);
    CHECK_EQ(pdk__server_ask_role(server), PDK__SERVER_STANDALONE);
}

static int dial(int port)
{
    struct sockaddr_in to = loopback(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK_EQ(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

/* As a member does that finds its new leader not yet listening. */
static void waits_at_the_door(void)
{
    char answer;
    pdk__server_stop(server, 10000);
    pdk__proxy *p = pdk__proxy_new(pdk__server_port(server), true);
    int fd = dial(pdk__proxy_port(p));
    CHECK_EQ(write(fd, "srvr", 4), 4);
    CHECK_EQ(pdk__server_start(server), 0);
    CHECK_EQ(pdk__server_wait_ready(server, 60000), 0);
    CHECK_EQ(read(fd, &answer, 1), 1);
    close(fd);
    pdk__proxy_free(p);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a stopped server comes back on its port", comes_back},
        {"a stopped server keeps its port", keeps_its_port},
        {"a port that is taken is found out", port_taken},
        {"a server dies with its parent and leaves nothing", dies_with_parent},
        {"a freed server leaves nothing, even when it was paused", leaves_nothing},
        {"a missing jar or java names its Debian package", names_the_package},
        {"servers of somebody else are used, and left alone", borrowed},
        {"a link's caller waits until the server listens", waits_at_the_door},
        {0},
    };
    return pdk__test_main(
        argc, argv, &(struct pdk__test_suite){.name = "harness", .tests = tests, .setup = setup, .teardown = teardown});
}
