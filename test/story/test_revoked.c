/* Stories of a holder that is asked to release the lock. */
#include "test/lib/check.h"
#include "test/story/trace.h"

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

static void a_holder_is_told(void)
{
    hold();
    own_fired(&t, false);
    own_revoked(&t);
    release(&t);
    CHECK_STR(t.text, "own changed: own\n"
                      "own asks: revoked\n"
                      "release: delete\n");
}

static void a_holder_is_told_once(void)
{
    hold();
    own_fired(&t, false);
    own_revoked(&t);
    own_fired(&t, false);
    own(&t);
    own_fired(&t, false);
    own_revoked(&t);
    CHECK_STR(t.text, "own changed: own\n"
                      "own asks: revoked\n"
                      "own changed: own\n"
                      "own: -\n"
                      "own changed: own\n"
                      "own asks: -\n");
}

static void a_request_written_before_the_watch_was_set_is_seen(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own_revoked(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: granted own\n"
                      "own asks: revoked\n");
}

static void a_waiter_is_told_behind_its_grant(void)
{
    wait_behind();
    own_fired(&t, false);
    own_revoked(&t);
    fired(&t, true);
    CHECK_STR(t.text, "own changed: own\n"
                      "own asks: -\n"
                      "gone: granted revoked\n");
}

static void a_request_seen_by_the_check_before_the_grant_is_told_behind_it(void)
{
    wait_behind();
    own_fired(&t, false);
    fired(&t, true);
    own_revoked(&t);
    CHECK_STR(t.text, "own changed: own\n"
                      "gone: -\n"
                      "own asks: granted revoked\n");
}

static void a_request_to_a_node_that_went_is_not_one_to_the_next(void)
{
    wait_behind();
    own_fired(&t, false);
    own_revoked(&t);
    own_fired(&t, true);
    created(&t, OURS_AGAIN);
    listed(&t, LIST(OURS_AGAIN));
    own(&t);
    CHECK_STR(t.text, "own changed: own\n"
                      "own asks: -\n"
                      "own gone: unwatch create\n"
                      "created: -\n"
                      "listed: granted own\n"
                      "own: -\n");
}

static void a_request_made_while_the_holder_was_away_is_told_when_it_is_back(void)
{
    hold();
    down(&t);
    up(&t, TRACE_SESSION);
    own_revoked(&t);
    CHECK_STR(t.text, "down: suspect\n"
                      "up: own\n"
                      "own asks: held revoked\n");
}

static void a_request_is_told_once_although_the_holder_was_away(void)
{
    hold();
    own_fired(&t, false);
    own_revoked(&t);
    down(&t);
    up(&t, TRACE_SESSION);
    own_revoked(&t);
    CHECK_STR(t.text, "own changed: own\n"
                      "own asks: revoked\n"
                      "down: suspect\n"
                      "up: own\n"
                      "own asks: held\n");
}

static void who_unlocked_is_not_asked(void)
{
    hold();
    own_fired(&t, false);
    release(&t);
    own_revoked(&t);
    CHECK_STR(t.text, "own changed: own\n"
                      "release: delete\n"
                      "own asks: -\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a holder is told", a_holder_is_told},
        {"a holder is told once", a_holder_is_told_once},
        {"a request written before the watch was set is seen", a_request_written_before_the_watch_was_set_is_seen},
        {"a waiter is told behind its grant", a_waiter_is_told_behind_its_grant},
        {"a request seen by the check before the grant is told behind it",
         a_request_seen_by_the_check_before_the_grant_is_told_behind_it},
        {"a request to a node that went is not one to the next", a_request_to_a_node_that_went_is_not_one_to_the_next},
        {"a request made while the holder was away is told when it is back",
         a_request_made_while_the_holder_was_away_is_told_when_it_is_back},
        {"a request is told once although the holder was away", a_request_is_told_once_although_the_holder_was_away},
        {"who unlocked is not asked", who_unlocked_is_not_asked},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "revoked", .tests = tests});
}
