/*
 * Eight clients that take one to three of four permits, again and again: ours, which never deadlock; and Curator's,
 * which take their permits one by one, and do.
 */
#include "server/throwaway.h"
#include "test/demo/figures.h"
#include "test/docker/workers.h"
#include "test/interop/peer.h"
#include "test/lib/check.h"
#include "test/lib/dice.h"
#include "test/lib/zk.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LIMIT = 4, MOST = 3, WORK_MS = 1, SILENCE_MS = 20000, LEASES_SESSION_MS = 10000, CONTROL_ROUNDS = 200 };

/* --- ours -------------------------------------------------------------------------------------------------------- */

static pdk_client *clients[WORKERS];
static pdk_semaphore *semaphores[WORKERS];
static struct dice dice[WORKERS];
static _Atomic int in_use, most_in_use;

static void work(int n)
{
    int now = atomic_fetch_add(&in_use, n) + n, most = atomic_load(&most_in_use);
    while (now > most && !atomic_compare_exchange_weak(&most_in_use, &most, now))
        ;
    nanosleep(&(struct timespec){.tv_nsec = WORK_MS * 1000000L}, NULL);
    atomic_fetch_sub(&in_use, n);
}

/* A deadlock is PDK_ETIMEDOUT. */
static int take(int i, int64_t round)
{
    pdk_grant *permit;
    int n = dice_between(&dice[i], 1, MOST);
    (void)round;
    int rc = pdk_semaphore_timedacquire(semaphores[i], (unsigned)n, pdk__test_slowed(STALL_MS), &permit);
    if (rc != 0)
        return rc;
    work(n);
    return pdk_grant_release(permit);
}

void figure_semaphore(void)
{
    struct crew crew = {.round = take, .rounds = size.rounds};
    for (int i = 0; i < WORKERS; i++) {
        clients[i] = figures_client();
        CHECK_RC(pdk_semaphore_new(&semaphores[i], clients[i], "/figures/semaphore", LIMIT, NULL), PDK_OK);
        dice_seed(&dice[i], (uint64_t)i + 1);
    }
    double seconds = crew_run(&crew);
    for (int i = 0; i < WORKERS; i++) {
        CHECK_RC(pdk_lock_free(semaphores[i]), PDK_OK);
        CHECK_RC(pdk_client_free(clients[i]), PDK_OK);
    }
    CHECK(atomic_load(&most_in_use) <= LIMIT);
    figure("semaphore.rounds", size.rounds, 0, "rounds", "",
           "semaphore of %d, %d clients take 1 to %d permits, no deadlock", LIMIT, WORKERS, MOST);
    figure("semaphore.most", atomic_load(&most_in_use), 0, "permits", "4 or less", "held at once, at most");
    figure("semaphore.speed", size.rounds / seconds, 1, "/s", "", "rounds, with %d ms of work each", WORK_MS);
}

/* --- Curator's --------------------------------------------------------------------------------------------------- */

static struct {
    int rounds, most; /* permits that a taker asks for */
    int asked, done, waiting, holding;
} curator;

/* TAKER asks for permits, unless all rounds are under way. */
static void ask(int taker)
{
    if (curator.asked >= curator.rounds)
        return;
    curator.asked++;
    curator.waiting++;
    program_say(&peer, "%d acquire %d %d 3600000", taker, dice_between(&dice[taker], 1, curator.most), LIMIT);
}

static void hear(void)
{
    int taker = -1;
    char word[32] = "";
    const char *line = program_hear(&peer);
    CHECK_EQ(sscanf(line, "%d %31s", &taker, word), 2);
    CHECK(taker >= 0 && taker < WORKERS);
    if (strcmp(word, "acquired") == 0) {
        curator.waiting--;
        curator.holding++;
        program_say(&peer, "%d return", taker);
        return;
    }
    CHECK_STR(word, "returned");
    curator.holding--;
    curator.done++;
    ask(taker);
}

/* False when no taker has said anything for SILENCE_MS. */
static bool hears(void)
{
    int64_t until = pdk__test_now_ms() + pdk__test_slowed(SILENCE_MS);
    while (program_silent(&peer)) {
        if (pdk__test_now_ms() >= until)
            return false;
        pdk__test_nap();
    }
    hear();
    return true;
}

static int count_leases(const char *path)
{
    char hosts[32];
    struct String_vector names = {0};
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d", figures_port());
    zhandle_t *zh = pdk__zk_open(hosts, LEASES_SESSION_MS);
    int rc = pdk__zk_list(zh, path, &names), n = rc == ZOK ? names.count : 0;
    deallocate_String_vector(&names);
    zookeeper_close(zh);
    return n;
}

/* Returns the rounds that were done when all were, or when nothing happened any more. */
static int run_curator(const char *path, int rounds, int most)
{
    memset(&curator, 0, sizeof curator);
    curator.rounds = rounds;
    curator.most = most;
    peer_start(figures_port(), path, SESSION_MS);
    for (int i = 0; i < WORKERS; i++) {
        dice_seed(&dice[i], (uint64_t)i + 1);
        ask(i);
    }
    while (curator.done < rounds && hears())
        ;
    return curator.done;
}

/* The control shows that the takers work: with one permit each they do not deadlock. */
void figure_curator(void)
{
    char dir[PATH_MAX];
    if (!size.curator)
        SKIP("Curator runs beside it without --quick");
    workers_file(".", dir, sizeof dir);
    peer_compile(dir);
    figure("curator.control", run_curator("/figures/control", CONTROL_ROUNDS, 1), 0, "rounds", "",
           "Curator's InterProcessSemaphoreV2, the same takers with 1 permit each, of %d rounds", CONTROL_ROUNDS);
    bool stopped = run_curator("/figures/curator", size.rounds, MOST) < size.rounds;
    figure("curator.rounds", curator.done, 0, "rounds", "",
           "the same with 1 to %d permits: %s; %d wait, %d hold, nodes under leases: %d", MOST,
           stopped ? "nothing happened for 20 s then" : "no deadlock", curator.waiting, curator.holding,
           count_leases("/figures/curator/leases"));
    program_kill(&peer);
}
