#include "server/handshake.h"

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { SESSION_MS = 30000, REQUEST_SIZE = 44, ANSWER_MAX = 64, CLOSE_SESSION = -11 };

static void put32(unsigned char *at, int32_t value)
{
    uint32_t big = htobe32((uint32_t)value);
    memcpy(at, &big, sizeof big);
}

static void put64(unsigned char *at, int64_t value)
{
    uint64_t big = htobe64((uint64_t)value);
    memcpy(at, &big, sizeof big);
}

static int32_t get32(const unsigned char *at)
{
    uint32_t big;
    memcpy(&big, at, sizeof big);
    return (int32_t)be32toh(big);
}

static int64_t get64(const unsigned char *at)
{
    uint64_t big;
    memcpy(&big, at, sizeof big);
    return (int64_t)be64toh(big);
}

static bool hear(int fd, unsigned char *to, size_t size) { return recv(fd, to, size, MSG_WAITALL) == (ssize_t)size; }

/* ConnectRequest: version, last zxid seen, timeout, session, password. ConnectResponse: version, timeout, session,
 * password, and from some servers a byte for read-only mode. Its timeout is 0 for a session that the servers do not
 * know. */
int pdk__handshake(int fd, int64_t *id, const char password[PDK__PASSWORD_SIZE])
{
    unsigned char out[4 + REQUEST_SIZE] = {0}, in[ANSWER_MAX];
    put32(out, REQUEST_SIZE);
    put32(out + 16, SESSION_MS);
    put64(out + 20, *id);
    put32(out + 28, PDK__PASSWORD_SIZE);
    memcpy(out + 32, password, PDK__PASSWORD_SIZE);
    if (send(fd, out, sizeof out, MSG_NOSIGNAL) != sizeof out || !hear(fd, in, 4))
        return -1;
    int32_t size = get32(in);
    if (size < 16 || size > ANSWER_MAX || !hear(fd, in, (size_t)size))
        return -1;
    if (get32(in + 4) <= 0)
        *id = 0;
    if (get32(in + 4) <= 0 || (*id != 0 && get64(in + 8) != *id))
        return -1;
    *id = get64(in + 8);
    return 0;
}

int pdk__server_dial(int port, int timeout_ms)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval limit = {.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000};
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

/* The server closes the connection after its answer. */
static void hang_up(int fd)
{
    unsigned char out[4 + 8], in[ANSWER_MAX];
    put32(out, 8);
    put32(out + 4, 1);
    put32(out + 8, CLOSE_SESSION);
    if (send(fd, out, sizeof out, MSG_NOSIGNAL) == sizeof out)
        while (recv(fd, in, sizeof in, 0) > 0)
            ;
}

bool pdk__server_grants_session(int port, int timeout_ms)
{
    static const char no_password[PDK__PASSWORD_SIZE];
    int64_t id = 0;
    int fd = pdk__server_dial(port, timeout_ms);
    if (fd < 0)
        return false;
    bool granted = pdk__handshake(fd, &id, no_password) == 0;
    if (granted)
        hang_up(fd);
    close(fd);
    return granted;
}
