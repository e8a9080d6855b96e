/* Stories of acquiring a lock: alone, after others, by a try, against a deadline. */
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <string.h>

static struct trace t;

static void alone_one_round_trip_grants(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    release(&t);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: granted own\n"
                      "own: -\n"
                      "release: delete\n"
                      "deleted: done\n");
}

/* Does the path of a node begin anew with its delete? */
static void released_at(const char *name, bool renews)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, name);
    listed(&t, LIST(name));
    own(&t);
    release(&t);
    ok(&t, PDK__EV_DELETED);
    CHECK_EQ(strstr(t.text, " renew delete\n") != NULL, renews);
    CHECK_EQ(strstr(t.text, " delete\n") != NULL, true);
}

static void a_path_near_its_end_begins_anew(void)
{
    released_at("0000000000001000-0000002a-lock-2013265918", false);
    released_at("0000000000001000-0000002a-lock-2013265919", true);
    released_at("0000000000001000-0000002a-lock-2147483647", true);
    released_at("0000000000001000-0000002a-lock--2147483648", true);
}

static void behind_two_it_watches_the_nearest_and_lists_again(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_6, OTHER_3, OURS, OTHER_4));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    listed(&t, LIST(OURS, OTHER_3, OTHER_6));
    ok(&t, PDK__EV_WATCHED);
    fired(&t, true);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: list\n"
                      "listed: watch(3)\n"
                      "watched: -\n"
                      "gone: granted\n");
}

static void next_in_line_needs_no_second_listing(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: granted\n");
}

static void behind_the_first_no_listing_is_needed(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_3, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    first_fired(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "first gone: granted\n");
}

/* --- looking ahead ----------------------------------------------------------------------------------------------- */

static void acquire_looking_ahead(void)
{
    trace_begin(&t, true);
    t.conditions.look_ahead = true;
    acquire(&t, -1);
    created(&t, OURS);
}

static void looking_ahead_it_is_next_in_line_before_the_last_one_goes(void)
{
    acquire_looking_ahead();
    listed(&t, LIST(OTHER_6, OTHER_3, OURS, OTHER_4));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    listed(&t, LIST(OURS, OTHER_4, OTHER_6));
    ok(&t, PDK__EV_WATCHED);
    fired(&t, true);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(3) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: list\n"
                      "listed: watch(4)\n"
                      "watched: -\n"
                      "gone: granted\n");
}

/* The one before the predecessor gives up, and another is ahead of both. */
static void looking_ahead_behind_many_a_listing_decides(void)
{
    acquire_looking_ahead();
    listed(&t, LIST(OTHER_2, OTHER_3, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    listed(&t, LIST(OTHER_2, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    fired(&t, true);
    listed(&t, LIST(OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(3) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: list\n"
                      "listed: watch(2)\n"
                      "watched: -\n"
                      "gone: list\n"
                      "listed: granted\n");
}

/* Of a node of this client it is known whether it was the first. */
static void looking_ahead_a_predecessor_of_this_client_is_watched(void)
{
    acquire_looking_ahead();
    listed(&t, LIST(OTHER_3, OUR_OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    first_fired(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "first gone: granted\n");
}

static void looking_ahead_the_end_of_the_first_is_no_grant_while_another_is_between(void)
{
    acquire_looking_ahead();
    listed(&t, LIST(OUR_OTHER_3, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    first_fired(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(3) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "first gone: list\n");
}

/* ----------------------------------------------------------------------------------------------------------------- */

static void the_own_node_is_seen_before_a_predecessors_end_grants(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    fired(&t, true); /* the reply about our own node is still on its way */
    own(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "gone: -\n"
                      "own: granted\n");
}

static void a_predecessor_gone_between_list_and_watch_makes_room(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_3, OTHER_4, OURS));
    reply(&t, PDK__EV_WATCHED, PDK__NO_NODE, 0);
    listed(&t, LIST(OTHER_3, OURS));
    reply(&t, PDK__EV_WATCHED, PDK__NO_NODE, 0);
    own(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched no node: list\n"
                      "listed: watch(3)\n"
                      "watched no node: -\n"
                      "own: granted\n");
}

static void a_watch_that_fires_before_its_reply_counts(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_3, OTHER_4, OURS));
    uint64_t watch = t.op;
    fired(&t, true);
    reply_to(&t, watch, PDK__EV_WATCHED, PDK__OK);
    listed(&t, LIST(OURS));
    own(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "gone: list\n"
                      "watched: -\n"
                      "listed: -\n"
                      "own: granted\n");
}

static void a_watch_that_fires_after_the_grant_changes_nothing(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    fired(&t, true); /* nor does one with the number of another request */
    CHECK_STR(t.text, "acquire: create\n"
                      "gone: -\n");
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    trace_reset(&t);
    fired(&t, true);
    fired(&t, false);
    CHECK_STR(t.text, "gone: -\n"
                      "changed: -\n");
}

static void a_watch_that_may_be_set_behind_an_early_change_is_removed(void)
{
    trace_begin(&t, true);
    acquire(&t, 500);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    fired(&t, false); /* of a watch that was set again with the connection */
    trace_reset(&t);
    later(&t, 500);
    CHECK_STR(t.text, "later: failed(PDK_ETIMEDOUT) unwatch delete\n");
}

static void a_predecessor_that_only_changed_is_watched_again(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, false);
    listed(&t, LIST(OTHER_4, OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "changed: list\n"
                      "listed: watch(4)\n");
}

static void missing_parents_are_made(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    uint64_t first = t.op;
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    reply_to(&t, first, PDK__EV_LISTED, PDK__NO_NODE); /* the one that was sent after the create */
    ok(&t, PDK__EV_MADE_PARENTS);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created no node: parents create\n"
                      "listed no node: -\n"
                      "made parents: -\n"
                      "created: -\n"
                      "listed: granted own\n");
}

static void parents_that_vanish_every_time_end_in_an_error(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    int rounds = 0;
    for (; t.c.phase == PDK__CREATING && rounds < 100; rounds++) {
        reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
        trace_reset(&t);
        if (t.c.phase == PDK__CREATING)
            ok(&t, PDK__EV_MADE_PARENTS);
    }
    CHECK(rounds > 3 && rounds < 100);
    CHECK_EQ(t.c.phase, PDK__DONE);
}

static void parents_that_may_not_be_made_end_in_an_error(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    reply(&t, PDK__EV_MADE_PARENTS, PDK__NO_AUTH, 0);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "acquire: create\n"
                      "created no node: parents create\n"
                      "made parents no auth: -\n"
                      "created no node: failed(PDK_EACCES) done\n");
}

static void parents_that_may_not_be_made_and_are_there_do_no_harm(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    reply(&t, PDK__EV_MADE_PARENTS, PDK__NO_AUTH, 0);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created no node: parents create\n"
                      "made parents no auth: -\n"
                      "created: -\n"
                      "listed: granted own\n");
}

/* Above the nearest ancestors others are missing, too. */
static void when_the_nearest_parents_are_not_enough_all_are_made(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    for (int i = 0; i < 3; i++) {
        reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
        if (i < 2)
            reply(&t, PDK__EV_MADE_PARENTS, PDK__NO_NODE, 0);
    }
    CHECK_STR(t.text, "acquire: create\n"
                      "created no node: parents create\n"
                      "made parents no node: -\n"
                      "created no node: parents(all) create\n"
                      "made parents no node: -\n"
                      "created no node: failed(PDK_ENOENT) done\n");
}

static void giving_up_while_parents_are_made_awaits_the_create(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    release(&t);
    ok(&t, PDK__EV_MADE_PARENTS);
    created(&t, OURS);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created no node: parents create\n"
                      "release: -\n"
                      "made parents: -\n"
                      "created: delete\n"
                      "deleted: done\n");
}

static void parents_of_unknown_outcome_are_tried_again(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    reply(&t, PDK__EV_MADE_PARENTS, PDK__UNKNOWN, 0);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    later(&t, 5000);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "acquire: create\n"
                      "created no node: parents create\n"
                      "made parents unknown: -\n"
                      "created no node: -\n"
                      "later: create\n"
                      "created no node: parents(all) create\n");
}

static void a_refused_create_leaves_nothing(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    reply(&t, PDK__EV_CREATED, PDK__NO_AUTH, 0);
    CHECK_STR(t.text, "acquire: create\n"
                      "created no auth: failed(PDK_EACCES) done\n");
    trace_begin(&t, true);
    acquire(&t, -1);
    reply(&t, PDK__EV_CREATED, PDK__REFUSED, PDK_EPATH);
    CHECK_STR(t.text, "acquire: create\n"
                      "created refused: failed(PDK_EPATH) done\n");
}

static void a_path_that_may_not_be_listed_is_left_again(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    reply(&t, PDK__EV_LISTED, PDK__NO_AUTH, 0);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed no auth: failed(PDK_EACCES) delete\n"
                      "deleted: done\n");
}

static void a_predecessor_one_may_not_read_is_watched_by_exists(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    reply(&t, PDK__EV_WATCHED, PDK__NO_AUTH, 0);
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched no auth: watch(exists)\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: granted\n");
}

static void an_exists_watch_is_taken_back_where_another_is_ahead(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_3, OTHER_4, OURS));
    reply(&t, PDK__EV_WATCHED, PDK__NO_AUTH, 0);
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    later(&t, 5000);
    listed(&t, LIST(OTHER_3, OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched no auth: watch(exists)\n"
                      "watched: -\n"
                      "own: -\n"
                      "later: list\n"
                      "listed: unwatch watch(3)\n");
}

static void a_watch_by_exists_is_not_relied_upon(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    reply(&t, PDK__EV_WATCHED, PDK__NO_AUTH, 0);
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    later(&t, 5000);
    listed(&t, LIST(OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched no auth: watch(exists)\n"
                      "watched: -\n"
                      "own: -\n"
                      "later: list\n"
                      "listed: granted\n");
}

static void a_predecessor_that_cannot_be_watched_at_all_is_looked_at_now_and_then(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    reply(&t, PDK__EV_WATCHED, PDK__NO_AUTH, 0);
    reply(&t, PDK__EV_WATCHED, PDK__NO_AUTH, 0);
    later(&t, 5000);
    listed(&t, LIST(OURS));
    own(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched no auth: watch(exists)\n"
                      "watched no auth: -\n"
                      "later: list\n"
                      "listed: -\n"
                      "own: granted\n");
}

static void a_watch_that_is_refused_ends_in_an_error(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    reply(&t, PDK__EV_WATCHED, PDK__REFUSED, PDK_EREFUSED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched refused: failed(PDK_EREFUSED) unwatch delete\n");
}

static void a_node_of_another_session_is_never_granted(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created_by(&t, OURS, 0x999);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: failed(PDK_EREFUSED) delete\n"
                      "deleted: done\n");
}

static void a_node_without_a_token_is_never_granted(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    t.token = 0;
    created(&t, OURS);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: failed(PDK_EREFUSED) delete\n");
}

/* --- try --------------------------------------------------------------------------------------------------------- */

static void a_try_looks_and_writes_nothing_when_somebody_is_there(void)
{
    trace_begin(&t, true);
    try_acquire(&t);
    listed(&t, LIST("config", OTHER_3));
    CHECK_STR(t.text, "try: list\n"
                      "listed: failed(PDK_EBUSY) done\n");
}

static void a_try_on_a_free_path_takes_it(void)
{
    trace_begin(&t, true);
    try_acquire(&t);
    reply(&t, PDK__EV_LISTED, PDK__NO_NODE, 0);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    ok(&t, PDK__EV_MADE_PARENTS);
    created(&t, OURS);
    listed(&t, LIST("config", OURS));
    CHECK_STR(t.text, "try: list\n"
                      "listed no node: create\n"
                      "created no node: parents create\n"
                      "made parents: -\n"
                      "created: -\n"
                      "listed: granted own\n");
}

static void a_try_ends_with_its_connection_and_leaves_nothing(void)
{
    trace_begin(&t, true);
    try_acquire(&t);
    listed(&t, NOBODY);
    down(&t);
    up(&t, TRACE_SESSION);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(OURS));
    identified(&t, TRACE_SESSION);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "try: list\n"
                      "listed: create\n"
                      "down: failed(PDK_EDISCONNECTED)\n"
                      "up: barrier+list\n"
                      "barrier: -\n"
                      "listed: identify(5)\n"
                      "ours: delete\n"
                      "deleted: done\n");
}

static void a_try_that_comes_second_all_the_same_leaves_again(void)
{
    trace_begin(&t, true);
    try_acquire(&t);
    listed(&t, NOBODY);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "try: list\n"
                      "listed: create\n"
                      "created: -\n"
                      "listed: failed(PDK_EBUSY) delete\n"
                      "deleted: done\n");
}

/* --- deadlines and giving up ------------------------------------------------------------------------------------- */

static void a_deadline_ends_the_wait_and_the_node_goes(void)
{
    trace_begin(&t, true);
    acquire(&t, 100);
    CHECK_EQ(pdk__contender_wake_ms(&t.c), t.now_ms + 100);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    later(&t, 99);
    later(&t, 1);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "later: -\n"
                      "later: failed(PDK_ETIMEDOUT) unwatch delete\n"
                      "deleted: done\n");
    CHECK_EQ(pdk__contender_wake_ms(&t.c), PDK__NEVER);
}

static void a_deadline_is_one_for_all_predecessors(void)
{
    trace_begin(&t, true);
    acquire(&t, 100);
    created(&t, OURS);
    listed(&t, LIST(OTHER_3, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    later(&t, 60);
    fired(&t, true);
    listed(&t, LIST(OTHER_3, OURS));
    ok(&t, PDK__EV_WATCHED);
    trace_reset(&t);
    later(&t, 40);
    CHECK_STR(t.text, "later: failed(PDK_ETIMEDOUT) unwatch delete\n");
}

static void a_deadline_with_no_server_needs_none(void)
{
    trace_begin(&t, false);
    acquire(&t, 100);
    later(&t, 100);
    CHECK_STR(t.text, "acquire: -\n"
                      "later: failed(PDK_ETIMEDOUT) done\n");
}

static void a_deadline_while_the_create_is_out_waits_for_its_reply_behind_the_callers_back(void)
{
    trace_begin(&t, true);
    acquire(&t, 100);
    later(&t, 100);
    created(&t, OURS);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "later: failed(PDK_ETIMEDOUT)\n"
                      "created: delete\n"
                      "deleted: done\n");
}

static void a_deadline_before_a_refusal_says_one_thing_only(void)
{
    trace_begin(&t, true);
    acquire(&t, 100);
    later(&t, 100);
    reply(&t, PDK__EV_CREATED, PDK__NO_AUTH, 0);
    CHECK_STR(t.text, "acquire: create\n"
                      "later: failed(PDK_ETIMEDOUT)\n"
                      "created no auth: done\n");
}

static void a_caller_who_gives_up_is_cleaned_up_after(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    release(&t);
    release(&t);
    created(&t, OURS);
    reply(&t, PDK__EV_DELETED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "acquire: create\n"
                      "release: -\n"
                      "release: -\n"
                      "created: delete\n"
                      "deleted no node: done\n");
}

static void giving_up_before_anything_was_written_is_over_at_once(void)
{
    trace_begin(&t, true);
    try_acquire(&t);
    release(&t);
    listed(&t, NOBODY);
    CHECK_STR(t.text, "try: list\n"
                      "release: done\n"
                      "listed: -\n");
    trace_begin(&t, true);
    release(&t);
    CHECK_STR(t.text, "release: done\n");
}

static void stale_replies_change_nothing(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    uint64_t create = t.op;
    created(&t, OURS);
    listed(&t, LIST(OTHER_3, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    uint64_t watch = t.op;
    own(&t);
    fired(&t, true);
    trace_reset(&t);
    reply_to(&t, create, PDK__EV_LISTED, PDK__NO_NODE);
    reply_to(&t, watch, PDK__EV_WATCHED, PDK__NO_NODE);
    reply_to(&t, 0, PDK__EV_LISTED, PDK__OK);
    CHECK_STR(t.text, "listed no node: -\n"
                      "watched no node: -\n"
                      "listed: -\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"alone, one round trip grants", alone_one_round_trip_grants},
        {"behind two, it watches the nearest and lists again", behind_two_it_watches_the_nearest_and_lists_again},
        {"next in line needs no second listing", next_in_line_needs_no_second_listing},
        {"behind the first no listing is needed", behind_the_first_no_listing_is_needed},
        {"looking ahead, it is next in line before the last one goes",
         looking_ahead_it_is_next_in_line_before_the_last_one_goes},
        {"looking ahead, behind many a listing decides", looking_ahead_behind_many_a_listing_decides},
        {"looking ahead, a predecessor of this client is watched",
         looking_ahead_a_predecessor_of_this_client_is_watched},
        {"looking ahead, the end of the first is no grant while another is between",
         looking_ahead_the_end_of_the_first_is_no_grant_while_another_is_between},
        {"the own node is seen before a predecessor's end grants",
         the_own_node_is_seen_before_a_predecessors_end_grants},
        {"a predecessor gone between list and watch makes room", a_predecessor_gone_between_list_and_watch_makes_room},
        {"a watch that fires before its reply counts", a_watch_that_fires_before_its_reply_counts},
        {"a watch that may be set behind an early change is removed",
         a_watch_that_may_be_set_behind_an_early_change_is_removed},
        {"a watch that fires after the grant changes nothing", a_watch_that_fires_after_the_grant_changes_nothing},
        {"a predecessor that only changed is watched again", a_predecessor_that_only_changed_is_watched_again},
        {"missing parents are made", missing_parents_are_made},
        {"parents that vanish every time end in an error", parents_that_vanish_every_time_end_in_an_error},
        {"parents that may not be made end in an error", parents_that_may_not_be_made_end_in_an_error},
        {"parents that may not be made, and are there, do no harm",
         parents_that_may_not_be_made_and_are_there_do_no_harm},
        {"when the nearest parents are not enough, all are made", when_the_nearest_parents_are_not_enough_all_are_made},
        {"giving up while parents are made awaits the create", giving_up_while_parents_are_made_awaits_the_create},
        {"parents of unknown outcome are tried again", parents_of_unknown_outcome_are_tried_again},
        {"a refused create leaves nothing", a_refused_create_leaves_nothing},
        {"a path that may not be listed is left again", a_path_that_may_not_be_listed_is_left_again},
        {"a predecessor one may not read is watched by exists", a_predecessor_one_may_not_read_is_watched_by_exists},
        {"a watch by exists is not relied upon", a_watch_by_exists_is_not_relied_upon},
        {"an exists-watch is taken back where another is ahead", an_exists_watch_is_taken_back_where_another_is_ahead},
        {"a predecessor that cannot be watched at all is looked at now and then",
         a_predecessor_that_cannot_be_watched_at_all_is_looked_at_now_and_then},
        {"a watch that is refused ends in an error", a_watch_that_is_refused_ends_in_an_error},
        {"a path whose numbers are near their end begins anew", a_path_near_its_end_begins_anew},
        {"a node of another session is never granted", a_node_of_another_session_is_never_granted},
        {"a node without a token is never granted", a_node_without_a_token_is_never_granted},
        {"a try looks, and writes nothing when somebody is there",
         a_try_looks_and_writes_nothing_when_somebody_is_there},
        {"a try on a free path takes it", a_try_on_a_free_path_takes_it},
        {"a try ends with its connection, and leaves nothing", a_try_ends_with_its_connection_and_leaves_nothing},
        {"a try that comes second all the same leaves again", a_try_that_comes_second_all_the_same_leaves_again},
        {"a deadline ends the wait, and the node goes", a_deadline_ends_the_wait_and_the_node_goes},
        {"a deadline is one for all predecessors", a_deadline_is_one_for_all_predecessors},
        {"a deadline with no server needs none", a_deadline_with_no_server_needs_none},
        {"a deadline while the create is out waits for its reply behind the caller's back",
         a_deadline_while_the_create_is_out_waits_for_its_reply_behind_the_callers_back},
        {"a deadline before a refusal says one thing only", a_deadline_before_a_refusal_says_one_thing_only},
        {"a caller who gives up is cleaned up after", a_caller_who_gives_up_is_cleaned_up_after},
        {"giving up before anything was written is over at once",
         giving_up_before_anything_was_written_is_over_at_once},
        {"stale replies change nothing", stale_replies_change_nothing},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "acquire", .tests = tests});
}
