#include "lib/core/name.h"
#include "test/lib/check.h"
#include <string.h>

static void check_round_trip(enum pdk__tag tag, const char *stem)
{
    char text[PDK__NAME_MAX];
    pdk__name_format(text, INT64_C(-2), 0xfffffffe, tag);
    CHECK_STR(text, stem);
    strcat(text, "0000000017");
    struct pdk__name name = pdk__name_parse(text);
    CHECK_EQ(name.kind, PDK__NAME_OURS);
    CHECK_EQ(name.tag, tag);
    CHECK_EQ(name.session, -2);
    CHECK_EQ(name.attempt, 0xfffffffe);
    CHECK_EQ(name.sequence, 17);
    CHECK(pdk__name_is(text, -2, 0xfffffffe));
    CHECK_EQ(pdk__name_glance(text).kind, PDK__NAME_CURATOR); /* the stem is not looked at */
    CHECK_EQ(pdk__name_glance(text).tag, tag);
    CHECK_EQ(pdk__name_glance(text).sequence, 17);
}

static void our_names_come_back_as_they_went(void)
{
    check_round_trip(PDK__TAG_LOCK, "fffffffffffffffe-fffffffe-lock-");
    check_round_trip(PDK__TAG_LATCH, "fffffffffffffffe-fffffffe-latch-");
    check_round_trip(PDK__TAG_READ, "fffffffffffffffe-fffffffe-__READ__");
    check_round_trip(PDK__TAG_WRITE, "fffffffffffffffe-fffffffe-__WRIT__");
}

static void a_name_under_anothers_number_is_whole(void)
{
    char text[PDK__NAME_MAX];
    pdk__name_format_at(text, -2, 0xfffffffe, PDK__TAG_READ, 17);
    CHECK_STR(text, "fffffffffffffffe-fffffffe-__READ__0000000017");
    pdk__name_format_at(text, -2, 0xfffffffe, PDK__TAG_READ, INT32_MAX);
    CHECK_STR(text, "fffffffffffffffe-fffffffe-__READ__2147483647");
}

static void session_and_attempt_both_tell_names_apart(void)
{
    const char *text = "0000000000001000-0000002a-lock-0000000005";
    CHECK(pdk__name_is(text, 0x1000, 0x2a));
    CHECK(!pdk__name_is(text, 0x1001, 0x2a));
    CHECK(!pdk__name_is(text, 0x1000, 0x2b));
    CHECK(!pdk__name_is(text, 0x1000, 0x2)); /* a prefix of the attempt is another attempt */
}

static void what_only_resembles_ours_is_not(void)
{
    static const char *const texts[] = {
        "000000000000100-0000002a-lock-0000000005",   /* a digit short */
        "0000000000001000-000002a-lock-0000000005",   /* likewise */
        "0000000000001000-0000002A-lock-0000000005",  /* upper case */
        "x0000000000001000-0000002a-lock-0000000005", /* something before */
        "0000000000001000_0000002a-lock-0000000005",  /* another separator */
        "0000000000001000-0000002a-leash-0000000005", /* another tag */
        "0000000000001000-0000002alatch-0000000005",  /* no separator before it */
        "0000000000001000-0000002a-lock-00000000050", /* eleven digits */
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK(pdk__name_parse(texts[i]).kind != PDK__NAME_OURS);
        CHECK(!pdk__name_is(texts[i], 0x1000, 0x2a));
    }
}

static void members_of_a_double_barrier_have_no_number(void)
{
    char name[PDK__NAME_MAX];
    pdk__name_format_member(name, 0x1000, 0x2a);
    CHECK_STR(name, "0000000000001000-0000002a-member");
    CHECK(pdk__name_is(name, 0x1000, 0x2a));
    CHECK(!pdk__name_is(name, 0x1001, 0x2a) && !pdk__name_is(name, 0x1000, 0x2b));
    CHECK(!pdk__name_is("0000000000001000-0000002a-members", 0x1000, 0x2a));
    CHECK_EQ(pdk__name_parse(name).kind, PDK__NAME_JUNK); /* it stands in no order */
}

static void contenders_of_every_library_are_ordered_by_their_number(void)
{
    static const struct {
        const char *text;
        enum pdk__name_kind kind;
        int64_t sequence;
    } names[] = {
        {"_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lock-0000000004", PDK__NAME_CURATOR, 4},
        {"_c_8612d63ebf964b12a95074da4d73b8ee-lock-0000000012", PDK__NAME_CURATOR, 12},
        {"lock-0000000000", PDK__NAME_CURATOR, 0},
        {"my-lock-house-lock-2147483647", PDK__NAME_CURATOR, 2147483647},
        {"_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-latch-0000000009", PDK__NAME_CURATOR, 9},
        {"8612d63ebf964b12a95074da4d73b8ee__lock__0000000007", PDK__NAME_FOREIGN, 7},
        {"x-0100001e4e830000-0000000008", PDK__NAME_FOREIGN, 8},
        {"_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-__WRIT__0000000010", PDK__NAME_CURATOR, 10},
        {"0000000011", PDK__NAME_FOREIGN, 11},
        {"0123456789abcdef012345-0000000012", PDK__NAME_FOREIGN, 12},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pdk__name name = pdk__name_parse(names[i].text);
        CHECK_EQ(name.kind, names[i].kind);
        CHECK_EQ(name.sequence, names[i].sequence);
        CHECK_EQ(pdk__name_glance(names[i].text).kind, names[i].kind);
        CHECK_EQ(pdk__name_glance(names[i].text).sequence, names[i].sequence);
    }
}

static void a_counter_that_wrapped_is_negative(void)
{
    CHECK_EQ(pdk__name_parse("0000000000001000-0000002a-lock--2147483648").sequence, INT64_C(-2147483648));
    CHECK_EQ(pdk__name_parse("0000000000001000-0000002a-lock--000000003").sequence, -3);
    CHECK_EQ(pdk__name_parse("0000000000001000-0000002a-lock--000000003").kind, PDK__NAME_OURS);
    CHECK_EQ(pdk__name_parse("abc__lock__-000000003").sequence, -3);
}

static void what_no_library_made_is_junk(void)
{
    static const char *const texts[] = {"",
                                        "config",
                                        "lock-",
                                        "lock-123456789",
                                        "backup-123456789",
                                        "0123456789x",
                                        "-",
                                        "123456789",
                                        "lock-00000000 5",
                                        "0123456789abcdef0123450123456789",
                                        "8612d63e-bf96-4b12-a950-740123456789"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        CHECK_EQ(pdk__name_parse(texts[i]).kind, PDK__NAME_JUNK);
}

static void the_library_shows_in_the_name(void)
{
    static const char *const names[][2] = {
        {"0000000000001000-0000002a-lock-0000000005", ""},
        {"config", ""},
        {"_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lock-0000000000", "Curator"},
        {"lock-0000000000", "Curator"},
        {"_c_0123456789abcdef0123456789abcdef-lock-0000000007", "go-zookeeper"},
        {"_c_0123456789abcdef0123456789abcdef0-lock-0000000007", "Curator"},
        {"0123456789abcdef0123456789abcdef__lock__0000000001", "kazoo"},
        {"0123456789abcdef0123456789abcdef__rlock__-000000001", "kazoo"},
        {"a__lock__b-0000000001", "an unknown recipe"},
        {"x-0100001e4e830000-0000000003", "ZooKeeper's recipe"},
        {"n_0000000003", "an unknown recipe"},
        {"_c_", ""},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STR(pdk__name_library(names[i][0])->name, names[i][1]);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"our names come back as they went", our_names_come_back_as_they_went},
        {"a name under another's number is whole", a_name_under_anothers_number_is_whole},
        {"session and attempt both tell names apart", session_and_attempt_both_tell_names_apart},
        {"what only resembles ours is not", what_only_resembles_ours_is_not},
        {"members of a double barrier have no number", members_of_a_double_barrier_have_no_number},
        {"contenders of every library are ordered by their number",
         contenders_of_every_library_are_ordered_by_their_number},
        {"a counter that wrapped is negative", a_counter_that_wrapped_is_negative},
        {"what no library made is junk", what_no_library_made_is_junk},
        {"the library shows in the name", the_library_shows_in_the_name},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "name", .tests = tests});
}
