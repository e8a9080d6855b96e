#include "cli/look/waits.h"
#include "test/lib/check.h"
#include "test/lib/dice.h"
#include <stdlib.h>
#include <string.h>

/* A wait of ACTOR for EXCESS of the others. */
#define WAIT(a, e, ...)                                                                                                \
    {                                                                                                                  \
        .actor = (a), .excess = (e), .blockers = (const size_t[]){__VA_ARGS__},                                        \
        .n = sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t)                                                    \
    }

static struct pdk__cli_waits waits;
static struct pdk__cli_verdict v;
static size_t circle[64];

static void judge(size_t n_actors, const struct pdk__cli_wait *list, size_t n)
{
    pdk__cli_verdict_free(&v);
    waits = (struct pdk__cli_waits){n_actors, list, n};
    CHECK(pdk__cli_waits_judge(&waits, &v));
}

#define JUDGE(n_actors, ...)                                                                                           \
    const struct pdk__cli_wait list[] = {__VA_ARGS__};                                                                 \
    judge(n_actors, list, sizeof list / sizeof *list)

static void a_queue_is_no_deadlock(void)
{
    JUDGE(4, WAIT(1, 1, 0), WAIT(2, 2, 0, 1), WAIT(3, 1, 2));
    CHECK_EQ(v.n_deadlocks, 0);
    for (size_t a = 0; a < 4; a++)
        CHECK(!v.stuck[a] && v.deadlock[a] == 0);
}

static void two_that_wait_for_each_other_are_a_deadlock(void)
{
    JUDGE(3, WAIT(0, 1, 1), WAIT(1, 1, 0), WAIT(2, 1, 0));
    CHECK_EQ(v.n_deadlocks, 1);
    CHECK_EQ(v.deadlock[0], 1);
    CHECK_EQ(v.deadlock[1], 1);
    CHECK(v.stuck[2] && v.deadlock[2] == 0); /* it waits for the deadlock */
    CHECK_EQ(pdk__cli_waits_circle(&waits, &v, 1, circle), 2);
    CHECK_EQ(circle[0], 0);
    CHECK_EQ(circle[1], 1);
}

static void one_that_waits_for_itself_is_a_deadlock(void)
{
    JUDGE(1, WAIT(0, 1, 0));
    CHECK_EQ(v.n_deadlocks, 1);
    CHECK_EQ(pdk__cli_waits_circle(&waits, &v, 1, circle), 1);
}

/* 0 waits for one of 1 and 2. The first waits for 0, the other can go on. */
static void a_circle_with_a_way_out_is_no_deadlock(void)
{
    JUDGE(3, WAIT(0, 1, 1, 2), WAIT(1, 1, 0));
    CHECK_EQ(v.n_deadlocks, 0);
    CHECK(!v.stuck[0] && !v.stuck[1]);
}

static void a_knot_is_a_deadlock(void)
{
    JUDGE(3, WAIT(0, 1, 1, 2), WAIT(1, 1, 0), WAIT(2, 1, 0));
    CHECK_EQ(v.n_deadlocks, 1);
    CHECK(v.deadlock[0] == 1 && v.deadlock[1] == 1 && v.deadlock[2] == 1);
}

/* Two of three must go on, and one can. */
static void an_excess_counts(void)
{
    JUDGE(4, WAIT(0, 2, 1, 2, 3), WAIT(1, 1, 0), WAIT(2, 1, 0));
    CHECK_EQ(v.n_deadlocks, 1);
    CHECK(v.deadlock[0] == 1 && v.deadlock[1] == 1 && v.deadlock[2] == 1 && v.deadlock[3] == 0 && !v.stuck[3]);
}

/* Each of several waits of one actor must end. */
static void one_wait_of_two_holds_an_actor(void)
{
    JUDGE(3, WAIT(0, 1, 2), WAIT(0, 1, 1), WAIT(1, 1, 0));
    CHECK_EQ(v.n_deadlocks, 1);
    CHECK(!v.stuck[2]);
    CHECK_EQ(pdk__cli_waits_circle(&waits, &v, 1, circle), 2);
    CHECK_EQ(circle[0], 1);
}

static void deadlocks_are_counted_apart(void)
{
    JUDGE(7, WAIT(0, 1, 1), WAIT(1, 1, 0), WAIT(3, 1, 4), WAIT(4, 1, 5), WAIT(5, 1, 3), WAIT(2, 2, 0, 3));
    CHECK_EQ(v.n_deadlocks, 2);
    CHECK(v.deadlock[0] == v.deadlock[1] && v.deadlock[3] == v.deadlock[4] && v.deadlock[4] == v.deadlock[5]);
    CHECK(v.deadlock[0] != v.deadlock[3] && v.deadlock[2] == 0 && v.stuck[2] && !v.stuck[6]);
    CHECK_EQ(pdk__cli_waits_circle(&waits, &v, v.deadlock[4], circle), 3);
}

static void the_circle_is_a_shortest_one(void)
{
    JUDGE(4, WAIT(0, 1, 1), WAIT(1, 1, 2), WAIT(2, 1, 3), WAIT(3, 1, 0), WAIT(1, 1, 0));
    CHECK_EQ(v.n_deadlocks, 1);
    CHECK_EQ(pdk__cli_waits_circle(&waits, &v, 1, circle), 2);
    CHECK_EQ(circle[1], 4);
}

/* As a hostile client can make it: no stack is deep enough for a search that calls itself. */
static void a_chain_may_be_long(void)
{
    enum { LONG = 300000 };
    struct pdk__cli_wait *list = calloc(LONG, sizeof *list);
    size_t *blockers = calloc(LONG, sizeof *blockers);
    CHECK(list != NULL && blockers != NULL);
    for (size_t a = 0; a < LONG; a++) {
        blockers[a] = (a + 1) % LONG;
        list[a] = (struct pdk__cli_wait){.actor = a, .blockers = &blockers[a], .n = 1, .excess = 1};
    }
    judge(LONG, list, LONG);
    CHECK_EQ(v.n_deadlocks, 1);
    judge(LONG, list, LONG - 1);
    CHECK_EQ(v.n_deadlocks, 0);
    free(list);
    free(blockers);
}

/* --- against every order of going on ----------------------------------------------------------------------------- */

enum { ACTORS = 6, WAITS = 8 };

static size_t drawn[WAITS][ACTORS];
static struct pdk__cli_wait random_list[WAITS];

static void draw(struct dice *dice)
{
    for (size_t i = 0; i < WAITS; i++) {
        size_t n = (size_t)dice_between(dice, 1, 3);
        for (size_t k = 0; k < n; k++)
            drawn[i][k] = (size_t)dice_below(dice, ACTORS);
        random_list[i] = (struct pdk__cli_wait){.actor = (size_t)dice_below(dice, ACTORS),
                                                .blockers = drawn[i],
                                                .n = n,
                                                .excess = (size_t)dice_between(dice, 1, (int)n)};
    }
}

static bool can_go_on(const bool *gone, size_t actor)
{
    for (size_t i = 0; i < WAITS; i++) {
        size_t n = 0;
        for (size_t k = 0; k < random_list[i].n; k++)
            n += gone[random_list[i].blockers[k]];
        if (random_list[i].actor == actor && n < random_list[i].excess)
            return false;
    }
    return true;
}

/* Let actors go on one at a time, until none can. */
static void exhaust(bool *gone)
{
    for (bool any = true; any;) {
        any = false;
        for (size_t a = 0; a < ACTORS; a++)
            if (!gone[a] && can_go_on(gone, a))
                any = gone[a] = true;
    }
}

static bool reaches[ACTORS][ACTORS];

static void close_over(void)
{
    memset(reaches, 0, sizeof reaches);
    for (size_t i = 0; i < WAITS; i++)
        for (size_t k = 0; k < random_list[i].n; k++)
            if (v.stuck[random_list[i].actor] && v.stuck[drawn[i][k]])
                reaches[random_list[i].actor][drawn[i][k]] = true;
    for (size_t m = 0; m < ACTORS; m++)
        for (size_t a = 0; a < ACTORS; a++)
            for (size_t b = 0; b < ACTORS; b++)
                reaches[a][b] |= reaches[a][m] && reaches[m][b];
}

static void check_circle(size_t deadlock)
{
    size_t n = pdk__cli_waits_circle(&waits, &v, deadlock, circle);
    CHECK(n >= 1 && n <= ACTORS);
    for (size_t i = 0; i < n; i++) {
        const struct pdk__cli_wait *wait = &random_list[circle[i]];
        bool leads = false;
        for (size_t k = 0; k < wait->n; k++)
            leads |= wait->blockers[k] == random_list[circle[(i + 1) % n]].actor;
        CHECK(leads && v.deadlock[wait->actor] == deadlock);
    }
}

static void the_verdict_is_that_of_exhaustive_search(void)
{
    struct dice dice;
    dice_seed(&dice, 1);
    for (int round = 0; round < 20000; round++) {
        bool gone[ACTORS] = {false};
        draw(&dice);
        judge(ACTORS, random_list, WAITS);
        exhaust(gone);
        close_over();
        for (size_t a = 0; a < ACTORS; a++) {
            CHECK(v.stuck[a] == !gone[a]);
            CHECK((v.deadlock[a] > 0) == reaches[a][a]);
            for (size_t b = 0; b < ACTORS; b++)
                CHECK(v.deadlock[a] == 0 || (v.deadlock[a] == v.deadlock[b]) == (reaches[a][b] && reaches[b][a]) ||
                      a == b);
        }
        for (size_t d = 1; d <= v.n_deadlocks; d++)
            check_circle(d);
    }
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a queue is no deadlock", a_queue_is_no_deadlock},
        {"two that wait for each other are a deadlock, and a third waits for it",
         two_that_wait_for_each_other_are_a_deadlock},
        {"one that waits for itself is a deadlock", one_that_waits_for_itself_is_a_deadlock},
        {"a circle with a way out is no deadlock", a_circle_with_a_way_out_is_no_deadlock},
        {"a knot is a deadlock", a_knot_is_a_deadlock},
        {"a wait for two of three needs two", an_excess_counts},
        {"each wait of an actor must end", one_wait_of_two_holds_an_actor},
        {"two deadlocks are two", deadlocks_are_counted_apart},
        {"the circle that is shown is a shortest one", the_circle_is_a_shortest_one},
        {"a chain may be longer than a stack is deep", a_chain_may_be_long},
        {"the verdict is that of an exhaustive search", the_verdict_is_that_of_exhaustive_search},
        {0},
    };
    int status = pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "waits", .tests = tests});
    pdk__cli_verdict_free(&v);
    return status;
}
