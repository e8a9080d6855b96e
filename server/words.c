#include "server/words.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 2000, LOWEST_PORT = 12000, N_PORTS = 20000 };

static long long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

static bool await(int fd, short events, long long until)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events};
        long long left = until - now_ms();
        int ready = poll(&p, 1, left > 0 ? (int)left : 0);
        if (ready > 0)
            return true;
        if (ready == 0)
            errno = ETIMEDOUT;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

static int dial(const char *host, int port, long long until)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int error = 0;
    socklen_t size = sizeof error;
    if (inet_pton(AF_INET, host, &to.sin_addr) != 1) {
        errno = EINVAL;
        return -1;
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    if (errno == EINPROGRESS && await(fd, POLLOUT, until)) {
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error == 0)
            return fd;
        errno = error;
    }
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* The server closes when it has sent everything. Bytes that do not fit are read and dropped, or it would get a
 * reset. */
static int gather(int fd, char *buf, size_t size, long long until)
{
    size_t n = 0;
    char rest[4096];
    while (await(fd, POLLIN, until)) {
        bool full = n + 1 >= size;
        ssize_t got = full ? read(fd, rest, sizeof rest) : read(fd, buf + n, size - 1 - n);
        if (got == 0 || (got < 0 && errno == ECONNRESET && n > 0)) {
            buf[n] = '\0';
            return (int)n;
        }
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return -1;
        if (got > 0 && !full)
            n += (size_t)got;
    }
    return -1;
}

int pdk__server_4lw(const char *host, int port, const char *word, char *buf, size_t size)
{
    long long until = now_ms() + ANSWER_MS;
    int n = -1;
    int fd = dial(host, port, until);
    if (fd < 0)
        return -1;
    if (send(fd, word, strlen(word), MSG_NOSIGNAL) == (ssize_t)strlen(word))
        n = gather(fd, buf, size, until);
    int saved = errno;
    close(fd);
    errno = saved;
    return n;
}

static int bind_to(int port, int reuse)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

int pdk__server_hold_port(int port) { return bind_to(port, 1); }

/* Without SO_REUSEADDR: so a port that is merely held counts as taken. */
static bool is_free(int port)
{
    int fd = bind_to(port, 0);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/*
 * Not from the kernel's own range (bind to 0): it hands those to outgoing connections too. A client that tries again
 * and again to reach a stopped server there can be given the very port as its own, and is connected to itself. Then the
 * server cannot come back.
 */
int pdk__server_free_port(void)
{
    static atomic_uint next;
    unsigned start = 0;
    if (atomic_load(&next) == 0 && getrandom(&start, sizeof start, 0) == sizeof start) {
        unsigned unset = 0;
        atomic_compare_exchange_strong(&next, &unset, start % N_PORTS + 1);
    }
    for (int i = 0; i < N_PORTS; i++) {
        int port = LOWEST_PORT + (int)(atomic_fetch_add(&next, 1) % N_PORTS);
        if (is_free(port))
            return port;
    }
    errno = EADDRINUSE;
    return -1;
}
