/* Stories of the session: when it may be used, believed in, and given up. */
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static struct trace t;

static void begin(void) { session_begin(&t, true); }

static void connect_first(bool renewable)
{
    session_begin(&t, renewable);
    story(&t, "connected a: up(a) %s\n", renewable ? "proven" : "touch");
}

static void connect(void) { connect_first(true); }

/* To one of several servers. */
static void connect_movable(void)
{
    connect();
    t.s.policy.movable = true;
}

static void connect_adopted(void) { connect_first(false); }

static void a_handle_that_never_finds_a_server_is_made_anew(void)
{
    session_begin(&t, true);
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 6000);
    story(&t, "later 5999: -\n"
              "later 1: -\n"
              "later 6000: open\n"
              "opened: -\n"
              "connected a: up(a) proven\n");
    session_begin(&t, false);
    story(&t, "later 100000: -\n");
    CHECK_EQ(t.s.phase, PDK__SESSION_OPENING);
    CHECK_EQ(pdk__session_wake_ms(&t.s), PDK__NEVER);
}

static void an_expired_session_is_followed_by_another_after_a_rest(void)
{
    connect();
    story(&t, "expired: expired\n");
    CHECK(pdk__session_wake_ms(&t.s) > t.now_ms);
    story(&t, "expired: -\n"
              "later 0: -\n"
              "later 6000: open\n"
              "opened: -\n"
              "connected b: up(b) proven\n");
}

static void a_session_changed_silently_has_expired(void)
{
    connect();
    story(&t, "disconnected: down\n"
              "connected b: expired\n"
              "later 6000: open\n");
    connect_adopted();
    story(&t, "connected b: over(PDK_EEXPIRED)\n");
}

/* A hundred of them: the time from the first to the last. */
static int64_t spread_of(int64_t timeout_ms)
{
    char told[100];
    int64_t first_ms = PDK__NEVER, last_ms = 0;
    snprintf(told, sizeof told, "connected a %" PRId64 ": up(a) proven\nexpired: expired\n", timeout_ms);
    for (uint64_t seed = 1; seed <= 100; seed++) {
        session_begin(&t, true);
        pdk__session_init(&t.s, true, (struct pdk__session_policy){0}, seed, timeout_ms, t.now_ms);
        story(&t, told);
        int64_t rest_ms = pdk__session_wake_ms(&t.s) - t.now_ms;
        first_ms = rest_ms < first_ms ? rest_ms : first_ms;
        last_ms = rest_ms > last_ms ? rest_ms : last_ms;
    }
    CHECK(first_ms >= 10 && first_ms < 100);
    return last_ms - first_ms;
}

static void clients_that_expired_together_come_back_apart(void)
{
    CHECK(spread_of(3000) >= 200 && spread_of(3000) <= 250);
    CHECK(spread_of(30000) >= 1300 && spread_of(30000) <= 1500);
    CHECK(spread_of(3600000) >= 4500 && spread_of(3600000) <= 5000);
}

/* A client of several servers holds a lock. A fifth of the timeout is 600. */
static void hold_of_several(void)
{
    connect_movable();
    story(&t, "wanted: probe\n");
}

static void a_silent_server_is_left_where_there_are_others(void)
{
    hold_of_several();
    story(&t, "later 599: touch\n"
              "later 1: leave\n"
              "disconnected: down\n"
              "connected a: up(a)\n");
    connect();
    story(&t, "wanted: probe\n"
              "later 1500: touch\n");
}

static void where_all_servers_are_silent_they_are_left_less_and_less_often(void)
{
    int n_left = 0;
    hold_of_several();
    for (int i = 0; i < 100; i++) {
        int before = t.s.silence.n_left;
        feed(&t, "later 100");
        n_left += t.s.silence.n_left > before;
        if (t.s.silence.n_left == before)
            continue;
        feed(&t, "disconnected");
        feed(&t, "connected a");
        feed(&t, "later 1");
    }
    CHECK_EQ(n_left, 3); /* in three timeouts; ZooKeeper's client gives up after two thirds of one */
}

static void on_a_link_with_a_long_way_silence_is_waited_for_longer(void)
{
    hold_of_several();
    t.s.plain = true;
    story(&t, "later 400: -\n"
              "agreed 400: -\n");
    for (int i = 0; i < 24; i++) {
        feed(&t, "later 50");
        CHECK(strstr(t.text, "leave") == NULL);
    }
    story(&t, "later 50: probe leave\n");
}

static void at_the_first_connection_too_where_there_are_others(void)
{
    session_begin(&t, true);
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 6000);
    t.s.policy.movable = true;
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 300);
    story(&t, "later 300: leave\n");
}

static void every_phase_has_a_name(void)
{
    CHECK_STR(pdk__session_phase_name(PDK__SESSION_OVER), "over");
    CHECK_STR(pdk__session_phase_name(PDK__N_SESSION_PHASES), "?");
    CHECK_STR(pdk__phase_name(PDK__DONE), "done");
    CHECK_STR(pdk__phase_name(PDK__N_PHASES), "?");
}

static const struct story stories[] = {
    {"a session comes, and goes, and comes back", begin,
     "disconnected: -\n" /* a failed first connect reports nothing */
     "connected a: up(a) proven\n"
     "disconnected: down\n"
     "connected a: up(a)\n"},
    {"a handle that finds no server for long is given up", connect,
     "disconnected: down\n"
     "later 3000: doubted presumed\n"
     "wakes: 3000\n"
     "later 3000: expired\n"
     "connected a: -\n" /* too late: its nodes were given up */
     "later 6000: open\n"
     "opened: -\n"
     "connected b: up(b) proven\n"},
    /* There may be no memory for the thread that closes the one and opens the other. */
    {"a handle that was given up is not used, though no other can be opened", connect,
     "disconnected: down\n"
     "later 6000: doubted presumed expired\n"
     "later 6000: open\n"
     "open failed: -\n"
     "connected a: -\n" /* its nodes may be there still, and the contenders have forgotten them */
     "later 6000: open\n"
     "connected a: -\n"},
    /* The session may be older than the failure. */
    {"a handle that stays, since no other can be opened, is believed from its own beginning", begin,
     "later 6000: -\n"
     "later 6000: open\n"
     "open failed: -\n"
     "connected a: up(a) presumed touch\n"
     "believed: no\n"},
    {"a handle that finds a server late, but before the next is opened, is kept", begin,
     "later 6000: -\n"
     "phase: backoff\n"
     "connected a: up(a) presumed touch\n"
     "later 6000: -\n"
     "phase: connected\n"},
    /* Names that resolve slowly, and then not at all: the first attempt is still being made when it is given up. */
    {"an attempt that fails after it was given up is made again", begin,
     "later 6000: -\n"
     "phase: backoff\n"
     "open failed: -\n"
     "phase: backoff\n"
     "later 6000: open\n"},
    {"an adopted handle is never given up", connect_adopted,
     "disconnected: down\n"
     "wakes: never\n"
     "later 100000: -\n"},
    {"an expired adopted handle is the end", connect_adopted,
     "expired: over(PDK_EEXPIRED)\n"
     "connected b: -\n"},
    {"hosts that do not resolve are tried again", connect,
     "expired: expired\n"
     "later 6000: open\n"
     "open failed: -\n"
     "later 6000: open\n"},
    /* With short sessions and a slow resolver, resolving the names takes longer than the time a handle gets. */
    {"a handle long in the making has all its time from then on", connect,
     "expired: expired\n"
     "later 6000: open\n"
     "wakes: never\n"
     "later 100000: -\n"
     "opened: -\n"
     "wakes: 6000\n"
     "later 5999: -\n"
     "connected b: up(b) presumed touch\n" /* the client cannot know that it was requested only just now */
     "opened: -\n"
     "believed: no\n"},
    {"refused credentials, and a close, are final", connect,
     "auth failed: over(PDK_EAUTH)\n"
     "close: -\n"
     "\n"
     "close: over(PDK_ECLOSED)\n"
     "believed: no\n"
     "wakes: never\n"},
    {"servers that resume no session are final, too", connect,
     "connected a 3000 unresumable: over(PDK_ESERVER)\n"
     "believed: no\n"
     "connected b: -\n"},
    {"so are they after those that do", connect,
     "disconnected: down\n"
     "connected b 3000 unresumable: over(PDK_ESERVER)\n"},
    {"so are they for a handle that is another's", connect_adopted,
     "disconnected: down\n"
     "connected b 3000 unresumable: over(PDK_ESERVER)\n"},
    {"a connection without a session is none", begin,
     "connected 0: -\n"
     "connected a 0: -\n"},
    {"a server that was asked nothing is not silent", connect_movable,
     "later 749: -\n"
     "later 1: touch\n"
     "answered 1: -\n"
     "later 700: -\n"},
    /* A tenth of the timeout is 300. The wait doubles, and no server is passed over for the fourth time. */
    {"a server that does not take the connection is passed over", connect_movable,
     "disconnected: down\n"
     "later 299: -\n"
     "later 1: leave\n"
     "later 599: -\n"
     "later 1: leave\n"
     "later 1200: leave\n"
     "later 2400: doubted presumed\n"
     "connected a: up(a)\n"
     "disconnected: down\n"
     "later 300: leave\n"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a handle that never finds a server is made anew", a_handle_that_never_finds_a_server_is_made_anew},
        {"an expired session is followed by another, after a rest",
         an_expired_session_is_followed_by_another_after_a_rest},
        {"a session changed silently has expired, and its handle is given up", a_session_changed_silently_has_expired},
        {"clients that expired together come back apart", clients_that_expired_together_come_back_apart},
        {"a silent server is left, where there are others", a_silent_server_is_left_where_there_are_others},
        {"where all servers are silent they are left less and less often",
         where_all_servers_are_silent_they_are_left_less_and_less_often},
        {"on a link with a long way silence is waited for longer",
         on_a_link_with_a_long_way_silence_is_waited_for_longer},
        {"at the first connection, too, where there are others", at_the_first_connection_too_where_there_are_others},
        {"every phase has a name", every_phase_has_a_name},
        {0}};
    return pdk__story_main(argc, argv, "session", __FILE__, &t, stories, tests);
}
