#include "test/lib/zk.h"

#include "test/lib/check.h"
#include "test/lib/frame.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

zhandle_t *pdk__zk_open(const char *hosts, int session_ms)
{
    zoo_set_debug_level((ZooLogLevel)0);
    zhandle_t *zh = zookeeper_init(hosts, NULL, session_ms, NULL, NULL, ZOO_NO_LOG_CLIENTENV);
    CHECK(zh != NULL);
    /* Else it looks names up all the time, and a child that is forked meanwhile finds the resolver's locks taken. */
    zoo_set_servers_resolution_delay(zh, -1);
    CHECK_WITHIN(60000, zoo_state(zh) == ZOO_CONNECTED_STATE);
    return zh;
}

/* --- a session ended from outside -------------------------------------------------------------------------------- */

static int dial(int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval limit = {.tv_sec = 20};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

/* One frame, at most SIZE bytes of it; its size, or -1. */
static long hear(int fd, unsigned char *frame, size_t size)
{
    size_t n = 0;
    long whole;
    while ((whole = pdk__frame_size(frame, n)) == 0 && n < size) {
        ssize_t got = recv(fd, frame + n, size - n, 0);
        if (got <= 0)
            return -1;
        n += (size_t)got;
    }
    return whole > 0 ? whole : -1;
}

/* ConnectRequest: version, last zxid seen, timeout, session, password. The answer's timeout is 0 for a session that the
 * servers do not know. */
static int attach(int fd, const clientid_t *id)
{
    unsigned char out[4 + 44] = {0}, in[512];
    pdk__put32(out, 44);
    pdk__put32(out + 16, 10000);
    pdk__put64(out + 20, id->client_id);
    pdk__put32(out + 28, 16);
    memcpy(out + 32, id->passwd, 16);
    if (send(fd, out, sizeof out, MSG_NOSIGNAL) != sizeof out || hear(fd, in, sizeof in) < 4 + 16)
        return -1;
    return pdk__get32(in + 8) > 0 && pdk__get64(in + 12) == id->client_id ? 0 : -1;
}

/* Notifications of the session's watches may come in between. */
static int end(int fd)
{
    unsigned char out[4 + 8], in[65536];
    pdk__put32(out, 8);
    pdk__put32(out + 4, 1);
    pdk__put32(out + 8, PDK__OP_CLOSE);
    if (send(fd, out, sizeof out, MSG_NOSIGNAL) != sizeof out)
        return -1;
    long n = hear(fd, in, sizeof in);
    struct pdk__reply r;
    return n > 0 && pdk__frame_reply(in, (size_t)n, &r) && r.error == 0 ? 0 : -1;
}

int pdk__zk_kill_session(int port, const clientid_t *id)
{
    int rc = -1;
    int fd = dial(port);
    if (fd < 0)
        return -1;
    if (attach(fd, id) == 0)
        rc = end(fd);
    close(fd);
    return rc;
}
