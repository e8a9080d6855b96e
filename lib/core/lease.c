#include "lib/core/lease.h"
#include "lib/assert.h"
#include "lib/core/event.h"

enum { RESERVE_PART = 10, KEEPALIVE_PART = 4 };

/* A read, a sync and a write can be under way at a time, and one more read. */
enum { LEAN_ASKED_MAX = 4 };

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
    int64_t wait = pdk__later_ms(s->timeout_ms / RESERVE_PART, pdk__session_lag_ms(s) * 5 / 2);
    int64_t reserve = pdk__later_ms(0, pdk__sooner_ms(wait, spare_ms(s) * 3 / 4));
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
        pdk__session_push(out, PDK__SACT_LEASE_LOW);
    }
    if (!s->lease_expired && pdk__lease_known(s) && now_ms >= pdk__session_deadline_ms(s)) {
        s->lease_expired = true;
        pdk__session_push(out, PDK__SACT_LEASE_EXPIRED);
    }
}

void pdk__lease_notice_renewal(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (!s->lease_low || !may_begin(s, now_ms))
        return;
    assert(pdk__lease_known(s) && now_ms < pdk__session_deadline_ms(s));
    s->lease_low = s->lease_expired = false;
    pdk__session_push(out, PDK__SACT_LEASE_OK);
}

/* --- asking for proof -------------------------------------------------------------------------------------------- */

/* When the next write is due while proof is wanted: at its pace; or as soon as it continues a chain, where doubt
 * would come first. In doubt, with one request under way at a time, no other request may delay that write. The first on
 * a slow link does not wait: one late answer can make a link look slow. */
static int64_t renew_ms(const struct pdk__session *s)
{
    int64_t turn = pdk__later_ms(s->renewed_ms, s->wrote_ms) + pace_ms(s);
    int64_t next = pdk__chain_next_ms(&s->chain, s->renewed_ms);
    if (next == 0 && s->n_asked > 0)
        next = PDK__NEVER; /* nothing is touched yet, and the request for the first link is under way */
    if (s->lease_low && slow(s) && s->renewed_ms == PDK__UNKNOWN_MS)
        return s->heard_ms;
    if (s->lease_low)
        return !slow(s) && next != PDK__NEVER ? next : pdk__sooner_ms(turn, next);
    return pdk__sooner_ms(turn, pdk__later_ms(next, pdk__lease_doubt_ms(s) - pace_ms(s)));
}

static int64_t keepalive_ms(const struct pdk__session *s)
{
    int64_t pace = slow(s) ? pace_ms(s) : s->timeout_ms / KEEPALIVE_PART;
    return pdk__later_ms(s->asked_ms, s->chain.latest_ms) + pace;
}

/* --- with few writes --------------------------------------------------------------------------------------------- */

/* Belief that is nearly as old as it may be is renewed by writes alone, and so is it on a new connection: one write is
 * all that it takes there. */
static bool lean(const struct pdk__session *s)
{
    return s->lease_needed && !s->lease_low && !s->plain && !slow(s) && pdk__pace_lean(&s->pace, &s->limits) &&
           pdk__later_ms(s->renewed_ms, s->wrote_ms) != PDK__UNKNOWN_MS;
}

/* The write of a chain is sent when belief is ripe, not as soon as it would prove something. */
static int64_t lean_write_ms(const struct pdk__session *s)
{
    int64_t prove = pdk__chain_prove_ms(&s->chain, s->renewed_ms);
    return pdk__later_ms(prove, s->chain.proven_ms + pdk__pace_ripe_ms(&s->pace, &s->limits));
}

/* When a sync must be sent for its write to follow in time. */
static int64_t sync_by_ms(const struct pdk__session *s)
{
    int64_t lag = pdk__later_ms(pdk__session_lag_ms(s), pdk__pace_mean_ms(&s->pace));
    int64_t write = pdk__chain_base_ms(&s->chain, s->synced_ms) + pdk__pace_ripe_ms(&s->pace, &s->limits);
    return write - s->limits.late_ms - lag;
}

/* A write that is under way carries what a sync beside it would. */
static int64_t sync_ms(const struct pdk__session *s)
{
    int64_t by = sync_by_ms(s), sent = pdk__later_ms(s->synced_ms, s->renewed_ms);
    return pdk__later_ms(by, pdk__chain_carry_ms(&s->chain, sent, by + pdk__pace_slack_ms(&s->limits)));
}

/* At an even pace, to notice a silent server; and once just so long before the sync that the sync carries it. Between a
 * sync and its write there is no need: the sync after them carries the write. */
static int64_t read_ms(const struct pdk__session *s)
{
    int64_t last = pdk__later_ms(s->asked_ms, s->chain.latest_ms);
    int64_t fresh = sync_by_ms(s) - s->limits.gap_ms - pdk__session_lag_ms(s);
    bool wanting = last < fresh && s->synced_ms <= s->renewed_ms;
    return wanting ? pdk__sooner_ms(fresh, last + pace_ms(s)) : last + pace_ms(s);
}

/* --- which request, and when -------------------------------------------------------------------------------------- */

/* A write does not wait for the answer to a read: that would cost a grant one round trip. */
static int asked_max(const struct pdk__session *s)
{
    bool read_last = s->asked_ms > s->renewed_ms;
    if (lean(s))
        return LEAN_ASKED_MAX;
    return slow(s) ? PDK__ASKED_MAX : s->lease_needed && read_last ? 2 : 1;
}

/* The moment at which the next request is due, and what it is. */
static int64_t turn_ms(const struct pdk__session *s, enum pdk__session_action_kind *kind)
{
    if (!lean(s)) {
        *kind = s->lease_needed ? PDK__SACT_RENEW : PDK__SACT_KEEPALIVE;
        return s->lease_needed ? renew_ms(s) : keepalive_ms(s);
    }
    int64_t write = lean_write_ms(s), sync = sync_ms(s), read = read_ms(s);
    *kind = write <= pdk__sooner_ms(sync, read) ? PDK__SACT_RENEW : sync <= read ? PDK__SACT_SYNC : PDK__SACT_KEEPALIVE;
    return pdk__sooner_ms(write, pdk__sooner_ms(sync, read));
}

int64_t pdk__lease_due_ms(const struct pdk__session *s)
{
    if (s->phase != PDK__SESSION_CONNECTED || s->n_asked >= asked_max(s))
        return PDK__NEVER;
    enum pdk__session_action_kind kind;
    /* A request sent in the millisecond of an answer would not count as sent after it. */
    return pdk__later_ms(pdk__later_ms(turn_ms(s, &kind), s->heard_ms + 1), s->hush_ms);
}

static void ask(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    assert(s->phase == PDK__SESSION_CONNECTED && s->n_asked < PDK__ASKED_MAX);
    enum pdk__session_action_kind kind;
    turn_ms(s, &kind);
    if (s->n_asked++ == 0)
        s->silence.waited_ms = now_ms;
    s->asked_ms = now_ms;
    if (kind == PDK__SACT_RENEW)
        s->renewed_ms = now_ms;
    if (kind == PDK__SACT_SYNC)
        s->synced_ms = now_ms;
    pdk__session_push(out, kind);
}

/* Where few requests are writes, two may be due at a time. */
void pdk__lease_ask_if_due(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    while (now_ms >= pdk__lease_due_ms(s))
        ask(s, now_ms, out);
}

/* The request is no longer under way. A request of an earlier connection is not counted. */
static void uncount(struct pdk__session *s)
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

static enum pdk__reach reach(const struct pdk__session_event *ev)
{
    return ev->agreed ? PDK__REACHED_QUORUM : ev->led ? PDK__REACHED_LEADER : PDK__REACHED_SERVER;
}

/* Where few requests are writes, reads do not count: their way is shorter than that of the chain. */
static void measure(struct pdk__session *s, const struct pdk__session_event *ev)
{
    if (!ev->asked || !lean(s) || reach(ev) != PDK__REACHED_SERVER)
        pdk__pace_measure(&s->pace, ev->now_ms - ev->sent_ms);
}

void pdk__lease_answered(struct pdk__session *s, const struct pdk__session_event *ev, struct pdk__session_actions *out)
{
    if (s->phase != PDK__SESSION_CONNECTED)
        return; /* the answer is of a connection that is known to be lost */
    assert(ev->sent_ms <= ev->now_ms);
    if (ev->asked)
        uncount(s);
    note_answer(s, ev);
    measure(s, ev);
    if (ev->asked && ev->wrote && !ev->agreed)
        s->hush_ms = ev->now_ms + pace_ms(s); /* servers that refuse writes must not be asked in a loop */
    if (ev->agreed)
        s->wrote_ms = pdk__later_ms(s->wrote_ms, ev->sent_ms);
    if (pdk__chain_answered(&s->chain, ev->sent_ms, ev->now_ms, reach(ev)))
        note_proof(s, ev->now_ms);
    pdk__lease_notice_renewal(s, ev->now_ms, out); /* the link may turn out to be a fast one */
    pdk__lease_notice_time(s, ev->now_ms, out);    /* or a slow one */
}

void pdk__lease_unasked(struct pdk__session *s, const struct pdk__session_event *ev)
{
    uncount(s);
    s->plain = true;
    /* The link needs another request, and no server was asked. */
    s->renewed_ms = s->synced_ms = s->asked_ms = PDK__UNKNOWN_MS;
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
