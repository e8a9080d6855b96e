#undef NDEBUG

#include "lib/core/session.h"
#include "lib/core/contender.h"
#include "paddock/error.h"
#include <assert.h>

/* What the defaults are a part of the timeout by; half a tick is this part of the timeout at most, and taken for it. The
 * margin is for clocks that run apart. */
enum { MARGIN_PART = 20, MIN_VALID_PART = 10, RESERVE_PART = 10, TICK_PART = 2, TOUCH_PART = 4 };

/* How late the leader's pings may be: their interval is half a tick, and what it takes to send them. */
enum { PING_LATE_PART = 20, PING_LATE_MS = 10 };

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
    if (s->asking)
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

/* To begin on, more must be left than to go on with: or what is granted would be in doubt before there can be news. But
 * no more than a proof can bring. */
static int64_t reserve_ms(const struct pdk__session *s)
{
    int64_t most = s->timeout_ms - gap_ms(s) - margin_ms(s) - min_valid_ms(s);
    return later(0, sooner(s->timeout_ms / RESERVE_PART, most / 2));
}

static int64_t begin_until_ms(const struct pdk__session *s)
{
    return proven(s) ? pdk__session_deadline_ms(s) - min_valid_ms(s) - reserve_ms(s) : INT64_MIN;
}

/* While nobody wants proof none is asked for, and whatever comes would begin. */
static int64_t doubt_ms(const struct pdk__session *s)
{
    return s->wanted && proven(s) ? pdk__session_deadline_ms(s) - min_valid_ms(s) : begin_until_ms(s);
}

/* Whatever the event is: that time has passed comes before it, for whoever brings it may be late. */
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
    if (!s->doubted || now_ms >= begin_until_ms(s))
        return;
    s->doubted = s->presumed = false;
    push(out, PDK__SACT_PROVEN);
}

/* --- asking for proof -------------------------------------------------------------------------------------------- */

/* The interval of an idle holder's writes. At worst, right before the next is acknowledged, belief rests on one that is
 * three intervals old, if those are longer than the gap, or four, if two of them are: six tenths of the timeout, with a
 * tick that is half of it. A tenth of the gap is left for the answer. */
static int64_t pace_ms(const struct pdk__session *s)
{
    int64_t gap = gap_ms(s), timeout = s->timeout_ms;
    if (gap * 11 / 10 <= timeout / 5)
        return timeout / 5;
    return gap * 11 / 5 <= timeout * 7 / 10 ? gap * 11 / 20 : gap * 11 / 40;
}

/* The next write, while proof is wanted: at its pace, or sooner, where doubt would come first. */
static int64_t probe_ms(const struct pdk__session *s)
{
    int64_t last = s->probing ? later(s->asked_ms, s->wrote_ms) : s->wrote_ms;
    int64_t next = pdk__chain_next_ms(&s->chain);
    return s->doubted ? next : sooner(last + pace_ms(s), later(next, doubt_ms(s) - pace_ms(s)));
}

static int64_t due_ms(const struct pdk__session *s)
{
    int64_t due;
    if (s->phase != PDK__SESSION_CONNECTED || s->asking)
        return PDK__NEVER;
    if (s->wanted)
        due = probe_ms(s);
    else
        due = later(s->asked_ms, s->chain.latest_ms) + s->timeout_ms / TOUCH_PART;
    return later(due, s->hush_ms);
}

static void ask_if_due(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (now_ms < due_ms(s))
        return;
    s->asking = true;
    s->probing = s->wanted;
    s->asked_ms = now_ms;
    push(out, s->probing ? PDK__SACT_PROBE : PDK__SACT_TOUCH);
}

static void on_answered(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    if (s->phase != PDK__SESSION_CONNECTED)
        return; /* of a connection that is known to be lost */
    if (ev->asked)
        s->asking = false;
    if (ev->asked && s->probing && !ev->agreed)
        s->hush_ms = ev->now_ms + pace_ms(s); /* servers that take no writes are not to be asked in a loop */
    if (ev->agreed)
        s->wrote_ms = later(s->wrote_ms, ev->sent_ms);
    if (pdk__chain_answered(&s->chain, ev->sent_ms, ev->now_ms, ev->agreed))
        notice_proof(s, ev->now_ms, out);
}

static void on_unasked(struct pdk__session *s, const struct pdk__session_event *ev)
{
    s->asking = false;
    s->hush_ms = ev->now_ms + pace_ms(s);
}

/* --- the handle -------------------------------------------------------------------------------------------------- */

static void end_session(struct pdk__session *s)
{
    s->id = 0;
    s->presumed = s->asking = false;
    s->doubted = true;
    pdk__chain_init(&s->chain);
}

static void seek(struct pdk__session *s, int64_t now_ms)
{
    if (s->phase == PDK__SESSION_OPENING)
        s->away_ms = now_ms + 2 * s->timeout_ms;
}

/* Until it is made, it cannot be away. */
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
    s->asking = false;
    s->away_ms = ev->now_ms + 2 * s->timeout_ms;
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

/* What was asked before went to another server. A new connection is put to the proof at once: one write does it, and who
 * is cut off again and again would be proven never, if each connection waited for its turn. */
static void ask_anew(struct pdk__session *s) { s->asked_ms = s->wrote_ms = s->hush_ms = PDK__UNKNOWN_MS; }

/* An adopted handle's session may be as old as the handle, or older. */
static void begin(struct pdk__session *s, const struct pdk__session_event *ev)
{
    s->id = ev->session;
    s->timeout_ms = ev->timeout_ms;
    pdk__chain_begin(&s->chain, gap_ms(s), s->renewable ? s->since_ms : PDK__UNKNOWN_MS);
    ask_anew(s);
}

/* Servers with unlike limits grant unlike timeouts, and who ends the session may go by any of them. */
static void resume(struct pdk__session *s, const struct pdk__session_event *ev)
{
    if (ev->timeout_ms < s->timeout_ms)
        s->timeout_ms = ev->timeout_ms;
    pdk__chain_resume(&s->chain, ev->now_ms);
    ask_anew(s);
    s->hush_ms = ev->now_ms + 1; /* in the same millisecond it would prove nothing */
}

static void on_connected(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    if (s->phase == PDK__SESSION_RESTING || ev->session == 0 || ev->timeout_ms <= 0)
        return; /* a last word of the handle that is being given up, or no session at all */
    /* Some servers that speak the protocol hand out a new session silently. The old one's nodes are not ours; and what
     * the client had queued under the old one's name it has sent in the new one, so that is not to be used either. */
    if (s->id != 0 && s->id != ev->session) {
        on_expired(s, ev, out);
        return;
    }
    if (s->id != 0)
        resume(s, ev);
    else
        begin(s, ev);
    s->phase = PDK__SESSION_CONNECTED;
    s->asking = false;
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
        s->wanted = ev->kind == PDK__SEV_WANTED;
        break;
    default:
        assert(!"an event of no known kind");
    }
}

void pdk__session_init(struct pdk__session *s, bool renewable, struct pdk__session_policy policy, uint64_t seed,
                       int64_t timeout_ms, int64_t now_ms)
{
    *s = (struct pdk__session){.renewable = renewable, .policy = policy, .timeout_ms = timeout_ms};
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
        notice_time(s, event->now_ms, actions);
        dispatch(s, event, actions);
        ask_if_due(s, event->now_ms, actions);
    }
    check_invariants(s, before);
}

static int64_t wake_with_session(const struct pdk__session *s)
{
    int64_t wake = due_ms(s);
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
        return s->renewable ? s->away_ms : PDK__NEVER;
    return s->phase == PDK__SESSION_OVER ? PDK__NEVER : wake_with_session(s);
}

bool pdk__session_credible(const struct pdk__session *s, int64_t now_ms)
{
    bool there = s->phase == PDK__SESSION_CONNECTED || s->phase == PDK__SESSION_SUSPENDED;
    return there && !s->presumed && now_ms < pdk__session_deadline_ms(s);
}
