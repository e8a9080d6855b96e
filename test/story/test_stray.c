/* Stories of strays: creates whose node was looked for and not found, and that are committed after all. */
#include "lib/core/stray.h"
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <stdio.h>
#include <string.h>

#define FORGED "0000000000001000-0000002a-lock-0000000003"
#define FORGER INT64_C(0x3000)

static struct pdk__stray stray;
static uint64_t ops;
static int64_t now_ms;
static char trace[1024];

static void step(const char *name, struct pdk__event event)
{
    struct pdk__actions actions;
    event.now_ms = now_ms;
    if (event.op == UINT64_MAX)
        event.op = stray.op;
    pdk__stray_step(&stray, &event, &actions);
    CHECK(actions.n <= 1);
    const struct pdk__action *a = actions.n == 1 ? &actions.list[0] : NULL;
    const char *what = a == NULL                      ? "-"
                       : a->kind == PDK__ACT_LIST     ? "list"
                       : a->kind == PDK__ACT_IDENTIFY ? "identify"
                       : a->kind == PDK__ACT_DELETE   ? "delete"
                       : a->kind == PDK__ACT_DONE     ? "done"
                                                      : "?";
    bool named = a != NULL && (a->kind == PDK__ACT_IDENTIFY || a->kind == PDK__ACT_DELETE);
    size_t length = strlen(trace);
    snprintf(trace + length, sizeof trace - length, named ? "%s: %s(%s)\n" : "%s: %s\n", name, what,
             named ? a->name + strlen(a->name) - 1 : "");
}

static void begin(void)
{
    now_ms = 1000;
    ops = 0;
    trace[0] = '\0';
    pdk__stray_init(&stray, &ops, TRACE_SESSION, TRACE_ATTEMPT, 7, now_ms);
}

/* Advance to the stray's wake-up time, which must be in the future. */
static void due(void)
{
    CHECK(pdk__stray_wake_ms(&stray) > now_ms);
    now_ms = pdk__stray_wake_ms(&stray);
    step("due", (struct pdk__event){.kind = PDK__EV_TIMER});
}

static void session_up(int64_t session)
{
    step("up", (struct pdk__event){.kind = PDK__EV_SESSION_UP, .session = session});
}

static void session_down(void) { step("down", (struct pdk__event){.kind = PDK__EV_SESSION_DOWN}); }

static void children(const char *name, uint64_t op, const char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    step(name, (struct pdk__event){.kind = PDK__EV_LISTED, .op = op, .children = list, .n_children = n});
}

static void found(const char *const *list) { children("listed", UINT64_MAX, list); }

static void others_found(const char *const *list) { children("others list", 0, list); }

static void owned_by(int64_t owner)
{
    step("owner", (struct pdk__event){.kind = PDK__EV_IDENTIFIED, .op = UINT64_MAX, .owner = owner});
}

static void answered(const char *name, enum pdk__event_kind kind, enum pdk__outcome outcome)
{
    step(name, (struct pdk__event){.kind = kind, .op = UINT64_MAX, .outcome = outcome});
}

static void a_node_that_lands_is_found_and_deleted(void)
{
    begin();
    due();
    found(LIST(OTHER_3));
    due();
    found(LIST(OTHER_3, OURS));
    owned_by(TRACE_SESSION);
    answered("deleted", PDK__EV_DELETED, PDK__OK);
    CHECK_EQ(stray.phase, PDK__STRAY_OVER);
    CHECK_STR(trace, "due: list\n"
                     "listed: -\n"
                     "due: list\n"
                     "listed: identify(5)\n"
                     "owner: delete(5)\n"
                     "deleted: done\n");
}

static void it_is_looked_for_soon_and_then_within_twice_its_age(void)
{
    begin();
    CHECK(pdk__stray_wake_ms(&stray) <= now_ms + 200);
    int64_t begun = now_ms;
    for (int i = 0; i < 12; i++) {
        due();
        found(NOBODY);
        int64_t age = now_ms - begun;
        CHECK(pdk__stray_wake_ms(&stray) <= now_ms + (age > 200 ? age : 200));
        CHECK(pdk__stray_wake_ms(&stray) >= now_ms + age / 2);
    }
    CHECK(now_ms - begun > 10000);
}

static void after_days_it_is_looked_for_once_an_hour(void)
{
    begin();
    now_ms += INT64_C(30) * 24 * 3600 * 1000;
    step("later", (struct pdk__event){.kind = PDK__EV_TIMER});
    found(NOBODY);
    CHECK(pdk__stray_wake_ms(&stray) <= now_ms + 3600 * 1000);
}

static void a_listing_that_another_has_asked_for_serves_as_well(void)
{
    begin();
    others_found(LIST(OTHER_3, OURS));
    others_found(LIST(OTHER_3, OURS));
    owned_by(TRACE_SESSION);
    CHECK_STR(trace, "others list: identify(5)\n"
                     "others list: -\n"
                     "owner: delete(5)\n");
}

static void the_first_listing_of_a_look_is_shared_and_no_other(void)
{
    begin();
    due();
    CHECK(pdk__stray_shares(&stray));
    found(LIST(FORGED));
    owned_by(FORGER);
    CHECK(!pdk__stray_shares(&stray));
}

static void a_forged_node_is_left_alone(void)
{
    begin();
    due();
    found(LIST(FORGED, OURS));
    owned_by(FORGER);
    found(LIST(FORGED, OURS));
    owned_by(TRACE_SESSION);
    CHECK_STR(trace, "due: list\n"
                     "listed: identify(3)\n"
                     "owner: list\n"
                     "listed: identify(5)\n"
                     "owner: delete(5)\n");
}

static void a_forged_node_alone_is_looked_at_again_with_the_next_look(void)
{
    begin();
    due();
    found(LIST(FORGED));
    owned_by(FORGER);
    found(LIST(FORGED));
    due();
    found(LIST(FORGED));
    CHECK_STR(trace, "due: list\n"
                     "listed: identify(3)\n"
                     "owner: list\n"
                     "listed: -\n"
                     "due: list\n"
                     "listed: identify(3)\n");
}

static void other_attempts_of_the_session_are_no_concern(void)
{
    begin();
    due();
    found(LIST("0000000000001000-0000002b-lock-0000000004", "0000000000001001-0000002a-lock-0000000005"));
    CHECK_STR(trace, "due: list\n"
                     "listed: -\n");
}

static void nothing_is_asked_without_a_connection(void)
{
    begin();
    due();
    uint64_t op = stray.op;
    session_down();
    CHECK_EQ(pdk__stray_wake_ms(&stray), PDK__NEVER);
    children("listed late", op, LIST(OURS));
    others_found(LIST(OURS));
    now_ms += 5000;
    session_up(TRACE_SESSION);
    CHECK_STR(trace, "due: list\n"
                     "down: -\n"
                     "listed late: -\n"
                     "others list: -\n"
                     "up: list\n");
}

static void a_delete_of_unknown_outcome_is_soon_looked_after(void)
{
    begin();
    now_ms += 100000;
    step("later", (struct pdk__event){.kind = PDK__EV_TIMER});
    found(LIST(OURS));
    owned_by(TRACE_SESSION);
    answered("deleted unknown", PDK__EV_DELETED, PDK__UNKNOWN);
    CHECK(pdk__stray_wake_ms(&stray) <= now_ms + 200);
    due();
    found(LIST(OURS));
    owned_by(TRACE_SESSION);
    answered("deleted no node", PDK__EV_DELETED, PDK__NO_NODE);
    CHECK_STR(trace, "later: list\n"
                     "listed: identify(5)\n"
                     "owner: delete(5)\n"
                     "deleted unknown: -\n"
                     "due: list\n"
                     "listed: identify(5)\n"
                     "owner: delete(5)\n"
                     "deleted no node: done\n");
}

static void what_is_refused_is_tried_again_later(void)
{
    begin();
    due();
    answered("listed no auth", PDK__EV_LISTED, PDK__NO_AUTH);
    due();
    found(LIST(OURS));
    answered("owner no auth", PDK__EV_IDENTIFIED, PDK__NO_AUTH);
    due();
    found(LIST(OURS));
    owned_by(TRACE_SESSION);
    answered("deleted no auth", PDK__EV_DELETED, PDK__NO_AUTH);
    due();
    CHECK_STR(trace, "due: list\n"
                     "listed no auth: -\n"
                     "due: list\n"
                     "listed: identify(5)\n"
                     "owner no auth: -\n"
                     "due: list\n"
                     "listed: identify(5)\n"
                     "owner: delete(5)\n"
                     "deleted no auth: -\n"
                     "due: list\n");
}

static void it_ends_with_its_session(void)
{
    static const enum pdk__event_kind ends[] = {PDK__EV_SESSION_EXPIRED, PDK__EV_SESSION_OVER, PDK__EV_SESSION_LEFT};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        begin();
        step("end", (struct pdk__event){.kind = ends[i]});
        CHECK_STR(trace, "end: done\n");
        CHECK_EQ(pdk__stray_wake_ms(&stray), PDK__NEVER);
    }
    begin();
    session_up(TRACE_SESSION + 1);
    CHECK_STR(trace, "up: done\n");
}

static void what_concerns_contenders_alone_changes_nothing(void)
{
    begin();
    int64_t wake_ms = pdk__stray_wake_ms(&stray);
    step("proven", (struct pdk__event){.kind = PDK__EV_LEASE_OK});
    CHECK_STR(trace, "proven: -\n");
    CHECK_EQ(pdk__stray_wake_ms(&stray), wake_ms);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a node that lands is found and deleted", a_node_that_lands_is_found_and_deleted},
        {"it is looked for soon, and then within twice its age", it_is_looked_for_soon_and_then_within_twice_its_age},
        {"after days it is looked for once an hour", after_days_it_is_looked_for_once_an_hour},
        {"a listing that another has asked for serves as well", a_listing_that_another_has_asked_for_serves_as_well},
        {"the first listing of a look is shared, and no other", the_first_listing_of_a_look_is_shared_and_no_other},
        {"a forged node is left alone", a_forged_node_is_left_alone},
        {"a forged node alone is looked at again with the next look",
         a_forged_node_alone_is_looked_at_again_with_the_next_look},
        {"other attempts of the session are no concern", other_attempts_of_the_session_are_no_concern},
        {"nothing is asked without a connection", nothing_is_asked_without_a_connection},
        {"a delete of unknown outcome is soon looked after", a_delete_of_unknown_outcome_is_soon_looked_after},
        {"what is refused is tried again later", what_is_refused_is_tried_again_later},
        {"what concerns contenders alone changes nothing", what_concerns_contenders_alone_changes_nothing},
        {"it ends with its session", it_ends_with_its_session},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "stray", .tests = tests});
}
