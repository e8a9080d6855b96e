/* Changes on their way to the program's descriptor. The tests of the recipes check those given to its callback. */
#include "lib/alloc.h"
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

static void end(void)
{
    pdk__changes_end(&changes);
    pdk__changes_clear(&changes);
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
    end();
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
    end();
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
    pdk__changes_clear(&changes);
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static bool none(size_t size)
{
    (void)size;
    return false;
}

static void unused(void) {}

static void without_memory(void)
{
    init();
    pdk__alloc_set_gate(none);
    int rc = pdk__changes_call(&changes, unused, NULL), fd = pdk__changes_fd(&changes);
    pdk__alloc_set_gate(NULL);
    CHECK_RC(rc, PDK_ENOMEM);
    CHECK(changes.cb == NULL);
    CHECK_RC(fd, PDK_ENOMEM);
    pdk__changes_tell(&changes, 1, 101);
    CHECK_RC(pdk__changes_call(&changes, NULL, NULL), 0);
    CHECK(pdk__changes_fd(&changes) >= 0);
    CHECK_RC(pdk__changes_call(&changes, unused, NULL), 0);
    end();
}

static void a_change_needs_none(void)
{
    begin();
    pdk__alloc_set_gate(none);
    pdk__changes_tell(&changes, 1, 101);
    pdk__alloc_set_gate(NULL);
    check_next(1);
    end();
}

static void an_object_has_no_queue(void)
{
    init();
    CHECK(changes.to_call == NULL && changes.to_read == NULL);
    CHECK(sizeof changes < sizeof *changes.to_read);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"changes are read in order, and the descriptor is readable as long as there are some", in_order},
        {"of too many those in the middle are lost, never the last", the_last_is_never_lost},
        {"what comes before the descriptor is asked for, or after it is closed, is not kept",
         nothing_before_it_was_asked_for},
        {"a program that has no memory for changes is told so when it asks for them", without_memory},
        {"a change needs no memory", a_change_needs_none},
        {"a program that asks for no changes has no queue of them", an_object_has_no_queue},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "changes", .tests = tests});
}
