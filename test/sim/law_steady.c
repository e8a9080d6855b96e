/* Where nothing goes wrong nobody is told to stop believing, or to get ready for it: however long he holds, the least
 * time that he is promised is left. */
#include "test/sim/laws.h"

static void told(struct world *w, const struct claim *claim, enum pdk__action_kind what)
{
    if (w->calm && (what == PDK__ACT_SUSPECT || what == PDK__ACT_LOST))
        world_break(w, law_steady.name, "client %d is told %s, and nothing has happened", claim->client->id,
                    what == PDK__ACT_LOST ? "lost" : "suspect");
}

const struct law law_steady = {.name = "steady", .told = told};
