/*
 * Every call to lock has exactly one outcome, and every grant is unlocked exactly once; only a process that was killed
 * may owe one. The outcome is one that the way of asking allows, and comes in time. After unlock reported that the node
 * is deleted, it is.
 */
#include "test/chaos/findings.h"

#include "test/lib/history.h"
#include <paddock/error.h>

/* Beyond its deadline, for a call on a busy machine; and the largest difference of two clocks. */
static const int64_t late_ns = INT64_C(15000000000);
enum { CLOCK_NS = 2000000 };

/* A grant is lost before its callback runs only when something was wrong at that time, or shortly before. */
static bool may_be_lost(const struct evidence *e, const struct request *r)
{
    int64_t from_ns = r->asked_ns - 2 * e->session_ms * INT64_C(1000000);
    return find_strike(e, ~UINT64_C(0), -1, from_ns, r->answered_ns) != NULL;
}

static bool allowed(const struct evidence *e, const struct request *r)
{
    switch (r->way) {
    case BY_LOCK: /* a writer's grant can be lost before it goes on as a reader */
        return r->rc == 0 || (r->recipe == RECIPE_DOWNGRADE && r->rc == PDK_ELOST && may_be_lost(e, r));
    case BY_TIMEDLOCK:
        return r->rc == 0 || r->rc == PDK_ETIMEDOUT;
    case BY_TRYLOCK:
        return r->rc == 0 || r->rc == PDK_EBUSY || r->rc == PDK_EDISCONNECTED;
    case BY_ASYNC:
        return r->rc == 0 || r->rc == PDK_ECANCELED || (r->rc == PDK_ETIMEDOUT && r->timeout_ms >= 0) ||
               (r->rc == PDK_ELOST && may_be_lost(e, r));
    default:
        return false;
    }
}

static void look_at_lock(const struct evidence *e, struct findings *f, const struct request *r, bool may_owe)
{
    static const char *const ways[] = {"lock", "timedlock", "trylock", "lock_async"};
    if (r->n_answers > 1 || (r->n_answers == 0 && !may_owe))
        breach(f, "outcomes", "%s, asked at %.3f s, has %d outcomes", who(e, r), at(e, r->asked_ns), r->n_answers);
    if (r->n_answers > 0 && !allowed(e, r))
        breach(f, "outcomes", "%s: %s answered %s", who(e, r), (unsigned)r->way < N_WAYS ? ways[r->way] : "?",
               pdk_strerrorname(r->rc));
    if (r->n_answers == 0 || r->timeout_ms < 0)
        return;
    int64_t late = r->answered_ns - r->asked_ns - r->timeout_ms * 1000000;
    if (was_stopped(e, r, r->asked_ns, r->answered_ns))
        return;
    sample(&f->lateness, late > 0 ? late : 0);
    if (late > late_ns)
        breach(f, "outcomes", "%s answered %.3f ms after its deadline", who(e, r), (double)late / 1e6);
}

/* Unlock reported that the node is deleted, and it was not. A leader that was deposed and does not know it yet ends
 * sessions, too. The client believes it, and has nothing to unlock any more. No other contender is granted before the
 * node is deleted. */
static void look_at_stray(const struct evidence *e, struct findings *f, const struct request *r, const struct znode *z)
{
    int64_t gone_ns = evidence_ns(e, z->gone_ms);
    int64_t before = r->unlocked_ns - (2 * e->session_ms + 2000) * INT64_C(1000000);
    if (z->ending == BY_EXPIRY && find_strike(e, CUTS, -1, before, r->unlocked_ns) != NULL) {
        count_known(f, KNOWN_DEPOSED, gone_ns - r->unlocked_ns);
        return;
    }
    breach(f, "outcomes", "%s: unlock returned 0 at %.3f s, its node %s went at %.3f s", who(e, r),
           at(e, r->unlocked_ns), z->name, at(e, gone_ns));
}

/* A leader that yields does not wait, nor does a lock with such options (law_service). */
static void look_at_node(const struct evidence *e, struct findings *f, const struct request *r, const struct znode *z)
{
    if (z != NULL && !r->is_yield && !r->may_stay && evidence_ns(e, z->gone_ms) > r->unlocked_ns + CLOCK_NS)
        look_at_stray(e, f, r, z);
}

static void look_at_unlock(const struct evidence *e, struct findings *f, const struct request *r, bool may_owe)
{
    if (r->n_unlocked > 1 || (r->n_unlocked == 0 && !may_owe))
        breach(f, "outcomes", "%s was unlocked %d times", who(e, r), r->n_unlocked);
    if (r->n_unlocked == 0)
        return;
    if (r->unlock_rc != 0 && r->unlock_rc != PDK_ELOST && r->unlock_rc != PDK_EUNKNOWN)
        breach(f, "outcomes", "%s: unlock answered %s", who(e, r), pdk_strerrorname(r->unlock_rc));
    for (int i = 0; i < r->n_parts && r->unlock_rc == 0; i++)
        look_at_node(e, f, r, r->parts[i].znode);
    if (r->unlock_rc == 0 && r->lost_ns < r->unlocking_ns)
        breach(f, "outcomes", "%s: unlock answered 0 after LOST was told", who(e, r));
}

/* The last request of its thread. */
static bool is_last(const struct evidence *e, size_t i)
{
    const struct request *r = &e->requests.list[i];
    for (size_t j = i + 1; j < e->requests.n && e->requests.list[j].process == r->process; j++)
        if (e->requests.list[j].number / THREAD_NUMBERS == r->number / THREAD_NUMBERS)
            return false;
    return true;
}

/* A killed process may owe the outcome of the last request of each thread. */
void law_outcomes(const struct evidence *e, struct findings *f)
{
    for (size_t i = 0; i < e->requests.n; i++) {
        const struct request *r = &e->requests.list[i];
        bool may_owe = e->processes.list[r->process].killed_ns != NEVER && is_last(e, i);
        look_at_lock(e, f, r, may_owe);
        if (r->n_answers > 0 && r->rc == 0)
            look_at_unlock(e, f, r, may_owe);
    }
    for (size_t i = 0; i < e->processes.n; i++) {
        const struct process *p = &e->processes.list[i];
        if (p->killed_ns == NEVER && p->ended_ns == NEVER)
            breach(f, "outcomes", "client %d.%d neither ended nor was killed", p->place, p->generation);
        if (p->n_strays > 0)
            breach(f, "outcomes", "client %d.%d: %d outcomes of nothing", p->place, p->generation, p->n_strays);
    }
}
