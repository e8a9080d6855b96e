/* A create whose outcome the client does not learn: exactly one node in the end, granted once. */
#include "test/lib/check.h"
#include "test/lib/recorder.h"
#include "test/lib/zk.h"

#include <stdio.h>
#include <string.h>

enum { SESSION_MS = 30000 };

static pdk__ensemble *one;   /* standalone */
static pdk__ensemble *three; /* with links */
static zhandle_t *zh;
static struct recorder recorder;
static char path[32];
static int leader, old, other; /* indices in the ensemble of three; the latter two follow */

static void setup(void)
{
    one = pdk__ensemble_new(&(struct pdk__ensemble_options){.n = 1, .own = true});
    /* A follower whose link is held is not given up while a test looks at the effect. No other client writes. */
    three = pdk__ensemble_new(
        &(struct pdk__ensemble_options){.n = 3, .links = true, .sync_limit = 300, .own = true, .quiet = true});
}

static void end(void)
{
    recorder_close(&recorder);
    if (zh != NULL)
        zookeeper_close(zh);
    zh = NULL;
}

static void teardown(void)
{
    end();
    pdk__ensemble_free(one);
    pdk__ensemble_free(three);
}

static void name_path(void)
{
    static int n;
    snprintf(path, sizeof path, "/create-%d", n++);
}

/* On the standalone server. The path is created first, so that a create does what it says. */
static pdk__proxy *begin(void)
{
    end();
    pdk__proxy_clear(one->proxy[0]);
    zh = pdk__observe(one, 0);
    name_path();
    CHECK_EQ(zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    recorder_open(&recorder, one->address[0], SESSION_MS, path);
    pdk__proxy_reset_counters(one->proxy[0]);
    return one->proxy[0];
}

static void attach_only_to(int i)
{
    for (int k = 0; k < three->n; k++)
        pdk__proxy_refuse(three->proxy[k], k != i);
}

/* On the ensemble, the recorder at the server OLD; the observer at the leader. */
static void begin_at_follower(void)
{
    end();
    pdk__ensemble_heal(three);
    leader = pdk__ensemble_leader(three, 3);
    old = (leader + 1) % 3;
    other = (leader + 2) % 3;
    zh = pdk__observe(three, leader);
    name_path();
    CHECK_EQ(zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    attach_only_to(old);
    recorder_open(&recorder, three->hosts, SESSION_MS, path);
    for (int k = 0; k < three->n; k++)
        pdk__proxy_reset_counters(three->proxy[k]);
}

static int rule(pdk__proxy *p, int op, pdk__act act)
{
    return pdk__proxy_rule(p, &(struct pdk__proxy_rule){.op = op, .act = act});
}

/* The lock's node exists, once, and is deleted by the release. */
static void ends_right(void)
{
    CHECK_RC(recorder_outcome(&recorder), PDK_OK);
    pdk__check_grant(&recorder, zh);
    CHECK_EQ(pdk__observe_nodes(zh, path, 0), 1);
    CHECK_EQ(recorder.n_answers, 1);
    CHECK_EQ(recorder.n_told, 0);
    CHECK_RC(recorder_unlock(&recorder), PDK_OK);
    pdk__observe_flush(zh, path);
    CHECK_EQ(pdk__observe_nodes(zh, path, 0), 0);
}

/* --- the same server --------------------------------------------------------------------------------------------- */

static void reply_lost(void)
{
    pdk__proxy *p = begin();
    int r = rule(p, PDK__OP_CREATE2, PDK__CUT_BEFORE_REPLY);
    recorder_queue(&recorder, PDK_FOREVER);
    ends_right();
    CHECK_EQ(pdk__proxy_hits(p, r), 1);
    CHECK_EQ(pdk__proxy_requests(p, PDK__OP_CREATE2), 1);
}

static void request_lost(void)
{
    pdk__proxy *p = begin();
    int r = rule(p, PDK__OP_CREATE2, PDK__CUT_BEFORE);
    recorder_queue(&recorder, PDK_FOREVER);
    ends_right();
    CHECK_EQ(pdk__proxy_hits(p, r), 1);
    CHECK_EQ(pdk__proxy_requests(p, PDK__OP_CREATE2), 2);
    CHECK_EQ(pdk__proxy_replies(p, PDK__OP_CREATE2), 1);
}

/* The server may answer before or after the cut, and may have been asked or not. */
static void outcome_open(void)
{
    pdk__proxy *p = begin();
    int r = rule(p, PDK__OP_CREATE2, PDK__CUT_AFTER_FORWARD);
    recorder_queue(&recorder, PDK_FOREVER);
    ends_right();
    CHECK_EQ(pdk__proxy_hits(p, r), 1);
}

static void lost_again_and_again(void)
{
    pdk__proxy *p = begin();
    for (int nth = 1; nth <= 4; nth++)
        pdk__proxy_rule(p, &(struct pdk__proxy_rule){.op = PDK__OP_CREATE2, .nth = nth, .act = PDK__CUT_BEFORE});
    int list = rule(p, PDK__OP_LIST, PDK__CUT_BEFORE_REPLY);
    int reply = pdk__proxy_rule(
        p, &(struct pdk__proxy_rule){.op = PDK__OP_CREATE2, .nth = 5, .act = PDK__CUT_BEFORE_REPLY});
    recorder_queue(&recorder, PDK_FOREVER);
    ends_right();
    CHECK_EQ(pdk__proxy_hits(p, list), 1);
    CHECK_EQ(pdk__proxy_hits(p, reply), 1);
    CHECK_EQ(pdk__proxy_requests(p, PDK__OP_CREATE2), 5);
}

/* --- another server of the ensemble ------------------------------------------------------------------------------ */

static void reply_lost_elsewhere(void)
{
    begin_at_follower();
    int r = rule(three->proxy[old], PDK__OP_CREATE2, PDK__CUT_BEFORE_REPLY);
    attach_only_to(other);
    recorder_queue(&recorder, PDK_FOREVER);
    ends_right();
    CHECK_EQ(pdk__proxy_hits(three->proxy[old], r), 1);
    CHECK(pdk__proxy_requests(three->proxy[other], PDK__OP_LIST) >= 1);
    CHECK_EQ(pdk__proxy_requests(three->proxy[other], PDK__OP_CREATE2), 0);
    CHECK_EQ(pdk__proxy_connections(three->proxy[old]), 0);
}

/* Wait until the leader's count of NAME is over BEFORE. */
static void counted(const char *name, long before)
{
    CHECK_WITHIN(LONG_MS, pdk__ask_number(three->server[leader], name) > before);
}

/*
 * The leader has proposed the create, and no acknowledgement has reached it, when the client attaches to the other
 * follower: that one knows the session, and the proposal, and shows no node; a moment later it does. Only what waits
 * for a quorum before the list waits for it. (The leader itself would not show this: it lets a session's reads wait for
 * its own write.)
 */
static void committed_late(void)
{
    begin_at_follower();
    pdk__proxy *to_old = three->link[old][leader], *to_other = three->link[other][leader];
    zhandle_t *there = pdk__observe(three, other);
    long proposed = pdk__ask_number(three->server[leader], "zk_proposal_count");
    long revalidated = pdk__ask_number(three->server[leader], "zk_revalidate_count");
    CHECK(proposed >= 0 && revalidated >= 0);
    pdk__proxy_hold(to_old, PDK__TO_CLIENT, true);
    pdk__proxy_hold(to_other, PDK__TO_CLIENT, true);
    int r = rule(three->proxy[old], PDK__OP_CREATE2, PDK__CUT_AFTER_FORWARD);
    attach_only_to(-1);
    recorder_queue(&recorder, PDK_FOREVER);
    counted("zk_proposal_count", proposed);
    attach_only_to(other);
    counted("zk_revalidate_count", revalidated);
    pdk__proxy_hold(to_other, PDK__TO_SERVER, true);
    pdk__proxy_hold(to_other, PDK__TO_CLIENT, false);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(three->proxy[other], PDK__OP_LIST) > 0);
    int n = pdk__observe_nodes(there, path, 0); /* the answer to a list alone */
    pdk__proxy_hold(to_other, PDK__TO_SERVER, false);
    pdk__proxy_hold(to_old, PDK__TO_CLIENT, false);
    zookeeper_close(there);
    CHECK_EQ(n, 0);
    ends_right();
    CHECK_EQ(pdk__proxy_hits(three->proxy[old], r), 1);
    CHECK_EQ(pdk__proxy_requests(three->proxy[other], PDK__OP_CREATE2), 0);
}

/* The create sits in the link of the old server while the client goes on elsewhere: when it reaches the leader, the
 * session has moved, and it is refused. */
static void arrives_late(void)
{
    begin_at_follower();
    pdk__proxy_hold(three->link[old][leader], PDK__TO_SERVER, true);
    rule(three->proxy[old], PDK__OP_CREATE2, PDK__CUT_AFTER_FORWARD);
    attach_only_to(other);
    recorder_queue(&recorder, PDK_FOREVER);
    CHECK_RC(recorder_outcome(&recorder), PDK_OK);
    CHECK_EQ(pdk__proxy_requests(three->proxy[other], PDK__OP_CREATE2), 1);
    pdk__proxy_hold(three->link[old][leader], PDK__TO_SERVER, false);
    zhandle_t *behind = pdk__observe(three, old); /* its session is created after the late create, on the same link */
    pdk__observe_flush(behind, path);
    int n = pdk__observe_nodes(behind, path, 0);
    zookeeper_close(behind);
    CHECK_EQ(n, 1);
    ends_right();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a create whose reply is lost has made one node, and is granted once", reply_lost},
        {"a create lost before the server saw it is made once", request_lost},
        {"a create of open outcome ends in one node", outcome_open},
        {"a create lost four times, then its reply, and a listing, ends in one node", lost_again_and_again},
        {"a create whose reply is lost is found from another server", reply_lost_elsewhere},
        {"a create that is committed late is waited for, not made again", committed_late},
        {"a create that arrives late from the old server makes no second node", arrives_late},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "lost_create", .tests = tests, .setup = setup, .teardown = teardown});
}
