/* Stories of acquiring a lock: alone, after others, by a try, against a deadline. */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;

static void begin(void) { trace_begin(&t, true); }

static void queue(void)
{
    trace_begin(&t, true);
    story(&t, "acquire: create\n"
              "created own: -\n");
}

/* A node that is released, or is no place in the queue. */
static void numbered(const char *number, const char *listed, const char *released)
{
    begin();
    story(&t,
          "acquire: create\n"
          "created 0000000000001000-0000002a-lock-%s: -\n"
          "listed 0000000000001000-0000002a-lock-%s: %s\n"
          "own: -\n"
          "release: %s\n"
          "deleted: done\n",
          number, number, listed, released);
}

static void a_path_near_its_end_begins_anew(void)
{
    numbered("2013265918", "granted own", "delete");
    numbered("2013265919", "granted own", "renew delete");
    numbered("2147483647", "renew delete", "-");
    numbered("-2147483648", "renew delete", "-");
}

/* --- looking ahead ----------------------------------------------------------------------------------------------- */

static void acquire_looking_ahead(void)
{
    trace_begin(&t, true);
    t.conditions.look_ahead = true;
    story(&t, "acquire: create\n"
              "created own: -\n");
}

/* ----------------------------------------------------------------------------------------------------------------- */

static void parents_that_vanish_every_time_end_in_an_error(void)
{
    begin();
    story(&t, "acquire: create\n");
    int rounds = 0;
    for (; t.c.phase == PDK__CREATING && rounds < 100; rounds++) {
        feed(&t, "created no-node");
        if (t.c.phase == PDK__CREATING)
            feed(&t, "made parents");
    }
    CHECK(rounds > 3 && rounds < 100);
    CHECK_EQ(t.c.phase, PDK__DONE);
}

static void a_node_without_a_token_is_never_granted(void)
{
    begin();
    story(&t, "acquire: create\n");
    t.token = 0;
    story(&t, "created own: failed(PDK_EREFUSED) delete\n");
}

/* --- deadlines and giving up ------------------------------------------------------------------------------------- */

static void a_deadline_with_no_server_needs_none(void)
{
    trace_begin(&t, false);
    story(&t, "acquire 100: -\n"
              "later 100: failed(PDK_ETIMEDOUT) done\n");
}

static const struct story stories[] = {
    {"alone, one round trip grants", queue,
     "listed own: granted own\n"
     "own: -\n"
     "release: delete\n"
     "deleted: done\n"},
    {"behind two, it watches the nearest and lists again", queue,
     "listed 6 3 own 4: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: list\n"
     "listed own 3 6: watch(3)\n"
     "watched: -\n"
     "gone: granted\n"},
    {"next in line needs no second listing", queue,
     "listed 4 own: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: granted\n"},
    {"behind the first no listing is needed", queue,
     "listed 3 4 own: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "first gone: granted\n"},
    /* --- looking ahead -------------------------------------------------------------------------------------------- */
    {"looking ahead, it is next in line before the last one goes", acquire_looking_ahead,
     "listed 6 3 own 4: watch(3) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: list\n"
     "listed own 4 6: watch(4)\n"
     "watched: -\n"
     "gone: granted\n"},
    /* The one before the predecessor gives up, and another is ahead of both. */
    {"looking ahead, behind many a listing decides", acquire_looking_ahead,
     "listed 2 3 4 own: watch(3) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: list\n"
     "listed 2 4 own: watch(2)\n"
     "watched: -\n"
     "gone: list\n"
     "listed own: granted\n"},
    /* Of a node of this client it is known whether it was the first. */
    {"looking ahead, a predecessor of this client is watched", acquire_looking_ahead,
     "listed 3 ours4 own: watch(ours4) own\n"
     "watched: -\n"
     "own: -\n"
     "first gone: granted\n"},
    {"looking ahead, the end of the first is no grant while another is between", acquire_looking_ahead,
     "listed ours3 4 own: watch(ours3) own\n"
     "watched: -\n"
     "own: -\n"
     "first gone: list\n"},
    /* -------------------------------------------------------------------------------------------------------------- */
    {"the own node is seen before a predecessor's end grants", queue,
     "listed 4 own: watch(4) own\n"
     "watched: -\n"
     "gone: -\n" /* the reply about our own node is still on its way */
     "own: granted\n"},
    {"a predecessor gone between list and watch makes room", queue,
     "listed 3 4 own: watch(4) own\n"
     "watched no-node: list\n"
     "listed 3 own: watch(3)\n"
     "watched no-node: -\n"
     "own: granted\n"},
    {"a watch that fires before its reply counts", queue,
     "listed 3 4 own: watch(4) own\n"
     "gone: list\n"
     "watched of watch: -\n"
     "listed own: -\n"
     "own: granted\n"},
    {"a watch that fires after the grant changes nothing", begin,
     "acquire: create\n"
     "gone: -\n" /* nor does one with the number of another request */
     "created own: -\n"
     "listed 4 own: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: granted\n"
     "gone: -\n"
     "changed: -\n"},
    {"a watch that may be set behind an early change is removed", begin,
     "acquire 500: create\n"
     "created own: -\n"
     "listed 4 own: watch(4) own\n"
     "changed: list\n" /* of a watch that was set again with the connection */
     "later 500: failed(PDK_ETIMEDOUT) unwatch delete\n"},
    {"a predecessor that only changed is watched again", queue,
     "listed 4 own: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "changed: list\n"
     "listed 4 own: watch(4)\n"},
    {"missing parents are made", begin,
     "acquire: create\n"
     "created no-node: parents create\n"
     "listed no-node of create before: -\n" /* the one that was sent after the create */
     "made parents: -\n"
     "created own: -\n"
     "listed own: granted own\n"},
    {"parents that may not be made end in an error", begin,
     "acquire: create\n"
     "created no-node: parents create\n"
     "made parents no-auth: -\n"
     "created no-node: failed(PDK_EACCES) done\n"},
    {"parents that may not be made, and are there, do no harm", begin,
     "acquire: create\n"
     "created no-node: parents create\n"
     "made parents no-auth: -\n"
     "created own: -\n"
     "listed own: granted own\n"},
    /* Above the nearest ancestors others are missing, too. */
    {"when the nearest parents are not enough, all are made", begin,
     "acquire: create\n"
     "created no-node: parents create\n"
     "made parents no-node: -\n"
     "created no-node: parents(all) create\n"
     "made parents no-node: -\n"
     "created no-node: failed(PDK_ENOENT) done\n"},
    {"giving up while parents are made awaits the create", begin,
     "acquire: create\n"
     "created no-node: parents create\n"
     "release: -\n"
     "made parents: -\n"
     "created own: delete\n"
     "deleted: done\n"},
    {"parents of unknown outcome are tried again", begin,
     "acquire: create\n"
     "created no-node: parents create\n"
     "made parents unknown: -\n"
     "created no-node: -\n"
     "later 5000: create\n"
     "created no-node: parents(all) create\n"},
    {"a refused create leaves nothing", begin,
     "acquire: create\n"
     "created no-auth: failed(PDK_EACCES) done\n"
     "\n"
     "acquire: create\n"
     "created refused PDK_EPATH: failed(PDK_EPATH) done\n"},
    {"a path that may not be listed is left again", queue,
     "listed no-auth: failed(PDK_EACCES) delete\n"
     "deleted: done\n"},
    {"a predecessor one may not read is watched by exists", queue,
     "listed 4 own: watch(4) own\n"
     "watched no-auth: watch(4, exists)\n"
     "watched: -\n"
     "own: -\n"
     "gone: granted\n"},
    {"an exists-watch is taken back where another is ahead", queue,
     "listed 3 4 own: watch(4) own\n"
     "watched no-auth: watch(4, exists)\n"
     "watched: -\n"
     "own: -\n"
     "later 5000: list\n"
     "listed 3 own: unwatch watch(3)\n"},
    {"a watch by exists is not relied upon", queue,
     "listed 4 own: watch(4) own\n"
     "watched no-auth: watch(4, exists)\n"
     "watched: -\n"
     "own: -\n"
     "later 5000: list\n"
     "listed own: granted\n"},
    {"a predecessor that cannot be watched at all is looked at now and then", queue,
     "listed 4 own: watch(4) own\n"
     "watched no-auth: watch(4, exists)\n"
     "watched no-auth: -\n"
     "later 5000: list\n"
     "listed own: -\n"
     "own: granted\n"},
    /* A server may say anything: that the path has another version is no answer to a listing. */
    {"a listing with an answer that makes no sense ends in an error", begin,
     "acquire: create\n"
     "created own: -\n"
     "listed changed: failed(PDK_EREFUSED) delete\n"},
    {"a watch that is refused ends in an error", queue,
     "listed 4 own: watch(4) own\n"
     "watched refused PDK_EREFUSED: failed(PDK_EREFUSED) unwatch delete\n"},
    {"a node of another session is never granted", begin,
     "acquire: create\n"
     "created own by other: failed(PDK_EREFUSED) delete\n"
     "deleted: done\n"},
    /* --- try ------------------------------------------------------------------------------------------------------ */
    {"a try looks, and writes nothing when somebody is there", begin,
     "try: list\n"
     "listed config 3: failed(PDK_EBUSY) done\n"},
    {"a try on a free path takes it", begin,
     "try: list\n"
     "listed no-node: create\n"
     "created no-node: parents create\n"
     "made parents: -\n"
     "created own: -\n"
     "listed config own: granted own\n"},
    {"a try ends with its connection, and leaves nothing", begin,
     "try: list\n"
     "listed nothing: create\n"
     "down: failed(PDK_EDISCONNECTED)\n"
     "up: barrier+list\n"
     "barrier: -\n"
     "listed own: identify(own)\n"
     "identified: delete\n"
     "deleted: done\n"},
    {"a try that comes second all the same leaves again", begin,
     "try: list\n"
     "listed nothing: create\n"
     "created own: -\n"
     "listed 4 own: failed(PDK_EBUSY) delete\n"
     "deleted: done\n"},
    /* --- deadlines and giving up ---------------------------------------------------------------------------------- */
    {"a deadline ends the wait, and the node goes", begin,
     "acquire 100: create\n"
     "wakes: 100\n"
     "created own: -\n"
     "listed 4 own: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "later 99: -\n"
     "later 1: failed(PDK_ETIMEDOUT) unwatch delete\n"
     "deleted: done\n"
     "wakes: never\n"},
    {"a deadline is one for all predecessors", begin,
     "acquire 100: create\n"
     "created own: -\n"
     "listed 3 4 own: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "later 60: -\n"
     "gone: list\n"
     "listed 3 own: watch(3)\n"
     "watched: -\n"
     "later 40: failed(PDK_ETIMEDOUT) unwatch delete\n"},
    {"a deadline while the create is out waits for its reply behind the caller's back", begin,
     "acquire 100: create\n"
     "later 100: failed(PDK_ETIMEDOUT)\n"
     "created own: delete\n"
     "deleted: done\n"},
    {"a deadline before a refusal says one thing only", begin,
     "acquire 100: create\n"
     "later 100: failed(PDK_ETIMEDOUT)\n"
     "created no-auth: done\n"},
    {"a caller who gives up is cleaned up after", begin,
     "acquire: create\n"
     "release: -\n"
     "release: -\n"
     "created own: delete\n"
     "deleted no-node: done\n"},
    {"giving up before anything was written is over at once", begin,
     "try: list\n"
     "release: done\n"
     "listed nothing: -\n"
     "\n"
     "release: done\n"},
    {"stale replies change nothing", queue,
     "listed 3 4 own: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: list\n"
     "listed no-node of create: -\n"
     "watched no-node of watch: -\n"
     "listed nothing of another: -\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"parents that vanish every time end in an error", parents_that_vanish_every_time_end_in_an_error},
        {"a path whose numbers are near their end begins anew", a_path_near_its_end_begins_anew},
        {"a node without a token is never granted", a_node_without_a_token_is_never_granted},
        {"a deadline with no server needs none", a_deadline_with_no_server_needs_none},
        {0}};
    return pdk__story_main(argc, argv, "acquire", __FILE__, &t, stories, tests);
}
