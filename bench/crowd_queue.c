/* Scenarios of one path: one client holds its lock, and requests of other clients queue on it. */
#include "bench/crowd.h"
#include "bench/members.h"
#include "bench/phase.h"
#include "bench/scenarios.h"
#include "bench/trio.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { AGAIN_MS = 1, BUSY_MS = 1 };

#define QUEUE_PATH "/crowd/lock"

static pdk_mutex **waiters;
static pdk_grant **requests;
static int n_waiters;
static pdk_mutex *holder;
static atomic_bool releases;                 /* a granted waiter releases at once */
static atomic_bool ends;                     /* the clients are being closed: the end of a request is no figure */
static atomic_int n_granted, n_done, n_lost; /* lost: granted, and over before the release */

/* --- joining ----------------------------------------------------------------------------------------------------- */

static void on_released(int rc, void *arg)
{
    (void)arg;
    if (rc == PDK_ELOST)
        atomic_fetch_add(&n_lost, 1);
    else
        crowd_check(rc, "release");
    atomic_fetch_add(&n_done, 1);
}

/* A release that is refused calls nothing. */
static void release(pdk_grant *g)
{
    int rc = pdk_grant_release_async(g, on_released, NULL);
    if (rc != 0)
        on_released(rc, NULL);
}

static void on_granted(int rc, void *arg)
{
    pdk_grant **g = arg;
    if (atomic_load(&ends))
        return;
    if (rc != PDK_ELOST)
        crowd_check(rc, "lock");
    atomic_fetch_add(&n_granted, 1);
    if (atomic_load(&releases))
        release(*g);
}

static void prepare(void)
{
    int n_clients = (int)crowd_key("clients");
    n_waiters = (int)crowd_key("waiters");
    waiters = crowd_allocate((size_t)n_waiters, sizeof *waiters);
    requests = crowd_allocate((size_t)n_waiters, sizeof *requests);
    members_reserve(n_clients + 1);
    members_open_all(n_clients + 1);
    for (int i = 0; i < n_waiters; i++)
        crowd_check(pdk_mutex_new(&waiters[i], member(1 + i % n_clients), QUEUE_PATH, NULL), "mutex");
    crowd_check(pdk_mutex_new(&holder, member(0), QUEUE_PATH, NULL), "mutex");
    phase_watch(holder);
    if (!crowd_key("missing"))
        crowd_check(pdk_mutex_lock(holder), "lock");
}

static bool all_have_places(void)
{
    int64_t ahead;
    for (int i = 0; i < n_waiters; i++)
        if (pdk_grant_state(requests[i]) == PDK_FREE && (pdk_grant_ahead(requests[i], &ahead) != 0 || ahead < 0))
            return false;
    return true;
}

static void await_places(void)
{
    while (!all_have_places()) {
        if (phase_seconds() > (double)crowd_key("limit_s"))
            crowd_fail("not all have a place after %ld s", crowd_key("limit_s"));
        crowd_nap(AGAIN_MS / 1e3);
    }
}

/* Reads and listings that come later than the places belong to the join. */
static void join(void)
{
    prepare();
    phase_begin();
    for (int i = 0; i < n_waiters; i++)
        crowd_check(pdk_mutex_lock_async(waiters[i], PDK_FOREVER, on_granted, &requests[i], &requests[i]), "lock");
    double asked = phase_seconds();
    await_places();
    double placed = phase_seconds();
    phase_settle(all_have_places);
    phase_print("join", placed);
    phase_add("ask_seconds", asked);
}

static void end(void)
{
    double from = crowd_now();
    atomic_store(&ends, true);
    for (int i = 0; i < members_count(); i++)
        member_close(i);
    phase_add("close_seconds", crowd_now() - from);
    for (int i = 0; i < n_waiters; i++)
        while (pdk_lock_free(waiters[i]) == PDK_EBUSY)
            crowd_nap(BUSY_MS / 1e3);
    while (pdk_lock_free(holder) == PDK_EBUSY)
        crowd_nap(BUSY_MS / 1e3);
    members_free();
    free(waiters);
    free(requests);
}

void scenario_join(void)
{
    join();
    end();
}

/* --- draining ---------------------------------------------------------------------------------------------------- */

static void await_done(void)
{
    while (atomic_load(&n_done) < n_waiters + 1) {
        if (phase_seconds() > (double)crowd_key("limit_s"))
            crowd_fail("%d of %d are done after %ld s", atomic_load(&n_done), n_waiters + 1, crowd_key("limit_s"));
        crowd_nap(AGAIN_MS / 1e3);
    }
}

void scenario_drain(void)
{
    join();
    phase_begin();
    atomic_store(&releases, true);
    on_released(pdk_mutex_unlock(holder), NULL);
    await_done();
    phase_print("drain", phase_seconds());
    phase_add("lost_grants", atomic_load(&n_lost));
    end();
}

/* --- faults ------------------------------------------------------------------------------------------------------ */

/* Where the holder has lost the lock, one of the waiters holds it afterwards. */
static bool all_wait(void)
{
    bool lost = pdk_lock_state(holder) == PDK_LOST;
    return all_have_places() && (atomic_load(&n_granted) > 0) == lost;
}

static int clients_of(int server)
{
    int n = 0;
    for (int i = 0; i < members_count(); i++)
        n += member_port(i) == trio_port(server);
    return n;
}

/* Without the holder, if there is such a follower, and with as many clients as possible. */
static int choose_follower(void)
{
    int leader = trio_leader(), a = (leader + 1) % TRIO, b = (leader + 2) % TRIO;
    if (member_port(0) == trio_port(a))
        return b;
    return member_port(0) == trio_port(b) || clients_of(a) > clients_of(b) ? a : b;
}

static void storm(const bool *killed)
{
    bool expire = crowd_key("expire") != 0;
    double down = expire ? 1.5 * (double)crowd_key("session_ms") / 1e3 : (double)crowd_key("down_ms") / 1e3;
    int affected = 0;
    for (int i = 0; i < TRIO; i++)
        affected += killed[i] ? clients_of(i) : 0;
    phase_begin();
    for (int i = 0; i < TRIO; i++)
        if (killed[i])
            trio_kill(i);
    crowd_nap(down);
    for (int i = 0; i < TRIO; i++)
        if (killed[i])
            trio_restart(i);
    for (int i = 0; i < TRIO; i++)
        if (killed[i])
            trio_await(i);
    double up = phase_seconds();
    double settled = phase_settle(all_wait);
    phase_print("storm", settled);
    phase_add("affected", affected);
    phase_add("down_seconds", down);
    phase_add("up_seconds", up);
    phase_add("connected_seconds", phase_second_of(members_connected_at()));
    phase_add("granted", atomic_load(&n_granted));
    end();
}

void scenario_storm_follower(void)
{
    bool killed[TRIO] = {false};
    join();
    killed[choose_follower()] = true;
    storm(killed);
}

void scenario_storm_leader(void)
{
    bool killed[TRIO] = {false};
    join();
    killed[trio_leader()] = true;
    storm(killed);
}

void scenario_storm_all(void)
{
    static const bool killed[TRIO] = {true, true, true};
    join();
    storm(killed);
}
