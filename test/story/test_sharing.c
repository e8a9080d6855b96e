/* Stories of a read/write lock: readers beside readers, writers alone, and a writer that goes on as a reader. */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;

static void begin_reader(void) { trace_begin_as(&t, &pdk__rule_reader, true); }

static void begin_writer(void) { trace_begin_as(&t, &pdk__rule_writer, true); }

/* It waits for the node that is WATCHED of those that are LISTED. */
static bool prepares_behind(const char *listed, const char *watched)
{
    trace_begin_as(&t, &pdk__rule_reader, true);
    story(&t,
          "acquire: create\n"
          "created reader: -\n"
          "listed %s: watch(%s) own\n"
          "watched: -\n",
          listed, watched);
    return pdk__contender_needs_lease(&t.c);
}

static void the_first_reader_behind_a_writer_prepares_for_its_grant(void)
{
    CHECK(prepares_behind("reader writer3", "writer3"));
    CHECK(prepares_behind("reader3 reader writer4", "writer4"));
    CHECK(!prepares_behind("reader4 reader writer3", "writer3"));
    CHECK(!prepares_behind("writer4 reader writer3", "writer4"));
}

/* It waits for RULE's node behind a writer that has gone on as a reader. */
static void follow(const struct pdk__rule *rule, const char *node)
{
    trace_begin_as(&t, rule, true);
    story(&t,
          "acquire: create\n"
          "created %s: -\n"
          "listed writer4 %s: watch(writer4) own\n"
          "watched: -\n"
          "own: -\n"
          "gone: list\n"
          "listed reader4 %s: watch(reader4)\n"
          "watched: -\n"
          "gone: granted\n",
          node, node, node);
}

static void a_writer_after_a_writer_lists_again(void) { follow(&pdk__rule_writer, "writer"); }

static void a_mutex_after_a_writer_lists_again(void) { follow(&pdk__rule_mutex, "own"); }

/* The write lock of the same thread is held. Under its number the read lock is made. */
static void begin_under(void)
{
    trace_begin_as(&t, &pdk__rule_reader, true);
    t.wish.base = "0000000000001000-00000029-__WRIT__0000000005";
    t.wish.base_token = 40;
}

static void begin_under_with_delay(void)
{
    static struct pdk__delay delay;
    begin_under();
    delay = (struct pdk__delay){0};
    t.conditions.lock_delay_ms = 1000;
    t.conditions.delay = &delay;
}

static const struct story stories[] = {
    {"a reader passes readers and does not look behind itself", begin_reader,
     "acquire: create\n"
     "created reader: -\n"
     "listed reader4 reader writer6 reader3: granted own\n"},
    {"a reader waits for the nearest writer, and is granted when it goes", begin_reader,
     "acquire: create\n"
     "created reader: -\n"
     "listed reader4 reader writer3: watch(writer3) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: granted\n"},
    {"a reader waits for every writer ahead", begin_reader,
     "acquire: create\n"
     "created reader: -\n"
     "listed writer4 reader writer3: watch(writer4) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: list\n"
     "listed reader writer3: watch(writer3)\n"},
    {"a reader waits for a mutex", begin_reader,
     "acquire: create\n"
     "created reader: -\n"
     "listed 4 reader: watch(4) own\n"},
    {"a writer waits for its neighbour, reader or writer", begin_writer,
     "acquire: create\n"
     "created writer: -\n"
     "listed writer reader4 writer3: watch(reader4) own\n"
     "watched: -\n"
     "own: -\n"
     "gone: list\n"
     "listed writer: granted\n"},
    {"a writer reads under its own number, with its token", begin_under,
     "acquire: create\n"
     "created reader: -\n"
     "listed base reader writer6: granted(40) own\n"
     /* the writer's token, not that of the reader's node */
     "own: -\n"
     "release: delete\n"
     "deleted: done\n"},
    {"without the writer's node a read under it is lost", begin_under,
     "acquire: create\n"
     "created reader: -\n"
     "listed reader writer6: failed(PDK_ELOST) delete\n"
     "deleted: done\n"},
    {"a try under a write lock creates at once", begin_under,
     "try: create\n"
     "created reader: -\n"
     "listed base reader: granted(40) own\n"},
    {"a lost reply under a write lock is looked for like any", begin_under,
     "acquire: create\n"
     "down: -\n"
     "up: barrier+list\n"
     "listed base reader: identify(reader)\n"
     "identified: list\n"
     "listed base reader: own\n"
     "own: granted(40)\n"},
    {"in another session a read under a write lock is lost", begin_under,
     "acquire: create\n"
     "down: -\n"
     "expired: failed(PDK_ELOST) done\n"},
    {"in another session no record is awaited under a write lock", begin_under_with_delay,
     "acquire: create\n"
     "created reader: -\n"
     "listed base reader: read own\n"
     "read nothing token 10 version 4: record(version 4)\n"
     "expired: failed(PDK_ELOST) done\n"},
    /* A create of its own that landed late. */
    {"readers under the same writer's number are no tie", begin_under,
     "acquire: create\n"
     "created reader: -\n"
     "listed base 0000000000001000-00000028-__READ__0000000005 reader: granted(40) own\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"the first reader behind a writer prepares for its grant",
         the_first_reader_behind_a_writer_prepares_for_its_grant},
        {"a writer after a writer lists again: it may have gone on as a reader", a_writer_after_a_writer_lists_again},
        {"a mutex after a writer lists again", a_mutex_after_a_writer_lists_again},
        {0}};
    return pdk__story_main(argc, argv, "story/sharing", __FILE__, &t, stories, tests);
}
