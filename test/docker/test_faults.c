/*
 * The mutex on three real servers, one of which is always being killed, frozen, cut off or restarted. See docker/check,
 * which brings up the servers and runs this.
 *
 * Tests end with the laws of test/docker/history.h, and with a lock that is still good for a round.
 */
#include "test/docker/scene.h"
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
    pdk__lab_beat();
}

static void teardown(void)
{
    pdk__crew_abandon();
    pdk__lab_beat_stop();
}

static void copy(char name[static 16], const char *from) { snprintf(name, 16, "%s", from); }

/* --- servers that go away ---------------------------------------------------------------------------------------- */

static void leader_killed(void)
{
    char leader[16];
    int q[3];
    scene_begin();
    for (int i = 0; i < 3; i++)
        q[i] = scene_queue_up(pdk__crew_hire(PATIENT_MS));
    struct pdk__event grant = scene_granted(q[0]);
    copy(leader, pdk__fault("server leader"));
    pdk__fault("kill %s", leader);
    for (int i = 0; i < 3; i++)
        scene_reconnected(q[i]);
    scene_still_holds(q[0], &grant, q + 1, 2);
    scene_serve(q, 3);
    pdk__fault("start %s", leader);
    scene_finish(q[0]);
}

static void follower_killed(void)
{
    char follower[16];
    scene_begin();
    copy(follower, pdk__fault("server follower"));
    int q[3];
    for (int i = 0; i < 3; i++)
        q[i] = scene_queue_up(scene_hire_at(follower, i < 2, PATIENT_MS));
    struct pdk__event grant = scene_granted(q[0]);
    pdk__fault("kill %s", follower);
    scene_moved(q[0], follower);
    scene_moved(q[1], follower);
    scene_still_holds(q[0], &grant, q + 1, 2);
    scene_serve(q, 3);
    pdk__fault("start %s", follower);
    scene_finish(q[0]);
}

/* It wakes up believing that it leads; by then the lock has had other holders. A client of this leader leaves it only
 * after two thirds of a session, in which nothing can be proven, so that client is not the holder. */
static void leader_paused(void)
{
    char leader[16];
    scene_begin();
    copy(leader, pdk__fault("server leader"));
    int q[3];
    for (int i = 0; i < 3; i++)
        q[i] = scene_queue_up(scene_hire_at(leader, i == 1, PATIENT_MS));
    struct pdk__event grant = scene_granted(q[0]);
    pdk__fault("pause %s", leader);
    scene_reconnected(q[0]);
    scene_reconnected(q[2]);
    scene_still_holds(q[0], &grant, q + 1, 2);
    scene_moved(q[1], leader);
    scene_serve(q, 3);
    pdk__fault("unpause %s", leader);
    scene_finish(q[0]);
}

/* --- clients that are cut off ------------------------------------------------------------------------------------ */

static void client_cut_briefly(void)
{
    scene_begin();
    int q[2] = {scene_queue_up(pdk__crew_hire(USUAL_MS)), scene_queue_up(pdk__crew_hire(USUAL_MS))};
    struct pdk__event grant = scene_granted(q[0]);
    pdk__fault("cut-client %d", pdk__crew_place(q[0]));
    CHECK_EQ(pdk__crew_await(q[0], "suspect", 1, SOON_MS).token, grant.token);
    pdk__fault("heal-client %d", pdk__crew_place(q[0]));
    CHECK_EQ(pdk__crew_await(q[0], "held", 1, SOON_MS).token, grant.token);
    scene_still_holds(q[0], &grant, q + 1, 1);
    scene_serve(q, 2);
    scene_finish(q[0]);
}

/* No server tells it that its session ends, and yet it stops believing before the servers grant the lock to another. */
static void client_cut_for_long(void)
{
    scene_begin();
    int first = scene_queue_up(pdk__crew_hire(USUAL_MS)), next = scene_queue_up(pdk__crew_hire(USUAL_MS));
    struct pdk__event grant = scene_granted(first);
    pdk__fault("cut-client %d", pdk__crew_place(first));
    struct pdk__event lost = pdk__crew_await(first, "lost", 1, SOON_MS), second = scene_granted(next);
    CHECK_EQ(lost.token, grant.token);
    CHECK(second.token > grant.token);
    CHECK(lost.ns < second.ns);
    pdk__fault("heal-client %d", pdk__crew_place(first));
    CHECK_EQ(pdk__crew_do(first, "state", "state", SOON_MS).rc, PDK_LOST);
    CHECK_RC(pdk__crew_do(first, "unlock", "released", SOON_MS).rc, PDK_ELOST);
    scene_queue_up(first);
    CHECK_EQ(pdk__crew_count(first, "granted"), 1);
    scene_unlock(next);
    struct pdk__event third = scene_granted(first);
    CHECK(third.token > second.token);
    CHECK(third.session != grant.session);
    scene_unlock(first);
    scene_finish(next);
}

/* --- a follower that is cut off, with clients that are not ------------------------------------------------------- */

/* The last one asks for the lock through the follower after the cut, and has to find out whether its node exists. */
static void part_follower(const char *fault)
{
    char follower[16];
    scene_begin();
    copy(follower, pdk__fault("server follower"));
    int q[4], late = scene_hire_at(follower, true, PATIENT_MS);
    for (int i = 0; i < 3; i++)
        q[i] = scene_queue_up(scene_hire_at(follower, i < 2, PATIENT_MS));
    struct pdk__event grant = scene_granted(q[0]);
    q[3] = late;
    pdk__fault("%s %s", fault, follower);
    pdk__crew_order(late, "lock");
    for (int i = 0; i < 4; i++)
        if (i != 2)
            scene_moved(q[i], follower);
    CHECK_WITHIN(SOON_MS, scene_nodes() == 4);
    scene_still_holds(q[0], &grant, q + 1, 3);
    pdk__fault("heal %s", follower);
    scene_serve(q, 4);
    scene_finish(q[0]);
}

static void follower_cut_off(void) { part_follower("cut-follower-from-leader"); }

static void follower_deaf(void) { part_follower("deafen-follower"); }

/* The follower still answers the holder's pings, and the holder knows no other server. The holder waits neither for the
 * event that its session has ended, nor for a server that can send it. */
static void follower_cut_off_for_long(void)
{
    char follower[16];
    scene_begin();
    copy(follower, pdk__fault("server follower"));
    int first = scene_queue_up(scene_hire_only_at(follower, BRIEF_MS));
    int next = scene_queue_up(scene_hire_at(follower, false, PATIENT_MS));
    struct pdk__event grant = scene_granted(first);
    pdk__fault("cut-follower-from-leader %s", follower);
    struct pdk__event lost = pdk__crew_await(first, "lost", 1, SOON_MS), second = scene_granted(next);
    CHECK_EQ(lost.token, grant.token);
    CHECK(second.token > grant.token);
    CHECK(lost.ns < second.ns);
    CHECK_RC(pdk__crew_do(first, "unlock", "released", SOON_MS).rc, PDK_ELOST);
    pdk__fault("heal %s", follower);
    scene_queue_up(first);
    scene_unlock(next);
    CHECK(scene_granted(first).token > second.token);
    scene_unlock(first);
    scene_finish(next);
}

/* --- everything, one after another ------------------------------------------------------------------------------- */

static void rolling_restart(void)
{
    enum { N = 4 };
    scene_begin();
    scene_contend(N, PATIENT_MS);
    pdk__fault("rolling-restart");
    scene_contended(N);
    scene_finish(0);
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
