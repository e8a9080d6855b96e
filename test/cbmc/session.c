/*
 * The step of the session, with its lease, is inductive: from every state that pdk__session_allowed(), with every
 * event. And belief ends in time, by all that the chain has proven (chain.c, links.c).
 *
 * A part is a kind of event. The chain, the pace, the silence and the requests of a step are any; but for the requests,
 * within the bounds that their own proofs show.
 */
#include "test/cbmc/prove.h"

#define pdk__lease_ask_if_due shipped_ask_if_due
#include "lib/core/contract.h"
#include "lib/core/lease.c"
#undef pdk__lease_ask_if_due

enum { KIND = PART_OF(PDK__SEV_) };

/* Bits of a time, of a timeout and of a round trip: four hours, two minutes, four seconds. Nothing depends on when the
 * clock begins. */
enum { TIME = 24, TIMEOUT = 17, TRIP = 12 };

/* A number of so many bits: the others are known to the solver. */
static int64_t any_bits(int n) { return (int64_t)(nondet_unsigned() & ((1U << n) - 1)); }

static int64_t any_time_ms(void) { return any_bits(TIME); }

static int64_t any_from_to(int64_t low_ms, int64_t high_ms)
{
    int64_t x = any_time_ms();
    ASSUME(low_ms <= x && x <= high_ms);
    return x;
}

/* A moment after SINCE_MS. */
static int64_t any_later_ms(int64_t since_ms) { return since_ms + 1 + any_bits(TIMEOUT); }

static int64_t any_time_or_none_ms(void) { return nondet_bool() ? PDK__UNKNOWN_MS : any_time_ms(); }

/* --- the link ----------------------------------------------------------------------------------------------------- */

/* The answers and the passing of time can change it, and nothing else. */
static struct {
    bool slow, lean, unfit;
    int64_t lag_ms, mean_ms, pace_ms, ripe_ms, slack_ms;
} link;

static void any_link(void)
{
    link.slow = nondet_bool();
    link.lean = nondet_bool();
    link.unfit = nondet_bool();
    link.lag_ms = any_bits(TRIP);
    link.mean_ms = any_bits(TRIP);
    link.pace_ms = 1 + any_bits(TIMEOUT);
    link.ripe_ms = any_bits(TIMEOUT);
    link.slack_ms = any_bits(TIMEOUT);
}

void pdk__pace_init(struct pdk__pace *p) { any_link(); }
void pdk__pace_measure(struct pdk__pace *p, int64_t took_ms) { any_link(); }
int64_t pdk__pace_lag_ms(const struct pdk__pace *p) { return link.lag_ms; }
bool pdk__pace_slow(const struct pdk__pace *p, const struct pdk__session_limits *l) { return link.slow; }
bool pdk__pace_lean(const struct pdk__pace *p, const struct pdk__session_limits *l) { return link.lean; }
bool pdk__pace_unfit(const struct pdk__pace *p, const struct pdk__session_limits *l) { return link.unfit; }
int64_t pdk__pace_ripe_ms(const struct pdk__pace *p, const struct pdk__session_limits *l) { return link.ripe_ms; }
int64_t pdk__pace_slack_ms(const struct pdk__session_limits *l) { return link.slack_ms; }
int64_t pdk__pace_mean_ms(const struct pdk__pace *p) { return link.mean_ms; }
int64_t pdk__pace_ms(const struct pdk__pace *p, const struct pdk__session_limits *l) { return link.pace_ms; }

void pdk__pace_reconsider(struct pdk__pace *p, const struct pdk__session_limits *l, bool lacking, int64_t now_ms)
{
    any_link();
}

/* --- a silent server ---------------------------------------------------------------------------------------------- */

static int64_t silent_ms; /* when it is left or passed over */

static void any_silence(int64_t after_ms) { silent_ms = nondet_bool() ? PDK__NEVER : any_later_ms(after_ms); }

void pdk__silence_init(struct pdk__silence *q) { any_silence(any_time_ms()); }
void pdk__silence_seek(struct pdk__silence *q, int64_t now_ms) { any_silence(any_time_ms()); }
void pdk__silence_left(struct pdk__silence *q, int64_t now_ms) { any_silence(now_ms); }
void pdk__silence_passed(struct pdk__silence *q, int64_t now_ms) { any_silence(now_ms); }

void pdk__silence_answered(struct pdk__silence *q, int64_t now_ms, int64_t write_sent_ms, int64_t timeout_ms)
{
    any_silence(any_time_ms());
}

int64_t pdk__silence_leave_ms(const struct pdk__silence *q, int64_t timeout_ms, int64_t lag_ms) { return silent_ms; }
int64_t pdk__silence_pass_ms(const struct pdk__silence *q, int64_t timeout_ms, int64_t lag_ms) { return silent_ms; }

/* --- the chain: a moment that was proven stays so, and is not later than the latest request that was answered ----- */

void pdk__chain_init(struct pdk__chain *c) { c->latest_ms = c->proven_ms = PDK__UNKNOWN_MS; }

void pdk__chain_begin(struct pdk__chain *c, int64_t gap_ms, int64_t late_ms, int64_t since_ms)
{
    PROVE(gap_ms > 0 && late_ms > 0, "what the chain asks for");
    c->latest_ms = c->proven_ms = since_ms;
}

void pdk__chain_resume(struct pdk__chain *c, int64_t gap_ms, int64_t late_ms, int64_t now_ms)
{
    PROVE(gap_ms > 0 && late_ms > 0, "what the chain asks for");
}

bool pdk__chain_answered(struct pdk__chain *c, int64_t sent_ms, int64_t now_ms, enum pdk__reach reach)
{
    int64_t before_ms = c->proven_ms;
    PROVE(sent_ms <= now_ms, "what the chain asks for");
    c->latest_ms = pdk__later_ms(c->latest_ms, sent_ms);
    if (reach == PDK__REACHED_QUORUM && nondet_bool())
        c->proven_ms = any_from_to(pdk__later_ms(before_ms, 0), c->latest_ms);
    return c->proven_ms > before_ms;
}

static int64_t present_ms;

/* The moments from which on a write, a sync would be a link: of them the first after the last request. */
static int64_t links_ms[2][2];

/* The newest moment that a sync sent before this step would carry, and one sent in it. */
static int64_t bases_ms[2];

static void any_links(const struct pdk__chain *c)
{
    for (int i = 0; i < 2; i++) {
        links_ms[i][0] = any_time_ms();
        links_ms[i][1] = any_later_ms(links_ms[i][0]);
        bool none = c->latest_ms == PDK__UNKNOWN_MS;
        bases_ms[i] = none ? PDK__UNKNOWN_MS : any_from_to(pdk__later_ms(c->proven_ms, 0), c->latest_ms);
    }
    ASSUME(bases_ms[0] <= bases_ms[1]);
}

static int64_t first_after_ms(const int64_t moments_ms[2], int64_t sent_ms)
{
    if (moments_ms[0] > sent_ms)
        return moments_ms[0];
    return moments_ms[1] > sent_ms ? moments_ms[1] : PDK__NEVER;
}

int64_t pdk__chain_next_ms(const struct pdk__chain *c, int64_t sent_ms)
{
    return c->latest_ms == PDK__UNKNOWN_MS ? 0 : first_after_ms(links_ms[0], sent_ms);
}

int64_t pdk__chain_prove_ms(const struct pdk__chain *c, int64_t sent_ms)
{
    return first_after_ms(links_ms[0], sent_ms);
}

int64_t pdk__chain_carry_ms(const struct pdk__chain *c, int64_t sent_ms, int64_t by_ms)
{
    return first_after_ms(links_ms[1], sent_ms);
}

int64_t pdk__chain_base_ms(const struct pdk__chain *c, int64_t sent_ms)
{
    return pdk__later_ms(bases_ms[sent_ms == present_ms], c->proven_ms);
}

/* --- limits and retries ------------------------------------------------------------------------------------------- */

static struct pdk__session_limits any_limits(int64_t timeout_ms)
{
    struct pdk__session_limits l = {.timeout_ms = timeout_ms,
                                    .tick_ms = any_bits(TIMEOUT),
                                    .late_ms = 1 + any_bits(TIMEOUT),
                                    .margin_ms = any_bits(TIMEOUT),
                                    .min_valid_ms = any_bits(TIMEOUT)};
    l.gap_ms = l.late_ms + any_bits(TIMEOUT);
    return l;
}

struct pdk__session_limits pdk__limits(const struct pdk__session_policy *policy, int64_t timeout_ms)
{
    PROVE(timeout_ms > 0, "what the limits ask for");
    return any_limits(timeout_ms);
}

bool pdk__limits_too_short(const struct pdk__session_limits *l)
{
    return l->gap_ms + l->margin_ms + l->min_valid_ms >= l->timeout_ms;
}

void pdk__retry_init(struct pdk__retry *r, uint64_t seed) { r->failures = 0; }
void pdk__retry_reset(struct pdk__retry *r) { r->failures = 0; }

int64_t pdk__retry_spread_ms(struct pdk__retry *r, int64_t spread_ms, int64_t ceiling_ms)
{
    PROVE(0 < spread_ms && spread_ms <= ceiling_ms, "what a spread asks for");
    return any_bits(13);
}

/* --- the actions, by kind ----------------------------------------------------------------------------------------- */

static struct pdk__session_action actions[PDK__SACT_LEAVE + 1];
static int place[PDK__SACT_LEAVE + 1]; /* from 1 */

struct pdk__session_action *pdk__session_push(struct pdk__session_actions *out, enum pdk__session_action_kind kind)
{
    bool request = kind == PDK__SACT_RENEW || kind == PDK__SACT_KEEPALIVE || kind == PDK__SACT_SYNC;
    PROVE(out->n < PDK__SESSION_ACTIONS_MAX, "a step has so many actions at most");
    PROVE(place[kind] == 0 || request, "a step has one report of a kind at most");
    place[kind] = (int)++out->n;
    actions[kind] = (struct pdk__session_action){.kind = kind};
    return &actions[kind];
}

static bool acted(enum pdk__session_action_kind kind) { return place[kind] > 0; }

/* A step ends with requests. They change nothing but these, and are due by what the chain and the pace say. */
void pdk__lease_ask_if_due(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    if (s->phase != PDK__SESSION_CONNECTED || nondet_bool())
        return;
    s->n_asked = any_from_to(s->n_asked, PDK__ASKED_MAX);
    s->asked_ms = now_ms;
    s->renewed_ms = nondet_bool() ? now_ms : s->renewed_ms;
    s->synced_ms = nondet_bool() ? now_ms : s->synced_ms;
    pdk__session_push(out, PDK__SACT_KEEPALIVE);
}

/* --- any state, any event ----------------------------------------------------------------------------------------- */

/* At NOW_MS no belief is overlooked: see prove_belief(). */
static bool noticed(const struct pdk__session *s, int64_t now_ms)
{
    bool known = pdk__lease_known(s);
    return (!known || now_ms < pdk__session_deadline_ms(s) || s->lease_expired) && (!s->lease_expired || s->lease_low);
}

static struct pdk__session any_session(int64_t now_ms)
{
    struct pdk__session s = {.renewable = nondet_bool(),
                             .policy = {.movable = nondet_bool()},
                             .phase = nondet_unsigned() % PDK__N_SESSION_PHASES,
                             .id = nondet_int64(),
                             .timeout_ms = 1 + any_bits(TIMEOUT),
                             .chain = {.latest_ms = any_time_or_none_ms(), .proven_ms = any_time_or_none_ms()},
                             .lease_low = nondet_bool(),
                             .lease_expired = nondet_bool(),
                             .lease_needed = nondet_bool(),
                             .flowing = nondet_bool(),
                             .proof_ms = any_time_or_none_ms(),
                             .plain = nondet_bool(),
                             .n_asked = nondet_int(),
                             .asked_ms = any_time_or_none_ms(),
                             .renewed_ms = any_time_or_none_ms(),
                             .synced_ms = any_time_or_none_ms(),
                             .wrote_ms = any_time_or_none_ms(),
                             .heard_ms = any_time_ms(),
                             .hush_ms = nondet_bool() ? PDK__UNKNOWN_MS : any_time_ms(),
                             .since_ms = any_time_ms(),
                             .spent = nondet_bool(),
                             .away_ms = nondet_bool() ? PDK__NEVER : any_time_ms(),
                             .rest_ms = any_time_ms(),
                             .retry = {1, nondet_unsigned()}};
    s.limits = any_limits(s.timeout_ms);
    ASSUME(s.chain.latest_ms <= now_ms && s.heard_ms <= now_ms && s.since_ms <= now_ms);
    ASSUME(s.asked_ms <= now_ms && s.renewed_ms <= now_ms && s.synced_ms <= now_ms && s.wrote_ms <= now_ms);
    ASSUME(pdk__session_allowed(&s) && noticed(&s, now_ms));
    return s;
}

static struct pdk__session_event any_event(int64_t now_ms)
{
    struct pdk__session_event e = {.kind = KIND,
                                   .now_ms = now_ms,
                                   .session = nondet_int64(),
                                   .timeout_ms = any_bits(TIMEOUT),
                                   .unresumable = nondet_bool(),
                                   .since_ms = any_from_to(0, now_ms),
                                   .sent_ms = any_from_to(0, now_ms),
                                   .agreed = nondet_bool(),
                                   .led = nondet_bool(),
                                   .asked = nondet_bool(),
                                   .wrote = nondet_bool()};
    return e;
}

/* --- the laws ----------------------------------------------------------------------------------------------------- */

static void prove_belief(const struct pdk__session *b, const struct pdk__session *s, int64_t now_ms)
{
    int64_t deadline_ms = pdk__session_deadline_ms(s), proven_ms = s->chain.proven_ms;
    PROVE(noticed(s, now_ms), "belief that has ended is noticed in the step");
    PROVE(!pdk__lease_known(s) || deadline_ms == proven_ms + s->timeout_ms - s->limits.margin_ms,
          "belief ends a timeout after what is proven, less the margin");
    PROVE(!pdk__session_lease_valid(s, now_ms) || now_ms < deadline_ms, "no belief is valid after its end");
    PROVE(KIND != PDK__SEV_ANSWERED || deadline_ms >= pdk__session_deadline_ms(b), "an answer never shortens belief");
    PROVE(KIND == PDK__SEV_ANSWERED || KIND == PDK__SEV_CONNECTED || deadline_ms <= pdk__session_deadline_ms(b),
          "only an answer proves more, or a new session");
}

static void prove_reports(const struct pdk__session *b, const struct pdk__session *s,
                          const struct pdk__session_actions *out, int64_t now_ms)
{
    bool connected = s->phase == PDK__SESSION_CONNECTED;
    bool ok = acted(PDK__SACT_LEASE_OK), low = acted(PDK__SACT_LEASE_LOW), over = acted(PDK__SACT_OVER);
    bool after = ok && (!low || place[PDK__SACT_LEASE_LOW] < place[PDK__SACT_LEASE_OK]);
    PROVE(!after || (pdk__lease_known(s) && pdk__session_deadline_ms(s) - s->limits.min_valid_ms > now_ms),
          "a lease that is OK has enough time left");
    PROVE(!acted(PDK__SACT_LEASE_EXPIRED) || !pdk__session_lease_valid(s, now_ms) || after, "expired belief is over");
    PROVE(!acted(PDK__SACT_UP) || (connected && actions[PDK__SACT_UP].session == s->id), "UP says the session");
    PROVE(!acted(PDK__SACT_DOWN) || s->phase == PDK__SESSION_SUSPENDED, "DOWN is said of a lost connection");
    PROVE(over == (b->phase != PDK__SESSION_OVER && s->phase == PDK__SESSION_OVER), "the end is said when it comes");
    PROVE(!over || (place[PDK__SACT_OVER] == (int)out->n && actions[PDK__SACT_OVER].error < 0), "it comes last");
}

static void prove_wake_up(const struct pdk__session *s)
{
    bool there = s->phase == PDK__SESSION_CONNECTED || s->phase == PDK__SESSION_SUSPENDED;
    int64_t wake_ms = pdk__session_wake_ms(s);
    bool believes = there && pdk__lease_known(s) && !s->lease_expired;
    PROVE(!believes || wake_ms <= pdk__session_deadline_ms(s), "a wake-up comes by the end of belief");
    PROVE(!there || s->lease_low || wake_ms <= pdk__lease_doubt_ms(s), "and when doubt begins");
    PROVE(s->phase != PDK__SESSION_BACKOFF || wake_ms == s->rest_ms, "a rest ends");
}

static void prove_step(struct pdk__session *s, int64_t now_ms, struct pdk__session_actions *out)
{
    struct pdk__session_event event = any_event(now_ms);
    const struct pdk__session b = *s;
    ASSUME(pdk__contract_allows_session(s, &event));
    pdk__session_step(s, &event, out);
    prove_belief(&b, s, now_ms);
    prove_reports(&b, s, out, now_ms);
    prove_wake_up(s);
    PROVE(!event.unresumable || !acted(PDK__SACT_UP), "a session that no server resumes is not used");
    REACH(b.phase != PDK__SESSION_OPENING && s->phase == PDK__SESSION_OPENING);
    REACH(b.phase != PDK__SESSION_CONNECTED && s->phase == PDK__SESSION_CONNECTED);
    REACH(b.phase != PDK__SESSION_SUSPENDED && s->phase == PDK__SESSION_SUSPENDED);
    REACH(b.phase != PDK__SESSION_BACKOFF && s->phase == PDK__SESSION_BACKOFF);
    REACH(b.phase != PDK__SESSION_OVER && s->phase == PDK__SESSION_OVER);
    REACH(acted(PDK__SACT_LEASE_OK));
    REACH(acted(PDK__SACT_LEASE_LOW));
    REACH(acted(PDK__SACT_LEASE_EXPIRED));
    REACH(acted(PDK__SACT_LEAVE));
}

int main(void)
{
    int64_t before_ms = any_time_ms(), now_ms = any_from_to(before_ms, INT64_MAX);
    any_link();
    any_silence(any_time_ms());
    struct pdk__session s = any_session(before_ms);
    present_ms = now_ms;
    any_links(&s.chain);
    struct pdk__session_actions out = {0};
    prove_step(&s, now_ms, &out);
}
