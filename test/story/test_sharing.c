/* Stories of a read/write lock: readers beside readers, writers alone, and a writer that goes on as a reader. */
#include "test/lib/check.h"
#include "test/story/trace.h"

#include <string.h>

static struct trace t;

#define READER_OURS "0000000000001000-0000002a-__READ__0000000005"
#define WRITER_OURS "0000000000001000-0000002a-__WRIT__0000000005"
#define READER_3 "0000000000002000-00000001-__READ__0000000003"
#define READER_4 "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-__READ__0000000004"
#define WRITER_3 "0000000000002000-00000001-__WRIT__0000000003"
#define WRITER_4 "_c_8612d63e-bf96-4b12-a950-74da4d73b8ee-__WRIT__0000000004"
#define WRITER_6 "0000000000002000-00000002-__WRIT__0000000006"

/* The write lock of the same thread, under whose number the read lock is made. */
#define BASE "0000000000001000-00000029-__WRIT__0000000005"

static void a_reader_passes_readers(void)
{
    trace_begin_as(&t, &pdk__rule_reader, true);
    acquire(&t, -1);
    created(&t, READER_OURS);
    listed(&t, LIST(READER_4, READER_OURS, WRITER_6, READER_3));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: granted own\n");
}

static void a_reader_waits_for_the_nearest_writer(void)
{
    trace_begin_as(&t, &pdk__rule_reader, true);
    acquire(&t, -1);
    created(&t, READER_OURS);
    listed(&t, LIST(READER_4, READER_OURS, WRITER_3));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(3) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: granted\n");
}

static bool prepares_behind(const char *const *children)
{
    trace_begin_as(&t, &pdk__rule_reader, true);
    acquire(&t, -1);
    created(&t, READER_OURS);
    listed(&t, children);
    ok(&t, PDK__EV_WATCHED);
    return pdk__contender_needs_lease(&t.c);
}

static void the_first_reader_behind_a_writer_prepares_for_its_grant(void)
{
    CHECK(prepares_behind(LIST(READER_OURS, WRITER_3)));
    CHECK(prepares_behind(LIST(READER_3, READER_OURS, WRITER_4)));
    CHECK(!prepares_behind(LIST(READER_4, READER_OURS, WRITER_3)));
    CHECK(!prepares_behind(LIST(WRITER_4, READER_OURS, WRITER_3)));
}

static void a_reader_waits_for_every_writer_ahead(void)
{
    trace_begin_as(&t, &pdk__rule_reader, true);
    acquire(&t, -1);
    created(&t, READER_OURS);
    listed(&t, LIST(WRITER_4, READER_OURS, WRITER_3));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    listed(&t, LIST(READER_OURS, WRITER_3));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: list\n"
                      "listed: watch(3)\n");
}

static void a_reader_waits_for_a_mutex(void)
{
    trace_begin_as(&t, &pdk__rule_reader, true);
    acquire(&t, -1);
    created(&t, READER_OURS);
    listed(&t, LIST(OTHER_4, READER_OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n");
}

static void a_writer_waits_for_its_neighbour(void)
{
    trace_begin_as(&t, &pdk__rule_writer, true);
    acquire(&t, -1);
    created(&t, WRITER_OURS);
    listed(&t, LIST(WRITER_OURS, READER_4, WRITER_3));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    listed(&t, LIST(WRITER_OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: list\n"
                      "listed: granted\n");
}

/* It waits for RULE's node behind a writer that has gone on as a reader. */
static void follow(const struct pdk__rule *rule, const char *node)
{
    trace_begin_as(&t, rule, true);
    acquire(&t, -1);
    created(&t, node);
    listed(&t, LIST(WRITER_4, node));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    listed(&t, LIST(READER_4, node));
    ok(&t, PDK__EV_WATCHED);
    fired(&t, true);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: watch(4) own\n"
                      "watched: -\n"
                      "own: -\n"
                      "gone: list\n"
                      "listed: watch(4)\n"
                      "watched: -\n"
                      "gone: granted\n");
}

static void a_writer_after_a_writer_lists_again(void) { follow(&pdk__rule_writer, WRITER_OURS); }

static void a_mutex_after_a_writer_lists_again(void) { follow(&pdk__rule_mutex, OURS); }

static void begin_under(bool connected)
{
    trace_begin_as(&t, &pdk__rule_reader, connected);
    t.wish.base = BASE;
    t.wish.base_token = 40;
}

static void a_writer_reads_under_its_own_number(void)
{
    begin_under(true);
    acquire(&t, -1);
    created(&t, READER_OURS);
    listed(&t, LIST(BASE, READER_OURS, WRITER_6));
    CHECK_EQ(t.granted, 40); /* the writer's token, not that of the reader's node */
    own(&t);
    release(&t);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: granted own\n"
                      "own: -\n"
                      "release: delete\n"
                      "deleted: done\n");
}

static void without_the_writers_node_it_is_lost(void)
{
    begin_under(true);
    acquire(&t, -1);
    created(&t, READER_OURS);
    listed(&t, LIST(READER_OURS, WRITER_6));
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: failed(PDK_ELOST) delete\n"
                      "deleted: done\n");
}

static void a_try_under_a_write_lock_creates_at_once(void)
{
    begin_under(true);
    try_acquire(&t);
    created(&t, READER_OURS);
    listed(&t, LIST(BASE, READER_OURS));
    CHECK_STR(t.text, "try: create\n"
                      "created: -\n"
                      "listed: granted own\n");
}

static void a_lost_reply_under_a_write_lock(void)
{
    begin_under(true);
    acquire(&t, -1);
    down(&t);
    up(&t, TRACE_SESSION);
    listed(&t, LIST(BASE, READER_OURS));
    identified(&t, TRACE_SESSION);
    listed(&t, LIST(BASE, READER_OURS));
    own(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "down: -\n"
                      "up: barrier+list\n"
                      "listed: identify(5)\n"
                      "ours: list\n"
                      "listed: own\n"
                      "own: granted\n");
}

static void in_another_session_it_is_lost(void)
{
    begin_under(true);
    acquire(&t, -1);
    down(&t);
    expired(&t);
    CHECK_STR(t.text, "acquire: create\n"
                      "down: -\n"
                      "expired: failed(PDK_ELOST) done\n");
}

/* A create of its own that landed late. */
static void readers_of_the_same_number_are_no_tie(void)
{
    begin_under(true);
    acquire(&t, -1);
    created(&t, READER_OURS);
    listed(&t, LIST(BASE, "0000000000001000-00000028-__READ__0000000005", READER_OURS));
    CHECK_STR(t.text, "acquire: create\n"
                      "created: -\n"
                      "listed: granted own\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a reader passes readers and does not look behind itself", a_reader_passes_readers},
        {"a reader waits for the nearest writer, and is granted when it goes", a_reader_waits_for_the_nearest_writer},
        {"the first reader behind a writer prepares for its grant",
         the_first_reader_behind_a_writer_prepares_for_its_grant},
        {"a reader waits for every writer ahead", a_reader_waits_for_every_writer_ahead},
        {"a reader waits for a mutex", a_reader_waits_for_a_mutex},
        {"a writer waits for its neighbour, reader or writer", a_writer_waits_for_its_neighbour},
        {"a writer after a writer lists again: it may have gone on as a reader", a_writer_after_a_writer_lists_again},
        {"a mutex after a writer lists again", a_mutex_after_a_writer_lists_again},
        {"a writer reads under its own number, with its token", a_writer_reads_under_its_own_number},
        {"without the writer's node a read under it is lost", without_the_writers_node_it_is_lost},
        {"a try under a write lock creates at once", a_try_under_a_write_lock_creates_at_once},
        {"in another session a read under a write lock is lost", in_another_session_it_is_lost},
        {"readers under the same writer's number are no tie", readers_of_the_same_number_are_no_tie},
        {"a lost reply under a write lock is looked for like any", a_lost_reply_under_a_write_lock},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "story/sharing", .tests = tests});
}
