/* Every request has exactly one outcome, and one end; nothing is told of a lock that was not granted, or was let go. */
#include "test/sim/laws.h"

static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    bool outcome = what == PDK__ACT_GRANTED || what == PDK__ACT_FAILED;
    bool change = what == PDK__ACT_SUSPECT || what == PDK__ACT_HELD || what == PDK__ACT_LOST ||
                  what == PDK__ACT_REVOKED;
    if (outcome && claim->settled > 0)
        world_break(w, law_completion.name, "a request has two outcomes");
    if (change && (!claim->granted || claim->released))
        world_break(w, law_completion.name, "a change is told of a lock that nobody holds");
    if (what == PDK__ACT_DONE && claim->settled == 0)
        world_break(w, law_completion.name, "a request ends without an outcome");
    if (what == PDK__ACT_DONE && claim->granted && !claim->released)
        world_break(w, law_completion.name, "a holder's request ends and nobody tells him");
}

const struct law law_completion = {.name = "completion", .told = told};
