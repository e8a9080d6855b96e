/*
 * Where tests of locks take place: servers of our own with proxies before them, or those that PADDOCK_TEST_HOSTS names,
 * which no test may stop and which have no proxies. And peers: sessions that contend there for the path of the test.
 *
 * On more than one server another session writes all the time. Without it a lone request can wait for the next commit
 * until its client gives up: a fault of ZooKeeper's (ZOOKEEPER-4537), not of what is tested.
 */
#ifndef PDK__TEST_FIELD_H
#define PDK__TEST_FIELD_H

#include "test/lib/check.h"
#include "test/lib/ensemble.h"
#include <paddock.h>
#include <stddef.h>
#include <zookeeper/zookeeper.h>

/* Of all waits of a test for something that is sure to come. */
enum { PDK__LONG_MS = 60000 };

enum { PDK__ON_ONE = 1, PDK__ON_THREE = 2 };

struct pdk__field {
    pdk__ensemble *e;  /* NULL: the servers are not ours */
    const char *hosts; /* through the proxies, where there are any */
    zhandle_t *zh;     /* for looking, past the proxies; made once, of a long session */
    char path[128];    /* the lock path of the test */
};

extern struct pdk__field pdk__field;

/* The main() of a program: its tests on each kind of servers in ON, or once on those of PADDOCK_TEST_HOSTS. */
int pdk__field_main(int argc, char **argv, const char *name, const struct pdk__test *tests, int on);

/* Every test begins so: all is well again, and the lock path is one that nobody has used. */
void pdk__field_begin(void);

/* The same, for a test that stops servers or needs proxies: skipped where they are not ours. */
void pdk__field_begin_own(void);

/* How many children the lock path has. */
int pdk__field_nodes(void);

/* Delete the lock path, which must have no children left. */
void pdk__field_raze(void);

/* --- peers: a session, and a mutex on the path of the test ------------------------------------------------------- */

struct pdk__peer {
    pdk_client *client;
    pdk_mutex *mutex;
    pdk__proxy *proxy; /* its own, or NULL */
};

/* Connected. SESSION_MS is 0 for a long one. */
struct pdk__peer pdk__peer_new(int session_ms);

/* At HOSTS, and with OPTS, which may be NULL. */
struct pdk__peer pdk__peer_at(const char *hosts, const pdk_client_options *opts);

/* Behind a proxy of its own, before the first server. */
struct pdk__peer pdk__peer_proxied(void);

/* It must neither hold nor wait. */
void pdk__peer_free(struct pdk__peer *p);

int64_t pdk__peer_token(const struct pdk__peer *p);

/* --- a lock that was asked for without waiting ------------------------------------------------------------------- */

struct pdk__want {
    struct pdk__peer *peer;
    pdk_op *op;
    _Atomic int n_told; /* how often the callback came */
    _Atomic int rc;     /* with what */
};

/* Ask, and return when its node is in the queue as number N_NODES. *W must stay where it is until it was told. */
void pdk__want(struct pdk__want *w, struct pdk__peer *peer, int64_t timeout_ms, int n_nodes);

/* Wait until it was told, and check with what. */
void pdk__want_told(struct pdk__want *w, int rc);

/* It was told RC; if that is 0, unlock and wait until the node is gone. Gives the handle back. */
void pdk__want_end(struct pdk__want *w, int rc);

#endif
