/* The tests of the contest's judge: each law is broken on purpose, and the judge must report it. */
#include "examples/contest.h"
#include "test/lib/check.h"

#include <string.h>

enum { MANY = 64 };

static struct record records[MANY];
static struct diary diary;
static struct verdict verdict;

static void tell(enum what what, int worker, int64_t at_ms, int64_t token, int64_t span_ms)
{
    CHECK(diary.count < MANY);
    records[diary.count++] = (struct record){
        .at_ns = at_ms * NS_PER_MS, .token = token, .span_ns = span_ms * NS_PER_MS, .worker = worker, .what = what};
}

/* WORKER requested the lock at ASKED, and held it from FROM to TO. */
static void held(int worker, int64_t asked, int64_t from, int64_t to, int64_t token)
{
    tell(WHAT_GRANTED, worker, from, token, from - asked);
    tell(WHAT_RELEASED, worker, to, token, to - from);
}

static void begin(void)
{
    memset(records, 0, sizeof records);
    diary = (struct diary){.records = records, .room = MANY};
}

static void judge(void) { CHECK(laws_check(&diary, &verdict)); }

static void turns_in_order_keep_every_law(void)
{
    begin();
    held(0, 0, 1, 4, 10);
    held(1, 0, 5, 9, 11);
    held(0, 4, 12, 15, 15);
    judge();
    CHECK(laws_hold(&verdict));
    CHECK_EQ(verdict.grants, 3);
    CHECK_EQ(verdict.by_worker[0], 2);
    CHECK_EQ(verdict.handovers, 2);
    CHECK_EQ(verdict.handover_median_ns, 1 * NS_PER_MS);
    CHECK_EQ(verdict.handover_p99_ns, 3 * NS_PER_MS);
}

static void records_may_come_in_any_order(void)
{
    begin();
    held(1, 0, 5, 9, 11);
    held(0, 0, 1, 4, 10);
    judge();
    CHECK(laws_hold(&verdict));
    CHECK_EQ(verdict.first_token, 10);
}

static void two_holders_at_once_are_seen(void)
{
    begin();
    held(0, 0, 1, 5, 10);
    held(1, 0, 4, 9, 11);
    judge();
    CHECK_EQ(verdict.overlaps, 1);
    CHECK(!laws_hold(&verdict));
}

static void a_long_hold_around_two_short_ones_overlaps_both(void)
{
    begin();
    held(0, 0, 1, 100, 10);
    held(1, 0, 2, 3, 11);
    held(2, 0, 4, 5, 12);
    judge();
    CHECK_EQ(verdict.overlaps, 2);
}

static void a_token_that_does_not_grow_is_seen(void)
{
    begin();
    held(0, 0, 1, 4, 10);
    held(1, 0, 5, 9, 10);
    judge();
    CHECK_EQ(verdict.disorder, 1);
    CHECK(!laws_hold(&verdict));
}

static void a_kill_ends_the_hold_of_the_dead(void)
{
    begin();
    tell(WHAT_GRANTED, 0, 1, 10, 1);
    tell(WHAT_KILLED, 0, 3, 10, 2);
    held(1, 0, 2000, 2005, 11);
    judge();
    CHECK(laws_hold(&verdict));
    CHECK_EQ(verdict.kills, 1);
    CHECK_EQ(verdict.takeovers, 1);
    CHECK_EQ(verdict.heir, 1);
    CHECK_EQ(verdict.takeover_ns, (int64_t)1997 * NS_PER_MS);
    CHECK_EQ(verdict.handovers, 0); /* a takeover is none */
}

static void a_grant_before_the_kill_overlaps(void)
{
    begin();
    tell(WHAT_GRANTED, 0, 1, 10, 1);
    held(1, 0, 2, 4, 11);
    tell(WHAT_KILLED, 0, 3, 10, 2);
    judge();
    CHECK_EQ(verdict.overlaps, 1);
}

static void a_kill_that_nobody_follows_is_seen(void)
{
    begin();
    held(1, 0, 1, 2, 9);
    tell(WHAT_GRANTED, 0, 3, 10, 1);
    tell(WHAT_KILLED, 0, 4, 10, 1);
    judge();
    CHECK(!laws_hold(&verdict));
}

static void a_grant_without_an_end_is_seen(void)
{
    begin();
    tell(WHAT_GRANTED, 0, 1, 10, 1);
    judge();
    CHECK_EQ(verdict.unended, 1);
    CHECK(!laws_hold(&verdict));
}

static void a_loss_ends_a_hold_when_it_was_told(void)
{
    begin();
    tell(WHAT_GRANTED, 0, 1, 10, 1);
    tell(WHAT_LOST, 0, 6, 10, 5);
    held(1, 0, 5, 9, 11);
    judge();
    CHECK_EQ(verdict.overlaps, 1);
}

static void a_contest_without_a_grant_proves_nothing(void)
{
    begin();
    judge();
    CHECK(!laws_hold(&verdict));
}

static void a_handover_needs_somebody_who_waits(void)
{
    begin();
    held(0, 0, 1, 4, 10);
    held(1, 50, 51, 55, 11); /* requested long after */
    held(1, 55, 56, 57, 12); /* again, alone */
    judge();
    CHECK(laws_hold(&verdict));
    CHECK_EQ(verdict.handovers, 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"turns in order keep every law", turns_in_order_keep_every_law},
        {"records may come in any order", records_may_come_in_any_order},
        {"two holders at once are seen", two_holders_at_once_are_seen},
        {"a long hold around two short ones overlaps both", a_long_hold_around_two_short_ones_overlaps_both},
        {"a token that does not grow is seen", a_token_that_does_not_grow_is_seen},
        {"a kill ends the hold of the dead", a_kill_ends_the_hold_of_the_dead},
        {"a grant before the kill overlaps", a_grant_before_the_kill_overlaps},
        {"a kill that nobody follows is seen", a_kill_that_nobody_follows_is_seen},
        {"a grant without an end is seen", a_grant_without_an_end_is_seen},
        {"a loss ends a hold when it was told", a_loss_ends_a_hold_when_it_was_told},
        {"a contest without a grant proves nothing", a_contest_without_a_grant_proves_nothing},
        {"a hand-over needs somebody who waits", a_handover_needs_somebody_who_waits},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "contest laws", .tests = tests});
}
