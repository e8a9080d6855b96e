#include "test/demo/margins.h"
#include "test/lib/check.h"

#include <stdint.h>

#define MS INT64_C(1000000)

static struct outcomes o;

static void add(int64_t fault_ms, int64_t last_ms, int64_t gone_ms, int64_t next_ms)
{
    CHECK(outcomes_add(
        &o, &(struct outcome){
                .fault_ns = fault_ms * MS, .last_ns = last_ms * MS, .gone_ns = gone_ms * MS, .next_ns = next_ms * MS}));
}

static void late_work(void)
{
    outcomes_free(&o);
    add(100, 200, 290, 300);
    add(100, 301, 310, 300);
    add(100, 300, 310, 300);
    CHECK_EQ(outcomes_in_time(&o), 1);
}

static void late_belief(void)
{
    outcomes_free(&o);
    add(100, 295, 290, 300);
    add(100, 285, 290, 300);
    CHECK_EQ(outcomes_in_time(&o), 2);
    CHECK_EQ(outcomes_before_gone(&o), 1);
}

static void late_deadline(void)
{
    outcomes_free(&o);
    for (int64_t until_ms = 280; until_ms <= 300; until_ms += 10)
        CHECK(outcomes_add(&o, &(struct outcome){.until_ns = until_ms * MS, .gone_ns = 290 * MS, .next_ns = 320 * MS}));
    CHECK_EQ(outcomes_due_before_gone(&o), 1);
    CHECK_EQ(outcomes_due_to_gone(&o).min_ms, -10);
}

static void unseen_end(void)
{
    outcomes_free(&o);
    add(100, 299, 0, 300);
    CHECK_EQ(outcomes_before_gone(&o), 1);
}

static void spread(void)
{
    outcomes_free(&o);
    add(100, 200, 250, 300);
    add(100, 290, 295, 300);
    add(100, 260, 280, 300);
    add(100, 310, 280, 300);
    CHECK_EQ(outcomes_to_next(&o).min_ms, -10);
    CHECK_EQ(outcomes_to_next(&o).median_ms, 10);
    CHECK_EQ(outcomes_to_next(&o).max_ms, 100);
    CHECK_EQ(outcomes_to_gone(&o).min_ms, -30);
    CHECK_EQ(outcomes_worked_on(&o).max_ms, 210);
}

static void nothing(void)
{
    outcomes_free(&o);
    CHECK_EQ(outcomes_in_time(&o), 0);
    CHECK_EQ(outcomes_to_next(&o).min_ms, 0);
}

static void teardown(void) { outcomes_free(&o); }

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"who works when the next has begun, or at the same moment, is too late", late_work},
        {"who works when his node is gone was wrong, though nobody was harmed", late_belief},
        {"a deadline that is not before the node's end is too late", late_deadline},
        {"a node whose end nobody saw was gone when the next began", unseen_end},
        {"the median of an even number of runs is the lower of the two in the middle", spread},
        {"no runs, no margins", nothing},
        {0},
    };
    return pdk__test_main(argc, argv,
                          &(struct pdk__test_suite){.name = "margins", .tests = tests, .teardown = teardown});
}
