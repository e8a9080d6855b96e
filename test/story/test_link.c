/*
 * Stories of links: a session of 10 s with servers that answer at once, over a link with a given round trip. A lock is
 * requested as soon as there is a connection, and held for an hour of the story's time.
 */
#include "lib/core/contender.h"
#include "lib/core/session.h"
#include "test/lib/check.h"
#include <stdlib.h>

enum { TIMEOUT_MS = 10000, HOUR_MS = 3600000, UNDER_WAY_MAX = 64 };

struct link {
    struct pdk__session s;
    int64_t now_ms;
    int64_t lag_ms, jitter_ms;
    int64_t stall_ms, stalled_ms; /* when the servers begin to do nothing, and when they go on */
    uint32_t dice;
    int n;
    struct {
        int64_t sent_ms, comes_ms;
        bool asked, wrote, synced;
    } under_way[UNDER_WAY_MAX]; /* answered in this order */
    bool proven;
    int doubts, ends, writes, requests;
    int64_t oldest_ms; /* belief, while it was wanted, since the last reset */
    int64_t proven_ms; /* when it was first proven, after a lock was requested */
};

static struct link l;

static int64_t trip_ms(void)
{
    l.dice = l.dice * 1664525u + 1013904223u;
    return l.lag_ms + (l.jitter_ms > 0 ? (int64_t)(l.dice >> 8) % (2 * l.jitter_ms + 1) - l.jitter_ms : 0);
}

static void send(bool asked, bool wrote, bool synced)
{
    int64_t there_ms = l.now_ms + l.lag_ms / 2, waits_ms = there_ms < l.stall_ms ? 0 : l.stalled_ms - there_ms;
    int64_t comes_ms = l.now_ms + trip_ms() + (waits_ms > 0 ? waits_ms : 0);
    CHECK(l.n < UNDER_WAY_MAX);
    if (l.n > 0 && comes_ms < l.under_way[l.n - 1].comes_ms)
        comes_ms = l.under_way[l.n - 1].comes_ms;
    l.under_way[l.n].sent_ms = l.now_ms;
    l.under_way[l.n].comes_ms = comes_ms;
    l.under_way[l.n].asked = asked;
    l.under_way[l.n].synced = synced;
    l.under_way[l.n++].wrote = wrote;
    l.writes += wrote;
    l.requests++;
}

static void step(struct pdk__session_event event)
{
    struct pdk__session_actions actions;
    event.now_ms = l.now_ms;
    bool known = l.s.chain.proven_ms != PDK__UNKNOWN_MS;
    if (known && l.now_ms - l.s.chain.proven_ms > l.oldest_ms)
        l.oldest_ms = l.now_ms - l.s.chain.proven_ms;
    pdk__session_step(&l.s, &event, &actions);
    for (size_t i = 0; i < actions.n; i++) {
        enum pdk__session_action_kind kind = actions.list[i].kind;
        if (kind == PDK__SACT_RENEW || kind == PDK__SACT_KEEPALIVE || kind == PDK__SACT_SYNC)
            send(true, kind == PDK__SACT_RENEW, kind == PDK__SACT_SYNC);
        l.proven = kind == PDK__SACT_LEASE_OK || (l.proven && kind != PDK__SACT_LEASE_LOW);
        l.doubts += kind == PDK__SACT_LEASE_LOW;
        l.ends += kind == PDK__SACT_LEASE_EXPIRED;
    }
    if (l.s.lease_needed && l.proven && l.proven_ms == 0)
        l.proven_ms = l.now_ms;
}

static void answer(void)
{
    struct pdk__session_event event = {.kind = PDK__SEV_ANSWERED,
                                       .sent_ms = l.under_way[0].sent_ms,
                                       .agreed = l.under_way[0].wrote,
                                       .led = l.under_way[0].synced,
                                       .asked = l.under_way[0].asked,
                                       .wrote = l.under_way[0].wrote};
    for (int i = 1; i < l.n; i++)
        l.under_way[i - 1] = l.under_way[i];
    l.n--;
    step(event);
    if (event.wrote && !event.asked && !l.s.lease_needed) /* it was the create, and no contender is ahead */
        step((struct pdk__session_event){.kind = PDK__SEV_LEASE_NEEDED});
}

static void run_until(int64_t end_ms)
{
    while (l.now_ms < end_ms) {
        int64_t wake_ms = pdk__session_wake_ms(&l.s);
        int64_t next_ms = l.n > 0 && l.under_way[0].comes_ms < wake_ms ? l.under_way[0].comes_ms : wake_ms;
        l.now_ms = next_ms < l.now_ms ? l.now_ms : next_ms < end_ms ? next_ms : end_ms;
        if (l.n > 0 && l.under_way[0].comes_ms <= l.now_ms)
            answer();
        else
            step((struct pdk__session_event){.kind = PDK__SEV_TIMER});
    }
}

/* Connected after one round trip, by a handle that was opened at 1000. */
static void begin(int64_t lag_ms, int64_t jitter_ms, int64_t tick_ms)
{
    l = (struct link){.now_ms = 1000, .lag_ms = lag_ms, .jitter_ms = jitter_ms, .dice = 7};
    pdk__session_init(&l.s, true, (struct pdk__session_policy){.tick_ms = tick_ms}, 7, TIMEOUT_MS, l.now_ms);
    l.now_ms += trip_ms();
    step((struct pdk__session_event){.kind = PDK__SEV_CONNECTED, .session = 0xa, .timeout_ms = TIMEOUT_MS});
    send(false, true, false);
}

static void hold_for_an_hour(int64_t lag_ms, int64_t jitter_ms, int64_t tick_ms)
{
    begin(lag_ms, jitter_ms, tick_ms);
    run_until(1000 + 2 * TIMEOUT_MS);
    CHECK(l.proven_ms != 0 && l.proven);
    l.doubts = l.ends = l.writes = l.requests = 0;
    l.oldest_ms = 0;
    run_until(1000 + HOUR_MS);
    CHECK_EQ(l.doubts, 0);
    CHECK_EQ(l.ends, 0);
    CHECK(!pdk__session_unfit(&l.s));
}

static void a_fifth_of_the_timeout_holds_for_an_hour_with_the_tick_stated(void)
{
    for (int64_t lag_ms = 10; lag_ms <= 2000; lag_ms += 10)
        hold_for_an_hour(lag_ms, 0, 2000);
}

static void a_round_trip_of_0_12_holds_for_an_hour_with_no_tick_stated(void)
{
    for (int64_t lag_ms = 10; lag_ms <= 1200; lag_ms += 10)
        hold_for_an_hour(lag_ms, 0, 0);
}

static void a_round_trip_that_varies_by_a_tenth_does_as_well(void)
{
    for (int64_t lag_ms = 100; lag_ms <= 1800; lag_ms += 100)
        hold_for_an_hour(lag_ms, lag_ms / 10, 2000);
    for (int64_t lag_ms = 100; lag_ms <= 1200; lag_ms += 100)
        hold_for_an_hour(lag_ms, lag_ms / 10, 0);
}

static void what_is_granted_stays_from_the_first_moment_on(void)
{
    for (int64_t lag_ms = 10; lag_ms <= 2000; lag_ms += 10) {
        begin(lag_ms, 0, 2000);
        while (l.proven_ms == 0)
            run_until(l.now_ms + 1);
        l.doubts = 0;
        run_until(l.now_ms + 3 * TIMEOUT_MS);
        CHECK_EQ(l.doubts, 0);
    }
}

/* A lock is requested, or no longer. */
static void want(bool wanted)
{
    step((struct pdk__session_event){.kind = wanted ? PDK__SEV_LEASE_NEEDED : PDK__SEV_LEASE_UNNEEDED});
}

/* Grant a lock to a session that was idle for IDLE_MS; its proof is as old. */
static void grant_after_idleness(int64_t lag_ms, int64_t idle_ms)
{
    begin(lag_ms, 0, 2000);
    run_until(1000 + 2 * TIMEOUT_MS);
    want(false);
    run_until(l.now_ms + idle_ms);
    send(false, true, false); /* a create */
    run_until(l.now_ms + lag_ms);
    want(true);
    while (!l.proven)
        run_until(l.now_ms + 1);
    l.doubts = 0;
    run_until(l.now_ms + 2 * TIMEOUT_MS);
    CHECK_EQ(l.doubts, 0);
}

static void what_is_granted_after_idleness_stays_too(void)
{
    for (int64_t lag_ms = 50; lag_ms <= 1600; lag_ms += 50)
        for (int64_t idle_ms = 0; idle_ms <= TIMEOUT_MS; idle_ms += 250)
            grant_after_idleness(lag_ms, idle_ms);
}

/* As when a client asks for hundreds of locks at a time: each answer waits for those before it. No proof comes while no
 * lock is wanted. */
static void one_quick_answer_ends_the_doubt_that_late_ones_raised(void)
{
    begin(1, 0, 0);
    run_until(2000);
    want(false);
    l.lag_ms = 400;
    for (int i = 0; i < 40; i++)
        send(false, false, false);
    l.lag_ms = 1;
    run_until(l.now_ms + 401);
    CHECK(!l.proven);
    send(false, false, false);
    run_until(l.now_ms + 2);
    CHECK(l.proven);
}

/* As when the servers were idle for long: the create's answer is late, and those after it are not. */
static void a_first_answer_that_is_late_delays_no_grant(void)
{
    for (int64_t late_ms = 100; late_ms <= 3000; late_ms += 100) {
        begin(5, 0, 0);
        l.under_way[0].comes_ms = l.now_ms + late_ms;
        run_until(l.now_ms + late_ms + 10);
        CHECK(l.proven && l.proven_ms != 0);
    }
}

/* Servers that do nothing for STALL_MS, from any moment on. */
static void stall(int64_t tick_ms, int64_t stall_ms, bool doubted)
{
    for (int64_t from_ms = 3 * TIMEOUT_MS; from_ms < 4 * TIMEOUT_MS; from_ms += 20) {
        begin(2, 0, tick_ms);
        l.stall_ms = from_ms;
        l.stalled_ms = from_ms + stall_ms;
        run_until(from_ms);
        l.doubts = l.ends = 0;
        run_until(from_ms + 2 * TIMEOUT_MS);
        CHECK(l.proven);
        CHECK(doubted || l.doubts == 0);
        CHECK_EQ(l.ends, 0);
    }
}

static void servers_may_stall_for_a_third_of_the_timeout(void)
{
    stall(0, 2400, false);
    stall(0, 3400, true);
    stall(2000, 2400, false);
    stall(2000, 3400, true);
}

/* An idle holder writes 2.2 times in a timeout, or 3.3 times where the tick is not stated. Its belief is as old then as
 * that of a holder whose requests are all writes. */
static void a_fast_link_costs_few_writes(void)
{
    for (int64_t lag_ms = 1; lag_ms <= 50; lag_ms++) {
        hold_for_an_hour(lag_ms, 0, 2000);
        CHECK(10 * l.writes <= 22 * (HOUR_MS / TIMEOUT_MS) && 10 * l.requests <= 86 * (HOUR_MS / TIMEOUT_MS));
        CHECK(l.oldest_ms <= 6000 + lag_ms + 2);
        hold_for_an_hour(lag_ms, 0, 0);
        CHECK(10 * l.writes <= 33 * (HOUR_MS / TIMEOUT_MS) && 10 * l.requests <= 99 * (HOUR_MS / TIMEOUT_MS));
        CHECK(l.oldest_ms <= 2 * (2760 + 260) + 5 * lag_ms + 2);
    }
}

static void on_a_link_that_is_too_slow_nothing_is_granted_and_it_is_known_why(void)
{
    begin(3000, 0, 2000);
    run_until(1000 + 4 * TIMEOUT_MS);
    CHECK(!l.proven && l.proven_ms == 0);
    CHECK(pdk__session_unfit(&l.s));
    CHECK_EQ(pdk__session_lag_ms(&l.s), 3000);
    CHECK(l.writes < 4 * TIMEOUT_MS / 200);
}

/* One answer may be late for a reason other than the link. */
static void of_a_link_nothing_is_said_before_three_answers(void)
{
    begin(3000, 0, 2000);
    CHECK(!pdk__session_unfit(&l.s));
    while (l.s.pace.n_measured < 3) {
        CHECK(!pdk__session_unfit(&l.s));
        run_until(l.now_ms + 1);
    }
    CHECK(pdk__session_unfit(&l.s));
}

/* More writes would make slow servers slower. */
static void a_pace_that_brings_nothing_is_eased_after_four_timeouts(void)
{
    begin(4000, 0, 2000);
    run_until(3 * TIMEOUT_MS);
    int before = l.writes;
    run_until(4 * TIMEOUT_MS);
    int fast = l.writes - before;
    run_until(6 * TIMEOUT_MS);
    before = l.writes;
    run_until(7 * TIMEOUT_MS);
    CHECK(!l.proven);
    CHECK(l.writes - before < fast / 2);
}

static void a_link_that_becomes_slow_while_a_lock_is_held_keeps_it(void)
{
    begin(20, 0, 2000);
    run_until(1000 + TIMEOUT_MS);
    CHECK(l.proven);
    l.doubts = 0;
    for (; l.lag_ms < 1600; l.lag_ms += 20)
        run_until(l.now_ms + 2000);
    run_until(l.now_ms + 10 * TIMEOUT_MS);
    CHECK_EQ(l.doubts, 0);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a round trip of a fifth of the timeout holds for an hour, with the tick stated",
         a_fifth_of_the_timeout_holds_for_an_hour_with_the_tick_stated},
        {"a round trip of 0.12 of the timeout holds for an hour, with no tick stated",
         a_round_trip_of_0_12_holds_for_an_hour_with_no_tick_stated},
        {"a round trip that varies by a tenth does as well", a_round_trip_that_varies_by_a_tenth_does_as_well},
        {"what is granted stays, from the first moment on", what_is_granted_stays_from_the_first_moment_on},
        {"what is granted after idleness stays, too", what_is_granted_after_idleness_stays_too},
        {"one quick answer ends the doubt that late ones raised",
         one_quick_answer_ends_the_doubt_that_late_ones_raised},
        {"a first answer that is late delays no grant", a_first_answer_that_is_late_delays_no_grant},
        {"servers may do nothing for a third of the timeout, and for a quarter of it unnoticed",
         servers_may_stall_for_a_third_of_the_timeout},
        {"a fast link costs few writes, and belief gets no older for it", a_fast_link_costs_few_writes},
        {"on a link that is too slow nothing is granted, and it is known why",
         on_a_link_that_is_too_slow_nothing_is_granted_and_it_is_known_why},
        {"of a link nothing is said before three answers", of_a_link_nothing_is_said_before_three_answers},
        {"a pace that brings nothing is eased after four timeouts",
         a_pace_that_brings_nothing_is_eased_after_four_timeouts},
        {"a link that becomes slow while a lock is held keeps it",
         a_link_that_becomes_slow_while_a_lock_is_held_keeps_it},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "link", .tests = tests});
}
