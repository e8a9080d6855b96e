/*
 * An observer reports no leader that never was: each was the first contender of its path once. Where nothing is wrong
 * any more it reports the present one; world.c looks at that.
 *
 * Excused is a node with a name that the hostile contender chose: it may take the place of the one that was listed.
 */
#include "lib/core/order.h"
#include "test/sim/laws.h"

enum { FIRSTS_MAX = 2048 };

static int64_t firsts[FIRSTS_MAX];
static int n_firsts; /* FIRSTS_MAX: not all were kept */
static bool none;
static instant none_until;

static void begin(struct world *w)
{
    (void)w;
    n_firsts = 0;
    none = true;
}

int64_t law_observers_leader(const struct world *w)
{
    const struct dir *dir = &w->ensemble.truth.dirs[w->observed];
    const char *names[NODES_MAX];
    for (int i = 0; i < dir->n; i++)
        names[i] = dir->nodes[i].name;
    const char *first = pdk__order_first(names, (size_t)dir->n);
    for (int i = 0; i < dir->n; i++)
        if (names[i] == first)
            return dir->nodes[i].czxid;
    return 0;
}

static void committed(struct world *w, const struct txn *txn)
{
    bool concerned = txn->kind == TXN_CLOSE_SESSION || txn->path == w->observed;
    if (w->observed < 0 || !concerned || n_firsts == FIRSTS_MAX)
        return;
    int64_t leader = law_observers_leader(w);
    if (none && leader != 0)
        none_until = w->agenda.now;
    none = leader == 0;
    if (leader != 0 && (n_firsts == 0 || firsts[n_firsts - 1] != leader))
        firsts[n_firsts++] = leader;
}

void law_observers_judge(struct world *w, int path, int64_t token)
{
    bool was = token == 0 || w->hostile || n_firsts == FIRSTS_MAX;
    for (int i = 0; i < n_firsts && !was; i++)
        was = firsts[i] == token;
    if (!was)
        world_break(w, law_observers.name, "%llx is reported to lead path %d", (unsigned long long)token, path);
}

/* Since when every server has run, and there was a first contender. */
static instant known_since(const struct ensemble *e)
{
    instant at = none_until;
    for (int i = 0; i < e->n; i++)
        if (e->servers[i].resumed > at)
            at = e->servers[i].resumed;
    return at;
}

/* A server that is cut off, or was stopped meanwhile, knows less for as long as it serves. */
void law_observers_judge_none(struct world *w, instant since)
{
    const struct ensemble *e = &w->ensemble;
    instant late = (instant)e->tick_ms * (e->sync_limit + 2) * 1000 + e->lag_delay + e->hiccup_delay + 1000000;
    if (!none && known_since(e) < since - late)
        world_break(w, law_observers.name, "nobody is reported to lead path %d", w->observed);
}

const struct law law_observers = {.name = "observers", .begin = begin, .committed = committed};
