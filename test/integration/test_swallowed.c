/*
 * Servers send no event of a node that the session may not READ at that moment, and its watch is spent
 * (CVE-2024-23944). Whatever watches looks again within a session timeout, so it learns of the change once READ is
 * given back.
 */
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>

enum { SESSION_MS = 2000, EVENT_ANY = 0 };

static pdk_client *c;
static pdk_mutex *m;

static void begin(void)
{
    fixture_begin();
    c = fixture_client(fixture_options(SESSION_MS));
    m = fixture_mutex(c, fixture.path);
    pdk__proxy_reset_counters(fixture.proxy);
}

/* No event has told of the change. */
static void check_untold(int event) { CHECK_EQ(pdk__proxy_events(fixture.proxy, event, NULL), 0); }

static void end(void) { fixture_end(c, m); }

static void permit(const char *path, bool read)
{
    struct ACL all = {read ? ZOO_PERM_ALL : ZOO_PERM_ALL & ~ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector acl = {1, &all};
    CHECK_EQ(zoo_set_acl(fixture.zh, path, -1, &acl), ZOK);
}

static void delete_unseen(const char *path)
{
    permit(path, false);
    CHECK_EQ(zoo_delete(fixture.zh, path, -1), ZOK);
}

static const char *below(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", fixture.path, name);
    return path;
}

/* --- contenders -------------------------------------------------------------------------------------------------- */

#define OTHER "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lock-0000000000"

static void waiter(void)
{
    struct request w;
    begin();
    struct peer p = {.client = c, .mutex = m};
    fixture_make(fixture.path, NULL, ZOO_PERSISTENT, NULL);
    fixture_make_below(fixture.path, OTHER, "10.0.0.7");
    fixture_make_below(fixture.path, "x", NULL);
    fixture_delete_below(fixture.path, "x"); /* the next number is not that of the other */
    request_queued(&w, &p, PDK_FOREVER, 2);
    CHECK_WITHIN(LONG_MS, fixture_watchers(below(OTHER)) == 1);
    delete_unseen(below(OTHER));
    request_told(&w, 0);
    check_untold(EVENT_ANY);
    request_end(&w, 0);
    end();
}

static void holder(void)
{
    char node[256];
    begin();
    CHECK_RC(pdk_mutex_lock(m), 0);
    snprintf(node, sizeof node, "%s", below(""));
    pdk_lock_node(m, 0, node + strlen(node), sizeof node - strlen(node));
    CHECK_WITHIN(LONG_MS, fixture_watchers(node) == 1);
    delete_unseen(node);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    check_untold(EVENT_ANY);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    end();
}

static void idle_lock(void)
{
    pdk_lock_options *o = pdk_lock_options_new();
    pdk_mutex *kept;
    begin();
    CHECK_RC(pdk_lock_options_set_keep(o, 0, LONG_MS), 0);
    CHECK_RC(pdk_mutex_new(&kept, c, fixture.path, o), 0);
    pdk_lock_options_free(o);
    CHECK_RC(pdk_mutex_lock(kept), 0);
    CHECK_RC(pdk_mutex_unlock(kept), 0);
    CHECK_WITHIN(LONG_MS, fixture_watches_in_all() == 2); /* the own node, and the children of the path */
    permit(fixture.path, false);
    fixture_make_below(fixture.path, "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lock-0000000009", "10.0.0.7");
    permit(fixture.path, true);
    CHECK_WITHIN(LONG_MS, fixture_children(fixture.path) == 1);
    CHECK_RC(pdk_lock_free(kept), 0);
    end();
}

/* --- followers --------------------------------------------------------------------------------------------------- */

static _Atomic int64_t led_by;
static atomic_int n_told;

static void led(const char *id, int64_t token, void *arg)
{
    (void)id, (void)arg;
    led_by = token;
}

static void changed(void *arg)
{
    (void)arg;
    n_told++;
}

static void leaders_observer(void)
{
    pdk_leader_observer *o;
    begin();
    led_by = -1;
    fixture_make(fixture.path, NULL, ZOO_PERSISTENT, NULL);
    fixture_make_below(fixture.path, "one-latch-0000000000", "one");
    CHECK_RC(pdk_leader_observe(&o, c, fixture.path, led, NULL), 0);
    CHECK_WITHIN(LONG_MS, led_by > 0);
    delete_unseen(below("one-latch-0000000000"));
    CHECK_WITHIN(LONG_MS, led_by == 0);
    check_untold(EVENT_ANY);
    CHECK_RC(pdk_leader_observer_free(o), 0);
    end();
}

static void contenders_observer(void)
{
    pdk_contenders_observer *o;
    begin();
    n_told = 0;
    fixture_make(fixture.path, NULL, ZOO_PERSISTENT, NULL);
    CHECK_RC(pdk_contenders_observe(&o, c, fixture.path, changed, NULL), 0);
    CHECK_WITHIN(LONG_MS, n_told == 1);
    permit(fixture.path, false);
    fixture_make_below(fixture.path, OTHER, NULL);
    permit(fixture.path, true);
    CHECK_WITHIN(LONG_MS, n_told >= 2);
    check_untold(EVENT_ANY);
    CHECK_RC(pdk_contenders_observer_free(o), 0);
    end();
}

static void followed_limit(void)
{
    pdk_semaphore *s;
    begin();
    const char *count = fixture_path();
    CHECK_EQ(zoo_create(fixture.zh, count, "\0\0\0\2", 4, &ZOO_OPEN_ACL_UNSAFE, ZOO_PERSISTENT, NULL, 0), ZOK);
    CHECK_RC(pdk_semaphore_new(&s, c, fixture.path, 1, NULL), 0);
    CHECK_RC(pdk_semaphore_follow(s, count), 0);
    CHECK_WITHIN(LONG_MS, pdk_semaphore_limit(s) == 2);
    permit(count, false);
    CHECK_EQ(zoo_set(fixture.zh, count, "\0\0\0\3", 4, -1), ZOK);
    permit(count, true);
    CHECK_WITHIN(LONG_MS, pdk_semaphore_limit(s) == 3);
    check_untold(EVENT_ANY);
    CHECK_RC(pdk_lock_free(s), 0);
    end();
}

/* --- barriers ---------------------------------------------------------------------------------------------------- */

struct call {
    pthread_t thread;
    pdk_barrier *barrier;
    pdk_barrier *meeting;
    atomic_bool returned;
    int rc;
};

static void *run(void *arg)
{
    struct call *call = arg;
    call->rc = call->barrier != NULL ? pdk_barrier_wait(call->barrier, PDK_FOREVER)
                                     : pdk_barrier_enter(call->meeting, PDK_FOREVER);
    atomic_store(&call->returned, true);
    return NULL;
}

static void finish(struct call *call)
{
    CHECK_WITHIN(LONG_MS, atomic_load(&call->returned));
    check_untold(EVENT_ANY);
    CHECK_EQ(pthread_join(call->thread, NULL), 0);
    CHECK_RC(call->rc, 0);
}

static void barrier(void)
{
    struct call call = {0};
    begin();
    CHECK_RC(pdk_barrier_new(&call.barrier, c, fixture.path), 0);
    CHECK_RC(pdk_barrier_set(call.barrier, LONG_MS), 0);
    CHECK_EQ(pthread_create(&call.thread, NULL, run, &call), 0);
    CHECK_WITHIN(LONG_MS, fixture_watchers(fixture.path) == 1);
    delete_unseen(fixture.path);
    finish(&call);
    CHECK_RC(pdk_barrier_free(call.barrier), 0);
    end();
}

/* The other member creates "ready". */
static void double_barrier(void)
{
    struct ACL unread = {ZOO_PERM_ALL & ~ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE};
    struct ACL_vector acl = {1, &unread};
    struct call call = {0};
    begin();
    CHECK_RC(pdk_barrier_new_double(&call.meeting, c, fixture.path, 2), 0);
    CHECK_EQ(pthread_create(&call.thread, NULL, run, &call), 0);
    CHECK_WITHIN(LONG_MS, fixture_watchers(below("ready")) == 1);
    fixture_make(below("ready"), NULL, ZOO_PERSISTENT, &acl);
    permit(below("ready"), true);
    finish(&call);
    CHECK_RC(pdk_barrier_leave(call.meeting, LONG_MS), 0);
    CHECK_RC(pdk_barrier_free(call.meeting), 0);
    end();
}

/* Its own node is not watched. */
static void double_barriers_node(void)
{
    struct call call = {0};
    char first[256];
    begin();
    CHECK_RC(pdk_barrier_new_double(&call.meeting, c, fixture.path, 2), 0);
    CHECK_EQ(pthread_create(&call.thread, NULL, run, &call), 0);
    CHECK_WITHIN(LONG_MS, fixture_watchers(below("ready")) == 1);
    snprintf(first, sizeof first, "%s", fixture_find(fixture.path, ""));
    fixture_delete_below(fixture.path, first);
    CHECK_WITHIN(LONG_MS, fixture_children(fixture.path) == 1);
    CHECK(strcmp(fixture_find(fixture.path, ""), first) != 0);
    fixture_make_below(fixture.path, "another", NULL);
    fixture_make(below("ready"), NULL, ZOO_PERSISTENT, NULL);
    CHECK_WITHIN(LONG_MS, atomic_load(&call.returned));
    CHECK_EQ(pthread_join(call.thread, NULL), 0);
    CHECK_RC(call.rc, 0);
    fixture_delete_below(fixture.path, "another");
    CHECK_RC(pdk_barrier_leave(call.meeting, LONG_MS), 0);
    CHECK_RC(pdk_barrier_free(call.meeting), 0);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a waiter whose predecessor ends unseen holds", waiter},
        {"a holder whose node is deleted unseen is LOST", holder},
        {"an idle lock gives way to a contender that came unseen", idle_lock},
        {"a leader's observer learns of an end unseen", leaders_observer},
        {"an observer of contenders learns of one that came unseen", contenders_observer},
        {"a semaphore learns of a limit that changed unseen", followed_limit},
        {"a wait at a barrier ends when it was removed unseen", barrier},
        {"a member of a double barrier enters by a ready that came unseen", double_barrier},
        {"a member whose node was deleted while it enters stands again", double_barriers_node},
        {0},
    };
    return fixture_main(argc, argv, "swallowed", tests, ON_ONE | ON_OWN);
}
