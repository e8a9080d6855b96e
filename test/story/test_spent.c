/* Stories of a number that is no place in the queue, because it is another's, too, or the path's numbers are used up: a
 * contender gives way, and comes back. */
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <string.h>

#define LAST "0000000000001000-0000002a-lock-2147483647"
#define LAST_AGAIN "0000000000001000-0000002b-lock-2147483647"
#define WRAPPED "0000000000001000-0000002a-lock--2147483648"
#define ANEW "0000000000001000-0000002b-lock-0000000001"
#define OTHER_LAST "0000000000002000-00000003-lock-2147483647"
#define OTHER_NEAR "0000000000002000-00000002-lock-2147483646"

static struct trace t;

/* The path has records of holders: its data. */
static void delay(void)
{
    static struct pdk__delay record;
    t.conditions.lock_delay_ms = 1000;
    t.conditions.delay = &record;
}

/* The path's last number is ours, among others or alone. */
static void numberless(const char *const *children)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, LAST);
    listed(&t, children);
}

static void without_a_number_it_gives_way_and_comes_back(void)
{
    numberless(LIST(OTHER_NEAR, LAST));
    ok(&t, PDK__EV_DELETED);
    later(&t, 20);
    listed(&t, LIST(OTHER_NEAR));
    later(&t, 40);
    listed(&t, LIST(OTHER_LAST));
    later(&t, 80);
    listed(&t, LIST("configuration"));
    created(&t, ANEW);
    listed(&t, LIST(ANEW));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: renew delete\n"
                      "deleted: -\n"
                      "later: list\n"
                      "listed: -\n"
                      "later: list\n"
                      "listed: -\n"
                      "later: list\n"
                      "listed: create\n"
                      "created: -\n"
                      "listed: granted own\n");
    CHECK_EQ(t.c.attempt, TRACE_ATTEMPT + 1); /* no name is used twice */
}

/* Of the deletes of a node one may have succeeded without an answer. Those of the node before it say nothing. */
static void the_deletes_of_a_node_before_hide_no_loss(void)
{
    numberless(LIST(LAST));
    ok(&t, PDK__EV_DELETED);
    later(&t, 40);
    listed(&t, LIST("configuration"));
    created(&t, ANEW);
    listed(&t, LIST(ANEW));
    trace_reset(&t);
    release(&t);
    reply(&t, PDK__EV_DELETED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "release: delete\n"
                      "deleted no node: done(PDK_ELOST)\n");
}

/* Servers before 3.6 go on with negative numbers, which are lower than all others. */
static void a_negative_number_is_no_place(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, WRAPPED);
    listed(&t, LIST(OTHER_NEAR, WRAPPED));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: renew delete\n");
}

static void the_path_may_be_gone_by_then(void)
{
    numberless(LIST(LAST));
    ok(&t, PDK__EV_DELETED);
    later(&t, 20);
    reply(&t, PDK__EV_LISTED, PDK__NO_NODE, 0);
    reply(&t, PDK__EV_CREATED, PDK__NO_NODE, 0);
    created(&t, ANEW);
    listed(&t, LIST(ANEW));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: renew delete\n"
                      "deleted: -\n"
                      "later: list\n"
                      "listed no node: create\n"
                      "created no node: parents create\n"
                      "created: -\n"
                      "listed: granted own\n");
}

/* It may have data, or permissions that do not let it be deleted. */
static void a_path_that_cannot_be_renewed_is_exhausted(void)
{
    int rounds = 0;
    numberless(LIST(LAST));
    while (strstr(t.text, "failed") == NULL && rounds++ < 100) {
        trace_reset(&t);
        ok(&t, PDK__EV_DELETED);
        later(&t, 2000);
        listed(&t, LIST("configuration"));
        created(&t, LAST_AGAIN);
        listed(&t, LIST(LAST_AGAIN, "configuration"));
    }
    CHECK_EQ(rounds, 8);
    CHECK_STR(t.text, "deleted: -\n"
                      "later: list\n"
                      "listed: create\n"
                      "created: -\n"
                      "listed: failed(PDK_EEXHAUSTED) renew delete\n");
}

/* The places that belong together are given up together: its owner is told what to do. */
static void one_of_several_does_not_come_back_alone(void)
{
    trace_begin(&t, true);
    t.wish.bound = true;
    acquire(&t, -1);
    created(&t, LAST);
    listed(&t, LIST(LAST, OTHER_NEAR));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: failed(PDK_EEXHAUSTED) renew delete\n");
    CHECK(t.c.queue.spent);
    CHECK_EQ(t.c.queue.returns, 0);
    trace_begin(&t, true);
    t.wish.bound = true;
    acquire(&t, -1);
    created(&t, LAST);
    listed(&t, LIST(LAST));
    CHECK_EQ(t.c.queue.returns, 1);
    trace_begin(&t, true); /* and it comes back in another */
    t.wish.bound = true;
    t.c.spent = 5;
    acquire(&t, -1);
    CHECK_EQ(t.c.retry.failures, 6); /* each time it comes later */
    later(&t, 1100);
    listed(&t, LIST(OTHER_LAST));
    later(&t, 1100);
    listed(&t, LIST(NULL));
    created(&t, ANEW);
    listed(&t, LIST(ANEW));
    CHECK_STR(t.text, "acquire: -\n"
                      "later: list\n"
                      "listed: -\n"
                      "later: list\n"
                      "listed: create\n"
                      "created: -\n"
                      "listed: granted own\n");
}

static void one_with_a_record_comes_back(void)
{
    trace_begin(&t, true);
    delay();
    acquire(&t, -1);
    created(&t, LAST);
    listed(&t, LIST(LAST, OTHER_NEAR));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: renew delete\n");
}

/* It is used, and may never be vacant. */
static void a_path_that_others_have_renewed_is_as_any(void)
{
    numberless(LIST(OTHER_NEAR, LAST));
    ok(&t, PDK__EV_DELETED);
    later(&t, 20);
    trace_reset(&t);
    listed(&t, LIST(OTHER_3, OTHER_4));
    created(&t, OURS_AGAIN);
    listed(&t, LIST(OTHER_4, OURS_AGAIN));
    CHECK_STR(t.text, "listed: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n");
}

/* A try that sees nobody, and comes second, or alone. */
static void tried(const char *const *children)
{
    trace_begin(&t, true);
    try_acquire(&t);
    listed(&t, LIST(NULL));
    created(&t, LAST);
    listed(&t, children);
    ok(&t, PDK__EV_DELETED);
}

static void a_try_does_not_wait_for_others(void)
{
    static const char busy[] = "try: list\n"
                               "listed: create\n"
                               "created: -\n"
                               "listed: failed(PDK_EBUSY) renew delete\n"
                               "deleted: done\n";
    tried(LIST(OTHER_NEAR, LAST));
    CHECK_STR(t.text, busy);
    tried(LIST(OTHER_LAST, LAST));
    CHECK_STR(t.text, busy);
    tried(LIST(LAST));
    listed(&t, LIST(OTHER_LAST));
    CHECK_STR(t.text, "try: list\n"
                      "listed: create\n"
                      "created: -\n"
                      "listed: renew delete\n"
                      "deleted: list\n"
                      "listed: failed(PDK_EBUSY) done\n");
}

static void a_try_renews_the_path(void)
{
    tried(LIST(LAST));
    listed(&t, LIST(NULL));
    created(&t, ANEW);
    listed(&t, LIST(ANEW));
    CHECK_STR(t.text, "try: list\n"
                      "listed: create\n"
                      "created: -\n"
                      "listed: renew delete\n"
                      "deleted: list\n"
                      "listed: create\n"
                      "created: -\n"
                      "listed: granted own\n");
}

static void the_deadline_ends_it_wherever_it_is(void)
{
    trace_begin(&t, true);
    acquire(&t, 100);
    created(&t, LAST);
    listed(&t, LIST(LAST, OTHER_NEAR));
    later(&t, 100);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: renew delete\n"
                      "later: failed(PDK_ETIMEDOUT)\n"
                      "deleted: done\n");
    trace_begin(&t, true);
    acquire(&t, 100);
    created(&t, LAST);
    listed(&t, LIST(LAST, OTHER_NEAR));
    ok(&t, PDK__EV_DELETED);
    trace_reset(&t);
    later(&t, 100);
    CHECK_STR(t.text, "later: failed(PDK_ETIMEDOUT) done\n");
}

static void a_delete_without_an_answer_is_sent_again(void)
{
    numberless(LIST(LAST, OTHER_NEAR));
    trace_reset(&t);
    reply(&t, PDK__EV_DELETED, PDK__UNKNOWN, 0);
    later(&t, 20);
    down(&t);
    up(&t, TRACE_SESSION);
    reply(&t, PDK__EV_DELETED, PDK__NO_NODE, 0);
    CHECK_STR(t.text, "deleted unknown: -\n"
                      "later: renew delete\n"
                      "down: -\n"
                      "up: renew delete\n"
                      "deleted no node: -\n");
}

static void without_delete_it_is_refused(void)
{
    numberless(LIST(LAST, OTHER_NEAR));
    trace_reset(&t);
    reply(&t, PDK__EV_DELETED, PDK__NO_AUTH, 0);
    CHECK_STR(t.text, "deleted no auth: failed(PDK_EACCES) done(PDK_EACCES)\n");
}

static void another_session_looks_first(void)
{
    numberless(LIST(LAST, OTHER_NEAR));
    trace_reset(&t);
    expired(&t);
    up(&t, 0x1001);
    listed(&t, LIST(OTHER_NEAR));
    CHECK_STR(t.text, "expired: -\n"
                      "up: list\n"
                      "listed: -\n");
}

#define TIE "0000000000002000-00000001-lock-0000000005"

static void a_tie_is_no_order(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS, TIE));
    ok(&t, PDK__EV_DELETED);
    created(&t, OURS_AGAIN);
    listed(&t, LIST(TIE, OURS_AGAIN));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: delete\n"
                      "deleted: create\n"
                      "created: -\n"
                      "listed: watch(5) own\n");
}

static void a_number_that_is_taken_each_time_is_an_error(void)
{
    int rounds = 0;
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS, TIE));
    while (strstr(t.text, "failed") == NULL && rounds++ < 100) {
        trace_reset(&t);
        ok(&t, PDK__EV_DELETED);
        created(&t, OURS);
        listed(&t, LIST(OURS, TIE));
    }
    CHECK_EQ(rounds, 8);
    CHECK_STR(t.text, "deleted: create\n"
                      "created: -\n"
                      "listed: failed(PDK_EEXHAUSTED) delete\n");
}

static void a_tie_with_a_record_or_before_a_try(void)
{
    trace_begin(&t, true);
    delay();
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS, TIE));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: delete\n");
    trace_begin(&t, true);
    try_acquire(&t);
    listed(&t, LIST(NULL));
    created(&t, OURS);
    trace_reset(&t);
    listed(&t, LIST(OURS, TIE, OTHER_4));
    CHECK_STR(t.text, "listed: failed(PDK_EBUSY) delete\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"without a number it gives way, and comes back", without_a_number_it_gives_way_and_comes_back},
        {"the deletes of a node before hide no loss", the_deletes_of_a_node_before_hide_no_loss},
        {"a negative number is no place", a_negative_number_is_no_place},
        {"the path may be gone by then", the_path_may_be_gone_by_then},
        {"a path that cannot be renewed is exhausted", a_path_that_cannot_be_renewed_is_exhausted},
        {"one of several does not come back alone", one_of_several_does_not_come_back_alone},
        {"one with a record comes back, too", one_with_a_record_comes_back},
        {"a path that others have renewed is as any", a_path_that_others_have_renewed_is_as_any},
        {"a try does not wait for others", a_try_does_not_wait_for_others},
        {"a try renews the path", a_try_renews_the_path},
        {"the deadline ends it, wherever it is", the_deadline_ends_it_wherever_it_is},
        {"a delete without an answer is sent again", a_delete_without_an_answer_is_sent_again},
        {"without DELETE it is refused", without_delete_it_is_refused},
        {"another session looks first", another_session_looks_first},
        {"a tie is no order", a_tie_is_no_order},
        {"a number that is taken each time is an error", a_number_that_is_taken_each_time_is_an_error},
        {"a tie with a record, or before a try", a_tie_with_a_record_or_before_a_try},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "spent", .tests = tests});
}
