/*
 * The fixture of the library's tests on real servers: one or three with their proxies, a handle of the test's own
 * around the proxies, fresh paths, clients, and threads and requests that contend. A failure fails the test.
 */
#ifndef PDK__TEST_FIXTURE_H
#define PDK__TEST_FIXTURE_H

#include "test/lib/check.h"
#include "test/lib/ensemble.h"
#include "test/lib/zk.h"
#include <paddock.h>
#include <pthread.h>
#include <stdatomic.h>

/* How long a condition is waited for; only spent by a test that fails. */
enum { LONG_MS = 60000 };

/* A deadline within which a machine that stops for two seconds, too, has asked, and learns who is ahead. */
enum { KNOWN_MS = 4000 };

struct fixture {
    pdk__ensemble *e;
    pdk__proxy *proxy; /* before the first server */
    const char *hosts; /* through the proxies */
    char direct[32];   /* the first server, around its proxy and its door */
    zhandle_t *zh;     /* through the doors, with every right and a long session timeout */
    char path[128];    /* the lock path of the test, from fixture_begin() */
};
extern struct fixture fixture;

/* For the suite's setup and teardown. O may be NULL: one server. Teardown deletes the paths of all tests. */
void fixture_open(const struct pdk__ensemble_options *o);
void fixture_close(void);

enum {
    ON_ONE = 1,
    ON_THREE = 2,
    /* The tests stop, kill or pause servers, or count nodes or watches: skipped on those of PADDOCK_TEST_HOSTS. */
    ON_OWN = 4
};

/* The main() of a program that runs its tests on each kind of ensemble in ON; where that is both, on three servers only
 * for the proof (test/lib/check.h), or when a test is named. Each of its tests begins with fixture_begin(), which heals
 * the ensemble and chooses a path. */
int fixture_main(int argc, char **argv, const char *name, const struct pdk__test *tests, int on);

/* As fixture_main(), with the name, the tests and those of the proof that SUITE has. */
int fixture_run(int argc, char **argv, const struct pdk__test_suite *suite, int on);
void fixture_begin(void);

/* A path that no test has used; borrowed until the fourth call from now. */
const char *fixture_path(void);

/* Create PATH, or a node below it; ACL NULL: every client may do everything. DATA NULL: no data at all. */
void fixture_make(const char *path, const char *data, int mode, const struct ACL_vector *acl);
void fixture_make_below(const char *path, const char *name, const char *data);
void fixture_delete_below(const char *path, const char *name);

/* Delete PATH and its children, at once. */
void fixture_delete_all(const char *path);

/* How many children PATH has; -1 when it does not exist. How many FIXTURE.PATH has, after a sync; 0 when it does not
 * exist, -1 when the server could not answer. */
int fixture_children(const char *path);
int fixture_nodes(void);

/* How many sessions watch exactly PATH, on all servers. */
int fixture_watchers(const char *path);

/* How many watches all servers have, those on children included, which are not among the watchers above. */
long fixture_watches_in_all(void);

/* Does the session of C watch exactly PATH? */
bool fixture_watches(pdk_client *c, const char *path);

/* The name of the first child of PATH that contains PART, "" if there is none. Static. */
const char *fixture_find(const char *path, const char *part);

/* A connected client through the proxy; OPTIONS may be NULL, and are freed. */
pdk_client *fixture_client(pdk_client_options *options);
pdk_client_options *fixture_options(int session_ms);
pdk_mutex *fixture_mutex(pdk_client *c, const char *path);

/* A port of the loopback interface where connections are refused, as long as *FD, which the caller closes, is open. */
int fixture_refusing_port(int *fd);

/* Close both, in the order that users do. The mutex may be NULL. */
void fixture_end(pdk_client *c, pdk_mutex *m);

/* End the session of the handle, which does not know it yet and will be notified. */
void fixture_expire(zhandle_t *zh);

/* All that the requests of these clients so far could cause has happened: a list that each asks for later is
 * answered. */
void fixture_settle(pdk_client *const *clients, int n);

/* --- all proxies ------------------------------------------------------------------------------------------------- */

void fixture_each_proxy(void (*act)(pdk__proxy *p));

/* The requests of OP since the counters were reset. */
int fixture_requests(int op);

/* Clients are cut off, and can reach no server; or can again. */
void fixture_cut_off(bool cut);

/* --- a thread that locks, and unlocks on request ----------------------------------------------------------------- */

struct locker {
    pthread_t thread;
    pdk_mutex *m;
    atomic_bool settled; /* its lock has returned, with rc */
    atomic_bool release;
    _Atomic int rc;
    _Atomic int unlock_rc;
};

void locker_start(struct locker *l, pdk_mutex *m);

/* Let it unlock, if it has the lock, and wait for it. */
void locker_finish(struct locker *l);

/* --- peers: a session, and a mutex on the path of the test ------------------------------------------------------- */

struct peer {
    pdk_client *client;
    pdk_mutex *mutex;
    pdk__proxy *proxy; /* its own, or NULL */
};

/* The peer is connected. SESSION_MS 0 means a long session timeout. */
struct peer peer_new(int session_ms);

/* At HOSTS, and with OPTS, which may be NULL. */
struct peer peer_at(const char *hosts, const pdk_client_options *opts);

/* Connected to the first server, through a proxy of its own. */
struct peer peer_proxied(void);
struct peer peer_proxied_for(int session_ms);

/* The peer must neither hold nor wait. */
void peer_free(struct peer *p);

int64_t peer_token(const struct peer *p);

/* --- a lock that is requested without waiting -------------------------------------------------------------------- */

struct request {
    struct peer *peer;
    pdk_grant *grant;
    _Atomic int n_told; /* how often the callback was called */
    _Atomic int rc;     /* its argument */
};

/* Request the lock. *W must stay valid until the callback was called. */
void request_now(struct request *w, struct peer *peer, int64_t timeout_ms);

/* The same; returns when the queue has N_NODES nodes. */
void request_queued(struct request *w, struct peer *peer, int64_t timeout_ms, int n_nodes);

/* The token of what was granted. */
int64_t request_token(const struct request *w);

/* Wait for the callback, and check that it was given RC. */
void request_told(struct request *w, int rc);

/* The callback was given RC. When RC is 0, unlock and wait until the node is deleted. Frees the operation. */
void request_end(struct request *w, int rc);

#endif
