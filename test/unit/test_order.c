#include "lib/core/order.h"
#include "test/lib/check.h"
#include <stdlib.h>

#define OURS "0000000000001000-0000002a-lock-0000000005"

static void candidates_are_all_of_our_session_and_attempt_from_the_lowest_on(void)
{
    const char *const children[] = {"0000000000001000-0000002a-lock-0000000007", "config", OURS,
                                    "0000000000001000-0000002b-lock-0000000001",
                                    "0000000000001000-0000002a-latch-0000000005"};
    const char *first = pdk__order_candidate(children, 5, 0x1000, 0x2a, "");
    CHECK_STR(first, "0000000000001000-0000002a-latch-0000000005");
    const char *second = pdk__order_candidate(children, 5, 0x1000, 0x2a, first);
    CHECK_STR(second, OURS);
    const char *third = pdk__order_candidate(children, 5, 0x1000, 0x2a, second);
    CHECK_STR(third, "0000000000001000-0000002a-lock-0000000007");
    CHECK(pdk__order_candidate(children, 5, 0x1000, 0x2a, third) == NULL);
    CHECK(pdk__order_candidate(children, 5, 0x1000, 0x2c, "") == NULL);
}

static int by_order(const void *a, const void *b)
{
    return pdk__order_compare(*(const char *const *)a, *(const char *const *)b);
}

static void sorting_puts_the_holder_first_and_junk_last(void)
{
    const char *children[] = {"zoo", "b-lock-0000000003", "app", "a-lock-0000000003", "lock--000000001", OURS};
    qsort(children, 6, sizeof *children, by_order);
    const char *const sorted[] = {"lock--000000001", "a-lock-0000000003", "b-lock-0000000003", OURS, "app", "zoo"};
    for (int i = 0; i < 6; i++)
        CHECK_STR(children[i], sorted[i]);
}

static void the_first_is_a_contender_or_nobody(void)
{
    const char *children[] = {"app", "b-latch-0000000003", OURS, "a-latch-0000000002", "zoo"};
    CHECK_STR(pdk__order_first(children, 5), "a-latch-0000000002");
    CHECK_STR(pdk__order_first(children, 3), "b-latch-0000000003");
    CHECK(pdk__order_first(children, 1) == NULL);
    CHECK(pdk__order_first(NULL, 0) == NULL);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"candidates are all of our session and attempt, from the lowest on",
         candidates_are_all_of_our_session_and_attempt_from_the_lowest_on},
        {"sorting puts the holder first and junk last", sorting_puts_the_holder_first_and_junk_last},
        {"the first is a contender, or there is none", the_first_is_a_contender_or_nobody},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "order", .tests = tests});
}
