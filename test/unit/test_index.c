/* Which members a fired path concerns. No server is needed. */
#include "lib/alloc.h"
#include "lib/zk/member.h"
#include "test/lib/check.h"

#include <stdio.h>

enum { MANY = 5000, PATH_MAX_ = 32 };

static struct pdk__index x;
static struct pdk__member members[MANY];
static struct pdk__index_entry entries[MANY];
static char paths[MANY][PATH_MAX_];

static void begin(void)
{
    pdk__index_init(&x, 17);
    for (int i = 0; i < MANY; i++) {
        entries[i] = (struct pdk__index_entry){0};
        snprintf(paths[i], PATH_MAX_, "/locks/%d", i);
    }
}

static void note(int i, const char *path) { pdk__index_note(&x, &entries[i], &members[i], path); }

static void end(void)
{
    for (int i = 0; i < MANY; i++)
        pdk__index_drop(&x, &entries[i]);
    pdk__index_end(&x);
}

/* The walk for PATH meets these members, in their order, and then none. */
static void check_walk(const char *path, int n, const int *expected)
{
    struct pdk__index_walk walk;
    pdk__index_walk(&x, &walk, path);
    for (int i = 0; i < n; i++)
        CHECK(pdk__index_next(&x, &walk) == &members[expected[i]]);
    CHECK(pdk__index_next(&x, &walk) == NULL);
}

#define CHECK_WALK(path, ...)                                                                                          \
    check_walk(path, (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int)), (const int[]){__VA_ARGS__})

static bool fail(size_t size)
{
    (void)size;
    return false;
}

static size_t longest(void)
{
    size_t most = 0;
    for (size_t i = 0; i < x.n_chains; i++) {
        size_t n = 0;
        PDK__LIST_EACH (link, &x.chains[i])
            n++;
        most = n > most ? n : most;
    }
    return most;
}

static void each_path_finds_its_member(void)
{
    begin();
    for (int i = 0; i < MANY; i++)
        note(i, paths[i]);
    CHECK_EQ(x.n, MANY);
    for (int i = 0; i < MANY; i++)
        CHECK_WALK(paths[i], i);
    check_walk("/locks", 0, NULL);
    CHECK(x.n_chains >= MANY);
    CHECK(longest() <= 12); /* a table that does not grow has chains of hundreds */
    end();
}

/* Without memory there are sixteen chains, and thousands of paths. */
static void paths_of_one_chain(void)
{
    begin();
    pdk__alloc_set_gate(fail);
    for (int i = 0; i < MANY / 2; i++)
        note(i, paths[i]);
    pdk__alloc_set_gate(NULL);
    for (int i = 0; i < MANY; i++)
        check_walk(paths[i], i < MANY / 2, &i);
    end();
}

static void without_memory_it_is_only_slower(void)
{
    begin();
    pdk__alloc_set_gate(fail);
    for (int i = 0; i < MANY; i++)
        note(i, paths[i]);
    pdk__alloc_set_gate(NULL);
    CHECK_EQ(x.n_chains, PDK__INDEX_FEW);
    for (int i = 0; i < MANY; i += 100)
        CHECK_WALK(paths[i], i);
    end();
}

static void members_of_one_path_come_in_their_order(void)
{
    begin();
    for (int i = 0; i < 4; i++)
        note(i, "/locks/same");
    CHECK_WALK("/locks/same", 0, 1, 2, 3);
    for (int i = 4; i < MANY; i++) /* it grows: the order stays */
        note(i, paths[i]);
    CHECK_WALK("/locks/same", 0, 1, 2, 3);
    end();
}

static void a_path_that_was_dropped_or_changed_finds_nothing(void)
{
    begin();
    note(0, paths[0]);
    note(1, paths[0]);
    note(0, paths[1]);
    CHECK_WALK(paths[0], 1);
    CHECK_WALK(paths[1], 0);
    note(0, NULL);
    check_walk(paths[1], 0, NULL);
    pdk__index_drop(&x, &entries[0]); /* again */
    CHECK_EQ(x.n, 1);
    end();
}

/* A member's reaction can drop any entry of its own, and note others. */
static void a_walk_survives_what_its_members_do(void)
{
    struct pdk__index_walk walk;
    begin();
    for (int i = 0; i < 4; i++)
        note(i, "/locks/same");
    pdk__index_walk(&x, &walk, "/locks/same");
    CHECK(pdk__index_next(&x, &walk) == &members[0]);
    note(0, "/locks/same"); /* it watches again: that watch has not fired */
    note(4, "/locks/same");
    pdk__index_drop(&x, &entries[1]);
    CHECK(pdk__index_next(&x, &walk) == &members[2]);
    pdk__index_drop(&x, &entries[2]);
    for (int i = 5; i < MANY; i++)
        note(i, paths[i]);
    CHECK(pdk__index_next(&x, &walk) == &members[3]);
    CHECK(pdk__index_next(&x, &walk) == NULL);
    CHECK_WALK("/locks/same", 3, 0, 4);
    end();
}

static void the_entries_of_a_path_can_be_gone_through(void)
{
    begin();
    for (int i = 0; i < MANY; i++)
        note(i, i % 1000 == 0 ? "/locks/same" : paths[i]);
    const struct pdk__index_entry *entry = NULL;
    for (int i = 0; i < MANY; i += 1000)
        CHECK((entry = pdk__index_find(&x, "/locks/same", entry)) == &entries[i]);
    CHECK(pdk__index_find(&x, "/locks/same", entry) == NULL);
    end();
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"each of thousands of paths finds its member, in short chains", each_path_finds_its_member},
        {"paths of one chain are told apart", paths_of_one_chain},
        {"without memory it is only slower", without_memory_it_is_only_slower},
        {"the members of one path come in the order in which they noted it", members_of_one_path_come_in_their_order},
        {"a path that was dropped or changed finds nothing", a_path_that_was_dropped_or_changed_finds_nothing},
        {"a walk meets who was there before it, whatever its members do", a_walk_survives_what_its_members_do},
        {"the entries of a path can be gone through without a walk", the_entries_of_a_path_can_be_gone_through},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "index", .tests = tests});
}
