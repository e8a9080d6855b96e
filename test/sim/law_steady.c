/* Where nothing goes wrong, no holder is notified of LOST or SUSPECT: however long it holds, the promised least time is
 * left. */
#include "test/sim/laws.h"

static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    if (w->calm && (what == PDK__ACT_SUSPECT || what == PDK__ACT_LOST))
        world_break(w, law_steady.name, "client %d is told %s, and nothing has happened", claim->client->id,
                    what == PDK__ACT_LOST ? "lost" : "suspect");
}

const struct law law_steady = {.name = "steady", .told = told};
