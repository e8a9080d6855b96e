/* Stories of grants that take more than to be the first. */
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
    t.version = 1; /* it had happened */
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
    proven(&t);
    confirmed(&t, 92);
    CHECK_EQ(t.granted, 92);
    CHECK_STR(t.trace, "gone: confirm(version 0)\n"
                       "down: -\n"
                       "up: list\n"
                       "listed: confirm(version 0) own\n"
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
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "conditions", .tests = tests});
}
