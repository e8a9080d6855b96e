/*
 * Servers that are away for longer than a session, and come back with everything as it was: the nodes of a previous
 * session of ours are still there, and no grant may rest on one of them (Curator's does, CURATOR-604).
 */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"
#include "test/lib/recorder.h"

#include <stdio.h>

enum { PATIENT_MS = 90000, SHORT_MS = 3000 };

static struct recorder holder, waiter;
static zhandle_t *ghost; /* goes on with a session that the client under test has given up */

static void close_all(void)
{
    recorder_close(&holder);
    recorder_close(&waiter);
    if (ghost != NULL)
        zookeeper_close(ghost);
    ghost = NULL;
}

static int nodes_of(int64_t session)
{
    pdk__observe_flush(fixture.zh, fixture.path);
    return pdk__observe_nodes(fixture.zh, fixture.path, session);
}

static void refuse(bool refused)
{
    for (int i = 0; i < fixture.e->n; i++)
        pdk__proxy_refuse(fixture.e->proxy[i], refused);
}

static void stop_servers(void)
{
    zookeeper_close(fixture.zh);
    fixture.zh = NULL;
    refuse(true);
    for (int i = 0; i < fixture.e->n; i++)
        pdk__server_kill(fixture.e->server[i]);
}

static void start_servers(void)
{
    pdk__ensemble_heal(fixture.e);
    fixture.zh = pdk__observe(fixture.e, 0);
}

static void begin(int holders_ms, int waiters_ms)
{
    close_all();
    if (fixture.zh == NULL) /* a test has failed in its outage */
        start_servers();
    fixture_begin();
    recorder_open(&holder, fixture.hosts, holders_ms, fixture.path);
    recorder_open(&waiter, fixture.hosts, waiters_ms, fixture.path);
    CHECK_RC(pdk_mutex_lock(holder.mutex), PDK_OK);
    recorder_queue(&waiter, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, nodes_of(0) == 2);
}

static void end(void)
{
    CHECK_RC(recorder_outcome(&waiter), PDK_OK);
    pdk__check_grant(&waiter, fixture.zh);
    CHECK_EQ(waiter.n_answers, 1);
    CHECK_RC(recorder_unlock(&waiter), PDK_OK);
    CHECK_WITHIN(LONG_MS, nodes_of(0) == 0);
}

/* Servers that start give each session its own timeout. A machine may be so slow that it is over before the ghost is
 * let in: then all is set up again, with sessions of twice the length. */
enum { SLOWEST_MS = 16 * SHORT_MS };

static bool ghost_is_back(void)
{
    CHECK_WITHIN(LONG_MS, SEEN(zoo_state(ghost)) == ZOO_CONNECTED_STATE || is_unrecoverable(ghost) != 0);
    return zoo_state(ghost) == ZOO_CONNECTED_STATE;
}

static void lay_ghost(void)
{
    zookeeper_close(ghost);
    ghost = NULL;
}

/* The waiter's client has given its session up; the servers, when they are back, have not. */
static bool outlive_the_handle(void)
{
    clientid_t id = {.client_id = pdk_client_session_id(waiter.client)};
    CHECK(id.client_id != 0);
    id = *zoo_client_id(pdk__client_zh(waiter.client));
    stop_servers();
    CHECK_WITHIN(LONG_MS, pdk_client_state(waiter.client) == PDK_SESSION_CONNECTING);
    ghost = zookeeper_init(fixture.hosts, NULL, PATIENT_MS, &id, NULL, ZOO_NO_LOG_CLIENTENV);
    CHECK(ghost != NULL);
    start_servers();
    if (!ghost_is_back())
        return false;
    CHECK_EQ(zoo_client_id(ghost)->client_id, id.client_id);
    CHECK_RC(pdk_client_wait(waiter.client, LONG_MS), PDK_OK);
    CHECK(pdk_client_session_id(waiter.client) != id.client_id);
    CHECK_WITHIN(LONG_MS, nodes_of(pdk_client_session_id(waiter.client)) == 1);
    CHECK_EQ(nodes_of(id.client_id), 1);
    return true;
}

/* Wait until a contender waits for the first node of the path. */
static bool first_is_watched(int64_t owner)
{
    char name[128], child[512];
    struct Stat stat;
    if (!pdk__observe_first(fixture.zh, fixture.path, name, &stat) || stat.ephemeralOwner != owner)
        return false;
    snprintf(child, sizeof child, "%s/%s", fixture.path, name);
    return fixture_watchers(child) > 0;
}

static void set_up(void)
{
    for (int short_ms = SHORT_MS;; short_ms *= 2) {
        CHECK(short_ms <= SLOWEST_MS);
        begin(PATIENT_MS, short_ms);
        if (outlive_the_handle())
            return;
        lay_ghost();
        CHECK_RC(recorder_unlock(&holder), PDK_OK);
        end();
    }
}

static void waiters_old_node(void)
{
    set_up();
    int64_t old = zoo_client_id(ghost)->client_id;
    CHECK_RC(recorder_unlock(&holder), PDK_OK);
    CHECK_WITHIN(LONG_MS, first_is_watched(old));
    CHECK_EQ(waiter.rc, PDK__PENDING);
    CHECK_EQ(nodes_of(0), 2);
    lay_ghost();
    end();
}

/* The same, of a session that ends on its own. */
static void waiters_old_node_expires(void)
{
    set_up();
    CHECK_RC(recorder_unlock(&holder), PDK_OK);
    lay_ghost();
    end();
}

/* Away for longer than the session, but not for so long that the client gave it up: the same session goes on. */
static void session_outlived(void)
{
    begin(PATIENT_MS, SHORT_MS);
    int64_t session = pdk_client_session_id(waiter.client);
    stop_servers();
    CHECK_WITHIN(LONG_MS, pdk_client_state(waiter.client) == PDK_SESSION_SUSPENDED);
    int64_t from = pdk__test_now_ms();
    CHECK_WITHIN(LONG_MS, pdk__test_now_ms() - from > SHORT_MS);
    start_servers();
    CHECK_RC(pdk_client_wait(waiter.client, LONG_MS), PDK_OK);
    CHECK_RC(pdk_client_wait(holder.client, LONG_MS), PDK_OK);
    CHECK_EQ(waiter.rc, PDK__PENDING);
    if (pdk_client_session_id(waiter.client) == session)
        CHECK_EQ(nodes_of(0), 2);
    CHECK_RC(recorder_unlock(&holder), PDK_OK);
    end();
}

/* The holder stopped believing; its session lives on, and its node, until the holder deletes it. */
static void holders_old_node(void)
{
    char story[64];
    begin(SHORT_MS, PATIENT_MS);
    stop_servers();
    CHECK_WITHIN(LONG_MS, recorder_told_ms(&holder, PDK_LOST) >= 0);
    CHECK_STR(recorder_states(&holder, story, sizeof story), "suspect lost");
    start_servers();
    end();
    CHECK_EQ(recorder_state(&holder), PDK_LOST);
    CHECK_RC(recorder_unlock(&holder), PDK_ELOST);
    CHECK_RC(pdk_mutex_timedlock(holder.mutex, LONG_MS), PDK_OK);
    pdk__check_grant(&holder, fixture.zh);
    CHECK_RC(recorder_unlock(&holder), PDK_OK);
    CHECK_EQ(nodes_of(0), 0);
}

/* The holder's own old node is in its way, too. */
static bool holder_behind_itself_of(int short_ms)
{
    begin(short_ms, PATIENT_MS);
    recorder_close(&waiter);
    clientid_t id = *zoo_client_id(pdk__client_zh(holder.client));
    stop_servers();
    CHECK_WITHIN(LONG_MS, pdk_client_state(holder.client) == PDK_SESSION_CONNECTING);
    ghost = zookeeper_init(fixture.hosts, NULL, PATIENT_MS, &id, NULL, ZOO_NO_LOG_CLIENTENV);
    CHECK(ghost != NULL);
    CHECK_RC(recorder_unlock(&holder), PDK_ELOST);
    recorder_queue(&holder, PDK_FOREVER);
    start_servers();
    bool back = ghost_is_back();
    if (back) {
        CHECK_WITHIN(LONG_MS, first_is_watched(id.client_id));
        CHECK_EQ(holder.rc, PDK__PENDING);
    }
    lay_ghost();
    CHECK_RC(recorder_outcome(&holder), PDK_OK);
    pdk__check_grant(&holder, fixture.zh);
    int rc = recorder_unlock(&holder);
    if (rc == PDK_ELOST) /* since the grant more time passed than its session has */
        back = false;
    else
        CHECK_RC(rc, PDK_OK);
    CHECK_WITHIN(LONG_MS, nodes_of(0) == 0);
    return back;
}

static void holder_behind_itself(void)
{
    for (int short_ms = SHORT_MS; !holder_behind_itself_of(short_ms); short_ms *= 2)
        CHECK(short_ms < SLOWEST_MS);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a waiter with a new session waits for its own old node", waiters_old_node},
        {"a waiter with a new session is granted when its old one has gone", waiters_old_node_expires},
        {"a waiter whose session outlived the outage goes on in its place", session_outlived},
        {"a holder who heard LOST in the outage gives its node up after it", holders_old_node},
        {"a holder with a new session queues behind its own old node", holder_behind_itself},
        {"all of it can be closed", close_all},
        {0},
    };
    return fixture_main(argc, argv, "outage", tests, ON_ONE | ON_THREE | ON_OWN);
}
