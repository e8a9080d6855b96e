/* The message of a failed call beyond its code, and the messages that a success clears. */
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pdk_client *c, *d;
static pdk_mutex *m, *n;
static const char *lock;

static void setup(void)
{
    fixture_open(NULL);
    CHECK_RC(pdk_log_zookeeper(PDK_LOG_INFO), 0); /* its default: the harness wants to hear nothing */
}

static pdk_client *client_with(pdk_client_options *options)
{
    pdk_client *made;
    CHECK_RC(pdk_client_new(&made, fixture.hosts, options), 0);
    pdk_client_options_free(options);
    return made;
}

static pdk_client *labelled(void)
{
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_set_label(o, "nightly"), 0);
    return fixture_client(o);
}

/* Two clients, with a mutex on one path each. */
static void begin(void)
{
    pdk__proxy_clear(fixture.proxy);
    lock = fixture_path();
    c = labelled();
    d = fixture_client(NULL);
    m = fixture_mutex(c, lock);
    n = fixture_mutex(d, lock);
}

static void finish(void)
{
    fixture_end(d, n);
    fixture_end(c, m);
}

static void check_text(const char *text, const char *first, const char *part)
{
    if (strncmp(text, first, strlen(first)) != 0 || strstr(text, part) == NULL)
        pdk__test_fail(__FILE__, __LINE__, "\"%s\" is not \"%s…%s…\"", text, first, part);
}

static void check_mutex(pdk_mutex *mutex, const char *verb, const char *part)
{
    char text[600], first[100];
    snprintf(first, sizeof first, "%s %s: ", verb, pdk_lock_path(mutex, 0));
    size_t length = pdk_lock_last_error(mutex, text, sizeof text);
    CHECK_EQ(length, strlen(text));
    check_text(text, first, part);
}

static void check_none(pdk_mutex *mutex)
{
    char text[600];
    CHECK_EQ(pdk_lock_last_error(mutex, text, sizeof text), 0);
    CHECK_STR(text, "");
}

static bool knows(pdk_client *client, const char *part)
{
    char text[600];
    CHECK_RC(pdk_client_wait(client, 1), PDK_ETIMEDOUT);
    pdk_client_last_error(client, text, sizeof text);
    return strstr(text, part) != NULL;
}

/* --- without a server -------------------------------------------------------------------------------------------- */

static void never_reached(void)
{
    int fd;
    char hosts[40], refusal[100];
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", fixture_refusing_port(&fd));
    snprintf(refusal, sizeof refusal, "no server reached (last: connection refused by %s)", hosts);
    CHECK_RC(pdk_client_new(&c, hosts, NULL), 0);
    CHECK_WITHIN(LONG_MS, knows(c, refusal));
    m = fixture_mutex(c, fixture_path());
    CHECK_RC(pdk_mutex_timedlock(m, 20), PDK_ETIMEDOUT);
    check_mutex(m, "lock", "timed out after ");
    check_mutex(m, "lock", refusal);
    CHECK_RC(pdk_mutex_timedlock(m, 0), PDK_EDISCONNECTED);
    check_mutex(m, "trylock", refusal);
    fixture_end(c, m);
    close(fd);
}

/* The listener closes what comes; so does a server that speaks TLS, or is not serving yet. */
static bool knows_when_closed(pdk_client *client, int listener, const char *part)
{
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    char bytes[256];
    if (fd >= 0) {
        CHECK(read(fd, bytes, sizeof bytes) >= 0); /* unread bytes would make the close a reset */
        close(fd);
    }
    return knows(client, part);
}

static void closed_unanswered(void)
{
    char hosts[40], closing[100];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK_EQ(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(listen(listener, 16), 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", ntohs(address.sin_port));
    snprintf(closing, sizeof closing, "no server reached (last: connection closed by %s)", hosts);
    CHECK_RC(pdk_client_new(&c, hosts, NULL), 0);
    CHECK_WITHIN(LONG_MS, knows_when_closed(c, listener, closing));
    CHECK_RC(pdk_client_free(c), 0);
    close(listener);
}

static void reached_before(void)
{
    begin();
    pdk__proxy_refuse(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) != PDK_SESSION_CONNECTED);
    CHECK_RC(pdk_mutex_timedlock(m, 20), PDK_ETIMEDOUT);
    check_mutex(m, "lock", "no server reached for ");
    pdk__proxy_refuse(fixture.proxy, false);
    CHECK_RC(pdk_mutex_lock(m), 0);
    check_none(m);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_client_wait(c, LONG_MS), 0);
    CHECK_EQ(pdk_client_last_error(c, (char[1]){0}, 1), 0);
    finish();
}

/* --- refused by the servers -------------------------------------------------------------------------------------- */

/* The first request OP for the path is answered with CODE. */
static void refuse(int op, int code)
{
    struct pdk__proxy_rule rule = {.op = op, .path = pdk_lock_path(m, 0), .act = PDK__ANSWER, .error = code};
    pdk__proxy_clear(fixture.proxy);
    pdk__proxy_rule(fixture.proxy, &rule);
}

static void refused(void)
{
    char text[600];
    pdk_barrier *b;
    pdk_contender_list *list;
    begin();
    refuse(PDK__OP_CREATE_CONTAINER, ZBADARGUMENTS);
    CHECK_RC(pdk_mutex_lock(m), PDK_EREFUSED);
    check_mutex(m, "lock",
                "the servers refuse the request: create of the lock path, of container nodes: bad arguments");
    refuse(PDK__OP_CREATE_CONTAINER, ZUNIMPLEMENTED);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EREFUSED);
    check_mutex(m, "trylock", "of container nodes: they do not have this kind of request (-6)");
    pdk__proxy_clear(fixture.proxy);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    refuse(PDK__OP_CREATE2, -125);
    CHECK_RC(pdk_mutex_lock(m), PDK_EREFUSED);
    check_mutex(m, "lock", "the servers refuse the request: create of its node: a quota is exceeded (-125)");
    CHECK_RC(pdk_mutex_lock(m), 0);
    refuse(PDK__OP_LIST2, -125);
    CHECK_RC(pdk_contenders(c, pdk_lock_path(m, 0), PDK_CONTENDERS_ALL, LONG_MS, &list), PDK_EREFUSED);
    pdk_client_last_error(c, text, sizeof text);
    check_text(text, "list ", "the servers refuse the request: a quota is exceeded (-125)");
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_barrier_new(&b, c, pdk_lock_path(m, 0)), 0);
    refuse(0, -125);
    CHECK_RC(pdk_barrier_set(b, LONG_MS), PDK_EREFUSED);
    pdk_barrier_last_error(b, text, sizeof text);
    check_text(text, "set ", "the servers refuse the request: a quota is exceeded (-125)");
    CHECK_RC(pdk_barrier_free(b), 0);
    pdk__proxy_clear(fixture.proxy);
    finish();
}

static void not_made(void)
{
    char text[600];
    CHECK_RC(pdk_client_new(&c, "127.0.0.1:nonsense", NULL), PDK_EINVAL);
    pdk_client_last_error(NULL, text, sizeof text);
    check_text(text, "connect to 127.0.0.1:nonsense: ", pdk_strerror(PDK_EINVAL));
    CHECK_RC(pdk_client_new(&c, "no-such-host..invalid:2181", NULL), PDK_EHOST);
    pdk_client_last_error(NULL, text, sizeof text);
    check_text(text, "connect to no-such-host..invalid:2181: ", pdk_strerror(PDK_EHOST));
    check_text(text, "connect to ", "unknown host 'no-such-host..invalid'");
    c = client_with(NULL);
    CHECK_EQ(pdk_client_last_error(NULL, text, sizeof text), 0);
    CHECK_RC(pdk_client_free(c), 0);
}

/* --- with one ---------------------------------------------------------------------------------------------------- */

static void held_by_another(void)
{
    char who[300], host[200];
    begin();
    gethostname(host, sizeof host);
    snprintf(who, sizeof who, "held by %s pid %d (nightly), 1 ahead", host, (int)getpid());
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_timedlock(n, KNOWN_MS), PDK_ETIMEDOUT);
    check_mutex(n, "lock", "timed out after ");
    check_mutex(n, "lock", who);
    CHECK_RC(pdk_mutex_trylock(n), PDK_EBUSY);
    check_mutex(n, "trylock", fixture_find(lock, "-lock-"));
    CHECK_RC(pdk_mutex_unlock(n), PDK_EPERM);
    check_mutex(n, "unlock", pdk_strerror(PDK_EPERM));
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_mutex_lock(n), 0);
    check_none(n);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    finish();
}

/* Not of Curator, whose contenders go by our rules. */
static void behind_another_library(void)
{
    char text[600];
    begin();
    fixture_make(lock, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(lock, "0123456789abcdef0123456789abcdef__lock__0000000000", "");
    CHECK_RC(pdk_mutex_timedlock(m, KNOWN_MS), PDK_ETIMEDOUT);
    check_mutex(m, "lock", "1 ahead, behind a contender of kazoo, which does not wait for ours");
    fixture_make_below(lock, "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lock-0000000001", "10.0.0.7");
    CHECK_RC(pdk_mutex_timedlock(m, KNOWN_MS), PDK_ETIMEDOUT);
    check_mutex(m, "lock", "2 ahead");
    pdk_lock_last_error(m, text, sizeof text);
    CHECK(strstr(text, "behind") == NULL);
    finish();
}

static void note_rc(int rc, void *arg) { *(_Atomic int *)arg = rc; }

static void asynchronous(void)
{
    _Atomic int rc = 1;
    pdk_grant *g;
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_lock_async(n, KNOWN_MS, note_rc, (void *)&rc, &g), 0);
    CHECK_WITHIN(LONG_MS, rc != 1);
    CHECK_RC(rc, PDK_ETIMEDOUT);
    check_mutex(n, "lock", "1 ahead");
    CHECK_RC(pdk_grant_release(g), PDK_EPERM);
    check_mutex(n, "unlock", ": nothing was granted");
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_mutex_lock(n), 0);
    check_none(n);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    finish();
}

/* One code, and a reason for each thing that is not held. */
static void not_held(void)
{
    struct locker l;
    atomic_int rc;
    pdk_grant *g;
    begin();
    CHECK_RC(pdk_mutex_unlock(m), PDK_EPERM);
    check_mutex(m, "unlock", ": not held by the caller: nothing is locked by it");
    locker_start(&l, m);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(pdk_mutex_unlock(m), PDK_EPERM);
    check_mutex(m, "unlock", ": another thread has locked it");
    locker_finish(&l);
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, note_rc, (void *)&rc, &g), 0);
    CHECK_WITHIN(LONG_MS, pdk_grant_state(g) == PDK_HELD);
    CHECK_RC(pdk_mutex_unlock_async(m, NULL, NULL), PDK_EPERM);
    check_mutex(m, "unlock", ": its grant has a handle");
    CHECK_RC(pdk_grant_release(g), 0);
    finish();
}

/* --- threads ----------------------------------------------------------------------------------------------------- */

struct other {
    pthread_t thread;
    atomic_bool failed, go_on;
    char text[600];
};

static void *fail(void *arg)
{
    struct other *o = arg;
    pdk_mutex_trylock(m);
    o->failed = true;
    while (!o->go_on)
        pdk__test_nap();
    pdk_lock_last_error(m, o->text, sizeof o->text);
    return NULL;
}

static void per_thread(void)
{
    struct other o = {0};
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(pthread_create(&o.thread, NULL, fail, &o), 0);
    CHECK_WITHIN(LONG_MS, o.failed);
    check_none(m);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    o.go_on = true;
    CHECK_EQ(pthread_join(o.thread, NULL), 0);
    check_text(o.text, "trylock ", pdk_strerror(PDK_EBUSY));
    check_none(m);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    finish();
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

static void check_lost(const char *part)
{
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    check_mutex(m, "hold", part);
    CHECK_RC(pdk_mutex_lock(m), PDK_ELOST);
    check_mutex(m, "lock", part);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    check_mutex(m, "unlock", part);
    CHECK_WITHIN(LONG_MS, pdk_client_wait(c, LONG_MS) == 0);
}

static void node_deleted(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    fixture_delete_below(lock, fixture_find(lock, "-lock-"));
    check_lost("its node is deleted");
    CHECK_RC(pdk_mutex_lock(m), 0);
    check_none(m);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    finish();
}

static void session_expired(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    fixture_expire(pdk__client_zh(c));
    check_lost("the session expired: the servers ended the session");
    finish();
}

/* Every answer comes, and none is what the session is renewed by. */
static void path_without_delete(void)
{
    const int perms = ZOO_PERM_READ | ZOO_PERM_CREATE | ZOO_PERM_WRITE;
    struct ACL acl = {.perms = perms, .id = ZOO_ANYONE_ID_UNSAFE};
    begin();
    fixture_make(lock, "", ZOO_PERSISTENT, &(struct ACL_vector){1, &acl});
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    check_mutex(m, "hold", "the path does not permit DELETE");
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_client_close(c), 0);
    /* The session of the next one is as old as belief can be, and cannot be proven again either. */
    CHECK_RC(pdk_mutex_timedlock(n, KNOWN_MS), PDK_ETIMEDOUT);
    check_mutex(n, "lock", "the path does not permit DELETE");
    finish();
}

static void too_short(void)
{
    char text[600];
    pdk_client_options *o = fixture_options(10000);
    pdk__proxy_clear(fixture.proxy);
    CHECK_RC(pdk_client_options_set_clock(o, 2000, 9000), 0);
    c = client_with(o);
    CHECK_RC(pdk_client_wait(c, LONG_MS), PDK_ESHORT);
    const char *numbers =
        "the servers granted 10000 ms, which must be more than 1110 ms for half a tick of 2000 ms, 9000 ms of "
        "drift margin and 1000 ms of least validity";
    pdk_client_last_error(c, text, sizeof text);
    check_text(text, "wait for the session: ", numbers);
    CHECK(strstr(strstr(text, "too short") + 1, "too short") == NULL);
    m = fixture_mutex(c, fixture_path());
    CHECK_RC(pdk_mutex_lock(m), PDK_ESHORT);
    check_mutex(m, "lock", numbers);
    fixture_end(c, m);
}

static const char resumes_none[] = "it came without a password, as from ClickHouse Keeper";

static void others_servers(void)
{
    char text[600];
    pdk__proxy_clear(fixture.proxy);
    pdk__proxy_strip_password(fixture.proxy, true);
    c = client_with(fixture_options(10000));
    CHECK_RC(pdk_client_wait(c, LONG_MS), PDK_ESERVER);
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_OVER);
    pdk_client_last_error(c, text, sizeof text);
    check_text(text, "wait for the session: ", resumes_none);
    m = fixture_mutex(c, fixture_path());
    CHECK_RC(pdk_mutex_lock(m), PDK_ESERVER);
    check_mutex(m, "lock", resumes_none);
    pdk__proxy_strip_password(fixture.proxy, false);
    fixture_end(c, m);
}

/* The ensemble was replaced by one of the other kind. */
static void others_servers_later(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_strip_password(fixture.proxy, true);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_OVER);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_RC(pdk_mutex_lock(m), PDK_ESERVER);
    pdk__proxy_strip_password(fixture.proxy, false);
    fixture_end(d, n);
    fixture_end(c, m);
}

/* --- a leader ---------------------------------------------------------------------------------------------------- */

static void leader(void)
{
    pdk_leader *first, *second;
    char text[600];
    int64_t ahead;
    begin();
    CHECK_RC(pdk_leader_new(&first, c, lock, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_leader_new(&second, d, lock, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_leader_start(first), 0);
    CHECK_RC(pdk_leader_wait(first, LONG_MS), 0);
    CHECK_RC(pdk_leader_start(second), 0);
    CHECK_RC(pdk_leader_wait(second, KNOWN_MS), PDK_ETIMEDOUT);
    pdk_lock_last_error(second, text, sizeof text);
    check_text(text, "wait ", "1 ahead");
    CHECK_RC(pdk_lock_ahead(second, &ahead), 0);
    CHECK_EQ(ahead, 1);
    CHECK_RC(pdk_lock_ahead(first, &ahead), PDK_EPERM);
    fixture_delete_below(lock, fixture_find(lock, "-latch-0000000000"));
    CHECK_WITHIN(LONG_MS, pdk_lock_last_error(first, text, sizeof text) > 0);
    check_text(text, "lead ", "its node is deleted");
    CHECK_RC(pdk_leader_wait(second, LONG_MS), 0);
    CHECK_EQ(pdk_lock_last_error(second, text, sizeof text), 0);
    CHECK_RC(pdk_lock_free(first), 0);
    CHECK_RC(pdk_lock_free(second), 0);
    finish();
}

/* --- what an object says of itself ------------------------------------------------------------------------------- */

static void belongings(void)
{
    pdk_leader *l;
    begin();
    CHECK_RC(pdk_leader_new(&l, c, "/of/a/leader", PDK_LATCH, NULL), 0);
    CHECK_STR(pdk_lock_path(m, 0), lock);
    CHECK_STR(pdk_lock_path(l, 0), "/of/a/leader");
    CHECK(pdk_lock_path(NULL, 0) == NULL && pdk_lock_path(NULL, 0) == NULL);
    CHECK_RC(pdk_lock_free(l), 0);
    finish();
}

static void place_in_queue(void)
{
    struct locker l;
    int64_t ahead = 99;
    _Atomic int rc;
    pdk_grant *g;
    begin();
    CHECK_RC(pdk_lock_ahead(n, &ahead), PDK_EPERM);
    fixture_make(lock, "", ZOO_PERSISTENT, NULL);
    fixture_make_below(lock, "x-lock-0000000000", "");
    fixture_make_below(lock, "junk", "");
    CHECK_RC(pdk_mutex_lock_async(m, PDK_FOREVER, note_rc, (void *)&rc, &g), 0);
    CHECK_WITHIN(LONG_MS, pdk_lock_ahead(m, &ahead) == 0 && ahead == 1);
    locker_start(&l, n);
    CHECK_WITHIN(LONG_MS, pdk_lock_ahead(n, &ahead) == 0 && ahead == 2);
    fixture_delete_below(lock, "x-lock-0000000000");
    CHECK_WITHIN(LONG_MS, pdk_grant_state(g) == PDK_HELD);
    CHECK_RC(pdk_lock_ahead(m, &ahead), PDK_EPERM);
    CHECK_RC(pdk_grant_release(g), 0);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    CHECK_RC(pdk_lock_ahead(n, &ahead), PDK_EPERM);
    locker_finish(&l);
    finish();
}

/* The new node is to come after every contender that is in the queue by then. */
static void no_place_without_a_node(void)
{
    struct locker l;
    int64_t ahead = 99;
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    locker_start(&l, n);
    CHECK_WITHIN(LONG_MS, pdk_lock_ahead(n, &ahead) == 0 && ahead == 1);
    int rule = pdk__proxy_rule(
        fixture.proxy, &(struct pdk__proxy_rule){.op = PDK__OP_CREATE2, .path = lock, .act = PDK__HOLD_REQUEST});
    fixture_delete_below(lock, fixture_find(lock, "-lock-0000000001"));
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, rule) == 1);
    CHECK_RC(pdk_lock_ahead(n, &ahead), 0);
    CHECK_EQ(ahead, -1);
    fixture_make_below(lock, "x-lock-0000000002", "");
    pdk__proxy_release(fixture.proxy, rule);
    CHECK_WITHIN(LONG_MS, pdk_lock_ahead(n, &ahead) == 0 && ahead != -1);
    CHECK_EQ(ahead, 2);
    fixture_delete_below(lock, "x-lock-0000000002");
    CHECK_RC(pdk_mutex_unlock(m), 0);
    locker_finish(&l);
    finish();
}

static void check_upgrade(int rc, const char *verb, pdk_rwlock *l)
{
    char text[600];
    CHECK_RC(rc, PDK_EDEADLK);
    pdk_lock_last_error(l, text, sizeof text);
    check_text(text, verb, ": the calling thread holds it for reading");
    CHECK(strstr(text, "callback") == NULL);
}

static void reader_that_asks_to_write(void)
{
    char text[600];
    pdk_rwlock *l;
    begin();
    CHECK_RC(pdk_rwlock_new(&l, c, fixture_path(), NULL), 0);
    CHECK_RC(pdk_rwlock_rdlock(l), 0);
    check_upgrade(pdk_rwlock_wrlock(l), "lock /", l);
    check_upgrade(pdk_rwlock_timedwrlock(l, 1), "lock /", l);
    check_upgrade(pdk_rwlock_trywrlock(l), "trylock /", l);
    CHECK_RC(pdk_rwlock_downgrade(l), PDK_EPERM);
    pdk_lock_last_error(l, text, sizeof text);
    check_text(text, "unlock /", ": it is locked in the other mode");
    CHECK_RC(pdk_rwlock_unlock(l), 0);
    CHECK_RC(pdk_lock_free(l), 0);
    finish();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a call that times out tells that no server was ever reached, and why", never_reached},
        {"a server that closes connections unanswered is told as that", closed_unanswered},
        {"or since when", reached_before},
        {"a refusal names the request, and the servers' reason", refused},
        {"a client that is not made leaves its incident with the thread", not_made},
        {"a call that times out tells the holder and the place; success clears it", held_by_another},
        {"a call that times out names the library of the contender directly ahead", behind_another_library},
        {"an asynchronous lock that failed leaves its incident until the next grant", asynchronous},
        {"what is not held is told with the reason", not_held},
        {"threads that share a mutex do not read each other's incidents", per_thread},
        {"a lock whose node is deleted was lost for that", node_deleted},
        {"a lock whose session expired was lost for that", session_expired},
        {"a lock in a path without DELETE was lost for that", path_without_delete},
        {"PDK_ESHORT comes with its numbers", too_short},
        {"servers that resume no session are refused", others_servers},
        {"so are they where servers were that did, and the lock is lost", others_servers_later},
        {"a leader tells its place, and why a term ended", leader},
        {"a thread that reads and asks to write is told that it reads", reader_that_asks_to_write},
        {"every object knows its path", belongings},
        {"a waiter knows how many are ahead", place_in_queue},
        {"a waiter whose node is deleted has no place until its new node is listed", no_place_without_a_node},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "incident", .tests = tests, .setup = setup, .teardown = fixture_close});
}
