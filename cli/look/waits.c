#include "cli/look/waits.h"

#include "lib/assert.h"

#include <stdlib.h>
#include <string.h>

static void *make(size_t n, size_t size) { return calloc(n > 0 ? n : 1, size); }

/* --- edges ------------------------------------------------------------------------------------------------------- */

struct edge {
    size_t wait, blocker;
};

/* All edges, in the order of one of their ends: those of actor A are from first[A] to before first[A + 1]. */
struct edges {
    size_t *first;
    struct edge *all;
};

static size_t end_of(const struct pdk__cli_waits *w, struct edge e, bool by_blocker)
{
    return by_blocker ? e.blocker : w->list[e.wait].actor;
}

static void place(const struct pdk__cli_waits *w, struct edges *edges, size_t *next, bool by_blocker)
{
    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; k < w->list[i].n; k++) {
            struct edge e = {i, w->list[i].blockers[k]};
            edges->all[next[end_of(w, e, by_blocker)]++] = e;
        }
}

static size_t count(const struct pdk__cli_waits *w, size_t *first, bool by_blocker)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        for (size_t k = 0; k < w->list[i].n; k++, n++)
            first[1 + end_of(w, (struct edge){i, w->list[i].blockers[k]}, by_blocker)]++;
    for (size_t a = 0; a < w->n_actors; a++)
        first[a + 1] += first[a];
    return n;
}

static void edges_free(struct edges *edges)
{
    free(edges->first);
    free(edges->all);
}

/* A counting sort. */
static bool edges_make(const struct pdk__cli_waits *w, struct edges *edges, bool by_blocker)
{
    size_t *next = make(w->n_actors + 1, sizeof *next);
    edges->first = make(w->n_actors + 1, sizeof *edges->first);
    edges->all = NULL;
    bool whole = next != NULL && edges->first != NULL;
    if (whole)
        edges->all = make(count(w, edges->first, by_blocker), sizeof *edges->all);
    whole = whole && edges->all != NULL;
    if (whole) {
        memcpy(next, edges->first, (w->n_actors + 1) * sizeof *next);
        place(w, edges, next, by_blocker);
    }
    free(next);
    return whole;
}

/* --- the reduction ----------------------------------------------------------------------------------------------- */

struct reduction {
    size_t *left;    /* by wait: blockers that must still go on */
    size_t *waiting; /* by actor: waits that have not ended */
    size_t *queue;   /* actors that go on */
    size_t n_queue;
};

static void reduction_begin(const struct pdk__cli_waits *w, struct reduction *r)
{
    for (size_t i = 0; i < w->n; i++) {
        const struct pdk__cli_wait *wait = &w->list[i];
        assert(wait->actor < w->n_actors && wait->excess >= 1 && wait->excess <= wait->n);
        r->left[i] = wait->excess;
        r->waiting[wait->actor]++;
    }
    for (size_t a = 0; a < w->n_actors; a++)
        if (r->waiting[a] == 0)
            r->queue[r->n_queue++] = a;
}

/* ACTOR goes on: its waiters need one blocker less. */
static void go_on(const struct pdk__cli_waits *w, struct reduction *r, const struct edges *edges, size_t actor)
{
    for (size_t e = edges->first[actor]; e < edges->first[actor + 1]; e++) {
        size_t wait = edges->all[e].wait;
        if (r->left[wait] == 0 || --r->left[wait] > 0)
            continue;
        size_t waiter = w->list[wait].actor;
        assert(r->waiting[waiter] > 0);
        if (--r->waiting[waiter] == 0)
            r->queue[r->n_queue++] = waiter;
    }
}

static bool reduce(const struct pdk__cli_waits *w, bool *stuck)
{
    struct edges edges = {0};
    struct reduction r = {.left = make(w->n, sizeof *r.left),
                          .waiting = make(w->n_actors, sizeof *r.waiting),
                          .queue = make(w->n_actors, sizeof *r.queue)};
    bool whole = r.left != NULL && r.waiting != NULL && r.queue != NULL && edges_make(w, &edges, true);
    if (whole)
        reduction_begin(w, &r);
    for (size_t i = 0; whole && i < r.n_queue; i++)
        go_on(w, &r, &edges, r.queue[i]);
    for (size_t a = 0; whole && a < w->n_actors; a++)
        stuck[a] = r.waiting[a] > 0;
    edges_free(&edges);
    free(r.left);
    free(r.waiting);
    free(r.queue);
    return whole;
}

/* --- the components ---------------------------------------------------------------------------------------------- */

/* Tarjan's search without recursion, since a hostile queue may be long. */
struct search {
    const struct edges *edges;
    struct pdk__cli_verdict *v;
    size_t *index, *low; /* by actor; an index of 0: not seen */
    size_t *next;        /* by actor: its next edge */
    size_t *path;        /* the actors of the search's present path */
    size_t *stack;       /* those seen that have no component yet */
    bool *stacked;
    size_t n_path, n_stack, n_seen;
};

static void enter(struct search *s, size_t actor)
{
    s->index[actor] = s->low[actor] = ++s->n_seen;
    s->next[actor] = s->edges->first[actor];
    s->path[s->n_path++] = s->stack[s->n_stack++] = actor;
    s->stacked[actor] = true;
}

static void lower(struct search *s, size_t actor, size_t to)
{
    if (to < s->low[actor])
        s->low[actor] = to;
}

static bool waits_for_itself(const struct search *s, size_t actor)
{
    for (size_t e = s->edges->first[actor]; e < s->edges->first[actor + 1]; e++)
        if (s->edges->all[e].blocker == actor)
            return true;
    return false;
}

/* ROOT and all above it on the stack are a component. One actor alone is a deadlock if it waits for itself. */
static void close_component(struct search *s, size_t root)
{
    bool deadlock = s->stack[s->n_stack - 1] != root || waits_for_itself(s, root);
    s->v->n_deadlocks += deadlock;
    size_t actor;
    do {
        actor = s->stack[--s->n_stack];
        s->stacked[actor] = false;
        s->v->deadlock[actor] = deadlock ? s->v->n_deadlocks : 0;
    } while (actor != root);
}

static void leave(struct search *s, size_t actor)
{
    s->n_path--;
    if (s->low[actor] == s->index[actor])
        close_component(s, actor);
    if (s->n_path > 0)
        lower(s, s->path[s->n_path - 1], s->low[actor]);
}

static void step(struct search *s)
{
    size_t actor = s->path[s->n_path - 1];
    if (s->next[actor] == s->edges->first[actor + 1]) {
        leave(s, actor);
        return;
    }
    size_t blocker = s->edges->all[s->next[actor]++].blocker;
    if (!s->v->stuck[blocker])
        return;
    if (s->index[blocker] == 0)
        enter(s, blocker);
    else if (s->stacked[blocker])
        lower(s, actor, s->index[blocker]);
}

static bool search(const struct pdk__cli_waits *w, struct pdk__cli_verdict *v)
{
    struct edges edges = {0};
    size_t *room = make(5 * w->n_actors, sizeof *room), n = w->n_actors;
    struct search s = {.edges = &edges, .v = v, .stacked = make(n, sizeof *s.stacked)};
    bool whole = room != NULL && s.stacked != NULL && edges_make(w, &edges, false);
    if (whole) {
        s.index = room, s.low = room + n, s.next = room + 2 * n, s.path = room + 3 * n, s.stack = room + 4 * n;
        for (size_t a = 0; a < n; a++) {
            if (v->stuck[a] && s.index[a] == 0)
                enter(&s, a);
            while (s.n_path > 0)
                step(&s);
        }
    }
    edges_free(&edges);
    free(room);
    free(s.stacked);
    return whole;
}

bool pdk__cli_waits_judge(const struct pdk__cli_waits *waits, struct pdk__cli_verdict *v)
{
    *v = (struct pdk__cli_verdict){.stuck = make(waits->n_actors, sizeof *v->stuck),
                                   .deadlock = make(waits->n_actors, sizeof *v->deadlock)};
    return v->stuck != NULL && v->deadlock != NULL && reduce(waits, v->stuck) && search(waits, v);
}

void pdk__cli_verdict_free(struct pdk__cli_verdict *v)
{
    free(v->stuck);
    free(v->deadlock);
    *v = (struct pdk__cli_verdict){0};
}

/* --- a circle ---------------------------------------------------------------------------------------------------- */

/* Breadth first from START, inside its deadlock. BY gets for each actor the edge by which it was reached, plus one.
 * Returns the edge that leads back to START. */
static size_t find_back(const struct pdk__cli_waits *w, const struct pdk__cli_verdict *v, const struct edges *edges,
                        size_t start, size_t *by, size_t *queue)
{
    size_t n = 0;
    queue[n++] = start;
    for (size_t i = 0; i < n; i++)
        for (size_t e = edges->first[queue[i]]; e < edges->first[queue[i] + 1]; e++) {
            size_t to = edges->all[e].blocker;
            if (to == start)
                return e;
            if (v->deadlock[to] != v->deadlock[start] || by[to] != 0)
                continue;
            by[to] = e + 1;
            queue[n++] = to;
        }
    assert(w->n_actors == 0); /* in a deadlock each reaches each */
    return 0;
}

/* From the edge that leads back to START, against the direction of the waits. */
static size_t trace(const struct pdk__cli_waits *w, const struct edges *edges, size_t start, size_t back,
                    const size_t *by, size_t *circle)
{
    size_t n = 0, actor;
    for (size_t e = back;; e = by[actor] - 1) {
        circle[n++] = edges->all[e].wait;
        actor = w->list[edges->all[e].wait].actor;
        if (actor == start)
            break;
        assert(by[actor] > 0 && n < w->n_actors);
    }
    for (size_t i = 0; i < n / 2; i++) {
        size_t other = circle[i];
        circle[i] = circle[n - 1 - i];
        circle[n - 1 - i] = other;
    }
    return n;
}

size_t pdk__cli_waits_circle(const struct pdk__cli_waits *waits, const struct pdk__cli_verdict *v, size_t deadlock,
                             size_t *circle)
{
    struct edges edges = {0};
    size_t start = 0, n = 0;
    assert(deadlock >= 1 && deadlock <= v->n_deadlocks);
    while (v->deadlock[start] != deadlock)
        start++;
    size_t *by = make(waits->n_actors, sizeof *by), *queue = make(waits->n_actors, sizeof *queue);
    if (by != NULL && queue != NULL && edges_make(waits, &edges, false))
        n = trace(waits, &edges, start, find_back(waits, v, &edges, start, by, queue), by, circle);
    edges_free(&edges);
    free(by);
    free(queue);
    return n;
}
