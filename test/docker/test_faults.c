/*
 * The mutex on three real servers, one of which is always being killed, frozen, cut off or restarted. See docker/check,
 * which brings up the servers and runs this.
 *
 * Every test ends with the laws of test/docker/history.h, and with a lock that is still good for a round.
 */
#include "test/docker/crew.h"
#include "test/docker/lab.h"
#include "test/lib/check.h"

#include <paddock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Only spent when something is wrong. */
enum { SOON_MS = 60000 };

/*
 * Sessions. A holder is told LOST a third of its session after it was disconnected, and the address of a server that
 * was killed swallows packets for three seconds, until the kernel knows that nobody is there: a patient session
 * outlives that. With the ticks of the quick profile a server gives up a silent peer after two seconds: a brief one
 * does not outlive that.
 */
enum { PATIENT_MS = 24000, USUAL_MS = 12000, SHORT_MS = 4000, BRIEF_MS = 1200 };

static char path[128];
static struct pdk__seen seen[PDK__LAB_SEEN_MAX];

/* --- scenes ------------------------------------------------------------------------------------------------------ */

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

static void begin(void)
{
    static int n;
    snprintf(path, sizeof path, "/paddock-faults/%d-%d", (int)getpid(), ++n);
    pdk__crew_begin(path);
    pdk__fault("recover");
}

static void copy(char name[static 16], const char *from) { snprintf(name, 16, "%s", from); }

/* A new worker whose session is with the server of that name, or is not. */
static int hire_at(const char *server, bool at, int session_ms)
{
    for (;;) {
        int who = pdk__crew_hire(session_ms);
        if ((strcmp(pdk__lab_server_of(pdk__crew_last(who, "connected")->session), server) == 0) == at)
            return who;
        pdk__crew_dismiss(who);
    }
}

/* Let WHO wait, as the last of the queue; its node is there when this returns. */
static int queue_up(int who)
{
    size_t before = pdk__lab_look(path, seen);
    pdk__crew_order(who, "lock");
    CHECK_WITHIN(SOON_MS, pdk__lab_look(path, seen) == before + 1);
    return who;
}

/* The grant that WHO has, or will soon have: the servers must agree that it is first. */
static struct pdk__event granted(int who)
{
    struct pdk__event e = pdk__crew_await(who, "granted", pdk__crew_count(who, "released") + 1, SOON_MS);
    CHECK(pdk__lab_look(path, seen) >= 1);
    CHECK_EQ(seen[0].token, e.token);
    CHECK_EQ(seen[0].session, e.session);
    return e;
}

static struct pdk__event lock(int who)
{
    pdk__crew_order(who, "lock");
    return granted(who);
}

static void unlock(int who) { CHECK_RC(pdk__crew_do(who, "unlock", "released", SOON_MS).rc, PDK_OK); }

/* WHO was without a server for a while, and has one again. */
static void reconnected(int who)
{
    pdk__crew_await(who, "suspended", 1, SOON_MS);
    pdk__crew_await(who, "connected", 2, SOON_MS);
}

/* WHO has left SERVER for another. It may have been so quick that it was told of no change. */
static void moved(int who, const char *server)
{
    int64_t session = pdk__crew_last(who, "connected")->session;
    const char *now;
    CHECK_WITHIN(SOON_MS, *(now = pdk__lab_server_of(session)) != '\0' && strcmp(now, server) != 0);
}

/* GRANT stands as it did, for its holder and for the servers, and nobody of N others has got one. */
static void still_holds(int who, const struct pdk__event *grant, const int *others, size_t n)
{
    CHECK_WITHIN(SOON_MS, pdk__crew_do(who, "state", "state", SOON_MS).rc == PDK_HELD);
    CHECK_EQ(pdk__crew_last(who, "state")->token, grant->token);
    CHECK_EQ(pdk__crew_last(who, "state")->session, grant->session);
    CHECK_EQ(pdk__crew_count(who, "lost"), 0);
    CHECK(pdk__lab_look(path, seen) >= 1);
    CHECK_EQ(seen[0].token, grant->token);
    CHECK_EQ(seen[0].session, grant->session);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(pdk__crew_count(others[i], "granted"), 0);
}

/* The queue is served in its order, to its end. */
static void serve(const int *queue, size_t n)
{
    int64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        struct pdk__event e = granted(queue[i]);
        CHECK(e.token > last);
        last = e.token;
        unlock(queue[i]);
    }
    CHECK_EQ(pdk__lab_look(path, seen), 0);
}

/* And after all this the lock is as good as new. */
static void finish(int who)
{
    lock(who);
    unlock(who);
    pdk__crew_judge();
    pdk__crew_end();
}

/* --- servers that go away ---------------------------------------------------------------------------------------- */

static void leader_killed(void)
{
    char leader[16];
    int q[3];
    begin();
    for (int i = 0; i < 3; i++)
        q[i] = queue_up(pdk__crew_hire(PATIENT_MS));
    struct pdk__event grant = granted(q[0]);
    copy(leader, pdk__fault("server leader"));
    pdk__fault("kill %s", leader);
    for (int i = 0; i < 3; i++)
        reconnected(q[i]);
    still_holds(q[0], &grant, q + 1, 2);
    serve(q, 3);
    pdk__fault("start %s", leader);
    finish(q[0]);
}

static void follower_killed(void)
{
    char follower[16];
    begin();
    copy(follower, pdk__fault("server follower"));
    int q[3];
    for (int i = 0; i < 3; i++)
        q[i] = queue_up(hire_at(follower, i < 2, PATIENT_MS));
    struct pdk__event grant = granted(q[0]);
    pdk__fault("kill %s", follower);
    moved(q[0], follower);
    moved(q[1], follower);
    still_holds(q[0], &grant, q + 1, 2);
    serve(q, 3);
    pdk__fault("start %s", follower);
    finish(q[0]);
}

/* It wakes up believing that it leads; by then the lock has gone through other hands. */
static void leader_paused(void)
{
    char leader[16];
    begin();
    copy(leader, pdk__fault("server leader"));
    int q[3];
    for (int i = 0; i < 3; i++)
        q[i] = queue_up(hire_at(leader, i == 0, USUAL_MS));
    struct pdk__event grant = granted(q[0]);
    pdk__fault("pause %s", leader);
    moved(q[0], leader);
    reconnected(q[1]);
    reconnected(q[2]);
    still_holds(q[0], &grant, q + 1, 2);
    serve(q, 3);
    pdk__fault("unpause %s", leader);
    finish(q[0]);
}

/* --- clients that are cut off ------------------------------------------------------------------------------------ */

static void client_cut_briefly(void)
{
    begin();
    int q[2] = {queue_up(pdk__crew_hire(USUAL_MS)), queue_up(pdk__crew_hire(USUAL_MS))};
    struct pdk__event grant = granted(q[0]);
    pdk__fault("cut-client %d", pdk__crew_place(q[0]));
    CHECK_EQ(pdk__crew_await(q[0], "suspect", 1, SOON_MS).token, grant.token);
    pdk__fault("heal-client %d", pdk__crew_place(q[0]));
    CHECK_EQ(pdk__crew_await(q[0], "held", 1, SOON_MS).token, grant.token);
    still_holds(q[0], &grant, q + 1, 1);
    serve(q, 2);
    finish(q[0]);
}

static void client_cut_for_long(void)
{
    begin();
    int first = queue_up(pdk__crew_hire(SHORT_MS)), next = queue_up(pdk__crew_hire(SHORT_MS));
    struct pdk__event grant = granted(first);
    pdk__fault("cut-client %d", pdk__crew_place(first));
    struct pdk__event second = granted(next);
    CHECK(second.token > grant.token);
    CHECK(pdk__crew_await(first, "suspect", 1, SOON_MS).ns < second.ns);
    pdk__fault("heal-client %d", pdk__crew_place(first));
    CHECK_EQ(pdk__crew_await(first, "lost", 1, SOON_MS).token, grant.token);
    CHECK_EQ(pdk__crew_do(first, "state", "state", SOON_MS).rc, PDK_LOST);
    CHECK_RC(pdk__crew_do(first, "unlock", "released", SOON_MS).rc, PDK_ELOST);
    queue_up(first);
    CHECK_EQ(pdk__crew_count(first, "granted"), 1);
    unlock(next);
    struct pdk__event third = granted(first);
    CHECK(third.token > second.token);
    CHECK(third.session != grant.session);
    unlock(first);
    finish(next);
}

/* --- a follower that is cut off, with clients that are not ------------------------------------------------------- */

/* The last one asks for the lock through the follower after the cut: what became of its node it has to find out. */
static void part_follower(const char *fault)
{
    char follower[16];
    begin();
    copy(follower, pdk__fault("server follower"));
    int q[4], late = hire_at(follower, true, PATIENT_MS);
    for (int i = 0; i < 3; i++)
        q[i] = queue_up(hire_at(follower, i < 2, PATIENT_MS));
    struct pdk__event grant = granted(q[0]);
    q[3] = late;
    pdk__fault("%s %s", fault, follower);
    pdk__crew_order(late, "lock");
    for (int i = 0; i < 4; i++)
        if (i != 2)
            moved(q[i], follower);
    CHECK_WITHIN(SOON_MS, pdk__lab_look(path, seen) == 4);
    still_holds(q[0], &grant, q + 1, 3);
    pdk__fault("heal %s", follower);
    serve(q, 4);
    finish(q[0]);
}

static void follower_cut_off(void) { part_follower("cut-follower-from-leader"); }

static void follower_deaf(void) { part_follower("deafen-follower"); }

/*
 * The leader ends the session while the follower still answers the holder's pings: what the holder believes in that
 * time is wrong, and only the servers are asked. (It is why a resource should look at tokens.)
 */
static void follower_cut_off_for_long(void)
{
    char follower[16];
    begin();
    copy(follower, pdk__fault("server follower"));
    int q[3];
    for (int i = 0; i < 3; i++)
        q[i] = queue_up(hire_at(follower, i < 2, i < 2 ? BRIEF_MS : PATIENT_MS));
    struct pdk__event grant = granted(q[0]);
    pdk__fault("cut-follower-from-leader %s", follower);
    struct pdk__event second = granted(q[2]);
    CHECK(second.token > grant.token);
    CHECK_EQ(pdk__crew_await(q[0], "lost", 1, SOON_MS).token, grant.token);
    CHECK_RC(pdk__crew_do(q[0], "unlock", "released", SOON_MS).rc, PDK_ELOST);
    pdk__fault("heal %s", follower);
    unlock(q[2]);
    struct pdk__event third = granted(q[1]);
    CHECK(third.token > second.token);
    CHECK(third.session != pdk__crew_last(q[1], "waiting")->session);
    unlock(q[1]);
    CHECK(lock(q[0]).token > third.token);
    unlock(q[0]);
    CHECK_EQ(pdk__lab_look(path, seen), 0);
    pdk__crew_end();
}

/* --- everything, one after another ------------------------------------------------------------------------------- */

static void check_rounds(int who)
{
    CHECK_EQ(pdk__crew_count(who, "failed"), 0);
    CHECK_EQ(pdk__crew_count(who, "granted"), pdk__crew_count(who, "waiting"));
    CHECK_EQ(pdk__crew_count(who, "released"), pdk__crew_count(who, "waiting"));
}

static void rolling_restart(void)
{
    enum { N = 4, MORE = 5 };
    begin();
    for (int i = 0; i < N; i++)
        pdk__crew_hire(PATIENT_MS);
    for (int i = 0; i < N; i++)
        pdk__crew_order(i, "run");
    for (int i = 0; i < N; i++)
        pdk__crew_await(i, "released", MORE, SOON_MS);
    pdk__fault("rolling-restart");
    for (int i = 0; i < N; i++)
        pdk__crew_await(i, "released", pdk__crew_count(i, "released") + MORE, SOON_MS);
    for (int i = 0; i < N; i++)
        pdk__crew_order(i, "state");
    for (int i = 0; i < N; i++) {
        pdk__crew_await(i, "done", 1, SOON_MS);
        check_rounds(i);
    }
    CHECK_EQ(pdk__lab_look(path, seen), 0);
    finish(0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the leader is killed: the holder holds on, the lock is handed on", leader_killed},
        {"the follower of the holder is killed: the holder holds on, the lock is handed on", follower_killed},
        {"the leader is paused: nobody holds twice, the lock is handed on without it", leader_paused},
        {"a client cut off for less than its session is SUSPECT, then HELD with the same token", client_cut_briefly},
        {"a client cut off for more than its session is LOST, the next is granted", client_cut_for_long},
        {"a follower cut off from its leader costs nobody the place in the queue", follower_cut_off},
        {"a create whose answer its follower never heard is found again, and not made twice", follower_deaf},
        {"a follower cut off for longer than a session: one grant at a time on the servers", follower_cut_off_for_long},
        {"every round of four contenders is served through a rolling restart", rolling_restart},
        {0},
    };
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "faults", .tests = tests, .setup = setup, .teardown = teardown, .limit_ms = 300000});
}
