/*
 * A listing costs as much as there are names. So at most one plain listing of a path is under way for the contenders
 * of a client. And the listing that answers a contender was sent after its question, or at the same instant: then the
 * client's lock was kept between the two.
 *
 * Strays have listings of their own. A contender's listing is known by its completion, from the first answer on.
 */
#include "test/sim/laws.h"
#include "test/sim/wired.h"
#include <string.h>

enum { SHARED_BY = 10 };

static void (*contenders_completion)(void);

static void begin(struct world *w)
{
    (void)w;
    contenders_completion = NULL;
}

static bool is_listing_of(const struct ticket *t, const struct ticket *of)
{
    return t->zh == of->zh && t->completion == contenders_completion && t->path == of->path && t->root == of->root &&
           strcmp(t->name, of->name) == 0;
}

void law_listings_sent(const struct client *c, const struct ticket *t)
{
    for (int i = 0; i < c->n_tickets; i++)
        if (&c->tickets[i] != t && is_listing_of(t, t) && is_listing_of(&c->tickets[i], t))
            world_break(c->world, law_listings.name, "client %d lists path %d beside another listing of it", c->id,
                        t->path);
}

static void judge_answer(struct world *w, const struct claim *claim)
{
    struct client *c = claim->client;
    const struct ticket *t = c->answering;
    if (client_is_real) /* it does not say which answer it hands on */
        return;
    if (t == NULL) {
        world_break(w, law_listings.name, "client %d has the answer to a listing, and no listing is answered", c->id);
        return;
    }
    if (t->kind == COMPLETES_STRINGS)
        contenders_completion = t->completion;
    if (++c->n_listed == SHARED_BY)
        see(SIGHT_LISTING_SHARED);
    if (t->sent < claim->lists_since)
        world_break(w, law_listings.name, "client %d claim %llu has the answer to a listing from before its question",
                    c->id, (unsigned long long)claim->number);
}

static void stepped(struct world *w, const struct claim *claim, const struct pdk__contender *before,
                    const struct pdk__event *ev, const struct pdk__actions *actions)
{
    (void)actions;
    bool shown = ev->outcome == PDK__OK || ev->outcome == PDK__NO_NODE;
    if (ev->kind == PDK__EV_LISTED && ev->op == before->op && shown)
        judge_answer(w, claim);
}

const struct law law_listings = {.name = "listings", .begin = begin, .stepped = stepped};
