/*
 * The steps of sessions, for the model of the deadline (test/model/beliefs.pml): a line for each, which begins with B.
 *
 *     B MACHINE EVENT NOW ABOUT MORE PROVEN DEADLINE REPORTS
 *
 * MACHINE is its number in the trace. Each has one session after another. NOW is the client's clock, in milliseconds.
 * PROVEN and DEADLINE are what the machine claims after the step; "-" is no such moment. REPORTS are those of the step:
 * O the lease is OK, L it is low, E it is over, X the session is; "-" is none. EVENT has ABOUT and MORE:
 *
 *     init      the servers' tick, and 1 where the handle is ours to open; the seed and the code's limits follow
 *     open      since when the handle is opened
 *     up        the session's timeout, and its number in hexadecimal digits
 *     down
 *     read, sync, write    when the request was sent that was answered; a write that no quorum agreed on is a read
 *     step      all others
 */
#include "lib/assert.h"
#include "lib/core/session.h"
#include "test/lib/trace.h"
#include <inttypes.h>

void __real_pdk__session_init(struct pdk__session *s, bool renewable, struct pdk__session_policy policy, uint64_t seed,
                              int64_t timeout_ms, int64_t now_ms);
void __real_pdk__session_step(struct pdk__session *s, const struct pdk__session_event *event,
                              struct pdk__session_actions *actions);
void __wrap_pdk__session_init(struct pdk__session *s, bool renewable, struct pdk__session_policy policy, uint64_t seed,
                              int64_t timeout_ms, int64_t now_ms);
void __wrap_pdk__session_step(struct pdk__session *s, const struct pdk__session_event *event,
                              struct pdk__session_actions *actions);

/* --- the machines of a run --------------------------------------------------------------------------------------- */

enum { MACHINES_MAX = 64 };

static struct {
    uint64_t seed;
    int n;
    const struct pdk__session *machine[MACHINES_MAX];
    long number[MACHINES_MAX];
} run;

static long n_machines;

static void enter(const struct pdk__session *s)
{
    int at = 0;
    if (run.seed != trace_seed)
        run.seed = trace_seed, run.n = 0;
    while (at < run.n && run.machine[at] != s)
        at++;
    assert(at < MACHINES_MAX);
    run.n += at == run.n;
    run.machine[at] = s;
    run.number[at] = ++n_machines;
}

static long number(const struct pdk__session *s)
{
    for (int i = 0; i < run.n; i++)
        if (run.machine[i] == s)
            return run.number[i];
    assert(!"a machine without a beginning");
    return 0;
}

/* --- the lines --------------------------------------------------------------------------------------------------- */

static void put_moment(int64_t at_ms)
{
    if (at_ms == PDK__UNKNOWN_MS)
        fputs(" -", trace_out);
    else
        fprintf(trace_out, " %" PRId64, at_ms);
}

static char letter(enum pdk__session_action_kind kind)
{
    switch (kind) {
    case PDK__SACT_LEASE_OK:
        return 'O';
    case PDK__SACT_LEASE_LOW:
        return 'L';
    case PDK__SACT_LEASE_EXPIRED:
        return 'E';
    case PDK__SACT_EXPIRED:
    case PDK__SACT_OVER:
        return 'X';
    default:
        return 0;
    }
}

static void put_claims(const struct pdk__session *s, const struct pdk__session_actions *actions)
{
    char reports[PDK__SESSION_ACTIONS_MAX + 1] = "-";
    int n = 0;
    for (size_t i = 0; i < actions->n; i++)
        if (letter(actions->list[i].kind) != 0)
            reports[n++] = letter(actions->list[i].kind);
    put_moment(s->chain.proven_ms);
    put_moment(pdk__session_deadline_ms(s));
    fprintf(trace_out, " %s\n", reports);
}

static const char *request(const struct pdk__session_event *ev)
{
    if (ev->agreed)
        return "write";
    return ev->led ? "sync" : "read";
}

static void put_event(const struct pdk__session_event *ev)
{
    switch (ev->kind) {
    case PDK__SEV_CONNECTED:
        fprintf(trace_out, "up %" PRId64 " %" PRId64 " %" PRIx64, ev->now_ms, ev->timeout_ms, ev->session);
        break;
    case PDK__SEV_DISCONNECTED:
        fprintf(trace_out, "down %" PRId64 " 0 0", ev->now_ms);
        break;
    case PDK__SEV_OPENED:
        fprintf(trace_out, "open %" PRId64 " %" PRId64 " 0", ev->now_ms, ev->since_ms);
        break;
    case PDK__SEV_ANSWERED:
        fprintf(trace_out, "%s %" PRId64 " %" PRId64 " 0", request(ev), ev->now_ms, ev->sent_ms);
        break;
    default:
        fprintf(trace_out, "step %" PRId64 " 0 0", ev->now_ms);
    }
}

void __wrap_pdk__session_init(struct pdk__session *s, bool renewable, struct pdk__session_policy policy, uint64_t seed,
                              int64_t timeout_ms, int64_t now_ms)
{
    __real_pdk__session_init(s, renewable, policy, seed, timeout_ms, now_ms);
    if (trace_out == NULL)
        return;
    const struct pdk__session_limits *l = &s->limits;
    enter(s);
    fprintf(trace_out, "B %ld init %" PRId64 " %d %d - - - seed %" PRIu64 ", gap %" PRId64 ", margin %" PRId64 "\n",
            number(s), now_ms, trace_tick_ms(), renewable, trace_seed, l->gap_ms, l->margin_ms);
}

void __wrap_pdk__session_step(struct pdk__session *s, const struct pdk__session_event *event,
                              struct pdk__session_actions *actions)
{
    __real_pdk__session_step(s, event, actions);
    if (trace_out == NULL)
        return;
    fprintf(trace_out, "B %ld ", number(s));
    put_event(event);
    put_claims(s, actions);
}
