/*
 * The common ground of the library's tests on a real server: one server with a proxy, a handle of the test's own around
 * the proxy, and a fresh path for each test. A failure fails the test.
 */
#ifndef PDK__TEST_GROUND_H
#define PDK__TEST_GROUND_H

#include "test/lib/check.h"
#include "test/lib/ensemble.h"
#include "test/lib/zk.h"
#include <paddock.h>
#include <pthread.h>
#include <stdatomic.h>

/* How long a condition is waited for; only spent by a test that fails. */
enum { PATIENCE_MS = 30000 };

struct ground {
    pdk__ensemble *e;
    pdk__proxy *proxy;
    const char *hosts; /* through the proxy */
    char direct[32];   /* around it */
    zhandle_t *zh;     /* around it, with every right */
};
extern struct ground ground;

/* For the suite's setup and teardown. O may be NULL. */
void ground_open(const struct pdk__ensemble_options *o);
void ground_close(void);

/* A path that no test has used; borrowed until the fourth call from now. */
const char *ground_path(void);

/* Create PATH, or a node below it; ACL NULL: every client may do everything. DATA NULL: no data at all. */
void ground_make(const char *path, const char *data, int mode, const struct ACL_vector *acl);
void ground_make_below(const char *path, const char *name, const char *data);
void ground_delete_below(const char *path, const char *name);

/* Delete PATH and its children, at once. */
void ground_delete_all(const char *path);

/* How many children PATH has; -1 when it does not exist. */
int ground_children(const char *path);

/* The name of the first child of PATH that contains PART, "" if there is none. Static. */
const char *ground_find(const char *path, const char *part);

/* A connected client through the proxy; OPTIONS may be NULL, and are freed. */
pdk_client *ground_client(pdk_client_options *options);
pdk_client_options *ground_options(int session_ms);
pdk_mutex *ground_mutex(pdk_client *c, const char *path);

/* A port of the loopback interface where connections are refused, as long as *FD, which the caller closes, is open. */
int ground_refusing_port(int *fd);

/* Close both, in the order that users do. The mutex may be NULL. */
void ground_end(pdk_client *c, pdk_mutex *m);

/* End the session of the handle, which does not know it yet and will be notified. */
void ground_expire(zhandle_t *zh);

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

#endif
