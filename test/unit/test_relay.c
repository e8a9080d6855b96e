/* A signal reaches the command once, whether it was sent to one process of ours or to all. */
#include "cli/run/relay.h"
#include "test/lib/check.h"

#include <signal.h>

enum { MANAGER = 1, USER = 4711, HOUR = 3600000 };

static struct pdk__cli_relay relay;
static bool everywhere;
static pid_t sender;

static void fresh(void) { relay = (struct pdk__cli_relay){0}; }

static int next(int64_t now) { return pdk__cli_relay_next(&relay, now, &everywhere, &sender); }

static void to_one(void)
{
    fresh();
    CHECK_EQ(pdk__cli_relay_due(&relay), -1);
    pdk__cli_relay_take(&relay, SIGTERM, USER, WAY_RUNNER, 1000);
    int64_t due = pdk__cli_relay_due(&relay);
    CHECK(due > 1000);
    CHECK_EQ(next(due), 0);
    CHECK(!pdk__cli_relay_asks(&relay, due - 1));
    CHECK(pdk__cli_relay_asks(&relay, due));
    CHECK(!pdk__cli_relay_asks(&relay, due));
    CHECK_EQ(next(due), 0);
    pdk__cli_relay_answered(&relay, due + 1);
    CHECK_EQ(next(due + 1), SIGTERM);
    CHECK(!everywhere);
    CHECK_EQ(next(due + HOUR), 0);
    CHECK_EQ(pdk__cli_relay_due(&relay), -1);
}

static void no_answer(void)
{
    fresh();
    pdk__cli_relay_take(&relay, SIGTERM, USER, WAY_SESSION, 1000);
    int64_t due = pdk__cli_relay_due(&relay);
    CHECK(pdk__cli_relay_asks(&relay, due));
    due = pdk__cli_relay_due(&relay);
    CHECK_EQ(next(due), SIGTERM);
    CHECK(!everywhere);
}

static void to_all(enum pdk__cli_way first, enum pdk__cli_way second)
{
    fresh();
    pdk__cli_relay_take(&relay, SIGTERM, MANAGER, first, 1000);
    pdk__cli_relay_take(&relay, SIGTERM, MANAGER, second, 1001);
    CHECK(!pdk__cli_relay_asks(&relay, 1001));
    CHECK_EQ(next(1001), SIGTERM);
    CHECK(everywhere);
    CHECK_EQ(sender, MANAGER);
    CHECK_EQ(next(1000 + HOUR), 0);
}

static void either_first(void)
{
    to_all(WAY_RUNNER, WAY_SESSION);
    to_all(WAY_SESSION, WAY_RUNNER);
}

static void found_by_asking(void)
{
    fresh();
    pdk__cli_relay_take(&relay, SIGTERM, MANAGER, WAY_RUNNER, 1000);
    int64_t due = pdk__cli_relay_due(&relay);
    CHECK(pdk__cli_relay_asks(&relay, due));
    pdk__cli_relay_take(&relay, SIGTERM, MANAGER, WAY_SESSION, due);
    pdk__cli_relay_answered(&relay, due);
    CHECK_EQ(next(due), SIGTERM);
    CHECK(everywhere);
}

/* One after the other: the command has the first by then. */
static void one_then_the_other(void)
{
    to_one();
    pdk__cli_relay_take(&relay, SIGTERM, USER, WAY_SESSION, 1500);
    int64_t due = pdk__cli_relay_due(&relay);
    CHECK(pdk__cli_relay_asks(&relay, due));
    pdk__cli_relay_answered(&relay, due);
    CHECK_EQ(next(due), SIGTERM);
    CHECK(!everywhere);
}

static void other_senders(void)
{
    fresh();
    pdk__cli_relay_take(&relay, SIGTERM, USER, WAY_RUNNER, 1000);
    pdk__cli_relay_take(&relay, SIGTERM, MANAGER, WAY_SESSION, 1001);
    int64_t due = pdk__cli_relay_due(&relay);
    CHECK(pdk__cli_relay_asks(&relay, due));
    pdk__cli_relay_answered(&relay, due);
    CHECK_EQ(next(due), SIGTERM);
    CHECK(!everywhere);
    CHECK_EQ(next(due), 0);
}

static void later_again(void)
{
    to_one();
    pdk__cli_relay_take(&relay, SIGTERM, USER, WAY_RUNNER, HOUR);
    int64_t due = pdk__cli_relay_due(&relay);
    CHECK(due > HOUR);
    CHECK(pdk__cli_relay_asks(&relay, due));
    pdk__cli_relay_answered(&relay, due);
    CHECK_EQ(next(due), SIGTERM);
}

/* Later, when it is asked what has ended the command. */
static void known_afterwards(void)
{
    fresh();
    CHECK(!pdk__cli_relay_took(&relay, SIGINT));
    pdk__cli_relay_take(&relay, SIGINT, USER, WAY_RUNNER, 1000);
    CHECK(pdk__cli_relay_took(&relay, SIGINT));
    int64_t due = pdk__cli_relay_due(&relay);
    CHECK(pdk__cli_relay_asks(&relay, due));
    pdk__cli_relay_answered(&relay, due);
    CHECK_EQ(next(due), SIGINT);
    CHECK(pdk__cli_relay_took(&relay, SIGINT));
    CHECK(!pdk__cli_relay_took(&relay, SIGQUIT));
    CHECK(!pdk__cli_relay_took(&relay, 64));
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a signal to one process is passed on when the session has no other", to_one},
        {"a session that does not answer is not waited for", no_answer},
        {"a signal to every process is known by its two ways", either_first},
        {"the question finds the second one", found_by_asking},
        {"one that comes by the other way after the first was passed on is passed on, too", one_then_the_other},
        {"signals of two senders are not taken for one to every process", other_senders},
        {"the same signal is passed on again when it comes again", later_again},
        {"a signal that came is known afterwards", known_afterwards},
        {0},
    };
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "relay", .tests = tests});
}
