/*
 * A delete whose outcome the client does not learn, and creates whose callers did not wait for the outcome: no node is
 * left. On three servers the client is driven to another server by the fault.
 */
#include "test/lib/fixture.h"
#include "test/lib/recorder.h"

#include <string.h>

enum { SESSION_MS = 30000, SOON_MS = 200 };

static struct recorder recorder, peer;
static pdk__proxy *home, *away; /* where the recorder is at first, and where it goes; the same one on one server */

static void attach_only_to(const pdk__proxy *p)
{
    for (int i = 0; i < fixture.e->n; i++)
        pdk__proxy_refuse(fixture.e->proxy[i], fixture.e->proxy[i] != p);
}

/* From now on a cut leads away from home. */
static void leave_home(void) { attach_only_to(away); }

static void begin(void)
{
    recorder_close(&recorder);
    recorder_close(&peer);
    fixture_begin();
    home = fixture.e->proxy[0];
    away = fixture.e->proxy[fixture.e->n - 1];
    CHECK_EQ(zoo_create(fixture.zh, fixture.path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    attach_only_to(home);
    recorder_open(&recorder, fixture.hosts, SESSION_MS, fixture.path);
    pdk__proxy_reset_counters(home);
    pdk__proxy_reset_counters(away);
}

static int rule(pdk__proxy *p, int op, pdk__act act)
{
    return pdk__proxy_rule(p, &(struct pdk__proxy_rule){.op = op, .act = act});
}

static int requests(int op)
{
    return pdk__proxy_requests(home, op) + (away != home ? pdk__proxy_requests(away, op) : 0);
}

static bool tells(pdk__proxy *p, const char *word)
{
    char story[4096];
    pdk__proxy_story(p, story, sizeof story);
    return strstr(story, word) != NULL;
}

static int nodes(void)
{
    pdk__observe_flush(fixture.zh, fixture.path);
    return pdk__observe_nodes(fixture.zh, fixture.path, 0);
}

/* Nothing is left, and the same object locks again, with a larger token. */
static void locks_again(int64_t token)
{
    CHECK_EQ(nodes(), 0);
    CHECK_RC(pdk_mutex_timedlock(recorder.mutex, LONG_MS), PDK_OK);
    CHECK_LAW(pdk__check_grant(&recorder, fixture.zh) > token);
    CHECK_RC(recorder_unlock(&recorder), PDK_OK);
    CHECK_EQ(nodes(), 0);
    CHECK_EQ(recorder.n_told, 0);
}

/* --- unlock ------------------------------------------------------------------------------------------------------ */

static int64_t lock(void)
{
    CHECK_RC(pdk_mutex_lock(recorder.mutex), PDK_OK);
    return pdk__check_grant(&recorder, fixture.zh);
}

static void reply_lost(void)
{
    begin();
    int64_t token = lock();
    int r = rule(home, PDK__OP_DELETE, PDK__CUT_BEFORE_REPLY);
    leave_home();
    CHECK_RC(recorder_unlock(&recorder), PDK_OK);
    CHECK_EQ(pdk__proxy_hits(home, r), 1);
    CHECK_EQ(requests(PDK__OP_DELETE), 2);
    CHECK(tells(away, "=delete:-101 "));
    locks_again(token);
}

static void request_lost(void)
{
    begin();
    int64_t token = lock();
    int r = rule(home, PDK__OP_DELETE, PDK__CUT_BEFORE);
    leave_home();
    CHECK_RC(recorder_unlock(&recorder), PDK_OK);
    CHECK_EQ(pdk__proxy_hits(home, r), 1);
    CHECK_EQ(requests(PDK__OP_DELETE), 2);
    CHECK(!tells(away, "=delete:-101 "));
    locks_again(token);
}

static void hands_over(void)
{
    begin();
    int64_t token = lock();
    attach_only_to(away);
    recorder_open(&peer, fixture.hosts, SESSION_MS, fixture.path);
    recorder_queue(&peer, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, nodes() == 2);
    rule(home, PDK__OP_DELETE, PDK__CUT_BEFORE_REPLY);
    CHECK_RC(recorder_unlock(&recorder), PDK_OK);
    CHECK_RC(recorder_outcome(&peer), PDK_OK);
    CHECK_LAW(pdk__check_grant(&peer, fixture.zh) > token);
    CHECK_EQ(nodes(), 1);
    CHECK_RC(recorder_unlock(&peer), PDK_OK);
    locks_again(token);
}

/* --- given up while the outcome of the create is unknown --------------------------------------------------------- */

static void cleaned_up(void)
{
    CHECK_WITHIN(LONG_MS, nodes() == 0);
    CHECK_EQ(requests(PDK__OP_CREATE2), 1);
    CHECK(requests(PDK__OP_DELETE) >= 1);
    locks_again(0);
}

/* The reply is lost, and no server is to be reached: the caller goes, a node stays for the moment. */
static void strand(void)
{
    int r = rule(home, PDK__OP_CREATE2, PDK__CUT_BEFORE_REPLY);
    attach_only_to(NULL);
    recorder_queue(&recorder, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(home, r) == 1);
    CHECK_EQ(nodes(), 1);
    CHECK_EQ(recorder.rc, PDK__PENDING);
}

static void timed_out_adrift(void)
{
    begin();
    int r = rule(home, PDK__OP_CREATE2, PDK__CUT_BEFORE_REPLY);
    attach_only_to(NULL);
    CHECK_RC(pdk_mutex_timedlock(recorder.mutex, SOON_MS), PDK_ETIMEDOUT);
    CHECK_EQ(pdk__proxy_hits(home, r), 1);
    CHECK_EQ(nodes(), 1);
    leave_home();
    cleaned_up();
}

static void cancelled_adrift(void)
{
    begin();
    strand();
    CHECK_RC(pdk_grant_cancel(recorder.grant), PDK_OK);
    CHECK_RC(recorder_outcome(&recorder), PDK_ECANCELED);
    CHECK_EQ(nodes(), 1);
    leave_home();
    cleaned_up();
    CHECK_EQ(recorder.n_answers, 1);
}

/* Every other request of those that clean up, until none is cut any more. */
static void clean_up_cut(void)
{
    static const pdk__act acts[] = {PDK__CUT_BEFORE_REPLY, PDK__CUT_BEFORE, PDK__CUT_AFTER_FORWARD,
                                    PDK__CUT_BEFORE_REPLY};
    begin();
    strand();
    CHECK_RC(pdk_grant_cancel(recorder.grant), PDK_OK);
    CHECK_RC(recorder_outcome(&recorder), PDK_ECANCELED);
    int rules[4];
    for (int i = 0; i < 4; i++)
        rules[i] = pdk__proxy_rule(away, &(struct pdk__proxy_rule){.nth = 2 * i + 1, .act = acts[i]});
    leave_home();
    CHECK_WITHIN(LONG_MS, nodes() == 0);
    CHECK_EQ(pdk__proxy_hits(away, rules[0]), 1);
    CHECK_EQ(pdk__proxy_hits(away, rules[1]), 1);
    cleaned_up();
}

/* The connection is open, and the reply is under way for longer than the caller waits. */
static void give_up_connected(pdk__act act, bool cancel)
{
    begin();
    int r = rule(home, PDK__OP_CREATE2, act);
    recorder_queue(&recorder, cancel ? PDK_FOREVER : SOON_MS);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(home, r) == 1);
    if (cancel)
        CHECK_RC(pdk_grant_cancel(recorder.grant), PDK_OK);
    CHECK_RC(recorder_outcome(&recorder), cancel ? PDK_ECANCELED : PDK_ETIMEDOUT);
    CHECK_EQ(nodes(), act == PDK__HOLD_REPLY ? 1 : 0);
    CHECK_EQ(requests(PDK__OP_DELETE), 0);
    pdk__proxy_release(home, r);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(home, PDK__OP_DELETE) == 1);
    CHECK(!tells(home, "=delete:-101 "));
    cleaned_up();
}

static void timed_out_before_reply(void) { give_up_connected(PDK__HOLD_REPLY, false); }
static void cancelled_before_reply(void) { give_up_connected(PDK__HOLD_REPLY, true); }
static void timed_out_before_request(void) { give_up_connected(PDK__HOLD_REQUEST, false); }
static void cancelled_before_request(void) { give_up_connected(PDK__HOLD_REQUEST, true); }

/* A contender that queued after an abandoned node is not kept waiting by it. */
static void frees_the_next(void)
{
    begin();
    strand();
    CHECK_RC(pdk_grant_cancel(recorder.grant), PDK_OK);
    CHECK_RC(recorder_outcome(&recorder), PDK_ECANCELED);
    char direct[32];
    snprintf(direct, sizeof direct, "127.0.0.1:%d", pdk__server_port(fixture.e->server[0]));
    recorder_open(&peer, direct, SESSION_MS, fixture.path);
    recorder_queue(&peer, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, nodes() == 2);
    CHECK_EQ(peer.rc, PDK__PENDING);
    leave_home();
    CHECK_RC(recorder_outcome(&peer), PDK_OK);
    CHECK_EQ(nodes(), 1);
    pdk__check_grant(&peer, fixture.zh);
    CHECK_RC(recorder_unlock(&peer), PDK_OK);
    cleaned_up();
}

static void close_recorders(void)
{
    recorder_close(&recorder);
    recorder_close(&peer);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"an unlock whose reply is lost is repeated, finds nothing, and answers 0", reply_lost},
        {"an unlock lost before the server saw it is sent again", request_lost},
        {"an unlock whose reply is lost hands over all the same", hands_over},
        {"a timed lock leaves nothing when the reply to its create was lost", timed_out_adrift},
        {"a cancelled lock leaves nothing when the reply to its create was lost", cancelled_adrift},
        {"a cancelled lock leaves nothing when its cleaning up is cut again and again", clean_up_cut},
        {"a timed lock leaves nothing when the reply comes after its time", timed_out_before_reply},
        {"a cancelled lock leaves nothing when the reply comes later", cancelled_before_reply},
        {"a timed lock leaves nothing when its create reaches the server after its time", timed_out_before_request},
        {"a cancelled lock leaves nothing when its create reaches the server later", cancelled_before_request},
        {"a node that nobody wants any more does not keep the next one waiting", frees_the_next},
        {"all of it can be closed", close_recorders},
        {0},
    };
    return fixture_main(argc, argv, "lost_delete", tests, ON_ONE | ON_THREE | ON_OWN);
}
