/*
 * The step of a member of a double barrier is inductive: from every state that pdk__double_barrier_allowed(), with
 * every event that pdk__contract_allows_member(). Its caller is answered once, and it is let in only by a "ready" that
 * came after its node.
 */
#include "lib/core/double_barrier.h"
#include "lib/core/contract.h"
#include "paddock/error.h"
#include "test/cbmc/machine.h"

enum { FEW = 1000 };

/* Which names are a lock's, and the text of our own, have proofs of their own. */
struct pdk__name pdk__name_parse(const char *text)
{
    return (struct pdk__name){.kind = text[1] == 'l' ? PDK__NAME_OURS : PDK__NAME_JUNK};
}

void pdk__name_format_member(char out[PDK__NAME_MAX], int64_t session, uint32_t attempt) { any_text(out); }

static uint64_t ops;

/* The listing of members, among which "ready" can be. */
static const char *members[2];

static void any_members(void)
{
    any_children();
    for (int i = 0; i < 2; i++)
        members[i] = nondet_bool() ? PDK__READY : children[i];
}

static struct pdk__double_barrier any_member(void)
{
    struct pdk__double_barrier b = {.ops = &ops,
                                    .count = nondet_size(),
                                    .session = nondet_int64(),
                                    .connected = nondet_bool(),
                                    .aim = ANY(PDK__AIM_TIDY),
                                    .phase = ANY(PDK__MEMBER_CLOSING),
                                    .op = nondet_uint64(),
                                    .once = nondet_bool(),
                                    .deadline_ms = nondet_bool() ? PDK__NEVER : any_time_ms(),
                                    .told = nondet_bool(),
                                    .node = ANY(PDK__NODE_YES),
                                    .token = nondet_int64(),
                                    .came = nondet_int64(),
                                    .attempt = nondet_unsigned(),
                                    .spare = nondet_unsigned(),
                                    .unsure = nondet_bool(),
                                    .parent_tries = any_between(0, PDK__BARRIER_PARENT_TRIES_MAX),
                                    .admitted = nondet_bool(),
                                    .older = nondet_size(),
                                    .outlived = nondet_bool(),
                                    .watched = nondet_bool(),
                                    .by_exists = nondet_bool(),
                                    .passing = nondet_bool(),
                                    .round = nondet_int64(),
                                    .outwaits = nondet_bool(),
                                    .lowest = nondet_bool(),
                                    .due_ms = nondet_bool() ? PDK__NEVER : any_between(0, LATER_MAX),
                                    .retry = {1, nondet_unsigned()}};
    any_text(b.name);
    ASSUME(b.count > 0 && b.count < FEW && b.older < FEW && b.spare != 0);
    ASSUME(pdk__double_barrier_allowed(&b));
    return b;
}

static bool inside(const struct pdk__double_barrier *b) { return b->phase == PDK__MEMBER_INSIDE; }

static bool waits_for_answer(const struct pdk__double_barrier *b)
{
    return !b->told && (b->aim == PDK__AIM_ENTER || b->aim == PDK__AIM_LEAVE);
}

static void prove_reports(const struct pdk__double_barrier *b, const struct pdk__double_barrier *now,
                          const struct pdk__actions *out, const struct pdk__event *event)
{
    bool granted = acted(PDK__ACT_GRANTED), lost = acted(PDK__ACT_LOST), failed = acted(PDK__ACT_FAILED);
    bool done = acted(PDK__ACT_DONE);
    PROVE(granted == (!inside(b) && inside(now)), "it is granted exactly where it comes inside");
    PROVE(!granted || (event->outcome == PDK__OK && now->round == event->token),
          "it enters by the word of the servers");
    PROVE(!granted || KIND != PDK__EV_IDENTIFIED || event->token > now->came,
          "a \"ready\" that is there lets in only those that were there before it");
    PROVE(!granted || (now->connected && now->node == PDK__NODE_YES), "inside it has a node");
    PROVE(lost == (inside(b) && !inside(now) && KIND != PDK__EV_RELEASE), "LOST where it leaves against its will");
    PROVE(!failed || !granted, "no request is granted and fails");
    PROVE(!failed || actions[PDK__ACT_FAILED].error < 0, "a failure has an error");
    PROVE(!failed || now->told, "a failure is said once");
    PROVE(!waits_for_answer(b) || waits_for_answer(now) || granted || failed || (done && b->aim == PDK__AIM_LEAVE),
          "its caller is answered");
    PROVE(done == (now->phase == PDK__MEMBER_OVER) && (!done || place[PDK__ACT_DONE] == (int)out->n),
          "the end comes last");
}

static void prove_node(const struct pdk__double_barrier *b, const struct pdk__double_barrier *now)
{
    bool ended = KIND == PDK__EV_SESSION_EXPIRED || KIND == PDK__EV_SESSION_OVER || KIND == PDK__EV_SESSION_UP;
    PROVE(!b->unsure || now->unsure || acted(PDK__ACT_STRAY) || ended || now->node == PDK__NODE_YES,
          "a create that may take effect is not forgotten");
    PROVE(!acted(PDK__ACT_CREATE) || actions[PDK__ACT_CREATE].attempt == 0 || now->node == PDK__NODE_MAYBE,
          "a node that is asked for may be there");
}

static void prove_wake_up(const struct pdk__double_barrier *now)
{
    int64_t wake_ms = pdk__double_barrier_wake_ms(now);
    bool over = now->phase == PDK__MEMBER_OVER;
    PROVE(over || !waits_for_answer(now) || wake_ms <= now->deadline_ms, "a deadline is kept");
    PROVE(now->phase != PDK__MEMBER_BACKOFF || wake_ms <= now->due_ms, "a rest ends");
}

#define ENTERED(name) (before.phase != PDK__MEMBER_##name && b.phase == PDK__MEMBER_##name)

int main(void)
{
    ops = any_between(0, NOW_MAX);
    any_members();
    struct pdk__double_barrier b = any_member();
    struct pdk__event event = any_event(KIND);
    event.children = members;
    ASSUME(pdk__contract_allows_member(&b, &event));
    const struct pdk__double_barrier before = b;
    struct pdk__actions out = {0};
    pdk__double_barrier_step(&b, &event, &out);
    prove_reports(&before, &b, &out, &event);
    prove_node(&before, &b);
    prove_wake_up(&b);
    REACH(ENTERED(APART));
    REACH(ENTERED(BACKOFF));
    REACH(ENTERED(CREATING));
    REACH(ENTERED(PARENTS));
    REACH(ENTERED(IDENTIFYING));
    REACH(ENTERED(COUNTING));
    REACH(ENTERED(PLACING));
    REACH(ENTERED(DATING));
    REACH(ENTERED(OPENING));
    REACH(ENTERED(FOLLOWING));
    REACH(ENTERED(WAITING));
    REACH(ENTERED(INSIDE));
    REACH(ENTERED(LISTING));
    REACH(ENTERED(REMOVING));
    REACH(ENTERED(CHECKING));
    REACH(ENTERED(CLOSING));
    REACH(b.phase == PDK__MEMBER_OVER);
    REACH(KIND == PDK__EV_LISTED && b.phase == PDK__MEMBER_DATING);
    REACH(KIND == PDK__EV_LISTED && b.phase == PDK__MEMBER_CHECKING && b.aim == PDK__AIM_TIDY);
    REACH(acted(PDK__ACT_LOST));
    REACH(acted(PDK__ACT_STRAY));
}
