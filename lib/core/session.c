#undef NDEBUG

#include "lib/core/session.h"
#include "lib/core/contender.h"
#include "paddock/error.h"
#include <assert.h>

/* The defaults, each as a part of the timeout. A tick is at most one TICK_PART of the timeout, and by default taken
 * as that. The margin is for clocks that run apart. */
enum { MARGIN_PART = 20, MIN_VALID_PART = 10, RESERVE_PART = 10, TICK_PART = 2, TOUCH_PART = 4 };

/* How late the leader's pings may be: beyond their interval of half a tick, the time it takes to send them. */
enum { PING_LATE_PART = 20, PING_LATE_MS = 10 };

/* ASKED_MAX requests of ours are under way at most. At most STEPS_MAX of a slow link's intervals make up the age of
 * belief. */
enum { ASKED_MAX = 16, STEPS_MAX = 24, RIPE_PART = 14, TURN_TIMEOUTS = 4 };

/* However short the session is: more writes are a load that delays them. */
enum { PACE_FLOOR_MS = 100 };

/* The round trip is the least of the last MEASURED_MAX to 2 * MEASURED_MAX answers. */
enum { MEASURED_MAX = 8, MEASURED_MIN = 3 };

/* A server may be silent for one SILENCE_PART of the timeout, doubled at most LEFT_MAX times. An answer within one
 * SOON_PART of the timeout counts as soon. */
enum { SILENCE_PART = 5, LEFT_MAX = 3, SOON_PART = 20 };

/* While no server is connected, the server that is tried has a SEEK_PART of the timeout to answer, doubled each
 * time. At most PASSED_MAX servers are passed over. */
enum { SEEK_PART = 10, PASSED_MAX = 3 };

/* A fleet whose sessions expired together must not come back together. */
enum { RENEW_FLOOR_MS = 10, RENEW_CEILING_MS = 5000 };

#define TO(phase) (1U << PDK__SESSION_##phase)

static const unsigned moves[PDK__N_SESSION_PHASES] = {
    [PDK__SESSION_OPENING] = TO(CONNECTED) | TO(RESTING) | TO(OVER),
    [PDK__SESSION_CONNECTED] = TO(SUSPENDED) | TO(RESTING) | TO(OVER),
    [PDK__SESSION_SUSPENDED] = TO(CONNECTED) | TO(RESTING) | TO(OVER),
    [PDK__SESSION_RESTING] = TO(OPENING) | TO(OVER),
    [PDK__SESSION_OVER] = 0,
};

const char *pdk__session_phase_name(enum pdk__session_phase phase)
{
    static const char *const names[PDK__N_SESSION_PHASES] = {"opening", "connected", "suspended", "resting", "over"};
    return phase < PDK__N_SESSION_PHASES ? names[phase] : "?";
}

static void check_invariants(const struct pdk__session *s, enum pdk__session_phase before)
{
    assert(s->phase == before || (moves[before] & 1U << s->phase) != 0);
    if (s->phase == PDK__SESSION_CONNECTED || s->phase == PDK__SESSION_SUSPENDED)
        assert(s->id != 0);
    else
        assert(s->id == 0);
    assert(s->timeout_ms > 0);
    assert(s->doubted || !s->presumed);
    assert(s->n_asked >= 0 && s->n_asked <= ASKED_MAX);
    if (s->n_asked > 0 || s->flowing)
        assert(s->phase == PDK__SESSION_CONNECTED);
}

static struct pdk__session_action *push(struct pdk__session_actions *out, enum pdk__session_action_kind kind)
{
    assert(out->n < PDK__SESSION_ACTIONS_MAX);
    struct pdk__session_action *action = &out->list[out->n++];
    *action = (struct pdk__session_action){.kind = kind};
    return action;
}

/* --- time left --------------------------------------------------------------------------------------------------- */

static int64_t sooner(int64_t a_ms, int64_t b_ms) { return a_ms < b_ms ? a_ms : b_ms; }

static int64_t later(int64_t a_ms, int64_t b_ms) { return a_ms > b_ms ? a_ms : b_ms; }

static int64_t either(int64_t chosen_ms, int64_t default_ms) { return chosen_ms > 0 ? chosen_ms : default_ms; }

static int64_t tick_ms(const struct pdk__session *s) { return either(s->policy.tick_ms, s->timeout_ms / TICK_PART); }

static int64_t gap_ms(const struct pdk__session *s)
{
    return tick_ms(s) / 2 + tick_ms(s) / PING_LATE_PART + PING_LATE_MS;
}

static int64_t margin_ms(const struct pdk__session *s)
{
    return either(s->policy.margin_ms, s->timeout_ms / MARGIN_PART);
}

static int64_t min_valid_ms(const struct pdk__session *s)
{
    return either(s->policy.min_valid_ms, s->timeout_ms / MIN_VALID_PART);
}

/* A proof is never younger than the gap. */
static bool too_short(const struct pdk__session *s)
{
    return gap_ms(s) + margin_ms(s) + min_valid_ms(s) >= s->timeout_ms;
}

static bool proven(const struct pdk__session *s) { return s->chain.proven_ms != PDK__UNKNOWN_MS; }

int64_t pdk__session_deadline_ms(const struct pdk__session *s)
{
    return proven(s) ? s->chain.proven_ms + s->timeout_ms - margin_ms(s) : INT64_MIN;
}

/* --- the link ---------------------------------------------------------------------------------------------------- */

/* The least of the last answers. Additional time is the load of the servers, not the link, and more writes would add
 * to it. */
int64_t pdk__session_lag_ms(const struct pdk__session *s)
{
    int64_t least = sooner(s->lag_ms, s->least_ms);
    return least == INT64_MAX ? 0 : later(0, least);
}

static int64_t ceiling(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* The age of belief right before the next proof, with a write in every PACE_MS. Each link waits for the answer to
 * the one before it, and for its turn. A sixth is added to the round trip, because it varies. */
static int64_t oldest_ms(const struct pdk__session *s, int64_t pace_ms)
{
    int64_t lag = pdk__session_lag_ms(s) * 7 / 6;
    return (ceiling(lag + gap_ms(s), pace_ms) + ceiling(lag + 1, pace_ms) + 1) * pace_ms + lag;
}

/* The age of belief at which one RIPE_PART of the timeout is left before doubt. */
static int64_t ripe_ms(const struct pdk__session *s)
{
    return s->timeout_ms - margin_ms(s) - min_valid_ms(s) - s->timeout_ms / RIPE_PART;
}

/* The interval of an idle holder's writes on a fast link. Belief rests on a write that is three intervals old, if
 * those are longer than the gap, or four, if two of them are. That is six tenths of the timeout, with a tick of half
 * the timeout. A tenth of the gap is left for the answer. */
static int64_t fast_pace_ms(const struct pdk__session *s)
{
    int64_t gap = gap_ms(s), timeout = s->timeout_ms;
    if (gap * 11 / 10 <= timeout / 5)
        return timeout / 5;
    return gap * 11 / 5 <= timeout * 7 / 10 ? gap * 11 / 20 : gap * 11 / 40;
}

/* At the pace of a fast link belief would be over-ripe. Not where answers take one and a half times as long as the
 * quickest: then the servers are slow, and more writes make them slower. */
static bool far(const struct pdk__session *s)
{
    int64_t lag = pdk__session_lag_ms(s);
    return lag > 0 && 2 * s->mean_ms <= 3 * lag && oldest_ms(s, fast_pace_ms(s)) > ripe_ms(s);
}

static bool slow(const struct pdk__session *s) { return far(s) && !s->eased; }

/* The longest pace at which belief is not over-ripe; if there is none, a short one, for as much as it gains. */
static int64_t slow_pace_ms(const struct pdk__session *s)
{
    int64_t lag = pdk__session_lag_ms(s);
    for (int steps = 3; steps <= STEPS_MAX; steps++) {
        int64_t pace = (ripe_ms(s) - lag) / steps;
        if (pace >= PACE_FLOOR_MS && oldest_ms(s, pace) <= ripe_ms(s))
            return pace;
    }
    return later((lag + gap_ms(s)) / (ASKED_MAX - 2), PACE_FLOOR_MS);
}

static int64_t pace_ms(const struct pdk__session *s) { return slow(s) ? slow_pace_ms(s) : fast_pace_ms(s); }

/* --- doubt ------------------------------------------------------------------------------------------------------- */

/* The most time that the best proof of this link can leave before doubt. */
static int64_t spare_ms(const struct pdk__session *s)
{
    return s->timeout_ms - 3 * pdk__session_lag_ms(s) - gap_ms(s) - margin_ms(s) - min_valid_ms(s);
}

/* A beginning needs more time left than continuing does. Otherwise a grant would be in doubt before the next proof,
 * which takes two round trips after idleness. But never more than a proof can bring. */
static int64_t begin_until_ms(const struct pdk__session *s)
{
    int64_t wait = later(s->timeout_ms / RESERVE_PART, pdk__session_lag_ms(s) * 5 / 2);
    int64_t reserve = later(0, sooner(wait, spare_ms(s) / 2));
    return proven(s) ? pdk__session_deadline_ms(s) - min_valid_ms(s) - reserve : INT64_MIN;
}

/* On a slow link the next proof would come too late if its writes had not begun yet. */
static bool may_begin(const struct pdk__session *s, int64_t now_ms)
{
    return now_ms < begin_until_ms(s) && (s->flowing || !slow(s));
}

static int64_t doubt_ms(const struct pdk__session *s)
{
    if (s->wanted && proven(s))
        return pdk__session_deadline_ms(s) - min_valid_ms(s);
    return slow(s) ? INT64_MIN : begin_until_ms(s);
}

/* One late answer does not prove a slow link. */
static bool measured(const struct pdk__session *s) { return s->lag_ms != INT64_MAX || s->n_measured >= MEASURED_MIN; }

bool pdk__session_unfit(const struct pdk__session *s)
{
    int64_t pace = slow_pace_ms(s);
    bool doubted = s->phase == PDK__SESSION_CONNECTED && s->doubted;
    return doubted && measured(s) && far(s) && oldest_ms(s, pace) - pace > ripe_ms(s);
}

/* Where answers are late because the servers are loaded, the pace of a slow link makes it worse. So where that pace
 * has brought no proof for TURN_TIMEOUTS timeouts, the other pace is tried for as long, and so on. */
static void reconsider(struct pdk__session *s, int64_t now_ms)
{
    if (!s->wanted || !s->doubted || !far(s)) {
        s->turn_ms = now_ms;
    } else if (now_ms - s->turn_ms >= TURN_TIMEOUTS * s->timeout_ms) {
        s->eased = !s->eased;
        s->turn_ms = now_ms;
    }
}

/* Before any event, the passing of time is taken into account, because the thread that brings the event may be late. */
static void notice_time(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (!s->doubted && now_ms >= doubt_ms(s)) {
        s->doubted = true;
        push(out, PDK__SACT_DOUBTED);
    }
    if (!s->presumed && proven(s) && now_ms >= pdk__session_deadline_ms(s)) {
        s->presumed = true;
        push(out, PDK__SACT_PRESUMED);
    }
}

static void notice_proof(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (!s->doubted || !may_begin(s, now_ms))
        return;
    s->doubted = s->presumed = false;
    push(out, PDK__SACT_PROVEN);
}

/* --- asking for proof -------------------------------------------------------------------------------------------- */

/* When the next write is due while proof is wanted: at its pace; or as soon as it continues a chain, where doubt
 * would come first. In doubt, with one request under way at a time, no other request may delay that write. */
static int64_t probe_ms(const struct pdk__session *s)
{
    int64_t turn = later(s->probed_ms, s->wrote_ms) + pace_ms(s);
    int64_t next = pdk__chain_next_ms(&s->chain, s->probed_ms);
    if (next == 0 && s->n_asked > 0)
        next = PDK__NEVER; /* nothing is touched yet, and the request for the first link is under way */
    if (s->doubted)
        return !slow(s) && next != PDK__NEVER ? next : sooner(turn, next);
    return sooner(turn, later(next, doubt_ms(s) - pace_ms(s)));
}

static int64_t touch_ms(const struct pdk__session *s)
{
    int64_t pace = slow(s) ? pace_ms(s) : s->timeout_ms / TOUCH_PART;
    return later(s->asked_ms, s->chain.latest_ms) + pace;
}

/* A write does not wait for the answer to a read: that would cost a grant one round trip. */
static int asked_max(const struct pdk__session *s)
{
    bool read_last = s->asked_ms > s->probed_ms;
    return slow(s) ? ASKED_MAX : s->wanted && read_last ? 2 : 1;
}

static int64_t due_ms(const struct pdk__session *s)
{
    if (s->phase != PDK__SESSION_CONNECTED || s->n_asked >= asked_max(s))
        return PDK__NEVER;
    /* A request sent in the millisecond of an answer would not count as sent after it. */
    int64_t due = later(s->wanted ? probe_ms(s) : touch_ms(s), s->heard_ms + 1);
    return later(due, s->hush_ms);
}

static void ask_if_due(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (now_ms < due_ms(s))
        return;
    if (s->n_asked++ == 0)
        s->waited_ms = now_ms;
    s->asked_ms = now_ms;
    if (s->wanted)
        s->probed_ms = now_ms;
    push(out, s->wanted ? PDK__SACT_PROBE : PDK__SACT_TOUCH);
}

static void measure(struct pdk__session *s, int64_t took_ms)
{
    s->mean_ms = s->mean_ms == PDK__UNKNOWN_MS ? took_ms : s->mean_ms + (took_ms - s->mean_ms) / 8;
    s->least_ms = sooner(s->least_ms, took_ms);
    if (++s->n_measured < MEASURED_MAX)
        return;
    s->lag_ms = s->least_ms;
    s->least_ms = INT64_MAX;
    s->n_measured = 0;
}

/* The request is no longer under way. A request of an earlier connection is not counted. */
static void settle(struct pdk__session *s)
{
    if (s->n_asked > 0)
        s->n_asked--;
}

/* The first proof of a row may have taken long, and so may the second. */
static void note_proof(struct pdk__session *s, int64_t now_ms)
{
    bool soon = s->proof_ms != PDK__UNKNOWN_MS && now_ms - s->proof_ms <= 2 * pace_ms(s);
    s->flowing = s->wanted && (s->flowing || soon);
    s->proof_ms = s->wanted ? now_ms : PDK__UNKNOWN_MS;
}

static void note_answer(struct pdk__session *s, const struct pdk__session_event *ev)
{
    s->waited_ms = s->heard_ms = ev->now_ms;
    if (ev->agreed && ev->now_ms - ev->sent_ms <= s->timeout_ms / SOON_PART)
        s->n_left = 0;
}

static void on_answered(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    if (s->phase != PDK__SESSION_CONNECTED)
        return; /* the answer is of a connection that is known to be lost */
    if (ev->asked)
        settle(s);
    note_answer(s, ev);
    measure(s, ev->now_ms - ev->sent_ms);
    if (ev->asked && ev->wrote && !ev->agreed)
        s->hush_ms = ev->now_ms + pace_ms(s); /* servers that refuse writes must not be asked in a loop */
    if (ev->agreed)
        s->wrote_ms = later(s->wrote_ms, ev->sent_ms);
    if (pdk__chain_answered(&s->chain, ev->sent_ms, ev->now_ms, ev->agreed)) {
        note_proof(s, ev->now_ms);
        notice_proof(s, ev->now_ms, out);
    }
    notice_time(s, ev->now_ms, out); /* the link may turn out to be slow */
}

static void on_unasked(struct pdk__session *s, const struct pdk__session_event *ev)
{
    settle(s);
    s->probed_ms = PDK__UNKNOWN_MS; /* the link that it was to continue needs another request */
    s->hush_ms = ev->now_ms + pace_ms(s);
}

/* Proofs no longer come in a row. */
static void stem(struct pdk__session *s)
{
    s->flowing = false;
    s->proof_ms = PDK__UNKNOWN_MS;
}

static void on_wish(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    s->wanted = ev->kind == PDK__SEV_WANTED;
    if (!s->wanted)
        stem(s);
    notice_time(s, ev->now_ms, out);
}

/* --- a silent server --------------------------------------------------------------------------------------------- */

static int64_t patience_ms(const struct pdk__session *s, int part)
{
    return later(s->timeout_ms / part, 3 * pdk__session_lag_ms(s));
}

static bool seeks(const struct pdk__session *s)
{
    return s->phase == PDK__SESSION_SUSPENDED || (s->phase == PDK__SESSION_OPENING && s->away_ms != PDK__NEVER);
}

static int64_t leave_ms(const struct pdk__session *s)
{
    if (!s->policy.movable)
        return PDK__NEVER;
    if (seeks(s) && s->n_passed < PASSED_MAX)
        return s->sought_ms + (patience_ms(s, SEEK_PART) << s->n_passed);
    if (s->phase != PDK__SESSION_CONNECTED || s->n_asked == 0)
        return PDK__NEVER;
    return later(s->waited_ms + (patience_ms(s, SILENCE_PART) << s->n_left), s->left_ms + s->timeout_ms);
}

static void leave_if_due(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (now_ms < leave_ms(s))
        return;
    if (seeks(s)) {
        s->sought_ms = now_ms;
        s->n_passed++;
    } else {
        s->left_ms = now_ms;
        s->n_left += s->n_left < LEFT_MAX;
    }
    push(out, PDK__SACT_LEAVE);
}

/* --- the handle -------------------------------------------------------------------------------------------------- */

/* Requests under way on a connection are lost with it. */
static void hang_up(struct pdk__session *s)
{
    s->n_asked = 0;
    stem(s);
}

static void end_session(struct pdk__session *s)
{
    s->id = 0;
    s->presumed = false;
    s->doubted = true;
    hang_up(s);
    pdk__chain_init(&s->chain);
}

static void seek(struct pdk__session *s, int64_t now_ms)
{
    s->away_ms = now_ms + 2 * s->timeout_ms;
    s->sought_ms = now_ms;
    s->n_passed = 0;
}

/* Until the handle exists, it cannot be away. */
static void open_handle(struct pdk__session *s, int64_t now_ms)
{
    s->phase = PDK__SESSION_OPENING;
    s->since_ms = now_ms;
    s->away_ms = PDK__NEVER;
}

static void rest(struct pdk__session *s, int64_t now_ms)
{
    s->phase = PDK__SESSION_RESTING;
    s->rest_ms = now_ms + pdk__retry_delay_ms(&s->retry, RENEW_FLOOR_MS, RENEW_CEILING_MS);
}

static void on_disconnected(struct pdk__session *s, const struct pdk__session_event *ev,
                            struct pdk__session_actions *out)
{
    if (s->phase != PDK__SESSION_CONNECTED)
        return;
    s->phase = PDK__SESSION_SUSPENDED;
    hang_up(s);
    seek(s, ev->now_ms);
    push(out, PDK__SACT_DOWN);
}

static void finish(struct pdk__session *s, struct pdk__session_actions *out, int error)
{
    end_session(s);
    s->phase = PDK__SESSION_OVER;
    push(out, PDK__SACT_OVER)->error = error;
}

static void on_expired(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    if (!s->renewable) {
        finish(s, out, PDK_EEXPIRED);
        return;
    }
    if (s->phase == PDK__SESSION_RESTING)
        return;
    end_session(s);
    push(out, PDK__SACT_EXPIRED);
    rest(s, ev->now_ms);
}

/* Earlier requests went to another server. A new connection starts its proof at once: it takes one write. If each
 * connection waited for its turn, a client that is cut off again and again would never be proven. */
static void ask_anew(struct pdk__session *s)
{
    s->asked_ms = s->probed_ms = s->wrote_ms = s->hush_ms = PDK__UNKNOWN_MS;
    hang_up(s);
}

/* An adopted handle's session may be as old as the handle, or older. */
static void begin(struct pdk__session *s, const struct pdk__session_event *ev)
{
    s->id = ev->session;
    s->timeout_ms = ev->timeout_ms;
    pdk__chain_begin(&s->chain, gap_ms(s), s->renewable ? s->since_ms : PDK__UNKNOWN_MS);
    ask_anew(s);
}

/* Servers with different limits grant different timeouts, and the leader may expire the session by any of them. */
static void resume(struct pdk__session *s, const struct pdk__session_event *ev)
{
    if (ev->timeout_ms < s->timeout_ms)
        s->timeout_ms = ev->timeout_ms;
    pdk__chain_resume(&s->chain, ev->now_ms);
    ask_anew(s);
    s->hush_ms = ev->now_ms + 1; /* a write in the same millisecond would prove nothing */
}

static void on_connected(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    if (s->phase == PDK__SESSION_RESTING || ev->session == 0 || ev->timeout_ms <= 0)
        return; /* a last event of the handle that is being given up, or no session at all */
    /* Some servers that speak the protocol grant a new session silently. The old session's nodes are not ours.
     * Requests that the client queued for the old session were sent in the new one, so the new one is not to be used
     * either. */
    if (s->id != 0 && s->id != ev->session) {
        on_expired(s, ev, out);
        return;
    }
    if (s->id != 0)
        resume(s, ev);
    else
        begin(s, ev);
    s->phase = PDK__SESSION_CONNECTED;
    if (too_short(s)) {
        finish(s, out, PDK_ESHORT);
        return;
    }
    pdk__retry_reset(&s->retry);
    push(out, PDK__SACT_UP)->session = s->id;
    notice_proof(s, ev->now_ms, out);
    notice_time(s, ev->now_ms, out); /* the timeout may be a shorter one */
}

static void on_timer(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    bool suspended = s->phase == PDK__SESSION_SUSPENDED;
    bool away = s->renewable && ev->now_ms >= s->away_ms;
    if (suspended && away) {
        end_session(s);
        push(out, PDK__SACT_EXPIRED);
        rest(s, ev->now_ms);
    } else if (s->phase == PDK__SESSION_OPENING && away) {
        rest(s, ev->now_ms);
    } else if (s->phase == PDK__SESSION_RESTING && ev->now_ms >= s->rest_ms) {
        open_handle(s, ev->now_ms);
        push(out, PDK__SACT_OPEN);
    }
}

static void dispatch(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    switch (ev->kind) {
    case PDK__SEV_CONNECTED:
        on_connected(s, ev, out);
        break;
    case PDK__SEV_DISCONNECTED:
        on_disconnected(s, ev, out);
        break;
    case PDK__SEV_EXPIRED:
        on_expired(s, ev, out);
        break;
    case PDK__SEV_AUTH_FAILED:
        finish(s, out, PDK_EAUTH);
        break;
    case PDK__SEV_OPENED:
        if (s->phase == PDK__SESSION_OPENING)
            seek(s, ev->now_ms);
        break;
    case PDK__SEV_OPEN_FAILED:
        rest(s, ev->now_ms);
        break;
    case PDK__SEV_CLOSE:
        finish(s, out, PDK_ECLOSED);
        break;
    case PDK__SEV_TIMER:
        on_timer(s, ev, out);
        break;
    case PDK__SEV_ANSWERED:
        on_answered(s, ev, out);
        break;
    case PDK__SEV_UNASKED:
        on_unasked(s, ev);
        break;
    case PDK__SEV_WANTED:
    case PDK__SEV_UNWANTED:
        on_wish(s, ev, out);
        break;
    default:
        assert(!"an event of no known kind");
    }
}

void pdk__session_init(struct pdk__session *s, bool renewable, struct pdk__session_policy policy, uint64_t seed,
                       int64_t timeout_ms, int64_t now_ms)
{
    *s = (struct pdk__session){.renewable = renewable,
                               .policy = policy,
                               .timeout_ms = timeout_ms,
                               .mean_ms = PDK__UNKNOWN_MS,
                               .lag_ms = INT64_MAX,
                               .least_ms = INT64_MAX};
    s->left_ms = PDK__UNKNOWN_MS;
    end_session(s);
    open_handle(s, now_ms);
    seek(s, now_ms);
    pdk__retry_init(&s->retry, seed);
}

void pdk__session_step(struct pdk__session *s, const struct pdk__session_event *event,
                       struct pdk__session_actions *actions)
{
    enum pdk__session_phase before = s->phase;
    actions->n = 0;
    if (before != PDK__SESSION_OVER) {
        reconsider(s, event->now_ms);
        notice_time(s, event->now_ms, actions);
        dispatch(s, event, actions);
        ask_if_due(s, event->now_ms, actions);
        leave_if_due(s, event->now_ms, actions);
    }
    check_invariants(s, before);
}

static int64_t wake_with_session(const struct pdk__session *s)
{
    int64_t wake = sooner(due_ms(s), leave_ms(s));
    if (!s->doubted)
        wake = sooner(wake, doubt_ms(s));
    else if (!s->presumed && proven(s))
        wake = sooner(wake, pdk__session_deadline_ms(s));
    return s->phase == PDK__SESSION_SUSPENDED && s->renewable ? sooner(wake, s->away_ms) : wake;
}

int64_t pdk__session_wake_ms(const struct pdk__session *s)
{
    if (s->phase == PDK__SESSION_RESTING)
        return s->rest_ms;
    if (s->phase == PDK__SESSION_OPENING)
        return sooner(s->renewable ? s->away_ms : PDK__NEVER, leave_ms(s));
    return s->phase == PDK__SESSION_OVER ? PDK__NEVER : wake_with_session(s);
}

bool pdk__session_credible(const struct pdk__session *s, int64_t now_ms)
{
    bool there = s->phase == PDK__SESSION_CONNECTED || s->phase == PDK__SESSION_SUSPENDED;
    return there && !s->presumed && now_ms < pdk__session_deadline_ms(s);
}

struct pdk__session_limits pdk__session_limits(const struct pdk__session *s)
{
    return (struct pdk__session_limits){s->timeout_ms, tick_ms(s), gap_ms(s), margin_ms(s), min_valid_ms(s)};
}
