/*
 * A release wakes one waiter, and readers; and one more, if one of the two looks ahead. A waiter whose node was deleted
 * from the queue, and that has not learned of it, does not count.
 *
 * Excused is the deletion of a node whose name was deleted before: the hostile contender created another of that name.
 */
#include "test/sim/laws.h"
#include <string.h>

enum { WOKEN_MAX = 1024 };

static struct woken {
    int path;
    char name[PDK__NAME_MAX];
    int client;
    bool looks_ahead;
} woken[WOKEN_MAX];
static int n_woken;

static void begin(struct world *w)
{
    (void)w;
    n_woken = 0;
}

static bool waits_on(struct world *w, const struct claim *claim, const struct answer *event)
{
    bool waits = claim->machine->phase == PDK__WAITING || claim->machine->phase == PDK__WATCHING;
    return claim->used && waits && claim->tag != PDK__TAG_READ && world_node_there(w, claim) &&
           claim->path == event->path && claim->has_predecessor && strcmp(claim->predecessor.name, event->name) == 0;
}

/* A waiter that the end of the same node has woken; NULL: there is none, or the two may both be woken. */
static const struct woken *another(const struct woken *waiter)
{
    int others = 0;
    bool ahead = waiter->looks_ahead;
    const struct woken *other = NULL;
    for (const struct woken *o = woken; o < woken + n_woken; o++)
        if (o->path == waiter->path && strcmp(o->name, waiter->name) == 0 && o->client != waiter->client) {
            others++;
            ahead |= o->looks_ahead;
            other = o;
        }
    return others > (ahead ? 1 : 0) ? other : NULL;
}

static void hearing(struct world *w, const struct client *c, const struct answer *event)
{
    struct woken waiter = {.path = event->path, .client = c->id};
    bool wakes = false;
    for (int i = 0; i < c->n_claims; i++)
        if (waits_on(w, &c->claims[i], event)) {
            wakes = true;
            waiter.looks_ahead |= c->claims[i].machine->wish->conditions->look_ahead;
        }
    if (!wakes || event->event != EVENT_DELETED || n_woken == WOKEN_MAX)
        return;
    strcpy(waiter.name, event->name);
    const struct woken *other = another(&waiter);
    if (other != NULL && w->hostile && world_deletions(w, event->path, event->name) > 1)
        excuse(EXCUSE_SAME_NAME);
    else if (other != NULL)
        world_break(w, law_herd.name, "the end of %s wakes client %d and client %d", event->name, other->client, c->id);
    woken[n_woken++] = waiter;
}

const struct law law_herd = {.name = "herd", .begin = begin, .hearing = hearing};
