/* Stories of a holder that no caller uses. */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;

/* A holder whose own node is watched. */
static void hold(void)
{
    trace_begin(&t, true);
    story(&t, "acquire: create\n"
              "created own: -\n"
              "listed own: granted own\n"
              "own: -\n");
}

/* The children changed, and its own node may be the one that went. */
static void a_node_without_a_watch_is_looked_at_when_the_children_change(void)
{
    hold();
    pdk__own_node_forget_watch(&t.c.node);
    story(&t, "idle: rivals\n"
              "rivals own: -\n"
              "rivals changed: own contended\n"
              "own no-node: lost done\n");
}

/* A program that holds cannot be kept from its lock by what is not known of others. */
static void what_cannot_be_listed_counts_as_a_rival(void)
{
    static const char *const outcomes[] = {"unknown", "no-auth", "refused PDK_EREFUSED", "no-node"};
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        hold();
        story(&t,
              "idle: rivals\n"
              "rivals %s: contended\n",
              outcomes[i]);
    }
}

/* --- a reader ---------------------------------------------------------------------------------------------------- */

static void hold_as(const struct pdk__rule *rule, const char *name)
{
    trace_begin_as(&t, rule, true);
    story(&t,
          "acquire: create\n"
          "created %s: -\n"
          "listed %s: granted own\n"
          "own: -\n",
          name, name);
}

static void hold_reader(void) { hold_as(&pdk__rule_reader, "reader"); }

static void hold_writer(void) { hold_as(&pdk__rule_writer, "writer"); }

static void a_writer_or_another_lock_is_a_rival_of_a_reader(void)
{
    static const char *const names[] = {"writer7", "6"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        hold_reader();
        story(&t,
              "idle: rivals\n"
              "rivals reader4 reader %s: contended\n",
              names[i]);
    }
}

static void look_in_vain(int n)
{
    for (int i = 0; i < n; i++)
        story(&t, "rivals changed: rivals\n"
                  "rivals reader reader6: -\n");
}

static void an_idle_reader_gives_way_after_four_looks_in_vain(void)
{
    hold_reader();
    story(&t, "idle: rivals\n"
              "rivals reader: -\n");
    look_in_vain(4);
    story(&t, "used: -\n"
              "idle: -\n");
    look_in_vain(4);
    story(&t, "rivals changed: contended\n"
              "idle: contended\n");
}

static const struct story stories[] = {
    {"the first idle moment watches the children", hold,
     "idle: rivals\n"
     "rivals own: -\n"
     "idle: -\n"
     "idle: -\n"
     "release: delete\n"},
    {"a rival that came before is reported", hold,
     "idle: rivals\n"
     "rivals 6 own: contended\n"},
    {"a rival that comes later is reported without a listing", hold,
     "idle: rivals\n"
     "rivals own: -\n"
     "rivals changed: contended\n"
     "rivals changed: -\n"},
    {"a rival whose event was swallowed is found", hold,
     "idle: rivals\n"
     "rivals own: -\n"
     "look again: own rivals\n"
     "rivals 6 own: contended\n"},
    {"a watch that fires before its listing counts", hold,
     "idle: rivals\n"
     "rivals changed: contended\n"
     "rivals own: -\n"},
    {"a rival is remembered until the next idle moment", hold,
     "idle: rivals\n"
     "rivals own: -\n"
     "rivals changed: contended\n"
     "idle: contended\n"},
    {"a node of no contender is no rival", hold,
     "idle: rivals\n"
     "rivals config own: -\n"},
    {"a holder in doubt is contended for", hold,
     "doubted: suspect\n"
     "idle: contended\n"},
    {"a lost connection forgets the watch", hold,
     "idle: rivals\n"
     "rivals own: -\n"
     "down: suspect\n"
     "up: own\n"
     "own: held\n"
     "rivals changed: -\n"
     "idle: rivals\n"
     "rivals own 6: contended\n"},
    {"a released holder reports no rival", hold,
     "idle: rivals\n"
     "release: delete\n"
     "rivals 6 own: -\n"
     "rivals changed: -\n"},
    {"a holder that is idle can be lost", hold,
     "idle: rivals\n"
     "rivals own: -\n"
     "own gone: lost done\n"},
    /* --- a reader ------------------------------------------------------------------------------------------------- */
    {"a reader is no rival of a reader", hold_reader,
     "idle: rivals\n"
     "rivals reader4 reader reader6: -\n"},
    {"a reader is a rival of a writer", hold_writer,
     "idle: rivals\n"
     "rivals writer: -\n"
     "rivals changed: contended\n"
     "\n"
     "idle: rivals\n"
     "rivals writer reader6: contended\n"},
    {"an idle reader lists again after a change", hold_reader,
     "idle: rivals\n"
     "rivals reader: -\n"
     "rivals changed: rivals\n"
     "rivals reader reader6: -\n"
     "rivals changed: rivals\n"
     "rivals reader reader6 writer7: contended\n"},
    /* The answer that is under way is of before the change. */
    {"an answer from before a change counts for nothing", hold_reader,
     "idle: rivals\n"
     "rivals changed: rivals\n"
     "rivals of rivals before: -\n"
     "rivals reader writer7: contended\n"},
    {"a reader that is used lists when it is idle again", hold_reader,
     "idle: rivals\n"
     "rivals reader: -\n"
     "used: -\n"
     "rivals changed: -\n"
     "rivals changed: -\n"
     "idle: rivals\n"
     "rivals reader: -\n"
     "used: -\n"
     "idle: -\n"},
    {"a reader that cannot list is contended for", hold_reader,
     "idle: rivals\n"
     "rivals reader: -\n"
     "rivals changed: rivals\n"
     "rivals unknown: contended\n"},
    {"a released reader lists no more", hold_reader,
     "idle: rivals\n"
     "rivals reader: -\n"
     "release: delete\n"
     "rivals changed: -\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a node without a watch is looked at when the children change",
         a_node_without_a_watch_is_looked_at_when_the_children_change},
        {"what cannot be listed counts as a rival", what_cannot_be_listed_counts_as_a_rival},
        {"a writer, or another lock, is a rival of a reader", a_writer_or_another_lock_is_a_rival_of_a_reader},
        {"an idle reader gives way after four looks in vain", an_idle_reader_gives_way_after_four_looks_in_vain},
        {0}};
    return pdk__story_main(argc, argv, "idle", __FILE__, &t, stories, tests);
}
