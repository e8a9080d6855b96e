/* Stories of disturbance: lost replies, lost connections, ended sessions, nodes deleted by others. */
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

/* A waiter after OTHER_4, with both watches set. */
static void wait_behind(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    trace_reset(&t);
}

/* --- lost replies ------------------------------------------------------------------------------------------------ */

static void a_create_whose_reply_was_lost_is_looked_for_behind_a_barrier_and_found(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(OURS));
    identified(&t, TRACE_SESSION);
    listed(&t, LIST(OURS));
    own(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "down: -\n"
                      "up: barrier+list\n"
                      "barrier: -\n"
                      "listed: identify(5)\n"
                      "ours: list\n"
                      "listed: own\n"
                      "own: granted\n");
}

static void a_create_lost_on_its_way_is_made_once_more(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    uint64_t create = t.op;
    down(&t);
    reply_to(&t, create, PDK__EV_CREATED, PDK__UNKNOWN);
    reply_to(&t, create, PDK__EV_LISTED, PDK__UNKNOWN);
    up(&t, TRACE_SESSION);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(OTHER_3));
    created(&t, OURS);
    CHECK(t.c.attempt != TRACE_ATTEMPT); /* the first may have been created and deleted: its name must not return */
    CHECK_STR(t.text, "acquire: create\n"
                      "down: -\n"
                      "created unknown: -\n"
                      "listed unknown: -\n"
                      "up: barrier+list\n"
                      "barrier: -\n"
                      "listed: stray create\n"
                      "created: -\n");
}

static void a_listing_without_its_barrier_proves_nothing(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    uint64_t recovery = t.op;
    reply(&t, PDK__EV_BARRIER, PDK__UNKNOWN, 0);
    reply_to(&t, recovery, PDK__EV_LISTED, PDK__NO_NODE);
    later(&t, 5000);
    CHECK_STR(t.text, "acquire: create\n"
                      "down: -\n"
                      "up: barrier+list\n"
                      "barrier unknown: -\n"
                      "listed no node: -\n"
                      "later: barrier+list\n");
}

static void an_unknown_create_on_a_standing_connection_is_looked_for_too(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    reply(&t, PDK__EV_CREATED, PDK__UNKNOWN, 0);
    CHECK(pdk__contender_wake_ms(&t.c) > t.now_ms);
    later(&t, 5000);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(OTHER_4, OURS));
    identified(&t, TRACE_SESSION);
    listed(&t, LIST(OTHER_4, OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created unknown: -\n"
                      "later: barrier+list\n"
                      "barrier: -\n"
                      "listed: identify(5)\n"
                      "ours: list\n"
                      "listed: watch(4) own\n");
}

static void a_create_the_servers_never_take_ends_in_an_error(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    int creates = 0;
    for (int i = 0; i < 100 && t.c.phase != PDK__DONE; i++) {
        trace_reset(&t);
        if (t.c.phase == PDK__BACKOFF)
            later(&t, 5000);
        if (t.c.phase == PDK__CREATING) {
            creates++;
            down(&t);
            up(&t, TRACE_SESSION);
            ok(&t, PDK__EV_BARRIER);
            listed(&t, NOBODY);
        }
    }
    CHECK_EQ(t.c.phase, PDK__DONE);
    CHECK(creates > 2);
    CHECK(strstr(t.text, "failed(PDK_EREFUSED) done") != NULL);
}

static void a_lost_create_of_a_caller_who_gave_up_is_cleaned_up(void)
{
    trace_begin(&t, true);
    acquire(&t, 100);
    down(&t);
    later(&t, 100);
    up(&t, TRACE_SESSION);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(OTHER_3, OURS));
    identified(&t, TRACE_SESSION);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "down: -\n"
                      "later: failed(PDK_ETIMEDOUT)\n"
                      "up: barrier+list\n"
                      "barrier: -\n"
                      "listed: identify(5)\n"
                      "ours: delete\n"
                      "deleted: done\n");
}

static void a_lost_create_of_a_caller_who_gave_up_may_be_nowhere(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    release(&t);
    up(&t, TRACE_SESSION);
    ok(&t, PDK__EV_BARRIER);
    reply(&t, PDK__EV_LISTED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "acquire: create\n"
                      "down: -\n"
                      "release: -\n"
                      "up: barrier+list\n"
                      "barrier: -\n"
                      "listed no node: stray done\n");
}

static void a_delete_whose_reply_was_lost_is_repeated(void)
{
    hold();
    release(&t);
    down(&t);
    up(&t, TRACE_SESSION);
    reply(&t, PDK__EV_DELETED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "release: delete\n"
                      "down: -\n"
                      "up: delete\n"
                      "deleted no node: done\n");
}

static void a_delete_of_unknown_outcome_is_repeated(void)
{
    hold();
    release(&t);
    reply(&t, PDK__EV_DELETED, PDK__UNKNOWN, 0);
    later(&t, 5000);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "release: delete\n"
                      "deleted unknown: -\n"
                      "later: delete\n"
                      "deleted: done\n");
}

static void a_delete_that_finds_no_node_tells_a_loss(void)
{
    hold();
    release(&t);
    reply(&t, PDK__EV_DELETED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "release: delete\n"
                      "deleted no node: done(PDK_ELOST)\n");
}

/* The servers end the session later, and the node with it. */
static void a_release_is_not_confirmed_by_a_session_that_was_given_up(void)
{
    hold();
    down(&t);
    release(&t);
    given_up(&t);
    CHECK_STR(t.text, "down: suspect\n"
                      "release: -\n"
                      "given up: done(PDK_EUNKNOWN)\n");
    hold();
    release(&t);
    over(&t, PDK_ECLOSED);
    CHECK_STR(t.text, "release: delete\n"
                      "over: done(PDK_EUNKNOWN)\n");
    hold();
    release(&t);
    expired(&t);
    CHECK_STR(t.text, "release: delete\n"
                      "expired: done\n");
}

static void a_second_delete_that_finds_no_node_tells_nothing(void)
{
    hold();
    release(&t);
    reply(&t, PDK__EV_DELETED, PDK__UNKNOWN, 0);
    later(&t, 5000);
    reply(&t, PDK__EV_DELETED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "release: delete\n"
                      "deleted unknown: -\n"
                      "later: delete\n"
                      "deleted no node: done\n");
}

static void a_delete_that_is_not_allowed_is_told(void)
{
    hold();
    release(&t);
    reply(&t, PDK__EV_DELETED, PDK__NO_AUTH, 0);
    CHECK_STR(t.text, "release: delete\n"
                      "deleted no auth: done(PDK_EACCES)\n");
}

static void a_lost_listing_is_asked_for_again(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    reply(&t, PDK__EV_LISTED, PDK__UNKNOWN, 0);
    later(&t, 5000);
    listed(&t, LIST(OURS));
    own(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed unknown: -\n"
                      "later: list\n"
                      "listed: own\n"
                      "own: granted\n");
}

static void a_node_that_cannot_be_looked_for_is_looked_for_until_it_can(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    ok(&t, PDK__EV_BARRIER);
    reply(&t, PDK__EV_LISTED, PDK__NO_AUTH, 0);
    later(&t, 5000);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(OURS));
    identified(&t, TRACE_SESSION);
    CHECK_STR(t.text, "acquire: create\n"
                      "down: -\n"
                      "up: barrier+list\n"
                      "barrier: -\n"
                      "listed no auth: failed(PDK_EACCES)\n"
                      "later: barrier+list\n"
                      "barrier: -\n"
                      "listed: identify(5)\n"
                      "ours: delete\n");
}

static void a_lost_watch_is_set_again_after_a_new_listing(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    down(&t);
    up(&t, TRACE_SESSION);
    listed(&t, LIST(OTHER_4, OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "down: -\n"
                      "up: list\n"
                      "listed: watch(4) own\n");
}

/* --- forged names ------------------------------------------------------------------------------------------------ */

/* With our session and attempt, which every client that may list the path can read. */
#define FORGED_0 "0000000000001000-0000002a-lock-0000000000"
#define FORGED_9 "0000000000001000-0000002a-lock-0000000009"
#define FORGER INT64_C(0x3000)

static void a_forged_name_does_not_take_the_place_of_ours(void)
{
    wait_behind();
    fired(&t, false);
    listed(&t, LIST(FORGED_0, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    CHECK_STR(t.c.node.name, OURS);
    CHECK_STR(t.text, "changed: list\n"
                      "listed: watch(4)\n"
                      "watched: -\n");
}

static void a_forged_name_that_is_left_alone_is_waited_for_as_any_other(void)
{
    wait_behind();
    fired(&t, false);
    listed(&t, LIST(FORGED_0, OURS));
    ok(&t, PDK__EV_WATCHED);
    fired(&t, true);
    CHECK_STR(t.text, "changed: list\n"
                      "listed: watch(0)\n"
                      "watched: -\n"
                      "gone: granted\n");
}

static void a_waiter_whose_node_is_gone_queues_anew_beside_a_forged_one(void)
{
    wait_behind();
    fired(&t, false);
    listed(&t, LIST(FORGED_0, OTHER_4));
    CHECK(t.c.attempt != TRACE_ATTEMPT);
    CHECK_STR(t.text, "changed: list\n"
                      "listed: create\n");
}

static void candidates_are_looked_at_one_after_another_until_ours(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    trace_reset(&t);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(FORGED_9, OURS, FORGED_0));
    identified(&t, FORGER);
    listed(&t, LIST(FORGED_9, OURS, FORGED_0));
    identified(&t, TRACE_SESSION);
    listed(&t, LIST(FORGED_9, OURS, FORGED_0));
    CHECK_STR(t.text, "barrier: -\n"
                      "listed: identify(0)\n"
                      "not ours: list\n"
                      "listed: identify(5)\n"
                      "ours: list\n"
                      "listed: watch(0) own\n");
}

static void a_forged_candidate_alone_is_no_node_of_ours(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    trace_reset(&t);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(FORGED_9));
    identified(&t, FORGER);
    listed(&t, LIST(FORGED_9));
    CHECK(t.c.attempt != TRACE_ATTEMPT);
    CHECK_STR(t.text, "barrier: -\n"
                      "listed: identify(9)\n"
                      "not ours: list\n"
                      "listed: stray create\n");
}

static void a_candidate_gone_before_it_was_looked_at_is_passed_over(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    release(&t);
    trace_reset(&t);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(FORGED_0, OURS));
    reply(&t, PDK__EV_IDENTIFIED, PDK__NO_NODE, 0);
    listed(&t, LIST(OURS));
    identified(&t, TRACE_SESSION);
    CHECK_STR(t.text, "barrier: -\n"
                      "listed: identify(0)\n"
                      "identified no node: list\n"
                      "listed: identify(5)\n"
                      "ours: delete\n");
}

static void a_candidate_of_unknown_owner_is_looked_for_again_behind_a_barrier(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    trace_reset(&t);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(FORGED_0, OURS));
    reply(&t, PDK__EV_IDENTIFIED, PDK__UNKNOWN, 0);
    later(&t, 5000);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(FORGED_0, OURS));
    CHECK_STR(t.text, "barrier: -\n"
                      "listed: identify(0)\n"
                      "identified unknown: -\n"
                      "later: barrier+list\n"
                      "barrier: -\n"
                      "listed: identify(0)\n");
}

static void a_candidate_that_may_not_be_read_ends_in_an_error_and_is_looked_for_all_the_same(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    trace_reset(&t);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(OURS));
    reply(&t, PDK__EV_IDENTIFIED, PDK__NO_AUTH, 0);
    later(&t, 5000);
    CHECK_STR(t.text, "barrier: -\n"
                      "listed: identify(5)\n"
                      "identified no auth: failed(PDK_EACCES)\n"
                      "later: barrier+list\n");
}

static void a_node_of_our_name_that_is_another_one_is_not_ours(void)
{
    hold();
    down(&t);
    up(&t, TRACE_SESSION);
    t.token++; /* it was deleted and created again, by the same session */
    own(&t);
    CHECK_STR(t.text, "down: suspect\n"
                      "up: own\n"
                      "own: lost done\n");
}

static void a_node_replaced_while_disconnected_is_seen_before_the_grant(void)
{
    wait_behind();
    down(&t);
    up(&t, TRACE_SESSION);
    listed(&t, LIST(OURS));
    own_by(&t, FORGER);
    CHECK_STR(t.text, "down: -\n"
                      "up: list\n"
                      "listed: own\n"
                      "own: unwatch create\n");
}

/* --- holding ----------------------------------------------------------------------------------------------------- */

static void a_holder_disconnected_is_suspect_until_its_node_was_seen(void)
{
    hold();
    down(&t);
    up(&t, TRACE_SESSION);
    own(&t);
    CHECK_STR(t.text, "down: suspect\n"
                      "up: own\n"
                      "own: held\n");
}

static void a_holder_whose_node_went_meanwhile_has_lost(void)
{
    hold();
    down(&t);
    up(&t, TRACE_SESSION);
    reply(&t, PDK__EV_OWN, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "down: suspect\n"
                      "up: own\n"
                      "own no node: lost done\n");
}

static void a_holder_whose_node_is_another_sessions_has_lost(void)
{
    hold();
    down(&t);
    up(&t, TRACE_SESSION);
    own_by(&t, 0x999);
    CHECK_STR(t.text, "down: suspect\n"
                      "up: own\n"
                      "own: lost done\n");
}

static void a_holder_who_may_be_expired_has_lost_and_cleans_up_if_not(void)
{
    hold();
    down(&t);
    presumed(&t);
    up(&t, TRACE_SESSION);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "down: suspect\n"
                      "presumed: lost\n"
                      "up: delete\n"
                      "deleted: done\n");
}

static void a_holder_who_lost_by_the_clock_and_expired_is_done(void)
{
    hold();
    down(&t);
    presumed(&t);
    expired(&t);
    CHECK_STR(t.text, "down: suspect\n"
                      "presumed: lost\n"
                      "expired: done\n");
}

static void a_holder_whose_session_expired_has_lost(void)
{
    hold();
    expired(&t);
    CHECK_STR(t.text, "expired: lost done\n");
    hold();
    down(&t);
    expired(&t);
    CHECK_STR(t.text, "down: suspect\n"
                      "expired: lost done\n");
}

static void a_holder_in_a_silently_changed_session_has_lost(void)
{
    hold();
    down(&t);
    up(&t, 0x1001);
    CHECK_STR(t.text, "down: suspect\n"
                      "up: lost done\n");
}

static void a_holder_whose_node_was_deleted_has_lost(void)
{
    hold();
    own_fired(&t, true);
    CHECK_STR(t.text, "own gone: lost done\n");
}

static void a_holder_whose_node_was_written_to_watches_it_again(void)
{
    hold();
    own_fired(&t, false);
    own(&t);
    own_fired(&t, true);
    CHECK_STR(t.text, "own changed: own\n"
                      "own: -\n"
                      "own gone: lost done\n");
}

static void a_holder_whose_watch_failed_asks_again(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    reply(&t, PDK__EV_OWN, PDK__UNKNOWN, 0);
    CHECK(pdk__contender_wake_ms(&t.c) < t.now_ms + 5000);
    later(&t, 5000);
    reply(&t, PDK__EV_OWN, PDK__NO_AUTH, 0);
    own(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: granted own\n"
                      "own unknown: -\n"
                      "later: own\n"
                      "own no auth: own(exists)\n"
                      "own: -\n");
}

static void a_holder_who_unlocks_while_disconnected_deletes_later(void)
{
    hold();
    down(&t);
    release(&t);
    up(&t, TRACE_SESSION);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "down: suspect\n"
                      "release: -\n"
                      "up: delete\n"
                      "deleted: done\n");
}

static void news_of_the_own_node_after_unlock_change_nothing(void)
{
    hold();
    release(&t);
    own_fired(&t, true);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "release: delete\n"
                      "own gone: -\n"
                      "deleted: done\n");
}

/* --- waiting ----------------------------------------------------------------------------------------------------- */

static void a_waiter_keeps_its_place_through_a_disconnection(void)
{
    wait_behind();
    down(&t);
    up(&t, TRACE_SESSION);
    listed(&t, LIST(OURS));
    own(&t);
    CHECK_STR(t.text, "down: -\n"
                      "up: list\n"
                      "listed: own\n"
                      "own: granted\n");
}

static void a_waiter_whose_session_expired_queues_anew_in_the_next(void)
{
    static const char fresh[] = "0000000000001001-0000002a-lock-0000000009";
    wait_behind();
    expired(&t);
    up(&t, 0x1001);
    created(&t, fresh);
    listed(&t, LIST(OURS, fresh)); /* the old session's node still exists, and is ahead */
    CHECK_STR(t.text, "expired: -\n"
                      "up: create\n"
                      "created: -\n"
                      "listed: watch(5) own\n");
}

static void a_waiter_in_a_silently_changed_session_queues_anew(void)
{
    wait_behind();
    down(&t);
    up(&t, 0x1001);
    CHECK_STR(t.text, "down: -\n"
                      "up: create\n");
}

static void a_waiter_presumed_over_keeps_waiting(void)
{
    wait_behind();
    down(&t);
    presumed(&t);
    up(&t, TRACE_SESSION);
    CHECK_STR(t.text, "down: -\n"
                      "presumed: -\n"
                      "up: list\n");
}

static void a_session_expired_during_create_begins_anew(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    expired(&t);
    up(&t, 0x1001);
    CHECK_STR(t.text, "acquire: create\n"
                      "expired: -\n"
                      "up: create\n");
}

static void a_waiter_whose_node_was_deleted_queues_anew(void)
{
    wait_behind();
    own_fired(&t, true);
    CHECK_STR(t.text, "own gone: unwatch create\n");
    CHECK(t.c.attempt != TRACE_ATTEMPT); /* no name is ever used twice */
}

static void a_waiter_whose_node_is_not_in_the_listing_queues_anew(void)
{
    wait_behind();
    fired(&t, false);
    listed(&t, LIST(OTHER_4));
    created(&t, OTHER_6);
    CHECK_STR(t.text, "changed: list\n"
                      "listed: create\n"
                      "created: -\n");
}

static void a_lock_path_that_was_deleted_is_made_again(void)
{
    wait_behind();
    own_fired(&t, true);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    ok(&t, PDK__EV_MADE_PARENTS);
    CHECK_STR(t.text, "own gone: unwatch create\n"
                      "created no node: parents create\n"
                      "made parents: -\n");
}

static void a_waiters_watch_of_itself_that_failed_is_asked_for_again(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    reply(&t, PDK__EV_OWN, PDK__UNKNOWN, 0);
    trace_reset(&t);
    fired(&t, true);
    own(&t);
    CHECK_STR(t.text, "gone: own\n"
                      "own: granted\n");
}

static void a_check_before_the_grant_that_fails_is_made_again(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    ok(&t, PDK__EV_BARRIER);
    listed(&t, LIST(OURS));
    identified(&t, TRACE_SESSION);
    listed(&t, LIST(OURS));
    trace_reset(&t);
    reply(&t, PDK__EV_OWN, PDK__UNKNOWN, 0);
    later(&t, 5000);
    listed(&t, LIST(OURS));
    reply(&t, PDK__EV_OWN, PDK__REFUSED, PDK_EREFUSED);
    CHECK_STR(t.text, "own unknown: -\n"
                      "later: list\n"
                      "listed: own\n"
                      "own refused: failed(PDK_EREFUSED) delete\n");
}

/* --- the end ----------------------------------------------------------------------------------------------------- */

static void a_session_that_no_other_follows_fails_the_waiter(void)
{
    wait_behind();
    over(&t, PDK_EEXPIRED);
    CHECK_STR(t.text, "over: failed(PDK_EEXPIRED) done\n");
}

static void a_session_that_no_other_follows_is_a_loss_to_the_holder(void)
{
    hold();
    over(&t, PDK_ECLOSED);
    CHECK_STR(t.text, "over: lost done\n");
}

static void a_session_that_is_left_is_a_loss_to_the_holder_before_the_node_goes(void)
{
    hold();
    left(&t, PDK_ECLOSED);
    left(&t, PDK_ECLOSED);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "left: lost delete\n"
                      "left: -\n"
                      "deleted: done\n");
}

static void a_session_that_is_left_fails_the_waiter_and_the_node_goes(void)
{
    wait_behind();
    left(&t, PDK_ECLOSED);
    left(&t, PDK_ECLOSED);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "left: failed(PDK_ECLOSED) unwatch delete\n"
                      "left: -\n"
                      "deleted: done\n");
}

static void a_close_ends_the_cleaning_up(void)
{
    hold();
    release(&t);
    over(&t, PDK_ECLOSED);
    CHECK_STR(t.text, "release: delete\n"
                      "over: done(PDK_EUNKNOWN)\n");
}

static void nothing_moves_what_is_done(void)
{
    hold();
    own_fired(&t, true);
    trace_reset(&t);
    down(&t);
    up(&t, TRACE_SESSION);
    expired(&t);
    release(&t);
    later(&t, 100000);
    over(&t, PDK_ECLOSED);
    CHECK_STR(t.text, "down: -\n"
                      "up: -\n"
                      "expired: -\n"
                      "release: -\n"
                      "later: -\n"
                      "over: -\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a forged name does not take the place of ours", a_forged_name_does_not_take_the_place_of_ours},
        {"a forged name that is left alone is waited for as any other",
         a_forged_name_that_is_left_alone_is_waited_for_as_any_other},
        {"a waiter whose node is gone queues anew beside a forged one",
         a_waiter_whose_node_is_gone_queues_anew_beside_a_forged_one},
        {"candidates are looked at one after another until ours",
         candidates_are_looked_at_one_after_another_until_ours},
        {"a forged candidate alone is no node of ours", a_forged_candidate_alone_is_no_node_of_ours},
        {"a candidate gone before it was looked at is passed over",
         a_candidate_gone_before_it_was_looked_at_is_passed_over},
        {"a candidate of unknown owner is looked for again behind a barrier",
         a_candidate_of_unknown_owner_is_looked_for_again_behind_a_barrier},
        {"a candidate that may not be read ends in an error and is looked for all the same",
         a_candidate_that_may_not_be_read_ends_in_an_error_and_is_looked_for_all_the_same},
        {"a node of our name that is another one is not ours", a_node_of_our_name_that_is_another_one_is_not_ours},
        {"a node replaced while disconnected is seen before the grant",
         a_node_replaced_while_disconnected_is_seen_before_the_grant},
        {"a create whose reply was lost is looked for, behind a barrier, and found",
         a_create_whose_reply_was_lost_is_looked_for_behind_a_barrier_and_found},
        {"a create lost on its way is made once more", a_create_lost_on_its_way_is_made_once_more},
        {"a listing without its barrier proves nothing", a_listing_without_its_barrier_proves_nothing},
        {"an unknown create on a standing connection is looked for, too",
         an_unknown_create_on_a_standing_connection_is_looked_for_too},
        {"a create the servers never take ends in an error", a_create_the_servers_never_take_ends_in_an_error},
        {"a lost create of a caller who gave up is cleaned up", a_lost_create_of_a_caller_who_gave_up_is_cleaned_up},
        {"a lost create of a caller who gave up may be nowhere", a_lost_create_of_a_caller_who_gave_up_may_be_nowhere},
        {"a delete whose reply was lost is repeated", a_delete_whose_reply_was_lost_is_repeated},
        {"a delete of unknown outcome is repeated", a_delete_of_unknown_outcome_is_repeated},
        {"a delete that finds no node tells a loss", a_delete_that_finds_no_node_tells_a_loss},
        {"a release is not confirmed by a session that was given up",
         a_release_is_not_confirmed_by_a_session_that_was_given_up},
        {"a second delete that finds no node tells nothing", a_second_delete_that_finds_no_node_tells_nothing},
        {"a delete that is not allowed is told", a_delete_that_is_not_allowed_is_told},
        {"a lost listing is asked for again", a_lost_listing_is_asked_for_again},
        {"a node that cannot be looked for is looked for until it can",
         a_node_that_cannot_be_looked_for_is_looked_for_until_it_can},
        {"a lost watch is set again after a new listing", a_lost_watch_is_set_again_after_a_new_listing},
        {"a holder disconnected is suspect until its node was seen",
         a_holder_disconnected_is_suspect_until_its_node_was_seen},
        {"a holder whose node went meanwhile has lost", a_holder_whose_node_went_meanwhile_has_lost},
        {"a holder whose node is another session's has lost", a_holder_whose_node_is_another_sessions_has_lost},
        {"a holder who may be expired has lost, and cleans up if not",
         a_holder_who_may_be_expired_has_lost_and_cleans_up_if_not},
        {"a holder who lost by the clock and expired is done", a_holder_who_lost_by_the_clock_and_expired_is_done},
        {"a holder whose session expired has lost", a_holder_whose_session_expired_has_lost},
        {"a waiter in a silently changed session queues anew", a_waiter_in_a_silently_changed_session_queues_anew},
        {"a holder in a silently changed session has lost", a_holder_in_a_silently_changed_session_has_lost},
        {"a holder whose node was deleted has lost", a_holder_whose_node_was_deleted_has_lost},
        {"a holder whose node was written to watches it again", a_holder_whose_node_was_written_to_watches_it_again},
        {"a holder whose watch failed asks again", a_holder_whose_watch_failed_asks_again},
        {"a holder who unlocks while disconnected deletes later",
         a_holder_who_unlocks_while_disconnected_deletes_later},
        {"news of the own node after unlock change nothing", news_of_the_own_node_after_unlock_change_nothing},
        {"a waiter keeps its place through a disconnection", a_waiter_keeps_its_place_through_a_disconnection},
        {"a waiter whose session expired queues anew in the next",
         a_waiter_whose_session_expired_queues_anew_in_the_next},
        {"a waiter presumed over keeps waiting", a_waiter_presumed_over_keeps_waiting},
        {"a session expired during create begins anew", a_session_expired_during_create_begins_anew},
        {"a waiter whose node was deleted queues anew", a_waiter_whose_node_was_deleted_queues_anew},
        {"a waiter whose node is not in the listing queues anew",
         a_waiter_whose_node_is_not_in_the_listing_queues_anew},
        {"a lock path that was deleted is made again", a_lock_path_that_was_deleted_is_made_again},
        {"a waiter's watch of itself that failed is asked for again",
         a_waiters_watch_of_itself_that_failed_is_asked_for_again},
        {"a check before the grant that fails is made again", a_check_before_the_grant_that_fails_is_made_again},
        {"a session that no other follows fails the waiter", a_session_that_no_other_follows_fails_the_waiter},
        {"a session that no other follows is a loss to the holder",
         a_session_that_no_other_follows_is_a_loss_to_the_holder},
        {"a session that is left is a loss to the holder, before the node goes",
         a_session_that_is_left_is_a_loss_to_the_holder_before_the_node_goes},
        {"a session that is left fails the waiter, and the node goes",
         a_session_that_is_left_fails_the_waiter_and_the_node_goes},
        {"a close ends the cleaning up", a_close_ends_the_cleaning_up},
        {"nothing moves what is done", nothing_moves_what_is_done},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "disturbed", .tests = tests});
}
