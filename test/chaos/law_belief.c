/*
 * Mutual exclusion of belief: the holders that believe at once fit into the room of the path (test/lib/lanes.h). So
 * while one process believes that it holds a mutex, no other does; no other believes beside a writer; and no more
 * permits than the limit are believed to be held.
 *
 * A belief begins with the grant and ends when LOST is reported or answered, when unlock is called, or with the
 * process. A process that was stopped, or that its machine did not run, believes nothing meanwhile: it is judged by its
 * first question after it woke. Since a holder asks every few milliseconds, a silence is as good as a stop.
 *
 * No clock can tell that the older holder's node was deleted, or its session ended, from outside. That holder believes
 * until the event comes (see enum known). Any other two that believe at once are the worst breach of all.
 */
#include "test/chaos/findings.h"

#include <stdlib.h>

/* The longest silence that is not a stop; and the largest difference of two clocks that are read one after the
 * other. */
enum { SILENCE_NS = 100000000, CLOCK_NS = 2000000 };

/* A time of belief. */
struct stretch {
    int64_t from_ns, until_ns;
};

/* The next claim from number *I on, or END. */
static int64_t next_claim_ns(const struct request *r, size_t *i, int64_t end_ns)
{
    for (; *i <= r->n_told; ++*i) {
        struct told t = told(r, *i);
        if (claims(&t))
            return t.ns < end_ns ? t.ns : end_ns;
    }
    return end_ns;
}

/* The next stretch from number *I on: from a claim to the following one, or to the end. */
static bool next_stretch(const struct evidence *e, const struct request *r, size_t *i, struct stretch *s)
{
    int64_t end = grant_end_ns(e, r);
    s->from_ns = next_claim_ns(r, i, end);
    if (s->from_ns == end)
        return false;
    ++*i;
    s->until_ns = next_claim_ns(r, i, end);
    if (s->until_ns - s->from_ns > SILENCE_NS)
        s->until_ns = s->from_ns + 1; /* one answer, and then a silence */
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

/* A has the lower token: if one of the two must not believe, it is A. */
static void look(const struct evidence *e, struct findings *f, const struct request *a, const struct request *b)
{
    enum lane lane = contested(e, a, b);
    int64_t both_ns = lane != N_LANES ? common(e, a, b) : 0;
    if (both_ns == 0)
        return;
    int64_t gone_ns = a->znode != NULL ? evidence_ns(e, a->znode->gone_ms) : NEVER;
    int64_t then = b->answered_ns + CLOCK_NS;
    int held = held_in(e, a, lane, then);
    if (held > 0 && held + held_in(e, b, lane, then) > lane_rules[lane].room) {
        breach(f, "belief",
               "%s and %s both believed for %.3f ms; at %.3f s and %.3f s, the first one's node went at %.3f s",
               who(e, a), who(e, b), (double)both_ns / 1e6, at(e, a->answered_ns), at(e, b->answered_ns),
               at(e, gone_ns));
        return;
    }
    count_known(f, KNOWN_ORDERED, both_ns);
    note(f, "%s: %s, for %.3f ms beside %s, at %.3f s", known_name(KNOWN_ORDERED), who(e, a), (double)both_ns / 1e6,
         who(e, b), at(e, b->answered_ns));
}

/* --- more than two ----------------------------------------------------------------------------------------------- */

static bool believes_at(const struct evidence *e, const struct request *r, int64_t ns)
{
    struct stretch s;
    for (size_t i = 0; next_stretch(e, r, &i, &s);)
        if (s.from_ns <= ns && ns < s.until_ns)
            return true;
    return false;
}

/* The room that the believers of that moment take in the lane, R among them. */
static int believed(const struct evidence *e, const struct request *r, enum lane lane, int64_t ns)
{
    int sum = 0;
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *a = &e->requests.list[e->grants[i]];
        if (a->answered_ns > ns)
            break;
        if (a == r || (grant_end_ns(e, a) > ns && !is_one_hold(a, r) && held_in(e, a, lane, INT64_MIN) > 0 &&
                       believes_at(e, a, ns)))
            sum += held_in(e, a, lane, ns + CLOCK_NS);
    }
    return sum;
}

/* At the start of each belief of the I-th grant, in a lane that has room for several. */
static void look_at_crowd(const struct evidence *e, struct findings *f, size_t i)
{
    const struct request *r = &e->requests.list[e->grants[i]];
    enum lane lane = r->parts[0].lane;
    struct stretch s;
    for (size_t j = 0; lane_rules[lane].room > 1 && next_stretch(e, r, &j, &s);) {
        int sum = believed(e, r, lane, s.from_ns);
        if (sum <= lane_rules[lane].room)
            continue;
        breach(f, "belief", "%s believed at %.3f s, and then %d of %s were held, not %d", who(e, r), at(e, s.from_ns),
               sum, lane_rules[lane].path, lane_rules[lane].room);
        return;
    }
}

/* LATEST[i]: when the last of the first i grants ended. If that is before B's grant, none of them overlaps B. */
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
        look_at_crowd(e, f, i);
        latest[i + 1] = end > latest[i] ? end : latest[i];
    }
    free(latest);
}

/* LATEST: the grant before this one whose last claim is the latest. */
void law_return(const struct evidence *e, struct findings *f)
{
    const struct request *latest = NULL;
    for (size_t i = 0; i < e->n_grants; i++) {
        const struct request *r = &e->requests.list[e->grants[i]];
        if (latest != NULL && contested(e, latest, r) != N_LANES && last_claim_ns(latest) > r->answered_ns)
            breach(f, "return", "%s claimed at %.6f s, after %s was granted at %.6f s", who(e, latest),
                   at(e, last_claim_ns(latest)), who(e, r), at(e, r->answered_ns));
        if (latest == NULL || last_claim_ns(r) > last_claim_ns(latest))
            latest = r;
    }
}
