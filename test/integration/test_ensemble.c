/* Ensembles of the harness: they elect, and their links can be cut. */
#include "test/lib/check.h"
#include "test/lib/ensemble.h"
#include "test/lib/zk.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static pdk__ensemble *e;
static zhandle_t *zh;

static void setup(void)
{
    e = pdk__ensemble_new(&(struct pdk__ensemble_options){.n = 3, .sync_limit = 100, .links = true, .own = true});
}

static void hang_up(void)
{
    if (zh != NULL)
        zookeeper_close(zh);
    zh = NULL;
}

static void teardown(void)
{
    hang_up();
    pdk__ensemble_free(e);
}

static void begin(void)
{
    hang_up();
    pdk__ensemble_heal(e);
}

static void one_leader(void)
{
    begin();
    int leader = pdk__ensemble_leader(e, 3), n_followers = 0;
    for (int i = 0; i < 3; i++) {
        n_followers += pdk__server_ask_role(e->server[i]) == PDK__SERVER_FOLLOWER;
        if (i != leader)
            CHECK_EQ(pdk__proxy_connections(e->link[i][leader]), 1);
    }
    CHECK_EQ(n_followers, 2);
}

static void leader_killed(void)
{
    begin();
    int old = pdk__ensemble_leader(e, 3);
    zh = pdk__zk_open(e->hosts, 30000);
    CHECK_EQ(zoo_create(zh, "/stays", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0), ZOK);
    pdk__server_kill(e->server[old]);
    CHECK(!pdk__server_running(e->server[old]));
    CHECK(pdk__ensemble_leader(e, 2) != old);
    CHECK_WITHIN(60000, zoo_exists(zh, "/stays", 0, NULL) == ZOK);
    pdk__ensemble_restart(e, old);
    pdk__ensemble_leader(e, 3);
}

static void hold(pdk__proxy *link, bool on)
{
    pdk__proxy_hold(link, PDK__TO_SERVER, on);
    pdk__proxy_hold(link, PDK__TO_CLIENT, on);
}

static _Atomic int created;

static void on_created(int rc, const char *value, const void *arg)
{
    (void)value, (void)arg;
    created = rc;
}

/* The window in which a client believes too much: its server answers, and is not part of the ensemble any more. */
static void follower_cut_off(void)
{
    begin();
    int leader = pdk__ensemble_leader(e, 3), follower = (leader + 1) % 3;
    zh = pdk__zk_open(e->address[follower], 60000);
    CHECK_EQ(zoo_exists(zh, "/", 0, NULL), ZOK);
    hold(e->link[follower][leader], true);
    created = 1;
    pdk__proxy_reset_counters(e->proxy[follower]); /* clients of the tests before may have created through it */
    CHECK_EQ(zoo_exists(zh, "/", 0, NULL), ZOK);
    CHECK_EQ(zoo_acreate(zh, "/late", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_created, NULL), ZOK);
    CHECK_WITHIN(30000, SEEN(pdk__proxy_requests(e->proxy[follower], PDK__OP_CREATE)) == 1);
    zhandle_t *other = pdk__zk_open(e->address[leader], 60000);
    CHECK_EQ(zoo_create(other, "/elsewhere", "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, NULL, 0), ZOK);
    CHECK_EQ(zoo_exists(other, "/late", 0, NULL), ZNONODE);
    CHECK_EQ(created, 1);
    hold(e->link[follower][leader], false);
    CHECK_WITHIN(60000, created == ZOK);
    zookeeper_close(other);
}

static void paused(void)
{
    begin();
    int leader = pdk__ensemble_leader(e, 3), follower = (leader + 1) % 3;
    pdk__server_pause(e->server[follower]);
    CHECK_EQ(pdk__server_ask_role(e->server[follower]), PDK__SERVER_NONE);
    CHECK(pdk__server_running(e->server[follower]));
    pdk__server_resume(e->server[follower]);
    CHECK_EQ(pdk__ensemble_leader(e, 3) >= 0, true);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"three servers elect one leader, through their links", one_leader},
        {"a killed leader is followed by another, and comes back", leader_killed},
        {"a follower cut off from its leader answers reads, and writes when the link is back", follower_cut_off},
        {"a paused server answers nobody until it is resumed", paused},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "ensemble", .tests = tests, .setup = setup, .teardown = teardown});
}
