/* Shared by the proxy's source files. Everything is accessed with the lock held; descriptors only by the thread. */
#ifndef PDK__TEST_PROXY_STATE_H
#define PDK__TEST_PROXY_STATE_H

#include "test/lib/proxy.h"
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>

enum { MAX_RULES = 64, N_OPS = 256, NO_RULE = -1 };

/* Bytes in transit in one direction: a frame, or an end of stream. */
struct chunk {
    struct chunk *next;
    int64_t due_ms;
    int held_by; /* a rule, or NO_RULE */
    bool end;
    size_t size, sent;
    unsigned char data[];
};

/* A request that has no reply yet. */
struct pending {
    int32_t xid, type;
    int rule;
    int error; /* replaces the server's answer; 0: the server's answer stays */
};

/* One direction of a connection; way[d] reads fd[d] and writes fd[!d], with d a pdk__direction. */
struct way {
    unsigned char *in; /* read, not yet a whole frame */
    size_t n_in, cap_in;
    struct chunk *head, **tail;
    bool greeted; /* the handshake went by */
    bool ended;   /* nothing more is read */
    bool broken;  /* the peer no longer reads */
};

struct connection {
    struct connection *next;
    int fd[2]; /* to the client, to the server */
    struct way way[2];
    struct pending *pending;
    size_t n_pending, cap_pending;
    bool cut;        /* by a rule: send what is due, then close */
    int64_t give_up; /* when a cut connection is closed for good */
};

struct rule {
    struct pdk__proxy_rule is;
    char *path;
    bool armed, holding;
    int seen, hits;
};

struct event {
    int32_t type;
    char *path;
};

struct pdk__proxy {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    uint64_t asked, answered; /* orders given; orders obeyed by a turn of the loop that began after them */
    int wake, listener, port;
    struct sockaddr_in target;
    bool as_bytes, refuse, listens, cut_all, stop, strips;
    int64_t knock_ms; /* when to try the target again for a connection that waits to be accepted; 0: none waits */
    bool hold[2];
    int delay_ms[2];
    int jitter_ms; /* each frame comes up to so much later */
    unsigned dice;
    struct connection *connections;
    struct rule rules[MAX_RULES];
    int n_rules;
    int requests[N_OPS], replies[N_OPS];
    struct event *events;
    size_t n_events, cap_events;
    char *story;
    size_t n_story, cap_story;
};

/* proxy_flow.c: connections and what moves on them. */
void pdk__proxy_accept(struct pdk__proxy *p);
void pdk__proxy_push(struct pdk__proxy *p, struct connection *c, pdk__direction d, const void *data, size_t size,
                     int delay_ms, int held_by);
void pdk__proxy_end(struct pdk__proxy *p, struct connection *c); /* cut, by a rule */
void pdk__proxy_receive(struct pdk__proxy *p, struct connection *c, pdk__direction d);
void pdk__proxy_send(struct pdk__proxy *p, struct connection *c, pdk__direction d);
bool pdk__proxy_blocked(const struct pdk__proxy *p, const struct chunk *k, pdk__direction d);
bool pdk__proxy_is_over(const struct connection *c);
void pdk__proxy_drop(struct connection *c);

/* proxy_rules.c: what happens to a frame, and the book-keeping. */
void pdk__proxy_frame(struct pdk__proxy *p, struct connection *c, pdk__direction d, const void *frame, size_t size);

/* Delete all rules, and forward what they hold. */
void pdk__proxy_clear_rules(struct pdk__proxy *p);

/* proxy_count.c: all counters to zero. */
void pdk__proxy_forget(struct pdk__proxy *p);

/* Make room for N elements of EACH bytes; aborts when memory is out. */
void *pdk__test_grow(void *array, size_t n, size_t *cap, size_t each);
int64_t pdk__proxy_now_ms(void);

#endif
