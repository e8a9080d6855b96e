/*
 * Where tests of locks take place: an ensemble, a handle to look at it with, a path for each test; and peers, sessions
 * that contend for that path.
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

enum {
    PDK__ON_ONE = 1,
    PDK__ON_THREE = 2,
    /* The tests stop, kill or pause servers, or count what is there: skipped on those of PADDOCK_TEST_HOSTS. */
    PDK__OWN = 4
};

struct pdk__field {
    pdk__ensemble *e;
    const char *hosts; /* through its proxies */
    zhandle_t *zh;     /* for looking, past the proxies, through the doors; made once, of a long session */
    char path[128];    /* the lock path of the test */
};

extern struct pdk__field pdk__field;

/* The main() of a program: its tests on each kind of ensemble in ON. */
int pdk__field_main(int argc, char **argv, const char *name, const struct pdk__test *tests, int on);

/* Every test begins so: all is well again, and the lock path is one that nobody has used. */
void pdk__field_begin(void);

/* How many children the lock path has; 0 when it does not exist; -1 when the server could not be asked. */
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

/* Ask. *W must stay where it is until it was told. */
void pdk__want_now(struct pdk__want *w, struct pdk__peer *peer, int64_t timeout_ms);

/* The same, and return when the queue has N_NODES. */
void pdk__want(struct pdk__want *w, struct pdk__peer *peer, int64_t timeout_ms, int n_nodes);

/* Wait until it was told, and check with what. */
void pdk__want_told(struct pdk__want *w, int rc);

/* It was told RC; if that is 0, unlock and wait until the node is gone. Gives the handle back. */
void pdk__want_end(struct pdk__want *w, int rc);

#endif
