/* Stories of the own node without a watch: for a twentieth of the session after a listing none is set. */
#include "test/lib/check.h"
#include "test/story/trace.h"

enum { TIMEOUT_MS = 10000, UNWATCHED_MS = 500 };

static struct trace t;

static void begin_as(const struct pdk__rule *rule)
{
    trace_begin_as(&t, rule, true);
    t.timeout_ms = t.c.session.timeout_ms = TIMEOUT_MS;
    story(&t, "acquire: create\n"
              "created own: -\n");
}

static void begin(void) { begin_as(&pdk__rule_mutex); }

/* A term. */
static void begin_long(void)
{
    begin();
    t.conditions.long_held = true;
}

static void hold(void)
{
    begin();
    story(&t, "listed own: granted\n");
}

/* The next in line, behind one contender. */
static void queue(void)
{
    begin();
    story(&t, "listed 4 own: watch(4)\n"
              "watched: -\n");
}

static void without_an_answer_it_looks_again_after_a_rest(void)
{
    hold();
    story(&t, "later 500: own\n"
              "own unknown: -\n");
    CHECK(pdk__contender_wake_ms(&t.c) > t.now_ms && pdk__contender_wake_ms(&t.c) <= t.now_ms + 1000);
    story(&t, "due: own\n");
}

static void a_confirming_write_shows_the_node(void)
{
    trace_begin(&t, true);
    t.c.session.timeout_ms = TIMEOUT_MS;
    t.conditions.confirmed = true;
    story(&t, "acquire: create\n"
              "created own: -\n"
              "pass 50: -\n"
              "listed own: confirm(version 0)\n"
              "pass 100: -\n"
              "confirmed token 99: granted(99)\n"
              "later 399: -\n"
              "later 1: own\n");
}

/* The write has shown it, and has set off the watch that was on it. */
static void a_look_after_the_confirming_write_is_waited_for_too(void)
{
    begin();
    t.conditions.confirmed = true;
    story(&t, "listed 4 own: watch(4)\n"
              "watched: -\n"
              "later 500: own\n"
              "own: -\n"
              "gone: confirm(version 0)\n"
              "doubted: -\n"
              "own changed: own\n"
              "confirmed token 99: -\n"
              "proven: -\n"
              "own no-node: create\n");
}

static void a_new_connection_brings_its_own_timeout(void)
{
    hold();
    t.timeout_ms = 2 * TIMEOUT_MS;
    story(&t, "down: suspect\n"
              "expired: lost done\n"
              "up anew: -\n");
    CHECK_EQ(t.c.session.timeout_ms, 2 * TIMEOUT_MS);
}

/* --- an event that was swallowed --------------------------------------------------------------------------------- */

static void a_waiter_looks_again_at_its_predecessor_and_its_node(void)
{
    queue();
    CHECK(pdk__contender_watches(&t.c));
    story(&t, "look again: watch\n"
              "watched: -\n"
              "later 500: own\n"
              "own: -\n"
              "look again: own watch\n"
              "own: -\n"
              "watched no-node: granted\n");
}

static void a_holder_looks_again_at_its_node(void)
{
    hold();
    CHECK(!pdk__contender_watches(&t.c));
    story(&t, "look again: -\n"
              "later 500: own\n"
              "own: -\n");
    CHECK(pdk__contender_watches(&t.c));
    story(&t, "look again: own\n"
              "own no-node: lost done\n");
}

static const struct story stories[] = {
    {"a short hold asks for no watch", hold,
     "later 499: -\n"
     "release: delete\n"
     "deleted: done\n"},
    {"a hold that lasts is watched", hold,
     "wakes: 500\n"
     "later 500: own\n"
     "wakes: never\n"
     "own: -\n"
     "own gone: lost done\n"},
    {"what is meant to be held for long is watched at once", begin_long,
     "listed own: granted own\n"
     "own: -\n"
     "own gone: lost done\n"},
    {"a candidate for long is watched while it waits", begin_long,
     "listed 4 own: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: granted\n"},
    {"the time runs from the question, not from its answer", begin,
     "pass 499: -\n"
     "listed own: granted\n"
     "later 1: own\n"},
    {"an answer that took that long is followed by the watch at once", begin,
     "pass 500: -\n"
     "listed own: granted own\n"},
    {"a node deleted before its watch is lost when it is due", hold,
     "later 500: own\n"
     "own no-node: lost done\n"},
    {"a node deleted before a release tells so", hold,
     "release: delete\n"
     "deleted no-node: done(PDK_ELOST)\n"},
    {"after a short wait the next is granted without a look", queue,
     "later 499: -\n"
     "gone: granted\n"},
    /* It does not begin anew with the grant. */
    {"the time of the wait counts", queue,
     "pass 499: -\n"
     "gone: granted\n"
     "later 1: own\n"},
    {"a wait that lasts is watched", queue,
     "later 500: own\n"
     "own: -\n"
     "gone: granted\n"},
    /* The thread of the timers is late. */
    {"after a long wait without a watch the node is looked at first", queue,
     "pass 500: -\n"
     "gone: own\n"
     "own: granted\n"},
    /* Its answer may tell that the node is deleted. */
    {"a look that is on its way is waited for", queue,
     "later 500: own\n"
     "own: -\n"
     "changed: list\n"
     "listed 4 own: watch(4)\n"
     "watched: -\n"
     "own changed: own\n"
     "gone: -\n"
     "own: granted\n"},
    {"a waiter's node deleted meanwhile is no grant then", queue,
     "pass 500: -\n"
     "gone: own\n"
     "own no-node: create\n"},
    /* The name may be that of another node by now, which no listing tells. */
    {"a later listing does not put the watch off", begin,
     "listed 3 4 own: watch(4)\n"
     "watched: -\n"
     "later 499: -\n"
     "gone: list\n"
     "listed 3 own: watch(3)\n"
     "watched: -\n"
     "wakes: 1\n"
     "later 1: own\n"},
    {"the time begins anew for a node made anew", queue,
     "later 500: own\n"
     "own no-node: unwatch create\n"
     "created again: -\n"
     "listed again: granted\n"
     "later 499: -\n"
     "later 1: own\n"},
    {"a listing that took long is not", begin,
     "listed 3 4 own: watch(4)\n"
     "watched: -\n"
     "gone: list\n"
     "pass 500: -\n"
     "listed own: own\n"},
    {"a holder that was away looks at once", hold,
     "down: suspect\n"
     "up: own\n"
     "own: held\n"},
    /* Held again: not by proof alone. */
    {"a holder in doubt looks at once", hold,
     "doubted: suspect own\n"
     "proven: -\n"
     "own: held\n"},
    /* The rest was for the server that has not answered. */
    {"on a new connection a waiter looks again without a rest", queue,
     "later 500: own\n"
     "own unknown: -\n"
     "down: -\n"
     "up: -\n"
     "later 0: own\n"},
    /* --- an event that was swallowed ------------------------------------------------------------------------------ */
    /* The answer takes long, and its own watch is due meanwhile. */
    {"a waiter that looks again is watched in time", queue,
     "look again: watch\n"
     "later 500: own\n"
     "watched: -\n"
     "own: -\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a waiter looks again at its predecessor and its node", a_waiter_looks_again_at_its_predecessor_and_its_node},
        {"a holder looks again at its node", a_holder_looks_again_at_its_node},
        {"without an answer it looks again after a rest", without_an_answer_it_looks_again_after_a_rest},
        {"a confirming write shows the node", a_confirming_write_shows_the_node},
        {"a look after the confirming write is waited for, too", a_look_after_the_confirming_write_is_waited_for_too},
        {"a new connection brings its own timeout", a_new_connection_brings_its_own_timeout},
        {0}};
    return pdk__story_main(argc, argv, "story/unwatched", __FILE__, &t, stories, tests);
}
