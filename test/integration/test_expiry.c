/*
 * Sessions that end under a lock: while it is waited for, held, created and released. The victim is connected through a
 * proxy of its own choice, all other clients go around the proxies.
 */
#include "test/lib/fixture.h"
#include "test/lib/recorder.h"

#include <stdio.h>
#include <string.h>

enum { SESSION_MS = 30000, SHORT_MS = 6000 };

static struct recorder victim, first, second;
static pdk__proxy *proxy;
static pdk__server *server;
static char direct[32];
static char story[128];

static void close_recorders(void)
{
    recorder_close(&victim);
    recorder_close(&first);
    recorder_close(&second);
}

static void begin(int victims_session_ms)
{
    close_recorders();
    fixture_begin();
    proxy = fixture.e->proxy[0];
    server = fixture.e->server[0];
    snprintf(direct, sizeof direct, "127.0.0.1:%d", pdk__server_port(server));
    CHECK_EQ(zoo_create(fixture.zh, fixture.path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    recorder_open(&victim, fixture.e->address[0], victims_session_ms, fixture.path);
    pdk__proxy_reset_counters(proxy);
}

static int nodes_of(int64_t session)
{
    pdk__observe_flush(fixture.zh, fixture.path);
    return pdk__observe_nodes(fixture.zh, fixture.path, session);
}

/* Into the queue, as number POSITION. */
static void queue(struct recorder *a, int position)
{
    if (a->client == NULL)
        recorder_open(a, direct, SESSION_MS, fixture.path);
    recorder_queue(a, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, nodes_of(0) == position);
}

/* A has been granted; it is checked, and released. Returns the token. */
static int64_t serve(struct recorder *a)
{
    CHECK_RC(recorder_outcome(a), PDK_OK);
    int64_t token = pdk__check_grant(a, fixture.zh);
    CHECK_EQ(a->n_answers, 1);
    CHECK_RC(recorder_unlock(a), PDK_OK);
    return token;
}

static void kill_session(void) { recorder_kill_session(&victim, proxy, server); }

static int rule(int op, pdk__act act)
{
    return pdk__proxy_rule(proxy, &(struct pdk__proxy_rule){.op = op, .act = act});
}

/* --- killed from outside ----------------------------------------------------------------------------------------- */

static void while_waiting(void)
{
    begin(SESSION_MS);
    int64_t session = pdk_client_session_id(victim.client);
    queue(&first, 1);
    queue(&victim, 2);
    queue(&second, 3);
    kill_session();
    CHECK_EQ(nodes_of(session), 0);
    CHECK_WITHIN(LONG_MS, nodes_of(0) == 3);
    CHECK(pdk_client_session_id(victim.client) != session);
    CHECK_EQ(nodes_of(pdk_client_session_id(victim.client)), 1);
    CHECK_EQ(victim.rc, PDK__PENDING);
    int64_t a = serve(&first), b = serve(&second), c = serve(&victim);
    CHECK(a < b && b < c);
    CHECK_EQ(nodes_of(0), 0);
    CHECK_STR(recorder_states(&victim, story, sizeof story), "");
}

/* LOST is final for the grant; what comes after it is a new one. */
static void starts_afresh(int64_t token, int64_t session)
{
    CHECK_EQ(recorder_state(&victim), PDK_LOST);
    CHECK_RC(pdk_mutex_lock(victim.mutex), PDK_ELOST);
    CHECK_RC(recorder_unlock(&victim), PDK_ELOST);
    CHECK_EQ(recorder_state(&victim), PDK_FREE);
    CHECK_RC(recorder_unlock(&victim), PDK_EPERM);
    CHECK_RC(pdk_mutex_timedlock(victim.mutex, LONG_MS), PDK_OK);
    CHECK(pdk_client_session_id(victim.client) != session);
    CHECK_LAW(pdk__check_grant(&victim, fixture.zh) > token);
    CHECK_EQ(recorder_state(&victim), PDK_HELD);
    CHECK_RC(recorder_unlock(&victim), PDK_OK);
    CHECK_STR(recorder_states(&victim, story, sizeof story), "suspect lost");
    CHECK_EQ(nodes_of(0), 0);
}

/* The create is held where ACT says when its session ends; the next session makes a node of its own. */
static void during_create(pdk__act act)
{
    begin(SESSION_MS);
    int64_t session = pdk_client_session_id(victim.client);
    int r = rule(PDK__OP_CREATE2, act);
    recorder_queue(&victim, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(proxy, r) == 1);
    CHECK_EQ(nodes_of(session), act == PDK__HOLD_REPLY ? 1 : 0);
    kill_session();
    serve(&victim);
    CHECK(pdk_client_session_id(victim.client) != session);
    CHECK_EQ(pdk__proxy_requests(proxy, PDK__OP_CREATE2), 2);
    CHECK_EQ(nodes_of(0), 0);
}

static void before_create(void) { during_create(PDK__HOLD_REQUEST); }
static void after_create(void) { during_create(PDK__HOLD_REPLY); }

/* The reply was lost, and when the client is back to look for its node, the node and its session no longer exist. */
static void adrift(void)
{
    begin(SESSION_MS);
    int r = rule(PDK__OP_CREATE2, PDK__CUT_BEFORE_REPLY);
    pdk__proxy_refuse(proxy, true);
    recorder_queue(&victim, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(proxy, r) == 1);
    CHECK_EQ(nodes_of(0), 1);
    kill_session();
    serve(&victim);
    CHECK_EQ(pdk__proxy_requests(proxy, PDK__OP_CREATE2), 2);
    CHECK_EQ(nodes_of(0), 0);
}

static void unlocked(int rc, void *arg) { atomic_store((_Atomic int *)arg, rc); }

/* The node went with its session: that is what the caller wanted. */
static void during_delete(pdk__act act)
{
    _Atomic int rc = PDK__PENDING;
    begin(SESSION_MS);
    CHECK_RC(pdk_mutex_lock(victim.mutex), PDK_OK);
    int r = rule(PDK__OP_DELETE, act);
    CHECK_RC(pdk_mutex_unlock_async(victim.mutex, unlocked, &rc), PDK_OK);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(proxy, r) == 1);
    kill_session();
    CHECK_WITHIN(LONG_MS, rc != PDK__PENDING);
    CHECK_RC(rc, PDK_OK);
    CHECK_EQ(nodes_of(0), 0);
    CHECK_STR(recorder_states(&victim, story, sizeof story), "");
    recorder_queue(&victim, PDK_FOREVER);
    serve(&victim);
    CHECK_EQ(nodes_of(0), 0);
}

static void before_delete(void) { during_delete(PDK__HOLD_REQUEST); }
static void after_delete(void) { during_delete(PDK__HOLD_REPLY); }

static void again_and_again(void)
{
    begin(SESSION_MS);
    queue(&first, 1);
    queue(&victim, 2);
    for (int i = 0; i < 3; i++) {
        int64_t session = pdk_client_session_id(victim.client);
        kill_session();
        CHECK_WITHIN(LONG_MS, nodes_of(0) == 2);
        CHECK(pdk_client_session_id(victim.client) != session);
    }
    CHECK(serve(&first) < serve(&victim));
    CHECK_EQ(nodes_of(0), 0);
}

/* --- cut off ----------------------------------------------------------------------------------------------------- */

static void cut(bool cut_off)
{
    pdk__proxy_refuse(proxy, cut_off);
    if (cut_off)
        pdk__proxy_cut(proxy);
}

/* The connection is open, and no packet passes: noticed by the silence alone. */
static void silence(bool cut_off)
{
    pdk__proxy_hold(proxy, PDK__TO_SERVER, cut_off);
    pdk__proxy_hold(proxy, PDK__TO_CLIENT, cut_off);
}

/* The reports come in order: SUSPECT, LOST, and only then can another be granted. */
static void cut_off_for_good(void (*set)(bool))
{
    begin(SHORT_MS);
    int64_t session = pdk_client_session_id(victim.client);
    CHECK_RC(pdk_mutex_lock(victim.mutex), PDK_OK);
    int64_t token = pdk__check_grant(&victim, fixture.zh);
    queue(&first, 2);
    set(true);
    CHECK_RC(recorder_outcome(&first), PDK_OK);
    CHECK_EQ(recorder_state(&victim), PDK_LOST);
    CHECK(pdk_client_state(victim.client) != PDK_SESSION_CONNECTED);
    int64_t suspect_ms = recorder_told_ms(&victim, PDK_SUSPECT), lost_ms = recorder_told_ms(&victim, PDK_LOST);
    CHECK(suspect_ms >= 0 && suspect_ms <= lost_ms);
    CHECK(lost_ms <= atomic_load(&first.answered_ms));
    CHECK_LAW(pdk__check_grant(&first, fixture.zh) > token);
    set(false);
    int64_t next = serve(&first);
    starts_afresh(next, session);
}

static void cut_off(void) { cut_off_for_good(cut); }
static void fallen_silent(void) { cut_off_for_good(silence); }

static void cut_off_shortly(void)
{
    begin(SESSION_MS);
    CHECK_RC(pdk_mutex_lock(victim.mutex), PDK_OK);
    int64_t token = pdk__check_grant(&victim, fixture.zh);
    queue(&first, 2);
    cut(true);
    CHECK_WITHIN(LONG_MS, recorder_state(&victim) == PDK_SUSPECT);
    cut(false);
    CHECK_WITHIN(LONG_MS, recorder_told_ms(&victim, PDK_HELD) >= 0);
    CHECK_EQ(recorder_state(&victim), PDK_HELD);
    CHECK_EQ(pdk__check_grant(&victim, fixture.zh), token);
    CHECK_EQ(first.rc, PDK__PENDING);
    CHECK_STR(recorder_states(&victim, story, sizeof story), "suspect held");
    CHECK_RC(recorder_unlock(&victim), PDK_OK);
    serve(&first);
    CHECK_EQ(nodes_of(0), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a waiter whose session expires queues anew at the tail, and is served in the end", while_waiting},
        {"a waiter whose session expires three times is served in the end", again_and_again},
        {"a create that never arrived before its session expired is made once", before_create},
        {"a create whose reply was on its way when its session expired is made anew, once", after_create},
        {"a create whose reply was lost before its session expired is made anew, once", adrift},
        {"an unlock that never arrived before its session expired answers 0", before_delete},
        {"an unlock whose reply was on its way when its session expired answers 0", after_delete},
        {"a holder cut off for longer than its session hears LOST before another is granted", cut_off},
        {"a holder whose server falls silent hears LOST before another is granted", fallen_silent},
        {"a holder cut off for a moment is suspect, and holds again", cut_off_shortly},
        {"all of it can be closed", close_recorders},
        {0},
    };
    return fixture_main(argc, argv, "expiry", tests, ON_ONE | ON_THREE | ON_OWN);
}
