/* Curator's InterProcessSemaphoreV2 and InterProcessSemaphoreMutex, and ours, on one path. */
#include "interop.h"
#include "peer.h"
#include "test/lib/check.h"
#include <stdio.h>

static pdk_semaphore *new_semaphore(const char *path, unsigned limit)
{
    pdk_semaphore *s;
    CHECK_RC(pdk_semaphore_new(&s, ours, path, limit, NULL), PDK_OK);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    return s;
}

static void say_and_hear(const char *words, const char *answer)
{
    program_say(&peer, "%s", words);
    CHECK_STR(program_hear(&peer), answer);
}

static size_t count_below(const char *path, const char *name)
{
    char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    return count(whole);
}

static _Atomic int answer;

static void answered(int rc, void *arg)
{
    (void)arg;
    answer = rc;
}

/* Of one limit, which Curator's SharedCount sets, and which both follow while they wait. */
void both_follow_curators_count(void)
{
    pdk_grant *held, *more;
    const char *path = "/interop/counted";
    pdk_semaphore *s = new_semaphore(path, 1);
    say_and_hear("0 count 2", "0 counts");
    CHECK_RC(pdk_semaphore_follow(s, "/interop/counted-count"), PDK_OK);
    CHECK_EQ(pdk_semaphore_limit(s), 2);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &held), PDK_OK);
    say_and_hear("0 acquireshared 1 60000", "0 acquired");
    CHECK_RC(pdk_semaphore_tryacquire(s, 1, &more), PDK_EBUSY);
    answer = 1;
    CHECK_RC(pdk_semaphore_acquire_async(s, 1, PDK_FOREVER, answered, NULL, &more), PDK_OK);
    CHECK_WITHIN(LIMIT_MS, count_below(path, "leases") == 3);
    CHECK_EQ(answer, 1);
    say_and_hear("1 count 3", "1 counts");
    CHECK_WITHIN(LIMIT_MS, answer == PDK_OK);
    say_and_hear("1 count 2", "1 counts");
    CHECK_WITHIN(LIMIT_MS, pdk_semaphore_limit(s) == 2);
    program_say(&peer, "1 acquireshared 1 60000");
    CHECK_RC(pdk_grant_release(held), PDK_OK);
    CHECK_WITHIN(LIMIT_MS, count_below(path, "leases") == 3);
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_grant_release(more), PDK_OK);
    CHECK_STR(program_hear(&peer), "1 acquired");
    say_and_hear("0 return", "0 returned");
    say_and_hear("1 return", "1 returned");
    CHECK_RC(pdk_lock_free(s), PDK_OK);
}

void permits_of_both_are_counted_together(void)
{
    pdk_grant *p, *more;
    pdk_semaphore *s = new_semaphore("/interop/permits", 3);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &p), PDK_OK);
    say_and_hear("0 acquire 2 3 60000", "0 acquired");
    say_and_hear("1 acquire 1 3 300", "1 busy");
    CHECK_RC(pdk_semaphore_tryacquire(s, 1, &more), PDK_EBUSY);
    say_and_hear("0 return", "0 returned");
    CHECK_RC(pdk_semaphore_timedacquire(s, 2, LIMIT_MS, &more), PDK_OK);
    say_and_hear("1 acquire 1 3 300", "1 busy");
    CHECK_RC(pdk_grant_release(more), PDK_OK);
    say_and_hear("1 acquire 2 3 60000", "1 acquired");
    say_and_hear("1 return", "1 returned");
    CHECK_RC(pdk_grant_release(p), PDK_OK);
    CHECK_RC(pdk_lock_free(s), PDK_OK);
}

void curator_waits_for_our_permits(void)
{
    pdk_grant *p;
    const char *path = "/interop/our-permits";
    pdk_semaphore *s = new_semaphore(path, 2);
    CHECK_RC(pdk_semaphore_acquire(s, 2, &p), PDK_OK);
    program_say(&peer, "0 acquire 1 2 60000");
    CHECK_WITHIN(LIMIT_MS, count_below(path, "leases") == 3);
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_grant_release(p), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 acquired");
    say_and_hear("0 return", "0 returned");
    CHECK_RC(pdk_lock_free(s), PDK_OK);
}

void ours_waits_for_curators_permits(void)
{
    pdk_grant *p;
    const char *path = "/interop/their-permits";
    pdk_semaphore *s = new_semaphore(path, 2);
    say_and_hear("0 acquire 2 2 60000", "0 acquired");
    answer = 1;
    CHECK_RC(pdk_semaphore_acquire_async(s, 2, PDK_FOREVER, answered, NULL, &p), PDK_OK);
    CHECK_WITHIN(LIMIT_MS, count_below(path, "leases") == 4);
    CHECK_EQ(answer, 1);
    say_and_hear("0 return", "0 returned");
    CHECK_WITHIN(LIMIT_MS, answer == PDK_OK);
    CHECK_RC(pdk_grant_release(p), PDK_OK);
    CHECK_RC(pdk_lock_free(s), PDK_OK);
}

void one_permit_is_curators_semaphore_mutex(void)
{
    pdk_grant *p;
    const char *path = "/interop/one-permit";
    pdk_semaphore *s = new_semaphore(path, 1);
    CHECK_RC(pdk_semaphore_acquire(s, 1, &p), PDK_OK);
    program_say(&peer, "0 lockalone");
    CHECK_WITHIN(LIMIT_MS, count_below(path, "leases") == 2);
    CHECK(program_silent(&peer));
    CHECK_RC(pdk_grant_release(p), PDK_OK);
    CHECK_STR(program_hear(&peer), "0 locked");
    CHECK_RC(pdk_semaphore_tryacquire(s, 1, &p), PDK_EBUSY);
    say_and_hear("0 unlockalone", "0 unlocked");
    CHECK_RC(pdk_semaphore_timedacquire(s, 1, LIMIT_MS, &p), PDK_OK);
    CHECK_RC(pdk_grant_release(p), PDK_OK);
    CHECK_RC(pdk_lock_free(s), PDK_OK);
}
