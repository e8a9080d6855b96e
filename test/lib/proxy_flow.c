#include "test/lib/proxy_state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LINGER_MS = 2000, DIAL_MS = 50, KNOCK_MS = 20 };

void *pdk__test_grow(void *array, size_t n, size_t *cap, size_t each)
{
    if (n <= *cap)
        return array;
    *cap = 2 * n;
    array = realloc(array, *cap * each);
    if (array == NULL)
        abort();
    return array;
}

int64_t pdk__proxy_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* --- a connection begins and ends -------------------------------------------------------------------------------- */

/* Connect within DIAL_MS: a stopped server with a full queue would stop the proxy. */
static int dial(const struct sockaddr_in *to)
{
    struct pollfd p = {.events = POLLOUT};
    int error = 0, on = 1;
    socklen_t size = sizeof error;
    p.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p.fd < 0)
        return -1;
    if (connect(p.fd, (const struct sockaddr *)to, sizeof *to) != 0 && errno != EINPROGRESS)
        error = errno;
    else if (poll(&p, 1, DIAL_MS) > 0)
        getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error == 0) {
        setsockopt(p.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        return p.fd;
    }
    close(p.fd);
    return -1;
}

/*
 * When the server is dead, a client's connection is closed. A follower may connect too early, for a leader is elected
 * before it listens. Its connection therefore waits to be accepted, and reaches the leader no later than without a
 * proxy. If it were closed, the follower would begin a new election, and the leader would wait for it in vain.
 */
void pdk__proxy_accept(struct pdk__proxy *p)
{
    int on = 1;
    int server = dial(&p->target);
    p->knock_ms = server < 0 && p->as_bytes ? pdk__proxy_now_ms() + KNOCK_MS : 0;
    if (p->knock_ms != 0)
        return;
    int client = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0 || server < 0) {
        if (client >= 0)
            close(client);
        if (server >= 0)
            close(server);
        return;
    }
    struct connection *c = calloc(1, sizeof *c);
    if (c == NULL)
        abort();
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *c = (struct connection){.next = p->connections, .fd = {client, server}};
    for (int d = 0; d < 2; d++)
        c->way[d].tail = &c->way[d].head;
    p->connections = c;
}

static void empty(struct way *w)
{
    while (w->head != NULL) {
        struct chunk *k = w->head;
        w->head = k->next;
        free(k);
    }
    w->tail = &w->head;
}

void pdk__proxy_drop(struct connection *c)
{
    for (int d = 0; d < 2; d++) {
        close(c->fd[d]);
        empty(&c->way[d]);
        free(c->way[d].in);
    }
    free(c->pending);
    free(c);
}

/* A cut connection lingers until both ends have closed, so that what was sent before the cut arrives: closing a socket
 * with unread input resets the connection. */
bool pdk__proxy_is_over(const struct connection *c)
{
    const struct way *a = &c->way[0], *b = &c->way[1];
    if (c->cut && c->give_up != 0 && pdk__proxy_now_ms() >= c->give_up)
        return true;
    return a->ended && b->ended && (a->head == NULL || a->broken) && (b->head == NULL || b->broken);
}

/* --- what moves on it -------------------------------------------------------------------------------------------- */

void pdk__proxy_push(struct pdk__proxy *p, struct connection *c, pdk__direction d, const void *data, size_t size,
                     int delay_ms, int held_by)
{
    struct way *w = &c->way[d];
    int delay = delay_ms + p->delay_ms[d] + (p->jitter_ms > 0 ? rand_r(&p->dice) % (p->jitter_ms + 1) : 0);
    struct chunk *k = calloc(1, sizeof *k + size);
    if (k == NULL)
        abort();
    *k = (struct chunk){.size = size, .held_by = held_by, .end = data == NULL};
    if (delay > 0)
        k->due_ms = pdk__proxy_now_ms() + delay;
    if (data != NULL)
        memcpy(k->data, data, size);
    *w->tail = k;
    w->tail = &k->next;
}

static void push_end(struct pdk__proxy *p, struct connection *c, pdk__direction d)
{
    pdk__proxy_push(p, c, d, NULL, 0, 0, NO_RULE);
}

void pdk__proxy_end(struct pdk__proxy *p, struct connection *c)
{
    if (c->cut)
        return;
    c->cut = true;
    c->give_up = pdk__proxy_now_ms() + LINGER_MS;
    for (int d = 0; d < 2; d++)
        if (!c->way[d].ended)
            push_end(p, c, (pdk__direction)d);
}

static void parse(struct pdk__proxy *p, struct connection *c, pdk__direction d)
{
    struct way *w = &c->way[d];
    size_t done = 0;
    long size;
    while (!c->cut && (size = pdk__frame_size(w->in + done, w->n_in - done)) != 0) {
        if (size < 0) {
            pdk__proxy_end(p, c);
            return;
        }
        pdk__proxy_frame(p, c, d, w->in + done, (size_t)size);
        done += (size_t)size;
    }
    w->n_in -= done;
    memmove(w->in, w->in + done, w->n_in);
}

void pdk__proxy_receive(struct pdk__proxy *p, struct connection *c, pdk__direction d)
{
    struct way *w = &c->way[d];
    unsigned char bytes[65536];
    ssize_t n = recv(c->fd[d], bytes, sizeof bytes, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        w->ended = true;
        if (!c->cut)
            push_end(p, c, d);
    } else if (p->as_bytes && !c->cut) {
        pdk__proxy_push(p, c, d, bytes, (size_t)n, 0, NO_RULE);
    } else if (!c->cut) {
        w->in = pdk__test_grow(w->in, w->n_in + (size_t)n, &w->cap_in, 1);
        memcpy(w->in + w->n_in, bytes, (size_t)n);
        w->n_in += (size_t)n;
        parse(p, c, d);
    }
}

bool pdk__proxy_blocked(const struct pdk__proxy *p, const struct chunk *k, pdk__direction d)
{
    if (p->hold[d] || (k->held_by != NO_RULE && p->rules[k->held_by].holding))
        return true;
    return k->due_ms > 0 && k->due_ms > pdk__proxy_now_ms();
}

static void pop(struct way *w)
{
    struct chunk *k = w->head;
    w->head = k->next;
    if (w->head == NULL)
        w->tail = &w->head;
    free(k);
}

void pdk__proxy_send(struct pdk__proxy *p, struct connection *c, pdk__direction d)
{
    struct way *w = &c->way[d];
    int to = c->fd[!d];
    while (w->head != NULL && !pdk__proxy_blocked(p, w->head, d)) {
        struct chunk *k = w->head;
        ssize_t n = 0;
        if (k->end)
            shutdown(to, SHUT_WR);
        else
            n = send(to, k->data + k->sent, k->size - k->sent, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n < 0) {
            w->broken = true;
            empty(w);
            return;
        }
        k->sent += (size_t)n;
        if (k->sent == k->size)
            pop(w);
    }
}
