/* Events on their way to the program's descriptor. The tests of the recipes check those given to its callback. */
#include "lib/alloc.h"
#include "lib/zk/client.h"
#include "recipes/events.h"
#include "test/lib/check.h"

#include <poll.h>

static struct pdk_client client;
static struct pdk__events events;
static struct pdk__object object = {.client = &client};

static bool readable(void)
{
    struct pollfd p = {.fd = events.fd, .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void init(void)
{
    atomic_store(&client.guard.owner, pthread_self()); /* as if this thread had the lock */
    pdk__events_init(&events, &object, NULL);
}

static void end(void)
{
    pdk__events_end(&events);
    pdk__events_clear(&events);
}

static void begin(void)
{
    init();
    CHECK(pdk__events_fd(&events) >= 0);
    CHECK_EQ(pdk__events_fd(&events), events.fd);
}

static void tell_of(pdk_event_kind kind, int number)
{
    pdk__events_tell(&events, (pdk_event){.kind = kind, .token = 100 + number});
}

static void tell(int number) { tell_of(PDK_EVENT_STATE, number); }

static void check_next(int number)
{
    pdk_event event;
    CHECK(readable());
    CHECK(pdk__events_read(&events, &event));
    CHECK_EQ(event.token, 100 + number);
}

static void in_order(void)
{
    pdk_event event;
    begin();
    CHECK(!readable());
    CHECK(!pdk__events_read(&events, &event));
    for (int i = 0; i < 3; i++)
        tell(i);
    for (int i = 0; i < 3; i++)
        check_next(i);
    CHECK(!readable());
    tell(3);
    check_next(3);
    CHECK(!pdk__events_read(&events, &event));
    end();
}

static void the_last_is_never_lost(void)
{
    begin();
    for (int i = 0; i < PDK__EVENTS_MAX + 4; i++)
        tell(i);
    for (int i = 0; i < PDK__EVENTS_MAX - 1; i++)
        check_next(i);
    check_next(PDK__EVENTS_MAX + 3);
    CHECK(!readable());
    end();
}

/* However many of another sort come after it. */
static void the_last_of_a_sort_is_never_lost(void)
{
    begin();
    tell_of(PDK_EVENT_STATE, 1);
    tell_of(PDK_EVENT_REVOKED, 2);
    tell_of(PDK_EVENT_QUEUED, 3);
    for (int i = 4; i < 4 + PDK__EVENTS_MAX; i++)
        tell_of(PDK_EVENT_QUEUED, i);
    tell_of(PDK_EVENT_DEPOSED, 50);
    tell_of(PDK_EVENT_ELECTED, 51);
    check_next(1);
    check_next(2);
    for (int i = 3; i < PDK__EVENTS_MAX - 1; i++)
        check_next(i);
    check_next(3 + PDK__EVENTS_MAX);
    check_next(51);
    CHECK(!readable());
    end();
}

static void nothing_before_it_was_asked_for(void)
{
    pdk_event event;
    init();
    tell(1);
    CHECK(pdk__events_fd(&events) >= 0);
    CHECK(!readable());
    CHECK(!pdk__events_read(&events, &event));
    pdk__events_end(&events);
    CHECK_EQ(events.fd, -1);
    tell(1);
    CHECK(!pdk__events_read(&events, &event));
    pdk__events_clear(&events);
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static bool none(size_t size)
{
    (void)size;
    return false;
}

static void unused(pdk_lock *l, const pdk_event *event, void *arg) { (void)l, (void)event, (void)arg; }

static void without_memory(void)
{
    init();
    pdk__alloc_set_gate(none);
    int rc = pdk__events_call(&events, unused, NULL), fd = pdk__events_fd(&events);
    pdk__alloc_set_gate(NULL);
    CHECK_RC(rc, PDK_ENOMEM);
    CHECK(events.cb == NULL);
    CHECK_RC(fd, PDK_ENOMEM);
    tell(1);
    CHECK_RC(pdk__events_call(&events, NULL, NULL), 0);
    CHECK(pdk__events_fd(&events) >= 0);
    CHECK_RC(pdk__events_call(&events, unused, NULL), 0);
    end();
}

static void an_event_needs_none(void)
{
    begin();
    pdk__alloc_set_gate(none);
    tell(1);
    pdk__alloc_set_gate(NULL);
    check_next(1);
    end();
}

static void an_object_has_no_queue(void)
{
    init();
    CHECK(events.to_call == NULL && events.to_read == NULL);
    CHECK(sizeof events < sizeof *events.to_read);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"events are read in order, and the descriptor is readable as long as there are some", in_order},
        {"of too many those in the middle are lost, never the last", the_last_is_never_lost},
        {"nor the last of a sort, however many of another come after it", the_last_of_a_sort_is_never_lost},
        {"what comes before the descriptor is asked for, or after it is closed, is not kept",
         nothing_before_it_was_asked_for},
        {"a program that has no memory for events is told so when it asks for them", without_memory},
        {"an event needs no memory", an_event_needs_none},
        {"a program that asks for no events has no queue of them", an_object_has_no_queue},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "events", .tests = tests});
}
