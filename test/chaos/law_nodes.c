/* An attempt never has two nodes at once: a lost reply led to no second create. After all clients have ended, nothing
 * of theirs is left, by the logs and by the servers' counts. */
#include "test/chaos/findings.h"

#include <stdlib.h>
#include <string.h>

/* Without the server's ten digits: session and attempt. */
static size_t attempt_size(const struct znode *z) { return strlen(z->name) - 10; }

static int by_attempt(const void *a, const void *b)
{
    const struct znode *x = *(const struct znode *const *)a, *y = *(const struct znode *const *)b;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    size_t n = attempt_size(x), m = attempt_size(y);
    int c = memcmp(x->name, y->name, n < m ? n : m);
    if (c != 0 || n != m)
        return c != 0 ? c : n < m ? -1 : 1;
    return (x->czxid > y->czxid) - (x->czxid < y->czxid);
}

static bool same_attempt(const struct znode *x, const struct znode *y)
{
    return x->lane == y->lane && attempt_size(x) == attempt_size(y) && memcmp(x->name, y->name, attempt_size(x)) == 0;
}

static void look_for_twins(const struct truth *t, struct findings *f)
{
    const struct znode **all = calloc(t->n + 1, sizeof *all);
    size_t n = 0;
    if (all == NULL)
        abort();
    for (size_t i = 0; i < t->n; i++)
        if (t->nodes[i].is_contender && t->nodes[i].owner != 0 && strlen(t->nodes[i].name) > 10)
            all[n++] = &t->nodes[i];
    qsort(all, n, sizeof *all, by_attempt);
    for (size_t i = 1; i < n; i++)
        if (same_attempt(all[i - 1], all[i]) && all[i - 1]->gone_zxid > all[i]->czxid)
            breach(f, "nodes", "%s and %s lived at once", all[i - 1]->name, all[i]->name);
    free(all);
}

void law_nodes(const struct evidence *e, struct findings *f)
{
    look_for_twins(&e->truth, f);
    for (size_t i = 0; i < e->truth.n; i++)
        if (e->truth.nodes[i].ending == STAYED)
            breach(f, "nodes", "%s stayed behind", e->truth.nodes[i].name);
    if (e->truth.n_contradictions > 0)
        breach(f, "nodes", "the servers' logs contradict themselves %ld times: nothing they say is certain",
               e->truth.n_contradictions);
    if (e->n_dissenters > 0) { /* at such a server, nodes and watches of dead sessions stay */
        count_known(f, KNOWN_DISSENT, 0);
        return;
    }
    if (e->n_children != 0)
        breach(f, "nodes", "the paths have %lld children at the end", (long long)e->n_children);
    if (e->n_ephemerals != 0)
        breach(f, "nodes", "the servers have %lld ephemeral nodes at the end", (long long)e->n_ephemerals);
    if (e->n_watches != 0)
        breach(f, "nodes", "the servers have %lld watches at the end", (long long)e->n_watches);
}
