/* Curator's DistributedBarrier and DistributedDoubleBarrier, and ours, on one path. */
#include "interop.h"
#include "peer.h"
#include "test/lib/check.h"

static void say_and_hear(const char *words, const char *answer)
{
    program_say(&peer, "%s", words);
    CHECK_STR(program_hear(&peer), answer);
}

void curator_waits_at_our_barrier(void)
{
    pdk_barrier *b;
    const char *path = "/interop/our-barrier";
    CHECK_RC(pdk_barrier_new(&b, ours, path), PDK_OK);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    say_and_hear("0 pass 60000", "0 passed");
    CHECK_RC(pdk_barrier_set(b, LIMIT_MS), PDK_OK);
    say_and_hear("0 set", "0 set"); /* it is, and Curator finds it so */
    say_and_hear("0 pass 200", "0 stopped");
    program_say(&peer, "0 pass 60000");
    say_and_hear("1 pass 200", "1 stopped"); /* for so long at least the first has waited */
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_barrier_remove(b, LIMIT_MS), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 passed");
    CHECK_RC(pdk_barrier_free(b), PDK_OK);
}

void ours_waits_at_curators_barrier(void)
{
    pdk_barrier *b;
    const char *path = "/interop/their-barrier";
    CHECK_RC(pdk_barrier_new(&b, ours, path), PDK_OK);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    say_and_hear("0 set", "0 set");
    CHECK_RC(pdk_barrier_wait(b, 0), PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_wait(b, 200), PDK_ETIMEDOUT);
    CHECK_RC(pdk_barrier_set(b, LIMIT_MS), PDK_OK);
    program_say(&peer, "0 remove");
    CHECK_RC(pdk_barrier_wait(b, LIMIT_MS), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 removed");
    CHECK_RC(pdk_barrier_set(b, LIMIT_MS), PDK_OK);
    say_and_hear("0 remove", "0 removed"); /* ours */
    CHECK_RC(pdk_barrier_wait(b, 0), PDK_OK);
    CHECK_RC(pdk_barrier_free(b), PDK_OK);
}

/* Two of Curator's and one of ours, each of which is the last to come and to leave. */
void members_of_both_enter_and_leave_together(void)
{
    pdk_barrier *b;
    const char *path = "/interop/members";
    CHECK_RC(pdk_barrier_new_double(&b, ours, path, 3), PDK_OK);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    for (int round = 0; round < 3; round++) {
        program_say(&peer, "0 enter 3");
        CHECK_WITHIN(LIMIT_MS, count(path) == 1);
        CHECK_RC(pdk_barrier_enter(b, 200), PDK_ETIMEDOUT);
        CHECK_WITHIN(LIMIT_MS, count(path) == 1);
        program_say(&peer, "1 enter 3");
        CHECK_WITHIN(LIMIT_MS, count(path) == 2);
        CHECK(program_silent(&peer));
        CHECK_RC(pdk_barrier_enter(b, LIMIT_MS), PDK_OK);
        peer_hear_both("0 inside", "1 inside");
        CHECK_EQ(count(path), 4);
        program_say(&peer, "0 exit");
        program_say(&peer, "1 exit");
        CHECK_WITHIN(LIMIT_MS, count(path) <= 3);
        CHECK(program_silent(&peer));
        CHECK_RC(pdk_barrier_leave(b, LIMIT_MS), PDK_OK);
        peer_hear_both("0 outside", "1 outside");
        CHECK_EQ(count(path), 0);
    }
    CHECK_RC(pdk_barrier_free(b), PDK_OK);
}

/* And Curator's is the one that opens, for ours waits already. */
struct member {
    pthread_t thread;
    pdk_barrier *barrier;
    _Atomic int rc;
};

static void *enter(void *arg)
{
    struct member *m = arg;
    m->rc = pdk_barrier_enter(m->barrier, LIMIT_MS);
    return NULL;
}

static void *leave(void *arg)
{
    struct member *m = arg;
    m->rc = pdk_barrier_leave(m->barrier, LIMIT_MS);
    return NULL;
}

/* GH-1290: what doc/interop.md says of it is so, with the Curator that is installed. */
void an_entry_of_curators_ends_at_a_reconnection(void)
{
    static struct member m;
    pdk_barrier *last;
    const char *path = "/interop/early";
    CHECK_RC(pdk_barrier_new_double(&m.barrier, ours, path, 4), PDK_OK);
    CHECK_RC(pdk_barrier_new_double(&last, ours, path, 4), PDK_OK);
    m.rc = 1;
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    program_say(&peer, "0 enter 4 60000 busy");
    program_say(&peer, "1 enter 4 busy");
    CHECK_EQ(pthread_create(&m.thread, NULL, enter, &m), 0);
    CHECK_WITHIN(LIMIT_MS, count(path) == 3);
    interop_restart();
    peer_hear_both("0 inside", "1 inside");
    CHECK_EQ(count(path), 3); /* and no "ready" */
    CHECK_EQ(m.rc, 1);
    CHECK_RC(pdk_barrier_enter(last, LIMIT_MS), PDK_OK);
    CHECK_EQ(pthread_join(m.thread, NULL), 0);
    CHECK_RC(m.rc, PDK_OK);
    program_say(&peer, "0 exit");
    program_say(&peer, "1 exit");
    CHECK_EQ(pthread_create(&m.thread, NULL, leave, &m), 0);
    CHECK_RC(pdk_barrier_leave(last, LIMIT_MS), PDK_OK);
    CHECK_EQ(pthread_join(m.thread, NULL), 0);
    CHECK_RC(m.rc, PDK_OK);
    peer_hear_both("0 outside", "1 outside");
    CHECK_RC(pdk_barrier_free(m.barrier), PDK_OK);
    CHECK_RC(pdk_barrier_free(last), PDK_OK);
}

void a_killed_curator_member_is_not_waited_for(void)
{
    static struct member m;
    const char *path = "/interop/killed-member";
    CHECK_RC(pdk_barrier_new_double(&m.barrier, ours, path, 2), PDK_OK);
    peer_start(pdk__server_port(server), path, SHORT_SESSION_MS);
    CHECK_EQ(pthread_create(&m.thread, NULL, enter, &m), 0);
    CHECK_WITHIN(LIMIT_MS, count(path) == 1);
    say_and_hear("0 enter 2", "0 inside");
    CHECK_EQ(pthread_join(m.thread, NULL), 0);
    CHECK_RC(m.rc, PDK_OK);
    CHECK_EQ(count(path), 3);
    program_kill(&peer);
    CHECK_RC(pdk_barrier_leave(m.barrier, LIMIT_MS), PDK_OK);
    CHECK_EQ(count(path), 0);
    CHECK_RC(pdk_barrier_free(m.barrier), PDK_OK);
}
