/*
 * Stories of belief: how long the session is known to live, which requests prove it, and how a contender uses it. The
 * timeout is 3000 and the tick 1000: see trace.h.
 */
#include "test/lib/check.h"
#include "test/story/trace.h"

static struct trace t;

static void begin_session(void) { session_begin(&t, true); }

static void begin(void) { trace_begin(&t, true); }

/* First, in a session of which nothing is proven. */
static void come_in_doubt(void)
{
    begin();
    story(&t, "doubted: -\n"
              "acquire: create\n"
              "created own: -\n"
              "listed own: own\n");
}

/* A session that was created long ago, of which nothing is proven. */
static void begin_unproven(void)
{
    session_begin(&t, false);
    story(&t, "connected a: up(a) touch\n");
}

static void begin_proven(void)
{
    begin_session();
    story(&t, "connected a: up(a) proven\n");
}

static int64_t left_ms(void) { return pdk__session_deadline_ms(&t.s) - t.now_ms; }

static void believe_at(int64_t now_ms) { CHECK_EQ(pdk__session_deadline_ms(&t.s), now_ms + 2850); }

static void answers_that_no_quorum_gave_prove_nothing(void)
{
    begin_unproven();
    for (int i = 0; i < 20; i++)
        feed(&t, "answered 5 after 605");
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

/* One write is always in transit when another is answered. */
static void a_client_that_writes_all_the_time_is_proven_too(void)
{
    begin_unproven();
    for (int i = 0; i < 400; i++)
        feed(&t, "agreed 10 after 5");
    CHECK(left_ms() > 1500);
}

/* A client cut off again and again would never be proven again if each connection waited for its turn. */
static void a_new_connection_is_put_to_the_proof_at_once(void)
{
    begin_proven();
    story(&t, "wanted: probe\n"
              "agreed 5 after 605: -\n");
    int64_t last = t.now_ms - 5;
    story(&t, "wanted: -\n"
              "due: touch\n");
    CHECK(t.s.n_asked > 0);
    story(&t, "unasked: -\n" /* lost with the connection */
              "disconnected: down\n"
              "connected a: up(a)\n");
    CHECK(t.s.n_asked == 0); /* a write sent in the same millisecond proves nothing */
    story(&t, "later 1: probe\n");
    CHECK(t.s.n_asked > 0 && t.s.renewed_ms == t.now_ms);
    story(&t, "agreed 5 after 5: -\n");
    believe_at(last);
}

/* Some time is proven, but too little to believe again. */
static void who_was_told_that_it_is_over_may_not_believe_on_a_late_proof(void)
{
    begin_proven();
    story(&t, "agreed 5 after 605: -\n"
              "agreed 5 after 605: -\n"
              "later 1640: doubted presumed touch\n"
              "agreed 401 after 1: -\n");
    CHECK(left_ms() > 0);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

static void of_unlike_timeouts_the_least_counts(void)
{
    begin_proven();
    int64_t deadline = pdk__session_deadline_ms(&t.s);
    story(&t, "disconnected: down\n"
              "connected a 2000: up(a)\n");
    CHECK_EQ(pdk__session_deadline_ms(&t.s), deadline - 1000 + 50);
    story(&t, "disconnected: down\n"
              "connected a 4000: up(a)\n");
    CHECK_EQ(t.s.timeout_ms, 2000);
    begin_proven();
    story(&t, "pass 1500: -\n"
              "disconnected: down\n"
              "connected a 1000: up(a) doubted presumed\n");
}

/* Its server keeps answering, and no quorum does. */
static void connected_or_not_belief_ends(void)
{
    begin_proven();
    story(&t, "wanted: probe\n");
    for (int i = 0; i < 3; i++)
        feed(&t, "answered 5 after 960");
    CHECK(t.s.lease_expired && t.s.phase == PDK__SESSION_CONNECTED);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

/* The next request comes due, and is answered after 30 ms. */
static void wake_and_answer(void)
{
    feed(&t, "due");
    CHECK(t.s.n_asked == 1 && t.s.asked_ms == t.now_ms);
    bool write = t.s.renewed_ms == t.s.asked_ms, sync = t.s.synced_ms == t.s.asked_ms;
    feed(&t, "%s 30 after 30", sync ? "synced" : write ? "agreed" : "answered");
}

static void who_holds_is_proven_by_writes_at_a_steady_pace(void)
{
    begin_proven();
    story(&t, "wanted: probe\n");
    t.s.plain = true; /* a request of this connection was not answered as it should be */
    story(&t, "agreed 0: -\n");
    int64_t least = left_ms();
    for (int i = 0; i < 50; i++) {
        wake_and_answer();
        CHECK_EQ(t.s.renewed_ms, t.s.asked_ms);
        least = left_ms() < least ? left_ms() : least;
    }
    CHECK(least > 3000 - 3000 * 7 / 10 - 150);
    CHECK(!t.s.lease_low);
}

/* --- a read, a sync and a write ---------------------------------------------------------------------------------- */

static void syncs_prove_nothing(void)
{
    begin_unproven();
    for (int i = 0; i < 20; i++)
        feed(&t, "synced 5 after 600");
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
}

/* In 3000 ms of a session with a tick of a third of it. */
static void an_idle_holder_writes_little(void)
{
    int n_reads = 0, n_syncs = 0, n_writes = 0;
    begin_proven();
    story(&t, "wanted: probe\n"
              "agreed 0: -\n");
    int64_t least = left_ms(), from = t.now_ms;
    while (t.now_ms < from + 100 * 3000) {
        wake_and_answer();
        n_writes += t.s.renewed_ms == t.s.asked_ms;
        n_syncs += t.s.synced_ms == t.s.asked_ms;
        n_reads += t.s.asked_ms != t.s.renewed_ms && t.s.asked_ms != t.s.synced_ms;
        least = left_ms() < least ? left_ms() : least;
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
    story(&t, "wanted: probe\n"
              "agreed 0: -\n");
    for (int i = 0; i < 100; i++) {
        int64_t before = t.s.asked_ms;
        wake_and_answer();
        CHECK(t.s.asked_ms - before <= 560 * 11 / 20);
    }
}

static void a_sync_that_fails_is_replaced_by_writes(void)
{
    begin_proven();
    story(&t, "wanted: probe\n"
              "agreed 0: -\n");
    while (t.s.synced_ms == PDK__UNKNOWN_MS || t.s.synced_ms != t.s.asked_ms || t.s.n_asked == 0) {
        feed(&t, "due");
        if (t.s.synced_ms != t.s.asked_ms)
            feed(&t, "%s 0", t.s.renewed_ms == t.s.asked_ms ? "agreed" : "answered");
    }
    story(&t, "unasked: -\n");
    for (int i = 0; i < 20; i++) {
        wake_and_answer();
        CHECK_EQ(t.s.renewed_ms, t.s.asked_ms);
        CHECK(!t.s.lease_low);
    }
    story(&t, "disconnected: down\n"
              "connected a: up(a)\n");
    CHECK(!t.s.plain);
}

static void on_a_fast_link_one_write_is_under_way_at_a_time(void)
{
    begin_proven();
    story(&t, "wanted: probe\n");
    t.s.plain = true;
    story(&t, "later 700: -\n"
              "later 700: -\n"
              "unasked: -\n"
              "later 1: -\n"
              "later 500: probe\n");
}

static void on_a_slow_link_a_question_does_not_wait_for_the_answer_before(void)
{
    begin_proven();
    story(&t, "agreed 400 after 400: doubted\n");
    CHECK(t.s.lease_low); /* until proofs come in a row */
    story(&t, "wanted: -\n");
    for (int i = 0; i < 200; i++)
        feed(&t, "later 50");
    CHECK_EQ(t.s.n_asked, 16); /* the number of requests is bounded */
}

/* An idle session lets its proof expire. Two writes in a row renew it, thanks to the reads. */
static void after_idleness_proof_takes_one_write_more(void)
{
    begin_proven();
    for (int i = 0; i < 40; i++) {
        feed(&t, "later 750");
        feed(&t, "answered 1");
    }
    CHECK(t.s.lease_expired);
    story(&t, "agreed 1 after 2: -\n" /* a contender's create */
              "wanted: -\n"
              "later 1: probe\n"
              "agreed 0: proven\n");
    CHECK(left_ms() > 1300);
}

/* Otherwise a grant on the old proof would be in doubt before the first renewal. */
static void who_begins_to_hold_on_old_proof_gets_a_new_one_at_once(void)
{
    begin_proven();
    for (int i = 0; i < 2; i++) {
        feed(&t, "later 750");
        feed(&t, "answered 1");
    }
    story(&t, "later 744: -\n"
              "wanted: probe\n");
    CHECK(!t.s.lease_low);
    story(&t, "agreed 0: -\n"
              "later 1: probe\n"
              "agreed 0: -\n");
    CHECK(left_ms() > 2000);
}

static void a_tick_that_is_not_told_is_half_the_timeout(void)
{
    session_begin(&t, true);
    pdk__session_init(&t.s, true, (struct pdk__session_policy){0}, 7, 4000, t.now_ms);
    story(&t, "connected a 4000: up(a) proven\n");
    CHECK_EQ(t.s.chain.gap_ms, 1000 + 100 + 10);
    CHECK_EQ(left_ms(), 3800);
}

/* Otherwise each proof would be too old for a grant in what is left of the timeout. */
static void a_tick_that_is_not_told_is_shorter_after_a_reconnect_that_shortens_the_session(void)
{
    session_begin(&t, true);
    pdk__session_init(&t.s, true, (struct pdk__session_policy){0}, 7, 4000, t.now_ms);
    story(&t, "connected a 4000: up(a) proven\n"
              "disconnected: down\n"
              "connected a 2000: up(a)\n");
    CHECK_EQ(t.s.chain.gap_ms, 500 + 50 + 10);
    CHECK_EQ(t.s.chain.late_ms, 50 + 10);
    int64_t first = t.now_ms + 100;
    story(&t, "agreed 100 after 200: doubted\n"
              "agreed 100 after 660: -\n"
              "agreed 100 after 101: -\n");
    CHECK_EQ(pdk__session_deadline_ms(&t.s), first + 1900);
    story(&t, "disconnected: down\n"
              "connected a 4000: up(a)\n");
    CHECK_EQ(t.s.chain.gap_ms, 500 + 50 + 10);
}

static void what_the_program_says_goes(void)
{
    struct pdk__session_policy policy = {.tick_ms = 200, .margin_ms = 500};
    session_begin(&t, true);
    pdk__session_init(&t.s, true, policy, 7, 4000, t.now_ms);
    story(&t, "connected a 4000: up(a) proven\n");
    CHECK_EQ(t.s.chain.gap_ms, 100 + 10 + 10);
    CHECK_EQ(left_ms(), 3500);
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 1000);
    story(&t, "later 2699: touch\n"
              "later 1: doubted\n");
}

/* More writes would not renew it earlier than needed. */
static void where_ticks_are_short_a_holder_asks_each_fifth_of_the_timeout(void)
{
    session_begin(&t, true);
    pdk__session_init(&t.s, true, (struct pdk__session_policy){.tick_ms = 200}, 7, 4000, t.now_ms);
    story(&t, "connected a 4000: up(a) proven\n"
              "wanted: probe\n"
              "agreed 0: -\n"
              "later 799: -\n"
              "later 1: touch\n");
}

/* Otherwise no lock would ever be granted, and no caller would learn why. */
static void a_timeout_that_leaves_no_time_to_believe_in_is_refused(void)
{
    struct pdk__session_policy policy = {.tick_ms = 4000};
    session_begin(&t, true);
    pdk__session_init(&t.s, true, policy, 7, 2000, t.now_ms);
    story(&t, "connected a 2000: over(PDK_ESHORT)\n"
              "connected a 2000: -\n");
    session_begin(&t, true);
    pdk__session_init(&t.s, true, policy, 7, 4000, t.now_ms);
    story(&t, "connected a 4000: up(a) proven\n");
    CHECK(!t.s.lease_low);
}

/* --- the contender's use of it ----------------------------------------------------------------------------------- */

static void hold(void)
{
    begin();
    story(&t, "acquire: create\n"
              "created own: -\n"
              "listed own: granted own\n"
              "own: -\n");
}

static const struct story stories[] = {
    {"a new session is known to live from before it was asked for", begin_session,
     "pass 1000: -\n"
     "connected a: up(a) proven touch\n"
     "believed: 1850\n"},
    {"belief rests on the sending of the third-newest write", begin_unproven,
     "agreed 5 after 15: -\n"
     "believed: no\n"
     "agreed 5 after 565: -\n"
     "believed: no\n"
     "agreed 5 after 565: proven\n"
     "believed: 1715\n"
     "agreed 5 after 565: -\n"
     "believed: 1715\n"},
    {"the first link may be any answer", begin_unproven,
     "answered 5 after 5: -\n"
     "agreed 1 after 561: -\n"
     "agreed 1 after 2: proven\n"
     "believed: 2282\n"},
    {"a write within half a tick of an answer carries nothing", begin_unproven,
     "answered 5 after 5: -\n"
     "agreed 1 after 560: -\n"
     "agreed 1 after 2: -\n"
     "believed: no\n"},
    {"a proof sent before the answer it builds on is none", begin_unproven,
     "answered 5 after 5: -\n"
     "agreed 20 after 580: -\n"
     "agreed 10: -\n" /* it was in transit */
     "believed: no\n"
     "agreed 1 after 2: proven\n"
     "believed: 2263\n"},
    {"on another connection the links begin anew", begin_unproven,
     "answered 5 after 5: -\n"
     "agreed 5 after 570: -\n" /* carried, on the old connection */
     "disconnected: down\n"
     "agreed 1: -\n" /* its last answer, late */
     "connected a: up(a)\n"
     "believed: no\n"
     /* The leader was asked about the session after the last answer on the old one: a write proves that leader. */
     "agreed 1 after 2: proven\n"
     "believed: 2843\n"},
    {"what was proven stays so without a connection", begin_proven,
     "disconnected: down\n"
     "wakes: 2250\n"
     "later 2250: doubted\n"
     "wakes: 600\n"
     "believed: 600\n"
     "later 600: presumed\n"
     "believed: no\n"},
    {"who comes late with an answer is told the time first", begin_proven,
     "wanted: probe\n"
     "agreed 5 after 605: -\n"
     "agreed 5 after 605: -\n"
     "agreed 4000 after 4000: doubted presumed\n"},
    /* --- a read, a sync and a write ------------------------------------------------------------------------------- */
    {"a sync carries what was touched", begin_unproven,
     "answered 5 after 5: -\n"
     "synced 5 after 565: -\n"
     "believed: no\n"
     "agreed 5 after 66: proven\n" /* 60 ms: a ping may be so late */
     "believed: 2214\n"},
    {"a sync within half a tick of an answer carries nothing", begin_unproven,
     "answered 5 after 5: -\n"
     "synced 5 after 564: -\n"
     "agreed 5 after 66: -\n"
     "believed: no\n"},
    /* A leader that was stopped may answer the sync before it pings. */
    {"a write too soon after a sync proves nothing", begin_unproven,
     "answered 5 after 5: -\n"
     "synced 5 after 565: -\n"
     "agreed 5 after 65: -\n"
     "believed: no\n"},
    {"what a sync carried is forgotten with its connection", begin_unproven,
     "answered 5 after 5: -\n"
     "synced 5 after 565: -\n"
     "disconnected: down\n"
     "connected a: up(a)\n"
     "agreed 1 after 2: proven\n"
     "believed: 2843\n" /* by the reconnect, which carries more */
     "\n"
     "answered 5 after 5: -\n"
     "disconnected: down\n"
     "connected a: up(a)\n"
     "synced 5 after 600: -\n"
     "agreed 5 after 66: proven\n"
     "believed: 2179\n"},
    /* The old connection may have carried a request until then, and two readings of a clock are a millisecond apart. */
    {"a write of the millisecond of a reconnect proves nothing", begin_proven,
     "later 750: touch\n"
     "answered 0: -\n"
     "disconnected: down\n"
     "later 100: -\n"
     "connected a: up(a)\n"
     "believed: 2000\n"
     "agreed 0: -\n"
     "believed: 2000\n"
     "later 1: -\n"
     "agreed 0: -\n"
     "believed: 2749\n"},
    {"a write does not wait for the answer to a read", begin_proven,
     "later 750: touch\n"
     "wanted: probe\n"
     "later 300: -\n"},
    /* An idle client asks once in a quarter of the timeout, and notices a silent server by that. */
    {"a question that was not sent does not count", begin_proven,
     "later 750: touch\n"
     "unasked: -\n"
     "wakes: 308\n"
     "due: touch\n"},
    {"nobody holding, a read now and then keeps the first link young", begin_proven,
     "later 749: -\n"
     "later 1: touch\n"
     "answered 1: -\n"
     "later 749: -\n"
     "later 1: touch\n"},
    {"there is doubt sooner where nobody asks for proof", begin_proven,
     "later 2249: touch\n"
     "in doubt: no\n"
     "later 1: doubted\n"
     "in doubt: yes\n"
     "\n"
     "wanted: probe\n"
     "later 2549: touch\n"
     "in doubt: no\n"
     "later 1: doubted\n"
     "in doubt: yes\n"},
    {"servers that take no writes are not asked in a loop", begin_unproven,
     "wanted: probe\n"
     "answered 0: -\n"
     "wakes: never\n"},
    /* --- the contender's use of it -------------------------------------------------------------------------------- */
    {"nothing is granted in doubt", come_in_doubt,
     "proof needed: yes\n"
     "own: -\n"
     "proven: granted\n"},
    /* Our node may have been deleted while the session was being proven. */
    {"what is proven before the own node was seen waits for it", come_in_doubt,
     "proven: -\n"
     "own: granted\n"},
    {"a node deleted while it is proven is made anew", come_in_doubt,
     "own: -\n"
     "own gone: create\n"},
    {"a deadline passes in doubt, too", begin,
     "doubted: -\n"
     "acquire 500: create\n"
     "created own: -\n"
     "listed own: own\n"
     "wakes: 500\n"
     "later 500: failed(PDK_ETIMEDOUT) delete\n"},
    {"a connection lost in doubt lists again", come_in_doubt,
     "presumed: -\n"
     "down: -\n"
     "up: list\n"
     "proven: -\n"
     "listed own: own\n"
     "own: granted\n"},
    {"a holder in doubt is suspect until proven", hold,
     "doubted: suspect\n"
     "doubted: -\n"
     "proof needed: yes\n"
     "proven: held\n"},
    {"after a reconnect it takes both the node and the proof", hold,
     "doubted: suspect\n"
     "down: -\n"
     "up: own\n"
     "own: -\n"
     "proven: held\n"
     "down: suspect\n"
     "up: own\n"
     "proven: -\n"
     "own: held\n"},
    {"when the time is up it is lost, connected or not", hold,
     "doubted: suspect\n"
     "presumed: lost delete\n"
     "deleted: done\n"
     "proof needed: no\n"},
    {"of those who wait only the next wants proof", begin,
     "acquire: create\n"
     "created own: -\n"
     "proof needed: no\n"
     "listed 3 4 own: watch(4) own\n"
     "watched: -\n"
     "proof needed: no\n"
     "gone: list\n"
     "listed 3 own: watch(3)\n"
     "proof needed: yes\n"
     "watched: -\n"
     "proof needed: yes\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"answers that no quorum gave prove nothing", answers_that_no_quorum_gave_prove_nothing},
        {"a client that writes all the time is proven, too", a_client_that_writes_all_the_time_is_proven_too},
        {"a new connection is put to the proof at once", a_new_connection_is_put_to_the_proof_at_once},
        {"who was told that it is over may not believe on a late proof",
         who_was_told_that_it_is_over_may_not_believe_on_a_late_proof},
        {"of unlike timeouts the least counts", of_unlike_timeouts_the_least_counts},
        {"connected or not, belief ends", connected_or_not_belief_ends},
        {"who holds is proven by writes at a steady pace", who_holds_is_proven_by_writes_at_a_steady_pace},
        {"syncs prove nothing", syncs_prove_nothing},
        {"an idle holder writes little", an_idle_holder_writes_little},
        {"no time passes in which nothing is asked", no_time_passes_in_which_nothing_is_asked},
        {"a sync that fails is replaced by writes", a_sync_that_fails_is_replaced_by_writes},
        {"on a fast link one write is under way at a time", on_a_fast_link_one_write_is_under_way_at_a_time},
        {"on a slow link a question does not wait for the answer to the one before",
         on_a_slow_link_a_question_does_not_wait_for_the_answer_before},
        {"after idleness proof takes one write more", after_idleness_proof_takes_one_write_more},
        {"who begins to hold on old proof gets a new one at once",
         who_begins_to_hold_on_old_proof_gets_a_new_one_at_once},
        {"a tick that is not told is half the timeout", a_tick_that_is_not_told_is_half_the_timeout},
        {"a tick that is not told is shorter after a reconnect that shortens the session",
         a_tick_that_is_not_told_is_shorter_after_a_reconnect_that_shortens_the_session},
        {"what the program says, goes", what_the_program_says_goes},
        {"where ticks are short a holder asks each fifth of the timeout",
         where_ticks_are_short_a_holder_asks_each_fifth_of_the_timeout},
        {"a timeout that leaves no time to believe in is refused",
         a_timeout_that_leaves_no_time_to_believe_in_is_refused},
        {0}};
    return pdk__story_main(argc, argv, "belief", __FILE__, &t, stories, tests);
}
