/* Grants that take more than to be the first. */
#include "test/integration/ground.h"

#include <stdio.h>
#include <string.h>

static pdk_client *c;
static const char *path;

static void setup(void) { ground_open(NULL); }

static pdk_mutex_options *begin_with(pdk_client_options *client)
{
    pdk__proxy_clear(ground.proxy);
    path = ground_path();
    c = ground_client(client);
    pdk_mutex_options *o = pdk_mutex_options_new();
    CHECK(o != NULL);
    return o;
}

static pdk_mutex_options *begin(void) { return begin_with(NULL); }

/* OPTIONS are freed. */
static pdk_mutex *mutex_with(pdk_mutex_options *o)
{
    pdk_mutex *m;
    CHECK_RC(pdk_mutex_new(&m, c, path, o), 0);
    pdk_mutex_options_free(o);
    return m;
}

/* --- a least token ----------------------------------------------------------------------------------------------- */

static void min_token(void)
{
    pdk_mutex_options *o = begin();
    int64_t seen, token;
    pdk_mutex *m = ground_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_token(m, &seen), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_mutex_free(m), 0);
    CHECK_RC(pdk_mutex_options_set_min_token(o, seen + 1), 0);
    m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_token(m, &token), 0);
    CHECK(token > seen);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    ground_end(c, m);
}

static void stale(void)
{
    pdk_mutex_options *o = begin();
    CHECK_RC(pdk_mutex_options_set_min_token(o, INT64_MAX), 0);
    pdk_mutex *m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), PDK_ESTALE);
    CHECK_RC(pdk_mutex_trylock(m), PDK_ESTALE);
    CHECK_EQ(pdk_mutex_state(m), PDK_FREE);
    CHECK_WITHIN(PATIENCE_MS, ground_children(path) == 0);
    CHECK_RC(pdk_mutex_unlock(m), PDK_EPERM);
    ground_end(c, m);
}

static void nonsense(void)
{
    pdk_mutex_options *o = begin();
    CHECK_RC(pdk_mutex_options_set_min_token(o, -1), PDK_EINVAL);
    CHECK_RC(pdk_mutex_options_set_min_token(NULL, 1), PDK_EINVAL);
    pdk_mutex *m = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    ground_end(c, m);
}

/* --- a grant confirmed by a write -------------------------------------------------------------------------------- */

static pdk_mutex *confirmed_mutex(void)
{
    pdk_mutex_options *o = begin();
    CHECK_RC(pdk_mutex_options_set_confirmed(o, true), 0);
    return mutex_with(o);
}

static int64_t token_of(pdk_mutex *m)
{
    int64_t token;
    CHECK_RC(pdk_mutex_token(m, &token), 0);
    return token;
}

static void node_stat(pdk_mutex *m, struct Stat *stat)
{
    char node[128], whole[256];
    CHECK(pdk_mutex_node(m, node, sizeof node) > 0);
    snprintf(whole, sizeof whole, "%s/%s", path, node);
    CHECK_EQ(zoo_exists(ground.zh, whole, 0, stat), ZOK);
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
    CHECK_EQ(pdk__proxy_requests(ground.proxy, PDK__OP_SET), 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    ground_end(c, m);
}

/* The waiter's node is older than the holder's last write, and its token is not. */
static void token_follows_all_writes(void)
{
    struct Stat written, waiter;
    struct locker l;
    pdk_mutex *m = confirmed_mutex(), *next;
    pdk_mutex_options *o = pdk_mutex_options_new();
    const char *record = ground_path();
    ground_make(record, "", ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_mutex_options_set_confirmed(o, true), 0);
    next = mutex_with(o);
    CHECK_RC(pdk_mutex_lock(m), 0);
    locker_start(&l, next);
    CHECK_WITHIN(PATIENCE_MS, ground_children(path) == 2);
    CHECK_EQ(zoo_set2(ground.zh, record, "x", 1, -1, &written), ZOK);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_WITHIN(PATIENCE_MS, l.settled);
    CHECK_RC(l.rc, 0);
    node_stat(next, &waiter);
    CHECK(waiter.czxid < written.mzxid);
    CHECK(token_of(next) > written.mzxid);
    locker_finish(&l);
    CHECK_RC(pdk_mutex_free(next), 0);
    ground_end(c, m);
}

static void lost_reply(void)
{
    struct Stat stat;
    pdk_mutex *m = confirmed_mutex();
    int cut = pdk__proxy_rule(ground.proxy, &(struct pdk__rule){.op = PDK__OP_SET, .act = PDK__CUT_BEFORE_REPLY});
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(pdk__proxy_hits(ground.proxy, cut), 1);
    node_stat(m, &stat);
    CHECK_EQ(token_of(m), stat.mzxid);
    CHECK_EQ(stat.version, 2);
    CHECK_EQ(ground_children(path), 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    ground_end(c, m);
}

static void lost_request(void)
{
    struct Stat stat;
    pdk_mutex *m = confirmed_mutex();
    pdk__proxy_rule(ground.proxy, &(struct pdk__rule){.op = PDK__OP_SET, .act = PDK__CUT_BEFORE});
    CHECK_RC(pdk_mutex_lock(m), 0);
    node_stat(m, &stat);
    CHECK_EQ(token_of(m), stat.mzxid);
    CHECK_EQ(stat.version, 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    ground_end(c, m);
}

static atomic_int asked;

static void note(pdk_mutex *m, int64_t token, void *arg)
{
    (void)m, (void)token, (void)arg;
    asked++;
}

/* The word for a revocation is written between the grant's turn and its confirmation. */
static void keeps_revocation(void)
{
    char whole[256], text[32];
    int length = sizeof text;
    struct locker l;
    pdk_mutex *m = confirmed_mutex();
    CHECK_RC(pdk_mutex_on_revoke(m, note, NULL), 0);
    int held = pdk__proxy_rule(ground.proxy, &(struct pdk__rule){.op = PDK__OP_SET, .act = PDK__HOLD_REQUEST});
    locker_start(&l, m);
    CHECK_WITHIN(PATIENCE_MS, pdk__proxy_hits(ground.proxy, held) == 1);
    snprintf(whole, sizeof whole, "%s/%s", path, ground_find(path, "-lock-"));
    CHECK_EQ(zoo_set(ground.zh, whole, "__REVOKE__", 10, -1), ZOK);
    pdk__proxy_release(ground.proxy, held);
    CHECK_WITHIN(PATIENCE_MS, l.settled);
    CHECK_RC(l.rc, 0);
    CHECK_WITHIN(PATIENCE_MS, asked == 1);
    CHECK_EQ(zoo_get(ground.zh, whole, 0, text, &length, NULL), ZOK);
    CHECK(length == 10 && memcmp(text, "__REVOKE__", 10) == 0);
    locker_finish(&l);
    ground_end(c, m);
}

static void not_writable(void)
{
    pdk_client_options *client = ground_options(10000);
    CHECK_RC(pdk_client_options_add_acl(client, "world", "anyone", PDK_PERM_ALL & ~PDK_PERM_WRITE), 0);
    pdk_mutex_options *o = begin_with(client);
    CHECK_RC(pdk_mutex_options_set_confirmed(o, true), 0);
    pdk_mutex *m = mutex_with(o);
    ground_make(path, "", ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_mutex_lock(m), PDK_EACCES);
    CHECK_WITHIN(PATIENCE_MS, ground_children(path) == 0);
    ground_end(c, m);
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
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "conditions", .tests = tests, .setup = setup, .teardown = ground_close});
}
