#include "cli/look/census.h"
#include "lib/core/order.h"
#include "lib/zk/listing.h"
#include "test/lib/check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 2, NODES = 8 };

/* One look at the locks. */
struct scene {
    struct pdk_contender_list lists[PLACES];
    struct pdk__listing_item items[PLACES][NODES];
    char names[PLACES][NODES][PDK__NAME_MAX];
    struct pdk__cli_place places[PLACES];
    struct pdk__cli_tree tree;
};

static struct scene first, second;
static struct pdk__cli_census census;

static void begin(struct scene *s)
{
    static char paths[PLACES][4] = {"/a", "/b"};
    *s = (struct scene){.tree = {.places = s->places, .n = PLACES}};
    for (size_t p = 0; p < PLACES; p++) {
        s->lists[p] = (struct pdk_contender_list){.path = paths[p], .items = s->items[p]};
        s->places[p] = (struct pdk__cli_place){.path = paths[p], .list = &s->lists[p]};
    }
}

/* The mutex of PLACE has a contender of ACTOR with NUMBER, in that order. */
static void stand(struct scene *s, size_t place, int number, int actor, int64_t token)
{
    struct pdk_contender_list *list = &s->lists[place];
    char *name = s->names[place][list->n];
    CHECK(list->n < NODES);
    snprintf(name, PDK__NAME_MAX, "%016x-%08x-lock-%010d", actor, actor, number);
    list->items[list->n] = (struct pdk__listing_item){.name = name, .parsed = pdk__name_parse(name)};
    list->items[list->n].stat.czxid = token;
    list->items[list->n++].stat.ephemeralOwner = actor;
    s->tree.n_contenders++;
}

static void two_in_a_circle(struct scene *s)
{
    begin(s);
    stand(s, 0, 0, 1, 10);
    stand(s, 0, 1, 2, 13);
    stand(s, 1, 0, 2, 11);
    stand(s, 1, 1, 1, 12);
}

static void take(const struct scene *s, const struct scene *before)
{
    pdk__cli_census_free(&census);
    CHECK(pdk__cli_census_take(&census, &s->tree, before != NULL ? &before->tree : NULL, false));
}

static void a_deadlock_of_two_looks(void)
{
    two_in_a_circle(&first);
    two_in_a_circle(&second);
    take(&first, NULL);
    CHECK_EQ(census.verdict.n_deadlocks, 1);
    take(&second, &first);
    CHECK_EQ(census.verdict.n_deadlocks, 1);
    CHECK_EQ(census.n_waiting, 2);
    CHECK_EQ(census.n_holding, 2);
}

/* The holder of /b left before the second contender of /a came: /b was listed first. */
static void a_node_that_is_gone(void)
{
    two_in_a_circle(&first);
    begin(&second);
    stand(&second, 0, 0, 1, 10);
    stand(&second, 0, 1, 2, 13);
    stand(&second, 1, 1, 1, 12);
    take(&second, &first);
    CHECK_EQ(census.verdict.n_deadlocks, 0);
}

static void a_node_that_is_new(void)
{
    begin(&first);
    stand(&first, 0, 0, 1, 10);
    stand(&first, 1, 0, 2, 11);
    stand(&first, 1, 1, 1, 12);
    two_in_a_circle(&second);
    take(&second, &first);
    CHECK_EQ(census.verdict.n_deadlocks, 0);
    take(&second, NULL);
    CHECK_EQ(census.verdict.n_deadlocks, 1);
}

/* Under the name of one that was deleted. */
static void a_node_that_was_created_again(void)
{
    two_in_a_circle(&first);
    begin(&second);
    stand(&second, 0, 0, 1, 10);
    stand(&second, 0, 1, 2, 13);
    stand(&second, 1, 0, 2, 14);
    stand(&second, 1, 1, 1, 12);
    take(&second, &first);
    CHECK_EQ(census.verdict.n_deadlocks, 0);
}

/* A waiter stands for all ahead of it, so that a long queue has few blockers. */
static void a_queue_has_one_blocker_each(void)
{
    begin(&first);
    for (int i = 0; i < NODES; i++)
        stand(&first, 0, i, i + 1, 10 + i);
    take(&first, NULL);
    CHECK_EQ(census.n_waiting, NODES - 1);
    for (size_t i = 0; i < census.waits.n; i++) {
        CHECK_EQ(census.waits.list[i].n, 1);
        CHECK_EQ(census.nodes[census.speaker[census.reasons[i].holder]].i, 0);
    }
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a deadlock is there in two looks", a_deadlock_of_two_looks},
        {"a node that is gone in the second look makes no deadlock", a_node_that_is_gone},
        {"nor does one that is new there", a_node_that_is_new},
        {"nor one that was created again", a_node_that_was_created_again},
        {"a waiter has its predecessor for a blocker, and the holder for its reason", a_queue_has_one_blocker_each},
        {0},
    };
    int status = pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "census", .tests = tests});
    pdk__cli_census_free(&census);
    return status;
}
