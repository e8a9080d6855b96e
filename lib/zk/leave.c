/*
 * Leaving a server that is silent, in the same session.
 *
 * ZooKeeper's client has no call for it. zoo_set_servers() without that server closes the descriptor under the thread
 * that polls it, says nothing of the loss, and leaves what was asked on its list, where the next answer finds the wrong
 * head. A second handle of the same session would make the first one's close end that session. But when the connection
 * ends, as if the server had hung up, its own thread does all that is right: the event, the failed requests, the next
 * server. So the socket is shut down.
 *
 * The handle does not tell its descriptor. It tells the address of its server; and if exactly one socket of the process
 * is connected to that, it is the one. When there are more, nothing is done. The socket is shut down through a
 * duplicate of the descriptor, checked again: the number itself may be closed and reused for another file at any
 * moment.
 */
#include "lib/zk/client.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

static bool server_of(zhandle_t *zh, struct peer *peer)
{
    *peer = (struct peer){.size = sizeof peer->address};
    return zookeeper_get_connected_host(zh, (struct sockaddr *)&peer->address, &peer->size) != NULL;
}

/* The only descriptor that is connected to SERVER, or -1. */
static int find(const struct peer *server)
{
    int found = -1, n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (dir == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        struct peer peer;
        int fd = atoi(entry->d_name);
        if (*entry->d_name == '.' || !peer_of(fd, &peer) || !same(&peer, server))
            continue;
        found = fd;
        n++;
    }
    closedir(dir);
    return n == 1 ? found : -1;
}

void pdk__handle_leave(struct pdk_client *c)
{
    struct peer server, now, peer;
    if (c->adopted || c->zh == NULL || !server_of(c->zh, &server))
        return;
    int fd = find(&server);
    int held = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (held < 0)
        return;
    if (peer_of(held, &peer) && same(&peer, &server) && server_of(c->zh, &now) && same(&now, &server))
        shutdown(held, SHUT_RDWR);
    close(held);
}
