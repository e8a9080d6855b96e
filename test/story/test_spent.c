/* Stories of a number that is no place in the queue, because it is another's, too, or the path's numbers are used up: a
 * contender gives way, and comes back. */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;

static void begin(void) { trace_begin(&t, true); }

/* The path has records of holders: its data. */
static void delay(void)
{
    static struct pdk__delay record;
    t.conditions.lock_delay_ms = 1000;
    t.conditions.delay = &record;
}

/* The path's last number is ours, among others or alone. */
static void numberless(const char *children)
{
    begin();
    story(&t,
          "acquire: create\n"
          "created last: -\n"
          "listed %s: renew delete\n",
          children);
}

static void numberless_alone(void) { numberless("last"); }

static void numberless_behind(void) { numberless("near last"); }

static void numberless_ahead(void) { numberless("last near"); }

/* It may have data, or permissions that do not let it be deleted. */
static void a_path_that_cannot_be_renewed_is_exhausted(void)
{
    numberless_alone();
    for (int i = 0; i < 8; i++)
        story(&t,
              "deleted: -\n"
              "later 2000: list\n"
              "listed config: create\n"
              "created last-again: -\n"
              "listed last-again config:%s renew delete\n",
              i < 7 ? "" : " failed(PDK_EEXHAUSTED)");
}

/* The places that belong together are given up together: its owner is told what to do. */
static void one_of_several_does_not_come_back_alone(void)
{
    trace_begin(&t, true);
    t.wish.bound = true;
    story(&t, "acquire: create\n"
              "created last: -\n"
              "listed last near: failed(PDK_EEXHAUSTED) renew delete\n");
    CHECK(t.c.queue.spent);
    CHECK_EQ(t.c.queue.returns, 0);
    trace_begin(&t, true);
    t.wish.bound = true;
    story(&t, "acquire: create\n"
              "created last: -\n"
              "listed last: failed(PDK_EEXHAUSTED) renew delete\n");
    CHECK_EQ(t.c.queue.returns, 1);
    trace_begin(&t, true); /* and it comes back in another */
    t.wish.bound = true;
    t.c.spent = 5;
    story(&t, "acquire: -\n");
    CHECK_EQ(t.c.retry.failures, 6); /* each time it comes later */
    story(&t, "later 1100: list\n"
              "listed other-last: -\n"
              "later 1100: list\n"
              "listed nothing: create\n"
              "created anew: -\n"
              "listed anew: granted own\n");
}

static void one_with_a_record_comes_back(void)
{
    trace_begin(&t, true);
    delay();
    story(&t, "acquire: create\n"
              "created last: -\n"
              "listed last near: renew delete\n");
}

/* A try that sees nobody, and comes second, or alone. */
static void tried(const char *children, const char *judged, const char *deleted)
{
    begin();
    story(&t,
          "try: list\n"
          "listed nothing: create\n"
          "created last: -\n"
          "listed %s:%s renew delete\n"
          "deleted: %s\n",
          children, judged, deleted);
}

static void a_try_does_not_wait_for_others(void)
{
    tried("near last", " failed(PDK_EBUSY)", "done");
    tried("other-last last", " failed(PDK_EBUSY)", "done");
    tried("last", "", "list");
    story(&t, "listed other-last: failed(PDK_EBUSY) done\n");
}

static void a_try_renews_the_path(void)
{
    tried("last", "", "list");
    story(&t, "listed nothing: create\n"
              "created anew: -\n"
              "listed anew: granted own\n");
}

static void a_number_that_is_taken_each_time_is_an_error(void)
{
    begin();
    story(&t, "acquire: create\n"
              "created own: -\n"
              "listed own tie: delete\n");
    for (int i = 0; i < 8; i++)
        story(&t,
              "deleted: create\n"
              "created own: -\n"
              "listed own tie:%s delete\n",
              i < 7 ? "" : " failed(PDK_EEXHAUSTED)");
}

static void a_tie_with_a_record_or_before_a_try(void)
{
    trace_begin(&t, true);
    delay();
    story(&t, "acquire: create\n"
              "created own: -\n"
              "listed own tie: delete\n");
    begin();
    story(&t, "try: list\n"
              "listed nothing: create\n"
              "created own: -\n"
              "listed own tie 4: failed(PDK_EBUSY) delete\n");
}

static const struct story stories[] = {
    {"without a number it gives way, and comes back", numberless_behind,
     "deleted: -\n"
     "later 20: list\n"
     "listed near: -\n"
     "later 40: list\n"
     "listed other-last: -\n"
     "later 80: list\n"
     "listed config: create\n"
     "created anew: -\n"
     "listed anew: granted own\n"
     "attempt: 2b\n" /* no name is used twice */},
    /* Of the deletes of a node one may have succeeded without an answer. Those of the node before it say nothing. */
    {"the deletes of a node before hide no loss", numberless_alone,
     "deleted: -\n"
     "later 40: list\n"
     "listed config: create\n"
     "created anew: -\n"
     "listed anew: granted own\n"
     "release: delete\n"
     "deleted no-node: done(PDK_ELOST)\n"},
    /* Servers before 3.6 go on with negative numbers, which are lower than all others. */
    {"a negative number is no place", begin,
     "acquire: create\n"
     "created wrapped: -\n"
     "listed near wrapped: renew delete\n"},
    {"the path may be gone by then", numberless_alone,
     "deleted: -\n"
     "later 20: list\n"
     "listed no-node: create\n"
     "created no-node: parents create\n"
     "created anew: -\n"
     "listed anew: granted own\n"},
    /* It is used, and may never be vacant. */
    {"a path that others have renewed is as any", numberless_behind,
     "deleted: -\n"
     "later 20: list\n"
     "listed 3 4: create\n"
     "created again: -\n"
     "listed 4 again: watch(4) own\n"},
    {"the deadline ends it, wherever it is", begin,
     "acquire 100: create\n"
     "created last: -\n"
     "listed last near: renew delete\n"
     "later 100: failed(PDK_ETIMEDOUT)\n"
     "deleted: done\n"
     "\n"
     "acquire 100: create\n"
     "created last: -\n"
     "listed last near: renew delete\n"
     "deleted: -\n"
     "later 100: failed(PDK_ETIMEDOUT) done\n"},
    {"a delete without an answer is sent again", numberless_ahead,
     "deleted unknown: -\n"
     "later 20: renew delete\n"
     "down: -\n"
     "up: renew delete\n"
     "deleted no-node: -\n"},
    {"without DELETE it is refused", numberless_ahead, "deleted no-auth: failed(PDK_EACCES) done(PDK_EACCES)\n"},
    {"another session looks first", numberless_ahead,
     "expired: -\n"
     "up anew: list\n"
     "listed near: -\n"},
    {"a tie is no order", begin,
     "acquire: create\n"
     "created own: -\n"
     "listed own tie: delete\n"
     "deleted: create\n"
     "created again: -\n"
     "listed tie again: watch(tie) own\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a path that cannot be renewed is exhausted", a_path_that_cannot_be_renewed_is_exhausted},
        {"one of several does not come back alone", one_of_several_does_not_come_back_alone},
        {"one with a record comes back, too", one_with_a_record_comes_back},
        {"a try does not wait for others", a_try_does_not_wait_for_others},
        {"a try renews the path", a_try_renews_the_path},
        {"a number that is taken each time is an error", a_number_that_is_taken_each_time_is_an_error},
        {"a tie with a record, or before a try", a_tie_with_a_record_or_before_a_try},
        {0}};
    return pdk__story_main(argc, argv, "spent", __FILE__, &t, stories, tests);
}
