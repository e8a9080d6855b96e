/* The tests of the fault tests' judge. */
#include "test/docker/history.h"
#include "test/lib/check.h"

#include <string.h>

#define JUDGE(...)                                                                                                     \
    pdk__history_flaw((struct pdk__span[]){__VA_ARGS__},                                                               \
                      sizeof((struct pdk__span[]){__VA_ARGS__}) / sizeof(struct pdk__span))

static void check_flaw(const char *flaw, const char *expected)
{
    CHECK(flaw != NULL);
    CHECK(strncmp(flaw, expected, strlen(expected)) == 0);
}

static void lawful(void)
{
    CHECK(pdk__history_flaw(NULL, 0) == NULL);
    CHECK(JUDGE({"a", 5, 10, 20}) == NULL);
    CHECK(JUDGE({"b", 7, 20, 30}, {"a", 5, 10, 20}, {"c", 9, 31, INT64_MAX}) == NULL);
}

static void doubts(void)
{
    CHECK(JUDGE({"a", 5, 10, 20}, {"a", 5, 40, 50}, {"b", 7, 50, 60}) == NULL);
    check_flaw(JUDGE({"a", 5, 10, 20}, {"a", 5, 40, 50}, {"b", 7, 45, 60}), "two holders");
    check_flaw(JUDGE({"a", 5, 10, 20}, {"b", 7, 21, 30}, {"a", 5, 40, 50}), "the token fell");
}

static void overlap(void)
{
    check_flaw(JUDGE({"a", 5, 10, 21}, {"b", 7, 20, 30}), "two holders");
    check_flaw(JUDGE({"a", 5, 10, INT64_MAX}, {"b", 7, 20, 30}), "two holders");
}

/* A correct span in between does not hide the overlap. */
static void long_overlap(void)
{
    check_flaw(JUDGE({"a", 5, 10, 45}, {"a", 5, 20, 30}, {"b", 7, 40, 50}), "two holders");
}

static void tokens(void)
{
    check_flaw(JUDGE({"a", 7, 10, 20}, {"b", 5, 20, 30}), "the token fell");
    check_flaw(JUDGE({"a", 7, 10, 20}, {"b", 7, 20, 30}), "one token, two holders");
    check_flaw(JUDGE({"a", 0, 10, 20}), "no token");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"grants one after another are lawful", lawful},
        {"a doubt in the middle of a grant is no second grant", doubts},
        {"holds that overlap are a flaw", overlap},
        {"a hold that outlasts its neighbour is still seen", long_overlap},
        {"tokens that do not grow are a flaw", tokens},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "history", .tests = tests});
}
