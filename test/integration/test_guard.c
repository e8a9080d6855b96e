/* Transactions of the caller's own that commit only while the lock is held. */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pdk_client *c;
static pdk_mutex *m;
static const char *lock, *record; /* what the lock protects */

static void begin(void)
{
    pdk__proxy_clear(fixture.proxy);
    lock = fixture_path();
    record = fixture_path();
    fixture_make(record, "first", ZOO_PERSISTENT, NULL);
    c = fixture_client(NULL);
    m = fixture_mutex(c, lock);
}

static void finish(void) { fixture_end(c, m); }

/* Write WORD after the guard in CHECK, in one transaction; the guard's own result in *REFUSAL. */
static int write_guarded(zhandle_t *zh, const char *path, const zoo_op_t *check, const char *word, int *refusal)
{
    zoo_op_t ops[2] = {*check};
    zoo_op_result_t results[2] = {{0}, {0}};
    zoo_set_op_init(&ops[1], path, word, (int)strlen(word), -1, NULL);
    int rc = zoo_multi(zh, 2, ops, results);
    *refusal = results[0].err;
    return rc;
}

static void check_written(const zoo_op_t *check, const char *word)
{
    int refusal;
    CHECK_EQ(write_guarded(fixture.zh, record, check, word, &refusal), ZOK);
    CHECK_EQ(refusal, ZOK);
}

static void check_refused(const zoo_op_t *check)
{
    int refusal;
    CHECK_EQ(write_guarded(fixture.zh, record, check, "late", &refusal), ZNONODE);
    CHECK_EQ(refusal, ZNONODE);
}

static void check_record(const char *word)
{
    char text[64];
    int length = sizeof text - 1;
    CHECK_EQ(zoo_get(fixture.zh, record, 0, text, &length, NULL), ZOK);
    text[length] = '\0';
    CHECK_STR(text, word);
}

static void refused_without_node(void)
{
    zoo_op_t check;
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_lock_guard(m, 0, &check), 0);
    pdk__proxy_hold(fixture.proxy, PDK__TO_CLIENT, true); /* the holder does not know */
    fixture_delete_below(lock, fixture_find(lock, "-lock-"));
    check_refused(&check);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    pdk__proxy_hold(fixture.proxy, PDK__TO_CLIENT, false);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    check_refused(&check);
    check_record("first");
    CHECK_RC(pdk_lock_guard(m, 0, &(zoo_op_t){0}), PDK_ELOST);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    check_refused(&check);
    finish();
}

/* The servers would still commit; the holder has stopped believing. */
static void none_past_deadline(void)
{
    zoo_op_t check;
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_lock_guard(m, 0, &check), 0);
    pdk__proxy_hold(fixture.proxy, PDK__TO_CLIENT, true);
    pdk__proxy_hold(fixture.proxy, PDK__TO_SERVER, true);
    CHECK_WITHIN(LONG_MS, pdk_lock_guard(m, 0, &check) == PDK_ELOST);
    CHECK_EQ(pdk_lock_valid_ms(m), 0);
    pdk__proxy_clear(fixture.proxy);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    finish();
}

/* The guard of one grant says nothing of the next, not even when the path counts from 0 again. */
static void each_grant_its_own(void)
{
    zoo_op_t check;
    char old[256];
    begin();
    for (int i = 0; i < 2; i++) {
        CHECK_RC(pdk_mutex_lock(m), 0);
        CHECK_RC(pdk_lock_guard(m, 0, &check), 0);
        check_written(&check, "held");
        if (i == 0)
            snprintf(old, sizeof old, "%s", check.check_op.path);
        CHECK_STR(check.check_op.path + strlen(check.check_op.path) - 10, "0000000000");
        if (i == 0) {
            CHECK_RC(pdk_mutex_unlock(m), 0);
            fixture_delete_all(lock);
        }
    }
    check.check_op.path = old;
    check_refused(&check);
    check_record("held");
    CHECK_RC(pdk_mutex_unlock(m), 0);
    finish();
}

/* Paths are relative to the chroot, of the client as of the handle. */
static void same_chroot(void)
{
    zoo_op_t check;
    char hosts[64];
    int refusal;
    fixture_make("/rooted", "", ZOO_PERSISTENT, NULL);
    fixture_make("/rooted/record", "first", ZOO_PERSISTENT, NULL);
    snprintf(hosts, sizeof hosts, "%s/rooted", fixture.hosts);
    CHECK_RC(pdk_client_new(&c, hosts, NULL), 0);
    CHECK_RC(pdk_mutex_new(&m, c, "/lock", NULL), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_lock_guard(m, 0, &check), 0);
    snprintf(hosts, sizeof hosts, "%s/rooted", fixture.direct);
    zhandle_t *zh = pdk__zk_open(hosts, 30000);
    CHECK_EQ(write_guarded(zh, "/record", &check, "second", &refusal), ZOK);
    fixture_delete_below("/rooted/lock", fixture_find("/rooted/lock", "-lock-"));
    CHECK_EQ(write_guarded(zh, "/record", &check, "late", &refusal), ZNONODE);
    CHECK_EQ(refusal, ZNONODE);
    CHECK_EQ(zookeeper_close(zh), ZOK);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    finish();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"it is refused once the node is gone, whether the holder knows or not", refused_without_node},
        {"a holder whose deadline has passed gets no guard", none_past_deadline},
        {"the guard of one grant is none for the next", each_grant_its_own},
        {"under a chroot it works with a handle of the same chroot", same_chroot},
        {0},
    };
    return fixture_main(argc, argv, "guard", tests, ON_ONE);
}
