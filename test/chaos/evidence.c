#include "test/chaos/evidence.h"

#include <paddock/mutex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *evidence_grow(void **list, size_t *n, size_t *cap, size_t size)
{
    if (*n == *cap) {
        *cap = *cap > 0 ? 2 * *cap : 64;
        *list = realloc(*list, *cap * size);
        if (*list == NULL)
            abort();
    }
    void *item = (char *)*list + size * (*n)++;
    memset(item, 0, size);
    return item;
}

void evidence_free(struct evidence *e)
{
    for (size_t i = 0; i < e->requests.n; i++)
        free(e->requests.list[i].told);
    free(e->processes.list);
    free(e->requests.list);
    free(e->stops.list);
    free(e->strikes.list);
    free(e->clocks.list);
    free(e->grants);
    truth_free(&e->truth);
    *e = (struct evidence){0};
}

/* --- order ------------------------------------------------------------------------------------------------------- */

static const struct evidence *sorted;

static int by_answer(const void *a, const void *b)
{
    const struct request *x = &sorted->requests.list[*(const size_t *)a],
                         *y = &sorted->requests.list[*(const size_t *)b];
    return (x->answered_ns > y->answered_ns) - (x->answered_ns < y->answered_ns);
}

/* A grant of one node has no parts in its history. The read lock under a write lock has that one's token. */
static void add_only_part(struct request *r)
{
    if (r->n_parts > 0)
        return;
    struct part *p = &r->parts[r->n_parts++];
    p->lane = recipe_lane(r->recipe);
    p->token = r->recipe == RECIPE_DOWNGRADE ? 0 : r->token;
    snprintf(p->node, sizeof p->node, "%s", r->node);
}

static const struct znode *first_gone(const struct request *r)
{
    const struct znode *first = r->parts[0].znode;
    for (int i = 1; i < r->n_parts && first != NULL; i++) {
        const struct znode *z = r->parts[i].znode;
        first = z == NULL || z->gone_ms < first->gone_ms ? z : first;
    }
    return first;
}

static void bind(const struct truth *t, struct request *r)
{
    add_only_part(r);
    for (int i = 0; i < r->n_parts; i++) {
        struct part *p = &r->parts[i];
        p->znode = p->token != 0 ? truth_find(t, p->lane, p->token) : truth_find_name(t, p->lane, p->node);
    }
    r->znode = first_gone(r);
}

void evidence_settle(struct evidence *e)
{
    free(e->grants);
    e->n_grants = 0;
    e->grants = calloc(e->requests.n + 1, sizeof *e->grants);
    if (e->grants == NULL)
        abort();
    for (size_t i = 0; i < e->requests.n; i++) {
        struct request *r = &e->requests.list[i];
        if (r->n_answers == 0 || r->rc != 0)
            continue;
        bind(&e->truth, r);
        e->grants[e->n_grants++] = i;
    }
    sorted = e;
    qsort(e->grants, e->n_grants, sizeof *e->grants, by_answer);
}

/* --- exclusion --------------------------------------------------------------------------------------------------- */

int held_in(const struct evidence *e, const struct request *r, enum lane lane, int64_t ns)
{
    int held = 0;
    for (int i = 0; i < r->n_parts; i++) {
        const struct part *p = &r->parts[i];
        bool is_over = p->znode != NULL && was_ordered(p->znode) && evidence_ns(e, p->znode->gone_ms) <= ns;
        if (p->lane == lane && !is_over)
            held += lane_weight(lane, p->node);
    }
    return held;
}

bool is_one_hold(const struct request *a, const struct request *b)
{
    return a->process == b->process && a->token == b->token &&
           (a->recipe == RECIPE_DOWNGRADE) != (b->recipe == RECIPE_DOWNGRADE);
}

enum lane contested(const struct evidence *e, const struct request *a, const struct request *b)
{
    for (int i = 0; i < a->n_parts && !is_one_hold(a, b); i++) {
        enum lane lane = a->parts[i].lane;
        int other = held_in(e, b, lane, INT64_MIN);
        if (other > 0 && held_in(e, a, lane, INT64_MIN) + other > lane_rules[lane].room)
            return lane;
    }
    return N_LANES;
}

int64_t token_in(const struct request *r, enum lane lane)
{
    int64_t token = 0;
    for (int i = 0; i < r->n_parts; i++) {
        const struct part *p = &r->parts[i];
        int64_t own = r->n_parts > 1 && p->token != 0 ? p->token : r->token;
        if (p->lane == lane && own > token)
            token = own;
    }
    return token;
}

/* --- questions --------------------------------------------------------------------------------------------------- */

/* By the nearest comparison of the clocks, since the wall clock may be set during a run. */
int64_t evidence_ns(const struct evidence *e, int64_t wall_ms)
{
    if (wall_ms == NEVER)
        return NEVER;
    int64_t wall_ns = wall_ms * 1000000, offset = 0, nearest = NEVER;
    for (size_t i = 0; i < e->clocks.n; i++) {
        int64_t d = llabs(e->clocks.list[i].wall_ns - wall_ns);
        if (d < nearest) {
            nearest = d;
            offset = e->clocks.list[i].wall_ns - e->clocks.list[i].ns;
        }
    }
    return wall_ns - offset;
}

int64_t grant_end_ns(const struct evidence *e, const struct request *r)
{
    const struct process *p = &e->processes.list[r->process];
    int64_t end = r->lost_ns < r->unlocking_ns ? r->lost_ns : r->unlocking_ns;
    return p->killed_ns < end ? p->killed_ns : end;
}

struct told told(const struct request *r, size_t i)
{
    int state = r->valid_ms > 0 ? PDK_HELD : PDK_LOST;
    return i > 0 ? r->told[i - 1]
                 : (struct told){.ns = r->answered_ns, .state = state, .valid_ms = r->valid_ms, .is_question = true};
}

bool claims(const struct told *t) { return t->is_question && t->state != PDK_LOST; }

int64_t last_claim_ns(const struct request *r)
{
    int64_t ns = 0;
    for (size_t i = 0; i <= r->n_told; i++) {
        struct told t = told(r, i);
        if (claims(&t) && t.ns > ns)
            ns = t.ns;
    }
    return ns;
}

int64_t last_deadline_ns(const struct request *r)
{
    int64_t latest = 0;
    for (size_t i = 0; i <= r->n_told; i++) {
        struct told t = told(r, i);
        int64_t ns = t.ns + t.valid_ms * 1000000;
        if (t.valid_ms > 0 && ns > latest)
            latest = ns;
    }
    return latest;
}

/* The number of a request that ends a session from outside. A client's numbers begin at the time of day. */
enum { KILLER_CXID = 1 };

bool was_ordered(const struct znode *z)
{
    return z->ending == BY_ANOTHER || (z->ending == BY_CLOSE && z->gone_cxid == KILLER_CXID);
}

bool was_stopped(const struct evidence *e, const struct request *r, int64_t from_ns, int64_t until_ns)
{
    enum { LATE_NS = 100000000 };
    int32_t pid = e->processes.list[r->process].pid;
    for (size_t i = 0; i < e->stops.n; i++)
        if (e->stops.list[i].pid == pid && e->stops.list[i].from_ns < until_ns && e->stops.list[i].until_ns > from_ns)
            return true;
    int64_t last = r->answered_ns;
    for (size_t i = 0; i < r->n_told; i++) {
        const struct told *t = &r->told[i];
        if (!t->is_question)
            continue;
        if (t->ns - last > LATE_NS && last < until_ns && t->ns > from_ns)
            return true;
        last = t->ns;
    }
    return false;
}

const struct strike *find_strike(const struct evidence *e, uint64_t set, int victim, int64_t from_ns, int64_t until_ns)
{
    for (size_t i = e->strikes.n; i-- > 0;) {
        const struct strike *s = &e->strikes.list[i];
        if ((set >> s->id & 1) != 0 && (victim < 0 || s->victim == victim) && s->from_ns <= until_ns &&
            s->until_ns >= from_ns)
            return s;
    }
    return NULL;
}
