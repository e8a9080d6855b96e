/*
 * The step of a stray is inductive: from every state that pdk__stray_allowed(), with every event that
 * pdk__contract_allows_stray(). And it deletes no node but one that its session owns.
 */
#include "lib/core/stray.h"
#include "lib/core/contract.h"
#include "lib/core/order.h"
#include "test/cbmc/machine.h"

enum { GAP_CEILING_MS = 3600 * 1000 };

/* The search brings a name of ours, or none; see the proof of the order. */
bool pdk__name_is(const char *text, int64_t session, uint32_t attempt) { return text[0] == 'o'; }

const char *pdk__order_candidate(const char *const *names, size_t n, int64_t session, uint32_t attempt,
                                 const char *after)
{
    ASSUME(child[0] == 'o');
    return nondet_bool() ? child : NULL;
}

static uint64_t ops;

static struct pdk__stray any_stray(void)
{
    struct pdk__stray s = {.ops = &ops,
                           .session = nondet_int64(),
                           .attempt = nondet_unsigned(),
                           .phase = ANY(PDK__STRAY_DELETING),
                           .connected = nondet_bool(),
                           .op = nondet_uint64(),
                           .since_ms = any_time_ms(),
                           .due_ms = any_between(0, LATER_MAX),
                           .retry = {1, nondet_unsigned()}};
    any_text(s.name);
    ASSUME(pdk__stray_allowed(&s));
    return s;
}

static void prove_actions(const struct pdk__stray *b, const struct pdk__stray *s, const struct pdk__event *event)
{
    bool owned = KIND == PDK__EV_IDENTIFIED && event->outcome == PDK__OK && event->owner == b->session;
    PROVE(!acted(PDK__ACT_DELETE) || (owned && b->phase == PDK__STRAY_IDENTIFYING && event->op == b->op),
          "it deletes a node only once it has read that its session owns it");
    PROVE(!acted(PDK__ACT_DELETE) || pdk__name_is(actions[PDK__ACT_DELETE].name, s->session, s->attempt),
          "it deletes a node of its attempt");
    PROVE(acted(PDK__ACT_DONE) == (s->phase == PDK__STRAY_OVER), "the end is said when it comes");
    bool over = KIND == PDK__EV_SESSION_EXPIRED || KIND == PDK__EV_SESSION_OVER || KIND == PDK__EV_SESSION_LEFT;
    PROVE(!over || acted(PDK__ACT_DONE), "it ends with its session");
    PROVE(s->session == b->session && s->attempt == b->attempt, "it looks for one create");
}

static void prove_wake_up(const struct pdk__stray *b, const struct pdk__stray *s, const struct pdk__event *event)
{
    bool waits = s->phase == PDK__STRAY_WAITING && s->connected, begins = b->phase != PDK__STRAY_WAITING;
    PROVE(!waits || pdk__stray_wake_ms(s) == s->due_ms, "while it waits it is woken");
    PROVE(!waits || !begins || s->due_ms <= event->now_ms + 2 * GAP_CEILING_MS, "it looks again in two hours at most");
}

int main(void)
{
    ops = any_between(0, NOW_MAX);
    any_children();
    struct pdk__stray s = any_stray();
    struct pdk__event event = any_event(KIND);
    ASSUME(pdk__contract_allows_stray(&s, &event));
    const struct pdk__stray before = s;
    struct pdk__actions out = {0};
    pdk__stray_step(&s, &event, &out);
    prove_actions(&before, &s, &event);
    prove_wake_up(&before, &s, &event);
    REACH(before.phase != PDK__STRAY_WAITING && s.phase == PDK__STRAY_WAITING);
    REACH(before.phase != PDK__STRAY_LISTING && s.phase == PDK__STRAY_LISTING);
    REACH(before.phase != PDK__STRAY_IDENTIFYING && s.phase == PDK__STRAY_IDENTIFYING);
    REACH(before.phase != PDK__STRAY_DELETING && s.phase == PDK__STRAY_DELETING);
    REACH(s.phase == PDK__STRAY_OVER);
}
