#include "lib/core/order.h"
#include "test/lib/check.h"
#include <stdlib.h>

#define OURS "0000000000001000-0000002a-lock-0000000005"

static struct pdk__place place(const char *const *children, size_t n) { return pdk__order_place(children, n, OURS); }

#define PLACE(...)                                                                                                     \
    place((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void whoever_is_lowest_has_nobody_ahead(void)
{
    struct pdk__place p = PLACE("lock-0000000009", OURS, "lock-0000000006");
    CHECK(p.present && !p.tied);
    CHECK_EQ(p.ahead, 0);
    CHECK(p.predecessor == NULL);
}

static void the_predecessor_is_the_nearest_ahead_in_any_order_of_listing(void)
{
    struct pdk__place p = PLACE("lock-0000000003", "lock-0000000006", "lock-0000000004", OURS, "lock-0000000001");
    CHECK_EQ(p.ahead, 3);
    CHECK_STR(p.predecessor, "lock-0000000004");
}

static void a_contender_of_another_recipe_counts_and_junk_does_not(void)
{
    struct pdk__place p = PLACE("config", "abc__lock__0000000002", OURS, "backup-123456789");
    CHECK_EQ(p.ahead, 1);
    CHECK_STR(p.predecessor, "abc__lock__0000000002");
    const char *const children[] = {"config", "abc__lock__0000000002", "lock-0000000001"};
    CHECK_EQ(pdk__order_contenders(children, 3), 2);
}

static void the_order_is_the_numbers_not_the_names(void)
{
    struct pdk__place p = PLACE("zzz-lock-0000000004", OURS, "aaa-lock-0000000006");
    CHECK_EQ(p.ahead, 1);
    CHECK_STR(p.predecessor, "zzz-lock-0000000004");
}

static void who_is_not_there_has_no_place(void)
{
    struct pdk__place p = PLACE("0000000000001000-0000002b-lock-0000000005",
                                "0000000000001001-0000002a-lock-0000000006");
    CHECK(!p.present);
    CHECK(!pdk__order_place(NULL, 0, OURS).present);
}

static void the_same_number_twice_is_a_tie(void)
{
    CHECK(PLACE(OURS, "lock-0000000005").tied);
    CHECK(!PLACE(OURS, "lock-0000000004").tied);
}

static void a_node_of_our_session_and_attempt_is_a_contender_like_others(void)
{
    struct pdk__place p = PLACE("0000000000001000-0000002a-lock-0000000007", OURS);
    CHECK(p.present && !p.tied);
    CHECK_EQ(p.ahead, 0);
    p = PLACE("0000000000001000-0000002a-lock-0000000000", OURS);
    CHECK_EQ(p.ahead, 1);
    CHECK_STR(p.predecessor, "0000000000001000-0000002a-lock-0000000000");
    CHECK(PLACE("0000000000001000-0000002a-latch-0000000005", OURS).tied);
}

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
        {"whoever is lowest has nobody ahead", whoever_is_lowest_has_nobody_ahead},
        {"the predecessor is the nearest ahead, in any order of listing",
         the_predecessor_is_the_nearest_ahead_in_any_order_of_listing},
        {"a contender of another recipe counts, and junk does not",
         a_contender_of_another_recipe_counts_and_junk_does_not},
        {"the order is the numbers', not the names'", the_order_is_the_numbers_not_the_names},
        {"who is not there has no place", who_is_not_there_has_no_place},
        {"the same number twice is a tie", the_same_number_twice_is_a_tie},
        {"a node of our session and attempt is a contender like others",
         a_node_of_our_session_and_attempt_is_a_contender_like_others},
        {"candidates are all of our session and attempt, from the lowest on",
         candidates_are_all_of_our_session_and_attempt_from_the_lowest_on},
        {"sorting puts the holder first and junk last", sorting_puts_the_holder_first_and_junk_last},
        {"the first is a contender, or there is none", the_first_is_a_contender_or_nobody},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "order", .tests = tests});
}
