/* A client that may create nodes, and forges names of contenders: there is one holder, and every real node goes. */
#include "test/lib/fixture.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The name of the waiter's node, with the sequence number that comes before all. */
static void forge(const char *path, const char *victim)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s0000000000", (int)strlen(victim) - 10, victim);
    fixture_make_below(path, name, "");
}

static const char *name_of(pdk_client *c, const char *path)
{
    char prefix[32];
    snprintf(prefix, sizeof prefix, "%016llx-", (unsigned long long)pdk_client_session_id(c));
    return fixture_find(path, prefix);
}

/* A reason to list again: the node before the waiter's changes. */
static void write_to(const char *path, const char *name)
{
    char node[192];
    snprintf(node, sizeof node, "%s/%s", path, name);
    CHECK_EQ(zoo_set(fixture.zh, node, "x", 1, -1), ZOK);
}

/* The first of the path's nodes is at number 1, so that a lower number can be forged. */
static const char *path_with_a_past(void)
{
    const char *path = fixture_path();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, "past", "");
    fixture_delete_below(path, "past");
    return path;
}

static void two_believers(void)
{
    const char *path = path_with_a_past();
    pdk_client *a = fixture_client(NULL), *b = fixture_client(NULL);
    pdk_mutex *holder = fixture_mutex(a, path), *waiter = fixture_mutex(b, path);
    char held[64], waits[64], forged[64];
    struct locker l;
    CHECK_RC(pdk_mutex_lock(holder), PDK_OK);
    snprintf(held, sizeof held, "%s", name_of(a, path));
    locker_start(&l, waiter);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_GET) == 3); /* each its own, and the one ahead */
    snprintf(waits, sizeof waits, "%s", name_of(b, path));
    pdk__proxy_reset_counters(fixture.proxy);
    forge(path, waits);
    write_to(path, held);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_LIST) > 0);
    CHECK_RC(pdk_mutex_timedlock(waiter, 300),
             PDK_ETIMEDOUT); /* the same object again, so what it heard it has acted on */
    CHECK(!l.settled);
    CHECK_EQ(pdk_lock_state(holder), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(holder), PDK_OK);
    CHECK(!l.settled);
    snprintf(forged, sizeof forged, "%.*s0000000000", (int)strlen(waits) - 10, waits);
    fixture_delete_below(path, forged);
    CHECK_WITHIN(LONG_MS, l.settled);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, PDK_OK);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 0);
    fixture_end(a, holder);
    fixture_end(b, waiter);
}

/* The session is renewed by deletes of the name that its create had, without the number. The servers refuse the delete
 * of a node that exists and has a child with another code than that of a node that does not exist. */
static void name_of_the_renewals(void)
{
    const char *path = path_with_a_past();
    pdk_client *c = fixture_client(fixture_options(2000));
    pdk_mutex *m = fixture_mutex(c, path);
    char vacant[64], child[192];
    CHECK_RC(pdk_mutex_lock(m), PDK_OK);
    snprintf(vacant, sizeof vacant, "%s", name_of(c, path));
    vacant[strlen(vacant) - 10] = '\0';
    snprintf(child, sizeof child, "%s/%s", path, vacant);
    fixture_make(child, "", ZOO_PERSISTENT, NULL);
    strcat(child, "/child");
    fixture_make(child, "", ZOO_PERSISTENT, NULL);
    usleep(2500 * 1000);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    CHECK_EQ(zoo_delete(fixture.zh, child, -1), ZOK);
    fixture_end(c, m);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a forged name makes no second believer, and leaves no node", two_believers},
        {"a node of the name that renewals ask for ends no lease", name_of_the_renewals},
        {0}};
    return fixture_main(argc, argv, "forged", tests, ON_ONE);
}
