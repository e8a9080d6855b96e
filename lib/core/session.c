#include "lib/core/session.h"
#include "lib/assert.h"
#include "lib/core/contract.h"
#include "lib/core/event.h"
#include "lib/core/lease.h"
#include "paddock/error.h"

/* A fleet whose sessions expired together must not come back together: its first attempts are spread over a SPREAD_PART
 * of the timeout, within these bounds. The servers need the longer for it the more clients there are, and those of a
 * large fleet have long timeouts. */
enum { REST_FLOOR_MS = 10, SPREAD_PART = 20, SPREAD_MIN_MS = 250, REST_CEILING_MS = 5000 };

#define TO(phase) (1U << PDK__SESSION_##phase)

static const unsigned moves[PDK__N_SESSION_PHASES] = {
    [PDK__SESSION_OPENING] = TO(CONNECTED) | TO(BACKOFF) | TO(OVER),
    [PDK__SESSION_CONNECTED] = TO(SUSPENDED) | TO(BACKOFF) | TO(OVER),
    [PDK__SESSION_SUSPENDED] = TO(CONNECTED) | TO(BACKOFF) | TO(OVER),
    [PDK__SESSION_BACKOFF] = TO(OPENING) | TO(CONNECTED) | TO(OVER),
    [PDK__SESSION_OVER] = 0,
};

const char *pdk__session_phase_name(enum pdk__session_phase phase)
{
    static const char *const names[PDK__N_SESSION_PHASES] = {"opening", "connected", "suspended", "backoff", "over"};
    return phase < PDK__N_SESSION_PHASES ? names[phase] : "?";
}

static bool lease_allowed(const struct pdk__session *s)
{
    bool there = s->phase == PDK__SESSION_CONNECTED || s->phase == PDK__SESSION_SUSPENDED;
    bool known = pdk__lease_known(s);
    return (there || !known) && (known || (s->lease_low && !s->lease_expired)) && (s->lease_low || !s->lease_expired) &&
           (s->lease_needed || !s->flowing) && s->chain.proven_ms <= s->chain.latest_ms;
}

bool pdk__session_allowed(const struct pdk__session *s)
{
    bool connected = s->phase == PDK__SESSION_CONNECTED, suspended = s->phase == PDK__SESSION_SUSPENDED;
    return (s->id != 0) == (connected || suspended) && s->timeout_ms > 0 && s->limits.timeout_ms == s->timeout_ms &&
           s->silence.n_left >= 0 && s->silence.n_passed >= 0 && (!suspended || s->away_ms != PDK__NEVER) &&
           s->n_asked >= 0 && s->n_asked <= PDK__ASKED_MAX && (connected || (s->n_asked == 0 && !s->flowing)) &&
           (!connected || !pdk__limits_too_short(&s->limits)) && lease_allowed(s);
}

/* --- a silent server --------------------------------------------------------------------------------------------- */

static bool seeks(const struct pdk__session *s)
{
    return s->phase == PDK__SESSION_SUSPENDED || (s->phase == PDK__SESSION_OPENING && s->away_ms != PDK__NEVER);
}

static int64_t leave_ms(const struct pdk__session *s)
{
    int64_t lag_ms = pdk__session_lag_ms(s);
    if (!s->policy.movable)
        return PDK__NEVER;
    if (seeks(s))
        return pdk__silence_pass_ms(&s->silence, s->timeout_ms, lag_ms);
    if (s->phase != PDK__SESSION_CONNECTED || s->n_asked == 0)
        return PDK__NEVER;
    return pdk__silence_leave_ms(&s->silence, s->timeout_ms, lag_ms);
}

static void leave_if_due(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (now_ms < leave_ms(s))
        return;
    if (seeks(s))
        pdk__silence_passed(&s->silence, now_ms);
    else
        pdk__silence_left(&s->silence, now_ms);
    pdk__session_push(out, PDK__SACT_LEAVE);
}

/* --- the handle -------------------------------------------------------------------------------------------------- */

/* Requests under way on a connection are lost with it. */
static void hang_up(struct pdk__session *s)
{
    s->n_asked = 0;
    pdk__lease_stem(s);
}

static void end_session(struct pdk__session *s)
{
    s->spent = true;
    s->id = 0;
    s->lease_expired = false;
    s->lease_low = true;
    hang_up(s);
    pdk__chain_init(&s->chain);
}

static void seek(struct pdk__session *s, int64_t now_ms)
{
    s->away_ms = now_ms + 2 * s->timeout_ms;
    pdk__silence_seek(&s->silence, now_ms);
}

/* Until the handle exists, it cannot be away. If it cannot be opened, the one before it may be there still. */
static void open_handle(struct pdk__session *s)
{
    s->phase = PDK__SESSION_OPENING;
    s->away_ms = PDK__NEVER;
}

static void opened(struct pdk__session *s, int64_t since_ms)
{
    s->spent = false;
    s->since_ms = since_ms;
}

static void on_opened(struct pdk__session *s, const struct pdk__session_event *ev)
{
    assert(ev->since_ms <= ev->now_ms);
    opened(s, ev->since_ms);
    if (s->phase == PDK__SESSION_OPENING)
        seek(s, ev->now_ms);
}

static void back_off(struct pdk__session *s, int64_t now_ms)
{
    int64_t spread_ms = pdk__later_ms(s->timeout_ms / SPREAD_PART, SPREAD_MIN_MS);
    spread_ms = pdk__sooner_ms(spread_ms, REST_CEILING_MS);
    s->phase = PDK__SESSION_BACKOFF;
    s->rest_ms = now_ms + REST_FLOOR_MS + pdk__retry_spread_ms(&s->retry, spread_ms, REST_CEILING_MS);
}

static void on_disconnected(struct pdk__session *s, const struct pdk__session_event *ev,
                            struct pdk__session_actions *out)
{
    if (s->phase != PDK__SESSION_CONNECTED)
        return;
    s->phase = PDK__SESSION_SUSPENDED;
    hang_up(s);
    seek(s, ev->now_ms);
    pdk__session_push(out, PDK__SACT_DOWN);
}

static void finish(struct pdk__session *s, struct pdk__session_actions *out, int error)
{
    end_session(s);
    s->phase = PDK__SESSION_OVER;
    pdk__session_push(out, PDK__SACT_OVER)->error = error;
}

static void on_expired(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    if (!s->renewable) {
        finish(s, out, PDK_EEXPIRED);
        return;
    }
    if (s->phase == PDK__SESSION_BACKOFF)
        return;
    end_session(s);
    pdk__session_push(out, PDK__SACT_EXPIRED)->error = ev->kind == PDK__SEV_EXPIRED ? 0 : PDK_EUNKNOWN;
    back_off(s, ev->now_ms);
}

/* Earlier requests went to another server. A new connection starts its proof at once: it takes one write. If each
 * connection waited for its turn, a client that is cut off again and again would never be proven. */
static void ask_anew(struct pdk__session *s)
{
    s->asked_ms = s->renewed_ms = s->synced_ms = s->wrote_ms = s->hush_ms = PDK__UNKNOWN_MS;
    s->plain = false;
    hang_up(s);
}

static void set_timeout(struct pdk__session *s, int64_t timeout_ms)
{
    s->timeout_ms = timeout_ms;
    s->limits = pdk__limits(&s->policy, timeout_ms);
}

/* An adopted handle's session may be as old as the handle, or older. */
static void begin_session(struct pdk__session *s, const struct pdk__session_event *ev)
{
    s->id = ev->session;
    set_timeout(s, ev->timeout_ms);
    pdk__chain_begin(&s->chain, s->limits.gap_ms, s->limits.late_ms, s->renewable ? s->since_ms : PDK__UNKNOWN_MS);
    ask_anew(s);
}

/* Servers with different limits grant different timeouts, and the leader may expire the session by any of them. */
static void resume(struct pdk__session *s, const struct pdk__session_event *ev)
{
    if (ev->timeout_ms < s->timeout_ms)
        set_timeout(s, ev->timeout_ms);
    pdk__chain_resume(&s->chain, s->limits.gap_ms, s->limits.late_ms, ev->now_ms);
    ask_anew(s);
    s->hush_ms = ev->now_ms + 1; /* a write in the same millisecond would prove nothing */
}

static void on_connected(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    if (s->spent || ev->session == 0 || ev->timeout_ms <= 0)
        return; /* an event of a handle whose session has ended, or no session at all */
    if (ev->unresumable) {
        finish(s, out, PDK_ESERVER);
        return;
    }
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
        begin_session(s, ev);
    s->phase = PDK__SESSION_CONNECTED;
    if (pdk__limits_too_short(&s->limits)) {
        finish(s, out, PDK_ESHORT);
        return;
    }
    pdk__retry_reset(&s->retry);
    pdk__session_push(out, PDK__SACT_UP)->session = s->id;
    pdk__lease_notice_renewal(s, ev->now_ms, out);
    pdk__lease_notice_time(s, ev->now_ms, out); /* the timeout may be a shorter one */
}

static void on_timer(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    bool suspended = s->phase == PDK__SESSION_SUSPENDED;
    bool away = s->renewable && ev->now_ms >= s->away_ms;
    if (suspended && away) {
        end_session(s);
        pdk__session_push(out, PDK__SACT_EXPIRED)->error = PDK_EUNKNOWN;
        back_off(s, ev->now_ms);
    } else if (s->phase == PDK__SESSION_OPENING && away) {
        back_off(s, ev->now_ms);
    } else if (s->phase == PDK__SESSION_BACKOFF && ev->now_ms >= s->rest_ms) {
        open_handle(s);
        pdk__session_push(out, PDK__SACT_OPEN);
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
        on_opened(s, ev);
        break;
    case PDK__SEV_OPEN_FAILED:
        back_off(s, ev->now_ms);
        break;
    case PDK__SEV_CLOSE:
        finish(s, out, PDK_ECLOSED);
        break;
    case PDK__SEV_TIMER:
        on_timer(s, ev, out);
        break;
    case PDK__SEV_ANSWERED:
        pdk__lease_answered(s, ev, out);
        break;
    case PDK__SEV_UNASKED:
        pdk__lease_unasked(s, ev);
        break;
    case PDK__SEV_LEASE_NEEDED:
    case PDK__SEV_LEASE_UNNEEDED:
        pdk__lease_need(s, ev, out);
        break;
    default:
        assert(!"an event of no known kind");
    }
}

void pdk__session_init(struct pdk__session *s, bool renewable, struct pdk__session_policy policy, uint64_t seed,
                       int64_t timeout_ms, int64_t now_ms)
{
    *s = (struct pdk__session){.renewable = renewable, .policy = policy};
    set_timeout(s, timeout_ms);
    pdk__pace_init(&s->pace);
    pdk__silence_init(&s->silence);
    end_session(s);
    open_handle(s);
    opened(s, now_ms);
    seek(s, now_ms);
    pdk__retry_init(&s->retry, seed);
}

void pdk__session_step(struct pdk__session *s, const struct pdk__session_event *event,
                       struct pdk__session_actions *actions)
{
    enum pdk__session_phase before = s->phase;
    assert(pdk__contract_allows_session(s, event));
    actions->n = 0;
    if (before != PDK__SESSION_OVER) {
        pdk__pace_reconsider(&s->pace, &s->limits, s->lease_needed && s->lease_low, event->now_ms);
        pdk__lease_notice_time(s, event->now_ms, actions);
        dispatch(s, event, actions);
        pdk__lease_ask_if_due(s, event->now_ms, actions);
        leave_if_due(s, event->now_ms, actions);
    }
    assert(s->phase == before || (moves[before] & 1U << s->phase) != 0);
    assert(pdk__session_allowed(s));
}

static int64_t wake_with_session(const struct pdk__session *s)
{
    int64_t wake = pdk__sooner_ms(pdk__lease_due_ms(s), leave_ms(s));
    if (!s->lease_low)
        wake = pdk__sooner_ms(wake, pdk__lease_doubt_ms(s));
    else if (!s->lease_expired && pdk__lease_known(s))
        wake = pdk__sooner_ms(wake, pdk__session_deadline_ms(s));
    return s->phase == PDK__SESSION_SUSPENDED && s->renewable ? pdk__sooner_ms(wake, s->away_ms) : wake;
}

int64_t pdk__session_wake_ms(const struct pdk__session *s)
{
    if (s->phase == PDK__SESSION_BACKOFF)
        return s->rest_ms;
    if (s->phase == PDK__SESSION_OPENING)
        return pdk__sooner_ms(s->renewable ? s->away_ms : PDK__NEVER, leave_ms(s));
    return s->phase == PDK__SESSION_OVER ? PDK__NEVER : wake_with_session(s);
}

bool pdk__session_lease_valid(const struct pdk__session *s, int64_t now_ms)
{
    bool there = s->phase == PDK__SESSION_CONNECTED || s->phase == PDK__SESSION_SUSPENDED;
    return there && !s->lease_expired && now_ms < pdk__session_deadline_ms(s);
}
