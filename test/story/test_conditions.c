/* Stories of grants that take more than to be the first. */
#include "paddock/error.h"
#include "test/lib/check.h"
#include "test/story/tale.h"

static struct tale t;

/* --- a least token ----------------------------------------------------------------------------------------------- */

static void ask_for(int64_t min_token)
{
    tale_begin(&t, true);
    t.c.conditions.min_token = min_token;
    acquire(&t, -1);
    created(&t, OURS);
    tale_reset(&t);
}

static void a_token_that_comes_up_to_it_is_granted(void)
{
    ask_for(77);
    listed(&t, LIST(OURS));
    CHECK_STR(t.trace, "listed: granted own\n");
}

static void a_token_below_it_is_refused_and_leaves_no_node(void)
{
    ask_for(78);
    listed(&t, LIST(OURS));
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.trace, "listed: failed(PDK_ESTALE) delete\n"
                       "deleted: done\n");
}

static void a_waiter_hears_of_it_with_its_turn(void)
{
    ask_for(78);
    listed(&t, LIST(OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    own(&t);
    fired(&t, true);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.trace, "listed: watch(4) own\n"
                       "watched: -\n"
                       "own: -\n"
                       "gone: failed(PDK_ESTALE) delete\n"
                       "deleted: done\n");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a token that comes up to the least is granted", a_token_that_comes_up_to_it_is_granted},
        {"a token below the least is refused, and leaves no node", a_token_below_it_is_refused_and_leaves_no_node},
        {"a waiter hears of a token below the least with its turn", a_waiter_hears_of_it_with_its_turn},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "conditions", .tests = tests});
}
