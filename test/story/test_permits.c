/* Stories of a permit of a semaphore: counted, not first alone; and a watch on the children in place of a predecessor. */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;
static struct pdk__rule rule;

#define LEASE_OURS "0000000000001000-0000002a-lease-0000000005"
#define LEASE_3 "0000000000002000-00000001-lease-0000000003"
#define LEASE_4 "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-lease-0000000004"
#define LEASE_6 "0000000000002000-00000002-lease-0000000006"

static void begin(size_t limit)
{
    rule = pdk__rule_permit(limit);
    trace_begin_as(&t, &rule, true);
}

static void as_many_as_the_limit_are_granted_at_once(void)
{
    begin(3);
    acquire(&t, -1);
    created(&t, LEASE_OURS);
    listed(&t, LIST(LEASE_3, LEASE_OURS, LEASE_4, LEASE_6));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: granted own\n");
}

static void beyond_it_the_children_are_watched(void)
{
    begin(2);
    acquire(&t, -1);
    created(&t, LEASE_OURS);
    listed(&t, LIST(LEASE_3, LEASE_OURS, LEASE_4));
    watched_children(&t, LIST(LEASE_3, LEASE_OURS, LEASE_4));
    own(&t);
    fired(&t, false);
    listed(&t, LIST(LEASE_3, LEASE_OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(children) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "changed: list\n"
                      "listed: granted\n");
}

static void what_comes_with_the_watch_is_judged(void)
{
    begin(2);
    acquire(&t, -1);
    created(&t, LEASE_OURS);
    listed(&t, LIST(LEASE_3, LEASE_OURS, LEASE_4));
    own(&t);
    watched_children(&t, LIST(LEASE_OURS, LEASE_4));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(children) own\n"
                      "own: -\n"
                      "watched: granted\n");
}

static void junk_counts_as_a_permit(void)
{
    begin(2);
    acquire(&t, -1);
    created(&t, LEASE_OURS);
    listed(&t, LIST("by-hand", LEASE_OURS, LEASE_4));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(children) own\n");
}

static void a_larger_limit_is_looked_at(void)
{
    begin(1);
    acquire(&t, -1);
    created(&t, LEASE_OURS);
    listed(&t, LIST(LEASE_OURS, LEASE_4));
    watched_children(&t, LIST(LEASE_OURS, LEASE_4));
    own(&t);
    rule.admits = 2;
    limit_changed(&t);
    listed(&t, LIST(LEASE_OURS, LEASE_4));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(children) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "limit: list\n"
                      "listed: granted\n");
}

static void a_try_does_not_wait(void)
{
    begin(1);
    try_acquire(&t);
    listed(&t, LIST(LEASE_4));
    CHECK_STR(t.text, "try: list\n"
                      "listed: failed(PDK_EBUSY) done\n");
}

static void a_try_for_several_writes_only_where_all_are_free(void)
{
    begin(3);
    t.wish.places = 2;
    try_acquire(&t);
    listed(&t, LIST(LEASE_4));
    CHECK_STR(t.text, "try: list\n"
                      "listed: create\n");
    begin(2);
    t.wish.places = 2;
    try_acquire(&t);
    listed(&t, LIST(LEASE_4));
    CHECK_STR(t.text, "try: list\n"
                      "listed: failed(PDK_EBUSY) done\n");
}

static void an_unknown_outcome_is_asked_again(void)
{
    begin(1);
    acquire(&t, -1);
    created(&t, LEASE_OURS);
    listed(&t, LIST(LEASE_OURS, LEASE_4));
    reply(&t, PDK__EV_WATCHED, PDK__UNKNOWN, 0);
    own(&t);
    later(&t, 10000);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(children) own\n"
                      "watched unknown: -\n"
                      "own: -\n"
                      "later: list\n");
}

static void without_permission_it_fails(void)
{
    begin(1);
    acquire(&t, -1);
    created(&t, LEASE_OURS);
    listed(&t, LIST(LEASE_OURS, LEASE_4));
    reply(&t, PDK__EV_WATCHED, PDK__NO_AUTH, PDK_EACCES);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(children) own\n"
                      "watched no auth: failed(PDK_EACCES) unwatch delete\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"as many as the limit are granted at once", as_many_as_the_limit_are_granted_at_once},
        {"beyond the limit the children are watched, and listed when they change", beyond_it_the_children_are_watched},
        {"the children that come with the watch are judged", what_comes_with_the_watch_is_judged},
        {"junk counts as a permit", junk_counts_as_a_permit},
        {"a larger limit is looked at", a_larger_limit_is_looked_at},
        {"a try does not wait", a_try_does_not_wait},
        {"a try for several writes only where all are free", a_try_for_several_writes_only_where_all_are_free},
        {"an unknown outcome of the watch is asked for again", an_unknown_outcome_is_asked_again},
        {"without the permission to list it fails", without_permission_it_fails},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "permits", .tests = tests});
}
