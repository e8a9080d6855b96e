/* Grants with further conditions than to be the first. */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>

static pdk_client *c;
static const char *path;

static pdk_lock_options *begin_with(pdk_client_options *client)
{
    pdk__proxy_clear(fixture.proxy);
    pdk__proxy_reset_counters(fixture.proxy);
    path = fixture_path();
    c = fixture_client(client);
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK(o != NULL);
    return o;
}

static pdk_lock_options *begin(void) { return begin_with(NULL); }

/* OPTIONS are freed. */
static pdk_mutex *mutex_with(pdk_lock_options *o)
{
    pdk_mutex *m;
    CHECK_RC(pdk_mutex_new(&m, c, path, o), 0);
    pdk_lock_options_free(o);
    return m;
}

/* --- a least token ----------------------------------------------------------------------------------------------- */

static void min_token(void)
{
    pdk_lock_options *o = begin();
    int64_t seen, token;
    pdk_mutex *m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_lock_token(m, &seen, NULL), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_RC(pdk_lock_options_set_min_token(o, seen + 1), 0);
    m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_lock_token(m, &token, NULL), 0);
    CHECK_LAW(token > seen);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void stale(void)
{
    pdk_lock_options *o = begin();
    CHECK_RC(pdk_lock_options_set_min_token(o, INT64_MAX), 0);
    pdk_mutex *m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), PDK_ESTALE);
    CHECK_RC(pdk_mutex_trylock(m), PDK_ESTALE);
    CHECK_EQ(pdk_lock_state(m), PDK_FREE);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0); /* or reaped */
    CHECK_RC(pdk_mutex_unlock(m), PDK_EPERM);
    fixture_end(c, m);
}

static void nonsense(void)
{
    pdk_lock_options *o = begin();
    CHECK_RC(pdk_lock_options_set_min_token(o, -1), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_min_token(NULL, 1), PDK_EINVAL);
    pdk_mutex *m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

/* --- a grant confirmed by a write -------------------------------------------------------------------------------- */

static pdk_mutex *confirmed_mutex(void)
{
    pdk_lock_options *o = begin();
    CHECK_RC(pdk_lock_options_set_confirmed(o, true), 0);
    return mutex_with(o);
}

static int64_t token_of(pdk_mutex *m)
{
    int64_t token;
    CHECK_RC(pdk_lock_token(m, &token, NULL), 0);
    return token;
}

static void node_stat(pdk_mutex *m, struct Stat *stat)
{
    char node[128], whole[256];
    CHECK(pdk_lock_node(m, 0, node, sizeof node) > 0);
    snprintf(whole, sizeof whole, "%s/%s", path, node);
    CHECK_EQ(zoo_exists(fixture.zh, whole, 0, stat), ZOK);
}

static void token_is_the_write(void)
{
    struct Stat stat;
    pdk_mutex *m = confirmed_mutex();
    CHECK_RC(pdk_mutex_lock(m), 0);
    node_stat(m, &stat);
    CHECK_EQ(token_of(m), stat.mzxid);
    CHECK(stat.mzxid > stat.czxid);
    CHECK_EQ(stat.version, 1);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_SET), 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

/* The waiter's node is older than the holder's last write, and its token is not. */
static void token_follows_all_writes(void)
{
    struct Stat written, waiter;
    struct locker l;
    pdk_mutex *m = confirmed_mutex(), *next;
    pdk_lock_options *o = pdk_lock_options_new();
    const char *record = fixture_path();
    fixture_make(record, "", ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_lock_options_set_confirmed(o, true), 0);
    next = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    locker_start(&l, next);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK_EQ(zoo_set2(fixture.zh, record, "x", 1, -1, &written), ZOK);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    node_stat(next, &waiter);
    CHECK(waiter.czxid < written.mzxid);
    CHECK(token_of(next) > written.mzxid);
    locker_finish(&l);
    CHECK_RC(pdk_lock_free(next), 0);
    fixture_end(c, m);
}

static void lost_reply(void)
{
    struct Stat stat;
    pdk_mutex *m = confirmed_mutex();
    int cut = pdk__proxy_rule(fixture.proxy,
                              &(struct pdk__proxy_rule){.op = PDK__OP_SET, .act = PDK__CUT_BEFORE_REPLY});
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(pdk__proxy_hits(fixture.proxy, cut), 1);
    node_stat(m, &stat);
    CHECK_EQ(token_of(m), stat.mzxid);
    CHECK_EQ(stat.version, 2);
    CHECK_EQ(fixture_children(path), 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void lost_request(void)
{
    struct Stat stat;
    pdk_mutex *m = confirmed_mutex();
    pdk__proxy_rule(fixture.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_SET, .act = PDK__CUT_BEFORE});
    CHECK_RC(pdk_mutex_lock(m), 0);
    node_stat(m, &stat);
    CHECK_EQ(token_of(m), stat.mzxid);
    CHECK_EQ(stat.version, 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static atomic_int asked;

static void note(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m, (void)arg;
    asked += event->kind == PDK_EVENT_REVOKED;
}

/* The word for a revocation is written between the grant's turn and its confirmation. */
static void keeps_revocation(void)
{
    char whole[256], text[512];
    int length = sizeof text;
    struct locker l;
    pdk_mutex *m = confirmed_mutex();
    CHECK_RC(pdk_lock_on_event(m, note, NULL), 0);
    int held = pdk__proxy_rule(fixture.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_SET, .act = PDK__HOLD_REQUEST});
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, held) == 1);
    snprintf(whole, sizeof whole, "%s/%s", path, fixture_find(path, "-lock-"));
    CHECK_EQ(zoo_set(fixture.zh, whole, "__REVOKE__", 10, -1), ZOK);
    pdk__proxy_release(fixture.proxy, held);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    CHECK_WITHIN(LONG_MS, asked == 1);
    CHECK_EQ(zoo_get(fixture.zh, whole, 0, text, &length, NULL), ZOK);
    CHECK(length >= 10 && memcmp(text, "__REVOKE__", 10) == 0);
    locker_finish(&l);
    fixture_end(c, m);
}

static void not_writable(void)
{
    pdk_client_options *client = fixture_options(10000);
    CHECK_RC(pdk_client_options_add_acl(client, "world", "anyone", PDK_PERM_ALL & ~PDK_PERM_WRITE), 0);
    pdk_lock_options *o = begin_with(client);
    CHECK_RC(pdk_lock_options_set_confirmed(o, true), 0);
    pdk_mutex *m = mutex_with(o);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_mutex_lock(m), PDK_EACCES);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0); /* or reaped */
    fixture_end(c, m);
}

/* --- a lock delay ------------------------------------------------------------------------------------------------ */

enum { HOUR_MS = 3600000 };

static pdk_mutex *delayed_by(int delay_ms)
{
    pdk_lock_options *o = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_lock_delay_ms(o, delay_ms), 0);
    return mutex_with(o);
}

static pdk_mutex *begin_delayed(int delay_ms)
{
    pdk_lock_options_free(begin());
    return delayed_by(delay_ms);
}

/* The lock path's own data. */
static const char *record(void)
{
    static char text[256];
    int length = sizeof text - 1;
    CHECK_EQ(zoo_get(fixture.zh, path, 0, text, &length, NULL), ZOK);
    text[length] = '\0';
    return text;
}

static void check_recorded(const char *node)
{
    char held[256];
    snprintf(held, sizeof held, "held %s", node);
    CHECK_STR(record(), held);
}

/* M holds, and loses its node; its name is in NODE. */
static void rob(pdk_mutex *m, char node[128])
{
    CHECK(pdk_lock_node(m, 0, node, 128) > 0);
    fixture_delete_below(path, node);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
}

static void clean_release(void)
{
    char node[128];
    pdk_mutex *m = begin_delayed(HOUR_MS);
    for (int i = 0; i < 3; i++) {
        CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
        CHECK(pdk_lock_node(m, 0, node, sizeof node) > 0);
        check_recorded(node);
        CHECK_RC(pdk_mutex_unlock(m), 0);
        CHECK_STR(record(), "free");
    }
    fixture_end(c, m);
}

static void handed_over(void)
{
    struct locker l;
    pdk_mutex *m = begin_delayed(HOUR_MS), *next = delayed_by(HOUR_MS);
    CHECK_RC(pdk_mutex_lock(m), 0);
    locker_start(&l, next);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, 0);
    CHECK_STR(record(), "free");
    CHECK_RC(pdk_lock_free(next), 0);
    fixture_end(c, m);
}

static void delayed_after_expiry(void)
{
    enum { DELAY_MS = 1500 };
    struct locker l;
    pdk_mutex *m = begin_delayed(DELAY_MS), *next;
    pdk_client *dying = fixture_client(NULL), *living = c;
    c = dying;
    pdk_mutex *doomed = delayed_by(DELAY_MS);
    CHECK_RC(pdk_mutex_lock(doomed), 0);
    c = living;
    next = delayed_by(DELAY_MS);
    locker_start(&l, next);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    int64_t died_ms = pdk__test_now_ms();
    fixture_expire(pdk__client_zh(dying));
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 1);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    CHECK(pdk__test_now_ms() - died_ms >= DELAY_MS);
    locker_finish(&l);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(doomed) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(doomed), PDK_ELOST);
    fixture_end(dying, doomed);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(next), 0);
    fixture_end(living, m);
}

static void given_up_while_delayed(void)
{
    char node[128];
    pdk_mutex *m = begin_delayed(HOUR_MS);
    CHECK_RC(pdk_mutex_lock(m), 0);
    rob(m, node);
    CHECK_RC(pdk_mutex_timedlock(m, 200), PDK_ETIMEDOUT);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EBUSY);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0); /* or reaped */
    check_recorded(node);
    fixture_end(c, m);
}

static void tries_get_it(void)
{
    char node[128];
    pdk_mutex *m = begin_delayed(300);
    CHECK_RC(pdk_mutex_lock(m), 0);
    rob(m, node);
    int rc;
    CHECK_WITHIN(LONG_MS, (rc = pdk_mutex_trylock(m)) != PDK_EBUSY);
    CHECK_RC(rc, 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

/* The reply to the write of the record, or the request itself, at the grant as at the release. */
static void lost_records(void)
{
    static const pdk__act acts[] = {PDK__CUT_BEFORE, PDK__CUT_AFTER_FORWARD, PDK__CUT_BEFORE_REPLY};
    pdk_mutex *m = begin_delayed(HOUR_MS);
    for (int i = 0; i < 6; i++) {
        if (i % 2 == 1)
            CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
        int cut = pdk__proxy_rule(fixture.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_SET, .act = acts[i / 2]});
        if (i % 2 == 0)
            CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
        CHECK_RC(pdk_mutex_unlock(m), 0);
        CHECK_EQ(pdk__proxy_hits(fixture.proxy, cut), 1);
        CHECK_STR(record(), "free");
        CHECK_EQ(fixture_children(path), 0);
    }
    fixture_end(c, m);
}

/* Data that the path had before are no client's record. */
static void other_data(void)
{
    pdk_mutex *m = begin_delayed(HOUR_MS);
    fixture_make(path, "here be dragons", ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_STR(record(), "free");
    fixture_end(c, m);
}

static void path_not_writable(void)
{
    struct ACL acl[] = {{ZOO_PERM_ALL & ~ZOO_PERM_WRITE, {"world", "anyone"}}};
    pdk_mutex *m = begin_delayed(1000);
    fixture_make(path, "", ZOO_PERSISTENT, &(struct ACL_vector){1, acl});
    CHECK_RC(pdk_mutex_lock(m), PDK_EACCES);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0); /* or reaped */
    fixture_end(c, m);
}

static void no_delays(void)
{
    pdk_lock_options *o = begin();
    CHECK_RC(pdk_lock_options_set_lock_delay_ms(o, -1), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_lock_delay_ms(o, 86400001), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_lock_delay_ms(NULL, 1), PDK_EINVAL);
    CHECK_RC(pdk_lock_options_set_confirmed(NULL, true), PDK_EINVAL);
    pdk_mutex *m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_SET), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a token that comes up to the least is granted", min_token},
        {"a token below the least is refused, and leaves no node", stale},
        {"what no token can be is refused as an option", nonsense},
        {"the token of a confirmed grant is the write of its node", token_is_the_write},
        {"it is larger than all that the holder before has written", token_follows_all_writes},
        {"a confirmation whose reply is lost is made again", lost_reply},
        {"a confirmation that is lost is made again", lost_request},
        {"a confirmation does not write over the word of who asks for the lock", keeps_revocation},
        {"a node that may not be written cannot be confirmed, and is not left", not_writable},
        {"a lock that was unlocked is locked again without a delay", clean_release},
        {"a lock that was unlocked is handed over without a delay", handed_over},
        {"a lock whose holder's session expired comes after the delay", delayed_after_expiry},
        {"who gives up while delayed leaves no node, and the record as it was", given_up_while_delayed},
        {"tries are busy while the delay runs, and get it then", tries_get_it},
        {"records that are lost on the way are written, and cleared, all the same", lost_records},
        {"other data of the path is nobody's record", other_data},
        {"a path that may not be written takes no record, and no node is left", path_not_writable},
        {"what no delay can be is refused, and without one nothing is written", no_delays},
        {0},
    };
    return fixture_main(argc, argv, "conditions", tests, ON_ONE);
}
