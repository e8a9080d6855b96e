/*
 * The step of a call about a barrier is inductive: from every state that pdk__barrier_allowed(), with every event that
 * pdk__contract_allows_barrier(). Its caller is answered once, and a call that waits is let through only by the word
 * that the node is not there.
 */
#include "lib/core/barrier.h"
#include "lib/core/contract.h"
#include "paddock/error.h"
#include "test/cbmc/machine.h"

static uint64_t ops;

static struct pdk__barrier any_barrier(void)
{
    struct pdk__barrier b = {.ops = &ops,
                             .task = ANY(PDK__BARRIER_REMOVE),
                             .once = nondet_bool(),
                             .deadline_ms = nondet_bool() ? PDK__NEVER : any_time_ms(),
                             .phase = ANY(PDK__BARRIER_FADING),
                             .connected = nondet_bool(),
                             .begun = nondet_bool(),
                             .watched = nondet_bool(),
                             .by_exists = nondet_bool(),
                             .overtaken = nondet_bool(),
                             .parent_tries = any_between(0, PDK__BARRIER_PARENT_TRIES_MAX),
                             .op = nondet_uint64(),
                             .due_ms = nondet_bool() ? PDK__NEVER : any_between(0, LATER_MAX),
                             .retry = {1, nondet_unsigned()}};
    ASSUME(pdk__barrier_allowed(&b));
    return b;
}

/* The servers say that there is no node. */
static bool is_free(const struct pdk__event *event)
{
    bool read = KIND == PDK__EV_WATCHED || KIND == PDK__EV_IDENTIFIED;
    return (read && event->outcome == PDK__NO_NODE) || (KIND == PDK__EV_FIRED && event->deleted);
}

static void prove_answer(const struct pdk__barrier *b, const struct pdk__barrier *now, const struct pdk__actions *out,
                         const struct pdk__event *event)
{
    bool done = acted(PDK__ACT_DONE), failed = acted(PDK__ACT_FAILED), told = b->phase == PDK__BARRIER_FADING;
    bool ends = done && !told;
    PROVE(done == (now->phase == PDK__BARRIER_OVER) && (!done || place[PDK__ACT_DONE] == (int)out->n),
          "the end comes last");
    PROVE(failed == (!told && now->phase == PDK__BARRIER_FADING), "a failure is said ahead where a watch is left");
    PROVE(!failed || actions[PDK__ACT_FAILED].error < 0, "a failure has an error");
    PROVE(!told || !done || KIND == PDK__EV_SESSION_OVER || KIND == PDK__EV_SESSION_LEFT ||
              actions[PDK__ACT_DONE].error == 0,
          "the caller is answered once");
    bool passes = ends && b->task == PDK__BARRIER_WAIT && actions[PDK__ACT_DONE].error == 0;
    PROVE(!passes || is_free(event), "a call that waits is let through only where no node is");
    bool sent = b->begun && (KIND == PDK__EV_TIMER || KIND == PDK__EV_RELEASE);
    PROVE(!sent || !ends || actions[PDK__ACT_DONE].error == PDK_EUNKNOWN,
          "the outcome of a write that was sent is open");
}

static void prove_watch(const struct pdk__barrier *b, const struct pdk__barrier *now)
{
    bool ended = KIND == PDK__EV_SESSION_EXPIRED || (KIND == PDK__EV_FIRED && b->phase == PDK__BARRIER_WATCHING);
    bool gone = KIND == PDK__EV_WATCHED && !b->by_exists;
    PROVE(!b->watched || now->watched || acted(PDK__ACT_UNWATCH) || ended || gone, "no watch is left");
    PROVE(now->phase != PDK__BARRIER_OVER || !now->watched, "none at the end");
}

static void prove_wake_up(const struct pdk__barrier *now)
{
    bool waits = now->phase != PDK__BARRIER_FADING && now->phase != PDK__BARRIER_OVER;
    PROVE(!waits || pdk__barrier_wake_ms(now) <= now->deadline_ms, "a deadline is kept");
    PROVE(now->phase != PDK__BARRIER_BACKOFF || pdk__barrier_wake_ms(now) <= now->due_ms, "a rest ends");
}

int main(void)
{
    ops = any_between(0, NOW_MAX);
    any_children();
    struct pdk__barrier b = any_barrier();
    struct pdk__event event = any_event(KIND);
    ASSUME(pdk__contract_allows_barrier(&b, &event));
    const struct pdk__barrier before = b;
    struct pdk__actions out = {0};
    pdk__barrier_step(&b, &event, &out);
    prove_answer(&before, &b, &out, &event);
    prove_watch(&before, &b);
    prove_wake_up(&b);
    REACH(before.phase != PDK__BARRIER_APART && b.phase == PDK__BARRIER_APART);
    REACH(before.phase != PDK__BARRIER_ASKING && b.phase == PDK__BARRIER_ASKING);
    REACH(before.phase != PDK__BARRIER_PARENTS && b.phase == PDK__BARRIER_PARENTS);
    REACH(before.phase != PDK__BARRIER_WATCHING && b.phase == PDK__BARRIER_WATCHING);
    REACH(before.phase != PDK__BARRIER_BACKOFF && b.phase == PDK__BARRIER_BACKOFF);
    REACH(before.phase != PDK__BARRIER_FADING && b.phase == PDK__BARRIER_FADING);
    REACH(b.phase == PDK__BARRIER_OVER && actions[PDK__ACT_DONE].error == 0);
    REACH(b.phase == PDK__BARRIER_OVER && actions[PDK__ACT_DONE].error < 0);
}
