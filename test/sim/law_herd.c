/*
 * A release wakes two waiters at most, and readers: the next in line, and the one behind it, which lists. A waiter whose
 * node was deleted from the queue, and that has not learned of it, does not count.
 *
 * Excused is the deletion of a node whose name was deleted before: the hostile contender created another of that name.
 */
#include "test/sim/laws.h"
#include <string.h>

enum { WOKEN_MAX = 1024 };

static struct {
    int path;
    char name[PDK__NAME_MAX];
    int client;
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

static void hearing(struct world *w, const struct client *c, const struct answer *event)
{
    bool wakes = false;
    int others = 0;
    for (int i = 0; i < c->n_claims; i++)
        wakes |= waits_on(w, &c->claims[i], event);
    if (!wakes || event->event != EVENT_DELETED || n_woken == WOKEN_MAX)
        return;
    for (int i = 0; i < n_woken; i++) {
        if (woken[i].path != event->path || strcmp(woken[i].name, event->name) != 0)
            continue;
        if (woken[i].client == c->id)
            return;
        others++;
    }
    if (others > 1 && w->hostile && world_deletions(w, event->path, event->name) > 1)
        excuse(EXCUSE_SAME_NAME);
    else if (others > 1)
        world_break(w, law_herd.name, "the end of %s wakes client %d and %d others", event->name, c->id, others);
    woken[n_woken].path = event->path;
    woken[n_woken].client = c->id;
    strcpy(woken[n_woken++].name, event->name);
}

const struct law law_herd = {.name = "herd", .begin = begin, .hearing = hearing};
