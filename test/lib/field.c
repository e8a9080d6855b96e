#include "test/lib/field.h"

#include "test/lib/zk.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SESSION_MS = 30000, LOOKER_MS = 120000 };

struct pdk__field pdk__field;

static int n_servers;
static bool own;
static char root[64];

/* --- servers ----------------------------------------------------------------------------------------------------- */

static void setup(void)
{
    pdk__field.e = pdk__ensemble_new(&(struct pdk__ensemble_options){.n = n_servers, .own = own});
    pdk__field.hosts = pdk__field.e->hosts;
    pdk__field.zh = pdk__zk_open(pdk__field.e->behind_all, LOOKER_MS);
    snprintf(root, sizeof root, "/paddock-test-%ld", (long)getpid());
    CHECK_EQ(zoo_create(pdk__field.zh, root, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
}

/* Failed tests may have left nodes, on servers that outlive the program. */
static void remove_tree(const char *path)
{
    struct String_vector children = {0};
    char child[512];
    if (zoo_get_children(pdk__field.zh, path, 0, &children) != ZOK)
        return;
    for (int i = 0; i < children.count; i++) {
        snprintf(child, sizeof child, "%s/%s", path, children.data[i]);
        remove_tree(child);
    }
    deallocate_String_vector(&children);
    zoo_delete(pdk__field.zh, path, -1);
}

static void teardown(void)
{
    if (pdk__field.zh != NULL) {
        remove_tree(root);
        zookeeper_close(pdk__field.zh);
    }
    pdk__ensemble_free(pdk__field.e);
    pdk__field = (struct pdk__field){0};
}

static int run(int argc, char **argv, const char *name, const struct pdk__test *tests, int servers)
{
    char text[64];
    n_servers = servers;
    snprintf(text, sizeof text, "%s, %s", name, servers == 1 ? "one server" : "three servers");
    return pdk__test_main(
        argc, argv, &(struct pdk__test_suite){.name = text, .tests = tests, .setup = setup, .teardown = teardown});
}

int pdk__field_main(int argc, char **argv, const char *name, const struct pdk__test *tests, int on)
{
    int worst = 77;
    own = (on & PDK__OWN) != 0;
    for (int kind = PDK__ON_ONE; kind <= PDK__ON_THREE; kind <<= 1) {
        int rc = (on & kind) != 0 ? run(argc, argv, name, tests, kind == PDK__ON_ONE ? 1 : 3) : 77;
        if (worst == 77 || (rc != 77 && rc > worst))
            worst = rc;
    }
    return worst;
}

void pdk__field_begin(void)
{
    static int n;
    pdk__ensemble_heal(pdk__field.e);
    CHECK_WITHIN(PDK__LONG_MS, zoo_state(pdk__field.zh) == ZOO_CONNECTED_STATE);
    snprintf(pdk__field.path, sizeof pdk__field.path, "%s/%d", root, n++);
}

static void synced(int rc, const char *path, const void *arg) { (void)rc, (void)path, (void)arg; }

/* The server completes the sync before the read after it: a server that lags would count deleted nodes. */
int pdk__field_nodes(void)
{
    struct Stat stat;
    zoo_async(pdk__field.zh, pdk__field.path, synced, NULL);
    int rc = zoo_exists(pdk__field.zh, pdk__field.path, 0, &stat);
    pdk__test_saw("the answer for the path", rc);
    return rc == ZOK ? (int)pdk__test_saw("its nodes", stat.numChildren) : rc == ZNONODE ? 0 : -1;
}

void pdk__field_raze(void) { CHECK_EQ(zoo_delete(pdk__field.zh, pdk__field.path, -1), ZOK); }

/* --- peers ------------------------------------------------------------------------------------------------------- */

struct pdk__peer pdk__peer_at(const char *hosts, const pdk_client_options *opts)
{
    struct pdk__peer p = {0};
    CHECK_RC(pdk_client_new(&p.client, hosts, opts), 0);
    CHECK_RC(pdk_client_wait(p.client, PDK__LONG_MS), 0);
    CHECK_RC(pdk_mutex_new(&p.mutex, p.client, pdk__field.path, NULL), 0);
    return p;
}

static struct pdk__peer open_peer(const char *hosts, int session_ms)
{
    pdk_client_options *opts = pdk_client_options_new();
    CHECK(opts != NULL);
    CHECK_RC(pdk_client_options_set_session_timeout_ms(opts, session_ms > 0 ? session_ms : SESSION_MS), 0);
    struct pdk__peer p = pdk__peer_at(hosts, opts);
    pdk_client_options_free(opts);
    return p;
}

struct pdk__peer pdk__peer_new(int session_ms) { return open_peer(pdk__field.hosts, session_ms); }

struct pdk__peer pdk__peer_proxied(void)
{
    char address[32];
    pdk__proxy *proxy = pdk__proxy_new(pdk__server_port(pdk__field.e->server[0]), false);
    snprintf(address, sizeof address, "127.0.0.1:%d", pdk__proxy_port(proxy));
    struct pdk__peer p = open_peer(address, 0);
    p.proxy = proxy;
    pdk__proxy_reset_counters(proxy);
    return p;
}

void pdk__peer_free(struct pdk__peer *p)
{
    CHECK_RC(pdk_mutex_free(p->mutex), 0);
    CHECK_RC(pdk_client_free(p->client), 0);
    if (p->proxy != NULL)
        pdk__proxy_free(p->proxy);
    *p = (struct pdk__peer){0};
}

int64_t pdk__peer_token(const struct pdk__peer *p)
{
    int64_t token;
    CHECK_RC(pdk_mutex_token(p->mutex, &token), 0);
    return token;
}

/* --- wants ------------------------------------------------------------------------------------------------------- */

static void told(int rc, void *arg)
{
    struct pdk__want *w = arg;
    atomic_store(&w->rc, rc);
    atomic_fetch_add(&w->n_told, 1);
}

void pdk__want_now(struct pdk__want *w, struct pdk__peer *peer, int64_t timeout_ms)
{
    w->peer = peer;
    w->op = NULL;
    atomic_store(&w->n_told, 0);
    CHECK_RC(pdk_mutex_lock_async(peer->mutex, timeout_ms, told, w, &w->op), 0);
}

void pdk__want(struct pdk__want *w, struct pdk__peer *peer, int64_t timeout_ms, int n_nodes)
{
    pdk__want_now(w, peer, timeout_ms);
    CHECK_WITHIN(PDK__LONG_MS, pdk__field_nodes() == n_nodes);
}

void pdk__want_told(struct pdk__want *w, int rc)
{
    CHECK_WITHIN(PDK__LONG_MS, atomic_load(&w->n_told) > 0);
    CHECK_RC(atomic_load(&w->rc), rc);
}

void pdk__want_end(struct pdk__want *w, int rc)
{
    pdk__want_told(w, rc);
    if (rc == 0)
        CHECK_RC(pdk_mutex_unlock(w->peer->mutex), 0);
    CHECK_EQ(atomic_load(&w->n_told), 1);
    pdk_op_free(w->op);
}
