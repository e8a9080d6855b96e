/* The multi-lock: all paths or none, one order everywhere, and what becomes of a grant. */
#include "lib/zk/client.h"
#include "test/integration/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PEERS = 3, N_PATHS = 3, MULTI = 14 };

static pdk_client *clients[N_PEERS];
static pdk_mutex *locks[N_PEERS]; /* of all paths, each in another order */
static char paths[N_PATHS][160];

static pdk_mutex *make(pdk_client *c, const char *const *of, unsigned n)
{
    pdk_mutex *m = NULL;
    CHECK_RC(pdk_mutex_new_several(&m, c, of, n, NULL), 0);
    return m;
}

static void begin(void)
{
    fixture_begin();
    for (int i = 0; i < N_PATHS; i++)
        snprintf(paths[i], sizeof paths[i], "%s-%d", fixture.path, i);
    for (int i = 0; i < N_PEERS; i++) {
        const char *of[N_PATHS];
        for (int k = 0; k < N_PATHS; k++)
            of[k] = paths[(k * (i == 1 ? 2 : 1) + i) % N_PATHS];
        clients[i] = fixture_client(fixture_options(30000));
        locks[i] = make(clients[i], of, N_PATHS);
    }
}

/* All paths have N nodes. */
static bool nodes_are(int n)
{
    for (int i = 0; i < N_PATHS; i++) {
        int there = fixture_children(paths[i]);
        if ((there > 0 ? there : 0) != n)
            return false;
    }
    return true;
}

static void end(void)
{
    CHECK_WITHIN(LONG_MS, nodes_are(0));
    for (int i = 0; i < N_PEERS; i++) {
        CHECK_RC(pdk_lock_free(locks[i]), 0);
        CHECK_RC(pdk_client_close(clients[i]), 0);
        CHECK_RC(pdk_client_free(clients[i]), 0);
    }
    for (int i = 0; i < N_PATHS; i++)
        fixture_delete_all(paths[i]);
}

static bool is(struct hold *w, int rc) { return hold_told(w) == rc; }

static void want(struct hold *w, pdk_mutex *m) { hold_ask(w, &kinds[MULTILOCK], m, PDK_FOREVER); }

/* --- all or nothing ---------------------------------------------------------------------------------------------- */

static void all_paths_are_held(void)
{
    char node[64];
    begin();
    CHECK_RC(pdk_mutex_lock(locks[0]), 0);
    for (unsigned i = 0; i < N_PATHS; i++) {
        pdk_mutex *one = fixture_mutex(clients[1], paths[i]);
        CHECK_RC(pdk_mutex_trylock(one), PDK_EBUSY);
        CHECK_RC(pdk_lock_free(one), 0);
        CHECK(pdk_lock_node(locks[0], i, node, sizeof node) > 0);
        CHECK_STR(fixture_find(pdk_lock_path(locks[0], i), "-lock-"), node);
    }
    CHECK_STR(pdk_lock_path(locks[1], 0), paths[1]);
    CHECK_RC(pdk_mutex_unlock(locks[0]), 0);
    end();
}

/* A mutex on one path is enough to keep all others waiting; they are queued everywhere. */
static void one_path_keeps_it_waiting(void)
{
    struct hold w;
    begin();
    pdk_mutex *one = fixture_mutex(clients[1], paths[1]);
    CHECK_RC(pdk_mutex_lock(one), 0);
    CHECK_RC(pdk_mutex_trylock(locks[0]), PDK_EBUSY);
    CHECK_RC(pdk_mutex_timedlock(locks[0], 200), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_children(paths[0]) <= 0 && fixture_children(paths[1]) == 1);
    want(&w, locks[0]);
    CHECK_WITHIN(LONG_MS, fixture_children(paths[0]) == 1 && fixture_children(paths[1]) == 2);
    CHECK(is(&w, 1));
    CHECK_EQ(pdk_lock_state(locks[0]), PDK_FREE);
    CHECK_RC(pdk_mutex_unlock(one), 0);
    CHECK_WITHIN(LONG_MS, is(&w, 0));
    CHECK_RC(pdk_grant_release(w.grant), 0);
    CHECK_RC(pdk_lock_free(one), 0);
    end();
}

static atomic_int inside;
static _Atomic bool overlapped;

static void *work(void *arg)
{
    pdk_mutex *m = arg;
    for (int i = 0; i < 15; i++) {
        if (pdk_mutex_lock(m) != 0)
            return NULL;
        if (atomic_fetch_add(&inside, 1) != 0)
            overlapped = true;
        atomic_fetch_sub(&inside, 1);
        if (pdk_mutex_unlock(m) != 0)
            return NULL;
    }
    return m;
}

/* Each names the paths in another order. */
static void they_do_not_wait_for_each_other(void)
{
    pthread_t threads[2 * N_PEERS];
    begin();
    overlapped = false;
    for (int i = 0; i < 2 * N_PEERS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, work, locks[i % N_PEERS]), 0);
    for (int i = 0; i < 2 * N_PEERS; i++) {
        void *done;
        pthread_join(threads[i], &done);
        CHECK(done != NULL);
    }
    CHECK(!overlapped);
    end();
}

/* --- a handle ---------------------------------------------------------------------------------------------------- */

static void a_handle_knows_each_path(void)
{
    struct hold h;
    zoo_op_t check;
    begin();
    for (int i = 0; i < 2; i++) { /* the paths of the second are not sorted */
        want(&h, locks[i]);
        CHECK_WITHIN(LONG_MS, is(&h, 0));
        CHECK(nodes_are(1));
        CHECK_EQ(pdk_grant_count(h.grant), N_PATHS);
        for (unsigned k = 0; k < N_PATHS; k++) {
            CHECK_EQ(zoo_exists(fixture.zh, hold_node(&h, k), 0, NULL), ZOK);
            CHECK_RC(hold_guard(&h, k, &check), 0);
            CHECK_STR(check.check_op.path, hold_node(&h, k));
        }
        CHECK_RC(hold_guard(&h, N_PATHS, &check), PDK_EINVAL);
        CHECK_RC(hold_release(&h), 0);
    }
    end();
}

/* --- loss -------------------------------------------------------------------------------------------------------- */

static atomic_int n_warned;

static void note_warning(pdk_client *c, pdk_log_level level, int64_t at_ms, const char *text, void *arg)
{
    (void)c, (void)at_ms, (void)arg;
    if (level == PDK_LOG_WARNING && strstr(text, "not released: 2 of its nodes keep others out") != NULL)
        n_warned++;
}

/* The program may be at work under the other nodes. Once it has overlooked the loss for a session timeout, the log
 * warns. */
static void what_is_lost_keeps_its_other_nodes(void)
{
    char node[64];
    begin();
    n_warned = 0;
    pdk_client_options *o = fixture_options(2000);
    CHECK_RC(pdk_client_options_set_log(o, PDK_LOG_WARNING, note_warning, NULL), 0);
    pdk_client *c = fixture_client(o);
    const char *of[] = {paths[0], paths[1], paths[2]};
    pdk_mutex *m = make(c, of, N_PATHS);
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk_lock_node(m, 1, node, sizeof node);
    fixture_delete_below(paths[1], node);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_RC(pdk_client_flush(c, LONG_MS), 0);
    CHECK_WITHIN(LONG_MS, n_warned == 1);
    CHECK_EQ(fixture_children(paths[0]), 1);
    CHECK_EQ(fixture_children(paths[1]), 0);
    CHECK_EQ(fixture_children(paths[2]), 1);
    CHECK_RC(pdk_mutex_trylock(locks[1]), PDK_EBUSY);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    CHECK_WITHIN(LONG_MS, nodes_are(0));
    CHECK_EQ(n_warned, 1);
    CHECK_RC(pdk_lock_free(m), 0);
    CHECK_RC(pdk_client_close(c), 0);
    CHECK_RC(pdk_client_free(c), 0);
    end();
}

/* The node that is made anew would stand behind others that stand behind its companions: so all are made anew. */
static void one_node_deleted_while_it_waits(void)
{
    struct hold second, third;
    char node[64];
    begin();
    CHECK_RC(pdk_mutex_lock(locks[0]), 0);
    want(&second, locks[1]);
    CHECK_WITHIN(LONG_MS, nodes_are(2));
    snprintf(node, sizeof node, "%016llx", (unsigned long long)pdk_client_session_id(clients[1]));
    snprintf(node, sizeof node, "%s", fixture_find(paths[2], node));
    want(&third, locks[2]);
    CHECK_WITHIN(LONG_MS, nodes_are(3));
    pdk_contender_list *list;
    CHECK_RC(pdk_contenders(clients[1], paths[2], PDK_CONTENDERS_ALL, LONG_MS, &list),
             0); /* what it watches, it watches now */
    pdk_contender_list_free(list);
    fixture_delete_below(paths[2], node);
    CHECK_WITHIN(LONG_MS, nodes_are(3));
    CHECK_RC(pdk_mutex_unlock(locks[0]), 0);
    CHECK_WITHIN(LONG_MS, is(&third, 0));
    CHECK(is(&second, 1));
    CHECK_RC(pdk_grant_release(third.grant), 0);
    CHECK_WITHIN(LONG_MS, is(&second, 0));
    CHECK_RC(pdk_grant_release(second.grant), 0);
    end();
}

/* --- the transaction --------------------------------------------------------------------------------------------- */

/* ZooKeeper's client aborts the process when a container is made in a transaction. */
static void paths_that_are_missing(void)
{
    char deep[2][200];
    const char *of[] = {deep[0], deep[1], paths[0]};
    begin();
    for (int i = 0; i < 2; i++)
        snprintf(deep[i], sizeof deep[i], "%s/deep/%d", paths[i], i);
    pdk_mutex *m = make(clients[0], of, 3);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_EQ(fixture_children(deep[0]), 1);
    CHECK_EQ(fixture_children(deep[1]), 1);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    for (int i = 0; i < 2; i++) {
        fixture_delete_all(deep[i]);
        snprintf(deep[i], sizeof deep[i], "%s/deep", paths[i]);
        fixture_delete_all(deep[i]);
    }
    end();
}

/* The paths are there from then on. */
static void begin_again(void)
{
    begin();
    CHECK_RC(pdk_mutex_lock(locks[0]), 0);
    CHECK_RC(pdk_mutex_unlock(locks[0]), 0);
    fixture_each_proxy(pdk__proxy_reset_counters);
}

/* The requests of one lock, and of its release: each is one write. */
static void one_transaction(void)
{
    enum { DELETE = 2, EXISTS = 3, LIST = 8 };
    begin_again();
    CHECK_RC(pdk_mutex_lock(locks[0]), 0);
    CHECK_EQ(fixture_requests(MULTI), 1);
    CHECK_EQ(fixture_requests(EXISTS), 1);
    CHECK_EQ(fixture_requests(LIST), N_PATHS);
    CHECK_RC(pdk_mutex_unlock(locks[0]), 0);
    CHECK_EQ(fixture_requests(MULTI), 2);
    CHECK_EQ(fixture_requests(DELETE), 0);
    CHECK_EQ(fixture_requests(LIST), N_PATHS);
    end();
}

/* The connection breaks at the next transaction, wherever the client is connected. */
static void cut(pdk__act act, int rules[3])
{
    const struct pdk__proxy_rule rule = {.op = MULTI, .act = act};
    for (int i = 0; i < fixture.e->n; i++)
        rules[i] = pdk__proxy_rule(fixture.e->proxy[i], &rule);
}

static void check_cut(const int rules[3])
{
    int n_cuts = 0;
    for (int i = 0; i < fixture.e->n; i++) {
        n_cuts += pdk__proxy_hits(fixture.e->proxy[i], rules[i]);
        pdk__proxy_clear(fixture.e->proxy[i]);
    }
    CHECK(n_cuts >= 1);
}

static void lock_with_a_cut(pdk__act act)
{
    int rules[3];
    begin_again();
    cut(act, rules);
    CHECK_RC(pdk_mutex_lock(locks[0]), 0);
    check_cut(rules);
    CHECK(nodes_are(1));
    cut(act, rules);
    CHECK_RC(pdk_mutex_unlock(locks[0]), 0);
    check_cut(rules);
    CHECK(nodes_are(0));
    end();
}

static void a_lost_answer(void) { lock_with_a_cut(PDK__CUT_BEFORE_REPLY); }

static void a_request_that_never_arrives(void) { lock_with_a_cut(PDK__CUT_BEFORE); }

/* One delete that is refused refuses them all: the others are sent again. */
static void a_node_deleted_before_the_release(void)
{
    char node[64];
    begin_again();
    CHECK_RC(pdk_mutex_lock(locks[0]), 0);
    pdk_lock_node(locks[0], 1, node, sizeof node);
    fixture_delete_below(pdk_lock_path(locks[0], 1), node);
    CHECK_RC(pdk_mutex_unlock(locks[0]), PDK_ELOST);
    CHECK(nodes_are(0));
    end();
}

/* A client without the right to delete cannot remove its own node. */
static void a_node_that_cannot_be_deleted(void)
{
    struct ACL no_delete[] = {{ZOO_PERM_READ | ZOO_PERM_CREATE, {"world", "anyone"}}};
    struct ACL_vector acl = {1, no_delete};
    char text[256];
    begin();
    snprintf(paths[1], sizeof paths[1], "%s", fixture_path());
    fixture_make(paths[1], "", ZOO_PERSISTENT, &acl);
    const char *of[] = {paths[0], paths[1], paths[2]};
    pdk_mutex *m = make(clients[0], of, 3);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), PDK_EACCES);
    pdk_lock_last_error(m, text, sizeof text);
    CHECK(strstr(text, paths[1]) != NULL);
    CHECK(fixture_children(paths[0]) == 0 && fixture_children(paths[1]) == 1 && fixture_children(paths[2]) == 0);
    CHECK_RC(pdk_lock_free(m), 0);
    fixture_expire(pdk__client_zh(clients[0]));
    end();
}

/* The one that is refused is named, and no other path keeps a node. */
static void a_refused_path(void)
{
    struct ACL read_only[] = {{ZOO_PERM_READ, {"world", "anyone"}}};
    struct ACL_vector acl = {1, read_only};
    char text[256];
    begin();
    snprintf(paths[1], sizeof paths[1], "%s", fixture_path());
    fixture_make(paths[1], "", ZOO_PERSISTENT, &acl);
    const char *of[] = {paths[2], paths[0], paths[1]};
    pdk_mutex *m = make(clients[0], of, 3);
    CHECK_RC(pdk_mutex_lock(m), PDK_EACCES);
    pdk_lock_last_error(m, text, sizeof text);
    CHECK(strstr(text, paths[1]) != NULL);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EACCES);
    CHECK_WITHIN(LONG_MS, nodes_are(0));
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

/* A request that stayed would count against the paths that a session can carry. */
static void refused_again_and_again(void)
{
    enum { LONG = 4000, ROUNDS = 300 };
    struct ACL read_only[] = {{ZOO_PERM_READ, {"world", "anyone"}}};
    struct ACL_vector acl = {1, read_only};
    char *path = malloc(LONG + 200);
    begin();
    snprintf(path, LONG + 200, "%s-%0*d", fixture.path, LONG, 0);
    snprintf(paths[1], sizeof paths[1], "%s", fixture_path());
    fixture_make(paths[1], "", ZOO_PERSISTENT, &acl);
    fixture_make(path, "", ZOO_PERSISTENT, NULL);
    const char *of[] = {path, paths[1]};
    pdk_mutex *m = make(clients[0], of, 2);
    for (int i = 0; i < ROUNDS; i++)
        CHECK_RC(pdk_mutex_lock(m), PDK_EACCES);
    CHECK_RC(pdk_lock_free(m), 0);
    fixture_delete_all(path);
    free(path);
    end();
}

/* ZooKeeper's client frees its caller's memory when its session has ended before the call. */
static void sessions_that_end_all_the_time(void)
{
    struct hold w;
    begin();
    for (int i = 0; i < 10; i++) {
        want(&w, locks[0]);
        fixture_expire(pdk__client_zh(clients[0]));
        CHECK_WITHIN(LONG_MS, !is(&w, 1));
        CHECK(is(&w, 0) || is(&w, PDK_ELOST));
        pdk_grant_release(w.grant);
        CHECK_WITHIN(LONG_MS, pdk_client_state(clients[0]) == PDK_SESSION_CONNECTED && nodes_are(0));
    }
    end();
}

/* --- requests that are wrong ------------------------------------------------------------------------------------- */

static void wrong_paths(void)
{
    pdk_mutex *m = NULL;
    begin();
    const char *twice[] = {paths[0], paths[1], paths[0]}, *bad[] = {paths[0], "no path"}, *many[65];
    for (int i = 0; i < 65; i++)
        many[i] = paths[0];
    CHECK_RC(pdk_mutex_new_several(&m, clients[0], twice, 0, NULL), PDK_EINVAL);
    CHECK_RC(pdk_mutex_new_several(&m, clients[0], twice, 3, NULL), PDK_EINVAL);
    CHECK_RC(pdk_mutex_new_several(&m, clients[0], many, PDK_MUTEX_PATHS_MAX + 1, NULL), PDK_EINVAL);
    CHECK_RC(pdk_mutex_new_several(&m, clients[0], bad, 2, NULL), PDK_EPATH);
    pdk_lock_options *o = pdk_lock_options_new();
    char *data = calloc(1, 65536);
    CHECK_RC(pdk_lock_options_set_data(o, data, 65536), 0);
    char names[9][160];
    for (int i = 0; i < 9; i++) {
        snprintf(names[i], sizeof names[i], "%s-large-%d", fixture.path, i);
        many[i] = names[i];
    }
    CHECK_RC(pdk_mutex_new_several(&m, clients[0], many, 9, o), PDK_EINVAL);
    CHECK_RC(pdk_mutex_new_several(&m, clients[0], many, 7, o), 0);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    for (int i = 0; i < 7; i++)
        fixture_delete_all(names[i]);
    free(data);
    pdk_lock_options_free(o);
    end();
}

/* One path is a mutex. */
static void one_path(void)
{
    begin();
    const char *of[] = {paths[0]};
    pdk_mutex *m = make(clients[0], of, 1);
    pdk_mutex *other = fixture_mutex(clients[1], paths[0]);
    CHECK_RC(pdk_mutex_lock(m), 0);
    CHECK_RC(pdk_mutex_trylock(other), PDK_EBUSY);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_WITHIN(LONG_MS, pdk_mutex_trylock(other) == 0);
    CHECK_RC(pdk_mutex_unlock(other), 0);
    CHECK_RC(pdk_lock_free(other), 0);
    CHECK_RC(pdk_lock_free(m), 0);
    end();
}

static _Atomic int n_revoked;

static void note_revoked(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m, (void)arg;
    n_revoked += event->kind == PDK_EVENT_REVOKED;
}

static void it_is_asked_back(void)
{
    pdk_contender_list *list;
    begin();
    n_revoked = 0;
    CHECK_RC(pdk_lock_on_event(locks[0], note_revoked, NULL), 0);
    CHECK_RC(pdk_mutex_lock(locks[0]), 0);
    CHECK_RC(pdk_contenders(clients[1], paths[1], PDK_CONTENDERS_ALL, LONG_MS, &list), 0);
    CHECK_RC(pdk_contender_revoke(clients[1], list, 0, LONG_MS), 0);
    CHECK_WITHIN(LONG_MS, n_revoked == 1);
    CHECK_RC(pdk_mutex_unlock(locks[0]), 0);
    pdk_contender_list_free(list);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"all paths are held, in whatever order they were given", all_paths_are_held},
        {"one path keeps it waiting, and a try leaves nothing", one_path_keeps_it_waiting},
        {"they do not wait for each other, in whatever order they name the paths", they_do_not_wait_for_each_other},
        {"a handle knows each path, in the order given", a_handle_knows_each_path},
        {"a lost multi-lock keeps its other nodes until it is unlocked, and the log warns",
         what_is_lost_keeps_its_other_nodes},
        {"one node deleted while it waits, and it queues again everywhere", one_node_deleted_while_it_waits},
        {"paths that are missing are made, as containers", paths_that_are_missing},
        {"one transaction, and no search", one_transaction},
        {"a transaction whose answer is lost is found", a_lost_answer},
        {"a transaction that never arrives is sent again", a_request_that_never_arrives},
        {"a node that is deleted before the release holds up no other", a_node_deleted_before_the_release},
        {"a node that cannot be deleted is named", a_node_that_cannot_be_deleted},
        {"a path that is refused is named", a_refused_path},
        {"refused again and again, it leaves nothing behind", refused_again_and_again},
        {"sessions that end all the time", sessions_that_end_all_the_time},
        {"wrong paths are refused", wrong_paths},
        {"one path is a mutex", one_path},
        {"it is asked back", it_is_asked_back},
        {0}};
    return fixture_main(argc, argv, "multilock", tests, ON_ONE | ON_THREE);
}
