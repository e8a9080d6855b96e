#include "lib/core/lease.h"
#include "lib/assert.h"
#include "lib/core/event.h"

enum { RESERVE_PART = 10, KEEPALIVE_PART = 4 };

struct pdk__session_action *pdk__lease_push(struct pdk__session_actions *out, enum pdk__session_action_kind kind)
{
    assert(out->n < PDK__SESSION_ACTIONS_MAX);
    struct pdk__session_action *action = &out->list[out->n++];
    *action = (struct pdk__session_action){.kind = kind};
    return action;
}

static int64_t sooner(int64_t a_ms, int64_t b_ms) { return a_ms < b_ms ? a_ms : b_ms; }

static int64_t later(int64_t a_ms, int64_t b_ms) { return a_ms > b_ms ? a_ms : b_ms; }

bool pdk__lease_known(const struct pdk__session *s) { return s->chain.proven_ms != PDK__UNKNOWN_MS; }

int64_t pdk__session_deadline_ms(const struct pdk__session *s)
{
    return pdk__lease_known(s) ? s->chain.proven_ms + s->timeout_ms - s->limits.margin_ms : INT64_MIN;
}

/* --- the link ---------------------------------------------------------------------------------------------------- */

int64_t pdk__session_lag_ms(const struct pdk__session *s) { return pdk__pace_lag_ms(&s->pace); }

static bool slow(const struct pdk__session *s) { return pdk__pace_slow(&s->pace, &s->limits); }

static int64_t pace_ms(const struct pdk__session *s) { return pdk__pace_ms(&s->pace, &s->limits); }

bool pdk__session_unfit(const struct pdk__session *s)
{
    return s->phase == PDK__SESSION_CONNECTED && s->lease_low && pdk__pace_unfit(&s->pace, &s->limits);
}

/* --- doubt ------------------------------------------------------------------------------------------------------- */

/* The most time that the best proof of this link can leave before doubt. */
static int64_t spare_ms(const struct pdk__session *s)
{
    const struct pdk__session_limits *l = &s->limits;
    return l->timeout_ms - 3 * pdk__session_lag_ms(s) - l->gap_ms - l->margin_ms - l->min_valid_ms;
}

/* A beginning needs more time left than continuing does. Otherwise a grant would be in doubt before the next proof,
 * which takes two round trips after idleness. But never more than a proof can bring. */
static int64_t begin_until_ms(const struct pdk__session *s)
{
    int64_t wait = later(s->timeout_ms / RESERVE_PART, pdk__session_lag_ms(s) * 5 / 2);
    int64_t reserve = later(0, sooner(wait, spare_ms(s) * 3 / 4));
    return pdk__lease_known(s) ? pdk__session_deadline_ms(s) - s->limits.min_valid_ms - reserve : INT64_MIN;
}

/* On a slow link the next proof would come too late if its writes had not begun yet. */
static bool may_begin(const struct pdk__session *s, int64_t now_ms)
{
    return now_ms < begin_until_ms(s) && (s->flowing || !slow(s));
}

int64_t pdk__lease_doubt_ms(const struct pdk__session *s)
{
    if (s->lease_needed && pdk__lease_known(s))
        return pdk__session_deadline_ms(s) - s->limits.min_valid_ms;
    return slow(s) ? INT64_MIN : begin_until_ms(s);
}

/* Before any event, the passing of time is taken into account, because the thread that brings the event may be late. */
void pdk__lease_notice_time(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    int64_t doubt_ms = pdk__lease_doubt_ms(s);
    assert(!pdk__lease_known(s) || doubt_ms <= pdk__session_deadline_ms(s));
    if (!s->lease_low && now_ms >= doubt_ms) {
        s->lease_low = true;
        pdk__lease_push(out, PDK__SACT_LEASE_LOW);
    }
    if (!s->lease_expired && pdk__lease_known(s) && now_ms >= pdk__session_deadline_ms(s)) {
        s->lease_expired = true;
        pdk__lease_push(out, PDK__SACT_LEASE_EXPIRED);
    }
}

void pdk__lease_notice_renewal(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (!s->lease_low || !may_begin(s, now_ms))
        return;
    assert(pdk__lease_known(s) && now_ms < pdk__session_deadline_ms(s));
    s->lease_low = s->lease_expired = false;
    pdk__lease_push(out, PDK__SACT_LEASE_OK);
}

/* --- asking for proof -------------------------------------------------------------------------------------------- */

/* When the next write is due while proof is wanted: at its pace; or as soon as it continues a chain, where doubt
 * would come first. In doubt, with one request under way at a time, no other request may delay that write. */
static int64_t renew_ms(const struct pdk__session *s)
{
    int64_t turn = later(s->renewed_ms, s->wrote_ms) + pace_ms(s);
    int64_t next = pdk__chain_next_ms(&s->chain, s->renewed_ms);
    if (next == 0 && s->n_asked > 0)
        next = PDK__NEVER; /* nothing is touched yet, and the request for the first link is under way */
    if (s->lease_low)
        return !slow(s) && next != PDK__NEVER ? next : sooner(turn, next);
    return sooner(turn, later(next, pdk__lease_doubt_ms(s) - pace_ms(s)));
}

static int64_t keepalive_ms(const struct pdk__session *s)
{
    int64_t pace = slow(s) ? pace_ms(s) : s->timeout_ms / KEEPALIVE_PART;
    return later(s->asked_ms, s->chain.latest_ms) + pace;
}

/* A write does not wait for the answer to a read: that would cost a grant one round trip. */
static int asked_max(const struct pdk__session *s)
{
    bool read_last = s->asked_ms > s->renewed_ms;
    return slow(s) ? PDK__ASKED_MAX : s->lease_needed && read_last ? 2 : 1;
}

int64_t pdk__lease_due_ms(const struct pdk__session *s)
{
    if (s->phase != PDK__SESSION_CONNECTED || s->n_asked >= asked_max(s))
        return PDK__NEVER;
    /* A request sent in the millisecond of an answer would not count as sent after it. */
    int64_t due = later(s->lease_needed ? renew_ms(s) : keepalive_ms(s), s->heard_ms + 1);
    return later(due, s->hush_ms);
}

void pdk__lease_ask_if_due(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (now_ms < pdk__lease_due_ms(s))
        return;
    assert(s->phase == PDK__SESSION_CONNECTED && s->n_asked < PDK__ASKED_MAX);
    if (s->n_asked++ == 0)
        s->silence.waited_ms = now_ms;
    s->asked_ms = now_ms;
    if (s->lease_needed)
        s->renewed_ms = now_ms;
    pdk__lease_push(out, s->lease_needed ? PDK__SACT_RENEW : PDK__SACT_KEEPALIVE);
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
    assert(pdk__lease_known(s));
    bool soon = s->proof_ms != PDK__UNKNOWN_MS && now_ms - s->proof_ms <= 2 * pace_ms(s);
    s->flowing = s->lease_needed && (s->flowing || soon);
    s->proof_ms = s->lease_needed ? now_ms : PDK__UNKNOWN_MS;
}

static void note_answer(struct pdk__session *s, const struct pdk__session_event *ev)
{
    s->heard_ms = ev->now_ms;
    pdk__silence_answered(&s->silence, ev->now_ms, ev->agreed ? ev->sent_ms : PDK__UNKNOWN_MS, s->timeout_ms);
}

void pdk__lease_answered(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    if (s->phase != PDK__SESSION_CONNECTED)
        return; /* the answer is of a connection that is known to be lost */
    assert(ev->sent_ms <= ev->now_ms);
    if (ev->asked)
        settle(s);
    note_answer(s, ev);
    pdk__pace_measure(&s->pace, ev->now_ms - ev->sent_ms);
    if (ev->asked && ev->wrote && !ev->agreed)
        s->hush_ms = ev->now_ms + pace_ms(s); /* servers that refuse writes must not be asked in a loop */
    if (ev->agreed)
        s->wrote_ms = later(s->wrote_ms, ev->sent_ms);
    if (pdk__chain_answered(&s->chain, ev->sent_ms, ev->now_ms, ev->agreed)) {
        note_proof(s, ev->now_ms);
        pdk__lease_notice_renewal(s, ev->now_ms, out);
    }
    pdk__lease_notice_time(s, ev->now_ms, out); /* the link may turn out to be slow */
}

void pdk__lease_unasked(struct pdk__session *s, const struct pdk__session_event *ev)
{
    settle(s);
    s->renewed_ms = s->asked_ms = PDK__UNKNOWN_MS; /* the link needs another request, and no server was asked */
    s->hush_ms = ev->now_ms + pace_ms(s);
}

/* Proofs no longer come in a row. */
void pdk__lease_stem(struct pdk__session *s)
{
    s->flowing = false;
    s->proof_ms = PDK__UNKNOWN_MS;
}

void pdk__lease_need(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    s->lease_needed = ev->kind == PDK__SEV_LEASE_NEEDED;
    if (!s->lease_needed)
        pdk__lease_stem(s);
    pdk__lease_notice_time(s, ev->now_ms, out);
}
