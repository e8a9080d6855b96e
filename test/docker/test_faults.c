/*
 * The mutex on three real servers, one of which is always being killed, frozen, cut off or restarted. See docker/check,
 * which brings up the servers and runs this.
 *
 * Tests end with the laws of test/chaos/findings.h, and with a lock that is still good for a round.
 */
#include "test/docker/scenario.h"
#include "test/lib/check.h"

#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Sessions. A holder can be LOST as early as three tenths of its session after it was last connected: a patient one
 * outlives elections and restarts, on slow machines too. With the ticks of the quick profile a server gives up a silent
 * peer after two seconds: a brief session does not outlive that.
 */
enum { PATIENT_MS = 24000, USUAL_MS = 12000, BRIEF_MS = 1200 };

static void setup(void)
{
    if (getenv("PADDOCK_TEST_HOSTS") == NULL)
        SKIP("no ensemble; docker/check brings one up");
    servers_beat();
}

static void teardown(void)
{
    workers_abandon();
    servers_beat_stop();
}

static void copy(char name[static 16], const char *from) { snprintf(name, 16, "%s", from); }

/* --- servers that go away ---------------------------------------------------------------------------------------- */

static void leader_killed(void)
{
    char leader[16];
    int q[3];
    scenario_begin();
    for (int i = 0; i < 3; i++)
        q[i] = scenario_queue_up(workers_hire(PATIENT_MS));
    struct record grant = scenario_granted(q[0]);
    copy(leader, pdk__fault("server leader"));
    pdk__fault("kill %s", leader);
    for (int i = 0; i < 3; i++)
        scenario_reconnected(q[i]);
    scenario_still_holds(q[0], &grant, q + 1, 2);
    scenario_serve(q, 3);
    pdk__fault("start %s", leader);
    scenario_finish(q[0]);
}

static void follower_killed(void)
{
    char follower[16];
    scenario_begin();
    copy(follower, pdk__fault("server follower"));
    int q[3];
    for (int i = 0; i < 3; i++)
        q[i] = scenario_queue_up(scenario_hire_at(follower, i < 2, PATIENT_MS));
    struct record grant = scenario_granted(q[0]);
    pdk__fault("kill %s", follower);
    scenario_moved(q[0], follower);
    scenario_moved(q[1], follower);
    scenario_still_holds(q[0], &grant, q + 1, 2);
    scenario_serve(q, 3);
    pdk__fault("start %s", follower);
    scenario_finish(q[0]);
}

/* It wakes up believing that it leads; by then the lock has had other holders. A client of this leader leaves it only
 * after two thirds of a session, in which nothing can be proven, so that client is not the holder. */
static void leader_paused(void)
{
    char leader[16];
    scenario_begin();
    copy(leader, pdk__fault("server leader"));
    int q[3];
    for (int i = 0; i < 3; i++)
        q[i] = scenario_queue_up(scenario_hire_at(leader, i == 1, PATIENT_MS));
    struct record grant = scenario_granted(q[0]);
    pdk__fault("pause %s", leader);
    scenario_reconnected(q[0]);
    scenario_reconnected(q[2]);
    scenario_still_holds(q[0], &grant, q + 1, 2);
    scenario_moved(q[1], leader);
    scenario_serve(q, 3);
    pdk__fault("unpause %s", leader);
    scenario_finish(q[0]);
}

/* --- clients that are cut off ------------------------------------------------------------------------------------ */

static void client_cut_briefly(void)
{
    scenario_begin();
    int q[2] = {scenario_queue_up(workers_hire(USUAL_MS)), scenario_queue_up(workers_hire(USUAL_MS))};
    struct record grant = scenario_granted(q[0]);
    pdk__fault("cut-client %d", workers_place(q[0]));
    CHECK_EQ(workers_await(q[0], "suspect", 1, SOON_MS).token, grant.token);
    pdk__fault("heal-client %d", workers_place(q[0]));
    CHECK_EQ(workers_await(q[0], "held", 1, SOON_MS).token, grant.token);
    scenario_still_holds(q[0], &grant, q + 1, 1);
    scenario_serve(q, 2);
    scenario_finish(q[0]);
}

/* No server tells it that its session ends, and yet it stops believing before the servers grant the lock to another. */
static void client_cut_for_long(void)
{
    scenario_begin();
    int first = scenario_queue_up(workers_hire(USUAL_MS)), next = scenario_queue_up(workers_hire(USUAL_MS));
    struct record grant = scenario_granted(first);
    pdk__fault("cut-client %d", workers_place(first));
    struct record lost = workers_await(first, "lost", 1, SOON_MS), second = scenario_granted(next);
    CHECK_EQ(lost.token, grant.token);
    CHECK(second.token > grant.token);
    CHECK(lost.ns < second.ns);
    pdk__fault("heal-client %d", workers_place(first));
    CHECK_EQ(workers_do(first, "state", "state", SOON_MS).rc, PDK_LOST);
    CHECK_RC(workers_do(first, "unlock", "released", SOON_MS).rc, PDK_ELOST);
    scenario_queue_up(first);
    CHECK_EQ(workers_count(first, "granted"), 1);
    scenario_unlock(next);
    struct record third = scenario_granted(first);
    CHECK(third.token > second.token);
    CHECK(third.session != grant.session);
    scenario_unlock(first);
    scenario_finish(next);
}

/* --- a follower that is cut off, with clients that are not ------------------------------------------------------- */

/* The last one asks for the lock through the follower after the cut, and has to find out whether its node exists. */
static void part_follower(const char *fault)
{
    char follower[16];
    scenario_begin();
    copy(follower, pdk__fault("server follower"));
    int q[4], late = scenario_hire_at(follower, true, PATIENT_MS);
    for (int i = 0; i < 3; i++)
        q[i] = scenario_queue_up(scenario_hire_at(follower, i < 2, PATIENT_MS));
    struct record grant = scenario_granted(q[0]);
    q[3] = late;
    pdk__fault("%s %s", fault, follower);
    workers_order(late, "lock");
    for (int i = 0; i < 4; i++)
        if (i != 2)
            scenario_moved(q[i], follower);
    CHECK_WITHIN(SOON_MS, scenario_nodes() == 4);
    scenario_still_holds(q[0], &grant, q + 1, 3);
    pdk__fault("heal %s", follower);
    scenario_serve(q, 4);
    scenario_finish(q[0]);
}

static void follower_cut_off(void) { part_follower("cut-follower-from-leader"); }

static void follower_deaf(void) { part_follower("deafen-follower"); }

/* The follower still answers the holder's pings, and the holder knows no other server. The holder waits neither for the
 * event that its session has ended, nor for a server that can send it. */
static void follower_cut_off_for_long(void)
{
    char follower[16];
    scenario_begin();
    copy(follower, pdk__fault("server follower"));
    int first = scenario_queue_up(scenario_hire_only_at(follower, BRIEF_MS));
    int next = scenario_queue_up(scenario_hire_at(follower, false, PATIENT_MS));
    struct record grant = scenario_granted(first);
    pdk__fault("cut-follower-from-leader %s", follower);
    struct record lost = workers_await(first, "lost", 1, SOON_MS), second = scenario_granted(next);
    CHECK_EQ(lost.token, grant.token);
    CHECK(second.token > grant.token);
    CHECK(lost.ns < second.ns);
    CHECK_RC(workers_do(first, "unlock", "released", SOON_MS).rc, PDK_ELOST);
    pdk__fault("heal %s", follower);
    scenario_queue_up(first);
    scenario_unlock(next);
    CHECK(scenario_granted(first).token > second.token);
    scenario_unlock(first);
    scenario_finish(next);
}

/* --- everything, one after another ------------------------------------------------------------------------------- */

static void rolling_restart(void)
{
    enum { N = 4 };
    scenario_begin();
    scenario_contend(N, PATIENT_MS);
    pdk__fault("rolling-restart");
    scenario_contended(N);
    scenario_finish(0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the leader is killed: the holder holds on, the lock is handed on", leader_killed},
        {"the follower of the holder is killed: the holder holds on, the lock is handed on", follower_killed},
        {"the leader is paused: nobody holds twice, the lock is handed on without it", leader_paused},
        {"a client cut off for less than its session is SUSPECT, then HELD with the same token", client_cut_briefly},
        {"a client cut off for more than its session is LOST before the next is granted", client_cut_for_long},
        {"a follower cut off from its leader costs nobody the place in the queue", follower_cut_off},
        {"a create whose answer its follower never heard is found again, and not made twice", follower_deaf},
        {"a follower cut off for longer than a session: LOST before the next is granted", follower_cut_off_for_long},
        {"every round of four contenders is served through a rolling restart", rolling_restart},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "faults", .tests = tests, .setup = setup, .teardown = teardown, .limit_ms = 300000});
}
