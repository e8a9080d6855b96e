/* Stories of strays: creates whose node was looked for and not found, and that are committed after all. */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;

static void begin(void) { stray_begin(&t); }

static void it_is_looked_for_soon_and_then_within_twice_its_age(void)
{
    stray_begin(&t);
    CHECK(pdk__stray_wake_ms(&t.stray) <= t.now_ms + 200);
    int64_t begun = t.now_ms;
    for (int i = 0; i < 12; i++) {
        story(&t, "due: list\n"
                  "listed nothing: -\n");
        int64_t age = t.now_ms - begun;
        CHECK(pdk__stray_wake_ms(&t.stray) <= t.now_ms + (age > 200 ? age : 200));
        CHECK(pdk__stray_wake_ms(&t.stray) >= t.now_ms + age / 2);
    }
    CHECK(t.now_ms - begun > 10000);
}

static void after_days_it_is_looked_for_once_an_hour(void)
{
    stray_begin(&t);
    story(&t, "later 2592000000: list\n"
              "listed nothing: -\n");
    CHECK(pdk__stray_wake_ms(&t.stray) <= t.now_ms + 3600 * 1000);
}

static void the_first_listing_of_a_look_is_shared_and_no_other(void)
{
    begin();
    story(&t, "due: list\n");
    CHECK(pdk__stray_shares(&t.stray));
    story(&t, "listed forged3: identify(forged3)\n"
              "identified by other: list\n");
    CHECK(!pdk__stray_shares(&t.stray));
}

static void a_delete_of_unknown_outcome_is_soon_looked_after(void)
{
    begin();
    story(&t, "later 100000: list\n"
              "listed own: identify(own)\n"
              "identified by us: delete(own)\n"
              "deleted unknown: -\n");
    CHECK(pdk__stray_wake_ms(&t.stray) <= t.now_ms + 200);
    story(&t, "due: list\n"
              "listed own: identify(own)\n"
              "identified by us: delete(own)\n"
              "deleted no-node: done\n");
}

static void it_ends_with_its_session(void)
{
    static const char *const ends[] = {"expired", "over PDK_ECLOSED", "left PDK_ECLOSED"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        begin();
        story(&t, "%s: done\n", ends[i]);
        CHECK_EQ(pdk__stray_wake_ms(&t.stray), PDK__NEVER);
    }
    begin();
    story(&t, "up anew: done\n");
}

static void what_concerns_contenders_alone_changes_nothing(void)
{
    stray_begin(&t);
    int64_t wake_ms = pdk__stray_wake_ms(&t.stray);
    story(&t, "proven: -\n");
    CHECK_EQ(pdk__stray_wake_ms(&t.stray), wake_ms);
}

static const struct story stories[] = {
    {"a node that lands is found and deleted", begin,
     "due: list\n"
     "listed 3: -\n"
     "due: list\n"
     "listed 3 own: identify(own)\n"
     "identified by us: delete(own)\n"
     "deleted: done\n"},
    {"a listing that another has asked for serves as well", begin,
     "listed 3 own of another: identify(own)\n"
     "listed 3 own of another: -\n"
     "identified by us: delete(own)\n"},
    {"a forged node is left alone", begin,
     "due: list\n"
     "listed forged3 own: identify(forged3)\n"
     "identified by other: list\n"
     "listed forged3 own: identify(own)\n"
     "identified by us: delete(own)\n"},
    {"a forged node alone is looked at again with the next look", begin,
     "due: list\n"
     "listed forged3: identify(forged3)\n"
     "identified by other: list\n"
     "listed forged3: -\n"
     "due: list\n"
     "listed forged3: identify(forged3)\n"},
    {"other attempts of the session are no concern", begin,
     "due: list\n"
     "listed 0000000000001000-0000002b-lock-0000000004 0000000000001001-0000002a-lock-0000000005: -\n"},
    {"nothing is asked without a connection", begin,
     "due: list\n"
     "down: -\n"
     "wakes: never\n"
     "listed own of list: -\n"
     "listed own of another: -\n"
     "pass 5000: -\n"
     "up: list\n"},
    {"what is refused is tried again later", begin,
     "due: list\n"
     "listed no-auth: -\n"
     "due: list\n"
     "listed own: identify(own)\n"
     "identified no-auth: -\n"
     "due: list\n"
     "listed own: identify(own)\n"
     "identified by us: delete(own)\n"
     "deleted no-auth: -\n"
     "due: list\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"it is looked for soon, and then within twice its age", it_is_looked_for_soon_and_then_within_twice_its_age},
        {"after days it is looked for once an hour", after_days_it_is_looked_for_once_an_hour},
        {"the first listing of a look is shared, and no other", the_first_listing_of_a_look_is_shared_and_no_other},
        {"a delete of unknown outcome is soon looked after", a_delete_of_unknown_outcome_is_soon_looked_after},
        {"what concerns contenders alone changes nothing", what_concerns_contenders_alone_changes_nothing},
        {"it ends with its session", it_ends_with_its_session},
        {0}};
    return pdk__story_main(argc, argv, "stray", __FILE__, &t, stories, tests);
}
