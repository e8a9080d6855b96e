/* A thousand rounds, and a thousand failed tries, leave as much as one does: nothing. */
#include "test/lib/fixture.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>

/* Memory that one round more or less may hold for a moment, and allocations that are made once. A leak of 128 bytes in
 * each of a thousand rounds is more. */
enum { WARM_UP = 200, ROUNDS = 1000, SLACK_BYTES = 64 * 1024 };

/* Not through proxies: they live in this process, and keep what went by. */
static struct peer open_peer(void)
{
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%d", pdk__server_port(fixture.e->server[0]));
    return peer_at(address, NULL);
}

/* --- what could grow --------------------------------------------------------------------------------------------- */

struct census {
    long znodes, watches, ephemerals; /* of the server */
    int descriptors, threads;         /* of this process */
    size_t bytes;
};

static int count_entries(const char *directory)
{
    DIR *dir = opendir(directory);
    int n = 0;
    CHECK(dir != NULL);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n;
}

static struct census count(void)
{
    const pdk__server *s = fixture.e->server[0];
    return (struct census){
        .znodes = pdk__ask_number(s, "zk_znode_count"),
        .watches = pdk__ask_number(s, "zk_watch_count"),
        .ephemerals = pdk__ask_number(s, "zk_ephemerals_count"),
        .descriptors = count_entries("/proc/self/fd"),
        .threads = count_entries("/proc/self/task"),
        .bytes = mallinfo2().uordblks,
    };
}

/* Resources that are freed in the background are freed soon. Paths of earlier tests, which are containers, may go at
 * any time. */
static bool settled(const struct census *before, struct census *after)
{
    *after = count();
    return after->znodes <= before->znodes && after->watches == before->watches &&
           after->ephemerals == before->ephemerals && after->descriptors == before->descriptors &&
           after->threads == before->threads && after->bytes <= before->bytes + SLACK_BYTES;
}

static void check_same(const struct census *before)
{
    struct census after;
    int64_t until = pdk__test_now_ms() + pdk__test_slowed(LONG_MS / 2);
    while (!settled(before, &after) && pdk__test_now_ms() < until)
        pdk__test_nap();
    CHECK(after.znodes <= before->znodes);
    CHECK_EQ(after.ephemerals, before->ephemerals);
    CHECK_EQ(after.watches, before->watches);
    CHECK_EQ(after.descriptors, before->descriptors);
    CHECK_EQ(after.threads, before->threads);
    CHECK(after.bytes <= before->bytes + SLACK_BYTES);
}

static void check_no_growth(void (*round)(struct peer *p, int i), struct peer *p, int n_nodes)
{
    /* A holder watches its node, and asks for that after the grant. */
    CHECK_WITHIN(LONG_MS, pdk__ask_number(fixture.e->server[0], "zk_watch_count") >= n_nodes);
    /* Before the first round: a watch that stays on the holder's node is one, however often it is set. */
    long watches = pdk__ask_number(fixture.e->server[0], "zk_watch_count");
    for (int i = 0; i < WARM_UP; i++)
        round(p, i);
    CHECK_WITHIN(LONG_MS, pdk__ask_number(fixture.e->server[0], "zk_watch_count") == watches);
    CHECK_WITHIN(LONG_MS, fixture_nodes() == n_nodes);
    struct census before = count();
    for (int i = 0; i < ROUNDS; i++)
        round(p, i);
    check_same(&before);
    CHECK_EQ(fixture_nodes(), n_nodes);
}

/* --- rounds ------------------------------------------------------------------------------------------------------ */

static void lock_and_unlock(struct peer *p, int i)
{
    (void)i;
    CHECK_RC(pdk_mutex_lock(p->mutex), 0);
    CHECK_RC(pdk_mutex_unlock(p->mutex), 0);
}

static void rounds(void)
{
    fixture_begin();
    struct peer p = open_peer();
    check_no_growth(lock_and_unlock, &p, 0);
    peer_free(&p);
}

/* Times so short that they end anywhere between the create and the wait. */
static void try_in_vain(struct peer *p, int i)
{
    if (i % 2 == 0)
        CHECK_RC(pdk_mutex_trylock(p->mutex), PDK_EBUSY);
    else
        CHECK_RC(pdk_mutex_timedlock(p->mutex, 1 + i / 2 % 8), PDK_ETIMEDOUT);
}

static void tries(void)
{
    fixture_begin();
    struct peer holder = open_peer(), p = open_peer();
    CHECK_RC(pdk_mutex_lock(holder.mutex), 0);
    check_no_growth(try_in_vain, &p, 1);
    CHECK_RC(pdk_mutex_unlock(holder.mutex), 0);
    peer_free(&holder);
    peer_free(&p);
}

/* It begins to wait, and the one ahead releases the lock: watches that fire. */
static void hand_over(struct peer *two, int i)
{
    struct request w;
    struct peer *first = &two[i % 2], *second = &two[(i + 1) % 2];
    CHECK_RC(pdk_mutex_lock(first->mutex), 0);
    request_now(&w, second, PDK_FOREVER);
    CHECK_RC(pdk_mutex_unlock(first->mutex), 0);
    request_end(&w, 0);
}

static void hand_overs(void)
{
    fixture_begin();
    struct peer two[2] = {open_peer(), open_peer()};
    check_no_growth(hand_over, two, 0);
    peer_free(&two[0]);
    peer_free(&two[1]);
}

/* A client is more: its threads and descriptors, and the session. */
static void open_and_close(struct peer *p, int i)
{
    (void)p;
    if (i % 10 != 0)
        return;
    struct peer one = open_peer();
    CHECK_RC(pdk_mutex_lock(one.mutex), 0);
    CHECK_RC(pdk_mutex_unlock(one.mutex), 0);
    peer_free(&one);
}

static void clients(void)
{
    fixture_begin();
    check_no_growth(open_and_close, NULL, 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a thousand rounds leave nothing behind", rounds},
        {"a hundred clients leave nothing behind", clients},
        {0},
    };
    static const struct pdk__test proof[] = {
        {"a thousand tries in vain leave nothing behind", tries},
        {"a thousand hand-overs leave nothing behind", hand_overs},
        {0},
    };
    mallopt(M_ARENA_MAX, 1); /* mallinfo2() tells of the first arena only: have all threads use it */
    return fixture_run(argc, argv, &(struct pdk__test_suite){.name = "mutex growth", .tests = tests, .proof = proof},
                       ON_ONE | ON_OWN);
}
