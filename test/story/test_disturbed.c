/* Stories of disturbance: lost replies, lost connections, ended sessions, nodes deleted by others. */
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <string.h>

static struct trace t;

static void begin(void) { trace_begin(&t, true); }

/* A contender that has lost the reply to its create, and is about to look for its node behind a barrier. */
static void lose_reply(void)
{
    trace_begin(&t, true);
    story(&t, "acquire: create\n"
              "down: -\n"
              "up: barrier+list\n"
              "barrier: -\n");
}

/* A holder whose own node is watched. */
static void hold(void)
{
    begin();
    story(&t, "acquire: create\n"
              "created own: -\n"
              "listed own: granted own\n"
              "own: -\n");
}

/* A waiter after 4, with both watches set. */
static void wait_behind(void)
{
    begin();
    story(&t, "acquire: create\n"
              "created own: -\n"
              "listed 4 own: watch(4) own\n"
              "watched: -\n"
              "own: -\n");
}

/* --- lost replies ------------------------------------------------------------------------------------------------ */

static void an_unknown_create_on_a_standing_connection_is_looked_for_too(void)
{
    begin();
    story(&t, "acquire: create\n"
              "created unknown: -\n");
    CHECK(pdk__contender_wake_ms(&t.c) > t.now_ms);
    story(&t, "later 5000: barrier+list\n"
              "barrier: -\n"
              "listed 4 own: identify(own)\n"
              "identified: list\n"
              "listed 4 own: watch(4) own\n");
}

static void a_create_the_servers_never_take_ends_in_an_error(void)
{
    begin();
    story(&t, "acquire: create\n");
    int creates = 0;
    for (int i = 0; i < 100 && t.c.phase != PDK__DONE; i++) {
        if (t.c.phase == PDK__BACKOFF)
            feed(&t, "later 5000");
        if (t.c.phase == PDK__CREATING) {
            creates++;
            story(&t, "down: -\n"
                      "up: barrier+list\n"
                      "barrier: -\n");
            feed(&t, "listed nothing");
        }
    }
    CHECK_EQ(t.c.phase, PDK__DONE);
    CHECK(creates > 2);
    CHECK(strstr(t.text, "failed(PDK_EREFUSED) done") != NULL);
}

/* --- forged names ------------------------------------------------------------------------------------------------ */

static void a_forged_name_does_not_take_the_place_of_ours(void)
{
    wait_behind();
    story(&t, "changed: list\n"
              "listed forged0 4 own: watch(4)\n"
              "watched: -\n");
    CHECK_STR(t.c.node.name, OURS);
}

static void a_node_of_our_name_that_is_another_one_is_not_ours(void)
{
    hold();
    story(&t, "down: suspect\n"
              "up: own\n");
    t.token++; /* it was deleted and created again, by the same session */
    story(&t, "own: lost done\n");
}

/* --- holding ----------------------------------------------------------------------------------------------------- */

static void a_holder_whose_watch_failed_asks_again(void)
{
    begin();
    story(&t, "acquire: create\n"
              "created own: -\n"
              "listed own: granted own\n"
              "own unknown: -\n");
    CHECK(pdk__contender_wake_ms(&t.c) < t.now_ms + 5000);
    story(&t, "later 5000: own\n"
              "own no-auth: own(exists)\n"
              "own: -\n");
}

static const struct story stories[] = {
    /* --- lost replies --------------------------------------------------------------------------------------------- */
    {"a create whose reply was lost is looked for, behind a barrier, and found", lose_reply,
     "listed own: identify(own)\n"
     "identified: list\n"
     "listed own: own\n"
     "own: granted\n"},
    {"a create lost on its way is made once more", begin,
     "acquire: create\n"
     "down: -\n"
     "created unknown: -\n"
     "listed unknown: -\n"
     "up: barrier+list\n"
     "barrier: -\n"
     "listed 3: stray create\n"
     "created own: -\n"
     "attempt: 2b\n"}, /* the first may have been created and deleted: its name must not return */
    {"a listing without its barrier proves nothing", begin,
     "acquire: create\n"
     "down: -\n"
     "up: barrier+list\n"
     "barrier unknown: -\n"
     "listed no-node: -\n"
     "later 5000: barrier+list\n"},
    {"a lost create of a caller who gave up is cleaned up", begin,
     "acquire 100: create\n"
     "down: -\n"
     "later 100: failed(PDK_ETIMEDOUT)\n"
     "up: barrier+list\n"
     "barrier: -\n"
     "listed 3 own: identify(own)\n"
     "identified: delete\n"
     "deleted: done\n"},
    {"a lost create of a caller who gave up may be nowhere", begin,
     "acquire: create\n"
     "down: -\n"
     "release: -\n"
     "up: barrier+list\n"
     "barrier: -\n"
     "listed no-node: stray done\n"},
    {"a delete whose reply was lost is repeated", hold,
     "release: delete\n"
     "down: -\n"
     "up: delete\n"
     "deleted no-node: done\n"},
    {"a delete of unknown outcome is repeated", hold,
     "release: delete\n"
     "deleted unknown: -\n"
     "later 5000: delete\n"
     "deleted: done\n"},
    {"a delete that finds no node tells a loss", hold,
     "release: delete\n"
     "deleted no-node: done(PDK_ELOST)\n"},
    /* The servers end the session later, and the node with it. */
    {"a release is not confirmed by a session that was given up", hold,
     "down: suspect\n"
     "release: -\n"
     "given up: done(PDK_EUNKNOWN)\n"
     "\n"
     "release: delete\n"
     "over PDK_ECLOSED: done(PDK_EUNKNOWN)\n"
     "\n"
     "release: delete\n"
     "expired: done\n"},
    {"a second delete that finds no node tells nothing", hold,
     "release: delete\n"
     "deleted unknown: -\n"
     "later 5000: delete\n"
     "deleted no-node: done\n"},
    {"a delete that is not allowed is told", hold,
     "release: delete\n"
     "deleted no-auth: done(PDK_EACCES)\n"},
    {"a lost listing is asked for again", begin,
     "acquire: create\n"
     "created own: -\n"
     "listed unknown: -\n"
     "later 5000: list\n"
     "listed own: own\n"
     "own: granted\n"},
    {"a node that cannot be looked for is looked for until it can", lose_reply,
     "listed no-auth: failed(PDK_EACCES)\n"
     "later 5000: barrier+list\n"
     "barrier: -\n"
     "listed own: identify(own)\n"
     "identified: delete\n"},
    {"a lost watch is set again after a new listing", begin,
     "acquire: create\n"
     "created own: -\n"
     "listed 4 own: watch(4) own\n"
     "down: -\n"
     "up: list\n"
     "listed 4 own: watch(4) own\n"},
    /* --- forged names --------------------------------------------------------------------------------------------- */
    {"a forged name that is left alone is waited for as any other", wait_behind,
     "changed: list\n"
     "listed forged0 own: watch(forged0)\n"
     "watched: -\n"
     "gone: granted\n"},
    {"a waiter whose node is gone queues anew beside a forged one", wait_behind,
     "changed: list\n"
     "listed forged0 4: create\n"
     "attempt: 2b\n"},
    {"candidates are looked at one after another until ours", lose_reply,
     "listed forged9 own forged0: identify(forged0)\n"
     "identified by other: list\n"
     "listed forged9 own forged0: identify(own)\n"
     "identified: list\n"
     "listed forged9 own forged0: watch(forged0) own\n"},
    {"a forged candidate alone is no node of ours", lose_reply,
     "listed forged9: identify(forged9)\n"
     "identified by other: list\n"
     "listed forged9: stray create\n"
     "attempt: 2b\n"},
    {"a candidate gone before it was looked at is passed over", begin,
     "acquire: create\n"
     "down: -\n"
     "up: barrier+list\n"
     "release: -\n"
     "barrier: -\n"
     "listed forged0 own: identify(forged0)\n"
     "identified no-node: list\n"
     "listed own: identify(own)\n"
     "identified: delete\n"},
    {"a candidate of unknown owner is looked for again behind a barrier", lose_reply,
     "listed forged0 own: identify(forged0)\n"
     "identified unknown: -\n"
     "later 5000: barrier+list\n"
     "barrier: -\n"
     "listed forged0 own: identify(forged0)\n"},
    {"a candidate that may not be read ends in an error and is looked for all the same", lose_reply,
     "listed own: identify(own)\n"
     "identified no-auth: failed(PDK_EACCES)\n"
     "later 5000: barrier+list\n"},
    {"a node replaced while disconnected is seen before the grant", wait_behind,
     "down: -\n"
     "up: -\n"
     "gone: own\n"
     "own by other: create\n"},
    /* --- holding -------------------------------------------------------------------------------------------------- */
    {"a holder disconnected is suspect until its node was seen", hold,
     "down: suspect\n"
     "up: own\n"
     "own: held\n"},
    {"a holder whose node went meanwhile has lost", hold,
     "down: suspect\n"
     "up: own\n"
     "own no-node: lost done\n"},
    {"a holder whose node is another session's has lost", hold,
     "down: suspect\n"
     "up: own\n"
     "own by other: lost done\n"},
    {"a holder who may be expired has lost, and cleans up if not", hold,
     "down: suspect\n"
     "presumed: lost\n"
     "up: delete\n"
     "deleted: done\n"},
    {"a holder who lost by the clock and expired is done", hold,
     "down: suspect\n"
     "presumed: lost\n"
     "expired: done\n"},
    {"a holder whose session expired has lost", hold,
     "expired: lost done\n"
     "\n"
     "down: suspect\n"
     "expired: lost done\n"},
    {"a holder in a silently changed session has lost", hold,
     "down: suspect\n"
     "up anew: lost done\n"},
    {"a holder whose node was deleted has lost", hold, "own gone: lost done\n"},
    {"a holder whose node was written to watches it again", hold,
     "own changed: own\n"
     "own: -\n"
     "own gone: lost done\n"},
    {"a holder who unlocks while disconnected deletes later", hold,
     "down: suspect\n"
     "release: -\n"
     "up: delete\n"
     "deleted: done\n"},
    {"news of the own node after unlock change nothing", hold,
     "release: delete\n"
     "own gone: -\n"
     "deleted: done\n"},
    /* --- waiting -------------------------------------------------------------------------------------------------- */
    {"a waiter asks nothing after a disconnection, and looks at its node before the grant", wait_behind,
     "down: -\n"
     "up: -\n"
     "down: -\n"
     "up: -\n"
     "gone: own\n"
     "own: granted\n"},
    {"a waiter whose node went meanwhile hears of the other first", wait_behind,
     "down: -\n"
     "up: -\n"
     "gone: own\n"
     "own gone: create\n"
     "attempt: 2b\n"},
    {"a waiter whose own watch was not set asks for that alone", begin,
     "acquire: create\n"
     "created own: -\n"
     "listed 4 own: watch(4) own\n"
     "watched: -\n"
     "down: -\n"
     "up: -\n"
     "later 0: own\n"
     "own: -\n"
     "gone: granted\n"},
    {"a waiter whose watch was not set lists", begin,
     "acquire: create\n"
     "created own: -\n"
     "listed 4 own: watch(4) own\n"
     "own: -\n"
     "down: -\n"
     "up: list\n"},
    {"a waiter whose watch is by exists lists", begin,
     "acquire: create\n"
     "created own: -\n"
     "listed 4 own: watch(4) own\n"
     "watched no-auth: watch(4, exists)\n"
     "watched: -\n"
     "down: -\n"
     "up: list\n"},
    {"a waiter that looks again, and is disconnected meanwhile, lists", wait_behind,
     "look again: own watch\n"
     "down: -\n"
     "up: list\n"},
    {"a waiter looks again on the next connection, and not without one", wait_behind,
     "down: -\n"
     "look again: -\n"
     "up: -\n"
     "look again: own watch\n"
     "own: -\n"
     "watched: -\n"
     "gone: granted\n"},
    {"an event that comes late, without a connection, is not forgotten", wait_behind,
     "down: -\n"
     "own changed: -\n"
     "gone: -\n"
     "up: list\n"},
    {"a waiter whose node goes without a connection removes its other watch on the next", wait_behind,
     "down: -\n"
     "own gone: -\n"
     "up: create\n"
     "release: -\n"
     "created 6: unwatch delete\n"
     "deleted: done\n"},
    {"a waiter that gives up without a connection deletes on the next", wait_behind,
     "down: -\n"
     "release: -\n"
     "up: unwatch delete\n"
     "deleted: done\n"},
    {"a waiter whose session expired queues anew in the next", wait_behind,
     "expired: -\n"
     "up anew: create\n"
     "created next: -\n"
     "listed own next: watch(own) own\n" /* the old session's node still exists, and is ahead */},
    {"a waiter in a silently changed session queues anew", wait_behind,
     "down: -\n"
     "up anew: create\n"},
    {"a waiter presumed over keeps waiting", wait_behind,
     "down: -\n"
     "presumed: -\n"
     "up: -\n"},
    {"a session expired during create begins anew", begin,
     "acquire: create\n"
     "expired: -\n"
     "up anew: create\n"},
    {"a waiter whose node was deleted queues anew", wait_behind,
     "own gone: unwatch create\n"
     "attempt: 2b\n"}, /* no name is ever used twice */
    {"a waiter whose node is not in the listing queues anew", wait_behind,
     "changed: list\n"
     "listed 4: create\n"
     "created 6: -\n"},
    {"a lock path that was deleted is made again", wait_behind,
     "own gone: unwatch create\n"
     "created no-node: parents create\n"
     "made parents: -\n"},
    {"a waiter's watch of itself that failed is asked for again", begin,
     "acquire: create\n"
     "created own: -\n"
     "listed 4 own: watch(4) own\n"
     "watched: -\n"
     "own unknown: -\n"
     "gone: own\n"
     "own: granted\n"},
    {"a check before the grant that fails is made again", lose_reply,
     "listed own: identify(own)\n"
     "identified: list\n"
     "listed own: own\n"
     "own unknown: -\n"
     "later 5000: list\n"
     "listed own: own\n"
     "own refused PDK_EREFUSED: failed(PDK_EREFUSED) delete\n"},
    /* --- the end -------------------------------------------------------------------------------------------------- */
    {"a session that no other follows fails the waiter", wait_behind, "over PDK_EEXPIRED: failed(PDK_EEXPIRED) done\n"},
    {"a session that no other follows is a loss to the holder", hold, "over PDK_ECLOSED: lost done\n"},
    {"a session that is left is a loss to the holder, before the node goes", hold,
     "left PDK_ECLOSED: lost delete\n"
     "left PDK_ECLOSED: -\n"
     "deleted: done\n"},
    {"a session that is left fails the waiter, and the node goes", wait_behind,
     "left PDK_ECLOSED: failed(PDK_ECLOSED) unwatch delete\n"
     "left PDK_ECLOSED: -\n"
     "deleted: done\n"},
    {"a close ends the cleaning up", hold,
     "release: delete\n"
     "over PDK_ECLOSED: done(PDK_EUNKNOWN)\n"},
    {"nothing moves what is done", hold,
     "own gone: lost done\n"
     "down: -\n"
     "up: -\n"
     "expired: -\n"
     "release: -\n"
     "later 100000: -\n"
     "over PDK_ECLOSED: -\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a forged name does not take the place of ours", a_forged_name_does_not_take_the_place_of_ours},
        {"a node of our name that is another one is not ours", a_node_of_our_name_that_is_another_one_is_not_ours},
        {"an unknown create on a standing connection is looked for, too",
         an_unknown_create_on_a_standing_connection_is_looked_for_too},
        {"a create the servers never take ends in an error", a_create_the_servers_never_take_ends_in_an_error},
        {"a holder whose watch failed asks again", a_holder_whose_watch_failed_asks_again},
        {0}};
    return pdk__story_main(argc, argv, "disturbed", __FILE__, &t, stories, tests);
}
