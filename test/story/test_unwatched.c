/* Stories of the own node without a watch: for a twentieth of the session after a listing none is set. */
#include "test/lib/check.h"
#include "test/story/trace.h"

enum { TIMEOUT_MS = 10000, UNWATCHED_MS = 500 };

static struct trace t;

static void begin_as(const struct pdk__rule *rule)
{
    trace_begin_as(&t, rule, true);
    t.timeout_ms = t.c.session.timeout_ms = TIMEOUT_MS;
    acquire(&t, -1);
    created(&t, OURS);
    trace_reset(&t);
}

static void begin(void) { begin_as(&pdk__rule_mutex); }

static void hold(void)
{
    begin();
    listed(&t, LIST(OURS));
}

/* The next in line, behind one contender. */
static void queue(void)
{
    begin();
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
}

static void a_short_hold_asks_for_no_watch(void)
{
    hold();
    later(&t, UNWATCHED_MS - 1);
    release(&t);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "listed: granted\n"
                      "later: -\n"
                      "release: delete\n"
                      "deleted: done\n");
}

static void a_hold_that_lasts_is_watched(void)
{
    hold();
    CHECK_EQ(pdk__contender_wake_ms(&t.c), t.now_ms + UNWATCHED_MS);
    later(&t, UNWATCHED_MS);
    CHECK_EQ(pdk__contender_wake_ms(&t.c), PDK__NEVER);
    own(&t);
    own_fired(&t, true);
    CHECK_STR(t.text, "listed: granted\n"
                      "later: own\n"
                      "own: -\n"
                      "own gone: lost done\n");
}

/* A term. */
static void what_is_meant_to_be_held_for_long_is_watched_at_once(void)
{
    begin();
    t.conditions.long_held = true;
    listed(&t, LIST(OURS));
    own(&t);
    own_fired(&t, true);
    CHECK_STR(t.text, "listed: granted own\n"
                      "own: -\n"
                      "own gone: lost done\n");
}

static void a_candidate_for_long_is_watched_while_it_waits(void)
{
    begin();
    t.conditions.long_held = true;
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    CHECK_STR(t.text, "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: granted\n");
}

static void the_time_runs_from_the_question_not_from_its_answer(void)
{
    begin();
    t.now_ms += UNWATCHED_MS - 1;
    listed(&t, LIST(OURS));
    later(&t, 1);
    CHECK_STR(t.text, "listed: granted\n"
                      "later: own\n");
}

static void an_answer_that_took_that_long_is_followed_by_the_watch_at_once(void)
{
    begin();
    t.now_ms += UNWATCHED_MS;
    listed(&t, LIST(OURS));
    CHECK_STR(t.text, "listed: granted own\n");
}

static void a_node_deleted_before_its_watch_is_lost_when_it_is_due(void)
{
    hold();
    later(&t, UNWATCHED_MS);
    reply(&t, PDK__EV_OWN, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "listed: granted\n"
                      "later: own\n"
                      "own no node: lost done\n");
}

static void a_node_deleted_before_a_release_tells_so(void)
{
    hold();
    release(&t);
    reply(&t, PDK__EV_DELETED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "listed: granted\n"
                      "release: delete\n"
                      "deleted no node: done(PDK_ELOST)\n");
}

static void after_a_short_wait_the_next_is_granted_without_a_look(void)
{
    queue();
    later(&t, UNWATCHED_MS - 1);
    fired(&t, true);
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "later: -\n"
                      "gone: granted\n");
}

/* It does not begin anew with the grant. */
static void the_time_of_the_wait_counts(void)
{
    queue();
    t.now_ms += UNWATCHED_MS - 1;
    fired(&t, true);
    later(&t, 1);
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "gone: granted\n"
                      "later: own\n");
}

static void a_wait_that_lasts_is_watched(void)
{
    queue();
    later(&t, UNWATCHED_MS);
    own(&t);
    fired(&t, true);
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "later: own\n"
                      "own: -\n"
                      "gone: granted\n");
}

/* The thread of the timers is late. */
static void after_a_long_wait_without_a_watch_the_node_is_looked_at_first(void)
{
    queue();
    t.now_ms += UNWATCHED_MS;
    fired(&t, true);
    own(&t);
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "gone: own\n"
                      "own: granted\n");
}

/* Its answer may tell that the node is deleted. */
static void a_look_that_is_on_its_way_is_waited_for(void)
{
    queue();
    later(&t, UNWATCHED_MS);
    own(&t);
    fired(&t, false);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    trace_reset(&t);
    own_fired(&t, false);
    fired(&t, true);
    own(&t);
    CHECK_STR(t.text, "own changed: own\n"
                      "gone: -\n"
                      "own: granted\n");
}

static void a_waiters_node_deleted_meanwhile_is_no_grant_then(void)
{
    queue();
    t.now_ms += UNWATCHED_MS;
    fired(&t, true);
    reply(&t, PDK__EV_OWN, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "gone: own\n"
                      "own no node: create\n");
}

/* The name may be that of another node by now, which no listing tells. */
static void a_later_listing_does_not_put_the_watch_off(void)
{
    begin();
    listed(&t, LIST(OTHER_3, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    later(&t, UNWATCHED_MS - 1);
    fired(&t, true);
    listed(&t, LIST(OTHER_3, OURS));
    ok(&t, PDK__EV_WATCHED);
    CHECK_EQ(pdk__contender_wake_ms(&t.c), t.now_ms + 1);
    later(&t, 1);
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "later: -\n"
                      "gone: list\n"
                      "listed: watch(3)\n"
                      "watched: -\n"
                      "later: own\n");
}

static void the_time_begins_anew_for_a_node_made_anew(void)
{
    queue();
    later(&t, UNWATCHED_MS);
    reply(&t, PDK__EV_OWN, PDK__NO_NODE, 0);
    created(&t, OURS_AGAIN);
    listed(&t, LIST(OURS_AGAIN));
    later(&t, UNWATCHED_MS - 1);
    later(&t, 1);
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "later: own\n"
                      "own no node: unwatch create\n"
                      "created: -\n"
                      "listed: granted\n"
                      "later: -\n"
                      "later: own\n");
}

static void a_listing_that_took_long_is_not(void)
{
    begin();
    listed(&t, LIST(OTHER_3, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    fired(&t, true);
    t.now_ms += UNWATCHED_MS;
    listed(&t, LIST(OURS));
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "gone: list\n"
                      "listed: own\n");
}

static void a_holder_that_was_away_looks_at_once(void)
{
    hold();
    down(&t);
    up(&t, TRACE_SESSION);
    own(&t);
    CHECK_STR(t.text, "listed: granted\n"
                      "down: suspect\n"
                      "up: own\n"
                      "own: held\n");
}

/* Held again: not by proof alone. */
static void a_holder_in_doubt_looks_at_once(void)
{
    hold();
    doubted(&t);
    proven(&t);
    own(&t);
    CHECK_STR(t.text, "listed: granted\n"
                      "doubted: suspect own\n"
                      "proven: -\n"
                      "own: held\n");
}

static void without_an_answer_it_looks_again_after_a_rest(void)
{
    hold();
    later(&t, UNWATCHED_MS);
    reply(&t, PDK__EV_OWN, PDK__UNKNOWN, 0);
    CHECK(pdk__contender_wake_ms(&t.c) > t.now_ms && pdk__contender_wake_ms(&t.c) <= t.now_ms + 1000);
    later(&t, pdk__contender_wake_ms(&t.c) - t.now_ms);
    CHECK_STR(t.text, "listed: granted\n"
                      "later: own\n"
                      "own unknown: -\n"
                      "later: own\n");
}

/* The rest was for the server that has not answered. */
static void on_a_new_connection_a_waiter_looks_again_without_a_rest(void)
{
    queue();
    later(&t, UNWATCHED_MS);
    reply(&t, PDK__EV_OWN, PDK__UNKNOWN, 0);
    down(&t);
    up(&t, TRACE_SESSION);
    listed(&t, LIST(OTHER_4, OURS));
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "later: own\n"
                      "own unknown: -\n"
                      "down: -\n"
                      "up: list\n"
                      "listed: watch(4) own\n");
}

static void a_confirming_write_shows_the_node(void)
{
    trace_begin(&t, true);
    t.c.session.timeout_ms = TIMEOUT_MS;
    t.conditions.confirmed = true;
    acquire(&t, -1);
    created(&t, OURS);
    trace_reset(&t);
    t.now_ms += 50;
    listed(&t, LIST(OURS));
    t.now_ms += 100;
    confirmed(&t, 99);
    later(&t, UNWATCHED_MS - 101);
    later(&t, 1);
    CHECK_STR(t.text, "listed: confirm(version 0)\n"
                      "confirmed: granted\n"
                      "later: -\n"
                      "later: own\n");
}

/* The write has shown it, and has set off the watch that was on it. */
static void a_look_after_the_confirming_write_is_waited_for_too(void)
{
    begin();
    t.conditions.confirmed = true;
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    later(&t, UNWATCHED_MS);
    own(&t);
    fired(&t, true);
    doubted(&t);
    trace_reset(&t);
    own_fired(&t, false);
    confirmed(&t, 99);
    proven(&t);
    reply(&t, PDK__EV_OWN, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "own changed: own\n"
                      "confirmed: -\n"
                      "proven: -\n"
                      "own no node: create\n");
}

static void a_new_connection_brings_its_own_timeout(void)
{
    hold();
    t.timeout_ms = 2 * TIMEOUT_MS;
    down(&t);
    expired(&t);
    up(&t, TRACE_SESSION + 1);
    CHECK_EQ(t.c.session.timeout_ms, 2 * TIMEOUT_MS);
}

/* --- an event that was swallowed --------------------------------------------------------------------------------- */

static void a_waiter_looks_again_at_its_predecessor_and_its_node(void)
{
    queue();
    CHECK(pdk__contender_watches(&t.c));
    look_again(&t);
    ok(&t, PDK__EV_WATCHED);
    later(&t, UNWATCHED_MS);
    own(&t);
    look_again(&t);
    own(&t);
    reply(&t, PDK__EV_WATCHED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "look again: watch(same)\n"
                      "watched: -\n"
                      "later: own\n"
                      "own: -\n"
                      "look again: own watch(same)\n"
                      "own: -\n"
                      "watched no node: granted\n");
}

/* The answer takes long, and its own watch is due meanwhile. */
static void a_waiter_that_looks_again_is_watched_in_time(void)
{
    queue();
    look_again(&t);
    later(&t, UNWATCHED_MS);
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    CHECK_STR(t.text, "listed: watch(4)\n"
                      "watched: -\n"
                      "look again: watch(same)\n"
                      "later: own\n"
                      "watched: -\n"
                      "own: -\n");
}

static void a_holder_looks_again_at_its_node(void)
{
    hold();
    CHECK(!pdk__contender_watches(&t.c));
    look_again(&t);
    later(&t, UNWATCHED_MS);
    own(&t);
    CHECK(pdk__contender_watches(&t.c));
    look_again(&t);
    reply_to(&t, t.own_op, PDK__EV_OWN, PDK__NO_NODE);
    CHECK_STR(t.text, "listed: granted\n"
                      "look again: -\n"
                      "later: own\n"
                      "own: -\n"
                      "look again: own\n"
                      "own no node: lost done\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a waiter looks again at its predecessor and its node", a_waiter_looks_again_at_its_predecessor_and_its_node},
        {"a waiter that looks again is watched in time", a_waiter_that_looks_again_is_watched_in_time},
        {"a holder looks again at its node", a_holder_looks_again_at_its_node},
        {"a short hold asks for no watch", a_short_hold_asks_for_no_watch},
        {"a hold that lasts is watched", a_hold_that_lasts_is_watched},
        {"what is meant to be held for long is watched at once", what_is_meant_to_be_held_for_long_is_watched_at_once},
        {"a candidate for long is watched while it waits", a_candidate_for_long_is_watched_while_it_waits},
        {"the time runs from the question, not from its answer", the_time_runs_from_the_question_not_from_its_answer},
        {"an answer that took that long is followed by the watch at once",
         an_answer_that_took_that_long_is_followed_by_the_watch_at_once},
        {"a node deleted before its watch is lost when it is due",
         a_node_deleted_before_its_watch_is_lost_when_it_is_due},
        {"a node deleted before a release tells so", a_node_deleted_before_a_release_tells_so},
        {"after a short wait the next is granted without a look",
         after_a_short_wait_the_next_is_granted_without_a_look},
        {"the time of the wait counts", the_time_of_the_wait_counts},
        {"a wait that lasts is watched", a_wait_that_lasts_is_watched},
        {"after a long wait without a watch the node is looked at first",
         after_a_long_wait_without_a_watch_the_node_is_looked_at_first},
        {"a look that is on its way is waited for", a_look_that_is_on_its_way_is_waited_for},
        {"a waiter's node deleted meanwhile is no grant then", a_waiters_node_deleted_meanwhile_is_no_grant_then},
        {"a later listing does not put the watch off", a_later_listing_does_not_put_the_watch_off},
        {"the time begins anew for a node made anew", the_time_begins_anew_for_a_node_made_anew},
        {"a listing that took long is not", a_listing_that_took_long_is_not},
        {"a holder that was away looks at once", a_holder_that_was_away_looks_at_once},
        {"a holder in doubt looks at once", a_holder_in_doubt_looks_at_once},
        {"without an answer it looks again after a rest", without_an_answer_it_looks_again_after_a_rest},
        {"on a new connection a waiter looks again without a rest",
         on_a_new_connection_a_waiter_looks_again_without_a_rest},
        {"a confirming write shows the node", a_confirming_write_shows_the_node},
        {"a look after the confirming write is waited for, too", a_look_after_the_confirming_write_is_waited_for_too},
        {"a new connection brings its own timeout", a_new_connection_brings_its_own_timeout},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "story/unwatched", .tests = tests});
}
