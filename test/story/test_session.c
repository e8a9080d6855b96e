/* Stories of the session: when it may be used, believed in, and given up. */
#include "test/lib/check.h"
#include "test/story/trace.h"
#include <string.h>

static struct trace t;

static void connect_first(bool renewable)
{
    session_begin(&t, renewable);
    session_connected(&t, 0xa, 3000);
    trace_reset(&t);
}

static void a_session_comes_and_goes_and_comes_back(void)
{
    session_begin(&t, true);
    session_event(&t, PDK__SEV_DISCONNECTED); /* a failed first connect reports nothing */
    session_connected(&t, 0xa, 3000);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 3000);
    CHECK_STR(t.text, "disconnected: -\n"
                      "connected: up(a) proven\n"
                      "disconnected: down\n"
                      "connected: up(a)\n");
}

static void a_handle_that_finds_no_server_for_long_is_given_up(void)
{
    connect_first(true);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_later(&t, 3000);
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 3000);
    session_later(&t, 3000);
    session_connected(&t, 0xa, 3000); /* too late: its nodes were given up */
    session_later(&t, 6000);
    session_event(&t, PDK__SEV_OPENED);
    session_connected(&t, 0xb, 3000);
    CHECK_STR(t.text, "disconnected: down\n"
                      "later: doubted presumed\n"
                      "later: expired\n"
                      "connected: -\n"
                      "later: open\n"
                      "opened: -\n"
                      "connected: up(b) proven\n");
}

/* There may be no memory for the thread that closes the one and opens the other. */
static void a_handle_that_was_given_up_is_not_used_though_no_other_can_be_opened(void)
{
    connect_first(true);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_later(&t, 6000);
    session_later(&t, 6000);
    session_event(&t, PDK__SEV_OPEN_FAILED);
    session_connected(&t, 0xa, 3000); /* its nodes may be there still, and the contenders have forgotten them */
    session_later(&t, 6000);
    session_connected(&t, 0xa, 3000);
    CHECK_STR(t.text, "disconnected: down\n"
                      "later: doubted presumed expired\n"
                      "later: open\n"
                      "open failed: -\n"
                      "connected: -\n"
                      "later: open\n"
                      "connected: -\n");
}

/* The session may be older than the failure. */
static void a_handle_that_stays_since_no_other_can_be_opened_is_believed_from_its_own_beginning(void)
{
    session_begin(&t, true);
    session_later(&t, 6000);
    session_later(&t, 6000);
    session_event(&t, PDK__SEV_OPEN_FAILED);
    session_connected(&t, 0xa, 3000);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
    CHECK_STR(t.text, "later: -\n"
                      "later: open\n"
                      "open failed: -\n"
                      "connected: up(a) presumed touch\n");
}

static void a_handle_that_never_finds_a_server_is_made_anew(void)
{
    session_begin(&t, true);
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 6000);
    session_later(&t, 5999);
    session_later(&t, 1);
    session_later(&t, 6000);
    session_event(&t, PDK__SEV_OPENED);
    session_connected(&t, 0xa, 3000);
    CHECK_STR(t.text, "later: -\n"
                      "later: -\n"
                      "later: open\n"
                      "opened: -\n"
                      "connected: up(a) proven\n");
    session_begin(&t, false);
    session_later(&t, 100000);
    CHECK_EQ(t.s.phase, PDK__SESSION_OPENING);
    CHECK_EQ(pdk__session_wake_ms(&t.s), PDK__NEVER);
}

static void a_handle_that_finds_a_server_late_is_kept(void)
{
    session_begin(&t, true);
    session_later(&t, 6000);
    CHECK_EQ(t.s.phase, PDK__SESSION_BACKOFF);
    session_connected(&t, 0xa, 3000);
    session_later(&t, 6000);
    CHECK_EQ(t.s.phase, PDK__SESSION_CONNECTED);
    CHECK_STR(t.text, "later: -\n"
                      "connected: up(a) presumed touch\n"
                      "later: -\n");
}

static void an_adopted_handle_is_never_given_up(void)
{
    connect_first(false);
    session_event(&t, PDK__SEV_DISCONNECTED);
    CHECK_EQ(pdk__session_wake_ms(&t.s), PDK__NEVER);
    session_later(&t, 100000);
    CHECK_STR(t.text, "disconnected: down\n"
                      "later: -\n");
}

static void an_expired_session_is_followed_by_another_after_a_rest(void)
{
    connect_first(true);
    session_event(&t, PDK__SEV_EXPIRED);
    CHECK(pdk__session_wake_ms(&t.s) > t.now_ms);
    session_event(&t, PDK__SEV_EXPIRED);
    session_later(&t, 0);
    session_later(&t, 6000);
    session_event(&t, PDK__SEV_OPENED);
    session_connected(&t, 0xb, 3000);
    CHECK_STR(t.text, "expired: expired\n"
                      "expired: -\n"
                      "later: -\n"
                      "later: open\n"
                      "opened: -\n"
                      "connected: up(b) proven\n");
}

static void an_expired_adopted_handle_is_the_end(void)
{
    connect_first(false);
    session_event(&t, PDK__SEV_EXPIRED);
    session_connected(&t, 0xb, 3000);
    CHECK_STR(t.text, "expired: over(PDK_EEXPIRED)\n"
                      "connected: -\n");
}

static void a_session_changed_silently_has_expired(void)
{
    connect_first(true);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xb, 3000);
    session_later(&t, 6000);
    CHECK_STR(t.text, "disconnected: down\n"
                      "connected: expired\n"
                      "later: open\n");
    connect_first(false);
    session_connected(&t, 0xb, 3000);
    CHECK_STR(t.text, "connected: over(PDK_EEXPIRED)\n");
}

static void hosts_that_do_not_resolve_are_tried_again(void)
{
    connect_first(true);
    session_event(&t, PDK__SEV_EXPIRED);
    session_later(&t, 6000);
    session_event(&t, PDK__SEV_OPEN_FAILED);
    session_later(&t, 6000);
    CHECK_STR(t.text, "expired: expired\n"
                      "later: open\n"
                      "open failed: -\n"
                      "later: open\n");
}

/* With short sessions and a slow resolver, resolving the names takes longer than the time a handle gets. */
static void a_handle_long_in_the_making_has_all_its_time_from_then_on(void)
{
    connect_first(true);
    session_event(&t, PDK__SEV_EXPIRED);
    session_later(&t, 6000);
    CHECK_EQ(pdk__session_wake_ms(&t.s), PDK__NEVER);
    session_later(&t, 100000);
    session_event(&t, PDK__SEV_OPENED);
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 6000);
    session_later(&t, 5999);
    session_connected(&t, 0xb, 3000); /* the client cannot know that it was requested only just now */
    session_event(&t, PDK__SEV_OPENED);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
    CHECK_STR(t.text, "expired: expired\n"
                      "later: open\n"
                      "later: -\n"
                      "opened: -\n"
                      "later: -\n"
                      "connected: up(b) presumed touch\n"
                      "opened: -\n");
}

static void clients_that_expired_together_come_back_apart(void)
{
    int64_t first = 0;
    bool apart = false;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        session_begin(&t, true);
        pdk__session_init(&t.s, true, (struct pdk__session_policy){0}, seed, 3000, t.now_ms);
        session_connected(&t, 0xa, 3000);
        session_event(&t, PDK__SEV_EXPIRED);
        apart |= seed > 1 && pdk__session_wake_ms(&t.s) != first;
        first = pdk__session_wake_ms(&t.s);
    }
    CHECK(apart);
}

static void refused_credentials_and_a_close_are_final(void)
{
    connect_first(true);
    session_event(&t, PDK__SEV_AUTH_FAILED);
    session_event(&t, PDK__SEV_CLOSE);
    CHECK_STR(t.text, "auth failed: over(PDK_EAUTH)\n"
                      "close: -\n");
    connect_first(true);
    session_event(&t, PDK__SEV_CLOSE);
    CHECK(!pdk__session_lease_valid(&t.s, t.now_ms));
    CHECK_EQ(pdk__session_wake_ms(&t.s), PDK__NEVER);
    CHECK_STR(t.text, "close: over(PDK_ECLOSED)\n");
}

static void a_connection_without_a_session_is_none(void)
{
    session_begin(&t, true);
    session_connected(&t, 0, 3000);
    session_connected(&t, 0xa, 0);
    CHECK_STR(t.text, "connected: -\n"
                      "connected: -\n");
}

/* A client of several servers holds a lock. A fifth of the timeout is 600. */
static void hold_of_several(void)
{
    connect_first(true);
    t.s.policy.movable = true;
    session_event(&t, PDK__SEV_LEASE_NEEDED);
}

static void a_silent_server_is_left_where_there_are_others(void)
{
    hold_of_several();
    session_later(&t, 599);
    session_later(&t, 1);
    session_event(&t, PDK__SEV_DISCONNECTED);
    session_connected(&t, 0xa, 3000);
    CHECK_STR(t.text, "wanted: probe\n"
                      "later: touch\n"
                      "later: leave\n"
                      "disconnected: down\n"
                      "connected: up(a)\n");
    connect_first(true);
    session_event(&t, PDK__SEV_LEASE_NEEDED);
    session_later(&t, 1500);
    CHECK_STR(t.text, "wanted: probe\n"
                      "later: touch\n");
}

static void a_server_that_was_asked_nothing_is_not_silent(void)
{
    connect_first(true);
    t.s.policy.movable = true;
    session_later(&t, 749);
    session_later(&t, 1);
    session_answered(&t, 1, false);
    session_later(&t, 700);
    CHECK_STR(t.text, "later: -\n"
                      "later: touch\n"
                      "answered: -\n"
                      "later: -\n");
}

static void where_all_servers_are_silent_they_are_left_less_and_less_often(void)
{
    int n_left = 0;
    hold_of_several();
    for (int i = 0; i < 100; i++) {
        int before = t.s.silence.n_left;
        session_later(&t, 100);
        n_left += t.s.silence.n_left > before;
        trace_reset(&t);
        if (t.s.silence.n_left == before)
            continue;
        session_event(&t, PDK__SEV_DISCONNECTED);
        session_connected(&t, 0xa, 3000);
        session_later(&t, 1);
    }
    CHECK_EQ(n_left, 3); /* in three timeouts; ZooKeeper's client gives up after two thirds of one */
}

static void on_a_link_with_a_long_way_silence_is_waited_for_longer(void)
{
    hold_of_several();
    t.s.plain = true;
    session_later(&t, 400);
    session_answered(&t, 400, true);
    trace_reset(&t);
    for (int i = 0; i < 24; i++)
        session_later(&t, 50);
    CHECK(strstr(t.text, "leave") == NULL);
    session_later(&t, 50);
    CHECK(strstr(t.text, "leave") != NULL);
}

/* A tenth of the timeout is 300. The wait doubles, and no server is passed over for the fourth time. */
static void check_passing(void)
{
    session_later(&t, 299);
    session_later(&t, 1);
    session_later(&t, 599);
    session_later(&t, 1);
    session_later(&t, 1200);
    session_later(&t, 2400);
}

static void a_server_that_does_not_take_the_connection_is_passed_over(void)
{
    connect_first(true);
    t.s.policy.movable = true;
    session_event(&t, PDK__SEV_DISCONNECTED);
    trace_reset(&t);
    check_passing();
    CHECK_STR(t.text, "later: -\n"
                      "later: leave\n"
                      "later: -\n"
                      "later: leave\n"
                      "later: leave\n"
                      "later: doubted presumed\n");
    session_connected(&t, 0xa, 3000);
    session_event(&t, PDK__SEV_DISCONNECTED);
    trace_reset(&t);
    session_later(&t, 300);
    CHECK_STR(t.text, "later: leave\n");
}

static void at_the_first_connection_too_where_there_are_others(void)
{
    session_begin(&t, true);
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 6000);
    t.s.policy.movable = true;
    CHECK_EQ(pdk__session_wake_ms(&t.s), t.now_ms + 300);
    session_later(&t, 300);
    CHECK_STR(t.text, "later: leave\n");
}

static void every_phase_has_a_name(void)
{
    CHECK_STR(pdk__session_phase_name(PDK__SESSION_OVER), "over");
    CHECK_STR(pdk__session_phase_name(PDK__N_SESSION_PHASES), "?");
    CHECK_STR(pdk__phase_name(PDK__DONE), "done");
    CHECK_STR(pdk__phase_name(PDK__N_PHASES), "?");
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"a session comes, and goes, and comes back", a_session_comes_and_goes_and_comes_back},
        {"a handle that finds no server for long is given up", a_handle_that_finds_no_server_for_long_is_given_up},
        {"a handle that was given up is not used, though no other can be opened",
         a_handle_that_was_given_up_is_not_used_though_no_other_can_be_opened},
        {"a handle that stays, since no other can be opened, is believed from its own beginning",
         a_handle_that_stays_since_no_other_can_be_opened_is_believed_from_its_own_beginning},
        {"a handle that never finds a server is made anew", a_handle_that_never_finds_a_server_is_made_anew},
        {"a handle that finds a server late, but before the next is opened, is kept",
         a_handle_that_finds_a_server_late_is_kept},
        {"an adopted handle is never given up", an_adopted_handle_is_never_given_up},
        {"an expired session is followed by another, after a rest",
         an_expired_session_is_followed_by_another_after_a_rest},
        {"an expired adopted handle is the end", an_expired_adopted_handle_is_the_end},
        {"a session changed silently has expired, and its handle is given up", a_session_changed_silently_has_expired},
        {"hosts that do not resolve are tried again", hosts_that_do_not_resolve_are_tried_again},
        {"a handle long in the making has all its time from then on",
         a_handle_long_in_the_making_has_all_its_time_from_then_on},
        {"clients that expired together come back apart", clients_that_expired_together_come_back_apart},
        {"refused credentials, and a close, are final", refused_credentials_and_a_close_are_final},
        {"a connection without a session is none", a_connection_without_a_session_is_none},
        {"a silent server is left, where there are others", a_silent_server_is_left_where_there_are_others},
        {"a server that was asked nothing is not silent", a_server_that_was_asked_nothing_is_not_silent},
        {"where all servers are silent they are left less and less often",
         where_all_servers_are_silent_they_are_left_less_and_less_often},
        {"on a link with a long way silence is waited for longer",
         on_a_link_with_a_long_way_silence_is_waited_for_longer},
        {"a server that does not take the connection is passed over",
         a_server_that_does_not_take_the_connection_is_passed_over},
        {"at the first connection, too, where there are others", at_the_first_connection_too_where_there_are_others},
        {"every phase has a name", every_phase_has_a_name},
        {0}};
    return pdk__test_main(argc, argv, &(struct pdk__test_suite){.name = "session", .tests = tests});
}
