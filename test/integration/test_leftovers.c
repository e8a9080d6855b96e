/* After a client is closed and freed nothing of it is left: no thread, no descriptor, no node, no connection, no byte.
 */
#include "test/lib/fixture.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* PADDOCK_TEST_ROUNDS makes it short, for tools under which everything is slow. */
static int n_rounds;

static void setup(void)
{
    const char *rounds = getenv("PADDOCK_TEST_ROUNDS");
    n_rounds = rounds != NULL && atoi(rounds) > 0 ? atoi(rounds) : 100;
    /* The test counts: connections to servers that others use would count, too. */
    fixture_open(&(struct pdk__ensemble_options){.n = 1, .own = true});
    fixture.hosts = fixture.direct; /* the proxy has descriptors of its own */
}

static int entries(const char *name)
{
    DIR *dir = opendir(name);
    int n = 0;
    CHECK(dir != NULL);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

struct threads {
    int n;
    long id[64];
};

static struct threads threads(void)
{
    struct threads t = {0};
    DIR *dir = opendir("/proc/self/task");
    CHECK(dir != NULL);
    for (struct dirent *e; (e = readdir(dir)) != NULL;)
        if (e->d_name[0] != '.') {
            CHECK(t.n < (int)(sizeof t.id / sizeof *t.id));
            t.id[t.n++] = strtol(e->d_name, NULL, 10);
        }
    closedir(dir);
    return t;
}

/* How many there are now that were not there BEFORE. One that is joined is in /proc until the kernel has taken it out:
 * two numbers of threads that are equal show nothing. */
static int new_threads(const struct threads *before)
{
    struct threads now = threads();
    int n = now.n;
    for (int i = 0; i < now.n; i++)
        for (int j = 0; j < before->n; j++)
            n -= now.id[i] == before->id[j];
    return n;
}

struct census {
    int descriptors, connections;
    long nodes, watches, ephemerals;
};

static struct census count(void)
{
    const pdk__server *s = fixture.e->server[0];
    return (struct census){.descriptors = entries("/proc/self/fd"),
                           .connections = pdk__ask_connections(s),
                           .nodes = pdk__ask_number(s, "zk_znode_count"),
                           .watches = pdk__ask_number(s, "zk_watch_count"),
                           .ephemerals = pdk__ask_number(s, "zk_ephemerals_count")};
}

static void idle(void)
{
    pdk_client *c;
    CHECK_RC(pdk_client_new(&c, fixture.hosts, NULL), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

/* ROUND, often, leaves nothing; but the first makes the path, and all others leave no more than it. The server cleans
 * up after ended connections a little later. */
static void leaves_nothing(void (*round)(void))
{
    struct threads others = threads();
    struct census before = count(), after;
    round();
    before.nodes = count().nodes;
    for (int i = 0; i < n_rounds; i++)
        round();
    CHECK_WITHIN(LONG_MS, new_threads(&others) == 0);
    after = count();
    CHECK_EQ(after.descriptors, before.descriptors);
    if (round != idle) /* the server may keep the connection of one that goes while its session is being created */
        CHECK_WITHIN(LONG_MS, (after = count(), after.connections <= before.connections));
    CHECK_WITHIN(LONG_MS, (after = count(), after.ephemerals == before.ephemerals));
    CHECK_WITHIN(LONG_MS, (after = count(), after.watches == before.watches));
    CHECK(after.nodes <= before.nodes); /* an empty path may be reaped */
}

static atomic_int n_told;
static pdk_grant *grant;

static void tell(int rc, void *arg)
{
    (void)rc, (void)arg;
    n_told++;
}

static void in_use(void)
{
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, "/leftovers"), *n = fixture_mutex(c, "/leftovers");
    pdk_grant *g;
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_lock_async(n, PDK_FOREVER, tell, NULL, &g), 0);
    CHECK_RC(pdk_mutex_trylock(n), PDK_EBUSY);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_lock_free(n), 0);
    fixture_end(c, m);
}

static void dispatching(void)
{
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_set_dispatch(o, true), 0);
    pdk_client *c = fixture_client(o);
    pdk_mutex *m = fixture_mutex(c, "/leftovers");
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, tell, NULL, &grant), 0);
    fixture_end(c, m);
}

static void hopeless(void)
{
    pdk_client *c;
    CHECK_RC(pdk_client_new(&c, "127.0.0.1", NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_new(&c, "127.0.0.1:1", NULL), 0); /* no process listens there */
    pdk_mutex *m = fixture_mutex(c, "/leftovers");
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, tell, NULL, &grant), 0);
    CHECK_RC(pdk_client_free(c), 0);
    CHECK_RC(pdk_lock_free(m), 0);
}

static zhandle_t *zh;

static void adopted(void)
{
    pdk_client *c;
    pdk_client_options *o = pdk_client_options_new();
    CHECK(o != NULL);
    CHECK_RC(pdk_client_options_set_clock(o, 2, 0), 0); /* not true: it has not to wait for a proof that holds */
    CHECK_RC(pdk_client_adopt(&c, zh, o), 0);
    pdk_client_options_free(o);
    pdk_mutex *m = fixture_mutex(c, "/leftovers");
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, tell, NULL, &grant), 0);
    fixture_end(c, m);
}

static void in_use_test(void) { leaves_nothing(in_use); }

static void idle_test(void) { leaves_nothing(idle); }

static void dispatching_test(void) { leaves_nothing(dispatching); }

static void hopeless_test(void) { leaves_nothing(hopeless); }

static void adopted_test(void)
{
    zh = pdk__zk_open(fixture.hosts, 60000);
    leaves_nothing(adopted);
    zookeeper_close(zh);
}

/* Also in the middle of a session: the watches that a wait has set are removed. */
static pdk_client *standing, *other;
static pdk_mutex *held, *tried;

static void wait_in_vain(void)
{
    CHECK_RC(pdk_mutex_timedlock(tried, 2), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_children("/leftovers") == 1);
}

static void standing_test(void)
{
    standing = fixture_client(NULL);
    other = fixture_client(NULL); /* of a session that watches nothing else there */
    held = fixture_mutex(standing, "/leftovers");
    tried = fixture_mutex(other, "/leftovers");
    CHECK_RC(pdk_mutex_lock(held), 0);
    /* The holder watches its node from the age of a twentieth of the session. */
    CHECK_WITHIN(LONG_MS, pdk__ask_number(fixture.e->server[0], "zk_watch_count") == 1);
    leaves_nothing(wait_in_vain);
    CHECK_RC(pdk_mutex_unlock(held), 0);
    CHECK_WITHIN(LONG_MS, pdk__ask_number(fixture.e->server[0], "zk_watch_count") == 0);
    fixture_end(other, tried);
    fixture_end(standing, held);
}

static void leads(const char *id, int64_t token, void *arg)
{
    (void)id, (void)token, (void)arg;
    n_told++;
}

static void changed(void *arg)
{
    (void)arg;
    n_told++;
}

/* Every other round frees them while their first answers are under way. */
static void observe(void)
{
    static const char *const paths[] = {"/leftovers", "/leftovers-missing"};
    static int n;
    pdk_leader_observer *of_leader[2];
    pdk_contenders_observer *of_all[2];
    n_told = 0;
    for (int i = 0; i < 2; i++) {
        CHECK_RC(pdk_leader_observe(&of_leader[i], other, paths[i], leads, NULL), 0);
        CHECK_RC(pdk_contenders_observe(&of_all[i], other, paths[i], changed, NULL), 0);
    }
    if (n++ % 2 == 0)
        CHECK_WITHIN(LONG_MS, n_told == 4);
    for (int i = 0; i < 2; i++) {
        CHECK_RC(pdk_leader_observer_free(of_leader[i]), 0);
        CHECK_RC(pdk_contenders_observer_free(of_all[i]), 0);
    }
}

static void observed_test(void)
{
    standing = fixture_client(NULL);
    other = fixture_client(NULL);
    held = fixture_mutex(standing, "/leftovers");
    CHECK_RC(pdk_mutex_lock(held), 0);
    CHECK_WITHIN(LONG_MS, pdk__ask_number(fixture.e->server[0], "zk_watch_count") == 1);
    leaves_nothing(observe);
    CHECK_RC(pdk_mutex_unlock(held), 0);
    fixture_end(standing, held);
    CHECK_RC(pdk_client_free(other), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a client that was in use leaves nothing", in_use_test},
        {"a client that was hardly begun leaves nothing", idle_test},
        {"a client whose callbacks were left to the program leaves nothing", dispatching_test},
        {"a client that never found a server leaves nothing", hopeless_test},
        {"a client on an adopted handle leaves nothing", adopted_test},
        {"a wait in vain leaves nothing", standing_test},
        {"observers leave nothing", observed_test},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "leftovers", .tests = tests, .setup = setup, .teardown = fixture_close});
}
