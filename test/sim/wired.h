/*
 * ZooKeeper's own C client in the simulator. Its objects are those of libzookeeper_mt.a; the calls that they make to
 * the system are renamed (wired.syms) and stand in wired.c: threads are fibers, clocks are the client's, and sockets
 * lead to frames.c, which speaks the wire protocol with it and puts its requests to the simulated ensemble by the model
 * of the client (zookeeper.c, under other names). Of the model's own conduct (io.c) nothing is left but what it knows
 * of the connection: when it is tried, made and lost.
 */
#ifndef SIM_WIRED_H
#define SIM_WIRED_H

#include "test/sim/client.h"
#include <stddef.h>

/* Is the client ZooKeeper's own? */
extern const bool client_is_real;

/* Memory of the client; all of it goes at the end of a run, by wired_forget(). */
void *real_malloc(size_t size);
void *real_calloc(size_t n, size_t size);
void wired_forget(void);

/* zookeeper.c: forget a request that has no answer; a path of the tree, and the name in one. */
void zookeeper_drop(struct client *c, uint64_t ticket);
void model_path(char out[], int path, const char *name);
const char *model_name(const char *path);

/* The handle of the model: the ensemble's end of the client's connections. */
bool frames_open(struct client *c, const char *hosts, int timeout_ms);
void frames_close(struct client *c);

/* The client sends so many bytes on its connection; and ends it. */
void frames_begin(struct client *c);
void frames_take(struct client *c, const char *bytes, size_t size);
void frames_end(struct client *c);

/* The answer by which it was connected, last. */
const struct answer *frames_greeting(const struct client *c);

/* For the client, from its connection: bytes, its end, or its loss. */
void wired_give(struct client *c, const void *bytes, size_t size);
void wired_hang_up(struct client *c, bool reset);

/* The answer to the request of this number goes to its client, and what an event's header has for it. */
enum { XID_EVENT = -1 };
void wired_answered(int32_t xid, const struct answer *a);
int64_t wired_mark(const struct answer *event);

/* io.c, for a client that is not the model's: it connects to a server; false: it is refused. Then what it sends. */
bool io_connect(struct client *c, int server);
void io_hello(struct client *c, int64_t seen_zxid, session_index session, int timeout_ms);
void io_ping(struct client *c);
void io_set_watches(struct client *c, int64_t seen_zxid, const struct watched *watched, int n);
void io_end_session(struct client *c);
void io_hung_up(struct client *c);

/* io.c: it reads an answer or an event, and changes its list of watches. */
void io_read_reply(struct client *c, const struct answer *a);
void io_read_event(struct client *c, const struct answer *a);

/* frames.c: what io.c has for the client. */
void wired_pong(struct client *c);
void wired_hand_over(struct client *c, enum in_kind kind, uint64_t ticket, const void *body);

#endif
