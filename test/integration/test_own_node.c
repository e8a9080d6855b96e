/* A node of ours that another client deleted: a waiter queues again, a holder is notified that it has lost. */
#include "test/lib/fixture.h"
#include "test/lib/recorder.h"

#include <stdio.h>
#include <string.h>

enum { SESSION_MS = 30000, N = 3 };

static struct recorder recorders[N];

static void close_recorders(void)
{
    for (int i = 0; i < N; i++)
        recorder_close(&recorders[i]);
}

static void begin(int n)
{
    close_recorders();
    fixture_begin();
    for (int i = 0; i < n; i++)
        recorder_open(&recorders[i], fixture.hosts, SESSION_MS, fixture.path);
    fixture_each_proxy(pdk__proxy_reset_counters);
}

static int nodes_of(const struct recorder *a)
{
    pdk__observe_flush(fixture.zh, fixture.path);
    return pdk__observe_nodes(fixture.zh, fixture.path, a != NULL ? pdk_client_session_id(a->client) : 0);
}

/* Into the queue, as number POSITION. */
static void queue(struct recorder *a, int position)
{
    recorder_queue(a, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, nodes_of(NULL) == position);
}

static bool node_of(const struct recorder *a, char name[128])
{
    struct String_vector names;
    struct Stat stat;
    char child[512];
    name[0] = '\0';
    CHECK_EQ(zoo_get_children(fixture.zh, fixture.path, 0, &names), ZOK);
    for (int i = 0; i < names.count; i++) {
        snprintf(child, sizeof child, "%s/%s", fixture.path, names.data[i]);
        if (zoo_exists(fixture.zh, child, 0, &stat) == ZOK && stat.ephemeralOwner == pdk_client_session_id(a->client))
            snprintf(name, 128, "%s", names.data[i]);
    }
    deallocate_String_vector(&names);
    return *name != '\0';
}

static void delete_node_of(const struct recorder *a)
{
    char name[128];
    pdk__observe_flush(fixture.zh, fixture.path);
    CHECK(node_of(a, name));
    pdk__observe_delete(fixture.zh, fixture.path, name);
}

/* A holds; its grant is checked, and released. Returns its token. */
static int64_t serve(struct recorder *a)
{
    CHECK_RC(recorder_outcome(a), PDK_OK);
    int64_t token = pdk__check_grant(a, fixture.zh);
    CHECK_EQ(a->n_answers, 1);
    CHECK_EQ(a->n_told, 0);
    CHECK_RC(recorder_unlock(a), PDK_OK);
    return token;
}

static void waiter_to_the_tail(void)
{
    begin(3);
    struct recorder *holder = &recorders[0], *robbed = &recorders[1], *last = &recorders[2];
    for (int i = 0; i < 3; i++)
        queue(&recorders[i], i + 1);
    delete_node_of(robbed);
    CHECK_WITHIN(LONG_MS, nodes_of(robbed) == 1);
    CHECK_EQ(nodes_of(NULL), 3);
    CHECK_EQ(robbed->rc, PDK__PENDING);
    int64_t first = serve(holder), second = serve(last), third = serve(robbed);
    CHECK(first < second && second < third);
    CHECK_EQ(nodes_of(NULL), 0);
}

static void delete_both(const struct recorder *holder, const struct recorder *robbed, char of_robbed[128])
{
    char of_holder[128], paths[2][512];
    CHECK(node_of(holder, of_holder) && node_of(robbed, of_robbed));
    snprintf(paths[0], sizeof paths[0], "%s/%s", fixture.path, of_robbed);
    snprintf(paths[1], sizeof paths[1], "%s/%s", fixture.path, of_holder);
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    for (int i = 0; i < 2; i++)
        zoo_delete_op_init(&ops[i], paths[i], -1);
    CHECK_EQ(zoo_multi(fixture.zh, 2, ops, results), ZOK);
}

/* The next in the queue, whose node is deleted in the same moment as the holder's: once both watch their nodes, there
 * is no grant on a deleted node. */
static void waiter_and_holder_at_once(void)
{
    begin(2);
    struct recorder *holder = &recorders[0], *robbed = &recorders[1];
    char of_robbed[128];
    queue(holder, 1);
    queue(robbed, 2);
    CHECK_WITHIN(LONG_MS, fixture_requests(PDK__OP_GET) == 3); /* their own nodes, and the holder's by the waiter */
    delete_both(holder, robbed, of_robbed);
    CHECK_RC(recorder_outcome(robbed), PDK_OK);
    pdk__check_grant(robbed, fixture.zh);
    char node[128];
    pdk_lock_node(robbed->mutex, 0, node, sizeof node);
    CHECK(strcmp(node, of_robbed) != 0);
    CHECK_WITHIN(LONG_MS, recorder_state(holder) == PDK_LOST);
    CHECK_RC(recorder_unlock(holder), PDK_ELOST);
    CHECK_RC(recorder_unlock(robbed), PDK_OK);
    CHECK_EQ(nodes_of(NULL), 0);
}

/* Before that, there can be one, and it is lost once the watch is due. */
static void waiter_and_holder_too_early(void)
{
    begin(2);
    struct recorder *holder = &recorders[0], *robbed = &recorders[1];
    char of_robbed[128];
    queue(holder, 1);
    queue(robbed, 2);
    delete_both(holder, robbed, of_robbed);
    CHECK_RC(recorder_outcome(robbed), PDK_OK);
    bool soon = fixture_requests(PDK__OP_GET) == 1; /* else a slow machine has let that time pass */
    CHECK_WITHIN(LONG_MS, recorder_state(holder) == PDK_LOST);
    CHECK_RC(recorder_unlock(holder), PDK_ELOST);
    if (soon) {
        CHECK_WITHIN(LONG_MS, recorder_state(robbed) == PDK_LOST);
        CHECK_RC(recorder_unlock(robbed), PDK_ELOST);
    } else {
        CHECK_RC(recorder_unlock(robbed), PDK_OK);
    }
    CHECK_EQ(nodes_of(NULL), 0);
}

/* A contender that was granted by a release, not by a listing, watches its node, too. */
static void heir_is_told(void)
{
    begin(2);
    queue(&recorders[0], 1);
    queue(&recorders[1], 2);
    serve(&recorders[0]);
    CHECK_RC(recorder_outcome(&recorders[1]), PDK_OK);
    delete_node_of(&recorders[1]);
    CHECK_WITHIN(LONG_MS, recorder_told_ms(&recorders[1], PDK_LOST) >= 0);
    CHECK_RC(recorder_unlock(&recorders[1]), PDK_ELOST);
}

/* Deleted while the holder is away: it comes back as suspect, looks, and is notified. */
static void told_after_reconnect(void)
{
    char story[64];
    begin(1);
    CHECK_RC(pdk_mutex_lock(recorders[0].mutex), PDK_OK);
    fixture_cut_off(true);
    CHECK_WITHIN(LONG_MS, recorder_told_ms(&recorders[0], PDK_SUSPECT) >= 0);
    CHECK_EQ(recorder_state(&recorders[0]), PDK_SUSPECT);
    delete_node_of(&recorders[0]);
    fixture_cut_off(false);
    CHECK_WITHIN(LONG_MS, recorder_told_ms(&recorders[0], PDK_LOST) >= 0);
    CHECK_STR(recorder_states(&recorders[0], story, sizeof story), "suspect lost");
    CHECK_RC(recorder_unlock(&recorders[0]), PDK_ELOST);
}

static void hold_links(bool on)
{
    for (int i = 0; i < fixture.e->n; i++) {
        pdk__proxy_hold(fixture.e->proxy[i], PDK__TO_SERVER, on);
        pdk__proxy_hold(fixture.e->proxy[i], PDK__TO_CLIENT, on);
    }
}

static _Atomic int unlocked;

static void on_unlocked(int rc, void *arg)
{
    (void)arg;
    unlocked = rc;
}

/* The event of the deletion was still on its way when the holder unlocked. */
static void told_by_the_unlock(void)
{
    begin(1);
    unlocked = PDK__PENDING;
    CHECK_RC(pdk_mutex_lock(recorders[0].mutex), PDK_OK);
    hold_links(true);
    delete_node_of(&recorders[0]);
    CHECK_EQ(recorder_state(&recorders[0]), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock_async(recorders[0].mutex, on_unlocked, NULL), 0);
    hold_links(false);
    CHECK_WITHIN(LONG_MS, unlocked != PDK__PENDING);
    CHECK_RC(unlocked, PDK_ELOST);
    CHECK_EQ(nodes_of(NULL), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a waiter whose node was deleted queues anew at the tail, and is served in the end", waiter_to_the_tail},
        {"a waiter whose node went with the holder's is not granted on it", waiter_and_holder_at_once},
        {"a grant on a node that was deleted before its watch was due is lost then", waiter_and_holder_too_early},
        {"an heir whose node was deleted is told LOST", heir_is_told},
        {"a holder whose node was deleted while it was away is told LOST when it is back", told_after_reconnect},
        {"a holder whose node was deleted unheard is told LOST by its unlock", told_by_the_unlock},
        {"all of it can be closed", close_recorders},
        {0},
    };
    return fixture_main(argc, argv, "own_node", tests, ON_ONE | ON_THREE | ON_OWN);
}
