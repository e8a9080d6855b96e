/* Stories of a permit of a semaphore: counted, not first alone; and a watch on the children in place of a
 * predecessor. */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;
static struct pdk__rule rule;

static void admit(size_t limit)
{
    rule = pdk__rule_permit(limit);
    trace_begin_as(&t, &rule, true);
}

static void one(void) { admit(1); }

static void two(void) { admit(2); }

static void three(void) { admit(3); }

static void a_larger_limit_is_looked_at(void)
{
    one();
    story(&t, "acquire: create\n"
              "created lease: -\n"
              "listed lease lease4: watch(children) own\n"
              "watched lease lease4: -\n"
              "own: -\n");
    rule.admits = 2;
    story(&t, "limit: list\n"
              "listed lease lease4: granted\n");
}

static void a_try_for_several_writes_only_where_all_are_free(void)
{
    three();
    t.wish.places = 2;
    story(&t, "try: list\n"
              "listed lease4: create\n");
    two();
    t.wish.places = 2;
    story(&t, "try: list\n"
              "listed lease4: failed(PDK_EBUSY) done\n");
}

static const struct story stories[] = {
    {"as many as the limit are granted at once", three,
     "acquire: create\n"
     "created lease: -\n"
     "listed lease3 lease lease4 lease6: granted own\n"},
    {"beyond the limit the children are watched, and listed when they change", two,
     "acquire: create\n"
     "created lease: -\n"
     "listed lease3 lease lease4: watch(children) own\n"
     "watched lease3 lease lease4: -\n"
     "own: -\n"
     "changed: list\n"
     "listed lease3 lease: granted\n"},
    {"the children that come with the watch are judged", two,
     "acquire: create\n"
     "created lease: -\n"
     "listed lease3 lease lease4: watch(children) own\n"
     "own: -\n"
     "watched lease lease4: granted\n"},
    {"junk counts as a permit", two,
     "acquire: create\n"
     "created lease: -\n"
     "listed by-hand lease lease4: watch(children) own\n"},
    {"a try does not wait", one,
     "try: list\n"
     "listed lease4: failed(PDK_EBUSY) done\n"},
    {"an unknown outcome of the watch is asked for again", one,
     "acquire: create\n"
     "created lease: -\n"
     "listed lease lease4: watch(children) own\n"
     "watched unknown: -\n"
     "own: -\n"
     "later 10000: list\n"},
    {"without the permission to list it fails", one,
     "acquire: create\n"
     "created lease: -\n"
     "listed lease lease4: watch(children) own\n"
     "watched no-auth: failed(PDK_EACCES) unwatch delete\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a larger limit is looked at", a_larger_limit_is_looked_at},
        {"a try for several writes only where all are free", a_try_for_several_writes_only_where_all_are_free},
        {0}};
    return pdk__story_main(argc, argv, "permits", __FILE__, &t, stories, tests);
}
