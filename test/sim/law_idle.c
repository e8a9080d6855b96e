/*
 * A lock that is idle gives way: while nothing is wrong, another contender of its path is noticed within a round trip
 * and the time of a message. Behind an idle reader that is a writer, and may take a round trip more.
 */
#include "test/sim/laws.h"
#include "test/sim/wired.h"

#include "recipes/lockable.h"

static bool of_program(const struct client *c, const struct pdk__object *o)
{
    static const enum recipe_of recipes[] = {RECIPE_MUTEX, RECIPE_SECOND, RECIPE_RWLOCK};
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (c->locks[recipes[i]] != NULL && o == &c->locks[recipes[i]]->object)
            return true;
    for (int i = 0; i < c->n_actors; i++)
        if (c->actors[i].own != NULL && o == &c->actors[i].own->object)
            return true;
    return false;
}

/* The request of the program's mutex or read/write lock; NULL for one of another recipe, and for a claim that has
 * ended. */
static const struct pdk__acquisition *op_of(const struct claim *claim)
{
    bool fits = claim->tag == PDK__TAG_LOCK || claim->tag == PDK__TAG_READ || claim->tag == PDK__TAG_WRITE;
    if (!claim->used || !fits || claim->machine == &claim->ended)
        return NULL;
    const struct pdk__claim *real = PDK__MEMBER(claim->machine, struct pdk__claim, machine);
    const struct pdk__hold *hold = PDK__MEMBER(real, struct pdk__part, claim)->hold;
    return of_program(claim->client, hold->object) ? PDK__MEMBER(hold, struct pdk__acquisition, hold) : NULL;
}

static bool in_its_way(const struct claim *claim, const char *name)
{
    struct pdk__name other = pdk__name_parse(name);
    bool reads = (other.kind == PDK__NAME_OURS || other.kind == PDK__NAME_CURATOR) && other.tag == PDK__TAG_READ;
    return other.kind != PDK__NAME_JUNK && !(reads && claim->tag == PDK__TAG_READ);
}

/* The czxid of the node that has waited longest; 0: there is none. We do not look at each step: between two looks one
 * may go and another come. */
static int64_t wanted_by_another(const struct world *w, const struct claim *claim, const struct node *own)
{
    const struct dir *dir = &w->ensemble.truth.dirs[claim->path];
    int64_t oldest = 0;
    for (int i = 0; i < dir->n; i++) {
        const struct node *other = &dir->nodes[i];
        if (other != own && in_its_way(claim, other->name) && (oldest == 0 || other->czxid < oldest))
            oldest = other->czxid;
    }
    return oldest;
}

static void check(struct world *w, struct claim *claim)
{
    const struct pdk__acquisition *op = op_of(claim);
    bool keeps = op != NULL && op->idle && op->hold.stage == PDK__HOLD_GRANTED;
    const struct node *own = keeps ? world_node(w, claim) : NULL;
    int64_t bound_ms = world_trips_ms(w, claim->tag == PDK__TAG_READ ? 3 : 2);
    const struct client *c = claim->client;
    int64_t other = own != NULL ? wanted_by_another(w, claim, own) : 0;
    if (claim->keeps_from != other)
        claim->keeps_since = w->agenda.now;
    claim->keeps_from = other;
    if (other == 0)
        return;
    bool well = !c->dead && !c->closes && world_quiet(w, bound_ms) && w->agenda.now - c->apart > bound_ms * 1000;
    if (well && w->agenda.now - claim->keeps_since > bound_ms * 1000)
        world_break(w, law_idle.name, "client %d keeps %s, which is idle, from others for %lld ms", c->id, own->name,
                    (long long)(w->agenda.now - claim->keeps_since) / 1000);
}

static void passed(struct world *w)
{
    if (client_is_real) /* its threads take their own time */
        return;
    for (int i = 0; i < w->n_clients && w->idle_ms > 0; i++)
        for (int j = 0; j < w->clients[i].n_claims && !w->clients[i].dead; j++)
            check(w, &w->clients[i].claims[j]);
}

const struct law law_idle = {.name = "idle", .passed = passed};
