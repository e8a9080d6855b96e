/* Stories of a holder that no caller uses. */
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <string.h>

static struct trace t;

/* A holder whose own node is watched; the trace is empty. */
static void hold(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    trace_reset(&t);
}

static void the_first_idle_moment_watches_the_children(void)
{
    hold();
    idle(&t);
    rivals(&t, LIST(OURS));
    idle(&t);
    idle(&t);
    release(&t);
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "idle: -\n"
                      "idle: -\n"
                      "release: delete\n");
}

static void a_rival_that_came_before_is_reported(void)
{
    hold();
    idle(&t);
    rivals(&t, LIST(OTHER_6, OURS));
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: contended\n");
}

static void a_rival_that_comes_later_is_reported_without_a_listing(void)
{
    hold();
    idle(&t);
    rivals(&t, LIST(OURS));
    rivals_fired(&t);
    rivals_fired(&t);
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "rivals changed: contended\n"
                      "rivals changed: -\n");
}

/* The children changed, and its own node may be the one that went. */
static void a_node_without_a_watch_is_looked_at_when_the_children_change(void)
{
    hold();
    pdk__own_node_forget_watch(&t.c.node);
    idle(&t);
    rivals(&t, LIST(OURS));
    rivals_fired(&t);
    reply(&t, PDK__EV_OWN, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "rivals changed: own contended\n"
                      "own no node: lost done\n");
}

static void a_rival_whose_event_was_swallowed_is_found(void)
{
    hold();
    idle(&t);
    rivals(&t, LIST(OURS));
    look_again(&t);
    rivals(&t, LIST(OTHER_6, OURS));
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "look again: own rivals\n"
                      "rivals: contended\n");
}

static void a_watch_that_fires_before_its_listing_counts(void)
{
    hold();
    idle(&t);
    rivals_fired(&t);
    rivals(&t, LIST(OURS));
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals changed: contended\n"
                      "rivals: -\n");
}

static void a_rival_is_remembered_until_the_next_idle_moment(void)
{
    hold();
    idle(&t);
    rivals(&t, LIST(OURS));
    rivals_fired(&t);
    idle(&t);
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "rivals changed: contended\n"
                      "idle: contended\n");
}

static void a_node_of_no_contender_is_no_rival(void)
{
    hold();
    idle(&t);
    rivals(&t, LIST("notes", OURS));
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n");
}

/* A program that holds cannot be kept from its lock by what is not known of others. */
static void what_cannot_be_listed_counts_as_a_rival(void)
{
    static const enum pdk__outcome outcomes[] = {PDK__UNKNOWN, PDK__NO_AUTH, PDK__REFUSED, PDK__NO_NODE};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        hold();
        idle(&t);
        trace_reset(&t);
        reply_to(&t, t.c.rivals.op, PDK__EV_RIVALS, outcomes[i]);
        CHECK(strstr(t.text, ": contended\n") != NULL);
    }
}

static void a_holder_in_doubt_is_contended_for(void)
{
    hold();
    doubted(&t);
    idle(&t);
    CHECK_STR(t.text, "doubted: suspect\n"
                      "idle: contended\n");
}

static void a_lost_connection_forgets_the_watch(void)
{
    hold();
    idle(&t);
    rivals(&t, LIST(OURS));
    down(&t);
    up(&t, TRACE_SESSION);
    own(&t);
    rivals_fired(&t);
    idle(&t);
    rivals(&t, LIST(OURS, OTHER_6));
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "down: suspect\n"
                      "up: own\n"
                      "own: held\n"
                      "rivals changed: -\n"
                      "idle: rivals\n"
                      "rivals: contended\n");
}

static void a_released_holder_reports_no_rival(void)
{
    hold();
    idle(&t);
    release(&t);
    rivals(&t, LIST(OTHER_6, OURS));
    rivals_fired(&t);
    CHECK_STR(t.text, "idle: rivals\n"
                      "release: delete\n"
                      "rivals: -\n"
                      "rivals changed: -\n");
}

static void a_holder_that_is_idle_can_be_lost(void)
{
    hold();
    idle(&t);
    rivals(&t, LIST(OURS));
    own_fired(&t, true);
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "own gone: lost done\n");
}

/* --- a reader ---------------------------------------------------------------------------------------------------- */

#define READER_OURS "0000000000001000-0000002a-__READ__0000000005"
#define READER_4 "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-__READ__0000000004"
#define READER_6 "0000000000002000-00000002-__READ__0000000006"
#define WRITER_7 "0000000000002000-00000003-__WRIT__0000000007"
#define WRITER_OURS "0000000000001000-0000002a-__WRIT__0000000005"

static void hold_as(const struct pdk__rule *rule, const char *name)
{
    trace_begin_as(&t, rule, true);
    acquire(&t, -1);
    created(&t, name);
    listed(&t, LIST(name));
    own(&t);
    trace_reset(&t);
}

static void a_reader_is_no_rival_of_a_reader(void)
{
    hold_as(&pdk__rule_reader, READER_OURS);
    idle(&t);
    rivals(&t, LIST(READER_4, READER_OURS, READER_6));
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n");
}

static void a_writer_or_another_lock_is_a_rival_of_a_reader(void)
{
    static const char *const names[] = {WRITER_7, OTHER_6};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hold_as(&pdk__rule_reader, READER_OURS);
        idle(&t);
        rivals(&t, LIST(READER_4, READER_OURS, names[i]));
        CHECK_STR(t.text, "idle: rivals\n"
                          "rivals: contended\n");
    }
}

static void a_reader_is_a_rival_of_a_writer(void)
{
    hold_as(&pdk__rule_writer, WRITER_OURS);
    idle(&t);
    rivals(&t, LIST(WRITER_OURS));
    rivals_fired(&t);
    hold_as(&pdk__rule_writer, WRITER_OURS);
    idle(&t);
    rivals(&t, LIST(WRITER_OURS, READER_6));
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: contended\n");
}

static void an_idle_reader_lists_again_after_a_change(void)
{
    hold_as(&pdk__rule_reader, READER_OURS);
    idle(&t);
    rivals(&t, LIST(READER_OURS));
    rivals_fired(&t);
    rivals(&t, LIST(READER_OURS, READER_6));
    rivals_fired(&t);
    rivals(&t, LIST(READER_OURS, READER_6, WRITER_7));
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "rivals changed: rivals\n"
                      "rivals: -\n"
                      "rivals changed: rivals\n"
                      "rivals: contended\n");
}

/* The answer that is under way is of before the change. */
static void an_answer_from_before_a_change_counts_for_nothing(void)
{
    hold_as(&pdk__rule_reader, READER_OURS);
    idle(&t);
    uint64_t before = t.c.rivals.op;
    rivals_fired(&t);
    reply_to(&t, before, PDK__EV_RIVALS, PDK__OK);
    rivals(&t, LIST(READER_OURS, WRITER_7));
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals changed: rivals\n"
                      "rivals: -\n"
                      "rivals: contended\n");
}

static void a_reader_that_is_used_lists_when_it_is_idle_again(void)
{
    hold_as(&pdk__rule_reader, READER_OURS);
    idle(&t);
    rivals(&t, LIST(READER_OURS));
    used(&t);
    rivals_fired(&t);
    rivals_fired(&t);
    idle(&t);
    rivals(&t, LIST(READER_OURS));
    used(&t);
    idle(&t);
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "used: -\n"
                      "rivals changed: -\n"
                      "rivals changed: -\n"
                      "idle: rivals\n"
                      "rivals: -\n"
                      "used: -\n"
                      "idle: -\n");
}

static void look_in_vain(int n)
{
    for (int i = 0; i < n; i++) {
        rivals_fired(&t);
        rivals(&t, LIST(READER_OURS, READER_6));
    }
}

static void an_idle_reader_gives_way_after_four_looks_in_vain(void)
{
    hold_as(&pdk__rule_reader, READER_OURS);
    idle(&t);
    rivals(&t, LIST(READER_OURS));
    look_in_vain(4);
    used(&t);
    idle(&t);
    look_in_vain(4);
    trace_reset(&t);
    rivals_fired(&t);
    idle(&t);
    CHECK_STR(t.text, "rivals changed: contended\n"
                      "idle: contended\n");
}

static void a_reader_that_cannot_list_is_contended_for(void)
{
    hold_as(&pdk__rule_reader, READER_OURS);
    idle(&t);
    rivals(&t, LIST(READER_OURS));
    rivals_fired(&t);
    trace_reset(&t);
    reply_to(&t, t.c.rivals.op, PDK__EV_RIVALS, PDK__UNKNOWN);
    CHECK(strstr(t.text, ": contended\n") != NULL);
}

static void a_released_reader_lists_no_more(void)
{
    hold_as(&pdk__rule_reader, READER_OURS);
    idle(&t);
    rivals(&t, LIST(READER_OURS));
    release(&t);
    rivals_fired(&t);
    CHECK_STR(t.text, "idle: rivals\n"
                      "rivals: -\n"
                      "release: delete\n"
                      "rivals changed: -\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the first idle moment watches the children", the_first_idle_moment_watches_the_children},
        {"a rival that came before is reported", a_rival_that_came_before_is_reported},
        {"a rival that comes later is reported without a listing",
         a_rival_that_comes_later_is_reported_without_a_listing},
        {"a node without a watch is looked at when the children change",
         a_node_without_a_watch_is_looked_at_when_the_children_change},
        {"a rival whose event was swallowed is found", a_rival_whose_event_was_swallowed_is_found},
        {"a watch that fires before its listing counts", a_watch_that_fires_before_its_listing_counts},
        {"a rival is remembered until the next idle moment", a_rival_is_remembered_until_the_next_idle_moment},
        {"a node of no contender is no rival", a_node_of_no_contender_is_no_rival},
        {"what cannot be listed counts as a rival", what_cannot_be_listed_counts_as_a_rival},
        {"a holder in doubt is contended for", a_holder_in_doubt_is_contended_for},
        {"a lost connection forgets the watch", a_lost_connection_forgets_the_watch},
        {"a released holder reports no rival", a_released_holder_reports_no_rival},
        {"a holder that is idle can be lost", a_holder_that_is_idle_can_be_lost},
        {"a reader is no rival of a reader", a_reader_is_no_rival_of_a_reader},
        {"a writer, or another lock, is a rival of a reader", a_writer_or_another_lock_is_a_rival_of_a_reader},
        {"a reader is a rival of a writer", a_reader_is_a_rival_of_a_writer},
        {"an idle reader lists again after a change", an_idle_reader_lists_again_after_a_change},
        {"an answer from before a change counts for nothing", an_answer_from_before_a_change_counts_for_nothing},
        {"a reader that is used lists when it is idle again", a_reader_that_is_used_lists_when_it_is_idle_again},
        {"an idle reader gives way after four looks in vain", an_idle_reader_gives_way_after_four_looks_in_vain},
        {"a reader that cannot list is contended for", a_reader_that_cannot_list_is_contended_for},
        {"a released reader lists no more", a_released_reader_lists_no_more},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "idle", .tests = tests});
}
