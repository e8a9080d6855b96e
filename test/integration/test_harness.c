/* The tools of the other tests, on real servers. */
#include "server/handshake.h"
#include "server/throwaway.h"
#include "test/lib/check.h"
#include "test/lib/ensemble.h"
#include "test/lib/zk.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
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

/* No other process can take it, and a client is refused. The server has had no client yet: connections that ended a
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
    pid_t child = pdk__test_fork(); /* it has the descriptors, too */
    if (child == 0)
        pause();
    pdk__server_pause(s); /* not even a stopped one */
    pdk__server_free(s);
    kill(child, SIGKILL);
    CHECK_EQ(pdk__test_wait(child), -SIGKILL);
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

/* Its port is open, and it answers nothing: a server that starts, as a client sees it. */
static void no_session(void)
{
    int port = pdk__server_free_port();
    int fd = pdk__server_hold_port(port);
    CHECK(fd >= 0);
    CHECK(!pdk__server_grants_session(port, 100));
    CHECK_EQ(listen(fd, 8), 0);
    CHECK(!pdk__server_grants_session(port, 100));
    close(fd);
    CHECK(pdk__server_grants_session(pdk__server_port(server), 60000));
    CHECK_WITHIN(60000, pdk__ask_connections(server) == 0);
}

/* Dials all the time; the first time that it is let in, the server must grant a session. */
static void *enter(void *arg)
{
    static const char no_password[PDK__PASSWORD_SIZE];
    int64_t id = 0;
    int fd;
    CHECK_WITHIN(60000, (fd = pdk__server_dial(*(int *)arg, 60000)) >= 0);
    CHECK_EQ(pdk__handshake(fd, &id, no_password), 0);
    close(fd);
    return NULL;
}

static void door_is_closed(void)
{
    pthread_t visitor;
    pdk__ensemble *e = pdk__ensemble_new(&(struct pdk__ensemble_options){.own = true});
    int port = pdk__proxy_port(e->door[0]);
    pdk__server_kill(e->server[0]);
    pdk__proxy_refuse(e->door[0], true);
    CHECK_EQ(pthread_create(&visitor, NULL, enter, &port), 0);
    pdk__ensemble_restart(e, 0);
    CHECK_EQ(pthread_join(visitor, NULL), 0);
    pdk__ensemble_free(e);
}

/* A count of none is no answer where a node is, whatever happened to the answer. */
static void reads_are_answered(void)
{
    pdk__ensemble *e = pdk__ensemble_new(&(struct pdk__ensemble_options){.own = true});
    zhandle_t *zh = pdk__zk_open(e->hosts, 30000);
    struct String_vector names;
    struct Stat stat;
    CHECK_EQ(zoo_create(zh, "/read", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK);
    CHECK_EQ(zoo_create(zh, "/read/me", "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, NULL, 0), ZOK);
    int list = pdk__proxy_rule(e->proxy[0],
                               &(struct pdk__proxy_rule){.op = PDK__OP_LIST, .act = PDK__CUT_BEFORE_REPLY});
    int look = pdk__proxy_rule(e->proxy[0],
                               &(struct pdk__proxy_rule){.op = PDK__OP_EXISTS, .act = PDK__CUT_BEFORE_REPLY});
    CHECK_EQ(pdk__zk_list(zh, "/read", &names), ZOK);
    CHECK_EQ(names.count, 1);
    deallocate_String_vector(&names);
    CHECK_EQ(pdk__zk_stat(zh, "/read", &stat), ZOK);
    CHECK_EQ(stat.numChildren, 1);
    CHECK_EQ(pdk__proxy_hits(e->proxy[0], list), 1);
    CHECK_EQ(pdk__proxy_hits(e->proxy[0], look), 1);
    CHECK_EQ(pdk__zk_list(zh, "/unread", &names), ZNONODE);
    CHECK_EQ(pdk__zk_stat(zh, "/unread", &stat), ZNONODE);
    zookeeper_close(zh);
    pdk__ensemble_free(e);
}

/* A read that the server refuses fails the test, and is not a path without nodes. */
static void refusals_are_told(void)
{
    CHILD_HAS_THREADS();
    char hosts[32];
    struct String_vector names;
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", pdk__server_port(server));
    pid_t child = pdk__test_fork();
    if (child == 0) {
        zhandle_t *zh = pdk__zk_open(hosts, 30000);
        CHECK_EQ(zoo_add_auth(zh, "digest", "keeper:secret", 13, NULL, NULL), ZOK);
        CHECK_EQ(zoo_create(zh, "/private", "", 0, &ZOO_CREATOR_ALL_ACL, 0, NULL, 0), ZOK);
        zookeeper_close(zh);
        zh = pdk__zk_open(hosts, 30000);
        close(STDERR_FILENO);
        pdk__zk_list(zh, "/private", &names);
        _exit(0);
    }
    CHECK_EQ(pdk__test_wait(child), 1);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a stopped server comes back on its port", comes_back},
        {"a stopped server keeps its port", keeps_its_port},
        {"a port that is taken is found out", port_taken},
        {"a server dies with its parent and leaves nothing", dies_with_parent},
        {"a freed server leaves nothing, even when it was paused and a forked child goes on", leaves_nothing},
        {"a missing jar or java names its Debian package", names_the_package},
        {"servers of somebody else are used, and left alone", borrowed},
        {"a server that accepts connections and does not answer grants no session", no_session},
        {"a server that starts is behind a closed door until it grants sessions", door_is_closed},
        {"a read whose answer is lost is made again", reads_are_answered},
        {"a read that is refused fails the test", refusals_are_told},
        {"a link's caller waits until the server listens", waits_at_the_door},
        {0},
    };
    return pdk__test_main(
        argc, argv, &(struct pdk__test_suite){.name = "harness", .tests = tests, .setup = setup, .teardown = teardown});
}
