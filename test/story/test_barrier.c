/* Stories of a barrier: a wait for its removal, its creation, its deletion. */
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <string.h>

static struct trace t;

static void look(void) { barrier_begin(&t, PDK__BARRIER_WAIT, true); }

static void wait(void)
{
    barrier_begin(&t, PDK__BARRIER_WAIT, true);
    story(&t, "call: watch\n");
}

static void set(void)
{
    barrier_begin(&t, PDK__BARRIER_SET, true);
    story(&t, "call: create\n");
}

static void take_away(void)
{
    barrier_begin(&t, PDK__BARRIER_REMOVE, true);
    story(&t, "call: delete\n");
}

/* --- wait -------------------------------------------------------------------------------------------------------- */

static void a_wait_goes_on_in_the_next_session(void)
{
    barrier_begin(&t, PDK__BARRIER_WAIT, false);
    story(&t, "call: -\n"
              "up: watch\n"
              "watched: -\n"
              "down: -\n"
              "expired: -\n"
              "gone: -\n"
              "up: watch\n"
              "up: -\n"
              "watched no-node: done\n");
}

static void an_answer_that_is_lost_is_asked_for_again(void)
{
    wait();
    story(&t, "watched unknown: -\n"
              "due: watch\n");
    CHECK(t.now_ms < 11000);
    story(&t, "watched no-node of watch before: -\n"
              "watched no-node: done\n");
}

static void a_look_sets_no_watch(void)
{
    look();
    story(&t, "call once: identify\n"
              "identified: done(PDK_ETIMEDOUT)\n");
    look();
    story(&t, "call once: identify\n"
              "identified no-node: done\n");
    look();
    story(&t, "call once: identify\n"
              "identified no-auth: done(PDK_EACCES)\n");
    barrier_begin(&t, PDK__BARRIER_WAIT, false);
    story(&t, "call once: done(PDK_ETIMEDOUT)\n");
}

/* --- set and remove ---------------------------------------------------------------------------------------------- */

static void a_path_with_nodes_below_is_no_barrier(void)
{
    set();
    story(&t, "exists: identify\n"
              "identified with-children: done(PDK_EINVAL)\n");
    wait();
    story(&t, "watched with-children: unwatch done(PDK_EINVAL)\n");
    look();
    story(&t, "call once: identify\n"
              "identified with-children: done(PDK_EINVAL)\n");
}

/* The servers reap them each time. */
static void ancestors_are_not_made_without_end(void)
{
    set();
    for (int i = 0; t.barrier.phase != PDK__BARRIER_OVER; i++) {
        CHECK(i < 20);
        feed(&t, "created no-node");
        if (t.barrier.phase != PDK__BARRIER_OVER)
            story(&t, "made parents: create\n");
    }
    CHECK(strstr(t.text, ": done(PDK_ENOENT)\n") != NULL);
}

static void a_write_whose_answer_is_lost_is_repeated(void)
{
    set();
    story(&t, "down: -\n"
              "up: create\n"
              "exists: identify\n"
              "identified: done\n");
    take_away();
    story(&t, "deleted unknown: -\n"
              "due: delete\n"
              "deleted no-node: done\n");
}

static void a_write_that_is_late_may_have_happened_once_it_was_sent(void)
{
    set();
    story(&t, "due: done(PDK_EUNKNOWN)\n");
    barrier_begin(&t, PDK__BARRIER_SET, false);
    story(&t, "call: -\n"
              "due: done(PDK_ETIMEDOUT)\n");
}

static const struct story stories[] = {
    /* --- wait ----------------------------------------------------------------------------------------------------- */
    {"a barrier that is not set lets pass", wait, "watched no-node: done\n"},
    {"a wait ends with the node", wait,
     "watched: -\n"
     "changed: watch\n"
     "watched: -\n"
     "gone: done\n"},
    {"a wait whose event was swallowed ends with the next look", wait,
     "look again: -\n"
     "watched: -\n"
     "look again: watch\n"
     "watched no-node: done\n"},
    {"a wait that is late removes its watch", wait,
     "watched: -\n"
     "due: unwatch done(PDK_ETIMEDOUT)\n"
     "now: 11000\n"},
    {"a watch that is being set is removed once it is set", wait,
     "due: failed(PDK_ETIMEDOUT)\n"
     "wakes: never\n"
     "later 0: -\n"
     "release: -\n"
     "watched: unwatch done\n"},
    /* The handle sets its watches again on each connection. */
    {"a wait that is late while apart removes its watch on the next connection", wait,
     "watched: -\n"
     "down: -\n"
     "due: failed(PDK_ETIMEDOUT)\n"
     "down: -\n"
     "up: unwatch done\n"},
    {"a session that ends takes its watch along", wait,
     "watched: -\n"
     "down: -\n"
     "due: failed(PDK_ETIMEDOUT)\n"
     "expired: done\n"},
    /* It is of an earlier call's watch, and the barrier was set again since. Or it is of our own watch, and has
     * overtaken the answer. */
    {"an event before the answer makes it look again", wait,
     "gone: -\n"
     "watched: watch\n"
     "changed: -\n"
     "watched: watch\n"
     "watched: -\n"
     "down: -\n"
     "gone: -\n"
     "up: watch\n"
     "watched: -\n"
     "gone: done\n"},
    {"a node that may not be read is watched by exists", wait,
     "watched no-auth: watch(exists)\n"
     "watched no-node: unwatch done\n"
     "\n" /* its watch may never fire */
     /* its watch may never fire */
     "watched no-auth: watch(exists)\n"
     "watched: -\n"
     "due: watch(exists)\n"
     "now: 2000\n"
     "watched no-node: unwatch done\n"
     "\n"
     "watched no-auth: watch(exists)\n"
     "watched no-auth: unwatch done(PDK_EACCES)\n"},
    {"a wait is cancelled", wait,
     "watched: -\n"
     "release: unwatch done(PDK_ECANCELED)\n"},
    {"a wait ends with the client", wait,
     "doubted: -\n"
     "over PDK_ECLOSED: unwatch done(PDK_ECLOSED)\n"
     "\n"
     "due: failed(PDK_ETIMEDOUT)\n"
     "left PDK_ECLOSED: unwatch done(PDK_ECLOSED)\n"},
    /* --- set and remove ------------------------------------------------------------------------------------------- */
    {"a barrier is set once or again", set,
     "created: done\n"
     "\n"
     "exists: identify\n" /* it exists */
     "identified: done\n"
     "\n"
     "exists: identify\n"
     "identified no-auth: done\n"
     "\n"
     "exists: identify\n"
     "identified unknown: -\n"
     "due: create\n"
     "exists: identify\n"
     "identified no-node: done\n" /* another client has removed it since */},
    {"missing ancestors are made", set,
     "created no-node: parents\n"
     "made parents: create\n"
     "created: done\n"
     "\n"
     "created no-node: parents\n"
     "made parents no-auth: done(PDK_EACCES)\n"},
    {"a barrier is removed once or again", take_away,
     "deleted: done\n"
     "\n"
     "deleted refused PDK_EREFUSED: done(PDK_EREFUSED)\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a wait goes on in the next session", a_wait_goes_on_in_the_next_session},
        {"an answer that is lost is asked for again", an_answer_that_is_lost_is_asked_for_again},
        {"a look sets no watch", a_look_sets_no_watch},
        {"a path with nodes below is no barrier", a_path_with_nodes_below_is_no_barrier},
        {"ancestors are not made without end", ancestors_are_not_made_without_end},
        {"a write whose answer is lost is repeated", a_write_whose_answer_is_lost_is_repeated},
        {"a write that is late may have happened, once it was sent",
         a_write_that_is_late_may_have_happened_once_it_was_sent},
        {0}};
    return pdk__story_main(argc, argv, "barrier (stories)", __FILE__, &t, stories, tests);
}
