/*
 * Memory runs out, at every allocation of the library's own, one at a time and three in a row. Each call then fails in
 * an orderly way or succeeds all the same; nothing stays on the servers, and the lock works afterwards. That nothing
 * leaks is for AddressSanitizer and memcheck to say.
 */
#include "lib/alloc.h"
#include "lib/zk/client.h"
#include "test/lib/fixture.h"

#include <stdio.h>
#include <string.h>

static atomic_int n_asked, fail_from, fail_to;
static pdk_client *c;
static pdk_mutex *m;
static const char *path, *busy;

static bool gate(size_t size)
{
    int n = atomic_fetch_add(&n_asked, 1) + 1;
    (void)size;
    return n < fail_from || n > fail_to;
}

static void shut_gate(int from, int width)
{
    n_asked = 0;
    fail_from = from;
    fail_to = from + width - 1;
    pdk__alloc_set_gate(gate);
}

static void open_gate(void) { pdk__alloc_set_gate(NULL); }

static void setup(void) { fixture_open(NULL); }

/* Also after a failed test. */
static void teardown(void)
{
    open_gate();
    fixture_close();
}

static void begin(void)
{
    open_gate();
    path = fixture_path();
    busy = fixture_path();
    fixture_make(busy, "", ZOO_PERSISTENT, NULL);
    c = fixture_client(NULL);
    m = fixture_mutex(c, path);
}

static void end(void)
{
    fixture_end(c, m);
    fixture_delete_all(busy);
}

/* All is well again, and nothing is left. */
static void sound(void)
{
    open_gate();
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
    CHECK_EQ(pdk_lock_state(m), PDK_FREE);
    CHECK_RC(pdk_mutex_timedlock(m, LONG_MS), 0);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    CHECK_EQ(fixture_children(path), 0);
}

/* ACT until no allocation was left to fail. */
static void for_each(void (*act)(void))
{
    for (int width = 1; width <= 3; width += 2) {
        int i = 1;
        do {
            shut_gate(i, width);
            act();
            open_gate();
        } while (n_asked >= i++);
        CHECK(i > 2); /* it did allocate, and was refused */
    }
}

static void check_either(int rc, int other)
{
    if (rc != other)
        CHECK_RC(rc, PDK_ENOMEM);
}

/* --- making things ----------------------------------------------------------------------------------------------- */

static void make_client(void)
{
    pdk_client *mine = NULL;
    pdk_client_options *o = pdk_client_options_new();
    if (o == NULL)
        return;
    check_either(pdk_client_options_add_auth(o, "digest", "tim:secret"), 0);
    check_either(pdk_client_options_add_acl(o, "world", "anyone", PDK_PERM_ALL), 0);
    int rc = pdk_client_new(&mine, fixture.hosts, o);
    check_either(rc, 0);
    CHECK_RC(pdk_client_free(mine), 0);
    pdk_client_options_free(o);
}

static void clients(void) { for_each(make_client); }

static void make_mutex(void)
{
    pdk_mutex *mine = NULL;
    pdk_lock_options *o = pdk_lock_options_new();
    if (o == NULL)
        return;
    check_either(pdk_lock_options_set_data(o, "12345", 5), 0);
    check_either(pdk_lock_options_set_data(o, "123456789", 9), 0);
    int rc = pdk_mutex_new(&mine, c, path, o);
    check_either(rc, 0);
    CHECK_RC(pdk_lock_free(mine), 0);
    pdk_lock_options_free(o);
}

static void mutexes(void)
{
    begin();
    for_each(make_mutex);
    sound();
    end();
}

static void adopt(void)
{
    pdk_client *mine = NULL;
    check_either(pdk_client_adopt(&mine, fixture.zh, NULL), 0);
    CHECK_RC(pdk_client_free(mine), 0);
}

static void adoptions(void) { for_each(adopt); }

/* --- locking ----------------------------------------------------------------------------------------------------- */

static void lock_and_unlock(void)
{
    int rc = pdk_mutex_lock(m);
    check_either(rc, 0);
    if (rc == 0)
        CHECK_RC(pdk_mutex_unlock(m), 0);
    else
        CHECK_RC(pdk_mutex_unlock(m), PDK_EPERM);
    sound();
}

static void locks(void)
{
    begin();
    for_each(lock_and_unlock);
    end();
}

/* With a path that has to be created. */
static void lock_new_path(void)
{
    open_gate();
    if (fixture_children(path) >= 0)
        fixture_delete_all(path);
    pdk__alloc_set_gate(gate);
    lock_and_unlock();
}

static void new_paths(void)
{
    begin();
    for_each(lock_new_path);
    end();
}

static void try(void)
{
    int rc = pdk_mutex_trylock(m);
    check_either(rc, 0);
    if (rc == 0)
        CHECK_RC(pdk_mutex_unlock(m), 0);
    sound();
}

static void tries(void)
{
    begin();
    for_each(try);
    end();
}

static void wait_in_vain(void)
{
    pdk_mutex *mine = NULL;
    int rc = pdk_mutex_new(&mine, c, busy, NULL);
    check_either(rc, 0);
    if (rc == 0)
        check_either(pdk_mutex_timedlock(mine, 40), PDK_ETIMEDOUT);
    CHECK_WITHIN(LONG_MS, fixture_children(busy) == 1);
    CHECK_RC(pdk_lock_free(mine), 0);
    open_gate();
    sound();
}

static void timeouts(void)
{
    begin();
    fixture_make_below(busy, "a-lock-0000000000", "");
    for_each(wait_in_vain);
    end();
}

struct outcome {
    atomic_int n;
    _Atomic int rc;
};

static void tell(int rc, void *arg)
{
    struct outcome *o = arg;
    o->rc = rc;
    o->n++;
}

/* A stranger is ahead and goes, in the middle of which SHAKE happens. */
static void (*shake)(void);

static void wait_and_get(void)
{
    static struct outcome locked, unlocked;
    pdk_grant *g = NULL;
    locked.n = unlocked.n = 0;
    pdk_mutex *mine = NULL;
    check_either(pdk_mutex_new(&mine, c, busy, NULL), 0);
    if (mine == NULL)
        return;
    fixture_make_below(busy, "a-lock-0000000000", "");
    int rc = pdk_mutex_lock_async(mine, PDK_FOREVER, tell, &locked, &g);
    check_either(rc, 0);
    if (rc == 0) {
        CHECK_WITHIN(LONG_MS, fixture_children(busy) == 2);
        if (shake != NULL)
            shake();
    }
    fixture_delete_below(busy, "a-lock-0000000000");
    if (rc == 0) {
        CHECK_WITHIN(LONG_MS, locked.n == 1);
        CHECK_RC(locked.rc, 0);
        rc = pdk_grant_release_async(g, tell, &unlocked);
        CHECK_RC(rc, 0);
        CHECK_WITHIN(LONG_MS, unlocked.n == 1);
        CHECK_RC(unlocked.rc, 0);
    }
    CHECK_RC(pdk_lock_free(mine), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(busy) == 0);
}

static void waits(void)
{
    begin();
    shake = NULL;
    for_each(wait_and_get);
    sound();
    end();
}

static void cut(void) { pdk__proxy_cut(fixture.proxy); }

static void expire(void) { fixture_expire(pdk__client_zh(c)); }

static void expires_waiting(void)
{
    begin();
    shake = expire;
    for_each(wait_and_get);
    sound();
    end();
}

static void reconnects_waiting(void)
{
    begin();
    shake = cut;
    for_each(wait_and_get);
    sound();
    end();
}

/* --- holding ----------------------------------------------------------------------------------------------------- */

static void hold_through_cut(void)
{
    open_gate();
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__alloc_set_gate(gate);
    pdk__proxy_cut(fixture.proxy);
    CHECK_WITHIN(LONG_MS, pdk_client_state(c) == PDK_SESSION_CONNECTED && pdk_lock_state(m) == PDK_HELD);
    CHECK_RC(pdk_mutex_unlock(m), 0);
    sound();
}

static void reconnects_holding(void)
{
    begin();
    for_each(hold_through_cut);
    end();
}

static void hold_and_lose(void)
{
    open_gate();
    CHECK_RC(pdk_mutex_lock(m), 0);
    pdk__alloc_set_gate(gate);
    fixture_delete_all(path);
    CHECK_WITHIN(LONG_MS, pdk_lock_state(m) == PDK_LOST);
    CHECK_RC(pdk_mutex_unlock(m), PDK_ELOST);
    sound();
}

static void losses(void)
{
    begin();
    hold_and_lose(); /* it may well need no memory */
    for (int i = 1; i < 4; i++) {
        shut_gate(i, 1);
        hold_and_lose();
    }
    end();
}

/* --- leading ----------------------------------------------------------------------------------------------------- */

static void make_leader(void)
{
    pdk_leader *mine = NULL;
    pdk_lock_options *o = pdk_lock_options_new();
    if (o == NULL)
        return;
    check_either(pdk_lock_options_set_data(o, "somebody", 8), 0);
    check_either(pdk_leader_new(&mine, c, path, PDK_LATCH, o), 0);
    CHECK_RC(pdk_lock_free(mine), 0);
    mine = NULL;
    check_either(pdk_leader_new(&mine, c, path, PDK_LATCH, NULL), 0);
    CHECK_RC(pdk_lock_free(mine), 0);
    pdk_lock_options_free(o);
}

static void leaders(void)
{
    begin();
    for_each(make_leader);
    sound();
    end();
}

/* Once it is created, nothing that it does can fail for want of memory; not even a new candidacy. */
static pdk_leader *candidate;

static void lead_and_resign(void)
{
    CHECK_RC(pdk_leader_start(candidate), 0);
    CHECK_RC(pdk_leader_wait(candidate, LONG_MS), 0);
    if (shake != NULL)
        shake();
    CHECK_RC(pdk_leader_resign(candidate), 0);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
}

static void for_each_lead(void (*act)(void))
{
    begin();
    shake = act;
    CHECK_RC(pdk_leader_new(&candidate, c, path, PDK_LATCH, NULL), 0);
    for_each(lead_and_resign);
    CHECK_RC(pdk_lock_free(candidate), 0);
    sound();
    end();
}

static void terms(void) { for_each_lead(NULL); }

static void depose(void)
{
    int64_t before = 0, token = 0;
    CHECK_RC(pdk_lock_token(candidate, &before, NULL), 0);
    fixture_delete_all(path);
    CHECK_WITHIN(LONG_MS, pdk_lock_token(candidate, &token, NULL) == 0 && token > before);
}

static void terms_that_follow(void) { for_each_lead(depose); }

static struct outcome observed;

static void note_leader(const char *id, int64_t token, void *arg)
{
    (void)arg;
    observed.rc = id != NULL && token != 0;
    observed.n++;
}

static void observe(void)
{
    pdk_leader_observer *o = NULL;
    observed.n = 0;
    check_either(pdk_leader_observe(&o, c, busy, note_leader, NULL), 0);
    if (o == NULL)
        return;
    CHECK_WITHIN(LONG_MS, observed.n == 1 && !observed.rc);
    fixture_make_below(busy, "a-latch-0000000000", "a");
    CHECK_WITHIN(LONG_MS, observed.n == 2 && observed.rc);
    fixture_delete_below(busy, "a-latch-0000000000");
    CHECK_WITHIN(LONG_MS, observed.n == 3 && !observed.rc);
    CHECK_RC(pdk_leader_observer_free(o), 0);
}

static void note_change(void *arg)
{
    (void)arg;
    observed.n++;
}

static void observe_contenders(void)
{
    pdk_contenders_observer *o = NULL;
    observed.n = 0;
    check_either(pdk_contenders_observe(&o, c, busy, note_change, NULL), 0);
    if (o == NULL)
        return;
    CHECK_WITHIN(LONG_MS, observed.n == 1);
    fixture_make_below(busy, "a-latch-0000000000", "a");
    CHECK_WITHIN(LONG_MS, observed.n == 2);
    fixture_delete_below(busy, "a-latch-0000000000");
    CHECK_WITHIN(LONG_MS, observed.n == 3);
    CHECK_RC(pdk_contenders_observer_free(o), 0);
}

static void observers(void)
{
    begin();
    for_each(observe);
    for_each(observe_contenders);
    sound();
    end();
}

/* --- barriers ---------------------------------------------------------------------------------------------------- */

static pdk_barrier *barrier;
static pdk_barrier *member;

static void make_barriers(void)
{
    pdk_barrier *b = NULL;
    pdk_barrier *d = NULL;
    check_either(pdk_barrier_new(&b, c, path), 0);
    check_either(pdk_barrier_new_double(&d, c, path, 2), 0);
    CHECK_RC(pdk_barrier_free(b), 0);
    CHECK_RC(pdk_barrier_free(d), 0);
}

static void set_and_wait(void)
{
    int set = pdk_barrier_set(barrier, LONG_MS);
    check_either(set, 0);
    check_either(pdk_barrier_wait(barrier, 0), set == 0 ? PDK_ETIMEDOUT : 0);
    check_either(pdk_barrier_wait(barrier, set == 0 ? 20 : LONG_MS), set == 0 ? PDK_ETIMEDOUT : 0);
    check_either(pdk_barrier_remove(barrier, LONG_MS), 0);
    open_gate();
    CHECK_RC(pdk_barrier_remove(barrier, LONG_MS), 0);
}

/* Once it is inside, nothing that it does can fail for want of memory. */
static void enter_and_leave(void)
{
    int rc = pdk_barrier_enter(member, LONG_MS);
    check_either(rc, 0);
    CHECK_RC(pdk_barrier_leave(member, LONG_MS), rc == 0 ? 0 : PDK_EPERM);
    CHECK_WITHIN(LONG_MS, fixture_children(path) <= 0);
}

static void barriers(void)
{
    begin();
    for_each(make_barriers);
    CHECK_RC(pdk_barrier_new(&barrier, c, fixture_path()), 0);
    CHECK_RC(pdk_barrier_new_double(&member, c, path, 1), 0);
    for_each(set_and_wait);
    for_each(enter_and_leave);
    CHECK_RC(pdk_barrier_free(barrier), 0);
    CHECK_RC(pdk_barrier_free(member), 0);
    sound();
    end();
}

/* --- asking ------------------------------------------------------------------------------------------------------ */

static void ask(void)
{
    pdk_contender_list *list = NULL;
    int rc = pdk_contenders(c, busy, PDK_CONTENDERS_ALL, LONG_MS, &list);
    check_either(rc, 0);
    if (rc == 0)
        CHECK_EQ(pdk_contender_list_size(list), 3);
    pdk_contender_list_free(list);
}

static void questions(void)
{
    begin();
    fixture_make_below(busy, "a-lock-0000000000", "{}");
    fixture_make_below(busy, "b-lock-0000000001", NULL);
    fixture_make_below(busy, "config", "somewhere");
    for_each(ask);
    sound();
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"no memory for a client", clients},
        {"no memory for an adoption", adoptions},
        {"no memory for a mutex", mutexes},
        {"no memory for lock and unlock", locks},
        {"no memory for lock and unlock on a path that is not there yet", new_paths},
        {"no memory for trylock", tries},
        {"no memory for a wait that times out", timeouts},
        {"no memory for a wait that is granted", waits},
        {"no memory for a wait whose connection is lost", reconnects_waiting},
        {"no memory for a wait whose session expires", expires_waiting},
        {"no memory for a holder whose connection is lost", reconnects_holding},
        {"no memory for a holder who loses the lock", losses},
        {"no memory for a leader", leaders},
        {"no memory for a term", terms},
        {"no memory for a term that follows a lost one", terms_that_follow},
        {"no memory for an observer", observers},
        {"no memory for barriers", barriers},
        {"no memory for a list of contenders", questions},
        {0},
    };
    return pdk__test_main(
        argc, argv, &(struct pdk__test_suite){.name = "memory", .tests = tests, .setup = setup, .teardown = teardown});
}
