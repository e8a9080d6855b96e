/*
 * Eight of Curator's clients that take one to three of four permits, again and again. Each takes its permits one by
 * one, so that some wait for each other in the end. Ours take theirs in one step: bench/paddock.c has the same takers.
 */
#include "interop.h"
#include "peer.h"
#include "test/lib/check.h"
#include "test/lib/dice.h"

#include <stdio.h>
#include <string.h>

enum { TAKERS = 8, LIMIT = 4, MOST = 3, SILENCE_MS = 20000, CONTROL_ROUNDS = 200, ROUNDS = 10000 };

static struct {
    int rounds, most; /* permits that a taker asks for */
    int asked, done, waiting, holding;
} takers;

static struct dice dice;

/* TAKER asks for permits, unless all rounds are under way. */
static void ask(int taker)
{
    if (takers.asked >= takers.rounds)
        return;
    takers.asked++;
    takers.waiting++;
    program_say(&peer, "%d acquire %d %d 3600000", taker, dice_between(&dice, 1, takers.most), LIMIT);
}

static void hear(void)
{
    int taker = -1;
    char word[32] = "";
    CHECK_EQ(sscanf(program_hear(&peer), "%d %31s", &taker, word), 2);
    CHECK(taker >= 0 && taker < TAKERS);
    if (strcmp(word, "acquired") == 0) {
        takers.waiting--;
        takers.holding++;
        program_say(&peer, "%d return", taker);
        return;
    }
    CHECK_STR(word, "returned");
    takers.holding--;
    takers.done++;
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

/* Returns the rounds that were done when all were, or when nothing happened any more. */
static int take(const char *path, int rounds, int most)
{
    memset(&takers, 0, sizeof takers);
    takers.rounds = rounds;
    takers.most = most;
    dice_seed(&dice, 1);
    peer_start(pdk__server_port(server), path, LONG_SESSION_MS);
    for (int i = 0; i < TAKERS; i++)
        ask(i);
    while (takers.done < rounds && hears())
        ;
    return takers.done;
}

/* The control shows that the takers work: with one permit each they do not deadlock. */
void curators_takers_wait_for_each_other(void)
{
    CHECK_EQ(take("/interop/control", CONTROL_ROUNDS, 1), CONTROL_ROUNDS);
    printf("# curator.control: %d rounds - Curator's InterProcessSemaphoreV2 of %d, %d takers with 1 permit each\n",
           takers.done, LIMIT, TAKERS);
    bool stopped = take("/interop/takers", ROUNDS, MOST) < ROUNDS;
    printf(
        "# curator.rounds: %d rounds - the same with 1 to %d permits: %s; %d wait, %d hold, nodes under leases: %zu\n",
        takers.done, MOST, stopped ? "nothing happened for 20 s then" : "no deadlock", takers.waiting, takers.holding,
        count("/interop/takers/leases"));
    program_kill(&peer); /* its takers would complain of the end */
}
