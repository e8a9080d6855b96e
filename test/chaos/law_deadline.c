/*
 * The deadline reported to a holder is before the time at which the servers ended its session. The holder may act on it
 * without another look. This includes a holder that is killed, or stopped, right after its look.
 *
 * The deadline agrees with the state: a holder has time left, and after LOST there is none. When a process was stopped
 * for longer than its session, its deadline has passed, whatever the servers did meanwhile. The first answer after it
 * woke is LOST.
 */
#include "test/chaos/findings.h"

#include <paddock/mutex.h>

enum { CLOCK_NS = 2000000, LATE_NS = 100000000 };

static void look_at_end(const struct evidence *e, struct findings *f, const struct request *r)
{
    int64_t deadline = last_deadline_ns(r);
    if (deadline == 0 || r->znode == NULL || r->znode->ending != BY_EXPIRY)
        return;
    int64_t gone_ns = evidence_ns(e, r->znode->gone_ms);
    sample(&f->deadline, gone_ns - deadline);
    if (deadline > gone_ns + CLOCK_NS)
        breach(f, "deadline", "%s was told to believe until %.3f s, its session ended at %.3f s", who(e, r),
               at(e, deadline), at(e, gone_ns));
}

/* The state is asked for before the time that is left. After a stop in between, that time can be over. */
static bool may_have_slept(const struct evidence *e, const struct request *r, size_t i)
{
    int64_t ns = r->told[i].ns;
    bool is_last = i + 1 == r->n_told;
    return was_stopped(e, r, ns, ns + LATE_NS) || (is_last && r->unlocking_ns - ns > LATE_NS);
}

static void look_at_states(const struct evidence *e, struct findings *f, const struct request *r)
{
    for (size_t i = 0; i < r->n_told; i++) {
        const struct told *t = &r->told[i];
        if (!t->is_question)
            continue;
        if (t->state == PDK_LOST && t->valid_ms > 0)
            breach(f, "deadline", "%s has lost at %.3f s, and %lld ms left", who(e, r), at(e, t->ns),
                   (long long)t->valid_ms);
        if (t->state == PDK_HELD && t->valid_ms <= 0 && !may_have_slept(e, r, i))
            breach(f, "deadline", "%s holds at %.3f s, with no time left", who(e, r), at(e, t->ns));
    }
}

/* The first thing said after NS. */
static void look_at_waking(const struct evidence *e, struct findings *f, const struct request *r, int64_t ns)
{
    for (size_t i = 0; i < r->n_told; i++) {
        const struct told *t = &r->told[i];
        if (!t->is_question || t->ns < ns)
            continue;
        if (claims(t))
            breach(f, "deadline", "%s woke at %.3f s from a stop longer than its session, and believed", who(e, r),
                   at(e, ns));
        return;
    }
}

/* A stop is recorded before its signal is sent, and the process may run on for a moment. */
static void look_at_stops(const struct evidence *e, struct findings *f, const struct request *r)
{
    for (size_t i = 0; i < e->stops.n; i++) {
        const struct stop *s = &e->stops.list[i];
        bool is_long = s->until_ns - s->from_ns > e->session_ms * 1000000 + LATE_NS;
        if (is_long && s->pid == e->processes.list[r->process].pid && r->answered_ns < s->from_ns)
            look_at_waking(e, f, r, s->until_ns);
    }
}

void law_deadline(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        look_at_end(e, f, r);
        look_at_states(e, f, r);
        look_at_stops(e, f, r);
    }
}
