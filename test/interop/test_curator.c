/* Curator's locks, semaphores and leaders and ours on one path, on a real server: they exclude each other and read each
 * other. */
#include "interop.h"
#include "peer.h"
#include "test/lib/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void curator_waits_for_ours(void)
{
    const char *path = "/interop/ours-first";
    pdk_mutex *m = new_mutex(ours, path);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    CHECK_RC(pdk_mutex_lock(m), PDK_OK);
    program_say(&peer, "0 trylock 1");
    CHECK_STR(program_hear(&peer), "0 busy");
    program_say(&peer, "0 lock");
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 locked");
    program_say(&peer, "0 unlock");
    CHECK_STR(program_hear(&peer), "0 unlocked");
    CHECK_EQ(count(path), 0);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
}

static void ours_waits_for_curator(void)
{
    const char *path = "/interop/curator-first";
    static struct waiter w;
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    program_say(&peer, "0 lock");
    CHECK_STR(program_hear(&peer), "0 locked");
    waiter_start(&w, new_mutex(ours, path));
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    CHECK(!w.held);
    program_say(&peer, "0 unlock");
    CHECK_STR(program_hear(&peer), "0 unlocked");
    waiter_finish(&w);
}

static void trylock_writes_nothing_while_curator_holds(void)
{
    const char *path = "/interop/try";
    pdk_mutex *m = new_mutex(ours, path);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    program_say(&peer, "0 lock");
    CHECK_STR(program_hear(&peer), "0 locked");
    long long before = last_zxid();
    CHECK_RC(pdk_mutex_trylock(m), PDK_EBUSY);
    CHECK_EQ(last_zxid(), before);
    program_say(&peer, "0 unlock");
    CHECK_STR(program_hear(&peer), "0 unlocked");
    CHECK_RC(pdk_mutex_trylock(m), PDK_OK);
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
}

/* Ours and Curator's in turn, the holder first. Curator's expected answers about them are left in NODES and SIZES. */
static void check_list(const char *path, char nodes[1024], char sizes[256])
{
    pdk_contender_list *l = list(path);
    int n = snprintf(nodes, 1024, "2 nodes"), s = snprintf(sizes, 256, "2 sizes");
    CHECK_EQ(pdk_contender_list_size(l), 4);
    for (size_t i = 0; i < 4; i++) {
        size_t size = 0;
        bool curators = i % 2 == 1;
        CHECK_EQ(pdk_contender_number(l, i, PDK_CONTENDER_DIALECT),
                 curators ? PDK_DIALECT_CURATOR : PDK_DIALECT_PADDOCK);
        CHECK(pdk_contender_data(l, i, &size) != NULL);
        CHECK(size > 0);
        CHECK_EQ(pdk_contender_number(l, i, PDK_CONTENDER_PID), curators ? 0 : getpid());
        n += snprintf(nodes + n, 1024 - (size_t)n, " %s", pdk_contender_text(l, i, PDK_CONTENDER_NAME));
        s += snprintf(sizes + s, 256 - (size_t)s, " %zu", size);
    }
    pdk_contender_list_free(l);
}

static void each_lists_the_contenders_of_the_other(void)
{
    const char *path = "/interop/lists";
    char nodes[1024], sizes[256];
    pdk_client *second = new_client(LONG_SESSION_MS);
    pdk_mutex *m = new_mutex(ours, path);
    static struct waiter w;
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    CHECK_RC(pdk_mutex_lock(m), PDK_OK);
    program_say(&peer, "0 lock");
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    waiter_start(&w, new_mutex(second, path));
    CHECK_WITHIN(LIMIT_MS, count(path) == 3);
    program_say(&peer, "1 lock");
    CHECK_WITHIN(LIMIT_MS, count(path) == 4);
    check_list(path, nodes, sizes);
    program_say(&peer, "2 nodes");
    CHECK_STR(program_hear(&peer), nodes);
    program_say(&peer, "2 sizes");
    CHECK_STR(program_hear(&peer), sizes);
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 locked");
    program_say(&peer, "0 unlock");
    peer_hear_both("0 unlocked", "1 locked");
    CHECK(w.held);
    waiter_finish(&w);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
    CHECK_RC(pdk_client_free(second), PDK_OK);
}

static void note(pdk_mutex *m, const pdk_event *event, void *arg)
{
    (void)m;
    *(_Atomic int *)arg += event->kind == PDK_EVENT_REVOKED;
}

static void curator_asks_ours(void)
{
    const char *path = "/interop/asked";
    static _Atomic int asked;
    pdk_mutex *m = new_mutex(ours, path);
    CHECK_RC(pdk_lock_on_event(m, note, &asked), PDK_OK);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    CHECK_RC(pdk_mutex_lock(m), PDK_OK);
    program_say(&peer, "0 revoke");
    CHECK_STR(program_hear(&peer), "0 revoked");
    CHECK_WITHIN(LIMIT_MS, asked == 1);
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
}

static void ours_asks_curator(void)
{
    const char *path = "/interop/asks";
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    program_say(&peer, "0 revocable");
    CHECK_STR(program_hear(&peer), "0 revocable");
    program_say(&peer, "0 lock");
    CHECK_STR(program_hear(&peer), "0 locked");
    pdk_contender_list *holders = list(path);
    CHECK_RC(pdk_contender_revoke(ours, holders, 0, LIMIT_MS), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 asked");
    pdk_contender_list_free(holders);
    program_say(&peer, "0 unlock");
    CHECK_STR(program_hear(&peer), "0 unlocked");
}

static void a_killed_curator_lets_ours_in(void)
{
    const char *path = "/interop/killed-curator";
    pdk_mutex *m = new_mutex(ours, path);
    peer_start(pdk__server_port(server), path, SHORT_SESSION_MS);
    program_say(&peer, "0 lock");
    CHECK_STR(program_hear(&peer), "0 locked");
    program_kill(&peer);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EBUSY); /* its session lives on for a while */
    CHECK_RC(pdk_mutex_timedlock(m, LIMIT_MS), PDK_OK);
    CHECK_EQ(count(path), 1);
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
}

static pid_t hold_in_child(const char *path)
{
    int told[2];
    char byte;
    CHECK_EQ(pipe2(told, O_CLOEXEC), 0);
    pid_t child = pdk__test_fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_RC(pdk_mutex_lock(new_mutex(new_client(SHORT_SESSION_MS), path)), PDK_OK);
        CHECK_EQ(write(told[1], "!", 1), 1);
        for (;;)
            pause();
    }
    close(told[1]);
    CHECK_EQ(read(told[0], &byte, 1), 1);
    close(told[0]);
    return child;
}

static void a_killed_process_of_ours_lets_curator_in(void)
{
    const char *path = "/interop/killed-ours";
    /* First: it may take longer than the child's session, which is short. */
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    pid_t child = hold_in_child(path);
    program_say(&peer, "0 lock");
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    CHECK_EQ(kill(child, SIGKILL), 0);
    CHECK_EQ(pdk__test_wait(child), -SIGKILL);
    CHECK_STR(program_hear(&peer), "0 locked");
    CHECK_EQ(count(path), 1);
}

static void set_up(void)
{
    interop_open();
    peer_compile(pdk__server_dir(server));
}

static void start(const char *path) { peer_start(pdk__server_port(server), path, LONG_SESSION_MS); }

static void ours_comes_after_the_end(void)
{
    across_the_end("/interop/end", start, &(struct dialogue){"0 lock", "0 locked", "0 unlock", "0 unlocked"});
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"Curator waits while ours holds, and gets the lock on our unlock", curator_waits_for_ours},
        {"ours waits while Curator holds, and gets the lock on its unlock", ours_waits_for_curator},
        {"trylock says busy and writes nothing while Curator holds", trylock_writes_nothing_while_curator_holds},
        {"each lists the other's contenders in order, with their data", each_lists_the_contenders_of_the_other},
        {"Curator asks ours to give the lock back", curator_asks_ours},
        {"ours asks Curator to give the lock back", ours_asks_curator},
        {"three of each take turns in their order, never two at once", three_of_each_take_turns},
        {"a killed Curator lets ours in once its session is over", a_killed_curator_lets_ours_in},
        {"a killed process of ours lets Curator in once its session is over", a_killed_process_of_ours_lets_curator_in},
        {"ours comes after the end of the path's numbers, and waits for Curator", ours_comes_after_the_end},
        {"Curator's latch leads, ours stands, and leads when it resigns", ours_stands_while_curator_leads},
        {"our latch leads, Curator's stands and names our id, and leads when it resigns",
         curator_stands_while_ours_leads},
        {"a killed leader of Curator's is followed by ours", a_killed_curator_leader_is_followed_by_ours},
        {"Curator's LeaderSelector and ours lead in turns", ours_and_curators_selector_take_turns},
        {"readers of both hold at once", readers_of_both_hold_at_once},
        {"Curator's reader and writer wait for our writer", curators_reader_and_writer_wait_for_our_writer},
        {"our writer waits among Curator's readers, in its turn", our_writer_waits_among_curators_readers},
        {"our writer that reads on keeps Curator's writer out", our_writer_that_reads_on_keeps_curators_writer_out},
        {"permits of both are counted together", permits_of_both_are_counted_together},
        {"Curator waits for our permits", curator_waits_for_our_permits},
        {"ours waits for Curator's permits", ours_waits_for_curators_permits},
        {"a semaphore with one permit is Curator's InterProcessSemaphoreMutex", one_permit_is_curators_semaphore_mutex},
        {"ours and Curator follow one SharedCount", both_follow_curators_count},
        {"Curator waits at our barrier", curator_waits_at_our_barrier},
        {"ours waits at Curator's barrier", ours_waits_at_curators_barrier},
        {"members of both enter and leave together", members_of_both_enter_and_leave_together},
        {"an entry of Curator's can end at a reconnection, before all are there; ours does not",
         an_entry_of_curators_ends_at_a_reconnection},
        {"a killed member of Curator's is not waited for", a_killed_curator_member_is_not_waited_for},
        {0}};
    static const struct pdk__test proof[] = {
        {"Curator's takers of several permits wait for each other", curators_takers_wait_for_each_other}, {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "curator", .tests = tests, .proof = proof, .setup = set_up, .teardown = interop_close});
}
