#include "lib/core/rule.h"
#include "lib/zk/listing.h"
#include "test/lib/check.h"
#include <stdlib.h>

#define OURS "0000000000001000-0000002a-lock-0000000005"

/* As a reader passes readers: one that is ahead and has this tag does not block. */
static const struct pdk__rule passing = {.tag = PDK__TAG_LOCK, .passes = 1U << PDK__TAG_LATCH, .admits = 1};

static const struct pdk__rule admitting_three = {.tag = PDK__TAG_LOCK, .admits = 3};

#define LIST(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)
#define PLACE(rule, ...) pdk__rule_place(&(rule), LIST(__VA_ARGS__), OURS, NULL)
#define FREE(rule, ...) pdk__rule_free(&(rule), LIST(__VA_ARGS__), 1)

static void the_lowest_is_not_blocked(void)
{
    struct pdk__place p = PLACE(pdk__rule_mutex, "lock-0000000009", OURS, "lock-0000000006");
    CHECK(p.present && !p.tied && p.admitted && !p.next);
    CHECK_EQ(p.blocking, 0);
    CHECK(p.predecessor == NULL);
}

static void the_predecessor_is_the_nearest_ahead_in_any_order_of_listing(void)
{
    struct pdk__place p = PLACE(pdk__rule_mutex, "lock-0000000003", "lock-0000000006", "lock-0000000004", OURS,
                                "lock-0000000001");
    CHECK_EQ(p.blocking, 3);
    CHECK_STR(p.predecessor, "lock-0000000004");
    CHECK_STR(p.before, "lock-0000000003");
    CHECK(!p.admitted && !p.next);
}

static void a_contender_of_another_recipe_blocks_and_junk_does_not(void)
{
    struct pdk__place p = PLACE(pdk__rule_mutex, "config", "abc__lock__0000000002", OURS, "backup-123456789");
    CHECK_EQ(p.blocking, 1);
    CHECK_STR(p.predecessor, "abc__lock__0000000002");
    CHECK(p.next);
    CHECK(FREE(pdk__rule_mutex, "config", "backup-123456789"));
    CHECK(!FREE(pdk__rule_mutex, "config", "abc__lock__0000000002"));
}

static void the_order_is_the_numbers_not_the_names(void)
{
    struct pdk__place p = PLACE(pdk__rule_mutex, "zzz-lock-0000000004", OURS, "aaa-lock-0000000006");
    CHECK_EQ(p.blocking, 1);
    CHECK_STR(p.predecessor, "zzz-lock-0000000004");
}

static void a_node_that_is_not_there_has_no_place(void)
{
    struct pdk__place p = PLACE(pdk__rule_mutex, "0000000000001000-0000002b-lock-0000000005",
                                "0000000000001001-0000002a-lock-0000000006");
    CHECK(!p.present && !p.admitted);
    CHECK(!pdk__rule_place(&pdk__rule_mutex, NULL, 0, OURS, NULL).present);
    CHECK(pdk__rule_free(&pdk__rule_mutex, NULL, 0, 1));
}

static void the_same_number_twice_is_a_tie(void)
{
    CHECK(PLACE(pdk__rule_mutex, OURS, "lock-0000000005").tied);
    CHECK(!PLACE(pdk__rule_mutex, OURS, "lock-0000000004").tied);
    CHECK(PLACE(passing, OURS, "latch-0000000005").tied); /* whatever the rule lets pass */
}

static void a_node_of_our_session_and_attempt_is_a_contender_like_others(void)
{
    struct pdk__place p = PLACE(pdk__rule_mutex, "0000000000001000-0000002a-lock-0000000007", OURS);
    CHECK(p.present && !p.tied);
    CHECK_EQ(p.blocking, 0);
    p = PLACE(pdk__rule_mutex, "0000000000001000-0000002a-lock-0000000000", OURS);
    CHECK_EQ(p.blocking, 1);
    CHECK_STR(p.predecessor, "0000000000001000-0000002a-lock-0000000000");
    CHECK(PLACE(pdk__rule_mutex, "0000000000001000-0000002a-latch-0000000005", OURS).tied);
}

static void a_contender_that_the_rule_passes_does_not_block(void)
{
    struct pdk__place p = PLACE(passing, "a-latch-0000000001", "b-latch-0000000004", OURS);
    CHECK(p.present && p.admitted && p.predecessor == NULL);
    p = PLACE(passing, "a-latch-0000000001", "b-lock-0000000002", "c-latch-0000000004", OURS);
    CHECK_EQ(p.blocking, 1);
    CHECK_STR(p.predecessor, "b-lock-0000000002"); /* not the nearest ahead: the nearest that blocks */
    CHECK(p.next);
    CHECK(FREE(passing, "a-latch-0000000001"));
    CHECK(!FREE(passing, "a-latch-0000000001", "b-lock-0000000002"));
}

/* Its name has no tag of ours, so no rule knows it. */
static void a_contender_without_a_tag_is_never_passed(void)
{
    struct pdk__place p = PLACE(passing, "abc__lock__0000000002", OURS);
    CHECK_EQ(p.blocking, 1);
    CHECK(!FREE(passing, "abc__lock__0000000002"));
}

static void fewer_than_the_rule_admits_do_not_block(void)
{
    struct pdk__place p = PLACE(admitting_three, "lock-0000000001", "lock-0000000002", OURS);
    CHECK(p.admitted && !p.next);
    CHECK_STR(p.predecessor, "lock-0000000002");
    p = PLACE(admitting_three, "lock-0000000001", "lock-0000000002", OURS, "lock-0000000003");
    CHECK(!p.admitted && p.next);
    p = PLACE(admitting_three, "lock-0000000001", "lock-0000000002", OURS, "lock-0000000003", "lock-0000000004");
    CHECK(!p.admitted && !p.next);
    CHECK(FREE(admitting_three, "lock-0000000001", "lock-0000000002"));
    CHECK(!FREE(admitting_three, "lock-0000000001", "lock-0000000002", "lock-0000000003"));
    CHECK(pdk__rule_free(&admitting_three, LIST("lock-0000000001"), 2));
    CHECK(!pdk__rule_free(&admitting_three, LIST("lock-0000000001"), 3));
}

/* --- readers and writers ----------------------------------------------------------------------------------------- */

#define READER "0000000000001000-0000002a-__READ__0000000005"
#define WRITER "0000000000001000-00000029-__WRIT__0000000005"

#define PLACE_OF(rule, own, base, ...) pdk__rule_place(&(rule), LIST(__VA_ARGS__), own, base)

static void a_reader_waits_for_the_nearest_writer(void)
{
    struct pdk__place p = PLACE_OF(pdk__rule_reader, READER, NULL, "a__WRIT__0000000001", "b__WRIT__0000000003",
                                   "c__READ__0000000004", READER, "d__WRIT__0000000006");
    CHECK_EQ(p.blocking, 2);
    CHECK_STR(p.predecessor, "b__WRIT__0000000003");
    p = PLACE_OF(pdk__rule_reader, READER, NULL, "a__WRIT__0000000001", "c__READ__0000000004", READER);
    CHECK(p.next && !p.replaceable);
    CHECK(PLACE_OF(pdk__rule_reader, READER, NULL, "a__READ__0000000001", READER).admitted);
}

/* It may go on as a reader, which is there when it goes. */
static void a_writer_does_not_follow_a_writer_unseen(void)
{
    struct pdk__place p = PLACE_OF(pdk__rule_writer, WRITER, NULL, "a__WRIT__0000000001", WRITER);
    CHECK(p.next && p.replaceable);
    p = PLACE_OF(pdk__rule_writer, WRITER, NULL, "a__READ__0000000001", WRITER);
    CHECK(p.next && !p.replaceable);
    p = PLACE_OF(pdk__rule_writer, WRITER, NULL, "a__WRIT__0000000001", "b__READ__0000000001", WRITER);
    CHECK(!p.next);
    CHECK_EQ(p.blocking, 2);
    CHECK(!PLACE(pdk__rule_mutex, "lock-0000000004", OURS).replaceable);
}

static void under_a_writers_number_a_reader_needs_the_writer(void)
{
    struct pdk__place p = PLACE_OF(pdk__rule_reader, READER, WRITER, READER, "d__WRIT__0000000006", WRITER);
    CHECK(p.present && p.admitted && !p.tied && !p.baseless);
    CHECK(PLACE_OF(pdk__rule_reader, READER, WRITER, READER, "d__WRIT__0000000006").baseless);
    CHECK(PLACE_OF(pdk__rule_reader, READER, NULL, READER, WRITER).tied);
    CHECK(PLACE_OF(pdk__rule_reader, READER, WRITER, READER, WRITER, "e__WRIT__0000000005").tied);
    CHECK(!PLACE_OF(pdk__rule_reader, READER, WRITER, READER, WRITER, "e__WRIT__0000000004").admitted);
}

/* --- in a listing ------------------------------------------------------------------------------------------------ */

/* Does OWN hold, after the contenders AHEAD? LIMIT: how many permits it knows of. */
static bool holds_in(bool among_permits, const char *own, int64_t limit, const char *const *ahead, size_t n)
{
    struct pdk__name name = pdk__name_parse(own);
    struct pdk__rule rule = pdk__rule_of(&name, limit, among_permits);
    size_t blocking = 0;
    for (size_t i = 0; i < n; i++) {
        struct pdk__name other = pdk__name_parse(ahead[i]);
        blocking += pdk__rule_blocks(&rule, &name, &other);
    }
    return pdk__rule_admits(&rule, blocking);
}

static bool holds(const char *own, int64_t limit, const char *const *ahead, size_t n)
{
    return holds_in(false, own, limit, ahead, n);
}

#define HOLDS(own, ...) holds(own, 0, LIST(__VA_ARGS__))

static void a_listed_reader_holds_beside_readers_ahead(void)
{
    CHECK(HOLDS(READER, "a__READ__0000000001", "b__READ__0000000004"));
    CHECK(!HOLDS(READER, "a__READ__0000000001", "b__WRIT__0000000004"));
    CHECK(!HOLDS(READER, "abc__lock__0000000002"));
}

static void a_listed_writer_holds_beside_the_reader_under_its_number(void)
{
    CHECK(HOLDS(READER, WRITER) && HOLDS(WRITER, READER));
    CHECK(!HOLDS(WRITER, "a__READ__0000000004") && !HOLDS(WRITER, "a__WRIT__0000000004"));
    CHECK(!HOLDS(OURS, "lock-0000000005")); /* a tie: the first holds */
}

/* They see only each other. */
static void a_contender_of_kazoos_holds_beside_all_others(void)
{
    CHECK(HOLDS("abc__lock__0000000002", "a-lock-0000000001") &&
          HOLDS("abc__rlock__0000000002", "a__READ__0000000001"));
    CHECK(!HOLDS("abc__lock__0000000002", "a-lock-0000000000", "abd__lock__0000000001"));
}

static void any_other_contender_holds_alone(void)
{
    CHECK(holds(OURS, 0, NULL, 0) && holds("a-latch-0000000001", 0, NULL, 0));
    CHECK(holds("abc__lock__0000000002", 0, NULL, 0));
    CHECK(!HOLDS(OURS, "lock-0000000004") && !HOLDS("a-latch-0000000002", "a-latch-0000000001"));
    CHECK(!HOLDS("x-123-0000000002", "a__READ__0000000001"));
    CHECK(!holds("config", 0, NULL, 0)); /* junk */
}

static void as_many_permits_hold_as_there_are(void)
{
    const char *const ahead[] = {"a-lease-0000000001", "b-lease-0000000002"};
    CHECK(holds("c-lease-0000000003", 3, ahead, 2) && !holds("c-lease-0000000003", 2, ahead, 2));
    CHECK(holds("c-lease-0000000003", 0, ahead, 2)); /* the number is not known */
}

static void junk_is_listed_as_a_holder_among_permits_alone(void)
{
    const char *const ahead[] = {"a-lease-0000000001", "by-hand"};
    struct pdk__name junk = pdk__name_parse("by-hand"), stranger = pdk__name_parse("x0000000009");
    struct pdk__rule permit = pdk__rule_permit(2);
    CHECK(holds_in(true, "config", 0, ahead, 2) && !holds_in(false, "config", 0, NULL, 0));
    CHECK(!holds("c-lease-0000000003", 2, ahead, 2) && holds("c-lease-0000000003", 3, ahead, 2));
    CHECK_EQ(pdk__rule_position(&permit, &junk), INT64_MIN);
    CHECK_EQ(pdk__rule_position(&permit, &stranger), INT64_MIN);
    CHECK_EQ(pdk__rule_position(&pdk__rule_mutex, &junk), INT64_MAX);
    CHECK_EQ(pdk__rule_position(&pdk__rule_mutex, &stranger), 9);
}

static void junk_holds_where_the_path_or_a_permit_tells(void)
{
    static char path[] = "/a/leases", name[] = "by-hand";
    struct pdk_contender_list list = {.path = path, .n = 3};
    list.items = calloc(list.n, sizeof *list.items);
    CHECK(list.items != NULL);
    for (size_t i = 0; i < list.n; i++)
        list.items[i] = (struct pdk__listing_item){.name = name, .parsed = pdk__name_parse(name)};
    for (size_t i = 0; i < list.n; i++)
        CHECK(pdk_contender_holds(&list, i));
    list.items[0].parsed = pdk__name_parse("a-lock-0000000001"); /* no permit */
    for (size_t i = 0; i < list.n; i++)
        CHECK_EQ(pdk_contender_holds(&list, i), i == 0);
    list.items[0].parsed = pdk__name_parse("a-lease-0000000001");
    for (size_t i = 0; i < list.n; i++)
        CHECK(pdk_contender_holds(&list, i));
    free(list.items);
}

/* One that waits for it then has nothing ahead once it is gone. */
static void a_holder_is_the_first_where_it_holds_alone(void)
{
    struct pdk__rule one = pdk__rule_permit(1), two = pdk__rule_permit(2);
    CHECK(pdk__rule_admits_first(&pdk__rule_mutex) && pdk__rule_admits_first(&one));
    CHECK(!pdk__rule_admits_first(&pdk__rule_reader) && !pdk__rule_admits_first(&two));
}

#define MISFIT(rule, ...) pdk__rule_misfit(&(rule), LIST(__VA_ARGS__))

static void recipes_that_do_not_go_together(void)
{
    struct pdk__rule permit = pdk__rule_permit(2);
    CHECK(MISFIT(pdk__rule_mutex, OURS, "x__READ__0000000001", "y__WRIT__0000000002", "locks", "z__lock__0000000001") ==
          NULL);
    CHECK(MISFIT(pdk__rule_reader, "x-lock-0000000001", "y__WRIT__0000000002") == NULL);
    CHECK_STR(MISFIT(pdk__rule_writer, "x-lock-0000000001", "x-latch-0000000002"), "x-latch-0000000002");
    CHECK_STR(MISFIT(pdk__rule_leader, "x-latch-0000000001", OURS), OURS);
    CHECK_STR(MISFIT(pdk__rule_mutex, OURS, "x-lease-0000000001"), "x-lease-0000000001");
    CHECK(MISFIT(permit, "x-lease-0000000001", "junk", "locks", "leases") == NULL);
    CHECK_STR(MISFIT(permit, "x-lease-0000000001", OURS), OURS);
}

static void a_semaphore_has_two_parts(void)
{
    CHECK(pdk__rule_has_parts(LIST("leases", OURS, "locks")));
    CHECK(!pdk__rule_has_parts(LIST("locks", OURS)) && !pdk__rule_has_parts(LIST("leases")));
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the lowest is not blocked", the_lowest_is_not_blocked},
        {"the predecessor is the nearest ahead, in any order of listing",
         the_predecessor_is_the_nearest_ahead_in_any_order_of_listing},
        {"a contender of another recipe blocks, and junk does not",
         a_contender_of_another_recipe_blocks_and_junk_does_not},
        {"the order is the numbers', not the names'", the_order_is_the_numbers_not_the_names},
        {"a node that is not there has no place", a_node_that_is_not_there_has_no_place},
        {"the same number twice is a tie", the_same_number_twice_is_a_tie},
        {"a node of our session and attempt is a contender like others",
         a_node_of_our_session_and_attempt_is_a_contender_like_others},
        {"a contender that the rule passes does not block", a_contender_that_the_rule_passes_does_not_block},
        {"a contender without a tag is never passed", a_contender_without_a_tag_is_never_passed},
        {"a holder is the first of all where it holds alone", a_holder_is_the_first_where_it_holds_alone},
        {"fewer than the rule admits do not block", fewer_than_the_rule_admits_do_not_block},
        {"a reader waits for the nearest writer", a_reader_waits_for_the_nearest_writer},
        {"a writer does not follow a writer unseen", a_writer_does_not_follow_a_writer_unseen},
        {"under a writer's number a reader needs the writer", under_a_writers_number_a_reader_needs_the_writer},
        {"a listed reader holds beside readers ahead", a_listed_reader_holds_beside_readers_ahead},
        {"a listed writer holds beside the reader under its number",
         a_listed_writer_holds_beside_the_reader_under_its_number},
        {"a contender of kazoo's holds beside all others", a_contender_of_kazoos_holds_beside_all_others},
        {"any other contender holds alone", any_other_contender_holds_alone},
        {"as many permits hold as there are", as_many_permits_hold_as_there_are},
        {"junk is listed as a holder among permits alone", junk_is_listed_as_a_holder_among_permits_alone},
        {"junk holds where the path, or a permit, tells that it is one", junk_holds_where_the_path_or_a_permit_tells},
        {"recipes that do not go together", recipes_that_do_not_go_together},
        {"a semaphore has two parts", a_semaphore_has_two_parts},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "rule", .tests = tests});
}
