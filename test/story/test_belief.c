/*
 * Stories of belief: how long the session is known to live, which requests prove it, and how a contender uses it. The
 * timeout is 3000 and the tick 1000: see trace.h.
 */
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <string.h>

static struct trace t;

/* A session that was created long ago, of which nothing is proven. */
static void begin_unproven(void)
{
    session_begin(&t, false);
    session_connected(&t, 0xa, 3000);
    trace_reset(&t);
}

static void begin_proven(void)
{
    session_begin(&t, true);
    session_connected(&t, 0xa, 3000);
    trace_reset(&t);
}

static int64_t left_ms(void) { return pdk__session_deadline_ms(&t.s) - t.now_ms; }

static void believe_at(int64_t now_ms) { CHECK_EQ(pdk__session_deadline_ms(&t.s), now_ms + 2850); }

/* A request sent AFTER_MS from now, answered LATE_MS after that. */
static void ask(int64_t after_ms, int64_t late_ms, bool agreed)
{
    t.now_ms += after_ms + late_ms;
    session_answered(&t, late_ms, agreed);
}

static void a_new_session_is_known_to_live_from_before_it_was_asked_for(void)
{
    session_begin(&t, true);
    int64_t opened = t.now_ms;
    t.now_ms += 1000;
    session_connected(&t, 0xa, 3000);
    believe_at(opened);
}

static void belief_rests_on_the_sending_of_the_third_newest_write(void)
{
    begin_unproven();
    int64_t first = t.now_ms + 10;
    ask(10, 5, true);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
    ask(560, 5, true);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
    ask(560, 5, true);
    believe_at(first);
    int64_t second = first + 565;
    ask(560, 5, true);
    believe_at(second);
}

static void answers_that_no_quorum_gave_prove_nothing(void)
{
    begin_unproven();
    for (int i = 0; i < 20; i++)
        ask(600, 5, false);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

static void the_first_link_may_be_any_answer(void)
{
    begin_unproven();
    int64_t read = t.now_ms;
    ask(0, 5, false);
    ask(560, 1, true);
    ask(1, 1, true);
    believe_at(read);
}

static void a_write_within_half_a_tick_of_an_answer_carries_nothing(void)
{
    begin_unproven();
    ask(0, 5, false);
    ask(559, 1, true);
    ask(1, 1, true);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

static void a_proof_sent_before_the_answer_it_builds_on_is_none(void)
{
    begin_unproven();
    ask(0, 5, false);
    ask(560, 20, true);
    ask(-10, 10, true); /* it was in transit */
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
    ask(1, 1, true);
    CHECK(pdk__session_lease_valid(&t.s, t.now_ms));
}

/* One write is always in transit when another is answered. */
static void a_client_that_writes_all_the_time_is_proven_too(void)
{
    begin_unproven();
    for (int i = 0; i < 400; i++)
        ask(-5, 10, true);
    CHECK(left_ms() > 1500);
}

static void on_another_connection_the_links_begin_anew(void)
{
    begin_unproven();
    int64_t last = t.now_ms + 570;
    ask(0, 5, false);
    ask(565, 5, true); /* carried, on the old connection */
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_answered(&t, 1, true); /* its last answer, late */
    session_connected(&t, 0xa, 3000);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
    /* The leader was asked about the session after the last answer on the old one: a write proves that leader. */
    ask(1, 1, true);
    believe_at(last);
}

/* A client cut off again and again would never be proven again if each connection waited for its turn. */
static void a_new_connection_is_put_to_the_proof_at_once(void)
{
    begin_proven();
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    ask(600, 5, true);
    int64_t last = t.now_ms - 5;
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    t.now_ms = pdk__session_wake_ms(&t.s);
    session_later(&t, 0);
    CHECK(t.s.n_asked > 0);
    session_event(&t, PDK__SEV_UNASKED); /* lost with the connection */
    session_event(&t, PDK__SEV_DISCONNECTED);
    trace_reset(&t);
    session_connected(&t, 0xa, 3000);
    CHECK(t.s.n_asked == 0); /* a write sent in the same millisecond proves nothing */
    session_later(&t, 1);
    CHECK(t.s.n_asked > 0 && t.s.renewed_ms == t.now_ms);
    t.now_ms += 5;
    session_answered(&t, 5, true);
    believe_at(last);
}

static void what_was_proven_stays_so_without_a_connection(void)
{
    begin_proven();
    int64_t deadline = pdk__session_deadline_ms(&t.s);
    session_event(&t, PDK__SEV_DISCONNECTED);
    CHECK_EQ(pdk__session_wake_ms(&t.s), deadline - 600);
    t.now_ms = deadline - 600;
    session_later(&t, 0);
    CHECK_EQ(pdk__session_wake_ms(&t.s), deadline);
    CHECK(pdk__session_lease_valid(&t.s, deadline - 1));
    CHECK(!pdk__session_lease_valid(&t.s, deadline));
    t.now_ms = deadline;
    session_later(&t, 0);
    CHECK_STR(t.text, "disconnected: down\n"
                      "later: doubted\n"
                      "later: presumed\n");
}

/* Some time is proven, but too little to believe again. */
static void who_was_told_that_it_is_over_may_not_believe_on_a_late_proof(void)
{
    begin_proven();
    ask(600, 5, true);
    ask(600, 5, true);
    t.now_ms = pdk__session_deadline_ms(&t.s);
    session_later(&t, 0);
    trace_reset(&t);
    ask(-400, 401, true);
    CHECK_STR(t.text, "agreed: -\n");
    CHECK(left_ms() > 0);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

static void of_unlike_timeouts_the_least_counts(void)
{
    begin_proven();
    int64_t deadline = pdk__session_deadline_ms(&t.s);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 2000);
    CHECK_EQ(pdk__session_deadline_ms(&t.s), deadline - 1000 + 50);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 4000);
    CHECK_EQ(t.s.timeout_ms, 2000);
    begin_proven();
    t.now_ms += 1500;
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 1000);
    CHECK_STR(t.text, "disconnected: down\n"
                      "connected: up(a) doubted presumed\n");
}

/* Its server keeps answering, and no quorum does. */
static void connected_or_not_belief_ends(void)
{
    begin_proven();
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    for (int i = 0; i < 3; i++)
        ask(955, 5, false);
    CHECK(t.s.lease_expired && t.s.phase == PDK__SESSION_CONNECTED);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

static void who_comes_late_with_an_answer_is_told_the_time_first(void)
{
    begin_proven();
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    ask(600, 5, true);
    ask(600, 5, true);
    ask(0, 4000, true);
    CHECK(strstr(t.text, "agreed: doubted presumed") != NULL);
}

/* The next request comes due, and is answered after 30 ms. */
static void wake_and_answer(void)
{
    t.now_ms = pdk__session_wake_ms(&t.s);
    session_later(&t, 0);
    CHECK(t.s.n_asked == 1 && t.s.asked_ms == t.now_ms);
    t.now_ms += 30;
    if (t.s.synced_ms == t.s.asked_ms)
        session_synced(&t, 30);
    else
        session_answered(&t, 30, t.s.renewed_ms == t.s.asked_ms);
}

static void who_holds_is_proven_by_writes_at_a_steady_pace(void)
{
    begin_proven();
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    t.s.plain = true; /* a request of this connection was not answered as it should be */
    session_answered(&t, 0, true);
    int64_t least = left_ms();
    for (int i = 0; i < 50; i++) {
        wake_and_answer();
        CHECK_EQ(t.s.renewed_ms, t.s.asked_ms);
        least = left_ms() < least ? left_ms() : least;
        trace_reset(&t);
    }
    CHECK(least > 3000 - 3000 * 7 / 10 - 150);
    CHECK(!t.s.lease_low);
}

/* --- a read, a sync and a write ------------------------------------------------------------------------------------ */

static void a_sync_carries_what_was_touched(void)
{
    begin_unproven();
    int64_t read = t.now_ms;
    ask(0, 5, false);
    t.now_ms += 560 + 5;
    session_synced(&t, 5);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
    ask(61, 5, true); /* 60 ms: a ping may be so late */
    believe_at(read);
}

static void a_sync_within_half_a_tick_of_an_answer_carries_nothing(void)
{
    begin_unproven();
    ask(0, 5, false);
    t.now_ms += 559 + 5;
    session_synced(&t, 5);
    ask(61, 5, true);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

static void syncs_prove_nothing(void)
{
    begin_unproven();
    for (int i = 0; i < 20; i++) {
        t.now_ms += 600;
        session_synced(&t, 5);
    }
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

/* A leader that was stopped may answer the sync before it pings. */
static void a_write_too_soon_after_a_sync_proves_nothing(void)
{
    begin_unproven();
    ask(0, 5, false);
    t.now_ms += 560 + 5;
    session_synced(&t, 5);
    ask(60, 5, true);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

static void what_a_sync_carried_is_forgotten_with_its_connection(void)
{
    begin_unproven();
    ask(0, 5, false);
    int64_t last = t.now_ms + 560;
    t.now_ms += 560 + 5;
    session_synced(&t, 5);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 3000);
    ask(1, 1, true);
    believe_at(last); /* by the reconnect, which carries more */
    begin_unproven();
    ask(0, 5, false);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 3000);
    int64_t read = t.now_ms - 5;
    t.now_ms += 600;
    session_synced(&t, 5);
    ask(61, 5, true);
    believe_at(read);
}

/* In 3000 ms of a session with a tick of a third of it. */
static void an_idle_holder_writes_little(void)
{
    int n_reads = 0, n_syncs = 0, n_writes = 0;
    begin_proven();
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    session_answered(&t, 0, true);
    int64_t least = left_ms(), from = t.now_ms;
    while (t.now_ms < from + 100 * 3000) {
        wake_and_answer();
        n_writes += t.s.renewed_ms == t.s.asked_ms;
        n_syncs += t.s.synced_ms == t.s.asked_ms;
        n_reads += t.s.asked_ms != t.s.renewed_ms && t.s.asked_ms != t.s.synced_ms;
        least = left_ms() < least ? left_ms() : least;
        trace_reset(&t);
    }
    CHECK(n_writes <= 280 && n_syncs <= n_writes + 1);
    CHECK(n_reads + n_syncs + n_writes >= 900);
    CHECK(least > 3000 - 3000 * 7 / 10 - 150);
    CHECK(!t.s.lease_low);
}

/* The first request after a read is the next read, so a silent server is noticed as early as by writes. */
static void no_time_passes_in_which_nothing_is_asked(void)
{
    begin_proven();
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    session_answered(&t, 0, true);
    for (int i = 0; i < 100; i++) {
        int64_t before = t.s.asked_ms;
        wake_and_answer();
        CHECK(t.s.asked_ms - before <= 560 * 11 / 20);
        trace_reset(&t);
    }
}

static void a_sync_that_fails_is_replaced_by_writes(void)
{
    begin_proven();
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    session_answered(&t, 0, true);
    while (t.s.synced_ms == PDK__UNKNOWN_MS || t.s.synced_ms != t.s.asked_ms || t.s.n_asked == 0) {
        t.now_ms = pdk__session_wake_ms(&t.s);
        session_later(&t, 0);
        if (t.s.synced_ms != t.s.asked_ms)
            session_answered(&t, 0, t.s.renewed_ms == t.s.asked_ms);
    }
    session_event(&t, PDK__SEV_UNASKED);
    for (int i = 0; i < 20; i++) {
        wake_and_answer();
        CHECK_EQ(t.s.renewed_ms, t.s.asked_ms);
        CHECK(!t.s.lease_low);
    }
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 3000);
    CHECK(!t.s.plain);
}

static void on_a_fast_link_one_write_is_under_way_at_a_time(void)
{
    begin_proven();
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    t.s.plain = true;
    session_later(&t, 700);
    session_later(&t, 700);
    session_event(&t, PDK__SEV_UNASKED);
    session_later(&t, 1);
    session_later(&t, 500);
    CHECK_STR(t.text, "wanted: probe\n"
                      "later: -\n"
                      "later: -\n"
                      "unasked: -\n"
                      "later: -\n"
                      "later: probe\n");
}

/* The old connection may have carried a request until then, and two readings of a clock are a millisecond apart. */
static void a_write_of_the_millisecond_of_a_reconnect_proves_nothing(void)
{
    begin_proven();
    session_later(&t, 750);
    session_answered(&t, 0, false);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_later(&t, 100);
    session_connected(&t, 0xa, 3000);
    int64_t deadline_ms = pdk__session_deadline_ms(&t.s);
    session_answered(&t, 0, true);
    CHECK_EQ(pdk__session_deadline_ms(&t.s), deadline_ms);
    session_later(&t, 1);
    session_answered(&t, 0, true);
    CHECK(pdk__session_deadline_ms(&t.s) > deadline_ms);
}

/* An idle client asks once in a quarter of the timeout, and notices a silent server by that. */
static void a_question_that_was_not_sent_does_not_count(void)
{
    begin_proven();
    session_later(&t, 750);
    session_event(&t, PDK__SEV_UNASKED);
    CHECK(pdk__session_wake_ms(&t.s) < t.now_ms + 750);
    t.now_ms = pdk__session_wake_ms(&t.s);
    session_later(&t, 0);
    CHECK_STR(t.text, "later: touch\n"
                      "unasked: -\n"
                      "later: touch\n");
}

static void a_write_does_not_wait_for_the_answer_to_a_read(void)
{
    begin_proven();
    session_later(&t, 750);
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    session_later(&t, 300);
    CHECK_STR(t.text, "later: touch\n"
                      "wanted: probe\n"
                      "later: -\n");
}

static void on_a_slow_link_a_question_does_not_wait_for_the_answer_before(void)
{
    begin_proven();
    ask(0, 400, true);
    CHECK(t.s.lease_low); /* until proofs come in a row */
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    for (int i = 0; i < 200; i++)
        session_later(&t, 50);
    CHECK_EQ(t.s.n_asked, 16); /* the number of requests is bounded */
}

static void nobody_holding_a_read_now_and_then_keeps_the_first_link_young(void)
{
    begin_proven();
    session_later(&t, 749);
    session_later(&t, 1);
    session_answered(&t, 1, false);
    session_later(&t, 749);
    session_later(&t, 1);
    CHECK_STR(t.text, "later: -\n"
                      "later: touch\n"
                      "answered: -\n"
                      "later: -\n"
                      "later: touch\n");
}

/* An idle session lets its proof expire. Two writes in a row renew it, thanks to the reads. */
static void after_idleness_proof_takes_one_write_more(void)
{
    begin_proven();
    for (int i = 0; i < 40; i++) {
        session_later(&t, 750);
        session_answered(&t, 1, false);
    }
    CHECK(t.s.lease_expired);
    trace_reset(&t);
    ask(1, 1, true); /* a contender's create */
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    session_later(&t, 1);
    session_answered(&t, 0, true);
    CHECK_STR(t.text, "agreed: -\n"
                      "wanted: -\n"
                      "later: probe\n"
                      "agreed: proven\n");
    CHECK(left_ms() > 1300);
}

/* Otherwise a grant on the old proof would be in doubt before the first renewal. */
static void who_begins_to_hold_on_old_proof_gets_a_new_one_at_once(void)
{
    begin_proven();
    for (int i = 0; i < 2; i++) {
        session_later(&t, 750);
        session_answered(&t, 1, false);
    }
    session_later(&t, 744);
    trace_reset(&t);
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    CHECK(!t.s.lease_low);
    session_answered(&t, 0, true);
    session_later(&t, 1);
    session_answered(&t, 0, true);
    CHECK_STR(t.text, "wanted: probe\n"
                      "agreed: -\n"
                      "later: probe\n"
                      "agreed: -\n");
    CHECK(left_ms() > 2000);
}

static void in_doubt_sooner_where_nobody_asks(void)
{
    begin_proven();
    int64_t deadline = pdk__session_deadline_ms(&t.s);
    t.now_ms = deadline - 601;
    session_later(&t, 0);
    CHECK(!t.s.lease_low);
    session_later(&t, 1);
    CHECK(t.s.lease_low);
    begin_proven();
    deadline = pdk__session_deadline_ms(&t.s);
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    t.now_ms = deadline - 301;
    session_later(&t, 0);
    CHECK(!t.s.lease_low);
    session_later(&t, 1);
    CHECK(t.s.lease_low);
}

static void servers_that_take_no_writes_are_not_asked_in_a_loop(void)
{
    begin_unproven();
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    session_answered(&t, 0, false);
    CHECK(pdk__session_wake_ms(&t.s) >= t.now_ms + 100);
}

static void a_tick_that_is_not_told_is_half_the_timeout(void)
{
    session_begin(&t, true);
    pdk__session_init(&t.s, true, (struct pdk__session_policy){0}, 7, 4000, t.now_ms);
    session_connected(&t, 0xa, 4000);
    CHECK_EQ(t.s.chain.gap_ms, 1000 + 100 + 10);
    CHECK_EQ(left_ms(), 3800);
}

/* Otherwise each proof would be too old for a grant in what is left of the timeout. */
static void a_tick_that_is_not_told_is_shorter_after_a_reconnect_that_shortens_the_session(void)
{
    session_begin(&t, true);
    pdk__session_init(&t.s, true, (struct pdk__session_policy){0}, 7, 4000, t.now_ms);
    session_connected(&t, 0xa, 4000);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 2000);
    CHECK_EQ(t.s.chain.gap_ms, 500 + 50 + 10);
    CHECK_EQ(t.s.chain.late_ms, 50 + 10);
    int64_t first = t.now_ms + 100;
    ask(100, 100, true);
    ask(560, 100, true);
    ask(1, 100, true);
    CHECK_EQ(pdk__session_deadline_ms(&t.s), first + 1900);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 4000);
    CHECK_EQ(t.s.chain.gap_ms, 500 + 50 + 10);
}

static void what_the_program_says_goes(void)
{
    struct pdk__session_policy policy = {.tick_ms = 200, .margin_ms = 500};
    session_begin(&t, true);
    pdk__session_init(&t.s, true, policy, 7, 4000, t.now_ms);
    session_connected(&t, 0xa, 4000);
    CHECK_EQ(t.s.chain.gap_ms, 100 + 10 + 10);
    CHECK_EQ(left_ms(), 3500);
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 1000);
    session_later(&t, 2699);
    session_later(&t, 1);
    CHECK_STR(t.text, "connected: up(a) proven\n"
                      "later: touch\n"
                      "later: doubted\n");
}

/* More writes would not renew it earlier than needed. */
static void where_ticks_are_short_a_holder_asks_each_fifth_of_the_timeout(void)
{
    session_begin(&t, true);
    pdk__session_init(&t.s, true, (struct pdk__session_policy){.tick_ms = 200}, 7, 4000, t.now_ms);
    session_connected(&t, 0xa, 4000);
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    session_answered(&t, 0, true);
    session_later(&t, 799);
    session_later(&t, 1);
    CHECK_STR(t.text, "connected: up(a) proven\n"
                      "wanted: probe\n"
                      "agreed: -\n"
                      "later: -\n"
                      "later: touch\n");
}

/* Otherwise no lock would ever be granted, and no caller would learn why. */
static void a_timeout_that_leaves_no_time_to_believe_in_is_refused(void)
{
    struct pdk__session_policy policy = {.tick_ms = 4000};
    session_begin(&t, true);
    pdk__session_init(&t.s, true, policy, 7, 2000, t.now_ms);
    session_connected(&t, 0xa, 2000);
    session_connected(&t, 0xa, 2000);
    CHECK_STR(t.text, "connected: over(PDK_ESHORT)\n"
                      "connected: -\n");
    session_begin(&t, true);
    pdk__session_init(&t.s, true, policy, 7, 4000, t.now_ms);
    session_connected(&t, 0xa, 4000);
    CHECK(!t.s.lease_low);
}

/* --- the contender's use of it ----------------------------------------------------------------------------------- */

static void hold(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    trace_reset(&t);
}

static void nothing_is_granted_in_doubt(void)
{
    trace_begin(&t, true);
    doubted(&t);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    CHECK(pdk__contender_needs_lease(&t.c));
    own(&t);
    proven(&t);
    CHECK_STR(t.text, "doubted: -\n"
                      "acquire: create\n"
                      "created: -\n"
                      "listed: own\n"
                      "own: -\n"
                      "proven: granted\n");
}

/* Our node may have been deleted while the session was being proven. */
static void what_is_proven_before_the_own_node_was_seen_waits_for_it(void)
{
    trace_begin(&t, true);
    doubted(&t);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    proven(&t);
    own(&t);
    CHECK_STR(t.text, "doubted: -\n"
                      "acquire: create\n"
                      "created: -\n"
                      "listed: own\n"
                      "proven: -\n"
                      "own: granted\n");
}

static void a_node_deleted_while_it_is_proven_is_made_anew(void)
{
    trace_begin(&t, true);
    doubted(&t);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    own(&t);
    trace_reset(&t);
    own_fired(&t, true);
    CHECK_STR(t.text, "own gone: create\n");
}

static void a_deadline_passes_in_doubt_too(void)
{
    trace_begin(&t, true);
    doubted(&t);
    acquire(&t, 500);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    trace_reset(&t);
    CHECK_EQ(pdk__contender_wake_ms(&t.c) - t.now_ms <= 500, 1);
    later(&t, 500);
    CHECK_STR(t.text, "later: failed(PDK_ETIMEDOUT) delete\n");
}

static void a_connection_lost_in_doubt_lists_again(void)
{
    trace_begin(&t, true);
    doubted(&t);
    acquire(&t, -1);
    created(&t, OURS);
    listed(&t, LIST(OURS));
    trace_reset(&t);
    presumed(&t);
    down(&t);
    up(&t, TRACE_SESSION);
    proven(&t);
    listed(&t, LIST(OURS));
    own(&t);
    CHECK_STR(t.text, "presumed: -\n"
                      "down: -\n"
                      "up: list\n"
                      "proven: -\n"
                      "listed: own\n"
                      "own: granted\n");
}

static void a_holder_in_doubt_is_suspect_until_proven(void)
{
    hold();
    doubted(&t);
    doubted(&t);
    CHECK(pdk__contender_needs_lease(&t.c));
    proven(&t);
    CHECK_STR(t.text, "doubted: suspect\n"
                      "doubted: -\n"
                      "proven: held\n");
}

static void after_a_reconnect_it_takes_both_the_node_and_the_proof(void)
{
    hold();
    doubted(&t);
    down(&t);
    up(&t, TRACE_SESSION);
    own(&t);
    proven(&t);
    down(&t);
    up(&t, TRACE_SESSION);
    proven(&t);
    own(&t);
    CHECK_STR(t.text, "doubted: suspect\n"
                      "down: -\n"
                      "up: own\n"
                      "own: -\n"
                      "proven: held\n"
                      "down: suspect\n"
                      "up: own\n"
                      "proven: -\n"
                      "own: held\n");
}

static void when_the_time_is_up_it_is_lost_connected_or_not(void)
{
    hold();
    doubted(&t);
    presumed(&t);
    ok(&t, PDK__EV_DELETED);
    CHECK_STR(t.text, "doubted: suspect\n"
                      "presumed: lost delete\n"
                      "deleted: done\n");
    CHECK(!pdk__contender_needs_lease(&t.c));
}

static void of_those_who_wait_only_the_next_wants_proof(void)
{
    trace_begin(&t, true);
    acquire(&t, -1);
    created(&t, OURS);
    CHECK(!pdk__contender_needs_lease(&t.c));
    listed(&t, LIST(OTHER_3, OTHER_4, OURS));
    ok(&t, PDK__EV_WATCHED);
    CHECK(!pdk__contender_needs_lease(&t.c));
    fired(&t, true);
    listed(&t, LIST(OTHER_3, OURS));
    CHECK(pdk__contender_needs_lease(&t.c));
    ok(&t, PDK__EV_WATCHED);
    CHECK(pdk__contender_needs_lease(&t.c));
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a new session is known to live from before it was asked for",
         a_new_session_is_known_to_live_from_before_it_was_asked_for},
        {"belief rests on the sending of the third-newest write",
         belief_rests_on_the_sending_of_the_third_newest_write},
        {"answers that no quorum gave prove nothing", answers_that_no_quorum_gave_prove_nothing},
        {"the first link may be any answer", the_first_link_may_be_any_answer},
        {"a write within half a tick of an answer carries nothing",
         a_write_within_half_a_tick_of_an_answer_carries_nothing},
        {"a proof sent before the answer it builds on is none", a_proof_sent_before_the_answer_it_builds_on_is_none},
        {"a client that writes all the time is proven, too", a_client_that_writes_all_the_time_is_proven_too},
        {"on another connection the links begin anew", on_another_connection_the_links_begin_anew},
        {"a new connection is put to the proof at once", a_new_connection_is_put_to_the_proof_at_once},
        {"what was proven stays so without a connection", what_was_proven_stays_so_without_a_connection},
        {"who was told that it is over may not believe on a late proof",
         who_was_told_that_it_is_over_may_not_believe_on_a_late_proof},
        {"of unlike timeouts the least counts", of_unlike_timeouts_the_least_counts},
        {"connected or not, belief ends", connected_or_not_belief_ends},
        {"who comes late with an answer is told the time first", who_comes_late_with_an_answer_is_told_the_time_first},
        {"who holds is proven by writes at a steady pace", who_holds_is_proven_by_writes_at_a_steady_pace},
        {"a sync carries what was touched", a_sync_carries_what_was_touched},
        {"a sync within half a tick of an answer carries nothing",
         a_sync_within_half_a_tick_of_an_answer_carries_nothing},
        {"syncs prove nothing", syncs_prove_nothing},
        {"a write too soon after a sync proves nothing", a_write_too_soon_after_a_sync_proves_nothing},
        {"what a sync carried is forgotten with its connection", what_a_sync_carried_is_forgotten_with_its_connection},
        {"an idle holder writes little", an_idle_holder_writes_little},
        {"no time passes in which nothing is asked", no_time_passes_in_which_nothing_is_asked},
        {"a sync that fails is replaced by writes", a_sync_that_fails_is_replaced_by_writes},
        {"on a fast link one write is under way at a time", on_a_fast_link_one_write_is_under_way_at_a_time},
        {"a write of the millisecond of a reconnect proves nothing",
         a_write_of_the_millisecond_of_a_reconnect_proves_nothing},
        {"a question that was not sent does not count", a_question_that_was_not_sent_does_not_count},
        {"a write does not wait for the answer to a read", a_write_does_not_wait_for_the_answer_to_a_read},
        {"on a slow link a question does not wait for the answer to the one before",
         on_a_slow_link_a_question_does_not_wait_for_the_answer_before},
        {"nobody holding, a read now and then keeps the first link young",
         nobody_holding_a_read_now_and_then_keeps_the_first_link_young},
        {"after idleness proof takes one write more", after_idleness_proof_takes_one_write_more},
        {"who begins to hold on old proof gets a new one at once",
         who_begins_to_hold_on_old_proof_gets_a_new_one_at_once},
        {"there is doubt sooner where nobody asks for proof", in_doubt_sooner_where_nobody_asks},
        {"servers that take no writes are not asked in a loop", servers_that_take_no_writes_are_not_asked_in_a_loop},
        {"a tick that is not told is half the timeout", a_tick_that_is_not_told_is_half_the_timeout},
        {"a tick that is not told is shorter after a reconnect that shortens the session",
         a_tick_that_is_not_told_is_shorter_after_a_reconnect_that_shortens_the_session},
        {"what the program says, goes", what_the_program_says_goes},
        {"where ticks are short a holder asks each fifth of the timeout",
         where_ticks_are_short_a_holder_asks_each_fifth_of_the_timeout},
        {"a timeout that leaves no time to believe in is refused",
         a_timeout_that_leaves_no_time_to_believe_in_is_refused},
        {"nothing is granted in doubt", nothing_is_granted_in_doubt},
        {"what is proven before the own node was seen waits for it",
         what_is_proven_before_the_own_node_was_seen_waits_for_it},
        {"a node deleted while it is proven is made anew", a_node_deleted_while_it_is_proven_is_made_anew},
        {"a deadline passes in doubt, too", a_deadline_passes_in_doubt_too},
        {"a connection lost in doubt lists again", a_connection_lost_in_doubt_lists_again},
        {"a holder in doubt is suspect until proven", a_holder_in_doubt_is_suspect_until_proven},
        {"after a reconnect it takes both the node and the proof",
         after_a_reconnect_it_takes_both_the_node_and_the_proof},
        {"when the time is up it is lost, connected or not", when_the_time_is_up_it_is_lost_connected_or_not},
        {"of those who wait only the next wants proof", of_those_who_wait_only_the_next_wants_proof},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "belief", .tests = tests});
}
