/* Observers: they are notified of the leader, whatever happens to it, to the path or to their own session. */
#include "lib/alloc.h"
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Long: an event that is missed is not found by the look that comes once in a session timeout. */
enum { SESSION_MS = 600000 };

/* The leaders go around the proxy, the observer through it. */
static pdk_client *c, *others;
static pdk_leader *a, *b;
static pdk_leader_observer *o;
static const char *path;

static struct told {
    char id[32];
    int64_t token;
} told[32];
static atomic_int n_told;

static void note(const char *id, int64_t token, void *arg)
{
    int n = n_told;
    (void)arg;
    if (n < 32) {
        snprintf(told[n].id, sizeof told[n].id, "%s", id != NULL ? id : "(nobody)");
        told[n].token = token;
    }
    n_told = n + 1;
}

static pdk_leader *new_leader(pdk_client *client, const char *id)
{
    pdk_leader *l;
    pdk_lock_options *options = pdk_lock_options_new();
    CHECK_RC(pdk_lock_options_set_data(options, id, strlen(id)), 0);
    CHECK_RC(pdk_leader_new(&l, client, path, PDK_LATCH, options), 0);
    pdk_lock_options_free(options);
    return l;
}

static void begin_at(const char *where)
{
    pdk__proxy_clear(fixture.proxy);
    path = where;
    n_told = 0;
    c = fixture_client(fixture_options(SESSION_MS));
    CHECK_RC(pdk_client_new(&others, fixture.direct, NULL), 0);
    CHECK_RC(pdk_client_wait(others, LONG_MS), 0);
    a = new_leader(others, "a");
    b = new_leader(others, "b");
}

static void begin(void) { begin_at(fixture_path()); }

static void observe(void) { CHECK_RC(pdk_leader_observe(&o, c, path, note, NULL), 0); }

static void end(void)
{
    CHECK_RC(pdk_lock_free(a), 0);
    CHECK_RC(pdk_lock_free(b), 0);
    CHECK_RC(pdk_client_free(others), 0);
    CHECK_RC(pdk_leader_observer_free(o), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

static int64_t lead(pdk_leader *l)
{
    int64_t token = 0;
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_RC(pdk_leader_wait(l, LONG_MS), 0);
    CHECK_RC(pdk_lock_token(l, &token, NULL), 0);
    return token;
}

static void stand(pdk_leader *l, int position)
{
    CHECK_RC(pdk_leader_start(l), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == position);
}

static void check_told(int i, const char *id, int64_t token)
{
    CHECK_WITHIN(LONG_MS, n_told > i);
    CHECK_STR(told[i].id, id);
    CHECK_EQ(told[i].token, token);
}

/* --- the leader -------------------------------------------------------------------------------------------------- */

static void each_leader(void)
{
    begin();
    observe();
    check_told(0, "(nobody)", 0); /* there is no path yet */
    int64_t first = lead(a);
    check_told(1, "a", first);
    stand(b, 2);
    CHECK_RC(pdk_leader_resign(a), 0);
    int64_t second = lead(b);
    check_told(2, "b", second);
    CHECK_RC(pdk_leader_resign(b), 0);
    check_told(3, "(nobody)", 0);
    check_told(4, "a", lead(a));
    CHECK_EQ(n_told, 5);
    end();
}

static void who_leads_already(void)
{
    begin();
    int64_t first = lead(a);
    observe();
    check_told(0, "a", first);
    CHECK_EQ(n_told, 1);
    end();
}

static void empty_path(void)
{
    begin();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    observe();
    check_told(0, "(nobody)", 0);
    fixture_make_below(path, "notes", "junk");
    check_told(1, "a", lead(a));
    CHECK_EQ(n_told, 2);
    CHECK_RC(pdk_leader_resign(a), 0);
    fixture_delete_all(path);
    end();
}

static void path_comes_and_goes(void)
{
    begin();
    observe();
    check_told(0, "(nobody)", 0);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_delete_all(path);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(path, "x-latch-0000000000", "x");
    CHECK_WITHIN(LONG_MS, n_told == 2);
    CHECK_STR(told[1].id, "x");
    fixture_delete_all(path);
    check_told(2, "(nobody)", 0);
    check_told(3, "a", lead(a));
    end();
}

/* No request is sent, whichever candidates come and go after the leader. */
static void no_herd(void)
{
    begin();
    int64_t first = lead(a);
    observe();
    check_told(0, "a", first);
    pdk__proxy_reset_counters(fixture.proxy);
    for (int i = 0; i < 5; i++) {
        stand(b, 2);
        CHECK_RC(pdk_leader_resign(b), 0);
    }
    stand(b, 2);
    CHECK_RC(pdk_leader_resign(a), 0);
    int64_t second = lead(b);
    check_told(1, "b", second);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_LIST2), 1);
    CHECK_EQ(pdk__proxy_requests(fixture.proxy, PDK__OP_GET), 1);
    CHECK_EQ(pdk__proxy_events(fixture.proxy, 0, NULL), 1);
    end();
}

/* A candidate in the observer's own session that gives up takes its watch on the leader off the server. */
static void not_deafened(void)
{
    begin();
    int64_t first = lead(a);
    observe();
    check_told(0, "a", first);
    pdk_leader *mine = new_leader(c, "mine");
    pdk__proxy_reset_counters(fixture.proxy);
    stand(mine, 2);
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_GET) == 2); /* it watches the leader, too */
    CHECK_RC(pdk_leader_resign(mine), 0);
    CHECK_RC(pdk_lock_free(mine), 0);
    CHECK_RC(pdk_leader_resign(a), 0);
    check_told(1, "(nobody)", 0);
    end();
}

/* --- the observer's session -------------------------------------------------------------------------------------- */

static void cut_off(void)
{
    begin();
    int64_t first = lead(a);
    observe();
    check_told(0, "a", first);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_SUSPENDED);
    CHECK_RC(pdk_leader_resign(a), 0);
    int64_t second = lead(b);
    CHECK_EQ(n_told, 1);
    pdk__proxy_refuse(fixture.proxy, false);
    check_told(1, "b", second);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_CONNECTED);
    CHECK_RC(pdk_leader_resign(b), 0);
    check_told(2, "(nobody)", 0);
    CHECK_EQ(n_told, 3);
    end();
}

static void new_session(void)
{
    begin();
    int64_t first = lead(a), session = pdk_client_session_id(c);
    observe();
    check_told(0, "a", first);
    fixture_expire(pdk__client_zh(c));
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_CONNECTED && pdk_client_session_id(c) != session);
    CHECK_RC(pdk_leader_resign(a), 0);
    check_told(1, "(nobody)", 0);
    check_told(2, "b", lead(b));
    end();
}

/* Whichever answer is lost, the next connection brings another look. */
static void answers_lost(void)
{
    static const int ops[] = {PDK__OP_LIST2, PDK__OP_GET};
    for (int i = 0; i < 2; i++) {
        begin();
        int64_t first = lead(a);
        int rule = pdk__proxy_rule(fixture.proxy,
                                   &(struct pdk__proxy_rule){.op = ops[i], .act = PDK__CUT_BEFORE_REPLY});
        observe();
        check_told(0, "a", first);
        CHECK_EQ(pdk__proxy_hits(fixture.proxy, rule), 1);
        CHECK_RC(pdk_leader_resign(a), 0);
        check_told(1, "(nobody)", 0);
        CHECK_EQ(n_told, 2);
        end();
    }
}

/* The leader goes between the listing and the look at it. */
static void gone_meanwhile(void)
{
    begin();
    stand(a, 1);
    stand(b, 2);
    CHECK_RC(pdk_leader_wait(a, LONG_MS), 0);
    int rule = pdk__proxy_rule(fixture.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_GET, .act = PDK__HOLD_REQUEST});
    observe();
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, rule) == 1);
    CHECK_RC(pdk_leader_resign(a), 0);
    int64_t second = lead(b);
    pdk__proxy_release(fixture.proxy, rule);
    check_told(0, "b", second);
    CHECK_EQ(n_told, 1);
    end();
}

static void not_permitted(void)
{
    struct ACL none = {ZOO_PERM_ADMIN, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector acl = {1, &none};
    char text[256];
    begin();
    int64_t first = lead(a);
    CHECK_EQ(zoo_set_acl(fixture.zh, path, -1, &acl), ZOK);
    observe();
    CHECK_WITHIN(LONG_MS, pdk_client_last_error(c, text, sizeof text) > 0);
    CHECK(strncmp(text, "observe ", 8) == 0);
    CHECK_EQ(n_told, 0);
    CHECK_EQ(zoo_set_acl(fixture.zh, path, -1, &ZOO_OPEN_ACL_UNSAFE), ZOK);
    check_told(0, "a", first);
    end();
}

/* --- the end ----------------------------------------------------------------------------------------------------- */

static atomic_int n_freed;

static void free_it(const char *id, int64_t token, void *arg)
{
    (void)id, (void)token, (void)arg;
    n_freed += pdk_leader_observer_free(o) == 0;
}

static void freed_in_its_callback(void)
{
    begin();
    n_freed = 0;
    CHECK_RC(pdk_leader_observe(&o, c, path, free_it, NULL), 0);
    CHECK_WITHIN(LONG_MS, n_freed == 1);
    o = NULL;
    lead(a);
    CHECK_RC(pdk_leader_resign(a), 0);
    CHECK_EQ(n_freed, 1);
    end();
}

static bool callback_waits(void)
{
    struct pollfd fd = {.fd = pdk_client_fd(c), .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

/* Its program dispatches callbacks, and has not done so yet. */
static void freed_before_its_callback(void)
{
    pdk_client_options *options = fixture_options(SESSION_MS);
    CHECK_RC(pdk_client_options_set_dispatch(options, true), 0);
    begin();
    CHECK_RC(pdk_client_free(c), 0);
    c = fixture_client(options);
    observe();
    CHECK_WITHIN(LONG_MS, callback_waits());
    CHECK_RC(pdk_leader_observer_free(o), 0);
    pdk_client_dispatch(c);
    CHECK_EQ(n_told, 0);
    o = NULL;
    end();
}

static void freed_is_silent(void)
{
    begin();
    pdk_leader_observer *second;
    observe();
    check_told(0, "(nobody)", 0);
    CHECK_RC(pdk_leader_observe(&second, c, path, note, NULL), 0);
    CHECK_WITHIN(LONG_MS, n_told == 2);
    CHECK_RC(pdk_leader_observer_free(second), 0);
    check_told(2, "a", lead(a));
    CHECK_RC(pdk_leader_resign(a), 0);
    check_told(3, "(nobody)", 0);
    CHECK_EQ(n_told, 4); /* one, not two */
    CHECK_RC(pdk_leader_observer_free(o), 0);
    for (int i = 0; i < 20; i++) { /* with answers on their way, and with none */
        observe();
        CHECK_RC(pdk_leader_observer_free(o), 0);
    }
    o = NULL;
    CHECK_RC(pdk_leader_observer_free(NULL), 0);
    end();
}

static void closed(void)
{
    pdk_leader_observer *late;
    begin();
    observe();
    check_told(0, "(nobody)", 0);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_leader_observe(&late, c, path, note, NULL), PDK_ECLOSED);
    lead(a);
    CHECK_EQ(n_told, 1);
    end();
}

/* The application's own watches fire all the same, and its handle lives on. */
static void adopted(void)
{
    begin();
    pdk_client *mine;
    CHECK_RC(pdk_client_adopt(&mine, fixture.zh, NULL), 0);
    CHECK_RC(pdk_leader_observe(&o, mine, path, note, NULL), 0);
    check_told(0, "(nobody)", 0);
    check_told(1, "a", lead(a));
    CHECK_RC(pdk_client_close(mine), 0);
    CHECK_RC(pdk_leader_resign(a), 0);
    CHECK_EQ(fixture_children(path), 0);
    CHECK_EQ(n_told, 2);
    CHECK_RC(pdk_leader_observer_free(o), 0);
    CHECK_RC(pdk_client_free(mine), 0);
    o = NULL;
    end();
}

static void arguments(void)
{
    begin();
    o = NULL;
    CHECK_RC(pdk_leader_observe(NULL, c, path, note, NULL), PDK_EINVAL);
    CHECK_RC(pdk_leader_observe(&o, NULL, path, note, NULL), PDK_EINVAL);
    CHECK_RC(pdk_leader_observe(&o, c, NULL, note, NULL), PDK_EINVAL);
    CHECK_RC(pdk_leader_observe(&o, c, path, NULL, NULL), PDK_EINVAL);
    CHECK_RC(pdk_leader_observe(&o, c, "/", note, NULL), PDK_EPATH);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"each new leader is told, and that there is none", each_leader},
        {"who leads already is told first", who_leads_already},
        {"a path that is empty, or has junk, has no leader", empty_path},
        {"a path that is made, deleted and made again is followed", path_comes_and_goes},
        {"who comes and goes behind the leader costs nothing", no_herd},
        {"a candidate of the same session that gives up does not deafen it", not_deafened},
        {"what changed while it was cut off is told when it is back", cut_off},
        {"it goes on in a new session", new_session},
        {"an answer that is lost is asked for again", answers_lost},
        {"a leader that goes while it is looked at is not told", gone_meanwhile},
        {"without permission it looks again, and says so", not_permitted},
        {"it can be freed in its callback", freed_in_its_callback},
        {"freed before its callback ran, it is silent", freed_before_its_callback},
        {"freed, it is silent", freed_is_silent},
        {"closed, it is silent, and there are no new ones", closed},
        {"on an adopted handle it ends with the client", adopted},
        {"nonsense is refused", arguments},
        {0},
    };
    return fixture_main(argc, argv, "observer", tests, ON_ONE);
}
