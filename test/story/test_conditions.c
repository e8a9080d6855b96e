/* Stories of grants that need more than the first place. */
#include "paddock/error.h"
#include "test/lib/check.h"
#include "test/story/tale.h"

static struct tale t;

/* --- a least token ----------------------------------------------------------------------------------------------- */

static void ask_for(int64_t min_token)
{
    tale_begin(&t, true);
    t.c.conditions.min_token = min_token;
    acquire(&t, -1);
    created(&t, OURS);
    tale_reset(&t);
}

static void a_token_that_comes_up_to_it_is_granted(void)
{
    ask_for(77);
    listed(&t, LIST(OURS));
    CHECK_STR(t.trace, "listed: granted own\n");
}

static void a_token_below_it_is_refused_and_leaves_no_node(void)
{
    ask_for(78);
    listed(&t, LIST(OURS));
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.trace, "listed: failed(PDK_ESTALE) delete\n"
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
    CHECK_STR(t.trace, "listed: watch(4) own\n"
                       "watched: -\n"
                       "own: -\n"
                       "gone: failed(PDK_ESTALE) delete\n"
                       "deleted: done\n");
}

/* --- a grant confirmed by a write -------------------------------------------------------------------------------- */

static void ask_to_confirm(void)
{
    tale_begin(&t, true);
    t.c.conditions.confirmed = true;
    acquire(&t, -1);
    created(&t, OURS);
    tale_reset(&t);
}

static void a_write_comes_before_the_grant_and_is_its_token(void)
{
    ask_to_confirm();
    listed(&t, LIST(OURS));
    confirmed(&t, 80);
    own(&t);
    CHECK_EQ(t.granted, 80);
    CHECK_STR(t.trace, "listed: confirm(version 0) own\n"
                       "confirmed: granted\n"
                       "own: -\n");
}

static void wait_for_turn(void)
{
    ask_to_confirm();
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    tale_reset(&t);
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
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
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
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
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
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
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
    up(&t, TALE_SESSION);
    listed(&t, LIST(OURS));
    own(&t);
    proven(&t);
    confirmed(&t, 92);
    CHECK_EQ(t.granted, 92);
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
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
    CHECK(t.c.attempt != TALE_ATTEMPT);
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
                       "confirmed no node: create\n");
}

static void a_node_of_another_session_is_not_ours(void)
{
    wait_for_turn();
    fired(&t, true);
    confirmed_by(&t, TALE_SESSION + 1, 92);
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
                       "confirmed: create\n");
}

static void a_number_that_is_no_larger_is_nonsense(void)
{
    wait_for_turn();
    fired(&t, true);
    confirmed(&t, 77);
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
                       "confirmed: failed(PDK_EREFUSED) delete\n");
}

static void a_node_that_may_not_be_written_fails(void)
{
    wait_for_turn();
    fired(&t, true);
    reply(&t, PDK__EV_CONFIRMED, PDK__NO_AUTH, 0);
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
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
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
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
    CHECK_STR(t.trace, "doubted: -\n"
                       "gone: confirm(version 0)\n"
                       "confirmed: -\n"
                       "proven: granted\n");
}

static void the_least_token_is_compared_with_the_write(void)
{
    ask_to_confirm();
    t.c.conditions.min_token = 80;
    listed(&t, LIST(OURS));
    confirmed(&t, 80);
    CHECK_STR(t.trace, "listed: confirm(version 0) own\n"
                       "confirmed: granted\n");
}

static void who_was_confirmed_before_a_disconnection_is_not_again(void)
{
    ask_to_confirm();
    listed(&t, LIST(OURS));
    confirmed(&t, 80);
    own(&t);
    down(&t);
    up(&t, TALE_SESSION);
    own(&t);
    proven(&t);
    CHECK_STR(t.trace, "listed: confirm(version 0) own\n"
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
    tale_begin(&t, true);
    t.c.conditions.lock_delay_ms = DELAY_MS;
    t.c.conditions.delay = &delay;
}

/* First, and about to read the mark. */
static void come_first(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    tale_reset(&t);
}

static void hold_marked(void)
{
    come_first();
    read_mark(&t, NULL, 10, 4);
    marked(&t);
    tale_reset(&t);
}

static void come_delayed(void)
{
    come_first();
    read_mark(&t, OTHER_4, 10, 4);
    tale_reset(&t);
}

static void the_mark_comes_before_the_grant_and_goes_before_the_node(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    read_mark(&t, NULL, 10, 4);
    marked(&t);
    release(&t);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.trace, "acquire: create\n"
                       "created: -\n"
                       "listed: read own\n"
                       "own: -\n"
                       "unmarked: mark(version 4)\n"
                       "marked: granted\n"
                       "release: unmark(version 5) delete\n"
                       "deleted: done\n");
}

static void a_mark_of_somebody_gone_delays_the_grant(void)
{
    come_first();
    read_mark(&t, OTHER_4, 10, 4);
    CHECK_EQ(pdk__contender_wake_ms(&t.c), t.now_ms + DELAY_MS);
    CHECK(!pdk__contender_wants_proof(&t.c));
    later(&t, DELAY_MS - 1);
    later(&t, 1);
    read_mark(&t, OTHER_4, 10, 4);
    marked(&t);
    CHECK_STR(t.trace, "marked before: -\n"
                       "later: -\n"
                       "later: read\n"
                       "marked before: mark(version 4)\n"
                       "marked: granted\n");
}

static void a_disconnection_does_not_begin_the_delay_anew(void)
{
    come_delayed();
    later(&t, DELAY_MS - 1);
    down(&t);
    up(&t, TALE_SESSION);
    listed(&t, LIST(OURS));
    own(&t);
    read_mark(&t, OTHER_4, 10, 4);
    later(&t, 1);
    read_mark(&t, OTHER_4, 10, 4);
    CHECK_STR(t.trace, "later: -\n"
                       "down: -\n"
                       "up: list\n"
                       "listed: own\n"
                       "own: read\n"
                       "marked before: -\n"
                       "later: read\n"
                       "marked before: mark(version 4)\n");
}

static void another_mark_begins_another_delay(void)
{
    come_delayed();
    later(&t, DELAY_MS);
    read_mark(&t, OTHER_3, 12, 5);
    later(&t, DELAY_MS - 1);
    later(&t, 1);
    CHECK_STR(t.trace, "later: read\n"
                       "marked before: -\n"
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
    CHECK_STR(t.trace, "own changed: own\n"
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
    CHECK_STR(t.trace, "own gone: create\n");
}

static void a_try_is_busy_while_the_delay_runs_and_gets_it_then(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    try_acquire(&t);
    listed(&t, NOBODY);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    read_mark(&t, OTHER_4, 10, 4);
    ok(&t, PDK__EV_DELETED);
    begin_with_delay();
    t.now_ms += DELAY_MS;
    try_acquire(&t);
    listed(&t, NOBODY);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    read_mark(&t, OTHER_4, 10, 4);
    marked(&t);
    CHECK_STR(t.trace, "try: list\n"
                       "listed: create\n"
                       "created: -\n"
                       "listed: read own\n"
                       "own: -\n"
                       "marked before: mark(version 4)\n"
                       "marked: granted\n");
}

static void a_try_that_meets_a_mark_leaves_no_node(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    try_acquire(&t);
    listed(&t, NOBODY);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    tale_reset(&t);
    read_mark(&t, OTHER_4, 10, 4);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.trace, "marked before: failed(PDK_EBUSY) delete\n"
                       "deleted: done\n");
}

static void a_deadline_ends_the_delay(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    acquire(&t, 1000);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    read_mark(&t, OTHER_4, 10, 4);
    tale_reset(&t);
    CHECK_EQ(pdk__contender_wake_ms(&t.c), t.now_ms + 1000);
    later(&t, 1000);
    CHECK_STR(t.trace, "later: failed(PDK_ETIMEDOUT) delete\n");
}

static void who_gives_up_while_delayed_leaves_the_mark(void)
{
    come_delayed();
    release(&t);
    CHECK_STR(t.trace, "release: delete\n");
}

/* Only the reply tells which version is ours to remove. */
static void a_waiter_that_gives_up_awaits_its_mark(void)
{
    come_first();
    read_mark(&t, NULL, 10, 4);
    release(&t);
    marked(&t);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.trace, "unmarked: mark(version 4)\n"
                       "release: -\n"
                       "marked: unmark(version 5) delete\n"
                       "deleted: done\n");
}

static void a_mark_that_may_be_of_another_is_left(void)
{
    come_first();
    read_mark(&t, NULL, 10, 4);
    release(&t);
    reply(&t, PDK__EV_MARKED, PDK__CHANGED, 0);
    later(&t, 1000);
    CHECK_STR(t.trace, "unmarked: mark(version 4)\n"
                       "release: -\n"
                       "marked changed: -\n"
                       "later: delete\n");
    come_first();
    read_mark(&t, NULL, 10, 4);
    release(&t);
    reply(&t, PDK__EV_MARKED, PDK__UNKNOWN, 0);
    later(&t, 1000);
    CHECK_STR(t.trace, "unmarked: mark(version 4)\n"
                       "release: -\n"
                       "marked unknown: -\n"
                       "later: delete\n");
}

static void a_mark_whose_reply_is_lost_is_found(void)
{
    come_first();
    read_mark(&t, NULL, 10, 4);
    reply(&t, PDK__EV_MARKED, PDK__UNKNOWN, 0);
    later(&t, 1000);
    listed(&t, LIST(OURS));
    read_mark(&t, OURS, 11, 7);
    release(&t);
    CHECK_STR(t.trace, "unmarked: mark(version 4)\n"
                       "marked unknown: -\n"
                       "later: list\n"
                       "listed: read\n"
                       "marked before: granted\n"
                       "release: unmark(version 7) delete\n");
}

/* Its watch could not be set. */
static void the_own_node_is_seen_behind_the_mark(void)
{
    delay = (struct pdk__delay){0};
    begin_with_delay();
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    tale_reset(&t);
    reply(&t, PDK__EV_OWN, PDK__UNKNOWN, 0);
    read_mark(&t, NULL, 10, 4);
    marked(&t);
    own(&t);
    CHECK_STR(t.trace, "own unknown: -\n"
                       "unmarked: mark(version 4)\n"
                       "marked: own\n"
                       "own: granted\n");
}

/* The mark was recognised as our own, and the lock lost only afterwards. Its delay begins with the next contender. */
static void our_own_mark_begins_no_delay(void)
{
    come_first();
    read_mark(&t, NULL, 10, 4);
    reply(&t, PDK__EV_MARKED, PDK__UNKNOWN, 0);
    later(&t, 1000);
    listed(&t, LIST(OURS));
    read_mark(&t, OURS, 11, 5);
    begin_with_delay();
    t.now_ms += 2 * DELAY_MS;
    acquire(&t, -1);
    created(&t, "0000000000001000-0000002a-lock-0000000006");
    listed(&t, LIST("0000000000001000-0000002a-lock-0000000006"));
    tale_reset(&t);
    read_mark(&t, OURS, 11, 5);
    CHECK_STR(t.trace, "marked before: -\n");
}

static void a_mark_that_somebody_else_changed_is_read_again(void)
{
    come_first();
    read_mark(&t, NULL, 10, 4);
    reply(&t, PDK__EV_MARKED, PDK__CHANGED, 0);
    later(&t, 1000);
    listed(&t, LIST(OURS));
    read_mark(&t, NULL, 12, 6);
    CHECK_STR(t.trace, "unmarked: mark(version 4)\n"
                       "marked changed: -\n"
                       "later: list\n"
                       "listed: read\n"
                       "unmarked: mark(version 6)\n");
}

static void a_path_that_may_not_be_read_or_written_fails(void)
{
    come_first();
    reply(&t, PDK__EV_READ, PDK__NO_AUTH, 0);
    CHECK_STR(t.trace, "read no auth: failed(PDK_EACCES) delete\n");
    come_first();
    read_mark(&t, NULL, 10, 4);
    reply(&t, PDK__EV_MARKED, PDK__NO_AUTH, 0);
    CHECK_STR(t.trace, "unmarked: mark(version 4)\n"
                       "marked no auth: failed(PDK_EACCES) delete\n");
}

static void a_path_that_is_gone_is_made_anew(void)
{
    come_first();
    reply(&t, PDK__EV_READ, PDK__NO_NODE, 0);
    CHECK_STR(t.trace, "read no node: create\n");
}

static void who_lost_leaves_the_mark(void)
{
    hold_marked();
    own_fired(&t, true);
    CHECK_STR(t.trace, "own gone: lost done\n");
    hold_marked();
    presumed(&t);
    CHECK_STR(t.trace, "presumed: lost delete\n");
    hold_marked();
    left(&t, PDK_ECLOSED);
    CHECK_STR(t.trace, "left: lost delete\n");
}

static void a_release_of_unknown_outcome_is_repeated_whole(void)
{
    hold_marked();
    release(&t);
    reply(&t, PDK__EV_DELETED, PDK__UNKNOWN, 0);
    later(&t, 1000);
    reply(&t, PDK__EV_DELETED, PDK__NO_NODE, 0);
    CHECK_STR(t.trace, "release: unmark(version 5) delete\n"
                       "deleted unknown: -\n"
                       "later: unmark(version 5) delete\n"
                       "deleted no node: done\n");
}

static void a_mark_that_is_not_taken_off_is_asked_about_until_the_delete_is_answered(void)
{
    hold_marked();
    release(&t);
    reply_to(&t, t.unmark_op, PDK__EV_UNMARKED, PDK__UNKNOWN);
    reply_to(&t, t.unmark_op, PDK__EV_UNMARKED, PDK__UNKNOWN);
    reply_to(&t, t.unmark_op - 1, PDK__EV_UNMARKED, PDK__UNKNOWN);
    reply_to(&t, t.unmark_op, PDK__EV_UNMARKED, PDK__CHANGED);
    ok(&t, PDK__EV_DELETED);
    reply_to(&t, t.unmark_op, PDK__EV_UNMARKED, PDK__UNKNOWN);
    CHECK_STR(t.trace, "release: unmark(version 5) delete\n"
                       "taken off unknown: unmark(version 5)\n"
                       "taken off unknown: unmark(version 5)\n"
                       "taken off unknown: -\n"
                       "taken off changed: -\n"
                       "deleted: done\n"
                       "taken off unknown: -\n");
}

static void a_holder_who_was_away_still_takes_the_mark_off(void)
{
    hold_marked();
    down(&t);
    release(&t);
    up(&t, TALE_SESSION);
    CHECK_STR(t.trace, "down: suspect\n"
                       "release: -\n"
                       "up: unmark(version 5) delete\n");
}

static void the_delay_comes_before_the_confirmation(void)
{
    come_first();
    t.c.conditions.confirmed = true;
    t.c.conditions.min_token = 100;
    read_mark(&t, NULL, 10, 4);
    marked(&t);
    confirmed(&t, 99);
    CHECK_STR(t.trace, "unmarked: mark(version 4)\n"
                       "marked: confirm(version 0)\n"
                       "confirmed: failed(PDK_ESTALE) unmark(version 5) delete\n");
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
        {"a mark comes before the grant, and goes before the node",
         the_mark_comes_before_the_grant_and_goes_before_the_node},
        {"a mark of somebody gone delays the grant", a_mark_of_somebody_gone_delays_the_grant},
        {"a disconnection does not begin the delay anew", a_disconnection_does_not_begin_the_delay_anew},
        {"another mark begins another delay", another_mark_begins_another_delay},
        {"the own node is looked at when the delay is over", the_own_node_is_looked_at_when_the_delay_is_over},
        {"who was deleted while delayed queues anew", who_was_deleted_while_delayed_queues_anew},
        {"a try that meets a mark is busy, and leaves no node", a_try_that_meets_a_mark_leaves_no_node},
        {"tries are busy while the delay runs, and get it then", a_try_is_busy_while_the_delay_runs_and_gets_it_then},
        {"a deadline ends the delay", a_deadline_ends_the_delay},
        {"who gives up while delayed leaves the mark of the one before", who_gives_up_while_delayed_leaves_the_mark},
        {"a waiter that gives up awaits the reply to its mark, and takes it off",
         a_waiter_that_gives_up_awaits_its_mark},
        {"a mark that may be another contender's is left", a_mark_that_may_be_of_another_is_left},
        {"a mark whose reply is lost is found", a_mark_whose_reply_is_lost_is_found},
        {"the own node is seen behind the mark before it grants", the_own_node_is_seen_behind_the_mark},
        {"our own mark, found again, begins no delay", our_own_mark_begins_no_delay},
        {"a mark that somebody else changed is read again", a_mark_that_somebody_else_changed_is_read_again},
        {"a path that may not be read or written fails", a_path_that_may_not_be_read_or_written_fails},
        {"a path that is gone when its mark is read is made anew", a_path_that_is_gone_is_made_anew},
        {"who lost leaves the mark", who_lost_leaves_the_mark},
        {"a mark that is not taken off is asked about until the delete is answered",
         a_mark_that_is_not_taken_off_is_asked_about_until_the_delete_is_answered},
        {"a release of unknown outcome is repeated whole", a_release_of_unknown_outcome_is_repeated_whole},
        {"a holder who was away still takes the mark off", a_holder_who_was_away_still_takes_the_mark_off},
        {"the delay comes before the confirmation, and failing takes the mark off",
         the_delay_comes_before_the_confirmation},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "conditions", .tests = tests});
}
