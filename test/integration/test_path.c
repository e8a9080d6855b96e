/* The fates of a lock's path: it is missing, deleted, reaped, or below a node that can have no children. */
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>

/* A server that reaps empty containers at once. */
static void setup(void)
{
    static const char *const properties[] = {"znode.container.checkIntervalMs=100",
                                             "znode.container.maxPerMinute=1000000", NULL};
    fixture_open(&(struct pdk__ensemble_options){.n = 1, .properties = properties});
}

static void deleted_under_all(void)
{
    const char *path = fixture_path();
    pdk_client *c = fixture_client(NULL), *d = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path), *n = fixture_mutex(d, path);
    struct locker waiter;
    int64_t first, second;
    int gets = pdk__proxy_requests(fixture.proxy, PDK__OP_GET);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_lock_token(m, &first, NULL), 0);
    locker_start(&waiter, n);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    /* both watch their own nodes, and the waiter the holder's */
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_GET) == gets + 3);
    fixture_delete_all(path);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_WITHIN(LONG_MS, waiter.settled);
    CHECK_RC(waiter.rc, 0);
    CHECK_RC(pdk_lock_token(n, &second, NULL), 0);
    CHECK_LAW(second > first);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EBUSY);
    locker_finish(&waiter);
    CHECK_RC(waiter.unlock_rc, 0);
    fixture_end(d, n);
    fixture_end(c, m);
}

/* The create finds no path, in the middle of the round: the first one makes it, the others find it there. */
static void deleted_before_create(void)
{
    const char *path = fixture_path();
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path);
    for (int i = 0; i < 3; i++) {
        CHECK_RC(pdk_mutex_lock(m), 0);
        CHECK_RC(pdk_mutex_unlock(m), 0);
        fixture_delete_all(path);
    }
    int r = pdk__proxy_rule(fixture.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_CREATE2, .act = PDK__HOLD_REQUEST});
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    struct locker l;
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, r) == 1);
    fixture_delete_all(path);
    pdk__proxy_release(fixture.proxy, r);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, 0);
    pdk__proxy_clear(fixture.proxy);
    fixture_end(c, m);
}

static void reaped(void)
{
    const char *path = fixture_path();
    char deep[64];
    snprintf(deep, sizeof deep, "%s/a/b", path);
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, deep);
    int64_t token, last = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_RC(pdk_mutex_lock(m), 0);
        CHECK_RC(pdk_lock_token(m, &token, NULL), 0);
        CHECK(token > last);
        last = token;
        CHECK_RC(pdk_mutex_unlock(m), 0);
        CHECK_WITHIN(LONG_MS, fixture_children(path) == -1);
    }
    fixture_end(c, m);
}

/* The reaper comes between making the path and creating in it, or between two rounds: no caller notices. */
static void reaped_in_between(void)
{
    const char *path = fixture_path();
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path);
    struct Stat stat;
    int64_t born = 0;
    for (int reaped = 0; reaped < 5;) {
        CHECK_RC(pdk_mutex_lock(m), 0);
        CHECK_EQ(zoo_exists(fixture.zh, path, 0, &stat), ZOK);
        reaped += stat.czxid != born;
        born = stat.czxid;
        CHECK_RC(pdk_mutex_unlock(m), 0);
    }
    fixture_end(c, m);
}

static void missing_chroot(void)
{
    const char *path = fixture_path();
    char hosts[128], whole[64];
    pdk_client *c;
    pdk_mutex *m;
    snprintf(hosts, sizeof hosts, "%s%s", fixture.hosts, path);
    snprintf(whole, sizeof whole, "%s/lock", path);
    CHECK_RC(pdk_client_new(&c, hosts, NULL), 0);
    m = fixture_mutex(c, "/lock");
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_EQ(fixture_children(whole), 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void missing_chroot_ancestors(void)
{
    const char *path = fixture_path();
    char hosts[128];
    pdk_client *c;
    snprintf(hosts, sizeof hosts, "%s%s/a/b", fixture.hosts, path);
    CHECK_RC(pdk_client_new(&c, hosts, NULL), 0);
    pdk_mutex *m = fixture_mutex(c, "/lock");
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), PDK_ENOENT);
    CHECK_RC(pdk_mutex_trylock(m), PDK_ENOENT);
    CHECK_EQ(fixture_children(path), -1);
    CHECK_RC(pdk_lock_free(m), 0); /* nothing is pending any more */
    fixture_end(c, NULL);
}

static void below_ephemeral(void)
{
    const char *path = fixture_path();
    char deep[64];
    snprintf(deep, sizeof deep, "%s/a/b", path);
    fixture_make(path, "", ZOO_EPHEMERAL, NULL);
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path), *n = fixture_mutex(c, deep);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), PDK_EPATH);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EPATH);
    CHECK_RC(pdk_mutex_timedlock(n, LONG_MS), PDK_EPATH);
    CHECK_EQ(fixture_children(path), 0);
    CHECK_RC(pdk_lock_free(n), 0);
    fixture_end(c, m);
    CHECK_EQ(zoo_delete(fixture.zh, path, -1), ZOK);
}

/* A child of any name moves the counter: the second one gets 1. */
static void tied(void)
{
    const char *path = fixture_path();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, "x-lock-0000000001", "");
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_timedlock(m, 500), PDK_ETIMEDOUT); /* it queues again, behind that one */
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 1);
    fixture_delete_below(path, "x-lock-0000000001");
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    fixture_delete_all(path);
}

/* A container that was emptied after it went first. */
static void record_outlives_reaper(void)
{
    const char *path = fixture_path(), *control = fixture_path();
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_lock_delay_ms(o, 1000), 0);
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m, *n = fixture_mutex(c, control);
    CHECK_RC(pdk_mutex_new(&m, c, path, o), 0);
    pdk_lock_options_free(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_mutex_lock(n), 0);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(control) == -1);
    CHECK_EQ(fixture_children(path), 0);
    CHECK_RC(pdk_lock_free(n), 0);
    fixture_end(c, m);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a path deleted under holder and waiter: the one has lost, the other is granted anew", deleted_under_all},
        {"a path deleted before the create is made again", deleted_before_create},
        {"a reaped container and its ancestors are made again, and tokens still grow", reaped},
        {"a path that carries records is not reaped", record_outlives_reaper},
        {"a reaper that runs among the rounds is not noticed", reaped_in_between},
        {"a missing chroot node is made", missing_chroot},
        {"a missing ancestor of the chroot is refused", missing_chroot_ancestors},
        {"a path that can have no children is refused", below_ephemeral},
        {"behind a tie of sequence numbers it queues again", tied},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "path", .tests = tests, .setup = setup, .teardown = fixture_close});
}
