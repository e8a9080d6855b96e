/* kazoo's Lock and ours on one path, on a real server: as it comes it does not exclude ours, and the subclass that
 * doc/promises.md and the manual show does. So do the classes of doc/interop.md for read/write locks and semaphores. */
#include "interop.h"
#include "peer.h"
#include "test/lib/check.h"

static void ask_peer(const char *question, const char *answer)
{
    program_say(&peer, "%s", question);
    CHECK_STR(program_hear(&peer), answer);
}

static void the_default_is_granted_over_ours(void)
{
    const char *path = "/interop/kazoo-default";
    pdk_mutex *m = new_mutex(ours, path);
    peer_start_kazoo(pdk__server_port(server), path);
    CHECK_RC(pdk_mutex_lock(m), PDK_OK);
    ask_peer("default lock", "default locked");
    CHECK_EQ(count(path), 2);
    CHECK_EQ(pdk_lock_state(m), PDK_HELD);
    ask_peer("default unlock", "default unlocked");
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
}

static void the_subclass_waits_for_ours(void)
{
    const char *path = "/interop/kazoo-waits";
    pdk_mutex *m = new_mutex(ours, path);
    peer_start_kazoo(pdk__server_port(server), path);
    CHECK_RC(pdk_mutex_lock(m), PDK_OK);
    ask_peer("subclass trylock", "subclass busy");
    CHECK_WITHIN(LIMIT_MS, count(path) == 1);
    program_say(&peer, "subclass lock");
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_mutex_unlock(m), PDK_OK);
    CHECK_STR(program_hear(&peer), "subclass locked");
    ask_peer("subclass unlock", "subclass unlocked");
    CHECK_EQ(count(path), 0);
    CHECK_RC(pdk_lock_free(m), PDK_OK);
}

static void ours_waits_for(const char *path, const char *lock, const char *locked, const char *unlock,
                           const char *unlocked)
{
    static struct waiter w;
    peer_start_kazoo(pdk__server_port(server), path);
    ask_peer(lock, locked);
    pdk_mutex *m = new_mutex(ours, path);
    CHECK_RC(pdk_mutex_trylock(m), PDK_EBUSY);
    waiter_start(&w, m);
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    CHECK(!w.held);
    ask_peer(unlock, unlocked);
    waiter_finish(&w);
}

static void ours_waits_for_the_subclass(void)
{
    ours_waits_for("/interop/kazoo-subclass-first", "subclass lock", "subclass locked", "subclass unlock",
                   "subclass unlocked");
}

static void ours_waits_for_the_default(void)
{
    ours_waits_for("/interop/kazoo-default-first", "default lock", "default locked", "default unlock",
                   "default unlocked");
}

static void readers_of_both_keep_writers_out(void)
{
    const char *path = "/interop/kazoo-readers";
    pdk_rwlock *l;
    CHECK_RC(pdk_rwlock_new(&l, ours, path, NULL), PDK_OK);
    peer_start_kazoo(pdk__server_port(server), path);
    ask_peer("subreader lock", "subreader locked");
    CHECK_RC(pdk_rwlock_trywrlock(l), PDK_EBUSY);
    CHECK_RC(pdk_rwlock_tryrdlock(l), PDK_OK);
    ask_peer("subreader unlock", "subreader unlocked");
    ask_peer("subwriter trylock", "subwriter busy");
    CHECK_RC(pdk_rwlock_unlock(l), PDK_OK);
    CHECK_RC(pdk_lock_free(l), PDK_OK);
}

static void writers_of_both_are_alone(void)
{
    const char *path = "/interop/kazoo-writers";
    pdk_rwlock *l;
    CHECK_RC(pdk_rwlock_new(&l, ours, path, NULL), PDK_OK);
    peer_start_kazoo(pdk__server_port(server), path);
    ask_peer("subwriter lock", "subwriter locked");
    CHECK_RC(pdk_rwlock_tryrdlock(l), PDK_EBUSY);
    CHECK_RC(pdk_rwlock_trywrlock(l), PDK_EBUSY);
    ask_peer("subwriter unlock", "subwriter unlocked");
    CHECK_RC(pdk_rwlock_timedwrlock(l, LIMIT_MS), PDK_OK);
    ask_peer("subreader trylock", "subreader busy");
    ask_peer("subwriter trylock", "subwriter busy");
    CHECK_RC(pdk_rwlock_unlock(l), PDK_OK);
    CHECK_RC(pdk_lock_free(l), PDK_OK);
}

static void permits_of_both_are_counted(void)
{
    const char *path = "/interop/kazoo-permits";
    pdk_semaphore *s;
    pdk_grant *held;
    CHECK_RC(pdk_semaphore_new(&s, ours, path, 1, NULL), PDK_OK);
    peer_start_kazoo(pdk__server_port(server), path);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &held), PDK_OK);
    ask_peer("subsemaphore trylock", "subsemaphore busy");
    CHECK_RC(pdk_grant_release(held), PDK_OK);
    ask_peer("subsemaphore lock", "subsemaphore locked");
    CHECK_RC(pdk_semaphore_tryacquire(s, 1, &held), PDK_EBUSY);
    ask_peer("subsemaphore unlock", "subsemaphore unlocked");
    CHECK_RC(pdk_semaphore_timedacquire(s, 1, LIMIT_MS, &held), PDK_OK);
    CHECK_RC(pdk_grant_release(held), PDK_OK);
    CHECK_RC(pdk_lock_free(s), PDK_OK);
}

static void each_waits_at_the_others_barrier(void)
{
    const char *path = "/interop/kazoo-barrier";
    pdk_barrier *b;
    CHECK_RC(pdk_barrier_new(&b, ours, path), PDK_OK);
    peer_start_kazoo(pdk__server_port(server), path);
    CHECK_RC(pdk_barrier_set(b, LIMIT_MS), PDK_OK);
    ask_peer("barrier pass 200", "barrier stopped");
    program_say(&peer, "barrier pass 60000");
    CHECK_RC(pdk_barrier_wait(b, 200), PDK_ETIMEDOUT);
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_barrier_remove(b, LIMIT_MS), PDK_OK);
    CHECK_STR(program_hear(&peer), "barrier passed");
    ask_peer("barrier set", "barrier set");
    CHECK_RC(pdk_barrier_wait(b, 0), PDK_ETIMEDOUT);
    ask_peer("barrier remove", "barrier removed");
    CHECK_RC(pdk_barrier_wait(b, 0), PDK_OK);
    CHECK_RC(pdk_barrier_free(b), PDK_OK);
}

static void *enter(void *b) { return (void *)(intptr_t)pdk_barrier_enter(b, LIMIT_MS); }
static void *leave(void *b) { return (void *)(intptr_t)pdk_barrier_leave(b, LIMIT_MS); }

/* Ours is the first to come and to leave in the even rounds, the last in the odd ones. kazoo deletes "ready" when it
 * begins to leave. */
static void pairs_enter_and_leave_together(void)
{
    const char *path = "/interop/kazoo-members";
    pdk_barrier *b;
    CHECK_RC(pdk_barrier_new_double(&b, ours, path, 2), PDK_OK);
    peer_start_kazoo(pdk__server_port(server), path);
    for (int round = 0; round < 4; round++) {
        bool first = round % 2 == 0;
        pthread_t thread;
        void *rc = NULL;
        if (!first)
            program_say(&peer, "pair enter");
        else
            CHECK_EQ(pthread_create(&thread, NULL, enter, b), 0);
        CHECK_WITHIN(LIMIT_MS, count(path) == 1);
        if (first) {
            ask_peer("pair enter", "pair inside");
            CHECK_EQ(pthread_join(thread, &rc), 0);
            CHECK_RC((int)(intptr_t)rc, PDK_OK);
            CHECK_EQ(pthread_create(&thread, NULL, leave, b), 0);
            ask_peer("pair leave", "pair outside");
            CHECK_EQ(pthread_join(thread, &rc), 0);
            CHECK_RC((int)(intptr_t)rc, PDK_OK);
        } else {
            CHECK_RC(pdk_barrier_enter(b, LIMIT_MS), PDK_OK);
            CHECK_STR(program_hear(&peer), "pair inside");
            program_say(&peer, "pair leave");
            CHECK_WITHIN(LIMIT_MS, count(path) <= 2);
            CHECK(program_silent(&peer));
            CHECK_RC(pdk_barrier_leave(b, LIMIT_MS), PDK_OK);
            CHECK_STR(program_hear(&peer), "pair outside");
        }
        CHECK_WITHIN(LIMIT_MS, count(path) == 0);
    }
    CHECK_RC(pdk_barrier_free(b), PDK_OK);
}

static void start(const char *path) { peer_start_kazoo(pdk__server_port(server), path); }

static void ours_comes_after_the_end(void)
{
    across_the_end("/interop/end", start,
                   &(struct dialogue){"subclass lock", "subclass locked", "subclass unlock", "subclass unlocked"});
}

static void set_up(void)
{
    peer_need_kazoo();
    interop_open();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"kazoo's Lock, as it comes, is granted a lock that ours holds", the_default_is_granted_over_ours},
        {"the documented subclass waits while ours holds, and gets the lock on our unlock",
         the_subclass_waits_for_ours},
        {"ours waits while the subclass holds, and gets the lock on its release", ours_waits_for_the_subclass},
        {"ours waits while kazoo's Lock, as it comes, holds", ours_waits_for_the_default},
        {"ours comes after the end of the path's numbers, and waits for the subclass", ours_comes_after_the_end},
        {"readers of the documented classes and ours hold at once, and keep writers out",
         readers_of_both_keep_writers_out},
        {"a writer of the documented class, or ours, is alone", writers_of_both_are_alone},
        {"permits of the documented class and ours are counted together", permits_of_both_are_counted},
        {"kazoo waits at our barrier, and ours at kazoo's", each_waits_at_the_others_barrier},
        {"members of kazoo's double barrier and ours enter and leave together", pairs_enter_and_leave_together},
        {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){
            .name = "kazoo", .tests = tests, .setup = set_up, .teardown = interop_close, .limit_ms = 30000});
}
