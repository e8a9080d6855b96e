/* Stories of a member of a double barrier: it enters, is inside, leaves; and all that can come between. */
#include "lib/core/double_barrier.h"
#include "test/lib/check.h"
#include <paddock/error.h>
#include <stdio.h>
#include <string.h>

enum { SESSION = 0x1000, ATTEMPT = 0x2a, COUNT = 2, ROUND = 100 };

#define OWN "0000000000001000-0000002a-member"
#define NEXT "0000000000001000-0000002b-member"
#define NEXT_SESSION "0000000000001001-0000002a-member"
#define LOW "00-low"
#define LOWER "00-a-low"
#define HIGH "_high"
#define HIGHER "_higher"

static struct pdk__double_barrier member;
static uint64_t ops;
static int64_t now_ms;
static bool by_hand; /* the test itself tells the age of "ready" */
static char trace[4096];
static char last_read[64]; /* the node that was read last */

static const char *word(const struct pdk__action *a)
{
    static char text[160];
    static const char *const words[] = {
        [PDK__ACT_CREATE] = "create", [PDK__ACT_PARENTS] = "parents", [PDK__ACT_DELETE] = "delete",
        [PDK__ACT_WATCH] = "watch",   [PDK__ACT_UNWATCH] = "unwatch", [PDK__ACT_IDENTIFY] = "identify",
        [PDK__ACT_LIST] = "list",     [PDK__ACT_STRAY] = "stray",     [PDK__ACT_GRANTED] = "ENTERED",
        [PDK__ACT_FAILED] = "FAILED", [PDK__ACT_LOST] = "LOST",       [PDK__ACT_DONE] = "done"};
    const char *name = a->kept ? "kept" : a->name == NULL ? "" : strcmp(a->name, OWN) == 0 ? "own" : a->name;
    CHECK((a->kind == PDK__ACT_CREATE && strcmp(name, "ready") != 0) == (a->kind != PDK__ACT_STRAY && a->attempt != 0));
    snprintf(text, sizeof text, " %s%s%s%s%s", words[a->kind], *name != '\0' ? " " : "", name,
             a->by_exists    ? "*"
             : a->error != 0 ? " "
                             : "",
             a->error != 0 ? pdk_strerrorname(a->error) : "");
    return text;
}

static void step(const char *name, struct pdk__event event)
{
    struct pdk__actions actions;
    event.now_ms = now_ms;
    if (event.op == UINT64_MAX)
        event.op = member.op;
    if (member.spare == 0)
        member.spare = member.attempt + 1;
    pdk__double_barrier_step(&member, &event, &actions);
    strcat(strcat(trace, name), ":");
    for (size_t i = 0; i < actions.n; i++) {
        const struct pdk__action *a = &actions.list[i];
        strcat(trace, word(a));
        if ((a->kind == PDK__ACT_WATCH || a->kind == PDK__ACT_IDENTIFY) && a->name != NULL)
            snprintf(last_read, sizeof last_read, "%s", a->name);
        CHECK(a->kind != PDK__ACT_DONE || i == actions.n - 1);
    }
    strcat(trace, actions.n == 0 ? " -\n" : "\n");
}

static void begin_as(bool connected, bool once)
{
    now_ms = 1000;
    by_hand = false;
    ops = 0;
    trace[0] = last_read[0] = '\0';
    pdk__double_barrier_init(&member, &ops, COUNT, ATTEMPT, 7, connected ? SESSION : 0, connected);
    step("enter", (struct pdk__event){.kind = PDK__EV_ACQUIRE, .try_only = once, .deadline_ms = now_ms + 10000});
}

static void begin(void) { begin_as(true, false); }

static void dated(const char *name, int64_t token)
{
    step(name, (struct pdk__event){.kind = PDK__EV_IDENTIFIED, .op = UINT64_MAX, .token = token});
}

/* "ready", if it is asked about, is that of the round. */
static void tell_age(void)
{
    if (by_hand)
        return;
    if (member.phase == PDK__MEMBER_DATING)
        dated("dated", member.came < ROUND ? ROUND : member.came + 1);
    else if (member.phase == PDK__MEMBER_CHECKING)
        dated("checked", member.round);
}

static void reply(const char *name, enum pdk__event_kind kind, enum pdk__outcome outcome, int error)
{
    step(name, (struct pdk__event){.kind = kind, .op = UINT64_MAX, .outcome = outcome, .error = error});
    tell_age();
}

static void created(enum pdk__outcome outcome) { reply("created", PDK__EV_CREATED, outcome, PDK_ENOENT); }
static void created_at(int64_t token)
{
    step("created", (struct pdk__event){.kind = PDK__EV_CREATED, .op = UINT64_MAX, .token = token});
}

static void exists(void) { reply("exists", PDK__EV_CREATED, PDK__REFUSED, PDK_EEXHAUSTED); }
static void deleted(enum pdk__outcome outcome) { reply("deleted", PDK__EV_DELETED, outcome, PDK_EACCES); }
static void made(enum pdk__outcome outcome) { reply("made", PDK__EV_MADE_PARENTS, outcome, PDK_EACCES); }

static void owned_by(int64_t owner)
{
    step("owner", (struct pdk__event){.kind = PDK__EV_IDENTIFIED, .op = UINT64_MAX, .owner = owner});
}

static void aged(int64_t token)
{
    step("owner", (struct pdk__event){.kind = PDK__EV_IDENTIFIED, .op = UINT64_MAX, .token = token});
}

static void children(const char *const *list)
{
    struct pdk__event event = {.kind = PDK__EV_LISTED, .op = UINT64_MAX, .children = list};
    while (list[event.n_children] != NULL)
        event.n_children++;
    event.name = last_read;
    step("listed", event);
    tell_age();
}

#define LISTED(...) children((const char *const[]){__VA_ARGS__, NULL})

static void no_path(void) { reply("listed", PDK__EV_LISTED, PDK__NO_NODE, PDK_ENOENT); }

/* The node that was read, by its age. */
static void seen(int64_t token)
{
    step("seen", (struct pdk__event){.kind = PDK__EV_WATCHED, .op = UINT64_MAX, .token = token});
}

static void unseen(enum pdk__outcome outcome) { reply("unseen", PDK__EV_WATCHED, outcome, PDK_EACCES); }

static void fired(void) { step("fired", (struct pdk__event){.kind = PDK__EV_FIRED, .deleted = true}); }

static void leave_as(bool once)
{
    step("leave", (struct pdk__event){.kind = PDK__EV_RELEASE, .try_only = once, .deadline_ms = now_ms + 10000});
}

static void leave(void) { leave_as(false); }

static void session(const char *name, enum pdk__event_kind kind, int64_t id)
{
    step(name, (struct pdk__event){.kind = kind, .session = id, .error = PDK_ECLOSED});
}

static void up(void) { session("up", PDK__EV_SESSION_UP, SESSION); }
static void up_anew(void) { session("up anew", PDK__EV_SESSION_UP, SESSION + 1); }
static void down(void) { session("down", PDK__EV_SESSION_DOWN, 0); }
static void expired(void) { step("expired", (struct pdk__event){.kind = PDK__EV_SESSION_EXPIRED}); }
static void given_up(void) { session("given up", PDK__EV_SESSION_EXPIRED, 0); }

/* The time at which it wants to wake. */
static void due(void)
{
    CHECK(pdk__double_barrier_wake_ms(&member) > now_ms && pdk__double_barrier_wake_ms(&member) != PDK__NEVER);
    now_ms = pdk__double_barrier_wake_ms(&member);
    step("due", (struct pdk__event){.kind = PDK__EV_TIMER});
}

static void late(void)
{
    now_ms = 1000 * 1000;
    step("late", (struct pdk__event){.kind = PDK__EV_TIMER});
}

/* The trace since the begin, or since here. */
static void from_here(void) { trace[0] = '\0'; }
static void told(const char *expected) { CHECK_STR(trace, expected); }

static void ended(const char *expected)
{
    CHECK_EQ(member.phase, PDK__MEMBER_OVER);
    told(expected);
}

/* Inside, with a member that the others' listings show. */
static void inside(void)
{
    begin();
    created(PDK__OK);
    LISTED(OWN, "ready");
    CHECK_EQ(member.phase, PDK__MEMBER_INSIDE);
    CHECK_EQ(pdk__double_barrier_wake_ms(&member), PDK__NEVER);
    from_here();
}

/* Outside of it, waiting for "ready". */
static void waiting(void)
{
    begin();
    created(PDK__OK);
    LISTED(OWN);
    unseen(PDK__NO_NODE);
    CHECK_EQ(member.phase, PDK__MEMBER_WAITING);
    from_here();
}

/* --- entering ---------------------------------------------------------------------------------------------------- */

static void the_last_member_opens(void)
{
    begin();
    created(PDK__OK);
    LISTED(HIGH, OWN);
    created(PDK__OK);
    CHECK_EQ(member.phase, PDK__MEMBER_INSIDE);
    told("enter: create own\n"
         "created: list\n"
         "listed: create ready\n"
         "created: ENTERED\n");
    begin();
    created(PDK__OK);
    LISTED(HIGH, OWN);
    exists();
    told("enter: create own\n"
         "created: list\n"
         "listed: create ready\n"
         "exists: identify ready\n"
         "dated: ENTERED\n");
}

/* Its nodes would be counted; and where it comes later, no member waits for it to leave. */
static void a_lock_is_no_barrier(void)
{
    begin();
    created(PDK__OK);
    LISTED(OWN, "0000000000001000-0000002b-lock-0000000000");
    deleted(PDK__OK);
    told("enter: create own\n"
         "created: list\n"
         "listed: FAILED PDK_EINVAL delete own\n"
         "deleted: done\n");
    begin();
    created(PDK__OK);
    LISTED(OWN, "leases", "ready");
    told("enter: create own\n"
         "created: list\n"
         "listed: FAILED PDK_EINVAL delete own\n");
    inside();
    from_here();
    leave();
    LISTED(OWN, "ready", "_c_00000000-0000-0000-0000-000000000000-lock-0000000000");
    deleted(PDK__OK);
    LISTED("ready", "_c_00000000-0000-0000-0000-000000000000-lock-0000000000");
    told("leave: list\n"
         "listed: delete own\n"
         "deleted: list\n"
         "listed: identify ready\n"
         "checked: delete ready\n");
}

static void a_ready_whose_event_was_swallowed_is_found(void)
{
    begin();
    step("look again", (struct pdk__event){.kind = PDK__EV_LOOK_AGAIN});
    created(PDK__OK);
    LISTED(OWN);
    unseen(PDK__NO_NODE);
    step("look again", (struct pdk__event){.kind = PDK__EV_LOOK_AGAIN});
    LISTED(OWN, HIGH, "ready");
    CHECK_EQ(member.phase, PDK__MEMBER_INSIDE);
    told("enter: create own\n"
         "look again: -\n"
         "created: list\n"
         "listed: watch ready*\n"
         "unseen: -\n"
         "look again: unwatch list\n"
         "listed: identify ready\n"
         "dated: ENTERED\n");
}

static void a_node_that_was_deleted_during_the_wait_is_made_again(void)
{
    waiting();
    step("look again", (struct pdk__event){.kind = PDK__EV_LOOK_AGAIN});
    LISTED(HIGH);
    due();
    told("look again: unwatch list\n"
         "listed: -\n"
         "due: create " NEXT "\n");
}

static void the_others_wait_for_ready(void)
{
    begin();
    created(PDK__OK);
    LISTED(OWN);
    unseen(PDK__NO_NODE);
    fired();
    LISTED("ready", HIGH, OWN);
    told("enter: create own\n"
         "created: list\n"
         "listed: watch ready*\n"
         "unseen: -\n"
         "fired: list\n"
         "listed: identify ready\n"
         "dated: ENTERED\n");
}

/* They are asked in the order of their names: LOW, HIGH. */
static void one_too_many_is_refused(void)
{
    begin();
    created_at(200);
    LISTED("ready", LOW, HIGH, OWN);
    aged(199);
    LISTED("ready", LOW, HIGH, OWN);
    aged(198);
    deleted(PDK__OK);
    ended("enter: create own\n"
          "created: list\n"
          "listed: identify 00-low\n"
          "owner: list kept\n"
          "listed: identify _high\n"
          "owner: FAILED PDK_EBUSY delete own\n"
          "deleted: done\n");
}

static void enough_members_and_one_before_ready(void)
{
    begin();
    created_at(200);
    LISTED(LOW, HIGH, OWN);
    aged(201); /* it is one too many, not we */
    LISTED(LOW, HIGH, OWN);
    created(PDK__OK);
    told("enter: create own\n"
         "created: list\n"
         "listed: identify 00-low\n"
         "owner: list kept\n"
         "listed: create ready\n"
         "created: ENTERED\n");
    waiting(); /* it is one of the first, whoever comes */
    fired();
    LISTED(LOW, LOWER, HIGH, OWN, "ready");
    told("fired: list\n"
         "listed: identify ready\n"
         "dated: ENTERED\n");
}

static void one_that_is_not_there_any_more_is_not_counted(void)
{
    begin();
    created_at(200);
    LISTED("ready", LOW, HIGH, OWN);
    reply("gone", PDK__EV_IDENTIFIED, PDK__NO_NODE, 0);
    LISTED("ready", HIGH, OWN);
    told("enter: create own\n"
         "created: list\n"
         "listed: identify 00-low\n"
         "gone: list\n"
         "listed: identify ready\n"
         "dated: ENTERED\n");
}

/* Its age is not known, or not yet. */
static void one_too_many_that_cannot_be_told(void)
{
    begin();
    created_at(200);
    LISTED("ready", LOW, HIGH, OWN);
    reply("hidden", PDK__EV_IDENTIFIED, PDK__NO_AUTH, PDK_EACCES);
    LISTED("ready", LOW, HIGH, OWN);
    CHECK_EQ(member.phase, PDK__MEMBER_INSIDE);
    begin();
    down();
    up();
    exists();
    step("owner", (struct pdk__event){.kind = PDK__EV_IDENTIFIED, .op = UINT64_MAX, .owner = SESSION, .token = 200});
    LISTED("ready", LOW, HIGH, OWN);
    aged(199);
    LISTED("ready", LOW, HIGH, OWN);
    from_here();
    reply("lost", PDK__EV_IDENTIFIED, PDK__UNKNOWN, 0);
    due(); /* from the beginning: the first of them may have gone */
    LISTED("ready", LOW, HIGH, OWN);
    aged(199);
    LISTED("ready", LOW, HIGH, OWN);
    aged(198);
    told("lost: -\n"
         "due: list\n"
         "listed: identify 00-low\n"
         "owner: list kept\n"
         "listed: identify _high\n"
         "owner: FAILED PDK_EBUSY delete own\n");
    begin();
    created_at(200);
    LISTED("ready", LOW, HIGH, OWN);
    from_here();
    reply("refused", PDK__EV_IDENTIFIED, PDK__REFUSED, PDK_EAUTH);
    told("refused: FAILED PDK_EAUTH delete own\n");
}

/* In a new session it is the last again. */
static void a_member_that_comes_again_is_judged_again(void)
{
    waiting();
    expired();
    up_anew();
    created_at(300);
    LISTED(LOW, HIGH, NEXT_SESSION);
    told("expired: -\n"
         "up anew: create " NEXT_SESSION "\n"
         "created: list\n"
         "listed: identify 00-low\n");
}

static void a_watch_event_alone_lets_no_member_in(void)
{
    waiting();
    fired();
    fired();
    LISTED(OWN);
    unseen(PDK__NO_NODE);
    CHECK_EQ(member.phase, PDK__MEMBER_WAITING);
    told("fired: list\n"
         "fired: -\n"
         "listed: watch ready*\n"
         "unseen: -\n");
}

static void ready_that_came_after_the_listing_is_seen(void)
{
    begin();
    created(PDK__OK);
    LISTED(OWN);
    seen(1);
    LISTED("ready", HIGH, OWN);
    told("enter: create own\n"
         "created: list\n"
         "listed: watch ready*\n"
         "seen: unwatch list\n"
         "listed: identify ready\n"
         "dated: ENTERED\n");
}

/* At 200, after the round's "ready" of 150. */
static void come_late(bool once)
{
    begin_as(true, once);
    by_hand = true;
    created_at(200);
    LISTED(OWN, LOW, "ready");
    dated("dated", 150);
}

static void the_round_before_is_waited_out(void)
{
    come_late(false);
    LISTED(OWN, LOWER, LOW, "ready");
    seen(201);
    LISTED(OWN, LOWER, LOW, "ready");
    seen(149);
    CHECK_EQ(member.phase, PDK__MEMBER_WAITING);
    fired();
    LISTED(OWN, LOWER, "ready");
    seen(201);
    LISTED(OWN, LOWER, "ready");
    dated("checked", 150);
    deleted(PDK__OK);
    LISTED(OWN, LOWER);
    created_at(300);
    CHECK_EQ(member.phase, PDK__MEMBER_INSIDE);
    CHECK_EQ(member.round, 300);
    told("enter: create own\n"
         "created: list\n"
         "listed: identify ready\n"
         "dated: list\n"
         "listed: watch 00-a-low\n"
         "seen: unwatch list\n"
         "listed: watch 00-low\n"
         "seen: -\n"
         "fired: list\n"
         "listed: watch 00-a-low\n"
         "seen: unwatch list\n"
         "listed: identify ready\n"
         "checked: delete ready\n"
         "deleted: list\n"
         "listed: create ready\n"
         "created: ENTERED\n");
}

static void another_member_closes_the_round_before(void)
{
    come_late(false);
    from_here();
    LISTED(OWN, "ready");
    dated("checked", 210);
    LISTED(OWN, LOW, "ready");
    dated("dated", 210);
    told("listed: identify ready\n"
         "checked: list\n"
         "listed: identify ready\n"
         "dated: ENTERED\n");
    come_late(false);
    from_here();
    LISTED(OWN, LOW);
    exists();
    dated("dated", 220);
    told("listed: create ready\n"
         "exists: identify ready\n"
         "dated: ENTERED\n");
    come_late(false);
    from_here();
    LISTED(LOW, "ready");
    CHECK_EQ(member.phase, PDK__MEMBER_BACKOFF);
    told("listed: -\n");
}

static void a_look_does_not_wait_the_round_before_out(void)
{
    come_late(true);
    deleted(PDK__OK);
    ended("enter: create own\n"
          "created: list\n"
          "listed: identify ready\n"
          "dated: FAILED PDK_ETIMEDOUT delete own\n"
          "deleted: done\n");
}

static void the_wait_for_the_round_before_outlasts_a_connection(void)
{
    come_late(false);
    LISTED(OWN, LOW, "ready");
    from_here();
    unseen(PDK__NO_AUTH);
    seen(149); /* and the watch may never fire */
    due();
    down();
    up();
    LISTED(OWN, LOW, "ready");
    seen(149);
    late();
    deleted(PDK__OK);
    ended("unseen: watch*\n"
          "seen: -\n"
          "due: unwatch list\n"
          "down: -\n"
          "up: list\n"
          "listed: watch 00-low\n"
          "seen: -\n"
          "late: FAILED PDK_ETIMEDOUT delete own\n"
          "deleted: unwatch done\n");
}

/* It was counted, or may have been. */
static void a_member_with_a_new_session_is_of_the_round_in_which_it_came(void)
{
    begin();
    by_hand = true;
    created_at(50);
    LISTED(OWN);
    unseen(PDK__NO_NODE);
    expired();
    up_anew();
    created_at(300);
    LISTED(NEXT_SESSION, "ready");
    from_here();
    dated("dated", ROUND);
    told("dated: ENTERED\n");
}

static void the_age_of_ready_is_asked_again(void)
{
    begin();
    by_hand = true;
    created_at(50);
    LISTED(OWN, "ready");
    from_here();
    reply("dated", PDK__EV_IDENTIFIED, PDK__UNKNOWN, 0);
    due();
    LISTED(OWN, "ready");
    reply("dated", PDK__EV_IDENTIFIED, PDK__NO_NODE, 0);
    LISTED(OWN, "ready");
    reply("dated", PDK__EV_IDENTIFIED, PDK__REFUSED, PDK_EAUTH);
    told("dated: -\n"
         "due: list\n"
         "listed: identify ready\n"
         "dated: list\n"
         "listed: identify ready\n"
         "dated: FAILED PDK_EAUTH delete own\n");
}

static void the_path_is_made(void)
{
    begin();
    created(PDK__NO_NODE);
    made(PDK__OK);
    created(PDK__OK);
    LISTED(OWN, "ready");
    told("enter: create own\n"
         "created: parents\n"
         "made: create own\n"
         "created: list\n"
         "listed: identify ready\n"
         "dated: ENTERED\n");
    begin();
    created(PDK__NO_NODE);
    made(PDK__NO_AUTH);
    ended("enter: create own\n"
          "created: parents\n"
          "made: FAILED PDK_EACCES done\n");
    begin();
    for (int i = 0; member.phase != PDK__MEMBER_OVER; i++) {
        CHECK(i < 20);
        created(PDK__NO_NODE);
        if (member.phase != PDK__MEMBER_OVER)
            made(PDK__OK);
    }
    CHECK(strstr(trace, "created: FAILED PDK_ENOENT done\n") != NULL);
}

static void a_create_whose_answer_is_lost_is_repeated_under_its_name(void)
{
    begin();
    down();
    up();
    exists();
    owned_by(SESSION);
    LISTED(OWN, "ready");
    told("enter: create own\n"
         "down: -\n"
         "up: create own\n"
         "exists: identify own\n"
         "owner: list\n"
         "listed: identify ready\n"
         "dated: ENTERED\n");
    begin();
    created(PDK__UNKNOWN);
    due();
    created(PDK__OK);
    told("enter: create own\n"
         "created: -\n"
         "due: create own\n"
         "created: list\n");
}

/* The first create is stuck in the servers, and takes effect when the node has been deleted. */
static void a_create_that_may_still_take_effect_is_a_stray(void)
{
    begin();
    created(PDK__UNKNOWN);
    due();
    created(PDK__OK);
    LISTED(OWN, "ready");
    from_here();
    leave();
    LISTED(OWN, "ready");
    deleted(PDK__OK);
    LISTED("ready");
    deleted(PDK__OK);
    ended("leave: list\n"
          "listed: delete own\n"
          "deleted: stray list\n"
          "listed: identify ready\n"
          "checked: delete ready\n"
          "deleted: done\n");
}

static void a_forged_node_is_not_ours(void)
{
    begin();
    created(PDK__UNKNOWN);
    due();
    exists();
    owned_by(SESSION + 1);
    due();
    CHECK_EQ(member.attempt, ATTEMPT + 1);
    told("enter: create own\n"
         "created: -\n"
         "due: create own\n"
         "exists: identify own\n"
         "owner: stray\n"
         "due: create " NEXT "\n");
    begin();
    exists();
    reply("owner", PDK__EV_IDENTIFIED, PDK__NO_AUTH, PDK_EACCES);
    deleted(PDK__NO_NODE);
    ended("enter: create own\n"
          "exists: identify own\n"
          "owner: FAILED PDK_EACCES delete own\n"
          "deleted: done\n");
}

static void a_node_that_another_client_deletes_is_made_again(void)
{
    begin();
    created(PDK__OK);
    LISTED(HIGH);
    due();
    created(PDK__OK);
    no_path();
    due();
    told("enter: create own\n"
         "created: list\n"
         "listed: -\n"
         "due: create " NEXT "\n"
         "created: list\n"
         "listed: -\n"
         "due: create 0000000000001000-0000002c-member\n");
    begin();
    created(PDK__OK);
    LISTED(OWN, HIGH);
    created(PDK__NO_NODE);
    no_path();
    told("enter: create own\n"
         "created: list\n"
         "listed: create ready\n"
         "created: list\n"
         "listed: -\n");
}

static void a_member_that_is_late_removes_its_node_and_its_watch(void)
{
    waiting();
    due();
    CHECK_EQ(now_ms, 11000);
    CHECK_EQ(pdk__double_barrier_wake_ms(&member), PDK__NEVER);
    deleted(PDK__OK);
    ended("due: FAILED PDK_ETIMEDOUT delete own\n"
          "deleted: unwatch done\n");
}

static void a_watch_that_is_being_set_is_removed_once_it_is_set(void)
{
    begin();
    created(PDK__OK);
    LISTED(OWN);
    from_here();
    late();
    unseen(PDK__NO_NODE);
    deleted(PDK__OK);
    ended("late: FAILED PDK_ETIMEDOUT\n"
          "unseen: delete own\n"
          "deleted: unwatch done\n");
}

static void a_member_that_is_late_before_its_create_is_answered(void)
{
    begin();
    late();
    step("stale", (struct pdk__event){.kind = PDK__EV_CREATED, .op = 1});
    deleted(PDK__UNKNOWN);
    down();
    up();
    deleted(PDK__NO_NODE);
    ended("enter: create own\n"
          "late: FAILED PDK_ETIMEDOUT delete own\n"
          "stale: -\n"
          "deleted: -\n"
          "down: -\n"
          "up: delete own\n"
          "deleted: stray done\n");
    begin_as(false, false);
    late();
    ended("enter: -\n"
          "late: FAILED PDK_ETIMEDOUT done\n");
}

static void a_look_waits_for_nobody(void)
{
    begin_as(true, true);
    created(PDK__OK);
    LISTED(OWN);
    deleted(PDK__OK);
    ended("enter: create own\n"
          "created: list\n"
          "listed: FAILED PDK_ETIMEDOUT delete own\n"
          "deleted: done\n");
    begin_as(false, true);
    ended("enter: FAILED PDK_ETIMEDOUT done\n");
}

static void a_member_that_waits_is_cancelled(void)
{
    waiting();
    step("cancel", (struct pdk__event){.kind = PDK__EV_RELEASE});
    step("cancel", (struct pdk__event){.kind = PDK__EV_RELEASE});
    deleted(PDK__REFUSED);
    ended("cancel: FAILED PDK_ECANCELED delete own\n"
          "cancel: -\n"
          "deleted: unwatch done PDK_EACCES\n");
}

static void a_lost_connection_makes_it_count_again(void)
{
    waiting();
    down();
    up();
    LISTED(OWN, HIGH, "ready");
    told("down: -\n"
         "up: unwatch list\n"
         "listed: identify ready\n"
         "dated: ENTERED\n");
}

static void a_lost_session_makes_it_enter_again(void)
{
    waiting();
    down();
    expired();
    up_anew();
    created(PDK__OK);
    told("down: -\n"
         "expired: -\n"
         "up anew: create " NEXT_SESSION "\n"
         "created: list\n");
}

/* The servers may still have it, with its node. */
static void a_session_that_was_given_up_leaves_no_second_node(void)
{
    waiting();
    down();
    given_up();
    up_anew();
    deleted(PDK__UNKNOWN);
    due();
    down();
    up_anew();
    deleted(PDK__NO_AUTH);
    created(PDK__OK);
    told("down: -\n"
         "given up: -\n"
         "up anew: delete own\n"
         "deleted: -\n"
         "due: delete own\n"
         "down: -\n"
         "up anew: delete own\n"
         "deleted: create " NEXT_SESSION "\n"
         "created: list\n");
    waiting();
    down();
    up_anew();
    deleted(PDK__OK);
    told("down: -\n"
         "up anew: delete own\n"
         "deleted: create " NEXT_SESSION "\n");
    waiting();
    late();
    down();
    given_up();
    up_anew();
    deleted(PDK__OK);
    ended("late: FAILED PDK_ETIMEDOUT delete own\n"
          "down: -\n"
          "given up: -\n"
          "up anew: delete own\n"
          "deleted: done\n");
    inside();
    down();
    given_up();
    up_anew();
    deleted(PDK__OK);
    leave();
    told("down: -\n"
         "given up: LOST\n"
         "up anew: delete own\n"
         "deleted: -\n"
         "leave: FAILED PDK_ELOST list\n");
}

static void refusals_end_it(void)
{
    begin();
    reply("created", PDK__EV_CREATED, PDK__NO_AUTH, PDK_EACCES);
    ended("enter: create own\n"
          "created: FAILED PDK_EACCES done\n");
    begin();
    created(PDK__UNKNOWN);
    due();
    reply("created", PDK__EV_CREATED, PDK__NO_AUTH, PDK_EACCES);
    deleted(PDK__NO_NODE);
    ended("enter: create own\n"
          "created: -\n"
          "due: create own\n"
          "created: FAILED PDK_EACCES delete own\n"
          "deleted: stray done\n");
    begin();
    created(PDK__OK);
    reply("listed", PDK__EV_LISTED, PDK__NO_AUTH, PDK_EACCES);
    deleted(PDK__OK);
    ended("enter: create own\n"
          "created: list\n"
          "listed: FAILED PDK_EACCES delete own\n"
          "deleted: done\n");
    begin();
    created(PDK__OK);
    LISTED(OWN, HIGH);
    reply("created", PDK__EV_CREATED, PDK__NO_AUTH, PDK_EACCES);
    begin();
    created(PDK__OK);
    LISTED(OWN);
    unseen(PDK__NO_AUTH);
    deleted(PDK__OK);
    ended("enter: create own\n"
          "created: list\n"
          "listed: watch ready*\n"
          "unseen: FAILED PDK_EACCES delete own\n"
          "deleted: unwatch done\n");
}

/* --- leaving ----------------------------------------------------------------------------------------------------- */

static void the_last_member_closes(void)
{
    inside();
    leave();
    LISTED(OWN, "ready");
    deleted(PDK__OK);
    LISTED("ready");
    deleted(PDK__OK);
    ended("leave: list\n"
          "listed: delete own\n"
          "deleted: list\n"
          "listed: identify ready\n"
          "checked: delete ready\n"
          "deleted: done\n");
}

static void the_lowest_waits_for_the_highest(void)
{
    inside();
    leave();
    LISTED(HIGH, OWN, HIGHER, "ready");
    seen(ROUND);
    fired();
    LISTED(HIGH, OWN, "ready");
    unseen(PDK__NO_NODE);
    LISTED(OWN, "ready");
    told("leave: list\n"
         "listed: watch " HIGHER "\n"
         "seen: -\n"
         "fired: list\n"
         "listed: watch " HIGH "\n"
         "unseen: list\n"
         "listed: delete own\n");
}

static void the_others_delete_their_node_and_wait_for_the_lowest(void)
{
    inside();
    leave();
    LISTED(HIGH, OWN, LOW, "ready");
    deleted(PDK__OK);
    LISTED(HIGH, LOW, "ready");
    seen(1);
    fired();
    LISTED(HIGH, "ready");
    seen(2);
    fired();
    no_path();
    deleted(PDK__NO_NODE);
    ended("leave: list\n"
          "listed: delete own\n"
          "deleted: list\n"
          "listed: watch " LOW "\n"
          "seen: -\n"
          "fired: list\n"
          "listed: watch " HIGH "\n"
          "seen: -\n"
          "fired: list\n"
          "listed: identify ready\n"
          "checked: delete ready\n"
          "deleted: done\n");
}

static void members_of_the_next_round_are_not_waited_for(void)
{
    inside();
    leave();
    LISTED(OWN, LOW, "ready");
    deleted(PDK__OK);
    LISTED(LOWER, LOW, HIGH, "ready");
    seen(ROUND + 1);
    LISTED(LOWER, LOW, HIGH, "ready");
    seen(ROUND);
    fired();
    LISTED(LOWER, HIGH, "ready");
    seen(ROUND + 1);
    LISTED(LOWER, HIGH, "ready");
    seen(ROUND + 2);
    LISTED(LOWER, HIGH, "ready");
    deleted(PDK__OK);
    ended("leave: list\n"
          "listed: delete own\n"
          "deleted: list\n"
          "listed: watch " LOWER "\n"
          "seen: unwatch list\n"
          "listed: watch " LOW "\n"
          "seen: -\n"
          "fired: list\n"
          "listed: watch " LOWER "\n"
          "seen: unwatch list\n"
          "listed: watch " HIGH "\n"
          "seen: unwatch list\n"
          "listed: identify ready\n"
          "checked: delete ready\n"
          "deleted: done\n");
}

/* The last to leave, whose node is deleted; the answer about "ready" is due. */
static void closing(void)
{
    inside();
    by_hand = true;
    leave();
    LISTED(OWN, "ready");
    deleted(PDK__OK);
    LISTED("ready");
    CHECK_EQ(member.phase, PDK__MEMBER_CHECKING);
}

static void only_the_ready_of_the_round_is_deleted(void)
{
    closing();
    reply("checked", PDK__EV_IDENTIFIED, PDK__UNKNOWN, 0);
    due();
    LISTED("ready");
    dated("checked", ROUND + 1);
    ended("leave: list\n"
          "listed: delete own\n"
          "deleted: list\n"
          "listed: identify ready\n"
          "checked: -\n"
          "due: list\n"
          "listed: identify ready\n"
          "checked: done\n");
    closing();
    reply("checked", PDK__EV_IDENTIFIED, PDK__NO_NODE, 0);
    CHECK_EQ(member.phase, PDK__MEMBER_OVER);
    closing();
    reply("checked", PDK__EV_IDENTIFIED, PDK__REFUSED, PDK_EAUTH);
    CHECK(strstr(trace, "checked: FAILED PDK_EAUTH done\n") != NULL);
}

static void the_lowest_too_waits_for_no_member_of_the_next_round(void)
{
    inside();
    leave();
    LISTED(OWN, HIGH, HIGHER, "ready");
    seen(ROUND + 1);
    LISTED(OWN, HIGH, HIGHER, "ready");
    seen(ROUND);
    told("leave: list\n"
         "listed: watch " HIGHER "\n"
         "seen: unwatch list\n"
         "listed: watch " HIGH "\n"
         "seen: -\n");
}

static void a_node_that_may_not_be_read_is_watched_by_exists(void)
{
    inside();
    leave();
    LISTED(OWN, HIGH, "ready");
    unseen(PDK__NO_AUTH);
    unseen(PDK__NO_NODE);
    LISTED(OWN, HIGH, "ready");
    unseen(PDK__NO_AUTH);
    seen(1); /* and the watch may never fire */
    due();
    LISTED(OWN, HIGH, "ready");
    unseen(PDK__NO_AUTH);
    unseen(PDK__NO_AUTH);
    deleted(PDK__OK);
    ended("leave: list\n"
          "listed: watch " HIGH "\n"
          "unseen: watch*\n"
          "unseen: unwatch list\n"
          "listed: watch " HIGH "\n"
          "unseen: watch*\n"
          "seen: -\n"
          "due: unwatch list\n"
          "listed: watch " HIGH "\n"
          "unseen: watch*\n"
          "unseen: FAILED PDK_EACCES delete own\n"
          "deleted: unwatch done\n");
}

static void a_leave_that_is_late_removes_its_node(void)
{
    inside();
    leave();
    LISTED(OWN, HIGH, "ready");
    seen(1);
    late();
    deleted(PDK__OK);
    ended("leave: list\n"
          "listed: watch " HIGH "\n"
          "seen: -\n"
          "late: FAILED PDK_ETIMEDOUT delete own\n"
          "deleted: unwatch done\n");
    inside();
    leave_as(true);
    LISTED(OWN, HIGH, "ready");
    seen(1);
    deleted(PDK__OK);
    ended("leave: list\n"
          "listed: watch " HIGH "\n"
          "seen: FAILED PDK_ETIMEDOUT delete own\n"
          "deleted: unwatch done\n");
}

/* Its node is deleted already. */
static void a_leave_that_is_late_while_apart_removes_its_watch_on_the_next_connection(void)
{
    inside();
    leave();
    LISTED(OWN, LOW, "ready");
    deleted(PDK__OK);
    LISTED(LOW, "ready");
    seen(1);
    down();
    late();
    up();
    ended("leave: list\n"
          "listed: delete own\n"
          "deleted: list\n"
          "listed: watch " LOW "\n"
          "seen: -\n"
          "down: -\n"
          "late: FAILED PDK_ETIMEDOUT\n"
          "up: unwatch done\n");
}

static void a_delete_whose_answer_is_lost(void)
{
    inside();
    leave();
    LISTED(OWN, "ready");
    down();
    up();
    LISTED("ready");
    deleted(PDK__UNKNOWN);
    due();
    LISTED("ready");
    deleted(PDK__NO_NODE);
    ended("leave: list\n"
          "listed: delete own\n"
          "down: -\n"
          "up: list\n"
          "listed: identify ready\n"
          "checked: delete ready\n"
          "deleted: -\n"
          "due: list\n"
          "listed: identify ready\n"
          "checked: delete ready\n"
          "deleted: done\n");
    inside();
    leave();
    LISTED(OWN, "ready");
    deleted(PDK__UNKNOWN);
    due();
    LISTED(OWN, "ready");
    deleted(PDK__NO_NODE);
    told("leave: list\n"
         "listed: delete own\n"
         "deleted: -\n"
         "due: list\n"
         "listed: delete own\n"
         "deleted: list\n");
}

static void refusals_end_a_leave(void)
{
    inside();
    leave();
    LISTED(OWN, "ready");
    deleted(PDK__NO_AUTH);
    ended("leave: list\n"
          "listed: delete own\n"
          "deleted: FAILED PDK_EACCES done\n");
    inside();
    leave();
    reply("listed", PDK__EV_LISTED, PDK__UNKNOWN, 0);
    due();
    LISTED(OWN, "ready");
    deleted(PDK__OK);
    LISTED("ready");
    deleted(PDK__REFUSED);
    ended("leave: list\n"
          "listed: -\n"
          "due: list\n"
          "listed: delete own\n"
          "deleted: list\n"
          "listed: identify ready\n"
          "checked: delete ready\n"
          "deleted: FAILED PDK_EACCES done\n");
}

/* --- losses ------------------------------------------------------------------------------------------------------ */

static void a_session_that_ends_inside_is_told(void)
{
    inside();
    down();
    expired();
    up_anew();
    leave();
    LISTED("ready");
    deleted(PDK__OK);
    ended("down: -\n"
          "expired: LOST\n"
          "up anew: -\n"
          "leave: FAILED PDK_ELOST list\n"
          "listed: identify ready\n"
          "checked: delete ready\n"
          "deleted: done\n");
    inside();
    down();
    up_anew();
    deleted(PDK__NO_NODE);
    leave();
    LISTED("ready", HIGH);
    ended("down: -\n"
          "up anew: LOST delete own\n"
          "deleted: -\n"
          "leave: FAILED PDK_ELOST list\n"
          "listed: done\n");
}

static void a_connection_that_comes_back_is_no_loss(void)
{
    inside();
    down();
    leave();
    up();
    LISTED(OWN, "ready");
    told("down: -\n"
         "leave: -\n"
         "up: list\n"
         "listed: delete own\n");
    inside();
    down();
    leave_as(true);
    up();
    deleted(PDK__OK);
    ended("down: -\n"
          "leave: FAILED PDK_ETIMEDOUT\n"
          "up: delete own\n"
          "deleted: done\n");
}

static void a_node_that_another_client_deleted_is_a_loss(void)
{
    inside();
    leave();
    LISTED(HIGH, "ready");
    LISTED(HIGH, "ready");
    ended("leave: list\n"
          "listed: FAILED PDK_ELOST list\n"
          "listed: done\n");
    inside();
    leave();
    LISTED(OWN, "ready");
    deleted(PDK__NO_NODE);
    reply("listed", PDK__EV_LISTED, PDK__NO_AUTH, PDK_EACCES);
    ended("leave: list\n"
          "listed: delete own\n"
          "deleted: FAILED PDK_ELOST list\n"
          "listed: done PDK_EACCES\n");
}

static void a_session_that_ends_in_a_leave(void)
{
    inside();
    leave();
    LISTED(OWN, HIGH, "ready");
    seen(1);
    down();
    expired();
    up_anew();
    LISTED(HIGH, "ready");
    ended("leave: list\n"
          "listed: watch " HIGH "\n"
          "seen: -\n"
          "down: -\n"
          "expired: FAILED PDK_ELOST\n"
          "up anew: list\n"
          "listed: done\n");
}

/* It has left, and only waits for the others. */
static void a_session_that_ends_after_the_delete_is_no_loss(void)
{
    inside();
    leave();
    LISTED(OWN, LOW, "ready");
    deleted(PDK__OK);
    LISTED(LOW, "ready");
    seen(1);
    down();
    expired();
    up_anew();
    LISTED("ready");
    told("leave: list\n"
         "listed: delete own\n"
         "deleted: list\n"
         "listed: watch " LOW "\n"
         "seen: -\n"
         "down: -\n"
         "expired: -\n"
         "up anew: list\n"
         "listed: identify ready\n"
         "checked: delete ready\n");
}

static void the_client_ends(void)
{
    waiting();
    session("over", PDK__EV_SESSION_OVER, 0);
    ended("over: FAILED PDK_ECLOSED done\n");
    inside();
    session("over", PDK__EV_SESSION_OVER, 0);
    ended("over: LOST done\n");
    waiting();
    session("left", PDK__EV_SESSION_LEFT, 0);
    session("left", PDK__EV_SESSION_LEFT, 0);
    deleted(PDK__OK);
    ended("left: FAILED PDK_ECLOSED delete own\n"
          "left: -\n"
          "deleted: unwatch done\n");
    inside();
    session("left", PDK__EV_SESSION_LEFT, 0);
    down();
    expired();
    ended("left: LOST delete own\n"
          "down: -\n"
          "expired: done\n");
    inside();
    expired();
    session("left", PDK__EV_SESSION_LEFT, 0);
    ended("expired: LOST\n"
          "left: done\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the last member opens", the_last_member_opens},
        {"a lock is no barrier", a_lock_is_no_barrier},
        {"a ready whose event was swallowed is found", a_ready_whose_event_was_swallowed_is_found},
        {"a node that was deleted during the wait is made again",
         a_node_that_was_deleted_during_the_wait_is_made_again},
        {"the others wait for ready", the_others_wait_for_ready},
        {"one too many is refused", one_too_many_is_refused},
        {"one too many does not keep the first from entering", enough_members_and_one_before_ready},
        {"a member that has gone is not counted", one_that_is_not_there_any_more_is_not_counted},
        {"one too many that cannot be told from the others enters, or is told later", one_too_many_that_cannot_be_told},
        {"a member that comes again is judged again", a_member_that_comes_again_is_judged_again},
        {"a watch event alone lets no member in", a_watch_event_alone_lets_no_member_in},
        {"ready that came after the listing is seen", ready_that_came_after_the_listing_is_seen},
        {"the round before is waited out", the_round_before_is_waited_out},
        {"another member closes the round before", another_member_closes_the_round_before},
        {"a look does not wait the round before out", a_look_does_not_wait_the_round_before_out},
        {"the wait for the round before outlasts a connection", the_wait_for_the_round_before_outlasts_a_connection},
        {"a member with a new session is of the round in which it came",
         a_member_with_a_new_session_is_of_the_round_in_which_it_came},
        {"the age of ready is asked again", the_age_of_ready_is_asked_again},
        {"the path is made", the_path_is_made},
        {"a create whose answer is lost is repeated under its name",
         a_create_whose_answer_is_lost_is_repeated_under_its_name},
        {"a create that may still take effect is a stray", a_create_that_may_still_take_effect_is_a_stray},
        {"a forged node is not ours", a_forged_node_is_not_ours},
        {"a node that another client deletes is made again", a_node_that_another_client_deletes_is_made_again},
        {"a member that is late removes its node and its watch", a_member_that_is_late_removes_its_node_and_its_watch},
        {"a watch that is being set is removed once it is set", a_watch_that_is_being_set_is_removed_once_it_is_set},
        {"a member that is late before its create is answered", a_member_that_is_late_before_its_create_is_answered},
        {"a look waits for nobody", a_look_waits_for_nobody},
        {"a member that waits is cancelled", a_member_that_waits_is_cancelled},
        {"a lost connection makes it count again", a_lost_connection_makes_it_count_again},
        {"a lost session makes it enter again", a_lost_session_makes_it_enter_again},
        {"a session that was given up leaves no second node", a_session_that_was_given_up_leaves_no_second_node},
        {"refusals end it", refusals_end_it},
        {"the last member closes", the_last_member_closes},
        {"the lowest waits for the highest", the_lowest_waits_for_the_highest},
        {"the others delete their node and wait for the lowest", the_others_delete_their_node_and_wait_for_the_lowest},
        {"members of the next round are not waited for", members_of_the_next_round_are_not_waited_for},
        {"only the ready of the round is deleted", only_the_ready_of_the_round_is_deleted},
        {"the lowest, too, waits for no member of the next round",
         the_lowest_too_waits_for_no_member_of_the_next_round},
        {"a node that may not be read is watched by exists", a_node_that_may_not_be_read_is_watched_by_exists},
        {"a leave that is late removes its node", a_leave_that_is_late_removes_its_node},
        {"a leave that is late while apart removes its watch on the next connection",
         a_leave_that_is_late_while_apart_removes_its_watch_on_the_next_connection},
        {"a delete whose answer is lost", a_delete_whose_answer_is_lost},
        {"refusals end a leave", refusals_end_a_leave},
        {"a session that ends inside is told", a_session_that_ends_inside_is_told},
        {"a connection that comes back is no loss", a_connection_that_comes_back_is_no_loss},
        {"a node that another client deleted is a loss", a_node_that_another_client_deleted_is_a_loss},
        {"a session that ends in a leave", a_session_that_ends_in_a_leave},
        {"a session that ends after the delete is no loss", a_session_that_ends_after_the_delete_is_no_loss},
        {"the client ends", the_client_ends},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "double barrier (stories)", .tests = tests});
}
