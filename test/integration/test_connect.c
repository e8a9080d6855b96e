/* Clients that cannot be created, or find no server; wrong arguments; and how much one session can carry. */
#include "test/lib/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void bad_hosts(void)
{
    pdk_client *c = NULL;
    CHECK_RC(pdk_client_new(&c, "localhost", NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_new(&c, "", NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_new(&c, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_new(NULL, "localhost:1", NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_new(&c, "127.0.0.1:1/a/", NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_adopt(&c, NULL, NULL), PDK_EINVAL);
    CHECK(c == NULL);
}

/* No name has an empty label, so that no name server is asked, which could be slow. */
static void unknown_host(void)
{
    pdk_client *c = NULL;
    CHECK_RC(pdk_client_new(&c, "nobody..invalid:2181", NULL), PDK_EHOST);
    CHECK(c == NULL);
}

enum { SESSION_MS = 10000 };

static void no_server(void)
{
    pdk_client_options *o = fixture_options(SESSION_MS);
    pdk_client *c;
    char text[256];
    pdk__proxy_refuse(fixture.proxy, true);
    CHECK_RC(pdk_client_new(&c, fixture.hosts, o), 0);
    pdk_client_options_free(o);
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    pdk_contender_list *list;
    CHECK_RC(pdk_client_wait(c, 0), PDK_ETIMEDOUT);
    CHECK_RC(pdk_client_wait(c, 20), PDK_ETIMEDOUT);
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_CONNECTING);
    CHECK_EQ(pdk_client_session_id(c), 0);
    CHECK_EQ(pdk_client_session_timeout_ms(c), 0);
    CHECK_RC(pdk_mutex_timedlock(m, 0), PDK_EDISCONNECTED);
    CHECK_RC(pdk_mutex_timedlock(m, 20), PDK_ETIMEDOUT);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EDISCONNECTED);
    CHECK(pdk_lock_last_error(m, text, sizeof text) > 0 && strncmp(text, "trylock ", 8) == 0);
    CHECK_RC(pdk_contenders(c, "/a", PDK_CONTENDERS_ALL, 20, &list), PDK_ETIMEDOUT);
    CHECK_RC(pdk_mutex_unlock(m), PDK_EPERM);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    CHECK_RC(pdk_mutex_trylock(m), 0);
    CHECK(pdk_client_session_id(c) != 0);
    CHECK_EQ(pdk_client_session_timeout_ms(c), SESSION_MS);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void relocked_without_server(void)
{
    const char *path = fixture_path();
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_SUSPECT);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_trylock(m), 0);
    CHECK_RC(pdk_mutex_timedlock(m, 0), 0);
    for (int i = 0; i < 3; i++)
        CHECK_RC(pdk_mutex_unlock(m), 0);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

/* The mutex that is held would be lost by then. */
static void tried_without_server(void)
{
    char text[256];
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, fixture_path()), *other = fixture_mutex(c, fixture_path());
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_SUSPECT);
    CHECK_RC(pdk_mutex_trylock(other), PDK_EDISCONNECTED);
    CHECK(pdk_lock_last_error(other, text, sizeof text) > 0 && strncmp(text, "trylock ", 8) == 0);
    CHECK_RC(pdk_mutex_timedlock(other, 0), PDK_EDISCONNECTED);
    CHECK_EQ(pdk_lock_state(m), PDK_SUSPECT);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(other), 0);
    fixture_end(c, m);
}

/* The client has given its session up, and has none: it was connected all the same. */
static void tried_without_session(void)
{
    enum { SHORT_MS = 2000 };
    pdk_client *c = fixture_client(fixture_options(SHORT_MS));
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_CONNECTING && pdk_client_session_id(c) == 0);
    int64_t began_ms = pdk__test_now_ms();
    CHECK_RC(pdk_mutex_trylock(m), PDK_EDISCONNECTED);
    CHECK(pdk__test_now_ms() - began_ms < SHORT_MS);
    pdk__proxy_refuse(fixture.proxy, false);
    fixture_end(c, m);
}

/* The connection ends with the request, and comes back at once. */
static void tried_over_a_cut(void)
{
    const char *path = fixture_path();
    struct pdk__proxy_rule rule = {.path = path, .act = PDK__CUT_BEFORE};
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path);
    pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EDISCONNECTED);
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(pdk_mutex_timedlock(m, 0), PDK_EDISCONNECTED);
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    CHECK_RC(pdk_mutex_trylock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void chroot_and_not(void)
{
    const char *path = fixture_path();
    char hosts[128], whole[64], deep[64];
    snprintf(hosts, sizeof hosts, "%s%s", fixture.hosts, path);
    snprintf(whole, sizeof whole, "%s/a", path);
    snprintf(deep, sizeof deep, "%s/a/b", path);
    pdk_client *inside, *outside = fixture_client(NULL);
    CHECK_RC(pdk_client_new(&inside, hosts, NULL), 0);
    pdk_mutex *m = fixture_mutex(inside, "/a/b"), *n = fixture_mutex(outside, deep);
    struct locker l;
    CHECK_RC(pdk_mutex_lock(m), 0);
    locker_start(&l, n);
    CHECK_WITHIN(LONG_MS, fixture_children(deep) == 2);
    fixture_delete_below(deep, fixture_find(deep, "-0000000000")); /* the whole path identifies our node */
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EBUSY);
    pdk_contender_list *list;
    CHECK_RC(pdk_contenders(inside, "/a/b", PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    CHECK_EQ(pdk_contender_list_size(list), 1);
    CHECK_EQ(pdk_contender_number(list, 0, PDK_CONTENDER_SESSION), pdk_client_session_id(outside));
    pdk_contender_list_free(list);
    locker_finish(&l);
    fixture_end(inside, m);
    fixture_end(outside, n);
}

static void bad_paths(void)
{
    static const char *const paths[] = {"", "a", "a/b", "/", "/a/", "//a", "/a//b", "/.", "/a/../b", "/a\n", "/a\x7f"};
    pdk_client *c = fixture_client(NULL);
    pdk_mutex *m = NULL;
    pdk_contender_list *list = NULL;
    char *longest = malloc(5000);
    CHECK(longest != NULL);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CHECK_RC(pdk_mutex_new(&m, c, paths[i], NULL), PDK_EPATH);
        if (strcmp(paths[i], "/") != 0) /* which can be listed */
            CHECK_RC(pdk_contenders(c, paths[i], PDK_CONTENDERS_ALL, 0, &list), PDK_EPATH);
    }
    memset(longest, 'x', 4999);
    longest[0] = '/';
    longest[4999] = '\0';
    CHECK_RC(pdk_mutex_new(&m, c, longest, NULL), PDK_EPATH);
    free(longest);
    CHECK_RC(pdk_mutex_new(&m, c, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_mutex_new(&m, NULL, "/a", NULL), PDK_EINVAL);
    CHECK(m == NULL && list == NULL);
    fixture_end(c, NULL);
}

static void bad_options(void)
{
    pdk_client_options *o = fixture_options(100);
    pdk_lock_options *mo = pdk_lock_options_new();
    char label[300];
    memset(label, 'x', sizeof label);
    label[256] = '\0';
    CHECK_RC(pdk_client_options_set_session_timeout_ms(o, 99), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_session_timeout_ms(o, 86400001), PDK_EINVAL);
    CHECK_RC(pdk_client_options_set_label(o, label), PDK_EINVAL);
    label[255] = '\0';
    CHECK_RC(pdk_client_options_set_label(o, label), 0);
    CHECK_RC(pdk_client_options_set_label(o, NULL), PDK_EINVAL);
    CHECK_RC(pdk_client_options_add_auth(o, "", "a:b"), PDK_EINVAL);
    CHECK_RC(pdk_client_options_add_acl(o, "world", "anyone", 0), PDK_EINVAL);
    CHECK_RC(pdk_client_options_add_acl(o, "world", "anyone", 32), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_data(mo, label, 65537), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_data(mo, NULL, 1), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_data(mo, NULL, 0), 0);
    pdk_lock_options_free(mo);
    pdk_client_options_free(o);
}

/* --- how much one session carries -------------------------------------------------------------------------------- */

struct tally {
    atomic_int n_told, n_granted, n_other;
};

static void count(int rc, void *arg)
{
    struct tally *t = arg;
    t->n_granted += rc == 0;
    t->n_other += rc != 0 && rc != PDK_ECANCELED;
    t->n_told++;
}

/* A few long paths stand for many short ones. */
static void limit(void)
{
    enum { LENGTH = 3900, MANY = 400 };
    static char path[LENGTH + 1], next[LENGTH + 1];
    static pdk_grant *g[MANY];
    static struct tally t;
    int n = 0, rc = 0;
    pdk_client *c = fixture_client(NULL);
    memset(path, 'x', LENGTH);
    memset(next, 'y', LENGTH); /* a short path would fit beside the others */
    path[0] = next[0] = '/';
    pdk_mutex *m = fixture_mutex(c, path), *other = fixture_mutex(c, next);
    while (n < MANY && (rc = pdk_mutex_lock_async(m, PDK_FOREVER, count, &t, &g[n])) == 0)
        n++;
    CHECK_RC(rc, PDK_ELIMIT);
    CHECK_RC(pdk_mutex_lock(m), PDK_ELIMIT);
    CHECK_RC(pdk_mutex_lock(other), PDK_ELIMIT);
    CHECK_WITHIN(LONG_MS, t.n_granted == 1);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy); /* all their watches go in one request */
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) != PDK_SESSION_CONNECTED);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_CONNECTED);
    CHECK_WITHIN(LONG_MS, pdk_grant_state(g[0]) == PDK_HELD);
    for (int i = 1; i < n; i++)
        CHECK_RC(pdk_grant_release_async(g[i], NULL, NULL), PDK_EPERM);
    CHECK_WITHIN(LONG_MS, t.n_told == n);
    CHECK_EQ(t.n_other, 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 1);
    CHECK_WITHIN(LONG_MS, pdk_mutex_timedlock(other, LONG_MS) == 0); /* the room is there again */
    CHECK_RC(pdk_mutex_unlock(other), 0);
    CHECK_RC(pdk_grant_release(g[0]), 0);
    CHECK_RC(pdk_lock_free(other), 0);
    fixture_end(c, m);
}

/* --- how many locks that is -------------------------------------------------------------------------------------- */

/* Each held lock costs its path, a slash, the longest name and four bytes. The last one to be granted needed as much
 * for a predecessor. */
enum { BUDGET = 1000000, COST = 4000, HELD_MAX = BUDGET / COST - 1, PATH_LENGTH = COST - 50 };

static struct {
    pdk_mutex *mutexes[HELD_MAX + 1];
    int n;
    atomic_int n_lost;
} many;

static void note_lost(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m, (void)arg;
    many.n_lost += event->state == PDK_LOST;
}

/* Locks on paths of LENGTH bytes, until one is refused. */
static int hold_many(pdk_client *c, size_t length)
{
    char path[PATH_LENGTH + 1];
    many.n_lost = 0;
    for (many.n = 0; many.n <= HELD_MAX; many.n++) {
        int n = snprintf(path, sizeof path, "%s-%d-", fixture_path(), many.n);
        memset(path + n, 'x', length - (size_t)n);
        path[length] = '\0';
        pdk_mutex *m = many.mutexes[many.n] = fixture_mutex(c, path);
        CHECK_RC(pdk_lock_on_event(m, note_lost, NULL), 0);
        int rc = pdk_mutex_lock(m);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* RC: what each unlock answers. */
static void free_many(pdk_client *c, int rc)
{
    for (int i = 0; i < many.n; i++)
        CHECK_RC(pdk_mutex_unlock(many.mutexes[i]), rc);
    for (int i = 0; i <= many.n; i++)
        CHECK_RC(pdk_lock_free(many.mutexes[i]), 0);
    fixture_end(c, NULL);
}

static void delete_every(int nth, int offset)
{
    char node[PATH_LENGTH + 64];
    for (int i = offset; i < many.n; i += nth) {
        int n = snprintf(node, sizeof node, "%s/", pdk_lock_path(many.mutexes[i], 0));
        pdk_lock_node(many.mutexes[i], 0, node + n, sizeof node - (size_t)n);
        CHECK_EQ(zoo_delete(fixture.zh, node, -1), ZOK);
    }
}

/* Each of them is watched: first on the old connection, then by the one packet that renews all watches on the new. */
static void watches_survive(void)
{
    pdk_client *c = fixture_client(fixture_options(LONG_MS));
    pdk__proxy_reset_counters(fixture.proxy);
    CHECK_RC(hold_many(c, PATH_LENGTH), PDK_ELIMIT);
    CHECK_EQ(many.n, HELD_MAX);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_GET) >= HELD_MAX);
    pdk__proxy_reset_counters(fixture.proxy);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_SUSPENDED);
    delete_every(3, 0);
    CHECK_EQ(many.n_lost, 0);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_WITHIN(LONG_MS, many.n_lost == HELD_MAX / 3);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_SET_WATCHES), 1);
    CHECK_EQ(pdk__proxy_replies(fixture.proxy, PDK__OP_CONNECT), 1);
    delete_every(3, 1);
    delete_every(3, 2);
    CHECK_WITHIN(LONG_MS, many.n_lost == HELD_MAX);
    free_many(c, PDK_ELOST);
}

/* The servers get the whole path. */
static void chroot_counts(void)
{
    char hosts[PATH_LENGTH + 64];
    pdk_client *c;
    int n = snprintf(hosts, sizeof hosts, "%s", fixture.hosts);
    snprintf(hosts + n, sizeof hosts - (size_t)n, "%s-%03800d", fixture_path(), 0);
    size_t chroot = strlen(hosts + n);
    CHECK_RC(pdk_client_new(&c, hosts, NULL), 0);
    CHECK_RC(hold_many(c, PATH_LENGTH - chroot), PDK_ELIMIT);
    CHECK_EQ(many.n, HELD_MAX);
    free_many(c, 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a bad host list is refused", bad_hosts},
        {"an unknown host is refused", unknown_host},
        {"without a server whatever has a limit ends by it, and all is well later", no_server},
        {"an owner locks again at once, without a server, too", relocked_without_server},
        {"a try does not wait for a connection that was lost", tried_without_server},
        {"nor does it where the session is given up since", tried_without_session},
        {"a try ends with its connection", tried_over_a_cut},
        {"clients inside and outside of a chroot meet on one path", chroot_and_not},
        {"paths that cannot carry a lock are refused", bad_paths},
        {"options that make no sense are refused", bad_options},
        {"a session takes no more than it can carry through a reconnection", limit},
        {"all locks that it takes are watched again after one", watches_survive},
        {"the chroot is a part of what it carries", chroot_counts},
        {0},
    };
    return fixture_main(argc, argv, "connect", tests, ON_ONE);
}
