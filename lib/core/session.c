#undef NDEBUG

#include "lib/core/session.h"
#include "lib/core/contender.h"
#include "paddock/error.h"
#include <assert.h>

/* A tenth of the third that is left: for clocks that run apart, and for the thread that comes late. */
enum { DRIFT_TENTH = 10 };

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
    if (s->phase == PDK__SESSION_CONNECTED)
        assert(!s->presumed);
}

static struct pdk__session_action *push(struct pdk__session_actions *out, enum pdk__session_action_kind kind)
{
    assert(out->n < PDK__SESSION_ACTIONS_MAX);
    struct pdk__session_action *action = &out->list[out->n++];
    *action = (struct pdk__session_action){.kind = kind};
    return action;
}

static void end_session(struct pdk__session *s)
{
    s->id = 0;
    s->presumed = false;
}

static void seek(struct pdk__session *s, int64_t now_ms)
{
    if (s->phase == PDK__SESSION_OPENING)
        s->away_ms = now_ms + 2 * s->timeout_ms;
}

/* Until it is made, it cannot be away. */
static void open_handle(struct pdk__session *s)
{
    s->phase = PDK__SESSION_OPENING;
    s->away_ms = PDK__NEVER;
}

static void rest(struct pdk__session *s, int64_t now_ms)
{
    s->phase = PDK__SESSION_RESTING;
    s->rest_ms = now_ms + pdk__retry_delay_ms(&s->retry, RENEW_FLOOR_MS, RENEW_CEILING_MS);
}

/* From when on the session lives another third: from now, as a rule. A notification can have been the last packet: the
 * client had pinged at most a third of the timeout before it, and notices the silence two thirds after it. One that is
 * older than that was followed by an answered ping, or the connection would have been given up. */
static int64_t certain_ms(const struct pdk__session *s, int64_t now_ms)
{
    int64_t third = s->timeout_ms / 3, age_ms = now_ms - s->notified_ms;
    return s->notified && age_ms > third && age_ms < s->timeout_ms ? s->notified_ms + third : now_ms;
}

static void on_disconnected(struct pdk__session *s, const struct pdk__session_event *ev,
                            struct pdk__session_actions *out)
{
    if (s->phase != PDK__SESSION_CONNECTED)
        return;
    int64_t third = s->timeout_ms / 3;
    s->phase = PDK__SESSION_SUSPENDED;
    s->presume_ms = certain_ms(s, ev->now_ms) + third - third / DRIFT_TENTH;
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
    s->phase = PDK__SESSION_CONNECTED;
    s->id = ev->session;
    s->timeout_ms = ev->timeout_ms;
    s->presumed = false;
    s->notified = false;
    pdk__retry_reset(&s->retry);
    push(out, PDK__SACT_UP)->session = s->id;
}

static void on_timer(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    bool suspended = s->phase == PDK__SESSION_SUSPENDED;
    bool away = s->renewable && ev->now_ms >= s->away_ms;
    if (suspended && !s->presumed && ev->now_ms >= s->presume_ms) {
        s->presumed = true;
        push(out, PDK__SACT_PRESUMED);
    }
    if (suspended && away) {
        end_session(s);
        push(out, PDK__SACT_EXPIRED);
        rest(s, ev->now_ms);
    } else if (s->phase == PDK__SESSION_OPENING && away) {
        rest(s, ev->now_ms);
    } else if (s->phase == PDK__SESSION_RESTING && ev->now_ms >= s->rest_ms) {
        open_handle(s);
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
    }
}

void pdk__session_init(struct pdk__session *s, bool renewable, uint64_t seed, int64_t timeout_ms, int64_t now_ms)
{
    *s = (struct pdk__session){.renewable = renewable, .timeout_ms = timeout_ms};
    open_handle(s);
    seek(s, now_ms);
    pdk__retry_init(&s->retry, seed);
}

void pdk__session_step(struct pdk__session *s, const struct pdk__session_event *event,
                       struct pdk__session_actions *actions)
{
    enum pdk__session_phase before = s->phase;
    actions->n = 0;
    if (before != PDK__SESSION_OVER)
        dispatch(s, event, actions);
    check_invariants(s, before);
}

void pdk__session_notified(struct pdk__session *s, int64_t now_ms)
{
    s->notified = true;
    s->notified_ms = now_ms;
}

void pdk__session_answered(struct pdk__session *s) { s->notified = false; }

int64_t pdk__session_wake_ms(const struct pdk__session *s)
{
    if (s->phase == PDK__SESSION_RESTING)
        return s->rest_ms;
    if (s->phase != PDK__SESSION_SUSPENDED && s->phase != PDK__SESSION_OPENING)
        return PDK__NEVER;
    if (s->phase == PDK__SESSION_SUSPENDED && !s->presumed)
        return s->presume_ms;
    return s->renewable ? s->away_ms : PDK__NEVER;
}

bool pdk__session_credible(const struct pdk__session *s, int64_t now_ms)
{
    return s->phase == PDK__SESSION_CONNECTED || (s->phase == PDK__SESSION_SUSPENDED && now_ms < s->presume_ms);
}
