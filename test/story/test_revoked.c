/* Stories of a holder that is asked to release the lock. */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;

static void begin(void) { trace_begin(&t, true); }

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

static const struct story stories[] = {
    {"a holder is told", hold,
     "own changed: own\n"
     "own asks: revoked\n"
     "release: delete\n"},
    {"a holder is told once", hold,
     "own changed: own\n"
     "own asks: revoked\n"
     "own changed: own\n"
     "own: -\n"
     "own changed: own\n"
     "own asks: -\n"},
    {"a request written before the watch was set is seen", begin,
     "acquire: create\n"
     "created own: -\n"
     "listed own: granted own\n"
     "own asks: revoked\n"},
    {"a waiter is told behind its grant", wait_behind,
     "own changed: own\n"
     "own asks: -\n"
     "gone: granted revoked\n"},
    {"a request seen by the check before the grant is told behind it", wait_behind,
     "own changed: own\n"
     "gone: -\n"
     "own asks: granted revoked\n"},
    {"a request to a node that went is not one to the next", wait_behind,
     "own changed: own\n"
     "own asks: -\n"
     "own gone: unwatch create\n"
     "created again: -\n"
     "listed again: granted own\n"
     "own: -\n"},
    {"a request made while the holder was away is told when it is back", hold,
     "down: suspect\n"
     "up: own\n"
     "own asks: held revoked\n"},
    {"a request is told once although the holder was away", hold,
     "own changed: own\n"
     "own asks: revoked\n"
     "down: suspect\n"
     "up: own\n"
     "own asks: held\n"},
    {"who unlocked is not asked", hold,
     "own changed: own\n"
     "release: delete\n"
     "own asks: -\n"},
    {0},
};

int main(int argc, char **argv) { return pdk__story_main(argc, argv, "revoked", __FILE__, &t, stories, NULL); }
