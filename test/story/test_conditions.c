/* Stories of grants that need more than the first place. */
#include "paddock/error.h"
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;

/* --- a least token ----------------------------------------------------------------------------------------------- */

static void ask_for(int64_t min_token)
{
    trace_begin(&t, true);
    t.conditions.min_token = min_token;
    acquire(&t, -1);
    created(&t, OURS);
    trace_reset(&t);
}

static void a_token_that_comes_up_to_it_is_granted(void)
{
    ask_for(77);
    listed(&t, LIST(OURS));
    CHECK_STR(t.text, "listed: granted own\n");
}

static void a_token_below_it_is_refused_and_leaves_no_node(void)
{
    ask_for(78);
    listed(&t, LIST(OURS));
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "listed: failed(PDK_ESTALE) delete\n"
                      "deleted: done\n");
}

static void a_waiter_hears_of_it_with_its_turn(void)
{
    ask_for(78);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: failed(PDK_ESTALE) delete\n"
                      "deleted: done\n");
}

/* --- a grant confirmed by a write -------------------------------------------------------------------------------- */

static void ask_to_confirm(void)
{
    trace_begin(&t, true);
    t.conditions.confirmed = true;
    acquire(&t, -1);
    created(&t, OURS);
    trace_reset(&t);
}

static void a_write_comes_before_the_grant_and_is_its_token(void)
{
    ask_to_confirm();
    listed(&t, LIST(OURS));
    confirmed(&t, 80);
    own(&t);
    CHECK_EQ(t.granted, 80);
    CHECK_STR(t.text, "listed: confirm(version 0) own\n"
                      "confirmed: granted\n"
                      "own: -\n");
}

static void wait_for_turn(void)
{
    ask_to_confirm();
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    trace_reset(&t);
}

static void a_waiter_writes_when_its_turn_comes(void)
{
    wait_for_turn();
    fired(&t, true);
    own_fired(&t, false); /* by the write */
    confirmed(&t, 90);
    t.version = 1;
    own(&t);
    release(&t);
    CHECK_EQ(t.granted, 90);
    CHECK_STR(t.text, "gone: confirm(version 0)\n"
                      "own changed: own\n"
                      "confirmed: granted\n"
                      "own: -\n"
                      "release: delete\n");
}

static void a_write_of_unknown_outcome_is_made_again_when_the_node_was_read(void)
{
    wait_for_turn();
    fired(&t, true);
    reply(&t, PDK__EV_CONFIRMED, PDK__UNKNOWN, 0);
    later(&t, 1000);
    listed(&t, LIST(OURS));
    t.version = 1; /* the write had been committed */
    own(&t);
    confirmed(&t, 91);
    CHECK_EQ(t.granted, 91);
    CHECK_STR(t.text, "gone: confirm(version 0)\n"
                      "confirmed unknown: -\n"
                      "later: list\n"
                      "listed: own\n"
                      "own: confirm(version 1)\n"
                      "confirmed: granted\n");
}

static void the_word_of_who_asks_for_the_lock_is_not_lost_by_the_write(void)
{
    wait_for_turn();
    fired(&t, true);
    reply(&t, PDK__EV_CONFIRMED, PDK__CHANGED, 0);
    t.version = 1;
    own_fired(&t, false);
    own_revoked(&t);
    later(&t, 1000);
    listed(&t, LIST(OURS));
    confirmed(&t, 91);
    CHECK_STR(t.text, "gone: confirm(version 0)\n"
                      "confirmed changed: -\n"
                      "own changed: own\n"
                      "own asks: -\n"
                      "later: list\n"
                      "listed: confirm(revoked, version 1)\n"
                      "confirmed: granted revoked\n");
}

static void a_connection_lost_before_the_reply_lists_and_writes_again(void)
{
    wait_for_turn();
    fired(&t, true);
    down(&t);
    up(&t, TRACE_SESSION);
    listed(&t, LIST(OURS));
    own(&t);
    proven(&t);
    confirmed(&t, 92);
    CHECK_EQ(t.granted, 92);
    CHECK_STR(t.text, "gone: confirm(version 0)\n"
                      "down: -\n"
                      "up: list\n"
                      "listed: own\n"
                      "own: confirm(version 0)\n"
                      "proven: -\n"
                      "confirmed: granted\n");
}

static void a_node_that_is_gone_is_made_anew(void)
{
    wait_for_turn();
    fired(&t, true);
    reply(&t, PDK__EV_CONFIRMED, PDK__NO_NODE, 0);
    CHECK(t.c.attempt != TRACE_ATTEMPT);
    CHECK_STR(t.text, "gone: confirm(version 0)\n"
                      "confirmed no node: create\n");
}

static void a_node_of_another_session_is_not_ours(void)
{
    wait_for_turn();
    fired(&t, true);
    confirmed_by(&t, TRACE_SESSION + 1, 92);
    CHECK_STR(t.text, "gone: confirm(version 0)\n"
                      "confirmed: create\n");
}

static void a_number_that_is_no_larger_is_nonsense(void)
{
    wait_for_turn();
    fired(&t, true);
    confirmed(&t, 77);
    CHECK_STR(t.text, "gone: confirm(version 0)\n"
                      "confirmed: failed(PDK_EREFUSED) delete\n");
}

static void a_node_that_may_not_be_written_fails(void)
{
    wait_for_turn();
    fired(&t, true);
    reply(&t, PDK__EV_CONFIRMED, PDK__NO_AUTH, 0);
    CHECK_STR(t.text, "gone: confirm(version 0)\n"
                      "confirmed no auth: failed(PDK_EACCES) delete\n");
}

static void a_caller_who_gives_up_is_not_granted_by_the_reply(void)
{
    wait_for_turn();
    fired(&t, true);
    uint64_t write = t.op;
    release(&t);
    reply_to(&t, write, PDK__EV_CONFIRMED, PDK__OK);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "gone: confirm(version 0)\n"
                      "release: delete\n"
                      "confirmed: -\n"
                      "deleted: done\n");
}

static void in_doubt_the_write_is_made_once(void)
{
    wait_for_turn();
    doubted(&t);
    fired(&t, true);
    confirmed(&t, 93);
    proven(&t);
    CHECK_EQ(t.granted, 93);
    CHECK_STR(t.text, "doubted: -\n"
                      "gone: confirm(version 0)\n"
                      "confirmed: -\n"
                      "proven: granted\n");
}

static void the_least_token_is_compared_with_the_write(void)
{
    ask_to_confirm();
    t.conditions.min_token = 80;
    listed(&t, LIST(OURS));
    confirmed(&t, 80);
    CHECK_STR(t.text, "listed: confirm(version 0) own\n"
                      "confirmed: granted\n");
}

static void who_was_confirmed_before_a_disconnection_is_not_again(void)
{
    ask_to_confirm();
    listed(&t, LIST(OURS));
    confirmed(&t, 80);
    own(&t);
    down(&t);
    up(&t, TRACE_SESSION);
    own(&t);
    proven(&t);
    CHECK_STR(t.text, "listed: confirm(version 0) own\n"
                      "confirmed: granted\n"
                      "own: -\n"
                      "down: suspect\n"
                      "up: own\n"
                      "own: held\n"
                      "proven: -\n");
}

/* --- a lock delay ------------------------------------------------------------------------------------------------ */

enum { DELAY_MS = 5000 };

static struct pdk__delay delay;

static void begin_with_delay(void)
{
    trace_begin(&t, true);
    t.conditions.lock_delay_ms = DELAY_MS;
    t.conditions.delay = &delay;
}

/* First, and about to read the record. */
static void come_first(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    trace_reset(&t);
}

static void hold_recorded(void)
{
    come_first();
    read_record(&t, NULL, 10, 4);
    recorded(&t);
    trace_reset(&t);
}

static void come_delayed(void)
{
    come_first();
    read_record(&t, OTHER_4, 10, 4);
    trace_reset(&t);
}

static void the_record_comes_before_the_grant_and_goes_before_the_node(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    read_record(&t, NULL, 10, 4);
    recorded(&t);
    release(&t);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: read own\n"
                      "own: -\n"
                      "not recorded: record(version 4)\n"
                      "recorded: granted\n"
                      "release: clear(version 5) delete\n"
                      "deleted: done\n");
}

static void a_record_of_somebody_gone_delays_the_grant(void)
{
    come_first();
    read_record(&t, OTHER_4, 10, 4);
    CHECK_EQ(pdk__contender_wake_ms(&t.c), t.now_ms + DELAY_MS);
    CHECK(!pdk__contender_needs_lease(&t.c));
    later(&t, DELAY_MS - 1);
    later(&t, 1);
    read_record(&t, OTHER_4, 10, 4);
    recorded(&t);
    CHECK_STR(t.text, "recorded before: -\n"
                      "later: -\n"
                      "later: read\n"
                      "recorded before: record(version 4)\n"
                      "recorded: granted\n");
}

static void a_disconnection_does_not_begin_the_delay_anew(void)
{
    come_delayed();
    later(&t, DELAY_MS - 1);
    down(&t);
    up(&t, TRACE_SESSION);
    listed(&t, LIST(OURS));
    own(&t);
    read_record(&t, OTHER_4, 10, 4);
    later(&t, 1);
    read_record(&t, OTHER_4, 10, 4);
    CHECK_STR(t.text, "later: -\n"
                      "down: -\n"
                      "up: list\n"
                      "listed: own\n"
                      "own: read\n"
                      "recorded before: -\n"
                      "later: read\n"
                      "recorded before: record(version 4)\n");
}

static void another_record_begins_another_delay(void)
{
    come_delayed();
    later(&t, DELAY_MS);
    read_record(&t, OTHER_3, 12, 5);
    later(&t, DELAY_MS - 1);
    later(&t, 1);
    CHECK_STR(t.text, "later: read\n"
                      "recorded before: -\n"
                      "later: -\n"
                      "later: read\n");
}

static void the_own_node_is_looked_at_when_the_delay_is_over(void)
{
    come_delayed();
    own_fired(&t, false);
    reply(&t, PDK__EV_OWN, PDK__UNKNOWN, 0);
    later(&t, 1000);
    reply(&t, PDK__EV_OWN, PDK__UNKNOWN, 0);
    t.now_ms += DELAY_MS;
    later(&t, 0);
    own(&t);
    CHECK_STR(t.text, "own changed: own\n"
                      "own unknown: -\n"
                      "later: own\n"
                      "own unknown: -\n"
                      "later: own\n"
                      "own: read\n");
}

static void who_was_deleted_while_delayed_queues_anew(void)
{
    come_delayed();
    own_fired(&t, true);
    CHECK_STR(t.text, "own gone: create\n");
}

/* The record was of a holder behind the own node, which was deleted: that holder is not gone. */
static void a_record_that_was_read_after_the_own_node_was_deleted_begins_no_delay(void)
{
    static const char again[] = "0000000000001000-0000002b-lock-0000000007";
    come_first();
    read_record(&t, OTHER_6, 10, 4);
    own_fired(&t, true);
    created(&t, again);
    listed(&t, LIST(OTHER_6, again));
    later(&t, DELAY_MS);
    fired(&t, true);
    listed(&t, LIST(again));
    own(&t);
    trace_reset(&t);
    read_record(&t, OTHER_6, 10, 4);
    later(&t, DELAY_MS - 1);
    later(&t, 1);
    CHECK_STR(t.text, "recorded before: -\n"
                      "later: -\n"
                      "later: read\n");
}

static void an_end_of_the_session_begins_the_delay_anew(void)
{
    static const char again[] = "0000000000001001-0000002a-lock-0000000007";
    come_delayed();
    expired(&t);
    up(&t, 0x1001);
    created(&t, again);
    listed(&t, LIST(again));
    later(&t, DELAY_MS);
    trace_reset(&t);
    read_record(&t, OTHER_4, 10, 4);
    CHECK_STR(t.text, "recorded before: -\n");
}

static void a_try_is_busy_while_the_delay_runs_and_gets_it_then(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    try_acquire(&t);
    listed(&t, NOBODY);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    read_record(&t, OTHER_4, 10, 4);
    ok(&t, PDK__EV_DELETED);
    begin_with_delay();
    t.now_ms += DELAY_MS;
    try_acquire(&t);
    listed(&t, NOBODY);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    read_record(&t, OTHER_4, 10, 4);
    recorded(&t);
    CHECK_STR(t.text, "try: list\n"
                      "listed: create\n"
                      "created: -\n"
                      "listed: read own\n"
                      "own: -\n"
                      "recorded before: record(version 4)\n"
                      "recorded: granted\n");
}

static void a_try_that_meets_a_record_leaves_no_node(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    try_acquire(&t);
    listed(&t, NOBODY);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    trace_reset(&t);
    read_record(&t, OTHER_4, 10, 4);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "recorded before: failed(PDK_EBUSY) delete\n"
                      "deleted: done\n");
}

static void a_deadline_ends_the_delay(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    acquire(&t, 1000);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    read_record(&t, OTHER_4, 10, 4);
    trace_reset(&t);
    CHECK_EQ(pdk__contender_wake_ms(&t.c), t.now_ms + 1000);
    later(&t, 1000);
    CHECK_STR(t.text, "later: failed(PDK_ETIMEDOUT) delete\n");
}

static void who_gives_up_while_delayed_leaves_the_record(void)
{
    come_delayed();
    release(&t);
    CHECK_STR(t.text, "release: delete\n");
}

/* Only the reply tells which version is ours to remove. */
static void a_waiter_that_gives_up_awaits_its_record(void)
{
    come_first();
    read_record(&t, NULL, 10, 4);
    release(&t);
    recorded(&t);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "not recorded: record(version 4)\n"
                      "release: -\n"
                      "recorded: clear(version 5) delete\n"
                      "deleted: done\n");
}

static void a_record_that_may_be_of_another_is_left(void)
{
    come_first();
    read_record(&t, NULL, 10, 4);
    release(&t);
    reply(&t, PDK__EV_RECORDED, PDK__CHANGED, 0);
    later(&t, 1000);
    CHECK_STR(t.text, "not recorded: record(version 4)\n"
                      "release: -\n"
                      "recorded changed: -\n"
                      "later: delete\n");
    come_first();
    read_record(&t, NULL, 10, 4);
    release(&t);
    reply(&t, PDK__EV_RECORDED, PDK__UNKNOWN, 0);
    later(&t, 1000);
    CHECK_STR(t.text, "not recorded: record(version 4)\n"
                      "release: -\n"
                      "recorded unknown: -\n"
                      "later: delete\n");
}

static void a_record_whose_reply_is_lost_is_found(void)
{
    come_first();
    read_record(&t, NULL, 10, 4);
    reply(&t, PDK__EV_RECORDED, PDK__UNKNOWN, 0);
    later(&t, 1000);
    listed(&t, LIST(OURS));
    read_record(&t, OURS, 11, 7);
    release(&t);
    CHECK_STR(t.text, "not recorded: record(version 4)\n"
                      "recorded unknown: -\n"
                      "later: list\n"
                      "listed: read\n"
                      "recorded before: granted\n"
                      "release: clear(version 7) delete\n");
}

/* Its watch could not be set. */
static void the_own_node_is_seen_behind_the_record(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    trace_reset(&t);
    reply(&t, PDK__EV_OWN, PDK__UNKNOWN, 0);
    read_record(&t, NULL, 10, 4);
    recorded(&t);
    own(&t);
    CHECK_STR(t.text, "own unknown: -\n"
                      "not recorded: record(version 4)\n"
                      "recorded: own\n"
                      "own: granted\n");
}

/* The record was recognised as our own, and the lock lost only afterwards. Its delay begins with the next contender. */
static void our_own_record_begins_no_delay(void)
{
    come_first();
    read_record(&t, NULL, 10, 4);
    reply(&t, PDK__EV_RECORDED, PDK__UNKNOWN, 0);
    later(&t, 1000);
    listed(&t, LIST(OURS));
    read_record(&t, OURS, 11, 5);
    begin_with_delay();
    t.now_ms += 2 * DELAY_MS;
    acquire(&t, -1);
    created(&t, "0000000000001000-0000002a-lock-0000000006");
    listed(&t, LIST("0000000000001000-0000002a-lock-0000000006"));
    trace_reset(&t);
    read_record(&t, OURS, 11, 5);
    CHECK_STR(t.text, "recorded before: -\n");
}

static void a_record_that_somebody_else_changed_is_read_again(void)
{
    come_first();
    read_record(&t, NULL, 10, 4);
    reply(&t, PDK__EV_RECORDED, PDK__CHANGED, 0);
    later(&t, 1000);
    listed(&t, LIST(OURS));
    read_record(&t, NULL, 12, 6);
    CHECK_STR(t.text, "not recorded: record(version 4)\n"
                      "recorded changed: -\n"
                      "later: list\n"
                      "listed: read\n"
                      "not recorded: record(version 6)\n");
}

static void a_path_that_may_not_be_read_or_written_fails(void)
{
    come_first();
    reply(&t, PDK__EV_RECORD_READ, PDK__NO_AUTH, 0);
    CHECK_STR(t.text, "read no auth: failed(PDK_EACCES) delete\n");
    come_first();
    read_record(&t, NULL, 10, 4);
    reply(&t, PDK__EV_RECORDED, PDK__NO_AUTH, 0);
    CHECK_STR(t.text, "not recorded: record(version 4)\n"
                      "recorded no auth: failed(PDK_EACCES) delete\n");
}

static void a_path_that_is_gone_is_made_anew(void)
{
    come_first();
    reply(&t, PDK__EV_RECORD_READ, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "read no node: create\n");
}

static void who_lost_leaves_the_record(void)
{
    hold_recorded();
    own_fired(&t, true);
    CHECK_STR(t.text, "own gone: lost done\n");
    hold_recorded();
    presumed(&t);
    CHECK_STR(t.text, "presumed: lost delete\n");
    hold_recorded();
    left(&t, PDK_ECLOSED);
    CHECK_STR(t.text, "left: lost delete\n");
}

static void a_release_of_unknown_outcome_is_repeated_whole(void)
{
    hold_recorded();
    release(&t);
    reply(&t, PDK__EV_DELETED, PDK__UNKNOWN, 0);
    later(&t, 1000);
    reply(&t, PDK__EV_DELETED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "release: clear(version 5) delete\n"
                      "deleted unknown: -\n"
                      "later: clear(version 5) delete\n"
                      "deleted no node: done\n");
}

static void a_record_that_is_not_cleared_is_asked_about_until_the_delete_is_answered(void)
{
    hold_recorded();
    release(&t);
    reply_to(&t, t.clear_op, PDK__EV_CLEARED, PDK__UNKNOWN);
    reply_to(&t, t.clear_op, PDK__EV_CLEARED, PDK__UNKNOWN);
    reply_to(&t, t.clear_op - 1, PDK__EV_CLEARED, PDK__UNKNOWN);
    reply_to(&t, t.clear_op, PDK__EV_CLEARED, PDK__CHANGED);
    ok(&t, PDK__EV_DELETED);
    reply_to(&t, t.clear_op, PDK__EV_CLEARED, PDK__UNKNOWN);
    CHECK_STR(t.text, "release: clear(version 5) delete\n"
                      "cleared unknown: clear(version 5)\n"
                      "cleared unknown: clear(version 5)\n"
                      "cleared unknown: -\n"
                      "cleared changed: -\n"
                      "deleted: done\n"
                      "cleared unknown: -\n");
}

static void a_holder_who_was_away_still_clears_the_record(void)
{
    hold_recorded();
    down(&t);
    release(&t);
    up(&t, TRACE_SESSION);
    CHECK_STR(t.text, "down: suspect\n"
                      "release: -\n"
                      "up: clear(version 5) delete\n");
}

static void the_delay_comes_before_the_confirmation(void)
{
    come_first();
    t.conditions.confirmed = true;
    t.conditions.min_token = 100;
    read_record(&t, NULL, 10, 4);
    recorded(&t);
    confirmed(&t, 99);
    CHECK_STR(t.text, "not recorded: record(version 4)\n"
                      "recorded: confirm(version 0)\n"
                      "confirmed: failed(PDK_ESTALE) clear(version 5) delete\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a token that comes up to the least is granted", a_token_that_comes_up_to_it_is_granted},
        {"a token below the least is refused, and leaves no node", a_token_below_it_is_refused_and_leaves_no_node},
        {"a waiter hears of a token below the least with its turn", a_waiter_hears_of_it_with_its_turn},
        {"a write comes before the grant, and is its token", a_write_comes_before_the_grant_and_is_its_token},
        {"a waiter writes when its turn comes, and looks at its node once more", a_waiter_writes_when_its_turn_comes},
        {"a write of unknown outcome is made again when the node was read",
         a_write_of_unknown_outcome_is_made_again_when_the_node_was_read},
        {"the word of who asks for the lock is not lost by the write",
         the_word_of_who_asks_for_the_lock_is_not_lost_by_the_write},
        {"a connection lost before the reply lists and writes again",
         a_connection_lost_before_the_reply_lists_and_writes_again},
        {"a node that is gone when it is written is made anew", a_node_that_is_gone_is_made_anew},
        {"a node of another session, when it is written, is not ours", a_node_of_another_session_is_not_ours},
        {"a number of the write that is no larger than the node's is nonsense", a_number_that_is_no_larger_is_nonsense},
        {"a node that may not be written fails", a_node_that_may_not_be_written_fails},
        {"a caller who gives up is not granted by the reply", a_caller_who_gives_up_is_not_granted_by_the_reply},
        {"in doubt the write is made once", in_doubt_the_write_is_made_once},
        {"the least token is compared with the write's", the_least_token_is_compared_with_the_write},
        {"a holder who was away is not confirmed again", who_was_confirmed_before_a_disconnection_is_not_again},
        {"a record comes before the grant, and goes before the node",
         the_record_comes_before_the_grant_and_goes_before_the_node},
        {"a record of somebody gone delays the grant", a_record_of_somebody_gone_delays_the_grant},
        {"a disconnection does not begin the delay anew", a_disconnection_does_not_begin_the_delay_anew},
        {"another record begins another delay", another_record_begins_another_delay},
        {"the own node is looked at when the delay is over", the_own_node_is_looked_at_when_the_delay_is_over},
        {"who was deleted while delayed queues anew", who_was_deleted_while_delayed_queues_anew},
        {"a record that was read after the own node was deleted begins no delay",
         a_record_that_was_read_after_the_own_node_was_deleted_begins_no_delay},
        {"an end of the session begins the delay anew", an_end_of_the_session_begins_the_delay_anew},
        {"a try that meets a record is busy, and leaves no node", a_try_that_meets_a_record_leaves_no_node},
        {"tries are busy while the delay runs, and get it then", a_try_is_busy_while_the_delay_runs_and_gets_it_then},
        {"a deadline ends the delay", a_deadline_ends_the_delay},
        {"who gives up while delayed leaves the record of the one before",
         who_gives_up_while_delayed_leaves_the_record},
        {"a waiter that gives up awaits the reply to its record, and clears it",
         a_waiter_that_gives_up_awaits_its_record},
        {"a record that may be another contender's is left", a_record_that_may_be_of_another_is_left},
        {"a record whose reply is lost is found", a_record_whose_reply_is_lost_is_found},
        {"the own node is seen behind the record before it grants", the_own_node_is_seen_behind_the_record},
        {"our own record, found again, begins no delay", our_own_record_begins_no_delay},
        {"a record that somebody else changed is read again", a_record_that_somebody_else_changed_is_read_again},
        {"a path that may not be read or written fails", a_path_that_may_not_be_read_or_written_fails},
        {"a path that is gone when its record is read is made anew", a_path_that_is_gone_is_made_anew},
        {"who lost leaves the record", who_lost_leaves_the_record},
        {"a record that is not cleared is asked about until the delete is answered",
         a_record_that_is_not_cleared_is_asked_about_until_the_delete_is_answered},
        {"a release of unknown outcome is repeated whole", a_release_of_unknown_outcome_is_repeated_whole},
        {"a holder who was away still clears the record", a_holder_who_was_away_still_clears_the_record},
        {"the delay comes before the confirmation, and failing clears the record",
         the_delay_comes_before_the_confirmation},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "conditions", .tests = tests});
}
