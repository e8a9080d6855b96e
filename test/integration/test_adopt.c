/* A client on the application's own handle: the application goes on to get its events and to own its handle. */
#include "lib/alloc.h"
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>

static zhandle_t *zh; /* the application's */
static pdk_client *c;
static pdk_mutex *m;
static const char *path;

/* --- the application --------------------------------------------------------------------------------------------- */

static char story[512];
static pthread_mutex_t story_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool hold_watcher, watcher_held;
static int mark; /* its address is the application's context */

static void note(const char *word)
{
    pthread_mutex_lock(&story_lock);
    if (strlen(story) + strlen(word) < sizeof story)
        strcat(story, word);
    pthread_mutex_unlock(&story_lock);
}

static bool told(const char *text)
{
    pthread_mutex_lock(&story_lock);
    bool same = strcmp(story, text) == 0;
    pthread_mutex_unlock(&story_lock);
    return same;
}

static void watch(zhandle_t *handle, int type, int state, const char *node, void *context)
{
    (void)handle, (void)node;
    if (context != &mark)
        note("(a context of somebody else's) ");
    if (type != ZOO_SESSION_EVENT)
        note(type == ZOO_DELETED_EVENT ? "deleted " : "node ");
    else if (state == ZOO_CONNECTED_STATE)
        note("connected ");
    else if (state == ZOO_CONNECTING_STATE)
        note("connecting ");
    else if (state == ZOO_EXPIRED_SESSION_STATE)
        note("expired ");
    else
        note("? ");
    while (hold_watcher) {
        watcher_held = true;
        pdk__test_nap();
    }
}

static void open_handle(const char *hosts, int session_ms)
{
    story[0] = '\0';
    hold_watcher = watcher_held = false;
    zh = zookeeper_init(hosts, watch, session_ms, NULL, &mark, ZOO_NO_LOG_CLIENTENV);
    CHECK(zh != NULL);
}

static void close_handle(void)
{
    CHECK_EQ(zookeeper_close(zh), ZOK);
    zh = NULL;
}

static void begin(void)
{
    path = fixture_path();
    open_handle(fixture.hosts, 10000);
    CHECK_WITHIN(LONG_MS, told("connected "));
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    m = fixture_mutex(c, path);
}

/* --- what it hears ----------------------------------------------------------------------------------------------- */

static void cut_off(const char *before, const char *during, const char *after)
{
    CHECK_WITHIN(LONG_MS, told(before));
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, told(during));
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_WITHIN(LONG_MS, told(after));
}

static void hears_all(void)
{
    char node[64];
    struct Stat stat;
    begin();
    snprintf(node, sizeof node, "%s-own", path);
    fixture_make(node, "", ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_mutex_lock(m), 0);
    cut_off("connected ", "connected connecting ", "connected connecting connected ");
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_HELD);
    CHECK_EQ(zoo_exists(zh, node, 1, &stat), ZOK); /* a watch by the global watcher */
    CHECK_EQ(zoo_delete(fixture.zh, node, -1), ZOK);
    CHECK_WITHIN(LONG_MS, told("connected connecting connected deleted "));
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    story[0] = '\0'; /* and afterwards, without a client */
    cut_off("", "connecting ", "connecting connected ");
    CHECK(zoo_set_watcher(zh, watch) == watch);
    close_handle();
}

/* An event was on its way to us when the client was closed. */
static void *close_client(void *arg) { return (void *)(intptr_t)pdk_client_close(arg); }

static void hears_the_last(void)
{
    pthread_t closer;
    void *rc;
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    hold_watcher = true;
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, watcher_held); /* with CONNECTING; CONNECTED comes after it */
    CHECK_WITHIN(LONG_MS, pdk__proxy_replies(fixture.proxy, PDK__OP_CONNECT) > 1);
    CHECK_WITHIN(LONG_MS, zoo_state(zh) == ZOO_CONNECTED_STATE);
    CHECK_EQ(pthread_create(&closer, NULL, close_client, c), 0);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_OVER);
    hold_watcher = false;
    CHECK_EQ(pthread_join(closer, &rc), 0);
    CHECK_RC((int)(intptr_t)rc, 0);
    CHECK_WITHIN(LONG_MS, told("connected connecting connected "));
    fixture_end(c, m);
    close_handle();
}

/* The same, on a handle that answers no request any more. */
static void hears_the_end(void)
{
    begin();
    hold_watcher = true;
    fixture_expire(zh);
    CHECK_WITHIN(LONG_MS, watcher_held); /* with CONNECTING; EXPIRED comes after it */
    CHECK_WITHIN(LONG_MS, zoo_state(zh) == ZOO_EXPIRED_SESSION_STATE);
    CHECK_RC(pdk_client_close(c), 0);
    hold_watcher = false;
    CHECK_WITHIN(LONG_MS, told("connected connecting expired "));
    fixture_end(c, m);
    zookeeper_close(zh);
}

static void hold_thread(int rc, const struct Stat *stat, const void *data)
{
    (void)rc, (void)stat, (void)data;
    watcher_held = true;
    while (hold_watcher)
        pdk__test_nap();
}

/* The application keeps the handle's thread, so no event is delivered. */
static void believes_no_thread(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    hold_watcher = true;
    CHECK_EQ(zoo_aexists(zh, path, 0, hold_thread, NULL), ZOK);
    CHECK_WITHIN(LONG_MS, watcher_held);
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, zoo_state(zh) != ZOO_CONNECTED_STATE);
    CHECK_EQ(pdk_lock_state(m), PDK_SUSPECT);
    pdk__proxy_refuse(fixture.proxy, false);
    hold_watcher = false;
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    close_handle();
}

static atomic_int rc_inside;

static void lock_inside(int rc, const struct Stat *stat, const void *data)
{
    (void)rc, (void)stat, (void)data;
    rc_inside = pdk_mutex_lock(m);
}

static void refuses_its_thread(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    rc_inside = 1;
    CHECK_EQ(zoo_aexists(zh, path, 0, lock_inside, NULL), ZOK);
    CHECK_WITHIN(LONG_MS, rc_inside != 1);
    CHECK_RC(rc_inside, PDK_EDEADLK);
    fixture_end(c, m);
    close_handle();
}

/* Although nothing of ours has run on it yet. */
static void refuses_it_at_once(void)
{
    begin();
    rc_inside = 1;
    CHECK_EQ(zoo_aexists(zh, path, 0, lock_inside, NULL), ZOK);
    CHECK_WITHIN(LONG_MS, rc_inside != 1);
    CHECK_RC(rc_inside, PDK_EDEADLK);
    fixture_end(c, m);
    close_handle();
}

/* --- what is left ------------------------------------------------------------------------------------------------ */

static atomic_int n_closed;

static void count_closed(int rc, void *arg)
{
    (void)arg;
    n_closed += rc == PDK_ECLOSED;
}

static void leaves_no_nodes(void)
{
    struct locker l;
    pdk_grant *g;
    begin();
    const char *other = fixture_path();
    pdk_mutex *n = fixture_mutex(c, other);
    fixture_make(other, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(other, "a-lock-0000000000", "");
    n_closed = 0;
    CHECK_RC(pdk_mutex_lock(m), 0);
    locker_start(&l, n);
    CHECK_RC(pdk_mutex_lock_async(n, PDK_FOREVER, count_closed, NULL, &g), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(other) == 3);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_EQ(fixture_children(path), 0);
    CHECK_EQ(fixture_children(other), 1);
    locker_finish(&l);
    CHECK_RC(l.rc, PDK_ECLOSED);
    CHECK_EQ(n_closed, 1);
    CHECK_EQ(pdk_lock_state(m), PDK_LOST);
    CHECK_RC(pdk_lock_free(n), 0);
    fixture_end(c, m);
    CHECK_EQ(zoo_state(zh), ZOO_CONNECTED_STATE);
    CHECK_EQ(zoo_exists(zh, path, 0, NULL), ZOK);
    close_handle();
    fixture_delete_all(other);
}

static void closed_right_behind(void)
{
    for (int i = 0; i < 20; i++) {
        struct locker l;
        begin();
        fixture_make(path, "", ZOO_PERSISTENT, NULL);
        fixture_make_below(path, "a-lock-0000000000", "");
        locker_start(&l, m);
        if (i % 2 == 0)
            CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
        CHECK_RC(pdk_client_close(c), 0);
        close_handle();
        locker_finish(&l);
        CHECK_RC(l.rc, PDK_ECLOSED);
        fixture_end(c, m);
        CHECK_EQ(fixture_children(path), 1);
        fixture_delete_all(path);
    }
}

/* The servers do not hear of the deletes: no waiter waits for that, and no holder believes meanwhile. */
static void nobody_stays(void)
{
    pthread_t closer;
    struct locker waiter;
    void *rc;
    begin();
    const char *other = fixture_path();
    pdk_mutex *n = fixture_mutex(c, other);
    fixture_make(other, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(other, "a-lock-0000000000", "");
    CHECK_RC(pdk_mutex_lock(m), 0);
    locker_start(&waiter, n);
    CHECK_WITHIN(LONG_MS, fixture_children(other) == 2);
    pdk__proxy_hold(fixture.proxy, PDK__TO_SERVER, true);
    CHECK_EQ(pthread_create(&closer, NULL, close_client, c), 0);
    CHECK_WITHIN(LONG_MS, waiter.settled);
    CHECK_RC(waiter.rc, PDK_ECLOSED);
    CHECK_EQ(pdk_lock_state(m), PDK_LOST);
    CHECK_EQ(fixture_children(path), 1);
    pdk__proxy_hold(fixture.proxy, PDK__TO_SERVER, false);
    CHECK_EQ(pthread_join(closer, &rc), 0);
    CHECK_RC((int)(intptr_t)rc, 0);
    locker_finish(&waiter);
    CHECK_EQ(fixture_children(path), 0);
    CHECK_EQ(fixture_children(other), 1);
    CHECK_RC(pdk_lock_free(n), 0);
    fixture_end(c, m);
    close_handle();
    fixture_delete_all(other);
}

static atomic_int n_refused;

static bool refuse_one(size_t size)
{
    (void)size;
    return n_refused++ > 0;
}

/* A request that could not be sent at once is sent later, by the clock, which goes on during a close. */
static void deletes_later(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    n_refused = 0;
    pdk__alloc_set_gate(refuse_one);
    int rc = pdk_client_close(c);
    pdk__alloc_set_gate(NULL);
    CHECK_RC(rc, 0);
    CHECK(n_refused > 1);
    CHECK_EQ(fixture_children(path), 0);
    fixture_end(c, m);
    close_handle();
}

static void unconfirmed(void)
{
    path = fixture_path();
    open_handle(fixture.hosts, 2000);
    CHECK_WITHIN(LONG_MS, told("connected "));
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_hold(fixture.proxy, PDK__TO_SERVER, true);
    CHECK_RC(pdk_client_close(c), PDK_EUNKNOWN);
    pdk__proxy_hold(fixture.proxy, PDK__TO_SERVER, false);
    CHECK_RC(pdk_lock_free(m), 0);
    zookeeper_close(zh);
    CHECK_RC(pdk_client_free(c), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
}

/* A write whose answer never comes. The handle's thread, which would say so, is kept in the application's watcher. */
static _Atomic int answer;

static void write_told(int code, void *arg) { *(_Atomic int *)arg = code; }

static void begin_to_write(void)
{
    char record[64];
    path = fixture_path();
    snprintf(record, sizeof record, "%s-record", path);
    open_handle(fixture.hosts, 2000);
    CHECK_WITHIN(LONG_MS, told("connected "));
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk_write write = {.kind = PDK_WRITE_DELETE, .path = record, .version = -1};
    struct pdk__proxy_rule rule = {.op = PDK__OP_MULTI, .act = PDK__SWALLOW_REPLY};
    int swallowed = pdk__proxy_rule(fixture.proxy, &rule);
    answer = 1;
    CHECK_RC(pdk_guarded_write_async(m, &write, write_told, (void *)&answer), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, swallowed) == 1);
    hold_watcher = true;
}

static void end_written(void)
{
    hold_watcher = false;
    CHECK_RC(pdk_lock_free(m), 0);
    zookeeper_close(zh);
    CHECK_RC(pdk_client_free(c), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
}

static void answers_at_its_close(void)
{
    begin_to_write();
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, watcher_held);
    CHECK_RC(pdk_client_close(c), PDK_EUNKNOWN);
    CHECK_EQ(answer, PDK_EUNKNOWN);
    end_written();
}

static void answers_when_over(void)
{
    begin_to_write();
    CHECK_EQ(zoo_add_auth(zh, "no-such-scheme", "", 0, NULL, NULL), ZOK);
    CHECK_WITHIN(LONG_MS, watcher_held);
    CHECK_WITHIN(LONG_MS, answer == PDK_EUNKNOWN);
    hold_watcher = false;
    CHECK_RC(pdk_client_close(c), PDK_EUNKNOWN);
    end_written();
}

/* The client is over, and the session is not: its nodes stay until it ends. */
static void over_before_its_session(void)
{
    path = fixture_path();
    open_handle(fixture.hosts, 2000);
    CHECK_WITHIN(LONG_MS, told("connected "));
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(zoo_add_auth(zh, "no-such-scheme", "", 0, NULL, NULL), ZOK);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_OVER);
    CHECK_RC(pdk_client_wait(c, PDK_FOREVER), PDK_EAUTH);
    CHECK_RC(pdk_client_close(c), PDK_EUNKNOWN);
    CHECK_RC(pdk_lock_free(m), 0);
    zookeeper_close(zh);
    CHECK_RC(pdk_client_free(c), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
}

/* --- whose and when ---------------------------------------------------------------------------------------------- */

static void one_at_a_time(void)
{
    pdk_client *other;
    begin();
    CHECK_RC(pdk_client_adopt(&other, zh, NULL), PDK_EBUSY);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    close_handle();
}

static void before_connected(void)
{
    struct locker l;
    path = fixture_path();
    pdk__proxy_refuse(fixture.proxy, true);
    open_handle(fixture.hosts, 10000);
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_CONNECTING);
    CHECK_EQ(pdk_client_session_id(c), 0);
    m = fixture_mutex(c, path);
    locker_start(&l, m);
    CHECK_RC(pdk_client_wait(c, 20), PDK_ETIMEDOUT);
    CHECK(!l.settled);
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    CHECK_EQ(pdk_client_session_id(c), zoo_client_id(zh)->client_id);
    locker_finish(&l);
    fixture_end(c, m);
    CHECK(told("connected "));
    close_handle();
}

static void others_servers(void)
{
    pdk__proxy_strip_password(fixture.proxy, true);
    begin();
    CHECK_RC(pdk_mutex_lock(m), PDK_ESERVER);
    pdk__proxy_strip_password(fixture.proxy, false);
    CHECK_RC(pdk_client_close(c), PDK_EUNKNOWN);
    fixture_end(c, m);
    close_handle();
}

static void expires(void)
{
    struct locker l;
    pdk_client *other;
    begin();
    const char *busy = fixture_path();
    pdk_mutex *n = fixture_mutex(c, busy);
    fixture_make(busy, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(busy, "a-lock-0000000000", "");
    CHECK_RC(pdk_mutex_lock(m), 0);
    locker_start(&l, n);
    CHECK_WITHIN(LONG_MS, fixture_children(busy) == 2);
    fixture_expire(zh);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, PDK_EEXPIRED);
    locker_finish(&l);
    CHECK_WITHIN(LONG_MS, told("connected connecting expired "));
    CHECK_EQ(pdk_lock_state(m), PDK_LOST);
    CHECK_RC(pdk_mutex_lock(m), PDK_EEXPIRED);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EEXPIRED);
    CHECK_RC(pdk_client_wait(c, PDK_FOREVER), PDK_EEXPIRED);
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_OVER);
    CHECK_RC(pdk_lock_free(n), 0);
    fixture_end(c, m);
    CHECK_RC(pdk_client_adopt(&other, zh, NULL), PDK_EEXPIRED);
    zookeeper_close(zh);
    fixture_delete_all(busy);
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
    close_handle();
}

/* The application and a client of its own exclude each other, also through a chroot. */
static void in_a_chroot(void)
{
    char hosts[128], whole[64];
    path = fixture_path();
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    snprintf(hosts, sizeof hosts, "%s%s", fixture.hosts, path);
    snprintf(whole, sizeof whole, "%s/lock", path);
    open_handle(hosts, 10000);
    CHECK_RC(pdk_client_adopt(&c, zh, NULL), 0);
    m = fixture_mutex(c, "/lock");
    pdk_client *d = fixture_client(NULL);
    pdk_mutex *n = fixture_mutex(d, whole);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_trylock(n), PDK_EBUSY);
    struct locker l;
    locker_start(&l, n);
    CHECK_WITHIN(LONG_MS, fixture_children(whole) == 2);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EBUSY);
    locker_finish(&l);
    fixture_end(d, n);
    fixture_end(c, m);
    close_handle();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the application hears every event while its handle is adopted, and afterwards", hears_all},
        {"it hears also what was on its way when the client was closed", hears_the_last},
        {"it hears of the session's end, too, when that was on its way", hears_the_end},
        {"a holder who asks hears of a lost connection, although the handle's thread is kept", believes_no_thread},
        {"on the handle's own thread whatever waits is refused", refuses_its_thread},
        {"it is refused there before anything of the client's has run on it", refuses_it_at_once},
        {"a close deletes the nodes and leaves the handle open", leaves_no_nodes},
        {"the handle may be closed right behind the client", closed_right_behind},
        {"while a close deletes, nobody waits and nobody believes", nobody_stays},
        {"a close asks again for a delete that could not be asked", deletes_later},
        {"a close that nobody confirms says so", unconfirmed},
        {"a write under way is answered when the client is closed", answers_at_its_close},
        {"a write under way is answered when the client is over", answers_when_over},
        {"over before its session, it does not call its nodes deleted", over_before_its_session},
        {"a handle is adopted by one client at a time", one_at_a_time},
        {"a handle can be adopted before it is connected", before_connected},
        {"a session that the servers would not resume is refused", others_servers},
        {"when its session expires locks are lost, and the client is over", expires},
        {"a handle with a chroot can be adopted", in_a_chroot},
        {0},
    };
    return fixture_main(argc, argv, "adopt", tests, ON_ONE);
}
