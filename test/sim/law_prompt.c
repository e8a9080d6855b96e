/*
 * Where nothing is wrong, nothing takes long: a client that is connected knows it; a contender that talks with the
 * servers, or rests, comes to an end of that, be it as a waiter, as a holder, or done; and the first in the queue is
 * granted the lock. So every rest, backoff, hand-over and release has a bound, in timeouts and round trips.
 *
 * Nothing is wrong once all is well, and the client is connected, for as long as the bound.
 */
#include "test/sim/laws.h"

/* The longest two rests of a contender, and of other things that are tried again. */
enum { RESTS_MS = 2000 };

/* So many requests of each member of a crowd may be ahead, where servers are busy. */
enum { CROWD_REQUESTS = 3 };

/* A first proof takes up to a timeout, where the servers' tick is half of it. So does the next one of a holder that was
 * apart for so long that a new connection alone proves too little. */
static bool proves(enum pdk__phase phase) { return phase == PDK__AWAITING_LEASE || phase == PDK__SUSPECT; }

static int64_t bound_ms(const struct world *w, enum pdk__phase phase)
{
    int64_t crowd_ms = w->service * CROWD_REQUESTS * CROWD_MAX / 1000;
    return (proves(phase) ? w->session_ms * 5 / 4 : RESTS_MS) + world_trips_ms(w, 10) + crowd_ms;
}

static bool all_well(const struct world *w, const struct client *c, enum pdk__phase phase)
{
    int64_t ms = bound_ms(w, phase);
    return !c->dead && !c->closes && world_quiet(w, ms) && w->agenda.now - c->apart > ms * 1000;
}

/* A number after the end of the counter is negative. */
static bool is_ahead(const struct node *node, const struct node *own)
{
    return node->czxid < own->czxid || node->sequence < own->sequence;
}

/* One that has a permit, or may have: among permits a node of another recipe counts wherever it stands. */
static bool counts(const struct node *node, const struct node *own)
{
    bool foreign = pdk__name_parse(node->name).tag != PDK__TAG_PERMIT;
    return node != own && (foreign || is_ahead(node, own));
}

/* No other contender, or its delay, is waited for. A node whose number a client chose may be anywhere in the queue. */
static bool is_first(struct world *w, const struct claim *claim)
{
    const struct node *own = world_node(w, claim);
    const struct dir *dir = &w->ensemble.truth.dirs[claim->path];
    int n_ahead = 0;
    for (int i = 0; i < dir->n; i++) {
        if (own == NULL || dir->nodes[i].planted ||
            (is_ahead(&dir->nodes[i], own) && laws_blocks(claim, dir->nodes[i].name)))
            return false;
        n_ahead += claim->tag == PDK__TAG_PERMIT && counts(&dir->nodes[i], own);
    }
    return own != NULL && !claim->delays && (claim->tag != PDK__TAG_PERMIT || n_ahead < w->permits);
}

/* Without a number it waits for the path to be vacant. */
static bool is_outside(const struct world *w, const struct claim *claim)
{
    const struct dir *dir = &w->ensemble.truth.dirs[claim->path];
    bool at_end = dir->counter >= PDK__NAME_NEAR_END || dir->counter < 0;
    return claim->machine->queue.spent && dir->n > 0 && at_end;
}

/* The nodes of a transaction wait for each other. */
static bool waits_outside(const struct world *w, const struct claim *claim)
{
    const struct client *c = claim->client;
    bool outside = is_outside(w, claim);
    for (int i = 0; i < c->n_claims && claim->machine->wish->bound; i++)
        outside |= c->claims[i].used && c->claims[i].machine->wish->bound && is_outside(w, &c->claims[i]);
    return outside;
}

static bool rests(struct world *w, const struct claim *claim)
{
    enum pdk__phase phase = claim->machine->phase;
    bool relists = w->secretive && (phase == PDK__LISTING || phase == PDK__WATCHING); /* a waiter, at intervals */
    return phase == PDK__HELD || phase == PDK__DELAYED || ((phase == PDK__WAITING || relists) && !is_first(w, claim)) ||
           waits_outside(w, claim);
}

/* The handle's session was given up: the client waits before it opens another, and its timer may be a trip late. */
static bool waits_to_open(const struct client *c)
{
    const struct pdk__session *s = client_session(c);
    int64_t until_ms = s->rest_ms + world_trips_ms(c->world, 1);
    bool waits = s->phase == PDK__SESSION_BACKOFF && s->spent && client_now_ms(c) <= until_ms;
    if (waits)
        excuse(EXCUSE_BACKOFF);
    return waits;
}

static void check(struct world *w, struct claim *claim)
{
    enum pdk__phase phase = claim->machine->phase;
    bool proving = proves(phase);
    if (claim->turned || proving != claim->proving)
        claim->busy_since = w->agenda.now;
    claim->turned = !claim->used || rests(w, claim); /* what begins after this look counts from the next */
    claim->proving = proving;
    if (claim->turned)
        return;
    if (w->agenda.now - claim->busy_since > bound_ms(w, phase) * 1000 && all_well(w, claim->client, phase) &&
        !waits_to_open(claim->client))
        world_break(w, law_prompt.name, "client %d claim %llu is in phase %s for %lld ms", claim->client->id,
                    (unsigned long long)claim->number, pdk__phase_name(claim->machine->phase),
                    (long long)(w->agenda.now - claim->busy_since) / 1000);
}

static void passed(struct world *w)
{
    for (int i = 0; i < w->n_clients; i++) {
        struct client *c = &w->clients[i];
        if (c->ready && client_session(c)->phase != PDK__SESSION_CONNECTED && all_well(w, c, PDK__IDLE) &&
            !waits_to_open(c))
            world_break(w, law_prompt.name, "client %d is connected, and does not know it", c->id);
        for (int j = 0; j < c->n_claims && !c->dead; j++)
            check(w, &c->claims[j]);
    }
}

const struct law law_prompt = {.name = "prompt", .passed = passed};
