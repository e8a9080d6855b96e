#include "lib/core/path.h"
#include "test/lib/check.h"
#include <string.h>

static void absolute_paths_below_the_root_are_valid(void)
{
    static const char *const paths[] = {"/a", "/locks/orders", "/a.b/..c/d",
                                        "/locks/Stra\xc3\x9f"
                                        "e",
                                        "/a b"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK(pdk__path_valid(paths[i]));
}

static void everything_else_is_not(void)
{
    static const char *const paths[] = {"",     "/",    "a",     "locks/a", "/a/",   "//a",    "/a//b",
                                        "/a/.", "/./a", "/a/..", "/../a",   "/a\nb", "/a\x7f", "/a/\x01"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK(!pdk__path_valid(paths[i]));
}

static void a_path_longer_than_anybody_needs_is_not(void)
{
    static char path[PDK__PATH_MAX + 2];
    memset(path, 'a', PDK__PATH_MAX + 1);
    path[0] = '/';
    CHECK(!pdk__path_valid(path));
    path[PDK__PATH_MAX] = '\0';
    CHECK(pdk__path_valid(path));
}

static void ancestors_come_from_the_root_down(void)
{
    CHECK_EQ(pdk__path_next("/a/bc/d", 0), 2);
    CHECK_EQ(pdk__path_next("/a/bc/d", 2), 5);
    CHECK_EQ(pdk__path_next("/a/bc/d", 5), 7);
    CHECK_EQ(pdk__path_next("/a/bc/d", 7), 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"absolute paths below the root are valid", absolute_paths_below_the_root_are_valid},
        {"everything else is not", everything_else_is_not},
        {"a path longer than anybody needs is not", a_path_longer_than_anybody_needs_is_not},
        {"ancestors come from the root down", ancestors_come_from_the_root_down},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "path", .tests = tests});
}
