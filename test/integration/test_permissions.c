/* Access control: what a lock's path must allow, what its nodes allow others, and credentials. */
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>

/* base64(sha1("tim:secret")), as the servers compute it. */
#define TIM "tim:t1NecsYBDeG/ZPIVvD/S9Tx4rjQ="

/* Servers from 3.8.4 on let exists pass only with READ. Tim may do everything, so the test's own handle is his. */
static void setup(void)
{
    fixture_open(NULL);
    CHECK_EQ(zoo_add_auth(fixture.zh, "digest", "tim:secret", 10, NULL, NULL), ZOK);
}

/* A handle with a password as its credentials, or with none. */
static zhandle_t *stranger(const char *cred)
{
    zhandle_t *zh = pdk__zk_open(fixture.direct, 60000);
    if (cred != NULL)
        CHECK_EQ(zoo_add_auth(zh, "digest", cred, (int)strlen(cred), NULL, NULL), ZOK);
    return zh;
}

/* PATH lets every client do PERMS, and Tim everything. */
static void make_path(const char *path, int perms)
{
    struct ACL acl[] = {{perms, {"world", "anyone"}}, {ZOO_PERM_ALL, {"digest", TIM}}};
    fixture_make(path, "", ZOO_PERSISTENT, &(struct ACL_vector){2, acl});
}

struct outcome {
    atomic_bool told;
    _Atomic int rc;
};

static void tell(int rc, void *arg)
{
    struct outcome *o = arg;
    o->rc = rc;
    o->told = true;
}

/* All ways to lock PATH end with RC, with nothing left, and the client is none the worse for it. */
static void refused(pdk_client *c, const char *path, int rc)
{
    const char *other = fixture_path();
    pdk_mutex *m = fixture_mutex(c, path), *n = fixture_mutex(c, other);
    struct outcome o = {0};
    pdk_grant *g;
    CHECK_RC(pdk_mutex_lock(m), rc);
    CHECK_RC(pdk_mutex_trylock(m), rc);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), rc);
    CHECK_RC(pdk_mutex_lock_async(m, LONG_MS, tell, &o, &g), 0);
    CHECK_WITHIN(LONG_MS, o.told);
    CHECK_RC(o.rc, rc);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
    char text[128], wanted[128];
    snprintf(wanted, sizeof wanted, "lock %s: %s", path, pdk_strerror(rc));
    pdk_lock_last_error(m, text, sizeof text);
    CHECK(strncmp(text, wanted, strlen(wanted)) == 0 && strstr(text, " is missing") != NULL);
    CHECK_RC(pdk_grant_release(g), PDK_EPERM);
    CHECK_RC(pdk_mutex_lock(n), 0);
    CHECK_RC(pdk_mutex_unlock(n), 0);
    CHECK_RC(pdk_lock_free(n), 0);
    CHECK_RC(pdk_lock_free(m), 0);
}

static void no_create(void)
{
    const char *path = fixture_path();
    make_path(path, ZOO_PERM_READ | ZOO_PERM_DELETE);
    pdk_client *c = fixture_client(NULL);
    refused(c, path, PDK_EACCES);
    fixture_end(c, NULL);
}

static void no_read(void)
{
    const char *path = fixture_path();
    pdk_contender_list *list;
    make_path(path, ZOO_PERM_CREATE | ZOO_PERM_DELETE);
    pdk_client *c = fixture_client(NULL);
    refused(c, path, PDK_EACCES);
    CHECK_RC(pdk_contenders(c, path, PDK_CONTENDERS_ALL, LONG_MS, &list), PDK_EACCES);
    fixture_end(c, NULL);
}

static void no_ancestor(void)
{
    const char *path = fixture_path();
    char deep[64], deeper[64];
    snprintf(deep, sizeof deep, "%s/a", path);
    snprintf(deeper, sizeof deeper, "%s/a/b/c", path);
    make_path(path, ZOO_PERM_READ);
    pdk_client *c = fixture_client(NULL);
    refused(c, deep, PDK_EACCES);
    refused(c, deeper, PDK_EACCES);
    CHECK_EQ(fixture_children(path), 0);
    fixture_end(c, NULL);
}

/* A node that a session may not delete stays until the session ends. */
static void no_delete(void)
{
    const char *path = fixture_path();
    char text[128];
    make_path(path, ZOO_PERM_READ | ZOO_PERM_CREATE);
    pdk_client *c = fixture_client(NULL), *d = fixture_client(NULL);
    pdk_mutex *m = fixture_mutex(c, path), *n = fixture_mutex(d, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), PDK_EACCES);
    CHECK_EQ(pdk_lock_state(m), PDK_FREE);
    CHECK(pdk_lock_last_error(m, text, sizeof text) > 0 && strstr(text, "unlock ") == text);
    CHECK_EQ(fixture_children(path), 1);
    struct locker l;
    locker_start(&l, n);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK(!l.settled);
    fixture_end(c, m);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    locker_finish(&l);
    CHECK_RC(l.unlock_rc, PDK_EACCES);
    fixture_end(d, n);
    CHECK_EQ(fixture_children(path), 0);
}

/* A semaphore at BASE whose gate lets every client do PERMS, and whose leases let it do everything. */
static pdk_semaphore *gated(pdk_client *c, const char *base, int perms)
{
    char path[64];
    pdk_semaphore *s;
    make_path(base, ZOO_PERM_ALL);
    snprintf(path, sizeof path, "%s/leases", base);
    make_path(path, ZOO_PERM_ALL);
    snprintf(path, sizeof path, "%s/locks", base);
    make_path(path, perms);
    CHECK_RC(pdk_semaphore_new(&s, c, base, 2, NULL), 0);
    return s;
}

static void gate_left(pdk_client *c, pdk_semaphore *s, const char *base)
{
    char path[64], wanted[128], text[600];
    snprintf(wanted, sizeof wanted, "release %s/locks: ", base);
    pdk_lock_last_error(s, text, sizeof text);
    CHECK(strncmp(text, wanted, strlen(wanted)) == 0 && strstr(text, "does not permit DELETE") != NULL);
    snprintf(path, sizeof path, "%s/leases", base);
    CHECK_EQ(fixture_children(path), 0);
    snprintf(path, sizeof path, "%s/locks", base);
    CHECK_EQ(fixture_children(path), 1);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_lock_free(s), 0);
    CHECK_RC(pdk_client_free(c), 0);
    CHECK_EQ(fixture_children(path), 0);
}

static void gate_without_delete(void)
{
    const char *base = fixture_path();
    pdk_grant *held;
    pdk_client *c = fixture_client(NULL);
    pdk_semaphore *s = gated(c, base, ZOO_PERM_READ | ZOO_PERM_CREATE);
    CHECK_RC(pdk_semaphore_tryacquire(s, 2, &held), 0); /* it needs no gate */
    CHECK_RC(pdk_grant_release(held), 0);
    CHECK_RC(pdk_semaphore_acquire(s, 2, &held), 0);
    CHECK_RC(pdk_grant_release(held), PDK_EACCES);
    gate_left(c, s, base);
}

/* The servers' refusal comes after the release is requested, or before. */
static void gate_without_delete_is_told_later(bool late)
{
    const char *base = fixture_path();
    struct outcome o = {0};
    pdk_contender_list *list;
    pdk_grant *held;
    pdk_client *c = fixture_client(NULL);
    pdk_semaphore *s = gated(c, base, ZOO_PERM_READ | ZOO_PERM_CREATE);
    struct pdk__proxy_rule rule = {.op = PDK__OP_DELETE, .path = "/locks/", .act = late ? PDK__HOLD_REPLY : PDK__COUNT};
    int number = pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(pdk_semaphore_acquire(s, 2, &held), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, number) == 1);
    if (!late) {
        CHECK_RC(pdk_contenders(c, base, PDK_CONTENDERS_ALL, LONG_MS, &list),
                 0); /* its answer comes after the refusal */
        pdk_contender_list_free(list);
    }
    CHECK_RC(pdk_grant_release_async(held, tell, &o), 0);
    pdk__proxy_release(fixture.proxy, number);
    CHECK_WITHIN(LONG_MS, o.told);
    CHECK_RC(o.rc, PDK_EACCES);
    pdk__proxy_clear(fixture.proxy);
    gate_left(c, s, base);
}

static void gate_without_delete_early(void) { gate_without_delete_is_told_later(false); }

static void gate_without_delete_late(void) { gate_without_delete_is_told_later(true); }

/* The permits are held by their leases. */
static void gate_deleted_by_another(void)
{
    const char *base = fixture_path();
    struct outcome o = {0};
    char path[64];
    pdk_grant *held;
    pdk_client *c = fixture_client(NULL);
    pdk_semaphore *s = gated(c, base, ZOO_PERM_ALL);
    struct pdk__proxy_rule rule = {.op = PDK__OP_DELETE, .path = "/locks/", .act = PDK__HOLD_REQUEST};
    int number = pdk__proxy_rule(fixture.proxy, &rule);
    CHECK_RC(pdk_semaphore_acquire(s, 2, &held), 0);
    CHECK_WITHIN(LONG_MS, pdk__proxy_hits(fixture.proxy, number) == 1);
    snprintf(path, sizeof path, "%s/locks", base);
    fixture_delete_below(path, fixture_find(path, "lock"));
    CHECK_RC(pdk_grant_release_async(held, tell, &o), 0);
    pdk__proxy_release(fixture.proxy, number);
    CHECK_WITHIN(LONG_MS, o.told);
    CHECK_RC(o.rc, 0);
    pdk__proxy_clear(fixture.proxy);
    CHECK_RC(pdk_lock_free(s), 0);
    fixture_end(c, NULL);
}

/* The lines of the log that tell what PATH lacks, and the reports to the state callback. */
static const char *lacking;
static atomic_int n_renewals, n_leftovers, n_suspect, n_lost;
static atomic_bool refused_while_held; /* the renewal */

static void count_lines(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    (void)c, (void)at_ms, (void)arg;
    bool about = level == PDK_LOG_WARNING && strstr(text, lacking) != NULL && strstr(text, "not permit DELETE") != NULL;
    bool renewal = about && strncmp(text, "session: cannot be renewed: ", 28) == 0;
    refused_while_held = refused_while_held || (renewal && n_suspect == 0);
    n_renewals += renewal;
    n_leftovers += about && strstr(text, "so the node stays until the session ends") != NULL;
}

static void count_states(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m, (void)arg;
    n_suspect += event->state == PDK_SUSPECT;
    n_lost += event->state == PDK_LOST;
}

static pdk_client *counting_client(const char *path)
{
    pdk_client_options *o = fixture_options(9000);
    lacking = path;
    n_renewals = n_leftovers = n_suspect = n_lost = 0;
    refused_while_held = false;
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_WARNING, count_lines, NULL), 0);
    return fixture_client(o);
}

static bool incident(pdk_mutex *m, const char *begin, const char *part)
{
    char text[600];
    pdk_lock_last_error(m, text, sizeof text);
    pdk__test_saw_text("the incident", text);
    return strncmp(text, begin, strlen(begin)) == 0 && strstr(text, part) != NULL;
}

/* Told when the servers refuse the first renewal: most of the time is left then. Where that was before the grant, the
 * second one tells it of the hold. */
static void loss_without_delete(void)
{
    const char *path = fixture_path();
    make_path(path, ZOO_PERM_READ | ZOO_PERM_CREATE);
    pdk_client *c = counting_client(path);
    pdk_mutex *m = fixture_mutex(c, path);
    CHECK_RC(pdk_lock_on_event(m, count_states, NULL), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_WITHIN(LONG_MS, n_renewals == 1);
    CHECK(refused_while_held);
    CHECK_WITHIN(LONG_MS, incident(m, "hold ", "the session cannot be renewed: "));
    CHECK(incident(m, "hold ", "does not permit DELETE") && incident(m, "hold ", path));
    CHECK_WITHIN(LONG_MS, n_lost == 1);
    CHECK_EQ(n_suspect, 1);
    CHECK(incident(m, "hold ", "could not be renewed: the path does not permit DELETE"));
    CHECK_WITHIN(LONG_MS, n_leftovers == 1); /* of its node */
    CHECK_EQ(n_renewals, 1);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    fixture_end(c, m);
}

static void waiter_without_delete(void)
{
    const char *path = fixture_path();
    struct outcome o = {0};
    pdk_grant *g;
    make_path(path, ZOO_PERM_READ | ZOO_PERM_CREATE);
    fixture_make_below(path, "somebody-lock-0000000000", "");
    pdk_client *c = counting_client(path);
    pdk_mutex *m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock_async(m, KNOWN_MS, tell, &o, &g), 0);
    CHECK_WITHIN(LONG_MS, o.told);
    CHECK_RC(o.rc, PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, n_leftovers == 1);
    CHECK(incident(m, "lock ", "timed out") && incident(m, "lock ", "; the path does not permit DELETE, so the node"));
    CHECK_EQ(fixture_children(path), 2);
    fixture_delete_below(path, "somebody-lock-0000000000");
    fixture_end(c, m);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 0);
}

/* --- digest ------------------------------------------------------------------------------------------------------ */

static pdk_client *tims_client(const char *cred)
{
    pdk_client_options *o = fixture_options(10000);
    CHECK_RC(pdk_client_options_add_auth(o, "digest", cred), 0);
    CHECK_RC(pdk_client_options_add_acl(o, "digest", TIM, PDK_PERM_ALL), 0);
    return fixture_client(o);
}

static void carries_acl(void)
{
    const char *path = fixture_path();
    char node[256], whole[300];
    struct ACL_vector acl;
    struct Stat stat;
    pdk_client *c = tims_client("tim:secret"), *d = tims_client("tim:secret");
    pdk_mutex *m = fixture_mutex(c, path), *n = fixture_mutex(d, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk_lock_node(m, 0, node, sizeof node);
    snprintf(whole, sizeof whole, "%s/%s", path, node);
    zhandle_t *tim = stranger("tim:secret");
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(zoo_get_acl(tim, i == 0 ? whole : path, &acl, &stat), ZOK);
        CHECK_EQ(acl.count, 1);
        CHECK_STR(acl.data[0].id.scheme, "digest");
        CHECK_STR(acl.data[0].id.id, TIM);
        CHECK_EQ(acl.data[0].perms, ZOO_PERM_ALL);
        deallocate_ACL_vector(&acl);
    }
    zookeeper_close(tim);
    struct locker l; /* a peer with the same credentials can wait for it */
    locker_start(&l, n);
    CHECK_WITHIN(LONG_MS, fixture_children(path) == 2);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_WITHIN(LONG_MS, l.settled);
    CHECK_RC(l.rc, 0);
    locker_finish(&l);
    fixture_end(d, n);
    fixture_end(c, m);
}

/* A stranger can neither write the record of a job, nor delete it, nor be the first to make one; nor read it. */
static void keeps_the_record(void)
{
    char path[100], record[120], other[120];
    const char *parent = fixture_path();
    pdk_client *c = tims_client("tim:secret"), *nobody = fixture_client(NULL);
    snprintf(path, sizeof path, "%s/job", parent);
    snprintf(record, sizeof record, "%s.last-run", path);
    snprintf(other, sizeof other, "%s/other.last-run", parent);
    pdk_mutex *m = fixture_mutex(c, path);
    pdk_once *o;
    pdk_runs *runs;
    CHECK_RC(pdk_once_new(&o, m, "k", 0), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_once_begin(o, NULL, LONG_MS), 0);
    zhandle_t *zh = stranger(NULL);
    CHECK_EQ(zoo_set(zh, record, "", 0, -1), ZNOAUTH);
    CHECK_EQ(zoo_delete(zh, record, -1), ZNOAUTH);
    CHECK_EQ(zoo_create(zh, other, "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZNOAUTH);
    zookeeper_close(zh);
    CHECK_RC(pdk_runs_read(nobody, path, LONG_MS, &runs), PDK_EACCES);
    CHECK_RC(pdk_once_end(o, 0, LONG_MS), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_once_ask(o, LONG_MS), PDK_EDONE);
    CHECK_RC(pdk_once_free(o), 0);
    CHECK_RC(pdk_client_free(nobody), 0);
    fixture_end(c, m);
}

static void keeps_strangers_out(void)
{
    const char *path = fixture_path();
    int length = 0;
    pdk_client *c = tims_client("tim:secret"), *nobody = fixture_client(NULL), *wrong = tims_client("tim:wrong");
    pdk_mutex *m = fixture_mutex(c, path), *n = fixture_mutex(nobody, path), *w = fixture_mutex(wrong, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_lock(n), PDK_EACCES);
    CHECK_RC(pdk_mutex_trylock(n), PDK_EACCES);
    CHECK_RC(pdk_mutex_lock(w), PDK_EACCES);
    zhandle_t *zh = stranger(NULL);
    CHECK_EQ(zoo_get(zh, path, 0, NULL, &length, NULL), ZNOAUTH);
    zookeeper_close(zh);
    CHECK_EQ(fixture_children(path), 1);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(wrong, w);
    fixture_end(nobody, n);
    fixture_end(c, m);
}

/* Credentials go with every connection, not only with the first. */
static void authenticates_again(void)
{
    const char *path = fixture_path();
    pdk_client *c = tims_client("tim:secret");
    pdk_mutex *m = fixture_mutex(c, path);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__proxy_cut(fixture.proxy);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    fixture_end(c, m);
}

static void unknown_scheme(void)
{
    pdk_client_options *o = fixture_options(10000);
    pdk_client *c;
    CHECK_RC(pdk_client_options_add_auth(o, "palmistry", "a:b"), 0);
    CHECK_RC(pdk_client_new(&c, fixture.hosts, o), 0);
    pdk_client_options_free(o);
    pdk_mutex *m = fixture_mutex(c, fixture_path());
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), PDK_EAUTH);
    CHECK_RC(pdk_client_wait(c, LONG_MS), PDK_EAUTH);
    CHECK_EQ(pdk_client_state(c), PDK_SESSION_OVER);
    CHECK_RC(pdk_mutex_lock(m), PDK_EAUTH);
    fixture_end(c, m);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a path one may not create in is refused, and nothing is left", no_create},
        {"a path one may not read is refused, and nothing is left", no_read},
        {"a path that may not be made is refused, and nothing is left", no_ancestor},
        {"a node one may not delete: unlock says so, and the session takes it along", no_delete},
        {"a semaphore's gate one may not delete: the release says so", gate_without_delete},
        {"a gate one may not delete: the callback of a release says so", gate_without_delete_early},
        {"a gate one may not delete: the callback of an early release says so", gate_without_delete_late},
        {"a gate's node that another client deletes takes nothing from the permits", gate_deleted_by_another},
        {"a lock that cannot be renewed without DELETE: the first refusal says so, and so does the loss",
         loss_without_delete},
        {"a waiting node one may not delete: the refusal says so", waiter_without_delete},
        {"the nodes carry the client's ACL, and peers with its credentials can wait", carries_acl},
        {"the record of a job carries the client's ACL, and no stranger writes, deletes or makes it", keeps_the_record},
        {"strangers and wrong passwords are kept out, and disturb nobody", keeps_strangers_out},
        {"credentials are sent again on a new connection", authenticates_again},
        {"an unknown scheme ends the client", unknown_scheme},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "permissions", .tests = tests, .setup = setup, .teardown = fixture_close});
}
