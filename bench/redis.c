/*
 * The worker on Redis: SET NX with a time to live, and a script that deletes the key of its own value only. A waiter
 * asks again every millisecond, as Redis has no queue. Each lock has a connection of its own.
 */
#include "bench/worker.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { AGAIN_US = 1000 };

struct redis_lock {
    int fd;
    char lock[512], unlock[1024];
};

static int dial(const char *where)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)atoi(strchr(where, ':') + 1)),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0)
        worker_fail("no connection to %s", where);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static void *lock_new(void *where, const char *path, bool contended)
{
    static _Atomic int last;
    struct redis_lock *l = calloc(1, sizeof *l);
    char value[32];
    (void)contended;
    if (l == NULL)
        return NULL;
    l->fd = dial(where);
    snprintf(value, sizeof value, "%d-%d", (int)getpid(), ++last);
    snprintf(l->lock, sizeof l->lock, "SET %s %s NX PX 10000\r\n", path, value);
    snprintf(l->unlock, sizeof l->unlock,
             "EVAL \"if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end\" "
             "1 %s %s\r\n",
             path, value);
    return l;
}

static void lock_free(void *lock)
{
    close(((struct redis_lock *)lock)->fd);
    free(lock);
}

/* Every answer is one line. */
static void ask(struct redis_lock *l, const char *command, char *answer, size_t size)
{
    size_t n = strlen(command), at = 0;
    if (write(l->fd, command, n) != (ssize_t)n)
        worker_fail("redis: write");
    while (at < 2 || answer[at - 1] != '\n') {
        ssize_t got = at + 1 < size ? read(l->fd, answer + at, size - at - 1) : -1;
        if (got <= 0)
            worker_fail("redis: read");
        at += (size_t)got;
    }
    answer[at] = '\0';
    if (*answer == '-')
        worker_fail("redis: %.*s", (int)at - 2, answer);
}

static void lock(void *lock)
{
    char answer[512];
    for (;;) {
        ask(lock, ((struct redis_lock *)lock)->lock, answer, sizeof answer);
        if (*answer == '+')
            return;
        usleep(AGAIN_US);
    }
}

static void unlock(void *lock)
{
    char answer[512];
    ask(lock, ((struct redis_lock *)lock)->unlock, answer, sizeof answer);
    if (*answer != ':' || answer[1] != '1')
        worker_fail("redis: the lock was not ours: %s", answer);
}

int main(int argc, char **argv)
{
    static const struct worker_system redis = {
        .lock_new = lock_new, .lock_free = lock_free, .lock = lock, .unlock = unlock};
    return worker_main(argc, argv, &redis);
}
