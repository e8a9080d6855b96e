#include "bench/tally.h"

#include "bench/crowd.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <zookeeper/zookeeper.h>

enum { FDS_MAX = 65536, OWNERS_MAX = 16384 };

/* --- the counters ------------------------------------------------------------------------------------------------ */

struct stamp {
    double at;
    int owner;
};

struct stamps {
    struct stamp *all;
    size_t n, room;
};

static atomic_long requests[TALLY_KINDS], sent, received;
static _Atomic double last;
static atomic_bool is_clients[FDS_MAX]; /* connected by ZooKeeper's client */

/* By the context of a handle; 0 is the owner that does not fit. */
static _Atomic uintptr_t owners[OWNERS_MAX];
static atomic_long lists[OWNERS_MAX];

static pthread_mutex_t stamping = PTHREAD_MUTEX_INITIALIZER;
static struct stamps creates, connects;

static _Thread_local int connecting_owner; /* of the handle whose connection this thread makes; 0: of none */
static _Thread_local int depth;            /* one call of ZooKeeper's client is made of others */

static int owner_of(const void *context)
{
    uintptr_t wanted = (uintptr_t)context;
    size_t at = wanted * 0x9e3779b97f4a7c15u >> 32;
    for (size_t i = 0; i < OWNERS_MAX; i++) {
        size_t place = 1 + (at + i) % (OWNERS_MAX - 1);
        uintptr_t found = 0;
        if (atomic_compare_exchange_strong(&owners[place], &found, wanted) || found == wanted)
            return (int)place;
    }
    return 0;
}

static void stamp(struct stamps *s, int owner)
{
    pthread_mutex_lock(&stamping);
    if (s->n == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 1024;
        s->all = realloc(s->all, s->room * sizeof *s->all);
        if (s->all == NULL)
            crowd_fail("out of memory");
    }
    s->all[s->n++] = (struct stamp){crowd_now(), owner};
    pthread_mutex_unlock(&stamping);
}

static void count(zhandle_t *zh, enum tally_kind kind, int rc)
{
    if (--depth > 0 || rc != ZOK)
        return;
    atomic_fetch_add(&requests[kind], 1);
    if (kind <= TALLY_LIST)
        atomic_store(&last, crowd_now());
    if (kind == TALLY_LIST)
        atomic_fetch_add(&lists[owner_of(zoo_get_context(zh))], 1);
    if (kind == TALLY_CREATE)
        stamp(&creates, 0);
}

/* --- reading them ------------------------------------------------------------------------------------------------ */

void tally_begin(void)
{
    for (int i = 0; i < TALLY_KINDS; i++)
        atomic_store(&requests[i], 0);
    for (int i = 0; i < OWNERS_MAX; i++)
        atomic_store(&lists[i], 0);
    atomic_store(&sent, 0);
    atomic_store(&received, 0);
    atomic_store(&last, 0);
    pthread_mutex_lock(&stamping);
    creates.n = connects.n = 0;
    pthread_mutex_unlock(&stamping);
}

static int by_owner_and_time(const void *a, const void *b)
{
    const struct stamp *x = a, *y = b;
    if (x->owner != y->owner)
        return x->owner < y->owner ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Of one owner, in any second. */
static long most_in_a_second(struct stamps *s)
{
    long most = 0;
    if (s->n > 0)
        qsort(s->all, s->n, sizeof *s->all, by_owner_and_time);
    for (size_t from = 0, to = 0; to < s->n; to++) {
        while (s->all[from].owner != s->all[to].owner || s->all[to].at - s->all[from].at >= 1)
            from++;
        most = (long)(to - from + 1) > most ? (long)(to - from + 1) : most;
    }
    return most;
}

static double spread_of(struct stamps *s)
{
    if (s->n == 0)
        return 0;
    qsort(s->all, s->n, sizeof *s->all, by_owner_and_time);
    return s->all[(s->n - 1) * 98 / 100].at - s->all[0].at;
}

double tally_last(void) { return atomic_load(&last); }

void tally_read(struct tally *t)
{
    *t = (struct tally){.sent = atomic_load(&sent), .received = atomic_load(&received), .last = tally_last()};
    for (int i = 0; i < TALLY_KINDS; i++)
        t->requests[i] = atomic_load(&requests[i]);
    for (int i = 0; i < OWNERS_MAX; i++)
        t->most_lists = atomic_load(&lists[i]) > t->most_lists ? atomic_load(&lists[i]) : t->most_lists;
    pthread_mutex_lock(&stamping);
    t->connects = (long)connects.n;
    t->most_connects = most_in_a_second(&connects);
    t->spread = spread_of(&creates);
    pthread_mutex_unlock(&stamping);
}

/* --- calls of the C library -------------------------------------------------------------------------------------- */

/* The real function of the same name, found once. A race finds it twice. */
#define REAL(name)                                                                                                     \
    static _Atomic(void *) found;                                                                                      \
    __typeof__(&(name)) real;                                                                                          \
    if (atomic_load(&found) == NULL)                                                                                   \
        atomic_store(&found, dlsym(RTLD_NEXT, #name));                                                                 \
    *(void **)&real = atomic_load(&found)

static bool is_of_client(int fd) { return fd >= 0 && fd < FDS_MAX && atomic_load(&is_clients[fd]); }

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    REAL(connect);
    if (fd >= 0 && fd < FDS_MAX)
        atomic_store(&is_clients[fd], connecting_owner > 0);
    if (connecting_owner > 0)
        stamp(&connects, connecting_owner);
    return real(fd, address, size);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
    REAL(send);
    ssize_t n = real(fd, data, size, flags);
    if (n > 0 && is_of_client(fd))
        atomic_fetch_add(&sent, n);
    return n;
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
    REAL(recv);
    ssize_t n = real(fd, data, size, flags);
    if (n > 0 && is_of_client(fd))
        atomic_fetch_add(&received, n);
    return n;
}

/* --- calls of ZooKeeper's client --------------------------------------------------------------------------------- */

/* The thread of a handle calls it before each poll; where there is no connection, it makes one. The header has it for
 * the client without threads alone. */
int zookeeper_interest(zhandle_t *zh, int *fd, int *interest, struct timeval *timeout);
int zookeeper_interest(zhandle_t *zh, int *fd, int *interest, struct timeval *timeout)
{
    REAL(zookeeper_interest);
    connecting_owner = owner_of(zoo_get_context(zh));
    int rc = real(zh, fd, interest, timeout);
    connecting_owner = 0;
    return rc;
}

static enum tally_kind kind_of_create(int mode) { return mode & ZOO_EPHEMERAL ? TALLY_CREATE : TALLY_CONTAINER; }

static enum tally_kind kind_of_exists(const char *path) { return strcmp(path, "/") == 0 ? TALLY_RENEWAL : TALLY_READ; }

/* A contender's node has a number at its end. */
static enum tally_kind kind_of_delete(const char *path)
{
    size_t n = strlen(path);
    return n > 0 && path[n - 1] >= '0' && path[n - 1] <= '9' ? TALLY_DELETE : TALLY_RENEWAL;
}

#define COUNTED(name, kind, parameters, arguments)                                                                     \
    int name parameters                                                                                                \
    {                                                                                                                  \
        REAL(name);                                                                                                    \
        depth++;                                                                                                       \
        int rc = real arguments;                                                                                       \
        count(zh, kind, rc);                                                                                           \
        return rc;                                                                                                     \
    }

COUNTED(zoo_acreate, kind_of_create(mode),
        (zhandle_t * zh, const char *path, const char *value, int size, const struct ACL_vector *acl, int mode,
         string_completion_t completion, const void *data),
        (zh, path, value, size, acl, mode, completion, data))
COUNTED(zoo_acreate2, kind_of_create(mode),
        (zhandle_t * zh, const char *path, const char *value, int size, const struct ACL_vector *acl, int mode,
         string_stat_completion_t completion, const void *data),
        (zh, path, value, size, acl, mode, completion, data))
COUNTED(zoo_adelete, kind_of_delete(path),
        (zhandle_t * zh, const char *path, int version, void_completion_t completion, const void *data),
        (zh, path, version, completion, data))
COUNTED(zoo_aexists, kind_of_exists(path),
        (zhandle_t * zh, const char *path, int watch, stat_completion_t completion, const void *data),
        (zh, path, watch, completion, data))
COUNTED(zoo_awexists, TALLY_READ,
        (zhandle_t * zh, const char *path, watcher_fn watcher, void *context, stat_completion_t completion,
         const void *data),
        (zh, path, watcher, context, completion, data))
COUNTED(zoo_aget, TALLY_READ,
        (zhandle_t * zh, const char *path, int watch, data_completion_t completion, const void *data),
        (zh, path, watch, completion, data))
COUNTED(zoo_awget, TALLY_READ,
        (zhandle_t * zh, const char *path, watcher_fn watcher, void *context, data_completion_t completion,
         const void *data),
        (zh, path, watcher, context, completion, data))
COUNTED(zoo_aget_acl, TALLY_READ, (zhandle_t * zh, const char *path, acl_completion_t completion, const void *data),
        (zh, path, completion, data))
COUNTED(zoo_aset, TALLY_WRITE,
        (zhandle_t * zh, const char *path, const char *value, int size, int version, stat_completion_t completion,
         const void *data),
        (zh, path, value, size, version, completion, data))
COUNTED(zoo_aget_children, TALLY_LIST,
        (zhandle_t * zh, const char *path, int watch, strings_completion_t completion, const void *data),
        (zh, path, watch, completion, data))
COUNTED(zoo_awget_children, TALLY_LIST,
        (zhandle_t * zh, const char *path, watcher_fn watcher, void *context, strings_completion_t completion,
         const void *data),
        (zh, path, watcher, context, completion, data))
COUNTED(zoo_aget_children2, TALLY_LIST,
        (zhandle_t * zh, const char *path, int watch, strings_stat_completion_t completion, const void *data),
        (zh, path, watch, completion, data))
COUNTED(zoo_awget_children2, TALLY_LIST,
        (zhandle_t * zh, const char *path, watcher_fn watcher, void *context, strings_stat_completion_t completion,
         const void *data),
        (zh, path, watcher, context, completion, data))
COUNTED(zoo_amulti, TALLY_OTHER,
        (zhandle_t * zh, int n, const zoo_op_t *ops, zoo_op_result_t *results, void_completion_t completion,
         const void *data),
        (zh, n, ops, results, completion, data))
COUNTED(zoo_async, TALLY_RENEWAL, (zhandle_t * zh, const char *path, string_completion_t completion, const void *data),
        (zh, path, completion, data))
COUNTED(zoo_aremove_all_watches, TALLY_OTHER,
        (zhandle_t * zh, const char *path, ZooWatcherType type, int local, void_completion_t *completion,
         const void *data),
        (zh, path, type, local, completion, data))
