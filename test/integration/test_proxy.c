/* The proxy's acts on a real server, seen by ZooKeeper's own client. */
#include "test/lib/check.h"
#include "test/lib/ensemble.h"
#include "test/lib/zk.h"

#include <stdio.h>
#include <string.h>

static pdk__ensemble *e;
static pdk__proxy *p;
static zhandle_t *zh;     /* through the proxy */
static zhandle_t *direct; /* around it */
static char root[32];     /* a node of the test's own */

static void setup(void)
{
    char address[32];
    e = pdk__ensemble_new(&(struct pdk__ensemble_options){.n = 1});
    p = e->proxy[0];
    snprintf(address, sizeof address, "127.0.0.1:%d", pdk__server_port(e->server[0]));
    direct = pdk__zk_open(address, 60000);
}

static void teardown(void)
{
    if (zh != NULL)
        zookeeper_close(zh);
    if (direct != NULL)
        zookeeper_close(direct);
    pdk__ensemble_free(e);
}

static void begin(int session_ms)
{
    static int n;
    pdk__proxy_clear(p);
    if (zh != NULL)
        zookeeper_close(zh);
    zh = NULL;
    snprintf(root, sizeof root, "/test-%d", n++);
    CHECK_EQ(zoo_create(direct, root, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    zh = pdk__zk_open(e->address[0], session_ms);
    pdk__proxy_reset_counters(p);
}

static int create(void)
{
    char path[64];
    snprintf(path, sizeof path, "%s/n-", root);
    return zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, NULL, 0);
}

static int n_children(void)
{
    struct Stat stat;
    CHECK_EQ(zoo_exists(direct, root, 0, &stat), ZOK);
    return stat.numChildren;
}

static int rule(int op, pdk__act act) { return pdk__proxy_rule(p, &(struct pdk__proxy_rule){.op = op, .act = act}); }

static void connected_again(void) { CHECK_WITHIN(30000, zoo_state(zh) == ZOO_CONNECTED_STATE); }

/* --- one request ------------------------------------------------------------------------------------------------- */

static void cut_before(void)
{
    begin(30000);
    int64_t session = zoo_client_id(zh)->client_id;
    int r = rule(PDK__OP_CREATE, PDK__CUT_BEFORE);
    CHECK_EQ(create(), ZCONNECTIONLOSS);
    CHECK_EQ(pdk__proxy_hits(p, r), 1);
    CHECK_EQ(pdk__proxy_replies(p, PDK__OP_CREATE), 0);
    connected_again();
    CHECK_EQ(n_children(), 0);
    CHECK_EQ(zoo_client_id(zh)->client_id, session);
    CHECK_EQ(create(), ZOK);
    CHECK_EQ(pdk__proxy_hits(p, r), 1);
}

/* A server that is asked to resume the session closes the session's older connection, even before it has read all that
 * came on it. So the client comes back only when the request is done. */
static void cut_after_forward(void)
{
    begin(30000);
    int r = rule(PDK__OP_CREATE, PDK__CUT_AFTER_FORWARD);
    pdk__proxy_refuse(p, true);
    CHECK_EQ(create(), ZCONNECTIONLOSS);
    CHECK_EQ(pdk__proxy_hits(p, r), 1);
    CHECK_WITHIN(30000, n_children() == 1);
    pdk__proxy_refuse(p, false);
    connected_again();
}

static void cut_before_reply(void)
{
    begin(30000);
    int r = rule(PDK__OP_CREATE, PDK__CUT_BEFORE_REPLY);
    CHECK_EQ(create(), ZCONNECTIONLOSS);
    CHECK_EQ(pdk__proxy_hits(p, r), 1);
    CHECK_EQ(n_children(), 1);
    connected_again();
}

static void cut_after_reply(void)
{
    begin(30000);
    rule(PDK__OP_CREATE, PDK__CUT_AFTER_REPLY);
    CHECK_EQ(create(), ZOK);
    CHECK_WITHIN(30000, pdk__proxy_requests(p, PDK__OP_CONNECT) == 1);
    connected_again();
}

/* The client never hears: it gives the connection up after two thirds of its session. */
static void swallow_reply(void)
{
    begin(3000);
    int r = rule(PDK__OP_CREATE, PDK__SWALLOW_REPLY);
    int rc = create();
    CHECK(rc == ZOPERATIONTIMEOUT || rc == ZCONNECTIONLOSS);
    CHECK_EQ(pdk__proxy_hits(p, r), 1);
    CHECK_EQ(n_children(), 1);
}

static void swallow_request(void)
{
    begin(3000);
    rule(PDK__OP_CREATE, PDK__SWALLOW_REQUEST);
    int rc = create();
    CHECK(rc == ZOPERATIONTIMEOUT || rc == ZCONNECTIONLOSS);
    CHECK_EQ(n_children(), 0);
}

static void nth_by_path(void)
{
    char path[64];
    begin(30000);
    snprintf(path, sizeof path, "%s/b", root);
    int r = pdk__proxy_rule(p, &(struct pdk__proxy_rule){.path = path, .nth = 2, .act = PDK__CUT_BEFORE});
    CHECK_EQ(zoo_exists(zh, root, 0, NULL), ZOK);
    CHECK_EQ(zoo_exists(zh, path, 0, NULL), ZNONODE);
    CHECK_EQ(pdk__proxy_hits(p, r), 0);
    CHECK_EQ(zoo_delete(zh, path, -1), ZCONNECTIONLOSS);
    CHECK_EQ(pdk__proxy_hits(p, r), 1);
    connected_again();
}

/* --- time -------------------------------------------------------------------------------------------------------- */

struct answer {
    _Atomic int rc;
};

static void answered(int rc, const char *value, const void *arg)
{
    (void)value;
    ((struct answer *)(uintptr_t)arg)->rc = rc;
}

static void create_later(struct answer *a)
{
    char path[64];
    a->rc = 1;
    snprintf(path, sizeof path, "%s/n-", root);
    CHECK_EQ(zoo_acreate(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL_SEQUENTIAL, answered, a), ZOK);
}

static void hold_request(void)
{
    static struct answer a;
    begin(60000);
    int r = rule(PDK__OP_CREATE, PDK__HOLD_REQUEST);
    create_later(&a);
    CHECK_WITHIN(30000, pdk__proxy_hits(p, r) == 1);
    CHECK_EQ(n_children(), 0);
    CHECK_EQ(a.rc, 1);
    pdk__proxy_release(p, r);
    CHECK_WITHIN(30000, a.rc == ZOK);
    CHECK_EQ(n_children(), 1);
}

static void hold_reply(void)
{
    static struct answer a;
    begin(60000);
    int r = rule(PDK__OP_CREATE, PDK__HOLD_REPLY);
    create_later(&a);
    CHECK_WITHIN(30000, pdk__proxy_hits(p, r) == 1);
    CHECK_EQ(n_children(), 1);
    CHECK_EQ(a.rc, 1);
    pdk__proxy_release(p, r);
    CHECK_WITHIN(30000, a.rc == ZOK);
}

static void delay_reply(void)
{
    begin(60000);
    pdk__proxy_rule(p, &(struct pdk__proxy_rule){.op = PDK__OP_CREATE, .act = PDK__DELAY_REPLY, .ms = 300});
    int64_t from = pdk__test_now_ms();
    CHECK_EQ(create(), ZOK);
    CHECK(pdk__test_now_ms() - from >= 299);
}

static void delay_direction(void)
{
    begin(60000);
    pdk__proxy_delay(p, PDK__TO_SERVER, 200);
    pdk__proxy_delay(p, PDK__TO_CLIENT, 200);
    int64_t from = pdk__test_now_ms();
    CHECK_EQ(create(), ZOK);
    CHECK(pdk__test_now_ms() - from >= 399);
}

static void hold_direction(void)
{
    static struct answer a;
    begin(60000);
    pdk__proxy_hold(p, PDK__TO_CLIENT, true);
    create_later(&a);
    CHECK_WITHIN(30000, n_children() == 1);
    CHECK_WITHIN(30000, pdk__proxy_replies(p, PDK__OP_CREATE) == 1);
    CHECK_EQ(a.rc, 1);
    pdk__proxy_hold(p, PDK__TO_CLIENT, false);
    CHECK_WITHIN(30000, a.rc == ZOK);
}

/* --- connections ------------------------------------------------------------------------------------------------- */

static void refuse(void)
{
    begin(60000);
    pdk__proxy_refuse(p, true);
    CHECK_EQ(create(), ZOK); /* what exists stays */
    pdk__proxy_cut(p);
    CHECK_EQ(pdk__proxy_connections(p), 0);
    CHECK_WITHIN(30000, zoo_state(zh) != ZOO_CONNECTED_STATE);
    CHECK_EQ(pdk__proxy_connections(p), 0);
    pdk__proxy_refuse(p, false);
    connected_again();
}

static void killed_session(void)
{
    begin(60000);
    CHECK_EQ(create(), ZOK);
    clientid_t id = *zoo_client_id(zh);
    CHECK_EQ(pdk__ask_ephemerals(e->server[0], id.client_id), 1);
    pdk__proxy_refuse(p, true);
    pdk__proxy_cut(p);
    CHECK_EQ(pdk__zk_kill_session(pdk__server_port(e->server[0]), &id), 0);
    CHECK_EQ(n_children(), 0);
    pdk__proxy_refuse(p, false);
    CHECK_WITHIN(30000, zoo_state(zh) == ZOO_EXPIRED_SESSION_STATE);
    CHECK_EQ(pdk__zk_kill_session(pdk__server_port(e->server[0]), &id), -1);
}

static void ignore(zhandle_t *h, int type, int state, const char *path, void *arg)
{
    (void)h, (void)type, (void)state, (void)path, (void)arg;
}

static void counts(void)
{
    char path[64], story[256];
    begin(60000);
    snprintf(path, sizeof path, "%s/w", root);
    CHECK_EQ(zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0), ZOK);
    CHECK_EQ(zoo_wexists(zh, path, ignore, NULL, NULL), ZOK);
    CHECK_EQ(pdk__ask_watchers(e->server[0], path), 1);
    CHECK_EQ(zoo_delete(direct, path, -1), ZOK);
    CHECK_WITHIN(30000, pdk__proxy_events(p, 2, path) == 1);
    CHECK_EQ(pdk__proxy_events(p, 0, NULL), 1);
    CHECK_EQ(pdk__proxy_events(p, 1, NULL), 0);
    CHECK_EQ(pdk__ask_watchers(e->server[0], path), 0);
    CHECK_EQ(zoo_delete(zh, path, -1), ZNONODE);
    CHECK_EQ(pdk__proxy_requests(p, PDK__OP_EXISTS), 1);
    CHECK_EQ(pdk__proxy_requests(p, 0), 3);
    CHECK_EQ(pdk__proxy_replies(p, 0), 3);
    pdk__proxy_story(p, story, sizeof story);
    CHECK_STR(story, "create =create exists =exists !deleted delete =delete:-101 ");
    CHECK(pdk__ask_number(e->server[0], "zk_znode_count") > 0);
    CHECK_EQ(pdk__ask_number(e->server[0], "zk_no_such_number"), -1);
    CHECK_EQ(pdk__ask_connections(e->server[0]), 2);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a request cut before the server is never done", cut_before},
        {"a request cut after it was forwarded is done", cut_after_forward},
        {"a reply cut off leaves the request done", cut_before_reply},
        {"a cut after the reply is no error of the request", cut_after_reply},
        {"a swallowed reply makes the client time out", swallow_reply},
        {"a swallowed request is never done", swallow_request},
        {"a rule acts on the nth request with its path, once", nth_by_path},
        {"a held request is done when it is released", hold_request},
        {"a held reply is heard when it is released", hold_reply},
        {"a delayed reply is late", delay_reply},
        {"a delayed direction is late", delay_direction},
        {"a held direction passes nothing on", hold_direction},
        {"a proxy that refuses keeps the connections it has", refuse},
        {"a session ended from outside is expired for its owner", killed_session},
        {"requests, replies, events and watches are counted", counts},
        {0},
    };
    return pdk__test_main(
        argc, argv, &(struct pdk__test_suite){.name = "proxy", .tests = tests, .setup = setup, .teardown = teardown});
}
