/*
 * The fixture of the lock tests: an ensemble, a handle that reads from it, a lock path for each test, and peers. A peer
 * is a session that contends for that path.
 */
#ifndef PDK__TEST_FIELD_H
#define PDK__TEST_FIELD_H

#include "test/lib/check.h"
#include "test/lib/ensemble.h"
#include <paddock.h>
#include <stddef.h>
#include <zookeeper/zookeeper.h>

/* The limit of a test's wait for something that is certain to come. */
enum { PDK__LONG_MS = 60000 };

enum {
    PDK__ON_ONE = 1,
    PDK__ON_THREE = 2,
    /* The tests stop, kill or pause servers, or count nodes or watches: skipped on those of PADDOCK_TEST_HOSTS. */
    PDK__OWN = 4
};

struct pdk__field {
    pdk__ensemble *e;
    const char *hosts; /* through its proxies */
    zhandle_t *zh;     /* reads through the doors, not the proxies; created once, with a long session timeout */
    char path[128];    /* the lock path of the test */
};

extern struct pdk__field pdk__field;

/* The main() of a program: runs its tests on each kind of ensemble in ON. */
int pdk__field_main(int argc, char **argv, const char *name, const struct pdk__test *tests, int on);

/* Every test begins with this call: it heals the ensemble and chooses a lock path that no test has used. */
void pdk__field_begin(void);

/* How many children the lock path has; 0 when it does not exist; -1 when the server could not answer. */
int pdk__field_nodes(void);

/* Delete the lock path, which must have no children left. */
void pdk__field_raze(void);

/* --- peers: a session, and a mutex on the path of the test ------------------------------------------------------- */

struct pdk__peer {
    pdk_client *client;
    pdk_mutex *mutex;
    pdk__proxy *proxy; /* its own, or NULL */
};

/* The peer is connected. SESSION_MS 0 means a long session timeout. */
struct pdk__peer pdk__peer_new(int session_ms);

/* At HOSTS, and with OPTS, which may be NULL. */
struct pdk__peer pdk__peer_at(const char *hosts, const pdk_client_options *opts);

/* Connected to the first server, through a proxy of its own. */
struct pdk__peer pdk__peer_proxied(void);

/* The peer must neither hold nor wait. */
void pdk__peer_free(struct pdk__peer *p);

int64_t pdk__peer_token(const struct pdk__peer *p);

/* --- a lock that is requested without waiting -------------------------------------------------------------------- */

struct pdk__want {
    struct pdk__peer *peer;
    pdk_op *op;
    _Atomic int n_told; /* how often the callback was called */
    _Atomic int rc;     /* its argument */
};

/* Request the lock. *W must stay valid until the callback was called. */
void pdk__want_now(struct pdk__want *w, struct pdk__peer *peer, int64_t timeout_ms);

/* The same; returns when the queue has N_NODES nodes. */
void pdk__want(struct pdk__want *w, struct pdk__peer *peer, int64_t timeout_ms, int n_nodes);

/* Wait for the callback, and check that it was given RC. */
void pdk__want_told(struct pdk__want *w, int rc);

/* The callback was given RC. When RC is 0, unlock and wait until the node is deleted. Frees the operation. */
void pdk__want_end(struct pdk__want *w, int rc);

#endif
