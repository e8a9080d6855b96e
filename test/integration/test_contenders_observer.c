/* Observers of contenders: they are notified of each that joins or leaves, whatever happens to the path or the
 * session. */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>

/* The contenders go around the proxy, the observer through it. */
static pdk_client *c;
static pdk_contenders_observer *o;
static const char *path;
static atomic_int n_told;

/* Long: an event that is missed is not found by the look that comes once in a session timeout. */
enum { SESSION_MS = 600000 };

static void note(void *arg)
{
    (void)arg;
    n_told++;
}

static void begin(void)
{
    pdk__proxy_clear(fixture.proxy);
    pdk__proxy_reset_counters(fixture.proxy);
    path = fixture_path();
    n_told = 0;
    o = NULL;
    c = fixture_client(fixture_options(SESSION_MS));
}

static void observe(void) { CHECK_RC(pdk_contenders_observe(&o, c, path, note, NULL), 0); }

static void end(void)
{
    CHECK_RC(pdk_contenders_observer_free(o), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

static void join(const char *name) { fixture_make_below(path, name, "x"); }

static void check_told(int n)
{
    CHECK_WITHIN(LONG_MS, n_told >= n);
    CHECK_EQ(n_told, n);
}

/* --- the contenders ---------------------------------------------------------------------------------------------- */

static void each_change(void)
{
    begin();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    observe();
    check_told(1);
    join("a-lock-0000000000");
    check_told(2);
    join("b-lock-0000000001");
    check_told(3);
    fixture_delete_below(path, "a-lock-0000000000");
    check_told(4);
    end();
    fixture_delete_all(path);
}

static void path_comes_and_goes(void)
{
    begin();
    observe();
    check_told(1); /* there is no path yet */
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    check_told(2);
    join("a-lock-0000000000");
    check_told(3);
    fixture_delete_all(path);
    CHECK_WITHIN(LONG_MS, n_told >= 4);
    int n = n_told;
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    CHECK_WITHIN(LONG_MS, n_told > n);
    end();
    fixture_delete_all(path);
}

/* A change costs one event and one listing, however many observers the client has and contenders the path. */
static void one_watch(void)
{
    pdk_contenders_observer *second;
    begin();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    observe();
    check_told(1);
    pdk__proxy_reset_counters(fixture.proxy);
    join("a-lock-0000000000");
    check_told(2);
    join("b-lock-0000000001");
    check_told(3);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_LIST2), 2);
    CHECK_EQ(pdk__proxy_events(fixture.proxy, 0, NULL), 2);
    CHECK_RC(pdk_contenders_observe(&second, c, path, note, NULL), 0);
    check_told(4);
    pdk__proxy_reset_counters(fixture.proxy);
    join("c-lock-0000000002");
    check_told(6);
    CHECK_EQ(pdk__proxy_events(fixture.proxy, 0, NULL), 1);
    CHECK_RC(pdk_contenders_observer_free(second), 0);
    end();
    fixture_delete_all(path);
}

/* A contender that writes into its node changes nothing here. */
static void data_are_no_change(void)
{
    char node[256];
    begin();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    join("a-lock-0000000000");
    observe();
    check_told(1);
    snprintf(node, sizeof node, "%s/a-lock-0000000000", path);
    CHECK_EQ(zoo_set(fixture.zh, node, "__REVOKE__", 10, -1), ZOK);
    join("b-lock-0000000001");
    check_told(2);
    end();
    fixture_delete_all(path);
}

/* --- the observer's session -------------------------------------------------------------------------------------- */

static void cut_off(void)
{
    begin();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    observe();
    check_told(1);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_SUSPENDED);
    join("a-lock-0000000000");
    CHECK_EQ(n_told, 1);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_WITHIN(LONG_MS, n_told > 1);
    end();
    fixture_delete_all(path);
}

/* Its answer comes after those to all earlier requests of the client. */
static void settle(void)
{
    pdk_contender_list *list;
    CHECK_RC(pdk_contenders(c, path, PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    pdk_contender_list_free(list);
}

static void new_session(void)
{
    begin();
    int64_t session = pdk_client_session_id(c);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    observe();
    check_told(1);
    fixture_expire(pdk__client_zh(c));
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_CONNECTED && pdk_client_session_id(c) != session);
    settle();
    check_told(1); /* nothing has changed */
    join("a-lock-0000000000");
    check_told(2);
    end();
    fixture_delete_all(path);
}

static void answers_lost(void)
{
    static const int ops[] = {PDK__OP_LIST2, PDK__OP_EXISTS};
    for (int i = 0; i < 2; i++) {
        begin();
        if (ops[i] == PDK__OP_LIST2)
            fixture_make(path, "", ZOO_PERSISTENT, NULL);
        int rule = pdk__proxy_rule(fixture.proxy,
                                   &(struct pdk__proxy_rule){.op = ops[i], .act = PDK__CUT_BEFORE_REPLY});
        observe();
        CHECK_WITHIN(LONG_MS, n_told >= 1);
        CHECK_EQ(pdk__proxy_hits(fixture.proxy, rule), 1);
        end();
        fixture_delete_all(path);
    }
}

/* The path is created after the listing that missed it, and before the watch on its creation. */
static void created_meanwhile(void)
{
    begin();
    int rule = pdk__proxy_rule(fixture.proxy,
                               &(struct pdk__proxy_rule){.op = PDK__OP_EXISTS, .act = PDK__HOLD_REQUEST});
    observe();
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, rule) == 1);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    pdk__proxy_release(fixture.proxy, rule);
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(fixture.proxy, PDK__OP_LIST2) == 2);
    CHECK_WITHIN(LONG_MS, n_told >= 1);
    settle(); /* the second listing is answered, too */
    int listings = pdk__proxy_requests(fixture.proxy, PDK__OP_LIST2);
    join("a-lock-0000000000");
    CHECK_WITHIN(LONG_MS, pdk__proxy_requests(fixture.proxy, PDK__OP_LIST2) == listings + 1);
    end();
    fixture_delete_all(path);
}

static void not_permitted(void)
{
    struct ACL none = {ZOO_PERM_ADMIN, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector acl = {1, &none};
    char text[256];
    begin();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    CHECK_EQ(zoo_set_acl(fixture.zh, path, -1, &acl), ZOK);
    observe();
    CHECK_WITHIN(LONG_MS, pdk_client_last_error(c, text, sizeof text) > 0);
    CHECK(strncmp(text, "observe ", 8) == 0);
    CHECK_EQ(n_told, 0);
    CHECK_EQ(zoo_set_acl(fixture.zh, path, -1, &ZOO_OPEN_ACL_UNSAFE), ZOK);
    check_told(1);
    end();
    fixture_delete_all(path);
}

/* --- the end ----------------------------------------------------------------------------------------------------- */

static atomic_int n_freed;

static void free_it(void *arg)
{
    (void)arg;
    n_freed += pdk_contenders_observer_free(o) == 0;
}

static void freed_in_its_callback(void)
{
    begin();
    n_freed = 0;
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_contenders_observe(&o, c, path, free_it, NULL), 0);
    CHECK_WITHIN(LONG_MS, n_freed == 1);
    o = NULL;
    join("a-lock-0000000000");
    observe(); /* the watch of the first one may fire yet */
    CHECK_WITHIN(LONG_MS, n_told >= 1);
    CHECK_EQ(n_freed, 1);
    end();
    fixture_delete_all(path);
}

static void freed_is_silent(void)
{
    pdk_contenders_observer *second;
    begin();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    observe();
    CHECK_RC(pdk_contenders_observe(&second, c, path, note, NULL), 0);
    check_told(2);
    CHECK_RC(pdk_contenders_observer_free(second), 0);
    join("a-lock-0000000000");
    check_told(3); /* by one, not by two */
    CHECK_RC(pdk_contenders_observer_free(o), 0);
    for (int i = 0; i < 20; i++) { /* with answers on their way, and with none */
        observe();
        CHECK_RC(pdk_contenders_observer_free(o), 0);
    }
    o = NULL;
    CHECK_RC(pdk_contenders_observer_free(NULL), 0);
    end();
    fixture_delete_all(path);
}

/* An idle hold watches the children of the path, and not the path itself. */
static void freed_beside_an_idle_hold(void)
{
    pdk_mutex *m;
    pdk_lock_options *opts = pdk_lock_options_new();
    begin();
    CHECK_RC(pdk_lock_options_set_keep(opts, 0, LONG_MS), 0);
    CHECK_RC(pdk_mutex_new(&m, c, path, opts), 0);
    pdk_lock_options_free(opts);
    int rule = pdk__proxy_rule(fixture.proxy,
                               &(struct pdk__proxy_rule){.op = PDK__OP_EXISTS, .act = PDK__HOLD_REQUEST});
    observe();
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, rule) == 1);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    pdk__proxy_release(fixture.proxy, rule);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_WITHIN(LONG_MS, fixture_watchers(path) == 1);
    CHECK_RC(pdk_contenders_observer_free(o), 0);
    CHECK_WITHIN(LONG_MS, fixture_watchers(path) == 0);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

static void closed(void)
{
    pdk_contenders_observer *late;
    begin();
    observe();
    check_told(1);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_contenders_observe(&late, c, path, note, NULL), PDK_ECLOSED);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    CHECK_EQ(n_told, 1);
    end();
    fixture_delete_all(path);
}

static void arguments(void)
{
    begin();
    CHECK_RC(pdk_contenders_observe(NULL, c, path, note, NULL), PDK_EINVAL);
    CHECK_RC(pdk_contenders_observe(&o, NULL, path, note, NULL), PDK_EINVAL);
    CHECK_RC(pdk_contenders_observe(&o, c, NULL, note, NULL), PDK_EINVAL);
    CHECK_RC(pdk_contenders_observe(&o, c, path, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_contenders_observe(&o, c, "/", note, NULL), PDK_EPATH);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"each contender that joins or leaves is reported", each_change},
        {"a path that is made, deleted and made again is followed", path_comes_and_goes},
        {"a change costs one event, and one listing of names", one_watch},
        {"data of a node are no change", data_are_no_change},
        {"a change while it was cut off is reported when it is back", cut_off},
        {"it goes on in a new session", new_session},
        {"an answer that is lost is asked for again", answers_lost},
        {"a path that is created while its creation is to be watched is noticed", created_meanwhile},
        {"without permission it looks again, and says so", not_permitted},
        {"it can be freed in its callback", freed_in_its_callback},
        {"freed, it is silent", freed_is_silent},
        {"freed beside an idle hold, it leaves no watch", freed_beside_an_idle_hold},
        {"closed, it is silent, and there are no new ones", closed},
        {"nonsense is refused", arguments},
        {0},
    };
    return fixture_main(argc, argv, "contenders_observer", tests, ON_ONE);
}
