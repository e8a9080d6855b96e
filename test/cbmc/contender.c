/*
 * The step of the contender is inductive: from every state that pdk__phase_check() allows, with every event that
 * pdk__contract_allows(), its asserts hold, and the state after it is allowed. And its reports are true.
 *
 * A part is a kind of event. The judgements of a listing (rule, order, names) and the random delay are any that their
 * own proofs leave open. Names are short: only their equality matters to the step.
 */
#include "lib/core/contender.h"
#include "lib/core/contract.h"
#include "lib/core/order.h"
#include "test/cbmc/machine.h"

enum { MANY = 1000 };

void assume_phase_check(const struct pdk__contender *c, const struct pdk__contender *before);

/* --- in place of what is proved elsewhere ------------------------------------------------------------------------- */

static struct pdk__name own;

struct pdk__name pdk__name_parse(const char *text)
{
    struct pdk__name other = {.kind = ANY(PDK__NAME_JUNK), .session = nondet_int64()};
    return text == child || text == second ? other : own;
}

struct pdk__place pdk__rule_place(const struct pdk__rule *rule, const char *const *names, size_t n, const char *name,
                                  const char *base)
{
    struct pdk__place p = {.present = nondet_bool()};
    PROVE(rule->admits >= 1 && (base == NULL || rule->under != 0), "what the rule asks for");
    if (!p.present)
        return (struct pdk__place){0};
    p.blocking = nondet_size();
    ASSUME(p.blocking < MANY);
    p.alone = nondet_bool() && p.blocking == 0;
    p.tied = nondet_bool() && !p.alone;
    p.admitted = p.blocking < rule->admits;
    p.next = p.blocking == rule->admits;
    p.leads = p.next && nondet_bool();
    p.replaceable = p.blocking > 0 && nondet_bool();
    p.baseless = base != NULL && nondet_bool();
    p.predecessor = p.blocking > 0 ? child : NULL;
    p.before = p.blocking > 1 ? second : NULL;
    return p;
}

const char *pdk__order_candidate(const char *const *names, size_t n, int64_t session, uint32_t attempt,
                                 const char *after)
{
    return nondet_bool() ? child : NULL;
}

bool pdk__rule_free(const struct pdk__rule *rule, const char *const *names, size_t n, size_t places)
{
    PROVE(rule->admits >= 1 && places >= 1, "what the rule asks for");
    return nondet_bool();
}

bool pdk__rule_renewed(const struct pdk__rule *rule, const char *const *names, size_t n) { return nondet_bool(); }

bool pdk__rule_rival(const struct pdk__rule *rule, const char *name) { return nondet_bool(); }

/* --- any state, any event ----------------------------------------------------------------------------------------- */

static uint64_t ops;
static struct pdk__rule rule;
static struct pdk__delay delay;
static struct pdk__conditions conditions;
static struct pdk__wish wish;

static void any_wish(void)
{
    rule = (struct pdk__rule){.tag = ANY(PDK__N_TAGS - 1),
                              .passes = nondet_unsigned(),
                              .replaced = nondet_unsigned(),
                              .under = nondet_unsigned(),
                              .admits = nondet_size(),
                              .by_children = nondet_bool(),
                              .counts_junk = nondet_bool()};
    ASSUME(rule.admits >= 1 && rule.admits < MANY && (rule.admits == 1 || rule.by_children));
    delay = (struct pdk__delay){nondet_int64(), any_time_ms()};
    conditions = (struct pdk__conditions){.min_token = any_between(0, INT64_MAX),
                                          .confirmed = nondet_bool(),
                                          .lock_delay_ms = any_between(0, INT_MAX),
                                          .delay = &delay,
                                          .look_ahead = nondet_bool(),
                                          .long_held = nondet_bool()};
    wish = (struct pdk__wish){.rule = &rule,
                              .conditions = &conditions,
                              .try_only = nondet_bool(),
                              .deadline_ms = nondet_bool() ? PDK__NEVER : any_time_ms(),
                              .places = nondet_size(),
                              .bound = nondet_bool(),
                              .base = nondet_bool() ? second : NULL,
                              .base_token = any_between(0, INT64_MAX)};
    ASSUME(wish.base == NULL || (rule.under != 0 && wish.base_token > 0 && wish.base_token >= conditions.min_token));
}

static struct pdk__own_node any_node(void)
{
    struct pdk__own_node n = {.exists = ANY(PDK__NODE_YES),
                              .verified = nondet_bool(),
                              .revoked = nondet_bool(),
                              .token = nondet_int64(),
                              .version = nondet_int(),
                              .confirmed = nondet_int64(),
                              .watch = ANY(PDK__OWN_KEPT),
                              .watch_op = nondet_uint64(),
                              .by_exists = nondet_bool(),
                              .shown_ms = any_time_ms(),
                              .again_ms = any_between(0, LATER_MAX),
                              .lost_creates = nondet_unsigned(),
                              .parent_tries = nondet_unsigned(),
                              .parents_made = ANY(PDK__CHANGED),
                              .parents_error = any_between(INT_MIN, 0),
                              .n_deletes = nondet_unsigned()};
    any_text(n.name);
    ASSUME(n.n_deletes < UINT_MAX); /* four thousand million deletes of one node */
    return n;
}

static struct pdk__queue any_queue(void)
{
    return (struct pdk__queue){.looked = nondet_bool(),
                               .leaves = nondet_bool(),
                               .spent = nondet_bool(),
                               .returns = nondet_unsigned(),
                               .watching = nondet_bool(),
                               .by_exists = nondet_bool(),
                               .before = nondet_bool(),
                               .next_in_line = nondet_bool(),
                               .leads = nondet_bool(),
                               .replaceable = nondet_bool()};
}

static struct pdk__contender any_contender(void)
{
    struct pdk__contender c = {
        .ops = &ops,
        .wish = &wish,
        .attempt = nondet_unsigned(),
        .spare = nondet_unsigned(),
        .spent = nondet_unsigned(),
        .requested = nondet_bool(),
        .released = nondet_bool(),
        .error = any_between(INT_MIN, 0),
        .session = {nondet_int64(), nondet_bool(), nondet_bool(), any_between(0, INT_MAX)},
        .node = any_node(),
        .queue = any_queue(),
        .record = {ANY(PDK__RECORD_YES), nondet_int(), nondet_uint64(), any_between(0, LATER_MAX)},
        .rivals = {ANY(PDK__RIVALS_SEEN), nondet_uint64(), nondet_bool(), nondet_unsigned()},
        .phase = ANY(PDK__N_PHASES - 1),
        .op = nondet_uint64(),
        .retry = {1, nondet_unsigned()},
        .rest_ms = any_between(0, LATER_MAX),
        .now_ms = any_time_ms(),
        .asked_ms = any_time_ms()};
    assume_phase_check(&c, &c);
    ASSUME(c.spare != 0 && c.spare != c.attempt);
    return c;
}

/* --- the laws ----------------------------------------------------------------------------------------------------- */

static void prove_reports(const struct pdk__contender *b, const struct pdk__contender *c,
                          const struct pdk__actions *out)
{
    bool held = pdk__phase_grants(b->phase), holds = pdk__phase_grants(c->phase);
    bool granted = acted(PDK__ACT_GRANTED), lost = acted(PDK__ACT_LOST), failed = acted(PDK__ACT_FAILED);
    PROVE(granted == (!held && holds), "it is granted exactly where holding begins");
    PROVE(!granted || (c->requested && c->node.exists == PDK__NODE_YES && c->node.verified), "a grant has a node");
    PROVE(!granted || (c->session.connected && c->session.lease_ok), "a grant has a session that is proven");
    PROVE(!granted || (actions[PDK__ACT_GRANTED].token > 0 && actions[PDK__ACT_GRANTED].token >= conditions.min_token),
          "a grant has a token");
    PROVE(lost == (held && !holds && KIND != PDK__EV_RELEASE), "it is lost exactly where it ends without a release");
    PROVE(!lost || !acted(PDK__ACT_DELETE) || place[PDK__ACT_LOST] < place[PDK__ACT_DELETE],
          "a loss is reported before the delete");
    PROVE(!failed || (!held && !holds && !c->requested && (b->requested || KIND == PDK__EV_ACQUIRE)),
          "a request fails, and no grant");
    PROVE(failed || !b->requested || c->requested || held || KIND == PDK__EV_RELEASE,
          "a request that ends without a grant fails");
    PROVE(!failed || actions[PDK__ACT_FAILED].error < 0, "a failure has an error");
    PROVE(b->phase != PDK__DONE || out->n == 0, "nothing comes after the end");
    bool done = acted(PDK__ACT_DONE);
    PROVE(done == (b->phase != PDK__DONE && c->phase == PDK__DONE) && (!done || place[PDK__ACT_DONE] == (int)out->n),
          "the end comes last");
}

static void prove_wake_up(const struct pdk__contender *c)
{
    int64_t wake_ms = pdk__contender_wake_ms(c);
    PROVE(c->phase != PDK__BACKOFF || wake_ms <= c->rest_ms, "a rest ends");
    PROVE(c->phase != PDK__DELAYED || wake_ms <= c->record.delayed_ms, "a delay ends");
    PROVE(!c->requested || pdk__phase_grants(c->phase) || wake_ms <= wish.deadline_ms, "a deadline is kept");
}

#define ENTERED(name) (b->phase != PDK__##name && c->phase == PDK__##name)

static void reach(const struct pdk__contender *b, const struct pdk__contender *c)
{
    REACH(ENTERED(DISCONNECTED));
    REACH(ENTERED(BACKOFF));
    REACH(ENTERED(LOOKING));
    REACH(ENTERED(CREATING));
    REACH(ENTERED(RECOVERING));
    REACH(ENTERED(IDENTIFYING));
    REACH(ENTERED(LISTING));
    REACH(ENTERED(WATCHING));
    REACH(ENTERED(WAITING));
    REACH(ENTERED(VERIFYING_NODE));
    REACH(ENTERED(READING_HOLDER));
    REACH(ENTERED(DELAYED));
    REACH(ENTERED(WRITING_HOLDER));
    REACH(ENTERED(CONFIRMING));
    REACH(ENTERED(AWAITING_LEASE));
    REACH(ENTERED(HELD));
    REACH(ENTERED(SUSPECT));
    REACH(ENTERED(DELETING));
    REACH(ENTERED(DONE));
    REACH(acted(PDK__ACT_GRANTED));
    REACH(acted(PDK__ACT_LOST));
    REACH(acted(PDK__ACT_FAILED));
}

int main(void)
{
    ops = nondet_uint64();
    ASSUME(ops < NOW_MAX);
    own = (struct pdk__name){.session = nondet_int64(), .sequence = any_between(INT32_MIN, INT32_MAX)};
    any_children();
    any_wish();
    struct pdk__contender c = any_contender();
    struct pdk__event event = any_event(KIND);
    ASSUME(pdk__contract_allows(&c, &event));
    const struct pdk__contender before = c;
    struct pdk__actions out = {0};
    pdk__contender_step(&c, &event, &out);
    prove_reports(&before, &c, &out);
    prove_wake_up(&c);
    reach(&before, &c);
}
