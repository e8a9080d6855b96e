/* Stories of a barrier: a wait for its removal, its creation, its deletion. */
#include "lib/core/barrier.h"
#include "test/lib/check.h"
#include <paddock/error.h>
#include <stdio.h>
#include <string.h>

static struct pdk__barrier barrier;
static uint64_t ops;
static int64_t now_ms;
static char trace[2048];

static const char *word(const struct pdk__action *a)
{
    static char text[64];
    const char *const words[] = {
        [PDK__ACT_CREATE] = "create", [PDK__ACT_PARENTS] = "parents", [PDK__ACT_DELETE] = "delete",
        [PDK__ACT_WATCH] = "watch",   [PDK__ACT_UNWATCH] = "unwatch", [PDK__ACT_IDENTIFY] = "look",
        [PDK__ACT_FAILED] = "failed", [PDK__ACT_DONE] = "done"};
    snprintf(text, sizeof text, " %s%s%s%s", words[a->kind], a->by_exists ? " by exists" : "", a->error != 0 ? " " : "",
             a->error != 0 ? pdk_strerrorname(a->error) : "");
    return text;
}

static void step(const char *name, struct pdk__event event)
{
    struct pdk__actions actions;
    event.now_ms = now_ms;
    if (event.op == UINT64_MAX)
        event.op = barrier.op;
    pdk__barrier_step(&barrier, &event, &actions);
    strcat(strcat(trace, name), ":");
    for (size_t i = 0; i < actions.n; i++)
        strcat(trace, word(&actions.list[i]));
    strcat(trace, actions.n == 0 ? " -\n" : "\n");
}

static void begin_as(enum pdk__barrier_task task, bool connected, bool once)
{
    now_ms = 1000;
    ops = 0;
    trace[0] = '\0';
    pdk__barrier_init(&barrier, &ops, task, 7, connected);
    step("call", (struct pdk__event){.kind = PDK__EV_ACQUIRE, .try_only = once, .deadline_ms = now_ms + 10000});
}

static void begin(enum pdk__barrier_task task) { begin_as(task, true, false); }

static void reply(const char *name, enum pdk__event_kind kind, enum pdk__outcome outcome, int error)
{
    step(name, (struct pdk__event){.kind = kind, .op = UINT64_MAX, .outcome = outcome, .error = error});
}

static void seen(enum pdk__outcome outcome) { reply("seen", PDK__EV_WATCHED, outcome, PDK_EREFUSED); }
static void created(enum pdk__outcome outcome, int error) { reply("created", PDK__EV_CREATED, outcome, error); }
static void deleted(enum pdk__outcome outcome) { reply("deleted", PDK__EV_DELETED, outcome, PDK_EREFUSED); }
static void made(enum pdk__outcome outcome) { reply("made", PDK__EV_MADE_PARENTS, outcome, PDK_EACCES); }

static void found(enum pdk__outcome outcome, bool has_children)
{
    step("found", (struct pdk__event){.kind = PDK__EV_IDENTIFIED,
                                      .op = UINT64_MAX,
                                      .outcome = outcome,
                                      .error = PDK_EREFUSED,
                                      .has_children = has_children});
}

static void fired(bool deleted)
{
    step(deleted ? "gone" : "changed", (struct pdk__event){.kind = PDK__EV_FIRED, .deleted = deleted});
}

static void session(const char *name, enum pdk__event_kind kind)
{
    step(name, (struct pdk__event){.kind = kind, .session = 1, .error = PDK_ECLOSED});
}

static void up(void) { session("up", PDK__EV_SESSION_UP); }
static void down(void) { session("down", PDK__EV_SESSION_DOWN); }

/* The time at which it wants to wake. */
static void due(void)
{
    CHECK(pdk__barrier_wake_ms(&barrier) > now_ms && pdk__barrier_wake_ms(&barrier) != PDK__NEVER);
    now_ms = pdk__barrier_wake_ms(&barrier);
    step("due", (struct pdk__event){.kind = PDK__EV_TIMER});
}

static void ended(const char *expected)
{
    CHECK_EQ(barrier.phase, PDK__BARRIER_OVER);
    CHECK_STR(trace, expected);
}

/* --- wait -------------------------------------------------------------------------------------------------------- */

static void a_barrier_that_is_not_set_lets_pass(void)
{
    begin(PDK__BARRIER_WAIT);
    seen(PDK__NO_NODE);
    ended("call: watch\n"
          "seen: done\n");
}

static void a_wait_ends_with_the_node(void)
{
    begin(PDK__BARRIER_WAIT);
    seen(PDK__OK);
    fired(false);
    seen(PDK__OK);
    fired(true);
    ended("call: watch\n"
          "seen: -\n"
          "changed: watch\n"
          "seen: -\n"
          "gone: done\n");
}

static void a_wait_whose_event_was_swallowed_ends_with_the_next_look(void)
{
    begin(PDK__BARRIER_WAIT);
    step("look again", (struct pdk__event){.kind = PDK__EV_LOOK_AGAIN});
    seen(PDK__OK);
    step("look again", (struct pdk__event){.kind = PDK__EV_LOOK_AGAIN});
    seen(PDK__NO_NODE);
    ended("call: watch\n"
          "look again: -\n"
          "seen: -\n"
          "look again: watch\n"
          "seen: done\n");
}

static void a_wait_that_is_late_removes_its_watch(void)
{
    begin(PDK__BARRIER_WAIT);
    seen(PDK__OK);
    due();
    CHECK_EQ(now_ms, 11000);
    ended("call: watch\n"
          "seen: -\n"
          "due: unwatch done PDK_ETIMEDOUT\n");
}

static void a_watch_that_is_being_set_is_removed_once_it_is_set(void)
{
    begin(PDK__BARRIER_WAIT);
    due();
    CHECK_EQ(pdk__barrier_wake_ms(&barrier), PDK__NEVER);
    step("timer", (struct pdk__event){.kind = PDK__EV_TIMER});
    step("cancel", (struct pdk__event){.kind = PDK__EV_RELEASE});
    seen(PDK__OK);
    ended("call: watch\n"
          "due: failed PDK_ETIMEDOUT\n"
          "timer: -\n"
          "cancel: -\n"
          "seen: unwatch done\n");
}

/* The handle sets its watches again on each connection. */
static void a_wait_that_is_late_while_apart_removes_its_watch_on_the_next_connection(void)
{
    begin(PDK__BARRIER_WAIT);
    seen(PDK__OK);
    down();
    due();
    session("down again", PDK__EV_SESSION_DOWN);
    up();
    ended("call: watch\n"
          "seen: -\n"
          "down: -\n"
          "due: failed PDK_ETIMEDOUT\n"
          "down again: -\n"
          "up: unwatch done\n");
}

static void a_session_that_ends_takes_its_watch_along(void)
{
    begin(PDK__BARRIER_WAIT);
    seen(PDK__OK);
    down();
    due();
    session("expired", PDK__EV_SESSION_EXPIRED);
    ended("call: watch\n"
          "seen: -\n"
          "down: -\n"
          "due: failed PDK_ETIMEDOUT\n"
          "expired: done\n");
}

static void a_wait_goes_on_in_the_next_session(void)
{
    begin_as(PDK__BARRIER_WAIT, false, false);
    up();
    seen(PDK__OK);
    down();
    session("expired", PDK__EV_SESSION_EXPIRED);
    fired(true);
    up();
    up();
    seen(PDK__NO_NODE);
    ended("call: -\n"
          "up: watch\n"
          "seen: -\n"
          "down: -\n"
          "expired: -\n"
          "gone: -\n"
          "up: watch\n"
          "up: -\n"
          "seen: done\n");
}

/* It is of an earlier call's watch, and the barrier set again since; or of our own, and has overtaken the answer. */
static void an_event_before_the_answer_makes_it_look_again(void)
{
    begin(PDK__BARRIER_WAIT);
    fired(true);
    seen(PDK__OK);
    fired(false);
    seen(PDK__OK);
    seen(PDK__OK);
    down();
    fired(true);
    up();
    seen(PDK__OK);
    fired(true);
    ended("call: watch\n"
          "gone: -\n"
          "seen: watch\n"
          "changed: -\n"
          "seen: watch\n"
          "seen: -\n"
          "down: -\n"
          "gone: -\n"
          "up: watch\n"
          "seen: -\n"
          "gone: done\n");
}

static void a_node_that_may_not_be_read_is_watched_by_exists(void)
{
    begin(PDK__BARRIER_WAIT);
    seen(PDK__NO_AUTH);
    seen(PDK__NO_NODE);
    ended("call: watch\n"
          "seen: watch by exists\n"
          "seen: unwatch done\n");
    begin(PDK__BARRIER_WAIT); /* its watch may never fire */
    seen(PDK__NO_AUTH);
    seen(PDK__OK);
    due();
    CHECK_EQ(now_ms, 2000);
    seen(PDK__NO_NODE);
    ended("call: watch\n"
          "seen: watch by exists\n"
          "seen: -\n"
          "due: watch by exists\n"
          "seen: unwatch done\n");
    begin(PDK__BARRIER_WAIT);
    seen(PDK__NO_AUTH);
    reply("seen", PDK__EV_WATCHED, PDK__NO_AUTH, PDK_EACCES);
    ended("call: watch\n"
          "seen: watch by exists\n"
          "seen: unwatch done PDK_EACCES\n");
}

static void an_answer_that_is_lost_is_asked_for_again(void)
{
    begin(PDK__BARRIER_WAIT);
    seen(PDK__UNKNOWN);
    due();
    CHECK(now_ms < 11000);
    step("stale", (struct pdk__event){.kind = PDK__EV_WATCHED, .op = 1, .outcome = PDK__NO_NODE});
    seen(PDK__NO_NODE);
    ended("call: watch\n"
          "seen: -\n"
          "due: watch\n"
          "stale: -\n"
          "seen: done\n");
}

static void a_look_sets_no_watch(void)
{
    begin_as(PDK__BARRIER_WAIT, true, true);
    reply("looked", PDK__EV_IDENTIFIED, PDK__OK, 0);
    ended("call: look\n"
          "looked: done PDK_ETIMEDOUT\n");
    begin_as(PDK__BARRIER_WAIT, true, true);
    reply("looked", PDK__EV_IDENTIFIED, PDK__NO_NODE, 0);
    ended("call: look\n"
          "looked: done\n");
    begin_as(PDK__BARRIER_WAIT, true, true);
    reply("looked", PDK__EV_IDENTIFIED, PDK__NO_AUTH, PDK_EACCES);
    ended("call: look\n"
          "looked: done PDK_EACCES\n");
    begin_as(PDK__BARRIER_WAIT, false, true);
    ended("call: done PDK_ETIMEDOUT\n");
}

static void a_wait_is_cancelled(void)
{
    begin(PDK__BARRIER_WAIT);
    seen(PDK__OK);
    step("cancel", (struct pdk__event){.kind = PDK__EV_RELEASE});
    ended("call: watch\n"
          "seen: -\n"
          "cancel: unwatch done PDK_ECANCELED\n");
}

static void a_wait_ends_with_the_client(void)
{
    begin(PDK__BARRIER_WAIT);
    session("lease", PDK__EV_LEASE_LOW);
    session("over", PDK__EV_SESSION_OVER);
    ended("call: watch\n"
          "lease: -\n"
          "over: unwatch done PDK_ECLOSED\n");
    begin(PDK__BARRIER_WAIT);
    due();
    session("left", PDK__EV_SESSION_LEFT);
    ended("call: watch\n"
          "due: failed PDK_ETIMEDOUT\n"
          "left: unwatch done PDK_ECLOSED\n");
}

/* --- set and remove ---------------------------------------------------------------------------------------------- */

static void a_barrier_is_set_once_or_again(void)
{
    begin(PDK__BARRIER_SET);
    created(PDK__OK, 0);
    ended("call: create\n"
          "created: done\n");
    begin(PDK__BARRIER_SET);
    created(PDK__REFUSED, PDK_EEXHAUSTED); /* it exists */
    found(PDK__OK, false);
    ended("call: create\n"
          "created: look\n"
          "found: done\n");
    begin(PDK__BARRIER_SET);
    created(PDK__REFUSED, PDK_EEXHAUSTED);
    found(PDK__NO_AUTH, false);
    ended("call: create\n"
          "created: look\n"
          "found: done\n");
    begin(PDK__BARRIER_SET);
    created(PDK__REFUSED, PDK_EEXHAUSTED);
    found(PDK__UNKNOWN, false);
    due();
    created(PDK__REFUSED, PDK_EEXHAUSTED);
    found(PDK__NO_NODE, false); /* another client has removed it since */
    ended("call: create\n"
          "created: look\n"
          "found: -\n"
          "due: create\n"
          "created: look\n"
          "found: done\n");
}

static void a_path_with_nodes_below_is_no_barrier(void)
{
    begin(PDK__BARRIER_SET);
    created(PDK__REFUSED, PDK_EEXHAUSTED);
    found(PDK__OK, true);
    ended("call: create\n"
          "created: look\n"
          "found: done PDK_EINVAL\n");
    begin(PDK__BARRIER_WAIT);
    step("seen", (struct pdk__event){.kind = PDK__EV_WATCHED, .op = UINT64_MAX, .has_children = true});
    ended("call: watch\n"
          "seen: unwatch done PDK_EINVAL\n");
    begin_as(PDK__BARRIER_WAIT, true, true);
    found(PDK__OK, true);
    ended("call: look\n"
          "found: done PDK_EINVAL\n");
}

static void missing_ancestors_are_made(void)
{
    begin(PDK__BARRIER_SET);
    created(PDK__NO_NODE, PDK_ENOENT);
    made(PDK__OK);
    created(PDK__OK, 0);
    ended("call: create\n"
          "created: parents\n"
          "made: create\n"
          "created: done\n");
    begin(PDK__BARRIER_SET);
    created(PDK__NO_NODE, PDK_ENOENT);
    made(PDK__NO_AUTH);
    ended("call: create\n"
          "created: parents\n"
          "made: done PDK_EACCES\n");
}

/* The servers reap them each time. */
static void ancestors_are_not_made_without_end(void)
{
    begin(PDK__BARRIER_SET);
    for (int i = 0; barrier.phase != PDK__BARRIER_OVER; i++) {
        CHECK(i < 20);
        created(PDK__NO_NODE, PDK_ENOENT);
        if (barrier.phase != PDK__BARRIER_OVER)
            made(PDK__OK);
    }
    CHECK(strstr(trace, "created: done PDK_ENOENT\n") != NULL);
}

static void a_write_whose_answer_is_lost_is_repeated(void)
{
    begin(PDK__BARRIER_SET);
    down();
    up();
    created(PDK__REFUSED, PDK_EEXHAUSTED);
    found(PDK__OK, false);
    ended("call: create\n"
          "down: -\n"
          "up: create\n"
          "created: look\n"
          "found: done\n");
    begin(PDK__BARRIER_REMOVE);
    deleted(PDK__UNKNOWN);
    due();
    deleted(PDK__NO_NODE);
    ended("call: delete\n"
          "deleted: -\n"
          "due: delete\n"
          "deleted: done\n");
}

static void a_barrier_is_removed_once_or_again(void)
{
    begin(PDK__BARRIER_REMOVE);
    deleted(PDK__OK);
    ended("call: delete\n"
          "deleted: done\n");
    begin(PDK__BARRIER_REMOVE);
    deleted(PDK__REFUSED);
    ended("call: delete\n"
          "deleted: done PDK_EREFUSED\n");
}

static void a_write_that_is_late_may_have_happened_once_it_was_sent(void)
{
    begin(PDK__BARRIER_SET);
    due();
    ended("call: create\n"
          "due: done PDK_EUNKNOWN\n");
    begin_as(PDK__BARRIER_SET, false, false);
    due();
    ended("call: -\n"
          "due: done PDK_ETIMEDOUT\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a barrier that is not set lets pass", a_barrier_that_is_not_set_lets_pass},
        {"a wait ends with the node", a_wait_ends_with_the_node},
        {"a wait whose event was swallowed ends with the next look",
         a_wait_whose_event_was_swallowed_ends_with_the_next_look},
        {"a wait that is late removes its watch", a_wait_that_is_late_removes_its_watch},
        {"a watch that is being set is removed once it is set", a_watch_that_is_being_set_is_removed_once_it_is_set},
        {"a wait that is late while apart removes its watch on the next connection",
         a_wait_that_is_late_while_apart_removes_its_watch_on_the_next_connection},
        {"a session that ends takes its watch along", a_session_that_ends_takes_its_watch_along},
        {"a wait goes on in the next session", a_wait_goes_on_in_the_next_session},
        {"an event before the answer makes it look again", an_event_before_the_answer_makes_it_look_again},
        {"a node that may not be read is watched by exists", a_node_that_may_not_be_read_is_watched_by_exists},
        {"an answer that is lost is asked for again", an_answer_that_is_lost_is_asked_for_again},
        {"a look sets no watch", a_look_sets_no_watch},
        {"a wait is cancelled", a_wait_is_cancelled},
        {"a wait ends with the client", a_wait_ends_with_the_client},
        {"a barrier is set once or again", a_barrier_is_set_once_or_again},
        {"a path with nodes below is no barrier", a_path_with_nodes_below_is_no_barrier},
        {"missing ancestors are made", missing_ancestors_are_made},
        {"ancestors are not made without end", ancestors_are_not_made_without_end},
        {"a write whose answer is lost is repeated", a_write_whose_answer_is_lost_is_repeated},
        {"a barrier is removed once or again", a_barrier_is_removed_once_or_again},
        {"a write that is late may have happened, once it was sent",
         a_write_that_is_late_may_have_happened_once_it_was_sent},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "barrier (stories)", .tests = tests});
}
