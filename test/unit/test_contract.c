/* The functions by which a step asserts its state and its event answer false where these are wrong. Stories and
 * histories see the true answers alone. */
#include "lib/core/barrier.h"
#include "lib/core/contender.h"
#include "lib/core/contract.h"
#include "lib/core/double_barrier.h"
#include "lib/core/session.h"
#include "lib/core/stray.h"
#include "test/lib/check.h"

static uint64_t ops;

static void a_barrier(void)
{
    struct pdk__barrier whole, b;
    pdk__barrier_init(&whole, &ops, PDK__BARRIER_WAIT, 1, true);
    CHECK(pdk__barrier_allowed(&whole));
    static const enum pdk__barrier_phase connected[] = {PDK__BARRIER_ASKING, PDK__BARRIER_PARENTS,
                                                        PDK__BARRIER_WATCHING, PDK__BARRIER_BACKOFF};
    for (size_t i = 0; i < sizeof connected / sizeof *connected; i++) {
        b = whole;
        b.phase = connected[i], b.connected = false, b.op = 1, b.watched = true;
        CHECK(!pdk__barrier_allowed(&b));
    }
    b = whole, b.phase = PDK__BARRIER_ASKING; /* no request is under way */
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.watched = true;
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.task = PDK__BARRIER_SET, b.op = 1, b.phase = PDK__BARRIER_WATCHING;
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.op = 1, b.begun = true; /* one that waits writes nothing */
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.op = 1, b.phase = PDK__BARRIER_PARENTS;
    CHECK(!pdk__barrier_allowed(&b));
    b = whole, b.op = 1, b.phase = PDK__BARRIER_WATCHING; /* what for? */
    CHECK(!pdk__barrier_allowed(&b));

    struct pdk__event created = {.kind = PDK__EV_CREATED, .op = 1};
    b = whole, b.op = 1, b.phase = PDK__BARRIER_ASKING, b.watched = true;
    CHECK(pdk__barrier_allowed(&b) && !pdk__contract_allows_barrier(&b, &created));
    b.task = PDK__BARRIER_SET;
    CHECK(pdk__contract_allows_barrier(&b, &created));
    b.task = PDK__BARRIER_WAIT, b.phase = PDK__BARRIER_WATCHING; /* late: it changes nothing */
    CHECK(pdk__contract_allows_barrier(&b, &created));
}

static void a_double_barrier(void)
{
    struct pdk__double_barrier whole, b;
    pdk__double_barrier_init(&whole, &ops, 2, 1, 1, 0x5, true);
    CHECK(pdk__double_barrier_allowed(&whole));
    b = whole, b.outlived = true, b.node = PDK__NODE_NO, b.op = 1, b.phase = PDK__MEMBER_COUNTING;
    CHECK(!pdk__double_barrier_allowed(&b));
    b.phase = PDK__MEMBER_REMOVING;
    CHECK(pdk__double_barrier_allowed(&b));
    b = whole, b.aim = PDK__AIM_INSIDE; /* without a node */
    CHECK(!pdk__double_barrier_allowed(&b));
    b = whole, b.phase = PDK__MEMBER_CREATING, b.node = PDK__NODE_MAYBE;
    CHECK(!pdk__double_barrier_allowed(&b));
    b.op = 1;
    CHECK(pdk__double_barrier_allowed(&b));
    b.connected = false;
    CHECK(!pdk__double_barrier_allowed(&b));
    b = whole, b.watched = true;
    CHECK(!pdk__double_barrier_allowed(&b));
}

static void a_stray(void)
{
    struct pdk__stray s;
    pdk__stray_init(&s, &ops, 0x5, 1, 1, 100);
    CHECK(pdk__stray_allowed(&s));
    struct pdk__event ev = {.kind = PDK__EV_TIMER, .now_ms = 99};
    CHECK(!pdk__contract_allows_stray(&s, &ev)); /* time goes back */
    ev.now_ms = 100;
    CHECK(pdk__contract_allows_stray(&s, &ev));
    ev.kind = PDK__EV_ACQUIRE;
    CHECK(pdk__contract_allows_stray(&s, &ev)); /* nothing happens */
    ev = (struct pdk__event){.kind = PDK__EV_DELETED, .now_ms = 100, .op = 7};
    s.op = 7, s.phase = PDK__STRAY_IDENTIFYING;
    CHECK(!pdk__stray_allowed(&s) && !pdk__contract_allows_stray(&s, &ev));
}

static void a_contender(void)
{
    struct pdk__contender c = {.now_ms = 100, .op = 7, .phase = PDK__CREATING};
    struct pdk__event ev = {.kind = PDK__EV_TIMER, .now_ms = 99};
    CHECK(!pdk__contract_allows(&c, &ev)); /* time goes back */
    ev = (struct pdk__event){.kind = PDK__EV_TIMER, .now_ms = 100, .error = 1};
    CHECK(!pdk__contract_allows(&c, &ev)); /* errors are negative */
    ev.error = 0;
    CHECK(pdk__contract_allows(&c, &ev));
    ev = (struct pdk__event){.kind = PDK__EV_ACQUIRE, .now_ms = 100};
    CHECK(!pdk__contract_allows(&c, &ev));
    ev = (struct pdk__event){.kind = PDK__EV_DELETED, .now_ms = 100, .op = 7};
    CHECK(!pdk__contract_allows(&c, &ev)); /* it asked for a create */
    ev.kind = PDK__EV_BARRIER;
    CHECK(!pdk__contract_allows(&c, &ev));
    ev.kind = (enum pdk__event_kind)(PDK__EV_DELETED + 1); /* no answer that there is */
    CHECK(!pdk__contract_allows(&c, &ev));
    ev.op = 6; /* of an earlier request: it may be anything */
    CHECK(pdk__contract_allows(&c, &ev));
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {{"a barrier's states and events", a_barrier},
                                             {"those of a member of a double barrier", a_double_barrier},
                                             {"those of a stray", a_stray},
                                             {"the events of a contender", a_contender},
                                             {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "contract", .tests = tests});
}
