/*
 * Leaving a server that is silent, in the same session.
 *
 * ZooKeeper's client has no call for it. zoo_set_servers() without that server closes the descriptor under the thread
 * that polls it, does not report the loss, and leaves the requests on its list, where the next answer finds the wrong
 * head. A second handle of the same session would make the first one's close end that session. But when the connection
 * ends, as if the server had hung up, the client's own thread does everything right: the event, the failed requests,
 * the next server. So the socket is shut down.
 *
 * The handle does not report its descriptor. It reports the address of the server that it is connected to, or tries. If
 * exactly one socket of the process goes there, it is the one. When there are more, nothing is done. The socket is shut
 * down through a duplicate of the descriptor, checked again: the number itself may be closed and reused for another
 * file at any moment.
 *
 * A socket whose peer has not answered yet (SYN_SENT) does not show its destination. /proc/net/tcp does, by its inode.
 * A server that is silent in the TLS handshake is left by tls.c.
 */

#include "lib/zk/leave.h"
#include "lib/assert.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ZooKeeper's client has it, and does not declare it: by TLS, until the handshake is over. */
enum { SSL_CONNECTING_STATE = 7 };

struct peer {
    struct sockaddr_storage address;
    socklen_t size;
};

static bool same(const struct peer *a, const struct peer *b)
{
    return a->size == b->size && memcmp(&a->address, &b->address, a->size) == 0;
}

static bool peer_of(int fd, struct peer *peer)
{
    *peer = (struct peer){.size = sizeof peer->address};
    return getpeername(fd, (struct sockaddr *)&peer->address, &peer->size) == 0;
}

/* "10.0.0.1:2181", or "[fd00::1]:2181" */
static bool parse(const char *text, struct peer *peer)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)&peer->address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&peer->address;
    char host[INET6_ADDRSTRLEN];
    in_port_t port;
    bool is_v6 = sscanf(text, "[%45[^]]]:%" SCNu16, host, &port) == 2;
    if (!is_v6 && sscanf(text, "%45[^:]:%" SCNu16, host, &port) != 2)
        return false;
    *peer = (struct peer){.size = is_v6 ? sizeof *v6 : sizeof *v4};
    peer->address.ss_family = is_v6 ? AF_INET6 : AF_INET;
    *(is_v6 ? &v6->sin6_port : &v4->sin_port) = htons(port);
    return inet_pton(peer->address.ss_family, host, is_v6 ? (void *)&v6->sin6_addr : &v4->sin_addr) == 1;
}

/* ZooKeeper's client formats the address into a static buffer, which another handle's thread may write to. Such a
 * mixture is the address of no socket, or is found to have changed. The client takes the lock under which it
 * resolves names, but does that before it begins to connect. */
static bool server_of(zhandle_t *zh, struct peer *peer)
{
    int state = zoo_state(zh);
    if (state == ZOO_CONNECTING_STATE || state == ZOO_ASSOCIATING_STATE || state == SSL_CONNECTING_STATE)
        return parse(zoo_get_current_server(zh), peer);
    *peer = (struct peer){.size = sizeof peer->address};
    return zookeeper_get_connected_host(zh, (struct sockaddr *)&peer->address, &peer->size) != NULL;
}

/* --- sockets that wait for a connection -------------------------------------------------------------------------- */

/* As /proc/net/tcp has it: words in the order of this machine. */
static void print_as_in_proc(const struct peer *peer, char text[static 48])
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&peer->address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&peer->address;
    uint32_t word[4];
    if (peer->address.ss_family == AF_INET) {
        snprintf(text, 48, "%08X:%04X", (unsigned)v4->sin_addr.s_addr, ntohs(v4->sin_port));
    } else {
        memcpy(word, &v6->sin6_addr, sizeof word);
        snprintf(text, 48, "%08X%08X%08X%08X:%04X", word[0], word[1], word[2], word[3], ntohs(v6->sin6_port));
    }
}

/* The inodes of this machine's sockets that are in SYN_SENT to PEER; at most MAX. */
static int waiting_for(const struct peer *peer, uint64_t *inodes, int max)
{
    enum { SYN_SENT = 2 };
    char wanted[48], remote[48], line[256];
    int n = 0;
    assert(max > 0);
    unsigned state;
    uint64_t inode;
    FILE *file = fopen(peer->address.ss_family == AF_INET ? "/proc/self/net/tcp" : "/proc/self/net/tcp6", "re");
    if (file == NULL)
        return 0;
    print_as_in_proc(peer, wanted);
    while (n < max && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, " %*s %*s %47s %x %*s %*s %*s %*s %*s %" SCNu64, remote, &state, &inode) == 3 &&
            state == SYN_SENT && strcmp(remote, wanted) == 0)
            inodes[n++] = inode;
    fclose(file);
    return n;
}

enum { WAITING_MAX = 64 };

struct route {
    struct peer server;
    bool tried; /* not reached yet: the socket is one of those in `waiting` */
    uint64_t waiting[WAITING_MAX];
    int n_waiting;
};

/* The descriptor may be another thread's: its name is read, and nothing is asked of the file itself. */
static bool waits(int fd, const struct route *route)
{
    char path[64], target[64];
    uint64_t inode;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    if (sscanf(target, "socket:[%" SCNu64, &inode) != 1)
        return false;
    for (int i = 0; i < route->n_waiting; i++)
        if (route->waiting[i] == inode)
            return true;
    return false;
}

static bool leads(int fd, const struct route *route)
{
    struct peer peer;
    bool reached = peer_of(fd, &peer);
    return route->tried ? !reached && waits(fd, route) : reached && same(&peer, &route->server);
}

/* --- leaving ----------------------------------------------------------------------------------------------------- */

/* The only descriptor that leads there, or -1. */
static int find(const struct route *route)
{
    int found = -1, n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (dir == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        int fd = atoi(entry->d_name);
        if (*entry->d_name == '.' || !leads(fd, route))
            continue;
        found = fd;
        n++;
    }
    closedir(dir);
    return n == 1 ? found : -1;
}

void pdk__leave(struct pdk_client *c)
{
    struct route route;
    struct peer now;
    assert(pdk__client_locked(c));
    if (c->adopted || c->zh == NULL || !server_of(c->zh, &route.server))
        return;
    int state = zoo_state(c->zh);
    route.tried = state == ZOO_CONNECTING_STATE || state == SSL_CONNECTING_STATE;
    route.n_waiting = route.tried ? waiting_for(&route.server, route.waiting, WAITING_MAX) : 0;
    int fd = find(&route);
    int held = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (held < 0)
        return;
    if (leads(held, &route) && server_of(c->zh, &now) && same(&now, &route.server))
        shutdown(held, SHUT_RDWR);
    close(held);
}
