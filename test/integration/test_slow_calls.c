/* Calls that take long, of the system and of ZooKeeper's client: deadlines and closes do not wait for them. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"
#include "test/lib/program.h"

#include <dlfcn.h>
#include <limits.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

static void setup(void) { fixture_open(NULL); }

/* --- in place of others' functions ------------------------------------------------------------------------------- */

static atomic_bool hang, no_clock;
static atomic_int n_hanging, n_resolved;

/* As with a name server that does not answer. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = (int (*)(
        const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
    n_hanging++;
    while (hang)
        pdk__test_nap();
    int rc = next(node, service, hints, found);
    n_hanging--;
    n_resolved++;
    return rc;
}

/* The handle of this client is replaced as soon as a thread waits on a condition. */
static pdk_client *_Atomic robbed;
static zhandle_t *_Atomic stolen;
static atomic_int n_waits;

static void rob(void)
{
    pdk_client *c = robbed;
    n_waits++;
    if (c == NULL || stolen != NULL)
        return;
    stolen = c->zh;
    c->zh = NULL;
}

/* As on a machine that was suspended: the clock of a condition stands still. */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until)
{
    int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *) = (int (*)(
        pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    int rc = no_clock ? pthread_cond_wait(cond, lock) : next(cond, lock, until);
    rob();
    return rc;
}

static atomic_int n_refusals;
static atomic_bool be_late, fail_first;

/* Late: not before the session is there, and has had time for a first request, should it make one. Or refused, as
 * between two attempts to connect. Or, but for one scheme, not before the servers have refused another. */
int zoo_add_auth(zhandle_t *zh, const char *scheme, const char *cred, int size, void_completion_t done,
                 const void *data)
{
    int (*next)(zhandle_t *, const char *, const char *, int, void_completion_t, const void *) = (int (*)(
        zhandle_t *, const char *, const char *, int, void_completion_t, const void *))dlsym(RTLD_NEXT, "zoo_add_auth");
    if (n_refusals > 0) {
        n_refusals--;
        return ZINVALIDSTATE;
    }
    for (int i = 0; fail_first && strcmp(scheme, "nobody") != 0 && i < 20000 && zoo_state(zh) >= 0; i++)
        pdk__test_nap();
    for (int i = 0; be_late && i < 2000 && zoo_state(zh) != ZOO_CONNECTED_STATE; i++)
        pdk__test_nap();
    for (int i = 0; be_late && i < 100 && pdk__proxy_requests(fixture.proxy, 0) == 0; i++)
        pdk__test_nap();
    return next(zh, scheme, cred, size, done, data);
}

/* --- name resolution --------------------------------------------------------------------------------------------- */

static _Atomic int n_told, told;

static void tell(int rc, void *arg)
{
    (void)arg;
    told = rc;
    n_told++;
}

/* Every call ends when it should, though the names are not resolved yet. */
static void check_deadlines(pdk_client *c, pdk_mutex *m)
{
    pdk_contender_list *list;
    pdk_grant *g;
    n_told = 0;
    CHECK_RC(pdk_mutex_lock_async(m, 100, tell, NULL, &g), 0);
    CHECK_RC(pdk_mutex_timedlock(m, 100), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, n_told == 1);
    CHECK_RC(told, PDK_ETIMEDOUT);
    CHECK_RC(pdk_grant_release(g), PDK_EPERM);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EDISCONNECTED);
    CHECK_RC(pdk_client_wait(c, 50), PDK_ETIMEDOUT);
    CHECK_RC(pdk_contenders(c, "/a", PDK_CONTENDERS_ALL, 50, &list), PDK_ETIMEDOUT);
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_CONNECTING);
}

static int n_connections;

static void begin_to_hang(void)
{
    n_connections = pdk__proxy_connections(fixture.proxy);
    n_resolved = 0;
    hang = true;
}

/* Only now: all that was checked before has not waited for it. */
static void end_to_hang(void)
{
    CHECK_EQ(n_resolved, 0);
    CHECK(n_hanging > 0);
    hang = false;
    CHECK_WITHIN(LONG_MS, n_hanging == 0);
}

static void a_new_client(void)
{
    pdk_client *c;
    begin_to_hang();
    CHECK_RC(pdk_client_new(&c, fixture.hosts, NULL), 0);
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    check_deadlines(c, m);
    end_to_hang();
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void a_close(void)
{
    pdk_client *c;
    pdk_grant *g;
    begin_to_hang();
    CHECK_RC(pdk_client_new(&c, fixture.hosts, NULL), 0);
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    n_told = 0;
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, tell, NULL, &g), 0);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_EQ(n_told, 1);
    CHECK_RC(told, PDK_ECLOSED);
    fixture_end(c, m);
    end_to_hang();
    CHECK_WITHIN(LONG_MS, pdk__proxy_connections(fixture.proxy) <= n_connections);
}

static atomic_int n_lost;

static void count_lost(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m, (void)arg;
    n_lost += event->state == PDK_LOST;
}

/* Begin with a lock that is lost with the connection, for the handle's own thread asks for the names before each
 * attempt to connect; until the handle is given up. */
static pdk_client *lose_session(pdk_mutex **m)
{
    pdk_client *c = fixture_client(fixture_options(1000));
    *m = fixture_mutex(c, fixture_path());
    n_lost = 0;
    CHECK_RC(pdk_lock_on_event(*m, count_lost, NULL), 0);
    CHECK_RC(pdk_mutex_lock(*m), 0);
    begin_to_hang();
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, n_lost == 1 && n_hanging > 0);
    CHECK_RC(pdk_mutex_unlock(*m), PDK_ELOST);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_CONNECTING);
    return c;
}

static void a_session_to_renew(void)
{
    pdk_mutex *m;
    pdk_client *c = lose_session(&m);
    check_deadlines(c, m);
    end_to_hang();
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void a_close_meanwhile(void)
{
    pdk_mutex *m;
    pdk_client *c = lose_session(&m);
    fixture_end(c, m);
    end_to_hang();
    CHECK_WITHIN(LONG_MS, pdk__proxy_connections(fixture.proxy) <= n_connections);
}

/* The handle is not given up yet: its own thread is the one that waits, and ZooKeeper's close for that. */
static void a_close_of_a_handle(void)
{
    pdk_client *c = fixture_client(fixture_options(30000));
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    pdk_grant *g;
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, tell, NULL, &g), 0);
    CHECK_WITHIN(LONG_MS, pdk_grant_state(g) == PDK_HELD);
    begin_to_hang();
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, n_hanging > 0 && pdk_client_state(c) == PDK_SESSION_SUSPENDED);
    fixture_end(c, m);
    end_to_hang();
    CHECK_WITHIN(LONG_MS, pdk__proxy_connections(fixture.proxy) <= n_connections);
}

/* --- a handle that is replaced ----------------------------------------------------------------------------------- */

struct revocation {
    pdk_client *c;
    pdk_contender_list *list;
    _Atomic int rc;
};

static void *ask_for_lock(void *arg)
{
    struct revocation *r = arg;
    r->rc = pdk_contender_revoke(r->c, r->list, 0, LONG_MS);
    return NULL;
}

/* Between its request for the node that is meant and its write. */
static void an_intervention_meanwhile(void)
{
    const char *path = fixture_path();
    struct revocation r = {.c = fixture_client(NULL), .rc = 1};
    pthread_t thread;
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, "a-lock-0000000000", "");
    CHECK_RC(pdk_contenders(r.c, path, PDK_CONTENDERS_ALL, LONG_MS, &r.list), 0);
    stolen = NULL;
    robbed = r.c;
    CHECK_EQ(pthread_create(&thread, NULL, ask_for_lock, &r), 0);
    CHECK_WITHIN(LONG_MS, stolen != NULL);
    n_waits = 0;
    CHECK_WITHIN(LONG_MS, n_waits >= 3 || r.rc != 1);
    robbed = NULL;
    pdk__client_lock(r.c);
    r.c->zh = stolen;
    pdk__client_leave(r.c);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_RC(r.rc, 0);
    pdk_contender_list_free(r.list);
    fixture_end(r.c, NULL);
    fixture_delete_all(path);
}

/* --- authentication ---------------------------------------------------------------------------------------------- */

/* A client of tim's, and a path that is his alone. */
static pdk_client *authenticated(const char *path, pdk_mutex **m)
{
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_add_auth(o, "digest", "tim:secret"), 0);
    pdk_client *c = fixture_client(o);
    struct ACL all = {ZOO_PERM_ALL, {"digest", "tim:t1NecsYBDeG/ZPIVvD/S9Tx4rjQ="}};
    fixture_make(path, "", ZOO_PERSISTENT, &(struct ACL_vector){1, &all});
    *m = fixture_mutex(c, path);
    return c;
}

/* The next session has a waiter, which asks as soon as it can. */
static void authentication_is_late(void)
{
    const char *path = fixture_path();
    pdk_mutex *m;
    pdk_grant *g;
    pdk_client *c = authenticated(path, &m);
    fixture_expire(pdk__client_zh(c));
    n_told = 0;
    be_late = true;
    pdk__proxy_reset_counters(fixture.proxy);
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, tell, NULL, &g), 0);
    CHECK_WITHIN(LONG_MS, n_told == 1);
    be_late = false;
    CHECK_RC(told, 0);
    CHECK_RC(pdk_grant_release(g), 0);
    fixture_end(c, m);
}

static void authentication_is_refused(void)
{
    const char *path = fixture_path();
    pdk_mutex *m;
    n_refusals = 3;
    pdk_client *c = authenticated(path, &m);
    CHECK_EQ(n_refusals, 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

/* As without a server; for longer than it is tried with one handle. */
static void authentication_has_to_wait(void)
{
    pdk_client *c;
    pdk_client_options *o = fixture_options(500);
    CHECK_RC(pdk_client_options_add_auth(o, "digest", "tim:secret"), 0);
    n_refusals = INT_MAX;
    CHECK_RC(pdk_client_new(&c, fixture.hosts, o), 0);
    pdk_client_options_free(o);
    CHECK_WITHIN(LONG_MS, pdk_client_last_error(c, (char[1]){0}, 1) > 0);
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_CONNECTING);
    n_refusals = 0;
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    fixture_end(c, NULL);
}

static void authentication_has_failed(void)
{
    pdk_client *c;
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_add_auth(o, "nobody", "knows"), 0);
    CHECK_RC(pdk_client_options_add_auth(o, "digest", "tim:secret"), 0);
    fail_first = true;
    CHECK_RC(pdk_client_new(&c, fixture.hosts, o), 0);
    pdk_client_options_free(o);
    CHECK_WITHIN(LONG_MS, pdk_client_wait(c, LONG_MS) == PDK_EAUTH); /* it may be connected before the refusal comes */
    fail_first = false;
    fixture_end(c, NULL);
}

/* --- suspended time ---------------------------------------------------------------------------------------------- */

static void a_clock_that_stands_still(void)
{
    pdk_client *c;
    pdk_client_options *o = fixture_options(
        86400000); /* so that the handle is not given up soon, which would wake all */
    pdk__proxy_refuse(fixture.proxy, true);
    CHECK_RC(pdk_client_new(&c, fixture.hosts, o), 0);
    pdk_client_options_free(o);
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    no_clock = true;
    CHECK_RC(pdk_client_wait(c, 50), PDK_ETIMEDOUT);
    CHECK_RC(pdk_mutex_timedlock(m, 50), PDK_ETIMEDOUT);
    no_clock = false;
    fixture_end(c, m);
    pdk__proxy_refuse(fixture.proxy, false);
}

/* --- the end of the process -------------------------------------------------------------------------------------- */

#define LEAVE "--return-from-main"

/* main() in a process of its own, whose resolver never answers. 0 when the resolver was still asked at the end. */
static int leave(const char *what)
{
    static pdk_client *c;
    hang = true;
    if (pdk_client_new(&c, "h1:2181", NULL) != 0 || n_hanging == 0)
        return 2;
    if (strcmp(what, "freed") == 0 && pdk_client_free(c) != 0)
        return 3;
    return n_hanging > 0 && n_resolved == 0 ? 0 : 4;
}

static void check_leaving(const char *what)
{
    struct program self;
    CHECK_EQ(program_run(&self, ARGS(program_built("test/integration/slow_calls"), LEAVE, what), 0), 0);
}

static void a_return_from_main(void) { check_leaving("kept"); }

static void a_return_after_free(void) { check_leaving("freed"); }

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], LEAVE) == 0)
        return leave(argv[2]);
    static const struct pdk__test tests[] = {
        {"while names are resolved a new client can be used, and keeps deadlines", a_new_client},
        {"while names are resolved a new client can be closed", a_close},
        {"while names are resolved for the next session deadlines are kept", a_session_to_renew},
        {"while names are resolved for the next session the client can be closed", a_close_meanwhile},
        {"while names are resolved for a lost connection the client can be closed", a_close_of_a_handle},
        {"a contender is asked for its lock though the handle is just being replaced", an_intervention_meanwhile},
        {"no request of a session goes out before its authentication", authentication_is_late},
        {"authentication that came between two attempts to connect is not forgotten", authentication_is_refused},
        {"a client with authentication is made though no server answers", authentication_has_to_wait},
        {"the servers' refusal of one authentication is told though another was not queued", authentication_has_failed},
        {"while names are resolved for a client a process that returns from main ends", a_return_from_main},
        {"so does one that has freed the client", a_return_after_free},
        {"a wait ends at its deadline, though the clock of conditions stands still", a_clock_that_stands_still},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "slow_calls", .tests = tests, .limit_ms = 60000, .setup = setup, .teardown = fixture_close});
}
