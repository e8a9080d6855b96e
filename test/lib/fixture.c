#include "test/lib/fixture.h"
#include "test/lib/secure.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fixture fixture;

enum { USUAL_MS = 10000, SESSION_MS = 30000, OWN_SESSION_MS = 120000 }; /* usual: without options */

static int n_servers;
static bool own;
static char root[64];

/* --- servers ----------------------------------------------------------------------------------------------------- */

void fixture_open(const struct pdk__ensemble_options *o)
{
    fixture.e = pdk__ensemble_new(o != NULL ? o : &(struct pdk__ensemble_options){.n = 1});
    fixture.proxy = fixture.e->proxy[0];
    fixture.hosts = fixture.e->hosts;
    snprintf(fixture.direct, sizeof fixture.direct, "127.0.0.1:%d", pdk__server_port(fixture.e->server[0]));
    fixture.zh = pdk__zk_open(fixture.e->behind_all, OWN_SESSION_MS);
    snprintf(root, sizeof root, "/paddock-test-%ld", (long)getpid());
    fixture_make(root, "", ZOO_PERSISTENT, NULL);
}

/* Failed tests may have left nodes, on servers that outlive the program. */
static void remove_tree(const char *path)
{
    struct String_vector children = {0};
    char child[512];
    if (zoo_get_children(fixture.zh, path, 0, &children) != ZOK)
        return;
    for (int i = 0; i < children.count; i++) {
        snprintf(child, sizeof child, "%s/%s", path, children.data[i]);
        remove_tree(child);
    }
    deallocate_String_vector(&children);
    zoo_delete(fixture.zh, path, -1);
}

void fixture_close(void)
{
    if (fixture.zh != NULL) {
        remove_tree(root);
        zookeeper_close(fixture.zh);
    }
    pdk__ensemble_free(fixture.e);
    fixture = (struct fixture){0};
}

static void open_chosen(void) { fixture_open(&(struct pdk__ensemble_options){.n = n_servers, .own = own}); }

static int run(int argc, char **argv, const struct pdk__test_suite *suite, int servers)
{
    char text[64];
    struct pdk__test_suite s = {
        .name = text, .tests = suite->tests, .proof = suite->proof, .setup = open_chosen, .teardown = fixture_close};
    n_servers = servers;
    snprintf(text, sizeof text, "%s, %s", suite->name, servers == 1 ? "one server" : "three servers");
    return pdk__test_main(argc, argv, &s);
}

int fixture_main(int argc, char **argv, const char *name, const struct pdk__test *tests, int on)
{
    return fixture_run(argc, argv, &(struct pdk__test_suite){.name = name, .tests = tests}, on);
}

static bool proof_is(const char *what)
{
    const char *proof = getenv("PADDOCK_TEST_PROOF");
    return what == NULL || proof == NULL ? proof == what : strcmp(proof, what) == 0;
}

/* Of both kinds the gate runs one server, and "only" the tests of the proof there, if there are any. */
static bool wanted(int argc, const struct pdk__test_suite *suite, int on, int kind)
{
    bool both = (on & ON_ONE) != 0 && (on & ON_THREE) != 0;
    if ((on & kind) == 0 || !both || argc > 1)
        return (on & kind) != 0;
    if (proof_is(NULL))
        return kind == ON_ONE;
    return !proof_is("only") || suite->proof != NULL;
}

int fixture_run(int argc, char **argv, const struct pdk__test_suite *suite, int on)
{
    int worst = 77;
    own = (on & ON_OWN) != 0;
    for (int kind = ON_ONE; kind <= ON_THREE; kind <<= 1) {
        if (kind == ON_THREE && (on & ON_ONE) != 0 && proof_is("only"))
            setenv("PADDOCK_TEST_PROOF", "yes", 1); /* there the gate has run none of them */
        int rc = wanted(argc, suite, on, kind) ? run(argc, argv, suite, kind == ON_ONE ? 1 : 3) : 77;
        if (worst == 77 || (rc != 77 && rc > worst))
            worst = rc;
    }
    return worst;
}

void fixture_begin(void)
{
    pdk__ensemble_heal(fixture.e);
    CHECK_WITHIN(LONG_MS, zoo_state(fixture.zh) == ZOO_CONNECTED_STATE);
    snprintf(fixture.path, sizeof fixture.path, "%s", fixture_path());
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

const char *fixture_path(void)
{
    static char paths[4][80];
    static atomic_int n;
    int i = atomic_fetch_add(&n, 1);
    snprintf(paths[i % 4], sizeof paths[i % 4], "%s/%d", root, i);
    return paths[i % 4];
}

void fixture_make(const char *path, const char *data, int mode, const struct ACL_vector *acl)
{
    int length = data != NULL ? (int)strlen(data) : -1;
    int rc = zoo_create(fixture.zh, path, data, length, acl != NULL ? acl : &ZOO_OPEN_ACL_UNSAFE, mode, NULL, 0);
    if (rc != ZOK)
        pdk__test_fail(__FILE__, __LINE__, "create %s: %s", path, zerror(rc));
}

static const char *below(const char *path, const char *name)
{
    static _Thread_local char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    return whole;
}

void fixture_make_below(const char *path, const char *name, const char *data)
{
    fixture_make(below(path, name), data, ZOO_EPHEMERAL, NULL);
}

void fixture_delete_below(const char *path, const char *name)
{
    CHECK_EQ(zoo_delete(fixture.zh, below(path, name), -1), ZOK);
}

static int last_first(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    size_t n = strlen(x), m = strlen(y);
    return strcmp(y + (m > 10 ? m - 10 : 0), x + (n > 10 ? n - 10 : 0));
}

/* In one transaction, so that no contender loses two nodes. The last in the queue is deleted first, since a contender
 * that hears of its predecessor's end before its own is granted the lock, rightly, and loses it again. */
static int delete_once(const char *path)
{
    enum { MAX = 64 };
    char whole[MAX][512];
    zoo_op_t ops[MAX + 1];
    zoo_op_result_t results[MAX + 1];
    struct String_vector names = {0};
    int rc = zoo_get_children(fixture.zh, path, 0, &names);
    if (rc != ZOK)
        return rc;
    CHECK(names.count <= MAX);
    if (names.count > 0)
        qsort(names.data, (size_t)names.count, sizeof *names.data, last_first);
    for (int i = 0; i < names.count; i++) {
        snprintf(whole[i], sizeof whole[i], "%s/%s", path, names.data[i]);
        zoo_delete_op_init(&ops[i], whole[i], -1);
    }
    zoo_delete_op_init(&ops[names.count], path, -1);
    rc = zoo_multi(fixture.zh, names.count + 1, ops, results);
    deallocate_String_vector(&names);
    return rc;
}

void fixture_delete_all(const char *path)
{
    int rc;
    CHECK_WITHIN(LONG_MS, (rc = delete_once(path)) == ZOK || rc == ZNONODE);
}

static void caught_up(int rc, const void *arg) { (void)rc, (void)arg; }

/* A write that changes nothing, for no node has that version: the server completes it before the read after it. A
 * server that lags would show what was. A sync would not do at the leader (lib/zk/request.h). */
static void catch_up(void) { zoo_adelete(fixture.zh, fixture.path, INT32_MIN, caught_up, NULL); }

int fixture_children(const char *path)
{
    struct Stat stat;
    catch_up();
    int rc = pdk__zk_stat(fixture.zh, path, &stat);
    return (int)pdk__test_saw("children", rc == ZOK ? stat.numChildren : -1);
}

int fixture_nodes(void)
{
    struct Stat stat;
    catch_up();
    int rc = zoo_exists(fixture.zh, fixture.path, 0, &stat);
    pdk__test_saw("the answer for the path", rc);
    return rc == ZOK ? (int)pdk__test_saw("its nodes", stat.numChildren) : rc == ZNONODE ? 0 : -1;
}

int fixture_watchers(const char *path)
{
    int n = 0;
    for (int i = 0; i < fixture.e->n; i++)
        n += pdk__ask_watchers(fixture.e->server[i], path);
    return (int)pdk__test_saw("watchers", n);
}

long fixture_watches_in_all(void)
{
    long n = 0;
    for (int i = 0; i < fixture.e->n; i++)
        n += pdk__ask_number(fixture.e->server[i], "zk_watch_count");
    return n;
}

bool fixture_watches(pdk_client *c, const char *path)
{
    bool found = false;
    for (int i = 0; i < fixture.e->n && !found; i++)
        found = pdk__ask_watches(fixture.e->server[i], path, pdk_client_session_id(c));
    return found;
}

const char *fixture_find(const char *path, const char *part)
{
    static char found[256];
    struct String_vector names = {0};
    found[0] = '\0';
    catch_up();
    zoo_get_children(fixture.zh, path, 0, &names);
    for (int i = 0; i < names.count && found[0] == '\0'; i++)
        if (strstr(names.data[i], part) != NULL)
            snprintf(found, sizeof found, "%s", names.data[i]);
    deallocate_String_vector(&names);
    return found;
}

/* --- no server --------------------------------------------------------------------------------------------------- */

int fixture_refusing_port(int *fd)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(*fd >= 0 && bind(*fd, (struct sockaddr *)&address, sizeof address) == 0); /* and no process listens */
    CHECK_EQ(getsockname(*fd, (struct sockaddr *)&address, &size), 0);
    return ntohs(address.sin_port);
}

/* --- clients ----------------------------------------------------------------------------------------------------- */

static void warned(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    (void)level, (void)at_ms, (void)arg;
    pdk__test_note("client %p: %s", (void *)c, text);
}

pdk_client_options *fixture_options(int session_ms)
{
    pdk_client_options *o = pdk_client_options_new();
    CHECK(o != NULL);
    CHECK_RC(pdk_client_options_set_session_timeout_ms(o, session_ms), 0);
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_WARNING, warned, NULL), 0);
    if (fixture.e != NULL && fixture.e->secure)
        CHECK_RC(pdk__speak_tls(o), 0);
    return o;
}

pdk_client *fixture_client(pdk_client_options *options)
{
    pdk_client *c;
    pdk_client_options *o = options != NULL ? options : fixture_options(USUAL_MS);
    CHECK_RC(pdk_client_new(&c, fixture.hosts, o), 0);
    pdk_client_options_free(o);
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    return c;
}

pdk_mutex *fixture_mutex(pdk_client *c, const char *path)
{
    pdk_mutex *m;
    CHECK_RC(pdk_mutex_new(&m, c, path, NULL), 0);
    return m;
}

void fixture_end(pdk_client *c, pdk_mutex *m)
{
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

void fixture_expire(zhandle_t *zh)
{
    clientid_t id = *zoo_client_id(zh);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    pdk__zk_end_session(pdk__server_port(fixture.e->server[0]), &id);
    pdk__proxy_refuse(fixture.proxy, false);
}

void fixture_settle(pdk_client *const *clients, int n)
{
    for (int i = 0; i < n; i++) {
        pdk_contender_list *list;
        CHECK_RC(pdk_contenders(clients[i], fixture.path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
        pdk_contender_list_free(list);
    }
}

/* --- all proxies ------------------------------------------------------------------------------------------------- */

void fixture_each_proxy(void (*act)(pdk__proxy *p))
{
    for (int i = 0; i < fixture.e->n; i++)
        act(fixture.e->proxy[i]);
}

int fixture_requests(int op)
{
    int n = 0;
    for (int i = 0; i < fixture.e->n; i++)
        n += pdk__proxy_requests(fixture.e->proxy[i], op);
    return n;
}

static void refuse(pdk__proxy *p) { pdk__proxy_refuse(p, true); }
static void admit(pdk__proxy *p) { pdk__proxy_refuse(p, false); }

/* All refuse first: a client that is cut off tries the next. */
void fixture_cut_off(bool cut)
{
    fixture_each_proxy(cut ? refuse : admit);
    if (cut)
        fixture_each_proxy(pdk__proxy_cut);
}

/* --- lockers ----------------------------------------------------------------------------------------------------- */

static void *lock_and_unlock(void *arg)
{
    struct locker *l = arg;
    l->rc = pdk_mutex_lock(l->m);
    l->settled = true;
    if (l->rc != 0)
        return NULL;
    while (!l->release)
        pdk__test_nap();
    l->unlock_rc = pdk_mutex_unlock(l->m);
    return NULL;
}

void locker_start(struct locker *l, pdk_mutex *m)
{
    memset(l, 0, sizeof *l);
    l->m = m;
    CHECK_EQ(pthread_create(&l->thread, NULL, lock_and_unlock, l), 0);
}

void locker_finish(struct locker *l)
{
    l->release = true;
    CHECK_EQ(pthread_join(l->thread, NULL), 0);
}

/* --- peers ------------------------------------------------------------------------------------------------------- */

struct peer peer_at(const char *hosts, const pdk_client_options *opts)
{
    struct peer p = {0};
    CHECK_RC(pdk_client_new(&p.client, hosts, opts), 0);
    CHECK_RC(pdk_client_wait(p.client, LONG_MS), 0);
    CHECK_RC(pdk_mutex_new(&p.mutex, p.client, fixture.path, NULL), 0);
    return p;
}

static struct peer open_peer(const char *hosts, int session_ms)
{
    pdk_client_options *opts = fixture_options(session_ms > 0 ? session_ms : SESSION_MS);
    struct peer p = peer_at(hosts, opts);
    pdk_client_options_free(opts);
    return p;
}

struct peer peer_new(int session_ms) { return open_peer(fixture.hosts, session_ms); }

struct peer peer_proxied(void) { return peer_proxied_for(0); }

struct peer peer_proxied_for(int session_ms)
{
    char address[32];
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(fixture.e->server[0]), fixture.e->secure);
    snprintf(address, sizeof address, "127.0.0.1:%d", pdk__proxy_port(proxy));
    struct peer p = open_peer(address, session_ms);
    p.proxy = proxy;
    pdk__proxy_reset_counters(proxy);
    return p;
}

void peer_free(struct peer *p)
{
    CHECK_RC(pdk_lock_free(p->mutex), 0);
    CHECK_RC(pdk_client_free(p->client), 0);
    if (p->proxy != NULL)
        pdk__proxy_free(p->proxy);
    *p = (struct peer){0};
}

int64_t peer_token(const struct peer *p)
{
    int64_t token;
    CHECK_RC(pdk_lock_token(p->mutex, &token, NULL), 0);
    return token;
}

/* --- wants ------------------------------------------------------------------------------------------------------- */

static void told(int rc, void *arg)
{
    struct request *w = arg;
    atomic_store(&w->rc, rc);
    atomic_fetch_add(&w->n_told, 1);
}

void request_now(struct request *w, struct peer *peer, int64_t timeout_ms)
{
    w->peer = peer;
    w->grant = NULL;
    atomic_store(&w->n_told, 0);
    CHECK_RC(pdk_mutex_lock_async(peer->mutex, timeout_ms, told, w, &w->grant), 0);
}

void request_queued(struct request *w, struct peer *peer, int64_t timeout_ms, int n_nodes)
{
    request_now(w, peer, timeout_ms);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == n_nodes);
}

int64_t request_token(const struct request *w)
{
    int64_t token;
    CHECK_RC(pdk_grant_token(w->grant, &token, NULL), 0);
    return token;
}

void request_told(struct request *w, int rc)
{
    CHECK_WITHIN(LONG_MS, atomic_load(&w->n_told) > 0);
    CHECK_RC(atomic_load(&w->rc), rc);
}

void request_end(struct request *w, int rc)
{
    request_told(w, rc);
    CHECK_RC(pdk_grant_release(w->grant), rc == 0 || rc == PDK_ELOST ? rc : PDK_EPERM);
    CHECK_EQ(atomic_load(&w->n_told), 1);
}
