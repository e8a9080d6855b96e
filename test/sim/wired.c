/* The calls that ZooKeeper's own C client makes to the system. */
#include "test/sim/wired.h"
#include "test/sim/laws.h"
#include "test/sim/shim.h"
#undef poll
#undef close
#undef read
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <zookeeper/recordio.h>
#include <zookeeper/zookeeper.h>
#include <zookeeper/zookeeper.jute.h>

/* wired.syms gives these names to what the client's objects call. */
void real_free(void *p);
void *real_realloc(void *p, size_t size);
char *real_strdup(const char *text);
int real_pipe(int fds[2]);
ssize_t real_write(int fd, const void *bytes, size_t size);
ssize_t real_read(int fd, void *bytes, size_t size);
int real_open(const char *file, int flags, ...);
int real_fcntl(int fd, int command, ...);
int real_socket(int domain, int type, int protocol);
int real_setsockopt(int fd, int level, int name, const void *value, socklen_t size);
int real_getsockopt(int fd, int level, int name, void *value, socklen_t *size);
int real_connect(int fd, const struct sockaddr *address, socklen_t size);
int real_getpeername(int fd, struct sockaddr *address, socklen_t *size);
ssize_t real_send(int fd, const void *bytes, size_t size, int flags);
ssize_t real_recv(int fd, void *bytes, size_t size, int flags);
int real_close(int fd);
int real_poll(struct pollfd *polled, nfds_t n, int timeout_ms);
int real_clock_gettime(clockid_t clock, struct timespec *now);
int real_gettimeofday(struct timeval *now, void *zone);
time_t real_time(time_t *now);
long real_random(void);
double real_drand48(void);
void real_srandom(unsigned seed);
void real_srand48(long seed);
int real_getpid(void);
int real_mutex_unlock(pthread_mutex_t *mutex);
int real_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg);
int real_key_create(pthread_key_t *key, void (*end)(void *));
void *real_getspecific(pthread_key_t key);
int real_setspecific(pthread_key_t key, const void *value);

int32_t heard_get_xid(void);
int heard_deserialize_ReplyHeader(struct iarchive *ia, const char *tag, struct ReplyHeader *header);
int heard_deserialize_WatcherEvent(struct iarchive *ia, const char *tag, struct WatcherEvent *event);
void heard_close_buffer_iarchive(struct iarchive **ia);
int heard_serialize_ReplyHeader(struct oarchive *oa, const char *tag, struct ReplyHeader *header);

const bool client_is_real = true;

static struct world *world_now(void) { return fiber_now->owner->world; }

/* --- memory: it goes with the run, whatever became of the process ------------------------------------------------ */

static struct block {
    struct block *next, *before;
    const struct block *mark; /* itself */
    size_t size;
    _Alignas(16) char bytes[];
} blocks = {.next = &blocks, .before = &blocks};

void *real_malloc(size_t size)
{
    struct block *b = malloc(sizeof *b + size);
    if (b == NULL)
        abort();
    *b = (struct block){.next = blocks.next, .before = &blocks, .mark = b, .size = size};
    blocks.next->before = b;
    blocks.next = b;
    return b->bytes;
}

static struct block *block_of(void *p) { return (struct block *)(void *)((char *)p - offsetof(struct block, bytes)); }

/* The library may own it: then there is no mark before it. */
void real_free(void *p)
{
    if (p == NULL)
        return;
    struct block *b = block_of(p);
    if (b->mark != b)
        world_break(world_now(), "client", "it frees what is not its own");
    b->mark = NULL;
    b->next->before = b->before;
    b->before->next = b->next;
    free(b);
}

void *real_calloc(size_t n, size_t size)
{
    void *p = real_malloc(n * size);
    return memset(p, 0, n * size);
}

void *real_realloc(void *p, size_t size)
{
    void *q = real_malloc(size);
    if (p != NULL)
        memcpy(q, p, block_of(p)->size < size ? block_of(p)->size : size);
    real_free(p);
    return q;
}

char *real_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(real_malloc(size), text, size);
}

/* --- descriptors -------------------------------------------------------------------------------------------------- */

enum { FIRST_END = 5000, ENDS_MAX = 256 };

enum end_kind { CLOSED, PIPE_IN, PIPE_OUT, SOCKET };
enum socket_state { NEW, TRYING, REFUSED, OPEN, ENDED, RESET };

static struct end {
    enum end_kind kind;
    struct client *owner;
    enum socket_state state;
    int peer;          /* of a pipe's end */
    int server;        /* of a socket's */
    unsigned attempts; /* to connect: only the last one counts */
    char *bytes;
    size_t n, room;
} ends[ENDS_MAX];

/* NULL, with errno: it is not open, as it may not be, for the client does use what it has closed. */
static struct end *end_of(int fd)
{
    if (fd >= FIRST_END && fd < FIRST_END + ENDS_MAX && ends[fd - FIRST_END].kind != CLOSED)
        return &ends[fd - FIRST_END];
    errno = EBADF;
    return NULL;
}

static int make_end(enum end_kind kind)
{
    for (int i = 0; i < ENDS_MAX; i++)
        if (ends[i].kind == CLOSED) {
            ends[i].kind = kind;
            ends[i].owner = fiber_now->owner;
            ends[i].state = NEW;
            ends[i].n = 0;
            return FIRST_END + i;
        }
    abort();
}

static const void *polls_of(const struct client *c) { return &c->drift_ppm; }

static void put_bytes(struct end *e, const void *bytes, size_t size)
{
    if (e->n + size > e->room) {
        e->room = 2 * (e->n + size);
        e->bytes = realloc(e->bytes, e->room);
        if (e->bytes == NULL)
            abort();
    }
    memcpy(e->bytes + e->n, bytes, size);
    e->n += size;
    fiber_wake_all(polls_of(e->owner));
}

static ssize_t take_bytes(struct end *e, void *bytes, size_t size)
{
    size_t n = size < e->n ? size : e->n;
    memcpy(bytes, e->bytes, n);
    memmove(e->bytes, e->bytes + n, e->n - n);
    e->n -= n;
    return (ssize_t)n;
}

int real_pipe(int fds[2])
{
    fds[0] = make_end(PIPE_IN);
    fds[1] = make_end(PIPE_OUT);
    end_of(fds[1])->peer = fds[0];
    return 0;
}

ssize_t real_write(int fd, const void *bytes, size_t size)
{
    struct end *e = end_of(fd), *peer = e != NULL ? end_of(e->peer) : NULL;
    if (peer == NULL)
        return -1;
    put_bytes(peer, bytes, size);
    return (ssize_t)size;
}

ssize_t real_read(int fd, void *bytes, size_t size)
{
    struct end *e = end_of(fd);
    if (e == NULL)
        return -1;
    if (e->n == 0) {
        errno = EAGAIN;
        return -1;
    }
    return take_bytes(e, bytes, size);
}

/* The seed of its dice, which are ours. */
int real_open(const char *file, int flags, ...)
{
    (void)file, (void)flags;
    errno = ENOENT;
    return -1;
}

int real_fcntl(int fd, int command, ...)
{
    (void)fd, (void)command;
    return 0;
}

/* --- sockets ------------------------------------------------------------------------------------------------------ */

/* The one that a client has open, or tries. */
static struct end *socket_of(const struct client *c)
{
    for (int i = 0; i < ENDS_MAX; i++)
        if (ends[i].kind == SOCKET && ends[i].owner == c)
            return &ends[i];
    return NULL;
}

int real_socket(int domain, int type, int protocol)
{
    (void)domain, (void)type, (void)protocol;
    return make_end(SOCKET);
}

int real_setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
    (void)fd, (void)level, (void)name, (void)value, (void)size;
    return 0;
}

int real_getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
    const struct end *e = end_of(fd);
    (void)level, (void)name, (void)size;
    if (e == NULL)
        return -1;
    *(int *)value = e->state == REFUSED ? ECONNREFUSED : 0;
    return 0;
}

/* The server has answered, or its machine. */
static void settle(void *subject, uint64_t attempt)
{
    struct end *e = subject;
    if (e->kind != SOCKET || e->state != TRYING || e->attempts != attempt || e->owner->dead)
        return;
    e->state = io_connect(e->owner, e->server) ? OPEN : REFUSED;
    if (e->state == OPEN)
        frames_begin(e->owner);
    fiber_wake_all(polls_of(e->owner));
}

/* A client that spins is none of ours. */
enum { ATTEMPTS_MAX = 400 };

static struct attempts {
    instant second;
    int n;
} attempts[CLIENTS_MAX];

static void count_attempt(const struct client *c)
{
    struct attempts *a = &attempts[c->id];
    instant second = c->world->agenda.now / 1000000;
    if (second != a->second)
        *a = (struct attempts){.second = second};
    if (++a->n > ATTEMPTS_MAX && !c->adopts) /* which its program has opened, by a list of its own */
        world_break(c->world, "client", "client %d connects %d times in a second", c->id, a->n);
}

/* Server N has the address 10.0.0.N + 1. */
#define FIRST_ADDRESS UINT32_C(0x0a000001)

int real_connect(int fd, const struct sockaddr *address, socklen_t size)
{
    struct end *e = end_of(fd);
    const struct sockaddr_in *in = (const void *)address;
    struct world *w = world_now();
    (void)size;
    if (e == NULL)
        return -1;
    count_attempt(e->owner);
    e->server = (int)(ntohl(in->sin_addr.s_addr) - FIRST_ADDRESS);
    e->state = TRYING;
    agenda_add(&w->agenda, 2 * w->way + 50 + below(&w->random, 500), settle, e, ++e->attempts);
    errno = EINPROGRESS;
    return -1;
}

int real_getpeername(int fd, struct sockaddr *address, socklen_t *size)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(2181)};
    const struct end *e = end_of(fd);
    if (e == NULL)
        return -1;
    in.sin_addr.s_addr = htonl(FIRST_ADDRESS + (uint32_t)e->owner->server);
    memcpy(address, &in, sizeof in);
    *size = sizeof in;
    return 0;
}

ssize_t real_send(int fd, const void *bytes, size_t size, int flags)
{
    struct end *e = end_of(fd);
    (void)flags;
    if (e == NULL)
        return -1;
    if (e->state != OPEN) {
        errno = EPIPE;
        return -1;
    }
    frames_take(e->owner, bytes, size);
    return (ssize_t)size;
}

ssize_t real_recv(int fd, void *bytes, size_t size, int flags)
{
    struct end *e = end_of(fd);
    (void)flags;
    if (e == NULL)
        return -1;
    if (e->n > 0)
        return take_bytes(e, bytes, size);
    if (e->state == ENDED)
        return 0;
    errno = e->state == OPEN ? EAGAIN : ECONNRESET;
    return -1;
}

void wired_give(struct client *c, const void *bytes, size_t size)
{
    struct end *e = socket_of(c);
    if (e != NULL && e->state == OPEN)
        put_bytes(e, bytes, size);
}

void wired_hang_up(struct client *c, bool reset)
{
    struct end *e = socket_of(c);
    if (e == NULL || e->state != OPEN)
        return;
    e->state = reset ? RESET : ENDED;
    if (reset)
        e->n = 0;
    frames_end(c);
    fiber_wake_all(polls_of(c));
}

int real_close(int fd)
{
    struct end *e = end_of(fd);
    if (e == NULL)
        return -1;
    bool open = e->kind == SOCKET && e->state == OPEN;
    e->kind = CLOSED;
    if (open) {
        frames_end(e->owner);
        io_hung_up(e->owner);
    }
    return 0;
}

static short events_of(const struct end *e)
{
    if (e->kind == PIPE_IN)
        return e->n > 0 ? POLLIN : 0;
    if (e->kind != SOCKET || e->state == NEW || e->state == TRYING)
        return 0;
    short in = e->n > 0 || e->state != OPEN ? POLLIN : 0;
    return (short)(in | POLLOUT);
}

static int look(struct pollfd *polled, nfds_t n)
{
    int found = 0;
    for (nfds_t i = 0; i < n; i++) {
        const struct end *e = end_of(polled[i].fd);
        short events = polled[i].fd < 0 ? 0 : e == NULL ? POLLNVAL : events_of(e);
        polled[i].revents = (short)(events & (polled[i].events | POLLNVAL));
        found += polled[i].revents != 0;
    }
    return found;
}

/* The thread of a client that reads. */
static const struct fiber *readers[CLIENTS_MAX];

/* When the pollers of a client are woken next, whatever happens; 0: they are not. Most polls end long before. */
static instant alarms[CLIENTS_MAX];

static void ring(void *subject, uint64_t at)
{
    struct client *c = subject;
    if ((uint64_t)alarms[c->id] == at)
        alarms[c->id] = 0;
    fiber_wake_all(polls_of(c));
}

static void set_alarm(struct client *c, instant end)
{
    struct agenda *a = &c->world->agenda;
    if (alarms[c->id] > a->now && alarms[c->id] <= end)
        return;
    alarms[c->id] = end;
    agenda_add(a, end - a->now, ring, c, (uint64_t)end);
}

int real_poll(struct pollfd *polled, nfds_t n, int timeout_ms)
{
    struct client *c = fiber_now->owner;
    instant end = c->world->agenda.now + (instant)timeout_ms * 1000;
    int found = 0;
    readers[c->id] = fiber_now;
    while ((found = look(polled, n)) == 0 && (timeout_ms < 0 || c->world->agenda.now < end)) {
        if (timeout_ms >= 0)
            set_alarm(c, end);
        fiber_block(polls_of(c), -1);
    }
    return found;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

/* Names are asked for at its opening and before it connects; how often it does beside that, at most. */
enum { IDLE_QUESTIONS_MAX = 50 };

static int questions[CLIENTS_MAX]; /* of one that is connected */

static struct addrinfo *address_of(int server, struct addrinfo *next)
{
    struct named {
        struct addrinfo info;
        struct sockaddr_in in;
    } *named = calloc(1, sizeof *named);
    if (named == NULL)
        abort();
    named->in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(2181)};
    named->in.sin_addr.s_addr = htonl(FIRST_ADDRESS + (uint32_t)server);
    named->info = (struct addrinfo){.ai_family = AF_INET,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_addrlen = sizeof named->in,
                                    .ai_addr = (struct sockaddr *)(void *)&named->in,
                                    .ai_next = next};
    return &named->info;
}

/* Is it an address, the server's number, or the one name of all that are known (program.c)? */
static bool is_name_of(const struct client *c, const char *name, int server)
{
    struct in_addr address;
    if (inet_pton(AF_INET, name, &address) == 1)
        return ntohl(address.s_addr) == FIRST_ADDRESS + (uint32_t)server;
    return c->one_name || server == atoi(name);
}

int sim_getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    const struct client *c = fiber_now->owner;
    const struct end *e = socket_of(c);
    (void)service, (void)hints;
    *found = NULL;
    if (e != NULL && e->state == OPEN && !c->adopts && ++questions[c->id] > IDLE_QUESTIONS_MAX)
        world_break(c->world, "client", "client %d is connected, and asks for names %d times", c->id, questions[c->id]);
    for (int i = c->world->ensemble.n - 1; i >= 0; i--)
        if ((c->hosts >> i & 1) != 0 && is_name_of(c, name, i))
            *found = address_of(i, *found);
    return 0;
}

void sim_freeaddrinfo(struct addrinfo *found)
{
    while (found != NULL) {
        struct addrinfo *next = found->ai_next;
        free(found);
        found = next;
    }
}

/* --- clocks and chance -------------------------------------------------------------------------------------------- */

int real_clock_gettime(clockid_t clock, struct timespec *now) { return sim_clock_gettime(clock, now); }

int real_gettimeofday(struct timeval *now, void *zone)
{
    int64_t us = client_now_us(fiber_now->owner);
    (void)zone;
    *now = (struct timeval){.tv_sec = us / 1000000, .tv_usec = us % 1000000};
    return 0;
}

time_t real_time(time_t *now)
{
    time_t s = fiber_now != NULL ? client_now_us(fiber_now->owner) / 1000000 : 1;
    if (now != NULL)
        *now = s;
    return s;
}

long real_random(void) { return below(&world_now()->random, INT32_MAX); }
double real_drand48(void) { return below(&world_now()->random, 1000000) / 1e6; }
void real_srandom(unsigned seed) { (void)seed; }
void real_srand48(long seed) { (void)seed; }
int real_getpid(void) { return fiber_now->owner->id + 1; }

/* --- threads ------------------------------------------------------------------------------------------------------ */

/* It has steps of its own between two locks. */
int real_mutex_unlock(pthread_mutex_t *mutex)
{
    sim_mutex_unlock(mutex);
    sim_preempt();
    return 0;
}

/* Without a thread it ends the process. */
int real_thread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
    return sim_thread_start(thread, attr, run, arg);
}

enum { KEYS_MAX = 8, VALUES_MAX = 4096 };

static struct {
    const struct fiber *of;
    pthread_key_t key;
    const void *value;
} values[VALUES_MAX];
static int n_values;

int real_key_create(pthread_key_t *key, void (*end)(void *))
{
    static pthread_key_t n;
    (void)end;
    *key = n++;
    return 0;
}

static int find_value(pthread_key_t key)
{
    int i = 0;
    while (i < n_values && (values[i].of != fiber_now || values[i].key != key))
        i++;
    return i;
}

void *real_getspecific(pthread_key_t key)
{
    int i = find_value(key);
    return i < n_values ? (void *)(uintptr_t)values[i].value : NULL;
}

int real_setspecific(pthread_key_t key, const void *value)
{
    int i = find_value(key);
    if (i == VALUES_MAX)
        abort();
    values[i].of = fiber_now;
    values[i].key = key;
    values[i].value = value;
    n_values += i == n_values;
    return 0;
}

/* --- what it reads, and what it hands on ----------------------------------------------------------------------------
 *
 * Its thread that reads changes the list of watches; its thread that completes calls the library. Both read the same
 * headers. A header of an event has the answer that it is of where ZooKeeper's servers have -1.
 */

enum { XIDS_MAX = 8192 };

/* The requests that have no answer yet, by number; the client numbers those of all handles in one row. */
static struct asked {
    int32_t xid;
    const struct answer *answer;
} asked[XIDS_MAX];
static int32_t last_xid;

static struct asked *asked_by(int32_t xid) { return &asked[xid % XIDS_MAX]; }

int32_t heard_get_xid(void)
{
    struct asked *a = asked_by(++last_xid);
    *a = (struct asked){.xid = last_xid};
    return last_xid;
}

void wired_answered(int32_t xid, const struct answer *a) { asked_by(xid)->answer = a; }

int64_t wired_mark(const struct answer *event) { return -(int64_t)(uintptr_t)event; }

/* The answer or event that the thread that completes is handing on. */
static struct handing {
    const struct iarchive *from; /* NULL: nothing */
    enum in_kind kind;
    const struct answer *answer;
} handing[CLIENTS_MAX];

/* Its thread is late now and then. */
static void hand_on(const struct iarchive *from, enum in_kind kind, const struct answer *a)
{
    struct client *c = fiber_now->owner;
    if (chance(&c->world->random, 50))
        fiber_block(&handing[c->id], 1 + below(&c->world->random, c->world->inbox_delay));
    handing[c->id] = (struct handing){from, kind, a};
    client_hear(c, kind, a);
}

static void read_header(struct client *c, int32_t xid, const struct answer *marked)
{
    if (xid == XID_EVENT) {
        c->n_unheard++;
        io_read_event(c, marked);
    } else if (xid > 0 && asked_by(xid)->answer != NULL) {
        io_read_reply(c, asked_by(xid)->answer);
    }
}

/* The client makes answers of its own, to requests that it gives up. */
static void complete_header(const struct iarchive *ia, const struct ReplyHeader *header)
{
    fiber_now->owner->n_unheard -= header->xid == XID_EVENT;
    if (header->xid > 0 && header->zxid != -1 && asked_by(header->xid)->answer != NULL)
        hand_on(ia, IN_REPLY, asked_by(header->xid)->answer);
}

static const struct answer *marked;

int heard_deserialize_ReplyHeader(struct iarchive *ia, const char *tag, struct ReplyHeader *header)
{
    struct client *c = fiber_now->owner;
    int rc = deserialize_ReplyHeader(ia, tag, header);
    marked = header->zxid < -1 ? (const struct answer *)(uintptr_t)-header->zxid : NULL;
    header->zxid = header->zxid < -1 ? -1 : header->zxid;
    if (fiber_now == readers[c->id])
        read_header(c, header->xid, marked);
    else
        complete_header(ia, header);
    return rc;
}

int heard_deserialize_WatcherEvent(struct iarchive *ia, const char *tag, struct WatcherEvent *event)
{
    int rc = deserialize_WatcherEvent(ia, tag, event);
    bool session = event->type == ZOO_SESSION_EVENT;
    if (fiber_now != readers[fiber_now->owner->id] && (!session || event->state == ZOO_CONNECTED_STATE))
        hand_on(ia, session ? IN_CONNECTED : IN_EVENT, marked);
    return rc;
}

void heard_close_buffer_iarchive(struct iarchive **ia)
{
    struct client *c = fiber_now->owner;
    struct handing *h = &handing[c->id];
    if (h->from == *ia && fiber_now != readers[c->id]) {
        h->from = NULL;
        client_heard(c, h->kind, h->answer);
    }
    close_buffer_iarchive(ia);
}

/* An event of the session: of the connection at hand, if it is about one. */
int heard_serialize_ReplyHeader(struct oarchive *oa, const char *tag, struct ReplyHeader *header)
{
    struct client *c = fiber_now->owner;
    struct ReplyHeader with = *header;
    if (header->xid == XID_EVENT) {
        c->n_unheard++;
        with.zxid = wired_mark(frames_greeting(c));
    }
    return serialize_ReplyHeader(oa, tag, &with);
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

void wired_forget(void)
{
    while (blocks.next != &blocks)
        real_free(blocks.next->bytes);
    for (int i = 0; i < ENDS_MAX; i++)
        ends[i].kind = CLOSED;
    memset(alarms, 0, sizeof alarms);
    memset(handing, 0, sizeof handing);
    memset(attempts, 0, sizeof attempts);
    last_xid = n_values = 0;
}

/* --- open and close ----------------------------------------------------------------------------------------------- */

zhandle_t *real_zookeeper_init2(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id,
                                void *context, int flags, log_callback_fn log);
int real_zookeeper_close(zhandle_t *zh);

/* Without a function for it the log goes to standard error. */
static void unlogged(const char *line) { (void)line; }

zhandle_t *zookeeper_init2(const char *hosts, watcher_fn watcher, int timeout_ms, const clientid_t *id, void *context,
                           int flags, log_callback_fn log)
{
    struct client *c = fiber_now->owner;
    c->n_unheard = 0;
    questions[c->id] = INT_MIN; /* until the library says that it need not ask */
    if (!frames_open(c, hosts, timeout_ms)) {
        errno = ENOMEM;
        return NULL;
    }
    zhandle_t *zh = real_zookeeper_init2(hosts, watcher, timeout_ms, id, context, flags, log != NULL ? log : unlogged);
    if (chance(&c->world->random, c->world->calm ? 0 : 200)) /* its threads run before the call has returned */
        fiber_block(c, below(&c->world->random, 300000));
    questions[c->id] = 0;
    return zh;
}

int zookeeper_close(zhandle_t *zh)
{
    struct client *c = fiber_now->owner;
    int rc = real_zookeeper_close(zh);
    frames_close(c);
    return rc;
}
