/* Stories of grants that need more than the first place. */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;

/* --- a least token ----------------------------------------------------------------------------------------------- */

static void ask_for(int64_t min_token)
{
    trace_begin(&t, true);
    t.conditions.min_token = min_token;
    story(&t, "acquire: create\n"
              "created own: -\n");
}

static void ask_for_more(void) { ask_for(78); }

static void a_token_that_comes_up_to_it_is_granted(void)
{
    ask_for(77);
    story(&t, "listed own: granted own\n");
}

/* --- a grant confirmed by a write -------------------------------------------------------------------------------- */

static void ask_to_confirm(void)
{
    trace_begin(&t, true);
    t.conditions.confirmed = true;
    story(&t, "acquire: create\n"
              "created own: -\n");
}

static void wait_for_turn(void)
{
    ask_to_confirm();
    story(&t, "listed 4 own: watch(4) own\n"
              "watched: -\n"
              "own: -\n");
}

static void the_least_token_is_compared_with_the_write(void)
{
    ask_to_confirm();
    t.conditions.min_token = 80;
    story(&t, "listed own: confirm(version 0) own\n"
              "confirmed token 80: granted(80)\n");
}

/* --- a lock delay ------------------------------------------------------------------------------------------------ */

enum { DELAY_MS = 5000 };

static struct pdk__delay delay;

/* The delay that runs goes on. */
static void begin_again(void)
{
    trace_begin(&t, true);
    t.conditions.lock_delay_ms = DELAY_MS;
    t.conditions.delay = &delay;
}

static void begin_with_delay(void)
{
    delay = (struct pdk__delay){0};
    begin_again();
}

/* First, and about to read the record. */
static void come_first(void)
{
    begin_with_delay();
    story(&t, "acquire: create\n"
              "created own: -\n"
              "listed own: read own\n"
              "own: -\n");
}

static void hold_recorded(void)
{
    come_first();
    story(&t, "read nothing token 10 version 4: record(version 4)\n"
              "recorded: granted\n");
}

static void come_delayed(void)
{
    come_first();
    story(&t, "read 4 token 10 version 4: -\n");
}

static void a_try_is_busy_while_the_delay_runs_and_gets_it_then(void)
{
    begin_with_delay();
    story(&t, "try: list\n"
              "listed nothing: create\n"
              "created own: -\n"
              "listed own: read own\n"
              "read 4 token 10 version 4: failed(PDK_EBUSY) delete\n"
              "deleted: done\n");
    begin_again();
    story(&t, "pass 5000: -\n"
              "try: list\n"
              "listed nothing: create\n"
              "created own: -\n"
              "listed own: read own\n"
              "own: -\n"
              "read 4 token 10 version 4: record(version 4)\n"
              "recorded: granted\n");
}

/* The record was recognised as our own, and the lock lost only afterwards. Its delay begins with the next contender. */
static void our_own_record_begins_no_delay(void)
{
    come_first();
    story(&t, "read nothing token 10 version 4: record(version 4)\n"
              "recorded unknown: -\n"
              "later 1000: list\n"
              "listed own: read\n"
              "read own token 11 version 5: granted\n");
    begin_again();
    story(&t, "pass 10000: -\n"
              "acquire: create\n"
              "created own6: -\n"
              "listed own6: read own\n"
              "read own token 11 version 5: -\n");
}

static void the_delay_comes_before_the_confirmation(void)
{
    come_first();
    t.conditions.confirmed = true;
    t.conditions.min_token = 100;
    story(&t, "read nothing token 10 version 4: record(version 4)\n"
              "recorded: confirm(version 0)\n"
              "confirmed token 99: failed(PDK_ESTALE) clear(version 5) delete\n");
}

static const struct story stories[] = {
    /* --- a least token -------------------------------------------------------------------------------------------- */
    {"a token below the least is refused, and leaves no node", ask_for_more,
     "listed own: failed(PDK_ESTALE) delete\n"
     "deleted: done\n"},
    {"a waiter hears of a token below the least with its turn", ask_for_more,
     "listed 4 own: watch(4) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: failed(PDK_ESTALE) delete\n"
     "deleted: done\n"},
    /* --- a grant confirmed by a write ----------------------------------------------------------------------------- */
    {"a write comes before the grant, and is its token", ask_to_confirm,
     "listed own: confirm(version 0) own\n"
     "confirmed token 80: granted(80)\n"
     "own: -\n"},
    {"a waiter writes when its turn comes, and looks at its node once more", wait_for_turn,
     "gone: confirm(version 0)\n"
     "own changed: own\n" /* by the write */
     "confirmed token 90: granted(90)\n"
     "version 1: -\n"
     "own: -\n"
     "release: delete\n"},
    {"a write of unknown outcome is made again when the node was read", wait_for_turn,
     "gone: confirm(version 0)\n"
     "confirmed unknown: -\n"
     "later 1000: list\n"
     "listed own: own\n"
     "version 1: -\n" /* the write had been committed */
     "own: confirm(version 1)\n"
     "confirmed token 91: granted(91)\n"},
    {"the word of who asks for the lock is not lost by the write", wait_for_turn,
     "gone: confirm(version 0)\n"
     "confirmed changed: -\n"
     "version 1: -\n"
     "own changed: own\n"
     "own asks: -\n"
     "later 1000: list\n"
     "listed own: confirm(revoked, version 1)\n"
     "confirmed token 91: granted(91) revoked\n"},
    {"a connection lost before the reply lists and writes again", wait_for_turn,
     "gone: confirm(version 0)\n"
     "down: -\n"
     "up: list\n"
     "listed own: own\n"
     "own: confirm(version 0)\n"
     "proven: -\n"
     "confirmed token 92: granted(92)\n"},
    {"a node that is gone when it is written is made anew", wait_for_turn,
     "gone: confirm(version 0)\n"
     "confirmed no-node: create\n"
     "attempt: 2b\n"},
    {"a node of another session, when it is written, is not ours", wait_for_turn,
     "gone: confirm(version 0)\n"
     "confirmed by anew token 92: create\n"},
    {"a number of the write that is no larger than the node's is nonsense", wait_for_turn,
     "gone: confirm(version 0)\n"
     "confirmed token 77: failed(PDK_EREFUSED) delete\n"},
    {"a node that may not be written fails", wait_for_turn,
     "gone: confirm(version 0)\n"
     "confirmed no-auth: failed(PDK_EACCES) delete\n"},
    {"a caller who gives up is not granted by the reply", wait_for_turn,
     "gone: confirm(version 0)\n"
     "release: delete\n"
     "confirmed of confirm: -\n"
     "deleted: done\n"},
    {"in doubt the write is made once", wait_for_turn,
     "doubted: -\n"
     "gone: confirm(version 0)\n"
     "confirmed token 93: -\n"
     "proven: granted(93)\n"},
    {"a holder who was away is not confirmed again", ask_to_confirm,
     "listed own: confirm(version 0) own\n"
     "confirmed token 80: granted(80)\n"
     "own: -\n"
     "down: suspect\n"
     "up: own\n"
     "own: held\n"
     "proven: -\n"},
    /* --- a lock delay --------------------------------------------------------------------------------------------- */
    {"a record comes before the grant, and goes before the node", begin_with_delay,
     "acquire: create\n"
     "created own: -\n"
     "listed own: read own\n"
     "own: -\n"
     "read nothing token 10 version 4: record(version 4)\n"
     "recorded: granted\n"
     "release: clear(version 5) delete\n"
     "deleted: done\n"},
    {"a record of somebody gone delays the grant", come_first,
     "read 4 token 10 version 4: -\n"
     "wakes: 5000\n"
     "proof needed: no\n"
     "later 4999: -\n"
     "later 1: read\n"
     "read 4 token 10 version 4: record(version 4)\n"
     "recorded: granted\n"},
    {"a disconnection does not begin the delay anew", come_delayed,
     "later 4999: -\n"
     "down: -\n"
     "up: list\n"
     "listed own: own\n"
     "own: read\n"
     "read 4 token 10 version 4: -\n"
     "later 1: read\n"
     "read 4 token 10 version 4: record(version 4)\n"},
    {"another record begins another delay", come_delayed,
     "later 5000: read\n"
     "read 3 token 12 version 5: -\n"
     "later 4999: -\n"
     "later 1: read\n"},
    {"the own node is looked at when the delay is over", come_delayed,
     "own changed: own\n"
     "own unknown: -\n"
     "later 1000: own\n"
     "own unknown: -\n"
     "later 5000: own\n"
     "own: read\n"},
    {"who was deleted while delayed queues anew", come_delayed, "own gone: create\n"},
    /* The record was of a holder behind the own node, which was deleted: that holder is not gone. */
    {"a record that was read after the own node was deleted begins no delay", come_first,
     "read 6 token 10 version 4: -\n"
     "own gone: create\n"
     "created again: -\n"
     "listed 6 again: watch(6) own\n"
     "later 5000: -\n"
     "gone: -\n"
     "listed again: -\n"
     "own: read\n"
     "read 6 token 10 version 4: -\n"
     "later 4999: -\n"
     "later 1: read\n"},
    {"an end of the session begins the delay anew", come_delayed,
     "expired: -\n"
     "up anew: create\n"
     "created next: -\n"
     "listed next: read own\n"
     "later 5000: -\n"
     "read 4 token 10 version 4: -\n"},
    {"a try that meets a record is busy, and leaves no node", begin_with_delay,
     "try: list\n"
     "listed nothing: create\n"
     "created own: -\n"
     "listed own: read own\n"
     "read 4 token 10 version 4: failed(PDK_EBUSY) delete\n"
     "deleted: done\n"},
    {"a deadline ends the delay", begin_with_delay,
     "acquire 1000: create\n"
     "created own: -\n"
     "listed own: read own\n"
     "read 4 token 10 version 4: -\n"
     "wakes: 1000\n"
     "later 1000: failed(PDK_ETIMEDOUT) delete\n"},
    {"who gives up while delayed leaves the record of the one before", come_delayed, "release: delete\n"},
    /* Only the reply tells which version is ours to remove. */
    {"a waiter that gives up awaits the reply to its record, and clears it", come_first,
     "read nothing token 10 version 4: record(version 4)\n"
     "release: -\n"
     "recorded: clear(version 5) delete\n"
     "deleted: done\n"},
    {"a record that may be another contender's is left", come_first,
     "read nothing token 10 version 4: record(version 4)\n"
     "release: -\n"
     "recorded changed: -\n"
     "later 1000: delete\n"
     "\n"
     "read nothing token 10 version 4: record(version 4)\n"
     "release: -\n"
     "recorded unknown: -\n"
     "later 1000: delete\n"},
    {"a record whose reply is lost is found", come_first,
     "read nothing token 10 version 4: record(version 4)\n"
     "recorded unknown: -\n"
     "later 1000: list\n"
     "listed own: read\n"
     "read own token 11 version 7: granted\n"
     "release: clear(version 7) delete\n"},
    /* Its watch could not be set. */
    {"the own node is seen behind the record before it grants", begin_with_delay,
     "acquire: create\n"
     "created own: -\n"
     "listed own: read own\n"
     "own unknown: -\n"
     "read nothing token 10 version 4: record(version 4)\n"
     "recorded: own\n"
     "own: granted\n"},
    {"a record that somebody else changed is read again", come_first,
     "read nothing token 10 version 4: record(version 4)\n"
     "recorded changed: -\n"
     "later 1000: list\n"
     "listed own: read\n"
     "read nothing token 12 version 6: record(version 6)\n"},
    {"a path that may not be read or written fails", come_first,
     "read no-auth: failed(PDK_EACCES) delete\n"
     "\n"
     "read nothing token 10 version 4: record(version 4)\n"
     "recorded no-auth: failed(PDK_EACCES) delete\n"},
    {"a path that is gone when its record is read is made anew", come_first, "read no-node: create\n"},
    {"who lost leaves the record", hold_recorded,
     "own gone: lost done\n"
     "\n"
     "presumed: lost delete\n"
     "\n"
     "left PDK_ECLOSED: lost delete\n"},
    {"a release of unknown outcome is repeated whole", hold_recorded,
     "release: clear(version 5) delete\n"
     "deleted unknown: -\n"
     "later 1000: clear(version 5) delete\n"
     "deleted no-node: done\n"},
    {"a record that is not cleared is asked about until the delete is answered", hold_recorded,
     "release: clear(version 5) delete\n"
     "cleared unknown: clear(version 5)\n"
     "cleared unknown: clear(version 5)\n"
     "cleared unknown of clear before: -\n"
     "cleared changed: -\n"
     "deleted: done\n"
     "cleared unknown: -\n"},
    {"a holder who was away still clears the record", hold_recorded,
     "down: suspect\n"
     "release: -\n"
     "up: clear(version 5) delete\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a token that comes up to the least is granted", a_token_that_comes_up_to_it_is_granted},
        {"the least token is compared with the write's", the_least_token_is_compared_with_the_write},
        {"tries are busy while the delay runs, and get it then", a_try_is_busy_while_the_delay_runs_and_gets_it_then},
        {"our own record, found again, begins no delay", our_own_record_begins_no_delay},
        {"the delay comes before the confirmation, and failing clears the record",
         the_delay_comes_before_the_confirmation},
        {0}};
    return pdk__story_main(argc, argv, "conditions", __FILE__, &t, stories, tests);
}
