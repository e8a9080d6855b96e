/* Curator's InterProcessReadWriteLock and ours on one path. */
#include "interop.h"
#include "peer.h"
#include "test/lib/check.h"
#include <stdatomic.h>

static pdk_rwlock *new_rwlock(const char *path)
{
    pdk_rwlock *l;
    CHECK_RC(pdk_rwlock_new(&l, ours, path, NULL), PDK_OK);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    return l;
}

static void say_and_hear(const char *words, const char *answer)
{
    program_say(&peer, "%s", words);
    CHECK_STR(program_hear(&peer), answer);
}

static _Atomic int answer;

static void answered(int rc, void *arg)
{
    (void)arg;
    answer = rc;
}

void readers_of_both_hold_at_once(void)
{
    pdk_rwlock *l = new_rwlock("/interop/readers");
    CHECK_RC(pdk_rwlock_rdlock(l), PDK_OK);
    say_and_hear("0 rdlock", "0 locked");
    CHECK_RC(pdk_rwlock_unlock(l), PDK_OK);
    CHECK_RC(pdk_rwlock_tryrdlock(l), PDK_OK);
    CHECK_RC(pdk_rwlock_unlock(l), PDK_OK);
    CHECK_RC(pdk_rwlock_trywrlock(l), PDK_EBUSY);
    say_and_hear("0 rdunlock", "0 unlocked");
    CHECK_RC(pdk_lock_free(l), PDK_OK);
}

void curators_reader_and_writer_wait_for_our_writer(void)
{
    const char *path = "/interop/our-writer";
    pdk_rwlock *l = new_rwlock(path);
    CHECK_RC(pdk_rwlock_wrlock(l), PDK_OK);
    program_say(&peer, "0 rdlock");
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    program_say(&peer, "1 wrlock");
    CHECK_WITHIN(LIMIT_MS, count(path) == 3);
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_rwlock_unlock(l), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 locked");
    CHECK(program_silent(&peer));
    program_say(&peer, "0 rdunlock");
    peer_hear_both("0 unlocked", "1 locked");
    say_and_hear("1 wrunlock", "1 unlocked");
    CHECK_RC(pdk_lock_free(l), PDK_OK);
}

/* Ours waits for Curator's reader, and Curator's second reader, which came later, for ours. */
void our_writer_waits_among_curators_readers(void)
{
    const char *path = "/interop/among-readers";
    pdk_rwlock *l = new_rwlock(path);
    pdk_grant *grant;
    say_and_hear("0 rdlock", "0 locked");
    answer = 1;
    CHECK_RC(pdk_rwlock_wrlock_async(l, PDK_FOREVER, answered, NULL, &grant), PDK_OK);
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    program_say(&peer, "1 rdlock");
    CHECK_WITHIN(LIMIT_MS, count(path) == 3);
    CHECK(program_silent(&peer));
    CHECK_EQ(answer, 1);
    say_and_hear("0 rdunlock", "0 unlocked");
    CHECK_WITHIN(LIMIT_MS, answer == 0);
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_grant_release(grant), PDK_OK);
    CHECK_STR(program_hear(&peer), "1 locked");
    say_and_hear("1 rdunlock", "1 unlocked");
    CHECK_RC(pdk_lock_free(l), PDK_OK);
}

void our_writer_that_reads_on_keeps_curators_writer_out(void)
{
    const char *path = "/interop/downgrade";
    pdk_rwlock *l = new_rwlock(path);
    pdk_grant *grant;
    CHECK_RC(pdk_rwlock_wrlock(l), PDK_OK);
    program_say(&peer, "0 wrlock");
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    CHECK_RC(pdk_rwlock_rdlock(l), PDK_OK);
    CHECK_EQ(count(path), 3);
    CHECK_RC(pdk_rwlock_unlock(l), PDK_OK);
    CHECK_RC(pdk_rwlock_downgrade(l), PDK_OK);
    CHECK_EQ(count(path), 2);
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_rwlock_unlock(l), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 locked");
    answer = 1;
    CHECK_RC(pdk_rwlock_wrlock_async(l, PDK_FOREVER, answered, NULL, &grant), PDK_OK);
    CHECK_WITHIN(LIMIT_MS, count(path) == 2);
    say_and_hear("0 wrunlock", "0 unlocked");
    CHECK_WITHIN(LIMIT_MS, answer == 0);
    CHECK_RC(pdk_grant_release(grant), PDK_OK);
    CHECK_RC(pdk_lock_free(l), PDK_OK);
}
