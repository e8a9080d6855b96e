/* Stories of a member of a double barrier: it enters, is inside, leaves; and all that can come between. */
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <string.h>

enum { ROUND = 100 };

static struct trace t;

static void begin(void) { member_begin(&t, true); }

static void enter(void)
{
    begin();
    story(&t, "enter: create(own)\n");
}

/* Its node is there, and it is about to count the members. */
static void count(void)
{
    enter();
    story(&t, "created: list\n");
}

/* Inside, with a member that the others' listings show. */
static void inside(void)
{
    count();
    story(&t, "listed own ready: identify(ready)\n"
              "identified token 100: granted\n");
    CHECK_EQ(t.member.phase, PDK__MEMBER_INSIDE);
    CHECK_EQ(pdk__double_barrier_wake_ms(&t.member), PDK__NEVER);
}

/* Outside of it, waiting for "ready". */
static void waiting(void)
{
    count();
    story(&t, "listed own: watch(ready, exists)\n"
              "watched no-node: -\n");
    CHECK_EQ(t.member.phase, PDK__MEMBER_WAITING);
}

/* --- entering ---------------------------------------------------------------------------------------------------- */

/* Its nodes would be counted; and where it comes later, no member waits for it to leave. */
static void a_lock_is_no_barrier(void)
{
    count();
    story(&t, "listed own lock: failed(PDK_EINVAL) delete(own)\n"
              "deleted: done\n");
    count();
    story(&t, "listed own leases ready: failed(PDK_EINVAL) delete(own)\n");
    inside();
    story(&t, "leave: list\n"
              "listed own ready _c_00000000-0000-0000-0000-000000000000-lock-0000000000: delete(own)\n"
              "deleted: list\n"
              "listed ready _c_00000000-0000-0000-0000-000000000000-lock-0000000000: identify(ready)\n"
              "identified token 100: delete(ready)\n");
}

static void enough_members_and_one_before_ready(void)
{
    enter();
    story(&t, "created token 200: list\n"
              "listed low high own: identify(low)\n"
              "identified token 201: list(kept)\n" /* it is one too many, not we */
              "listed low high own: create(ready)\n"
              "created: granted\n");
    waiting(); /* it is one of the first, whoever comes */
    story(&t, "gone: list\n"
              "listed low lower high own ready: identify(ready)\n"
              "identified token 100: granted\n");
}

/* At 200, after the round's "ready" of 150. */
static void come_late(void)
{
    enter();
    story(&t, "created token 200: list\n"
              "listed own low ready: identify(ready)\n"
              "identified token 150: list\n");
}

static void the_round_before_is_waited_out(void)
{
    come_late();
    story(&t, "listed own lower low ready: watch(lower)\n"
              "watched token 201: unwatch list\n"
              "listed own lower low ready: watch(low)\n"
              "watched token 149: -\n");
    CHECK_EQ(t.member.phase, PDK__MEMBER_WAITING);
    story(&t, "gone: list\n"
              "listed own lower ready: watch(lower)\n"
              "watched token 201: unwatch list\n"
              "listed own lower ready: identify(ready)\n"
              "identified token 150: delete(ready)\n"
              "deleted: list\n"
              "listed own lower: create(ready)\n"
              "created token 300: granted\n");
    CHECK_EQ(t.member.phase, PDK__MEMBER_INSIDE);
    CHECK_EQ(t.member.round, 300);
}

static void the_path_is_made(void)
{
    enter();
    story(&t, "created no-node: parents\n"
              "made parents: create(own)\n"
              "created: list\n"
              "listed own ready: identify(ready)\n"
              "identified token 100: granted\n");
    enter();
    story(&t, "created no-node: parents\n"
              "made parents no-auth: failed(PDK_EACCES) done\n");
    enter();
    for (int i = 0; t.member.phase != PDK__MEMBER_OVER; i++) {
        CHECK(i < 20);
        feed(&t, "created no-node");
        if (t.member.phase != PDK__MEMBER_OVER)
            story(&t, "made parents: create(own)\n");
    }
    CHECK(strstr(t.text, ": failed(PDK_ENOENT) done\n") != NULL);
}

static void a_member_that_is_late_before_its_create_is_answered(void)
{
    enter();
    story(&t, "later 999000: failed(PDK_ETIMEDOUT) delete(own)\n"
              "created of create: -\n"
              "deleted unknown: -\n"
              "down: -\n"
              "up: delete(own)\n"
              "deleted no-node: stray done\n");
    member_begin(&t, false);
    story(&t, "enter: -\n"
              "later 999000: failed(PDK_ETIMEDOUT) done\n");
}

static void a_look_waits_for_nobody(void)
{
    begin();
    story(&t, "enter once: create(own)\n"
              "created: list\n"
              "listed own: failed(PDK_ETIMEDOUT) delete(own)\n"
              "deleted: done\n");
    member_begin(&t, false);
    story(&t, "enter once: failed(PDK_ETIMEDOUT) done\n");
}

/* The servers may still have it, with its node. */
static void a_session_that_was_given_up_leaves_no_second_node(void)
{
    waiting();
    story(&t, "down: -\n"
              "given up: -\n"
              "up anew: delete(own)\n"
              "deleted unknown: -\n"
              "due: delete(own)\n"
              "down: -\n"
              "up anew: delete(own)\n"
              "deleted no-auth: create(next)\n"
              "created: list\n");
    waiting();
    story(&t, "down: -\n"
              "up anew: delete(own)\n"
              "deleted: create(next)\n");
    waiting();
    story(&t, "later 999000: failed(PDK_ETIMEDOUT) delete(own)\n"
              "down: -\n"
              "given up: -\n"
              "up anew: delete(own)\n"
              "deleted: done\n");
    inside();
    story(&t, "down: -\n"
              "given up: lost\n"
              "up anew: delete(own)\n"
              "deleted: -\n"
              "leave: failed(PDK_ELOST) list\n");
}

/* --- leaving ----------------------------------------------------------------------------------------------------- */

/* The last to leave, whose node is deleted; the answer about "ready" is due. */
static void closing(void)
{
    inside();
    story(&t, "leave: list\n"
              "listed own ready: delete(own)\n"
              "deleted: list\n"
              "listed ready: identify(ready)\n");
    CHECK_EQ(t.member.phase, PDK__MEMBER_CHECKING);
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

static void the_client_ends(void)
{
    waiting();
    story(&t, "over PDK_ECLOSED: failed(PDK_ECLOSED) done\n");
    inside();
    story(&t, "over PDK_ECLOSED: lost done\n");
    waiting();
    story(&t, "left PDK_ECLOSED: failed(PDK_ECLOSED) delete(own)\n"
              "left PDK_ECLOSED: -\n"
              "deleted: unwatch done\n");
    inside();
    story(&t, "left PDK_ECLOSED: lost delete(own)\n"
              "down: -\n"
              "expired: done\n");
    inside();
    story(&t, "expired: lost\n"
              "left PDK_ECLOSED: done\n");
}

static const struct story stories[] = {
    /* --- entering ------------------------------------------------------------------------------------------------- */
    {"the last member opens", count,
     "listed high own: create(ready)\n"
     "created: granted\n"
     "phase: inside\n"
     "\n"
     "listed high own: create(ready)\n"
     "exists: identify(ready)\n"
     "identified token 100: granted\n"},
    {"a ready whose event was swallowed is found", enter,
     "look again: -\n"
     "created: list\n"
     "listed own: watch(ready, exists)\n"
     "watched no-node: -\n"
     "look again: unwatch list\n"
     "listed own high ready: identify(ready)\n"
     "identified token 100: granted\n"
     "phase: inside\n"},
    {"a node that was deleted during the wait is made again", waiting,
     "look again: unwatch list\n"
     "listed high: -\n"
     "due: create(again)\n"},
    {"the others wait for ready", count,
     "listed own: watch(ready, exists)\n"
     "watched no-node: -\n"
     "gone: list\n"
     "listed ready high own: identify(ready)\n"
     "identified token 100: granted\n"},
    /* They are asked in the order of their names: LOW, HIGH. */
    {"one too many is refused", enter,
     "created token 200: list\n"
     "listed ready low high own: identify(low)\n"
     "identified token 199: list(kept)\n"
     "listed ready low high own: identify(high)\n"
     "identified token 198: failed(PDK_EBUSY) delete(own)\n"
     "deleted: done\n"},
    {"a member that has gone is not counted", enter,
     "created token 200: list\n"
     "listed ready low high own: identify(low)\n"
     "identified no-node: list\n"
     "listed ready high own: identify(ready)\n"
     "identified token 201: granted\n"},
    /* Its age is not known, or not yet. */
    {"one too many that cannot be told from the others enters, or is told later", enter,
     "created token 200: list\n"
     "listed ready low high own: identify(low)\n"
     "identified no-auth: list(kept)\n"
     "listed ready low high own: identify(ready)\n"
     "identified token 201: granted\n"
     "phase: inside\n"
     "\n"
     "down: -\n"
     "up: create(own)\n"
     "exists: identify(own)\n"
     "identified by us token 200: list\n"
     "listed ready low high own: identify(low)\n"
     "identified token 199: list(kept)\n"
     "listed ready low high own: identify(high)\n"
     "identified unknown: -\n"
     "due: list\n" /* from the beginning: the first of them may have gone */
     "listed ready low high own: identify(low)\n"
     "identified token 199: list(kept)\n"
     "listed ready low high own: identify(high)\n"
     "identified token 198: failed(PDK_EBUSY) delete(own)\n"
     "\n"
     "created token 200: list\n"
     "listed ready low high own: identify(low)\n"
     "identified refused PDK_EAUTH: failed(PDK_EAUTH) delete(own)\n"},
    /* In a new session it is the last again. */
    {"a member that comes again is judged again", waiting,
     "expired: -\n"
     "up anew: create(next)\n"
     "created token 300: list\n"
     "listed low high next: identify(low)\n"},
    {"a watch event alone lets no member in", waiting,
     "gone: list\n"
     "gone: -\n"
     "listed own: watch(ready, exists)\n"
     "watched no-node: -\n"
     "phase: waiting\n"},
    {"ready that came after the listing is seen", count,
     "listed own: watch(ready, exists)\n"
     "watched token 1: unwatch list\n"
     "listed ready high own: identify(ready)\n"
     "identified token 100: granted\n"},
    {"another member closes the round before", come_late,
     "listed own ready: identify(ready)\n"
     "identified token 210: list\n"
     "listed own low ready: identify(ready)\n"
     "identified token 210: granted\n"
     "\n"
     "listed own low: create(ready)\n"
     "exists: identify(ready)\n"
     "identified token 220: granted\n"
     "\n"
     "listed low ready: -\n"
     "phase: resting\n"},
    {"a look does not wait the round before out", begin,
     "enter once: create(own)\n"
     "created token 200: list\n"
     "listed own low ready: identify(ready)\n"
     "identified token 150: failed(PDK_ETIMEDOUT) delete(own)\n"
     "deleted: done\n"},
    {"the wait for the round before outlasts a connection", come_late,
     "listed own low ready: watch(low)\n"
     "watched no-auth: watch(exists)\n"
     "watched token 149: -\n" /* and the watch may never fire */
     "due: unwatch list\n"
     "down: -\n"
     "up: list\n"
     "listed own low ready: watch(low)\n"
     "watched token 149: -\n"
     "later 998000: failed(PDK_ETIMEDOUT) delete(own)\n"
     "deleted: unwatch done\n"},
    /* It was counted, or may have been. */
    {"a member with a new session is of the round in which it came", enter,
     "created token 50: list\n"
     "listed own: watch(ready, exists)\n"
     "watched no-node: -\n"
     "expired: -\n"
     "up anew: create(next)\n"
     "created token 300: list\n"
     "listed next ready: identify(ready)\n"
     "identified token 100: granted\n"},
    {"the age of ready is asked again", enter,
     "created token 50: list\n"
     "listed own ready: identify(ready)\n"
     "identified unknown: -\n"
     "due: list\n"
     "listed own ready: identify(ready)\n"
     "identified no-node: list\n"
     "listed own ready: identify(ready)\n"
     "identified refused PDK_EAUTH: failed(PDK_EAUTH) delete(own)\n"},
    {"a create whose answer is lost is repeated under its name", enter,
     "down: -\n"
     "up: create(own)\n"
     "exists: identify(own)\n"
     "identified by us: list\n"
     "listed own ready: identify(ready)\n"
     "identified token 100: granted\n"
     "\n"
     "created unknown: -\n"
     "due: create(own)\n"
     "created: list\n"},
    /* The first create is stuck in the servers, and takes effect when the node has been deleted. */
    {"a create that may still take effect is a stray", enter,
     "created unknown: -\n"
     "due: create(own)\n"
     "created: list\n"
     "listed own ready: identify(ready)\n"
     "identified token 100: granted\n"
     "leave: list\n"
     "listed own ready: delete(own)\n"
     "deleted: stray list\n"
     "listed ready: identify(ready)\n"
     "identified token 100: delete(ready)\n"
     "deleted: done\n"},
    {"a forged node is not ours", enter,
     "created unknown: -\n"
     "due: create(own)\n"
     "exists: identify(own)\n"
     "identified by anew: stray\n"
     "due: create(again)\n"
     "attempt: 2b\n"
     "\n"
     "exists: identify(own)\n"
     "identified no-auth: failed(PDK_EACCES) delete(own)\n"
     "deleted no-node: done\n"},
    {"a node that another client deletes is made again", count,
     "listed high: -\n"
     "due: create(again)\n"
     "created: list\n"
     "listed no-node: -\n"
     "due: create(third)\n"
     "\n"
     "listed own high: create(ready)\n"
     "created no-node: list\n"
     "listed no-node: -\n"},
    {"a member that is late removes its node and its watch", waiting,
     "due: failed(PDK_ETIMEDOUT) delete(own)\n"
     "now: 11000\n"
     "wakes: never\n"
     "deleted: unwatch done\n"},
    {"a watch that is being set is removed once it is set", count,
     "listed own: watch(ready, exists)\n"
     "later 999000: failed(PDK_ETIMEDOUT)\n"
     "watched no-node: delete(own)\n"
     "deleted: unwatch done\n"},
    {"a member that waits is cancelled", waiting,
     "release: failed(PDK_ECANCELED) delete(own)\n"
     "release: -\n"
     "deleted refused PDK_EACCES: unwatch done(PDK_EACCES)\n"},
    {"a lost connection makes it count again", waiting,
     "down: -\n"
     "up: unwatch list\n"
     "listed own high ready: identify(ready)\n"
     "identified token 100: granted\n"},
    {"a lost session makes it enter again", waiting,
     "down: -\n"
     "expired: -\n"
     "up anew: create(next)\n"
     "created: list\n"},
    {"refusals end it", enter,
     "created no-auth: failed(PDK_EACCES) done\n"
     "\n"
     "created unknown: -\n"
     "due: create(own)\n"
     "created no-auth: failed(PDK_EACCES) delete(own)\n"
     "deleted no-node: stray done\n"
     "\n"
     "created: list\n"
     "listed no-auth: failed(PDK_EACCES) delete(own)\n"
     "deleted: done\n"
     "\n"
     "created: list\n"
     "listed own high: create(ready)\n"
     "created no-auth: failed(PDK_EACCES) delete(own)\n"
     "\n"
     "created: list\n"
     "listed own: watch(ready, exists)\n"
     "watched no-auth: failed(PDK_EACCES) delete(own)\n"
     "deleted: unwatch done\n"},
    /* --- leaving -------------------------------------------------------------------------------------------------- */
    {"the last member closes", inside,
     "leave: list\n"
     "listed own ready: delete(own)\n"
     "deleted: list\n"
     "listed ready: identify(ready)\n"
     "identified token 100: delete(ready)\n"
     "deleted: done\n"},
    {"the lowest waits for the highest", inside,
     "leave: list\n"
     "listed high own higher ready: watch(higher)\n"
     "watched token 100: -\n"
     "gone: list\n"
     "listed high own ready: watch(high)\n"
     "watched no-node: list\n"
     "listed own ready: delete(own)\n"},
    {"the others delete their node and wait for the lowest", inside,
     "leave: list\n"
     "listed high own low ready: delete(own)\n"
     "deleted: list\n"
     "listed high low ready: watch(low)\n"
     "watched token 1: -\n"
     "gone: list\n"
     "listed high ready: watch(high)\n"
     "watched token 2: -\n"
     "gone: list\n"
     "listed no-node: identify(ready)\n"
     "identified token 100: delete(ready)\n"
     "deleted no-node: done\n"},
    {"members of the next round are not waited for", inside,
     "leave: list\n"
     "listed own low ready: delete(own)\n"
     "deleted: list\n"
     "listed lower low high ready: watch(lower)\n"
     "watched token 101: unwatch list\n"
     "listed lower low high ready: watch(low)\n"
     "watched token 100: -\n"
     "gone: list\n"
     "listed lower high ready: watch(lower)\n"
     "watched token 101: unwatch list\n"
     "listed lower high ready: watch(high)\n"
     "watched token 102: unwatch list\n"
     "listed lower high ready: identify(ready)\n"
     "identified token 100: delete(ready)\n"
     "deleted: done\n"},
    {"only the ready of the round is deleted", closing,
     "identified unknown: -\n"
     "due: list\n"
     "listed ready: identify(ready)\n"
     "identified token 101: done\n"
     "\n"
     "identified no-node: done\n"
     "phase: over\n"
     "\n"
     "identified refused PDK_EAUTH: failed(PDK_EAUTH) done\n"},
    {"the lowest, too, waits for no member of the next round", inside,
     "leave: list\n"
     "listed own high higher ready: watch(higher)\n"
     "watched token 101: unwatch list\n"
     "listed own high higher ready: watch(high)\n"
     "watched token 100: -\n"},
    {"a node that may not be read is watched by exists", inside,
     "leave: list\n"
     "listed own high ready: watch(high)\n"
     "watched no-auth: watch(exists)\n"
     "watched no-node: unwatch list\n"
     "listed own high ready: watch(high)\n"
     "watched no-auth: watch(exists)\n"
     "watched token 1: -\n" /* and the watch may never fire */
     "due: unwatch list\n"
     "listed own high ready: watch(high)\n"
     "watched no-auth: watch(exists)\n"
     "watched no-auth: failed(PDK_EACCES) delete(own)\n"
     "deleted: unwatch done\n"},
    {"a leave that is late removes its node", inside,
     "leave: list\n"
     "listed own high ready: watch(high)\n"
     "watched token 1: -\n"
     "later 999000: failed(PDK_ETIMEDOUT) delete(own)\n"
     "deleted: unwatch done\n"
     "\n"
     "leave once: list\n"
     "listed own high ready: watch(high)\n"
     "watched token 1: failed(PDK_ETIMEDOUT) delete(own)\n"
     "deleted: unwatch done\n"},
    /* Its node is deleted already. */
    {"a leave that is late while apart removes its watch on the next connection", inside,
     "leave: list\n"
     "listed own low ready: delete(own)\n"
     "deleted: list\n"
     "listed low ready: watch(low)\n"
     "watched token 1: -\n"
     "down: -\n"
     "later 999000: failed(PDK_ETIMEDOUT)\n"
     "up: unwatch done\n"},
    {"a delete whose answer is lost", inside,
     "leave: list\n"
     "listed own ready: delete(own)\n"
     "down: -\n"
     "up: list\n"
     "listed ready: identify(ready)\n"
     "identified token 100: delete(ready)\n"
     "deleted unknown: -\n"
     "due: list\n"
     "listed ready: identify(ready)\n"
     "identified token 100: delete(ready)\n"
     "deleted no-node: done\n"
     "\n"
     "leave: list\n"
     "listed own ready: delete(own)\n"
     "deleted unknown: -\n"
     "due: list\n"
     "listed own ready: delete(own)\n"
     "deleted no-node: list\n"},
    {"refusals end a leave", inside,
     "leave: list\n"
     "listed own ready: delete(own)\n"
     "deleted no-auth: failed(PDK_EACCES) done\n"
     "\n"
     "leave: list\n"
     "listed unknown: -\n"
     "due: list\n"
     "listed own ready: delete(own)\n"
     "deleted: list\n"
     "listed ready: identify(ready)\n"
     "identified token 100: delete(ready)\n"
     "deleted refused PDK_EACCES: failed(PDK_EACCES) done\n"},
    /* --- losses --------------------------------------------------------------------------------------------------- */
    {"a session that ends inside is told", inside,
     "down: -\n"
     "expired: lost\n"
     "up anew: -\n"
     "leave: failed(PDK_ELOST) list\n"
     "listed ready: identify(ready)\n"
     "identified token 100: delete(ready)\n"
     "deleted: done\n"
     "\n"
     "down: -\n"
     "up anew: lost delete(own)\n"
     "deleted no-node: -\n"
     "leave: failed(PDK_ELOST) list\n"
     "listed ready high: done\n"},
    {"a connection that comes back is no loss", inside,
     "down: -\n"
     "leave: -\n"
     "up: list\n"
     "listed own ready: delete(own)\n"
     "\n"
     "down: -\n"
     "leave once: failed(PDK_ETIMEDOUT)\n"
     "up: delete(own)\n"
     "deleted: done\n"},
    {"a node that another client deleted is a loss", inside,
     "leave: list\n"
     "listed high ready: failed(PDK_ELOST) list\n"
     "listed high ready: done\n"
     "\n"
     "leave: list\n"
     "listed own ready: delete(own)\n"
     "deleted no-node: failed(PDK_ELOST) list\n"
     "listed no-auth: done(PDK_EACCES)\n"},
    {"a session that ends in a leave", inside,
     "leave: list\n"
     "listed own high ready: watch(high)\n"
     "watched token 1: -\n"
     "down: -\n"
     "expired: failed(PDK_ELOST)\n"
     "up anew: list\n"
     "listed high ready: done\n"},
    /* It has left, and only waits for the others. */
    {"a session that ends after the delete is no loss", inside,
     "leave: list\n"
     "listed own low ready: delete(own)\n"
     "deleted: list\n"
     "listed low ready: watch(low)\n"
     "watched token 1: -\n"
     "down: -\n"
     "expired: -\n"
     "up anew: list\n"
     "listed ready: identify(ready)\n"
     "identified token 100: delete(ready)\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a lock is no barrier", a_lock_is_no_barrier},
        {"one too many does not keep the first from entering", enough_members_and_one_before_ready},
        {"the round before is waited out", the_round_before_is_waited_out},
        {"the path is made", the_path_is_made},
        {"a member that is late before its create is answered", a_member_that_is_late_before_its_create_is_answered},
        {"a look waits for nobody", a_look_waits_for_nobody},
        {"a session that was given up leaves no second node", a_session_that_was_given_up_leaves_no_second_node},
        {"the client ends", the_client_ends},
        {0}};
    return pdk__story_main(argc, argv, "double barrier (stories)", __FILE__, &t, stories, tests);
}
