/*
 * Mutual exclusion of belief: while one believes to hold, nobody else does.
 *
 * A belief begins with the grant and ends when LOST is told or answered, when unlock is called, or with the process. A
 * process that was stopped, or that its machine did not run, believes nothing meanwhile: it is judged by its first
 * question after it woke. Since a holder asks every few milliseconds, a silence is as good as a stop.
 *
 * Two that believe at once are two grants of which the older one's node was gone already (this release has no validity
 * deadline: see enum known), or they are the worst that can happen.
 */
#include "test/chaos/findings.h"

#include <paddock/mutex.h>
#include <stdlib.h>

/* The longest silence that is not a stop; and what two clocks read a moment apart may differ by. */
enum { SILENCE_NS = 100000000, CLOCK_NS = 2000000 };

/* Whoever ends a session from outside numbers his request so; a client begins at the time of day. */
enum { KILLER_CXID = 1 };

/* A time of belief. */
struct stretch {
    int64_t from_ns, until_ns;
};

static int64_t point(const struct request *r, size_t i) { return i == 0 ? r->answered_ns : r->told[i - 1].ns; }

/* Does it say that it holds, at point I? */
static bool claims(const struct request *r, size_t i)
{
    return i == 0 || (r->told[i - 1].is_question && r->told[i - 1].state != PDK_LOST);
}

/* The next stretch from point *I on: from a claim to the following one, or to the end. */
static bool next_stretch(const struct evidence *e, const struct request *r, size_t *i, struct stretch *s)
{
    int64_t end = grant_end_ns(e, r);
    while (*i <= r->n_told && !claims(r, *i))
        ++*i;
    if (*i > r->n_told || point(r, *i) >= end)
        return false;
    s->from_ns = s->until_ns = point(r, (*i)++);
    while (*i <= r->n_told && !claims(r, *i))
        ++*i;
    s->until_ns = *i <= r->n_told && point(r, *i) < end ? point(r, *i) : end;
    if (s->until_ns - s->from_ns > SILENCE_NS)
        s->until_ns = s->from_ns + 1; /* one word, and then a silence */
    return true;
}

static int64_t common(const struct evidence *e, const struct request *a, const struct request *b)
{
    struct stretch x, y;
    int64_t sum = 0;
    for (size_t i = 0; next_stretch(e, a, &i, &x);)
        for (size_t j = 0; next_stretch(e, b, &j, &y);) {
            int64_t from = x.from_ns > y.from_ns ? x.from_ns : y.from_ns;
            int64_t until = x.until_ns < y.until_ns ? x.until_ns : y.until_ns;
            sum += until > from ? until - from : 0;
        }
    return sum;
}

/* Why the node of A was gone while A believed. -1: there is no excuse. */
static int excuse(const struct evidence *e, const struct request *a, int64_t gone_ns, int64_t until_ns)
{
    int64_t before = gone_ns - (e->session_ms + 2 * e->tick_ms) * INT64_C(1000000) * 3 / 2;
    if (a->znode->ending == BY_ANOTHER || (a->znode->ending == BY_CLOSE && a->znode->gone_cxid == KILLER_CXID))
        return KNOWN_ORDERED;
    if (a->znode->ending != BY_EXPIRY)
        return -1;
    if (was_stopped(e, a, before, until_ns))
        return KNOWN_STOPPED;
    if (find_strike(e, CUTS, -1, before, gone_ns) != NULL)
        return KNOWN_CUT;
    return -1;
}

/* A has the lower token: if one of the two must not believe, it is A. */
static void look(const struct evidence *e, struct findings *f, const struct request *a, const struct request *b)
{
    int64_t both_ns = common(e, a, b);
    if (both_ns == 0)
        return;
    int64_t gone_ns = a->znode != NULL ? evidence_ns(e, a->znode->gone_ms) : NEVER;
    int why = gone_ns <= b->answered_ns + CLOCK_NS ? excuse(e, a, gone_ns, grant_end_ns(e, a)) : -1;
    if (why < 0) {
        breach(f, "belief",
               "%s and %s both believed for %.3f ms; at %.3f s and %.3f s, the first one's node went at %.3f s",
               who(e, a), who(e, b), (double)both_ns / 1e6, at(e, a->answered_ns), at(e, b->answered_ns),
               at(e, gone_ns));
        return;
    }
    count_known(f, (enum known)why, both_ns);
    note(f, "%s: %s, for %.3f ms beside %s, at %.3f s", known_name((enum known)why), who(e, a), (double)both_ns / 1e6,
         who(e, b), at(e, b->answered_ns));
}

/* LATEST[i]: when the last of the first i grants ended. Nobody before needs to be looked at who ended earlier. */
void law_belief(const struct evidence *e, struct findings *f)
{
    int64_t *latest = calloc(e->n_grants + 1, sizeof *latest);
    if (latest == NULL)
        abort();
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *b = &e->requests.list[e->grants[i]];
        int64_t end = grant_end_ns(e, b);
        for (size_t j = i; j > 0 && latest[j] > b->answered_ns; j--) {
            const struct request *a = &e->requests.list[e->grants[j - 1]];
            if (grant_end_ns(e, a) > b->answered_ns)
                look(e, f, a->token < b->token ? a : b, a->token < b->token ? b : a);
        }
        latest[i + 1] = end > latest[i] ? end : latest[i];
    }
    free(latest);
}
