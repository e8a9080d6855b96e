/* Changes on their way to the program's descriptor. The tests of the recipes check those given to its callback. */
#include "lib/zk/client.h"
#include "recipes/changes.h"
#include "test/lib/check.h"

#include <poll.h>

static struct pdk_client client;
static struct pdk__changes changes;

static bool readable(void)
{
    struct pollfd p = {.fd = changes.fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void init(void)
{
    atomic_store(&client.owner, pthread_self()); /* as if this thread had the lock */
    pdk__changes_init(&changes, &client, NULL, NULL);
}

static void begin(void)
{
    init();
    CHECK(pdk__changes_fd(&changes) >= 0);
    CHECK_EQ(pdk__changes_fd(&changes), changes.fd);
}

static void check_next(int what)
{
    struct pdk__change change;
    CHECK(readable());
    CHECK(pdk__changes_read(&changes, &change));
    CHECK_EQ(change.what, what);
    CHECK_EQ(change.token, 100 + what);
}

static void in_order(void)
{
    struct pdk__change change;
    begin();
    CHECK(!readable());
    CHECK(!pdk__changes_read(&changes, &change));
    for (int i = 0; i < 3; i++)
        pdk__changes_tell(&changes, i, 100 + i);
    for (int i = 0; i < 3; i++)
        check_next(i);
    CHECK(!readable());
    pdk__changes_tell(&changes, 3, 103);
    check_next(3);
    CHECK(!pdk__changes_read(&changes, &change));
    pdk__changes_end(&changes);
}

static void the_last_is_never_lost(void)
{
    begin();
    for (int i = 0; i < PDK__CHANGES_MAX + 4; i++)
        pdk__changes_tell(&changes, i, 100 + i);
    for (int i = 0; i < PDK__CHANGES_MAX - 1; i++)
        check_next(i);
    check_next(PDK__CHANGES_MAX + 3);
    CHECK(!readable());
    pdk__changes_end(&changes);
}

static void nothing_before_it_was_asked_for(void)
{
    struct pdk__change change;
    init();
    pdk__changes_tell(&changes, 1, 101);
    CHECK(pdk__changes_fd(&changes) >= 0);
    CHECK(!readable());
    CHECK(!pdk__changes_read(&changes, &change));
    pdk__changes_end(&changes);
    CHECK_EQ(changes.fd, -1);
    pdk__changes_tell(&changes, 1, 101);
    CHECK(!pdk__changes_read(&changes, &change));
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"changes are read in order, and the descriptor is readable as long as there are some", in_order},
        {"of too many those in the middle are lost, never the last", the_last_is_never_lost},
        {"what comes before the descriptor is asked for, or after it is closed, is not kept",
         nothing_before_it_was_asked_for},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "changes", .tests = tests});
}
