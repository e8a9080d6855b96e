/* Every request has exactly one outcome, and one end. No event is reported for a lock that was not granted, or was
 * released. */
#include "test/sim/laws.h"

#include <paddock/error.h>

static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    bool outcome = what == PDK__ACT_GRANTED || what == PDK__ACT_FAILED;
    bool change = what == PDK__ACT_SUSPECT || what == PDK__ACT_HELD || what == PDK__ACT_LOST ||
                  what == PDK__ACT_REVOKED;
    if (outcome && claim->settled > 0)
        world_break(w, law_completion.name, "a request has two outcomes");
    if (change && (!claim->granted || claim->released))
        world_break(w, law_completion.name, "a change is told of a lock that nobody holds");
    if (what == PDK__ACT_REVOKED && claim->revoked)
        world_break(w, law_completion.name, "a holder is asked twice for its lock");
    if (what == PDK__ACT_DONE && claim->settled == 0)
        world_break(w, law_completion.name, "a request ends without an outcome");
    if (what == PDK__ACT_DONE && claim->granted && !claim->released)
        world_break(w, law_completion.name, "a holder's request ends and nobody tells him");
    if (what == PDK__ACT_DONE && claim->machine->error == PDK_ELOST &&
        !world_deleted_by_order(w, claim->path, claim->machine->node.name))
        world_break(w, law_completion.name, "%s is called lost, and nobody deleted it", claim->machine->node.name);
}

const struct law law_completion = {.name = "completion", .told = told};
