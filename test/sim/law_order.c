/*
 * First created, first served: a grant is for the oldest node of the path, whatever the recipe of the others. And a try
 * does not wait for its turn: it watches no predecessor.
 *
 * A reader passes readers, and one that is made under its own writer's number passes all that wait.
 *
 * Excused is a node whose number the server did not choose: it has no place in the order of creation. That may be of a
 * reader that comes late, under the number that its writer had before the path was made anew.
 */
#include "test/sim/laws.h"

static bool misplaced(const struct node *node, const struct node *own)
{
    struct pdk__name name = pdk__name_parse(node->name);
    bool late = name.tag == PDK__TAG_READ && name.sequence > pdk__name_parse(own->name).sequence;
    return node->planted || late;
}

static void granted(struct world *w, const struct claim *claim)
{
    const struct dir *dir = &w->ensemble.truth.dirs[claim->path];
    const struct node *own = world_node(w, claim);
    if (claim->machine->wish->try_only && claim->has_predecessor)
        world_break(w, law_order.name, "%s was to try, and waited", claim->machine->node.name);
    if (own == NULL) {
        excuse(EXCUSE_LATE_GRANT);
        return;
    }
    for (int i = 0; i < dir->n; i++)
        if (!laws_blocks(claim, dir->nodes[i].name) || claim->machine->wish->base != NULL)
            continue;
        else if (dir->nodes[i].czxid < own->czxid && misplaced(&dir->nodes[i], own))
            excuse(EXCUSE_PLANTED);
        else if (dir->nodes[i].czxid < own->czxid)
            world_break(w, law_order.name, "%s is granted before %s", claim->machine->node.name, dir->nodes[i].name);
}

const struct law law_order = {.name = "order", .granted = granted};
