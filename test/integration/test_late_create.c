/*
 * A create that the servers commit late: the client has looked for its node, has not found it, and its session has gone
 * on at another server. The client attaches twice to the old server, while the link from there to the leader is held,
 * one direction after the other:
 *
 *     the client                                    the link between the old server and the leader
 *     ------------------------------------------    ---------------------------------------------------------------
 *     attaches, and loses the connection            the leader gets the first REVALIDATE; its answer is stuck
 *     attaches again                                the second REVALIDATE is stuck
 *     gets the answer: it is matched by session     the answer to the first arrives
 *     creates, and loses the connection             the create is stuck, after the second REVALIDATE
 *     attaches to the other server, finds no
 *     node, creates another
 *                                                   the second REVALIDATE arrives, and moves the session back;
 *                                                   the create arrives, and is committed
 *
 * A network can do this. Both directions of a TCP connection stop when the link fails, and each goes on when its own
 * sender repeats a segment. A sender waits twice as long each time, so the two can be seconds apart.
 */
#include "test/lib/check.h"
#include "test/lib/recorder.h"
#include "test/lib/zk.h"

enum { SESSION_MS = 30000 };

static pdk__ensemble *e;
static zhandle_t *zh; /* at the leader */
static struct recorder recorder;
static int leader, old, other; /* the latter two follow */

static const char path[] = "/late";

/* Quiet: a server refuses a client that has seen a later transaction than the server. None reaches the old one. */
static void setup(void)
{
    e = pdk__ensemble_new(
        &(struct pdk__ensemble_options){.n = 3, .links = true, .sync_limit = 300, .own = true, .quiet = true});
    leader = pdk__ensemble_leader(e, 3);
    old = (leader + 1) % 3;
    other = (leader + 2) % 3;
    zh = pdk__observe(e, leader);
    CHECK_EQ(zoo_create(zh, path, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
}

static void teardown(void)
{
    recorder_close(&recorder);
    if (zh != NULL)
        zookeeper_close(zh);
    pdk__ensemble_free(e);
}

/* Where clients can attach from now on; those attached elsewhere stay. */
static void admit_only_at(int i)
{
    for (int k = 0; k < e->n; k++)
        pdk__proxy_refuse(e->proxy[k], k != i);
}

static void hold(pdk__direction d, bool on) { pdk__proxy_hold(e->link[old][leader], d, on); }

/* Cut the client's connection to the old server. The client attaches again: server I counts one more NAME. */
static void attach_again(int i, const char *name)
{
    long before = pdk__ask_number(e->server[i], name);
    CHECK(before >= 0);
    pdk__proxy_cut(e->proxy[old]);
    CHECK_WITHIN(LONG_MS, pdk__ask_number(e->server[i], name) > before);
}

/* How many nodes were ever created under the path, whatever has become of them. */
static int n_created(void)
{
    struct Stat stat;
    CHECK_EQ(pdk__zk_stat(zh, path, &stat), ZOK);
    return (int)SEEN((stat.cversion + stat.numChildren) / 2);
}

/* The old server answers the client's second connection, whose own REVALIDATE has not reached the leader. */
static void attach_too_early(void)
{
    pdk__ensemble_heal(e);
    admit_only_at(old);
    recorder_open(&recorder, e->hosts, SESSION_MS, path);
    hold(PDK__TO_CLIENT, true);
    attach_again(leader, "zk_revalidate_count");
    hold(PDK__TO_SERVER, true);
    attach_again(old, "zk_connection_revalidate_count");
    int answered = pdk__proxy_replies(e->proxy[old], PDK__OP_CONNECT);
    hold(PDK__TO_CLIENT, false);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(e->proxy[old], PDK__OP_CONNECT) > answered);
}

/* The old server has the create, and the list that waits for it. It keeps both when the client's connection is cut. */
static void create_there(void)
{
    recorder_queue(&recorder, PDK_FOREVER);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(e->proxy[old], PDK__OP_CREATE2) == 1 &&
                              pdk__ask_number(e->server[old], "zk_outstanding_requests") >= 2);
    CHECK_EQ(pdk__proxy_replies(e->proxy[old], PDK__OP_CREATE2), 0);
}

static void go_on_elsewhere(void)
{
    admit_only_at(other);
    pdk__proxy_cut(e->proxy[old]);
    CHECK_RC(recorder_outcome(&recorder), PDK_OK);
    CHECK_EQ(pdk__proxy_requests(e->proxy[other], PDK__OP_CREATE2), 1);
    pdk__check_grant(&recorder, zh);
    CHECK_EQ(n_created(), 1);
}

static void a_late_create_is_found_and_deleted(void)
{
    attach_too_early();
    create_there();
    go_on_elsewhere();
    int64_t session = pdk_client_session_id(recorder.client);
    hold(PDK__TO_SERVER, false);
    CHECK_WITHIN(LONG_MS, n_created() == 2); /* it landed */
    CHECK_WITHIN(LONG_MS, SEEN(pdk__observe_nodes(zh, path, 0)) == 1);
    CHECK_EQ(pdk_client_session_id(recorder.client), session);
    CHECK_EQ(recorder_told_ms(&recorder, PDK_LOST), -1);
    pdk__check_grant(&recorder, zh); /* the node that is left is the holder's */
    CHECK_RC(recorder_unlock(&recorder), PDK_OK);
    pdk__observe_flush(zh, path);
    CHECK_EQ(pdk__observe_nodes(zh, path, 0), 0);
    CHECK_EQ(n_created(), 2);
}

/* --- a member of a double barrier -------------------------------------------------------------------------------- */

static const char members[] = "/late-members";

static void *enter(void *arg)
{
    CHECK_RC(pdk_barrier_enter(arg, PDK_FOREVER), 0);
    return NULL;
}

/* It has entered under the same name elsewhere, and left, before the first create takes effect. */
static void a_late_member_is_found_and_deleted(void)
{
    pthread_t thread;
    pdk_barrier *b;
    struct Stat stat;
    recorder_close(&recorder);
    CHECK_EQ(zoo_create(zh, members, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    attach_too_early();
    for (int i = 0; i < e->n; i++)
        pdk__proxy_reset_counters(e->proxy[i]);
    CHECK_RC(pdk_barrier_new_double(&b, recorder.client, members, 1), 0);
    CHECK_EQ(pthread_create(&thread, NULL, enter, b), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(e->proxy[old], PDK__OP_CREATE2) == 1 &&
                              pdk__ask_number(e->server[old], "zk_outstanding_requests") >= 1);
    admit_only_at(other);
    pdk__proxy_cut(e->proxy[old]);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK_EQ(pdk__proxy_requests(e->proxy[other], PDK__OP_CREATE2), 2); /* the node again, and "ready" */
    pdk__observe_flush(zh, members);
    CHECK_EQ(pdk__observe_nodes(zh, members, 0), 2);
    CHECK_RC(pdk_barrier_leave(b, PDK_FOREVER), 0);
    pdk__observe_flush(zh, members);
    CHECK_EQ(pdk__observe_nodes(zh, members, 0), 0);
    hold(PDK__TO_SERVER, false);
    CHECK_WITHIN(LONG_MS, pdk__zk_stat(zh, members, &stat) == ZOK && SEEN(stat.cversion) == 6 &&
                              SEEN(stat.numChildren) == 0); /* created three times, and deleted as often */
    CHECK_RC(pdk_barrier_free(b), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a create that is committed after its session went on elsewhere is found, and its node deleted",
         a_late_create_is_found_and_deleted},
        {"a member that is created after it has left is found, and its node deleted",
         a_late_member_is_found_and_deleted},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "late_create", .tests = tests, .setup = setup, .teardown = teardown});
}
