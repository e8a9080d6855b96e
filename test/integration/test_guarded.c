/* Writes under guard: each is done while the lock is held, or refused, or not known; and the traps of multi stay out.
 */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pdk_client *c;
static pdk_mutex *m;
static const char *lock, *record; /* what the lock protects */

static void begin_with(pdk_client_options *options)
{
    pdk__proxy_clear(fixture.proxy);
    lock = fixture_path();
    record = fixture_path();
    fixture_make(record, "first", ZOO_PERSISTENT, NULL);
    c = fixture_client(options);
    m = fixture_mutex(c, lock);
    CHECK_RC(pdk_mutex_lock(m), 0);
}

static void begin(void) { begin_with(NULL); }

static void finish(void)
{
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static int set(const char *word, int32_t version)
{
    return pdk_guarded_set(m, record, word, strlen(word), version, LONG_MS);
}

/* "" where there is no node. */
static void check_record(const char *word)
{
    char text[64] = "";
    int length = sizeof text - 1;
    int rc = zoo_get(fixture.zh, record, 0, text, &length, NULL);
    CHECK_EQ(rc, *word != '\0' ? ZOK : ZNONODE);
    text[rc == ZOK && length > 0 ? length : 0] = '\0';
    CHECK_STR(text, word);
}

static void check_why(const char *part)
{
    char text[512];
    pdk_lock_last_error(m, text, sizeof text);
    CHECK(strstr(text, part) != NULL);
}

/* --- one request ------------------------------------------------------------------------------------------------- */

static void write_while_held(void)
{
    begin();
    pdk__proxy_reset_counters(fixture.proxy);
    CHECK_RC(set("second", -1), 0);
    check_record("second");
    CHECK_RC(pdk_guarded_delete(m, record, 1, LONG_MS), 0);
    check_record("");
    CHECK_RC(pdk_guarded_create(m, record, "third", 5, LONG_MS), 0);
    check_record("third");
    CHECK_RC(pdk_guarded_set(m, record, NULL, 0, 0, 0), 0);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_MULTI), 4);
    finish();
}

static void refused_by_the_node(void)
{
    begin();
    CHECK_RC(set("late", 7), PDK_ECONFLICT);
    check_why("another version");
    check_why(record);
    CHECK_RC(pdk_guarded_create(m, record, "", 0, LONG_MS), PDK_ECONFLICT);
    check_why("it is there already");
    fixture_make_below(record, "child", "");
    CHECK_RC(pdk_guarded_delete(m, record, -1, LONG_MS), PDK_ECONFLICT);
    check_why("nodes are below it");
    fixture_delete_below(record, "child");
    CHECK_RC(pdk_guarded_set(m, "/no/such/node", "x", 1, -1, LONG_MS), PDK_ENOENT);
    CHECK_RC(pdk_guarded_create(m, "/no/such/node", "x", 1, LONG_MS), PDK_ENOENT);
    check_record("first");
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    finish();
}

static void refused_by_its_acl(void)
{
    struct ACL acl = {ZOO_PERM_READ | ZOO_PERM_DELETE, {"world", "anyone"}};
    begin();
    const char *closed = fixture_path();
    fixture_make(closed, "", ZOO_PERSISTENT, &(struct ACL_vector){1, &acl});
    CHECK_RC(pdk_guarded_set(m, closed, "x", 1, -1, LONG_MS), PDK_EACCES);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    finish();
}

static void bad_arguments(void)
{
    static char large[256 * 1024 + 1];
    pdk_write write = {.kind = PDK_WRITE_SET, .path = "/a", .version = -1};
    begin();
    pdk__proxy_reset_counters(fixture.proxy);
    CHECK_RC(pdk_guarded_set(NULL, record, "", 0, -1, 0), PDK_EINVAL);
    CHECK_RC(pdk_guarded_set(m, NULL, "", 0, -1, 0), PDK_EINVAL);
    CHECK_RC(pdk_guarded_set(m, record, NULL, 1, -1, 0), PDK_EINVAL);
    CHECK_RC(pdk_guarded_set(m, record, large, sizeof large, -1, 0), PDK_EINVAL);
    CHECK_RC(pdk_guarded_delete(m, record, -2, 0), PDK_EINVAL);
    static const char *const none[] = {"", "a", "/", "/a/", "//a", "/a/../b", "/a\001", "/a/."};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) /* some of them end a process in zoo_amulti() */
        CHECK_RC(pdk_guarded_set(m, none[i], "", 0, -1, 0), PDK_EPATH);
    CHECK_RC(pdk_guarded_write_async(m, &write, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_guarded_write_async(m, NULL, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_grant_write(NULL, &write, 0), PDK_EINVAL);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_MULTI), 0);
    CHECK_RC(pdk_guarded_set(m, record, large, sizeof large - 1, -1, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_guarded_set(m, record, "", 0, -1, 0), PDK_EPERM);
    fixture_end(c, m);
}

/* --- without the lock --------------------------------------------------------------------------------------------- */

static void refused_without_node(void)
{
    begin();
    pdk__proxy_hold(fixture.proxy, PDK__TO_CLIENT, true); /* the holder does not know */
    fixture_delete_below(lock, fixture_find(lock, "-lock-"));
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    struct pdk__proxy_rule rule = {.op = PDK__OP_MULTI, .act = PDK__COUNT};
    int sent = pdk__proxy_rule(fixture.proxy, &rule);
    pdk__proxy_hold(fixture.proxy, PDK__TO_CLIENT, false);
    CHECK_RC(set("late", -1), PDK_ELOST);
    CHECK(pdk__proxy_hits(fixture.proxy, sent) <= 1); /* none, where the loss was heard of before */
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_RC(set("late", -1), PDK_ELOST);
    check_record("first");
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    fixture_end(c, m);
}

static void told(int code, void *arg) { *(_Atomic int *)arg = code; }

/* The servers refuse it, while the holder still believes: the deletion is heard of after the answer. */
static void refused_by_the_servers(void)
{
    begin();
    struct pdk__proxy_rule rule = {.op = PDK__OP_MULTI, .act = PDK__HOLD_REQUEST};
    int held = pdk__proxy_rule(fixture.proxy, &rule);
    _Atomic int rc = 1;
    pdk_write write = {.kind = PDK_WRITE_SET, .path = record, .data = "late", .size = 4, .version = -1};
    CHECK_RC(pdk_guarded_write_async(m, &write, told, &rc), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, held) == 1);
    fixture_delete_below(lock, fixture_find(lock, "-lock-"));
    pdk__proxy_release(fixture.proxy, held);
    CHECK_WITHIN(LONG_MS, rc != 1);
    CHECK_EQ(rc, PDK_ELOST);
    check_why("its node is gone");
    check_record("first");
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    fixture_end(c, m);
}

/* With a chroot, where zoo_amulti() frees what it was lent, and with an expired session, where it aborts. */
static void expired_session_with_chroot(void)
{
    char hosts[64];
    pdk__proxy_clear(fixture.proxy);
    fixture_make("/guarded", "", ZOO_PERSISTENT, NULL);
    fixture_make("/guarded/record", "first", ZOO_PERSISTENT, NULL);
    snprintf(hosts, sizeof hosts, "%s/guarded", fixture.hosts);
    CHECK_RC(pdk_client_new(&c, hosts, NULL), 0);
    CHECK_RC(pdk_mutex_new(&m, c, "/lock", NULL), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_guarded_set(m, "/record", "second", 6, 0, LONG_MS), 0);
    fixture_expire(pdk__client_zh(c));
    int rc;
    do
        rc = pdk_guarded_set(m, "/record", "late", 4, 1, 0);
    while (rc == PDK_EDISCONNECTED);
    CHECK(rc == PDK_ELOST || rc == PDK_EUNKNOWN);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_RC(pdk_guarded_set(m, "/record", "late", 4, 1, LONG_MS), PDK_ELOST);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_guarded_set(m, "/record", "third", 5, 1, LONG_MS), 0);
    finish();
    fixture_delete_all("/guarded/lock");
    fixture_delete_below("/guarded", "record");
    fixture_delete_all("/guarded");
}

/* --- without a connection --------------------------------------------------------------------------------------- */

static void lost_reply_is_unknown(void)
{
    begin();
    struct pdk__proxy_rule rule = {.op = PDK__OP_MULTI, .act = PDK__CUT_BEFORE_REPLY};
    pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(set("second", 0), PDK_EUNKNOWN);
    check_record("second");
    CHECK_RC(set("second", 0), PDK_ECONFLICT); /* waits for the connection; once is enough */
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    finish();
}

static void waits_for_a_connection(void)
{
    begin_with(fixture_options(3000));
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) != PDK_SESSION_CONNECTED);
    CHECK_RC(set("second", 0), PDK_ELOST); /* it is waited for longer than the grant lasts */
    check_record("first");
    CHECK_RC(pdk_guarded_set(m, record, "second", 6, 0, 0), PDK_ELOST);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) != PDK_SESSION_CONNECTED);
    CHECK_RC(pdk_guarded_set(m, record, "second", 6, 0, 0), PDK_EDISCONNECTED);
    CHECK_RC(pdk_guarded_set(m, record, "second", 6, 0, 50), PDK_ETIMEDOUT);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_RC(set("second", 0), 0);
    check_record("second");
    finish();
}

static void no_answer_in_time(void)
{
    begin();
    struct pdk__proxy_rule rule = {.op = PDK__OP_MULTI, .act = PDK__HOLD_REPLY};
    int held = pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(pdk_guarded_set(m, record, "second", 6, 0, 200), PDK_EUNKNOWN);
    check_why("no answer in time");
    check_record("second");
    pdk__proxy_release(fixture.proxy, held);
    finish();
}

/* A client that is closed calls back for all that was sent. */
static void closed_client(void)
{
    begin();
    _Atomic int rc = 1;
    pdk_write write = {.kind = PDK_WRITE_DELETE, .path = record, .version = -1};
    struct pdk__proxy_rule rule = {.op = PDK__OP_MULTI, .act = PDK__SWALLOW_REPLY};
    int swallowed = pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(pdk_guarded_write_async(m, &write, told, &rc), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, swallowed) == 1);
    pdk_client_close(c);
    CHECK_EQ(rc, PDK_EUNKNOWN);
    CHECK_RC(pdk_guarded_set(m, record, "x", 1, -1, LONG_MS), PDK_ELOST);
    CHECK_RC(pdk_lock_free(m), 0);
    pdk_client_free(c);
}

/* --- whose grant ------------------------------------------------------------------------------------------------- */

/* All permits, and all paths, must be there. */
static void every_node_is_checked(void)
{
    pdk_semaphore *s;
    pdk_mutex *several;
    pdk_grant *g;
    char node[256];
    begin();
    const char *paths[] = {fixture_path(), fixture_path()};
    pdk_write write = {.kind = PDK_WRITE_SET, .path = record, .data = "second", .size = 6, .version = -1};
    CHECK_RC(pdk_semaphore_new(&s, c, paths[0], 3, NULL), 0);
    CHECK_RC(pdk_semaphore_acquire(s, 2, &g), 0);
    CHECK_RC(pdk_guarded_set(s, record, "x", 1, -1, 0), PDK_EINVAL);
    CHECK_RC(pdk_grant_write(g, &write, LONG_MS), 0);
    char leases[256];
    snprintf(leases, sizeof leases, "%s/leases", paths[0]);
    pdk_grant_node(g, 1, node, sizeof node);
    fixture_delete_below(leases, node);
    CHECK_RC(pdk_grant_write(g, &write, LONG_MS), PDK_ELOST);
    CHECK_RC(pdk_grant_release(g), PDK_ELOST);
    CHECK_RC(pdk_lock_free(s), 0);

    paths[0] = fixture_path();
    CHECK_RC(pdk_mutex_new_several(&several, c, paths, 2, NULL), 0);
    CHECK_RC(pdk_mutex_lock(several), 0);
    CHECK_RC(pdk_guarded_set(several, record, "third", 5, 1, LONG_MS), 0);
    pdk_lock_node(several, 1, node, sizeof node);
    fixture_delete_below(paths[1], node);
    CHECK_RC(pdk_guarded_set(several, record, "late", 4, -1, LONG_MS), PDK_ELOST);
    CHECK_RC(pdk_mutex_unlock(several), PDK_ELOST);
    CHECK_RC(pdk_lock_free(several), 0);
    check_record("third");
    finish();
}

/* Another thread asks by the object's grant; on a callback's thread no call waits. */
static void refuses_to_wait(pdk_lock *l, const pdk_event *event, void *arg)
{
    (void)event;
    *(_Atomic int *)arg = pdk_guarded_set(l, "/a", "", 0, -1, LONG_MS);
}

static void callback_thread(void)
{
    pdk_leader *leader;
    _Atomic int rc = 1;
    begin();
    const char *path = fixture_path();
    CHECK_RC(pdk_leader_new(&leader, c, path, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_lock_on_event(leader, refuses_to_wait, &rc), 0);
    CHECK_RC(pdk_leader_start(leader), 0);
    CHECK_WITHIN(LONG_MS, rc != 1);
    CHECK_EQ(rc, PDK_EDEADLK);
    CHECK_RC(pdk_leader_wait(leader, LONG_MS), 0);
    CHECK_RC(pdk_guarded_set(leader, record, "led", 3, 0, LONG_MS), 0);
    check_record("led");
    CHECK_RC(pdk_leader_resign(leader), 0);
    CHECK_RC(pdk_guarded_set(leader, record, "late", 4, -1, LONG_MS), PDK_EPERM);
    CHECK_RC(pdk_lock_free(leader), 0);
    finish();
}

static void child_process(void)
{
    begin();
    pid_t child = pdk__test_fork();
    if (child == 0)
        _exit(pdk_guarded_set(m, record, "child", 5, -1, LONG_MS) == PDK_EFORKED ? 0 : 1);
    CHECK_EQ(pdk__test_wait(child), 0);
    check_record("first");
    finish();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a write is one transaction, done while the lock is held", write_while_held},
        {"a node that is not as the write needs it is a conflict, which is told", refused_by_the_node},
        {"an ACL that forbids the write is told", refused_by_its_acl},
        {"bad arguments are refused before anything is sent", bad_arguments},
        {"it is refused once the node of the lock is gone", refused_without_node},
        {"the servers refuse a holder that still believes", refused_by_the_servers},
        {"a session that has expired gets an answer, with a chroot, too", expired_session_with_chroot},
        {"a lost reply is unknown, and a version makes a repetition harmless", lost_reply_is_unknown},
        {"it waits for a connection, as long as the grant lasts", waits_for_a_connection},
        {"without an answer in time it is unknown", no_answer_in_time},
        {"closing the client answers a write that is under way", closed_client},
        {"every node of the grant is checked", every_node_is_checked},
        {"it does not wait on the thread of callbacks; a leader guards, too", callback_thread},
        {"a child process writes nothing", child_process},
        {0}};
    return fixture_main(argc, argv, "guarded", tests, ON_ONE);
}
